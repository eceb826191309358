"""What was imported, by the origin that it came from: `.filemem/imports.jsonl`.

An entry for each time that something was taken: the origin (`chatgpt:<id>`), the memory
that it went to, and its parts: ids of turns, or the digest of a note; `behind` is how
many of those before them they go on from, where that is not all. A session is known by
the `origin` in its front matter as well, so losing the record doubles nothing.
"""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.logs import Log
from filemem.store.memory import parse
from filemem.store.paths import live

IMPORTS = "imports.jsonl"
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


class Origins:
    """Where what one user imported came from, for one import.

    Sessions are looked for once. A dry one writes nothing down.
    """

    def __init__(self, folder: Folder, dry: bool = False) -> None:
        self.folder = folder
        self.dry = dry
        self._log = Log(folder, IMPORTS)
        self._imported: dict[str, Imported] = {}
        self._owners: dict[str, list[str]] = {}  # the origins that have a part
        self._read_bytes = 0  # of the record, as it was read last
        self._sessions: dict[str, str] | None = None

    def of(self, origin: str) -> Imported | None:
        """Return what has been imported from `origin`; None where nothing has."""
        return self._all().get(origin)

    def with_part(self, part: str, format_: str) -> list[str]:
        """Return the origins of a format that have a part, the newest last.

        Of a part with a tab what stands behind it is the same in its copies.
        """
        owners = self._owners.get(shared(part), ()) if self._all() else ()
        found = (owner for owner in owners if owner.partition(":")[0] == format_)
        return list(dict.fromkeys(found))

    def _all(self) -> dict[str, Imported]:
        """Read the record again where it has grown: another process may import, too."""
        size_bytes = 0
        if os.path.lexists(self._log.place):
            size_bytes = os.path.getsize(self._log.place)
        if size_bytes != self._read_bytes:
            self._imported = {}
            self._owners = {}
            self._read_bytes = size_bytes
            for entry in self._log.entries():
                with suppress(KeyError, TypeError):
                    parts = [str(part) for part in entry["parts"]]
                    path = str(entry["path"])
                    behind = entry.get("behind")
                    if not isinstance(behind, int):  # as earlier versions have it
                        behind = None
                    self._note(entry["origin"], path, parts, behind)
        return self._imported

    def _note(
        self, origin: str, path: str, parts: list[str], behind: int | None
    ) -> None:
        before = self._imported.get(origin, Imported(path))
        self._imported[origin] = before.grown(path, parts, behind)
        for part in parts:
            self._owners.setdefault(shared(part), []).append(origin)

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
        self.of(origin)
        self._note(origin, path, parts, behind)
        if self.dry:
            return
        entry: dict[str, Any] = {"origin": origin, "path": path, "parts": parts}
        if behind is not None:
            entry["behind"] = behind
        self._read_bytes = self._log.add([entry], durably=False)

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
        if self._sessions is None:
            known = {one.path for one in self._imported.values()}
            self._sessions = {}
            for path in self.folder.paths():
                if "sessions" in path.split("/")[:2] and live(path) not in known:
                    self._sessions[origin_of(self.folder, path)] = path
        return self._sessions.get(origin)


def origin_of(folder: Folder, path: str) -> str:
    """Return the origin in a session's front matter, or ''."""
    with suppress(FilememError):
        head = parse(path, folder.read(path, _FRONT_BYTES))
        return str(head.front.get("origin", ""))
    return ""
