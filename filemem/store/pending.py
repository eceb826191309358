"""What waits for its deletion, and is hidden until then.

Earlier versions hid what a chat was asked to forget, and noted it in `withheld.log`: an
entry a place, `path:line`, or the path alone for a whole memory, with the turn that
asked; `released` takes back what one turn withheld. Nothing new is withheld.
"""

from collections.abc import Iterable
from contextlib import suppress

from filemem.errors import FilememError
from filemem.store import bullets
from filemem.store.compactions import compacted
from filemem.store.folder import Folder
from filemem.store.logs import Log
from filemem.store.paths import live

WITHHELD = "withheld"
RELEASED = "released"


class PendingDeletion(frozenset[str]):
    """The places that wait for their deletion, and are hidden until then."""

    def hides(self, path: str, line: int) -> bool:
        """Tell whether the passage that begins at a line of a memory is hidden."""
        return bool(self) and (live(path) in self or f"{live(path)}:{line}" in self)


def pending_places(folder: Folder) -> dict[str, list[str]]:
    """Return what waits for its deletion, by the turn that asked for it."""
    found: dict[str, list[str]] = {}
    with suppress(FilememError, OSError):
        for entry in _log(folder).entries():
            by = str(entry.get("by"))
            if entry.get("how") == WITHHELD and entry.get("place"):
                found.setdefault(by, []).append(str(entry["place"]))
            elif entry.get("how") == RELEASED:
                found.pop(by, None)
    return found


def pending_deletions(folder: Folder) -> PendingDeletion:
    """Return what waits for its deletion, with lines of summaries that retell it."""
    places = [place for held in pending_places(folder).values() for place in held]
    held = PendingDeletion(places)
    if not held:
        return held
    for path in {one.summary for one in compacted(folder).values()}:
        memory = folder.find(path)
        for number, text in enumerate(memory.lines if memory else (), 1):
            told = bullets.parse(text, path, number)
            if told and any(held.hides(told.path, line) for line in told.lines):
                places.append(f"{path}:{number}")
    return PendingDeletion(places)


def settle_pending(folder: Folder, places: Iterable[str]) -> list[str]:
    """Release what the turns withheld that withheld one of these places.

    That is done once it is deleted, or a person wants to see it again. Returns all
    places that are not hidden any more.
    """
    wanted = set(map(live, places))
    settled = []
    released = []
    for by, held in pending_places(folder).items():
        if wanted.intersection(held):
            settled += held
            released.append({"how": RELEASED, "by": by})
    if released:
        _log(folder).add(released)
    return settled


def _log(folder: Folder) -> Log:
    return Log(folder, "withheld.log", ("at", "how", "by", "place"))
