"""The log of recalls: when a memory was opened, cited, archived or restored."""

import contextlib
import datetime as dt
from collections.abc import Iterable

from filemem.errors import FilememError
from filemem.store.folder import Folder, Progress, no_progress
from filemem.store.logs import MINUTE, add_rows, rows
from filemem.store.paths import archived, live

OPENED, CITED, RESTORED = "open", "cited", "restored"  # recalls

ARCHIVED = "archived"  # no recall

RECALLS = "recalls.log"


class RecallHistory(list[dt.date]):
    """The days on which one memory was recalled, some of them twice; was it recalled `since` it was archived last?"""

    since = False
    last = archived = ""


def note_recall(folder: Folder, path: str, how: str, at: dt.datetime) -> None:
    """Append one recall (`how` is `open` or `cited`); a log that cannot be written never spoils a reading."""
    with contextlib.suppress(FilememError, OSError):
        note_recalls(folder, [path], how, at, wait=1.0)


def note_recalls(
    folder: Folder, paths: Iterable[str], how: str, at: dt.datetime, wait: float = 10.0
) -> None:
    """Append a line for each of some memories, in one go; raises FilememError or OSError where that cannot be done."""
    add_rows(
        folder, RECALLS, ((f"{at:{MINUTE}}", how, live(path)) for path in paths), wait
    )


def recalled(folder: Folder) -> dict[str, RecallHistory]:
    """What the log says, by the memory's live path. A log of a million lines takes a second."""
    found: dict[str, RecallHistory] = {}
    known: dict[str, dt.date] = {}  # one object for each day, however often it is named
    for at, how, path in (row[:3] for row in rows(folder, RECALLS) if len(row) > 2):
        try:
            day = known.get(at[:10]) or known.setdefault(
                at[:10], dt.date.fromisoformat(at[:10])
            )
        except ValueError:
            continue
        trail = found.get(path) or found.setdefault(path, RecallHistory())
        if how == ARCHIVED:
            trail.archived = max(trail.archived, at)
            trail.since = trail.last > trail.archived
        else:
            trail.append(day)
            trail.last = max(trail.last, at)
            trail.since |= "" < trail.archived <= at
    return found


def archive(
    folder: Folder,
    paths: Iterable[str],
    at: dt.datetime,
    progress: Progress = no_progress,
) -> dict[str, str]:
    """Move live memories to the archive, having noted it in the log of recalls; a sentence for each path that stayed. A kill
    leaves every file under one of its two names."""
    wanted = list(paths)
    note_recalls(folder, wanted, ARCHIVED, at)
    return folder.move({path: archived(path) for path in wanted}, progress)
