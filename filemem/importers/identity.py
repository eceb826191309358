"""What of a conversation is kept already: told by ids, by times, or by the order.

A message with an id or a time of its own is known wherever it stands. One without is
known by its place in what was said, never by its text alone: the same answer to
another question is another message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from filemem.store.imports import NO_PART, Imported

MIN_COMMON_TURNS = 3
"""Turns that two lists must share in order, where they share neither the end of what is
kept nor all of it, for the one to be the other told again."""

# As records of before have it: a digest of the words, and how often they were said.
_COUNTED_DIGEST = re.compile(r"([0-9a-f]{16})-\d+")


@dataclass(frozen=True)
class TurnKey:
    """By what a turn is known again.

    Attributes:
        part: what the record has for it.
        former: what records of earlier versions have for it; may be empty.
        certain: an id or a time of its own tells it from every other.
        unique: the id tells it from those of other conversations, too.
    """

    part: str
    former: str = ""
    certain: bool = False
    unique: bool = False


@dataclass(frozen=True)
class Overlap:
    """How a list of turns goes on from what is kept.

    Attributes:
        known: how many of the turns, from the first one on, are kept already.
        behind: the place among what is kept from which the others go on.
    """

    known: int
    behind: int


def find_overlap(keys: Sequence[TurnKey], kept: Imported, *, whole: bool) -> Overlap:
    """Find what of a list of turns is kept.

    The list may be all that was said so far, with an end that was said anew; the last
    messages of that, which overlap with the end of what is kept; or what is new alone.

    Args:
        keys: of the turns, in their order.
        kept: the record of what is kept.
        whole: the list is known to begin where the conversation did.
    """
    last = len(kept.parts) - 1
    tree = _Tree(kept)
    start = tree.follow(keys)
    if start.known and (
        whole or start.known >= MIN_COMMON_TURNS or start.behind not in kept.parents
    ):
        return start
    chain = tree.chain_to(last)
    for length in range(min(len(keys), len(chain)), 0, -1):
        if _all_alike(keys[:length], chain[-length:]):
            return Overlap(length, last)
    if len(keys) >= MIN_COMMON_TURNS:
        for begin in range(len(chain) - len(keys)):
            if _all_alike(keys, chain[begin : begin + len(keys)]):
                return Overlap(len(keys), last)
    return Overlap(0, last)


def is_prefix_of_other(keys: Sequence[TurnKey], kept: Imported) -> bool:
    """Tell whether one of two lists of turns begins with all of the other."""
    return _all_alike(keys, [_comparable(part) for part in kept.parts])


def _all_alike(keys: Sequence[TurnKey], parts: Sequence[str]) -> bool:
    return all(
        part in (key.part, key.former) for key, part in zip(keys, parts, strict=False)
    )


class _Tree:
    """What is kept as a tree: what was said anew branches off."""

    def __init__(self, kept: Imported) -> None:
        self.parts = [_comparable(part) for part in kept.parts]
        self.parents = kept.parents
        self.children = dict[tuple[int, str], int]()
        for place, part in enumerate(self.parts):
            self.children.setdefault((self.parents[place], part), place)

    def follow(self, keys: Sequence[TurnKey]) -> Overlap:
        """Go down from the first part as far as the turns do."""
        place = NO_PART
        for known, key in enumerate(keys):
            child = self.children.get((place, key.part))
            if child is None:
                child = self.children.get((place, key.former))
            if child is None:
                return Overlap(known, place)
            place = child
        return Overlap(len(keys), place)

    def chain_to(self, place: int) -> list[str]:
        """Return the parts from the first one down to a place."""
        chain = list[str]()
        while place != NO_PART:
            chain.append(self.parts[place])
            place = self.parents[place]
        return chain[::-1]


def _comparable(part: str) -> str:
    counted = _COUNTED_DIGEST.fullmatch(part)
    return counted[1] if counted else part
