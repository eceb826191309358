"""What was believed on a day: the memories as the last commit of that day has them, laid out as plain files.

A commit's files are checked out by git itself into `.filemem/as-of/<commit>/`, once, so that answers and line numbers are
those of a plain checkout; the work tree is not touched. The few commits asked for last are kept.
"""

import contextlib
import datetime as dt
import os
import tempfile
from collections.abc import Iterator

from filemem.errors import FilememError, NotFound, Refused
from filemem.files import safe
from filemem.files.folder import Folder
from filemem.files.safe import Place, names_in, remove
from filemem.history.commits import History
from filemem.history.git import GitError
from filemem.history.repository import Repository

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
    """What was believed at `moment`, a date meaning its end in local time: the last commit by then, to read only.

    Raises NotFound where nothing of the user's had been committed by then, FilememError where git cannot tell.
    """
    history = History(folder)
    repository = history.repository
    commit, at, subject = _last(repository, moment)
    place = folder.bookkeeping(f"{FOLDER}/{commit}")
    if not safe.exists(place):
        _check_out(repository, commit, history.inside, place, moment)
        above = place.folder
        others = [above / name for name in names_in(above) if name[0] != "." and name != commit]
        for old in sorted(others, key=os.path.getmtime, reverse=True)[KEPT - 1 :]:
            aside = safe.temporary_in(above)
            with contextlib.suppress(OSError, FilememError):
                safe.replace(old, aside)
                remove(aside)
    with contextlib.suppress(OSError):
        os.utime(place)
    return Past(folder, place, end_of(moment), commit, at, subject)


def end_of(moment: dt.date | dt.datetime) -> dt.datetime:
    """The last second that counts: of a day in local time, or the moment itself."""
    if isinstance(moment, dt.datetime):
        return moment.astimezone()
    return dt.datetime.combine(min(max(moment, _FIRST), _LAST), dt.time(23, 59, 59)).astimezone()


def _last(repository: Repository, moment: dt.date | dt.datetime) -> tuple[str, dt.datetime, str]:
    """The last commit by `moment` on the line of first parents from HEAD: what this branch held then."""
    end = end_of(moment)
    before = f"--before={end.isoformat(timespec='seconds')}"
    done = repository.ask("log", "-1", "--first-parent", before, "--format=%H%x00%cI%x00%s", "HEAD")
    if done.code and repository.head():
        raise GitError(f"git cannot tell what was committed by {end:%Y-%m-%d}: {done.err.strip()}.")
    if not done.out:
        line = repository.ask("log", "--first-parent", "--format=%cs", "HEAD").out.decode().split()
        hint = f"the first commit is of {line[-1]}" if line else "there is no commit yet"
        raise NotFound(f"nothing was committed by {end:%Y-%m-%d}; {hint}.")
    commit, at, subject = done.out.decode(errors="replace").rstrip("\n").split("\0")
    return commit, dt.datetime.fromisoformat(at).astimezone(), subject


def _check_out(repository: Repository, commit: str, inside: str, place: Place, moment: dt.date | dt.datetime) -> None:
    """Let git check out a commit's files under `inside` at `place`, which appears whole or not at all."""
    above = place.folder
    safe.make_folder(above)
    with contextlib.suppress(FileExistsError):
        safe.create(above / ".gitignore", b"*\n")  # in a repository that is not set up for filemem, too
    new = safe.temporary_in(above)
    safe.make_folder(new)
    try:
        with tempfile.TemporaryDirectory() as aside:
            private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
            prefix = [f"--prefix={inside}/", f"{commit}:{inside}"] if inside else [commit]
            if repository.ask("read-tree", *prefix, env=private).code:
                raise NotFound(f"nothing of {os.path.basename(inside)} had been committed by {moment:%Y-%m-%d}.")
            repository.run("checkout-index", "--all", "--quiet", f"--prefix={new}/", env=private)
        with contextlib.suppress(OSError):  # another process was faster
            safe.replace(new / inside, place)
    finally:
        with contextlib.suppress(OSError, FilememError):
            remove(new)


def drop_all(folder: Folder) -> bool:
    """Delete every commit that is laid out, as when something in them is to be forgotten; was there any?"""
    place = folder.bookkeeping(FOLDER)
    there = safe.exists(place)
    if there:
        remove(place)
    return there
