"""The index of a user's memories: a cache in `.filemem/index/` that is compared with the files at every question.

It is one file, a snapshot of all memories, which a new one replaces by a rename. So readers need no lock, see one state whole,
and a process killed at any moment leaves the last one. Writers take a lock. What is missing, damaged or of another version is
built anew from the files; where nothing can be written, or another process is writing, in memory for this process alone.

The file is MAGIC, the CRC-32 of what follows, the length of a head in JSON, the head, and plain tables one after the other, in
the byte order of the machine: the files, their passages, and for each token the passages that hold it. It is read and checked
whole, so that a flipped or missing byte is noticed before it can make an answer wrong. A key is `stem NUL token` in UTF-8, so
that sorted keys put the words of one stem side by side. Tokens of captions start with `[`. A passage keeps its number: of a file
that is gone its postings stay, and belong to no file.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import gc
import hashlib
import itertools
import json
import operator
import os
import re
import sys
import threading
import time
import unicodedata
import zlib
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.store import files
from filemem.store.folder import Folder, Progress, enters, is_memory, no_progress
from filemem.store.memory import LARGEST, SOURCE_MARK, Memory, in_iso, parse
from filemem.store.passages import pauses, windows
from filemem.store.paths import PROFILE, is_archived, kind_of, when_of
from filemem.store.roles import ASSISTANT
from filemem.text import terms
from filemem.text.plain import LINK

MAGIC = b"filemem index 9\n"
ARCHIVED, UNSETTLED = 1, 2
"""Marks of a file: it lies in the archive; it is to be read again."""
MOST_COUNTED = 255

Stats = tuple[int, int, int, int]
"""Of a file: the times of modification and of inode change in nanoseconds, its size in bytes, its inode. Of these only the inode
change cannot be set by a program; it tells a restored old file, or a clock that was put back, from the file known."""


class IndexedFile(NamedTuple):
    """A file: its stats when it was read, its date as an ordinal (0: none), its marks, the number of the first of its `count`
    passages, well-formed values of its front matter (`Memory.metadata`), dates in ISO form, and where in it each other day
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
        """The file's day, those of turns that were said on others, and an event's, as ordinals; none where it has no date."""
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
        self._stopped: list[
            int
        ] = []  # what all stop words share, which costs less than to leave them out first
        self.postings = defaultdict[str, list[int]](
            list, dict.fromkeys(terms.STOP, self._stopped)
        )
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

    def passage(
        self, line: int, speaker: int, flags: int, said: list[str], more: list[str]
    ) -> None:
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
        self.speakers = array("I")
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
        raw = {name: bytes(getattr(self, name)) for name in _TABLES} | {
            "keys": b"\n".join(self.keys)
        }
        sizes = {name: len(table) for name, table in raw.items()}
        facts = {
            "version": version,
            "speakers": self.speaker_names,
            "files": self.files,
            "tables": sizes,
        }
        head = json.dumps(facts, separators=(",", ":")).encode()
        rest = b"".join((len(head).to_bytes(4, "little"), head, *raw.values()))
        return b"".join((MAGIC, zlib.crc32(rest).to_bytes(4, "little"), rest))

    @classmethod
    def unpacked(cls, data: bytes, version: str) -> Snapshot:
        """The snapshot in the bytes of its file. Raises DamagedSnapshot."""
        view, at = memoryview(data), len(MAGIC)
        if not data.startswith(MAGIC) or zlib.crc32(view[at + 4 :]) != int.from_bytes(
            view[at : at + 4], "little"
        ):
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
                    setattr(
                        found, name, array(_TABLES[name], raw) if _TABLES[name] else raw
                    )
            found.speaker_names = facts["speakers"]
            found.files = [
                IndexedFile(path, tuple(stats), *rest)
                for path, stats, *rest in facts["files"]
            ]
            if not found._fits():
                raise DamagedSnapshot
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise DamagedSnapshot from error
        return found

    def _fits(self) -> bool:
        """Do the tables have the right lengths?"""
        ends = [0, *(row.first + row.count for row in self.files)]
        return (
            {len(self.speakers), len(self.lines), len(self.flags)}
            == {len(self.lengths)}
            and all(
                end <= row.first for end, row in zip(ends, self.files, strict=False)
            )
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
        lengths, flags, found.speakers = (
            bytearray(self.lengths),
            bytearray(self.flags),
            self.speakers[:],
        )
        for row in map(self.files.__getitem__, gone):
            span = slice(row.first, row.first + row.count)
            lengths[span] = flags[span] = bytes(row.count)
            found.speakers[span] = array("I", bytes(4 * row.count))
        found.lengths, found.flags = bytes(lengths), bytes(flags)
        return found

    def with_files(self, new: Builder) -> Snapshot:
        """The same with the files of a builder behind its own, whose passages begin where these end."""
        found = Snapshot()
        found.speaker_names = new.speaker_names
        found.files = self.files + new.files
        found.speakers = self.speakers + array("I", new.speakers)
        found.lines = self.lines + array("I", new.lines)
        found.lengths, found.flags = self.lengths + new.lengths, self.flags + new.flags
        sizes, times = array("I"), bytearray()
        old_sizes = array(
            "I", [end - start for start, end in itertools.pairwise(self.starts)]
        )
        done = at = 0
        postings = {
            token: numbers for token, numbers in new.postings.items() if numbers
        }
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
            times += bytes(
                more
                if max(more) <= MOST_COUNTED
                else [min(count, MOST_COUNTED) for count in more]
            )
            done, at = place + known, end
        found.keys += self.keys[done:]
        found.numbers += self.numbers[at:]
        found.times = bytes(times + self.times[at:])
        found.starts = array(
            "I", itertools.accumulate(sizes + old_sizes[done:], initial=0)
        )
        return found


_TABLES = {
    "lengths": "",
    "flags": "",
    "times": "",
    "speakers": "I",
    "lines": "I",
    "starts": "I",
    "numbers": "I",
}
"""The names of the tables but for the keys, with the type of an array, empty for bytes."""


# -- what the index takes from a memory's file ----------------------------------------------------------------------------
# A passage's own words count for its length; those of its context (headings over it, front matter values) are searched along
# but don't. Stop words are left out.

_SOURCE = re.compile(r"\.\w+:\d+\b")  # a line of another file


def tokenize_file(
    builder: Builder, path: str, stats: Stats, data: bytes | None, marks: int = 0
) -> None:
    """Put a file into the builder, with marks besides those that it has itself; `data` is None where it could not be read."""
    first, memory = builder.next, parse(path, data or b"")
    marks |= ARCHIVED if is_archived(path) else 0
    particulars: dict[str, Any] = {}
    day_starts = list[tuple[int, int]]()
    if data is None or len(data) > LARGEST or memory.binary:
        when = when_of(path)
        date = when.date if when else None
    else:
        date, particulars = memory.date, _particulars(memory)
        day_starts = _tokenize(builder, memory, str(particulars.get("source", "")))
        if event := memory.metadata.get(
            "day"
        ):  # behind the passages, which were said on others
            day_starts.append((builder.next - first, event.toordinal()))
    day, count = date.toordinal() if date else 0, builder.next - first
    builder.files.append(
        IndexedFile(path, stats, day, marks, first, count, particulars, day_starts)
    )


def _tokenize(builder: Builder, memory: Memory, source: str) -> list[tuple[int, int]]:
    """Put the passages of a memory, window by window, into the builder; those apart lean on none before them. Returns where days
    begin in it."""
    passages, first = memory.passages, builder.next
    paused = pauses([passage.time for passage in passages])
    speakers = {
        name: builder.speaker(name)
        for name in dict.fromkeys(passage.speaker for passage in passages)
    }
    cites, sums_up, profile = (
        _SOURCE.search(source),
        memory.kind == "summaries",
        memory.path == PROFILE,
    )
    day_starts, last, told = list[tuple[int, int]](), None, ""
    for (line, _, speaker, _, whole, context, day), pause in zip(
        passages, paused, strict=True
    ):
        if day != last:
            day_starts.append((builder.next - first, day.toordinal() if day else 0))
        # Each section of a summary is a conversation of its own, each line of the profile a memory.
        marks = (
            terms.APART
            if pause
            or builder.next == first
            or profile
            or (sums_up and context != told)
            else 0
        )
        last, told = day, context
        for start, end in windows(whole):
            text = whole[start:end]
            speech, caption = terms.split_captions(text)
            said = terms.tokens(speech)
            more = terms.tokens(context) if context else []
            if caption:
                more += [
                    "[" + token
                    for token in terms.tokens(caption)
                    if token not in terms.STOP
                ]
            flags = marks
            if terms.ends_in_question(speech):
                flags |= terms.IS_QUESTION
            # A fact tells its turns, a line of the profile its fact, one of a summary the lines that it stands for.
            if (
                cites
                or (sums_up and _SOURCE.search(whole))
                or (profile and SOURCE_MARK.search(whole))
            ):
                flags |= terms.IS_DERIVED
            builder.passage(line, speakers[speaker], flags, said, more)
            marks |= terms.APART
    return day_starts


def _particulars(memory: Memory) -> dict[str, Any]:
    """What the front matter says that ranking and the sweep need, the file's other names, and names given in its links."""
    found = in_iso(memory.metadata)
    if memory.aliases:
        found["names"] = [[memory.title, *memory.aliases]]
    if "|" in memory.text:
        found["names"] = [
            *found.get("names", ()),
            *([*link] for link in LINK.findall(memory.text) if link[1]),
        ]
    return found


# -- what ranking asks -------------------------------------------------------------------------------------------------

_IS_DERIVED = bytes(bool(n & terms.IS_DERIVED) for n in range(256))


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
        self.ranking_cache: dict[Any, dict[int, Any]] = {}
        self.lengths: Sequence[int] = snapshot.lengths
        self.flags = snapshot.flags
        self.lines: Sequence[int] = snapshot.lines
        self.speakers: Sequence[int] = snapshot.speakers
        self.speaker_names: Sequence[str] = snapshot.speaker_names
        self.files = len(snapshot.files)
        """All files, the archived and those without passages included."""
        self.archived = sum(entry.archived for entry in snapshot.files)
        self._firsts = [entry.first for entry in snapshot.files]
        ends = [0, *(entry.first + entry.count for entry in snapshot.files)]
        starts = [*self._firsts, len(snapshot.lengths)]
        self._gone = [
            (end, start) for end, start in zip(ends, starts, strict=True) if end < start
        ]
        """The numbers of passages that belong to no file any more, from and up to."""
        derived = self.flags.translate(_IS_DERIVED)
        self._retelling = derived if 0 < 2 * derived.count(1) <= snapshot.live else b""
        self.count = snapshot.live - self._retelling.count(1)
        self._total = sum(self.lengths) - sum(
            itertools.compress(self.lengths, self._retelling)
        )

    # -- files ---------------------------------------------------------------------------------------------------

    def file(self, number: int) -> IndexedFile:
        """The file of a passage; of files that begin at the same number only the last has passages."""
        return self._tables.files[bisect.bisect_right(self._firsts, number) - 1]

    def entries(self) -> Sequence[IndexedFile]:
        """Every file, in no order."""
        return self._tables.files

    def dated(self, first: int, last: int) -> list[IndexedFile]:
        """The files with a day from `first` to `last`, as ordinals."""
        likely = [
            entry
            for entry in self.entries()
            if first <= entry.date <= last or entry.day_starts
        ]
        return [
            entry for entry in likely if any(first <= day <= last for day in entry.days)
        ]

    @functools.cached_property
    def by_assistant(self) -> bytes:
        """By passage 1 where it holds an assistant's words, as its file says, else 0."""
        found = bytearray(len(self.flags))
        if ASSISTANT in self.speaker_names:
            for number in _places(self.speakers, self.speaker_names.index(ASSISTANT)):
                found[number] = 1
        for entry in self.entries():
            if "assistant" not in entry.particulars:
                continue
            named = terms.fold(str(entry.particulars["assistant"]))
            for number in entry.numbers:
                if self.speaker_names[self.speakers[number]] == named:
                    found[number] = 1
        return bytes(found)

    @functools.cached_property
    def mean_length(self) -> float:
        """Of the passages that are counted, in tokens."""
        return self._total / max(1, self.count)

    @functools.cached_property
    def names(self) -> list[tuple[str, ...]]:
        """The names that stand for one thing, by a file's `aliases` or by `[[name|other name]]`, as folded words."""
        groups = (
            group
            for one in self.entries()
            for group in one.particulars.get("names", ())
        )
        return [
            *dict.fromkeys(
                tuple(filter(None, (" ".join(terms.words(name)) for name in one)))
                for one in groups
            )
        ]

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
            known = self._concepts[stem] = [
                token for token in tokens if not self._gone or self.frequency(token)
            ]
        return known

    def frequency(self, token: str) -> int:
        """In how many passages a token stands (1 if only in such as retell)."""
        known = self._frequencies.get(token)
        if known is None:
            found = [numbers for numbers, _ in self.postings(token)]
            retold = (
                map(self._retelling.__getitem__, itertools.chain.from_iterable(found))
                if self._retelling
                else ()
            )
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
            found = [
                (tables.numbers[one], tables.times[one])
                for one in pieces
                if one.start < one.stop
            ]
            known = self._postings[token] = found
        return known

    def near(self, word: str, count: int = 3) -> list[str]:
        """The other tokens that are one edit from a folded word and begin alike, sorted."""
        starting = {
            key.decode().partition("\0")[2].lstrip("[")
            for key in self._begun(word[:1].encode())
        }
        own = _shorter(word)
        alike = (
            one
            for one in starting - {word}
            if abs(len(one) - len(word)) <= 1 and not own.isdisjoint(_shorter(one))
        )
        return [token for token in sorted(alike) if self.frequency(token)][:count]


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


# -- the cache of one user ---------------------------------------------------------------------------------------------

FOLDER = "index"
RACY, COARSE = 20_000_000, 2_000_000_000
"""Nanoseconds: a file that was changed so shortly before it was read may change again unseen; the latter where the file
system keeps whole seconds."""
WORN = 1.25  # times as many passages as belong to a file: with more, all is read anew
CHUNK = 12_000_000  # bytes of files read between two snapshots, which bounds the memory that this takes
MOST_KEPT = 2_000_000  # bytes of files kept as they were read; the parsed ones take some ten times as much
_ROOM, _MOST_TIMES = (
    10_000_000,
    10,
)  # bytes of a snapshot: so many, and as many times the files' own, at most
_CHANGING: Stats = (0, 0, 0, 0)  # of a file that may have changed unseen
_SNAPSHOT, _LOCK = "snapshot", "lock"
_STATS = operator.attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")
_SOURCES = (
    *("files/memory.py", "files/front.py", "text/terms.py"),
    *("data/same.txt", "data/traditional.txt", "data/words.txt", "index.py"),
)


def of(folder: Folder) -> Index:
    """The index of a user's folder, the same one for as long as the folder object lives."""
    found: Index = folder.cached.get("index") or folder.cached.setdefault(
        "index", Index(folder)
    )
    return found


class _Listing(NamedTuple):
    """A folder's stats, the paths of the folders in it, the absolute paths of its files, and the stats of each of these."""

    own: Stats
    folders: list[str]
    places: list[str]
    stats: list[Stats]


class Index:
    """The index of one folder. Safe to use from several threads."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.place = folder, folder.root
        self.progress: Progress = (
            no_progress  # told the number of files read and to read
        )
        self._thread_lock = threading.Lock()
        self._corpus: Corpus | None = None
        self._memories: dict[str, tuple[Stats, Memory]] = {}  # files read last
        self._kept = 0  # their bytes, about: threads may add to it at once
        self._known: dict[str, Stats] = {}  # by path, of the files in the snapshot
        self._files: dict[
            str, Stats
        ] = {}  # by path, of the files as they were listed last
        self._folders: dict[str, _Listing] = {}  # by path, likewise
        self._stamp: tuple[
            int, ...
        ] = ()  # tells the file that the snapshot was read from or written to; (): none
        self._hold(Snapshot())

    def corpus(self, progress: Progress | None = None) -> Corpus:
        """The passages of all files as they are now; `progress` stands in for the index's own."""
        with self._thread_lock:
            files = self._listing()
            self._load(files)
            if files is not self._known and files != self._known:
                self._update(files, progress or self.progress)
            else:
                self._known = files  # so that the next question finds the same, and need not compare all again
            if self._corpus is None:
                self._corpus = Corpus(self._snapshot)
            return self._corpus

    def memory(self, path: str, stats: Stats) -> Memory:
        """The memory whose file has just been listed with these stats, kept for as long as it stays so. Raises FilememError."""
        known = self._memories.get(path)
        if known and known[0] == stats:
            return known[1]
        memory = parse(
            path, files.read(f"{self.place}/{path}", LARGEST)
        )  # no link leads there, as it was listed
        if _is_settled(stats) and len(memory.data) == stats[2] <= MOST_KEPT:
            if self._kept + stats[2] > MOST_KEPT:
                self._memories, self._kept = {}, 0
            self._memories[path] = stats, memory
            self._kept += stats[2]
        return memory

    def rest(self) -> None:
        """Free what a search has cached; the next one builds it again."""
        with self._thread_lock:
            self._corpus, self._memories, self._kept = None, {}, 0

    def discard(self) -> None:
        """Delete the cache, so that nothing stays in it of files that were deleted; the next question builds it anew.

        Raises OSError or FilememError where it cannot be.
        """
        with self._thread_lock:
            self._hold(Snapshot())
            self._stamp, self._memories, self._kept = (), {}, 0
            if os.path.lexists(self._where):
                with self._writing(10.0):
                    self._sweep("")

    def _hold(self, snapshot: Snapshot) -> None:
        """Take a snapshot for the state of the files; those that may have changed unseen have no stats, so that they differ."""
        self._snapshot, self._corpus = snapshot, None
        self._known = {
            row.path: row.stats if not row.marks & UNSETTLED else _CHANGING
            for row in snapshot.files
        }

    # -- what files there are ------------------------------------------------------------------------------------

    def _listing(self) -> dict[str, Stats]:
        """The stats of every memory's file, by its path; the same files as `Folder.files` lists. It is the same dict as long as
        nothing differs."""
        found: dict[str, _Listing] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(
                NotADirectoryError, PermissionError, FileNotFoundError
            ):
                found[folder] = listing = self._look_at(folder)
                waiting += listing.folders
        if found != self._folders:
            self._folders = found
            above = len(self.place) + 1
            pairs = (
                pair
                for one in found.values()
                for pair in zip(one.places, one.stats, strict=True)
            )
            self._files = {place[above:]: stats for place, stats in pairs}
        return self._files

    def _look_at(self, folder: str) -> _Listing:
        """A folder as it is now; the listing known where nothing in it has changed. Its stats tell which names it has, but not
        whether a file was changed in its place: each file is looked at."""
        while True:
            own, known = (
                _STATS(os.lstat(f"{self.place}/{folder}")),
                self._folders.get(folder),
            )
            if not known or known.own != own:
                known = self._listed(folder, own)
            try:
                stats = list(map(_STATS, map(os.lstat, known.places)))
            except FileNotFoundError:
                self._folders.pop(folder, None)
            else:
                return known if stats == known.stats else known._replace(stats=stats)

    def _listed(self, folder: str, own: Stats) -> _Listing:
        """The names in a folder."""
        prefix, settled = folder and f"{folder}/", _is_settled(own)
        found = _Listing(own if settled else _CHANGING, [], [], [])
        with os.scandir(f"{self.place}/{folder}") as entries:
            for entry in entries:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False) and enters(path, entry):
                    found.folders.append(path)
                elif is_memory(entry):
                    found.places.append(f"{self.place}/{path}")
        return found

    # -- taking changes in ---------------------------------------------------------------------------------------

    def _update(self, files: dict[str, Stats], progress: Progress) -> None:
        """Take the changes in, on disk where that is possible."""
        changes = sum(self._known.get(path) != stats for path, stats in files.items())
        wait = (
            0.05 + 0.001 * changes
        )  # seconds; about what it takes to do without the other process
        try:
            with self._writing(wait):
                if self._load(files):
                    files = self._listing()
                self._take(files, progress, on_disk=True)
        except (OSError, FilememError):
            self._take(self._listing(), progress, on_disk=False)

    @property
    def _where(self) -> str:
        return self.folder.bookkeeping(FOLDER)

    @contextlib.contextmanager
    def _writing(self, wait: float) -> Iterator[None]:
        """Hold the lock of the index's folder, which is made where it is missing. Raises OSError or FilememError."""
        if not self.folder.exists():
            raise NotFound(
                f"{self.folder.name} has no memories yet; start with: filemem chat."
            )
        files.make_folder(self._where)
        with files.lock(f"{self._where}/{_LOCK}", wait):
            yield

    def _take(
        self, files: dict[str, Stats], progress: Progress, *, on_disk: bool
    ) -> None:
        """Read what is new or has changed. The snapshot is right all along, for ever more of the files, and on disk so too: after
        an interruption that much is done."""
        known = self._known
        gone = {
            place
            for place, row in enumerate(self._snapshot.files)
            if files.get(row.path) != known[row.path]
        }
        snapshot = self._snapshot.without(gone)
        if len(snapshot.lengths) > WORN * snapshot.live:
            snapshot, known = Snapshot(), {}
        wanted = [path for path, stats in files.items() if known.get(path) != stats]
        collecting = gc.isenabled()
        gc.disable()  # reading makes no cycles of objects, and looking for some takes an eighth of its time
        try:
            builder, held = Builder(len(snapshot.lengths), snapshot.speaker_names), 0
            for done, path in enumerate(wanted):
                if done % 100 == 0:
                    progress(done, len(wanted))
                if held > CHUNK:
                    snapshot = snapshot.with_files(builder)
                    self._hold(snapshot)
                    if on_disk:
                        self._save()
                    builder, held = (
                        Builder(len(snapshot.lengths), snapshot.speaker_names),
                        0,
                    )
                _read_into(builder, self.place, path, files[path])
                held += files[path][2]
            self._hold(snapshot.with_files(builder))
        finally:
            if collecting:
                gc.enable()
        if on_disk:
            self._save()
        progress(len(wanted), len(wanted))

    # -- on disk -------------------------------------------------------------------------------------------------

    def _load(self, listed: dict[str, Stats]) -> bool:
        """Take up the snapshot on disk if another one was written, or it was deleted, since it was last looked at."""
        data, stamp = b"", tuple[int, ...]()
        with (
            contextlib.suppress(OSError, FilememError),
            open(files.open_regular(f"{self._where}/{_SNAPSHOT}"), "rb") as file,
        ):
            stamp = _STATS(os.fstat(file.fileno()))
            if stamp != self._stamp:
                most = _ROOM + _MOST_TIMES * sum(
                    min(stats[2], LARGEST) for stats in listed.values()
                )
                data = file.read(most + 1)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            self._hold(Snapshot.unpacked(data, _version()))
        except DamagedSnapshot:
            self._hold(Snapshot())
        return True

    def _save(self) -> None:
        """Write the snapshot. The lock is held."""
        new, path = f"{self._where}/{_SNAPSHOT}.new", f"{self._where}/{_SNAPSHOT}"
        flags = (
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        )  # not synced: what a power failure leaves of it fails its check
        with open(files.open_regular(new, flags), "wb") as file:
            file.write(self._snapshot.packed(_version()))
        os.replace(new, path)
        with open(files.open_regular(path), "rb") as file:
            self._stamp = _STATS(os.fstat(file.fileno()))
        self._sweep(_SNAPSHOT)

    def _sweep(self, kept: str) -> None:
        """Delete what lies in the folder besides, such as an older version's files. The lock is held."""
        for name in os.listdir(self._where):
            if name not in (_LOCK, kept):
                files.delete(f"{self._where}/{name}")


@functools.cache
def _version() -> str:
    """What the index depends on besides the files: how they are read and packed, and by which Python and machine."""
    made = f"{sys.version_info} {sys.byteorder} {unicodedata.unidata_version}"
    found = hashlib.blake2b(made.encode(), digest_size=16)
    for name in _SOURCES:
        with contextlib.suppress(OSError):
            found.update((Path(__file__).parent / name).read_bytes())
    return found.hexdigest()


def _is_settled(stats: Stats) -> bool:
    """Is a change at that time old enough that a later one cannot have the same stats?"""
    return abs(time.time_ns() - stats[1]) > (
        RACY if stats[1] % 1_000_000_000 else COARSE
    )


def _read_into(builder: Builder, place: str, path: str, stats: Stats) -> None:
    """Put a file into the builder, unless it has gone since it was listed."""
    settled = _is_settled(stats)
    data: bytes | None = None
    try:
        data = files.read(
            f"{place}/{path}", LARGEST + 1
        )  # no Place: that no link leads there was seen as it was listed
    except NotFound:
        return
    except Refused:
        pass  # a change of permissions shows in the stats
    except OSError:
        settled = False
    tokenize_file(builder, path, stats, data, 0 if settled else UNSETTLED)
