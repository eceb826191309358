"""A process that matches lines, so that a pattern which hangs or takes all memory can be given up.

`python -I -S` runs this very file as the child, so it imports the standard library alone. It reads a request, in `marshal`,
the fastest between two runs of one Python, and answers with a byte a line.
"""

import contextlib
import marshal
import re
import sys

MEMORY = 1 << 29  # bytes of address space that matching may take
STARTING = (
    10.0  # seconds that a child may take besides, which say nothing of the pattern
)
_NO_MEMORY = 77  # the exit code of a child that needed more


def match_apart(pattern: str, flags: int, lines: list[str], seconds: float) -> bytes:
    """A byte a line, 1 where it matches, else 0. Raises TimeoutError where that takes more than `seconds` of a processor,
    MemoryError where it takes more than MEMORY, OSError where no process can be started or it fails."""
    import subprocess  # noqa: PLC0415  a tenth of a cold start, which hardly any search need pay

    command, request = (
        [sys.executable, "-I", "-S", __file__, str(seconds)],
        marshal.dumps((pattern, flags, lines)),
    )
    try:
        done = subprocess.run(
            command,
            input=request,
            capture_output=True,
            timeout=seconds + STARTING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    if done.returncode == _NO_MEMORY:
        raise MemoryError
    if done.returncode < 0:  # ended by a signal: that of its timer
        raise TimeoutError
    if done.returncode or len(done.stdout) != len(lines):
        raise OSError(f"it ended with code {done.returncode}")
    return done.stdout


def _serve(seconds: float) -> None:
    """The child: answer one request in so many seconds and so much memory. A system that knows no such limits leaves it to the
    parent to end us; elsewhere we end though the parent has died."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource  # noqa: PLC0415  of POSIX
        import signal  # noqa: PLC0415

        signal.setitimer(signal.ITIMER_PROF, max(0.001, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        pattern, flags, lines = marshal.load(sys.stdin.buffer)
        regex = re.compile(pattern, flags)
        answer = bytes(regex.search(line) is not None for line in lines)
    except MemoryError:
        sys.exit(_NO_MEMORY)
    sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    _serve(float(sys.argv[1]))
