"""A process that matches lines, so that a pattern which hangs or takes all memory can be given up.

A message is its length in 8 bytes and that many bytes of `marshal`, the fastest between two runs of one Python; each request
has one answer. `python -I -S` runs this very file as the child, so it imports the standard library alone.
"""

import contextlib
import marshal
import re
import sys
import threading
from typing import Any

MEMORY = 1 << 29  # bytes of address space that matching may take
LONGEST_LIFE = 30  # seconds of computing after which a child ends itself


class Child:
    """A Python process that matches lines until it is closed."""

    def __init__(self) -> None:
        """Raises OSError where no process can be started."""
        import subprocess  # noqa: PLC0415  a tenth of a cold start, which hardly any search need pay

        pipe = subprocess.PIPE
        command = [sys.executable, "-I", "-S", __file__]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def close(self) -> None:
        """End the child, whatever it is doing."""
        self._process.kill()
        with contextlib.suppress(OSError):
            self._process.communicate()

    def ask(self, request: tuple[str, int, list[str]], seconds: float) -> bytes | None:
        """For a pattern, its flags and some lines a byte a line, 1 where it matches, else 0; None where that takes too much
        memory. Raises TimeoutError after `seconds`, with which the child ends, OSError where it has ended."""
        late = threading.Timer(max(0.0, seconds), self._process.kill)
        late.start()
        try:
            assert self._process.stdin and self._process.stdout
            self._process.stdin.write(_packed(request))
            self._process.stdin.flush()
            size = int.from_bytes(self._process.stdout.read(8), "little")
            data = self._process.stdout.read(size)
            if not size or len(data) < size:
                raise BrokenPipeError("it has ended")
        except OSError:
            if not late.is_alive():
                raise TimeoutError from None
            raise
        finally:
            late.cancel()
        answer: bytes | None = marshal.loads(data)
        return answer


def _packed(message: Any) -> bytes:
    payload = marshal.dumps(message)
    return len(payload).to_bytes(8, "little") + payload


def _serve() -> None:
    """The child: answer requests until they end; one that needs too much memory is the last."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    with contextlib.suppress(EOFError):  # the parent is gone, perhaps in the middle of a request
        while size := int.from_bytes(requests.read(8), "little"):
            try:
                pattern, flags, lines = marshal.loads(requests.read(size))
                regex = re.compile(pattern, flags)
                answer = bytes(regex.search(line) is not None for line in lines)
            except MemoryError:
                answer = None
            answers.write(_packed(answer))
            answers.flush()


def _bound() -> None:
    """Bound the child's memory and time; a system that knows no such limit leaves the parent's deadline to guard us. Should
    the parent die in the middle of a line, nobody else would end this process."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  of POSIX

        for limit, amount in ((resource.RLIMIT_CPU, LONGEST_LIFE), (resource.RLIMIT_AS, MEMORY)):
            resource.setrlimit(limit, (amount, amount))


if __name__ == "__main__":
    _bound()
    _serve()
