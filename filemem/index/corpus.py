"""A user's passages as the index has them at one moment: what ranking asks of words, and grep of files."""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from filemem.files.memory import ASSISTANT, kind_of
from filemem.index.snapshot import ARCHIVED, Snapshot, Stats, key_of
from filemem.text import terms

MOST_KNOWN = 10_000  # words whose forms, frequencies and places are held
_IS_DERIVED = bytes(bool(n & terms.IS_DERIVED) for n in range(256))
_CITES = bytes(bool(n & terms.CITES) for n in range(256))
_ASKS_ONLY = bytes(bool(n & terms.ASKS_ONLY) for n in range(256))
BY_ASSISTANT, ONLY_ASKING, QUOTING = 1, 2, 3
Key = TypeVar("Key")
Value = TypeVar("Value")


class IndexedFile:
    """A file: `date` is an ordinal (0: none), `first` the number of the first of its `count` passages; `particulars` are
    well-formed values of the front matter (`Memory.particulars`), dates in ISO form, and where in it other days begin."""

    __slots__ = ("archived", "count", "date", "days", "first", "particulars", "path")

    def __init__(
        self, path: str, date: int, first: int, count: int, archived: bool, particulars: dict[str, Any]
    ) -> None:
        self.path = path
        self.date = date
        self.first = first
        self.count = count
        self.archived = archived
        self.particulars = particulars
        days = [date, *(day for _, day in particulars.get("days", ()))] if particulars else [date]
        self.days = [*filter(None, dict.fromkeys(days))]
        """The file's day and those of its turns that were said on others, as ordinals; none where it has no date."""

    def day(self, number: int) -> int:
        """The day of a passage, as an ordinal: its own, or the file's."""
        days = [day for place, day in self.particulars.get("days", ()) if self.first + place <= number]
        return (days and days[-1]) or self.date

    @property
    def numbers(self) -> range:
        """The numbers of its passages."""
        return range(self.first, self.first + self.count)

    @property
    def kind(self) -> str:
        """The kind that the path decides."""
        return kind_of(self.path)


class Corpus:
    """The passages of all files.

    What retells others (a fact its turns) is found like them, but left out of `count`, `mean_length` and `frequency` where it
    is the smaller half: a word is no more common for being told over again.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._tables = snapshot
        self._held: dict[str, list[tuple[array[int], bytes]]] = {}
        self._concepts: dict[str, list[str]] = {}
        self._frequencies: dict[str, int] = {}
        self._entries: dict[int, IndexedFile] = {}
        self.kept: dict[int, Any] = {}  # what ranking keeps of passages
        self.lengths: Sequence[int] = snapshot.lengths
        self.flags = snapshot.flags
        self.speakers: Sequence[int] = snapshot.speakers
        self.speaker_names: Sequence[str] = snapshot.speaker_names
        self.firsts: Sequence[int] = [row.first for row in snapshot.files]
        """The first passage of each file, ascending."""
        ends = [0, *(row.first + row.passages for row in snapshot.files)]
        starts = [*self.firsts, len(snapshot.lengths)]
        self._gone = [(end, start) for end, start in zip(ends, starts, strict=True) if end < start]
        """The numbers of passages that belong to no file any more, from and up to."""
        self.files = len(snapshot.files)
        """All files, the archived and those without passages included."""
        self.archived = sum(row.marks & ARCHIVED for row in snapshot.files)
        derived = self.flags.translate(_IS_DERIVED)
        retold = list(itertools.compress(self.lengths, derived)) if b"\1" in derived else []
        self.count = snapshot.live
        self._retelling = derived if retold and 2 * len(retold) <= self.count else b""
        total = sum(self.lengths)
        if self._retelling:
            self.count -= len(retold)
            total -= sum(retold)
        self._total = total

    # -- files ---------------------------------------------------------------------------------------------------

    def file(self, number: int) -> IndexedFile:
        """The file of a passage."""
        return self._entry(self._file_of(number))

    def _file_of(self, number: int) -> int:
        """The place of a passage's file; of files that begin at the same number only the last has passages."""
        return bisect.bisect_right(self.firsts, number) - 1

    def _entry(self, file: int) -> IndexedFile:
        known = self._entries.get(file)
        if known is None:
            row = self._tables.files[file]
            archived = bool(row.marks & ARCHIVED)
            known = IndexedFile(row.path, row.date, row.first, row.passages, archived, row.particulars or {})
            self._entries[file] = known
        return known

    def entries(self) -> Iterator[IndexedFile]:
        """Every file, in no order."""
        return map(self._entry, range(self.files))

    def dated(self, first: int, last: int) -> list[IndexedFile]:
        """The files with a day from `first` to `last`, as ordinals."""
        found = [
            self._entry(file)
            for file, row in enumerate(self._tables.files)
            if first <= row.date <= last or (row.particulars and "days" in row.particulars)
        ]
        return [entry for entry in found if any(first <= day <= last for day in entry.days)]

    def stats(self, number: int) -> Stats:
        """The stats of a passage's file."""
        return self._tables.files[self._file_of(number)].stats

    @functools.cached_property
    def voices(self) -> bytes:
        """By passage 0 for what a person states or nobody says, BY_ASSISTANT, ONLY_ASKING (a person, an assistant) or QUOTING
        (memory); empty where all is 0."""
        found = bytearray(len(self.flags))
        for number in (
            _places(self.speakers, self.speaker_names.index(ASSISTANT)) if ASSISTANT in self.speaker_names else ()
        ):
            found[number] = BY_ASSISTANT
        for file, row in enumerate(self._tables.files):
            if not row.particulars or "assistant" not in row.particulars:
                continue
            entry = self._entry(file)
            named = terms.fold(str(entry.particulars["assistant"]))
            for number in range(entry.first, entry.first + entry.count):
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
        return max((row.date for row in self._tables.files), default=0)

    @functools.cached_property
    def names(self) -> dict[str, list[str]]:
        """What else a name stands for, by a file's `aliases` or by `[[name|other name]]`, as folded words."""
        found: dict[str, dict[str, None]] = {}
        for more in (row.particulars for row in self._tables.files if row.particulars):
            for group in [more.get("names", ()), *more.get("links", ())]:
                folded = dict.fromkeys(" ".join(terms.words(name)) for name in group)
                for one, other in itertools.permutations(filter(None, folded), 2):
                    found.setdefault(one, {})[other] = None
        return {one: list(others) for one, others in found.items()}

    # -- words ---------------------------------------------------------------------------------------------------

    def _place(self, token: str) -> int:
        """The place of a token among the keys, -1 where it is not among them."""
        keys, key = self._tables.keys, key_of(token)
        at = bisect.bisect_left(keys, key)
        return at if at < len(keys) and keys[at] == key else -1

    def _begun(self, start: bytes) -> list[bytes]:
        """The keys that begin so."""
        keys, end = self._tables.keys, bytes([*start[:-1], start[-1] + 1])
        at = bisect.bisect_left(keys, start)
        return keys[at : bisect.bisect_left(keys, end, at)]

    def concept(self, stem: str) -> list[str]:
        """The tokens that share a stem, sorted; those of captions have `[` in front."""
        known = self._concepts.get(stem)
        if known is None:
            start = stem.encode() + b"\0"
            tokens = [key[len(start) :].decode() for key in self._begun(start)]
            known = _keep(self._concepts, stem, [token for token in tokens if not self._gone or self.postings(token)])
        return known

    def frequency(self, token: str) -> int:
        """In how many passages a token stands (1 if only in such as retell)."""
        known = self._frequencies.get(token)
        if known is None:
            known = _keep(self._frequencies, token, self._counted(token))
        return known

    def _counted(self, token: str) -> int:
        found = [numbers for numbers, _ in self.postings(token)]
        count = sum(map(len, found))
        retold = sum(map(self._retelling.__getitem__, itertools.chain.from_iterable(found))) if self._retelling else 0
        return max(count - retold, min(count, 1))

    def postings(self, token: str) -> list[tuple[array[int], bytes]]:
        """The passages that hold a token, ascending, and its counts in them; nothing where there are none."""
        held = self._held.get(token)
        if held is not None:
            return held
        place, tables, pieces = self._place(token), self._tables, []
        at, end = tables.starts[place : place + 2] if place >= 0 else (0, 0)
        for first, after in self._gone if at < end else ():
            gone = bisect.bisect_left(tables.numbers, first, at, end)
            pieces.append(slice(at, gone))
            at = bisect.bisect_left(tables.numbers, after, gone, end)
        pieces.append(slice(at, end))
        found = [(tables.numbers[piece], tables.times[piece]) for piece in pieces if piece.start < piece.stop]
        return _keep(self._held, token, found)

    def near(self, word: str, count: int = 3) -> list[str]:
        """The tokens that are one edit from a folded word and begin alike, sorted."""
        keys = self._begun(word[:1].encode()) if word else []
        starting = {key.decode().partition("\0")[2].lstrip("[") for key in keys}
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


def _keep(known: dict[Key, Value], key: Key, value: Value) -> Value:
    """Hold what was looked up for the next question, up to a number of things."""
    if len(known) >= MOST_KNOWN:
        known.clear()
    known[key] = value
    return value
