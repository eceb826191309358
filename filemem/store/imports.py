"""What was imported, by the origin that it came from: `.filemem/imports.jsonl`.

An entry for each time that something was taken: the origin (`chatgpt:<id>`), the memory
that it went to, and its parts: ids of turns, or the digest of a note; `behind` is how
many of those before them they go on from, where that is not all. A session is known by
the `origin` in its front matter as well, so losing the record doubles nothing.
"""

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.logs import Entry, Log, LogReader
from filemem.store.memory import parse
from filemem.store.paths import ARCHIVE, live

IMPORTS = "imports.jsonl"
NOTE_LETTERS = 16  # of the digest of a note, its part
_FRONT_BYTES = 8192  # of a session, in which its origin stands


@dataclass(frozen=True)
class Imported:
    """What came from one origin.

    Attributes:
        path: that it was last given; a mere word where it was forgotten.
        parts: in the order in which they came.
        branch: those of them that lead to the last one: what was said anew takes the
            place of what stood there.
    """

    path: str
    parts: list[str] = field(default_factory=list)
    branch: list[str] = field(default_factory=list)

    def grown(self, path: str, parts: list[str], behind: int | None) -> "Imported":
        """Return it with further parts, behind so many of its branch; None: all."""
        branch = [*self.branch[:behind], *parts]
        return Imported(path, [*self.parts, *parts], branch)


def shared(part: str) -> str:
    """Return what of a part its copies in other conversations have, too."""
    return part.rpartition("\t")[2]


class Record:
    """What imports.jsonl says, read on from where it was read last.

    Another process may import meanwhile, and several threads may use the same record.

    Args:
        folder: whose it is.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._log = LogReader(Log(folder, IMPORTS))
        self._lock = threading.Lock()
        self._start_over()

    def _start_over(self) -> None:
        self._begun = set[str]()  # the origins whose session was begun
        self._has_looked = False  # for sessions that are not recorded
        self._imported: dict[str, Imported] = {}
        self._owners: dict[str, list[str]] = {}  # the origins that have a part
        self._known: dict[str, set[str]] = {}  # the names recorded, by folder
        self._folders: dict[str, _Listed] = {}

    def of(self, origin: str) -> Imported | None:
        """Return what has been imported from `origin`; None where nothing has."""
        self._read_on()
        return self._imported.get(origin)

    def owners(self, part: str) -> list[str]:
        """Return the origins that have a part, or a copy of it, the newest last."""
        self._read_on()
        return self._owners.get(shared(part), [])

    def note(
        self, origin: str, path: str, parts: list[str], behind: int | None
    ) -> None:
        """Take in one entry; what has been written is read from the log."""
        before = self._imported.get(origin, Imported(path))
        self._imported[origin] = before.grown(path, parts, behind)
        folder, _, name = path.rpartition("/")
        self._known.setdefault(folder, set()).add(name)
        for part in parts:
            self._owners.setdefault(shared(part), []).append(origin)

    def _read_on(self) -> None:
        """Take in the lines that were added, or all where the log is another one."""
        with self._lock:
            added = self._log.read_on()
            if added.is_anew:
                self._start_over()
            for entry in added.entries:
                with suppress(KeyError, TypeError):
                    self._take_in(entry)

    def _take_in(self, entry: Entry) -> None:
        if "begins" in entry:
            self._begun.add(entry["begins"])
            return
        parts = [str(part) for part in entry["parts"]]
        behind = entry.get("behind")
        if not isinstance(behind, int):  # as earlier versions have it
            behind = None
        self.note(entry["origin"], str(entry["path"]), parts, behind)

    def unrecorded(self, origin: str) -> str | None:
        """Return the session from `origin` at a path that no origin was given.

        A kill may have come before the entry, or a person has moved the file. One that
        nobody has begun is looked for once, as the record may have been lost. Folders
        that have not changed are not listed again.
        """
        waiting = ["sessions", f"{ARCHIVE}/sessions"]
        with self._lock:
            is_noted = origin in self._begun or origin in self._imported
            if self._has_looked and not is_noted:
                return None
            self._has_looked = True
            while waiting:
                listed = self._listed(waiting.pop())
                waiting += listed.folders
                if origin in listed.sessions:
                    return listed.sessions[origin]
        return None

    def _listed(self, path: str) -> "_Listed":
        """Return what lies in a folder."""
        place = f"{self.folder.root}/{path}"
        changed = os.stat(place).st_mtime_ns if os.path.isdir(place) else 0
        before = self._folders.get(path)
        if before and before.changed == changed:
            return before
        listed = _Listed(changed)
        names = os.listdir(place) if changed else []
        for name in set(names) - self._known.get(live(path), set()):
            inside = f"{path}/{name}"
            if os.path.isdir(f"{place}/{name}"):
                listed.folders.append(inside)
            else:
                listed.sessions[origin_of(self.folder, inside)] = inside
        self._folders[path] = listed
        return listed


@dataclass(frozen=True)
class _Listed:
    """What lay in a folder when it had last `changed` (in ns): further folders, and by
    their origin the sessions at no recorded path."""

    changed: int
    folders: list[str] = field(default_factory=list)
    sessions: dict[str, str] = field(default_factory=dict)


class Origins:
    """Where what one user imported came from, for one import.

    A dry one writes nothing down.
    """

    def __init__(self, folder: Folder, dry: bool = False) -> None:
        self.folder = folder
        self.dry = dry
        self._log = Log(folder, IMPORTS)
        self._record = Record(folder)
        if not dry:
            self._record = folder.cached.setdefault("imports", self._record)

    def of(self, origin: str) -> Imported | None:
        """Return what has been imported from `origin`; None where nothing has."""
        return self._record.of(origin)

    def with_part(self, part: str, format_: str) -> list[str]:
        """Return the origins of a format that have a part, the newest last.

        Of a part with a tab what stands behind it is the same in its copies.
        """
        owners = self._record.owners(part)
        found = (owner for owner in owners if owner.partition(":")[0] == format_)
        return list(dict.fromkeys(found))

    def begin(self, origin: str) -> None:
        """Record that a session from `origin` is about to be written."""
        self._log.add([{"begins": origin}], durably=False)

    def add(
        self, origin: str, path: str, parts: list[str], behind: int | None = None
    ) -> None:
        """Record that `parts` of `origin` are in the memory at `path`.

        It is not fsynced, as what a power cut takes from it is found again in the
        sessions themselves.

        Args:
            origin: as `chatgpt:<id>`.
            path: of the memory.
            parts: ids of turns, or the digest of a note.
            behind: how many parts of the branch they go on from; None for all.
        """
        if self.dry:
            self._record.note(origin, path, parts, behind)
            return
        entry: dict[str, Any] = {"origin": origin, "path": path, "parts": parts}
        if behind is not None:
            entry["behind"] = behind
        self._log.add([entry], durably=False)

    def recorded(self, origin: str) -> str | None:
        """Return where the session from `origin` lies as recorded; None where nothing
        is, or a person has moved it."""
        imported = self.of(origin)
        if not imported or not imported.path:
            return None
        return next(self.folder.existing(imported.path), None)

    def session(self, origin: str) -> str | None:
        """Return where the session from `origin` lies now; None where it is gone.

        That is as recorded, or by its front matter among those at no recorded place, to
        which a person may have moved it.
        """
        path = self.recorded(origin)
        if path and origin_of(self.folder, path) in (origin, ""):
            return path
        return self._record.unrecorded(origin)


def origin_of(folder: Folder, path: str) -> str:
    """Return the origin in a session's front matter, or ''."""
    with suppress(FilememError):
        head = parse(path, folder.read(path, _FRONT_BYTES))
        return str(head.front.get("origin", ""))
    return ""
