"""When what a memory says is so, by its front matter."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from filemem.store.fields import texts
from filemem.store.folder import Folder
from filemem.store.memory import Memory
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import when_of
from filemem.text.dayrange import DayRange
from filemem.text.plain import one_line

if TYPE_CHECKING:  # grep does without the index
    from filemem.index import IndexedFile

CERTAIN = 0.7  # the confidence below which a memory is marked
REPLACED_CHARS = 80  # of what a memory replaced, in its heading
FIRST_DAY = dt.date.min.toordinal()
LAST_DAY = dt.date.max.toordinal()
_ALWAYS = DayRange(FIRST_DAY, LAST_DAY)
_INTERVAL = frozenset(("valid_from", "valid_until", "supersedes", "superseded_by"))
_LIMITS = _INTERVAL | {"status"}


def held_days(entry: "IndexedFile") -> DayRange:
    """Return the days on which a memory holds; an end that is not known is open.

    One that replaced another holds from its own date on, one that was replaced until
    the day before it was. An event stays true: `valid_until` is its last day.
    """
    return _held(entry.particulars, entry.date)


def _held(front: Mapping[str, Any], own_day: int) -> DayRange:
    """Return the same by front matter and a file's own day, as an ordinal or 0."""
    if _LIMITS.isdisjoint(front):
        return _ALWAYS
    first = _day(front, "valid_from") or FIRST_DAY
    if first == FIRST_DAY and front.get("supersedes"):
        first = own_day or FIRST_DAY
    last = LAST_DAY
    if not _day(front, "day"):
        last = _day(front, "valid_until") or LAST_DAY
    if front.get("superseded_by"):
        replaced = _replaced(front)
        if replaced:
            last = min(last, replaced - 1)
        elif last == LAST_DAY:
            last = FIRST_DAY - 1  # nobody knows when it ended
    elif fate(front):
        last = FIRST_DAY
    return DayRange(first, last)


def _replaced(front: Mapping[str, Any]) -> int:
    """Return the day of what replaced a memory, as an ordinal; 0 if it has none."""
    when = when_of(str(front.get("superseded_by", "")))
    return when.date.toordinal() if when else 0


def tells_of(entry: "IndexedFile", days: Iterable[DayRange]) -> bool:
    """Say whether front matter tells of some days: of an event, or what held.

    Args:
        entry: a file.
        days: those asked for. An interval counts if it has one of them; an end that is
            not known is open.
    """
    event = event_days(entry.particulars)
    if event:
        return any(map(event.overlaps, days))
    if _INTERVAL.isdisjoint(entry.particulars):
        return False
    return any(map(held_days(entry).overlaps, days))


def event_days(front: Mapping[str, Any]) -> DayRange | None:
    """Return the days of the event that a file tells of; None if it is of none.

    Args:
        front: the well-formed values of its front matter.
    """
    day = _day(front, "day")
    if not day:
        return None
    until = _day(front, "valid_until") or day
    # A plan that was replaced before its day ends there.
    return DayRange(day, max(day, until))


def is_past(entry: "IndexedFile", day: dt.date) -> bool:
    """Say whether another memory has replaced one by a day, or it is deprecated.

    Args:
        entry: the memory's file.
        day: on which it would have to hold; what is replaced later is not past yet.
    """
    return held_days(entry).last < day.toordinal() and bool(fate(entry.particulars))


def fate(front: Mapping[str, Any]) -> str:
    """Return what has become of a memory that tells what was; '' if nothing has.

    Args:
        front: the well-formed values of its front matter.
    """
    newer = front.get("superseded_by")
    if newer:
        return f"superseded by {one_line(newer)}"
    return str(front.get("status", ""))


def held_note(front: Mapping[str, Any], own_day: int) -> str:
    """Say in a heading's words when a memory holds; '' if that is not known.

    Of an event these are its days, and never the one on which it was moved. What was
    replaced held on its own day at least.

    Args:
        front: the well-formed values of its front matter.
        own_day: of its file, as an ordinal; 0 if it has none.
    """
    event = event_days(front)
    if event:
        return f"event of {_dates(event)}"
    held = _held(front, own_day=0)
    if held.last == _replaced(front) - 1:
        held = replace(held, last=max(held.last, own_day))
    if not FIRST_DAY < held.last < LAST_DAY:
        since = front.get("valid_from")
        return f"holds from {since}" if since else ""
    if "valid_from" in front:
        return f"held {_dates(held)}"
    return f"until {dt.date.fromordinal(held.last)}"


def memory_note(memory: Memory) -> str:
    """Say the same of a memory as it is on disk."""
    own_day = memory.date.toordinal() if memory.date else 0
    return held_note(memory.metadata, own_day)


def _dates(days: DayRange) -> str:
    first, last = map(dt.date.fromordinal, (days.first, days.last))
    return f"{first}" if first == last else f"{first} to {last}"


def replaced_note(folder: Folder, front: Mapping[str, Any]) -> str:
    """Say what a memory replaced, in its words, and when that held; or ''."""
    older = folder.find(next(texts(front.get("supersedes")), ""))
    if older is None or not older.passages:
        return ""
    text = older.passages[0].text
    if text in ("", FORGOTTEN):
        return ""
    words = one_line(text, REPLACED_CHARS)
    return f'replaced "{words}" {memory_note(older)}'.strip()


def _day(front: Mapping[str, Any], key: str) -> int:
    """Return the day in a key of the front matter, as an ordinal; 0 if it has none."""
    try:
        return dt.date.fromisoformat(f"{front.get(key)}"[:10]).toordinal()
    except ValueError:
        return 0
