"""What happened when, as memories tell it."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from filemem.store.facts import plain
from filemem.store.folder import Folder
from filemem.store.memory import Memory
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import Kind
from filemem.text.dates import settled
from filemem.text.dayrange import DayRange
from filemem.text.plain import one_line
from filemem.text.spans import Span, one_day

MAX_TEXT_CHARS = 2_000  # of a passage that say what happened


@dataclass(frozen=True)
class Event:
    """What a memory tells of some days.

    Attributes:
        date: the first of them.
        end: the last.
        until: the day on which it ceased to hold, if it did.
        text: what it tells, on one line.
        path: of the memory.
        line: of the passage.
        archived: whether the memory lies in the archive.
    """

    date: dt.date
    end: dt.date
    until: dt.date | None
    text: str
    path: str
    line: int
    archived: bool

    def day(self) -> str:
        """Return the day as a timeline shows it: `2026-05-08`, or `2026-05`."""
        is_month_end = (self.end + dt.timedelta(1)).day == 1
        if self.date.day == 1 and is_month_end and self.end.day > 1:
            return f"{self.date:%Y-%m}"
        return f"{self.date}"


def timeline(
    folder: Folder, wanted: Callable[[str], bool], days: DayRange | None = None
) -> list[Event]:
    """Return the events that memories tell of, oldest first.

    Args:
        folder: whose memories.
        wanted: which paths to look at.
        days: the days asked for; None for all.
    """
    events = []
    for path in folder.paths():
        event = _event(folder, path) if wanted(path) else None
        if event and (days is None or _is_within(event, days)):
            events.append(event)
    events.sort(key=lambda event: (event.date, event.end, event.path, event.line))
    return events


def _is_within(event: Event, days: DayRange) -> bool:
    """Tell whether an event touches some days."""
    return days.overlaps(DayRange(event.date.toordinal(), event.end.toordinal()))


def _event(folder: Folder, path: str) -> Event | None:
    """Return a memory's first passage that was not forgotten, as an event.

    A memory without a date, or one that cannot be read, has none.
    """
    memory = folder.find(path)
    if memory is None or memory.date is None:
        return None
    for passage in memory.passages:
        if passage.text == FORGOTTEN:
            continue
        text = plain(one_line(passage.text, MAX_TEXT_CHARS))
        if passage.speaker:
            text = f"{passage.speaker}: {text}"
        span = _span_told(memory, passage, passage.day or memory.date)
        until = memory.metadata.get("valid_until")
        archived = memory.archived
        return Event(span.start, span.end, until, text, path, passage.line, archived)
    return None


def _span_told(memory: Memory, passage: Passage, own_day: dt.date) -> Span:
    """Return the days that a memory tells of.

    They begin when it holds, else with its event, else with the first date that it
    names, else on its own day. An event lasts as long as the date in the text which
    begins on its day.
    """
    since = memory.metadata.get("valid_from")
    if since or memory.kind == Kind.SESSIONS:
        return one_day(since or own_day)
    event_day = memory.metadata.get("day")
    text = passage.text[:MAX_TEXT_CHARS]
    for span in settled(text, own_day):
        if event_day in (None, span.start):
            return span
    return one_day(event_day or own_day)
