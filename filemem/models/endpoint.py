"""The model that answers: what an agent asks of one, and the one behind any OpenAI-compatible endpoint.

No other module imports `openai`, and this one does so only when a model is first asked: the import takes longer than
a whole `filemem grep`.
"""

import copy
import json
import re
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from filemem.errors import FilememError
from filemem.models.failures import FIRST_PAUSE, Failure, cause, one_line, span
from filemem.models.reply import MOST_CALLS, Draft, Reply, ToolCall, Usage

if TYPE_CHECKING:
    from types import ModuleType

    import openai

import contextlib
import socket
import threading
from collections.abc import Iterator

LONGEST_ANSWER = (
    900.0  # seconds from the question to the end of its answer: a small machine writes 2,000 tokens in that
)
BIGGEST_ANSWER = 64_000_000  # bytes as sent: 100,000 tokens, each in a chunk of 600 bytes


class Wire:
    """One client's connection; `over` tells whether the answer under way has gone beyond its bounds."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._stream: Any = None
        self._left = 0
        self._end = 0.0
        self.over = False

    @contextlib.contextmanager
    def bounded(self) -> Iterator[None]:
        """Within, one answer is taken; the clock that hangs up is stopped at the end."""
        self.over, self._left, self._end = False, BIGGEST_ANSWER, time.monotonic() + self._longest
        clock = threading.Timer(self._longest, self.hang_up)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()

    def hooks(self) -> dict[str, list[Any]]:
        """The HTTP library's event hooks that hold a client to the bounds."""
        return {"request": [self._sent], "response": [self._began]}

    def _sent(self, request: Any) -> None:
        request.headers["Accept-Encoding"] = "identity"  # so that bytes as sent are bytes as held
        request.extensions["trace"] = self._traced

    def _traced(self, event: str, told: dict[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._stream = told["return_value"]

    def _began(self, response: Any) -> None:
        response.headers.pop("content-encoding", None)
        base = sys.modules[type(response).__module__].SyncByteStream  # of httpx, or httpx2: openai brings either
        inner, count = response.stream, self._count

        class Counted(base):  # type: ignore[misc,valid-type]
            def __iter__(self) -> Iterator[bytes]:
                yield from map(count, inner)

            def close(self) -> None:
                inner.close()

        response.stream = Counted()

    def _count(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0 or time.monotonic() > self._end:
            self.over = True
            raise Failure("endless")
        return piece

    def hang_up(self) -> None:
        """Close the connection, whoever waits on it."""
        self.over = True
        there = self._stream and self._stream.get_extra_info("socket")
        if there:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(there, socket.SHUT_RDWR)  # wakes a thread that waits for a byte


__all__ = ["Model", "ModelError", "OpenAIModel", "PromptTooLong", "Reply", "ToolCall", "ToolsRefused", "Usage"]

OPENAI_URL = "https://api.openai.com/v1"
SILENCE = 120.0  # seconds without a byte until an endpoint counts as gone: local models read a long prompt slowly
CONNECT = 10.0  # seconds to reach the host

NO_STREAM = r"\bstream(ing|ed)?\b"
NO_TOOLS = r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b"


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


def _unheard(text: str) -> None:
    pass


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint: `base_url` as in OPENAI_BASE_URL, None for OpenAI itself.

    Only OpenAI itself needs an `api_key`; other endpoints say so where they do.

    `timeout` is the longest silence in seconds, `longest` what an answer may take in all. `on_notice` gets one line
    whenever an answer comes otherwise than it was asked for: after a pause, without streaming, cut at a limit.
    `on_thought` gets what the model thinks, which is no part of its answer. A Ctrl-C while the model answers closes
    the connection and goes on up; what had streamed by then was handed to `on_text`.
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
        self.name = name
        self._url = (base_url or OPENAI_URL).strip()
        self._key = (api_key or "").strip()
        self._timeout = timeout
        self.on_notice = on_notice
        self.on_thought: Callable[[str], None] = _unheard
        self.options: dict[str, Any] = {}  # what else a request says, such as a temperature
        self._accepts = _Accepts(tools=True, stream=True, usage=True)
        self._tools_refused = False  # by the last request, which may have failed for another reason
        self._longest = longest
        self._wire = Wire(longest)
        self._client: openai.OpenAI | None = None

    def apart(self) -> "OpenAIModel":
        """The same model with a connection of its own, which says nothing besides its answers."""
        other = copy.copy(self)
        other.on_notice = other.on_thought = _unheard
        other._wire, other._client = Wire(self._longest), None
        return other

    def hang_up(self) -> None:
        """End the answer under way, from another thread; whoever waits for it gets a ModelError."""
        self._wire.hang_up()

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`; raises ModelError with one sentence that says what to do.

        PromptTooLong and ToolsRefused are told apart. An error that only mentions tools costs one request and not the
        tools of a whole session: that there are none is taken for granted once an answer came without them.
        """
        messages, accepts, retries = _sendable(messages), self._accepts, 0
        if tools and not accepts.tools:
            raise self._refused()
        while True:
            request = self.options | accepts.request(self.name, messages, tools)
            draft = Draft(on_text, self.on_thought)
            try:
                reply = self._answer(request, draft)
            except Failure as failure:
                simpler = accepts.without(request, failure)
                pause = None if draft.text else failure.pause(retries)
                if simpler is not None:
                    if not simpler.tools:
                        self._tools_refused = True
                        raise self._refused() from None
                    self._tell_loss(accepts, simpler)
                    accepts = simpler
                elif pause is not None:
                    retries += 1
                    if failure.after and pause > FIRST_PAUSE:
                        self._announce(f"asks for a pause ({failure.status}), trying again in {span(pause)}")
                    time.sleep(pause)
                else:
                    self._tools_refused = False
                    raise self._explained(failure, draft.text) from None
            else:
                self._accepts = (
                    accepts._replace(tools=accepts.tools and not self._tools_refused) if not tools else accepts
                )
                self._tools_refused = False
                self._tell_limits(reply, draft)
                return reply

    def _answer(self, request: dict[str, Any], draft: Draft) -> Reply:
        """One request and its whole answer; raises Failure."""
        self._check()
        with self._wire.bounded():
            try:
                with closing(self._events(request)) as events:
                    for event in events:
                        draft.take(event)
                        if draft.full:
                            break
                return draft.reply(prefix=f"call_{len(request['messages'])}_")
            except Failure:
                if self._wire.over:
                    raise Failure("endless") from None
                raise

    def _events(self, request: dict[str, Any]) -> Generator[object, None, None]:
        """The JSON values that the endpoint sends, as they came: the package's typed models would check nothing."""
        import openai  # noqa: PLC0415  (a third of a second, which only those who ask a model should pay)

        path, began = "/chat/completions", False
        lost: type[Exception] = openai.APIConnectionError
        try:
            client = self._client = self._client or self._connect(openai)
            if not request.get("stream"):
                answer = client.post(path, cast_to=object, body=request)
                yield json.loads(answer) if isinstance(answer, str) else answer
                return
            kind = openai.Stream[object]
            with client.post(path, cast_to=object, body=request, stream=True, stream_cls=kind) as stream:
                # Not every version wraps what its HTTP library (httpx, later httpx2) raises amid a stream.
                began, lost = True, sys.modules[type(stream.response).__module__].RequestError
                form = stream.response.headers.get("content-type", "")
                if "html" in form:
                    raise Failure("page")
                yield from [json.loads(stream.response.read())] if "json" in form else stream
        except openai.APIStatusError as error:
            after, elsewhere = (error.response.headers.get(name, "") for name in ("retry-after", "location"))
            raise Failure("status", error.status_code, error.body, after, elsewhere) from None
        except (openai.APIConnectionError, lost) as error:
            raise Failure(cause(error, began)) from None
        except openai.APIError as error:
            raise Failure("error", body=error.body or error.message) from None
        except (ValueError, RecursionError):
            raise Failure("garbled") from None

    def _connect(self, package: "ModuleType") -> "openai.OpenAI":
        limits = package.Timeout(self._timeout, connect=min(CONNECT, self._timeout))
        local = urlsplit(self._url).hostname in ("localhost", "127.0.0.1", "::1")
        try:
            client: openai.OpenAI = package.OpenAI(
                base_url=self._url,  # always given, since the package would else take it from the environment
                api_key=self._key or "none",  # the package wants one even for an endpoint that does not
                timeout=limits,
                max_retries=0,  # retries are ours: the package would wait for two minutes without a word
                # A proxy for the way out knows nothing of a server on this machine.
                http_client=package.DefaultHttpxClient(
                    trust_env=not local, timeout=limits, follow_redirects=False, event_hooks=self._wire.hooks()
                ),
            )
        except (ValueError, ImportError):
            raise Failure("proxy") from None
        return client

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

    def _announce(self, notice: str) -> None:
        self.on_notice(f"{self._who}: {notice}.")

    def _refused(self) -> ToolsRefused:
        return ToolsRefused(f"{self._who}: takes no tools; ask without them.")

    def _tell_limits(self, reply: Reply, draft: Draft) -> None:
        if reply.finish == "length":
            self._announce("the answer was cut at the endpoint's limit on length")
        if draft.full:
            self._announce(f"called more than {MOST_CALLS} tools at once; the first {MOST_CALLS} are answered")

    def _tell_loss(self, before: "_Accepts", after: "_Accepts") -> None:
        if before.stream and not after.stream:
            self._announce("does not stream, so the answer comes in one piece")

    def _explained(self, failure: "Failure", partial: str) -> ModelError:
        kind = PromptTooLong if failure.too_long else ModelError
        return kind(f"{self._who}: {failure.sentence(self._key, self._timeout)}.", partial)


class _Accepts(NamedTuple):
    """What an endpoint takes, as far as it has shown."""

    tools: bool
    stream: bool
    usage: bool  # token counts at the end of a stream

    def request(self, model: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The body to send; an empty list of tools is left out, since vLLM refuses it."""
        body: dict[str, Any] = {"model": model, "messages": messages}
        if tools and self.tools:
            body["tools"] = tools
        if self.stream:
            body["stream"] = True
        if self.stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        return body

    def without(self, request: dict[str, Any], failure: "Failure") -> "_Accepts | None":
        """What is left when `failure` blames a part of `request`, else None.

        Endpoints say so in words only, under many codes: "property 'stream_options' is unsupported" (400, Groq), "No
        endpoints found that support tool use" (404, OpenRouter), "tools param requires --jinja flag" (500, llama.cpp).
        """
        if failure.status not in (400, 404, 422, 500, 501) or failure.too_long or failure.code == "tool_use_failed":
            return None
        blame = str(failure.body).lower()
        if "stream_options" in request and ("stream_options" in blame or "include_usage" in blame):
            return self._replace(usage=False)
        if "stream" in request and re.search(NO_STREAM, blame):
            return self._replace(stream=False)
        if "tools" in request and re.search(NO_TOOLS, blame):
            return self._replace(tools=False)
        return None


class FailFastModel:
    """A model as a job asks it: no more once it has failed, so that many conversations do not wait for it one by one."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._failed = False

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The model's answer; raises ModelError, and ever after without asking, but for a prompt that was too long."""
        if self._failed:
            raise ModelError(f"{self.name} was not asked again, having failed before.")
        try:
            return self._model.ask(messages, tools, on_text)
        except PromptTooLong:
            raise
        except ModelError:
            self._failed = True
            raise


def _sendable(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with "?" for each lone surrogate, which a file in another encoding may hold and UTF-8 cannot."""
    sent: list[dict[str, Any]] = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return sent
