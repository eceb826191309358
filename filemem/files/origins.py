"""What has been imported for one user, so that nothing is imported twice and nothing deleted comes back.

`.filemem/imports.jsonl` has a line for each time that something was taken: the origin (`chatgpt:<id>`), the memory that it
went to, and its parts: ids of turns, or the digest of a note. Lines are only ever added, so that two clones merge by
union. A session is known by the `origin` in its front matter as well, so losing the record doubles nothing.
"""

import contextlib
import json
import os
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.files.memory import Memory, archived, live

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


class Origins:
    """The record of one user. It is read on at every question, because another process may be importing too."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._imported: dict[str, Imported] = {}
        self._read = 0
        self._sessions: dict[str, str] | None = None

    def of(self, origin: str) -> Imported | None:
        """What has been imported from `origin`; None where nothing has."""
        self._read_on()
        return self._imported.get(origin)

    def add(self, origin: str, path: str, parts: list[str]) -> None:
        """Record that `parts` of `origin` are in the memory at `path`; the caller holds the user's lock.

        Not fsynced line by line: what a power cut takes from the record is found again in the sessions themselves.
        """
        line = json.dumps({"origin": origin, "path": path, "parts": parts}).encode() + b"\n"
        record = disk.open_regular(self.folder.bookkeeping(RECORD), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        with open(record, "r+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            torn = end and os.pread(file.fileno(), 1, end - 1) != b"\n"
            file.write(b"\n" + line if torn else line)

    def place(self, path: str) -> str | None:
        """Where the memory `path` lies now, live or archived; None where it is gone."""
        name = live(path)
        if not name:
            return None
        return next((p for p in (name, archived(name)) if os.path.lexists(self.folder.absolute(p))), None)

    def session(self, origin: str) -> str | None:
        """Where the session from `origin` lies now, moved or renamed by hand as it may be; None where it is gone."""
        imported = self._imported.get(origin)
        path = self.place(imported.path) if imported else None
        if path and self._origin(path) in (origin, ""):
            return path
        if self._sessions is None:
            sessions = (path for path in self.folder.paths() if "sessions" in path.split("/")[:2])
            self._sessions = {found: path for path in sessions if (found := self._origin(path))}
        return self._sessions.get(origin)

    def _origin(self, path: str) -> str:
        """The origin in a session's front matter, or nothing."""
        with contextlib.suppress(NotFound, Refused):
            head = self.folder.read(path, HEAD)
            return str(Memory(path, head).front.get("origin", "")) if b"origin" in head else ""
        return ""

    def _read_on(self) -> None:
        """Read the whole lines that were added since; a record that has become shorter is read anew."""
        try:
            record = disk.open_regular(self.folder.bookkeeping(RECORD))
        except FilememError:
            return
        with open(record, "rb") as file:
            if os.fstat(record).st_size < self._read:
                self._imported, self._read = {}, 0
            file.seek(self._read)
            data = file.read(disk.MOST)
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                entry = json.loads(line)
                before = self._imported.get(entry["origin"], Imported("", []))
                self._imported[entry["origin"]] = Imported(
                    str(entry["path"]), [*before.parts, *map(str, entry["parts"])]
                )
