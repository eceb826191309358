"""What waits for its deletion, and is hidden until then."""

import contextlib
from collections.abc import Iterable

from filemem.errors import FilememError
from filemem.store import bullets, files
from filemem.store.compactions import compacted
from filemem.store.folder import Folder
from filemem.store.logs import rows
from filemem.store.paths import live

MARK = "withheld"  # of what waits for its deletion

# Earlier versions hid what a chat was asked to forget, and noted it here: a line a place,
# `2026-11-20T09:31<TAB>withheld<TAB>by<TAB>place`, both as `path:line`, or the path alone
# for a whole memory; `by` is the turn that asked. A line `released` takes back what one
# turn withheld. It stays hidden until it is deleted, or restored; nothing is added.
PENDING = "withheld.log"


class PendingDeletion(frozenset[str]):
    """The places that wait for their deletion, and are hidden until then."""

    def hides(self, path: str, line: int) -> bool:
        """Tell whether the passage that begins at a line of a memory is hidden."""
        return bool(self) and (live(path) in self or f"{live(path)}:{line}" in self)


def pending_places(folder: Folder) -> dict[str, list[str]]:
    """Return what waits for its deletion, by the turn that asked for it."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(FilememError, OSError):
        for row in rows(folder, PENDING):
            if len(row) > 3 and row[1] == MARK and row[3]:
                found.setdefault(row[2], []).append(row[3])
            elif len(row) > 2:
                found.pop(row[2], None)
    return found


def pending_deletions(folder: Folder) -> PendingDeletion:
    """Return what waits for its deletion, with the lines of summaries that retell it."""
    held = PendingDeletion(
        place for places in pending_places(folder).values() for place in places
    )
    if not held:
        return held
    hidden = set(held)
    for path in {one.summary for one in compacted(folder).values()}:
        memory = folder.find(path)
        for number, text in enumerate(memory.lines if memory else (), 1):
            told = bullets.parse(text, path, number)
            if told and any(held.hides(told.path, line) for line in told.lines):
                hidden.add(f"{path}:{number}")
    return PendingDeletion(hidden)


def settle_pending(folder: Folder, places: Iterable[str]) -> list[str]:
    """Take from the log what the turns withheld that withheld one of these places.

    That is done once it is deleted, or a person wants to see it again. Returns all
    places that are not hidden any more.
    """
    wanted = set(map(live, places))
    settled = []
    asked = set()
    for by, held in pending_places(folder).items():
        if wanted.intersection(held):
            asked.add(by)
            settled += held
    if asked:
        with folder.locked():
            kept = [
                row
                for row in rows(folder, PENDING)
                if len(row) < 3 or row[2] not in asked
            ]
            text = "\n".join("\t".join(row) for row in kept)
            files.write(folder.bookkeeping(PENDING), text.encode("utf-8", "replace"))
    return settled
