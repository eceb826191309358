"""One user's folder on disk: which files in it are memories, and how they change.

Every path taken and given here is relative to the folder, with `/`. Writers hold the
user's lock, readers none.
"""

import contextlib
import functools
import itertools
import os
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from filemem.errors import Busy, FilememError, NotFound, Problem, Refused
from filemem.store import files, person
from filemem.store.encodings import UTF_8, encoding_of
from filemem.store.files import MAX_DEPTH, MAX_NAME_BYTES, too_far, walk
from filemem.store.memory import LARGEST, Memory, parse
from filemem.store.paths import archived, live, numbered
from filemem.store.roles import ROLE_NAMES
from filemem.text.plain import escape_controls, nearest, one_line

BOOKKEEPING = ".filemem"
JOB_WAIT_SECONDS = 0.5  # that a job waits for another
PROPOSED = "proposed"  # the folder of what waits for the person; no memory yet
# What editors, browsers, diff3 and patch put behind a name.
_LEFT_SUFFIXES = (
    *("~", ".tmp", ".vsctmp", ".part", ".crdownload", ".bak", ".orig", ".rej"),
    *("___jb_tmp___", "___jb_old___", "___jb_bak___"),
    *(f".sw{letter}" for letter in "abcdefghijklmnop"),
)
_MEMORY_SUFFIXES = (".md", ".txt", ".yaml", ".yml")
_SAVES = re.compile(r".*\.(?:md|txt|ya?ml)\.(?:save(?:\.\d+)?|\w{6})$")  # nano, Kate
_LEFT_NAMES = ("4913", "thumbs.db", "desktop.ini", "icon\r")  # Vim, Windows, macOS
MAX_NAMES = 9_999  # that are tried for a new memory: -2, -3, …


Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


def no_progress(done: int, total: int) -> None:
    """Progress that is shown to nobody."""


class JobDone(NamedTuple):
    """What a job did.

    Attributes:
        job: its name; '' for one thing of several that a job has to tell, or, with
            the fact `error`, for why it failed.
        said: lines for a person.
        facts: the same for a script.
        paths: what it wrote or moved.
        subject: of their commit.
    """

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str] = []
    subject: str = ""


class Stat(NamedTuple):
    """A memory's file as the folder lists it.

    `changed` is in nanoseconds, the later of modification and inode change, so that a
    clock that was put back is seen.
    """

    path: str
    changed: int
    size: int


class CurrentConversation(NamedTuple):
    """The conversation going on, whose lines from `line` on stand in the prompt."""

    path: str
    line: int


class Folder:
    """The memories under one folder, of the user called `name`.

    `named` tells whether the person named the store, or came upon it where they stand.
    """

    def __init__(self, root: str, name: str, *, named: bool = True) -> None:
        above, last = os.path.split(os.path.abspath(root))
        self.store = os.path.realpath(above)  # which may lie behind a link
        self.root = os.path.join(self.store, last)  # it may not exist
        self.name = name
        self._was_named = named
        self._thread_lock = threading.RLock()
        self._depth = 0
        self._at_work = 0  # the thread that runs a job
        # Memories with a person's uncommitted changes, which no job moves.
        self.drafts: frozenset[str] = frozenset()
        # What others keep of it for as long as it lives.
        self.cached: dict[str, Any] = {}

    @functools.cached_property
    def is_own(self) -> bool:
        """Whether its wishes on how to behave count, and are not data alone.

        They do in a store that was named, or that this machine began.
        """
        return self._was_named or person.has_begun(self.root)

    def exists(self) -> bool:
        """Tell whether anything has been kept for this user yet."""
        return os.path.isdir(self.root)

    # -- listing -------------------------------------------------------------------

    def files(self) -> Iterator[Stat]:
        """Yield every memory's file, in no order."""
        for path, entry in walk(self.root, enters):
            if is_memory(entry):
                with contextlib.suppress(FileNotFoundError):
                    stat = entry.stat(follow_symlinks=False)
                    changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
                    yield Stat(path, changed, stat.st_size)

    def paths(self) -> list[str]:
        """Return the memories' paths in order."""
        return sorted(stat.path for stat in self.files())

    def proposals(self) -> list[str]:
        """Return the paths of what is proposed and waits for the person, in order."""
        found = walk(f"{self.root}/{PROPOSED}", enters)
        return sorted(f"{PROPOSED}/{path}" for path, entry in found if is_memory(entry))

    def strays(self) -> Iterator[Problem]:
        """Yield what lies in the folder and is not a memory, though it may look like
        one: links, devices, unreadable folders."""

        def should_enter(path: str, entry: "os.DirEntry[str]") -> bool:
            return path == BOOKKEEPING or enters(path, entry)

        for path, entry in walk(self.root, should_enter):
            fault = _fault_of(path, entry)
            if fault:
                yield Problem(one_line(path), 1, *fault)

    # -- containment ---------------------------------------------------------------

    def bookkeeping(self, name: str = "") -> str:
        """Return the place of a bookkeeping file, or of the folder that holds them.

        Raises:
            Refused: a link leads there.
        """
        where = f"{self.root}/{BOOKKEEPING}"
        if name:
            where = f"{where}/{name}"
            if files.through_link(where):
                what = "goes through a symbolic link, which is not followed"
                raise Refused(f"the path to {where} {what}; delete that link.")
        return where

    def absolute(self, path: str) -> str:
        """Return the place of `path` on disk.

        Raises:
            Refused: it would lead out of the folder or into its bookkeeping.
        """
        where = self._named(path)
        if files.through_link(where):
            what = "leads through a symbolic link, which is not followed"
            raise Refused(f"{one_line(path, 80)} {what}; name the file itself.")
        return where

    def _named(self, path: str) -> str:
        """Return the place that a path names, whatever lies along the way."""
        parts = path.split("/")
        shown = one_line(path, 80) or "an empty path"
        if not {"..", ".", ""}.isdisjoint(parts) or is_unprintable(path):
            what = f"{shown} is not a path inside {self.name}'s memories"
            raise Refused(f"{what}; name it like facts/2026/2026-11-20-tea.md.")
        if any(part[0] == "." for part in parts):
            remedy = "choose a name without a dot in front"
            raise Refused(f"{shown} is hidden, so it cannot be a memory; {remedy}.")
        longest = max(len(part.encode()) for part in parts)
        if longest > MAX_NAME_BYTES or too_far("/".join(parts[:-1])):
            raise Refused(f"{shown} is too long for a memory's path; shorten it.")
        return f"{self.root}/{path}"

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
                raise Refused(self._is_folder(path))
            if os.path.lexists(where):
                return candidate
        paths = self.paths()
        if not path.isascii():
            wanted = {_normal(candidate) for candidate in named}
            for candidate in paths:
                if _normal(candidate) in wanted:
                    return candidate
        hint = "list or search for it" if paths else "there is no memory yet"
        hint = self._nearest(path) or hint
        raise NotFound(f"{one_line(path)} does not exist; {hint}.")

    def _is_folder(self, path: str) -> str:
        """Return the sentence on a path that names a folder, with files in it."""
        above = path.rstrip("/") + "/"
        inside = [name for name in self.paths() if name.startswith(above)][:3]
        examples = f", such as {', '.join(inside)}" if inside else ""
        return f"{one_line(path)} is a folder; name a file in it{examples}."

    def no_match(self, glob: str) -> NotFound:
        """Return the error for a glob that names no file."""
        examples = "facts/** and sessions/2026/** are examples of globs"
        hint = self._nearest(glob) or examples
        return NotFound(f"no file matches {one_line(glob)}; {hint}.")

    def existing(self, path: str) -> Iterator[str]:
        """Yield where a memory lies: live, in the archive, or for a moment both."""
        for candidate in (live(path), archived(path)):
            with contextlib.suppress(FilememError):
                if os.path.lexists(self.absolute(candidate)):
                    yield candidate

    def _nearest(self, path: str) -> str:
        """Return the paths most like a wrong one, said as a remedy; '' for none."""
        words = [word for word in re.split(r"[/\W_]+", path.lower()) if len(word) > 2]

        def shared(other: str) -> int:
            return sum(word in other.lower() for word in words)

        likely = sorted(self.paths(), key=shared, reverse=True)[:300]
        close = nearest(path, likely, 3, 0.5)
        if not close:
            close = [other for other in likely[:3] if shared(other)]
        return f"nearest: {', '.join(close)}" if close else ""

    # -- reading and writing -------------------------------------------------------

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
        """Return the bytes at `path`, at most `limit`; raise NotFound or Refused."""
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

    def make(self) -> None:
        """Create the user's folder and its bookkeeping."""
        files.make_folder(self.bookkeeping())

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Hold this user's writing lock, which nests within a thread.

        Raises:
            Busy: others held it for `wait` seconds.
        """
        with self._thread_lock, contextlib.ExitStack() as held:
            if not self._depth:
                self.make()
                held.enter_context(files.lock(self.bookkeeping("lock"), wait))
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def job_lock(self, wait: float = JOB_WAIT_SECONDS) -> Iterator[None]:
        """Run as the only job on this user's memories; it may consist of jobs.

        What killed writes of the program have left is deleted.

        Raises:
            Busy: another job is running.
        """
        if self._at_work == threading.get_ident():
            yield
            return
        self.make()
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(files.lock(self.bookkeeping("job.lock"), wait))
            except Busy:
                what = f"another job is running on {self.name}'s memories"
                raise Busy(f"{what}; try again when it is done.") from None
            self._at_work = threading.get_ident()
            held.callback(setattr, self, "_at_work", 0)
            with contextlib.suppress(FilememError, OSError):
                self._delete_abandoned()
            yield

    def _delete_abandoned(self) -> None:
        """Delete what killed writes of the program left, never what a person saved."""
        own = f"{BOOKKEEPING}/{files.TEMPORARY}"
        oldest = time.time() - files.ABANDONED_S
        for path, entry in walk(self.root, lambda _, entry: entry.name != ".git"):
            is_ours = entry.name.startswith(files.OURS) or path.startswith(own)
            if is_ours and entry.stat(follow_symlinks=False).st_mtime < oldest:
                with self.locked():
                    files.delete(f"{self.root}/{path}")

    def move(
        self, targets: Mapping[str, str], progress: Progress = no_progress
    ) -> dict[str, str]:
        """Move memories, each to its target; return a sentence for each that stayed.

        The names are made durable once for each folder, those that files went to first.
        """
        stayed: dict[str, str] = {}
        came: dict[str, None] = {}  # the folders to which files went
        left: dict[str, None] = {}  # and from which
        for done, (source, target) in enumerate(targets.items()):
            if done % 500 == 0:
                progress(done, len(targets))
            if source in self.drafts:
                stayed[source] = draft_stays(source)
                continue
            with self.locked():
                try:
                    origin = self.absolute(source)
                    goal = self.absolute(target)
                    if os.path.dirname(goal) not in came:
                        files.make_folder(os.path.dirname(goal))
                    reason = _rename(origin, goal, target)
                    if reason:
                        reason = f"{source} {reason}"
                except FilememError as error:
                    reason = str(error)
            if reason:
                stayed[source] = reason
            else:
                came[os.path.dirname(goal)] = None
                left[os.path.dirname(origin)] = None
        for place in came | left:
            files.sync_folder(place)
        progress(len(targets), len(targets))
        return stayed

    def create(self, path: str, text: str | bytes) -> str:
        """Write a new memory and return its path, the next free one with -2, -3, …

        One name means one memory, wherever it lies.

        Raises:
            Refused: the path is none, or all names like it are taken.
        """
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        with self.locked():
            for candidate in itertools.islice(numbered(path), MAX_NAMES):
                places = (live(candidate), archived(candidate))
                if any(os.path.lexists(self._named(place)) for place in places):
                    continue
                where = self.absolute(candidate)
                files.make_folder(os.path.dirname(where))
                with contextlib.suppress(FileExistsError):
                    files.create(where, data)
                    return candidate
        what = f"{one_line(path)} and {MAX_NAMES:,} names like it are taken"
        raise Refused(f"{what}; choose another.")

    def append(self, path: str, text: str) -> None:
        """Add whole lines to a memory in UTF-8, durably."""
        with self.locked(), self._worded(path):
            where = self.absolute(path)
            with files.settle(where) as file:
                _refuse_encoding(path, file.read())
            files.append(where, text.encode("utf-8", "replace"))

    def edit(self, path: str, change: Callable[[bytes], bytes | None]) -> bool:
        """Change a memory in UTF-8 by a function of its bytes, as `files.edit` does."""

        def changed(data: bytes) -> bytes | None:
            _refuse_encoding(path, data)
            return change(data)

        with self.locked(), self._worded(path):
            return files.edit(self.absolute(path), changed)


def _refuse_encoding(path: str, data: bytes) -> None:
    """Raise Refused for a text that is in another encoding than UTF-8."""
    encoding = encoding_of(data)
    if encoding != UTF_8:
        what = f"{path} is {encoding.upper()}, which is never rewritten"
        raise Refused(f"{what}; save it as UTF-8, then try again.")


def draft_stays(path: str) -> str:
    """Return the sentence on a memory that is not moved, as a person is still at it."""
    return f"{path} stays: it has changes of yours that are not committed; commit them."


def is_temporary_name(name: str) -> bool:
    """Tell whether this is an editor's or a download's file, and never a memory."""
    lower = name.lower()
    if name[0] == "." or lower in _LEFT_NAMES or lower.startswith("~$"):
        return True
    if lower.endswith(_LEFT_SUFFIXES):
        return True
    if lower.endswith(_MEMORY_SUFFIXES):
        return False
    is_emacs = len(lower) > 1 and lower[0] == lower[-1] == "#"
    return is_emacs or _SAVES.match(lower) is not None


def is_unprintable(name: str) -> bool:
    """Tell whether nobody can type or print a name: control characters, no UTF-8."""
    if "\\" in name:
        return True
    if name.isprintable():
        return False
    return escape_controls(name) != name or not {"\t", "\n"}.isdisjoint(name)


def is_memory(entry: "os.DirEntry[str]") -> bool:
    """Tell whether this is a memory's file."""
    if is_unprintable(entry.name) or is_temporary_name(entry.name):
        return False
    return entry.is_file(follow_symlinks=False)


def enters(path: str, entry: "os.DirEntry[str]") -> bool:
    """Tell whether what lies in this folder may be a memory; a proposal is none yet."""
    if path == PROPOSED:
        return False
    return entry.name[0] != "." and not is_unprintable(entry.name) and not too_far(path)


class _Fault(NamedTuple):
    what: str
    remedy: str


def _fault_of(path: str, entry: "os.DirEntry[str]") -> _Fault | None:
    """Return what is wrong with an entry that may look like a memory; None for none."""
    is_ours = path.split("/")[0] == BOOKKEEPING
    is_hidden = entry.name[0] == "."
    if entry.name.startswith(files.TEMPORARY):
        # The next job deletes it where it is the program's own.
        return _Fault("left by a write that was cut off", "look at it, then delete it")
    if entry.is_symlink() and (is_ours or not is_hidden):
        remedy = "put the file itself here, or delete the link"
        return _Fault("a symbolic link, not followed", remedy)
    if is_ours or is_hidden:
        return None
    if is_unprintable(entry.name):
        what = "its name holds a backslash, control characters or no UTF-8"
        return _Fault(f"{what}, so it is not read", "rename it")
    if entry.is_dir(follow_symlinks=False):
        if too_far(path):
            what = (
                f"more than {MAX_DEPTH} folders deep or too long a path, and not read"
            )
            return _Fault(what, "move it")
    elif not entry.is_file(follow_symlinks=False):
        return _Fault("no plain file", "delete it")
    if not os.access(entry.path, os.R_OK):
        remedy = "give its owner the right to read it (chmod u+r)"
        return _Fault("not readable", remedy)
    return None


def _rename(origin: str, goal: str, target: str) -> str:
    """Rename a file to a free name; return why it stays, '' where it went.

    Where both names have the same text, one of the two files goes.
    """
    try:
        files.rename_new(origin, goal)
    except FileNotFoundError:
        return "is gone; nothing was moved."
    except FileExistsError:
        if not os.path.samefile(origin, goal) and files.read(origin) != files.read(
            goal
        ):
            return f"stays: {target} is another text; rename one of the two."
        files.delete(origin)
    return ""


# -- a store --------------------------------------------------------------------------

_DEVICES = {"con", "prn", "aux", "nul"}  # names that Windows keeps for itself
for _number in range(1, 10):
    _DEVICES |= {f"com{_number}", f"lpt{_number}"}
MAX_USER_NAME_BYTES = 200


def mistyped(name: str, known: Iterable[str]) -> str:
    """Return the known user whose name is nearly so, or ''.

    That is in another case, with other accents, or in small letters a letter apart.
    """
    spelt = {_without_accents(other): other for other in known if other != name}
    wanted = _without_accents(name)
    likeness = 0.74 if wanted.islower() and len(wanted) > 2 else 1
    near = nearest(wanted, spelt, 1, likeness)
    return spelt[near[0]] if near else ""


def _without_accents(name: str) -> str:
    signs = unicodedata.normalize("NFD", name.casefold())
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


def _fault_of_name(name: str) -> str:
    """Return what is wrong with a user's name, as the end of a sentence, or ""."""
    if not name:
        return "it is empty"
    if name[0] in ".-" or name[-1] == ".":
        return "it may not start with a dot or hyphen, nor end with a dot"
    for sign in name:
        if unicodedata.category(sign)[0] not in "LMN" and sign not in "-_.":
            allowed = "letters and digits of any script, -, _ and ."
            return f"it may hold {allowed} but not {one_line(repr(sign))}"
    if len(name.encode("utf-8", "replace")) > MAX_USER_NAME_BYTES:
        return f"it is longer than {MAX_USER_NAME_BYTES} bytes"
    lower = name.lower()
    if lower.partition(".")[0] in _DEVICES or lower == "filemem.yaml":
        return "that name is reserved"
    return ""


class StoreFolder:
    """A folder with one folder per user.

    Args:
        root: where it lies; it may not exist yet.
        named: whether the person named it, or it merely lies where they stand.
    """

    def __init__(self, root: str | os.PathLike[str], *, named: bool = True) -> None:
        self.root = os.path.realpath(os.path.expanduser(root))
        self._named = named

    def users(self) -> list[str]:
        """Return the names, in normal form NFC, of everyone who has a folder here."""
        return sorted({_normal(name) for name in self._folder_names()})

    def _folder_names(self) -> list[str]:
        """Return the names of users' folders as the disk has them."""
        names = list[str]()
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(self.root) as entries,
        ):
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and not _fault_of_name(_normal(entry.name)):
                    names.append(entry.name)
        return names

    def folder(self, name: str) -> Folder:
        """Return one user's folder; nothing is created.

        Names are compared in normal form NFC, and where the disk tells no case, in any.

        Raises:
            Refused: the name could lead elsewhere, or is that of a role.
        """
        name = _normal(name)
        shown = one_line(name) or "an empty name"
        fault = _fault_of_name(name)
        if not fault:
            name, place = self._place(name)
            if name.casefold() in ROLE_NAMES and not os.path.isdir(place):
                fault = "it is the name of a role; choose another"
        if fault:
            raise Refused(f"{shown} cannot be a user's name: {fault}.")
        is_taken = os.path.exists(place) and not os.path.isdir(place)
        if os.path.islink(place) or is_taken:
            what = f"{name} in the store is not a folder of its own"
            raise Refused(f"{name} cannot be a user: {what}; rename it.")
        return Folder(place, name, named=self._named)

    def _place(self, name: str) -> tuple[str, str]:
        """Return a user's name and the place of the folder as they are on disk."""
        place = os.path.join(self.root, name)
        if not os.path.lexists(place) and not name.isascii():
            for other in self._folder_names():
                if _normal(other) == name:
                    return name, os.path.join(self.root, other)
        swapped = os.path.join(self.root, name.swapcase())
        if os.path.exists(swapped):
            known = self.users()
            # Another user, or a system for which the two are one name.
            for other in known if name not in known else ():
                there = os.path.join(self.root, other)
                if os.path.exists(place) and os.path.samefile(there, place):
                    return other, there
        return name, place


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)
