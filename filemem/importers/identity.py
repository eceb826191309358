"""What of a conversation is kept already: told by ids, by times, or by the order.

A message with an id or a time of its own is known wherever it stands. One without is
known by its place in what was said, never by its text alone: the same answer to
another question is another message.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from filemem.store.imports import NO_PART, Imported
from filemem.store.memory import Memory
from filemem.store.passages import format_turn, turns

MIN_COMMON_TURNS = 3
"""Turns that two lists must share in order, where they share neither the end of what is
kept nor all of it, for the one to be the other told again."""

OPENING_TURNS = 2
"""Turns with which conversations of several days may begin alike."""


@dataclass(frozen=True)
class Turn:
    """A turn as it is written.

    Attributes:
        part: by which the record knows it again; behind a tab what a copy of it in
            another conversation has as well.
        is_certain: an id or a time of its own tells it from every other.
        is_unique: its copies have the same part, or end of it.
    """

    speaker: str
    time: datetime | None
    text: str
    part: str
    is_certain: bool
    is_unique: bool

    def line(self, day: date | None = None) -> str:
        """Return it as a list item, with its date where `day` is given."""
        clock = f"{self.time:%H:%M}" if self.time else ""
        return format_turn(self.speaker, clock, self.text, day)

    def as_written(self) -> str:
        """Return what stands for it in a session, whatever its day and time."""
        [written] = _comparable(self.line().split("\n"))
        return written


@dataclass(frozen=True)
class Fresh:
    """What of a conversation is not kept yet.

    Attributes:
        unrecorded: the turns that the record does not have.
        behind: the recorded part that they go on from; None for the last one.
        new: those of them that do not stand in the session either.
    """

    unrecorded: list[Turn]
    behind: str | None
    new: list[Turn]


def find_fresh(
    said: list[Turn], record: Imported, there: list[str], *, whole: bool
) -> Fresh:
    """Tell what of a conversation is not kept yet.

    The record says so, whatever became of the turns since; where it is lost, the
    session does. What a run wrote that was killed before its record stands at the end
    of the session.

    Args:
        said: the conversation's turns.
        record: of what is kept, as far as it can be read; without parts if it is lost.
        there: the turns of the session, as written.
        whole: the turns begin where the conversation did.
    """
    kept = record
    keys = [turn.part for turn in said]
    if not record.parts:
        kept = record.grown("", there, None)
        keys = [turn.as_written() for turn in said]
    overlap = Overlap(0, NO_PART)
    if not (record.parts and all(turn.is_certain for turn in said)):
        overlap = find_overlap(keys, kept, whole=whole)
    recorded = {known_as(part) for part in record.parts}
    fresh = list[Turn]()
    for turn in said[overlap.known :]:
        if not (turn.is_certain and known_as(turn.part) in recorded):
            fresh.append(turn)
    if not record.parts:
        return Fresh(said, None, fresh)
    behind = None
    if NO_PART < overlap.behind < len(record.parts) - 1:
        behind = record.parts[overlap.behind]
    unknown = len(there) - len(record.parts)
    return Fresh(fresh, behind, fresh[_at_end(fresh, there, unknown) :])


def known_as(part: str) -> str:
    """Return by which part of a part its own conversation knows it."""
    return part.partition("\t")[0]


def _at_end(new: list[Turn], there: list[str], unknown: int) -> int:
    """Return how many of the turns stand at the end of a session.

    A run that was killed has written them, behind what was said otherwise before.

    Args:
        new: the turns, in their order.
        there: those of the session, as written.
        unknown: how many of the session's turns are none that is known by now.
    """
    lines = [turn.as_written() for turn in new]
    for length in range(min(len(new), unknown), 0, -1):
        if lines[:length] == there[-length:]:
            return length
    return 0


def goes_on(keys: list[str], known: Imported, began: datetime) -> bool:
    """Tell whether a conversation is one that is kept, which it may go on.

    One of another day is only where more than its opening is the same: people say
    hello every day. One that was forgotten is by its opening, so that it stays so. A
    history that a client has trimmed begins with the end of what is kept.
    """
    shared = min(len(known.parts), len(keys))
    if keys[:shared] == known.parts[:shared]:
        is_forgotten = "/" not in known.path
        is_same_day = f"{began:%Y-%m-%d}" in known.path
        return is_same_day or shared >= OPENING_TURNS + (not is_forgotten)
    overlap = find_overlap(keys, known, whole=False)
    is_at_end = overlap.behind == len(known.parts) - 1
    return is_at_end and overlap.known >= OPENING_TURNS


# -- two lists of turns ---------------------------------------------------------------


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


# -- turns as a session has them -----------------------------------------------------


def as_lines(said: Sequence[Turn], day: date | None) -> str:
    """Return turns as a transcript goes on with them behind a turn of `day`.

    Each of another day than the last has its date.
    """
    lines = []
    for turn in said:
        own_day = turn.time.date() if turn.time else day
        lines.append(turn.line(own_day if own_day != day else None))
        day = own_day
    return "".join(lines)


def _comparable(lines: list[str], after: int = 0) -> list[str]:
    """Return each turn of a transcript in a form that can be compared."""
    return [f"{turn.speaker}\0{turn.text}" for turn in turns(lines, after)]


def turns_of(session: Memory | None) -> list[str]:
    """Return the turns of a session, each in a form that can be compared."""
    return _comparable(session.lines, session.front_end) if session else []
