"""The index as plain tables: the files, their passages, and for each token the passages that hold it; and their one file.

A file of the cache is MAGIC, the CRC-32 of what follows, the length of a head in JSON, the head, and the tables one after the
other, in the byte order of the machine. It is read and checked whole, so that a flipped or missing byte is noticed before it
can make an answer wrong. A key is `stem NUL token` in UTF-8, so that sorted keys put the words of one stem side by side. Tokens
of captions start with `[`.
"""

from __future__ import annotations

import bisect
import collections
import itertools
import json
import zlib
from array import array
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from filemem.text import terms

MAGIC = b"filemem index 5\n"
NARROW = 1 << 16  # passages whose numbers fit two bytes
ARCHIVED, UNREAD, UNSETTLED = 1, 2, 4
"""Marks of a file: it lies in the archive; it could not be read; it is to be read again."""
MOST_COUNTED = 255
_LONGEST = 64  # characters of a token; `terms` cuts longer ones

Stats = tuple[int, int, int, int]
"""Of a file: the times of modification and of inode change in nanoseconds, its size in bytes, its inode. Of these only the inode
change cannot be set by a program; it tells a restored old file, or a clock that was put back, from the file known."""


class FileRow(NamedTuple):
    """A file: its stats when it was read, its date as an ordinal (0: none), its marks, how many passages it has, and what its
    front matter says (None: nothing)."""

    path: str
    stats: Stats
    date: int
    marks: int
    passages: int
    particulars: dict[str, Any] | None


class DamagedSnapshot(Exception):
    """Bytes that are not those of a snapshot of this version."""


def key_of(token: str) -> bytes:
    """Where a token stands among the sorted keys."""
    stem = token.removeprefix("[")
    return f"{terms.stem(stem) if token.isascii() else stem}\0{token}".encode()


def token_of(key: bytes) -> str:
    """The token of a key."""
    return key.decode().partition("\0")[2]


class Builder:
    """Collects files and their passages, which are numbered from `first` on; `speaker_names` are those of the numbers of
    speakers, and may grow meanwhile."""

    def __init__(self, first: int = 0, speaker_names: Sequence[str] = ("",)) -> None:
        self.first = first
        self.speaker_names = speaker_names
        self._stopped: list[int] = []  # takes the postings of stop words, which only count against a passage's length
        self.postings = collections.defaultdict[str, list[int]](list, dict.fromkeys(terms.STOP, self._stopped))
        self.lines: list[int] = []
        self.speakers: list[int] = []
        self.lengths = bytearray()
        self.flags = bytearray()
        self.files: list[FileRow] = []
        self._begun = 0  # the place of the file's first passage

    def file(self, path: str, stats: Stats, date: int, marks: int, more: dict[str, Any]) -> None:
        """Start a file; the passages that follow are its own."""
        self.files.append(FileRow(path, stats, date, marks, 0, more or None))
        self._begun = len(self.lines)

    def mark(self, mark: int) -> None:
        """Put a mark on the file."""
        self.files[-1] = self.files[-1]._replace(marks=self.files[-1].marks | mark)

    def end(self) -> None:
        """End the file."""
        self.files[-1] = self.files[-1]._replace(passages=len(self.lines) - self._begun)

    def passage(self, line: int, speaker: int, flags: int, said: list[str], more: list[str]) -> None:
        """Add a passage to the file: its first line, its speaker's number, its flags, the tokens of its speech, which make its
        length, and `more` tokens to find it by; stop words are left out of all."""
        number = self.first + len(self.lines)
        postings, stopped = self.postings, self._stopped
        for token in said:
            postings[token].append(number)
        length = len(said) - len(stopped)
        for token in more:
            postings[token].append(number)
        stopped.clear()
        self.lines.append(line)
        self.speakers.append(speaker)
        self.flags.append(flags if number > self.first + self._begun else flags | terms.APART)
        self.lengths.append(min(length, MOST_COUNTED))

    def keyed(self) -> dict[bytes, list[int]]:
        """For each key the passages that hold its token, ascending, one as often as it stands there."""
        self._cut_long_tokens()
        return {key_of(token): numbers for token, numbers in self.postings.items() if numbers}

    def _cut_long_tokens(self) -> None:
        """Cut tokens as `terms.tokens` does."""
        for token in [token for token in self.postings if len(token) > _LONGEST and token[0] != "["]:
            numbers = self.postings.pop(token)
            pieces = [token[at : at + _LONGEST] for at in range(0, len(token), _LONGEST)]
            kept = [piece for piece in pieces if piece not in terms.STOP]
            for piece in kept:
                self.postings[piece] = sorted([*self.postings[piece], *numbers])
            for place in [number - self.first for number in numbers]:
                self.lengths[place] = min(self.lengths[place] + len(kept) - 1, MOST_COUNTED)


class Snapshot:
    """The tables: of the files, of their passages, which are numbered file by file, and of the keys: `starts` where each key's
    passages begin in `numbers`, and how often its token stands in them in `times`."""

    def __init__(self) -> None:
        self.speaker_names: list[str] = [""]
        self.files: list[FileRow] = []
        self.speakers = array("B")
        self.lines = array("B")
        self.lengths = b""
        self.flags = b""
        self.keys: list[bytes] = []
        self.starts = array("I", [0])
        self.numbers = array("H")
        self.times = b""

    def packed(self, version: str) -> bytes:
        """The bytes of its file."""
        tables = {name: getattr(self, name) for name in (*_BYTES, *_ARRAYS)} | {"keys": b"\n".join(self.keys)}
        raw = {name: bytes(table) for name, table in tables.items()}
        facts = {
            "version": version,
            "speakers": self.speaker_names,
            "files": self.files,
            "tables": [(name, getattr(tables[name], "typecode", ""), len(raw[name])) for name in raw],
        }
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
            for name, typecode, size in facts["tables"]:
                raw = bytes(view[at : at + size])
                at += size
                if name in _ARRAYS:
                    setattr(found, name, array(typecode, raw))
                elif name in _BYTES:
                    setattr(found, name, raw)
                elif raw:
                    found.keys = raw.split(b"\n")
            found.speaker_names = facts["speakers"]
            found.files = [FileRow(path, tuple(stats), *rest) for path, stats, *rest in facts["files"]]
            if not found._fits():
                raise DamagedSnapshot
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise DamagedSnapshot from error
        return found

    def _fits(self) -> bool:
        """Have the tables the lengths that they must have?"""
        passages, postings = sum(row.passages for row in self.files), self.starts[-1]
        return (
            {len(self.speakers), len(self.lines), len(self.lengths), len(self.flags)} == {passages}
            and {len(self.numbers), len(self.times)} == {postings}
            and len(self.starts) == len(self.keys) + 1
            and max(self.speakers, default=0) < len(self.speaker_names)
        )

    # -- with changes --------------------------------------------------------------------------------------------

    def without(self, gone: Collection[int]) -> Snapshot:
        """The same without some files: no trace of them is left, and the passages of the others are numbered anew."""
        if not gone:
            return self
        alive = b"".join(bytes([place not in gone]) * row.passages for place, row in enumerate(self.files))
        found = Snapshot()
        found.files = [row for place, row in enumerate(self.files) if place not in gone]
        found.lines = array(self.lines.typecode, itertools.compress(self.lines, alive))
        found.lengths = bytes(itertools.compress(self.lengths, alive))
        found.flags = bytes(itertools.compress(self.flags, alive))
        speakers = list(itertools.compress(self.speakers, alive))
        used = {0, *speakers}
        found.speaker_names = [name for number, name in enumerate(self.speaker_names) if number in used]
        places = {number: place for place, number in enumerate(sorted(used))}
        found.speakers = narrowest([places[number] for number in speakers])
        self._keep_postings(found, alive)
        return found

    def _keep_postings(self, found: Snapshot, alive: bytes) -> None:
        """Put the postings of the passages that are alive into another snapshot."""
        stay = bytes(map(alive.__getitem__, self.numbers))
        moved, ends = list(itertools.accumulate(alive, initial=0)), list(itertools.accumulate(stay, initial=0))
        found.numbers = array(self.numbers.typecode, map(moved.__getitem__, itertools.compress(self.numbers, stay)))
        found.times = bytes(itertools.compress(self.times, stay))
        starts = [ends[start] for start in self.starts]
        used = [start < end for start, end in itertools.pairwise(starts)]
        found.keys = list(itertools.compress(self.keys, used))
        found.starts = array("I", [0, *itertools.compress(starts[1:], used)])

    def with_files(self, new: Builder) -> Snapshot:
        """The same with the files of a builder behind its own, whose passages begin where these end."""
        found = Snapshot()
        keyed = new.keyed()
        found.speaker_names = list(new.speaker_names)
        found.files = self.files + new.files
        found.speakers = narrowest([*self.speakers, *new.speakers])
        found.lines = narrowest([*self.lines, *new.lines])
        found.lengths = self.lengths + bytes(new.lengths)
        found.flags = self.flags + bytes(new.flags)
        self._join_postings(found, keyed)
        return found

    def _join_postings(self, found: Snapshot, keyed: dict[bytes, list[int]]) -> None:
        """Put the own postings and those of later passages into another snapshot."""
        typecode = "H" if self.numbers.typecode == "H" and len(found.lengths) <= NARROW else "I"
        own = self.numbers if self.numbers.typecode == typecode else array(typecode, self.numbers)
        numbers, times, sizes = array(typecode), bytearray(), array("I")
        own_sizes = array("I", [end - start for start, end in itertools.pairwise(self.starts)])
        done = at = 0
        for key in sorted(keyed):
            place = bisect.bisect_left(self.keys, key, done)
            known = place < len(self.keys) and self.keys[place] == key
            end = self.starts[place + known]
            found.keys += self.keys[done:place]
            sizes += own_sizes[done:place]
            numbers += own[at:end]
            times += self.times[at:end]
            more = keyed[key]
            unique: Collection[int] = more if len(more) == 1 else dict.fromkeys(more)
            numbers.extend(unique)
            times += (
                bytes(min(count, MOST_COUNTED) for count in collections.Counter(more).values())
                if len(unique) < len(more)
                else b"\1" * len(unique)
            )
            found.keys.append(key)
            sizes.append(len(unique) + (own_sizes[place] if known else 0))
            done, at = place + known, end
        found.keys += self.keys[done:]
        sizes += own_sizes[done:]
        found.numbers, found.times = numbers + own[at:], bytes(times + self.times[at:])
        found.starts = array("I", itertools.accumulate(sizes, initial=0))


_BYTES = ("lengths", "flags", "times")
_ARRAYS = ("speakers", "lines", "starts", "numbers")


def narrowest(numbers: list[int]) -> array[int]:
    """An array of the smallest unsigned type that holds the numbers."""
    most = max(numbers, default=0)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", numbers)
