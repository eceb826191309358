"""What changes as memories change: a look at the files now and then, and what differs from the last look."""

import difflib
import time
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import disk
from filemem.files.folder import Folder, Stat
from filemem.files.memory import decode

NEW, CHANGED, MOVED, DELETED = "new", "changed", "moved", "deleted"
LARGEST = 1_000_000  # bytes; of a larger file only that it changed is told
MOST = 50  # lines told of one change

_Known = tuple[Stat, bytes | None]


class FileChange(NamedTuple):
    """What happened to one memory; `was` is its path before a move. `lines` begin with `+` or `-`."""

    what: str
    path: str
    was: str
    lines: list[str]


class MemoryWatch:
    """The memories of a folder as they were at the last look. Editors truncate a file, or move it aside, before they write
    it: what changed this very moment is looked at next time, and what is gone is reported once two looks miss it.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._known: dict[str, _Known] = {stat.path: (stat, self._data(stat)) for stat in folder.files()}
        self._missing: set[str] = set()

    def __len__(self) -> int:
        return len(self._known)

    def changes(self) -> Iterator[FileChange]:
        """What differs from the last look, by path."""
        before, found = self._known, self._look()
        gone = {path for path in before if path not in found}
        for path in sorted(found):
            if path in before:
                if found[path][0] != before[path][0] and (lines := _diff(before[path][1], found[path][1])):
                    yield FileChange(CHANGED, path, "", lines)
                continue
            was = next((old for old in sorted(gone) if _same(before[old], found[path])), "")
            gone.discard(was)
            yield FileChange(MOVED, path, was, []) if was else FileChange(NEW, path, "", _diff(b"", found[path][1]))
        for path in sorted(gone & self._missing):
            yield FileChange(DELETED, path, "", _diff(before[path][1], b""))
        self._missing = gone - self._missing
        self._known = found | {path: before[path] for path in self._missing}

    def _look(self) -> dict[str, _Known]:
        found: dict[str, _Known] = {}
        now = time.time_ns()
        for stat in self.folder.files():
            known = self._known.get(stat.path)
            if known is not None and (known[0] == stat or _just(stat, now)):
                found[stat.path] = known
            elif not _just(stat, now):
                found[stat.path] = (stat, self._data(stat))
        return found

    def _data(self, stat: Stat) -> bytes | None:
        """The bytes of a file; None where it is too large to tell what changed in it."""
        try:
            return self.folder.read(stat.path) if stat.size <= LARGEST else None
        except (FilememError, OSError):
            return None


def _just(stat: Stat, now: int) -> bool:
    """Was a file changed so shortly before `now` that whoever is saving it may not be done?"""
    return 0 <= now - stat.changed < disk.SETTLE


def _same(old: _Known, new: _Known) -> bool:
    """Did a file only get another name?"""
    if old[1] is None or new[1] is None:
        return (old[0].inode, old[0].size) == (new[0].inode, new[0].size)
    return old[1] == new[1] != b""


def _diff(old: bytes | None, new: bytes | None) -> list[str]:
    """The lines that came and went, without their surroundings."""
    if old is None or new is None:
        return [f"(larger than {LARGEST // 1_000_000} MB)"]
    lines = difflib.unified_diff(decode(old).splitlines(), decode(new).splitlines(), n=0, lineterm="")
    told = [line for line in list(lines)[2:] if line[0] in "+-" and line[1:].strip()]
    left = len(told) - MOST
    return told[:MOST] + ([f"({left} more lines)"] if left > 0 else [])
