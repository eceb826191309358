"""A person's own patterns, of their settings: what else is a secret, and what is none.

They are matched on pieces of PIECE characters, each of which overlaps the next by half, and one that could take more than STEPS
steps at one place is refused. So no pattern makes the work grow other than with the length of the text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from filemem.text import expression

# Characters of a line in which a pattern is looked for at a time; no longer secret of one's own is found whole.
PIECE = 400
STEPS = 8_000  # of matching at one place of such a piece, at worst
LONGEST = 1_000  # characters of a pattern


class OwnPatterns(NamedTuple):
    """What is taken out besides, and what is not taken out if it is the whole of what was found."""

    also: tuple[re.Pattern[str], ...] = ()
    never: tuple[re.Pattern[str], ...] = ()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the patterns of `also` match, line by line, in order; what overlaps is one."""
        start = end = 0
        for first, last in sorted(place for pattern in self.also for place in _places(pattern, text)):
            if first >= end:
                if end:
                    yield start, end
                start = first
            end = max(end, last)
        if end:
            yield start, end

    def allows(self, secret: str) -> bool:
        """Is this, which was taken for a secret, none?"""
        return len(secret) <= PIECE and any(pattern.fullmatch(secret) for pattern in self.never)


NONE = OwnPatterns()


@lru_cache
def own(also: Sequence[str], never: Sequence[str]) -> OwnPatterns:
    """The patterns as they are written in settings; each was checked by `wrong`."""
    return OwnPatterns(tuple(map(re.compile, also)), tuple(map(re.compile, never)))


def wrong(pattern: str) -> str:
    """Why a pattern cannot be used, with a remedy; empty where it can."""
    if len(pattern) > LONGEST:
        return f"has {len(pattern):,} characters; use at most {LONGEST:,}"
    try:
        nodes = expression.parse(pattern, 0)
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression ({error}); to mean a sign itself write \\ before it"
    if compiled.match(""):
        return "matches nothing at all, hence everywhere; write + for *"
    if expression.weight(nodes) > STEPS * PIECE or expression.cost(nodes, PIECE)[1] > STEPS:
        return "may take too long; bound its repeats: \\w{1,40} for \\w+, and none inside another"
    return ""


def _places(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Every match in a piece of a line; one that reaches into the next piece comes in two parts that overlap."""
    at = 0
    for line in text.splitlines(keepends=True):
        for first in range(at, at + max(1, len(line) - PIECE // 2), PIECE // 2):
            last = min(first + PIECE, at + len(line.rstrip("\n")))
            yield from (match.span() for match in pattern.finditer(text, first, last) if match.end() > match.start())
        at += len(line)
