"""A process that matches lines, ended if a pattern hangs or takes all memory.

`python -I -S` runs this very file as the child, so it imports only the standard
library, and little of that. Parent and child send one `marshal`ed value each.
"""

import itertools
import marshal
import re
import sys

Span = tuple[int, int]
"""The start and end of a match in its line, in characters."""

MEMORY_BYTES = 1 << 29  # of address space that the child may take
STARTUP_SECONDS = 10.0  # of the clock that are no fault of the pattern
MAX_SPANS = 5  # in one line that are told
_OUT_OF_MEMORY = 77  # exit code


def match_apart(
    pattern: re.Pattern[str], lines: list[str], seconds: float
) -> list[list[Span]]:
    """Return where each line matches, nothing for one that does not.

    Args:
        pattern: what to search each line for.
        lines: the lines.
        seconds: of a processor that matching may take.

    Raises:
        TimeoutError: matching takes longer.
        MemoryError: one line needs more than MEMORY_BYTES.
        OSError: no process can be started, or it failed otherwise.
    """
    import subprocess  # noqa: PLC0415  a tenth of a cold start

    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", __file__, str(seconds)],
            input=marshal.dumps((pattern.pattern, pattern.flags, lines)),
            capture_output=True,
            timeout=seconds + STARTUP_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    if done.returncode == _OUT_OF_MEMORY:
        raise MemoryError
    if done.returncode < 0:  # ended by the signal of its timer
        raise TimeoutError
    if done.returncode:
        raise OSError(f"it ended with code {done.returncode}")
    spans: list[list[Span]] = marshal.loads(done.stdout)
    return spans


def spans_of(pattern: re.Pattern[str], line: str) -> list[Span]:
    """Return where a line matches, MAX_SPANS at most."""
    matches = itertools.islice(pattern.finditer(line), MAX_SPANS)
    return [match.span() for match in matches]


def _serve(seconds: float) -> None:
    """Answer one request, within limits of time and memory if the system has such."""
    try:
        import resource  # noqa: PLC0415  of POSIX
        import signal  # noqa: PLC0415

        signal.setitimer(signal.ITIMER_PROF, seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        pass  # the parent ends us
    try:
        text, flags, lines = marshal.load(sys.stdin.buffer)
        pattern = re.compile(text, flags)
        answer = marshal.dumps([spans_of(pattern, line) for line in lines])
    except MemoryError:
        sys.exit(_OUT_OF_MEMORY)
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    _serve(float(sys.argv[1]))
