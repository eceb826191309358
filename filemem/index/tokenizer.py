"""What the index takes from a memory's file: the tokens of its passages.

A passage's own words count for its length; those of its context (headings over it, front matter values) are searched along
but don't. Stop words are left out. Transcripts as filemem writes them are read in a shorter way to the same result.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from filemem.files import episode
from filemem.files.memory import LARGEST, PROFILE, SOURCE_MARK, FileDate, Memory, is_archived, when_of
from filemem.files.passages import DAY_HEADING, WHOLE, pauses, turn_days, turns, windows
from filemem.index.snapshot import ARCHIVED, UNREAD, Builder, Stats
from filemem.text import terms
from filemem.text.plain import LINK

EPISODES = ("event", "plan")  # values of `kind` of a fact that is over once its day is
RANKED = (
    "importance", "pinned", "source", "valid_from", "valid_until", "supersedes", "superseded_by", "day",
    "confidence", "assistant",
)  # fmt: skip
_PLAIN_VALUE = r"""[A-Za-z0-9][\w ./+-]*(?::[\w./+-][\w ./+-]*)*|"[ !#-\[\]-~]*"|'[ -&(-~]*'"""
"""A value on one line that YAML reads without fail."""
_PLAIN_FRONT = re.compile(
    rf"---\n(?:(?:date|timezone|origin): (?:{_PLAIN_VALUE})\n)*(?:{episode.KEY}: (?P<{episode.KEY}>\{{.*\}})\n)?---\n|(?!---)"
)
_SOURCE = re.compile(r"\.\w+:\d+\b")  # a line of another file
_MOST_KNOWN = 100_000


class _Head(NamedTuple):
    """What stands in front of a turn's text: the number of its speaker, its date and clock, its tokens, and how long it is
    with the `: `."""

    speaker: int
    day: dt.date | None
    time: str
    tokens: tuple[str, ...]
    length: int


_NOBODY = _Head(0, None, "", (), 0)


class Tokenizer:
    """Reads files into a `Builder`. `speakers` are the folded names met so far, by number."""

    def __init__(self, speakers: Sequence[str] = ("",)) -> None:
        self.speakers = list(speakers)
        self._numbers = {name: number for number, name in enumerate(self.speakers)}
        self._heads: dict[str, _Head] = {}

    def tokenize_file(self, builder: Builder, path: str, stats: Stats, data: bytes | None) -> None:
        """Put a file into the builder; `data` is None where it could not be read."""
        marks = ARCHIVED if is_archived(path) else 0
        if path.startswith(("sessions/", "archive/sessions/")) and data and len(data) <= LARGEST:
            when, text = when_of(path), _plain_text(data)
            if when and text and self._plain(builder, text, path, stats, when, marks):
                return
        memory = Memory(path, data or b"")
        if data is None or len(data) > LARGEST or memory.binary:
            when = when_of(path)
            marks |= 0 if data is not None else UNREAD
            builder.file(path, stats, when.date.toordinal() if when else 0, marks, {})
            return
        date = memory.date
        particulars = _particulars(memory) | _days([memory.passages[place].day for place, *_ in memory.windows])
        builder.file(path, stats, date.toordinal() if date else 0, marks, particulars)
        source = str(particulars.get("source", ""))
        paused = pauses([passage.time for passage in memory.passages])
        for place, start, end in memory.windows:
            passage = memory.passages[place]
            speaker, text = self._speaker(passage.speaker) if passage.speaker else 0, passage.text[start:end]
            sums_up = [memory.passages[n].line == memory.episode_line for n in (place, max(0, place - 1))]
            marks = terms.IS_DERIVED if sums_up[0] or _retells(memory, source, passage.text, text) else 0
            marks |= terms.APART if paused[place] or start or any(sums_up) else 0
            _passage(builder, passage.line, speaker, marks, text, terms.tokens(passage.context))

    def _speaker(self, name: str) -> int:
        """The number of a speaker; 0 is nobody."""
        folded = terms.fold(name)
        known = self._numbers.get(folded)
        if known is None:
            known = self._numbers[folded] = len(self.speakers)
            self.speakers.append(folded)
        return known

    # -- the shorter way -----------------------------------------------------------------------------------------

    def _plain(self, builder: Builder, text: str, path: str, stats: Stats, when: FileDate, marks: int) -> bool:
        """Put a transcript into the builder; False, and nothing is put in, where it is not as filemem writes them: other front
        matter, links, turns of another day, lines that are no part of a turn."""
        front = _PLAIN_FRONT.match(text)
        summed = episode.read((front and front[episode.KEY]) or "{}")
        lines = text.split("\n")
        start = text.count("\n", 0, front.end()) if front else 0
        found = self._turns(lines, start) if front and summed is not None else []
        heads = [(head.day, head.time) for _, head in found]
        above = lines[start : found[0][0]] if found else []
        days = turn_days(heads, None if when.month else when.date)
        if summed is None or not found or any(map(DAY_HEADING.match, above)) or any(days):
            return False
        builder.file(path, stats, when.date.toordinal(), marks, {})
        words = _words_of(text, lines)
        context = terms.tokens("\n".join(above))
        paused = pauses([time for _, time in heads])
        if summed.text:
            _windows(builder, start - 1, 0, terms.IS_DERIVED | terms.APART, summed.text, [])
            paused[0] = True
        for (place, head), (end, _), pause in zip(found, [*found[1:], (len(lines), _NOBODY)], paused, strict=True):
            mark = terms.APART if pause else 0
            speech = lines[place][head.length :]
            said = words[place]
            if end > place + 1:
                more = [line[2:] if line.startswith("  ") else "" for line in lines[place + 1 : end]]
                speech = "\n".join((speech, *more)).rstrip("\n")
                said += itertools.chain.from_iterable(words[place + 1 : end])
            del said[: len(head.tokens)]
            if "[" in speech or len(speech) > WHOLE:
                _windows(builder, place + 1, head.speaker, mark, speech, context)
            else:
                builder.passage(place + 1, head.speaker, terms.flags(speech, said) | mark, said, context)
            context = []
        return True

    def _turns(self, lines: list[str], start: int) -> list[tuple[int, _Head]]:
        """The place of each turn's first line, and its head; empty where there is no turn, or a line is part of none."""
        found: list[tuple[int, _Head]] = []
        known = self._heads.get
        for place, line in enumerate(lines[start:], start):
            if line.startswith("- **"):
                opening = line.removesuffix(":").partition(": ")[0]
                head = known(opening) or self._head(opening)
                if not head:
                    return []
                found.append((place, head))
            elif found and not line.startswith("  ") and line.strip():
                return []
        return found

    def _head(self, text: str) -> _Head | None:
        """What the head of a turn says that was not met yet; None where it is no head."""
        found = list(turns([text + ":"]))
        if not found:
            return None
        if len(self._heads) >= _MOST_KNOWN:
            self._heads.clear()
        said, speaker = tuple(_words_of(text, [text])[0]), self._speaker(found[0].speaker)
        head = _Head(speaker, found[0].day, found[0].time, said, len(text) + 2)
        self._heads[text] = head
        return head


def _plain_text(data: bytes) -> str:
    """The text of UTF-8 without anything that must be looked at more closely; empty for any other."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return "" if any(mark in text for mark in ("\0", "\r", "[[", "\ufeff", "ı")) else text


def _words_of(text: str, lines: list[str]) -> list[list[str]]:
    """The tokens of each line of a text; those in ASCII are not cut where they are long."""
    if text.isascii():
        return [line.split() for line in text.translate(terms.ASCII_WORDS).split("\n")]
    return [line.translate(terms.ASCII_WORDS).split() if line.isascii() else terms.tokens(line) for line in lines]


def _passage(builder: Builder, line: int, speaker: int, marks: int, text: str, context: list[str]) -> None:
    """Add one passage with these marks beside the flags of its text."""
    speech, caption = terms.split_captions(text)
    said, shown = terms.tokens(speech), [token for token in terms.tokens(caption) if token not in terms.STOP]
    builder.passage(line, speaker, terms.flags(text, said) | marks, said, [*context, *["[" + word for word in shown]])


def _windows(builder: Builder, line: int, speaker: int, mark: int, text: str, context: list[str]) -> None:
    """Add a passage by its windows, the first marked so."""
    derived = mark & terms.IS_DERIVED
    for first, last in windows(text):
        marks = terms.APART | derived if first else mark
        _passage(builder, line, speaker, marks, text[first:last], context)


def _retells(memory: Memory, source: str, text: str, window: str) -> bool:
    """Does a passage tell what others do: a fact its turns, a line of the profile its fact, one of a summary the lines that it
    stands for?"""
    if memory.path == PROFILE and SOURCE_MARK.search(text):
        return True
    return _SOURCE.search(source) is not None or (
        memory.kind == "summaries" and bool(terms.flags(window) & terms.CITES)
    )


def _particulars(memory: Memory) -> dict[str, Any]:
    """What the front matter says that ranking and the sweep need, the file's other names, and names given in its links."""
    found: dict[str, Any] = {}
    if memory.front.get("kind") in EPISODES:
        found["kind"] = memory.front["kind"]
    for key in RANKED if memory.front else ():
        value = memory.particular(key)
        if isinstance(value, list):
            found[key] = [str(entry) for entry in value]
        elif value is not None:
            found[key] = value.isoformat() if isinstance(value, dt.date) else value
    if memory.aliases:
        found["names"] = [memory.title, *memory.aliases]
    if "|" in memory.text and (links := [link for link in LINK.findall(memory.text) if link[1]]):
        found["links"] = [[name.strip(), shown.strip()] for name, shown in links]
    return found


def _days(days: list[dt.date | None]) -> dict[str, Any]:
    """Where in a file each other day begins: the place of its first passage, and the day as an ordinal, 0 for the file's."""
    if not any(days):
        return {}
    starts = [place for place, day in enumerate(days) if day != (days[place - 1] if place else None)]
    return {"days": [(place, day.toordinal() if (day := days[place]) else 0) for place in starts]}
