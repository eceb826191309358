"""One user's folder on disk: which files in it are memories, and how they change.

Every path taken and given here is relative to the folder, with `/`. Writers hold the
user's lock, readers none.
"""

import contextlib
import json
import os
import tempfile
import threading
import time
import unicodedata
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.store import files, person
from filemem.store.encodings import UTF_8, encoding_of
from filemem.store.fields import texts
from filemem.store.files import Listed, too_far, walk
from filemem.store.heard import LOG, Happening, MemoryEvent, OnEvent, ignore
from filemem.store.memory import LARGEST, Memory, parse
from filemem.store.paths import ARCHIVE, PROFILE, archived, kind_of, live, numbered
from filemem.text.plain import digest, escape_controls, nearest, one_line

BOOKKEEPING = ".filemem"
PERSON_KEY = "name"  # of the profile's front matter
PROPOSED = "proposed"  # the folder of what waits for the person; no memory yet
NAMES = "names"  # in the bookkeeping: the user's name, and those of before
IDENTITY = "identity"  # in it: what no other user has, whatever their names
RENAMING = "renaming"  # in it: the name before, until all of a rename is done
SUFFIXES = (".md", ".markdown", ".txt", ".text", ".org", ".rst", ".yaml", ".yml")
"""How the names of memories end, in any case."""
JOB_WAIT_SECONDS = 0.5  # that a job waits for another
WAIT_SECONDS = 10.0  # that a writer waits for others
ABANDONED_SECONDS = 60  # after which a temporary file was left by a write that died
COPIES_SECONDS = 86_400  # after which a copy of the past is nobody's any more
_COPIES = "tmp"  # their folder in the bookkeeping
LEARNED = "consolidated.jsonl"  # the log, in the bookkeeping, that notes new memories
NOTING = ("wrote", "known", "proposal")  # its keys with the path of one
DIGEST_LETTERS = 12  # of the digest of its bytes, under `digest`
OTHER_FORMS = (ValueError, TypeError, LookupError, AttributeError)
"""What a line of another form raises where it is taken in."""

Note = Callable[[list[str]], None]
"""Logs the paths that new memories are about to have."""
Noted = dict[str, Any]
"""A line of the log that notes one, with its path under a key of `NOTING`."""


class Stat(NamedTuple):
    """A memory's file as the folder lists it.

    `changed` is in nanoseconds, the later of modification and inode change, so that a
    clock that was put back is seen.
    """

    path: str
    changed: int
    size: int


@dataclass
class Found:
    """Whom a piece of work found in a folder, and is for; filled in if it begins them.

    Attributes:
        identity: '' where they had none yet.
        inode: of the folder; 0 where there was nobody, so that the work may begin them.
    """

    identity: str
    inode: int


class Folder:
    """The memories under one folder, of the user called `name`.

    `named` tells whether the person named the store, or came upon it where they stand;
    `on_event` hears what happens to the memories, `wait` is how many seconds a writer
    waits for others.
    """

    def __init__(
        self,
        root: str,
        name: str,
        *,
        named: bool = True,
        on_event: OnEvent = ignore,
        wait: float = WAIT_SECONDS,
    ) -> None:
        above, last = os.path.split(os.path.abspath(root))
        self.store = os.path.realpath(above)  # which may lie behind a link
        self.own_folder = last  # its name, which is made from the user's
        self.root = os.path.join(self.store, last)  # it may not exist
        self.name = name
        self._was_named = named
        self._writing = _Lock("lock", begins=True)
        self._working = _Lock("job.lock", begins=False)
        # Memories with a person's uncommitted changes, which no job moves.
        self.drafts: frozenset[str] = frozenset()
        # What others keep of it for as long as it lives.
        self.cached: dict[str, Any] = {}
        self.on_event = on_event
        self.wait = wait
        # Whether a write may make the folder. A job's may not: it would leave a part
        # of a user where the person has just moved or deleted them.
        self.may_begin = True
        self._work = threading.local()  # `found`: whom a thread's work is for
        # Called when a write has made the folder.
        self.when_begun: Callable[[], object] | None = None

    @cached_property
    def is_own(self) -> bool:
        """Whether its wishes on how to behave count, and are not data alone.

        They do in a store that was named, or that this machine began.
        """
        return self._was_named or person.has_begun(self.root)

    @property
    def person(self) -> str:
        """How the person is called: as the front matter of profile.md says, else by the
        user's name, or that of before a person renamed the folder."""
        told = self.profile_front().get(PERSON_KEY)
        if not told:
            told = [*self.names(), self.name][0]
        return one_line(str(told))

    def own_names(self) -> set[str]:
        """Return the names under which the person's own turns may stand."""
        aliases = texts(self.profile_front().get("aliases"))
        return {
            self.name,
            self.person,
            *aliases,
            *self.names(),
        }

    def names(self) -> list[str]:
        """Return the user's names under which this folder was written to.

        The bookkeeping has them, so that a folder which a person renames keeps its
        person. That by which they are called is the first; there is none where nothing
        was written yet, or the bookkeeping was deleted.
        """
        with contextlib.suppress(FilememError, OSError):
            place = self.bookkeeping(NAMES)
            text = files.read(place).decode(errors="replace")
            return text.splitlines()
        return []

    def note_names(self, names: Iterable[str]) -> None:
        """Have the bookkeeping say which names the user has had.

        Args:
            names: first that by which the person is called.
        """
        lines = "\n".join(dict.fromkeys(names))
        place = self.bookkeeping(NAMES)
        files.write(place, lines.encode())

    def identity(self) -> str:
        """Return what tells this user from all who had or will have the name.

        It goes with the folder. There is none where nothing was written yet.
        """
        with contextlib.suppress(FilememError, OSError):
            return files.read(self.bookkeeping(IDENTITY)).decode(errors="replace")
        return ""

    def identify(self) -> None:
        """Have the user have an identity; the caller holds their writing lock.

        Raises:
            NotFound: the work of this thread is for somebody else.
        """
        try:
            self.check_found()
        except NotFound:
            self._unmake()
            raise
        found = self._found()
        if not self.identity():
            new = found.identity or os.urandom(8).hex()
            files.write(self.bookkeeping(IDENTITY), new.encode())
        if not found.identity:
            now = self.found()
            found.identity = now.identity
            found.inode = now.inode

    def _unmake(self) -> None:
        """Remove the folder if `make` has just made it, as its user went meanwhile.

        The caller holds the writing lock. A folder with a memory stays, and one whose
        bookkeeping has more than `make` and the lock write.
        """
        kept = set(os.listdir(self.bookkeeping()))
        if self.paths() or not kept <= {NAMES, "lock"}:
            return
        files.remove(self.bookkeeping())
        with contextlib.suppress(OSError):  # somebody begins in it
            os.rmdir(self.root)

    # -- whom work is for ----------------------------------------------------------

    def found(self) -> Found:
        """Return who is there now, for `only`."""
        inode = 0
        with contextlib.suppress(OSError):
            inode = os.lstat(self.root).st_ino
        return Found(self.identity(), inode)

    @contextlib.contextmanager
    def only(self, found: Found) -> Iterator[None]:
        """Have this thread work for those who were found, or whom it begins.

        Once they are deleted or renamed it writes nothing: it begins nobody anew, and
        is not for who has the name by then. Within such work the outermost counts.
        """
        before = getattr(self._work, "found", None)
        self._work.found = before or found
        try:
            yield
        finally:
            self._work.found = before

    def _found(self) -> Found:
        """Return whom the work of this thread is for; anybody where it is none."""
        return getattr(self._work, "found", None) or Found("", 0)

    def check_found(self) -> None:
        """Raise NotFound where those whom this thread's work is for are gone."""
        found = self._found()
        if not found.inode:
            return
        now = self.found()
        is_same = now.inode == found.inode
        if now.identity and found.identity:
            is_same = now.identity == found.identity
        elif found.identity and is_same:
            # A person has deleted the bookkeeping, and memories are there still; or it
            # is about to go with its user, and no memory is.
            is_same = bool(self.paths())
        if not is_same:
            raise self.gone()

    def gone(self) -> NotFound:
        """Return the error for a user who went while something was written."""
        what = "was deleted or renamed meanwhile"
        return NotFound(f"{one_line(self.name)} {what}; nothing more is kept.")

    def renamed_from(self) -> str:
        """Return the name before, while a rename is not done yet; '' as a rule."""
        with contextlib.suppress(FilememError, OSError):
            return files.read(self.bookkeeping(RENAMING)).decode(errors="replace")
        return ""

    def profile_front(self) -> dict[str, Any]:
        """Return the front matter of profile.md; empty where there is none."""
        profile = self.find(PROFILE)
        return profile.front if profile else {}

    def exists(self) -> bool:
        """Tell whether anything has been kept for this user yet."""
        return os.path.isdir(self.root)

    def require(self) -> None:
        """Raise NotFound where nothing has been kept for this user, or is any more."""
        if not self.exists():
            raise NotFound(f"nothing is kept of {one_line(self.name)}.")

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be kept of what this user says.

        A store that may not even be read is another matter, of which an error tells.
        """
        place = self.root if self.exists() else self.store
        return os.access(place, os.R_OK | os.X_OK) and not os.access(place, os.W_OK)

    def tell(self, kind: Happening, count: int, *tokens: int) -> None:
        """Log what happens to the memories, and have the program hear it.

        Args:
            kind: of a MemoryEvent.
            count: how many turns, hits, requests or memories; of 0 nothing is told.
            tokens: of a request those that went in and came out.
        """
        if count:
            told = f"{count}, {sum(tokens)} tokens" if tokens else count
            LOG.info("%s of %s: %s", kind, self.name, told)
            self.on_event(MemoryEvent(kind, self.name, count, *tokens))

    # -- listing -------------------------------------------------------------------

    def files(self, *kinds: str) -> Iterator[Stat]:
        """Yield every memory's file, or those of some kinds, in no order."""
        return stats_of(self._memories(*kinds))

    def paths(self, *kinds: str) -> list[str]:
        """Return the paths of the memories, or of those of some kinds, in order."""
        return sorted(path for path, _ in self._memories(*kinds))

    def _memories(self, *kinds: str) -> Iterator[Listed]:
        folders = tuple(f"{kind}/" for kind in kinds)
        for one in self.entries(*kinds):
            is_wanted = not kinds or live(one.path).startswith(folders)
            if (is_wanted or kind_of(one.path) in kinds) and is_memory(one.entry):
                yield one

    def entries(self, *kinds: str) -> Iterator[Listed]:
        """Yield what lies in the folders of all memories, or of those of some kinds.

        Some of it may be no memory; no file is looked at.
        """
        return walk(self.root, partial(_enters_kind, kinds) if kinds else enters)

    def everything(self) -> list[str]:
        """Return the paths of all files and links, memories or not, in order, but the
        bookkeeping's and a repository's."""
        own = (BOOKKEEPING, ".git")
        found = list[str]()
        for path, entry in walk(self.root, lambda path, _: path not in own):
            if path not in own and not entry.is_dir(follow_symlinks=False):
                found.append(path)
        return sorted(found)

    def proposals(self) -> list[str]:
        """Return the paths of what is proposed and waits for the person, in order."""
        found = walk(f"{self.root}/{PROPOSED}", enters)
        return sorted(f"{PROPOSED}/{path}" for path, entry in found if is_memory(entry))

    # -- containment ---------------------------------------------------------------

    def bookkeeping(self, name: str = "") -> str:
        """Return the place of a bookkeeping file, or of the folder that holds them.

        Raises:
            Refused: a link leads there.
        """
        where = os.path.join(self.root, BOOKKEEPING, name).rstrip("/")
        return _without_link(where, where) if name else where

    def absolute(self, path: str) -> str:
        """Return the place of `path` on disk.

        Raises:
            Refused: it would lead out of the folder or into its bookkeeping.
        """
        return _without_link(self._named(path), path)

    def _named(self, path: str) -> str:
        """Return the place that a path names, whatever lies along the way."""
        parts = path.split("/")
        is_odd = is_unprintable(path) or any(part[:1] in ("", ".") for part in parts)
        if is_odd or too_far(path.rpartition("/")[0]):
            shown = one_line(path, 80) or "an empty path"
            what = f"{shown} is not a path inside {self.name}'s memories"
            raise Refused(f"{what}; name it like facts/2026/2026-11-20-tea.md.")
        return f"{self.root}/{path}"

    # -- finding -------------------------------------------------------------------

    def locate(self, path: str) -> str:
        """Return where a memory lies now: as named, or in the archive.

        A name counts in whatever Unicode normal form it is.

        Raises:
            NotFound: there is none; the error has the nearest paths.
            Refused: the path is a folder, or none inside this one.
        """
        path = path.removeprefix("./")
        named = (path, live(path), archived(path))
        for candidate in named:
            where = self.absolute(candidate)
            if os.path.isdir(where):
                what = f"{one_line(path)} is a folder; name a file in it"
                raise Refused(f"{what}, {self._nearest(path)}.")
            if os.path.lexists(where):
                return candidate
        wanted = {normal_form(candidate) for candidate in named}
        for candidate in self.paths():
            if normal_form(candidate) in wanted:
                return candidate
        raise NotFound(f"{one_line(path)} does not exist; {self._nearest(path)}.")

    def existing(self, path: str) -> Iterator[str]:
        """Yield where a memory lies: live, in the archive, or for a moment both."""
        for candidate in (live(path), archived(path)):
            with contextlib.suppress(FilememError):
                if os.path.lexists(self.absolute(candidate)):
                    yield candidate

    def no_match(self, glob: str) -> NotFound:
        """Return the error for a glob that names no file."""
        return NotFound(f"no file matches {one_line(glob)}; {self._nearest(glob)}.")

    def _nearest(self, name: str) -> str:
        """Return the paths most like a wrong one, said as a remedy."""
        paths = self.paths()
        close = nearest(name, paths, 3, 0.3)
        return f"nearest: {', '.join(close)}" if close else "list or search for it"

    # -- reading -------------------------------------------------------------------

    @contextlib.contextmanager
    def _worded(self, path: str) -> Iterator[None]:
        """Have errors name the path as the caller does, and say where it is now."""
        try:
            yield
        except NotFound:
            now = self.locate(path)
            raise NotFound(f"{one_line(path)} has moved; it is {now} now.") from None
        except Refused as error:
            raise Refused(str(error).replace(f"{self.root}/", "")) from None

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file.

        Args:
            path: as `absolute` takes it.
            limit: how many bytes at most.

        Raises:
            NotFound: there is no such file.
            Refused: it is no plain file, or a link leads there.
        """
        with self._worded(path):
            return files.read(self.absolute(path), limit)

    def memory(self, path: str) -> Memory:
        """Return the memory at `path`, as it is on disk now.

        Raises:
            NotFound: there is none.
            Refused: the path is none, or the file is larger than LARGEST.
        """
        data = self.read(path, LARGEST + 1)
        if len(data) > LARGEST:
            what = f"{one_line(path)} is larger than {LARGEST // 1_000_000} MB"
            raise Refused(f"{what}; split it into smaller files.")
        return parse(path, data)

    def find(self, path: str) -> Memory | None:
        """Return the memory of that path, live or archived; None if it is gone or
        cannot be read."""
        with contextlib.suppress(FilememError, OSError):
            for place in self.existing(path):
                return self.memory(place)
        return None

    # -- who writes ----------------------------------------------------------------

    def make(self) -> None:
        """Create the user's folder and its bookkeeping.

        That is how a user begins, and only a write of what is kept may come here.

        Raises:
            NotFound: the folder is gone, and may not begin anew.
        """
        self.check_found()
        is_new = not self.exists()
        if is_new and not self.may_begin:
            raise NotFound(f"{self.root} is gone; name where it is with --store.")
        files.make_folder(self.bookkeeping())
        names = self.names()
        if self.name not in names:
            self.note_names([*names, self.name])
        if is_new and self.when_begun:
            self.when_begun()

    @contextlib.contextmanager
    def locked(self, wait: float | None = None) -> Iterator[None]:
        """Hold this user's writing lock, which nests within a thread.

        A user who is new begins by it. What one who held it before and was killed has
        left is finished first.

        Raises:
            Busy: others held it for `wait` seconds, the folder's own for None.
        """
        if wait is None:
            wait = self.wait
        with self._writing.held(self, wait) as was_cut_off:
            if was_cut_off:
                self.finish_writes()
            yield

    @contextlib.contextmanager
    def job_lock(self, wait: float = JOB_WAIT_SECONDS) -> Iterator[None]:
        """Run as the only job on this user's memories; it may consist of jobs.

        Raises:
            Busy: another job is running.
            NotFound: nothing is kept of them.
        """
        with self._working.held(self, wait), self.only(self.found()):
            yield

    # -- writing -------------------------------------------------------------------

    def create(self, path: str, text: str | bytes, note: Note | None = None) -> str:
        """Write a new memory and return its path, the next free one with -2, -3, …

        One name means one memory, wherever it lies. `note` is as in `create_all`.

        Raises:
            Refused: the path is none.
        """
        [free] = self.create_all([(path, text)], note)
        return free

    def create_all(
        self, wanted: Iterable[tuple[str, str | bytes]], note: Note | None = None
    ) -> list[str]:
        """Write new memories as `create` does each, made durable together.

        Args:
            wanted: the path and the text of each.
            note: is told their paths once all bytes are durable and before any has its
                name, to log them with their digests; and again if somebody took such a
                name meanwhile. What is logged gets its name even if this process is
                killed: `finish_writes` gives it.
        """
        with self.locked():
            pages = self._with_free_names(wanted)
            places = {path: self.absolute(path) for path in pages}
            for above in dict.fromkeys(map(os.path.dirname, places.values())):
                files.make_folder(above)
            data = {places[path]: page for path, page in pages.items()}
            drafts = files.write_drafts(data)
            try:
                if note:
                    self._sync_folders(pages)
                    note([*pages])
                named = [self._name(drafts[places[path]], path) for path in pages]
                self._sync_folders(named)
                if note and named != [*pages]:
                    note(named)
            except BaseException:
                self.finish_writes()
                raise
        return named

    def _sync_folders(self, paths: Iterable[str]) -> None:
        """Make the names in the folders of some paths durable."""
        for folder in dict.fromkeys(map(os.path.dirname, paths)):
            files.sync_folder(f"{self.root}/{folder}")

    def _with_free_names(
        self, wanted: Iterable[tuple[str, str | bytes]]
    ) -> dict[str, bytes]:
        """Return what is to be written by a free path for each."""
        pages: dict[str, bytes] = {}
        untried: dict[str, Iterator[str]] = {}  # names for each path
        for path, text in wanted:
            if path not in untried:
                untried[path] = numbered(path, self._first_free(path))
            names = untried[path]
            free = next(one for one in names if self._is_free(one, pages))
            if isinstance(text, str):
                text = text.encode("utf-8", "replace")
            pages[free] = text
        return pages

    def _name(self, draft: str, path: str) -> str:
        """Give a hidden file the next free name like a path, and return that."""
        free = next(one for one in numbered(path) if self._is_free(one))
        files.name_draft(draft, self.absolute(free))
        return free

    def _first_free(self, path: str) -> int:
        """Return the number of a free name like a path, the least if none is missing.

        Of thousands of names few are looked at.
        """

        def is_free(number: int) -> bool:
            return self._is_free(next(numbered(path, number)))

        taken = 0
        free = 1
        while not is_free(free):
            taken = free
            free *= 2
        while free - taken > 1:
            middle = (taken + free) // 2
            if is_free(middle):
                free = middle
            else:
                taken = middle
        return free

    def _is_free(self, path: str, pages: Collection[str] = ()) -> bool:
        """Tell whether no memory has a name, live or archived.

        Args:
            path: the name.
            pages: those that are about to be written.
        """
        places = (self._named(live(path)), self._named(archived(path)))
        return path not in pages and not any(map(os.path.lexists, places))

    def append(self, path: str, text: str) -> None:
        """Add whole lines to a memory in UTF-8, durably.

        Raises:
            NotFound, Refused: there is none, or it is in another encoding.
        """
        with self.locked(), self._worded(path):
            where = self.absolute(path)
            files.settle(where).close()
            _refuse_encoding(path, files.read(where))
            files.append(where, text.encode("utf-8", "replace"))

    def edit(self, path: str, change: Callable[[bytes], bytes | None]) -> bool:
        """Change a memory in UTF-8 by a function of its bytes, as `files.edit` does.

        Raises:
            NotFound, Refused: there is none, or it is in another encoding.
        """

        def changed(data: bytes) -> bytes | None:
            _refuse_encoding(path, data)
            return change(data)

        with self.locked(), self._worded(path):
            return files.edit(self.absolute(path), changed)

    def move(self, targets: Mapping[str, str]) -> dict[str, str]:
        """Move memories, each to its target; return a sentence for each that stayed.

        The names are made durable once for each folder, those that files went to first.

        Raises:
            Busy, Refused: the user's lock cannot be had; the rest is not moved.
        """
        stayed: dict[str, str] = {}
        came: list[str] = []
        left: list[str] = []
        for source, target in targets.items():
            with self.locked():
                try:
                    self._rename(source, target)
                except FilememError as error:
                    stayed[source] = str(error)
                    continue
            came.append(target)
            left.append(source)
        self._sync_folders(came + left)
        return stayed

    def _rename(self, source: str, target: str) -> None:
        """Rename a memory to a free name, unless a person is still at it.

        Where both names have the same text, one of the two files goes.

        Raises:
            NotFound, Refused: it is gone, or the target is another text.
        """
        if source in self.drafts:
            raise Refused(draft_stays(source))
        origin = self.absolute(source)
        goal = self.absolute(target)
        files.make_folder(os.path.dirname(goal))
        try:
            files.rename_new(origin, goal)
        except FileNotFoundError:
            raise NotFound(f"{source} is gone; nothing was moved.") from None
        except FileExistsError:
            is_same = os.path.samefile(origin, goal)
            if not is_same and files.read(origin) != files.read(goal):
                what = f"{source} stays: {target} is another text"
                raise Refused(f"{what}; rename one of the two.") from None
            files.delete(origin)

    def become(self, other: "Folder") -> None:
        """Be another user's folder from now on, to which this one was renamed."""
        self.root = other.root
        self.own_folder = other.own_folder
        self.name = other.name

    # -- copies, and what killed processes leave --------------------------------------

    def scratch(self) -> "tempfile.TemporaryDirectory[str]":
        """Make an empty private folder for copies of memories, which is deleted when
        it is closed or its object goes; raise OSError or Refused."""
        above = self.bookkeeping(_COPIES)
        files.make_folder(above)
        return tempfile.TemporaryDirectory(dir=above)

    def delete_copies(self, older_than_seconds: float = 0) -> None:
        """Delete copies of memories that processes have left, or may still use."""
        for _, entry in walk(self.bookkeeping(_COPIES), lambda *_: False):
            _delete_old(entry, older_than_seconds)

    def delete_abandoned(self) -> None:
        """Delete what killed processes left, never what a person saved."""
        self.delete_copies(COPIES_SECONDS)
        for _, entry in walk(self.bookkeeping(), lambda *_: True):
            if entry.name.startswith(files.TEMPORARY):
                _delete_old(entry, ABANDONED_SECONDS)
        self.finish_writes()

    def recover(self) -> None:
        """Finish what a writer has left, if the last one was killed."""
        if self.exists():
            with self.locked():
                pass  # which does it

    def finish_writes(self) -> None:
        """Finish what writers that were killed have left among the memories.

        A new memory that was noted gets its name, the next free one; what else was
        about to be written is deleted, as nobody was told that it is kept. Whoever
        locks next after such a writer does this first.
        """
        if not self.exists():
            return
        own = (BOOKKEEPING, ".git")
        with self.locked():
            found = walk(self.root, lambda _, entry: entry.name not in own)
            left = [entry for _, entry in found if entry.name.startswith(files.OURS)]
            with contextlib.suppress(
                FilememError, OSError
            ):  # what was noted is unknown
                noted = self._noted() if left else {}
                for entry in left:
                    with contextlib.suppress(FilememError, OSError):
                        self._finish(entry, noted)

    def _finish(self, entry: "os.DirEntry[str]", noted: Mapping[str, Noted]) -> None:
        """Give a hidden file its name, or delete it.

        Args:
            entry: the file.
            noted: what the log notes of new memories, by the digest of their bytes.
        """
        line = None
        if not entry.name.startswith(files.OF_EDIT):
            line = noted.get(digest(files.read(entry.path), DIGEST_LETTERS))
        if line:
            self._name_noted(entry.path, line)
        else:
            files.remove(entry.path)
        files.sync_folder(os.path.dirname(entry.path))

    def _name_noted(self, draft: str, line: Noted) -> None:
        """Give a hidden file the name that the log notes.

        If somebody has taken that since, the next free one is noted first.
        """
        [key] = set(NOTING).intersection(line)
        free = next(filter(self._is_free, numbered(str(line[key]))))
        if free != line[key]:
            again = json.dumps(line | {key: free}, ensure_ascii=False)
            files.log(self.bookkeeping(LEARNED), f"{again}\n".encode())
        files.name_draft(draft, self.absolute(free))

    def _noted(self) -> dict[str, Noted]:
        """Return the lines about memories that were noted as new, by their digests."""
        noted: dict[str, Noted] = {}
        with contextlib.suppress(NotFound):
            for line in files.read(self.bookkeeping(LEARNED)).splitlines():
                with contextlib.suppress(*OTHER_FORMS, RecursionError):
                    entry = json.loads(line)
                    for key in NOTING:
                        if key in entry and entry.get("digest"):
                            noted[str(entry["digest"])] = entry
        return noted


class _Lock:
    """A lock file in the bookkeeping, by its name, which nests within a thread.

    It says who holds it and since when.

    Args:
        name: of the file.
        begins: a user of whom nothing is kept begins when it is taken.
    """

    def __init__(self, name: str, *, begins: bool) -> None:
        self._name = name
        self._begins = begins
        self._thread = threading.RLock()
        self._depth = 0

    @contextlib.contextmanager
    def held(self, folder: Folder, wait: float) -> Iterator[bool]:
        """Hold it, and tell whether one who held it before was killed.

        Then it still says who that was.

        Raises:
            Busy: others did so for `wait` seconds.
            NotFound: nothing is kept of the user, and this begins nobody, or any more.
        """
        if not self._begins:
            folder.require()
        place = folder.bookkeeping(self._name)
        if not self._thread.acquire(timeout=wait):
            raise files.busy(place)
        with contextlib.ExitStack() as held:
            held.callback(self._thread.release)
            was_cut_off = False
            if not self._depth:
                try:
                    folder.make()
                    file = held.enter_context(files.lock(place, wait))
                except (NotFound, FileNotFoundError):
                    folder.check_found()
                    if folder.may_begin:
                        folder.require()  # they were deleted while this waited
                        raise folder.gone() from None  # or are so at this moment
                    raise
                was_cut_off = os.fstat(file.fileno()).st_size > 0
                files.sign(file)
                held.callback(file.truncate, 0)
                if self._begins:
                    folder.identify()
            self._depth += 1
            try:
                yield was_cut_off
            finally:
                self._depth -= 1


def _delete_old(entry: "os.DirEntry[str]", seconds: float) -> None:
    with contextlib.suppress(FilememError, OSError):
        if entry.stat(follow_symlinks=False).st_mtime <= time.time() - seconds:
            files.remove(entry.path)


# -- which files are memories --------------------------------------------------------


def is_memory_name(name: str) -> bool:
    """Tell whether a file's name is that of a memory, and not an editor's own."""
    return name[0] not in ".~" and name.lower().endswith(SUFFIXES)


def is_unprintable(name: str) -> bool:
    """Tell whether nobody can type or print a name: control characters, no UTF-8."""
    if name.isascii() and name.isprintable():
        return "\\" in name
    return escape_controls(name) != name or any(sign in name for sign in "\\\t\n")


def stats_of(found: Iterable[tuple[str, "os.DirEntry[str]"]]) -> Iterator[Stat]:
    """Yield how memories' files are listed, but not those that are gone by now.

    Args:
        found: the path of each, and its file as its folder lists it.
    """
    for path, entry in found:
        try:
            stat = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
        yield Stat(path, changed, stat.st_size)


def is_memory(entry: "os.DirEntry[str]") -> bool:
    """Tell whether this is a memory's file."""
    if is_unprintable(entry.name) or not is_memory_name(entry.name):
        return False
    return entry.is_file(follow_symlinks=False)


def enters(path: str, entry: "os.DirEntry[str]") -> bool:
    """Tell whether what lies in this folder may be a memory; a proposal is none yet."""
    if path == PROPOSED:
        return False
    return entry.name[0] != "." and not is_unprintable(entry.name) and not too_far(path)


def _enters_kind(kinds: Collection[str], path: str, entry: "os.DirEntry[str]") -> bool:
    """Tell whether what lies in this folder may be a memory of one of these kinds."""
    is_above = path == ARCHIVE or kind_of(f"{path}/") in kinds
    return is_above and enters(path, entry)


# -- sentences and small steps -------------------------------------------------------


def draft_stays(path: str) -> str:
    """Return the sentence on a memory that is not moved, as a person is still at it."""
    return f"{path} stays: it has changes of yours that are not committed; commit them."


def normal_form(name: str) -> str:
    """Return a name in Unicode's normal form NFC, as a store compares it."""
    return unicodedata.normalize("NFC", name)


def _without_link(where: str, shown: str) -> str:
    """Return a place to which no link leads; raise Refused."""
    if files.through_link(where):
        what = "leads through a symbolic link, which is not followed"
        raise Refused(f"{one_line(shown, 80)} {what}; name the file itself.")
    return where


def _refuse_encoding(path: str, data: bytes) -> None:
    """Raise Refused for a text that is in another encoding than UTF-8."""
    encoding = encoding_of(data)
    if encoding != UTF_8:
        what = f"{path} is {encoding.upper()}, which is never rewritten"
        raise Refused(f"{what}; save it as UTF-8, then try again.")
