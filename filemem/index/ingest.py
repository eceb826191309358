"""What the index takes from a memory's file: its passages, window by window."""

import datetime as dt
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from filemem.index import corpus
from filemem.index.corpus import IndexedFile, Stats
from filemem.index.snapshot import Builder
from filemem.store.memory import LARGEST, SOURCE_MARK, Memory, in_iso, parse
from filemem.store.paths import PROFILE, Kind, when_of
from filemem.store.roles import Role
from filemem.text import answers, dates, terms
from filemem.text.dayrange import DayRange
from filemem.text.plain import LINK

PAUSE_MINUTES = 45  # after which what is said no longer replies to what was said before
_TURNS = re.compile(r"\([^()]*\.\w+:\d+(?:,\d+)*\)")  # that a line of a summary retells


def add_file(
    builder: Builder,
    path: str,
    stats: Stats,
    data: bytes | None,
    *,
    is_settled: bool,
) -> None:
    """Add a file to those of a builder.

    Args:
        builder: which is changed.
        path: relative to the user's folder.
        stats: as they were before the file was read.
        data: None if it could not be read; it then has a date, but no passages.
        is_settled: any later change will show in the stats.
    """
    first = builder.next
    memory = parse(path, data or b"")
    particulars: dict[str, Any] = {}
    day_starts: list[tuple[int, int]] = []
    told: list[tuple[int, int, int]] = []
    if data is None or len(data) > LARGEST or memory.binary:
        when = when_of(path)
        date = when.date if when else None
    else:
        date = memory.date
        particulars = _particulars(memory)
        day_starts = _add_passages(builder, memory)
        told = _dates_told(memory)
        event = memory.metadata.get("day")
        if event:  # behind the passages, which were said on other days
            day_starts.append((builder.next - first, event.toordinal()))
    builder.add_file(
        IndexedFile(
            path=path,
            stats=stats,
            is_settled=is_settled,
            date=date.toordinal() if date else 0,
            first=first,
            count=builder.next - first,
            particulars=particulars,
            day_starts=day_starts,
            told=told,
        )
    )


def _particulars(memory: Memory) -> dict[str, Any]:
    """Return the front matter's values, with the names that stand for one thing."""
    groups = [link for link in LINK.findall(memory.text) if link[1]]
    if memory.aliases:
        groups.insert(0, (memory.title, *memory.aliases))
    particulars = in_iso(memory.metadata)
    if groups:
        particulars["names"] = [_folded(group) for group in groups]
    return particulars


def _folded(names: Iterable[str]) -> list[str]:
    """Return names as their folded words, those without any left out."""
    words = [" ".join(terms.words(name)) for name in names]
    return [name for name in words if name]


def _add_passages(builder: Builder, memory: Memory) -> list[tuple[int, int]]:
    """Add the passages of a memory.

    Args:
        builder: which is changed.
        memory: whose passages are added, window by window.

    Returns:
        Where days begin in it, as an IndexedFile has it.
    """
    first = builder.next
    passages = memory.passages
    has_paused = pauses([passage.time for passage in passages])
    speakers = {passage.speaker for passage in passages}
    assistants = {one for one in speakers if memory.role(one) is Role.ASSISTANT}
    mark = _mark_of_source(memory)
    is_summary = memory.kind == Kind.SUMMARIES
    # Each line of these is understood without the one before it.
    stand_alone = is_summary or memory.path == PROFILE
    day_starts: list[tuple[int, int]] = []
    day = None
    for place, start, end in memory.windows:
        passage = passages[place]
        is_new_day = passage.day != day
        if is_new_day:
            day = passage.day
            ordinal = day.toordinal() if day else 0
            day_starts.append((builder.next - first, ordinal))
        text = passage.text[start:end]
        if mark:
            text = mark.sub("", text)  # the words of a path say nothing of the passage
        speech = terms.CAPTION.sub(" ", text)
        flags = 0
        if passage.speaker in assistants:
            flags |= corpus.BY_ASSISTANT
            if answers.tells_of_memory(passage.text):
                flags |= corpus.QUOTES
        # What comes first, or after a pause, replies to nothing.
        begins_anew = place == 0 or is_new_day or has_paused[place]
        if start or begins_anew or stand_alone:
            flags |= corpus.APART
        if terms.ends_in_question(speech):
            flags |= corpus.ASKS
        more = _tokens("\n".join(terms.CAPTION.findall(text)))
        if not is_summary:
            more += _tokens(passage.context)
        builder.add_passage(passage.line, passage.speaker, flags, _tokens(speech), more)
    return day_starts


def _dates_told(memory: Memory) -> list[tuple[int, int, int]]:
    """Return the dates in the texts of a memory, as an IndexedFile has them.

    Those without a year are the nearest to the day on which they were said, and none
    where that is not known. A summary has none, as its lines rank by what they retell.
    """
    found: list[tuple[int, int, int]] = []
    if memory.kind == Kind.SUMMARIES:
        return found
    for number, window in enumerate(memory.windows):
        passage = memory.passages[window.place]
        said_on = passage.day or memory.date or dt.date.min
        text = passage.text[window.start : window.end]
        for span in dates.dates_in(text, said_on):
            if span.start.year > dt.MINYEAR:
                days = DayRange.of(span)
                found.append((number, days.first, days.last))
    return found


def _mark_of_source(memory: Memory) -> re.Pattern[str] | None:
    """Return how passages of a memory name what they retell, if any may.

    A line of a summary names turns, one of the profile a fact.
    """
    if memory.kind == Kind.SUMMARIES:
        return _TURNS
    return SOURCE_MARK if memory.path == PROFILE else None


def _tokens(text: str) -> list[str]:
    """Return the tokens of a text without the stop words.

    A name that hyphens join is there in its parts and as a whole.
    """
    if not text:
        return []
    found = terms.tokens(text) + list(map("".join, terms.compounds(text)))
    return list(itertools.filterfalse(terms.STOP.__contains__, found))


def pauses(times: Sequence[str]) -> list[bool]:
    """Tell of each turn whether it comes PAUSE_MINUTES or longer after the one before.

    So does one that is earlier in the day.

    Args:
        times: of the turns, as `HH:MM`; '' for one that has none.
    """
    clocks = {time: int(time[:-3]) * 60 + int(time[-2:]) for time in set(times) if time}
    found = []
    last = -1  # not known yet
    for time in times:
        clock = clocks.get(time, last)
        found.append(last >= 0 and not 0 <= clock - last < PAUSE_MINUTES)
        last = clock
    return found
