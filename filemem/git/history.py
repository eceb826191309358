"""One user's memories in the repository that holds them: commits, the log, a past day.

Git never stands in the way of a memory: what could not be committed goes with a later
job. A job notes in `.filemem/jobs/` what differs from the last commit before it
begins: that is a person's, stays where it lies, and waits for their commit. What
differs beyond the note of a job that was cut off is the job's, and the next one
commits it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping

from filemem.errors import (
    Busy,
    FilememError,
    NotFound,
    Problem,
    Refused,
    in_words,
)
from filemem.git.repository import (
    MACHINE,
    GitError,
    Repository,
    find_dot_git,
    pathspec,
    read_text,
    split_nul,
)
from filemem.store import files
from filemem.store.folder import BOOKKEEPING, Folder, is_temporary_name
from filemem.store.logs import values
from filemem.store.paths import archived, live
from filemem.store.scratch import Scratch
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
SUBJECT_CHARS = 72
_STATUS = (
    *("status", "--porcelain=v2", "-z", "--untracked-files=all"),
    *("--no-renames", "--ignore-submodules=all", "--"),
)
_STATUS_SPACES = {"?": 1, "u": 10}  # before the path, by the kind of line; else 8
_LOG_FORMAT = "--format=%H%x1f%P%x1f%aI%x1f%an <%ae>%x1f%s%x1f%(trailers:only,unfold)"


def commit_message(subject: str, trailers: Mapping[str, str]) -> str:
    """Return a commit's message: one line, then the trailers that have a value."""
    lines = [one_line(subject, SUBJECT_CHARS) or "Change memories"]
    named = [f"{key}: {one_line(text, 500)}" for key, text in trailers.items() if text]
    if named:
        lines += ["", *named]
    return "\n".join(lines) + "\n"


@dataclasses.dataclass(frozen=True)
class Uncommitted:
    """What differed from the last commit before a job began, which is a person's.

    `changes` has each path with the object name that HEAD has for it, '' for a file
    that is new; `staged` are paths that differ in the index.
    """

    changes: dict[str, str] = dataclasses.field(default_factory=dict)
    staged: frozenset[str] = frozenset()


class History:
    """One user's memories in the repository that holds them, if any.

    Paths are the user's own, as everywhere, unless a docstring says otherwise.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.uncommitted = Uncommitted()
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
                inside = f"{folder}/".startswith(f"{self.repository.root}/")
                return folder if inside else ""
        return ""

    def own_path(self, path: str) -> str:
        """Return a path of the repository as one of the user's."""
        return path.removeprefix(f"{self.prefix}/")

    def require(self) -> Repository:
        """Return the repository; raises FilememError if nothing can be committed now."""
        if not self.managed_root:
            raise FilememError(
                f"{self.repository.root} is not set up for filemem; "
                "run filemem init --git first."
            )
        if obstacle := self.repository.obstacle():
            raise FilememError(f"{obstacle}; then try again.")
        return self.repository

    # -- what is not committed -------------------------------------------------------

    def changes(self) -> dict[str, str]:
        """Return the memories and logs that differ from the last commit.

        Each has the object name that HEAD has for it, '' for a new file.
        """
        changed = changed_paths(self.repository, self.prefix)
        return {self.own_path(path): blob for path, blob in changed.items()}

    def drafts(self) -> dict[str, str]:
        """Return the changes of memories alone; none if git cannot be asked."""
        try:
            changes = self.changes() if self.managed_root else {}
        except FilememError:
            return {}
        return {path: blob for path, blob in changes.items() if path not in LOGS}

    def problems(self) -> list[Problem]:
        """Return why git is not used here, and each memory that only git still has."""
        try:
            missing = self._missing() if self.managed_root else []
        except FilememError as error:
            what, _, remedy = str(error).rstrip(".").rpartition("; ")
            if not what:
                what = remedy
                remedy = "put right what git names"
            return [Problem(".git", 1, what, remedy)]
        what = "git has this memory and the disk has not"
        remedy = "git checkout -- PATH brings it back, git commit lets it go"
        return [Problem(path, 1, what, remedy) for path in missing]

    def _missing(self) -> list[str]:
        """Return what HEAD has and the disk has under no name."""
        changes = self.changes()
        gone = {
            path: blob
            for path, blob in changes.items()
            if blob and not self._on_disk(path)
        }
        if not gone:
            return []
        new = [
            os.path.join(self.folder.root, p) for p, blob in changes.items() if not blob
        ]
        hashed = self.repository.call(
            *("hash-object", "--no-filters", "--stdin-paths"),
            stdin=os.fsencode("\n".join(new)),
        )
        renamed = {*hashed.stdout.decode().split()}
        return [path for path, blob in gone.items() if blob not in renamed]

    def _on_disk(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self.folder.root, path))

    # -- commits ---------------------------------------------------------------------

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Be the frame of a job: recover what others left, note what is a person's.

        Never raises for git's sake. What `uncommitted` names is not moved meanwhile.
        """
        before = self.folder.drafts
        try:
            self.recover()
        except (FilememError, OSError) as error:
            self._fault = error
        with contextlib.ExitStack() as held:
            if not self._fault and self.managed_root:
                held.enter_context(self.noted())
                self.folder.drafts = frozenset(self.uncommitted.changes).difference(
                    LOGS
                )
            try:
                yield
            finally:
                self.folder.drafts = before

    def recover(self) -> None:
        """Commit what jobs that were cut off have left, as their notes tell.

        Raises FilememError, and then the notes stay.
        """
        place = self.folder.bookkeeping(NOTES)
        if not self.managed_root or not os.path.isdir(place):
            return
        for name in sorted(os.listdir(place)):
            note = f"{place}/{name}"
            # A note that is locked is of a job that is at work.
            with contextlib.suppress(Busy), files.lock(note, 0):
                noted = next(values(note), None)
                if isinstance(noted, list):  # else the job had not begun
                    changes, staged = noted
                    self.uncommitted = Uncommitted(changes, frozenset(staged))
                    now = dt.datetime.now().astimezone()
                    with self.repository.lock():
                        self.commit(None, commit_message(RECOVERED, {}), now)
                files.delete(note)

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note what differs from the last commit while files are written.

        If that is cut off, or not committed, the note stays for `recover`.
        """
        note = f"{self.folder.bookkeeping(NOTES)}/{os.urandom(8).hex()}"
        with contextlib.ExitStack() as held:
            with contextlib.suppress(FilememError, OSError):
                staged = frozenset(map(self.own_path, self.repository.staged()))
                self.uncommitted = Uncommitted(self.changes(), staged)
                files.make_folder(os.path.dirname(note))
                held.enter_context(files.lock(note, 0))
                with open(note, "w", encoding="utf-8") as file:
                    json.dump([self.uncommitted.changes, sorted(staged)], file)
            yield
            if not self._fault:
                with contextlib.suppress(FilememError, OSError):
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

        The caller holds the repository's lock. Returns what waits for the person, who
        has staged it, or had changed it before the job and not committed it since. What
        the job has deleted waits for nobody. Of no paths at all the commit is empty.
        """
        if obstacle := self.repository.obstacle():
            raise GitError(f"{obstacle}.")
        changes = self.changes()
        listed = changes if paths is None else [*paths]
        mine = []
        waiting = []
        for path in dict.fromkeys([*listed, *LOGS]):
            if path not in changes:
                continue
            written = paths is None or self._on_disk(path)
            if written and path not in LOGS and self._is_theirs(path, changes[path]):
                waiting.append(path)
            else:
                mine.append(path)
        mine += self._moved_and_ignored(mine, changes)
        if mine or paths == []:
            inside = [os.path.join(self.prefix, path) for path in mine]
            self.repository.commit(inside, message, at)
        return waiting

    def _is_theirs(self, path: str, blob: str) -> bool:
        """Say whether a changed file was the person's to commit before the job began."""
        return (
            path in self.uncommitted.staged
            or self.uncommitted.changes.get(path) == blob
        )

    def _moved_and_ignored(
        self, paths: list[str], changes: dict[str, str]
    ) -> list[str]:
        """Return where files went that moved and that git does not list, as ignored."""
        moved = []
        for path in paths:
            if not self._on_disk(path):
                moved += [live(path), archived(path)]
        return [path for path in moved if path not in changes and self._on_disk(path)]


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
        if is_kept(path, path.removeprefix(f"{places[0]}/")):
            blob = facts[6] if len(facts) > 1 else ""
            changed[path] = blob if blob.strip("0") else ""
    return changed


def is_kept(path: str, inside: str) -> bool:
    """Say whether git is to have a file: a memory, settings, or one of the logs.

    An editor's file, a hidden one and another repository are not kept. `inside` is the
    path below the folder in which the memories lie.
    """
    *folders, name = inside.split("/")
    if path.endswith(LOGS) or name in (".gitignore", ".gitattributes"):
        return True
    hidden = any(part.startswith(".") for part in folders)
    return not (not name or "\n" in path or hidden or is_temporary_name(name))


# -- the log -------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
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
        return ", ".join(part for part in parts if part)


def log(history: History, path: str = "", limit: int = 0) -> list[Commit]:
    """Return the commits on a user's memories, newest first, at most `limit` if given.

    With a path, those of one file, followed through its moves, or of one folder. Raises
    NotFound if the path is no memory's and never was.
    """
    is_file = bool(path) and not os.path.isdir(history.folder.absolute(path))
    place = path
    if is_file:
        with contextlib.suppress(NotFound):  # it is gone: where git last saw it
            place = history.folder.locate(path)
    arguments = [f"-{limit}"] if limit else []
    specs = [pathspec(os.path.join(history.prefix, place))]
    if is_file:
        arguments.append("--follow")
    else:
        logs = os.path.join(history.prefix, BOOKKEEPING)
        specs.append(f":(top,exclude,literal){logs}")
    if not history.repository.resolve():
        return []
    commits = read_commits(history.repository, *arguments, "HEAD", "--", *specs)
    if is_file and not commits:
        history.folder.locate(path)
    return commits


def read_commits(repository: Repository, *arguments: str) -> list[Commit]:
    """Return the commits that `git log` with these arguments lists."""
    commits = []
    for line in split_nul(repository.run("log", "-z", _LOG_FORMAT, *arguments)):
        commit, parents, moment, author, subject, lines = line.split("\x1f", 5)
        trailers = {}
        for entry in lines.splitlines():
            key, colon, value = entry.partition(":")
            if colon:
                trailers[key] = one_line(value)
        at = dt.datetime.fromisoformat(moment).astimezone()
        commits.append(Commit(commit, parents.split(), at, author, subject, trailers))
    return commits


# -- as of a day ---------------------------------------------------------------------


class Past(Folder):
    """One person's memories as a commit has them, which can be read but not written.

    `moment` is what was asked for. The files are a copy, deleted with this object.
    """

    def __init__(
        self, folder: Folder, commit: Commit, moment: dt.datetime, copy: Scratch
    ) -> None:
        super().__init__(
            os.path.join(copy.path, folder.name), folder.name, named=folder.is_own
        )
        self.store = folder.store
        self.commit = commit
        self.moment = moment
        self._copy = copy

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
    commits = []
    if repository.resolve():
        commits = read_commits(repository, "--first-parent", "HEAD")
    last = next((one for one in commits if one.at <= end.astimezone()), None)
    if not last or not repository.tree(last.commit, history.prefix):
        raise NotFound(
            f"nothing of {folder.name} had been committed by {moment:%Y-%m-%d}; "
            "name a later day."
        )
    past = Past(folder, last, end.astimezone(), Scratch(folder))
    index = {"GIT_INDEX_FILE": f"{past.root}.index"}
    repository.run("read-tree", f"{last.commit}:{history.prefix}", env=index)
    repository.run(
        *("-c", "core.symlinks=false", "checkout-index", "--all", "--quiet"),
        f"--prefix={past.root}/",
        env=index,
    )
    return past
