"""Moving memories into the archive and back, many at a time; and one job at a time for each user.

A memory keeps its path: `facts/2026/x.md` lies at `archive/facts/2026/x.md`. A rename is one step, so a job killed at any
moment leaves every file under one of the two names; where a system can only link and unlink, under both, and the next run
settles that.
"""

import contextlib
import datetime as dt
import itertools
import os
from collections.abc import Callable, Iterable, Iterator

from filemem import disk, recalls
from filemem.errors import Busy, FilememError, NotFound
from filemem.folder import Folder
from filemem.memory import ARCHIVE

BATCH = 500  # files moved under one hold of the user's lock, so that a conversation going on waits a moment at most
Progress = Callable[[int, int], None]


def unwatched(done: int, total: int) -> None:
    """Progress that nobody looks at."""


def live(path: str) -> str:
    """The path of a memory when it is not in the archive."""
    return path.removeprefix(ARCHIVE + "/")


def archived(path: str) -> str:
    """The path of a memory when it is in the archive."""
    return f"{ARCHIVE}/{live(path)}"


@contextlib.contextmanager
def alone(folder: Folder, wait: float = 0.5) -> Iterator[None]:
    """Be the one job on a user's memories; raises Busy where another is at it. Conversations go on meanwhile."""
    folder.make()
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(disk.lock(folder.bookkeeping("job.lock"), wait))
        except Busy:
            raise Busy(f"another job is at work on {folder.name}'s memories; try again when it is done.") from None
        yield


def put(folder: Folder, paths: Iterable[str], at: dt.datetime, progress: Progress = unwatched) -> list[str]:
    """Move live memories to the archive, having noted it in the log; returns a sentence for each that stayed."""
    wanted = list(paths)
    stamp, known = f"{at:%Y-%m-%dT%H:%M}".encode(), recalls.trails(folder) if wanted else {}
    new = [path for path in wanted if path not in known or known[path].archived != stamp]
    if new:
        recalls.note_all(folder, new, recalls.ARCHIVED, at)
    return _move_all(folder, [(path, archived(path)) for path in wanted], progress)


def back(folder: Folder, paths: Iterable[str], progress: Progress = unwatched) -> list[str]:
    """Move archived memories to where they were; returns a sentence for each that stayed."""
    return _move_all(folder, [(archived(path), live(path)) for path in paths], progress)


def _move_all(folder: Folder, pairs: list[tuple[str, str]], progress: Progress) -> list[str]:
    """Rename files, and make the names durable once for each folder."""
    said: list[str] = []
    for start in range(0, len(pairs), BATCH):
        progress(start, len(pairs))
        touched: dict[str, None] = {}
        with folder.locked():
            for source, target in pairs[start : start + BATCH]:
                said += _move(folder, source, target, touched)
            for place in touched:
                disk.sync_folder(place)
    progress(len(pairs), len(pairs))
    return said


def _move(folder: Folder, source: str, target: str, touched: dict[str, None]) -> list[str]:
    """Rename one file; `touched` gathers the folders whose names have changed, targets' ones first."""
    try:
        origin, goal = folder.absolute(source), folder.absolute(target)
        if not os.path.lexists(origin):
            raise NotFound(f"{source} is gone; nothing was moved.")
        if os.path.dirname(goal) not in touched:
            disk.make_folder(os.path.dirname(goal))
        if os.path.lexists(goal):
            _settle(origin, goal, source, target)
        else:
            disk.rename_new(origin, goal)
    except FilememError as error:
        return [str(error)]
    except FileExistsError:
        return [f"{source} stays: {target} was made at this very moment."]
    touched[os.path.dirname(goal)] = touched[os.path.dirname(origin)] = None
    return []


def _settle(origin: str, goal: str, source: str, target: str) -> None:
    """Finish a move that was cut off between its two steps; raises FilememError where the two files differ."""
    if os.path.samefile(origin, goal) or disk.read(origin) == disk.read(goal):
        os.unlink(origin)
        return
    raise FilememError(f"{source} stays: {target} is another text; rename one of the two.")


def places(folder: Folder, path: str) -> Iterator[str]:
    """Where a memory lies: live, in the archive, or for a moment both."""
    for candidate in (live(path), archived(path)):
        with contextlib.suppress(FilememError):
            if os.path.lexists(folder.absolute(candidate)):
                yield candidate


def spread(items: Iterable[str]) -> str:
    """A few of some names, and how many there are: `a, b and 3 more`."""
    names = list(items)
    shown = ", ".join(itertools.islice(names, 3))
    return shown + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
