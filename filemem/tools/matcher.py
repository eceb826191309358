"""A process that matches lines, ended if a pattern hangs or takes all memory."""

import contextlib
import re
import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

from filemem.tools import matcher_child
from filemem.tools.matcher_child import OUT_OF_MEMORY, SECONDS_PER_CHAR, Span

STARTUP_SECONDS = 10.0  # of the clock that are no fault of the pattern


class Matcher:
    """A child process that matches lines with one pattern; leaving the context ends it.

    Args:
        pattern: what the child searches each line for.
        seconds: of a processor that all matching may take, SECONDS_PER_CHAR aside.
    """

    def __init__(self, pattern: re.Pattern[str], seconds: float) -> None:
        self._pattern = pattern
        self._seconds = seconds
        self._patience = seconds + STARTUP_SECONDS

    def __enter__(self) -> Self:
        import subprocess  # noqa: PLC0415  a tenth of a cold start

        self._child: Any = subprocess.Popen(
            [sys.executable, "-I", "-S", matcher_child.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._child.kill()
        self._child.stdout.close()
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        self._child.wait()

    def match(self, lines: list[str]) -> list[list[Span]]:
        """Return where each line matches, nothing for a line that does not.

        Raises:
            TimeoutError: matching has taken longer than it may.
            MemoryError: one line needs more memory than it may take.
            OSError: the child failed otherwise.
        """
        allowed = self._patience + SECONDS_PER_CHAR * sum(map(len, lines))
        started = time.monotonic()
        timer = threading.Timer(allowed, self._child.kill)
        timer.start()
        request = (self._pattern.pattern, self._pattern.flags, self._seconds, lines)
        spans: list[list[Span]]
        try:
            matcher_child.send(self._child.stdin, request)
            spans, self._seconds = matcher_child.receive(self._child.stdout)
        except (OSError, EOFError):
            raise self._failure() from None
        finally:
            timer.cancel()
        self._patience = allowed - (time.monotonic() - started)
        return spans

    def _failure(self) -> Exception:
        """Return the error that the child's exit code tells of."""
        code = self._child.wait()
        if code == OUT_OF_MEMORY:
            return MemoryError()
        if code < 0:  # ended by a signal: of its own timer, or ours
            return TimeoutError()
        return OSError(f"it ended with code {code}")
