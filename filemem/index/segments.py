"""One segment of the index: the postings of up to 65,536 passages in one immutable, checksummed piece of bytes.

Layout: MAGIC; the length and the CRC-32 of the head; the head (JSON: counts, folders, the place and type of each table);
the tables; the postings. The tables are read and checked whole when a segment is opened, each list of postings when
it is asked for, so that a flipped or missing byte is noticed before it can make an answer wrong. Numbers are in the byte
order of the machine, which is part of the index's version.

A key is `stem NUL token` in UTF-8, so that sorted keys put the words of one stem side by side. Tokens of captions start
with `[`; what stands in a file outside its passages (front matter, names, times) is kept for grep alone, under REST.
"""

from __future__ import annotations

import bisect
import collections
import functools
import io
import itertools
import json
import os
import sys
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from filemem.files import disk
from filemem.text import terms

MAGIC = b"filemem segment 2\n"
PASSAGES = 1 << 16  # at most in a segment, but for a single file with more; their numbers then fit two bytes
POSTINGS = 1_500_000  # at most in a segment, roughly, which bounds the memory that building one takes
REST = "~"
ARCHIVED, UNFILTERED, UNREAD, UNSETTLED = 1, 2, 4, 8
"""Marks of a file: it lies in the archive; grep must read it; it could not be read; it is to be read again."""
MOST_COUNTED = 255
_EVERY = 64  # keys from one fence to the next
_LONGEST = 64  # characters of a token; `terms` cuts longer ones, so that grep cannot rely on them


class DamagedSegment(Exception):
    """A segment whose bytes are not those that were written."""


def key_of(token: str) -> bytes:
    """Where a token stands in a segment's sorted keys."""
    if token[0] == REST:
        return f"{REST}\0{token[1:]}".encode()
    stem = token.removeprefix("[")
    return f"{terms.stem(stem) if token.isascii() else stem}\0{token}".encode()


class Builder:
    """Collects files and their passages, then packs them into the bytes of a segment; `speaker_names`, which may grow
    meanwhile, are those of the numbers of speakers."""

    def __init__(self, speaker_names: Sequence[str] = ("",)) -> None:
        self._speaker_names = speaker_names
        self._stopped: list[int] = []  # takes the postings of stop words, which only count against a passage's length
        self.postings = collections.defaultdict[str, list[int]](list, dict.fromkeys(terms.STOP, self._stopped))
        self.held = 0  # postings so far
        self.lines: list[int] = []
        self.speakers: list[int] = []
        self.lengths = bytearray()
        self.flags = bytearray()
        self.folders: dict[str, int] = {}
        self.folder_of: list[int] = []
        self.names: list[str] = []
        self.stats = array("q")
        self.firsts: list[int] = []
        self.dates: list[int] = []
        self.marks = bytearray()
        self.particulars: dict[int, dict[str, Any]] = {}

    def file(self, folder: str, name: str, stats: array[int], date: int, marks: int, more: dict[str, Any]) -> None:
        """Start a file; the passages that follow are its own. `stats` are the four numbers of `listing`."""
        self.particulars.update({len(self.names): more} if more else {})
        self.folder_of.append(self.folders.setdefault(folder, len(self.folders)))
        self.names.append(name)
        self.stats += stats
        self.firsts.append(len(self.lines))
        self.dates.append(date)
        self.marks.append(marks)

    def passage(self, line: int, speaker: int, flags: int, said: list[str], more: list[str]) -> None:
        """Add a passage to the file: its first line, its speaker's number, its flags, the tokens of its speech, which make its
        length, and `more` tokens to find it by; stop words are left out of all."""
        number = len(self.lines)
        postings, stopped = self.postings, self._stopped
        for token in said:
            postings[token].append(number)
        length = len(said) - len(stopped)
        for token in more:
            postings[token].append(number)
        stopped.clear()
        self.lines.append(line)
        self.speakers.append(speaker)
        self.flags.append(flags)
        self.lengths.append(min(length, MOST_COUNTED))
        self.held += length + len(more)

    def rest(self, tokens: set[str]) -> None:
        """What else stands in the file, for grep."""
        first = self.firsts[-1]
        tokens = tokens - terms.STOP
        if first == len(self.lines):
            self.marks[-1] |= UNFILTERED if tokens else 0
            return
        for token in tokens:
            self.postings[REST + token].append(first)
        self.held += len(tokens)

    def pack(self) -> bytes:
        """The segment's bytes."""
        typecode = "H" if len(self.lines) <= PASSAGES else "I"
        tables, pieces = self._packed(typecode)
        tables |= {
            "lengths": self.lengths,
            "flags": self.flags,
            "speakers": _narrowest(self.speakers),
            "lines": _narrowest(self.lines),
            "firsts": array("I", [*self.firsts, len(self.lines)]),
            "folders": _narrowest(self.folder_of),
            "names": "\0".join(self.names).encode("utf-8", "surrogateescape"),
            "stats": self.stats,
            "dates": array("i", self.dates),
            "marks": self.marks,
            "particulars": json.dumps(self.particulars, separators=(",", ":")).encode() if self.particulars else b"",
        }
        raw = {name: bytes(table) for name, table in tables.items()}
        body = b"".join(raw.values())
        facts = {
            "typecode": typecode,
            "total": sum(self.lengths),
            "folders": list(self.folders),
            "speakers": list(self._speaker_names),
            "tables": [(name, getattr(tables[name], "typecode", ""), len(raw[name])) for name in raw],
            "size": len(body),
            "check": zlib.crc32(body),
        }
        head = json.dumps(facts, separators=(",", ":")).encode()
        return b"".join((MAGIC, array("I", (len(head), zlib.crc32(head))).tobytes(), head, body, *pieces))

    def _packed(self, typecode: str) -> tuple[dict[str, Any], list[bytes]]:
        """The tables of the vocabulary, and the postings: for each key a CRC-32, numbers, and counts unless all are 1."""
        self._cut_long_tokens()
        keyed = {key_of(token): numbers for token, numbers in self.postings.items() if numbers}
        keys = sorted(keyed)
        places, sizes, pieces, place = array("I", [0]), array("I"), list[bytes](), 0
        retelling = {number for number, flags in enumerate(self.flags) if flags & terms.IS_DERIVED}
        retold = array("I")
        width = array(typecode).itemsize
        for numbers in map(keyed.__getitem__, keys):
            unique: Collection[int] = numbers
            if len(numbers) == 1:
                piece = numbers[0].to_bytes(width, sys.byteorder)
            else:
                unique = dict.fromkeys(numbers)
                piece = array(typecode, unique).tobytes()
                if len(unique) < len(numbers):
                    piece += _capped(collections.Counter(numbers).values())
            pieces += (zlib.crc32(piece).to_bytes(4, "little"), piece)
            place += 4 + len(piece)
            places.append(place)
            sizes.append(len(unique))
            if retelling:
                retold.append(len(retelling.intersection(unique)))
        lengths = [0, *itertools.accumulate(len(key) + 1 for key in keys)]
        fences = array("I", lengths[: len(keys) : _EVERY])
        joined = b"\n".join(keys) + (b"\n" if keys else b"")
        return {"keys": joined, "fences": fences, "places": places, "sizes": sizes, "retold": retold}, pieces

    def _cut_long_tokens(self) -> None:
        """Cut tokens as `terms.tokens` does; a file with one so long is always read by grep."""
        for token in [token for token in self.postings if len(token) >= _LONGEST]:
            numbers = self.postings[token]
            for number in numbers:
                self.marks[self._file_of(number)] |= UNFILTERED
            if len(token) > _LONGEST and token[0] != "[":
                del self.postings[token]
                pieces = [token[at : at + _LONGEST] for at in range(0, len(token), _LONGEST)]
                self._put_pieces([piece for piece in pieces if token[0] != REST and piece not in terms.STOP], numbers)

    def _put_pieces(self, pieces: list[str], numbers: list[int]) -> None:
        """Put the pieces of a token where it stood; its length of 1 is in the passages' lengths already."""
        for piece in pieces:
            self.postings[piece] = sorted([*self.postings[piece], *numbers])
        for number in numbers if pieces else ():
            self.lengths[number] = min(self.lengths[number] + len(pieces) - 1, MOST_COUNTED)

    def _file_of(self, number: int) -> int:
        return bisect.bisect_right(self.firsts, number) - 1


class Segment:
    """A segment to read: `source` is its bytes, or a descriptor of its file, which it then owns. Raises DamagedSegment."""

    def __init__(self, name: str, source: bytes | int) -> None:
        self.name = name
        self._source = source
        if isinstance(source, int):
            self._open = io.FileIO(source)  # closes with this object, in C: no signal comes in a finaliser
        start = len(MAGIC) + 8
        opening = self._bytes(0, start)
        length, check = array("I", opening[len(MAGIC) :])
        head = self._bytes(start, length)
        if not opening.startswith(MAGIC) or zlib.crc32(head) != check:
            raise DamagedSegment(name)
        facts = json.loads(head)
        self._pieces = start + length + facts["size"]  # where the postings start
        self._take(facts, self._bytes(start + length, facts["size"]))

    def _bytes(self, start: int, length: int) -> bytes:
        source = self._source
        found = source[start : start + length] if isinstance(source, bytes) else os.pread(source, length, start)
        if len(found) < length:
            raise DamagedSegment(self.name)
        return found

    def _take(self, facts: dict[str, Any], body: bytes) -> None:
        if zlib.crc32(body) != facts["check"]:
            raise DamagedSegment(self.name)
        tables: dict[str, Any] = {}
        place = 0
        for name, typecode, size in facts["tables"]:
            raw = body[place : place + size]
            tables[name] = array(typecode, raw) if typecode else raw
            place += size
        self._typecode: str = facts["typecode"]
        self.total: int = facts["total"]
        self.folders: list[str] = facts["folders"]
        self.speaker_names: list[str] = facts["speakers"]  # by the number of `speakers`
        self._keys: bytes = tables["keys"]
        self._fences: array[int] = tables["fences"]
        self._places: array[int] = tables["places"]
        self._sizes: array[int] = tables["sizes"]
        self._retold: array[int] = tables["retold"]  # empty where no passage retells
        self.lengths: bytes = tables["lengths"]
        self.flags: bytes = tables["flags"]
        self.speakers: array[int] = tables["speakers"]
        self.lines: array[int] = tables["lines"]
        self.firsts: array[int] = tables["firsts"]  # by file; behind them the number of passages
        self._folder_of: array[int] = tables["folders"]
        self._stats: array[int] = tables["stats"]
        self.dates: array[int] = tables["dates"]
        self.marks: bytes = tables["marks"]
        self._names: bytes = tables["names"]
        self._particulars: bytes = tables["particulars"]

    def packed_bytes(self) -> bytes:
        """The bytes of a segment in memory."""
        return self._source if isinstance(self._source, bytes) else b""

    # -- files ---------------------------------------------------------------------------------------------------

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the files, without their folders."""
        return self._names.decode("utf-8", "surrogateescape").split("\0") if self.marks else []

    @functools.cached_property
    def particulars(self) -> dict[int, dict[str, Any]]:
        """What the front matter of the few files that have any says, by file."""
        return {int(number): more for number, more in json.loads(self._particulars or b"{}").items()}

    @functools.cached_property
    def _by_folder(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {folder: [] for folder in self.folders}
        for file, folder in enumerate(self._folder_of):
            found[self.folders[folder]].append(file)
        return found

    def files_in(self, folder: str) -> list[int]:
        """The files of a folder."""
        return self._by_folder[folder] if folder in self.folders else []

    def folder(self, file: int) -> str:
        """The folder of a file, as the prefix of its path."""
        return self.folders[self._folder_of[file]]

    def path(self, file: int) -> str:
        """The path of a file."""
        return self.folder(file) + self.names[file]

    def stats_of(self, file: int) -> array[int]:
        """The four numbers of a file's listing."""
        return self._stats[4 * file : 4 * file + 4]

    def is_as(self, file: int, stats: array[int]) -> bool:
        """Is the file still as it was when it was read?"""
        return not self.marks[file] & UNSETTLED and self.stats_of(file) == stats

    def file_of(self, number: int) -> int:
        """The file that holds a passage."""
        return bisect.bisect_right(self.firsts, number, 0, len(self.marks)) - 1

    # -- vocabulary ----------------------------------------------------------------------------------------------

    def place(self, token: str) -> int:
        """The place of a token in the vocabulary, -1 where it is not in it."""
        key = key_of(token)
        block = self._block(key)
        keys = self._keys_of(block)
        at = bisect.bisect_left(keys, key)
        return block * _EVERY + at if at < len(keys) and keys[at] == key else -1

    def size(self, place: int) -> int:
        """In how many passages, dead ones too, the token at `place` stands."""
        return self._sizes[place] if place >= 0 else 0

    def retold(self, place: int) -> int:
        """How many of those passages retell others."""
        return self._retold[place] if place >= 0 and self._retold else 0

    def postings(self, token: str) -> tuple[array[int], bytes]:
        """The passages that hold a token, ascending, and its counts in them. Raises DamagedSegment."""
        place = self.place(token)
        if place < 0:
            return array(self._typecode), b""
        start, size = self._places[place], self._sizes[place]
        piece = self._bytes(self._pieces + start, self._places[place + 1] - start)
        if zlib.crc32(piece[4:]) != int.from_bytes(piece[:4], "little"):
            raise DamagedSegment(self.name)
        numbers = array(self._typecode)
        end = 4 + size * numbers.itemsize
        numbers.frombytes(piece[4:end])
        return numbers, piece[end:] or b"\1" * size

    def concept(self, stem: str) -> list[str]:
        """The tokens that share a stem, captions' ones too."""
        prefix = stem.encode() + b"\0"
        found: list[str] = []
        for block in range(self._block(prefix), len(self._fences)):
            keys = self._keys_of(block)
            for key in keys[bisect.bisect_left(keys, prefix) :]:
                if not key.startswith(prefix):
                    return found
                found.append(key[len(prefix) :].decode())
        return found

    def holding(self, piece: str) -> Iterator[str]:
        """Every token that has an ASCII `piece` in it."""
        keys, at, wanted = self._keys, 0, piece.encode()
        while (at := keys.find(wanted, at)) >= 0:
            start, end = keys.rfind(b"\n", 0, at) + 1, keys.find(b"\n", at)
            token = _token(keys[start:end])
            if piece in token:
                yield token
            at = end

    def starting(self, letter: str) -> Iterator[str]:
        """The tokens whose stems start with `letter`."""
        prefix = letter.encode()
        end = bytes([*prefix[:-1], prefix[-1] + 1])
        for block in range(self._block(prefix), min(len(self._fences), self._block(end) + 1)):
            for key in self._keys_of(block):
                if key.startswith(prefix):
                    yield _token(key).lstrip("[")

    def _block(self, key: bytes) -> int:
        """The block of keys that would hold `key`."""
        return max(0, bisect.bisect_right(self._fence_keys, key) - 1)

    @functools.cached_property
    def _fence_keys(self) -> list[bytes]:
        """The first key of each block."""
        keys = self._keys
        return [keys[at : keys.index(b"\n", at)] for at in self._fences]

    def _keys_of(self, block: int) -> list[bytes]:
        if not self._fences:
            return []
        end = self._fences[block + 1] if block + 1 < len(self._fences) else len(self._keys)
        return self._keys[self._fences[block] : end - 1].split(b"\n")


def read(path: str) -> Segment:
    """The segment in a file. Raises DamagedSegment, FilememError or OSError."""
    return Segment(os.path.basename(path), disk.open_regular(path))


def _token(key: bytes) -> str:
    """The token of a key."""
    stem, _, token = key.decode().partition("\0")
    return REST + token if stem == REST else token


def _capped(counts: Collection[int]) -> bytes:
    """Each count in a byte."""
    if max(counts) <= MOST_COUNTED:
        return bytes(counts)
    return bytes(min(count, MOST_COUNTED) for count in counts)


def _narrowest(numbers: list[int]) -> array[int]:
    """An array of the smallest unsigned type that holds the numbers."""
    most = max(numbers, default=0)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", numbers)
