"""Any OpenAI-compatible endpoint: the model that answers there, and the one that embeds.

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
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
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
from filemem.llm.stream import CUT, GARBLED, IncompleteAnswer, StreamParser
from filemem.text.plain import one_line

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
SILENCE_S = 120.0  # without a byte; local models read a long prompt slowly
CONNECT_S = 10.0
MAX_ANSWER_S = 900.0  # in which a small machine writes 2,000 tokens
MAX_RETRIES = 2
EMBEDDING_BATCH = 64  # texts of a request; Gemini's endpoint takes 100
STREAMED = {"stream": True, "stream_options": {"include_usage": True}}

ENDLESS = "the answer went on without end and was stopped; what had come is kept"
NO_KEY = (
    "the key in OPENAI_API_KEY is missing or not accepted; set a valid one, or "
    "OPENAI_BASE_URL for an endpoint of your own"
)
TOO_LONG = (
    "the prompt is longer than the model can take{said}; send less, or choose another "
    "model"
)
ELSEWHERE = (
    "it sends on to {location}{said}, where nothing was sent; name that address if "
    "you trust it"
)
SENTENCES = {  # by the name of openai's error; a class stands before its base
    "AuthenticationError": NO_KEY,
    "PermissionDeniedError": (
        "this key may not use the model{said}; check the account's rights, or "
        "choose another model"
    ),
    "NotFoundError": (
        "no such model, or no chat completions at this address{said}; check "
        "the model's name, and OPENAI_BASE_URL, which often ends in /v1"
    ),
    "RateLimitError": (
        "too many requests, or the account's quota is used up{said}; try again "
        "{when}, or check its plan"
    ),
    "InternalServerError": "the endpoint failed{said}; try again {when}",
    "APIStatusError": (
        "the request was refused{said}; check the model's name and OPENAI_BASE_URL"
    ),
    "APITimeoutError": (
        "nothing came in time; ask again, or raise timeout in your configuration"
    ),
    "APIConnectionError": (
        "it cannot be asked{said}; start the server there, or check the network, the "
        "proxy and OPENAI_BASE_URL"
    ),
    "APIError": "the endpoint gave up{said}; ask again",
}
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|prompt is too long|too many tokens|token count"
)
# What an endpoint says, under many codes, that does not take a part of a request:
# "property 'stream_options' is unsupported" (400, Groq), "No endpoints found that
# support tool use" (404, OpenRouter), "tools param requires --jinja flag" (500,
# llama.cpp).
_PARTS = {
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stream": re.compile(r"\bstream(ing|ed)?\b"),
    "tools": re.compile(r"\b(tools?|tool_choice|functions?|function_call(ing)?)\b"),
}
_UNSUPPORTED = re.compile(
    r"support|enabled|requires|un(known|expected|recogni[sz]ed)|not (allowed|permitted)"
)


@functools.lru_cache(maxsize=16)
def _client(url: str, key: str, timeout: float) -> "openai.OpenAI":
    """Return the one client for an endpoint, whose connections all its models share.

    Raises:
        ModelError: the address or a proxy of the environment cannot be used.
    """
    import openai  # noqa: PLC0415

    try:
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
    except (ValueError, ImportError, _http().InvalidURL) as error:
        sentence = SENTENCES["APIConnectionError"].format(said=f', "{error}"')
        raise ModelError(sentence) from None


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
        api_key: the key, which no error repeats.
        timeout: the longest silence, in seconds.
        longest: what an answer may take in all, in seconds.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = SILENCE_S,
        longest: float = MAX_ANSWER_S,
    ) -> None:
        self.name = name
        self._url = (base_url or OPENAI_URL).strip()
        self._key = (api_key or "").strip()
        self._timeout = timeout
        self._longest = longest

    def _connect(self) -> "openai.OpenAI":
        """Return the client; raise ModelError where there is no asking."""
        needs_key = self._url == OPENAI_URL and not self._key
        if needs_key or not re.fullmatch("[!-~]*", self._key):
            raise self._error(NO_KEY)
        try:
            return _client(self._url, self._key, self._timeout)
        except ModelError as error:
            raise self._error(str(error)) from None

    def _error(self, sentence: str, kind: type[ModelError] = ModelError) -> ModelError:
        """Return an error that names model and host, without a password in the address."""
        address = self._url.partition("://")[2] or self._url
        host = address.partition("/")[0].rpartition("@")[2]
        return kind(f"{one_line(f'{self.name} at {host}')}: {sentence}.")

    def _explain(self, error: Any) -> ModelError:
        """Return what the package or its HTTP library raised as one sentence."""
        if isinstance(error, ModelError):
            return error
        if isinstance(error, IncompleteAnswer):
            return self._error(str(error))
        if isinstance(error, ValueError | RecursionError):
            return self._error(GARBLED)
        status = getattr(error, "status_code", 0)
        headers = error.response.headers if status else {}
        said = _said(error)
        if self._key:  # which an endpoint may repeat
            said = said.replace(self._key, "…")
        said = one_line(said)
        if said:
            said = f', "{said}"'
        if status:
            said = f" ({status}{said})"
        seconds = headers.get("retry-after", "")
        kind = ModelError
        sentence = _sentence(error)
        if sentence == TOO_LONG:
            kind = PromptTooLong
        return self._error(
            sentence.format(
                said=said,
                when=f"in {seconds} s" if seconds.strip("0") else "in a moment",
                location=one_line(headers.get("location", "another address")),
            ),
            kind,
        )


class OpenAIModel(ModelEndpoint):
    """A model that answers; what it thinks is no part of its answer.

    A Ctrl-C while it answers closes the connection and goes on up.
    """

    _stream: "openai.Stream[Any] | None" = None
    _is_stopped = False
    _refused: frozenset[str] = frozenset()  # parts of a request that nobody takes there

    def hang_up(self) -> None:
        """End the answer under way, from another thread: `ask` raises ModelError."""
        self._is_stopped = True
        stream = self._stream
        if stream:
            network = stream.response.extensions["network_stream"]
            with suppress(OSError):  # it may have ended this moment
                # Of the plain socket, also below TLS: it wakes whoever waits for a byte.
                socket.socket.shutdown(
                    network.get_extra_info("socket"), socket.SHUT_RDWR
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
        # A file in another encoding may hold half a character, which cannot be sent.
        text = json.dumps(messages, ensure_ascii=False)
        sendable = json.loads(text.encode("utf-8", "replace"))
        request: dict[str, Any] = {"model": self.name, "messages": sendable}
        if tools:  # vLLM refuses an empty list
            request["tools"] = tools
        self._is_stopped = False
        clock = threading.Timer(self._longest, self.hang_up)
        clock.daemon = True
        clock.start()
        try:
            return self._reply(request | {"extra_body": options}, on_text)
        finally:
            clock.cancel()

    def _reply(self, asked: dict[str, Any], on_text: OnText) -> Reply:
        """Ask, and again without a part of the request that the endpoint refuses."""
        import openai  # noqa: PLC0415

        request = dict(asked)
        for part, value in STREAMED.items():
            if part not in self._refused:
                request[part] = value
        parser = StreamParser(on_text)
        try:
            with closing(self._events(request)) as events:
                for event in events:
                    parser.feed(event)
            reply = parser.reply(id_prefix=f"call_{len(asked['messages'])}_")
        except openai.APIStatusError as error:
            part = _refused_part(request, error)
            if part == "tools":
                sentence = "takes no tools; ask without them"
                raise self._error(sentence, ToolsRefused) from None
            if not part:
                raise self._explain(error) from None
            self._refused |= {part, "stream_options"}  # which need a stream
            return self._reply(asked, on_text)
        except (
            openai.APIError,
            _http().RequestError,
            IncompleteAnswer,
            ValueError,
            RecursionError,
        ) as error:
            if self._is_stopped:
                raise self._error(ENDLESS) from None
            raise self._explain(error) from None
        return self._with_notice(reply)

    def _events(self, request: dict[str, Any]) -> Generator[object, None, None]:
        """Yield what the endpoint sends, each event as plain JSON values."""
        import openai  # noqa: PLC0415

        answer = self._connect().chat.completions.create(**request)
        if not isinstance(answer, openai.Stream):
            yield _plain(answer)
            return
        with answer as stream:
            self._stream = stream
            try:
                if self._is_stopped:  # while the endpoint began to answer
                    raise IncompleteAnswer(ENDLESS)
                if "json" in stream.response.headers.get("content-type", ""):
                    yield _plain(json.loads(stream.response.read()))
                    return
                for event in stream:
                    if self._is_stopped:
                        raise IncompleteAnswer(ENDLESS)
                    yield _plain(event)
            except (openai.APIConnectionError, _http().RequestError) as error:
                if isinstance(error, openai.APITimeoutError):
                    raise
                raise IncompleteAnswer(CUT) from None
            finally:
                self._stream = None

    def _with_notice(self, reply: Reply) -> Reply:
        if reply.finish != "length":
            return reply
        notice = self._error("the answer was cut at the endpoint's limit on length")
        return replace(reply, notice=str(notice))


class Embedder(ModelEndpoint):
    """A model that makes vectors.

    No request is tried again, as whoever asks goes on without vectors, and says so.
    """

    def embed(self, texts: Sequence[str]) -> list["array[float]"]:
        """Return a vector of length 1 for each text; raise ModelError."""
        import openai  # noqa: PLC0415

        vectors = []
        try:
            client = self._connect().with_options(max_retries=0)
            for start in range(0, len(texts), EMBEDDING_BATCH):
                batch = texts[start : start + EMBEDDING_BATCH]
                sendable = [text.encode("utf-8", "replace").decode() for text in batch]
                answer = client.embeddings.create(
                    model=self.name, input=sendable, encoding_format="float"
                )
                vectors += _vectors(answer, len(batch))
        except (openai.APIError, ValueError, RecursionError, ModelError) as error:
            told = str(self._explain(error)).replace("chat completion", "embedding")
            address = "the endpoint of embeddings in your configuration"
            raise ModelError(told.replace("OPENAI_BASE_URL", address)) from None
        return vectors


def _vectors(answer: Any, count: int) -> list["array[float]"]:
    """Return an answer's vectors in the order of the texts, each of length 1.

    Raises:
        ValueError: there are not `count` vectors of one size, none of them empty.
    """
    try:
        items = sorted(answer.data, key=lambda item: int(item.index))
        found = [array("f", item.embedding) for item in items]
    except (AttributeError, TypeError, OverflowError):
        raise ValueError from None
    vectors = []
    for vector in found:
        length = math.hypot(*vector)
        if not 0 < length < math.inf:
            raise ValueError
        vectors.append(array("f", (value / length for value in vector)))
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1:
        raise ValueError
    return vectors


def _plain(answer: Any) -> object:
    """Return one of the package's records as plain JSON values, its extra keys too.

    Raises:
        openai.APIError: it is an error all the same.
    """
    import openai  # noqa: PLC0415

    if isinstance(answer, openai.BaseModel):
        answer = answer.to_dict(warnings=False)
    if isinstance(answer, dict) and answer.get("error"):
        nothing: Any = None
        raise openai.APIError("", request=nothing, body=answer["error"])
    return answer


def _refused_part(request: dict[str, Any], error: "openai.APIStatusError") -> str:
    """Return the part of a request that an error says is not taken, or ''."""
    said = _message(error.body).lower()
    if error.status_code not in (400, 404, 422, 500, 501):
        return ""
    if not _UNSUPPORTED.search(said):
        return ""
    for part, named in _PARTS.items():
        if part in request and named.search(said):
            return part
    return ""


def _sentence(error: Any) -> str:
    """Return the sentence, still with its gaps, for an error of the package."""
    status = getattr(error, "status_code", 0)
    said = f"{getattr(error, 'code', '')} {_said(error)}"
    may_be_size = status in (0, 400, 422, 500)
    if status == 413 or (may_be_size and _TOO_LONG.search(said.lower())):
        return TOO_LONG
    if 300 <= status < 400:
        return ELSEWHERE
    for kind in type(error).__mro__:
        if kind.__name__ in SENTENCES:
            return SENTENCES[kind.__name__]
    return SENTENCES["APIConnectionError"]


def _said(error: Any) -> str:
    """Return an error's own words: the endpoint's, or why it cannot be reached."""
    if getattr(error, "body", None) or hasattr(error, "status_code"):
        return _message(error.body)
    return str(error.__cause__ or error)


def _message(body: object) -> str:
    """Return the sentence in the body of an error; '' for a web page.

    Bodies differ: a mapping under `error`, `message`, `detail` or `msg`, or a list.
    """
    while isinstance(body, dict | list):
        if isinstance(body, list):
            body = body[0] if body else ""
            continue
        keys = ("message", "detail", "msg", "error")
        body = next((body[key] for key in keys if body.get(key)), "")
    if not isinstance(body, str) or "<" in body[:20]:
        return ""
    return body
