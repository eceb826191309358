"""A connection to an OpenAI-compatible endpoint under bounds: how long an answer may take in all, and how many bytes it may
have; and the one sentence that says why there is none.

A time-out between two bytes does not end an answer that never ends: comments, empty chunks, headers one byte a minute.
So a clock hangs up, and every piece of a body is counted as it comes. No other module imports `openai`, and this one does so
only when an endpoint is first asked: the import takes longer than a whole `filemem grep`.
"""

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from filemem.endpoint.failures import Failure, cause, one_line
from filemem.errors import FilememError

if TYPE_CHECKING:
    from types import ModuleType

    import openai

OPENAI_URL = "https://api.openai.com/v1"
SILENCE = 120.0  # seconds without a byte until an endpoint counts as gone: local models read a long prompt slowly
CONNECT = 10.0  # seconds to reach the host

# Seconds from the question to the end of its answer: a small machine writes 2,000 tokens in that.
LONGEST_ANSWER = 900.0
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


class ModelError(FilememError):
    """A model that gave no whole answer; `partial` is the text that had streamed by then."""

    def __init__(self, sentence: str, partial: str = "") -> None:
        super().__init__(sentence)
        self.partial = partial


class PromptTooLong(ModelError):
    """More messages than the model's context holds; asking again with fewer helps."""


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
        self._wire = Wire(longest)
        self._client: openai.OpenAI | None = None

    def _events(self, path: str, request: dict[str, Any]) -> Generator[object, None, None]:
        """The JSON values that the endpoint sends, as they came: the package's typed models would check nothing."""
        import openai  # noqa: PLC0415  (a third of a second, which only those who ask a model should pay)

        began = False
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

    def _explained(self, failure: "Failure", partial: str) -> ModelError:
        kind = PromptTooLong if failure.too_long else ModelError
        return kind(f"{self._who}: {failure.sentence(self._key, self._timeout)}.", partial)
