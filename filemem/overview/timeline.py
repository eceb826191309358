"""What happened when: memories in the order of the days that they tell of, each with the days for which it held."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, Passage, only_asked
from filemem.text.dates import Span, mentioned, nearest, one_day

_DAY = re.compile(r"\d|[一二三四五六七八九十][日号]")  # "at Christmas" and "in May" say too little of a day
MOST = 2_000  # characters of a passage that say what happened
LONGEST = 31  # days of a span that dates an event; "in 2023" says too little of a day


class Event(NamedTuple):
    """What a memory tells of `span`, the day or days of it; `until` is the day on which it ceased to hold."""

    span: Span
    until: dt.date | None
    text: str
    path: str
    line: int
    archived: bool

    def day(self) -> str:
        """The day as a timeline shows it: `2026-05-08`, or `2026-05` for a whole month."""
        whole = self.span.start.day == 1 and (self.span.end + dt.timedelta(1)).day == 1 < self.span.end.day
        return f"{self.span.start:%Y-%m}" if whole else f"{self.span.start}"

    def as_json(self) -> dict[str, Any]:
        """For a script."""
        shown = {"date": self.span.start, "end": self.span.end, "until": self.until, "text": self.text}
        return {**shown, "path": self.path, "line": self.line, "archived": self.archived}


def timeline(folder: Folder, wanted: Callable[[str], bool], days: tuple[int, int] | None = None) -> list[Event]:
    """The events of the memories whose live path is `wanted`, within some days, given as ordinals, if any; oldest first."""
    found = [event for path in folder.paths() if wanted(path) for event in _events(folder, path)]
    if days:
        first, last = map(dt.date.fromordinal, days)
        found = [event for event in found if event.span.end >= first and event.span.start <= last]
    return sorted(found, key=lambda event: (event.span.start, event.span.end, event.path, event.line))


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
    text = plain(" ".join(passage.text[: MOST + 1].split()))
    text = text if len(passage.text) <= MOST else text[:MOST] + "…"
    text = f"{passage.speaker}: {text}" if passage.speaker else text
    yield Event(_told_of(memory, passage, passage.day or when.date), until, text, path, passage.line, memory.archived)


def _told_of(memory: Memory, passage: Passage, day: dt.date) -> Span:
    """The days that a memory tells of: since when it holds, else the first date that it names, else its own."""
    since = memory.particular("valid_from")
    if since:
        return one_day(since)
    if memory.kind == "sessions":
        return one_day(day)
    text = passage.text[:MOST]
    named = (
        nearest(mention, day)
        for mention in mentioned(text, day)
        if mention.annotated or (not mention.relative and _DAY.search(text, mention.start, mention.end))
    )
    return next((span for span in named if (span.end - span.start).days <= LONGEST), one_day(day))
