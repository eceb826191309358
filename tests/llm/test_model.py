"""Any OpenAI-compatible endpoint serves: what it answers comes back whole, what it cannot do it is not asked twice, and each
answer is bounded in time and calls, however slowly it comes.

Over real HTTP on loopback with the real client; test_model_failures.py has what goes wrong.
"""

import json
import signal
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import (
    STREAM,
    ScriptedServer,
    Step,
    calls,
    cut,
    deltas,
    fail,
    flood,
    hang,
    raw,
    say,
    sent_on,
)

from filemem.llm.client import OpenAIModel
from filemem.llm.model import ModelError, Reply, ToolCall, ToolsRefused, Usage
from filemem.llm.stream import MAX_CALLS, ThoughtFilter

KEY = "sk-a-secret-that-nobody-may-see"
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "What tea does she like? 喝什么茶？"}
]
GREP = {"name": "grep", "parameters": {"type": "object", "properties": {}}}
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": GREP}]


class Session:
    """A model and what it has said."""

    def __init__(
        self, base_url: str, key: str | None = KEY, timeout: float = 5.0
    ) -> None:
        self.pieces: list[str] = []
        self.model = OpenAIModel("gpt-x", base_url, key, timeout)

    def ask(
        self,
        messages: list[dict[str, Any]] = MESSAGES,
        tools: list[dict[str, Any]] = TOOLS,
    ) -> Reply:
        self.pieces.clear()
        return self.model.ask(messages, tools, self.pieces.append)


def asked(*steps: Step) -> tuple[Reply, Session, ScriptedServer]:
    """The reply to one question put to a server with this script."""
    with ScriptedServer(*steps) as server:
        session = Session(server.base_url, f"{KEY}\n")
        return session.ask(), session, server


# What an endpoint answers comes back whole.


def test_text_streams_piece_by_piece() -> None:
    """The key's line end is no part of it."""
    reply, session, server = asked(say("乌龙", "茶 🍵, as ", "always."))
    assert reply == Reply("乌龙茶 🍵, as always.", (), Usage(100, 10), "stop")
    assert session.pieces == ["乌龙", "茶 🍵, as ", "always."]
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    sent = {"model": "gpt-x", "messages": MESSAGES, "tools": TOOLS}
    assert request.body == {
        **sent,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_several_calls_in_one_step_keep_their_arguments_as_written() -> None:
    """Well-formed or not."""
    wanted = [("grep", '{"pattern": "茶"}'), ("open", '{"path": "facts/')]
    reply, _, _ = asked(calls(*wanted, text="Let me look."))
    assert [(call.name, call.arguments) for call in reply.calls] == wanted
    assert (reply.text, reply.finish) == ("Let me look.", "tool_calls")


def _delta(
    name: str | None = None, arguments: Any = None, **other: Any
) -> dict[str, Any]:
    return {
        "tool_calls": [{"function": {"name": name, "arguments": arguments}, **other}]
    }


BOTH = [("grep", "{}"), ("open", "{}")]
LOOSE = {
    "without ids": (
        [
            _delta("grep", '{"a', index=0),
            _delta(None, '":1}', index=0),
            _delta("open", "{}", index=1),
        ],
        [("grep", '{"a":1}'), ("open", "{}")],
    ),
    "without index": (
        [_delta("grep", "{}", id="x"), _delta("open", "{", id="y"), _delta(None, "}")],
        BOTH,
    ),
    "index 0 for all": (
        [_delta("grep", "{}", id="x", index=0), _delta("open", "{}", id="y", index=0)],
        BOTH,
    ),
    "one id for all": (
        [_delta("grep", "{}", id="x", index=0), _delta("open", "{}", id="x", index=1)],
        BOTH,
    ),
    "name in every delta": (
        [_delta("grep", "{", id="x", index=0), _delta("grep", "}", id="x", index=0)],
        BOTH[:1],
    ),
    "arguments as a mapping": (
        [_delta("grep", {"a": 1}, index=0)],
        [("grep", '{"a": 1}')],
    ),
    "interleaved": (
        [
            _delta("open", "B", index=1),
            _delta("grep", "A", index=0),
            _delta(None, "b", index=1),
        ],
        [("open", "Bb"), ("grep", "A")],
    ),
}


@pytest.mark.parametrize(("parts", "expected"), LOOSE.values(), ids=LOOSE)
def test_calls_of_loose_endpoints_are_told_apart(
    parts: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    """Each has an id of its own then."""
    reply, _, _ = asked(deltas(*parts, finish="tool_calls"))
    assert [(call.name, call.arguments) for call in reply.calls] == expected
    ids = [call.id for call in reply.calls]
    assert all(ids) and len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (
            [{"refusal": "I will "}, {"refusal": "not."}],
            "I will not.",
        ),  # the model's own answer
        (
            [
                {
                    "content": [
                        {"type": "thinking", "text": "Hm"},
                        {"type": "text", "text": "Tea."},
                    ]
                }
            ],
            "Tea.",
        ),
        ([{"content": "tea \ud83c"}], "tea ?"),  # could not be written to a file
    ],
    ids=["a refusal", "typed parts", "half an emoji"],
)
def test_text_is_read_however_it_is_sent(
    parts: list[dict[str, Any]], text: str
) -> None:
    """A refusal is the model's own answer."""
    reply, session, _ = asked(deltas(*parts))
    assert reply.text == text == "".join(session.pieces)


_KEYS = (
    "choices delta message content tool_calls function name arguments index id usage"
)
_MORE = "prompt_tokens finish_reason error refusal text type"
_KEY = st.sampled_from(f"{_KEYS} {_MORE}".split())
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(_KEY, inner, max_size=4)
    ),
)
_CHOICES = st.fixed_dictionaries({"choices": st.lists(_JSON, min_size=1, max_size=2)})


@settings(max_examples=60, deadline=None)
@given(st.lists(_CHOICES | _JSON, max_size=4))
def test_any_json_is_a_reply_or_one_error(
    loopback: ScriptedServer, events: list[object]
) -> None:
    """However an endpoint twists its events, there is a Reply of the right types."""
    loopback.forget()
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    loopback.script(raw(data.encode()))
    with suppress(ModelError):
        reply = Session(loopback.base_url).ask()
        assert isinstance(reply.text, str) and isinstance(reply.finish, str)
        assert all(isinstance(call.arguments, str) for call in reply.calls)
        assert all(isinstance(count, int) for count in reply.usage)


@pytest.fixture(scope="module")
def loopback() -> Any:
    """One server for the many examples of a law."""
    with ScriptedServer() as server:
        yield server


# An endpoint that cannot do everything is asked for less, and that is remembered.


def test_an_endpoint_that_does_not_stream_answers_in_one_piece() -> None:
    """With its calls."""
    call = ToolCall("call_a", "grep", '{"pattern": "茶"}')
    with ScriptedServer(calls(("grep", {"pattern": "茶"}), text="Look:")) as server:
        server.plain = True
        session = Session(server.base_url)
        assert session.ask() == Reply("Look:", (call,), Usage(100, 10), "tool_calls")
        assert session.pieces == ["Look:"]


def test_an_endpoint_that_does_not_know_stream_options_streams_without() -> None:
    """It is found out once."""
    with ScriptedServer(say("a", "b"), say("c")) as server:
        server.refuses = {"stream_options"}
        session = Session(server.base_url)
        assert session.ask() == Reply("ab", (), Usage(0, 0), "stop")
        assert session.ask().text == "c"
        sent = ["stream_options" in request.body for request in server.requests]
        assert sent == [True, False, False]
        assert "tools" in server.requests[-1].body


@pytest.mark.parametrize(
    "refusal",
    [
        fail(400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        fail(404, "No endpoints found that support tool use."),
        fail(422, "Function calling is not enabled for this model"),
        fail(422, "tools param requires --jinja flag"),
    ],
)
def test_an_endpoint_without_tools_says_so(refusal: Step) -> None:
    """Who asks decides what to ask instead."""
    with ScriptedServer(refusal, say("Hello.")) as server:
        session = Session(server.base_url)
        with pytest.raises(ToolsRefused):
            session.ask()
        assert session.ask(tools=[]).text == "Hello."
        assert ["tools" in request.body for request in server.requests] == [True, False]


def test_an_error_that_only_mentions_tools_costs_no_tools() -> None:
    """As one on the order of messages."""
    bad = fail(400, "messages with role 'tool' must follow 'tool_calls'")
    with ScriptedServer(bad, say("Hello.")) as server:
        session = Session(server.base_url)
        with pytest.raises(ModelError, match="refused"):
            session.ask()
        session.ask()
        assert "tools" in server.requests[-1].body


# Passing failures are tried again.


@pytest.mark.parametrize(
    "step", [fail(429, retry_after=0.01), fail(503, "busy", retry_after=0), cut()]
)
def test_a_passing_failure_is_tried_again(step: Step) -> None:
    """Twice."""
    reply, _, server = asked(step, step, say("Hi"))
    assert reply.text == "Hi" and len(server.requests) == 3


def test_nothing_is_asked_twice_once_text_has_come() -> None:
    """Or it would be heard twice."""
    with ScriptedServer(cut("Hel", "lo"), say("again")) as server:
        session = Session(server.base_url)
        with pytest.raises(ModelError):
            session.ask()
        assert "".join(session.pieces) == "Hello" and len(server.requests) == 1
        assert session.ask().text == "again"


# Ctrl-C.


def test_ctrl_c_closes_the_connection_and_goes_on_up() -> None:
    """The model can be asked again."""
    with ScriptedServer(hang("Hel", "lo"), say("Next.")) as server:
        session = Session(server.base_url, timeout=30)
        main = threading.get_ident()

        def heard(piece: str) -> None:
            session.pieces.append(piece)
            if piece == "lo":
                threading.Thread(
                    target=signal.pthread_kill, args=(main, signal.SIGINT)
                ).start()

        with pytest.raises(KeyboardInterrupt):
            session.model.ask(MESSAGES, TOOLS, heard)
        assert session.pieces == ["Hel", "lo"]
        assert server.hung_up.wait(10)
        assert session.ask().text == "Next."


# What is sent to whom.


def test_the_environment_does_not_redirect_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The address and the key are those given, also where the client would look them up itself."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ScriptedServer(say("Hi")) as server:
        assert Session(server.base_url, key=None).ask().text == "Hi"
        assert KEY not in server.requests[0].headers["authorization"]


# What a model thinks is no part of what it says, wherever the pieces are cut.


THOUGHTS = [
    ("<think>Tea?</think>Oolong.", "Oolong."),
    ("<thinking>茶？</thinking>乌龙茶。", "乌龙茶。"),
    ("Wait. <think>Tea?</think>Oolong.", "Wait. Oolong."),
    ("<think>a</think>b<think>c</think>d", "bd"),
    ("<think>for ever", ""),
    ('<details type="reasoning" done="true">Tea?</think></details>Oolong.', "Oolong."),
    ("<details class='x'>Oolong</details>", "<details class='x'>Oolong</details>"),
    ("Tea?</think>Oolong.", "Oolong."),
    (
        "Write `<think>` first, `</think>` last.",
        "Write `<think>` first, `</think>` last.",
    ),
    ("```\n<think>x</think>\n```\nDone.", "```\n<think>x</think>\n```\nDone."),
    ("1 < 2, <thin air>, a <t", "1 < 2, <thin air>, a <t"),
]


@pytest.mark.parametrize(("text", "said"), THOUGHTS)
def test_thoughts_are_told_from_words_wherever_the_pieces_are_cut(
    text: str, said: str
) -> None:
    """In code a tag is none."""
    cuts = [[text[:at], text[at:]] for at in range(len(text))]
    for pieces in [list(text), *cuts]:
        heard = ThoughtFilter(len)
        for piece in pieces:
            heard.feed(piece)
        heard.feed("", final=True)
        assert heard.text == said


# An endpoint that does not end, or sends on, is stopped.


CHUNK = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def stopped(step: Step, longest: float) -> str:
    """What had come of one answer that does not end, whose endpoint hears the client hang up."""
    with ScriptedServer(step) as server:
        pieces: list[str] = []
        began = time.monotonic()
        with pytest.raises(ModelError) as caught:
            OpenAIModel("gpt-x", server.base_url, "none", 60.0, longest=longest).ask(
                MESSAGES, TOOLS, pieces.append
            )
        assert time.monotonic() - began < 15
        assert server.hung_up.wait(10)
    assert "not at its end in time" in str(caught.value)
    return "".join(pieces)


@pytest.mark.parametrize(
    "step",
    [
        flood(STREAM, CHUNK % b"la ", pause=0.01),
        flood(STREAM, b": still there\n\n", pause=0.01),
        flood(HEAD + b"\r\n", b" ", pause=0.01),
        hang("A word"),
    ],
    ids=["text", "comments", "one body", "silence"],
)
def test_an_answer_ends_at_its_time(step: Step) -> None:
    """Also in the middle of a long silence."""
    stopped(step, longest=0.6)


def test_of_too_many_calls_the_first_are_taken() -> None:
    """A model that runs wild costs no more than that."""
    wanted = [("grep", f'{{"pattern": "{n}"}}') for n in range(200)]
    reply, _, _ = asked(calls(*wanted))
    found = [(call.name, call.arguments) for call in reply.calls]
    assert found == wanted[:MAX_CALLS]


def test_a_redirect_is_told_and_not_followed() -> None:
    """Neither the conversation nor the key goes where the person did not send it."""
    with ScriptedServer(say("Mine now.")) as other, ScriptedServer() as server:
        server.script(sent_on(f"{other.base_url}/chat/completions"))
        with pytest.raises(ModelError, match="was refused"):
            Session(server.base_url).ask()
        assert other.requests == []
