"""Both ends of the pipe to a process of its own, for matching that might never end or take all memory.

The child runs this very file with `python -I -S`, so nothing but the standard library may be imported here. A message
is its length in 8 bytes and that many bytes of `marshal`, the fastest between two runs of one Python; each request has
one answer, so that neither end ever waits for the other to empty a pipe.
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
from typing import Any, BinaryIO

MEMORY = 1 << 29
"""Bytes of address space that the child may take."""

LONGEST_LIFE = 30
"""Seconds of computing after which a child ends itself."""


class Matcher:
    """A child that matches, until it is closed."""

    __slots__ = ("_answers", "_child", "_requests")

    def __init__(self) -> None:
        """Raises OSError where no process can be started."""
        child_reads, self._requests = os.pipe()
        self._answers, child_writes = os.pipe()
        try:
            # Not `subprocess`: importing it would cost a tenth of a cold start.
            self._child = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", __file__],
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
        os.set_blocking(self._answers, False)

    def close(self) -> None:
        """End the child, whatever it is at."""
        os.close(self._requests)
        os.close(self._answers)
        # A program that ignores SIGCHLD has its children reaped for it.
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)

    def match(self, regex: re.Pattern[str], lines: list[str], seconds: float) -> bytes:
        """For each of `lines` 1 where it matches, else 0. Raises TimeoutError after `seconds`, MemoryError when the child would
        need more than MEMORY bytes, OSError when it is gone. After an error there is nothing to do but close it."""
        deadline = time.monotonic() + seconds
        self._write(_message((regex.pattern, regex.flags, lines)), deadline)
        size = int.from_bytes(self._read(8, deadline), "little")
        answer: bytes | None = marshal.loads(self._read(size, deadline))
        if answer is None:
            raise MemoryError
        return answer

    def _write(self, message: bytes, deadline: float) -> None:
        rest = memoryview(message)
        while rest:
            _wait_for(self._requests, select.POLLOUT, deadline)
            rest = rest[os.write(self._requests, rest) :]

    def _read(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            _wait_for(self._answers, select.POLLIN, deadline)
            more = os.read(self._answers, min(size - len(data), 1 << 20))
            if not more:
                raise BrokenPipeError("it has ended")
            data += more
        return bytes(data)


def _wait_for(descriptor: int, event: int, deadline: float) -> None:
    ready = select.poll()
    ready.register(descriptor, event)
    if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError


def _message(value: Any) -> bytes:
    payload = marshal.dumps(value)
    return len(payload).to_bytes(8, "little") + payload


def _receive(requests: BinaryIO) -> Any:
    """The next message, or None at the end."""
    size = requests.read(8)
    return marshal.loads(requests.read(int.from_bytes(size, "little"))) if size else None


def _limit(resource_kind: int, amount: int) -> None:
    # A system that knows no such limit, or sets a lower one itself, leaves the deadline to guard us.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource_kind, (amount, amount))


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """The child: a pattern, its flags and lines are answered as `match` gives it, or with None when memory ran out."""
    _limit(resource.RLIMIT_AS, MEMORY)
    # Should the parent die in the middle of a line, nobody would end this process.
    _limit(resource.RLIMIT_CPU, LONGEST_LIFE)
    answer: bytes | None = b""
    while answer is not None:
        try:
            request = _receive(requests)
            if request is None:
                return
            pattern, flags, lines = request
            regex = re.compile(pattern, flags)
            answer = bytes(regex.search(line) is not None for line in lines)
        except MemoryError:
            answer = None
        answers.write(_message(answer))
        answers.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
