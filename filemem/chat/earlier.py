"""The running summary of what left a conversation's window, as it lies beside the session.

A file for each session in `.filemem/earlier/`. It names the turns that it is of, so that
`forget` clears it with any of them; once a person has changed one it counts no more.
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


class Summary(NamedTuple):
    """The turns that have left the prompt, and the model's summary of them, or ''."""

    turns: list[Passage]
    text: str


def save(folder: Folder, path: str, summary: Summary) -> None:
    """Keep the summary for the session at `path`; raises FilememError or OSError."""
    places = [f"{live(path)}:{turn.line}" for turn in summary.turns]
    text = " ".join(summary.text.split())
    row = "\t".join([_digest(folder, summary.turns), text, *places])
    place = folder.bookkeeping(f"{FOLDER}/{live(path)}")
    with folder.locked():
        files.make_folder(os.path.dirname(place))
        files.write(place, f"{row}\n".encode("utf-8", "replace"))


def load(folder: Folder, path: str, gone: list[Passage]) -> Summary | None:
    """Return what was kept for a session of which these turns have left the prompt.

    None where there is none, or it is not of the first of these turns as they are now.
    """
    try:
        data = files.read(folder.bookkeeping(f"{FOLDER}/{live(path)}"))
    except FilememError:
        return None
    digest, *rest = data.decode(errors="replace").split("\t")
    turns = gone[: len(rest) - 1]
    if not turns or _digest(folder, turns) != digest:
        return None
    return Summary(turns, rest[0])


def _digest(folder: Folder, turns: list[Passage]) -> str:
    said = [f"{turn.speaker}: {turn.text}" for turn in turns]
    return Gate(folder).digest(*said)
