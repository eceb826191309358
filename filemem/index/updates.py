"""Keeps the index of a user's memories as their files are, at every question.

It lies in `.filemem/index/`: a snapshot, which a new one replaces by a rename, so that
readers need no lock and a kill leaves the last one. Writers take a lock. If it is
missing or damaged it is built anew from the files, and if nothing can be written, in
memory.
"""

import contextlib
import functools
import gc
import hashlib
import operator
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from filemem.errors import FilememError, NotFound, Refused
from filemem.index.corpus import Corpus, Stats
from filemem.index.ingest import add_file
from filemem.index.snapshot import EMPTY, Builder, pack, unpack
from filemem.store import files
from filemem.store.folder import Folder, enters, is_memory
from filemem.store.memory import LARGEST, Memory, parse
from filemem.work import Progress, no_progress

FOLDER = "index"  # in the bookkeeping
RACY_NS = 20_000_000  # in which a file that changed may change again unseen
RACY_WHOLE_SECONDS_NS = 2_000_000_000  # the same, if its disk counts seconds
LOCK_WAIT_S = 0.2  # for another process that writes
DISCARD_WAIT_S = 10.0  # the same, when the index is deleted
COMPACT_ABOVE = 1.25  # numbers a passage: with more, all files are read anew
FILES_BETWEEN_PROGRESS = 100
MAX_KEPT_BYTES = 2_000_000  # of files kept as they were read; parsed it is ten times so
MAX_SNAPSHOT_BYTES = 10_000_000  # of one that is read, and ten times its files' bytes
_CHANGING: Stats = (0, 0, 0, 0)  # of a file that may change unseen
_SNAPSHOT = "snapshot"
_LOCK = "lock"
_SOURCES = ("index", "store", "text")  # rooms whose code decides what a snapshot holds
_WORDS = ("same.txt", "traditional.txt", "words.txt")

_stats = operator.attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")


def of(folder: Folder) -> "Index":
    """Return the index of a user's folder, the same for as long as that lives."""
    found: Index = folder.cached.setdefault("index", Index(folder))
    return found


class Index:
    """The index of one user's folder. Several threads may use it.

    `folder` is the user's.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._stamp: Stats = _CHANGING  # of the snapshot's file
        self._memories: dict[tuple[str, Stats], Memory] = {}
        self._kept_bytes = 0  # of these
        self._hold(EMPTY)

    def corpus(self, progress: Progress = no_progress) -> Corpus:
        """Return the passages of all files as they are now.

        Args:
            progress: told how many files are read, and of how many.
        """
        with self._lock:
            listed = self._look()
            self._load(listed)
            if listed != self._known:
                self._update(progress)
            return self._corpus

    def memory(self, path: str, stats: Stats) -> Memory:
        """Return the memory of a file that was listed with these stats.

        Raises:
            FilememError: it is gone, or may not be read.
        """
        known = self._memories.get((path, stats))
        if known:
            return known
        memory = parse(path, files.read(f"{self.folder.root}/{path}", LARGEST))
        if _is_settled(stats):
            self._kept_bytes += len(memory.data)
            if self._kept_bytes > MAX_KEPT_BYTES:
                self._memories = {}
                self._kept_bytes = len(memory.data)
            self._memories[path, stats] = memory
        return memory

    def discard(self) -> None:
        """Delete the index, so that nothing of deleted files stays in it.

        Raises:
            OSError, FilememError: it cannot be deleted.
        """
        with self._lock:
            self._hold(EMPTY)
            self._stamp = _CHANGING
            self._memories = {}
            if os.path.lexists(self._path()):
                with self._writing(DISCARD_WAIT_S):
                    files.remove(self._path())

    def _hold(self, corpus: Corpus) -> None:
        """Take a corpus for the state of the files."""
        self._corpus = corpus
        self._known = {
            file.path: file.stats if file.is_settled else _CHANGING
            for file in corpus.files
        }

    def _path(self, name: str = "") -> str:
        """Return the place of a file of the index, or of its folder; raise Refused."""
        folder = self.folder.bookkeeping(FOLDER)
        return f"{folder}/{name}" if name else folder

    def _look(self) -> dict[str, Stats]:
        """Return the stats of every memory's file, as `Folder.files` lists them."""
        found: dict[str, Stats] = {}
        for path, entry in files.walk(self.folder.root, enters):
            is_file = entry.is_file(follow_symlinks=False)
            if is_file and (path in self._known or is_memory(entry)):
                try:
                    found[path] = _stats(entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue
        return found

    # -- taking changes in ---------------------------------------------------------

    def _update(self, progress: Progress) -> None:
        """Take the changes in, and write them down if that is possible."""
        try:
            with self._writing(LOCK_WAIT_S):
                listed = self._look()
                self._load(listed)
                self._take(listed, progress)
                self._save()
        except (OSError, FilememError):
            self._take(self._look(), progress)

    @contextlib.contextmanager
    def _writing(self, wait_s: float) -> Iterator[None]:
        """Hold the lock of the index's folder, which is made if it is missing.

        Raises:
            Busy: another process held it for `wait_s` seconds.
            OSError, FilememError: nothing can be written there.
        """
        if not self.folder.exists():
            why = "has no memories yet; start with: filemem chat."
            raise NotFound(f"{self.folder.name} {why}")
        files.make_folder(self._path())
        with files.lock(self._path(_LOCK), wait_s):
            yield

    def _take(self, listed: dict[str, Stats], progress: Progress) -> None:
        """Read the files that are new or have changed, and drop those that are gone."""
        kept = [
            file
            for file in self._corpus.files
            if listed.get(file.path) == self._known[file.path]
        ]
        builder = Builder(replace(self._corpus, files=kept))
        unchanged = {file.path for file in kept}
        if builder.next >= COMPACT_ABOVE * sum(file.count for file in kept):
            builder = Builder(EMPTY)
            unchanged = set()
        wanted = [path for path in listed if path not in unchanged]
        collects = gc.isenabled()
        gc.disable()  # reading makes no cycles; to look for some takes an eighth of it
        try:
            for done, path in enumerate(wanted):
                if done % FILES_BETWEEN_PROGRESS == 0:
                    progress(done, len(wanted))
                self._read(builder, path, listed[path])
        finally:
            if collects:
                gc.enable()
        self._hold(builder.corpus())
        progress(len(wanted), len(wanted))

    def _read(self, builder: Builder, path: str, stats: Stats) -> None:
        """Add a file to the builder, unless it has gone since it was listed."""
        is_settled = _is_settled(stats)
        data: bytes | None = None
        try:
            data = files.read(f"{self.folder.root}/{path}", LARGEST + 1)
        except NotFound:
            return
        except Refused:
            pass  # a change of permissions shows in the stats
        except OSError:
            is_settled = False
        add_file(builder, path, stats, data, is_settled=is_settled)

    # -- on disk -------------------------------------------------------------------

    def _load(self, listed: dict[str, Stats]) -> None:
        """Take up the snapshot on disk if it is another than before, or is gone."""
        stamp = _CHANGING
        with contextlib.suppress(OSError, FilememError):
            stamp = _stats(os.lstat(self._path(_SNAPSHOT)))
        if stamp == self._stamp:
            return
        self._stamp = stamp
        most = MAX_SNAPSHOT_BYTES + 10 * sum(size for _, _, size, _ in listed.values())
        try:
            data = files.read(self._path(_SNAPSHOT), most)
            self._hold(unpack(data, _version()))
        except (OSError, FilememError, ValueError, LookupError, TypeError):
            self._hold(EMPTY)

    def _save(self) -> None:
        """Write the snapshot.

        It is not synced: what a power failure leaves of it fails its check.
        """
        path = self._path(_SNAPSHOT)
        new = f"{path}.new"
        descriptor = files.open_regular(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(descriptor, "wb") as file:
            file.write(pack(self._corpus, _version()))
        os.replace(new, path)
        self._stamp = _stats(os.lstat(path))


@functools.cache
def _version() -> str:
    """Return what a snapshot depends on besides the files.

    That is how they are read and packed, and by which Python on which machine.
    """
    package = Path(__file__).parents[1]
    made_by = f"{sys.version} {sys.byteorder}"
    found = hashlib.blake2b(made_by.encode(), digest_size=16)
    sources = [package / "data" / name for name in _WORDS]
    for room in _SOURCES:
        sources += sorted((package / room).glob("*.py"))
    for source in sources:
        found.update(source.read_bytes())
    return found.hexdigest()


def _is_settled(stats: Stats) -> bool:
    """Tell whether any later change would show in other stats than these."""
    changed_ns = stats[1]
    racy_ns = RACY_NS
    if changed_ns % 1_000_000_000 == 0:
        racy_ns = RACY_WHOLE_SECONDS_NS
    return abs(time.time_ns() - changed_ns) > racy_ns
