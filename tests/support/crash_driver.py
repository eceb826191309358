"""Runs one job again and again, each time killed at the next system call that changes something; run by test_crash_points.

    python crash_driver.py STORE FOLDER JOB

Copies STORE to FOLDER/1, FOLDER/2, … and does JOB on each in a child process, which ends without a word (os._exit, as
kill -9 would) right before its first, second, … write, rename, link, unlink, mkdir, truncation, fsync, creating open or
start of a program. The first child that comes to its end is the last; its store is FOLDER/undisturbed. Prints the number
of those that were killed.
"""

import datetime as dt
import os
import shutil
import subprocess
import sys

from reader import Reader, note

from filemem import jobs
from filemem.learn import consolidate
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20, 3, 0)
READER = Reader(
    note("Ann's favourite tea is oolong.", "tea is oolong", section="likes"),
    note("Ann's favourite tea is sencha.", "tea is sencha", supersede="oolong"),
    note("Ann lives in Bruges.", "in Bruges", section="home"),
    note("Ann likes oolong, and sencha more.", "tea is sencha", update="Bruges"),
)
CHANGES = (
    "write",
    "replace",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "ftruncate",
    "fsync",
    "utime",
    "chmod",
)


TALK = """\
- **Ann** 09:30: Good morning! {0}
- **assistant** 09:31: That sounds lovely, I should like to hear all about it, from the first word to the last. And what
  happened then, after all that, if you do not mind my asking about it so soon?
- **Ann** 09:32: My brother Tom came by on the ferry from Harwich, it took him seven hours.
- **Ann** 09:33: Thanks, bye!
"""


def _restored(user: Folder) -> None:
    jobs.restore(
        user, AT, [path for path in user.paths() if path.startswith("archive/facts/")]
    )


JOBS = {  # as the command line does them
    "consolidate": lambda user: list(consolidate.run(user, AT, READER)),
    "compact": lambda user: jobs.compact(user, AT),
    "sweep": lambda user: jobs.sweep(user, AT),
    "restore": _restored,
    "maintain": lambda user: jobs.maintain(user, AT, None),
}


def end() -> None:
    """End without a word, as kill -9 would."""
    os._exit(137)


_counted = {"made": 0, "limit": 0, "then": end}


def counted_calls(call):
    """A call before which this process ends when it is the change with the number that `arm` was given."""

    def wrapper(*arguments, **named):
        _counted["made"] += 1
        if _counted["made"] == _counted["limit"]:
            _counted["then"]()
        return call(*arguments, **named)

    return wrapper


def arm(limit: int, then=end):
    """Have this process end, or do what else is given, before the change with the number `limit`; returns how to count them."""
    _counted.update(made=0, limit=limit, then=then)
    for name in CHANGES:
        setattr(os, name, counted_calls(getattr(os, name)))
    subprocess.Popen = counted_calls(subprocess.Popen)  # type: ignore[misc]
    plain = os.open

    def opened(path, flags, *more, **named):
        return (counting if flags & os.O_CREAT else plain)(path, flags, *more, **named)

    counting = counted_calls(plain)
    os.open = opened
    return lambda: _counted["made"]


def main(store: str, folder: str, name: str) -> None:
    limit, status = 0, 1
    rehearsal = os.path.join(
        folder, "rehearsal"
    )  # patterns compiled and modules imported here are so in every child
    shutil.copytree(store, rehearsal)
    JOBS[name](StoreFolder(rehearsal).folder("ann"))
    shutil.rmtree(rehearsal)
    while status:
        limit += 1
        copy = os.path.join(folder, str(limit))
        shutil.copytree(store, copy)
        child = os.fork()
        if not child:
            arm(limit)
            JOBS[name](StoreFolder(copy).folder("ann"))
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in (0, 137):
            sys.exit(f"{name} failed by itself at change {limit}")
    os.rename(copy, os.path.join(folder, "undisturbed"))
    print(limit - 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
