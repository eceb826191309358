"""What git remembers of a user's memories: the diary of commits, what changed, and who wrote each line."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import shutil
import tempfile
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files.folder import BOOKKEEPING
from filemem.history.commits import History
from filemem.history.git import GitError, fields, nul, spec
from filemem.history.repository import MACHINE, Identity
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


class BlamedLine(NamedTuple):
    """A line of a memory, with the commit that brought it; None: not committed yet."""

    line: int
    text: str
    commit: Commit | None


def log(history: History, path: str = "", about: str = "", limit: int = 0) -> list[Commit]:
    """The commits on a user's memories, newest first: all, or those of one file or folder, or those about some words.

    A file is followed through its moves. `about` wants every word, in what a commit added or took out or in its message.
    Raises NotFound where a path is no memory's and never was.
    """
    place = path
    with contextlib.suppress(NotFound):  # where it was when git last saw it
        if path and not os.path.isdir(history.folder.absolute(path)):
            place = history.folder.locate(path)
    on_disk = os.path.join(history.folder.root, place)
    follow = ["--follow"] if path and os.path.isfile(on_disk) else []
    specs = _specs(history, place)[: 1 if follow else None]
    if not history.repository.head():
        return []
    wanted: set[str] | None = None
    for word in about.split():
        wanted = _commits_with(history, word, specs, wanted)
    commits = _commits(history, *follow, *([f"-{limit}"] if limit and wanted is None else []), "HEAD", "--", *specs)
    if path and not commits and not os.path.lexists(on_disk):
        history.folder.locate(path)
    chosen = [commit for commit in commits if wanted is None or commit.commit in wanted]
    return chosen[:limit] if limit else chosen


def _specs(history: History, path: str) -> list[str]:
    """What git is to look at: a memory or a folder of them, without bookkeeping."""
    return [spec(history.path(path)), f":(top,exclude,literal){history.path(BOOKKEEPING)}"]


def _commits(history: History, *arguments: str) -> list[Commit]:
    found = []
    for line in fields(history.repository.run("log", "-z", _FORMAT, *arguments)):
        commit, parents, at, name, email, subject, trailers = line.split("\x1f", 6)
        pairs = (entry.partition(":") for entry in trailers.splitlines())
        named = {key: one_line(value) for key, colon, value in pairs if colon}
        when = dt.datetime.fromisoformat(at).astimezone()
        found.append(Commit(commit, parents.split(), when, Identity(name, email), subject, named))
    return found


def _commits_with(history: History, word: str, specs: list[str], among: set[str] | None) -> set[str]:
    """The commits, of all or `among` some, that added or took out a line with `word`, or speak of it."""
    plain = ["log", "--format=%H", "--regexp-ignore-case"]
    start, names = (["HEAD"], b"") if among is None else (["--no-walk", "--stdin"], "\n".join(sorted(among)).encode())
    found: set[str] = set()
    for search in (["--find-renames", "-G", _pattern(word)], ["--extended-regexp", f"--grep={_pattern(word)}"]):
        if among != set():
            found.update(history.repository.text(*plain, *search, *start, "--", *specs, stdin=names).split())
    return found if among is None else found & among


def _pattern(word: str) -> str:
    """A regular expression for git that matches just `word`, capital or not; git folds the case of ASCII by itself."""
    plain = re.sub(r"[][\\.^$*+?(){}|/]", r"\\\g<0>", word)
    return re.sub(r"[^\x00-\x7f]", lambda c: f"({c[0].lower()}|{c[0].upper()})", plain)


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
    return _commits(history, "-1", history.repository.commit_named(name))[0]


# -- what changed --------------------------------------------------------------------------------------------------


def diff(history: History, commit: str = "", path: str = "") -> str:
    """A unified diff of memories: what one commit changed, or what is not committed yet, new files too.

    Raises NotFound where a path names nothing.
    """
    repository = history.repository
    specs = _specs(history, path)
    plain = ["--no-ext-diff", "--no-textconv", "--find-renames", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"]
    if history.inside:
        plain.append(f"--relative={history.inside}/")
    if commit:
        out = repository.run("show", "--format=", "--diff-merges=first-parent", *plain, commit, "--", *specs)
        return out.decode(errors="replace")
    base = repository.head() or repository.empty_tree()
    with tempfile.TemporaryDirectory() as aside:
        private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(repository.folder, "index"), private["GIT_INDEX_FILE"])
        new = [history.path(name) for name, tracked in history.edited().items() if not tracked]
        existing = nul(name for name in new if os.path.lexists(os.path.join(repository.where, name)))
        listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
        if existing:
            literal = {"GIT_LITERAL_PATHSPECS": "1"}
            repository.run("add", "--intent-to-add", "--force", *listed, stdin=existing, env=private | literal)
        out = repository.run("diff", *plain, base, "--", *specs, env=private)
    if path and not out and not os.path.lexists(os.path.join(history.folder.root, path)):
        history.folder.locate(path)
    return out.decode(errors="replace")


# -- who wrote it --------------------------------------------------------------------------------------------------


def blame(history: History, path: str) -> list[BlamedLine]:
    """Who wrote each line of the memory at `path`, as it is on disk now; its past is followed through moves."""
    where = history.path(path)
    if history.repository.tree(history.repository.head(), where):
        out = history.repository.run("blame", "--line-porcelain", "--", where)
    else:
        return [BlamedLine(number, text, None) for number, text in enumerate(history.folder.memory(path).lines, 1)]
    found: list[tuple[str, str]] = []
    name = ""
    for line in out.decode(errors="replace").split("\n"):
        if line.startswith("\t"):
            found.append((name, line[1:].removesuffix("\r")))
        elif re.match(r"[0-9a-f]{40,64} \d", line):
            name = line.split(" ")[0]
    names = {name for name, _ in found if name.strip("0")}
    given = [*sorted(names)]
    commits = {c.commit: c for c in _commits(history, "--no-walk=unsorted", *given, "--")} if given else {}
    return [BlamedLine(number, text, commits.get(name)) for number, (name, text) in enumerate(found, 1)]


def changed_since(history: History, path: str, commit: str) -> Commit | None:
    """The last commit that changed a file after `commit`, None where the change is not committed."""
    with contextlib.suppress(GitError):
        return next(iter(_commits(history, "-1", f"{commit}..HEAD", "--", spec(history.path(path)))), None)
    return None
