"""Segments made from files: in this process, and where there are many files in others beside it, as there are processors.

A helper is a child that runs `serve`: each request, some files to read, has one answer, which segments it wrote. Whatever goes
wrong with a helper, its files are read here instead.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from filemem.errors import NotFound, Refused
from filemem.files import child, disk
from filemem.files.memory import LARGEST
from filemem.files.places import Place, Reach
from filemem.index.gathering import Gatherer
from filemem.index.segments import PASSAGES, POSTINGS, UNSETTLED, Builder

RACY, COARSE = 20_000_000, 2_000_000_000
"""Nanoseconds: a file that was changed so shortly before it was read may change again unseen; the latter where the file
system keeps whole seconds."""
CHUNK_BYTES, CHUNK_FILES = 9_000_000, 40_000  # read at a time, by one process: of sessions, what makes one segment
WORTH_A_HELPER = 1_500_000  # bytes that take longer to read than a helper to start
MOST_HELPERS = 3
_ROOM = 1 << 20  # bytes


class FileToRead(NamedTuple):
    """A file to read: the prefix of its path, its name, its stats as listed."""

    prefix: str
    name: str
    stats: array[int]


def chunks(wanted: Sequence[FileToRead]) -> Iterator[list[FileToRead]]:
    """The files in pieces of CHUNK_BYTES and CHUNK_FILES at most, but for a larger file; the pieces are about as large, and where
    it is worth it as many as there are processes to read them, or a multiple."""
    total, readers = sum(file.stats[2] for file in wanted), 1 + _most_helpers()
    rounds = math.ceil(total / (readers * CHUNK_BYTES))
    share = max(total / max(1, readers * rounds), WORTH_A_HELPER)
    chunk: list[FileToRead] = []
    size = 0
    for file in wanted:
        if chunk and (size + file.stats[2] > CHUNK_BYTES or size >= share or len(chunk) == CHUNK_FILES):
            yield chunk
            chunk, size = [], 0
        chunk.append(file)
        size += file.stats[2]
    if chunk:
        yield chunk


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without a search for cycles of objects: reading makes none, and looking for some takes an eighth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_uncollected()
def build(
    root: Place,
    wanted: Sequence[FileToRead],
    keep: Callable[[bytes], None],
    told: Callable[[int], None] = lambda done: None,
) -> set[str]:
    """Read files below `root` into segments, each of which `keep` is given; `told` how many files are done. Gives the prefixes
    with files that are to be read again at the next question."""
    gatherer, restless = Gatherer(), set[str]()
    builder = Builder(gatherer.speakers)
    with contextlib.closing(Reach(root)) as reach:
        for done, file in enumerate(wanted):
            if done % 100 == 0:
                told(done)
            if builder.held > POSTINGS or len(builder.lines) > PASSAGES - 2_000:
                keep(builder.pack())
                builder = Builder(gatherer.speakers)
            if not take(reach, gatherer, builder, file):
                restless.add(file.prefix)
    if builder.names:
        keep(builder.pack())
    return restless


def take(reach: Reach, gatherer: Gatherer, builder: Builder, file: FileToRead) -> bool:
    """Read a file into the builder; False where it is to be read again at the next question."""
    now = time.time_ns()
    changed = file.stats[1]
    settled = abs(now - changed) > (RACY if changed % 1_000_000_000 else COARSE)
    data: bytes | None = None
    try:
        data = _read(reach.open(file.prefix, file.name, os.O_RDONLY | os.O_NONBLOCK), file.stats[2])
    except (NotFound, FileNotFoundError):
        return False
    except (Refused, PermissionError):
        pass  # a change of permissions shows in the stats
    except OSError:
        settled = False
    gatherer.add(builder, file.prefix, file.name, file.stats, data, 0 if settled else UNSETTLED)
    return settled


def _read(fd: int, size: int) -> bytes:
    """The bytes of a plain file, one more than LARGEST at most; it had `size` of them when it was listed. Closes the file, and
    raises OSError."""
    try:
        pieces = [os.read(fd, min(size, LARGEST) + 1)]  # room for a megabyte would take longer than the reading
        length = len(pieces[0])
        while length <= LARGEST and pieces[-1] and length > size:
            pieces.append(os.read(fd, _ROOM))
            length += len(pieces[-1])
        return b"".join(pieces)[: LARGEST + 1]
    finally:
        os.close(fd)


def write(folder: Place, data: bytes) -> str:
    """A new file with a segment's bytes; its name. It is not synced: what a power failure leaves of it fails its check."""
    name = f"{os.urandom(8).hex()}.segment"
    with open(disk.open_regular(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(data)
    return name


# -- helpers -----------------------------------------------------------------------------------------------------


class Helper:
    """A child that reads files below `root` into segments in `folder`, until it is closed. Raises OSError where there can be
    none, or it has ended."""

    def __init__(self, root: Place, folder: Place) -> None:
        path = list(map(str, sys.path))
        program = f"import sys; sys.path[:] = {path!r}; from filemem.index.building import serve; serve()"
        self._place = (str(root), folder.inside)
        self._child = child.Child("-c", program)

    def ask(self, wanted: Sequence[FileToRead]) -> None:
        """Have it read some files; `answer` is to follow."""
        files = [(file.prefix, file.name, file.stats.tobytes()) for file in wanted]
        self._child.ask((*self._place, files))

    def answer(self) -> tuple[list[str], list[str]]:
        """The names of the segments that it wrote, and the prefixes that `build` gives."""
        found: tuple[list[str], list[str]] = self._child.answer()
        return found

    def close(self) -> None:
        """End the child, whatever it is at."""
        self._child.close()


@contextlib.contextmanager
def helpers(root: Place, folder: Place, pieces: int) -> Iterator[list[Helper]]:
    """Helpers for so many chunks of files beside this process; none where there is one, or no processor is left."""
    found: list[Helper] = []
    try:
        with contextlib.suppress(OSError):
            while len(found) < min(_most_helpers(), pieces - 1):
                found.append(Helper(root, folder))
        yield found
    finally:
        for helper in found:
            helper.close()


def _most_helpers() -> int:
    """As many as there are processors left."""
    return min(MOST_HELPERS, (os.cpu_count() or 1) - 1)


def serve() -> None:
    """The child: files to read are answered with what came of them."""
    child.serve(_built)


def _built(request: tuple[str, str, list[tuple[str, str, bytes]]]) -> tuple[list[str], list[str]]:
    root, inside, files = request
    top = Place(root)
    names: list[str] = []
    wanted = [FileToRead(prefix, name, array("q", stats)) for prefix, name, stats in files]
    restless = build(top, wanted, lambda data: names.append(write(top / inside, data)))
    return names, list(restless)
