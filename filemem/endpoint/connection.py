"""A connection to an OpenAI-compatible endpoint under one deadline and one cap, and the sentence that says why nothing came.

The package `openai` retries and times out; what it does not do is end an answer that never ends (comments, empty chunks, a header
a minute). So a clock hangs up, and the bytes of a body are counted. Nobody else imports `openai`, and this module does so only
when an endpoint is first asked: the import takes longer than a whole `filemem grep`.
"""

import contextlib
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Generator, Iterator
from types import ModuleType
from typing import Any
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


class ModelError(FilememError):
    """A model that gave no whole answer; `partial` is the text that had streamed by then."""

    def __init__(self, sentence: str, partial: str = "") -> None:
        super().__init__(sentence)
        self.partial = partial


class PromptTooLong(ModelError):
    """More messages than the model's context holds; asking again with fewer helps."""


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
        if not _TLS:
            _TLS.append(library.create_ssl_context())
        self._base: Any = library.SyncByteStream
        self._timeout = timeout
        self._stream: Any = None
        self.why = ""
        limits = package.Timeout(timeout, connect=min(CONNECT, timeout))
        local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
        try:
            self.openai = package.OpenAI(
                base_url=url,  # always given, since the package would else take it from the environment
                api_key=key or "none",  # the package wants one even for an endpoint that does not
                timeout=limits,
                # A proxy for the way out knows nothing of a server on this machine.
                http_client=package.DefaultHttpxClient(
                    verify=_TLS[0],
                    trust_env=not local,
                    timeout=limits,
                    follow_redirects=False,
                    event_hooks={"request": [self._sent], "response": [self._began]},
                ),
            )
        except (ValueError, ImportError):
            raise Failure("proxy") from None

    @contextlib.contextmanager
    def bounded(self, longest: float) -> Iterator[None]:
        """Within, one answer is taken; the clock that hangs up is stopped at the end."""
        self.why, self._left, self._asked = "", BIGGEST_ANSWER, 0.0
        clock = threading.Timer(longest, self.hang_up)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()

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

    def _began(self, response: Any) -> None:
        self._asked = 0.0
        response.headers.pop("content-encoding", None)
        if _seconds(response.headers.get("retry-after", "")) > LONGEST_PAUSE:
            response.headers["x-should-retry"] = "false"
        inner, count = response.stream, self._count

        class Counted(self._base):  # type: ignore[misc,name-defined]
            def __iter__(self) -> Iterator[bytes]:
                yield from map(count, inner)

            def close(self) -> None:
                inner.close()

        response.stream = Counted()

    def _count(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            self.why = self.why or "endless"
        if self.why:
            raise Failure(self.why)
        return piece


# Clients that wait for a request, of all models of this process, and the one TLS context that they share: it has 800 kB.
_IDLE: dict[tuple[str, str, float], list[HTTPClient]] = {}
_TLS: list[Any] = []


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
        try:
            with client.bounded(self._longest):
                yield from _events(openai, client, path, request, retries)
                if client.why:
                    raise Failure(client.why)
        except Failure as failure:
            if client.why and client.why != failure.kind:
                raise Failure(client.why) from None
            raise
        finally:
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
