"""The running summary of a conversation, kept beside its trace so that it can be gone on with: `.filemem/running/NAME.json`.

A model wrote it of the first turns, whose number and digest stand beside it; where they have changed since, it is of no use.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import disk
from filemem.files.folder import Folder
from filemem.files.passages import Passage
from filemem.files.places import Place
from filemem.text.plain import digest

FOLDER = "running"


class RunningSummary(NamedTuple):
    """What the first `turns` of a conversation came to."""

    text: str
    turns: int


NOTHING = RunningSummary("", 0)


def read(folder: Folder, session: str, said: Sequence[Passage]) -> RunningSummary:
    """The summary of a session of which these are the turns; NOTHING where there is none of its first ones."""
    with contextlib.suppress(FilememError, ValueError, TypeError, KeyError, AttributeError):
        kept = json.loads(disk.read(_place(folder, session)))
        found = RunningSummary(str(kept["summary"]), int(kept["turns"]))
        if 0 < found.turns <= len(said) and kept["digest"] == _digest(said[: found.turns]):
            return found
    return NOTHING


def keep(folder: Folder, session: str, said: Sequence[Passage], text: str) -> None:
    """Keep the summary of the first turns; one that cannot be written never stops a conversation."""
    entry = {"turns": len(said), "digest": _digest(said), "summary": text}
    with contextlib.suppress(FilememError, OSError):
        place = _place(folder, session)
        disk.make_folder(place.folder)
        disk.write(place, json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace"))


def _place(folder: Folder, session: str) -> Place:
    return folder.bookkeeping(f"{FOLDER}/{os.path.splitext(os.path.basename(session))[0]}.json")


def _digest(said: Sequence[Passage]) -> str:
    return digest("\0".join(f"{turn.speaker}\0{turn.text}" for turn in said), 24)
