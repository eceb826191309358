"""Two changes of one text made one, line by line, where git finds them too close to each other.

To git, changes of neighbouring lines meet, and so do lines that both sides have added in one place. Here the former are both
made and the latter all kept, ours first; only two changes of the same lines meet, and two values of a key. Both then stand
in the file, between marks that are the same on every machine, until a person has put it right.
"""

import difflib
import re
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import Problem
from filemem.files import config
from filemem.files.memory import METADATA_KEYS

HERE, THERE = "<<<<<<< one version", ">>>>>>> the other version"
LONGEST = 5000  # lines that are compared, as the time may grow with their square
_KEY = re.compile(rb"([\w-]+)[ \t]*:")
_OURS = b"episode: {"  # how a line begins that the program can write anew: either will do, the same everywhere
_MARK = re.compile(r"(?:# )?(<<<<<<< |=======\r?$|>>>>>>> )")
_PARTICULAR = re.compile(rf"(?:{'|'.join(sorted(METADATA_KEYS))})[ \t]*:")


class Hunk(NamedTuple):
    """A change by one side: the lines `start` to `end` of the base, counted from 0, became `new`."""

    start: int
    end: int
    side: int
    new: list[bytes]


def merge(ours: bytes, base: bytes | None, theirs: bytes, *, marks: bool = False) -> bytes | None:
    """Both changes to `base` in one text; where they meet, both between marks, None without these. Two texts without a base
    meet wherever they differ.

    None also where more lines differ than are compared.
    """
    texts = [text.split(b"\n") for text in (ours if base is None else base, ours, theirs)]
    # First, so that what is added at the end stands before the last newline.
    end = _alike([text[::-1] for text in texts])
    start = _alike([text[: len(text) - end] for text in texts])
    middles = [text[start : len(text) - end] for text in texts]
    if max(map(len, middles)) > LONGEST:
        return None
    out = texts[0][:start]
    for mine, other in [(middles[1], middles[2])] if base is None else _weave(middles[0], middles[1:]):
        if mine == other:
            out += mine
        elif marks:
            out += _marked(mine, other)
        else:
            return None
    return b"\n".join(out + texts[0][len(texts[0]) - end :])


def _alike(texts: list[list[bytes]]) -> int:
    """How many lines all the texts begin with."""
    pairs = zip(*texts, strict=False)
    return next((n for n, lines in enumerate(pairs) if len(set(lines)) > 1), min(map(len, texts)))


def _weave(base: list[bytes], sides: list[list[bytes]]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """The text in pieces."""
    at = 0
    for group in _groups(sorted(hunk for side, text in enumerate(sides) for hunk in _hunks(base, text, side))):
        start, end = group[0].start, max(hunk.end for hunk in group)
        yield base[at:start], base[at:start]
        ours, theirs = (_told(base, [hunk for hunk in group if hunk.side == side], start, end) for side in (0, 1))
        changed = {hunk.side for hunk in group}
        if len(changed) == 1:
            ours = theirs = theirs if changed == {1} else ours
        elif start == end and not _keys(ours, theirs) & _keys(theirs, ours):
            ours = theirs = [
                line for one, more in _pieces(ours, theirs) for line in (one if one == more else one + more)
            ]
        elif all(line.startswith(_OURS) for line in (*ours, *theirs)) and len(ours) == len(theirs) == 1:
            ours = theirs = max(ours, theirs)
        yield ours, theirs
        at = end
    yield base[at:], base[at:]


def _hunks(base: list[bytes], text: list[bytes], side: int) -> Iterator[Hunk]:
    for tag, start, end, first, last in difflib.SequenceMatcher(None, base, text, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Hunk(start, end, side, text[first:last])


def _groups(hunks: list[Hunk]) -> Iterator[list[Hunk]]:
    """The changes in their order, those that overlap together: in a line of the base, or as additions in one place."""
    group: list[Hunk] = []
    for hunk in hunks:
        end = max((other.end for other in group), default=0)
        if group and hunk.start >= end and not group[0][:2] == hunk[:2] == (end, end):
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _told(base: list[bytes], hunks: list[Hunk], start: int, end: int) -> list[bytes]:
    """The lines `start` to `end` of the base with some changes made."""
    out = []
    for hunk in hunks:
        out += base[start : hunk.start] + hunk.new
        start = hunk.end
    return out + base[start:end]


def _keys(lines: list[bytes], others: list[bytes]) -> set[bytes]:
    """The keys, as of front matter, whose lines are not among the others."""
    return {match[1] for line in lines if line not in others and (match := _KEY.match(line))}


def _pieces(ours: list[bytes], theirs: list[bytes]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Two texts by turns alike and different; they are not alike by empty lines alone."""
    matcher = difflib.SequenceMatcher(lambda line: not line.strip(), ours, theirs, autojunk=False)
    for _, start, end, first, last in matcher.get_opcodes():
        yield ours[start:end], theirs[first:last]


def _marked(mine: list[bytes], other: list[bytes]) -> Iterator[bytes]:
    """Two versions between marks, what they share aside; the marks end as the lines do."""
    tail = b"\r" if any(line.endswith(b"\r") for line in (*mine, *other)) else b""
    for ours, theirs in _pieces(mine, other):
        if ours == theirs:
            yield from ours
        else:
            yield from (HERE.encode() + tail, *ours, b"=======" + tail)
            yield from (*theirs, THERE.encode() + tail)


# -- what stands in a file twice -----------------------------------------------------------------------------------


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


def commented(path: str, merged: bytes) -> bytes:
    """Merged bytes where of settings, and of front matter that says nothing to search for, the other version is a comment:
    else no key of the file would count any more.
    """
    lines = merged.decode("latin-1").split("\n")
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


def has_doubled_lines(data: bytes) -> bool:
    """Has a merge left two versions of some lines in these bytes?"""
    return any(_places(data.decode("latin-1").split("\n")))
