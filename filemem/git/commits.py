"""The commits on a user's memories: what their messages say, and the log of them."""

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import dataclass

from filemem.errors import NotFound
from filemem.git.history import DEPARTURES, History
from filemem.git.repository import MACHINE, Repository, pathspec
from filemem.store.folder import BOOKKEEPING
from filemem.text.plain import one_line

SUBJECT_CHARS = 72
_FORMAT = "--format=%H%n%P%n%at%n%an <%ae>%n%s%n%(trailers:only,unfold)"


def commit_message(subject: str, trailers: Mapping[str, str]) -> str:
    """Return a commit's message: one line, then the trailers that have a value."""
    lines = [one_line(subject, SUBJECT_CHARS) or "Change memories", ""]
    for key, text in trailers.items():
        if text:
            lines.append(f"{key}: {one_line(text, 500)}")
    return "\n".join(lines).strip() + "\n"


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
    def departs(self) -> bool:
        """Whether a user left the folder by it, for another name or deleted."""
        return any(key in self.trailers for key in DEPARTURES)

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

    Those on the memories of others who had the folder before are left out.

    With a path, those of one file, followed through its moves, or of one folder. Raises
    NotFound if the path is no memory's and never was.
    """
    place = path
    missing: NotFound | None = None
    strangers = history.own_place.strangers
    arguments = [f"-{limit}"] if limit and not strangers else []
    is_file = bool(path) and not os.path.isdir(history.folder.absolute(path))
    if is_file:
        arguments.append("--follow")
        try:
            place = history.folder.locate(path)
        except NotFound as error:  # git may have seen it before it went
            missing = error
    specs = [pathspec(os.path.join(history.prefix, place))]
    if not is_file:
        logs = os.path.join(history.prefix, BOOKKEEPING)
        specs.append(f":(top,exclude,literal){logs}")
    found = read_commits(history.repository, *arguments, "--", *specs)
    commits = [one for one in found if one.commit not in strangers]
    if missing and not commits:
        raise missing
    return commits[: limit or None]


def read_commits(repository: Repository, *arguments: str) -> list[Commit]:
    """Return the commits that `git log` with these arguments lists."""
    commits: list[Commit] = []
    if not repository.resolve():
        return commits  # where git log fails
    for line in repository.items("log", "-z", _FORMAT, *arguments):
        commit, parents, moment, author, subject, lines = line.split("\n", 5)
        trailers = {}
        for entry in lines.splitlines():
            key, _, value = entry.partition(":")
            trailers[key] = one_line(value)
        at = _local_time(moment)
        commits.append(Commit(commit, parents.split(), at, author, subject, trailers))
    return commits


def _local_time(seconds: str) -> dt.datetime:
    """Return the moment so many seconds after 1970 began, in local time.

    One that no calendar has, which a forged commit may name, is the year 1970's first.
    """
    try:
        return dt.datetime.fromtimestamp(int(seconds)).astimezone()
    except (ValueError, OverflowError, OSError):
        return dt.datetime.fromtimestamp(0).astimezone()
