"""The child process of `matcher`: it matches lines until its parent closes the pipe.

`python -I -S` runs this file, so it imports only the standard library, and little of
that. Both sides send `marshal`ed values, each behind its length in bytes.
"""

import itertools
import marshal
import re
import sys

TYPE_CHECKING = False  # as in typing, which takes as long to load as all this
if TYPE_CHECKING:
    from typing import Any, BinaryIO

Span = tuple[int, int]
"""The start and end of a match in its line, in characters."""

MEMORY_BYTES = 1 << 29  # of address space that the child may take
SECONDS_PER_CHAR = 5e-8  # more time for more text: as long as reading it takes
MAX_SPANS = 5  # in one line that are told
OUT_OF_MEMORY = 77  # exit code
_LENGTH_BYTES = 8


def send(stream: "BinaryIO", value: "Any") -> None:
    """Write a value that `receive` reads on the other side."""
    data = marshal.dumps(value)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(data)
    stream.flush()


def receive(stream: "BinaryIO") -> "Any":
    """Return the next value; raise EOFError if the other side has ended."""
    length = int.from_bytes(stream.read(_LENGTH_BYTES), "big")
    return marshal.loads(stream.read(length))


def spans_of(pattern: re.Pattern[str], line: str) -> list[Span]:
    """Return where a line matches, MAX_SPANS at most."""
    matches = itertools.islice(pattern.finditer(line), MAX_SPANS)
    return [match.span() for match in matches]


def _serve() -> None:
    """Answer each request, a pattern and lines, by the spans of each line's matches."""
    _limit_memory()
    try:
        while True:
            text, flags, seconds, lines = receive(sys.stdin.buffer)
            seconds += SECONDS_PER_CHAR * sum(map(len, lines))
            _set_timer(max(0.001, seconds))
            pattern = re.compile(text, flags)
            spans = [spans_of(pattern, line) for line in lines]
            seconds_left = _set_timer(0)
            send(sys.stdout.buffer, (spans, seconds_left))
    except EOFError:
        return
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415  of POSIX

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        return


def _set_timer(seconds: float) -> float:
    """End this process after `seconds` of a processor; return what the last had left.

    Without such timers the parent's clock alone decides, and 0 is returned.
    """
    try:
        import signal  # noqa: PLC0415  of POSIX

        return signal.setitimer(signal.ITIMER_PROF, seconds)[0]
    except AttributeError:
        return 0.0


if __name__ == "__main__":
    _serve()
