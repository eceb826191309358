"""The vectors on disk, keyed by what was embedded: a cache, in files that are written whole and never changed."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import operator
import os
import zlib
from array import array
from collections.abc import Collection, Sequence
from typing import Any

from filemem.errors import FilememError
from filemem.files import safe
from filemem.files.folder import Folder
from filemem.files.safe import names_in

FOLDER = "vectors"  # in the bookkeeping
KEY = 16  # bytes of a key, which is told in hexadecimal
MOST = 30  # files beside the full ones, from which on they are put together
FULL = 50_000_000  # bytes of a file; half of what is read of any
_ENDING = ".vectors"


class VectorFiles:
    """The vectors in a folder that one model has `made`, all of one width. What is damaged is as if it were not there."""

    def __init__(self, folder: str, made: str) -> None:
        self._folder = folder
        self._made = made
        self._clear()

    def _clear(self) -> None:
        self._read: set[str] = set()
        self.places: dict[str, int] = {}  # of the vectors among all, by key
        self._values = array("f")
        self.width = 0  # numbers of a vector; 0: there is none

    def refresh(self) -> None:
        """Read what is there now."""
        names = self._names()
        if self._read - names:
            self._clear()
        for name in sorted(names - self._read):
            self._read.add(name)
            with contextlib.suppress(
                FilememError, OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError
            ):
                head, _, data = safe.read(os.path.join(self._folder, name)).partition(b"\n")
                facts = json.loads(head)
                size = facts["count"] * KEY
                if facts["made"] == self._made and facts["check"] == zlib.crc32(data) and size < len(data):
                    self._take([data[at : at + KEY].hex() for at in range(0, size, KEY)], array("f", data[size:]))

    def _names(self) -> set[str]:
        with contextlib.suppress(FilememError, OSError):
            return {name for name in names_in(self._folder) if name.endswith(_ENDING)}
        return set()

    def _take(self, keys: Sequence[str], values: array[float]) -> None:
        width = len(values) // len(keys)
        if width == (self.width or width):
            first = len(self._values) // width
            self.places.update(zip(keys, range(first, first + len(keys)), strict=True))
            self._values += values
            self.width = width

    def use(self, width: int) -> None:
        """Leave out vectors of another width: another model has the name now."""
        if self.width not in (0, width):
            with contextlib.suppress(FilememError, OSError):
                self.keep(())
            self._clear()
            self.width = width
            self.refresh()

    def add(self, keys: Sequence[str], vectors: Sequence[array[float]]) -> None:
        """Hold more vectors of length 1, and keep them on disk where that is possible."""
        values = array("f", b"".join(vector.tobytes() for vector in vectors))
        self._take(keys, values)
        with contextlib.suppress(FilememError, OSError):
            self._read.add(self._write(keys, values))
            if len(self._read) > MOST + len(self._values) * 4 // FULL:
                self.keep(self.places.keys())

    def keep(self, keys: Collection[str]) -> None:
        """Write the vectors with these keys into few files and delete all others. Raises FilememError or OSError."""
        wanted, some = [key for key in self.places if key in keys], FULL // (4 * self.width or 1)
        new = set()
        for at in range(0, len(wanted), some):
            values = (self._vector(self.places[key]).tobytes() for key in wanted[at : at + some])
            new.add(self._write(wanted[at : at + some], array("f", b"".join(values))))
        for name in self._names() - new:
            with contextlib.suppress(FilememError):
                safe.delete(os.path.join(self._folder, name))
        self._clear()
        self.refresh()

    def _write(self, keys: Sequence[str], values: array[float]) -> str:
        data = b"".join(map(bytes.fromhex, keys)) + values.tobytes()
        head = json.dumps({"made": self._made, "count": len(keys), "check": zlib.crc32(data)}).encode()
        name = hashlib.blake2b(data, digest_size=KEY).hexdigest() + _ENDING
        safe.make_folder(self._folder)
        safe.write(os.path.join(self._folder, name), head + b"\n" + data)
        return name

    def _vector(self, place: int) -> array[float]:
        return self._values[place * self.width : (place + 1) * self.width]

    def alike(self, vector: array[float]) -> Sequence[float]:
        """How alike each vector is to one, from -1 to 1: the cosine, as all have length 1."""
        return products(self._values, vector, _numpy())


def products(values: array[float], vector: array[float], numpy: Any) -> Sequence[float]:
    """The inner products of one vector with many that stand one behind the other; with numpy where it is given."""
    width = len(vector)
    if numpy and values:
        found: Sequence[float] = (numpy.frombuffer(values, "f4").reshape(-1, width) @ vector).tolist()
        return found
    held = memoryview(values)
    return [sum(map(operator.mul, held[at : at + width], vector)) for at in range(0, len(held), width)]


@functools.cache
def _numpy() -> Any:
    """The package numpy, None where it is not installed."""
    try:
        import numpy  # noqa: PLC0415  a tenth of a second, which only those who ask for vectors should pay
    except ImportError:
        return None
    return numpy


def drop(folder: Folder) -> bool:
    """Delete all vectors of a user's memories; says whether there were any. Raises FilememError or OSError."""
    place = folder.bookkeeping(FOLDER)
    found = safe.exists(place)
    for name in names_in(place) if found else ():
        safe.delete(place / name)
    return found
