"""Lines of a file that are to say nothing more: their text goes and the lines stay, so that each `path:line` still holds.

A line is told by its bytes, whatever the encoding: all but UTF-16 have ASCII's line ends and marks in common.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from filemem.errors import Refused
from filemem.files.passages import TURN_HEAD
from filemem.forgetting.wording import FORGOTTEN

_ITEM = r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+(?:\[[ xX]\][ \t]+)?)?"
_KEPT = re.compile(rf"\ufeff?(?:{TURN_HEAD.pattern}[ ]?|{_ITEM})")
_KEY = re.compile(r"\ufeff?[\w\"'-]+[ \t]*:[ \t]*")


class Cut(NamedTuple):
    """Lines from `line` on (counted from 1) as they are, and what the first becomes; the others become empty."""

    line: int
    old: tuple[str, ...]
    new: str


def cut(data: bytes, line: int, end: int, *, gone: bool = False) -> Cut:
    """Lines `line` to `end` of a file; what shows that the first is a turn, an item or a heading stays, unless it is `gone`."""
    old = tuple(_lines(data)[line - 1 : end])
    first = old[0].removesuffix("\r")
    mark = _KEPT.match(first)
    kept = (mark[0] if mark else "").rstrip() if not gone else ""
    return Cut(line, old, "" if gone else f"{kept} {FORGOTTEN}".lstrip())


def key_cut(data: bytes, line: int, word: str) -> Cut:
    """A line of front matter, which keeps its key and gets a plain word as its value."""
    old = _lines(data)[line - 1]
    key = _KEY.match(old)
    return Cut(line, (old,), f"{key[0] if key else '# '}{word}")


def apply(data: bytes, cuts: Iterable[Cut]) -> bytes:
    """The file without what the cuts hold, where their lines are now: a person may have moved them meanwhile."""
    lines = _lines(data)
    for wanted in cuts:
        for start in _places(lines, wanted):
            for number, old in enumerate(wanted.old):
                end = "\r" if old.endswith("\r") else ""
                lines[start + number] = (wanted.new if number == 0 else "") + end
    codec = _codec(data)
    return "\n".join(lines).encode(codec, "surrogatepass" if codec != "latin-1" else "strict")


def _places(lines: list[str], wanted: Cut) -> list[int]:
    """Where the lines of a cut begin, from 0: at their number, else wherever the same lines stand."""
    count = len(wanted.old)
    if tuple(lines[wanted.line - 1 : wanted.line - 1 + count]) == wanted.old:
        return [wanted.line - 1]
    return [at for at in range(len(lines) - count + 1) if tuple(lines[at : at + count]) == wanted.old]


def _codec(data: bytes) -> str:
    return {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "latin-1")


def _lines(data: bytes) -> list[str]:
    """The lines, each with its \\r; raises Refused for UTF-16 that is broken."""
    codec = _codec(data)
    try:
        return data.decode(codec, "surrogatepass" if codec != "latin-1" else "strict").split("\n")
    except UnicodeDecodeError:
        raise Refused("the file is broken UTF-16; save it as UTF-8, then try again.") from None
