"""Any OpenAI-compatible endpoint: the model that answers there, the one that makes vectors, and why nothing came.

The package `openai` retries and times out; what it does not do is end an answer that never ends (comments, empty chunks, a header
a minute). So one clock hangs up, and the bytes of a body are counted. Nobody else imports `openai`, and this module does so only
when an endpoint is first asked: the import takes longer than a whole `filemem grep`.
"""

import contextlib
import copy
import functools
import json
import math
import re
import socket
import sys
import threading
import time
from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from filemem.errors import FilememError
from filemem.text.plain import one_line

OPENAI_URL = "https://api.openai.com/v1"
SILENCE = 120.0  # seconds without a byte until an endpoint counts as gone: local models read a long prompt slowly
CONNECT = 10.0  # seconds to reach the host
RETRIES = 2  # times that a passing failure is tried again
LONGEST_PAUSE = 20.0  # seconds that an endpoint may ask us to wait before a person would rather know
LONGEST_ANSWER = (
    900.0  # seconds from the question to the end of its answer: a small machine writes 2,000 tokens in that
)
BIGGEST_ANSWER = 64_000_000  # bytes as sent: 100,000 tokens, each in a chunk of 600 bytes
MOST_CALLS = 32  # tool calls that are taken of one reply
# What an endpoint that does not take a part of a request says in words only, under many codes: "property 'stream_options' is
# unsupported" (400, Groq), "No endpoints found that support tool use" (404, OpenRouter), "tools param requires --jinja flag"
# (500, llama.cpp).
_REFUSALS = {
    "stream_options": r"stream_options|include_usage",
    "stream": r"\bstream(ing|ed)?\b",
    "tools": r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b",
}
BATCH = 64  # texts of a request: Gemini's endpoint takes 100, a small machine embeds so many in some seconds


class ToolCall(NamedTuple):
    """A call that the model wants made; `arguments` is the JSON text as the model wrote it, well-formed or not."""

    id: str
    name: str
    arguments: str


class Usage(NamedTuple):
    """Tokens of one request as the endpoint reports them, 0 where it does not."""

    tokens_in: int
    tokens_out: int


class Reply(NamedTuple):
    """One whole answer; `finish` is the endpoint's reason for stopping, "length" where it ran into a limit."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str


class Model(Protocol):
    """Whatever answers a conversation."""

    name: str

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`, its text handed to `on_text` piece by piece; raises ModelError.

        ToolsRefused where there are `tools` and the model takes none.
        """


class ModelError(FilememError):
    """A model that gave no whole answer; `partial` is the text that had streamed by then."""

    def __init__(self, sentence: str, partial: str = "") -> None:
        super().__init__(sentence)
        self.partial = partial


class PromptTooLong(ModelError):
    """More messages than the model's context holds; asking again with fewer helps."""


class ToolsRefused(ModelError):
    """An endpoint that takes no tools; asking again without them helps."""


# -- the connection ---------------------------------------------------------------------------------------------------


class Failure(Exception):
    """Why there is no whole answer, before it is put into words: `kind` is a key of SENTENCES, or "status"."""

    def __init__(self, kind: str, status: int = 0, body: object = None, after: str = "", elsewhere: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.status = status
        self.body = body
        self.after = after  # the header Retry-After
        self.elsewhere = elsewhere  # the header Location
        self.message = _message(body)
        self.code = str(body.get("code") or "") if isinstance(body, dict) else ""

    @property
    def too_long(self) -> bool:
        """Whether the prompt was more than the model's context holds."""
        words = r"context[ _-]?(length|window|size)|prompt is too long|too many tokens|token count"
        told = self.kind == "error" or self.status in (400, 422, 500)
        return self.status == 413 or (told and bool(re.search(words, f"{self.code} {self.message.lower()}")))


class HTTPClient:
    """One client of the HTTP library, for one request at a time; `why` tells what ended it, empty where nothing did."""

    def __init__(self, package: ModuleType, url: str, key: str, timeout: float) -> None:
        library = sys.modules[
            package.DefaultHttpxClient.__mro__[1].__module__
        ]  # httpx, or httpx2: openai brings either
        self._base: Any = library.SyncByteStream
        self._timeout = timeout
        self._stream: Any = None
        self.begin()
        local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
        try:
            self.openai = package.OpenAI(
                base_url=url,  # always given, since the package would else take it from the environment
                api_key=key or "none",  # the package wants one even for an endpoint that does not
                # A proxy for the way out knows nothing of a server on this machine.
                http_client=package.DefaultHttpxClient(
                    verify=_tls(library),
                    trust_env=not local,
                    timeout=package.Timeout(timeout, connect=min(CONNECT, timeout)),
                    follow_redirects=False,
                    event_hooks={"request": [self._sent], "response": [self._came]},
                ),
            )
        except (ValueError, ImportError):
            raise Failure("proxy") from None

    def begin(self) -> None:
        """Make ready for the next request."""
        self.why, self._left, self._asked = "", BIGGEST_ANSWER, 0.0

    def hang_up(self) -> None:
        """End the answer under way, from another thread."""
        self.why = self.why or "endless"
        there = self._stream and self._stream.get_extra_info("socket")
        if there:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(there, socket.SHUT_RDWR)  # wakes a thread that waits for a byte

    def _sent(self, request: Any) -> None:
        if self._asked and time.monotonic() - self._asked >= self._timeout:
            self.why = self.why or "silent"  # the package would wait as long again
        if self.why:
            raise Failure(self.why)
        self._asked = time.monotonic()
        request.headers["Accept-Encoding"] = "identity"  # so that bytes as sent are bytes as held
        request.extensions["trace"] = self._traced

    def _traced(self, event: str, told: dict[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._stream = told["return_value"]

    def _came(self, response: Any) -> None:
        self._asked = 0.0
        response.headers.pop("content-encoding", None)
        if _seconds(response.headers.get("retry-after", "")) > LONGEST_PAUSE:
            response.headers["x-should-retry"] = "false"
        inner, client = response.stream, self

        class Counted(self._base):  # type: ignore[misc,name-defined]
            def __iter__(self) -> Iterator[bytes]:
                for piece in inner:
                    client._left -= len(piece)
                    if client._left < 0:
                        client.why = client.why or "endless"
                    if client.why:
                        raise Failure(client.why)
                    yield piece

            def close(self) -> None:
                inner.close()

        response.stream = Counted()


@functools.cache
def _tls(library: ModuleType) -> Any:
    """The one TLS context of all clients: it has 800 kB."""
    return library.create_ssl_context()


_IDLE: dict[
    tuple[str, str, float], list[HTTPClient]
] = {}  # clients that wait for a request, of all models of the process


class Connection:
    """A model at the `base_url` of an endpoint, None for OpenAI's own; `timeout` is the longest silence in seconds, `longest`
    what an answer may take in all."""

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE,
        longest: float = LONGEST_ANSWER,
    ) -> None:
        self.name = name
        self._url = (base_url or OPENAI_URL).strip()
        self._key = (api_key or "").strip()
        self._timeout = timeout
        self._longest = longest
        self._client: HTTPClient | None = None  # of the request under way

    def hang_up(self) -> None:
        """End the answer under way, from another thread; whoever waits for it gets a ModelError."""
        if client := self._client:
            client.hang_up()

    def _answers(self, path: str, request: dict[str, Any], retries: int) -> Generator[object, None, None]:
        """The JSON values that the endpoint sends, as they came: the package's typed models would check nothing.

        Raises Failure.
        """
        self._check()
        import openai  # noqa: PLC0415  (a third of a second, which only those who ask a model should pay)

        idle = _IDLE.setdefault((self._url, self._key, self._timeout), [])
        client = self._client = idle.pop() if idle else HTTPClient(openai, self._url, self._key, self._timeout)
        client.begin()
        clock = threading.Timer(self._longest, client.hang_up)
        clock.daemon = True
        clock.start()
        try:
            yield from _events(openai, client, path, request, retries)
            if client.why:
                raise Failure(client.why)
        except Failure:
            if client.why:
                raise Failure(client.why) from None
            raise
        finally:
            clock.cancel()
            self._client = None
            idle.append(client)

    def _check(self) -> None:
        """Raise Failure for an address or a key that could not even be sent."""
        try:
            parts = urlsplit(self._url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            (parts.hostname or "").encode("idna")
        except ValueError:
            usable = False
        if not usable or not self._url.isprintable() or " " in self._url:
            raise Failure("address")
        if not self._key and self._url == OPENAI_URL:
            raise Failure("keyless")
        if not self._key.isascii() or not self._key.isprintable() or " " in self._key:
            raise Failure("key")

    @property
    def _who(self) -> str:
        """The model and its host, without a name or password that the address may hold."""
        host = self._url.partition("://")[2].partition("/")[0].rpartition("@")[2] or self._url
        return one_line(f"{self.name} at {host}")

    def _explained(self, failure: Failure, partial: str = "") -> ModelError:
        """The error for a person; it never has the key, which an endpoint may repeat."""
        words = one_line(failure.message.replace(self._key, "…") if self._key else failure.message)
        template = SENTENCES["too long"] if failure.too_long else SENTENCES.get(failure.kind) or _refusal(failure)
        sentence = template.format(
            said=f', "{words}"' if words else "",
            status=failure.status,
            silence=f"{self._timeout:g} s",
            when=f"in {after:g} s" if (after := _seconds(failure.after)) else "in a moment",
            elsewhere=one_line(failure.elsewhere) or "another address",
        )
        return (PromptTooLong if failure.too_long else ModelError)(f"{self._who}: {sentence}.", partial)


def _events(
    package: ModuleType, client: HTTPClient, path: str, request: dict[str, Any], retries: int
) -> Generator[object, None, None]:
    began = False
    lost: type[Exception] = package.APIConnectionError
    how: dict[str, Any] = {"cast_to": object, "body": request, "options": {"max_retries": retries}}
    try:
        if not request.get("stream"):
            answer = client.openai.post(path, **how)
            yield json.loads(answer) if isinstance(answer, str) else answer
            return
        with client.openai.post(path, **how, stream=True, stream_cls=package.Stream[object]) as stream:
            # Not every version wraps what its HTTP library raises amid a stream.
            began, lost = True, sys.modules[type(stream.response).__module__].RequestError
            form = stream.response.headers.get("content-type", "")
            if "html" in form:
                raise Failure("page")
            yield from [json.loads(stream.response.read())] if "json" in form else stream
    except package.APIStatusError as error:
        after, elsewhere = (error.response.headers.get(name, "") for name in ("retry-after", "location"))
        raise Failure("status", error.status_code, error.body, after, elsewhere) from None
    except (package.APIConnectionError, lost) as error:
        raise Failure(_cause(error, began)) from None
    except package.APIError as error:
        raise Failure("error", body=error.body or error.message) from None
    except (ValueError, RecursionError):
        raise Failure("garbled") from None


# -- a model ---------------------------------------------------------------------------------------------------------


def _unheard(text: str) -> None:
    pass


class OpenAIModel(Connection):
    """A model behind an OpenAI-compatible endpoint: `base_url` as in OPENAI_BASE_URL, None for OpenAI itself.

    Only OpenAI itself needs an `api_key`; other endpoints say so where they do.

    `timeout` is the longest silence in seconds, `longest` what an answer may take in all. `on_notice` gets one line whenever an
    answer comes otherwise than it was asked for: without streaming, cut at a limit. `on_thought` gets what the model thinks,
    which is no part of its answer. A Ctrl-C while the model answers closes the connection and goes on up; what had streamed by
    then was handed to `on_text`.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE,
        on_notice: Callable[[str], None] = _unheard,
        longest: float = LONGEST_ANSWER,
    ) -> None:
        super().__init__(name, base_url, api_key, timeout, longest)
        self.on_notice = on_notice
        self.on_thought: Callable[[str], None] = _unheard
        self.options: dict[str, Any] = {}  # what else a request says, such as a temperature
        self._refused: set[str] = set()  # the parts of a request that the endpoint does not take
        self._doubted = False  # whether tools were refused last, which counts once an answer comes without them

    def apart(self) -> "OpenAIModel":
        """The same model for another conversation at the same time; it says nothing besides its answers."""
        other = copy.copy(self)
        other.on_notice = other.on_thought = _unheard
        other._client, other.options, other._refused = None, {}, set(self._refused)
        return other

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`; raises ModelError with one sentence that says what to do.

        PromptTooLong and ToolsRefused are told apart. An error that only mentions tools costs one request and not the
        tools of a whole session: that there are none is taken for granted once an answer came without them.
        """
        refusal = ToolsRefused(f"{self._who}: takes no tools; ask without them.")
        if tools and "tools" in self._refused:
            raise refusal
        while True:
            request = self._request(_sendable(messages), tools)
            draft = Draft(on_text, self.on_thought)
            try:
                reply = self._answer(request, draft)
            except Failure as failure:
                part = None if draft.text else _refused(request, failure)
                self._doubted = part == "tools"
                if self._doubted:
                    raise refusal from None
                if not part:
                    raise self._explained(failure, draft.text) from None
                self._refused.add(part)
                if part == "stream":
                    self.on_notice(f"{self._who}: does not stream, so the answer comes in one piece.")
                continue
            if self._doubted and not tools:
                self._refused.add("tools")
            self._doubted = False
            if reply.finish == "length":
                self.on_notice(f"{self._who}: the answer was cut at the endpoint's limit on length.")
            return reply

    def _request(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The body to send; an empty list of tools is left out, since vLLM refuses it."""
        body = {**self.options, "model": self.name, "messages": messages}
        body |= {"tools": tools} if tools else {}
        if "stream" not in self._refused:
            usage = {"stream_options": {"include_usage": True}} if "stream_options" not in self._refused else {}
            body |= {"stream": True, **usage}
        return body

    def _answer(self, request: dict[str, Any], draft: "Draft") -> Reply:
        """One request and its whole answer; raises Failure."""
        with contextlib.closing(self._answers("/chat/completions", request, RETRIES)) as events:
            for event in events:
                draft.take(event)
        return draft.reply(prefix=f"call_{len(request['messages'])}_")


def _refused(request: dict[str, Any], failure: Failure) -> str | None:
    """The part of a request that a failure blames."""
    if failure.status not in (400, 404, 422, 500, 501) or failure.too_long or failure.code == "tool_use_failed":
        return None
    blame = str(failure.body).lower()
    return next((part for part, words in _REFUSALS.items() if part in request and re.search(words, blame)), None)


def _sendable(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with "?" for each lone surrogate, which a file in another encoding may hold and UTF-8 cannot."""
    sent: list[dict[str, Any]] = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return sent


class Embedder(Connection):
    """A model that makes vectors; no request is tried again, as what calls it goes on without, and says so."""

    def embed(self, texts: Sequence[str]) -> list["array[float]"]:
        """A vector of length 1 for each text, in batches of BATCH; raises ModelError with one sentence."""
        return [one for at in range(0, len(texts), BATCH) for one in self._batch(texts[at : at + BATCH])]

    def _batch(self, texts: Sequence[str]) -> list["array[float]"]:
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        request = {"model": self.name, "input": sent, "encoding_format": "float"}
        try:
            with contextlib.closing(self._answers("/embeddings", request, 0)) as answers:
                return _vectors(next(answers), len(texts))
        except Failure as failure:
            told = str(self._explained(failure))
            where = told.replace("OPENAI_BASE_URL", "the endpoint of embeddings in filemem.yaml")
            raise ModelError(where.replace("chat completion", "embedding")) from None


def _vectors(answer: Any, count: int) -> list["array[float]"]:
    """The vectors in an endpoint's answer, in the order of the texts; raises Failure for anything else."""
    try:
        found = [array("f", one["embedding"]) for one in sorted(answer["data"], key=lambda one: int(one["index"]))]
        if len(found) != count or not found[0] or len({len(one) for one in found}) > 1:
            raise ValueError
        return [array("f", (value / length for value in one)) for one in found if (length := _length(one))]
    except (TypeError, KeyError, ValueError, OverflowError):
        raise Failure("garbled") from None


def _length(vector: "array[float]") -> float:
    length = math.sqrt(sum(value * value for value in vector))
    if not 0 < length < math.inf:
        raise ValueError
    return length


class FailFastModel:
    """A model as a job asks it: no more once it has failed, so that many conversations do not wait for it one by one."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._failed = False

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The model's answer; raises ModelError, and ever after without asking, but for a prompt that was too long."""
        if self._failed:
            raise ModelError(f"{self.name} was not asked again, having failed before; put it right first.")
        try:
            return self._model.ask(messages, tools, on_text)
        except PromptTooLong:
            raise
        except ModelError:
            self._failed = True
            raise


# -- a reply ---------------------------------------------------------------------------------------------------------


class Draft:
    """A reply in the making, from the events of a stream or from one whole completion."""

    def __init__(self, on_text: Callable[[str], None], on_thought: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._on_thought = on_thought
        self._thinking = Thinking()
        self._pieces: list[str] = []
        self._half = ""
        self._calls: list[tuple[object, dict[str, str]]] = []  # each with its index
        self._usage = Usage(0, 0)
        self._finish = ""
        self._chosen = False

    @property
    def text(self) -> str:
        """What has been handed to `on_text` so far, without what turned out to be thoughts."""
        return "".join(self._pieces)

    def take(self, event: object) -> None:
        """Add one event, a chunk of a stream or a completion; raises Failure for what is none."""
        if not isinstance(event, dict):
            raise Failure("garbled")
        if event.get("error"):
            raise Failure("error", body=event["error"])
        usage = event.get("usage")
        if isinstance(usage, dict):
            self._usage = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        for choice in _mappings(event.get("choices"))[:1]:
            self._chosen = True
            whole = choice.get("message")
            part = choice.get("delta") or whole
            if isinstance(part, dict):
                self._add(part)
            self._finish = str(choice.get("finish_reason") or self._finish or ("stop" if whole else ""))

    def reply(self, prefix: str) -> Reply:
        """The whole reply; raises Failure where it is not whole. Calls without an id get one that starts as told."""
        problem = "" if self._finish else "cut" if self._chosen else "empty"
        if problem or self._finish == "content_filter":
            raise Failure(problem or "filtered")
        self._sort(self._thinking.end())
        calls: list[ToolCall] = []
        for number, (_, call) in enumerate(self._calls[:MOST_CALLS], 1):
            fresh = call["id"] and call["id"] not in [made.id for made in calls]
            id = call["id"] if fresh else f"{prefix}{number}"
            calls.append(ToolCall(id, call["name"], call["arguments"]))
        return Reply(self.text, tuple(calls), self._usage, self._finish)

    def _add(self, part: dict[str, Any]) -> None:
        for key in ("reasoning_content", "reasoning"):  # DeepSeek, llama.cpp, vLLM; OpenRouter, Groq
            if thought := _text(part.get(key)):
                self._on_thought(_writable(thought))
        self._say(_text(part.get("content")) + _text(part.get("refusal")))  # its own words, where it will not answer
        for delta in _mappings(part.get("tool_calls")):
            function = delta.get("function")
            function = function if isinstance(function, dict) else {}
            name, arguments = _text(function.get("name")), function.get("arguments")
            call = self._call(delta.get("index"), _text(delta.get("id")), name)
            call["name"] += name if name != call["name"] else ""
            call["arguments"] += _spelt(arguments) if isinstance(arguments, dict) else _text(arguments)

    def _say(self, text: str) -> None:
        # An endpoint may cut between the two halves of an emoji's surrogate pair; half of one cannot be written.
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        self._sort(self._thinking.feed(_writable(text[: len(text) - len(self._half)])))

    def _sort(self, parts: list[tuple[str, str]]) -> None:
        """Hand on what was said and what was thought."""
        for kind, text in parts:
            if kind == Thinking.SAID:
                self._pieces.append(text)
                self._on_text(text)
            elif kind == Thinking.THOUGHT:
                self._on_thought(text)
            else:
                self._pieces.clear()

    def _call(self, index: object, id: str, name: str) -> dict[str, str]:
        """The call that a delta goes on with, or a new one.

        Some endpoints leave the index out or send 0 for every call (ollama#7881, ollama#15457): there a name under
        another id, or under none, opens the next call.
        """
        known = [call for at, call in self._calls if index is None or at == index]
        if known and not (name and known[-1]["name"] and (id != known[-1]["id"] if id else index is None)):
            return known[-1]
        self._calls.append((index, {"id": id, "name": "", "arguments": ""}))
        return self._calls[-1][1]


def _spelt(arguments: dict[str, Any]) -> str:
    """Arguments that came as a mapping, as JSON; raises Failure for one that is nested too deep to write."""
    try:
        return json.dumps(arguments)
    except RecursionError:
        raise Failure("garbled") from None


def _writable(text: str) -> str:
    """`text` with surrogates joined to characters, or replaced where one stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(value: object) -> str:
    """The text of a message's part: a string, or a list of typed parts of which the text counts."""
    if isinstance(value, list):
        texts = (part.get("text") for part in _mappings(value) if part.get("type", "text") == "text")
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _mappings(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


class Thinking:
    """Tells what a model thinks from what it says: text between `<think>` and `</think>`, in pieces cut anywhere.

    What stands in code, behind an odd number of backticks, is no tag. A part is SAID or THOUGHT; WAS_THOUGHT means that all
    before was thought: a closing tag without its opening one, as from models whose prompt ends in `<think>`.
    """

    SAID, THOUGHT, WAS_THOUGHT = "said", "thought", "was thought"
    _TAG = re.compile(r"<(/?)(?:think|thinking|thought)>", re.IGNORECASE)
    _BEGUN = re.compile(
        r"</?(?:t|th|tho|thou|thoug|though|thought|thi|thin|think|thinki|thinkin|thinking)?\Z", re.IGNORECASE
    )

    def __init__(self) -> None:
        self._held = ""  # the end of what came, which may be the beginning of a tag
        self._inside = False
        self._ticks = 0
        self._opened = False  # was there an opening tag?

    def feed(self, text: str, *, end: bool = False) -> list[tuple[str, str]]:
        """What can be told of the text so far; at its `end` nothing is held back."""
        text, at = self._held + text, 0
        parts: list[tuple[str, str]] = []
        for tag in self._TAG.finditer(text):
            before, closing = text[at : tag.start()], bool(tag[1])
            in_code = (self._ticks + before.count("`")) % 2 == 1
            if closing if self._inside else not in_code and not (closing and self._opened):
                parts.append(self._part(before))
                parts += [(self.WAS_THOUGHT, "")] if closing and not self._inside else []
                self._opened, self._inside, at = True, not closing, tag.end()
        begun = None if end else self._BEGUN.search(text, at)
        cut = begun.start() if begun else len(text)
        self._held = text[cut:]
        parts.append(self._part(text[at:cut]))
        return [part for part in parts if part[1] or part[0] == self.WAS_THOUGHT]

    def end(self) -> list[tuple[str, str]]:
        """What was still held, once nothing more comes."""
        return self.feed("", end=True)

    def _part(self, text: str) -> tuple[str, str]:
        if self._inside:
            return self.THOUGHT, text
        self._ticks += text.count("`")
        return self.SAID, text


# -- in words --------------------------------------------------------------------------------------------------------

SENTENCES = {
    "address": "that is no address to ask; set OPENAI_BASE_URL to one such as http://localhost:11434/v1",
    "keyless": "a key is needed; set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own",
    "key": "the key in OPENAI_API_KEY holds characters that no key has; set it again",
    "proxy": "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used; correct or unset it",
    "silent": "nothing came for {silence}; ask again, or raise timeout in filemem.yaml",
    "refused": "nothing answers there (connection refused); start the server, or correct OPENAI_BASE_URL",
    "unknown": "no such host is known; check the network and OPENAI_BASE_URL",
    "insecure": "no secure connection; check the host's certificate, and https or http in OPENAI_BASE_URL",
    "unreachable": "the host cannot be reached; check the network and OPENAI_BASE_URL",
    "dropped": "the connection was closed without an answer; ask again in a moment",
    "cut": "the answer broke off in the middle; what had come is kept, ask again for the rest",
    "error": "the endpoint gave up{said}; ask again",
    "garbled": "what came back is no chat completion; check that OPENAI_BASE_URL names an OpenAI-compatible endpoint",
    "page": "a web page came back and no answer; check OPENAI_BASE_URL, which often ends in /v1",
    "empty": "the answer held no choice to take; ask again, or choose another model",
    "endless": "the answer went on without end and was stopped; what had come is kept, ask again",
    "filtered": "the endpoint's content filter stopped the answer; put it another way",
    "too long": "the prompt is longer than the model can take{said}; send less, or choose another model",
}
# What a refusal under an HTTP status means.
_STATUSES = {
    401: "the key in OPENAI_API_KEY is missing or not accepted (401); set a valid one",  # without its words, or the key's
    403: "this key may not use the model (403{said}); check the account's rights, or choose another model",
    404: "no chat completions at this address ({status}); check OPENAI_BASE_URL, which often ends in /v1",
    429: "too many requests (429{said}); try again {when}",
}
_CODES = {
    "content_filter": SENTENCES["filtered"],
    "content_policy_violation": SENTENCES["filtered"],
    "insufficient_quota": "the account's quota is used up ({status}); check its plan and billing",
    "tool_use_failed": "the model wrote a tool call that the endpoint cannot read; ask again, or choose another model",
}


def _refusal(failure: Failure) -> str:
    status, words = failure.status, failure.message.lower()
    if failure.code in _CODES:
        return _CODES[failure.code]
    if 300 <= status < 400:
        return "it sends on to {elsewhere} ({status}), where nothing was sent; name that address if you trust it"
    if status == 404 and ("model" in words or "deployment" in words or failure.code == "model_not_found"):
        return "no such model (404{said}); choose another with --model or FILEMEM_MODEL"
    if status >= 500 or status == 408:
        return "the endpoint failed ({status}{said}); try again {when}"
    other = "the request was refused ({status}{said}); check the model's name and OPENAI_BASE_URL"
    return _STATUSES.get(404 if status == 405 else status, other)


_KINDS = {  # of the classes of what stands behind a lost connection, by name, as their modules take 15 ms to import
    "ConnectTimeout": "unreachable",
    "TimeoutException": "silent",
    "gaierror": "unknown",
    "ConnectionRefusedError": "refused",
    "SSLError": "insecure",
    "ProxyError": "proxy",
    "ConnectError": "unreachable",
    "UnsupportedProtocol": "address",
}


def _cause(error: BaseException, began: bool) -> str:
    """The kind of failure behind a lost connection, `began` telling whether an answer had begun."""
    names: set[str] = set()
    link: BaseException | None = error
    while link is not None:
        names.update(kind.__name__ for kind in type(link).__mro__)
        link = link.__cause__ or link.__context__
    if began:
        return "silent" if "TimeoutException" in names else "cut"
    return next((kind for name, kind in _KINDS.items() if name in names), "dropped")


def _message(body: object) -> str:
    """The sentence in the body of an error, whichever of the common shapes it has; "" for a web page."""
    while isinstance(body, dict | list):
        if isinstance(body, dict):
            body = next((body[key] for key in ("message", "detail", "msg", "error") if body.get(key)), "")
        else:
            body = body[0] if body else ""
    return body if isinstance(body, str) and "<" not in body[:20] else ""


def _seconds(after: str) -> float:
    """The seconds in a Retry-After header, 0 for a date or for nonsense."""
    return float(after) if re.fullmatch(r"\d{1,9}(\.\d*)?", after) else 0.0
