"""The model that answers: what an agent asks of one, and the one behind any OpenAI-compatible endpoint.

No other module imports `openai`, and this one does so only when a model is first asked: the import takes longer than
a whole `filemem grep`.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from filemem.errors import FilememError
from filemem.model.failures import FIRST_PAUSE, Failure, cause, one_line, span

if TYPE_CHECKING:
    from types import ModuleType

    import openai

OPENAI_URL = "https://api.openai.com/v1"
SILENCE = 120.0  # seconds without a byte until an endpoint counts as gone: local models read a long prompt slowly
CONNECT = 10.0  # seconds to reach the host

NO_STREAM = r"\bstream(ing|ed)?\b"
NO_TOOLS = r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b"


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
        """The answer to `messages`, its text handed to `on_text` piece by piece; raises ModelError."""


class ModelError(FilememError):
    """A model that gave no whole answer; `partial` is the text that had streamed by then."""

    def __init__(self, sentence: str, partial: str = "") -> None:
        super().__init__(sentence)
        self.partial = partial


class PromptTooLong(ModelError):
    """More messages than the model's context holds; asking again with fewer helps."""


def _unheard(notice: str) -> None:
    pass


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint: `base_url` as in OPENAI_BASE_URL, None for OpenAI itself.

    Only OpenAI itself needs an `api_key`; other endpoints say so where they do.

    `timeout` is the longest silence in seconds. `on_notice` gets one line whenever an answer comes otherwise than it
    was asked for: after a pause, without streaming, without tools, cut at a limit. A Ctrl-C while the model answers
    closes the connection and goes on up; what had streamed by then was handed to `on_text`.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE,
        on_notice: Callable[[str], None] = _unheard,
    ) -> None:
        self.name = name
        self._url = (base_url or OPENAI_URL).strip()
        self._key = (api_key or "").strip()
        self._timeout = timeout
        self.on_notice = on_notice
        self._accepts = _Accepts(tools=True, stream=True, usage=True)
        self._client: openai.OpenAI | None = None

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """The answer to `messages`; raises ModelError, or PromptTooLong, with one sentence that says what to do."""
        messages, accepts, retries = _sendable(messages), self._accepts, 0
        while True:
            request = accepts.request(self.name, messages, tools)
            draft = _Draft(on_text)
            try:
                reply = self._answer(request, draft)
            except Failure as failure:
                simpler = accepts.without(request, failure)
                pause = None if draft.text else failure.pause(retries)
                if simpler is not None:
                    self._tell_loss(accepts, simpler)
                    accepts = simpler
                elif pause is not None:
                    retries += 1
                    if failure.after and pause > FIRST_PAUSE:
                        self._announce(f"asks for a pause ({failure.status}), trying again in {span(pause)}")
                    time.sleep(pause)
                else:
                    raise self._explained(failure, draft.text) from None
            else:
                # Only what has worked is remembered: an error that mentions tools in passing costs one request, not
                # the tools of a whole session.
                self._accepts = accepts
                if reply.finish == "length":
                    self._announce("the answer was cut at the endpoint's limit on length")
                return reply

    def _answer(self, request: dict[str, Any], draft: "_Draft") -> Reply:
        """One request and its whole answer; raises Failure."""
        self._check()
        with closing(self._events(request)) as events:
            for event in events:
                draft.take(event)
        return draft.reply(prefix=f"call_{len(request['messages'])}_")

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
            after = error.response.headers.get("retry-after", "")
            raise Failure("status", error.status_code, error.body, after) from None
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
                http_client=package.DefaultHttpxClient(trust_env=False, timeout=limits) if local else None,
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

    def _tell_loss(self, before: "_Accepts", after: "_Accepts") -> None:
        if before.tools and not after.tools:
            self._announce("takes no tools, so it is asked without them and cannot look into the memory")
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


class _Call:
    """A tool call in the making."""

    __slots__ = ("arguments", "id", "index", "name")

    def __init__(self, index: object, id: str) -> None:
        self.index = index
        self.id = id
        self.name = ""
        self.arguments = ""


class _Draft:
    """An answer in the making, from the events of a stream or from one whole completion."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._pieces: list[str] = []
        self._half = ""
        self._calls: list[_Call] = []
        self._usage = Usage(0, 0)
        self._finish = ""
        self._chosen = False

    @property
    def text(self) -> str:
        """What has been handed to `on_text` so far."""
        return "".join(self._pieces)

    def take(self, event: object) -> None:
        """Add one event: a chunk of a stream, or a completion."""
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
        """The whole answer; raises Failure where it is not whole. Calls without an id get one that starts as told."""
        if not self._chosen:
            raise Failure("empty")
        if not self._finish:
            raise Failure("cut")
        if self._finish == "content_filter":
            raise Failure("filtered")
        calls: list[ToolCall] = []
        for number, call in enumerate(self._calls, 1):
            fresh = call.id and call.id not in [made.id for made in calls]
            calls.append(ToolCall(call.id if fresh else f"{prefix}{number}", call.name, call.arguments))
        return Reply(self.text, tuple(calls), self._usage, self._finish)

    def _add(self, part: dict[str, Any]) -> None:
        self._say(_text(part.get("content")))
        self._say(_text(part.get("refusal")))  # the model's own words, where it will not answer
        for delta in _mappings(part.get("tool_calls")):
            function = delta.get("function")
            function = function if isinstance(function, dict) else {}
            name, arguments = _text(function.get("name")), function.get("arguments")
            call = self._call(delta.get("index"), _text(delta.get("id")), name)
            call.name += name if name != call.name else ""
            call.arguments += json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)

    def _say(self, text: str) -> None:
        # An endpoint may cut between the two halves of an emoji's surrogate pair; half of one cannot be written.
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = _writable(text[: len(text) - len(self._half)])
        if text:
            self._pieces.append(text)
            self._on_text(text)

    def _call(self, index: object, id: str, name: str) -> _Call:
        """The call that a delta goes on with, or a new one.

        Some endpoints leave the index out or send 0 for every call (ollama#7881, ollama#15457): there a name under
        another id, or under none, opens the next call.
        """
        known = [call for call in self._calls if index is None or call.index == index]
        if known and not (name and known[-1].name and (id != known[-1].id if id else index is None)):
            return known[-1]
        self._calls.append(_Call(index, id))
        return self._calls[-1]


def _sendable(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with "?" for each lone surrogate, which a file in another encoding may hold and UTF-8 cannot."""
    sent: list[dict[str, Any]] = json.loads(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
    return sent


def _writable(text: str) -> str:
    """`text` with surrogates joined to characters, or replaced where one stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(value: object) -> str:
    """The text of a message's part: a string, or a list of typed parts of which the text counts."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in _mappings(value) if part.get("type", "text") == "text")
    return value if isinstance(value, str) else ""


def _mappings(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
