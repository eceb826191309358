"""The days on which a person used their memory, by which the clock of fading runs.

`.filemem/days.log` has a line for each: a turn of theirs was kept, or they remembered,
edited, reviewed or searched themselves. A job is no use, nor are the past days of an
import, nor what a file's time says; but a sweep notes what it has seen, and that a file
of the person's was another than any sweep had seen before counts as a use.
"""

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.logs import Entry, Log
from filemem.store.memory import Memory
from filemem.store.roles import Role

DAYS = "days.log"
DAYS_OF_LATE = 7  # in which what was said is taken in at the latest


def days_of_use(folder: Folder) -> set[dt.date]:
    """Return the days of use; none if no log can be read."""
    days = set[dt.date]()
    for entry in Log(folder, DAYS).readable():
        with suppress(ValueError):
            days.add(dt.date.fromisoformat(str(entry.get("day"))))
    return days


def note_use(folder: Folder, day: dt.date) -> None:
    """Note a day of use, once; where that fails, what was done stands all the same."""
    with suppress(FilememError, OSError):
        if day not in days_of_use(folder):
            Log(folder, DAYS).add([{"day": f"{day}"}], wait=1.0, durably=False)


def note_turns(folder: Folder, sessions: Iterable[str], today: dt.date) -> None:
    """Note as days of use those of late on which the person talked in some sessions.

    A hook may take them in on a later day; the past of an import is no use.

    Args:
        folder: whose sessions.
        sessions: the paths of those to which turns were added.
        today: the last of these days.
    """
    days = set[dt.date | None]()
    for path in sessions:
        memory = folder.find(path)
        if memory:
            days |= _days_of_talk(memory)
    for back in range(DAYS_OF_LATE):
        day = today - dt.timedelta(back)
        if day in days:
            note_use(folder, day)


def _days_of_talk(memory: Memory) -> set[dt.date | None]:
    return {
        turn.day or memory.date
        for turn in memory.passages
        if turn.speaker and memory.role(turn.speaker) is Role.PERSON
    }


def note_sweep(folder: Folder, files: str, waiting: int, today: dt.date) -> None:
    """Note what a sweep has seen, where that is new.

    Args:
        folder: whose memories.
        files: the digest of all files that the person wrote or changed.
        waiting: how many faded facts wait for a yes.
        today: a day of use if these files were never seen like that.
    """
    sweeps = _sweeps(folder)
    entry: Entry = {"files": files, "waiting": waiting}
    if sweeps and entry.items() <= sweeps[-1].items():
        return
    if sweeps and all(seen["files"] != files for seen in sweeps):
        entry["day"] = f"{today}"
    with suppress(FilememError, OSError):
        Log(folder, DAYS).add([entry])


def waiting_for_a_yes(folder: Folder) -> int:
    """Return how many faded facts the last sweep left; 0 if that cannot be read."""
    sweeps = _sweeps(folder)
    return int(sweeps[-1]["waiting"]) if sweeps else 0


def _sweeps(folder: Folder) -> list[Entry]:
    entries = Log(folder, DAYS).readable()
    return [entry for entry in entries if {"files", "waiting"} <= entry.keys()]
