"""What follows at once from a request to forget: nothing is deleted, but nothing of it is shown any more either."""

import contextlib
import datetime as dt
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, withheld
from filemem.files.facts import set_front
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, kind_of
from filemem.forgetting import deletion
from filemem.forgetting.deletion import DeletionPlan


class Kept(NamedTuple):
    """What is kept back: the places, and the plan of the deletion that they wait for."""

    places: list[str]
    plan: DeletionPlan


def withhold(user: Folder, words: str, by: str, at: dt.datetime) -> Kept:
    """Keep back all that a request to forget means with these words; `by` is the request's own turn, as `path:line`.

    Facts and lessons go to the archive, marked, and their lines leave the profile. The note comes first, so what is cut off
    is withheld already.
    """
    plan = deletion.mentions(user, words)
    places = [item.place for item in plan.items]
    with user.locked():
        withheld.withhold(user, by, dict.fromkeys([*places, by]), at)
        memories = [path for path in plan.whole if kind_of(path) in ("facts", "lessons")]
        for path in memories:
            with contextlib.suppress(ValueError, FilememError):
                user.edit(path, lambda data, path=path: set_front(path, data, withheld.MARK, "true"))  # type: ignore[misc]
        gone = set(map(archive.live, memories))
        with contextlib.suppress(FilememError):
            user.edit(PROFILE, lambda data: _without(data, gone))
        archive.put(user, [path for path in memories if path == archive.live(path)], at)
    return Kept([place for place in places if place != by], plan)


def _without(data: bytes, paths: set[str]) -> bytes:
    """The profile without the program's lines that rest on some memories."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    kept = [line for line in lines if not ((rests := SOURCE_MARK.search(line)) and rests[1] in paths)]
    return "\n".join(kept).encode("utf-8", "surrogateescape")
