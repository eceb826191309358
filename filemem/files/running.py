"""The running summary of a conversation, kept beside its trace so that it can be gone on with: `.filemem/running/NAME.json`.

A model wrote it of the first turns, whose number and digest stand beside it; where they have changed since, it is of no use.
So it is with what it said of clusters of names, `clusters.json`, by the digest of their lines. All of it goes at any forgetting.
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

FOLDER, CLUSTERS = "running", "clusters"


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
    _write(_place(folder, session), {"turns": len(said), "digest": _digest(said), "summary": text})


def clusters(folder: Folder) -> dict[str, dict[str, str]]:
    """What was said of clusters, and by which model, by the digest of their lines."""
    with contextlib.suppress(FilememError, ValueError, TypeError, KeyError, AttributeError):
        kept = json.loads(disk.read(_place(folder, CLUSTERS))).items()
        return {key: {"summary": str(one["summary"]), "by": str(one["by"])} for key, one in kept}
    return {}


def keep_clusters(folder: Folder, found: dict[str, dict[str, str]]) -> None:
    """Keep what was said of clusters, and nothing of any other; what cannot be written is asked for again."""
    _write(_place(folder, CLUSTERS), found)


def _write(place: Place, value: object) -> None:
    with contextlib.suppress(FilememError, OSError):
        disk.make_folder(place.folder)
        disk.write(place, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _place(folder: Folder, session: str) -> Place:
    return folder.bookkeeping(f"{FOLDER}/{os.path.splitext(os.path.basename(session))[0]}.json")


def _digest(said: Sequence[Passage]) -> str:
    return digest("\0".join(f"{turn.speaker}\0{turn.text}" for turn in said), 24)
