"""The log of recalls: when a memory was opened, cited, archived or restored."""

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.logs import MINUTE, Log
from filemem.store.paths import archived, live

RECALLS = "recalls.log"


class How(StrEnum):
    """What the log says was done with a memory."""

    OPENED = "open"
    CITED = "cited"
    RESTORED = "restored"
    ARCHIVED = "archived"  # no recall


@dataclass(frozen=True)
class RecallHistory:
    """What the log says of one memory.

    Attributes:
        days: on which it was recalled, some of them twice.
        returns: those of them on which it had been archived and not recalled since.
        archived: the moment at which it was archived last, or ''.
        since: whether it was recalled since then.
    """

    days: list[dt.date] = field(default_factory=list)
    returns: list[dt.date] = field(default_factory=list)
    archived: str = ""
    since: bool = False


def note_recall(folder: Folder, path: str, how: How, at: dt.datetime) -> None:
    """Note one recall; a log that cannot be written never spoils a reading."""
    with suppress(FilememError, OSError):
        note_recalls(folder, [path], how, at, wait=1.0)


def note_recalls(
    folder: Folder,
    paths: Iterable[str],
    how: How,
    at: dt.datetime,
    wait: float | None = None,
) -> None:
    """Note the same of some memories, in one write.

    Args:
        folder: whose they are.
        paths: theirs.
        how: what was done with them.
        at: when.
        wait: seconds for the user's lock.

    Raises:
        FilememError, OSError: that cannot be written.
    """
    moment = f"{at:{MINUTE}}"
    entries = [{"at": moment, "how": how, "path": live(path)} for path in paths]
    if entries:
        _log(folder).add(entries, wait)


def recalled(folder: Folder) -> dict[str, RecallHistory]:
    """Return what the log says, by the memory's live path.

    Raises:
        FilememError, OSError: it cannot be read.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in _log(folder).entries():
        found.setdefault(str(entry.get("path")), []).append(entry)
    return {path: _history(entries) for path, entries in found.items()}


def _history(entries: list[dict[str, Any]]) -> RecallHistory:
    """Return what the entries on one memory say; one of no day says nothing."""
    days: list[dt.date] = []
    returns: list[dt.date] = []
    archived_at = ""
    since = False
    # Two machines' entries do not come in their order.
    for entry in sorted(entries, key=lambda entry: str(entry.get("at"))):
        at = str(entry.get("at"))
        with suppress(ValueError):
            day = dt.date.fromisoformat(at[:10])
            if entry.get("how") == How.ARCHIVED:
                archived_at = at
                since = False
                continue
            days.append(day)
            if archived_at and not since:
                since = True
                returns.append(day)
    return RecallHistory(days, returns, archived_at, since)


def archive(folder: Folder, paths: Iterable[str], at: dt.datetime) -> dict[str, str]:
    """Move live memories to the archive, having noted it in the log.

    A kill leaves every file under one of its two names. Returns a sentence for each
    path that stayed.
    """
    wanted = list(paths)
    note_recalls(folder, wanted, How.ARCHIVED, at)
    return folder.move({path: archived(path) for path in wanted})


def _log(folder: Folder) -> Log:
    return Log(folder, RECALLS, ("at", "how", "path"))
