"""What of a conversation is kept already: told by ids, by times, or by the order.

A message with an id or a time of its own is known wherever it stands. One without is
known by its place in what was said, never by its text alone: the same answer to
another question is another message.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from filemem.store.imports import NO_PART, Imported

MIN_COMMON_TURNS = 3
"""Turns that two lists must share in order, where they share neither the end of what is
kept nor all of it, for the one to be the other told again."""


@dataclass(frozen=True)
class Overlap:
    """How a list of turns goes on from what is kept.

    Attributes:
        known: how many of the turns, from the first one on, are kept already.
        behind: the place among what is kept from which the others go on.
    """

    known: int
    behind: int


def find_overlap(keys: Sequence[str], kept: Imported, *, whole: bool) -> Overlap:
    """Find what of a list of turns is kept.

    The list may be all that was said so far, with an end that was said anew; the last
    messages of that, which overlap with the end of what is kept; or what is new alone.

    Args:
        keys: by which the turns are known, in their order.
        kept: the record of what is kept, a tree: what was said anew branches off.
        whole: the list is known to begin where the conversation did.
    """
    last = len(kept.parts) - 1
    start = _follow(keys, kept)
    reaches_end = start.behind not in kept.parents
    if start.known and (whole or reaches_end or start.known >= MIN_COMMON_TURNS):
        return start
    chain = list[str]()
    place = last
    while place != NO_PART:
        chain.append(kept.parts[place])
        place = kept.parents[place]
    chain.reverse()
    for length in range(min(len(keys), len(chain)), 0, -1):
        if keys[:length] == chain[-length:]:
            return Overlap(length, last)
    if len(keys) >= MIN_COMMON_TURNS:
        for begin in range(len(chain) - len(keys)):
            if keys == chain[begin : begin + len(keys)]:
                return Overlap(len(keys), last)
    return Overlap(0, last)


def _follow(keys: Sequence[str], kept: Imported) -> Overlap:
    """Go down from the first part as far as the turns do."""
    children = dict[tuple[int, str], int]()
    for place, part in enumerate(kept.parts):
        children.setdefault((kept.parents[place], part), place)
    place = NO_PART
    for known, key in enumerate(keys):
        child = children.get((place, key))
        if child is None:
            return Overlap(known, place)
        place = child
    return Overlap(len(keys), place)
