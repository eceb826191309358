"""What a search asks of a snapshot."""

import bisect
import functools
import itertools
import operator
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from filemem.index.snapshot import BY_ASSISTANT, RETELLS, IndexedFile, Snapshot
from filemem.text import terms


class Postings(NamedTuple):
    """The passages that hold a token, ascending, and how often it stands in each."""

    numbers: "array[int]"
    times: "array[int]"
    frequency: int
    """In how many of those that count it stands; at least 1 if it stands anywhere."""


_RETELLS = bytes(bool(flags & RETELLS) for flags in range(256))


class Corpus:
    """The passages of all files.

    What retells others (a fact its turns) is found like them, but left out of `count`,
    `mean_length` and `frequency` if it is the smaller half: a word is no more common
    for being told over again.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._postings: dict[str, Postings] = {}
        self.lengths: Sequence[int] = snapshot.lengths
        self.flags: Sequence[int] = snapshot.flags
        self.lines: Sequence[int] = snapshot.lines
        self.speakers: Sequence[int] = snapshot.speakers
        self.speaker_names: Sequence[str] = snapshot.speaker_names
        self.files = len(snapshot.files)
        """All files, those in the archive and those without passages among them."""
        self.archived = sum(file.archived for file in snapshot.files)
        self._firsts = [file.first for file in snapshot.files]
        self._is_live = bytearray(len(snapshot.flags))
        for file in snapshot.files:
            self._is_live[file.first : file.first + file.count] = b"\1" * file.count
        self._has_gaps = 0 in self._is_live
        self._counts = self._counted()
        self.count = self._counts.count(1)
        """The passages that count for how common a word is."""
        total = sum(itertools.compress(self.lengths, self._counts))
        self.mean_length = total / max(1, self.count)

    def _counted(self) -> bytes:
        """Return 1 for each passage that counts for how common a word is, else 0."""
        retells = self._snapshot.flags.tobytes().translate(_RETELLS)
        found = bytes(map(operator.gt, self._is_live, retells))
        if 2 * found.count(1) < self._snapshot.live:
            return bytes(self._is_live)
        return found

    # -- files ---------------------------------------------------------------------

    def entries(self) -> Sequence[IndexedFile]:
        """Return every file, in no order."""
        return self._snapshot.files

    def file(self, number: int) -> IndexedFile:
        """Return the file of a passage."""
        # Of files that begin at one number only the last has passages.
        return self._snapshot.files[bisect.bisect_right(self._firsts, number) - 1]

    def dated(self, first: int, last: int) -> list[IndexedFile]:
        """Return the files with a day from `first` to `last`, as ordinals."""
        return [
            file
            for file in self.entries()
            if first <= file.date <= last
            or any(first <= day <= last for _, day in file.day_starts)
        ]

    @functools.cached_property
    def names(self) -> list[tuple[str, ...]]:
        """Return the groups of names that stand for one thing, in folded words."""
        groups: dict[tuple[str, ...], None] = {}
        for file in self.entries():
            for group in file.particulars.get("names", ()):
                folded = (" ".join(terms.words(name)) for name in group)
                groups[tuple(name for name in folded if name)] = None
        return list(groups)

    def by_assistant(self, number: int) -> bool:
        """Tell whether a passage holds an assistant's words, as its file says."""
        return bool(self.flags[number] & BY_ASSISTANT)

    # -- words ---------------------------------------------------------------------

    def concept(self, stem: str) -> list[str]:
        """Return the tokens that share a stem; those of captions begin with `[`."""
        tokens = [_token(key) for key in self._keys_from(f"{stem}\0".encode())]
        return [token for token in tokens if self.frequency(token)]

    def frequency(self, token: str) -> int:
        """Return in how many passages a token stands; 1 if only in retelling ones."""
        return self.postings(token).frequency

    def postings(self, token: str) -> Postings:
        """Return where a token stands."""
        if token not in self._postings:
            place = self._snapshot.find(token)
            numbers = self._snapshot.numbers[place]
            times = self._snapshot.times[place]
            if self._has_gaps:
                is_live = bytes(map(self._is_live.__getitem__, numbers))
                numbers = array("I", itertools.compress(numbers, is_live))
                times = array("B", itertools.compress(times, is_live))
            counted = sum(map(self._counts.__getitem__, numbers))
            frequency = max(counted, min(len(numbers), 1))
            self._postings[token] = Postings(numbers, times, frequency)
        return self._postings[token]

    def near(self, word: str, limit: int = 3) -> list[str]:
        """Return other tokens one edit from a folded word that begin alike, sorted."""
        own = _shortened(word)
        found: set[str] = set()
        for key in self._keys_from(word[:1].encode()):
            token = _token(key).removeprefix("[")
            is_near = abs(len(token) - len(word)) <= 1 and token != word
            if is_near and not own.isdisjoint(_shortened(token)):
                found.add(token)
        return [token for token in sorted(found) if self.frequency(token)][:limit]

    def _keys_from(self, start: bytes) -> Iterator[bytes]:
        """Yield the keys that begin so."""
        keys = self._snapshot.keys
        for place in range(bisect.bisect_left(keys, start), len(keys)):
            if not keys[place].startswith(start):
                return
            yield keys[place]


def _token(key: bytes) -> str:
    return key.decode().partition("\0")[2]


def _shortened(word: str) -> set[str]:
    """Return a word, and each word that it is without one letter.

    Words that are one edit apart share one of these.
    """
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
