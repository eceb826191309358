"""What the index takes from a memory's file: the tokens of its passages, and what ranking asks of its front matter.

A passage's own words count for its length; those of its context (headings over it, front matter values) are searched along
but don't. Stop words are left out.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from filemem.files.memory import LARGEST, PROFILE, SOURCE_MARK, Memory, is_archived, when_of
from filemem.files.passages import pauses
from filemem.index.snapshot import ARCHIVED, UNREAD, Builder, FileRow, Stats
from filemem.text import terms
from filemem.text.plain import LINK

EPISODES = ("event", "plan")  # values of `kind` of a fact that is over once its day is
RANKED = (
    "importance", "pinned", "source", "valid_from", "valid_until", "supersedes", "superseded_by", "day",
    "confidence", "assistant",
)  # fmt: skip
_SOURCE = re.compile(r"\.\w+:\d+\b")  # a line of another file


def tokenize_file(builder: Builder, path: str, stats: Stats, data: bytes | None, marks: int = 0) -> None:
    """Put a file into the builder, with marks besides those that it has itself; `data` is None where it could not be read."""
    first, memory = builder.next, Memory(path, data or b"")
    marks |= (ARCHIVED if is_archived(path) else 0) | (UNREAD if data is None else 0)
    particulars: dict[str, Any] = {}
    if data is None or len(data) > LARGEST or memory.binary:
        when = when_of(path)
        date = when.date if when else None
    else:
        date, particulars = memory.date, _particulars(memory)
        _tokenize(builder, memory, str(particulars.get("source", "")))
    row = (date.toordinal() if date else 0, marks, first, builder.next - first, particulars or None)
    builder.files.append(FileRow(path, stats, *row))


def _tokenize(builder: Builder, memory: Memory, source: str) -> None:
    """Put the passages of a memory, window by window, into the builder; those apart lean on none before them."""
    passages = memory.passages
    paused = pauses([passage.time for passage in passages])
    speakers: dict[str, int] = {"": 0}
    retold = memory.path == PROFILE or memory.kind == "summaries" or bool(_SOURCE.search(source))
    beside = memory.episode_line or -1  # what stands behind the episode stands apart
    marks = terms.APART
    for place, start, end in memory.windows:
        passage = passages[place]
        text = passage.text if start == 0 and end == len(passage.text) else passage.text[start:end]
        if passage.speaker not in speakers:
            speakers[passage.speaker] = builder.speaker(passage.speaker)
        if start or paused[place] or (place and passages[place - 1].line == beside):
            marks = terms.APART
        if passage.line == beside or (retold and _retells(memory, source, passage.text, text)):
            marks |= terms.IS_DERIVED | (terms.APART if passage.line == beside else 0)
        speech, caption = terms.split_captions(text)
        said = terms.tokens(speech)
        more = terms.tokens(passage.context) if passage.context else []
        more = [token for token in more if token not in terms.STOP]
        if caption:
            more += ["[" + token for token in terms.tokens(caption) if token not in terms.STOP]
        flags = terms.flags(text, said) | marks
        said = [token for token in said if token not in terms.STOP]
        builder.passage(passage.line, speakers[passage.speaker], flags, said, more)
        marks = 0


def _retells(memory: Memory, source: str, text: str, window: str) -> bool:
    """Does a passage tell what others do: a fact its turns, a line of the profile its fact, one of a summary the lines that it
    stands for?"""
    if memory.path == PROFILE and SOURCE_MARK.search(text):
        return True
    return _SOURCE.search(source) is not None or (
        memory.kind == "summaries" and bool(terms.flags(window) & terms.CITES)
    )


def _particulars(memory: Memory) -> dict[str, Any]:
    """What the front matter says that ranking and the sweep need, the file's other names, names given in its links, and where
    in it each other day begins: the place of its first passage, and the day as an ordinal, 0 for the file's."""
    found: dict[str, Any] = {}
    front = {} if memory.plain else memory.front
    if front.get("kind") in EPISODES:
        found["kind"] = front["kind"]
    for key in RANKED if front else ():
        value = memory.particular(key)
        if isinstance(value, list):
            found[key] = [str(entry) for entry in value]
        elif value is not None:
            found[key] = value.isoformat() if isinstance(value, dt.date) else value
    if front and memory.aliases:
        found["names"] = [memory.title, *memory.aliases]
    if "|" in memory.text and (links := [link for link in LINK.findall(memory.text) if link[1]]):
        found["links"] = [[name.strip(), shown.strip()] for name, shown in links]
    if any(passage.day for passage in memory.passages):
        days = [memory.passages[place].day for place, *_ in memory.windows]
        starts = [place for place, day in enumerate(days) if day != (days[place - 1] if place else None)]
        found["days"] = [(place, day.toordinal() if (day := days[place]) else 0) for place in starts]
    return found
