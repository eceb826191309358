"""The index of a user's memories: a cache in `.filemem/index/` that is compared with the files at every question.

It is a manifest and segments (see `segments`), each written once under a new name and never changed; a new manifest takes
the old one's place by a rename. So readers need no lock, see one state whole, and a process killed at any moment leaves the
last one. Writers take a lock. What is missing, damaged, or of another version is built anew from the files; where nothing
can be written, or another process is writing, the same is built in memory for this process alone.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
import threading
import time
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.files.places import Reach, names_in
from filemem.index import building, segments, watching
from filemem.index.building import FileToRead, Helper
from filemem.index.corpus import Corpus, Part
from filemem.index.gathering import Gatherer
from filemem.index.memory_cache import MemoryCache
from filemem.index.segments import Builder, DamagedSegment, Segment
from filemem.index.watching import Listing, Watch

FOLDER = "index"
WALK_AGAIN = 60  # seconds
"""What a watch cannot tell (a write through memory, a link made elsewhere) is seen so late at most."""
LARGE = 2_048  # files: a segment with more is merged only once half of its passages are dead
_MANIFEST, _LOCK = "manifest", "lock"
_SEGMENT = re.compile(r"[0-9a-f]{16}\.segment")
_SOURCES = (
    *(
        "files/memory.py",
        "files/passages.py",
        "files/front.py",
        "text/terms.py",
        "data/same.txt",
        "data/traditional.txt",
    ),
    *("index/building.py", "index/gathering.py", "index/segments.py"),
)

Progress = Callable[[int, int], None]
Listings = dict[str, Listing]


class _State:
    """What the index holds: segments, and of each folder the digest of its listing, but of those
    where a file may have changed unseen."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.digests: dict[str, str] = {}


class _Changes:
    """What differs between a state and the folders as listed; all others have gone if the listing is of the `whole`."""

    def __init__(self, state: _State, listings: Listings, whole: bool) -> None:
        self.wanted: list[FileToRead] = []  # files to read
        self.dead: list[set[int]] = [set(part.dead) for part in state.parts]
        self.digests: dict[str, str] = {}
        self._state = state
        for prefix, listed in listings.items():
            digest = _digest(listed)
            if state.digests.get(prefix) != digest:
                self._compare(prefix, listed)
                self.digests[prefix] = digest
        for number, (segment, _) in enumerate(state.parts) if whole else ():
            for prefix in segment.folders:
                if prefix not in listings:
                    self.dead[number].update(segment.files_in(prefix))

    def __bool__(self) -> bool:
        dead = (len(now) > len(part.dead) for now, part in zip(self.dead, self._state.parts, strict=True))
        return bool(self.wanted) or any(dead)

    def _compare(self, prefix: str, listed: Listing) -> None:
        known: dict[str, tuple[int, int]] = {}
        for number, (segment, dead) in enumerate(self._state.parts):
            known.update({segment.names[f]: (number, f) for f in segment.files_in(prefix) if f not in dead})
        for place, name in enumerate(listed.names):
            stats = listed.stats[4 * place : 4 * place + 4]
            number, file = known.get(name, (-1, -1))
            if number >= 0 and self._state.parts[number].segment.is_as(file, stats):
                del known[name]
            else:
                self.wanted.append(FileToRead(prefix, name, stats))
        for number, file in known.values():
            self.dead[number].add(file)

    def merge(self) -> None:
        """Read the files of some segments again, to put them with the new ones: of small ones, so that there are never
        many, as each file is read again only about as often as the logarithm of their number; of those half dead."""
        sizes = [len(part.segment.marks) - len(dead) for part, dead in zip(self._state.parts, self.dead, strict=True)]
        for number in sorted(range(len(sizes)), key=sizes.__getitem__):
            segment, dead = self._state.parts[number].segment, self.dead[number]
            small = sizes[number] <= min(len(self.wanted), LARGE)
            if sizes[number] and (small or len(dead) > sizes[number]):
                for file in set(range(len(segment.marks))) - dead:
                    self.wanted.append(FileToRead(segment.folder(file), segment.names[file], segment.stats_of(file)))
                    dead.add(file)


def of(folder: Folder) -> Index:
    """The index of a user's folder, the same one for as long as the folder object lives and the folder lies where it does."""
    found: Index = folder.cached.get("index") or folder.cached.setdefault("index", Index(folder))
    if found.place != folder.place:  # in another shard now
        found = folder.cached["index"] = Index(folder)
    return found


class Index:
    """The index of one folder. Safe to use from several threads."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.place = folder, folder.place
        self.shelf = MemoryCache()
        self.progress: Progress = lambda done, total: None  # told the number of files read and to read
        self._where = folder.bookkeeping(FOLDER)
        self._thread_lock = threading.Lock()
        self._state = _State()
        self._stamp: tuple[int, ...] = ()  # tells the manifest that the state is read from or written to; (): none
        self._corpus: Corpus | None = None
        self._watch: Watch | None = None
        self._watchable = True
        self._walked = 0.0
        self._asked = 0

    def corpus(self, progress: Progress | None = None) -> Corpus:
        """The passages of all files as they are now; `progress` stands in for the index's own."""
        with self._thread_lock:
            self._asked += 1
            anew = self._load()
            changes = _Changes(self._state, *self._listings(anew))
            if changes:
                self._update(changes, progress or self.progress)
            if self._corpus is None:
                self._corpus = Corpus(self._state.parts, self._mend)
            return self._corpus

    def discard(self) -> None:
        """Delete the cache, so that nothing stays in it of files that were deleted; the next question builds it anew.

        Raises OSError or FilememError where it cannot be.
        """
        with self._thread_lock:
            self._state, self._stamp, self._corpus = _State(), (), None
            self._watch = None  # it tells what changed, and now every folder is to be listed anew
            self.shelf = MemoryCache()
            if disk.exists(self._where):
                with self._writing(10.0):
                    for name in names_in(self._where):
                        if name != _LOCK:
                            disk.delete(self._where / name)

    # -- what changed --------------------------------------------------------------------------------------------

    def _listings(self, anew: bool) -> tuple[Listings, bool]:
        """Folders as they are now, and whether these are all: if not, nothing has happened in the others."""
        watched = self._watch and not anew and time.monotonic() < self._walked + WALK_AGAIN
        changed = self._watch.changed() if self._watch and watched else None
        if changed is not None:
            found = {prefix: watching.listing(self.folder.place, prefix) for prefix in changed}
            if not any(listed.linked for listed in found.values()):
                return found, False
        self._watch = None
        if self._asked > 1 and self._watchable:
            try:
                self._watch = Watch(self.folder.place)
            except OSError:
                self._watchable = False
        return self._walk(), True

    def _walk(self) -> Listings:
        """Every folder; each is watched, where that is possible, before it is listed."""
        self._walked = time.monotonic()
        found: Listings = {}
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            try:
                if self._watch:
                    self._watch.add(prefix)
            except OSError:
                self._watch, self._watchable = None, False
            found[prefix] = watching.listing(self.folder.place, prefix)
            waiting += found[prefix].folders
            if found[prefix].linked:
                self._watch, self._watchable = None, False
        return found

    # -- taking changes in ---------------------------------------------------------------------------------------

    def _update(self, changes: _Changes, progress: Progress) -> None:
        """Take the changes in, on disk where that is possible."""
        self._corpus = None
        wait = 0.05 + 0.001 * len(changes.wanted)  # seconds; about what it takes to do without the other process
        try:
            with self._writing(wait):
                if self._load():
                    changes = _Changes(self._state, self._walk(), True)
                self._take(changes, progress, on_disk=True)
                self._save()
                self._sweep()
        except (OSError, FilememError):
            self._take(_Changes(self._state, self._walk(), True), progress, on_disk=False)

    @contextlib.contextmanager
    def _writing(self, wait: float) -> Iterator[None]:
        """Hold the lock of the index's folder, which is made where it is missing. Raises OSError or FilememError."""
        if not self.folder.exists():
            raise NotFound(f"{self.folder.name} has no memories yet.")
        disk.make_folder(self._where)
        with disk.lock(self._where / _LOCK, wait):
            yield

    def _take(self, changes: _Changes, progress: Progress, *, on_disk: bool) -> None:
        """Read what is wanted into new segments. The state is right all along, for ever more of the files."""
        changes.merge()
        state = self._state
        dead = zip(state.parts, changes.dead, strict=True)
        state.parts = [
            Part(part.segment, frozenset(gone)) for part, gone in dead if len(gone) < len(part.segment.marks)
        ]
        state.digests = {prefix: digest for prefix, digest in state.digests.items() if prefix not in changes.digests}
        done, total, chunks = 0, len(changes.wanted), list(building.chunks(changes.wanted))
        with building.helpers(self.folder.place, self._where, len(chunks) if on_disk else 0) as helpers:
            for first in range(0, len(chunks), 1 + len(helpers)):
                own, *given = chunks[first : first + 1 + len(helpers)]
                told = functools.partial(_told, progress, done, 1 + len(given), total)
                restless = self._build(own, zip(helpers, given, strict=False), told, on_disk=on_disk)
                changes.digests = {prefix: d for prefix, d in changes.digests.items() if prefix not in restless}
                done += len(own) + sum(map(len, given))
                if on_disk and done < total:
                    self._save()  # so that after an interruption this much is done
        state.digests |= changes.digests
        progress(total, total)

    def _build(
        self,
        own: list[FileToRead],
        given: Iterable[tuple[Helper, list[FileToRead]]],
        told: Callable[[int], None],
        *,
        on_disk: bool,
    ) -> set[str]:
        """Read files into segments of the state, some of them by helpers; gives the folders with files to be read again."""
        finish = functools.partial(self._finish, on_disk=on_disk)
        asked = []
        for helper, wanted in given:
            with contextlib.suppress(OSError):
                helper.ask(wanted)
            asked.append((helper, wanted))
        restless = building.build(self.folder.place, own, finish, told)
        for helper, wanted in asked:
            try:
                names, more = helper.answer()
                parts = [Part(segments.read(self._where / name), frozenset()) for name in names]
            except (OSError, FilememError, DamagedSegment):
                restless |= building.build(self.folder.place, wanted, finish)
            else:
                self._state.parts += parts
                restless.update(more)
        return restless

    def _finish(self, data: bytes, *, on_disk: bool) -> None:
        """Add a segment's bytes to the state."""
        self._state.parts.append(Part(self._written(data) if on_disk else Segment("", data), frozenset()))

    def _mend(self, part: Part) -> Segment:
        """A segment in memory in the place of one that is damaged: the same passages under the same numbers. The next
        question finds no manifest, so the index will be built anew."""
        with contextlib.suppress(OSError, FilememError):
            disk.delete(self._where / _MANIFEST)
        segment, builder, gatherer = part.segment, Builder(), Gatherer()
        reach = Reach(self.folder.place)
        for file, name in enumerate(segment.names):
            wanted = FileToRead(segment.folder(file), name, segment.stats_of(file))
            trial = Builder()
            count = segment.firsts[file + 1] - segment.firsts[file]
            building.take(reach, gatherer, trial, wanted)
            if file not in part.dead and len(trial.lines) == count:
                building.take(reach, gatherer, builder, wanted)
                continue
            builder.file(*wanted, 0, 0, {})
            for _ in range(count):
                builder.passage(0, 0, 0, [], [])
        reach.close()
        return Segment("", builder.pack())

    # -- on disk -------------------------------------------------------------------------------------------------

    def _load(self) -> bool:
        """Take up the manifest's state if another one was written, or it was deleted, since it was last looked at."""
        for _ in range(10):
            stamp, text = self._manifest()
            if stamp == self._stamp:
                return False
            try:
                state = self._opened(text)
            except NotFound:
                continue  # another process has just merged segments: there is a new manifest
            except (OSError, FilememError, DamagedSegment):
                state = _State()
            break
        else:
            state = _State()
        self._state, self._stamp, self._corpus = state, stamp, None
        return True

    def _manifest(self) -> tuple[tuple[int, ...], bytes]:
        """What tells the manifest from others, and its text if it is not the one known."""
        try:
            fd = disk.open_regular(self._where / _MANIFEST)
        except (OSError, FilememError):
            return (), b""
        with open(fd, "rb") as file:
            s = os.fstat(fd)
            stamp = (s.st_ino, s.st_mtime_ns, s.st_ctime_ns, s.st_size)
            return stamp, b"" if stamp == self._stamp else file.read()

    def _opened(self, text: bytes) -> _State:
        """The state that a manifest's text describes. Raises DamagedSegment or OSError."""
        check, _, packed = text.partition(b"\n")
        if check != _check(packed):
            raise DamagedSegment(_MANIFEST)
        facts = json.loads(packed)
        if facts["version"] != _version():
            raise DamagedSegment(_MANIFEST)
        known = {part.segment.name: part.segment for part in self._state.parts}
        state = _State()
        for name, dead in facts["segments"]:
            segment = known.get(name) or segments.read(self._where / name)
            state.parts.append(Part(segment, frozenset(dead)))
        state.digests = facts["digests"]
        return state

    def _save(self) -> None:
        """Write the state. The lock is held."""
        state = self._state
        state.parts = [
            part if part.segment.name else Part(self._written(part.segment.packed_bytes()), part.dead)
            for part in state.parts
        ]
        facts: dict[str, Any] = {
            "version": _version(),
            "digests": state.digests,
            "segments": [(part.segment.name, sorted(part.dead)) for part in state.parts],
        }
        packed = json.dumps(facts, separators=(",", ":")).encode()
        new = self._where / f"{_MANIFEST}.new"
        with open(
            disk.open_regular(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb"
        ) as file:  # nor are segments synced
            file.writelines((_check(packed), b"\n", packed))
        disk.replace(new, self._where / _MANIFEST)
        self._stamp, _ = self._manifest()

    def _written(self, data: bytes) -> Segment:
        """A segment with these bytes, on disk."""
        return segments.read(self._where / building.write(self._where, data))

    def _sweep(self) -> None:
        """Delete the segments that the manifest does not name. The lock is held."""
        named = {part.segment.name for part in self._state.parts}
        for name in names_in(self._where):
            if _SEGMENT.fullmatch(name) and name not in named:
                disk.delete(self._where / name)


def _told(progress: Progress, before: int, readers: int, total: int, done: int) -> None:
    """Tell the progress of one reader among several that are about as fast."""
    progress(min(before + readers * done, total), total)


def _check(packed: bytes) -> bytes:
    return b"%08x" % zlib.crc32(packed)


def _digest(listed: Listing) -> str:
    """What tells a folder's listing from any other."""
    names = "\0".join(listed.names).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(b"%d " % len(names) + names + listed.stats.tobytes(), digest_size=16).hexdigest()


@functools.cache
def _version() -> str:
    """What the index depends on besides the files: how they are read and packed, and by which Python and machine."""
    found = hashlib.blake2b(
        f"{sys.version_info} {sys.byteorder} {unicodedata.unidata_version}".encode(), digest_size=16
    )
    for name in _SOURCES:
        with contextlib.suppress(OSError):
            found.update((Path(__file__).parents[1] / name).read_bytes())
    return found.hexdigest()
