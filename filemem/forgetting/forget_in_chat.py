"""What a person takes back in a conversation is kept out of every prompt and search from then on; they may delete it then."""

import contextlib
import datetime as dt

from filemem.errors import FilememError
from filemem.files import archive, journal
from filemem.files.facts import set_front
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, kind_of
from filemem.files.passages import Passage
from filemem.forgetting import deletion


def take_back(folder: Folder, path: str, turns: list[Passage], at: dt.datetime) -> list[str]:
    """Keep back the exchange before the last turn, which asks for it, and what was made of it; returns their places.

    Facts and lessons go to the archive, marked, and their lines leave the profile. The note comes first, so what is cut off
    is kept back already. Nothing is deleted.
    """
    request, before = turns[-1], turns[:-1]
    said = next((n for n in range(len(before) - 1, -1, -1) if before[n].speaker == request.speaker), None)
    if said is None:
        return []
    plan = deletion.plan(folder, *(f"{path}:{turn.line}" for turn in before[said:]))
    places, by = [item.place for item in plan.items], f"{path}:{request.line}"
    with folder.locked():
        journal.hold_back(folder, by, dict.fromkeys([*places, by]), at)
        memories = [path for path in places if kind_of(path) in ("facts", "lessons")]
        for memory in memories:
            with contextlib.suppress(ValueError, FilememError):
                folder.edit(memory, lambda data, path=memory: set_front(path, data, journal.MARK, "true"))  # type: ignore[misc]
        gone = set(map(archive.live, memories))
        with contextlib.suppress(FilememError):
            folder.edit(PROFILE, lambda data: _without(data, gone))
        archive.move_in(folder, [path for path in memories if path == archive.live(path)], at)
    return places


def _without(data: bytes, paths: set[str]) -> bytes:
    """The profile without the program's lines that rest on some memories."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    kept = [line for line in lines if not ((rests := SOURCE_MARK.search(line)) and rests[1] in paths)]
    return "\n".join(kept).encode("utf-8", "surrogateescape")
