"""Moving memories into the archive and back, many at a time; and one job at a time for each user.

A memory keeps its path: `facts/2026/x.md` lies at `archive/facts/2026/x.md`. A rename is one step, so a job killed at any
moment leaves every file under one of the two names; where two clones brought both, the next run settles that.
"""

import contextlib
import datetime as dt
import os
import time
from collections.abc import Callable, Iterable, Iterator

from filemem.errors import Busy, FilememError
from filemem.files import journal, safe
from filemem.files.folder import BOOKKEEPING, Folder
from filemem.files.memory import Memory
from filemem.files.memory import archived as archived
from filemem.files.memory import live as live

Progress = Callable[[int, int], None]


def no_progress(done: int, total: int) -> None:
    """Progress that is shown to nobody."""


@contextlib.contextmanager
def job_lock(folder: Folder, wait: float = 0.5) -> Iterator[None]:
    """Run as the only job on a user's memories; raises Busy if another is running. Conversations go on
    meanwhile. The leftovers of killed writes are deleted: the program's own temporary files, never what a
    person saved.
    """
    folder.make()
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(safe.lock(folder.bookkeeping("job.lock"), wait))
        except Busy:
            raise Busy(f"another job is running on {folder.name}'s memories; try again when it is done.") from None
        with contextlib.suppress(FilememError, OSError):
            for path, entry in safe.walk(folder.place, lambda path, entry: entry.name != ".git"):
                ours = entry.name.startswith(safe.OURS) or path.startswith(f"{BOOKKEEPING}/{safe.TEMPORARY}")
                if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > safe.CUT_OFF:
                    with folder.locked():
                        safe.delete(f"{folder.place}/{path}")
        yield


def move_in(folder: Folder, paths: Iterable[str], at: dt.datetime, progress: Progress = no_progress) -> dict[str, str]:
    """Move live memories to the archive, having noted it in the log; a sentence for each path that stayed."""
    wanted = list(paths)
    journal.note_recalls(folder, wanted, journal.ARCHIVED, at)
    return _move_all(folder, {path: (path, archived(path)) for path in wanted}, progress)


def move_out(folder: Folder, paths: Iterable[str], progress: Progress = no_progress) -> dict[str, str]:
    """Move archived memories to where they were; a sentence for each path that stayed."""
    return _move_all(folder, {path: (archived(path), live(path)) for path in paths}, progress)


def _move_all(folder: Folder, moves: dict[str, tuple[str, str]], progress: Progress) -> dict[str, str]:
    """Rename files, and make the names durable once for each folder, those that files went to first."""
    stayed: dict[str, str] = {}
    came, left = dict[str, None](), dict[str, None]()  # the folders to which files went, and from which
    for done, (path, (source, target)) in enumerate(moves.items()):
        if done % 500 == 0:
            progress(done, len(moves))
        with folder.locked():
            try:
                origin, goal = folder.absolute(source), folder.absolute(target)
                if os.path.dirname(goal) not in came:
                    safe.make_folder(os.path.dirname(goal))
                safe.rename_new(origin, goal)
                came[os.path.dirname(goal)] = left[os.path.dirname(origin)] = None
            except FileNotFoundError:
                stayed[path] = f"{source} is gone; nothing was moved."
            except FileExistsError:  # where both are the same text, one of them goes
                if os.path.samefile(origin, goal) or safe.read(origin) == safe.read(goal):
                    safe.delete(origin)
                else:
                    stayed[path] = f"{source} stays: {target} is another text; rename one of the two."
            except FilememError as error:
                stayed[path] = str(error)
    for place in came | left:
        safe.sync_folder(place)
    progress(len(moves), len(moves))
    return stayed


def read(folder: Folder, path: str) -> Memory | None:
    """A memory, live or archived; None if it is gone or cannot be read."""
    with contextlib.suppress(FilememError):
        return folder.memory(next(folder.standing(path), path))
    return None
