"""Logs in `.filemem/`: a line for each entry, to which the program only adds.

Two clones merge them by union. A line that is torn by a kill, or spoilt, says nothing,
and hides no other.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.store import files
from filemem.store.folder import Folder

MINUTE = "%Y-%m-%dT%H:%M"  # as the moment of an entry is written

Entry = dict[str, Any]


class Log:
    """One log of a user: a JSON object a line.

    Args:
        folder: whose bookkeeping it lies in.
        name: of its file.
        columns: the keys of a line as earlier versions wrote it, separated by tabs.
    """

    def __init__(self, folder: Folder, name: str, columns: tuple[str, ...] = ()):
        self.folder = folder
        self.name = name
        self.columns = columns

    @property
    def place(self) -> str:
        """Where the file lies; raises Refused if a link leads there."""
        return self.folder.bookkeeping(self.name)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries, oldest first; none if there is no log yet.

        Raises:
            FilememError, OSError: it cannot be read.
        """
        return self.entries_in(self.data())

    def data(self) -> bytes:
        """Return what the file holds; nothing if there is no log yet.

        Raises:
            FilememError, OSError: it cannot be read.
        """
        with suppress(NotFound):
            return files.read(self.place)
        return b""

    def entries_in(self, data: bytes) -> Iterator[Entry]:
        """Yield the entries in some lines of the file."""
        for line in data.decode(errors="replace").split("\n"):
            entry = self._entry(line)
            if entry:
                yield entry

    def readable(self) -> list[Entry]:
        """Return the entries; none where they cannot be read."""
        with suppress(FilememError, OSError):
            return list(self.entries())
        return []

    def _entry(self, line: str) -> Entry:
        if line.startswith("{"):
            with suppress(ValueError, RecursionError):
                entry: Entry = json.loads(line)
                return entry
        values = line.split("\t")
        return dict(zip(self.columns, values, strict=False)) if values[1:] else {}

    def add(
        self, entries: Iterable[Entry], wait: float = 10.0, *, durably: bool = True
    ) -> int:
        """Add entries in one write, and return the size of the log in bytes.

        Args:
            entries: what is added.
            wait: seconds for the user's lock.
            durably: whether a power cut may not take them.

        Raises:
            FilememError, OSError: they cannot be written.
        """
        text = "".join(
            json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries
        )
        with self.folder.locked(wait):
            data = text.encode("utf-8", "replace")
            return files.log(self.place, data, durably=durably)
