"""The running summary of what left a conversation's window, kept beside the session.

A file for each session in `.filemem/earlier/`. It names the turns that it is of, so
that `forget` clears it with any of them; once a person has changed one it counts no
more.
"""

import os

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.passages import Passage
from filemem.store.paths import live

FOLDER = "earlier"


class RunningSummary:
    """A model's summary of the first turns of a session.

    Args:
        folder: whose session it is.
        path: the session; '' for one that is not kept, which has no summary.
        gone: the turns that have left the prompt.

    Attributes:
        count: of how many of these turns there is a summary.
        text: the summary.
    """

    def __init__(self, folder: Folder, path: str, gone: list[Passage]) -> None:
        self.count = 0
        self.text = ""
        self._folder = folder
        self._path = path
        self._gone = gone
        if path and gone:
            self._load()

    def _place(self) -> str:
        return self._folder.bookkeeping(f"{FOLDER}/{live(self._path)}")

    def _digest(self, turns: list[Passage]) -> str:
        said = [f"{turn.speaker}: {turn.text}" for turn in turns]
        return Gate(self._folder).digest(*said)

    def _load(self) -> None:
        """Take what was kept, if it is of the first turns as they are now."""
        try:
            row = files.read(self._place()).decode(errors="replace").split("\t")
        except FilememError:
            return
        count = len(row) - 2
        if count > 0 and row[0] == self._digest(self._gone[:count]):
            self.count = count
            self.text = row[1]

    def save(self, text: str) -> None:
        """Keep a summary of all the turns; raises FilememError or OSError."""
        self.count = len(self._gone)
        self.text = " ".join(text.split())
        places = [f"{live(self._path)}:{turn.line}" for turn in self._gone]
        row = "\t".join([self._digest(self._gone), self.text, *places])
        with self._folder.locked():
            files.make_folder(os.path.dirname(self._place()))
            files.write(self._place(), f"{row}\n".encode("utf-8", "replace"))
