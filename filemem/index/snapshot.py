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
from dataclasses import dataclass
from typing import Any

from filemem.index import container
from filemem.store.paths import is_archived, kind_of
from filemem.text import terms

BYTES_OF_NUMBER = 4
BYTES_OF_POSTING = 5  # of the postings of a key: all numbers first, then all times
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

_ARRAYS = {"lines": "I", "speakers": "I", "lengths": "B", "flags": "B", "sizes": "I"}

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
        files: as they were read.
        speaker_names: folded, by the number of the speaker; 0 is nobody.
        lines: by passage its first line.
        speakers: by passage the number of its speaker.
        lengths: by passage its length in words, stop words aside.
        flags: by passage what is known of it.
        keys: `stem NUL token` of every token, sorted, so that the words of one stem are
            side by side.
        sizes: by key the bytes of its postings.
        packed: the postings of all keys, one after the other.
    """

    files: list[IndexedFile]
    speaker_names: list[str]
    lines: "array[int]"
    speakers: "array[int]"
    lengths: "array[int]"
    flags: "array[int]"
    keys: list[bytes]
    sizes: "array[int]"
    packed: bytes

    @functools.cached_property
    def starts(self) -> "array[int]":
        """Return where in `packed` each key begins, and the last one ends."""
        return array("I", itertools.accumulate(self.sizes, initial=0))

    def cut(self, start: int, end: int) -> bytes:
        """Return the packed postings of the keys from one place up to another."""
        return self.packed[self.starts[start] : self.starts[end]]

    def postings(self, token: str) -> "tuple[array[int], array[int]]":
        """Return where a token stands, or stood in a file that is gone.

        Returns:
            The passages, ascending, and how often it stands in each.
        """
        key = key_of(token)
        place = bisect.bisect_left(self.keys, key)
        is_known = self.keys[place : place + 1] == [key]
        packed = self.cut(place, place + is_known)
        middle = len(packed) // BYTES_OF_POSTING * BYTES_OF_NUMBER
        return array("I", packed[:middle]), array("B", packed[middle:])

    @property
    def live(self) -> int:
        """Return how many passages belong to a file."""
        return sum(file.count for file in self.files)

    def pack(self, version: str) -> bytes:
        """Return the bytes of its file."""
        head = {
            "version": version,
            "speaker_names": self.speaker_names,
            "files": [list(vars(file).values()) for file in self.files],
        }
        tables = {name: getattr(self, name).tobytes() for name in _ARRAYS}
        tables["keys"] = b"\n".join(self.keys)
        tables["packed"] = self.packed
        return container.pack(head, tables)

    @classmethod
    def unpack(cls, data: bytes, version: str) -> "Snapshot":
        """Return the snapshot in the bytes of its file; raise DamagedFile."""
        head, tables = container.unpack(data, version)
        keys = bytes(tables["keys"])
        return cls(
            files=[
                IndexedFile(path, tuple(stats), *rest)
                for path, stats, *rest in head["files"]
            ],
            speaker_names=head["speaker_names"],
            keys=keys.split(b"\n") if keys else [],
            packed=bytes(tables["packed"]),
            **{
                name: array(item, bytes(tables[name])) for name, item in _ARRAYS.items()
            },
        )


EMPTY = Snapshot(
    [], [""], array("I"), array("I"), array("B"), array("B"), [], array("I"), b""
)


class Builder:
    """Adds files to those of a snapshot, as the next one."""

    def __init__(self, old: Snapshot) -> None:
        self._old = old
        self.files = list(old.files)
        self._speakers = {name: n for n, name in enumerate(old.speaker_names)}
        self._lines = old.lines[:]
        self._speaker_of = old.speakers[:]
        self._lengths = old.lengths[:]
        self._flags = old.flags[:]
        self._postings = defaultdict[str, list[int]](list)

    @property
    def next(self) -> int:
        """Return the number that the next passage will have."""
        return len(self._lines)

    def add_passage(
        self, line: int, speaker: str, flags: int, said: list[str], more: list[str]
    ) -> None:
        """Add a passage.

        Args:
            line: its first line.
            speaker: who says it.
            flags: what is known of it.
            said: the tokens of its text, which make its length.
            more: other tokens to find it by.
        """
        passage = len(self._lines)
        for token in said + more:
            self._postings[token].append(passage)
        name = terms.fold(speaker)
        number = self._speakers.setdefault(name, len(self._speakers))
        self._lines.append(line)
        self._speaker_of.append(number)
        self._lengths.append(min(len(said), MAX_COUNT))
        self._flags.append(flags)

    def snapshot(self) -> Snapshot:
        """Return the snapshot of all files."""
        old = self._old
        keys: list[bytes] = []
        sizes = array("I")
        pieces: list[bytes] = []
        copied = 0
        terms.stems(token.removeprefix("[") for token in self._postings)  # all at once
        for key, token in sorted((key_of(token), token) for token in self._postings):
            place = bisect.bisect_left(old.keys, key, copied)
            if copied < place:
                keys += old.keys[copied:place]
                sizes += old.sizes[copied:place]
                pieces.append(old.cut(copied, place))
            copied = place + (old.keys[place : place + 1] == [key])
            packed = _extended(old.cut(place, copied), self._postings[token])
            keys.append(key)
            sizes.append(len(packed))
            pieces.append(packed)
        return Snapshot(
            files=self.files,
            speaker_names=list(self._speakers),
            lines=self._lines,
            speakers=self._speaker_of,
            lengths=self._lengths,
            flags=self._flags,
            keys=keys + old.keys[copied:],
            sizes=sizes + old.sizes[copied:],
            packed=b"".join([*pieces, old.cut(copied, len(old.keys))]),
        )


def _extended(packed: bytes, numbers: list[int]) -> bytes:
    """Return packed postings with later passages, each as often as it has the token."""
    counts: dict[int, int] = {}
    for number in numbers:
        counts[number] = counts.get(number, 0) + 1
    times = list(counts.values())
    if max(times) > MAX_COUNT:
        times = [min(count, MAX_COUNT) for count in times]
    middle = len(packed) // BYTES_OF_POSTING * BYTES_OF_NUMBER
    more = array("I", counts).tobytes()
    return packed[:middle] + more + packed[middle:] + bytes(times)


def key_of(token: str) -> bytes:
    """Return where a token stands among the sorted keys."""
    stem = terms.stem(token.removeprefix("["))
    return f"{stem}\0{token}".encode()
