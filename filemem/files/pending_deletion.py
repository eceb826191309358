"""What a person asked to be forgotten and that is not deleted yet: kept back from every search and every answer.

It is noted in `.filemem/withheld.log`, append-only. One line a place: `2026-11-20T09:31<TAB>withheld<TAB>by<TAB>place`, both
as `path:line`, or the path alone for a whole memory; `by` is the turn that asked. A line `released` takes back what one turn
withheld. Where a forgetting deletes the memories, it deletes their lines here too.
"""

import datetime as dt
from collections.abc import Iterable

from filemem.errors import FilememError
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.files.memory import live

NAME = "withheld.log"  # as stores have it
HELD, RELEASED = "withheld", "released"
MARK = "withheld"  # the key of front matter that says so in the memory itself


class PendingDeletion:
    """What is withheld: places by the turn that asked for it."""

    def __init__(self, places: dict[str, list[str]]) -> None:
        self.places = places
        self._all = {place for found in places.values() for place in found}

    def __bool__(self) -> bool:
        """Is anything withheld?"""
        return bool(self._all)

    def hides(self, path: str, line: int) -> bool:
        """Is the passage that begins at a line of a memory withheld?"""
        path = live(path)
        return bool(self._all) and (path in self._all or f"{path}:{line}" in self._all)


def read(folder: Folder) -> PendingDeletion:
    """What is withheld now; a note that cannot be read withholds nothing."""
    try:
        text = disk.read(folder.bookkeeping(NAME)).decode("utf-8", "replace")
    except (FilememError, OSError):
        return PendingDeletion({})
    places: dict[str, list[str]] = {}
    for line in text.split("\n"):
        _, _, rest = line.partition("\t")
        how, _, rest = rest.partition("\t")
        by, _, place = rest.partition("\t")
        if how == HELD and place:
            places.setdefault(by, []).append(place)
        elif how == RELEASED:
            places.pop(by, None)
    return PendingDeletion(places)


def hold_back(folder: Folder, by: str, places: Iterable[str], at: dt.datetime) -> None:
    """Withhold places because a turn asked for it."""
    _add(folder, (f"{at:%Y-%m-%dT%H:%M}\t{HELD}\t{by}\t{live(place)}\n" for place in places))


def release(folder: Folder, paths: Iterable[str], at: dt.datetime) -> None:
    """Take back whatever withheld one of these memories, with all else that the same turn withheld."""
    wanted = set(map(live, paths))
    found = [by for by, places in read(folder).places.items() if wanted.intersection(places)]
    _add(folder, (f"{at:%Y-%m-%dT%H:%M}\t{RELEASED}\t{by}\t\n" for by in found))


def _add(folder: Folder, lines: Iterable[str]) -> None:
    data = "".join(lines).encode("utf-8", "replace")
    if data:
        with folder.locked():
            disk.log(folder.bookkeeping(NAME), data)
