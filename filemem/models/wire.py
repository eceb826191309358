"""The connection to an endpoint under bounds: how long an answer may take in all, and how many bytes it may have.

A time-out between two bytes does not end an answer that never ends: comments, empty chunks, headers one byte a minute.
So a clock hangs up, and every piece of a body is counted as it comes.
"""

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from filemem.models.failures import Failure

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
