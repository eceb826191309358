"""The passages of all files at one moment, and what a search asks of them.

Passages are numbered, those of one file in a row. A passage keeps its number, so those
of a file that is gone, or was read again, belong to no file any more, though its words
still lead to them.
"""

import bisect
import functools
import itertools
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from filemem.store.paths import is_archived, kind_of, live
from filemem.text import plain, terms
from filemem.text.dayrange import DayRange

BYTES_OF_NUMBER = 4
BYTES_OF_POSTING = 5  # of the postings of a key: all numbers first, then all times
NEAR_RATIO = 0.8
"""How alike two words are, of 1, of which one may be meant for the other."""

BY_ASSISTANT = 1
"""Flag of a passage: its words are an assistant's, as its file says."""
ASKS = 2
"""Flag: it ends in a question."""
QUOTES = 8
"""Flag: a chat's own answer, made of words that stand elsewhere in memory."""
APART = 4
"""Flag: it does not lean on what stands before it, as it begins a file, comes after a
pause, or continues a long turn."""

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
        told: the dates in its texts: the place of a passage, and the first and the last
            day that it names, as ordinals.
    """

    path: str
    stats: Stats
    is_settled: bool
    date: int
    first: int
    count: int
    particulars: dict[str, Any]
    day_starts: list[tuple[int, int]]
    told: list[tuple[int, int, int]]

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
        """Return its days as ordinals: its own, those of turns, at last an event's."""
        days = [self.date, *(day for _, day in self.day_starts)]
        return [day for day in days if day]

    def passages_naming(self, days: Iterable[DayRange]) -> set[int]:
        """Return the numbers of its passages that name some days by date.

        Args:
            days: those asked for; a passage counts that tells of one of them.
        """
        found: set[int] = set()
        for place, first, last in self.told:
            named = DayRange(first, last)
            if any(asked.is_told_by(named) for asked in days):
                found.add(self.first + place)
        return found

    def day(self, number: int) -> int:
        """Return the day of a passage as an ordinal: its own, or the file's."""
        found = self.date
        for place, day in self.day_starts:
            if self.first + place <= number:
                found = day or self.date
        return found


class Postings(NamedTuple):
    """Where a token stands.

    Attributes:
        numbers: of the passages, ascending.
        times: how often it stands in each.
    """

    numbers: "array[int]"
    times: "array[int]"


@dataclass(frozen=True)
class Corpus:
    """The passages of all files, a value: a change makes another one.

    Attributes:
        files: as they were read, in the order of their passages.
        speaker_names: folded, by the number of the speaker; 0 is nobody.
        lines: by passage its first line.
        speakers: by passage the number of its speaker.
        lengths: by passage its length in words, stop words aside.
        flags: by passage what is known of it.
        packed: the postings of each token, by its key.
    """

    files: list[IndexedFile]
    speaker_names: list[str]
    lines: "array[int]"
    speakers: "array[int]"
    lengths: "array[int]"
    flags: "array[int]"
    packed: dict[bytes, bytes]

    # -- files ---------------------------------------------------------------------

    @functools.cached_property
    def archived(self) -> int:
        """Return how many files are in the archive."""
        return sum(file.archived for file in self.files)

    @functools.cached_property
    def by_live_path(self) -> dict[str, IndexedFile]:
        """Return every file by its path outside of the archive, of two the live one."""
        files = sorted(self.files, key=lambda file: not file.archived)
        return {live(file.path): file for file in files}

    def file(self, number: int) -> IndexedFile:
        """Return the file of a passage."""
        # Of files that begin at one number only the last has passages.
        return self.files[bisect.bisect_right(self._starts, number) - 1]

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [file.first for file in self.files]

    def dated(self, days: DayRange) -> list[IndexedFile]:
        """Return the files that were said on some days, or whose event is on them."""
        begin = bisect.bisect_left(self._places_by_day, (days.first, 0))
        end = bisect.bisect_left(self._places_by_day, (days.last + 1, 0))
        places = {place for _, place in self._places_by_day[begin:end]}
        return [self.files[place] for place in sorted(places)]

    @functools.cached_property
    def _places_by_day(self) -> list[tuple[int, int]]:
        """Return the days of all files, ascending, each with the file's place."""
        found: list[tuple[int, int]] = []
        for place, file in enumerate(self.files):
            found += [(day, place) for day in file.days]
        return sorted(found)

    @functools.cached_property
    def names(self) -> list[tuple[str, ...]]:
        """Return the groups of names that stand for one thing, in folded words."""
        groups = [file.particulars.get("names", ()) for file in self.files]
        return list(dict.fromkeys(map(tuple, itertools.chain(*groups))))

    # -- passages ------------------------------------------------------------------

    @functools.cached_property
    def firsts(self) -> "array[int]":
        """Return by passage the first one of its file."""
        firsts = self.lines[:]
        for file in self.files:
            span = slice(file.first, file.first + file.count)
            firsts[span] = array("I", [file.first]) * file.count
        return firsts

    @functools.cached_property
    def _is_live(self) -> bytearray:
        """Return by passage 1 if it belongs to a file, else 0."""
        is_live = bytearray(len(self.lines))
        for file in self.files:
            is_live[file.first : file.first + file.count] = b"\1" * file.count
        return is_live

    @functools.cached_property
    def count(self) -> int:
        """Return how many passages belong to a file."""
        return self._is_live.count(1)

    @functools.cached_property
    def mean_length(self) -> float:
        """Return the mean length of a passage, in words."""
        total = sum(itertools.compress(self.lengths, self._is_live))
        return total / max(1, self.count)

    @functools.cached_property
    def names_heard(self) -> list[str]:
        """Return by number the names of the speakers; '' for one who is in no file."""
        heard = set(itertools.compress(self.speakers, self._is_live))
        return [
            name if number in heard else ""
            for number, name in enumerate(self.speaker_names)
        ]

    @property
    def assistants(self) -> set[str]:
        """Return the folded names of assistants, as their files say."""
        speakers = {self.speakers[number] for number in self.of_assistants}
        return {self.names_heard[number] for number in speakers} - {""}

    @functools.cached_property
    def of_assistants(self) -> frozenset[int]:
        """Return the passages that hold an assistant's words, as their files say."""
        flags = enumerate(self.flags)
        return frozenset(number for number, flag in flags if flag & BY_ASSISTANT)

    def by_assistant(self, number: int) -> bool:
        """Tell whether a passage holds an assistant's words, as its file says."""
        return number in self.of_assistants

    # -- words ---------------------------------------------------------------------

    def concept(self, stem: str) -> list[str]:
        """Return the tokens that share a stem."""
        return list(self._tokens(f"{stem}\0"))

    def frequency(self, token: str) -> int:
        """Return in how many passages a token stands."""
        return len(self.postings(token).numbers)

    def postings(self, token: str) -> Postings:
        """Return where a token stands."""
        if token not in self._postings:
            packed = self.packed.get(key_of(token), b"")
            middle = len(packed) // BYTES_OF_POSTING * BYTES_OF_NUMBER
            numbers = array("I", packed[:middle])
            times = array("B", packed[middle:])
            if self.count < len(self._is_live):
                is_live = bytes(map(self._is_live.__getitem__, numbers))
                numbers = array("I", itertools.compress(numbers, is_live))
                times = array("B", itertools.compress(times, is_live))
            self._postings[token] = Postings(numbers, times)
        return self._postings[token]

    @functools.cached_property
    def _postings(self) -> dict[str, Postings]:
        return {}

    def near(self, word: str, limit: int = 3) -> list[str]:
        """Return other tokens that are spelt nearly so and begin alike.

        Args:
            word: a folded word.
            limit: how many are returned; the nearest come first.
        """
        tokens = set(self._tokens(word[:1])) - {word}
        alike = [token for token in tokens if abs(len(token) - len(word)) < 2]
        return plain.nearest(word, sorted(alike), limit, NEAR_RATIO)

    def _tokens(self, start: str) -> Iterator[str]:
        """Yield the tokens whose keys begin so, and that stand in a file."""
        prefix = start.encode()
        first = bisect.bisect_left(self._keys, prefix)
        for place in range(first, len(self._keys)):
            key = self._keys[place]
            if not key.startswith(prefix):
                return
            token = key.decode().partition("\0")[2]
            if self.frequency(token):
                yield token

    @functools.cached_property
    def _keys(self) -> list[bytes]:
        """Return all keys, sorted, so that the words of one stem are side by side."""
        return sorted(self.packed)


def key_of(token: str) -> bytes:
    """Return the key of a token, which begins with its stem."""
    return f"{terms.stem(token)}\0{token}".encode()
