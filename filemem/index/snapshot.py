"""What the index holds of all files at one moment, and the file that keeps it.

A snapshot is a value: a change makes another one. Passages are numbered, those of one
file in a row. A passage keeps its number, so the numbers of a file that is gone, or was
read again, belong to no file any more, though its words still lead to them.
"""

import bisect
import functools
import itertools
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from filemem.index import container
from filemem.store.paths import is_archived, kind_of
from filemem.text import terms

MAX_COUNT = 255  # of a word in a passage, and of the words of a passage

BY_ASSISTANT = 1
"""Flag of a passage: its words are an assistant's, as its file says."""
ASKS = 2
"""Flag: it ends in a question."""
APART = 4
"""Flag: it does not lean on what stands before it, as it begins a file, comes after a
pause, or continues a long turn."""
RETELLS = 8
"""Flag: it says what another memory that it names says."""

_ITEMS = {
    "lines": "I",
    "speakers": "I",
    "lengths": "B",
    "flags": "B",
    "sizes": "I",
    "numbers": "I",
    "times": "B",
}

Stats = tuple[int, int, int, int]
"""Of a file: its times of modification and of inode change in nanoseconds, its size in
bytes, its inode. No program can set the second, which so tells a file that was put back
with its old time."""


@dataclass(frozen=True)
class IndexedFile:
    """A file as it was read.

    Attributes:
        path: relative to the user's folder.
        stats: as they were before it was read.
        is_settled: any later change shows in its stats.
        date: its day as an ordinal, 0 if it has none.
        first, count: the number of its first passage, and how many it has.
        particulars: the well-formed values of its front matter, and under `names` the
            groups of names that stand for one thing.
        day_starts: where in it another day begins: the place of a passage, and the day
            as an ordinal, 0 for the file's own.
    """

    path: str
    stats: Stats
    is_settled: bool
    date: int
    first: int
    count: int
    particulars: dict[str, Any]
    day_starts: list[tuple[int, int]]

    @property
    def kind(self) -> str:
        """Return the kind that the path decides."""
        return kind_of(self.path)

    @property
    def archived(self) -> bool:
        """Tell whether it lies in the archive."""
        return is_archived(self.path)

    @property
    def numbers(self) -> range:
        """Return the numbers of its passages."""
        return range(self.first, self.first + self.count)

    @property
    def days(self) -> list[int]:
        """Return its days as ordinals: its own, those of turns, that of an event."""
        days = [self.date, *(day for _, day in self.day_starts)]
        return [day for day in dict.fromkeys(days) if day]

    def day(self, number: int) -> int:
        """Return the day of a passage as an ordinal: its own, or the file's."""
        found = self.date
        for place, day in self.day_starts:
            if self.first + place <= number:
                found = day or self.date
        return found


@dataclass(frozen=True)
class Snapshot:
    """All files, in the order of their passages, with tables over passages and words.

    Attributes:
        speaker_names: folded, by the number of the speaker; 0 is nobody.
        lines, speakers, lengths, flags: by passage its first line, its speaker, its
            length in words, stop words aside, and its flags.
        keys: `stem NUL token` of every token, sorted, so that the words of one stem
            stand side by side.
        sizes: by key in how many passages its token stands.
        numbers, times: for key after key the numbers of these passages, ascending, and
            how often it stands in each.
    """

    files: list[IndexedFile] = field(default_factory=list)
    speaker_names: list[str] = field(default_factory=lambda: [""])
    lines: "array[int]" = field(default_factory=lambda: array("I"))
    speakers: "array[int]" = field(default_factory=lambda: array("I"))
    lengths: "array[int]" = field(default_factory=lambda: array("B"))
    flags: "array[int]" = field(default_factory=lambda: array("B"))
    keys: list[bytes] = field(default_factory=list)
    sizes: "array[int]" = field(default_factory=lambda: array("I"))
    numbers: "array[int]" = field(default_factory=lambda: array("I"))
    times: "array[int]" = field(default_factory=lambda: array("B"))

    @functools.cached_property
    def starts(self) -> "array[int]":
        """Return where in `numbers` each key begins, and the last one ends."""
        return array("I", itertools.accumulate(self.sizes, initial=0))

    @property
    def live(self) -> int:
        """Return how many passages belong to a file."""
        return sum(file.count for file in self.files)

    def find(self, token: str) -> slice:
        """Return where in `numbers` the passages of a token stand."""
        key = key_of(token)
        place = bisect.bisect_left(self.keys, key)
        if self.keys[place : place + 1] != [key]:
            return slice(0)
        return slice(self.starts[place], self.starts[place + 1])

    def pack(self, version: str) -> bytes:
        """Return the bytes of its file."""
        tables = {name: getattr(self, name).tobytes() for name in _ITEMS}
        tables["keys"] = b"\n".join(self.keys)
        head = {
            "version": version,
            "speaker_names": self.speaker_names,
            "files": [list(vars(file).values()) for file in self.files],
        }
        return container.pack(head, tables)

    @classmethod
    def unpack(cls, data: bytes, version: str) -> "Snapshot":
        """Return the snapshot in the bytes of its file; raise DamagedFile."""
        found = container.unpack(data, version)
        keys = bytes(found.tables["keys"])
        tables: dict[str, array[int]] = {}
        for name, item in _ITEMS.items():
            tables[name] = array(item)
            tables[name].frombytes(found.tables[name])
        files = [
            IndexedFile(path, tuple(stats), *rest)
            for path, stats, *rest in found.head["files"]
        ]
        return cls(
            files=files,
            speaker_names=found.head["speaker_names"],
            keys=keys.split(b"\n") if keys else [],
            **tables,
        )

    def with_files(self, new: "Builder") -> "Snapshot":
        """Return this snapshot with the files of a builder behind its own."""
        tokens = [token for token, numbers in new.postings.items() if numbers]
        terms.stems(token.removeprefix("[") for token in tokens)  # all at once
        merged = _PostingLists(self)
        for key, token in sorted((key_of(token), token) for token in tokens):
            merged.add(key, new.postings[token])
        merged.copy(len(self.keys))
        return replace(
            self,
            files=self.files + new.files,
            speaker_names=list(new.speakers),
            lines=self.lines + new.lines,
            speakers=self.speakers + new.speaker_of,
            lengths=self.lengths + new.lengths,
            flags=self.flags + new.flags,
            keys=merged.keys,
            sizes=merged.sizes,
            numbers=merged.numbers,
            times=merged.times,
        )


def key_of(token: str) -> bytes:
    """Return where a token stands among the sorted keys."""
    stem = terms.stem(token.removeprefix("["))
    return f"{stem}\0{token}".encode()


class Builder:
    """Collects files whose passages come behind those of a snapshot."""

    def __init__(self, before: Snapshot) -> None:
        self.files: list[IndexedFile] = []
        self.speakers = {name: n for n, name in enumerate(before.speaker_names)}
        self.lines = array("I")
        self.speaker_of = array("I")
        self.lengths = array("B")
        self.flags = array("B")
        # By token the passages that hold it, each as often as it stands there.
        self.postings = defaultdict[str, list[int]](list)
        self._first = len(before.lines)

    @property
    def next(self) -> int:
        """Return the number that the next passage will have."""
        return self._first + len(self.lines)

    def speaker(self, name: str) -> int:
        """Return the number of a speaker."""
        return self.speakers.setdefault(terms.fold(name), len(self.speakers))

    def add_passage(
        self, line: int, speaker: int, flags: int, said: list[str], more: Iterable[str]
    ) -> None:
        """Add a passage.

        Args:
            said: the tokens of its text, which make its length.
            more: other tokens to find it by.
        """
        number = self.next
        postings = self.postings
        for token in said:
            postings[token].append(number)
        for token in more:
            postings[token].append(number)
        self.lines.append(line)
        self.speaker_of.append(speaker)
        self.flags.append(flags)
        self.lengths.append(min(len(said), MAX_COUNT))


class _PostingLists:
    """The passages of all keys: those of a snapshot, with later ones put in."""

    def __init__(self, old: Snapshot) -> None:
        self.keys: list[bytes] = []
        self.sizes = array("I")
        self.numbers = array("I")
        self.times = array("B")
        self._old = old
        self._copied = 0  # of the old keys

    def copy(self, end: int) -> None:
        """Take over the old keys up to the place `end`."""
        old = self._old
        start = self._copied
        if start < end:
            self.keys += old.keys[start:end]
            self.sizes += old.sizes[start:end]
            self.numbers += old.numbers[old.starts[start] : old.starts[end]]
            self.times += old.times[old.starts[start] : old.starts[end]]
            self._copied = end

    def add(self, key: bytes, numbers: list[int]) -> None:
        """Add later passages of a key; keys come in their order."""
        old = self._old
        place = bisect.bisect_left(old.keys, key, self._copied)
        if old.keys[place : place + 1] == [key]:
            self.copy(place + 1)
        else:
            self.copy(place)
            self.keys.append(key)
            self.sizes.append(0)
        counts: dict[int, int] = {}
        for number in numbers:
            counts[number] = counts.get(number, 0) + 1
        self.sizes[-1] += len(counts)
        self.numbers.extend(counts)
        self.times.extend(min(count, MAX_COUNT) for count in counts.values())
