"""`filemem serve`: any client of OpenAI's interface has a memory by its base URL, and
sees its own user's alone."""

import contextlib
import datetime as dt
import json
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from programs import COLD, lay, without_rights
from scripted_server import (
    ScriptedServer,
    Step,
    calls,
    cut,
    deltas,
    fail,
    hang,
    say,
)

from filemem import Store, User
from filemem.store import keys
from filemem.store.recalls import recalled

for package in ("starlette", "uvicorn"):
    pytest.importorskip(package, reason="needs filemem[serve]")

CHAT = "/v1/chat/completions"
HELLO = b'{"model": "filemem", "messages": [{"role": "user", "content": "Hi."}]}'
WEATHER: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}


class Served:
    """A store that a process serves, the model that answers, the keys of two users."""

    def __init__(
        self, root: Path, model: ScriptedServer, *options: str, leading: Sequence[str]
    ) -> None:
        self.root = root
        self.model = model
        self.store = root / "store"
        self.mara = self.store / "mara"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-of-the-server",
            "FILEMEM_MODEL": "scripted",
            "FILEMEM_STORE": str(self.store),
            "XDG_CONFIG_HOME": str(root / "config"),
        }
        self.store.mkdir()
        self.keys: dict[str, str] = {}
        for name in ("mara", "joao"):
            self.keys[name] = self.run("serve", "keys", "add", name).stdout.strip()
        self.log = root / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*leading, *COLD, "serve", "--port", "0", *options],
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout
        self.hello = self.process.stdout.readline()
        self.url = re.findall(r"http://\S+/v1", self.hello)[0]

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        call = [*COLD, *words]
        return subprocess.run(
            call, env=self.environment, capture_output=True, text=True
        )

    def add_key(self, name: str) -> None:
        """Give a user a key in place of those that they have."""
        store = str(self.store)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CONFIG_HOME", self.environment["XDG_CONFIG_HOME"])
            keys.revoke_user(store, name)
            self.keys[name] = keys.add_key(store, name, dt.date(2026, 11, 22))

    def client(self, name: str = "mara") -> openai.OpenAI:
        key = self.keys.get(name, name)
        return openai.OpenAI(base_url=self.url, api_key=key, max_retries=0, timeout=120)

    def user(self, name: str = "mara") -> User:
        return Store(self.store).user(name)

    def said(self, name: str = "mara") -> list[list[str]]:
        """Return the turns of each session, in order."""
        sessions = self.user(name).memories("sessions")
        return [[turn.text for turn in one.passages] for one in sessions]

    def sent(self, path: str, body: bytes | None, **headers: str) -> HTTPConnection:
        """Return a connection on which a request was made by hand."""
        there = urlsplit(self.url)
        connection = HTTPConnection(there.hostname or "", there.port, timeout=60)
        key = f"Bearer {self.keys['mara']}"
        given = {"Authorization": key, "Content-Type": "application/json", **headers}
        given = {name: value for name, value in given.items() if value}
        how = "GET" if body is None else "POST"
        connection.request(how, path, body, given)
        return connection

    def post(self, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
        """Return the status and body that a chat's request of any bytes gets."""
        answer = self.sent(CHAT, body, **headers).getresponse()
        return answer.status, json.loads(answer.read())


@contextlib.contextmanager
def serving(root: Path, *options: str, leading: Sequence[str] = ()) -> Iterator[Served]:
    """Serve a store, with a model that says hi."""
    with ScriptedServer() as model:
        model.default = say("Hi.")
        served = Served(root, model, *options, leading=leading)
        try:
            yield served
        finally:
            served.process.terminate()
            served.process.wait(60)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture
def served(running: Served) -> Served:
    """The server, with nobody's memories in its store, and new keys: those of before
    were of those who are gone."""
    running.model.forget()
    running.model.default = fail(400, "the script has run out")
    for path in running.store.iterdir():
        path.rename(running.root / f"{path.name}-{time.monotonic_ns()}")
    for name in ("mara", "joao"):
        running.add_key(name)
    return running


def said_in_turn(*said: Any) -> list[dict[str, Any]]:
    """Return as messages what the user and the assistant said in turn.

    What is a message already stays as it is.
    """
    messages = []
    for number, told in enumerate(said):
        if isinstance(told, str):
            role = ("user", "assistant")[number % 2]
            messages.append({"role": role, "content": told})
        else:
            messages.append(told)
    return messages


def ask(client: openai.OpenAI, *said: Any, **options: Any) -> Any:
    """Have the last answered of what the user and the assistant said in turn."""
    given = {"model": "filemem", "messages": said_in_turn(*said), **options}
    return client.chat.completions.create(**given)


def text_of(answer: Any) -> str:
    """Return the text of an answer, in one piece or streamed."""
    if hasattr(answer, "choices"):
        return str(answer.choices[0].message.content)
    chunks = [chunk.choices[0] for chunk in answer if chunk.choices]
    return "".join(chunk.delta.content or "" for chunk in chunks)


def test_litellm_completes_streams_and_is_told_what_is_wrong(served: Served) -> None:
    """As docs/agents.md calls it."""
    litellm = pytest.importorskip("litellm", reason="litellm is not installed")
    served.model.script(say("Noted."), say("Oolong."))
    how: dict[str, Any] = {"api_base": served.url, "api_key": served.keys["mara"]}
    said = [{"role": "user", "content": "I drink oolong."}]
    answer = litellm.completion("openai/filemem", said, **how)
    assert text_of(answer) == "Noted."
    assert answer.usage.total_tokens == 110
    said += [
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "What do I drink?"},
    ]
    pieces = litellm.completion("openai/filemem", said, stream=True, **how)
    chunks = [piece.choices[0].delta.content or "" for piece in pieces]
    assert "".join(chunks) == "Oolong."
    assert served.said() == [
        ["I drink oolong.", "Noted.", "What do I drink?", "Oolong."]
    ]
    with pytest.raises(litellm.NotFoundError, match="take filemem"):
        litellm.completion("openai/none", said, **how)


# -- what a client gets ----------------------------------------------------------------


def test_a_read_only_store_answers_and_keeps_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, leading=without_rights()) as served:
        lay(served.mara, {"profile.md": "Mara likes short answers.\n"})
        for folder in (served.mara, served.store):
            folder.chmod(0o500)
        assert text_of(ask(served.client(), "Remember that I row.")) == "Hi."
        assert "short answers" in str(served.model.requests[-1].body)
        served.mara.chmod(0o700)
        assert served.said() == []


def test_a_chat_is_kept_and_remembered_by_the_next(served: Served) -> None:
    """The model sees the profile, the client's messages as they came and the four
    tools, the client only the answer."""
    client = served.client()
    lay(served.mara, {"profile.md": "Mara likes short answers.\n"})
    served.model.script(say("Noted."), say("You said so."))
    ask(client, "I drink oolong.")
    chat = ["I drink oolong.", "Noted.", "What do I drink?", "You said so."]
    assert text_of(ask(client, *chat[:3], stream=True)) == chat[3]
    assert served.said() == [chat]
    sent = served.model.requests[1].body
    first, *rest = sent["messages"]
    assert "Mara likes short answers." in first["content"]
    for message, text in zip(rest, chat[:3], strict=True):
        assert message["content"].endswith(text)
    names = [tool["function"]["name"] for tool in sent["tools"]]
    assert names == ["grep", "search_files", "open", "close"]
    search = calls(("search_files", {"query": "what does Mara drink?"}))
    served.model.script(search, say("Oolong."))
    usage: Any = {"stream_options": {"include_usage": True}}
    chunks = list(ask(client, "Which tea is mine?", stream=True, **usage))
    found = served.model.requests[-1].body["messages"][-1]["content"]
    assert "I drink oolong." in found
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert not any(choice.delta.tool_calls for choice in choices)
    assert choices[-1].finish_reason == "stop"
    assert chunks[-1].usage.total_tokens == 220


@pytest.mark.parametrize(
    "how",
    [
        {"extra_headers": {"X-Filemem-Conversation": "chat-7"}},
        {"extra_body": {"metadata": {"conversation_id": "chat-7"}}},
        {"user": "chat-7"},
    ],
    ids=["header", "metadata", "user"],
)
def test_a_client_that_trims_its_history_has_one_conversation_by_its_id(
    served: Served, how: Any
) -> None:
    """What was left out is found."""
    served.model.default = say("Noted.")
    chat: list[str] = []
    for number in range(1, 6):
        chat.append(f"Fact {number}: I have {number} cats.")
        ask(served.client(), *chat[-3:], **how)
        chat.append("Noted.")
    assert served.said() == [chat]
    ask(served.client(), "How many cats were there in fact 1?", **how)
    asked = served.model.requests[-1].body["messages"][-1]["content"]
    assert "I have 1 cats." in asked


def a_small_model(body: dict[str, Any]) -> Step:
    """Answer as a model that summarises, and refuses a request of 12,000 letters."""
    if "running summary" in body["messages"][0]["content"]:
        return say("Mara owns a zeppelin called Hilda.")
    if len(json.dumps(body["messages"])) > 12_000:
        return fail(400, "too long", code="context_length_exceeded")
    return say("Noted.")


def summaries_asked(served: Served) -> list[str]:
    """Return what the model was told to summarise, request by request."""
    told = []
    for request in served.model.requests:
        first, *rest = request.body["messages"]
        if "running summary" in first["content"]:
            told.append(rest[0]["content"])
    return told


def last_sent(served: Served) -> list[dict[str, Any]]:
    """Return the messages of the last request."""
    messages: list[dict[str, Any]] = served.model.requests[-1].body["messages"]
    return messages


@pytest.mark.parametrize("how", [{}, {"user": "chat-7"}], ids=["beginning", "id"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_history_longer_than_the_window_goes_on_with_its_summary(
    served: Served, stream: bool, how: Any
) -> None:
    """The newest messages and an open tool loop go as they came; the summary of the
    oldest is kept beside the session, and made anew without what is forgotten."""
    served.model.default = a_small_model
    lay(served.store, {"filemem.yaml": "client_window_tokens: 1000\n"})
    chat = ["I own a zeppelin called Hilda.", "Noted."]
    for number in range(40):
        chat += [f"Flight {number} was {'very ' * 50}long.", "Noted."]
    answer = ask(served.client(), *chat, "So?", stream=stream, **how)
    assert text_of(answer) == "Noted."
    sent = last_sent(served)
    assert "Mara owns a zeppelin" in sent[0]["content"]
    newest = [one["content"] for one in sent[1:-1]]
    assert len(newest) > 4 and newest == chat[-len(newest) :]
    [turns] = served.said()
    assert turns == [*chat, "So?", "Noted."]
    told = len(summaries_asked(served))
    ask(served.client(), *chat, "So?", stream=stream, **how)
    assert last_sent(served)[1:-1] == sent[1:-1]
    assert len(summaries_asked(served)) == told

    called = calls(("weather", {"city": "Braga"})).message
    loop: Any = [
        {"role": "user", "content": "Will it rain?"},
        {**called, "reasoning_content": "Hm."},
        {"role": "tool", "tool_call_id": "call_a", "content": "rain, " * 400},
    ]
    chat += ["So?", "Noted.", *loop]
    again = ask(served.client(), *chat, tools=[WEATHER], stream=stream, **how)
    assert text_of(again) == "Noted."
    sent = last_sent(served)
    assert sent[-2:] == loop[1:]

    assert len(summaries_asked(served)) <= 2
    served.user().forget("Hilda")
    served.model.requests.clear()
    ask(served.client(), *chat, "Noted.", "And now?", **how)
    [asked] = summaries_asked(served)
    assert "Flight 1 was" in asked and "Hilda" not in asked


def test_a_long_history_is_summarised_request_by_request_from_its_beginning(
    served: Served,
) -> None:
    """One a message, so that nobody waits for more; of what is longer, both ends."""
    served.model.default = a_small_model
    lay(served.store, {"filemem.yaml": "client_window_tokens: 1000\n"})
    text = f"It begins. {'so very ' * 3_750}long, and ends."
    chat = [text, "Noted."] * 6
    for _ in range(6):
        ask(served.client(), *chat, "So?", user="chat-7")
        chat += ["So?", "Noted."]
    asked = summaries_asked(served)
    assert 1 < len(asked) <= 6
    assert "".join(asked).count("It begins.") == 6
    assert "".join(asked).count("and ends.") == 6


def test_a_client_that_trims_its_history_gets_the_summary_of_the_rest(
    served: Served,
) -> None:
    served.model.default = a_small_model
    lay(served.store, {"filemem.yaml": "client_window_tokens: 300\n"})
    chat: list[str] = []
    for number in range(20):
        chat.append(f"Flight {number} was {'very ' * 20}long.")
        ask(served.client(), *chat[-3:], user="chat-7")
        chat.append("Noted.")
    sent = last_sent(served)
    assert "Mara owns a zeppelin" in sent[0]["content"]
    assert [one["content"] for one in sent[1:-1]] == chat[-4:-2]
    assert len(summaries_asked(served)) < 10


def test_what_was_forgotten_does_not_come_back_with_the_next_message(
    served: Served,
) -> None:
    """The client sends it again; what the person says since is kept, in one session."""
    served.model.script(say("Hilda!"), say("So."), say("No."))
    chat = ["I own a zeppelin called Hilda.", "Hilda!", "What else?"]
    ask(served.client(), chat[0])
    [session] = served.user().memories("sessions")
    served.user().forget(session.path)
    ask(served.client(), *chat)
    ask(served.client(), *chat, "So.", "Is that all?")
    assert served.said() == [["What else?", "So.", "Is that all?", "No."]]
    assert not served.user().grep("Hilda")


def test_remember_that_is_kept_as_a_fact_too(served: Served) -> None:
    """In its words; the model is told, to say so."""
    served.model.script(say("Kept."))
    ask(served.client(), "Remember that my bike is a red Gazelle.")
    [fact] = served.user().memories("facts")
    assert "my bike is a red Gazelle." in fact.text
    asked = served.model.requests[-1].body["messages"][-1]["content"]
    assert "Kept as a fact" in asked.partition("</program>")[0]


@pytest.mark.parametrize("stream", [False, True])
def test_the_client_s_own_tools_pass_through(served: Served, stream: bool) -> None:
    """The model's call goes to the client with all that its endpoint adds, such as
    reasoning and signatures, and all goes back; filemem's own are made inside."""
    state = {"extra_content": {"google": {"thought_signature": "SIG=="}}}
    function = {"name": "weather", "arguments": '{"city": "Braga"}'}
    call = {"index": 0, "id": "c1", "type": "function", "function": function, **state}
    called = deltas({"reasoning_content": "Hm.", "tool_calls": [call]})
    both = calls(("search_files", {"query": "where does Mara live?"}), ("weather", {}))
    called = called._replace(finish="tool_calls")
    served.model.script(both, called, say("It rains."))
    answer = ask(served.client(), "Will it rain?", tools=[WEATHER], stream=stream)
    if stream:
        found = [chunk.choices[0].delta for chunk in answer if chunk.choices]
        message = next(one for one in found if one.tool_calls)
    else:
        message = answer.choices[0].message
    sent = {**message.model_dump(exclude_none=True), "role": "assistant"}
    call.pop("index")
    for made in sent["tool_calls"]:
        made.pop("index", None)
    assert sent["tool_calls"] == [call]
    assert sent["reasoning_content"] == "Hm."
    result = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
    asked: Any = [{"role": "user", "content": "Will it rain?"}, sent, result]
    again = served.client().chat.completions.create(
        model="filemem", messages=asked, tools=[WEATHER]
    )
    assert text_of(again) == "It rains."
    request = served.model.requests[-1].body
    assert request["messages"][-1] == result
    assert request["tools"][-1]["function"]["name"] == "weather"
    assert [len(turns) for turns in served.said()] == [3]  # a call is one, too


def test_instructions_settings_and_pictures_of_the_client_reach_the_model(
    served: Served,
) -> None:
    """Its tools do not where it wants none called."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    asked = [{"type": "text", "text": "What is this?"}, picture]
    messages: Any = [
        {"role": "system", "content": "Speak like a pirate."},
        {"role": "user", "content": asked},
    ]
    served.model.script(say("A parrot."))
    options: Any = {"tools": [WEATHER], "tool_choice": "none", "temperature": 0.5}
    served.client().chat.completions.create(
        model="scripted", messages=messages, **options
    )
    sent = served.model.requests[-1].body
    assert "Speak like a pirate." in sent["messages"][0]["content"]
    assert sent["messages"][-1]["content"][-1] == picture
    assert (sent["temperature"], sent["model"]) == (0.5, "scripted")
    assert "weather" not in [tool["function"]["name"] for tool in sent["tools"]]
    assert served.said() == [["What is this?\n[image: without a name]", "A parrot."]]


def test_what_is_not_to_be_stored_is_in_no_file(served: Served) -> None:
    """The model for an interface's own prompts has no memory at all."""
    served.model.default = say("A title.")
    assert text_of(ask(served.client(), "Oolong?", store=False)) == "A title."
    assert text_of(ask(served.client(), "My cat.", model="filemem-task")) == "A title."
    sent = served.model.requests[-1].body
    assert sent["messages"] == [{"role": "user", "content": "My cat."}]
    assert "tools" not in sent
    assert not served.mara.exists()
    names = [model.id for model in served.client().models.list()]
    assert names == ["filemem", "filemem-task", "scripted"]
    health = served.sent("/healthz", None).getresponse()
    assert health.read() == b'{"status":"ok"}'


def test_what_is_opened_for_what_is_not_stored_is_no_recall(served: Served) -> None:
    path = served.user().remember("Likes oolong.").path
    for store in (False, True):
        look = calls(("open", {"path": path}))
        served.model.script(look, say("Oolong."))
        ask(served.client(), "Which tea?", store=store)
        assert bool(recalled(served.user()._folder)) == store


# -- who is served, and what is refused ------------------------------------------------


def test_a_key_opens_one_user_s_memories_and_no_other_key_does(served: Served) -> None:
    """Hashes alone are on disk, a key that was taken away is refused at the next
    request, and no key is in the log."""
    served.user("joao").remember("João hides the key under the fern.")
    elsewhere = ("open", {"path": "../joao/profile.md"})
    served.model.script(
        calls(("grep", {"pattern": "fern"}), elsewhere), say("Nothing.")
    )
    ask(served.client(), "What does João hide?")
    messages = served.model.requests[-1].body["messages"]
    told = [one["content"] for one in messages if one["role"] == "tool"]
    assert "0 lines" in told[0]
    assert told[1].startswith("Error: ")
    mara = served.keys["mara"]
    for key in ("", "none", "sk-of-the-server", mara[:-1], mara + "x", "é" * 9):
        there = {"Authorization": f"Bearer {key}".encode().decode("latin-1")}
        status, body = served.post(b"{}", **there)
        assert (status, body["error"]["code"]) == (401, "invalid_api_key"), key
    served.keys["rui"] = served.run("serve", "keys", "add", "rui").stdout.strip()
    assert list(served.client("rui").models.list())
    assert "rui" in served.run("serve", "keys", "list").stdout
    served.run("serve", "keys", "remove", "rui")
    with pytest.raises(openai.AuthenticationError):
        list(served.client("rui").models.list())
    written = b""
    for path in served.root.rglob("*"):
        written += path.read_bytes() if path.is_file() else b""
    for key in (*served.keys.values(), "sk-of-the-server"):
        assert key.encode() not in written


BODIES = """
{
[]
"x"
{"model": "filemem"}
{"messages": []}
{"messages": [1]}
{"messages": [{"role": "king", "content": "x"}]}
{"messages": [{"role": ["user"], "content": "x"}]}
{"messages": [{"role": "user", "content": 5}]}
{"messages": [{"role": "user", "content": " "}]}
{"messages": [{"role": "user"}]}
{"messages": [{"role": "system", "content": "x"}]}
{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
{"n": 2, "messages": [{"role": "user", "content": "x"}]}
{"tools": 5, "messages": [{"role": "user", "content": "x"}]}
{"messages": [{"role": "user", "content": "\\ud800"}]}
{"temperature": NaN, "messages": [{"role": "user", "content": "x"}]}
"""


def test_a_malformed_or_oversized_request_is_refused_in_one_line(
    served: Served,
) -> None:
    """In OpenAI's shape, without a trace of the program's inside; nothing is written."""
    bodies = [(line.encode(), 400) for line in BODIES.split("\n")]
    bodies += [(b"\xff\xfe", 400), (b"[" * 100_000, 400), (b"x" * 20_000_001, 413)]
    bodies.append((HELLO.replace(b"filemem", b"gpt-9"), 404))
    for body, status in bodies:
        got, told = served.post(body)
        sentence = told["error"]["message"]
        assert got == status, (body[:90], sentence)
        assert "\n" not in sentence
        assert told["error"].keys() == {"message", "type", "param", "code"}
    assert served.post(HELLO, **{"Content-Type": "text/plain"})[0] == 400
    with pytest.raises(openai.NotFoundError):
        served.client().embeddings.create(model="filemem", input="x")
    assert not served.mara.exists()
    assert "Traceback" not in served.log.read_text()


def test_a_history_that_the_model_cannot_take_is_refused_as_openai_does(
    served: Served,
) -> None:
    """So that a client shortens it; what it then leaves out is found by a search."""
    served.model.script(fail(400, "maximum context length exceeded"))
    with pytest.raises(openai.BadRequestError) as error:
        ask(served.client(), "I drink oolong.")
    assert error.value.code == "context_length_exceeded"
    assert "send less" in str(error.value)


def test_a_model_s_failure_is_an_error_and_asking_again_keeps_nothing_twice(
    served: Served,
) -> None:
    served.model.script(fail(401, "bad key"), say("Now."), cut("Half an ans"))
    with pytest.raises(openai.InternalServerError) as error:
        ask(served.client(), "I drink oolong.")
    assert error.value.status_code == 502
    assert error.value.response.headers["x-should-retry"] == "false"
    assert "sk-of-the-server" not in str(error.value)
    ask(served.client(), "I drink oolong.")
    assert served.said() == [["I drink oolong.", "Now."]]
    with pytest.raises(openai.APIError):
        text_of(ask(served.client(), "And now?", stream=True))


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_stops_the_model_and_what_had_come_is_kept(
    served: Served, stream: bool
) -> None:
    """In the middle of a stream, and before the first word."""
    silent = deltas({"content": ""})._replace(finish=None, end="hang")
    served.model.script(hang("It was a dark night") if stream else silent)
    served.model.hung_up.clear()
    asked = json.dumps({**json.loads(HELLO), "stream": stream}).encode()
    connection = served.sent(CHAT, asked)
    if stream:
        answer = connection.getresponse()
        while b"ight" not in answer.readline():
            pass
    wait_for(lambda: len(served.model.requests) > 0)
    assert connection.sock
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    assert served.model.hung_up.wait(60)
    wait_for(lambda: "the client left" in served.log.read_text())
    assert "kept of mara: 1" in served.log.read_text()
    partial = ["Hi.", "It was a dark night [interrupted]"]
    assert served.said() == [partial if stream else ["Hi."]]


@pytest.mark.parametrize("taken", [False, True])
def test_an_answer_to_who_is_deleted_meanwhile_is_kept_for_nobody(
    served: Served, taken: bool
) -> None:
    """Nor for who has their name by then."""
    served.user().remember("Keeps bees.")

    def answer(_: dict[str, Any]) -> Step:
        assert Store(served.store).delete("mara").left == []
        if taken:
            Store(served.store).user("mara").remember("Keeps wasps.")
        return say("The bees are fine.")

    served.model.script(answer)
    with pytest.raises(openai.NotFoundError, match="deleted or renamed") as error:
        ask(served.client(), "How are the bees?")
    assert error.value.code == "user_not_found"
    assert Store(served.store).users() == ["mara"] * taken
    assert served.said() == []


@pytest.mark.parametrize("renamed", [False, True])
def test_a_request_of_who_goes_while_it_comes_begins_nobody_anew(
    served: Served, renamed: bool
) -> None:
    """Their key was right when the request began."""
    served.user().remember("Keeps bees.")
    served.model.default = say("Hi.")
    size = {"Content-Length": str(len(HELLO)), "Expect": "100-continue"}
    connection = served.sent(CHAT, b"", **size)
    assert connection.sock and b" 100 " in connection.sock.recv(100)
    if renamed:
        Store(served.store).rename("mara", "bo")
    else:
        assert Store(served.store).delete("mara").left == []
    connection.send(HELLO)
    answer = connection.getresponse()
    code = json.loads(answer.read())["error"]["code"]
    expected = (404, "user_not_found") if renamed else (401, "invalid_api_key")
    assert (answer.status, code) == expected
    assert Store(served.store).users() == ["bo"] * renamed
    assert served.said("bo") == []


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until something holds, at most a minute."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.02)


def test_a_slow_model_holds_up_nobody_else(served: Served) -> None:
    """Eight answers of one user that hang: one more is told to wait, and another user
    is answered."""
    served.model.default = hang("Well, let me see.")
    patient = served.client().with_options(max_retries=9)  # of earlier answers
    slow = [ask(patient, f"Question {number}.", stream=True) for number in range(8)]
    with pytest.raises(openai.RateLimitError) as error:
        ask(served.client(), "One more.")
    assert error.value.response.headers["retry-after"] == "1"
    served.model.default = say("At once.")
    assert text_of(ask(served.client("joao"), "Hi.")) == "At once."
    for answer in slow:
        answer.close()

    def answered() -> bool:
        with contextlib.suppress(openai.RateLimitError):
            return bool(ask(served.client(), "Hi.", store=False))
        return False

    wait_for(answered)


def test_the_limits_of_a_server_are_options(tmp_path: Path) -> None:
    options = ("--answers-per-user", "1", "--answers", "2", "--connections", "9")
    sizes = ("--request-mb", "1", "--body-seconds", "60")
    with serving(tmp_path, *options, *sizes) as served:
        assert served.post(b"x" * 1_000_001)[0] == 413
        served.model.default = hang("Well, let me see.")
        slow = ask(served.client(), "Question 1.", stream=True)
        with pytest.raises(openai.RateLimitError):
            ask(served.client(), "Question 2.")
        slow.close()


def test_what_cannot_be_served_is_refused_in_one_line(served: Served) -> None:
    """Who needs no key is on this machine; a port is one server's; a model must be
    there."""
    port = str(urlsplit(served.url).port)
    for words in (
        ("--user", "mara", "--host", "0.0.0.0"),
        ("--port", port),
        ("--model", "offline"),
    ):
        done = served.run("serve", *words)
        assert done.returncode == 2
        assert re.fullmatch("filemem: .+\n", done.stderr)


def test_fifty_chats_of_fifty_users_at_once(served: Served) -> None:
    """Each of three messages: nothing is lost or mixed."""

    def echo(body: dict[str, Any]) -> Step:
        return say(body["messages"][-1]["content"].rpartition("\n\n")[2])

    served.model.default = echo
    names = [f"user{number}" for number in range(50)]
    for name in names:
        served.add_key(name)

    def chat(name: str) -> list[str]:
        said: list[str] = []
        with served.client(name) as client:
            for turn in range(3):
                said.append(f"The secret {turn} of {name}")
                said.append(text_of(ask(client, *said, stream=turn == 1)))
        return said

    with ThreadPoolExecutor(50) as pool:
        for name, said in zip(names, pool.map(chat, names), strict=True):
            assert served.said(name) == [said]
            assert {*re.findall(r"user\d+", " ".join(said))} == {name}


def test_without_a_key_only_this_machine_is_served_and_no_page_of_another_site(
    tmp_path: Path,
) -> None:
    """What is asked for in another name or by a page elsewhere is refused, as a browser
    would be tricked into it; each answer is a commit, with its session."""
    with serving(tmp_path, "--user", "mara") as served:
        assert served.hello.startswith("Serving mara without a key, and ")
        served.run("init", "--git", str(served.store))
        local = [{"Host": "localhost:8765"}, {"Origin": "http://localhost:3000"}]
        others = [{"Host": "evil.example"}, {"Origin": "null"}]
        for header in (*local, *others):
            status, _ = served.post(HELLO, **{"Authorization": "", **header})
            assert status == (200 if header in local else 403), header
    log = ["log", "-1", "--format=%s|%(trailers:key=Job)"]
    said = subprocess.check_output(["git", "-C", str(served.store), *log], text=True)
    assert re.fullmatch(r"Talk with mara.*\|Job: chat", said.strip())
