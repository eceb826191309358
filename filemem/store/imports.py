"""What was imported, by the origin that it came from."""

import contextlib
import dataclasses
import os

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.logs import line, values
from filemem.store.memory import parse
from filemem.store.paths import live

# A line for each time that something was taken: the origin (`chatgpt:<id>`), the memory
# that it went to, and its parts: ids of turns, or the digest of a note; `behind` is the
# part that they go on from, where that is not the last before them. A session is known
# by the `origin` in its front matter as well, so losing the record doubles nothing.
IMPORTS = "imports.jsonl"

NO_PART = -1
"""The place from which the first part of an origin goes on."""


@dataclasses.dataclass(frozen=True)
class Imported:
    """What came from one origin.

    Attributes:
        path: that it was last given; a mere word where it was forgotten.
        parts: in the order in which they came.
        parents: for each part the place of the one that it goes on from, or NO_PART.
    """

    path: str
    parts: list[str] = dataclasses.field(default_factory=list)
    parents: list[int] = dataclasses.field(default_factory=list)

    def place_of(self, part: str) -> int:
        """Return the last place of a part; NO_PART where it has none."""
        for place in reversed(range(len(self.parts))):
            if self.parts[place] == part:
                return place
        return NO_PART

    def grown(self, path: str, parts: list[str], behind: str | None) -> "Imported":
        """Return it with further parts, behind the last one where None is named."""
        last = len(self.parts) - 1
        first = last if behind is None else self.place_of(behind)
        parents = [first, *range(last + 1, last + len(parts))] if parts else []
        return Imported(path, [*self.parts, *parts], [*self.parents, *parents])


class Origins:
    """Where what one user imported came from, for one import: sessions are looked for
    once. A dry one writes nothing down."""

    def __init__(self, folder: Folder, dry: bool = False) -> None:
        self.folder = folder
        self.dry = dry
        self._imported: dict[str, Imported] = {}
        self._owners: dict[str, list[str]] = {}  # the origins that have a part
        self._read_bytes = 0  # of the record, as it was read last
        self._sessions: dict[str, str] | None = None

    def of(self, origin: str) -> Imported | None:
        """Return what has been imported from `origin`; None where nothing has."""
        return self._all().get(origin)

    def with_part(self, part: str, format_: str) -> list[str]:
        """Return the origins of a format that have a part, the newest last."""
        owners = self._owners.get(part, ()) if self._all() else ()
        found = (owner for owner in owners if owner.partition(":")[0] == format_)
        return list(dict.fromkeys(found))

    def _all(self) -> dict[str, Imported]:
        """Read the record again where it has grown: another process may import, too."""
        where = self.folder.bookkeeping(IMPORTS)
        size_bytes = os.path.getsize(where) if os.path.lexists(where) else 0
        if size_bytes != self._read_bytes:
            self._imported = {}
            self._owners = {}
            self._read_bytes = size_bytes
            for entry in values(where):
                with contextlib.suppress(KeyError, TypeError, AttributeError):
                    parts = [str(part) for part in entry["parts"]]
                    behind = entry.get("behind")
                    self._note(entry["origin"], str(entry["path"]), parts, behind)
        return self._imported

    def _note(
        self, origin: str, path: str, parts: list[str], behind: str | None
    ) -> None:
        before = self._imported.get(origin, Imported(path))
        self._imported[origin] = before.grown(path, parts, behind)
        for part in parts:
            self._owners.setdefault(part, []).append(origin)

    def add(
        self, origin: str, path: str, parts: list[str], behind: str | None = None
    ) -> None:
        """Record that `parts` of `origin` are in the memory at `path`.

        The caller holds the user's lock. It is not fsynced, as what a power cut takes
        from it is found again in the sessions themselves.

        Args:
            behind: the part that they go on from; None for the last one.
        """
        self.of(origin)
        self._note(origin, path, parts, behind)
        if self.dry:
            return
        entry = {"origin": origin, "path": path, "parts": parts}
        if behind is not None:
            entry["behind"] = behind
        where = self.folder.bookkeeping(IMPORTS)
        self._read_bytes = files.log(where, line(entry), durably=False)

    def recorded(self, origin: str) -> str | None:
        """Where the session from `origin` lies as recorded; None where nothing is, or a person has moved it."""
        imported = self.of(origin)
        return (
            next(self.folder.existing(imported.path), None)
            if imported and imported.path
            else None
        )

    def session(self, origin: str) -> str | None:
        """Where the session from `origin` lies now, as recorded, or by its front matter among those at no recorded place, to
        which a person may have moved it; None where it is gone."""
        path = self.recorded(origin)
        if path and origin_of(self.folder, path) in (origin, ""):
            return path
        if self._sessions is None:
            known = {one.path for one in self._imported.values()}
            paths = [
                path
                for path in self.folder.paths()
                if "sessions" in path.split("/")[:2]
            ]
            self._sessions = {
                origin_of(self.folder, path): path
                for path in paths
                if live(path) not in known
            }
        return self._sessions.get(origin)


def origin_of(folder: Folder, path: str) -> str:
    """The origin in a session's front matter, or nothing."""
    with contextlib.suppress(FilememError):
        return str(parse(path, folder.read(path, 8192)).front.get("origin", ""))
    return ""
