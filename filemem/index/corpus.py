"""A user's passages as the index has them at one moment: what ranking asks of words, and grep of files.

Every segment has a slot of 65,536 passage numbers (a wide one several), so numbers are those of the segment with the slot's
in front, passages of one file are neighbours, and there are gaps. Passages of files that have changed since their segment
was written are dead.
"""

from __future__ import annotations

import bisect
import contextlib
import difflib
import functools
import itertools
import re
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.files.folder import Stat
from filemem.files.memory import kind_of
from filemem.files.passages import ASSISTANT
from filemem.index.segments import ARCHIVED, PASSAGES, REST, UNFILTERED, UNREAD, DamagedSegment, Segment
from filemem.text import terms

MOST_POSTINGS = 300_000  # of a piece of text, to look for its files in; with more, reading the files is no slower
MOST_TOKENS = 20_000  # that have the piece in them, likewise
FEW = 20  # files that are read sooner than narrowed down
MOST_HELD = 2_000_000  # postings held for the next query
MOST_KNOWN = 10_000  # words whose forms and frequencies are held; and files
_ARCHIVED, _UNFILTERED, _UNREAD = (bytes(n for n in range(256) if n & m) for m in (ARCHIVED, UNFILTERED, UNREAD))
_IS_DERIVED = bytes(bool(n & terms.IS_DERIVED) for n in range(256))
_CITES = bytes(bool(n & terms.CITES) for n in range(256))
_ASKS_ONLY = bytes(bool(n & terms.ASKS_ONLY) for n in range(256))
BY_ASSISTANT, ONLY_ASKING, QUOTING = 1, 2, 3
_PIECE = re.compile("[a-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff]+")


class IndexedFile:
    """A file: `date` is an ordinal (0: none), `first` the number of the first of its `count` passages; `particulars` are
    well-formed values of the front matter (`gathering.RANKED`), dates in ISO form, and where in it other days begin."""

    __slots__ = ("archived", "count", "date", "days", "first", "layout", "particulars", "path")

    def __init__(
        self, path: str, date: int, first: int, count: int, archived: bool, particulars: dict[str, Any]
    ) -> None:
        self.path = path
        self.date = date
        self.first = first
        self.count = count
        self.archived = archived
        self.particulars = particulars
        self.layout: Any = None  # what ranking keeps of it
        days = [date, *(day for _, day in particulars.get("days", ()))] if particulars else [date]
        self.days = [*filter(None, dict.fromkeys(days))]
        """The file's day and those of its turns that were said on others, as ordinals; none where it has no date."""

    def day(self, number: int) -> int:
        """The day of a passage, as an ordinal: its own, or the file's."""
        days = [day for place, day in self.particulars.get("days", ()) if self.first + place <= number]
        return (days and days[-1]) or self.date

    @property
    def kind(self) -> str:
        """The kind that the path decides."""
        return kind_of(self.path)


class Part(NamedTuple):
    """A segment, and the files of it that are dead."""

    segment: Segment
    dead: frozenset[int]

    def live(self) -> Iterator[int]:
        """The files that are not dead."""
        return (file for file in range(len(self.segment.marks)) if file not in self.dead)

    def ranges(self) -> list[tuple[int, int]]:
        """The passages of the dead files, as numbers in the segment, ascending."""
        firsts = self.segment.firsts
        return [(firsts[file], firsts[file + 1]) for file in sorted(self.dead)]


class Corpus:
    """The passages of all live files. `mend` makes a segment whose bytes are damaged anew, with the same numbers.

    What retells others (a fact its turns) is found like them, but left out of `count`, `mean_length` and `frequency` where it
    is the smaller half: a word is no more common for being told over again.
    """

    def __init__(self, parts: Iterable[Part], mend: Callable[[Part], Segment]) -> None:
        self._parts = list(parts)
        self._mend = mend
        self._held: dict[str, list[tuple[array[int], bytes]]] = {}
        self._holding = 0
        self._concepts: dict[str, list[str]] = {}
        self._frequencies: dict[str, int] = {}
        self._entries: dict[tuple[int, int], IndexedFile] = {}
        self._bases: list[int] = []
        self._slots: list[int] = []  # the place of each slot's part
        for number, (segment, _) in enumerate(self._parts):
            self._bases.append(len(self._slots) * PASSAGES)
            self._slots += [number] * max(1, -(-len(segment.lengths) // PASSAGES))
        self.lengths: Sequence[int] = self._joined([segment.lengths for segment, _ in self._parts])
        self.flags = self._joined([segment.flags for segment, _ in self._parts])
        names = (name for segment, _ in self._parts for name in segment.speaker_names)
        self.speaker_names: Sequence[str] = list(dict.fromkeys(itertools.chain([""], names)))
        self.speakers = self._speakers()
        firsts = array("I")
        for base, (segment, _) in zip(self._bases, self._parts, strict=True):
            firsts += _moved(segment.firsts[:-1], base)
        self.firsts: Sequence[int] = firsts
        """The first passage of each file, dead ones too, ascending."""
        self._count()
        marks = b"".join(_live_marks(part) for part in self._parts)
        self.files = len(marks)
        """Live files, the archived and those without passages included."""
        self.archived = len(marks) - len(marks.translate(None, _ARCHIVED))

    def _count(self) -> None:
        """How many passages there are, and how long."""
        gone = [
            segment.lengths[first:end]
            for segment, dead in self._parts
            if dead
            for first, end in Part(segment, dead).ranges()
        ]
        self.dead = sum(map(len, gone))
        self.count = sum(len(segment.lengths) for segment, _ in self._parts) - self.dead
        total = sum(segment.total for segment, _ in self._parts) - sum(map(sum, gone))
        retold = [length for part in self._parts for length in _retold(part)]
        self._counts_all = 2 * len(retold) > self.count
        if not self._counts_all:
            self.count -= len(retold)
            total -= sum(retold)
        self.mean_length = total / max(1, self.count)

    def _joined(self, tables: list[bytes]) -> bytes:
        """Tables by passage, joined with the gaps between them."""
        ends = [*self._bases[1:], len(self._slots) * PASSAGES]
        sizes = [end - base for base, end in zip(self._bases, ends, strict=False)]
        return b"".join(table.ljust(size, b"\0") for table, size in zip(tables, sizes, strict=True))

    def _speakers(self) -> Sequence[int]:
        """The speaker's number by passage number."""
        numbers = {name: number for number, name in enumerate(self.speaker_names)}
        tables = [[numbers[name] for name in segment.speaker_names] for segment, _ in self._parts]
        found = zip(self._parts, tables, strict=True)
        if len(numbers) <= 256:
            padded = ((segment, bytes(table).ljust(256, b"\0")) for (segment, _), table in found)
            return self._joined([segment.speakers.tobytes().translate(table) for segment, table in padded])
        wide = array("I", bytes(4 * len(self._slots) * PASSAGES))
        for base, ((segment, _), table) in zip(self._bases, found, strict=True):
            wide[base : base + len(segment.speakers)] = array("I", map(table.__getitem__, segment.speakers))
        return wide

    # -- files ---------------------------------------------------------------------------------------------------

    def alive(self, number: int) -> bool:
        """Does the passage still stand in its file?"""
        if not self.dead:
            return True
        part, file = self._place(number)
        return file not in self._parts[part].dead

    def file(self, number: int) -> IndexedFile:
        """The file of a passage."""
        return self._entry(*self._place(number))

    def _place(self, number: int) -> tuple[int, int]:
        """The part that has a passage, and its file's place there."""
        part = self._slots[number // PASSAGES]
        return part, self._parts[part].segment.file_of(number - self._bases[part])

    def _entry(self, part: int, file: int) -> IndexedFile:
        segment = self._parts[part].segment
        known = self._entries.get((part, file))
        if known is None:
            known = IndexedFile(
                segment.path(file),
                segment.dates[file],
                self._bases[part] + segment.firsts[file],
                segment.firsts[file + 1] - segment.firsts[file],
                bool(segment.marks[file] & ARCHIVED),
                segment.particulars.get(file, {}),
            )
            self._keep(self._entries, (part, file), known)
        return known

    def entries(self) -> Iterator[IndexedFile]:
        """Every live file, in no order."""
        return (self._entry(number, file) for number, part in enumerate(self._parts) for file in part.live())

    def dated(self, first: int, last: int) -> list[IndexedFile]:
        """The live files with a day from `first` to `last`, as ordinals."""
        found = [
            self._entry(number, file)
            for number, (segment, dead) in enumerate(self._parts)
            for file, date in enumerate(segment.dates)
            if (first <= date <= last or "days" in segment.particulars.get(file, ())) and file not in dead
        ]
        return [entry for entry in found if any(first <= day <= last for day in entry.days)]

    def listing(self) -> Iterator[Stat]:
        """Every live file, in no order, as `Folder.files` lists it."""
        return (self._stat(number, file) for number, part in enumerate(self._parts) for file in part.live())

    def _stat(self, part: int, file: int) -> Stat:
        segment = self._parts[part].segment
        modified, changed, size, inode = segment.stats_of(file)
        return Stat(segment.path(file), max(modified, changed), size, inode)

    def stats(self, number: int) -> tuple[int, ...]:
        """The stats of a passage's file as `watching.listing` has them."""
        part, file = self._place(number)
        return tuple(self._parts[part].segment.stats_of(file))

    def unread(self) -> list[str]:
        """The files that could not be read when they were last looked at."""
        return [
            part.segment.path(file)
            for part in self._parts
            if len(part.segment.marks.translate(None, _UNREAD)) < len(part.segment.marks)
            for file in part.live()
            if part.segment.marks[file] & UNREAD
        ]

    @functools.cached_property
    def voices(self) -> bytes:
        """By passage 0 for what a person states or nobody says, BY_ASSISTANT, ONLY_ASKING (a person, an assistant) or QUOTING
        (memory); empty where all is 0."""
        found = bytearray(len(self.flags))
        for speaker in self._speakers_by_token.get(ASSISTANT, ()) if ASSISTANT in self.speaker_names else ():
            for number in _places(self.speakers, speaker) if self.speaker_names[speaker] == ASSISTANT else ():
                found[number] = BY_ASSISTANT
        for entry in self._imported:
            named = terms.fold(str(entry.particulars["assistant"]))
            for number in range(entry.first, entry.first + entry.count):
                found[number] |= BY_ASSISTANT if self.speaker_names[self.speakers[number]] == named else 0
        # A question is put to an assistant where one speaks before or after it.
        for number in _places(self.flags.translate(_ASKS_ONLY), 1) if any(found) else ():
            if not found[number] and self.speakers[number] and BY_ASSISTANT in found[max(0, number - 1) : number + 2]:
                found[number] = ONLY_ASKING
        for number in _places(self.flags.translate(_CITES), 1):
            found[number] = QUOTING if self.speakers[number] else found[number]
        return bytes(found) if any(found) else b""

    @functools.cached_property
    def hollow(self) -> frozenset[int]:
        """The passages that only ask an assistant, or quote memory."""
        return frozenset(number for voice in (ONLY_ASKING, QUOTING) for number in _places(self.voices, voice))

    @property
    def _imported(self) -> Iterator[IndexedFile]:
        """The files whose front matter names an assistant."""
        return (
            self._entry(number, file)
            for number, (segment, dead) in enumerate(self._parts)
            for file, more in segment.particulars.items()
            if "assistant" in more and file not in dead
        )

    def line(self, number: int) -> int:
        """The first line of a passage."""
        part = self._slots[number // PASSAGES]
        return self._parts[part].segment.lines[number - self._bases[part]]

    @functools.cached_property
    def newest(self) -> int:
        """The latest date of a live file as an ordinal; 0 where none has one."""
        return max((part.segment.dates[file] for part in self._parts for file in part.live()), default=0)

    @functools.cached_property
    def _names(self) -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {}
        for segment, dead in self._parts:
            for file, more in segment.particulars.items():
                for group in [more.get("names", ()), *more.get("links", ())] if file not in dead else ():
                    folded = dict.fromkeys(" ".join(terms.words(name)) for name in group)
                    for one, other in itertools.permutations(filter(None, folded), 2):
                        found.setdefault(one, {})[other] = None
        return {one: list(others) for one, others in found.items()}

    def names(self) -> dict[str, list[str]]:
        """What else a name stands for, by a file's `aliases` or by `[[name|other name]]`, as folded words."""
        return self._names

    # -- words ---------------------------------------------------------------------------------------------------

    def concept(self, stem: str) -> list[str]:
        """The tokens that share a stem, sorted; those of captions have `[` in front."""
        known = self._concepts.get(stem)
        if known is None:
            found = sorted({token for segment, _ in self._parts for token in segment.concept(stem)})
            known = [token for token in found if self.frequency(token)] if self.dead else found
            self._keep(self._concepts, stem, known)
        return known

    def frequency(self, token: str) -> int:
        """In how many live passages a token stands (1 if only in such as retell); with `@` in front: by how many its bearer
        speaks."""
        known = self._frequencies.get(token)
        if known is None:
            known = self._counted(token)
            self._keep(self._frequencies, token, known)
        return known

    @staticmethod
    def _keep(known: dict[Any, Any], key: Any, value: Any) -> None:
        """Hold what was looked up for the next question, up to a number of things."""
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[key] = value

    def _counted(self, token: str) -> int:
        if token[0] == terms.SPEAKER:
            return sum(map(self._turns, self._speakers_by_token.get(token[1:], ())))
        total = retold = 0
        for number, (segment, dead) in enumerate(self._parts):
            place = segment.place(token)
            if place >= 0:
                gone = self._gone(number, token) if dead else []
                total += segment.size(place) - len(gone)
                if again := segment.retold(place):
                    retold += again - sum(segment.flags[passage] & terms.IS_DERIVED != 0 for passage in gone)
        return total if self._counts_all else max(total - retold, min(total, 1))

    @functools.cached_property
    def _speakers_by_token(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, name in enumerate(self.speaker_names):
            for token in set(terms.tokens(name)):
                found.setdefault(token, []).append(number)
        return found

    def _turns(self, speaker: int) -> int:
        """The live passages of a speaker."""
        return self.speakers.count(speaker) - sum(
            self.speakers[base + first : base + end].count(speaker)
            for base, part in zip(self._bases, self._parts, strict=True)
            for first, end in (part.ranges() if part.dead else ())
        )

    def _spoken(self, token: str) -> list[tuple[array[int], bytes]]:
        """The passages, dead ones among them, of all who have the token in their name."""
        numbers = sorted(
            number for speaker in self._speakers_by_token.get(token, ()) for number in _places(self.speakers, speaker)
        )
        return [(array("I", numbers), b"\1" * len(numbers))] if numbers else []

    def _gone(self, part: int, token: str) -> list[int]:
        """The postings of a token in a part that are dead."""
        numbers, _ = self._read(part, token)
        segment, dead = self._parts[part]
        if 4 * len(dead) > len(numbers):
            return [number for number in numbers if segment.file_of(number) in dead]
        gone: list[int] = []
        for first, end in self._parts[part].ranges():
            gone += numbers[bisect.bisect_left(numbers, first) : bisect.bisect_left(numbers, end)]
        return gone

    def postings(self, token: str) -> list[tuple[array[int], bytes]]:
        """For each part that has the token: the passages, ascending, dead ones among them, and its counts there."""
        held = self._held.get(token)
        if held is not None:
            return held
        found = self._spoken(token[1:]) if token[0] == terms.SPEAKER else []
        for part, base in enumerate(self._bases if not found else ()):
            numbers, counts = self._read(part, token)
            if numbers:
                found.append((_moved(numbers, base), counts))
        self._holding += sum(len(counts) for _, counts in found)
        if self._holding > MOST_HELD:
            self._held.clear()
            self._holding = 0
        self._held[token] = found
        return found

    def _read(self, part: int, token: str) -> tuple[array[int], bytes]:
        """The passages, as numbers in the segment, and counts of a token; a damaged segment is made anew first."""
        segment, dead = self._parts[part]
        try:
            return segment.postings(token)
        except DamagedSegment:
            self._parts[part] = Part(self._mend(self._parts[part]), dead)
            return self._parts[part].segment.postings(token)

    def near(self, word: str, count: int = 3) -> list[str]:
        """The tokens that are spelt most like a folded word, best first."""
        if not word:
            return []
        letters = set(word)
        likely = {
            token
            for segment, _ in self._parts
            for token in segment.starting(word[0])
            if abs(len(token) - len(word)) <= 2 and len(letters.symmetric_difference(token)) <= 4
        }
        found = difflib.get_close_matches(word, sorted(likely), n=2 * count, cutoff=0.7)
        return [token for token in found if token != word and self.frequency(token)][:count]

    # -- grep ----------------------------------------------------------------------------------------------------

    def files_with(self, literals: Iterable[Collection[str]]) -> dict[str, Stat] | None:
        """The files, by path, that may have, for each set of folded strings, one of them; None: no telling.

        A string's words stand in the vocabulary, at its ends as parts of longer ones, so a file without them is out.
        """
        chosen: set[tuple[int, int]] | None = None
        for strings in literals:
            group: set[tuple[int, int]] | None = set()
            for string in strings:
                files = self._files_with(string)
                group = None if files is None or group is None else group | files
            if group is not None:
                chosen = group if chosen is None else chosen & group
        if chosen is None:
            return None
        for number, (segment, _) in enumerate(self._parts):
            if len(segment.marks.translate(None, _UNFILTERED)) < len(segment.marks):
                chosen |= {(number, file) for file, mark in enumerate(segment.marks) if mark & UNFILTERED}
        live = (self._stat(part, file) for part, file in chosen if file not in self._parts[part].dead)
        return {stat.path: stat for stat in live}

    def _files_with(self, string: str) -> set[tuple[int, int]] | None:
        """The files (segment, file) that may have a folded string; None: no telling."""
        found: set[tuple[int, int]] | None = None
        for piece in sorted(_pieces(string), key=lambda piece: -len(piece.text)):
            files = self._files_of(piece) if found is None or len(found) > FEW else None
            if files is not None:
                found = files if found is None else found & files
        return found

    def _files_of(self, piece: _Piece) -> set[tuple[int, int]] | None:
        found = [(part, token) for part, (segment, _) in enumerate(self._parts) for token in piece.find(segment)]
        sizes = (self._parts[part].segment.size(self._parts[part].segment.place(token)) for part, token in found)
        if len(found) > MOST_TOKENS or sum(sizes) > MOST_POSTINGS:
            return None
        files: set[tuple[int, int]] = set()
        for part, token in found:
            numbers, _ = self._read(part, token)
            file_of = self._parts[part].segment.file_of
            files.update((part, file_of(number)) for number in numbers)
        return files


class _Piece(NamedTuple):
    """A piece of a string to grep for: a word, or where it is open to the left or right the end, start or middle of one."""

    text: str
    open_left: bool
    open_right: bool

    def fits(self, word: str) -> bool:
        """May this be the piece of `word`?"""
        if self.open_left:
            return self.text in word if self.open_right else word.endswith(self.text)
        return word.startswith(self.text) if self.open_right else word == self.text

    def find(self, segment: Segment) -> list[str]:
        """The tokens of a segment that have the piece; one that may be of a stop word is not looked for."""
        if not self.open_left and not self.open_right:
            return [token for token in (self.text, "[" + self.text, REST + self.text) if segment.place(token) >= 0]
        return [token for token in segment.holding(self.text) if self.fits(token.lstrip("[" + REST))]


def _pieces(string: str) -> list[_Piece]:
    """The pieces of a folded string whose words the index holds: ASCII words, pairs of Chinese characters."""
    found = []
    for match in _PIECE.finditer(string):
        text, start, end = match[0], match.start(), match.end()
        if text.isascii():
            found.append(_Piece(text, _joins(string[start - 1 : start]), _joins(string[end : end + 1])))
        else:
            wanted = 1 if len(text) == 1 else 2
            found += [_Piece(token, False, False) for token in terms.tokens(text) if len(token) == wanted]
    return [piece for piece in found if not any(map(piece.fits, terms.STOP))]


def _joins(neighbour: str) -> bool:
    """May a word go on over this character, or over the end of the string (empty)?"""
    return not neighbour or not neighbour.isascii()


def _places(table: Sequence[int], value: int) -> Iterator[int]:
    """Where a value stands in a table."""
    at = -1
    with contextlib.suppress(ValueError):
        while True:
            at = table.index(value, at + 1)
            yield at


def _moved(numbers: array[int], base: int) -> array[int]:
    """Numbers in a segment as passage numbers; `base` is a multiple of 65,536."""
    if len(numbers) < 32 or numbers.itemsize > 2 or sys.byteorder == "big":
        return array("I", map(base.__add__, numbers)) if base else array("I", numbers)
    # The same byte by byte takes a twentieth of the time.
    narrow, wide = numbers.tobytes(), bytearray(4 * len(numbers))
    wide[0::4], wide[1::4] = narrow[0::2], narrow[1::2]
    for place in (2, 3):
        wide[place::4] = bytes([base >> 8 * place & 255]) * len(numbers)
    return array("I", bytes(wide))


def _retold(part: Part) -> list[int]:
    """The lengths of the live passages that retell others."""
    segment, dead = part
    tells = segment.flags.translate(_IS_DERIVED)
    if b"\1" not in tells:
        return []
    left = bytearray(tells)
    for first, end in part.ranges() if dead else ():
        left[first:end] = bytes(end - first)
    return list(itertools.compress(segment.lengths, left))


def _live_marks(part: Part) -> bytes:
    """The marks of the files that are not dead."""
    marks = part.segment.marks
    return bytes(marks[file] for file in part.live()) if part.dead else marks
