"""A process beside this one: for what may hang or take all memory, and for another processor's work.

A message is its length in 8 bytes and that many bytes of `marshal`, the fastest between two runs of one Python; each request
has one answer. `python -I -S` runs this very file as the child that matches lines, so it imports the standard library alone.
"""

import contextlib
import marshal
import os
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

MEMORY = 1 << 29  # bytes of address space that matching may take
LONGEST_LIFE = 30  # seconds of computing after which a child that matches ends itself
MATCHER = ("-S", __file__)  # the arguments for it


class Child:
    """A Python process that answers requests until it is closed."""

    def __init__(self, *arguments: str) -> None:
        """Raises OSError where no process can be started."""
        child_reads, self._requests = os.pipe()
        self._answers, child_writes = os.pipe()
        try:
            # Not `subprocess`: importing it would cost a tenth of a cold start.
            self._process = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", *arguments],
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, child_reads, 0),
                    (os.POSIX_SPAWN_DUP2, child_writes, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
            )
        except OSError:
            os.close(self._requests)
            os.close(self._answers)
            raise
        finally:
            os.close(child_reads)
            os.close(child_writes)
        os.set_blocking(self._requests, False)

    def close(self) -> None:
        """End the child, whatever it is at."""
        os.close(self._requests)
        os.close(self._answers)
        # A program that ignores SIGCHLD has its children reaped for it.
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)

    def ask(self, request: Any, seconds: float | None = None) -> None:
        """Send a request; raises TimeoutError after `seconds`, OSError where the child has ended."""
        deadline, rest = _deadline(seconds), memoryview(_packed(request))
        while rest:
            _wait(self._requests, select.POLLOUT, deadline)
            rest = rest[os.write(self._requests, rest) :]

    def answer(self, seconds: float | None = None) -> Any:
        """The answer to the oldest request that has had none; raises as `ask`."""
        deadline = _deadline(seconds)
        size = int.from_bytes(self._read(8, deadline), "little")
        return marshal.loads(self._read(size, deadline))

    def _read(self, size: int, deadline: float | None) -> bytes:
        data = bytearray()
        while len(data) < size:
            _wait(self._answers, select.POLLIN, deadline)
            more = os.read(self._answers, min(size - len(data), 1 << 20))
            if not more:
                raise BrokenPipeError("it has ended")
            data += more
        return bytes(data)


def _deadline(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds


def _wait(descriptor: int, event: int, deadline: float | None) -> None:
    ready = select.poll()
    ready.register(descriptor, event)
    if not ready.poll(None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


def _packed(message: Any) -> bytes:
    payload = marshal.dumps(message)
    return len(payload).to_bytes(8, "little") + payload


def serve(answered: Callable[[Any], Any]) -> None:
    """The child: answer every request until there is none; a request that needs too much memory gets None, and is the last."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError):  # the parent is gone, in the middle of a request perhaps
        while size := int.from_bytes(requests.read(8), "little"):
            try:
                answer = answered(marshal.loads(requests.read(size)))
            except MemoryError:
                answer = None
            answers.write(_packed(answer))
            answers.flush()


def match(request: tuple[str, int, list[str]]) -> bytes:
    """For a pattern, its flags and some lines: 1 for each line that matches, else 0."""
    pattern, flags, lines = request
    regex = re.compile(pattern, flags)
    return bytes(regex.search(line) is not None for line in lines)


if __name__ == "__main__":
    # A system that knows no such limit, or sets a lower one itself, leaves the parent's deadline to guard us. Should the parent
    # die in the middle of a line, nobody would end this process.
    for limit, amount in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, LONGEST_LIFE)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (amount, amount))
    serve(match)
