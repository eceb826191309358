"""The index as plain tables: the files, their passages, and for each token the passages that hold it; and their one file.

A file of the cache is MAGIC, the CRC-32 of what follows, the length of a head in JSON, the head, and the tables one after the
other, in the byte order of the machine. It is read and checked whole, so that a flipped or missing byte is noticed before it
can make an answer wrong. A key is `stem NUL token` in UTF-8, so that sorted keys put the words of one stem side by side. Tokens
of captions start with `[`. A passage keeps its number: of a file that is gone its postings stay, and belong to no file.
"""

from __future__ import annotations

import bisect
import itertools
import json
import re
import zlib
from array import array
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from filemem.files.memory import LARGEST, PROFILE, SOURCE_MARK, Memory, is_archived, kind_of, pauses, when_of, windows
from filemem.text import terms
from filemem.text.plain import LINK

MAGIC = b"filemem index 8\n"
ARCHIVED, UNSETTLED = 1, 2
"""Marks of a file: it lies in the archive; it is to be read again."""
MOST_COUNTED = 255

Stats = tuple[int, int, int, int]
"""Of a file: the times of modification and of inode change in nanoseconds, its size in bytes, its inode. Of these only the inode
change cannot be set by a program; it tells a restored old file, or a clock that was put back, from the file known."""


class IndexedFile(NamedTuple):
    """A file: its stats when it was read, its date as an ordinal (0: none), its marks, the number of the first of its `count`
    passages, well-formed values of its front matter (`Memory.particulars`), dates in ISO form, and where in it each other day
    begins: the place of the first passage, and the day as an ordinal, 0 for the file's."""

    path: str
    stats: Stats
    date: int
    marks: int
    first: int
    count: int  # type: ignore[assignment]  # a tuple has a method of this name
    particulars: dict[str, Any]
    day_starts: list[tuple[int, int]]

    @property
    def days(self) -> list[int]:
        """The file's day and those of its turns that were said on others, as ordinals; none where it has no date."""
        days = dict.fromkeys([self.date, *(day for _, day in self.day_starts)])
        return [*filter(None, days)]

    def day(self, number: int) -> int:
        """The day of a passage, as an ordinal: its own, or the file's."""
        days = [day for place, day in self.day_starts if self.first + place <= number]
        return (days and days[-1]) or self.date

    @property
    def archived(self) -> bool:
        """Does it lie in the archive?"""
        return bool(self.marks & ARCHIVED)

    @property
    def numbers(self) -> range:
        """The numbers of its passages."""
        return range(self.first, self.first + self.count)

    @property
    def kind(self) -> str:
        """The kind that the path decides."""
        return kind_of(self.path)


class DamagedSnapshot(Exception):
    """These bytes are not a snapshot of this version."""


def key_of(token: str) -> bytes:
    """Where a token stands among the sorted keys."""
    word = token.removeprefix("[")
    return f"{terms.stem(word)}\0{token}".encode()


class Builder:
    """Collects files and their passages, which are numbered from `first` on; `speaker_names` are those of the numbers of
    speakers, folded."""

    def __init__(self, first: int = 0, speaker_names: Sequence[str] = ("",)) -> None:
        self.speaker_names = list(speaker_names)
        self._stopped: list[int] = []  # what all stop words share, which costs less than to leave them out first
        self.postings = defaultdict[str, list[int]](list, dict.fromkeys(terms.STOP, self._stopped))
        """By token the passages that hold it, each as often as it stands there; of a stop word nothing."""
        self.lines: list[int] = []
        self.speakers: list[int] = []
        self.lengths = bytearray()
        self.flags = bytearray()
        self.files: list[IndexedFile] = []
        self._first = first
        self._numbers = {name: number for number, name in enumerate(self.speaker_names)}

    @property
    def next(self) -> int:
        """The number that the next passage will have."""
        return self._first + len(self.lines)

    def speaker(self, name: str) -> int:
        """The number of a speaker; 0 is nobody."""
        folded = terms.fold(name)
        if folded not in self._numbers:
            self._numbers[folded] = len(self.speaker_names)
            self.speaker_names.append(folded)
        return self._numbers[folded]

    def passage(self, line: int, speaker: int, flags: int, said: list[str], more: list[str]) -> None:
        """Add a passage: its first line, its speaker's number, its flags, the tokens of its speech, which make its length, and
        `more` tokens to find it by."""
        number, postings = self.next, self.postings
        for token in said:
            postings[token].append(number)
        length = len(said) - len(self._stopped)
        for token in more:
            postings[token].append(number)
        self._stopped.clear()
        self.lines.append(line)
        self.speakers.append(speaker)
        self.flags.append(flags)
        self.lengths.append(min(length, MOST_COUNTED))


class Snapshot:
    """The tables: of the files, in the order of their first passages; of the passages; and of the keys: `starts` where each
    key's passages begin in `numbers`, ascending, and how often its token stands in them in `times`."""

    def __init__(self) -> None:
        self.speaker_names: list[str] = [""]
        self.files: list[IndexedFile] = []
        self.speakers = array("H")
        self.lines = array("I")
        self.lengths = b""
        self.flags = b""
        self.keys: list[bytes] = []
        self.starts = array("I", [0])
        self.numbers = array("I")
        self.times = b""

    @property
    def live(self) -> int:
        """How many passages belong to a file."""
        return sum(row.count for row in self.files)

    def packed(self, version: str) -> bytes:
        """The bytes of its file."""
        raw = {name: bytes(getattr(self, name)) for name in _TABLES} | {"keys": b"\n".join(self.keys)}
        sizes = {name: len(table) for name, table in raw.items()}
        facts = {"version": version, "speakers": self.speaker_names, "files": self.files, "tables": sizes}
        head = json.dumps(facts, separators=(",", ":")).encode()
        rest = b"".join((len(head).to_bytes(4, "little"), head, *raw.values()))
        return b"".join((MAGIC, zlib.crc32(rest).to_bytes(4, "little"), rest))

    @classmethod
    def unpacked(cls, data: bytes, version: str) -> Snapshot:
        """The snapshot in the bytes of its file. Raises DamagedSnapshot."""
        view, at = memoryview(data), len(MAGIC)
        if not data.startswith(MAGIC) or zlib.crc32(view[at + 4 :]) != int.from_bytes(view[at : at + 4], "little"):
            raise DamagedSnapshot
        found = cls()
        try:
            at += 8 + int.from_bytes(view[at + 4 : at + 8], "little")
            facts = json.loads(data[len(MAGIC) + 8 : at])
            if facts["version"] != version:
                raise DamagedSnapshot
            for name, size in facts["tables"].items():
                raw = bytes(view[at : at + size])
                at += size
                if name == "keys":
                    found.keys = raw.split(b"\n") if raw else []
                else:
                    setattr(found, name, array(_TABLES[name], raw) if _TABLES[name] else raw)
            found.speaker_names = facts["speakers"]
            found.files = [IndexedFile(path, tuple(stats), *rest) for path, stats, *rest in facts["files"]]
            if not found._fits():
                raise DamagedSnapshot
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise DamagedSnapshot from error
        return found

    def _fits(self) -> bool:
        """Do the tables have the right lengths?"""
        ends = [0, *(row.first + row.count for row in self.files)]
        return (
            {len(self.speakers), len(self.lines), len(self.flags)} == {len(self.lengths)}
            and all(end <= row.first for end, row in zip(ends, self.files, strict=False))
            and ends[-1] <= len(self.lengths)
            and {len(self.numbers), len(self.times)} == {self.starts[-1]}
            and len(self.starts) == len(self.keys) + 1
            and max(self.speakers, default=0) < len(self.speaker_names)
        )

    def without(self, gone: Collection[int]) -> Snapshot:
        """The same without some files, by their places: their passages say nothing more, and belong to none."""
        found = Snapshot()
        found.__dict__.update(self.__dict__)
        found.files = [row for place, row in enumerate(self.files) if place not in gone]
        lengths, flags, found.speakers = bytearray(self.lengths), bytearray(self.flags), self.speakers[:]
        for row in map(self.files.__getitem__, gone):
            span = slice(row.first, row.first + row.count)
            lengths[span] = flags[span] = bytes(row.count)
            found.speakers[span] = array("H", bytes(2 * row.count))
        found.lengths, found.flags = bytes(lengths), bytes(flags)
        return found

    def with_files(self, new: Builder) -> Snapshot:
        """The same with the files of a builder behind its own, whose passages begin where these end."""
        found = Snapshot()
        found.speaker_names = new.speaker_names
        found.files = self.files + new.files
        found.speakers = self.speakers + array("H", new.speakers)
        found.lines = self.lines + array("I", new.lines)
        found.lengths, found.flags = self.lengths + new.lengths, self.flags + new.flags
        sizes, times = array("I"), bytearray()
        old_sizes = array("I", [end - start for start, end in itertools.pairwise(self.starts)])
        done = at = 0
        postings = {token: numbers for token, numbers in new.postings.items() if numbers}
        terms.stems(token.removeprefix("[") for token in postings)  # all at once
        for key, token in sorted((key_of(token), token) for token in postings):
            place = bisect.bisect_left(self.keys, key, done)
            known = place < len(self.keys) and self.keys[place] == key
            end = self.starts[place + known]
            if place + known > done:
                found.keys += self.keys[done:place]
                sizes += old_sizes[done:place]
                found.numbers += self.numbers[at:end]
                times += self.times[at:end]
            counts: dict[int, int] = {}
            for number in postings[token]:
                counts[number] = counts.get(number, 0) + 1
            found.keys.append(key)
            sizes.append(len(counts) + (old_sizes[place] if known else 0))
            found.numbers.extend(counts)
            more = counts.values()
            times += bytes(more if max(more) <= MOST_COUNTED else [min(count, MOST_COUNTED) for count in more])
            done, at = place + known, end
        found.keys += self.keys[done:]
        found.numbers += self.numbers[at:]
        found.times = bytes(times + self.times[at:])
        found.starts = array("I", itertools.accumulate(sizes + old_sizes[done:], initial=0))
        return found


_TABLES = {"lengths": "", "flags": "", "times": "", "speakers": "H", "lines": "I", "starts": "I", "numbers": "I"}
"""The names of the tables but for the keys, with the type of an array, empty for bytes."""


# -- what the index takes from a memory's file ----------------------------------------------------------------------------
# A passage's own words count for its length; those of its context (headings over it, front matter values) are searched along
# but don't. Stop words are left out.

_SOURCE = re.compile(r"\.\w+:\d+\b")  # a line of another file


def tokenize_file(builder: Builder, path: str, stats: Stats, data: bytes | None, marks: int = 0) -> None:
    """Put a file into the builder, with marks besides those that it has itself; `data` is None where it could not be read."""
    first, memory = builder.next, Memory(path, data or b"")
    marks |= ARCHIVED if is_archived(path) else 0
    particulars: dict[str, Any] = {}
    day_starts = list[tuple[int, int]]()
    if data is None or len(data) > LARGEST or memory.binary:
        when = when_of(path)
        date = when.date if when else None
    else:
        date, particulars = memory.date, _particulars(memory)
        day_starts = _tokenize(builder, memory, str(particulars.get("source", "")))
    day, count = date.toordinal() if date else 0, builder.next - first
    builder.files.append(IndexedFile(path, stats, day, marks, first, count, particulars, day_starts))


def _tokenize(builder: Builder, memory: Memory, source: str) -> list[tuple[int, int]]:
    """Put the passages of a memory, window by window, into the builder; those apart lean on none before them. Returns where days
    begin in it."""
    passages, first = memory.passages, builder.next
    paused = pauses([passage.time for passage in passages])
    speakers = {name: builder.speaker(name) for name in dict.fromkeys(passage.speaker for passage in passages)}
    cites, sums_up, profile = _SOURCE.search(source), memory.kind == "summaries", memory.path == PROFILE
    day_starts, last = list[tuple[int, int]](), None
    for (line, _, speaker, _, whole, context, day), pause in zip(passages, paused, strict=True):
        if day != last:
            day_starts.append((builder.next - first, day.toordinal() if day else 0))
        marks = terms.APART if pause or builder.next == first else 0
        last = day
        for start, end in windows(whole):
            text = whole[start:end]
            speech, caption = terms.split_captions(text)
            said = terms.tokens(speech)
            more = terms.tokens(context) if context else []
            if caption:
                more += ["[" + token for token in terms.tokens(caption) if token not in terms.STOP]
            flags = terms.flags(speech, said) | marks
            # A fact tells its turns, a line of the profile its fact, one of a summary the lines that it stands for.
            if cites or (sums_up and flags & terms.CITES) or (profile and SOURCE_MARK.search(whole)):
                flags |= terms.IS_DERIVED
            builder.passage(line, speakers[speaker], flags, said, more)
            marks |= terms.APART
    return day_starts


def _particulars(memory: Memory) -> dict[str, Any]:
    """What the front matter says that ranking and the sweep need, the file's other names, and names given in its links."""
    found = dict(memory.particulars)
    if not memory.plain and memory.aliases:
        found["names"] = [memory.title, *memory.aliases]
    if "|" in memory.text and (links := [link for link in LINK.findall(memory.text) if link[1]]):
        found["links"] = [[name.strip(), shown.strip()] for name, shown in links]
    return found
