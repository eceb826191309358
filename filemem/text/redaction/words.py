"""What finds a secret; the words that tell one, from `data/secret-words.txt`, as parts of patterns; and the shadow of a text.

The shadow, in which they are looked for, has as many characters as the text: full-width forms, accents and traditional
Chinese are folded one for one, and what is already redacted is NUL, which no pattern matches. So a place in the shadow is a
place in the text.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from filemem.text import tables

Accepts = Callable[[re.Match[str]], bool]


class Finder(NamedTuple):
    """A kind, a pattern, what else its match must satisfy, and texts of which one must be there, in lower case, if any."""

    kind: str
    pattern: str
    accepts: Accepts
    anchors: tuple[str, ...] = ()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the group that took part stands, if accepted; else the search goes on one character later."""
        pattern, at = re.compile(self.pattern, re.ASCII), 0
        while match := pattern.search(text, at):
            start, end = match.span(match.lastindex or 0)
            at = match.start() + 1
            if start < end and self.accepts(match):
                yield start, end
                at = end


_PLAIN_OF = ("áàâãäåéèêëíìîïóòôõöúùûüñç", "aaaaaaeeeeiiiiooooouuuunc")
_ACCENTS = dict(zip(_PLAIN_OF[0] + _PLAIN_OF[0].upper(), _PLAIN_OF[1] + _PLAIN_OF[1].upper(), strict=True))
_IS = re.compile(r"(?<!\w)[éèÉÈ](?!\w)")  # "is" in Portuguese and Italian, which without its accent would be "and"


@cache
def _table() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for line in tables.lines("secret-words.txt"):
        role, _, words = line.partition(": ")
        table.setdefault(role, []).extend(words.split(", "))
    return table


def words(role: str) -> list[str]:
    """The words that do this in a sentence, folded as a shadow is."""
    return [word.translate(_plain()) for word in _table()[role]]


def roles() -> frozenset[str]:
    """What words can do in a sentence."""
    return frozenset(_table())


def beginnings(role: str) -> tuple[str, ...]:
    """Texts of which one stands, in lower case, in whatever holds a word of this role."""
    return tuple({re.split("[ ']", word)[0] for word in words(role)})


@cache
def any_of(role: str) -> str:
    """A pattern for any word of this role, the longest first; in lower case, for (?i)."""
    found = sorted(set(words(role)), key=len, reverse=True)
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"[ _-]?") for word in found) + ")"


@cache
def one_of(role: str) -> frozenset[str]:
    """The words of a role, to compare with."""
    return frozenset(words(role))


def blanked_text(text: str, done: str) -> str:
    """The text folded, what matches the pattern `done` blanked."""
    folded = text if text.isascii() else _IS.sub("=", text).translate(_plain())
    return blanked(folded, [match.span() for match in re.finditer(done, folded)])


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with NUL for every character of the spans, which are in order."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], "\0" * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


@cache
def _plain() -> dict[int, str]:
    """Full-width letters, digits and signs, the many dashes and spaces, accents and traditional characters: one for one."""
    signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:=-@_"
    table = {ord(sign) + 0xFEE0: sign for sign in signs}
    table.update(dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"))
    table.update(dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x3000], " "))
    table.update({ord(sign): plain for sign, plain in _ACCENTS.items()})
    table.update({ord(pair[0]): pair[1] for pair in _table()["fold"]})
    return table
