"""An endpoint cannot keep a conversation for ever, fill the memory, or send it on: each answer is bounded in time, bytes,
characters and calls, whatever comes and however slowly.

Over real HTTP on loopback with the real client.
"""

import json
import time

import pytest
from scripted_server import STREAM, ScriptedServer, Step, calls, flood, say, sent_on
from test_model import MESSAGES, TOOLS

from filemem.models import ModelError, OpenAIModel, endpoint

CHUNK = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def stopped(step: Step, longest: float = 20.0) -> ModelError:
    """The error of one question to an endpoint that does not end, and that hears the client hang up."""
    with ScriptedServer(step) as server:
        pieces: list[str] = []
        began = time.monotonic()
        with pytest.raises(ModelError) as caught:
            OpenAIModel("gpt-x", server.base_url, "none", 5.0, longest=longest).ask(MESSAGES, TOOLS, pieces.append)
        assert time.monotonic() - began < 15
        assert server.hung_up.wait(10)
        assert caught.value.partial == "".join(pieces)
    assert "went on without end" in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    "step",
    [
        flood(STREAM, CHUNK % b"la ", pause=0.01),
        flood(STREAM, b": still there\n\n", pause=0.01),
        flood(HEAD, b"X-Slow: yes\r\n", pause=0.05),
        flood(HEAD + b"\r\n", b" ", pause=0.01),
        flood(b"HTTP/1.1 400 No\r\n\r\n", b" ", pause=0.01),
    ],
    ids=["text", "comments", "headers", "one body", "an error"],
)
def test_an_answer_ends_after_its_time_however_it_comes(step: Step) -> None:
    stopped(step, longest=0.6)


@pytest.mark.parametrize(
    "step",
    [
        flood(STREAM, b"x" * 100_000),
        flood(HEAD + b"\r\n", b"x" * 100_000),
        flood(STREAM, CHUNK % (b"la " * 10_000)),
    ],
    ids=["a line", "one body", "text"],
)
def test_an_answer_ends_at_its_bytes(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BIGGEST_ANSWER", 3_000_000)
    assert len(stopped(step).partial) < 3_000_000


def test_a_body_that_unpacks_to_more_is_not_unpacked() -> None:
    """Nothing packed is asked for, and nothing is unpacked."""
    with ScriptedServer(Step(body=b"\x1f\x8b" + b"x" * 999, headers={"Content-Encoding": "gzip"})) as server:
        with pytest.raises(ModelError, match="no chat completion"):
            OpenAIModel("gpt-x", server.base_url).ask(MESSAGES, TOOLS, len)
        assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("plain", [False, True], ids=["streamed", "in one piece"])
def test_of_too_many_calls_the_first_are_taken(plain: bool) -> None:
    with ScriptedServer(calls(*[("grep", {"pattern": str(n)}) for n in range(200)])) as server:
        server.plain = plain
        made = OpenAIModel("gpt-x", server.base_url).ask(MESSAGES, TOOLS, len).calls
    assert [json.loads(call.arguments)["pattern"] for call in made] == [str(n) for n in range(endpoint.MOST_CALLS)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_told_and_not_followed(status: int) -> None:
    """Neither the conversation nor the key goes where the person did not send it."""
    with ScriptedServer(say("Mine now.")) as other, ScriptedServer() as server:
        server.script(sent_on(f"{other.base_url}/chat/completions", status))
        with pytest.raises(ModelError) as caught:
            OpenAIModel("gpt-x", server.base_url, "sk-key").ask(MESSAGES, TOOLS, len)
        assert f"sends on to {other.base_url}/chat/completions ({status}), where nothing was sent" in str(caught.value)
        assert other.requests == []
