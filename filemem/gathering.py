"""What the index takes from a memory's file: the tokens of its passages, and of the rest of its text for grep.

A passage's own words count for its length; those of its context (headings over it, front matter values) are searched along
but don't. Stop words are left out. Transcripts as filemem writes them are read in a shorter way to the same result.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from array import array
from typing import Any, NamedTuple

from filemem import terms
from filemem.memory import ARCHIVE, LARGEST, Memory, turns, when_of
from filemem.segments import ARCHIVED, UNFILTERED, UNREAD, Builder

RANKED = ("importance", "pinned", "valid_from", "valid_until", "supersedes", "superseded_by")
_PLAIN_FRONT = re.compile(r"---\n(?:(?:date|timezone|origin|source|confidence):.*\n)*---\n|(?!---)")
_LINK_TEXT = re.compile(r"\[\[([^\[\]|\n]+)\|([^\[\]\n]+)\]\]")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_MOST_KNOWN = 100_000

_is_stop = terms.STOP.__contains__


class _Head(NamedTuple):
    """What stands in front of a turn's text: the number of its speaker, and its tokens; None for what is no head."""

    speaker: int
    tokens: frozenset[str]


class _Told(NamedTuple):
    """A turn: its first line's number, its head, the lines of its text."""

    line: int
    head: _Head
    said: list[str]


class Gatherer:
    """Reads files into a `Builder`. `speakers` are the folded names known so far, by number; new ones are added."""

    def __init__(self, speakers: list[str]) -> None:
        self.speakers = speakers
        self._numbers = {name: number for number, name in enumerate(speakers)}
        self._heads: dict[str, _Head | None] = {}

    def add(
        self, builder: Builder, folder: str, name: str, stats: array[int], data: bytes | None, marks: int = 0
    ) -> None:
        """Put a file into the segment; `data` is None where it could not be read."""
        path = folder + name
        marks |= ARCHIVED if path.startswith(ARCHIVE + "/") else 0
        if folder.startswith(("sessions/", "archive/sessions/")) and data and data.isascii() and b"\0" not in data:
            when = when_of(name)
            told = self._told(data.decode()) if when and len(data) <= LARGEST else None
            if when and told:
                builder.file(folder, name, stats, when.date.toordinal(), marks, {})
                self._transcript(builder, *told)
                return
        memory = Memory(path, data or b"")
        if data is None or len(data) > LARGEST or memory.binary:
            when = when_of(name)
            marks |= UNFILTERED if data is not None else UNFILTERED | UNREAD
            builder.file(folder, name, stats, when.date.toordinal() if when else 0, marks, {})
            return
        date = memory.date
        builder.file(folder, name, stats, date.toordinal() if date else 0, marks, _particulars(memory))
        seen: set[str] = set()
        for passage in memory.passages:
            speaker = self._speaker(passage.speaker) if passage.speaker else 0
            seen |= _passage(builder, passage.line, speaker, passage.text, _kept(passage.context))
        text = memory.text
        rest = set(_kept(text)).union(_kept(text.replace("ı", "i")) if "ı" in text else ())
        builder.rest(rest - seen)

    def _speaker(self, name: str) -> int:
        """The number of a speaker; 0 is nobody."""
        folded = terms.fold(name)
        known = self._numbers.get(folded)
        if known is None:
            known = self._numbers[folded] = len(self.speakers)
            self.speakers.append(folded)
        return known

    # -- the shorter way -----------------------------------------------------------------------------------------

    def _told(self, text: str) -> tuple[list[str], set[str], list[_Told]] | None:
        """The tokens of the context, those outside the turns, and the turns of a plain transcript.

        None where it is not plain: other front matter, links, lines that are no part of a turn.
        """
        front = _PLAIN_FRONT.match(text)
        if not front or "\r" in text or "[[" in text:
            return None
        lines = text.split("\n")
        after = text.count("\n", 0, front.end())
        rest = set(_kept(front[0]))
        context: list[str] = []
        told: list[_Told] = []
        for number, line in enumerate(lines[after:], after + 1):
            end = line.find(": ")
            head = self._head(line[:end]) if end > 0 else None
            if head:
                told.append(_Told(number, head, [line[end + 2 :]]))
            elif told and (line.startswith("  ") or not line.strip()):
                told[-1].said.append(line[2:] if line.startswith("  ") else "")
            elif told or line.startswith("- **"):
                return None
            elif line.strip():
                context += _kept(line)
        return (context, rest, told) if told else None

    def _head(self, text: str) -> _Head | None:
        if text in self._heads:
            return self._heads[text]
        if len(self._heads) >= _MOST_KNOWN:
            self._heads.clear()
        found = list(turns([text + ":"])) if text.startswith("- **") else []
        head = _Head(self._speaker(found[0].speaker), frozenset(_kept(text))) if found else None
        if head:
            self._heads[text] = head
        return head

    def _transcript(self, builder: Builder, context: list[str], rest: set[str], told: list[_Told]) -> None:
        for line, head, said in told:
            rest |= head.tokens
            text = said[0] if len(said) == 1 else "\n".join(said).rstrip("\n")
            if "[" in text:
                _passage(builder, line, head.speaker, text, context)
            else:
                tokens = _kept(text)
                builder.passage(line, head.speaker, terms.flags(text), len(tokens), tokens + context)
            context = []
        builder.rest(rest)


def _kept(text: str) -> list[str]:
    """The tokens of a text but for its stop words."""
    return list(itertools.filterfalse(_is_stop, terms.tokens(text)))


def _passage(builder: Builder, line: int, speaker: int, text: str, context: list[str]) -> set[str]:
    """Add one passage; gives the tokens that it puts in."""
    speech, caption = terms.split_captions(text)
    tokens, shown = _kept(speech), _kept(caption)
    builder.passage(line, speaker, terms.flags(text), len(tokens), [*tokens, *context, *("[" + word for word in shown)])
    return {*tokens, *context, *shown}


def _particulars(memory: Memory) -> dict[str, Any]:
    """What the front matter says that ranking needs, the file's other names, and names given in its links."""
    found: dict[str, Any] = {}
    for key in RANKED if memory.front else ():
        value = memory.particular(key)
        if value is not None:
            found[key] = value.isoformat() if isinstance(value, dt.date) else value
    if memory.aliases:
        found["names"] = [_title(memory), *memory.aliases]
    if "|" in memory.text and (links := _LINK_TEXT.findall(memory.text)):
        found["links"] = [[name.strip(), shown.strip()] for name, shown in links]
    return found


def _title(memory: Memory) -> str:
    """What a memory is about: its first heading, else the words of its file's name."""
    for line in memory.lines[memory.front_end :]:
        if match := _HEADING.match(line):
            return match[1].strip()
    stem = memory.path.rpartition("/")[2].rpartition(".")[0]
    return re.sub(r"^[\d-]+(?=[^\W\d_])|[-_]+", " ", stem).strip()
