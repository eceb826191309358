"""Logs in `.filemem/`: a line for each entry, to which the program only adds.

Two clones merge them by union. A line that is torn by a kill, or spoilt, says nothing,
and hides no other.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

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
        self,
        entries: Iterable[Entry],
        wait: float | None = None,
        *,
        durably: bool = True,
    ) -> int:
        """Add entries in one write, and return the size of the log in bytes.

        Args:
            entries: what is added.
            wait: seconds for the user's lock; None for the folder's own.
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


class Added(NamedTuple):
    """What was added to a log; all that it has where `is_anew`, as it is another."""

    entries: Iterator[Entry]
    is_anew: bool


class LogReader:
    """A log that is read on from where it was read last, as others add to it.

    Args:
        log: which is read.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._start_over()

    def _start_over(self) -> None:
        self._inode = 0
        self._read_bytes = 0  # all of them whole lines
        self._last = b""  # of these lines

    def read_on(self) -> Added:
        """Return what was added since; raise FilememError or OSError."""
        tail = self._tail()
        is_same = tail.inode == self._inode and tail.data.startswith(self._last)
        is_anew = self._read_bytes > 0 and not is_same
        if is_anew:
            self._start_over()
            tail = self._tail()
        added = tail.data[len(self._last) :]
        added = added[: added.rfind(b"\n") + 1]  # behind it somebody may be writing
        if added:
            self._inode = tail.inode
            self._read_bytes += len(added)
            self._last = added[:-1].rpartition(b"\n")[2] + b"\n"
        return Added(self._log.entries_in(added), is_anew)

    def _tail(self) -> files.Tail:
        with suppress(NotFound):
            return files.read_from(self._log.place, self._read_bytes - len(self._last))
        return files.Tail(0, b"")
