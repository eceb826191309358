"""What was believed on a day: the memories as the last commit of that day has them, laid out as plain files.

They lie in `.filemem/as-of/<commit>/`, so that answers and line numbers are those of a plain checkout; the work tree is not
touched. The few commits asked for last are kept.
"""

import contextlib
import datetime as dt
import os
import shutil
import tempfile
from collections.abc import Iterator

from filemem.errors import NotFound, Refused
from filemem.files import safe
from filemem.files.folder import Folder
from filemem.history.commits import History
from filemem.history.git import PLAIN, GitError

FOLDER = "as-of"
KEPT = 4  # commits laid out at a time
_FIRST, _LAST = dt.date(1970, 1, 2), dt.date(2099, 12, 31)  # what git's dates reach


class Past(Folder):
    """One person's memories as a commit has them: every question is answered as ever, and nothing can be written.

    `moment` is what was asked for, `at` when the commit was made.
    """

    def __init__(
        self, folder: Folder, root: str, moment: dt.datetime, commit: str, at: dt.datetime, subject: str
    ) -> None:
        super().__init__(root, folder.name, folder.trust, folder.store)
        self.moment = moment
        self.commit = commit
        self.at = at
        self.subject = subject

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Refuse to write; raises Refused."""
        raise Refused(f"these are the memories as of {self.at:%Y-%m-%d}, which can be read but not changed.")
        yield


def as_of(folder: Folder, moment: dt.date | dt.datetime) -> Past:
    """What was believed at `moment`, a date meaning its end in local time: the last commit by then on this branch, to read only.

    Raises NotFound where nothing of the user's had been committed by then, FilememError where git cannot tell.
    """
    history = History(folder)
    if isinstance(moment, dt.datetime):
        end = moment.astimezone()
    else:
        end = dt.datetime.combine(min(max(moment, _FIRST), _LAST), dt.time(23, 59, 59)).astimezone()
    line = ("log", "--first-parent", "--format=%H%x00%cI%x00%s", "HEAD")
    done = history.repository.ask(*line, "-1", f"--before={end.isoformat(timespec='seconds')}")
    if done.code and history.repository.head():
        raise GitError(f"git cannot tell what was committed by {end:%Y-%m-%d}: {done.err.strip()}.")
    if not done.out:
        first = history.repository.ask(*line, "--format=%cs").out.decode().split()[-1:]
        hint = f"the first commit is of {first[0]}" if first else "there is no commit yet"
        raise NotFound(f"nothing was committed by {end:%Y-%m-%d}; {hint}.")
    commit, at, subject = done.out.decode(errors="replace").rstrip("\n").split("\0")
    place = folder.bookkeeping(f"{FOLDER}/{commit}")
    if not os.path.isdir(place):
        _lay_out(history, commit, place, end)
    with contextlib.suppress(OSError):
        os.utime(place)
    return Past(folder, place, end, commit, dt.datetime.fromisoformat(at).astimezone(), subject)


def _lay_out(history: History, commit: str, place: str, end: dt.datetime) -> None:
    """Write a commit's files under `place`, which appears whole or not at all, and drop what was laid out long ago."""
    repository, inside = history.repository, history.inside
    files = [path for path, entry in repository.tree(commit, inside).items() if entry.mode in PLAIN and _plain(path)]
    if not files:
        raise NotFound(f"nothing of {history.folder.name} had been committed by {end:%Y-%m-%d}.")
    above = os.path.dirname(place)
    safe.make_folder(history.folder.bookkeeping(FOLDER))
    with open(os.path.join(above, ".gitignore"), "w") as ignore:  # in a repository that is not set up for filemem, too
        ignore.write("*\n")
    new = tempfile.mkdtemp(prefix=safe.TEMPORARY, dir=above)
    try:
        for path, data in zip(files, repository.contents(f"{commit}:{path}" for path in files), strict=True):
            where = os.path.join(new, history.own(path))
            os.makedirs(os.path.dirname(where), 0o700, exist_ok=True)
            with open(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data or b"")
        with contextlib.suppress(OSError):  # another process was faster
            os.rename(new, place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    others = [entry.path for entry in os.scandir(above) if entry.is_dir(follow_symlinks=False) and entry.path != place]
    for old in sorted(others, key=os.path.getmtime, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


def _plain(path: str) -> bool:
    return not any(part in ("", ".", "..") or ord(min(part)) < 32 for part in path.split("/"))


def drop_all(folder: Folder) -> bool:
    """Delete every commit that is laid out, as when something in them is to be forgotten; was there any?"""
    place = folder.bookkeeping(FOLDER)
    there = os.path.isdir(place)
    if there:
        shutil.rmtree(place)
    return there
