"""The append-only log of recalls: which memory was opened or cited, and when. It lies beside the memories, never in them.

One line a recall: `2026-11-20T09:31<TAB>open<TAB>facts/2026/2026-11-20-tea.md`, so that two clones merge by union.
"""

import contextlib
import datetime as dt
import os
from typing import NamedTuple

from filemem import disk
from filemem.errors import FilememError
from filemem.folder import Folder
from filemem.memory import ARCHIVE

NAME = "recalls.log"


class Recall(NamedTuple):
    """One recall; `path` is the live one even where the memory lay in the archive."""

    at: dt.datetime
    how: str
    path: str


def note(folder: Folder, path: str, how: str, at: dt.datetime) -> None:
    """Append one recall (`how` is `open` or `cited`); a log that cannot be written never spoils a reading."""
    line = f"{at:%Y-%m-%dT%H:%M}\t{how}\t{path.removeprefix(ARCHIVE + '/')}\n"
    with contextlib.suppress(FilememError, OSError), folder.locked(wait=1.0):
        log = folder.bookkeeping(NAME)
        if not os.path.exists(log):
            disk.write(log, b"")
        disk.append(log, line.encode())


def read(folder: Folder) -> list[Recall]:
    """Every recall in the log, in its order; a line that is none is passed over."""
    try:
        lines = disk.read(folder.bookkeeping(NAME)).decode(errors="replace").split("\n")
    except FilememError:
        return []
    found = []
    for line in lines:
        at, _, rest = line.partition("\t")
        how, _, path = rest.partition("\t")
        with contextlib.suppress(ValueError):
            found.append(Recall(dt.datetime.fromisoformat(at), how, path))
    return found


def drop(folder: Folder, path: str) -> None:
    """Take every recall of one memory out of the log."""
    log = folder.bookkeeping(NAME)
    wanted = path.removeprefix(ARCHIVE + "/").encode()
    if os.path.exists(log):
        disk.edit(
            log,
            lambda old: b"".join(
                line for line in old.splitlines(True) if line.rstrip(b"\n").split(b"\t")[-1] != wanted
            ),
        )
