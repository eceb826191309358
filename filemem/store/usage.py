"""The days on which a person used their memory, by which the clock of fading runs.

`.filemem/days.log` has a line for each: a turn of theirs was kept, or they remembered,
edited, reviewed or searched themselves. A job is no use, nor are the past days of an
import, nor what a file's time says; but a sweep notes what it has seen, and that a file
of the person's was another than any sweep had seen before counts as a use.

A line of a sweep also tells of the facts and lessons that none had seen, nor the
program written: `entered` has a mark of each path, `on` the day. The first line has
both, too. In the log of an earlier version none has; of what lies there when the next
sweep comes, `on` is the calendar's first day, so that all of it fades as it did.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.logs import Entry, Log
from filemem.store.memory import Memory
from filemem.store.paths import live
from filemem.store.roles import Role
from filemem.text.plain import digest

DAYS = "days.log"
DAYS_OF_LATE = 7  # in which what was said is taken in at the latest
MARK_LETTERS = 12  # of the digest of a path


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
            log = Log(folder, DAYS)
            entry: Entry = {"day": f"{day}"}
            if not log.readable():
                entry |= _entered([], day)
            log.add([entry], wait=1.0, durably=False)


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


@dataclass(frozen=True)
class Seen:
    """What sweeps have seen of the facts and lessons that came by a person's hand.

    Attributes:
        days: by a mark of the path the day on which it was first seen.
        unseen: the day on which the next sweep sees any other.
    """

    days: Mapping[str, dt.date]
    unseen: dt.date


def mark(path: str) -> str:
    """Name a memory without its name, which may tell what is forgotten one day."""
    return digest(live(path), MARK_LETTERS)


def seen(folder: Folder, today: dt.date) -> Seen:
    """Return what sweeps have seen; of two clones' days the earlier one counts.

    Args:
        folder: whose memories.
        today: on which the next sweep sees what is new. What is in a store of an
            earlier version counts as having been there on its own day.
    """
    entries = Log(folder, DAYS).readable()
    days = dict[str, dt.date]()
    is_earlier = bool(entries)
    for entry in entries:
        with suppress(LookupError, ValueError, TypeError):
            day = dt.date.fromisoformat(entry["on"])
            for name in entry["entered"]:
                days[name] = min(day, days.get(name, day))
            is_earlier = False
    return Seen(days, dt.date.min if is_earlier else today)


def _entered(marks: Iterable[str], day: dt.date) -> Entry:
    return {"entered": sorted(marks), "on": f"{day}"}


def note_sweep(
    folder: Folder,
    files: str,
    entered: Iterable[str],
    waiting: int,
    today: dt.date,
) -> None:
    """Note what a sweep has seen, where that is new.

    Args:
        folder: whose memories.
        files: the digest of all files that the person wrote or changed.
        entered: the marks of the memories that no sweep has seen.
        waiting: how many faded facts wait for a yes.
        today: a day of use if these files were never seen like that.
    """
    sweeps = _sweeps(folder)
    entry: Entry = {"files": files, "waiting": waiting}
    marks = list(entered)
    if sweeps and not marks and entry.items() <= sweeps[-1].items():
        return
    if sweeps and all(sweep["files"] != files for sweep in sweeps):
        entry["day"] = f"{today}"
    entry |= _entered(marks, seen(folder, today).unseen)
    with suppress(FilememError, OSError):
        Log(folder, DAYS).add([entry])


def waiting_for_a_yes(folder: Folder) -> int:
    """Return how many faded facts the last sweep left; 0 if that cannot be read."""
    sweeps = _sweeps(folder)
    return int(sweeps[-1]["waiting"]) if sweeps else 0


def _sweeps(folder: Folder) -> list[Entry]:
    entries = Log(folder, DAYS).readable()
    return [entry for entry in entries if {"files", "waiting"} <= entry.keys()]
