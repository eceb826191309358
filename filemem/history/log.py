"""The diary: who changed the memories, when and why."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files.folder import BOOKKEEPING
from filemem.history.commits import History
from filemem.history.git import MACHINE, GitError, Identity, fields, spec
from filemem.text.plain import one_line

_FORMAT = "--format=%H%x1f%P%x1f%aI%x1f%an%x1f%ae%x1f%s%x1f%(trailers:only,unfold)"


class Commit(NamedTuple):
    """One commit: its parents, the author and the moment in local time, its subject and its trailers."""

    commit: str
    parents: list[str]
    at: dt.datetime
    author: Identity
    subject: str
    trailers: dict[str, str]

    @property
    def by_machine(self) -> bool:
        """Did filemem write this, rather than a person?"""
        return self.author == MACHINE

    @property
    def who(self) -> str:
        """The author as a person would name it: themselves, or the machine with its job and conversation."""
        if not self.by_machine:
            return self.author.name
        session, job = self.trailers.get("Session"), self.trailers.get("Job")
        return ", ".join(["filemem", *([job] if job else []), *([f"in {session}"] if session else [])])


def log(history: History, path: str = "", about: str = "", limit: int = 0) -> list[Commit]:
    """The commits on a user's memories, newest first: all, or those of one file or folder, or those about some words.

    A file is followed through its moves. `about` wants every word, in what a commit added or took out or in its message.
    Raises NotFound where a path is no memory's and never was.
    """
    place = path
    with contextlib.suppress(NotFound):  # where it was when git last saw it
        if path and not os.path.isdir(history.folder.absolute(path)):
            place = history.folder.locate(path)
    there = os.path.lexists(os.path.join(history.folder.root, place))
    follow = ["--follow"] if path and os.path.isfile(os.path.join(history.folder.root, place)) else []
    specs = [spec(history.path(place)), f":(top,exclude,literal){history.path(BOOKKEEPING)}"][: 1 if follow else 2]
    if not history.repository.head():
        return []
    wanted: set[str] | None = None
    for word in about.split():
        found = _commits_with(history, word, specs)
        wanted = found if wanted is None else wanted & found
    commits = _commits(history, *follow, *([f"-{limit}"] if limit and wanted is None else []), "HEAD", "--", *specs)
    if path and not commits and not there:
        history.folder.locate(path)
    chosen = [commit for commit in commits if wanted is None or commit.commit in wanted]
    return chosen[:limit] if limit else chosen


def _commits(history: History, *arguments: str) -> list[Commit]:
    found = []
    for line in fields(history.repository.run("log", "-z", _FORMAT, *arguments)):
        commit, parents, at, name, email, subject, trailers = line.split("\x1f", 6)
        pairs = (entry.partition(":") for entry in trailers.splitlines())
        named = {key: one_line(value) for key, colon, value in pairs if colon}
        when = dt.datetime.fromisoformat(at).astimezone()
        found.append(Commit(commit, parents.split(), when, Identity(name, email), subject, named))
    return found


def _commits_with(history: History, word: str, specs: list[str]) -> set[str]:
    """The commits that added or took out a line with `word`, capital or not, or speak of it."""
    plain = re.sub(r"[][\\.^$*+?(){}|/]", r"\\\g<0>", word)
    pattern = re.sub(r"[^\x00-\x7f]", lambda c: f"({c[0].lower()}|{c[0].upper()})", plain)
    how = ("log", "--format=%H", "--regexp-ignore-case", "--no-textconv", "--no-ext-diff")
    searches = (["--find-renames", "-G", pattern], ["--extended-regexp", f"--grep={pattern}"])
    return {oid for one in searches for oid in history.repository.text(*how, *one, "HEAD", "--", *specs).split()}


def last_undoable(history: History) -> Commit:
    """The last commit of the machine that is no undo, no merge and not undone; raises FilememError where there is none."""
    undone: set[str] = set()
    for commit in log(history):
        undoes = commit.trailers.get("Undoes", "")
        if undoes and commit.by_machine:
            if commit.commit not in undone:
                undone.add(undoes)
        elif commit.by_machine and len(commit.parents) < 2 and commit.commit not in undone and commit.parents:
            return commit
    raise FilememError("filemem has made no commit that could be undone; filemem log lists all, and any can be named.")


def one(history: History, name: str) -> Commit:
    """The commit that a person means by `name`; raises GitError where there is none."""
    done = history.repository.ask("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
    if done.code:
        raise GitError(f"{one_line(name)} is no commit here; filemem log lists them.")
    return _commits(history, "-1", done.out.decode().strip())[0]
