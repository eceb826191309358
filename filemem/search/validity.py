"""When what a memory says is so, by its front matter."""

import datetime as dt
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from filemem.store.fields import texts
from filemem.store.paths import when_of
from filemem.text.dayrange import DayRange
from filemem.text.plain import one_line

if TYPE_CHECKING:  # grep does without the index
    from filemem.index import IndexedFile

CERTAIN = 0.7  # the confidence below which a memory is marked
FIRST_DAY = dt.date.min.toordinal()
LAST_DAY = dt.date.max.toordinal()
_ALWAYS = DayRange(FIRST_DAY, LAST_DAY)
_INTERVAL = frozenset(("valid_from", "valid_until", "supersedes", "superseded_by"))
_LIMITS = _INTERVAL | {"status"}


class Validity(Enum):
    """Whether what a memory says is so."""

    HOLDS = "nothing speaks against it"
    DOUBTFUL = "its confidence is low"
    PAST = "another memory has replaced it, or it is deprecated"


def held_days(entry: "IndexedFile") -> DayRange:
    """Return the days on which a memory holds; an end that is not known is open.

    One that replaced another holds from its own date on, one that was replaced until
    the day before it was. An event stays true: `valid_until` is its last day.
    """
    if _LIMITS.isdisjoint(entry.particulars):
        return _ALWAYS
    first = _day(entry, "valid_from") or FIRST_DAY
    if first == FIRST_DAY and entry.particulars.get("supersedes"):
        first = entry.date or FIRST_DAY
    last = LAST_DAY
    if not entry.event_day:
        last = _day(entry, "valid_until") or LAST_DAY
    replaced_by = successor(entry)
    if replaced_by:
        when = when_of(replaced_by)
        if when:
            last = min(last, when.date.toordinal() - 1)
        elif last == LAST_DAY:
            last = FIRST_DAY - 1  # nobody knows when it ended
    elif fate(entry.particulars):
        last = FIRST_DAY
    return DayRange(first, last)


def tells_of(entry: "IndexedFile", days: Iterable[DayRange]) -> bool:
    """Say whether front matter tells of some days: of an event, or what held.

    Args:
        entry: a file.
        days: those asked for. An interval counts if it has one of them; an end that is
            not known is open.
    """
    event = event_days(entry)
    if event:
        return any(map(event.overlaps, days))
    if _INTERVAL.isdisjoint(entry.particulars):
        return False
    return any(map(held_days(entry).overlaps, days))


def event_days(entry: "IndexedFile") -> DayRange | None:
    """Return the days of the event that a file tells of; None if it is of none."""
    if not entry.event_day:
        return None
    return DayRange(entry.event_day, _day(entry, "valid_until") or entry.event_day)


def validity_of(entry: "IndexedFile", day: dt.date) -> Validity:
    """Return whether what a memory says is so on a day."""
    if fate(entry.particulars) and held_days(entry).last < day.toordinal():
        return Validity.PAST
    if float(entry.particulars.get("confidence", CERTAIN)) < CERTAIN:
        return Validity.DOUBTFUL
    return Validity.HOLDS


def fate(front: Mapping[str, Any]) -> str:
    """Return what has become of a memory that tells what was; '' if nothing has.

    Args:
        front: the well-formed values of its front matter.
    """
    newer = front.get("superseded_by")
    if newer:
        return f"superseded by {one_line(newer)}"
    return str(front.get("status", ""))


def held_note(entry: "IndexedFile", day: dt.date) -> str:
    """Say in a heading's words when a memory holds; '' if that is not known.

    Of one that replaced another that is its own date, said only before that day. The
    day on which an appointment was moved is not said, as it would pass for its own.
    """
    held = held_days(entry)
    today = day.toordinal()
    since = None
    if "valid_from" in entry.particulars or today < held.first:
        since = dt.date.fromordinal(held.first)
    if entry.event_day or not FIRST_DAY < held.last < LAST_DAY:
        return f"holds from {since}" if since else ""
    until = dt.date.fromordinal(held.last)
    if since:
        return f"held {since} to {until}"
    return f"held until {until}" if held.last < today else f"holds until {until}"


def successor(entry: "IndexedFile") -> str:
    """Return the path of what replaced a memory; '' if nothing did.

    It is as the front matter names it, whether or not such a memory is there.
    """
    return str(entry.particulars.get("superseded_by") or "")


def named(entry: "IndexedFile", key: str) -> tuple[str, ...]:
    """Return the places that a key of the front matter names, one or a list of them."""
    return tuple(texts(entry.particulars.get(key)))


def _iso(entry: "IndexedFile", key: str) -> str:
    """Return the day in a key of the front matter, in ISO form; '' if it has none."""
    return str(entry.particulars.get(key) or "")[:10]


def _day(entry: "IndexedFile", key: str) -> int:
    """Return the day in a key of the front matter, as an ordinal; 0 if it has none."""
    try:
        return dt.date.fromisoformat(_iso(entry, key)).toordinal()
    except ValueError:
        return 0
