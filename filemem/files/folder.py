"""One user's folder on disk: which files in it are memories, how paths are contained and files changed; a store's users.

Every path taken and given here is relative to the folder, with `/`. Writers hold the user's lock, readers none.
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
from filemem.files import person, safe
from filemem.files.memory import LARGEST, Memory, archived, encoding_of, extended, live
from filemem.files.roles import ROLE_NAMES
from filemem.files.safe import MAX_DEPTH, MAX_NAME_BYTES, too_far, walk
from filemem.text.plain import escape_controls, nearest, one_line

BOOKKEEPING = ".filemem"
JOB_WAIT_SECONDS = 0.5  # that a job waits for another
PROPOSED = "proposed"  # the folder of what waits for the person; no memory yet
# What editors, browsers, diff3, patch and JetBrains's IDEs append; _SAVES is nano's, and that of Qt's QSaveFile (Kate).
_LEFT = (
    *("~", ".tmp", ".vsctmp", ".part", ".crdownload", ".bak", ".orig", ".rej"),
    *("___jb_tmp___", "___jb_old___", "___jb_bak___"),
    *(f".sw{letter}" for letter in "abcdefghijklmnop"),
)
_SAVES = r".*\.(?:md|txt|ya?ml)\.(?:save(?:\.\d+)?|\w{6})$"
_NAMED = ("4913", "thumbs.db", "desktop.ini", "icon\r")  # Vim's trial; Windows; macOS


Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


def no_progress(done: int, total: int) -> None:
    """Progress that is shown to nobody."""


class JobDone(NamedTuple):
    """What a job did: lines for a person, `facts` for a script, `paths` that it wrote or moved, the `subject` of their commit.
    Without a name it is one thing of several that a job has to tell, or, with the fact `error`, why it failed."""

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str] = []
    subject: str = ""


class Stat(NamedTuple):
    """A memory's file as the folder lists it; times in nanoseconds, size in bytes."""

    path: str
    changed: int  # nanoseconds: the later of modification and inode change, so that a clock put back is seen
    size: int


class CurrentConversation(NamedTuple):
    """The conversation going on: its lines from `line` on stand in the prompt already, so a search leaves them out."""

    path: str
    line: int


class Folder:
    """The memories under one folder, of the user called `name`.

    `named` tells whether the person named the store, or came upon it where they stand.
    """

    def __init__(self, root: str, name: str, *, named: bool = True) -> None:
        above, last = os.path.split(os.path.abspath(root))
        self.store = os.path.realpath(
            above
        )  # the folder that has the settings, whatever links lead there
        self.root = os.path.join(self.store, last)  # it may not exist
        self.name = name
        self._was_named = named
        self._thread_lock = threading.RLock()
        self._depth = 0
        self._at_work = 0  # the thread that runs a job
        # Memories with a person's uncommitted changes, which no job moves.
        self.drafts: frozenset[str] = frozenset()
        # what others keep of it for as long as it lives: a table of theirs would hold it
        self.cached: dict[str, Any] = {}

    @functools.cached_property
    def is_own(self) -> bool:
        """Whether its wishes on how to behave count, and are not data alone.

        They do in a store that was named, or that this machine began.
        """
        return self._was_named or person.has_begun(self.root)

    def exists(self) -> bool:
        """Has anything been kept for this user yet?"""
        return os.path.isdir(self.root)

    # -- listing -------------------------------------------------------------------------------------------------

    def files(self) -> Iterator[Stat]:
        """Every memory's file, in no order: plain files, hidden ones and editors' temporary ones left out."""
        for path, entry in walk(self.root, enters):
            if is_memory(entry):
                with contextlib.suppress(FileNotFoundError):
                    s = entry.stat(follow_symlinks=False)
                    yield Stat(path, max(s.st_mtime_ns, s.st_ctime_ns), s.st_size)

    def paths(self) -> list[str]:
        """The memories' paths in order."""
        return sorted(stat.path for stat in self.files())

    def proposals(self) -> list[str]:
        """The paths of what is proposed and waits for the person, in order."""
        found = safe.walk(
            f"{self.root}/{PROPOSED}", lambda path, entry: enters(path, entry)
        )
        return sorted(f"{PROPOSED}/{path}" for path, entry in found if is_memory(entry))

    def strays(self) -> Iterator[Problem]:
        """What lies in the folder and is not a memory, though it may look like one: links, devices, unreadable folders."""
        inside = walk(
            self.root, lambda path, entry: path == BOOKKEEPING or enters(path, entry)
        )
        for path, entry in inside:
            ours, deeper = (
                path.split("/")[0] == BOOKKEEPING,
                entry.is_dir(follow_symlinks=False),
            )
            if entry.name.startswith(
                safe.TEMPORARY
            ):  # the next job deletes it where it is the program's own
                fault = "left by a write that was cut off", "look at it, then delete it"
            elif entry.is_symlink() and (ours or entry.name[0] != "."):
                fault = (
                    "a symbolic link, not followed",
                    "put the file itself here, or delete the link",
                )
            elif ours or entry.name[0] == ".":
                continue
            elif is_unprintable(entry.name):
                fault = (
                    "its name holds a backslash, control characters or no UTF-8, so it is not read",
                    "rename it",
                )
            elif deeper and too_far(path):
                fault = (
                    f"more than {MAX_DEPTH} folders deep or too long a path, and not read",
                    "move it",
                )
            elif not deeper and not entry.is_file(follow_symlinks=False):
                fault = "no plain file", "delete it"
            elif not os.access(entry.path, os.R_OK):
                fault = (
                    "not readable",
                    "give its owner the right to read it (chmod u+r)",
                )
            else:
                continue
            yield Problem(one_line(path), 1, *fault)

    # -- containment ---------------------------------------------------------------------------------------------

    def bookkeeping(self, name: str = "") -> str:
        """The place on disk of a bookkeeping file, or of the folder that holds them; raises Refused where a link leads there."""
        where = f"{self.root}/{BOOKKEEPING}"
        if name and safe.through_link(where := f"{where}/{name}"):
            raise Refused(
                f"the path to {where} goes through a symbolic link, which is not followed; delete that link."
            )
        return where

    def absolute(self, path: str) -> str:
        """The place of `path` on disk; raises Refused where it would lead out of the folder or into its bookkeeping."""
        where = self._named(path)
        if safe.through_link(where):
            what = "leads through a symbolic link, which is not followed; name the file itself"
            raise Refused(f"{one_line(path, 80)} {what}.")
        return where

    def _named(self, path: str) -> str:
        """The place on disk that a path names, whatever lies along the way."""
        parts, shown = path.split("/"), one_line(path, 80) or "an empty path"
        if not {"..", ".", ""}.isdisjoint(parts) or is_unprintable(path):
            like = "name it like facts/2026/2026-11-20-tea.md"
            raise Refused(
                f"{shown} is not a path inside {self.name}'s memories; {like}."
            )
        if any(part[0] == "." for part in parts):
            raise Refused(
                f"{shown} is hidden, so it cannot be a memory; choose a name without a dot in front."
            )
        if any(len(part.encode()) > MAX_NAME_BYTES for part in parts) or too_far(
            "/".join(parts[:-1])
        ):
            raise Refused(f"{shown} is too long for a memory's path; shorten it.")
        return f"{self.root}/{path}"

    def locate(self, path: str) -> str:
        """Where a memory lies now: as named, in whatever Unicode normal form, or in the archive. Raises NotFound or Refused."""
        path = path.removeprefix("./")
        named = (path, live(path), archived(path))
        for candidate in named:
            where = self.absolute(candidate)
            if os.path.isdir(where):
                inside = [
                    name
                    for name in self.paths()
                    if name.startswith(path.rstrip("/") + "/")
                ][:3]
                examples = f", such as {', '.join(inside)}" if inside else ""
                raise Refused(
                    f"{one_line(path)} is a folder; name a file in it{examples}."
                )
            if os.path.lexists(where):
                return candidate
        paths, wanted = (
            self.paths(),
            {unicodedata.normalize("NFC", candidate) for candidate in named},
        )
        for candidate in paths if not path.isascii() else ():
            if unicodedata.normalize("NFC", candidate) in wanted:
                return candidate
        hint = self._nearest(path) or (
            "list or search for it" if paths else "there is no memory yet"
        )
        raise NotFound(f"{one_line(path)} does not exist; {hint}.")

    def no_match(self, glob: str) -> NotFound:
        """The error for a glob that names no file."""
        hint = (
            self._nearest(glob) or "facts/** and sessions/2026/** are examples of globs"
        )
        return NotFound(f"no file matches {one_line(glob)}; {hint}.")

    def standing(self, path: str) -> Iterator[str]:
        """Where a memory lies: live, in the archive, or for a moment both."""
        for candidate in (live(path), archived(path)):
            with contextlib.suppress(FilememError):
                if os.path.lexists(self.absolute(candidate)):
                    yield candidate

    def _nearest(self, path: str) -> str:
        """The existing paths most like a wrong one, best first, said as a remedy; empty where none is."""
        words = [word for word in re.split(r"[/\W_]+", path.lower()) if len(word) > 2]
        likely = sorted(
            self.paths(), key=lambda p: -sum(word in p.lower() for word in words)
        )[:300]
        close = nearest(path, likely, 3, 0.5) or [
            p for p in likely[:3] if any(word in p.lower() for word in words)
        ]
        return f"nearest: {', '.join(close)}" if close else ""

    # -- reading and writing -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _worded(self, path: str) -> Iterator[None]:
        """Turn errors into ones that name the path as the caller does, and say where a missing memory is."""
        try:
            yield
        except NotFound:
            raise NotFound(
                f"{one_line(path)} has moved; it is {self.locate(path)} now."
            ) from None
        except Refused as error:
            raise Refused(str(error).replace(f"{self.root}/", "")) from None

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes at `path`, at most `limit`; raises NotFound or Refused."""
        with self._worded(path):
            return safe.read(self.absolute(path), limit)

    def memory(self, path: str) -> Memory:
        """The memory at `path`, as it is on disk now; raises Refused also where it is larger than LARGEST."""
        data = self.read(path, LARGEST + 1)
        if len(data) > LARGEST:
            raise Refused(
                f"{one_line(path)} is larger than {LARGEST // 1_000_000} MB; split it into smaller files."
            )
        return Memory(path, data)

    def find(self, path: str) -> Memory | None:
        """The memory of that path, live or archived; None if it is gone or cannot be read."""
        with contextlib.suppress(FilememError, OSError):
            return next(map(self.memory, self.standing(path)), None)
        return None

    def make(self) -> None:
        """Create the user's folder and its bookkeeping."""
        safe.make_folder(self.bookkeeping())

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Hold this user's writing lock; nests within a thread. Raises Busy after `wait` seconds."""
        with self._thread_lock, contextlib.ExitStack() as held:
            if not self._depth:
                self.make()
                held.enter_context(safe.lock(self.bookkeeping("lock"), wait))
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def job_lock(self, wait: float = JOB_WAIT_SECONDS) -> Iterator[None]:
        """Run as the only job on this user's memories, which may consist of jobs; raises Busy if another is running. What killed
        writes of the program have left is deleted, never what a person saved."""
        if self._at_work == threading.get_ident():
            yield
            return
        self.make()
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(safe.lock(self.bookkeeping("job.lock"), wait))
            except Busy:
                raise Busy(
                    f"another job is running on {self.name}'s memories; try again when it is done."
                ) from None
            self._at_work = threading.get_ident()
            held.callback(setattr, self, "_at_work", 0)
            with contextlib.suppress(FilememError, OSError):
                for path, entry in walk(
                    self.root, lambda path, entry: entry.name != ".git"
                ):
                    ours = entry.name.startswith(safe.OURS) or path.startswith(
                        f"{BOOKKEEPING}/{safe.TEMPORARY}"
                    )
                    if (
                        ours
                        and time.time() - entry.stat(follow_symlinks=False).st_mtime
                        > safe.ABANDONED_S
                    ):
                        with self.locked():
                            safe.delete(f"{self.root}/{path}")
            yield

    def move(
        self, targets: Mapping[str, str], progress: Progress = no_progress
    ) -> dict[str, str]:
        """Move memories, each to the path that it has there; a sentence for each that stayed. The names are made durable once for
        each folder, those that files went to first."""
        stayed = dict[str, str]()
        came, left = (
            dict[str, None](),
            dict[str, None](),
        )  # the folders to which files went, and from which
        for done, (source, target) in enumerate(targets.items()):
            if done % 500 == 0:
                progress(done, len(targets))
            if source in self.drafts:
                stayed[source] = draft_stays(source)
                continue
            with self.locked():
                try:
                    origin, goal = self.absolute(source), self.absolute(target)
                    if os.path.dirname(goal) not in came:
                        safe.make_folder(os.path.dirname(goal))
                    safe.rename_new(origin, goal)
                    came[os.path.dirname(goal)] = left[os.path.dirname(origin)] = None
                except FileNotFoundError:
                    stayed[source] = f"{source} is gone; nothing was moved."
                except (
                    FileExistsError
                ):  # where both are the same text, one of them goes
                    if os.path.samefile(origin, goal) or safe.read(origin) == safe.read(
                        goal
                    ):
                        safe.delete(origin)
                    else:
                        stayed[source] = (
                            f"{source} stays: {target} is another text; rename one of the two."
                        )
                except FilememError as error:
                    stayed[source] = str(error)
        for place in came | left:
            safe.sync_folder(place)
        progress(len(targets), len(targets))
        return stayed

    def create(self, path: str, text: str | bytes) -> str:
        """Write a new memory; where the name is taken, the next free one with -2, -3, … Returns the path."""
        with self.locked():
            for candidate in itertools.islice(numbered(path), 9_999):
                # One name means one memory, wherever it lies.
                if any(
                    os.path.lexists(self._named(name))
                    for name in (live(candidate), archived(candidate))
                ):
                    continue
                where = self.absolute(candidate)
                data = (
                    text if isinstance(text, bytes) else text.encode("utf-8", "replace")
                )
                safe.make_folder(os.path.dirname(where))
                with contextlib.suppress(FileExistsError):
                    safe.create(where, data)
                    return candidate
        raise Refused(
            f"{one_line(path)} and 9,999 names like it are taken; choose another."
        )

    def append(self, path: str, text: str) -> None:
        """Add whole lines to a memory, durably; in its own encoding where a person has saved it so that UTF-8 is none there."""
        with self.locked(), self._worded(path):
            where = self.absolute(path)
            with safe.settle(where) as file:
                encoding = encoding_of(file.read())
            if encoding in ("utf-16", "gb18030"):
                safe.edit(where, lambda data: extended(data, text))
            else:
                safe.append(where, text.encode("utf-8", "replace"))

    def edit(self, path: str, change: Callable[[bytes], bytes | None]) -> bool:
        """Change a memory's bytes by a function of them; see `safe.edit`."""
        with self.locked(), self._worded(path):
            return safe.edit(self.absolute(path), change)


def draft_stays(path: str) -> str:
    """Return the sentence on a memory that is not moved, as a person is still at it."""
    return f"{path} stays: it has changes of yours that are not committed; commit them."


def is_temporary_name(name: str) -> bool:
    """Is this an editor's or a download's temporary file, never a memory?"""
    lower = name.lower()
    if (
        name[0] == "."
        or lower.endswith(_LEFT)
        or lower in _NAMED
        or lower.startswith("~$")
    ):
        return True
    if lower.endswith((".md", ".txt", ".yaml", ".yml")):
        return False
    return (lower[0] == lower[-1] == "#" and len(lower) > 1) or re.match(
        _SAVES, lower
    ) is not None


def is_unprintable(name: str) -> bool:
    """Is this a file name that nobody can type or print: with control characters, or bytes that are not UTF-8?"""
    odd = not name.isprintable() and (
        escape_controls(name) != name or not {"\t", "\n"}.isdisjoint(name)
    )
    return odd or "\\" in name


def is_memory(entry: "os.DirEntry[str]") -> bool:
    """Is this a memory's file?"""
    odd = (
        entry.name[0] == "."
        or is_unprintable(entry.name)
        or is_temporary_name(entry.name)
    )
    return not odd and entry.is_file(follow_symlinks=False)


def enters(path: str, entry: "os.DirEntry[str]") -> bool:
    """May what lies in this folder be a memory? What is proposed is none yet."""
    if path == PROPOSED:
        return False
    return entry.name[0] != "." and not is_unprintable(entry.name) and not too_far(path)


def numbered(path: str) -> Iterator[str]:
    """A path, then with -2, -3, … before its extension."""
    stem, extension = os.path.splitext(path)
    yield path
    yield from (f"{stem}-{number}{extension}" for number in itertools.count(2))


# -- the folder of a store: its users, which names they may have, and each one's folder ----------------------------------

_DEVICES = {"con", "prn", "aux", "nul"}  # names that Windows keeps for itself
for _number in range(1, 10):
    _DEVICES |= {f"com{_number}", f"lpt{_number}"}
MAX_USER_NAME_BYTES = 200


def mistyped(name: str, known: Iterable[str]) -> str:
    """The known user whose name is nearly so: in another case, with other accents, or in small letters a letter apart; or ''."""

    def plain(name: str) -> str:
        return "".join(
            c
            for c in unicodedata.normalize("NFD", name.casefold())
            if not unicodedata.combining(c)
        )

    spelt, wanted = (
        {plain(other): other for other in known if other != name},
        plain(name),
    )
    near = nearest(
        wanted, spelt, 1, 0.74 if wanted.islower() and len(wanted) > 2 else 1
    )
    return spelt[near[0]] if near else ""


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
