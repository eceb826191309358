"""The running summary of what left a conversation's window, kept beside the session.

A file for each session in `.filemem/earlier/`. It names the turns that it is of, so
that `forget` clears it with any of them; once a person has changed one it counts no
more.
"""

import os
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.passages import Passage
from filemem.store.paths import live

FOLDER = "earlier"


class RunningSummary(NamedTuple):
    """A model's summary of the first `size` turns of a session."""

    size: int = 0
    text: str = ""


def read_summary(folder: Folder, path: str, gone: list[Passage]) -> RunningSummary:
    """Return the summary of a session, if it is of its first turns as they are now.

    Args:
        folder: whose session it is.
        path: the session; '' for one that is not kept, which has no summary.
        gone: the turns that have left the prompt.
    """
    try:
        data = files.read(_place(folder, path)) if path else b""
    except FilememError:
        return RunningSummary()
    said_of, text, *places = [*data.decode(errors="replace").split("\t"), ""]
    count = len(places) - 1
    if count < 1 or said_of != _digest(folder, gone[:count]):
        return RunningSummary()
    return RunningSummary(count, text)


def save_summary(folder: Folder, path: str, gone: list[Passage], text: str) -> None:
    """Keep a summary of all the turns that are gone.

    Raises:
        FilememError, OSError: it cannot be written.
    """
    places = [f"{live(path)}:{turn.line}" for turn in gone]
    row = "\t".join([_digest(folder, gone), " ".join(text.split()), *places])
    place = _place(folder, path)
    with folder.locked():
        files.make_folder(os.path.dirname(place))
        files.write(place, f"{row}\n".encode("utf-8", "replace"))


def _place(folder: Folder, path: str) -> str:
    return folder.bookkeeping(f"{FOLDER}/{live(path)}")


def _digest(folder: Folder, turns: list[Passage]) -> str:
    said = [f"{turn.speaker}: {turn.text}" for turn in turns]
    return Gate(folder).digest(*said)
