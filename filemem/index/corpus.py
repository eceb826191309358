"""What a search asks of a snapshot."""

import bisect
import functools
import itertools
import operator
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from filemem.index.snapshot import BY_ASSISTANT, RETELLS, IndexedFile, Snapshot
from filemem.store.paths import live
from filemem.text import plain

NEAR_RATIO = (
    0.8  # of 1, how alike two words are of which one may be meant for the other
)

_RETELLS = bytes(flags & RETELLS for flags in range(256))  # a table: by flags


class Postings(NamedTuple):
    """Where a token stands.

    Attributes:
        numbers: of the passages, ascending.
        times: how often it stands in each.
        frequency: in how many of those that count, at least 1 if there are any.
    """

    numbers: "array[int]"
    times: "array[int]"
    frequency: int


class Corpus:
    """The passages of all files.

    Attributes:
        lines: by passage its first line.
        firsts: by passage the first one of its file.
        speakers: by passage the number of its speaker.
        speaker_names: folded, by their numbers; 0 is nobody.
        lengths: by passage its length in words, stop words aside.
        flags: by passage what is known of it.
        files: how many there are, those in the archive among them.
        archived: how many are in the archive.
        count: how many passages count for how common a word is: all but those that
            retell others (a fact its turns), if these are the smaller half.
        mean_length: of those that count, in words.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._files = snapshot.files
        self._firsts = [file.first for file in snapshot.files]
        self._snapshot = snapshot
        self._postings: dict[str, Postings] = {}
        self.lines: Sequence[int] = snapshot.lines
        self.speakers: Sequence[int] = snapshot.speakers
        self.speaker_names: Sequence[str] = snapshot.speaker_names
        self.lengths: Sequence[int] = snapshot.lengths
        self.flags: Sequence[int] = snapshot.flags
        self.files = len(snapshot.files)
        self.archived = sum(file.archived for file in snapshot.files)
        self._is_live = bytearray(len(snapshot.lines))
        firsts = array("I", bytes(array("I").itemsize * len(snapshot.lines)))
        for file in snapshot.files:
            span = slice(file.first, file.first + file.count)
            self._is_live[span] = b"\1" * file.count
            firsts[span] = array("I", [file.first]) * file.count
        self.firsts: Sequence[int] = firsts
        self._has_gaps = 0 in self._is_live
        retells = snapshot.flags.tobytes().translate(_RETELLS)
        self._counts = bytes(map(operator.gt, self._is_live, retells))
        if 2 * self._counts.count(1) < snapshot.live:
            self._counts = bytes(self._is_live)
        self.count = self._counts.count(1)
        total = sum(itertools.compress(self.lengths, self._counts))
        self.mean_length = total / max(1, self.count)

    # -- files ---------------------------------------------------------------------

    def entries(self) -> Sequence[IndexedFile]:
        """Return every file, in no order."""
        return self._files

    def file(self, number: int) -> IndexedFile:
        """Return the file of a passage."""
        # Of files that begin at one number only the last has passages.
        return self._files[bisect.bisect_right(self._firsts, number) - 1]

    @functools.cached_property
    def by_live_path(self) -> dict[str, IndexedFile]:
        """Return every file by its path outside of the archive."""
        return {live(file.path): file for file in self._files}

    def dated(self, first: int, last: int) -> list[IndexedFile]:
        """Return the files with a day from `first` to `last`.

        Args:
            first, last: days as ordinals; both count. A file without a day has none.
        """
        first = max(1, first)
        found: list[IndexedFile] = []
        for file in self._files:
            days = file.days if file.day_starts else [file.date]
            if any(first <= day <= last for day in days):
                found.append(file)
        return found

    @functools.cached_property
    def names(self) -> list[tuple[str, ...]]:
        """Return the groups of names that stand for one thing, in folded words."""
        groups = [file.particulars.get("names", ()) for file in self._files]
        return list(dict.fromkeys(map(tuple, itertools.chain(*groups))))

    def by_assistant(self, number: int) -> bool:
        """Tell whether a passage holds an assistant's words, as its file says."""
        return bool(self.flags[number] & BY_ASSISTANT)

    # -- words ---------------------------------------------------------------------

    def concept(self, stem: str) -> list[str]:
        """Return the tokens that share a stem; those of captions begin with `[`."""
        return list(self._tokens(f"{stem}\0"))

    def frequency(self, token: str) -> int:
        """Return in how many passages that count a token stands.

        It is at least 1 if the token stands anywhere.
        """
        return self.postings(token).frequency

    def postings(self, token: str) -> Postings:
        """Return where a token stands."""
        if token not in self._postings:
            numbers, times = self._snapshot.postings(token)
            if self._has_gaps:
                is_live = bytes(map(self._is_live.__getitem__, numbers))
                numbers = array("I", itertools.compress(numbers, is_live))
                times = array("B", itertools.compress(times, is_live))
            counted = sum(map(self._counts.__getitem__, numbers))
            frequency = max(counted, min(len(numbers), 1))
            self._postings[token] = Postings(numbers, times, frequency)
        return self._postings[token]

    def near(self, word: str, limit: int = 3) -> list[str]:
        """Return other tokens that are spelt nearly so and begin alike.

        Args:
            word: a folded word.
            limit: how many are returned; the nearest come first.
        """
        tokens = {token.removeprefix("[") for token in self._tokens(word[:1])}
        alike = [token for token in tokens - {word} if abs(len(token) - len(word)) < 2]
        return plain.nearest(word, sorted(alike), limit, NEAR_RATIO)

    def _tokens(self, start: str) -> Iterator[str]:
        """Yield the tokens whose keys begin so, and that stand in a file."""
        prefix = start.encode()
        for place in range(
            bisect.bisect_left(self._snapshot.keys, prefix), len(self._snapshot.keys)
        ):
            key = self._snapshot.keys[place]
            if not key.startswith(prefix):
                return
            token = key.decode().partition("\0")[2]
            if self.frequency(token):
                yield token
