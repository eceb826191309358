"""Any OpenAI-compatible endpoint: the model that answers there, the one that makes vectors, and why nothing came.

The package `openai` retries and times out; what it does not do is end an answer that never ends (comments, empty chunks, a header
a minute). So one clock hangs up, and the bytes of a body are counted. Nobody else imports `openai`, and this module does so only
when an endpoint is first asked: the import takes longer than a whole `filemem grep`.
"""

import contextlib
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
LONGEST_PAUSE = (
    20  # seconds that an endpoint may ask us to wait before a person would rather know
)
LONGEST_ANSWER = (
    900.0  # seconds from question to end: a small machine writes 2,000 tokens in that
)
BIGGEST_ANSWER = (
    64_000_000  # bytes as sent: 100,000 tokens, each in a chunk of 600 bytes
)
MOST_CALLS = 32  # tool calls that are taken of one reply
STREAMED = {
    "stream": True,
    "stream_options": {"include_usage": True},
}  # of a request, where the endpoint takes it
# What an endpoint that does not take a part of a request says in words only, under many codes: "property 'stream_options' is
# unsupported" (400, Groq), "No endpoints found that support tool use" (404, OpenRouter), "tools param requires --jinja flag"
# (500, llama.cpp).
_REFUSALS = {
    "stream_options": r"stream_options|include_usage",
    "stream": r"\bstream(ing|ed)?\b",
    "tools": r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b",
}
_SECONDS = re.compile(r"[1-9]\d{0,8}")  # in a header Retry-After, which may have a date
BATCH = 64  # texts of a request: Gemini's endpoint takes 100, a small machine embeds so many in some seconds


Messages = list[dict[str, Any]]  # as OpenAI's API has them, like the tools
Tools = list[dict[str, Any]]
OnText = Callable[[str], None]


class ToolCall(NamedTuple):
    """A call that the model wants made; `arguments` is the JSON text as the model wrote it, well-formed or not."""

    id: str
    name: str
    arguments: str

    def sent(self) -> dict[str, Any]:
        """The call as a message has it."""
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }


class Usage(NamedTuple):
    """Tokens of one request as the endpoint reports them, 0 where it does not."""

    tokens_in: int
    tokens_out: int


class Reply(NamedTuple):
    """One whole answer; `finish` is the reason for stopping, `notice` a line on what is otherwise than was asked for."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
    notice: str = ""


class Model(Protocol):
    """Whatever answers a conversation."""

    name: str

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """The answer to `messages`, its text handed to `on_text` piece by piece; raises ModelError.

        ToolsRefused where there are `tools` and the model takes none.
        """


class ModelError(FilememError):
    """A model that gave no whole answer."""


class PromptTooLong(ModelError):
    """More messages than the model's context holds; asking again with fewer helps."""


class ToolsRefused(ModelError):
    """An endpoint that takes no tools; asking again without them helps."""


# -- the connection ---------------------------------------------------------------------------------------------------


class Failure(Exception):
    """Why there is no whole answer: `kind` is a key of SENTENCES, by what the endpoint itself `said` where none is given; `when`
    and `elsewhere` are the headers Retry-After and Location."""

    def __init__(
        self,
        kind: str = "",
        said: object = "",
        status: int = 0,
        when: str = "",
        elsewhere: str = "",
    ) -> None:
        super().__init__(kind)
        code = str(said.get("code") or "") if isinstance(said, dict) else ""
        self.said, self.status, self.when, self.elsewhere = (
            _message(said),
            status,
            when,
            elsewhere,
        )
        self.kind = kind or _kind(status, code, self.said.lower())


class HTTPClient:
    """One client of the HTTP library, for one request at a time; `why` tells what ended that, empty where nothing did."""

    why, left, began = "", 0, 0.0
    _stream: Any = None

    def __init__(self, package: ModuleType, url: str, key: str, timeout: float) -> None:
        # httpx, or httpx2: openai brings either.
        library = sys.modules[package.DefaultHttpxClient.__mro__[1].__module__]
        # What loses a connection: not every version of the package wraps what its library raises amid a stream.
        self.lost = (package.APIConnectionError, library.RequestError)
        self._base: Any = library.SyncByteStream
        self._timeout = timeout
        try:
            self.openai = package.OpenAI(
                base_url=url,  # always given, since the package would else take it from the environment
                api_key=key
                or "none",  # the package wants one even for an endpoint that does not
                http_client=package.DefaultHttpxClient(
                    headers={
                        "Accept-Encoding": "identity"
                    },  # so that bytes as sent are bytes as held
                    verify=_tls(library),
                    # A proxy for the way out knows nothing of a server on this machine.
                    trust_env=urlsplit(url).hostname
                    not in ("localhost", "127.0.0.1", "::1"),
                    timeout=package.Timeout(timeout, connect=min(CONNECT, timeout)),
                    follow_redirects=False,
                    event_hooks={"request": [self._sent], "response": [self._came]},
                ),
            )
        except (ValueError, ImportError, library.InvalidURL) as error:
            raise Failure("unreachable", str(error)) from None

    def begin(self) -> None:
        """Be ready for the next request."""
        self.why, self.left, self.began = "", BIGGEST_ANSWER, time.monotonic()

    def hang_up(self) -> None:
        """End the answer under way, from another thread."""
        self.why = self.why or "endless"
        if there := self._stream and self._stream.get_extra_info("socket"):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(
                    there, socket.SHUT_RDWR
                )  # wakes a thread that waits for a byte

    def _sent(self, request: Any) -> None:
        if time.monotonic() - self.began >= self._timeout:
            self.why = self.why or "silent"  # the package would wait as long again
        if self.why:
            raise Failure(self.why)
        request.extensions["trace"] = self._traced

    def _traced(self, event: str, told: dict[str, Any]) -> None:
        if event in (
            "connection.connect_tcp.complete",
            "connection.start_tls.complete",
        ):
            self._stream = told["return_value"]

    def _came(self, response: Any) -> None:
        after = response.headers.get("retry-after", "")
        if _SECONDS.fullmatch(after) and int(after) > LONGEST_PAUSE:
            response.headers["x-should-retry"] = "false"
        inner, client = response.stream, self

        class Counted(self._base):  # type: ignore[misc,name-defined]
            def __iter__(self) -> Iterator[bytes]:
                for piece in inner:
                    client.left -= len(piece)
                    if client.left < 0:
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
] = {}  # that wait for a request, of all models of the process


class Connection:
    """A model at the `base_url` of an endpoint, None for OpenAI's own, which alone needs an `api_key`.

    `timeout` is the longest silence in seconds, `longest` what an answer may take in all.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE,
        longest: float = LONGEST_ANSWER,
    ) -> None:
        self.name = name
        self._url, self._key = (base_url or OPENAI_URL).strip(), (api_key or "").strip()
        self._timeout, self._longest = timeout, longest
        self._client: HTTPClient | None = None  # of the request under way
        self._refused: set[str] = (
            set()
        )  # the parts of a request that the endpoint does not take

    def hang_up(self) -> None:
        """End the answer under way, from another thread; whoever waits for it gets a ModelError."""
        if client := self._client:
            client.hang_up()

    def _answers(
        self, path: str, request: dict[str, Any], retries: int = RETRIES
    ) -> Generator[object, None, None]:
        """The JSON values that the endpoint sends, as they came: the package's typed models would check nothing.

        Raises Failure.
        """
        if not (self._key or self._url != OPENAI_URL) or not re.fullmatch(
            "[!-~]*", self._key
        ):
            raise Failure("key")
        import openai  # noqa: PLC0415  (a third of a second, which only those who ask a model should pay)

        idle, began = _IDLE.setdefault((self._url, self._key, self._timeout), []), False
        client = self._client = (
            idle.pop()
            if idle
            else HTTPClient(openai, self._url, self._key, self._timeout)
        )
        client.begin()
        clock = threading.Timer(self._longest, client.hang_up)
        clock.daemon = True
        clock.start()
        how: dict[str, Any] = {
            "cast_to": object,
            "body": request,
            "options": {"max_retries": retries},
        }
        try:
            with client.openai.post(
                path, **how, stream=True, stream_cls=openai.Stream[object]
            ) as stream:
                began = True
                whole = not request.get(
                    "stream"
                ) or "json" in stream.response.headers.get("content-type", "")
                yield from [json.loads(stream.response.read())] if whole else stream
            if client.why:
                raise Failure(client.why)
        except (
            Failure,
            openai.APIError,
            *client.lost,
            ValueError,
            RecursionError,
        ) as error:
            if client.why:
                raise Failure(client.why) from None
            raise (
                error
                if isinstance(error, Failure)
                else _failure(error, client.lost, began=began)
            ) from None
        finally:
            clock.cancel()
            self._client = None
            idle.append(client)

    @property
    def _who(self) -> str:
        """The model and its host, without a name or password that the address may hold."""
        host = (
            self._url.partition("://")[2].partition("/")[0].rpartition("@")[2]
            or self._url
        )
        return one_line(f"{self.name} at {host}")

    def _explained(self, failure: Failure) -> ModelError:
        """The error for a person; it never has the key, which an endpoint may repeat."""
        words = one_line(
            failure.said.replace(self._key, "…") if self._key else failure.said
        )
        sentence = SENTENCES[failure.kind].format(
            said=f', "{words}"' if words else "",
            status=failure.status,
            silence=f"{self._timeout:g} s",
            when=f"in {failure.when} s"
            if _SECONDS.fullmatch(failure.when)
            else "in a moment",
            elsewhere=one_line(failure.elsewhere) or "another address",
        )
        return (PromptTooLong if failure.kind == "too long" else ModelError)(
            f"{self._who}: {sentence}."
        )


# -- a model ---------------------------------------------------------------------------------------------------------


class OpenAIModel(Connection):
    """A model behind an OpenAI-compatible endpoint; what it thinks is no part of its answer.

    A Ctrl-C while it answers closes the connection and goes on up; what had streamed by then was handed to `on_text`.
    """

    def ask(
        self, messages: Messages, tools: Tools, on_text: OnText, **options: Any
    ) -> Reply:
        """The answer to `messages`, asked for with `options`, such as a temperature; raises ModelError with one sentence that
        says what to do. PromptTooLong and ToolsRefused are told apart."""
        # A lone surrogate, which a file in another encoding may hold, cannot be sent; vLLM refuses an empty list of tools.
        sent = json.loads(
            json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")
        )
        notice = ""
        asked = {
            **options,
            "model": self.name,
            "messages": sent,
            **({"tools": tools} if tools else {}),
        }
        while True:
            request = asked | {
                part: value
                for part, value in STREAMED.items()
                if part not in self._refused
            }
            draft = Draft(on_text)
            try:
                with contextlib.closing(
                    self._answers("/chat/completions", request)
                ) as events:
                    for event in events:
                        draft.take(event)
                reply = draft.reply(prefix=f"call_{len(messages)}_")
                notice = (
                    "the answer was cut at the endpoint's limit on length"
                    if reply.finish == "length"
                    else notice
                )
                return reply._replace(
                    notice=f"{self._who}: {notice}." if notice else ""
                )
            except Failure as failure:
                blamed = "" if draft.text else _refused(request, failure)
                if blamed == "tools":
                    raise ToolsRefused(
                        f"{self._who}: takes no tools; ask without them."
                    ) from None
                if not blamed:
                    raise self._explained(failure) from None
                self._refused |= {
                    blamed,
                    "stream_options",
                }  # which nobody takes without a stream
                notice = (
                    "does not stream, so the answer comes in one piece"
                    if blamed == "stream"
                    else ""
                )


def _refused(request: dict[str, Any], failure: Failure) -> str:
    """The part of a request that a failure blames, empty where it blames none."""
    if failure.status not in (400, 404, 422, 500, 501) or failure.kind in (
        "too long",
        "tool_use_failed",
    ):
        return ""
    blame = failure.said.lower()
    return next(
        (
            part
            for part, words in _REFUSALS.items()
            if part in request and re.search(words, blame)
        ),
        "",
    )


class Embedder(Connection):
    """A model that makes vectors; no request is tried again, as what calls it goes on without, and says so."""

    def embed(self, texts: Sequence[str]) -> list["array[float]"]:
        """A vector of length 1 for each text, in batches of BATCH; raises ModelError with one sentence."""
        return [
            one
            for at in range(0, len(texts), BATCH)
            for one in self._batch(texts[at : at + BATCH])
        ]

    def _batch(self, texts: Sequence[str]) -> list["array[float]"]:
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        request = {"model": self.name, "input": sent, "encoding_format": "float"}
        try:
            with contextlib.closing(
                self._answers("/embeddings", request, retries=0)
            ) as answers:
                return _vectors(next(answers, None), len(texts))
        except Failure as failure:
            told = str(self._explained(failure)).replace("chat completion", "embedding")
            raise ModelError(
                told.replace(
                    "OPENAI_BASE_URL", "the endpoint of embeddings in filemem.yaml"
                )
            ) from None


def _vectors(answer: Any, count: int) -> list["array[float]"]:
    """The vectors in an endpoint's answer, in the order of the texts; raises Failure for anything else."""
    try:
        found = [
            array("f", one["embedding"])
            for one in sorted(answer["data"], key=lambda one: int(one["index"]))
        ]
        lengths = [math.hypot(*vector) for vector in found]
        if (
            len(found) != count
            or len({0, *map(len, found)}) != 2
            or not 0 < min(lengths) <= max(lengths) < math.inf
        ):
            raise ValueError
        return [
            array("f", (value / length for value in one))
            for one, length in zip(found, lengths, strict=True)
        ]
    except (TypeError, KeyError, ValueError, OverflowError):
        raise Failure("garbled") from None


class FailFastModel:
    """A model as a job asks it: no more once it has failed, so that many conversations do not wait for it one by one."""

    def __init__(self, model: Model) -> None:
        self.name, self._model, self._failed = model.name, model, False

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """The model's answer; raises ModelError, and ever after without asking, but where asking otherwise helps."""
        if self._failed:
            raise ModelError(
                f"{self.name} was not asked again after it failed; fix that first."
            )
        try:
            return self._model.ask(messages, tools, on_text)
        except ModelError as error:
            self._failed = not isinstance(error, PromptTooLong | ToolsRefused)
            raise


# -- a reply ---------------------------------------------------------------------------------------------------------


_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought)>", re.IGNORECASE)
_HALF_A_TAG = re.compile(r"<(?:/?t[a-z]{0,7}|/?)\Z", re.IGNORECASE)


class Draft:
    """A reply in the making, from the events of a stream or from one whole completion.

    What a model thinks, between `<think>` and `</think>`, is not said, nor is what stands before a closing tag that none opened,
    as from models whose prompt ends in `<think>`. In code, behind an odd number of backticks, neither is a tag.
    """

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._pieces: list[str] = []
        self._held = ""  # the end of what came, which may be the beginning of a tag
        self._thinks = self._thought = False  # between two tags; was there one?
        self._ticks = 0
        self._calls: list[tuple[object, dict[str, str]]] = []  # each with its index
        self._usage = Usage(0, 0)
        self._finish, self._chosen = "", False

    @property
    def text(self) -> str:
        """What has been passed to `on_text` so far, without what turned out to be thoughts."""
        return "".join(self._pieces)

    def take(self, event: object) -> None:
        """Add one event, a chunk of a stream or a completion; raises Failure for what is none."""
        if not isinstance(event, dict):
            raise Failure("garbled")
        if event.get("error"):
            raise Failure("", event["error"])
        if isinstance(usage := event.get("usage"), dict):
            spent = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
            self._usage = Usage(
                *(
                    count if isinstance(count, int) and count > 0 else 0
                    for count in spent
                )
            )
        for choice in _mappings(event.get("choices"))[:1]:
            self._chosen = True
            whole = choice.get("message")
            if isinstance(part := choice.get("delta") or whole, dict):
                self._add(part)
            self._finish = str(
                choice.get("finish_reason") or self._finish or ("stop" if whole else "")
            )

    def reply(self, prefix: str) -> Reply:
        """The whole reply; raises Failure where it is not whole. Calls without an id get one that starts as told."""
        problem = "" if self._finish else "cut" if self._chosen else "garbled"
        if problem or self._finish == "content_filter":
            raise Failure(problem or "content_filter")
        self._say("", end=True)
        calls: list[ToolCall] = []
        for number, (_, call) in enumerate(self._calls[:MOST_CALLS], 1):
            fresh = call["id"] and call["id"] not in [made.id for made in calls]
            calls.append(
                ToolCall(
                    call["id"] if fresh else f"{prefix}{number}",
                    call["name"],
                    call["arguments"],
                )
            )
        return Reply(self.text, tuple(calls), self._usage, self._finish)

    def _add(self, part: dict[str, Any]) -> None:
        # Its own words, where it will not answer. Half an emoji, as some endpoints cut them, could not be written to a file.
        text = _text(part.get("content")) + _text(part.get("refusal"))
        self._say(text.encode("utf-8", "replace").decode())
        for delta in _mappings(part.get("tool_calls")):
            function = next(iter(_mappings([delta.get("function")])), {})
            name, arguments = _text(function.get("name")), function.get("arguments")
            call = self._call(delta.get("index"), _text(delta.get("id")), name)
            call["name"] += name if name != call["name"] else ""
            call["arguments"] += (
                json.dumps(arguments)
                if isinstance(arguments, dict)
                else _text(arguments)
            )

    def _say(self, text: str, *, end: bool = False) -> None:
        """Hand on what of the text was said; at its `end` nothing is held back."""
        text, at = self._held + text, 0
        for tag in _THOUGHT.finditer(text):
            before, closing = text[at : tag.start()], bool(tag[1])
            in_code = (self._ticks + before.count("`")) % 2 == 1
            if (
                closing
                if self._thinks
                else not in_code and not (closing and self._thought)
            ):
                if closing and not self._thinks:
                    self._pieces.clear()
                else:
                    self._pass(before)
                self._thought, self._thinks, at = True, not closing, tag.end()
        half = None if end else _HALF_A_TAG.search(text, at)
        cut = half.start() if half else len(text)
        self._held = text[cut:]
        self._pass(text[at:cut])

    def _pass(self, text: str) -> None:
        if text and not self._thinks:
            self._ticks += text.count("`")
            self._pieces.append(text)
            self._on_text(text)

    def _call(self, index: object, id: str, name: str) -> dict[str, str]:
        """The call that a delta goes on with, or a new one.

        Some endpoints leave the index out or send 0 for every call (ollama#7881, ollama#15457): there a name under
        another id, or under none, opens the next call.
        """
        known = next(
            (
                call
                for at, call in reversed(self._calls)
                if index is None or at == index
            ),
            None,
        )
        if known and not (
            name and known["name"] and (id != known["id"] if id else index is None)
        ):
            return known
        self._calls.append((index, {"id": id, "name": "", "arguments": ""}))
        return self._calls[-1][1]


def _text(value: object) -> str:
    """The text of a message's part: a string, or a list of typed parts of which the text counts."""
    if isinstance(value, list):
        texts = (
            part.get("text")
            for part in _mappings(value)
            if part.get("type", "text") == "text"
        )
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _mappings(value: object) -> list[dict[str, Any]]:
    return (
        [item for item in value if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


# -- in words --------------------------------------------------------------------------------------------------------

SENTENCES = {
    "key": "the key in OPENAI_API_KEY is missing or no key; set it, or OPENAI_BASE_URL for an endpoint of your own",
    "unreachable": "it cannot be asked{said}; start the server there, or check the network, the proxy and OPENAI_BASE_URL",
    "silent": "nothing came for {silence}; ask again, or raise timeout in filemem.yaml",
    "cut": "the answer broke off in the middle; what had come is kept, ask again for the rest",
    "garbled": "what came back is no chat completion; check OPENAI_BASE_URL, which often ends in /v1, or choose another model",
    "endless": "the answer went on without end and was stopped; what had come is kept, ask again",
    # Of what an endpoint itself says.
    "error": "the endpoint gave up{said}; ask again",
    "too long": "the prompt is longer than the model can take{said}; send less, or choose another model",
    "content_filter": "the endpoint's content filter stopped the answer; put it another way",
    "insufficient_quota": "the account's quota is used up ({status}); check its plan and billing",
    "tool_use_failed": "the model wrote a tool call that the endpoint cannot read; ask again, or choose another model",
    "elsewhere": "it sends on to {elsewhere} ({status}), where nothing was sent; name that address if you trust it",
    "model": "no such model (404{said}); choose another with --model or FILEMEM_MODEL",
    "401": "the key in OPENAI_API_KEY is missing or not accepted (401); set a valid one",  # without its words, or the key's
    "403": "this key may not use the model (403{said}); check the account's rights, or choose another model",
    "404": "no chat completions at this address (404); check OPENAI_BASE_URL, which often ends in /v1",
    "429": "too many requests (429{said}); try again {when}",
    "failed": "the endpoint failed ({status}{said}); try again {when}",
    "status": "the request was refused ({status}{said}); check the model's name and OPENAI_BASE_URL",
}
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|prompt is too long|too many tokens|token count"
)


def _failure(error: Any, lost: tuple[type[Exception], ...], *, began: bool) -> Failure:
    """What the package or its HTTP library raised, `began` telling whether an answer had begun."""
    if isinstance(error, lost):
        cause = error.__cause__ or error
        names = [kind.__name__ for kind in type(cause).__mro__]
        if "TimeoutException" in names and "ConnectTimeout" not in names:
            return Failure("silent")
        return Failure("cut") if began else Failure("unreachable", str(cause))
    if isinstance(error, ValueError | RecursionError):
        return Failure("garbled") if began else Failure("unreachable", str(error))
    status = getattr(error, "status_code", 0)
    headers = error.response.headers if status else {}
    return Failure(
        "",
        error.body,
        status,
        headers.get("retry-after", ""),
        headers.get("location", ""),
    )


def _kind(status: int, code: str, words: str) -> str:
    """What an endpoint's own error means: a key of SENTENCES."""
    if status == 413 or (
        status in (0, 400, 422, 500) and _TOO_LONG.search(f"{code} {words}")
    ):
        return "too long"
    if code in ("content_filter", "insufficient_quota", "tool_use_failed"):
        return code
    if 300 <= status < 400:
        return "elsewhere"
    if status == 404 and (
        "model" in words or "deployment" in words or code == "model_not_found"
    ):
        return "model"
    if status >= 500 or status == 408:
        return "failed"
    return str(status) if str(status) in SENTENCES else "status" if status else "error"


def _message(body: object) -> str:
    """The sentence in the body of an error, whichever of the common shapes it has; "" for a web page."""
    while isinstance(body, dict | list):
        if isinstance(body, dict):
            body = next(
                (
                    body[key]
                    for key in ("message", "detail", "msg", "error")
                    if body.get(key)
                ),
                "",
            )
        else:
            body = body[0] if body else ""
    return body if isinstance(body, str) and "<" not in body[:20] else ""
