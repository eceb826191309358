"""Two versions of the same lines in one file, as a merge leaves them: found, and named as a problem with its remedy."""

import re
from collections.abc import Iterator

from filemem.errors import Problem
from filemem.files import config
from filemem.files.memory import METADATA_KEYS

HERE, THERE = "one version", "the other version"  # what stands behind the marks, the same on every machine
_MARK = re.compile(r"(?:# )?(<<<<<<< |=======\r?$|>>>>>>> )")
_PARTICULAR = re.compile(rf"(?:{'|'.join(sorted(METADATA_KEYS))})[ \t]*:")


def problems(path: str, lines: list[str]) -> Iterator[Problem]:
    """A problem for each place where a file has two versions; both are read and searched like any other line."""
    for start, _, end in _places(lines):
        what = f"two versions of the same lines stand here, to line {end + 1}"
        yield Problem(path, start + 1, what, "keep what is right and delete the three lines of marks")


def _places(lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """The lines, from 0, of the marks before, between and behind two versions."""
    start = between = -1
    for number, line in enumerate(lines):
        match = _MARK.match(line)
        mark = match[1][0] if match else ""
        if mark == "<":
            start, between = number, -1
        elif mark == "=" and start >= 0:
            between = number
        elif mark == ">" and between > start >= 0:
            yield start, between, number
            start = -1


def marked(path: str, merged: bytes, ours: str, theirs: str) -> bytes:
    """Merged bytes with plain words behind the marks in the place of the commits' names.

    Of settings, and of front matter that says nothing to search for, the other version becomes a comment: else no key of
    the file would count any more.
    """
    text = merged.decode("latin-1")
    for mark, name, words in (("<<<<<<<", ours, HERE), (">>>>>>>", theirs, THERE)):
        text = re.sub(rf"^{mark} {re.escape(name)}(?=\r?$)", f"{mark} {words}", text, flags=re.MULTILINE)
    lines = text.split("\n")
    settings = path.rpartition("/")[2] == config.NAME
    front = len(lines) if path.endswith((".yaml", ".yml")) else _front_end(lines)
    for start, between, end in list(_places(lines)):
        versions = [*lines[start + 1 : between], *lines[between + 1 : end]]
        if settings or (end < front and all(map(_PARTICULAR.match, versions))):
            for number in (start, *range(between, end + 1)):
                lines[number] = f"# {lines[number]}"
    return "\n".join(lines).encode("latin-1")


def _front_end(lines: list[str]) -> int:
    """The line, from 0, that ends a front matter; 0 where there is none."""
    bare = [line.rstrip() for line in lines]
    return bare.index("---", 1) if bare[0] == "---" and "---" in bare[1:] else 0


def doubled(data: bytes) -> bool:
    """Has a merge left two versions of some lines in these bytes?"""
    return any(_places(data.decode("latin-1").split("\n")))
