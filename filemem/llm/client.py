"""Any OpenAI-compatible endpoint: the model that answers there, and the one that
embeds.

The package `openai` sends, retries and times out. It is imported only when an endpoint
is first asked: the import takes longer than a whole `filemem grep`.
"""

import functools
import json
import math
import re
import socket
import sys
import threading
from array import array
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from filemem.llm.model import (
    Messages,
    ModelError,
    OnText,
    PromptTooLong,
    Reply,
    Tools,
    ToolsRefused,
)
from filemem.llm.stream import (
    BROKEN_OFF,
    GARBLED,
    NO_ANSWER,
    IncompleteAnswer,
    StreamParser,
)
from filemem.text.plain import one_line

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
SILENCE_S = 120.0  # without a byte; local models read a long prompt slowly
CONNECT_S = 10.0
MAX_ANSWER_S = 900.0  # in which a small machine writes 2,000 tokens
MAX_RETRIES = 2
EMBEDDING_BATCH = 64  # texts of a request; Gemini's endpoint takes 100

ENDLESS = (
    "the answer was not at its end in time and was stopped; what had come is kept; "
    "raise timeout in your configuration if it needs longer"
)
NO_KEY = (
    "the key in OPENAI_API_KEY is missing or not accepted; set a valid one, or "
    "OPENAI_BASE_URL for an endpoint of your own"
)
TOO_LONG = (
    "the prompt is longer than the model can take{said}; send less, or choose another "
    "model"
)
FAILED = "the endpoint failed{said}; try again in a moment"
SENTENCES = {  # by the name of openai's error; a class stands before its base
    "AuthenticationError": NO_KEY,
    "NotFoundError": (
        "no such model, or no chat completions at this address{said}; check "
        "the model's name, and OPENAI_BASE_URL, which often ends in /v1"
    ),
    "RateLimitError": (
        "too many requests, or the account's quota is used up{said}; try again later, "
        "or check its plan"
    ),
    "InternalServerError": FAILED,
    "APIStatusError": (
        "the request was refused{said}; check the model's name, the account's rights "
        "and OPENAI_BASE_URL"
    ),
    "APITimeoutError": (
        "nothing came in time; ask again, or raise timeout in your configuration"
    ),
    "APIConnectionError": (
        "it cannot be asked{said}; start the server there, or check the network, the "
        "proxy and OPENAI_BASE_URL"
    ),
    "APIError": FAILED,
}
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|prompt is too long|too many tokens|token count"
)
# What an endpoint says, under many codes, that takes no tools: "No endpoints found that
# support tool use" (404, OpenRouter), "tools param requires --jinja flag" (500,
# llama.cpp).
_TOOLS = re.compile(r"\b(tools?|functions?|function calling)\b")
_UNSUPPORTED = re.compile(r"support|enabled|requires|not (allowed|permitted)")
# What was read wrongly, or is none of the values that were expected.
_ODD = (ValueError, TypeError, LookupError, AttributeError, RuntimeError)


@functools.lru_cache(maxsize=16)
def _client(url: str, key: str, timeout: float) -> "openai.OpenAI":
    """Return the one client for an endpoint, which all its models share.

    Raises:
        ValueError, ImportError: the address or a proxy of the environment is no good.
    """
    import openai  # noqa: PLC0415

    on_this_machine = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    return openai.OpenAI(
        base_url=url,
        api_key=key or "none",  # the package wants one
        max_retries=MAX_RETRIES,
        http_client=openai.DefaultHttpxClient(
            timeout=openai.Timeout(timeout, connect=min(CONNECT_S, timeout)),
            trust_env=not on_this_machine,  # no proxy knows a server on this one
            follow_redirects=False,
        ),
    )


def _http() -> Any:
    """Return the HTTP library of the package: httpx, or httpx2."""
    import openai  # noqa: PLC0415

    library = openai.DefaultHttpxClient.__mro__[1].__module__
    return sys.modules[library.partition(".")[0]]


class ModelEndpoint:
    """A model at an OpenAI-compatible address.

    Args:
        name: the model's name there.
        base_url: the address; None for OpenAI's own, which alone needs a key.
        key: of the endpoint, which no error repeats; None for one that needs none.
        timeout: the longest silence, in seconds.
        longest: what an answer may take in all, in seconds; None for MAX_ANSWER_S or,
            where that is longer, the longest silence.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        key: str | None = None,
        timeout: float = SILENCE_S,
        longest: float | None = None,
    ) -> None:
        self.name = name
        self._url = (base_url or OPENAI_URL).strip()
        self._key = (key or "").strip()
        self._timeout = timeout
        self._longest = longest or max(MAX_ANSWER_S, timeout)

    def _connect(self) -> "openai.OpenAI":
        """Return the client; raise ModelError where there is no asking."""
        needs_key = self._url == OPENAI_URL and not self._key
        if needs_key or not re.fullmatch("[!-~]*", self._key):
            raise self._error(NO_KEY)
        try:
            return _client(self._url, self._key, self._timeout)
        except (ValueError, ImportError, _http().InvalidURL) as error:
            sentence = SENTENCES["APIConnectionError"].format(said=f', "{error}"')
            raise self._error(sentence) from None

    def _error(self, sentence: str, kind: type[ModelError] = ModelError) -> ModelError:
        """Return an error that names model and host, but no password in the address."""
        address = self._url.partition("://")[2] or self._url
        host = address.partition("/")[0].rpartition("@")[2]
        return kind(f"{one_line(f'{self.name} at {host}')}: {sentence}.")

    def _explain(self, error: Exception) -> ModelError:
        """Return what went wrong as one sentence, with the endpoint's own words."""
        import openai  # noqa: PLC0415

        if isinstance(error, ModelError):
            return error
        if isinstance(error, IncompleteAnswer):
            return self._error(str(error))
        if not isinstance(error, openai.APIError):
            return self._error(GARBLED)
        words = _words(error)
        if self._key:  # which an endpoint may repeat
            words = words.replace(self._key, "…")
        status = getattr(error, "status_code", 0)
        quoted = f'"{one_line(words)}"' if words else ""
        reasons = ", ".join(filter(None, [str(status or ""), quoted]))
        said = f" ({reasons})" if reasons else ""
        if _is_too_long(error, status, words):
            return self._error(TOO_LONG.format(said=said), PromptTooLong)
        names = [kind.__name__ for kind in type(error).__mro__]
        sentence = next(SENTENCES[name] for name in names if name in SENTENCES)
        return self._error(sentence.format(said=said))


class OpenAIModel(ModelEndpoint):
    """A model at an OpenAI-compatible address; what it thinks is no part of its answer.

    No settings and nothing of the environment mean anything to it. A Ctrl-C while it
    answers closes the connection and goes on up.
    """

    _stream: "openai.Stream[Any] | None" = None  # that comes just now
    _is_stopped = False
    _counts_usage = True  # until an endpoint says that it does not know how

    def stop(self) -> None:
        """End the answer under way, from another thread: `ask` raises ModelError.

        One that has not begun ends when it does, or when the longest silence is over.
        """
        self._is_stopped = True
        if self._stream:
            connection = self._stream.response.extensions["network_stream"]
            with suppress(OSError):  # it may have ended this moment
                # The plain socket, also below TLS: it wakes whoever waits for a byte,
                # which to close the stream does not.
                socket.socket.shutdown(
                    connection.get_extra_info("socket"), socket.SHUT_RDWR
                )

    def ask(
        self, messages: Messages, tools: Tools, on_text: OnText, **options: Any
    ) -> Reply:
        """Return the answer to `messages`, asked for with `options` of the API.

        Raises:
            ToolsRefused: the endpoint takes no tools.
            PromptTooLong: the messages do not fit.
            ModelError: anything else; one sentence that says what to do.
        """
        import openai  # noqa: PLC0415

        # A file in another encoding may hold half a character, which cannot be sent.
        text = json.dumps(messages, ensure_ascii=False)
        request = {"messages": json.loads(text.encode("utf-8", "replace"))}
        if tools:  # vLLM refuses an empty list
            request["tools"] = tools
        if self._counts_usage:
            request["stream_options"] = {"include_usage": True}
        parser = StreamParser(on_text)
        self._is_stopped = False
        clock = threading.Timer(self._longest, self.stop)
        clock.daemon = True
        clock.start()
        try:
            self._read(request | {"extra_body": options}, parser)
            return parser.reply(id_prefix=f"call_{len(messages)}_")
        except (
            *_ODD,
            IncompleteAnswer,
            openai.APIError,
            _http().RequestError,
        ) as error:
            if self._is_stopped:
                raise self._error(ENDLESS) from None
            if tools and _refuses_tools(error):
                sentence = "takes no tools; ask without them"
                raise self._error(sentence, ToolsRefused) from None
            is_refused = "stream_options" in str(getattr(error, "body", ""))
            if not (self._counts_usage and is_refused):
                raise self._explain(error) from None
        finally:
            clock.cancel()
            self._stream = None
        self._counts_usage = False
        return self.ask(messages, tools, on_text, **options)

    def _read(self, request: dict[str, Any], parser: StreamParser) -> None:
        """Ask, and have the parser take in each event as plain JSON values."""
        completions = self._connect().chat.completions
        # A connection of its own, which can be shut down whatever is on its way.
        with completions.create(
            model=self.name,
            stream=True,
            extra_headers={"Connection": "close"},
            **request,
        ) as stream:
            self._stream = stream
            if self._is_stopped:
                raise IncompleteAnswer(ENDLESS)
            self._feed(stream, parser)

    def _feed(self, stream: "openai.Stream[Any]", parser: StreamParser) -> None:
        """Have the parser take in what comes of one answer, streamed or in one piece.

        Raises:
            IncompleteAnswer: the connection breaks, or no event has an answer.
        """
        import openai  # noqa: PLC0415

        response = stream.response
        kind = response.headers.get("content-type", "")
        try:
            if "json" not in kind:
                for event in stream:
                    parser.feed(event.to_dict(warnings=False))
                if "event-stream" in kind and not parser.has_choice:
                    raise IncompleteAnswer(NO_ANSWER)
                return
            whole = json.loads(response.read())
        except openai.APITimeoutError:
            raise
        except (openai.APIConnectionError, _http().RequestError):
            raise IncompleteAnswer(BROKEN_OFF) from None
        if whole.get("error"):
            raise openai.APIError("", response.request, body=whole["error"])
        parser.feed(whole)


class Embedder(ModelEndpoint):
    """A model that makes vectors.

    No request is tried again, as whoever asks goes on without vectors, and says so.
    """

    def embed(self, texts: Sequence[str]) -> list["array[float]"]:
        """Return a vector of length 1 for each text; raise ModelError."""
        import openai  # noqa: PLC0415

        vectors: list[array[float]] = []
        try:
            client = self._connect().with_options(max_retries=0)
            for start in range(0, len(texts), EMBEDDING_BATCH):
                batch = texts[start : start + EMBEDDING_BATCH]
                sendable = [text.encode("utf-8", "replace").decode() for text in batch]
                answer = client.embeddings.create(
                    model=self.name, input=sendable, encoding_format="float"
                )
                found = sorted(answer.data, key=lambda item: int(item.index))
                for _, item in zip(batch, found, strict=True):
                    length = math.hypot(*item.embedding)
                    if not 0 < length < math.inf:
                        raise ValueError("no vector")
                    vectors.append(array("f", (one / length for one in item.embedding)))
        except (*_ODD, ModelError, openai.APIError) as error:
            told = str(self._explain(error)).replace("chat completion", "embedding")
            address = "the endpoint of embeddings in your configuration"
            raise ModelError(told.replace("OPENAI_BASE_URL", address)) from None
        if len(set(map(len, vectors))) > 1:
            raise self._error(GARBLED)
        return vectors


def _words(error: "openai.APIError") -> str:
    """Return the endpoint's words, or why it cannot be reached; '' for a web page."""
    body = error.body
    if body is None and not hasattr(error, "response"):
        return str(error.__cause__ or error)
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    said = str(body or "")
    return "" if "<" in said[:20] else said


def _is_too_long(error: "openai.APIError", status: int, words: str) -> bool:
    may_be_size = status in (0, 400, 422, 500)
    said = f"{error.code} {words}".lower()
    return status == 413 or (may_be_size and _TOO_LONG.search(said) is not None)


def _refuses_tools(error: Any) -> bool:
    said = str(getattr(error, "body", "")).lower()
    is_refusal = getattr(error, "status_code", 0) in (400, 404, 422, 500, 501)
    return bool(is_refusal and _UNSUPPORTED.search(said) and _TOOLS.search(said))
