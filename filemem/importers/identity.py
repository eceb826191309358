"""What of a conversation is kept already: told by ids, by times, or by the order.

A message with an id or a time of its own is known wherever it stands. One without is
known by its place in what was said, never by its text alone: the same answer to
another question is another message.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import takewhile

from filemem.store.imports import Imported
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


def turns_of(session: Memory | None) -> list[str]:
    """Return the turns of a session, each in a form that can be compared."""
    return _comparable(session.lines, session.front_end) if session else []


def _comparable(lines: list[str], after: int = 0) -> list[str]:
    return [f"{turn.speaker}\0{turn.text}" for turn in turns(lines, after)]


# -- what is not kept yet --------------------------------------------------------------


@dataclass(frozen=True)
class Fresh:
    """What of a conversation is not kept yet.

    Attributes:
        unrecorded: the turns that the record does not have.
        behind: how many of the recorded parts they go on from; None for all.
        new: those of them that do not stand in the session either.
    """

    unrecorded: list[Turn]
    behind: int | None
    new: list[Turn]


def find_fresh(
    said: list[Turn], record: Imported, there: list[str], *, whole: bool
) -> Fresh:
    """Tell what of a conversation is not kept yet.

    The record says so, whatever became of the turns since; where it is lost, the
    session does.

    Args:
        said: the conversation's turns.
        record: of what is kept, as far as it can be read; without parts if it is lost.
        there: the turns of the session, as written.
        whole: the turns begin where the conversation did.
    """
    if not record.parts:
        written = [turn.as_written() for turn in said]
        return Fresh(
            said, None, said[find_overlap(written, there, whole=whole).known :]
        )
    overlap = Overlap(0)
    if not all(turn.is_certain for turn in said):
        parts = [turn.part for turn in said]
        overlap = find_overlap(parts, record.branch, whole=whole)
    recorded = {known_as(part) for part in record.parts}
    fresh = [
        turn
        for turn in said[overlap.known :]
        if not (turn.is_certain and known_as(turn.part) in recorded)
    ]
    unknown = there[len(record.parts) :]
    return Fresh(fresh, overlap.behind, fresh[_at_end(fresh, unknown) :])


def known_as(part: str) -> str:
    """Return by which part of a part its own conversation knows it."""
    return part.partition("\t")[0]


def _at_end(fresh: list[Turn], unknown: list[str]) -> int:
    """Return with how many of the fresh turns a session ends.

    A run that was killed before it could record them has written them.

    Args:
        fresh: the turns, in their order.
        unknown: the last turns of the session, as written, of which the record does not
            know.
    """
    written = [turn.as_written() for turn in fresh]
    for length in range(min(len(written), len(unknown)), 0, -1):
        if written[:length] == unknown[-length:]:
            return length
    return 0


# -- two lists of turns ----------------------------------------------------------------


@dataclass(frozen=True)
class Overlap:
    """How a list of turns goes on from what is kept.

    Attributes:
        known: how many of the turns, from the first one on, are kept already.
        behind: how many of the kept parts the others go on from; None for all.
    """

    known: int
    behind: int | None = None


def find_overlap(keys: list[str], branch: list[str], *, whole: bool) -> Overlap:
    """Find what of a list of turns is kept.

    The list may be all that was said so far, with an end that was said anew; the last
    messages of that, which overlap with the end of what is kept; or what is new alone.

    Args:
        keys: by which the turns are known, in their order.
        branch: by which those are that were kept.
        whole: the list is known to begin where the conversation did.
    """
    shared = _shared(keys, branch)
    if shared == len(branch):
        return Overlap(shared)
    if shared >= (1 if whole else MIN_COMMON_TURNS):
        return Overlap(shared, shared)
    for length in range(min(len(keys), len(branch)), 0, -1):
        if keys[:length] == branch[-length:]:
            return Overlap(length)
    return Overlap(0)


def begins_alike(keys: list[str], kept: Imported, began: datetime) -> bool:
    """Tell whether a conversation is one that is kept, by an equal beginning.

    One of another day is only where more than its opening is the same: people say
    hello every day. One that was forgotten is by its opening, so that it stays so.
    """
    shared = _shared(keys, kept.branch)
    if shared < min(len(keys), len(kept.branch)):
        return False
    is_forgotten = "/" not in kept.path
    is_same_day = f"{began:%Y-%m-%d}" in kept.path
    return is_same_day or shared >= OPENING_TURNS + (not is_forgotten)


def _shared(keys: list[str], branch: list[str]) -> int:
    """Count the first elements that are the same."""
    pairs = zip(keys, branch, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
