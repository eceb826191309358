"""A user's passages as the index has them at one moment: what ranking asks of words, and grep of files."""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from filemem.files.memory import ASSISTANT
from filemem.index.snapshot import IndexedFile, Snapshot, key_of
from filemem.text import terms

_IS_DERIVED = bytes(bool(n & terms.IS_DERIVED) for n in range(256))
_CITES = bytes(bool(n & terms.CITES) for n in range(256))
_ASKS_ONLY = bytes(bool(n & terms.ASKS_ONLY) for n in range(256))
BY_ASSISTANT, ONLY_ASKING, QUOTING = 1, 2, 3


class Corpus:
    """The passages of all files.

    What retells others (a fact its turns) is found like them, but left out of `count`, `mean_length` and `frequency` where it
    is the smaller half: a word is no more common for being told over again.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._tables = snapshot
        self._concepts: dict[str, list[str]] = {}
        self._frequencies: dict[str, int] = {}
        self._postings: dict[str, list[tuple[array[int], bytes]]] = {}
        self.kept: dict[int, Any] = {}  # what ranking keeps of passages
        self.lengths: Sequence[int] = snapshot.lengths
        self.flags = snapshot.flags
        self.speakers: Sequence[int] = snapshot.speakers
        self.speaker_names: Sequence[str] = snapshot.speaker_names
        self.files = len(snapshot.files)
        """All files, the archived and those without passages included."""
        self.archived = sum(entry.archived for entry in snapshot.files)
        self._firsts = [entry.first for entry in snapshot.files]
        ends = [0, *(entry.first + entry.count for entry in snapshot.files)]
        starts = [*self._firsts, len(snapshot.lengths)]
        self._gone = [(end, start) for end, start in zip(ends, starts, strict=True) if end < start]
        """The numbers of passages that belong to no file any more, from and up to."""
        derived = self.flags.translate(_IS_DERIVED)
        self._retelling = derived if 0 < 2 * derived.count(1) <= snapshot.live else b""
        self.count = snapshot.live - self._retelling.count(1)
        self._total = sum(self.lengths) - sum(itertools.compress(self.lengths, self._retelling))

    # -- files ---------------------------------------------------------------------------------------------------

    def file(self, number: int) -> IndexedFile:
        """The file of a passage; of files that begin at the same number only the last has passages."""
        return self._tables.files[bisect.bisect_right(self._firsts, number) - 1]

    def entries(self) -> Sequence[IndexedFile]:
        """Every file, in no order."""
        return self._tables.files

    def dated(self, first: int, last: int) -> list[IndexedFile]:
        """The files with a day from `first` to `last`, as ordinals."""
        likely = [entry for entry in self.entries() if first <= entry.date <= last or entry.day_starts]
        return [entry for entry in likely if any(first <= day <= last for day in entry.days)]

    @functools.cached_property
    def voices(self) -> bytes:
        """By passage 0 for what a person states or nobody says, BY_ASSISTANT, ONLY_ASKING (a person, an assistant) or QUOTING
        (memory); empty where all is 0."""
        found = bytearray(len(self.flags))
        if ASSISTANT in self.speaker_names:
            for number in _places(self.speakers, self.speaker_names.index(ASSISTANT)):
                found[number] = BY_ASSISTANT
        for entry in self.entries():
            if "assistant" in entry.particulars:
                named = terms.fold(str(entry.particulars["assistant"]))
                for number in entry.numbers:
                    found[number] |= BY_ASSISTANT if self.speaker_names[self.speakers[number]] == named else 0
        # A question is put to an assistant where one speaks before or after it.
        for number in _places(self.flags.translate(_ASKS_ONLY), 1) if any(found) else ():
            if not found[number] and self.speakers[number]:
                entry = self.file(number)
                beside = found[max(entry.first, number - 1) : min(entry.first + entry.count, number + 2)]
                found[number] = ONLY_ASKING if BY_ASSISTANT in beside else 0
        for number in _places(self.flags.translate(_CITES), 1):
            found[number] = QUOTING if self.speakers[number] else found[number]
        return bytes(found) if any(found) else b""

    @functools.cached_property
    def hollow(self) -> frozenset[int]:
        """The passages that only ask an assistant, or quote memory."""
        return frozenset(number for voice in (ONLY_ASKING, QUOTING) for number in _places(self.voices, voice))

    @functools.cached_property
    def mean_length(self) -> float:
        """Of the passages that are counted, in tokens."""
        total = self._total - sum(self.lengths[number] for number in self.uncounted)
        return total / max(1, self.count - len(self.uncounted))

    @functools.cached_property
    def uncounted(self) -> frozenset[int]:
        """The hollow passages and an assistant's answers to such a question: no word is more common for them, nor rarer."""
        behind = {number + 1 for number in _places(self.voices, ONLY_ASKING)}
        return self.hollow | {number for number in behind if self.voices[number : number + 1] == bytes([BY_ASSISTANT])}

    def line(self, number: int) -> int:
        """The first line of a passage."""
        return self._tables.lines[number]

    @functools.cached_property
    def newest(self) -> int:
        """The latest date of a file as an ordinal; 0 where none has one."""
        return max((entry.date for entry in self.entries()), default=0)

    @functools.cached_property
    def names(self) -> dict[str, list[str]]:
        """What else a name stands for, by a file's `aliases` or by `[[name|other name]]`, as folded words."""
        found: dict[str, dict[str, None]] = {}
        for entry in self.entries():
            for group in [entry.particulars.get("names", ()), *entry.particulars.get("links", ())]:
                folded = dict.fromkeys(" ".join(terms.words(name)) for name in group)
                for one, other in itertools.permutations(filter(None, folded), 2):
                    found.setdefault(one, {})[other] = None
        return {one: list(others) for one, others in found.items()}

    # -- words ---------------------------------------------------------------------------------------------------

    def _begun(self, start: bytes) -> Iterator[bytes]:
        """The keys that begin so."""
        keys = self._tables.keys
        for at in range(bisect.bisect_left(keys, start), len(keys)):
            if not keys[at].startswith(start):
                return
            yield keys[at]

    def concept(self, stem: str) -> list[str]:
        """The tokens that share a stem, sorted; those of captions have `[` in front."""
        known = self._concepts.get(stem)
        if known is None:
            start = stem.encode() + b"\0"
            tokens = [key[len(start) :].decode() for key in self._begun(start)]
            known = self._concepts[stem] = [token for token in tokens if not self._gone or self.frequency(token)]
        return known

    def frequency(self, token: str) -> int:
        """In how many passages a token stands (1 if only in such as retell)."""
        known = self._frequencies.get(token)
        if known is None:
            found = [numbers for numbers, _ in self.postings(token)]
            retold = map(self._retelling.__getitem__, itertools.chain.from_iterable(found)) if self._retelling else ()
            count = sum(map(len, found))
            known = self._frequencies[token] = max(count - sum(retold), min(count, 1))
        return known

    def postings(self, token: str) -> list[tuple[array[int], bytes]]:
        """The passages that hold a token, ascending, and its counts in them; nothing where there are none."""
        known = self._postings.get(token)
        if known is None:
            tables, key, pieces = self._tables, key_of(token), list[slice]()
            place = bisect.bisect_left(tables.keys, key)
            if place < len(tables.keys) and tables.keys[place] == key:
                at, end = tables.starts[place : place + 2]
                for first, after in self._gone:
                    gone = bisect.bisect_left(tables.numbers, first, at, end)
                    pieces.append(slice(at, gone))
                    at = bisect.bisect_left(tables.numbers, after, gone, end)
                pieces.append(slice(at, end))
            found = [(tables.numbers[one], tables.times[one]) for one in pieces if one.start < one.stop]
            known = self._postings[token] = found
        return known

    def near(self, word: str, count: int = 3) -> list[str]:
        """The tokens that are one edit from a folded word and begin alike, sorted."""
        starting = {key.decode().partition("\0")[2].lstrip("[") for key in self._begun(word[:1].encode())}
        own = _shorter(word)
        likely = (
            one for one in sorted(starting) if abs(len(one) - len(word)) <= 1 and not own.isdisjoint(_shorter(one))
        )
        return [token for token in likely if self.frequency(token)][:count]


def _shorter(word: str) -> set[str]:
    """A word, and what one letter less makes of it: words that are one edit apart share one of these."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _places(table: Sequence[int], value: int) -> Iterator[int]:
    """Where a value stands in a table."""
    at = -1
    with contextlib.suppress(ValueError):
        while True:
            at = table.index(value, at + 1)
            yield at
