"""Two versions of the same lines in one file, as a merge leaves them: found, and named as a problem with its remedy."""

from collections.abc import Iterator

from filemem.memory import Memory
from filemem.problems import Problem

_FIRST, _BETWEEN, _LAST = "<<<<<<< ", "=======", ">>>>>>> "
HERE, THERE = "one version", "the other version"  # what stands behind the marks, the same on every machine


def problems(memory: Memory) -> Iterator[Problem]:
    """A problem for each place where a file has two versions; both are read and searched like any other line."""
    start, between = 0, False
    for number, line in enumerate(memory.lines, 1):
        if line.startswith(_FIRST):
            start, between = number, False
        elif start and line == _BETWEEN:
            between = True
        elif start and between and line.startswith(_LAST):
            what = f"two versions of the same lines stand here, to line {number}"
            yield Problem(memory.path, start, what, "keep what is right and delete the three lines of marks")
            start = 0


def relabel(data: bytes, ours: str, theirs: str) -> bytes:
    """Merged bytes with plain words behind the marks in the place of the commits' names."""
    names = {f"{_FIRST}{ours}": _FIRST + HERE, f"{_LAST}{theirs}": _LAST + THERE}
    for old, new in names.items():
        data = data.replace(b"\n" + old.encode() + b"\n", b"\n" + new.encode() + b"\n")
        if data.startswith(old.encode() + b"\n"):
            data = new.encode() + data[len(old.encode()) :]
        if data.endswith(b"\n" + old.encode()):
            data = data[: -len(old.encode())] + new.encode()
    return data
