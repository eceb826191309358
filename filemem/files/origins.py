"""What has been imported for one user, so that nothing is imported twice and nothing deleted comes back.

`.filemem/imports.jsonl` has a line for each time that something was taken: the origin (`chatgpt:<id>`), the memory that it
went to, and its parts: ids of turns, or the digest of a note. Lines are only ever added, so that two clones merge by
union. A session is known by the `origin` in its front matter as well, so losing the record doubles nothing.
"""

import contextlib
import json
import os
import threading
import weakref
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.files import archive, disk, logs
from filemem.files.folder import Folder
from filemem.files.memory import Memory, live
from filemem.files.places import Place

RECORD = "imports.jsonl"
HEAD = 8192  # bytes of a session in which its front matter is looked for


class Imported(NamedTuple):
    """What came from one origin: the path that it was last given (empty: forgotten), and its parts in their order."""

    path: str
    parts: list[str]


def forget(folder: Folder, memory: Memory) -> None:
    """Take a deleted memory's name out of the record; that it was imported stays there, so it never comes back."""
    name, origin = live(memory.path), memory.front.get("origin")

    def nameless(line: bytes) -> bytes:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            entry = json.loads(line)
            if live(entry["path"]) == name or entry["origin"] == origin:
                return json.dumps({**entry, "path": ""}).encode()
        return line

    with folder.locked(), contextlib.suppress(NotFound):
        disk.edit(folder.bookkeeping(RECORD), lambda data: b"\n".join(map(nameless, data.split(b"\n"))))


class _Record:
    """What stands in the record of one user, read on at every question, because another process may be importing too."""

    def __init__(self) -> None:
        self._imported: dict[str, Imported] = {}
        self._file, self._read = (0, 0), 0  # the device and inode that was read, and how far
        self._lock = threading.Lock()

    def now(self, where: Place) -> dict[str, Imported]:
        """What is recorded as of now at `where`, by origin. A record that was replaced, or has become shorter, is read anew."""
        with self._lock, contextlib.suppress(FilememError), open(disk.open_regular(where), "rb") as file:
            stat = os.fstat(file.fileno())
            if (stat.st_dev, stat.st_ino) != self._file or stat.st_size < self._read:
                self._imported, self._file, self._read = {}, (stat.st_dev, stat.st_ino), 0
            file.seek(self._read)
            data = file.read(disk.MOST)
            whole = data[: data.rfind(b"\n") + 1]
            self._read += len(whole)
            for entry in logs.parsed(whole):
                with contextlib.suppress(KeyError, TypeError):
                    before = self._imported.get(entry["origin"], Imported("", []))
                    parts = [*before.parts, *map(str, entry["parts"])]
                    self._imported[entry["origin"]] = Imported(str(entry["path"]), parts)
        return self._imported


_records: weakref.WeakKeyDictionary[Folder, _Record] = weakref.WeakKeyDictionary()


class Origins:
    """Where what one user imported came from, for one import: sessions are looked for once."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._record = _records.setdefault(folder, _Record())
        self._sessions: dict[bool, dict[str, str]] = {}

    def of(self, origin: str) -> Imported | None:
        """What has been imported from `origin`; None where nothing has."""
        return self._record.now(self.folder.bookkeeping(RECORD)).get(origin)

    def add(self, origin: str, path: str, parts: list[str]) -> None:
        """Record that `parts` of `origin` are in the memory at `path`; the caller holds the user's lock.

        Not fsynced line by line: what a power cut takes from the record is found again in the sessions themselves.
        """
        line = json.dumps({"origin": origin, "path": path, "parts": parts}).encode() + b"\n"
        logs.add(self.folder.bookkeeping(RECORD), line)

    def place(self, path: str) -> str | None:
        """Where the memory `path` lies now, live or archived; None where it is gone."""
        return next(archive.places(self.folder, path), None)

    def session(self, origin: str) -> str | None:
        """Where the session from `origin` lies now, moved or renamed by hand as it may be; None where it is gone.

        An origin that is not recorded is looked for only in sessions that are not either, so that one more conversation
        does not read all that were taken before it.
        """
        recorded = self._record.now(self.folder.bookkeeping(RECORD))
        imported = recorded.get(origin)
        path = self.place(imported.path) if imported else None
        if path and self._origin(path) in (origin, ""):
            return path
        everywhere = imported is not None
        if everywhere not in self._sessions:
            known = set[str]() if everywhere else {one.path for one in recorded.values()}
            paths = (
                path for path in self.folder.paths() if "sessions" in path.split("/")[:2] and live(path) not in known
            )
            self._sessions[everywhere] = {found: path for path in paths if (found := self._origin(path))}
        return self._sessions[everywhere].get(origin)

    def _origin(self, path: str) -> str:
        """The origin in a session's front matter, or nothing."""
        with contextlib.suppress(NotFound, Refused):
            head = self.folder.read(path, HEAD)
            return str(Memory(path, head).front.get("origin", "")) if b"origin" in head else ""
        return ""
