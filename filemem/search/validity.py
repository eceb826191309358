"""Whether a memory holds on a day, by its front matter as the index has it."""

import datetime as dt
from enum import Enum

from filemem.index import IndexedFile
from filemem.text.plain import one_line


class Validity(Enum):
    """Whether what a memory says is so on a day."""

    HOLDS = "holds"
    SUPERSEDED = "superseded"
    ENDED = "ended"
    NOT_YET = "not yet"


def validity(entry: IndexedFile, day: dt.date) -> Validity:
    """Say whether a memory holds on `day`."""
    if not entry.particulars:
        return Validity.HOLDS
    if successor(entry, day):
        return Validity.SUPERSEDED
    until = date_of(entry, "valid_until")
    if until and until < day.isoformat():
        return Validity.ENDED
    if day.isoformat() < starts(entry):
        return Validity.NOT_YET
    return Validity.HOLDS


def validity_note(entry: IndexedFile, day: dt.date) -> str:
    """Say in a heading's words why a memory does not hold on `day`; '' if it does."""
    state = validity(entry, day)
    if state is Validity.SUPERSEDED:
        return f"superseded by {one_line(successor(entry, day))}"
    if state is Validity.ENDED:
        return f"held until {date_of(entry, 'valid_until')}"
    if state is Validity.NOT_YET:
        return f"holds from {starts(entry)}"
    return ""


def successor(entry: IndexedFile, day: dt.date) -> str:
    """Return the path of what has replaced a memory by `day`; '' if nothing has."""
    replaced_by = entry.particulars.get("superseded_by")
    if not replaced_by or day.isoformat() < date_of(entry, "valid_until"):
        return ""
    return str(replaced_by)


def starts(entry: IndexedFile) -> str:
    """Return the first day on which a memory holds, in ISO form; '' if unknown.

    One that replaced another holds from its own date on.
    """
    since = date_of(entry, "valid_from")
    if not since and entry.particulars.get("supersedes") and entry.date:
        return dt.date.fromordinal(entry.date).isoformat()
    return since


def date_of(entry: IndexedFile, key: str) -> str:
    """Return the day in a key of the front matter, in ISO form; '' if it has none."""
    return str(entry.particulars.get(key) or "")[:10]


def confidence(entry: IndexedFile) -> float:
    """Return how certain a memory is, from 0 to 1; 1 if it does not say."""
    return float(entry.particulars.get("confidence", 1.0))


def sources(entry: IndexedFile) -> tuple[str, ...]:
    """Return the places, `path:line`, that a memory says it rests on."""
    cited = entry.particulars.get("source") or ()
    if isinstance(cited, list | tuple):
        return tuple(str(place) for place in cited)
    return (str(cited),)
