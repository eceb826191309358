"""The append-only log of recalls: which memory was opened or cited, and when. It lies beside the memories, never in them.

One line a recall: `2026-11-20T09:31<TAB>open<TAB>facts/2026/2026-11-20-tea.md`, so that two clones merge by union. A job
that puts a memory into the archive adds a line as well (`archived`): what is recalled after it comes back.
"""

import contextlib
import datetime as dt
import os
from collections.abc import Iterable

from filemem.errors import FilememError
from filemem.files import disk, logs
from filemem.files.folder import Folder
from filemem.files.memory import live

NAME = "recalls.log"
OPENED, CITED, RESTORED = "open", "cited", "restored"  # recalls
ARCHIVED = "archived"  # no recall


class RecallHistory(list[dt.date]):
    """What the log says of one memory: the days of its recalls, some of them twice; when it was recalled last and archived
    last (`2026-11-20T09:31`, empty for never); whether it was recalled since.

    A list, so that reading a million lines touches one object for each, not two.
    """

    __slots__ = ("archived", "last", "since")

    def __init__(self) -> None:
        super().__init__()
        self.last = b""
        self.archived = b""
        self.since = False


def note(folder: Folder, path: str, how: str, at: dt.datetime) -> None:
    """Append one recall (`how` is `open` or `cited`); a log that cannot be written never spoils a reading."""
    with contextlib.suppress(FilememError, OSError):
        note_all(folder, [path], how, at, wait=1.0)


def note_all(folder: Folder, paths: Iterable[str], how: str, at: dt.datetime, wait: float = 10.0) -> None:
    """Append a line for each of some memories, in one go; raises FilememError or OSError where that cannot be done."""
    lines = "".join(f"{at:%Y-%m-%dT%H:%M}\t{how}\t{live(path)}\n" for path in paths)
    with folder.locked(wait):
        log, data = folder.bookkeeping(NAME), lines.encode("utf-8", "replace")
        if len(data) <= disk.PAGE:
            disk.log(log, data)
        else:  # a kill may cut a path off: it then names no memory, and the job that wrote it is done again
            logs.add(log, data, durably=True)


def trails(folder: Folder) -> dict[str, RecallHistory]:
    """What the log says, by the memory's live path. Reads line by line: a log of a million lines takes a second."""
    found: dict[bytes, RecallHistory] = {}
    known: dict[bytes, dt.date] = {}  # one object for each day, however often it is named
    try:
        log = disk.open_regular(folder.bookkeeping(NAME))
    except FilememError:
        return {}
    with open(log, "rb") as file:
        if os.fstat(log).st_size > disk.MOST:
            raise disk.too_large(folder.bookkeeping(NAME))
        for line in file:
            try:
                at, how, path = line.split(b"\t")
                trail = found[path]
            except ValueError:
                continue
            except KeyError:
                trail = found[path] = RecallHistory()
            if how == b"archived":
                trail.archived = max(trail.archived, at)
                trail.since = trail.last > trail.archived
                continue
            try:
                day = known[at[:10]]
            except KeyError:
                try:
                    day = known[at[:10]] = dt.date.fromisoformat(at[:10].decode(errors="replace"))
                except ValueError:
                    continue
            trail.append(day)
            if at > trail.last:
                trail.last = at
            if trail.archived and at >= trail.archived:
                trail.since = True
    return {path.rstrip(b"\n").decode(errors="replace"): trail for path, trail in found.items()}


def fold(folder: Folder) -> int:
    """Keep one line for each day on which a memory was recalled, the last; returns the number of lines that went.

    Retention asks for days alone, so it is what it was; and for what was recalled since it was archived, so the last
    `archived` line of each memory stays as well.
    """
    log = folder.bookkeeping(NAME)
    if not disk.exists(log):
        return 0
    gone = 0

    def folded(data: bytes) -> bytes:
        nonlocal gone
        lines = data.splitlines(True)
        last: dict[tuple[bytes, bytes], int] = {}
        for number, line in enumerate(lines):
            at, _, rest = line.partition(b"\t")
            how, _, path = rest.partition(b"\t")
            key = (path.rstrip(b"\n"), how if how == b"archived" else at[:10])
            if key not in last or lines[last[key]][:16] <= at:
                last[key] = number
        gone = len(lines) - len(last)
        return b"".join(lines[number] for number in sorted(last.values()))

    with folder.locked():
        disk.edit(log, folded)
    return gone
