"""One user's memories in the repository that holds them: commits, the log, a past day.

Git never stands in the way of a memory: what could not be committed goes with a later
job. A job notes in `.filemem/jobs/` what differs from the last commit before it
begins: that is a person's, stays where it lies, and waits for their commit. What
differs beyond the note of a job that was cut off is the job's, and the next one
commits it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from filemem.errors import Busy, FilememError, NotFound, Problem, Refused, in_words
from filemem.git.repository import (
    MACHINE,
    Repository,
    find_dot_git,
    pathspec,
    read_text,
    split_nul,
)
from filemem.store import files
from filemem.store.folder import BOOKKEEPING, Folder, is_memory_name
from filemem.text.plain import first_few, one_line

RECOVERED = "Keep what jobs had written before git could commit it"
# Bookkeeping that cannot be rebuilt: logs by line, to which their modules only add.
LOGS = tuple(
    f"{BOOKKEEPING}/{name}"
    for name in ("recalls.log", "imports.jsonl", "consolidated.jsonl", "compacted.log")
)
IGNORE = (
    f"**/{BOOKKEEPING}/*",
    *(f"!**/{log}" for log in LOGS),
    f"{files.TEMPORARY}*",
)
ATTRIBUTES = (
    "**/sessions/** merge=union",
    *(f"**/{log} merge=union" for log in LOGS),
    "* -text",
)
NOTES = "jobs"  # the folder in the bookkeeping with a note for each job at work
NOTE_HEADING = "These files differed from the last commit before a job began:"
SUBJECT_CHARS = 72
_STATUS = (
    *("status", "--porcelain=v2", "-z", "--untracked-files=all"),
    *("--no-renames", "--ignore-submodules=all", "--"),
)
_STATUS_SPACES = {"?": 1, "u": 10}  # before the path, by the kind of line; else 8
_LOG_FORMAT = "--format=%H%x1f%P%x1f%aI%x1f%an <%ae>%x1f%s%x1f%(trailers:only,unfold)"


def is_log(path: str) -> bool:
    """Say whether a path, the user's own or the repository's, is that of a log."""
    return f"/{path}".endswith(tuple(f"/{log}" for log in LOGS))


def commit_message(subject: str, trailers: Mapping[str, str]) -> str:
    """Return a commit's message: one line, then the trailers that have a value."""
    lines = [one_line(subject, SUBJECT_CHARS) or "Change memories", ""]
    for key, text in trailers.items():
        if text:
            lines.append(f"{key}: {one_line(text, 500)}")
    return "\n".join(lines).strip() + "\n"


class History:
    """One user's memories in the repository that holds them, if any.

    Paths are the user's own, as everywhere, unless a docstring says otherwise. `theirs`
    are those that differed from the last commit before a job began.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.theirs: frozenset[str] = frozenset()
        self._fault: Exception | None = None  # why git cannot be used for this job

    # -- where -----------------------------------------------------------------------

    @functools.cached_property
    def repository(self) -> Repository:
        """The repository that the user's folder lies in, set up for filemem or not.

        Raises FilememError if there is none. Without a `.git` in any folder above, git
        is not even started.
        """
        dot_git = find_dot_git(self.folder.root)
        if not dot_git:
            raise FilememError(
                f"{self.folder.root} is not in a git repository; "
                "filemem init --git creates one."
            )
        return Repository(dot_git)

    @functools.cached_property
    def prefix(self) -> str:
        """The user's folder as a path in the repository; '' if it is the top."""
        return self.folder.root.removeprefix(self.repository.root).strip("/")

    @functools.cached_property
    def managed_root(self) -> str:
        """The folder that is set up for filemem: the user's own, the store, or ''."""
        for folder in (self.folder.root, self.folder.store):
            attributes = read_text(folder, ".gitattributes").splitlines()
            if ATTRIBUTES[0] in attributes and find_dot_git(self.folder.root):
                is_inside = f"{folder}/".startswith(f"{self.repository.root}/")
                return folder if is_inside else ""
        return ""

    def own_path(self, path: str) -> str:
        """Return a path of the repository as one of the user's."""
        return path.removeprefix(f"{self.prefix}/")

    def require(self) -> Repository:
        """Return the repository; raises FilememError if it takes no commit now."""
        if not self.managed_root:
            raise FilememError(
                f"{self.repository.root} is not set up for filemem; "
                "run filemem init --git first."
            )
        self.repository.require_branch()
        return self.repository

    # -- what is not committed -------------------------------------------------------

    def changes(self) -> dict[str, str]:
        """Return the memories and logs that differ from the last commit.

        Each has the object name that HEAD has for it, '' for a new file. There are none
        where git does not keep the memories.
        """
        if not self.managed_root:
            return {}
        changed = changed_paths(self.repository, self.prefix)
        return {self.own_path(path): blob for path, blob in changed.items()}

    def drafts(self) -> dict[str, str]:
        """Return the changes of memories alone; none if git cannot be asked."""
        try:
            changes = self.changes()
        except (FilememError, OSError):
            return {}
        return {path: blob for path, blob in changes.items() if not is_log(path)}

    def problems(self) -> list[Problem]:
        """Return why git is not used here, and each memory that only git still has."""
        try:
            changes = self.changes()
        except FilememError as error:
            return [Problem(".git", 1, str(error).rstrip("."), "git status says more")]
        what = "git has this memory and the disk has not, under this name"
        remedy = "git checkout -- PATH brings it back, git commit -a lets it go"
        return [
            Problem(path, 1, what, remedy)
            for path, blob in changes.items()
            if blob and not self._is_on_disk(path)
        ]

    def _is_on_disk(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.folder.root, path))

    # -- commits ---------------------------------------------------------------------

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Be the frame of a job: recover what others left, note what is a person's.

        Never raises for git's sake. What is the person's is not moved meanwhile.
        """
        before = self.folder.drafts
        with contextlib.ExitStack() as held:
            try:
                self.recover()
                held.enter_context(self.noted())
            except (FilememError, OSError) as error:
                self._fault = error
                self.theirs = frozenset(self.drafts())  # not those of an old note
            self.folder.drafts = self.theirs
            try:
                yield
            finally:
                self.folder.drafts = before

    def recover(self) -> None:
        """Commit what jobs that were cut off have left, as their notes tell.

        Raises FilememError, and then the notes stay.
        """
        place = self.folder.bookkeeping(NOTES)
        names = sorted(os.listdir(place)) if os.path.isdir(place) else []
        if not names or not self.managed_root:
            return
        for name in names:
            note = f"{place}/{name}"
            # A note that is locked is of a job that is at work.
            with contextlib.suppress(Busy), files.lock(note, 0):
                theirs = os.fsdecode(files.read(note)).split("\n")[:-1]
                if theirs:  # else the job had not begun
                    self.theirs = frozenset(theirs)
                    now = dt.datetime.now().astimezone()
                    with self.repository.lock():
                        self.commit(None, commit_message(RECOVERED, {}), now)
                files.delete(note)

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note what differs from the last commit while files are written.

        If that is cut off, or not committed, the note stays for `recover`.
        """
        if not self.managed_root:
            yield
            return
        self.theirs = frozenset(self.changes())
        lines = "".join(f"{line}\n" for line in (NOTE_HEADING, *sorted(self.theirs)))
        note = f"{self.folder.bookkeeping(NOTES)}/{os.urandom(8).hex()}"
        files.make_folder(os.path.dirname(note))
        with files.lock(note, 0):
            files.log(note, os.fsencode(lines))
            yield
            if not self._fault:
                with contextlib.suppress(NotFound):  # it went with the user's folder
                    files.delete(note)

    def record(
        self,
        subject: str,
        paths: Iterable[str],
        trailers: Mapping[str, str],
        at: dt.datetime,
    ) -> str:
        """Commit just what one job wrote, moved or deleted, with the logs.

        `trailers` are Job, Session, Source. Returns a sentence if something waits for
        the person or nothing can be committed now; never raises for git's sake.
        """
        try:
            if self._fault:
                raise self._fault
            if not self.managed_root:
                return ""
            with self.repository.lock():
                waiting = self.commit(paths, commit_message(subject, trailers), at)
        except (FilememError, OSError) as error:
            self._fault = error
            return f"not committed yet: {in_words(error)}"
        if not waiting:
            return ""
        return (
            f"left for you to commit, as you had changed it too: {first_few(waiting)}"
        )

    def commit(
        self, paths: Iterable[str] | None, message: str, at: dt.datetime
    ) -> list[str]:
        """Commit what differs of these paths and the logs, or with None of everything.

        The caller holds the repository's lock. Returns what waits for the person, as it
        is in `theirs`. What the job has deleted waits for nobody.
        """
        self.repository.require_branch()
        changes = self.changes()
        mine = []
        waiting = []
        for path in dict.fromkeys([*(changes if paths is None else paths), *LOGS]):
            is_written = paths is None or self._is_on_disk(path)
            is_theirs = path in self.theirs and not is_log(path)
            if is_theirs and is_written and path in changes:
                waiting.append(path)
            else:
                mine.append(path)  # unchanged or ignored ones, too
        if not changes.keys().isdisjoint(mine):
            inside = [os.path.join(self.prefix, path) for path in mine]
            self.repository.commit(inside, message, at)
        return waiting


def changed_paths(repository: Repository, *places: str) -> dict[str, str]:
    """Return what differs from the last commit under some places and is to be kept.

    Each path has the object name that HEAD has for it, '' for a new file; all paths are
    of the repository.
    """
    output = repository.run(*_STATUS, *map(pathspec, places))
    changed = {}
    for line in split_nul(output):
        *facts, path = line.split(" ", _STATUS_SPACES.get(line[0], 8))
        # The folder in which the memories lie may itself be hidden.
        if _is_kept(path.removeprefix(f"{places[0]}/")):
            blob = facts[6] if len(facts) > 1 else ""
            changed[path] = blob if blob.strip("0") else ""
    return changed


def _is_kept(path: str) -> bool:
    """Say whether git is to have a file: a memory, settings, or one of the logs.

    An editor's file, a hidden one and another repository are not kept. The path is that
    below the folder in which the memories lie.
    """
    *folders, name = path.split("/")
    if is_log(path) or name in (".gitignore", ".gitattributes"):
        return True
    is_hidden = any(part.startswith(".") for part in folders)
    is_shown = bool(name) and "\n" not in path and not is_hidden
    return is_shown and is_memory_name(name)


# -- the log -------------------------------------------------------------------------


@dataclass(frozen=True)
class Commit:
    """One commit; `at` is the author's moment in local time."""

    commit: str
    parents: list[str]
    at: dt.datetime
    author: str
    subject: str
    trailers: dict[str, str]

    @property
    def job(self) -> str:
        """The job of filemem's that made it, or ''."""
        return self.trailers.get("Job", "") if self.author == MACHINE else ""

    @property
    def who(self) -> str:
        """The author as a person would name it: themselves, or filemem with its job."""
        if self.author != MACHINE:
            return self.author.rpartition(" <")[0]
        parts = ["filemem", self.job]
        if "Session" in self.trailers:
            parts.append(f"in {self.trailers['Session']}")
        return ", ".join(filter(None, parts))


def log(history: History, path: str = "", limit: int = 0) -> list[Commit]:
    """Return the commits on a user's memories, newest first, at most `limit` if given.

    With a path, those of one file, followed through its moves, or of one folder. Raises
    NotFound if the path is no memory's and never was.
    """
    place = path
    arguments = [f"-{limit}"] if limit else []
    is_file = bool(path) and not os.path.isdir(history.folder.absolute(path))
    if is_file:
        arguments.append("--follow")
        with contextlib.suppress(NotFound):  # it is gone: where git last saw it
            place = history.folder.locate(path)
    specs = [pathspec(os.path.join(history.prefix, place))]
    if not is_file:
        logs = os.path.join(history.prefix, BOOKKEEPING)
        specs.append(f":(top,exclude,literal){logs}")
    commits = read_commits(history.repository, *arguments, "--", *specs)
    if is_file and not commits:
        history.folder.locate(path)
    return commits


def read_commits(repository: Repository, *arguments: str) -> list[Commit]:
    """Return the commits that `git log` with these arguments lists."""
    commits: list[Commit] = []
    if not repository.resolve():
        return commits  # where git log fails
    for line in split_nul(repository.run("log", "-z", _LOG_FORMAT, *arguments)):
        commit, parents, moment, author, subject, lines = line.split("\x1f", 5)
        trailers = {}
        for entry in lines.splitlines():
            key, _, value = entry.partition(":")
            trailers[key] = one_line(value)
        at = dt.datetime.fromisoformat(moment).astimezone()
        commits.append(Commit(commit, parents.split(), at, author, subject, trailers))
    return commits


# -- as of a day ---------------------------------------------------------------------


class Past(Folder):
    """One person's memories as a commit has them, which can be read but not written.

    `moment` is what was asked for. The files are a copy, deleted with this object.
    """

    def __init__(self, folder: Folder, commit: Commit, moment: dt.datetime) -> None:
        self._copy = folder.scratch()
        root = os.path.join(self._copy.name, folder.name)
        super().__init__(root, folder.name, named=folder.is_own)
        self.store = folder.store
        self.commit = commit
        self.moment = moment

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Refuse to write; raises Refused."""
        raise Refused(
            f"these are the memories as of {self.commit.at:%Y-%m-%d}, "
            "which can be read but not changed; leave out the day."
        )
        yield


def as_of(folder: Folder, moment: dt.date | dt.datetime) -> Past:
    """Return what was believed at a moment: the last commit by then on this branch.

    A date means its end in local time. Raises NotFound if nothing of the user's had
    been committed by then.
    """
    history = History(folder)
    repository = history.repository
    end = moment
    if not isinstance(end, dt.datetime):
        end = dt.datetime.combine(end, dt.time(23, 59, 59))
    end = end.astimezone()
    before = f"--before={end.isoformat(timespec='seconds')}"
    inside = pathspec(history.prefix)
    found = read_commits(repository, "-1", "--first-parent", before, "--", inside)
    if not found:
        raise NotFound(
            f"nothing of {folder.name} had been committed by {moment:%Y-%m-%d}; "
            "name a later day."
        )
    past = Past(folder, found[0], end)
    index = f"{past.root}.index"
    repository.run(
        "read-tree", f"{past.commit.commit}:{history.prefix}", GIT_INDEX_FILE=index
    )
    repository.run(
        *("-c", "core.symlinks=false", "checkout-index", "--all", "--quiet"),
        f"--prefix={past.root}/",
        GIT_INDEX_FILE=index,
    )
    return past
