"""What happened when, as memories tell it."""

import calendar
import datetime as dt
from collections.abc import Callable, Iterator
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
    folder: Folder, wanted: Callable[[str], bool], days: DayRange | None = None
) -> list[Event]:
    """Return the events that memories tell of, oldest first.

    Args:
        folder: whose memories.
        wanted: which paths to look at.
        days: the days asked for; None for all.
    """
    events = []
    for path in filter(wanted, folder.paths()):
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

    Of a day that no text names it is the first passage that was not forgotten. A
    passage without a date, or a memory that cannot be read, tells of none.
    """
    memory = folder.find(path)
    if memory is None:
        return
    seen = set()
    for passage in memory.passages:
        own_day = passage.day or memory.date
        if own_day is None or passage.text == FORGOTTEN:
            continue
        text = plain(one_line(passage.text, MAX_TEXT_CHARS))
        if passage.speaker:
            text = f"{passage.speaker}: {text}"
        until = memory.metadata.get("valid_until")
        place = (path, passage.line, memory.archived)
        named = dict.fromkeys(_spans_named(memory, passage, own_day))
        span = _span_of(memory, own_day)
        if not named and span not in seen:
            seen.add(span)
            named = {span: None}
        for start, end in named:
            yield Event(start, end, until, text, *place)


def _spans_named(memory: Memory, passage: Passage, own_day: dt.date) -> Iterator[Span]:
    """Yield the days that a passage names; none where front matter says them better.

    An event lasts as long as the date in the text which begins on its day.
    """
    event_day = memory.metadata.get("day")
    if "valid_from" in memory.metadata or memory.kind == Kind.SESSIONS:
        return
    for span in settled(passage.text[:MAX_TEXT_CHARS], own_day):
        if event_day in (None, span.start):
            yield span


def _span_of(memory: Memory, own_day: dt.date) -> Span:
    """Return the days of a memory by its front matter, else its own day.

    They begin when it holds, else with its event.
    """
    front = memory.metadata
    since = front.get("valid_from")
    if since or "day" not in front:
        return one_day(since or own_day)
    day = front["day"]
    return Span(day, max(day, front.get("valid_until", day)))
