"""The index of a user's memories: a cache in `.filemem/index/` that is compared with the files at every question.

It is one file, a snapshot of all memories, which a new one replaces by a rename. So readers need no lock, see one state whole,
and a process killed at any moment leaves the last one. Writers take a lock. What is missing, damaged or of another version is
built anew from the files; where nothing can be written, or another process is writing, in memory for this process alone.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import operator
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.files import safe
from filemem.files.folder import Folder, is_temporary_name, is_unprintable
from filemem.files.memory import LARGEST, Memory
from filemem.files.safe import too_far
from filemem.index.corpus import Corpus
from filemem.index.snapshot import UNSETTLED, Builder, DamagedSnapshot, Snapshot, Stats, tokenize_file

FOLDER = "index"
RACY, COARSE = 20_000_000, 2_000_000_000
"""Nanoseconds: a file that was changed so shortly before it was read may change again unseen; the latter where the file
system keeps whole seconds."""
WORN = 1.25  # times as many passages as belong to a file: with more, all is read anew
CHUNK = 12_000_000  # bytes of files read between two snapshots, which bounds the memory that this takes
MOST_KEPT = 2_000_000  # bytes of files kept as they were read; the parsed ones take some ten times as much
_ROOM, _MOST_TIMES = 10_000_000, 10  # bytes of a snapshot: so many, and as many times the files' own, at most
_CHANGING: Stats = (0, 0, 0, 0)  # of a file that may have changed unseen
_SNAPSHOT, _LOCK = "snapshot", "lock"
_STATS = operator.attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")
_SOURCES = (
    *("files/memory.py", "files/front.py", "text/terms.py"),
    *("data/same.txt", "data/traditional.txt", "data/words.txt", "index/snapshot.py"),
)

Progress = Callable[[int, int], None]


def of(folder: Folder) -> Index:
    """The index of a user's folder, the same one for as long as the folder object lives."""
    found: Index = folder.cached.get("index") or folder.cached.setdefault("index", Index(folder))
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
        self.folder, self.place = folder, folder.place
        self.progress: Progress = lambda done, total: None  # told the number of files read and to read
        self._thread_lock = threading.Lock()
        self._corpus: Corpus | None = None
        self._memories: dict[str, tuple[Stats, Memory]] = {}  # files read last
        self._kept = 0  # their bytes, about: threads may add to it at once
        self._known: dict[str, Stats] = {}  # by path, of the files in the snapshot
        self._files: dict[str, Stats] = {}  # by path, of the files as they were listed last
        self._folders: dict[str, _Listing] = {}  # by path, likewise
        self._stamp: tuple[int, ...] = ()  # tells the file that the snapshot was read from or written to; (): none
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
        memory = Memory(path, safe.read(f"{self.place}/{path}", LARGEST))  # no link leads there, as it was listed
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
        self._known = {row.path: row.stats if not row.marks & UNSETTLED else _CHANGING for row in snapshot.files}

    # -- what files there are ------------------------------------------------------------------------------------

    def _listing(self) -> dict[str, Stats]:
        """The stats of every memory's file, by its path; the same files as `Folder.files` lists. It is the same dict as long as
        nothing differs."""
        found: dict[str, _Listing] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with contextlib.suppress(NotADirectoryError, PermissionError, FileNotFoundError):
                found[folder] = listing = self._look_at(folder)
                waiting += listing.folders
        if found != self._folders:
            self._folders = found
            above = len(self.place) + 1
            pairs = (pair for one in found.values() for pair in zip(one.places, one.stats, strict=True))
            self._files = {place[above:]: stats for place, stats in pairs}
        return self._files

    def _look_at(self, folder: str) -> _Listing:
        """A folder as it is now; the listing known where nothing in it has changed. Its stats tell which names it has, but not
        whether a file was changed in its place: each file is looked at."""
        while True:
            own, known = _STATS(os.lstat(f"{self.place}/{folder}")), self._folders.get(folder)
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
                if entry.name[0] == "." or is_unprintable(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    found.folders.extend([] if too_far(path) else [path])
                elif entry.is_file(follow_symlinks=False) and not is_temporary_name(entry.name):
                    found.places.append(f"{self.place}/{path}")
        return found

    # -- taking changes in ---------------------------------------------------------------------------------------

    def _update(self, files: dict[str, Stats], progress: Progress) -> None:
        """Take the changes in, on disk where that is possible."""
        changes = sum(self._known.get(path) != stats for path, stats in files.items())
        wait = 0.05 + 0.001 * changes  # seconds; about what it takes to do without the other process
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
            raise NotFound(f"{self.folder.name} has no memories yet; start with: filemem chat.")
        safe.make_folder(self._where)
        with safe.lock(f"{self._where}/{_LOCK}", wait):
            yield

    def _take(self, files: dict[str, Stats], progress: Progress, *, on_disk: bool) -> None:
        """Read what is new or has changed. The snapshot is right all along, for ever more of the files, and on disk so too: after
        an interruption that much is done."""
        known = self._known
        gone = {place for place, row in enumerate(self._snapshot.files) if files.get(row.path) != known[row.path]}
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
                    builder, held = Builder(len(snapshot.lengths), snapshot.speaker_names), 0
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

    def _load(self, files: dict[str, Stats]) -> bool:
        """Take up the snapshot on disk if another one was written, or it was deleted, since it was last looked at."""
        data, stamp = b"", tuple[int, ...]()
        with (
            contextlib.suppress(OSError, FilememError),
            open(safe.open_regular(f"{self._where}/{_SNAPSHOT}"), "rb") as file,
        ):
            stamp = _STATS(os.fstat(file.fileno()))
            if stamp != self._stamp:
                most = _ROOM + _MOST_TIMES * sum(min(stats[2], LARGEST) for stats in files.values())
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
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC  # not synced: what a power failure leaves of it fails its check
        with open(safe.open_regular(new, flags), "wb") as file:
            file.write(self._snapshot.packed(_version()))
        os.replace(new, path)
        with open(safe.open_regular(path), "rb") as file:
            self._stamp = _STATS(os.fstat(file.fileno()))
        self._sweep(_SNAPSHOT)

    def _sweep(self, kept: str) -> None:
        """Delete what lies in the folder besides, such as an older version's files. The lock is held."""
        for name in os.listdir(self._where):
            if name not in (_LOCK, kept):
                safe.delete(f"{self._where}/{name}")


@functools.cache
def _version() -> str:
    """What the index depends on besides the files: how they are read and packed, and by which Python and machine."""
    made = f"{sys.version_info} {sys.byteorder} {unicodedata.unidata_version}"
    found = hashlib.blake2b(made.encode(), digest_size=16)
    for name in _SOURCES:
        with contextlib.suppress(OSError):
            found.update((Path(__file__).parents[1] / name).read_bytes())
    return found.hexdigest()


def _is_settled(stats: Stats) -> bool:
    """Is a change at that time old enough that a later one cannot have the same stats?"""
    return abs(time.time_ns() - stats[1]) > (RACY if stats[1] % 1_000_000_000 else COARSE)


def _read_into(builder: Builder, place: str, path: str, stats: Stats) -> None:
    """Put a file into the builder, unless it has gone since it was listed."""
    settled = _is_settled(stats)
    data: bytes | None = None
    try:
        data = safe.read(f"{place}/{path}", LARGEST + 1)  # no Place: that no link leads there was seen as it was listed
    except NotFound:
        return
    except Refused:
        pass  # a change of permissions shows in the stats
    except OSError:
        settled = False
    tokenize_file(builder, path, stats, data, 0 if settled else UNSETTLED)
