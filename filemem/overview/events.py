"""What happened when, as memories tell it."""

import calendar
import datetime as dt
from collections.abc import Iterable, Iterator
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
        _, days = calendar.monthrange(self.date.year, self.date.month)
        is_month = self.date.day == 1 and (self.end - self.date).days + 1 == days
        return f"{self.date:%Y-%m}" if is_month else f"{self.date}"


def timeline(
    folder: Folder, paths: Iterable[str], days: DayRange | None = None
) -> list[Event]:
    """Return the events that memories tell of, oldest first.

    Args:
        folder: whose memories.
        paths: of those to look at.
        days: the days asked for; None for all.
    """
    events = []
    for path in paths:
        for event in _events(folder, path):
            if days is None or _is_within(event, days):
                events.append(event)
    events.sort(key=lambda event: (event.date, event.end, event.path, event.line))
    return events


def _is_within(event: Event, days: DayRange) -> bool:
    """Tell whether an event touches some days."""
    return days.overlaps(DayRange(event.date.toordinal(), event.end.toordinal()))


def _events(folder: Folder, path: str) -> Iterator[Event]:
    """Yield what a memory tells of each day: a passage for each date that it names.

    Of its own day it is the first passage that was not forgotten. A passage without a
    date, or a memory that cannot be read, tells of none.
    """
    memory = folder.find(path)
    if memory is None:
        return
    until = memory.metadata.get("valid_until")
    seen = set()
    for passage in memory.passages:
        own_day = passage.day or memory.date
        if own_day is None or passage.text == FORGOTTEN:
            continue
        text = plain(one_line(passage.text, MAX_TEXT_CHARS))
        if passage.speaker:
            text = f"{passage.speaker}: {text}"
        for span in _spans_told(memory, passage, own_day):
            if span not in seen:
                yield Event(*span, until, text, path, passage.line, memory.archived)
        seen.add(one_day(own_day))


def _spans_told(memory: Memory, passage: Passage, own_day: dt.date) -> list[Span]:
    """Return the days that a passage tells of.

    They begin when the memory holds, else with its event, else they are those that the
    text names, else its own day. An event lasts as long as the date in the text which
    begins on its day, else to its `valid_until`.

    Args:
        memory: which has the front matter.
        passage: of it.
        own_day: from which its relative dates count.
    """
    front = memory.metadata
    since = front.get("valid_from")
    if since or memory.kind == Kind.SESSIONS:
        return [one_day(since or own_day)]
    day = front.get("day")
    text = passage.text[:MAX_TEXT_CHARS]
    named = [span for span in settled(text, own_day) if day in (None, span.start)]
    if named or not day:
        return list(dict.fromkeys(named)) or [one_day(own_day)]
    return [Span(day, max(day, front.get("valid_until", day)))]
