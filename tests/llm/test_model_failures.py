"""Whatever goes wrong with an endpoint is one clear line with its remedy, and what had come of an answer is kept.

Over real HTTP on loopback with the real client.
"""

import pytest
from scripted_server import ScriptedServer, Step, cut, fail, hang, raw, say
from test_model import KEY, Session, asked

from filemem.llm.model import ModelError, PromptTooLong


def refused(
    *steps: Step, url: str = "", key: str | None = KEY, timeout: float = 5.0
) -> ModelError:
    """The error of one question, which must be one line for a person that names model and host and keeps the key."""
    with ScriptedServer(*steps) as server, pytest.raises(ModelError) as caught:
        Session(url or server.base_url, key, timeout).ask()
    line = str(caught.value)
    assert (
        line.startswith("gpt-x at ")
        and line.endswith(".")
        and line.isprintable()
        and len(line) < 500
    )
    assert KEY not in line and "Traceback" not in line
    return caught.value


NO_COMPLETION = "no chat completion"
EMPTY_STREAM = "an event stream came back without an answer"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (fail(401, f"Incorrect API key: {KEY}"), "OPENAI_API_KEY is missing or not"),
        (fail(404, "The model `gpt-x` does not exist"), "no such model, or no chat"),
        (fail(429, "slow down", retry_after=300), 'used up (429, "slow down")'),
        (fail(503, "Loading", retry_after=300), 'failed (503, "Loading"); try again'),
        (raw(b"<html>\x1b[2J</html>", "text/html", 418), "was refused (418); check"),
        (fail(400, "one\n\x1b[31m\u202e two"), '(400, "one \\x1b[31m\\u202e two"'),
        (raw(b'{"detail": "bad"}', "application/json", 422), '(422, "bad")'),
        (raw(b'data: {"error": {"message": "overloaded"}}\n\n'), 'failed ("overloaded'),
        (raw(b'{"error": {"message": "no credit"}}', "application/json"), "no credit"),
        (cut("Hel", "lo"), "broke off in the middle"),
        (cut("Hel", "lo", cleanly=True), "broke off in the middle"),
        (raw(b"data: {nope\n\n"), NO_COMPLETION),
        (raw(b"data: " + b"[" * 100_000 + b"\n\n"), NO_COMPLETION),
        (raw(b"<html>Welcome</html>", "text/html"), NO_COMPLETION),
        (raw(b'data: {"choices": []}\n\ndata: [DONE]\n\n'), EMPTY_STREAM),
        (raw(b""), EMPTY_STREAM),
        (raw(b'{"choices": [', "application/json"), NO_COMPLETION),
    ],
)
def test_a_failure_is_one_line_with_its_remedy(step: Step, words: str) -> None:
    assert words in str(refused(step))


@pytest.mark.parametrize(
    ("finish", "words"), [("length", "limit on length"), ("content_filter", "filter")]
)
def test_an_answer_that_was_stopped_says_so(finish: str, words: str) -> None:
    reply, _, _ = asked(say("I would", finish=finish))
    assert reply.text == "I would" and words in reply.notice


def test_a_failure_that_stays_is_told_after_three_tries() -> None:
    boom = fail(500, f"boom {KEY}", retry_after=0)
    assert 'failed (500, "boom …"); try again in a moment' in str(
        refused(boom, boom, boom, say("too late"))
    )


@pytest.mark.parametrize(
    "step",
    [
        fail(
            400,
            "Maximum is 4097 tokens (111 in the functions)",
            code="context_length_exceeded",
        ),
        fail(400, "the request exceeds the available context size, try increasing it"),
        fail(413, "Payload too large"),
        raw(b'data: {"error": {"message": "prompt is too long: 9 > 8"}}\n\n'),
    ],
)
def test_a_prompt_too_long_is_told_apart(step: Step) -> None:
    error = refused(step)
    assert isinstance(error, PromptTooLong) and "send less" in str(error)


def test_a_missing_key_names_the_variable_to_set() -> None:
    assert "the key in OPENAI_API_KEY is missing or not accepted" in str(
        refused(fail(401), key=None)
    )
    unsent = str(refused(url="https://api.openai.com/v1", key=" \n"))
    assert unsent.startswith(
        "gpt-x at api.openai.com: the key in OPENAI_API_KEY is missing"
    )


@pytest.mark.parametrize("pieces", [(), ("Hel", "lo")])
def test_silence_is_a_time_out_that_keeps_what_had_come(
    pieces: tuple[str, ...],
) -> None:
    with ScriptedServer(hang(*pieces), hang(), hang()) as server:
        session = Session(server.base_url, timeout=0.3)
        with pytest.raises(ModelError, match="nothing came in time"):
            session.ask()
        assert session.pieces == [*pieces]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("{server}", "OPENAI_BASE_URL, which often ends in /v1"),
        ("https:{server}/v1", "SSL"),
        ("http://127.0.0.1:1/v1", "Connection refused"),
        ("http://alice:secret@127.0.0.1:1/v1", "at 127.0.0.1:1: it cannot"),
        (
            f"http://{'.'.join(['x' * 60] * 5)}/v1",
            "it cannot be asked",
        ),  # too long a name for any network to know
        ("ftp://127.0.0.1/v1", "it cannot be asked"),
        ("http://[::1/v1", "it cannot be asked"),
    ],
)
def test_an_endpoint_that_cannot_be_reached(url: str, words: str) -> None:
    with ScriptedServer() as server:
        there = server.base_url.removesuffix("/v1")
        plain = url.replace("https:{server}", there.replace("http:", "https:")).replace(
            "{server}", there
        )
        error = str(refused(url=plain))
    assert words in error and "secret" not in error


def test_a_key_with_characters_that_no_header_takes() -> None:
    for key in ("sk-clé", "sk-a b", "sk-a\nb"):
        error = str(refused(key=key))
        assert (
            "the key in OPENAI_API_KEY is missing or not accepted" in error
            and key not in error
        )


def test_a_proxy_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that cannot be used is named; a server on this machine is never asked through one."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "nonsense://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert "nonsense://127.0.0.1:1" in str(refused(url="http://endpoint.invalid/v1"))
    assert asked(say("Hi"))[0].text == "Hi"
