"""What git remembers: the diary of who changed the memories, the memories as they were on a day, and a commit taken back.

The memories of a day lie in `.filemem/as-of/<commit>/`, so that answers and line numbers are those of a plain checkout; the work
tree is not touched. The few commits asked for last are kept.

An undo takes back what one commit did, and nothing that was done since: it makes a commit in which what has changed from that
commit to the one before it is changed in the memories of now, and brings the files to it. Where that meets in a line nothing is
written.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.files import journal, safe
from filemem.files.folder import BOOKKEEPING, Folder
from filemem.files.memory import archived, counterpart
from filemem.history.commits import History, message
from filemem.history.git import LOGS, MACHINE, PLAIN, GitError, GitFile, Identity, Step, fields, spec
from filemem.history.merging import arriving, merge
from filemem.text.plain import first_few, one_line

FOLDER = "as-of"
KEPT = 4  # commits laid out at a time
_FIRST, _LAST = dt.date(1970, 1, 2), dt.date(2099, 12, 31)  # what git's dates reach

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


# -- as of a day ----------------------------------------------------------------------------------------------------


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
        raise Refused(
            f"these are the memories as of {self.at:%Y-%m-%d}, which can be read but not changed; leave out the day."
        )
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
        raise NotFound(f"nothing of {history.folder.name} had been committed by {end:%Y-%m-%d}; name a later day.")
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


# -- taking back -----------------------------------------------------------------------------------------------------


class Undone(NamedTuple):
    """What was taken back: the commit, and sentences on each file."""

    commit: Commit
    said: list[str]


def undo(history: History, name: str, at: dt.datetime) -> Undone:
    """Undo a commit, the machine's last one where none is named; one that was cut off is finished first, and is the one that was
    meant where none other is named. Raises FilememError, with nothing written, where a file has changed since in the same lines.
    """
    repository = history.require()
    with repository.alone():
        landed = history.finish()
    history.catch_up()  # what waits may be the last commit
    undoes = one(history, landed).trailers.get("Undoes", "") if landed else ""
    commit = one(history, name or undoes) if name or undoes else last_undoable(history)
    if commit.commit == undoes:
        return Undone(commit, _said(history, repository.steps(f"{landed}^", landed, history.inside)))
    if len(commit.parents) > 1:
        raise FilememError(
            f"{commit.commit[:8]} is a merge; undo the commits that it brought in, filemem log lists them."
        )
    with repository.alone():
        head = repository.head()
        tree = _undone(history, commit, head)
        steps = [step for step in repository.steps(head, tree, history.inside) if not step.path.endswith(LOGS)]
        gone = {history.own(step.path) for step in steps if step.becomes is None}
        new = [history.own(step.path) for step in steps if step.found is None]
        with history.folder.locked():  # else the next sweep would archive again what comes back
            journal.note_recalls(history.folder, [p for p in new if archived(p) in gone], journal.RESTORED, at)
            logs = {history.path(log): safe.read(history.folder.place / log) for log in LOGS if _there(history, log)}
        kept = {path: GitFile(PLAIN[0], repository.put("blob", data)) for path, data in logs.items()}
        words = message(f'Undo "{commit.subject}"', {"Job": "undo", "Undoes": commit.commit})
        history.land(repository.commit_tree(repository.tree_with(tree, kept), [head], words, at))
    return Undone(commit, _said(history, steps))


def _there(history: History, path: str) -> bool:
    return safe.exists(history.folder.place / path)


def _undone(history: History, commit: Commit, head: str) -> str:
    """The tree of a commit's undo; raises FilememError where what it wrote has changed since."""
    repository, before = history.repository, commit.parents[0] if commit.parents else ""
    found = merge(repository, commit.commit, head, before, history.inside, union=False)
    changes = {path: file for path, file in found.changes.items() if not path.endswith(LOGS)}
    met = [path for path in found.met if not path.endswith(LOGS)]
    tree = repository.tree_with(head, changes)
    met = met or arriving(repository, head, tree)[1]
    if met:
        what = "what it wrote there has been changed since; put it right by hand, git log -p shows who wrote it"
        raise FilememError(f"nothing was undone: {first_few(one_line(history.own(path)) for path in met)}: {what}.")
    if tree == repository.text("rev-parse", f"{head}^{{tree}}"):
        raise FilememError(
            f"there is nothing left of {commit.commit[:8]} ({one_line(commit.subject, 60)}) to undo; see filemem log."
        )
    return tree


def _said(history: History, steps: list[Step]) -> list[str]:
    """A sentence on each file."""
    own = [step._replace(path=history.own(step.path)) for step in steps if not step.path.endswith(LOGS)]
    gone = [step.path for step in own if step.becomes is None]
    new = [step.path for step in own if step.found is None]
    moved = {path: counterpart(path) for path in gone if counterpart(path) in new}
    said = [f"Moved {path} back to {target}." for path, target in moved.items()]
    said += [f"Deleted {path}." for path in gone if path not in moved]
    said += [f"Brought back {path}." for path in new if path not in moved.values()]
    return said + [f"Changed {step.path} back." for step in own if step.path not in (*gone, *new)]
