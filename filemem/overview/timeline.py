"""What happened when: memories in the order of the days that they tell of, each with the days for which it held."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, Passage, only_asked
from filemem.text.dates import Span, mentioned, nearest, one_day
from filemem.text.plain import one_line

_DAY = re.compile(r"\d|[一二三四五六七八九十][日号]")  # "at Christmas" and "in May" say too little of a day
MOST = 2_000  # characters of a passage that say what happened
LONGEST = 31  # days of a span that dates an event; "in 2023" says too little of a day


class Event(NamedTuple):
    """What a memory tells of the days from `date` to `end`; `until` is the day on which it ceased to hold."""

    date: dt.date
    end: dt.date
    until: dt.date | None
    text: str
    path: str
    line: int
    archived: bool

    def day(self) -> str:
        """The day as a timeline shows it: `2026-05-08`, or `2026-05` for a whole month."""
        whole = self.date.day == 1 and (self.end + dt.timedelta(1)).day == 1 < self.end.day
        return f"{self.date:%Y-%m}" if whole else f"{self.date}"


def timeline(folder: Folder, wanted: Callable[[str], bool], days: tuple[int, int] | None = None) -> list[Event]:
    """The events of the memories whose live path is `wanted`, within some days, given as ordinals, if any; oldest first."""
    found = [event for path in folder.paths() if wanted(path) for event in _events(folder, path)]
    if days:
        first, last = map(dt.date.fromordinal, days)
        found = [event for event in found if event.end >= first and event.date <= last]
    return sorted(found, key=lambda event: (event.date, event.end, event.path, event.line))


def _events(folder: Folder, path: str) -> Iterator[Event]:
    """The first passage of a memory as an event; none where it has no date at all, or cannot be read."""
    try:
        memory = Memory(path, folder.read(path, LARGEST))
    except (FilememError, OSError):
        return
    when = memory.when
    passage = None if memory.binary else next(iter(memory.passages), None)
    if passage is None or when is None or only_asked(memory):
        return
    until = memory.particular("valid_until")
    text = plain(one_line(passage.text, MOST))
    text = f"{passage.speaker}: {text}" if passage.speaker else text
    span = _told_of(memory, passage, passage.day or when.date)
    yield Event(span.start, span.end, until, text, path, passage.line, memory.archived)


def _told_of(memory: Memory, passage: Passage, day: dt.date) -> Span:
    """The days that a memory tells of: since when it holds, else the first date that it names, else its own."""
    since = memory.particular("valid_from")
    if since or memory.kind == "sessions":
        return one_day(since or day)
    text = passage.text[:MOST]
    named = (
        nearest(mention, day)
        for mention in mentioned(text, day)
        if mention.annotated or (not mention.relative and _DAY.search(text, mention.start, mention.end))
    )
    return next((span for span in named if (span.end - span.start).days <= LONGEST), one_day(day))
