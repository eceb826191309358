"""A user's memories in git: a commit for each job, the log, the memories of a day, a commit taken back, several machines.

Git never stands in the way of a memory: what could not be committed goes with the next commit. What the machine is about to make
of a file stands in `.filemem/written.jsonl`: a file is the machine's to commit where these notes lead from the last commit to
what is on disk; one that a person has changed as well waits for theirs.

Undo and sync make their commit beside the work tree, out of three trees, and land it there: a ref names it until every file, the
index and the branch have come to it, so that the next job goes on where one was cut off. Where a person has uncommitted edits in
a file that is to change, nothing is written.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from filemem.errors import Changed, FilememError, NotFound, Problem, Refused
from filemem.files import episode, journal, safe
from filemem.files.folder import BOOKKEEPING, WRITTEN, Folder, StoreFolder, is_temporary_name, users
from filemem.files.memory import ARCHIVE, Memory, archived
from filemem.files.safe import Place
from filemem.files.trust import Trust
from filemem.history.git import (
    MACHINE,
    NETWORK,
    PLAIN,
    Git,
    GitError,
    GitFile,
    Identity,
    Repository,
    Step,
    Untrusted,
    agree,
    fields,
    find,
    git_place,
    opened,
    reason,
    spec,
)
from filemem.text.plain import digest, first_few, one_line

CUT_OFF = "Keep what jobs had written before git could commit it"  # the subject of such a commit
# Bookkeeping that cannot be rebuilt: logs by line, to which their modules only add.
LOGS = tuple(
    f"{BOOKKEEPING}/{name}" for name in ("recalls.log", "imports.jsonl", "consolidated.jsonl", "compacted.log")
)
IGNORE = (f"**/{BOOKKEEPING}/*", *(f"!**/{log}" for log in LOGS), f"{safe.TEMPORARY}*")
ATTRIBUTES = ("**/sessions/** merge=union", *(f"**/{log} merge=union" for log in LOGS), "* -text")
LANDING = "refs/worktree/filemem-landing"  # the commit to which a sync or an undo is bringing the files
PASTS, KEPT = "as-of", 4  # the folder in the bookkeeping, and how many commits lie there at a time
_TRIES = 6  # pushes that another machine may come before
_STATUS = "status --porcelain=v1 -z --untracked-files=all --no-renames --ignore-submodules=all --".split()
_FORMAT = "--format=%H%x1f%P%x1f%aI%x1f%an%x1f%ae%x1f%s%x1f%(trailers:only,unfold)"
_FIRST, _LAST = dt.date(1970, 1, 2), dt.date(2099, 12, 31)  # what git's dates reach
# What only grows by lines: that both sides added some is no news.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|(?:summaries|sessions|\.filemem)/.+)$")
# For a remote on this machine, whose hooks and settings would run here.
_INERT_RECEIVER = (
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true -c receive.autogc=false receive-pack"
)


class Recorded(NamedTuple):
    """The commit that was made, empty where there was none; `note` is a sentence for the person, mostly empty."""

    commit: str
    note: str


def message(subject: str, trailers: Mapping[str, str]) -> str:
    """A commit's message: one line, then its trailers."""
    lines = [f"{key}: {one_line(value, 500)}" for key, value in trailers.items() if value]
    return "\n".join([one_line(subject, 72) or "Change memories", *([""] if lines else []), *lines]) + "\n"


class History:
    """One user's memories in the repository that holds them, if any."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    # -- where ---------------------------------------------------------------------------------------------------

    @functools.cached_property
    def found(self) -> Repository | None:
        """The repository in which the user's folder lies, set up for filemem or not. Raises GitError, Untrusted."""
        return find(self.folder.root, self.folder.trust)

    @property
    def repository(self) -> Repository:
        """The repository in which the user's folder lies; raises FilememError where there is none."""
        if self.found is None:
            raise FilememError(f"{self.folder.root} is in no git repository; filemem init --git makes one.")
        return self.found

    @functools.cached_property
    def inside(self) -> str:
        """The user's folder as a path in the repository; empty where it is the top."""
        inside = os.path.relpath(os.path.realpath(self.folder.root), self.repository.where)
        return "" if inside == "." else inside

    @functools.cached_property
    def home(self) -> str:
        """The folder that is set up for filemem, the user's own or the store; empty where neither is. Raises GitError."""
        for folder in (self.folder.root, self.folder.above):
            if ATTRIBUTES[0] in _lines(os.path.join(folder, ".gitattributes")) and self.found:
                top = os.path.realpath(folder)
                return folder if f"{top}/".startswith(f"{self.found.where}/") else ""
        return ""

    def path(self, path: str) -> str:
        """A path of the user's as a path in the repository."""
        return f"{self.inside}/{path}" if self.inside and path else path or self.inside

    def own(self, path: str) -> str:
        """A path in the repository as one of the user's."""
        return path.removeprefix(self.inside + "/") if self.inside else path

    def require(self) -> Repository:
        """The repository, where something can be committed now; raises FilememError otherwise."""
        if not self.home:
            raise FilememError(f"{self.repository.where} is not set up for filemem; run filemem init --git first.")
        if unfinished := self.repository.unfinished():
            raise FilememError(f"{unfinished}; then try again.")
        return self.repository

    def problems(self) -> list[Problem]:
        """Why git is not used here, an undo or a sync that was cut off, and each memory that git has and the disk has not."""
        try:
            if not self.home:
                return []
            remedy = "the next job finishes it, such as filemem maintain"
            found = [Problem(".git", 1, "an undo or a sync was cut off", remedy)] if self._landing() else []
            noted, remedy = self._noted(), "git checkout -- PATH brings it back, git commit lets it go"
            gone = [path for path, state in self._dirty().items() if state == " D" and path not in noted]
            return found + [Problem(path, 1, "git has this memory and the disk has not", remedy) for path in gone]
        except GitError as error:
            what, _, remedy = str(error).rstrip(".").rpartition("; ")
            return [Problem(".git", 1, what or remedy, remedy if what else "put right what git names")]

    # -- commits -------------------------------------------------------------------------------------------------

    def record(self, subject: str, paths: Iterable[str], trailers: Mapping[str, str], at: dt.datetime) -> Recorded:
        """Commit just what one job wrote, moved or deleted, with the logs; `trailers` are Job, Session, Source.

        Never raises for git's sake: where nothing can be committed now, the note says why, and it will be done later. To
        be called when the user's lock has been given back.
        """
        try:
            if not self.home:
                return Recorded("", "")
            return self.catch_up(message(subject, trailers), [*dict.fromkeys([*paths, *LOGS])], at)
        except FilememError as error:
            if isinstance(error, Untrusted) and not self.folder.trust.first(*error.about):
                return Recorded("", "")  # which was told already, or is as the person wants it
            return Recorded("", f"not committed yet: {error}")

    def catch_up(self, words: str = "", paths: Iterable[str] = (), at: dt.datetime | None = None) -> Recorded:
        """Commit what a job wrote, after what others wrote that were cut off, and finish an undo or a sync that was. Raises
        FilememError."""
        wanted, now = list(paths), at or dt.datetime.now().astimezone()
        with self.repository.alone():
            if unfinished := self.repository.unfinished():
                raise GitError(f"{unfinished}.")
            with self.folder.locked():
                noted, dirty = self._noted(), self._dirty()
            ours = self._ours(noted, dirty, wanted)
            ended = {path for path, notes in noted.items() if not any(_lives(note[0]) for note in notes)}
            late = sorted(ours & ended - {*wanted})
            mine = [path for path in wanted if path in ours]
            commit = ""
            for chosen, text in ((late, message(CUT_OFF, {})), (mine, words)):
                new = [self.path(path) for path in chosen if dirty[path] == "??"]
                made = self.repository.commit(map(self.path, chosen), new, text, MACHINE, now) if chosen else ""
                commit = made if chosen is mine else commit
            with self.folder.locked():
                done = {path for path in noted if path in late or path in mine or path not in dirty}
                over = {(*note,) for path in done for note in noted[path]}
                later = [note for notes in self._noted().values() for note in notes if (*note,) not in over]
                journal.rewrite(self.folder.bookkeeping(WRITTEN), later)
            if landing := self._landing():
                self.land(landing)
        left = first_few([path for path in wanted if path in dirty and path not in ours])
        return Recorded(commit, f"left for you to commit, as you had changed it too: {left}" if left else "")

    def _dirty(self) -> dict[str, str]:
        """The memories and logs that differ from the last commit, with git's two letters for how."""
        found = dict[str, str]()
        for line in fields(self.repository.run(*_STATUS, spec(self.inside))):
            if _is_kept(line[3:]):
                found.setdefault(self.own(line[3:]), line[:2])
        return found

    def _noted(self) -> dict[str, list[list[Any]]]:
        """What was written and is not committed yet, by path: process, path, and digests before and after."""
        found = dict[str, list[list[Any]]]()
        for note in journal.values(self.folder.bookkeeping(WRITTEN)):
            if isinstance(note, list) and len(note) == 4:
                found.setdefault(str(note[1]), []).append(note)
        return found

    def _ours(self, noted: Mapping[str, list[list[Any]]], dirty: Mapping[str, str], claimed: Iterable[str]) -> set[str]:
        """The memories that only the machine has changed, as its notes tell; of what it did not note, new files and deletions
        that a job claims. What a person has staged is theirs."""
        free = [path for path, state in dirty.items() if state[0] in " ?"]
        new = {path for path in free if dirty[path] == " D" or (dirty[path] == "??" and path not in noted)}
        ours = {path for path in free if path in LOGS} | (new & {*claimed})
        told = [path for path in free if path in noted and path not in ours]
        for path, old in zip(told, self.repository.contents(f"HEAD:{self.path(path)}" for path in told), strict=True):
            states = {None if old is None else digest(old)}
            for _, _, before, after in noted[path]:
                states |= {after} if before in states else set()
            now = None
            with contextlib.suppress(FilememError):  # the file is gone
                now = safe.digest(self.folder.place / path)
            ours |= {path} if now in states else set()
        return ours

    # -- what lands ----------------------------------------------------------------------------------------------

    def _landing(self) -> str:
        return self.repository.ask("rev-parse", "--quiet", "--verify", LANDING).out.decode().strip()

    def land(self, commit: str) -> None:
        """Bring the files, the index and the branch to a commit, with whatever was committed since; for who has the repository
        `alone`. Raises FilememError, with nothing written, where uncommitted edits are in the way.

        The index comes before the branch: had it stayed behind, a person's next commit would take everything back.
        """
        repository, old = self.repository, self.repository.head()
        new = self.joined(old, commit, "Merge what was cut off", dt.datetime.now().astimezone())[0]
        top, store = self.folder.above, StoreFolder(self.folder.store, self.folder.trust)
        paths = {os.path.join(repository.where, step.path) for step in repository.steps(old, new)}
        there = {name for name in users(top) if any(p.startswith(f"{os.path.realpath(top)}/{name}/") for p in paths)}
        with contextlib.ExitStack() as held:
            for name in sorted({self.folder.name, *there}):
                held.enter_context(self.folder.locked() if name == self.folder.name else store.folder(name).locked())
            steps = self.arriving(old, new)
            repository.run("update-ref", LANDING, commit)
            for step in sorted(steps, key=lambda one: (one.found is not None, one.becomes is None)):
                _carry_out(repository, step)  # what is new first, what goes last, so that nothing is ever missing
            repository.run("read-tree", "-m", "-i", *filter(None, (old, new)))
            subject = repository.text("log", "-1", "--format=%s", new)
            repository.run("update-ref", "-m", f"filemem: {subject}", "HEAD", new, old or "0" * len(new))
            repository.run("update-ref", "-d", LANDING)

    def arriving(self, old: str, new: str) -> list[Step]:
        """How the files come from one commit to another. Raises FilememError where an uncommitted edit is in the way, and for a
        path that is no safe place for a plain file."""
        repository, steps, met = self.repository, list[Step](), list[str]()
        wanted = repository.steps(old, new)
        if repository.ask("read-tree", "--dry-run", "-m", "-i", *filter(None, (old, new))).code:
            raise FilememError("you have staged changes in files that are to change too; commit them, then try again.")
        for step in wanted:
            place = Place(repository.where, step.path)
            now = safe.read(place) if safe.exists(place) else None
            steps += [step] if now != step.becomes else []
            met += [step.path] if now not in (step.found, step.becomes) and not step.path.endswith(LOGS) else []
        if met:
            what = f"your uncommitted changes in {first_few(map(one_line, met))} are in the way"
            raise FilememError(f"{what}; commit them, then try again.")
        return steps

    def joined(self, ours: str, theirs: str, subject: str, at: dt.datetime) -> tuple[str, list[str], list[str]]:
        """The commit that holds both, the files in which both versions of a line stand, and those kept though one had none."""
        repository = self.repository
        for one, other in ((ours, theirs), (theirs, ours)):
            if not other or (one and not repository.ask("merge-base", "--is-ancestor", other, one).code):
                return one, [], []
        base = repository.ask("merge-base", ours, theirs).out.decode().strip()
        found = merge(repository, base, ours, theirs, union=True)
        words = message(subject, {"Job": "sync", "Doubled": ", ".join(found.doubled)})
        tree = repository.tree_with(ours, found.changes)
        return repository.commit_tree(tree, [ours, theirs], words, at), found.doubled, found.met


def _carry_out(repository: Repository, step: Step) -> None:
    """Make a step; raises Changed where a person has just saved what it meets. What has been logged meanwhile stays."""
    where, what = Place(repository.where, step.path), f"{step.path} has just been changed; commit it, then try again."

    def becomes(now: bytes) -> bytes | None:
        if now in (step.found, step.becomes):
            return step.becomes
        if step.path.endswith(LOGS):
            return line_merge(now, step.found or b"", step.becomes or b"", union=True)
        raise Changed(what)

    if step.becomes is None:
        safe.delete_if(where, lambda at: safe.read(at) == step.found)
    elif safe.exists(where):
        safe.edit(where, becomes)
    else:
        safe.make_folder(where.folder)
        try:
            safe.create(where, step.becomes)
        except FileExistsError:
            raise Changed(what) from None


def _lives(process: int) -> bool:
    """Is there a process of this number on this machine, as far as one can tell?"""
    try:
        if os.name == "posix":
            os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError, TypeError):
        return False
    return os.name == "posix" or process == os.getpid()


# -- three trees made one ------------------------------------------------------------------------------------------


class Merged(NamedTuple):
    """What becomes of the files of one side; the paths in which both versions of a line stand, and those that could not be
    merged, or were deleted on one side and changed on the other, and are kept."""

    changes: dict[str, GitFile | None]
    doubled: list[str]
    met: list[str]


def line_merge(ours: bytes, base: bytes, theirs: bytes, *, union: bool) -> bytes | None:
    """Both changes in one text; where they meet in a line both lines, with `union`, else None. None also for what is no text.

    A line of its own between any two keeps changes of neighbouring lines apart, which to git meet.
    """
    with tempfile.TemporaryDirectory() as aside:
        names = [os.path.join(aside, name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            with open(name, "wb") as file:
                file.write(data.replace(b"\n", b"\n\x1e\n"))
        here = Git(aside, {"GIT_CEILING_DIRECTORIES": os.path.dirname(aside)})
        done = here.ask("merge-file", "-p", *(["--union"] if union else []), *names)
    return None if done.code else done.out.replace(b"\x1e\n", b"")


def merge(repository: Repository, base: str, ours: str, theirs: str, inside: str = "", *, union: bool) -> Merged:
    """What has changed from `base` to `theirs` under `inside`, made in `ours`.

    Where both changed a line both stand there, with `union`, else the file is not merged. A memory is the same one in the
    archive and out of it, so that an edit and a move come together.
    """
    trees = [repository.tree(tree, inside) for tree in (base, ours, theirs)]
    twice = {name for tree in trees for name, count in Counter(map(_name, tree)).items() if count > 1}
    named = [{path if _name(path) in twice else _name(path): path for path in tree} for tree in trees]
    found = Merged({}, [], [])
    for name in sorted({*named[0], *named[1], *named[2]}):
        paths = [one.get(name, "") for one in named]
        old, mine, new = (tree.get(path) for tree, path in zip(trees, paths, strict=True))
        if (paths[0], old) == (paths[2], new) or (paths[1:2], mine) == (paths[2:], new):
            continue
        if mine and new:
            path = paths[2] if paths[1] == paths[0] else paths[1]
            found.changes[paths[1]] = None
            found.changes.update(_both(repository, path, (mine, old, new), found, union=union))
        elif old in (mine, new):  # unchanged on the one side, wherever it lies, and taken out or new on the other
            found.changes.update(
                {path: None for path in paths[1:2] if path} | ({paths[2]: new} if new and not old else {})
            )
        else:
            found.met.append(paths[1] or paths[2])
            found.changes.update({paths[2]: new} if new and union else {})
    return found


def _name(path: str) -> str:
    """What a memory is called, in the archive or not."""
    before, _, behind = f"/{path}".partition(f"/{ARCHIVE}/")
    return f"{before}/{behind}" if behind else before


def _both(
    repository: Repository, path: str, sides: tuple[GitFile, GitFile | None, GitFile], found: Merged, *, union: bool
) -> dict[str, GitFile]:
    """A file that is on both sides, and may have been changed on each."""
    mine, old, new = sides
    if old in (mine, new) or mine == new:
        return {path: new if mine == old else mine}
    texts = [repository.run("cat-file", "blob", one.oid) if one else b"" for one in (mine, old, new)]
    text = line_merge(*texts, union=False)
    if text is None and union:
        text = line_merge(*texts, union=True)
        if text is None:  # what is no text stands there twice
            stem, ending = os.path.splitext(path)
            return {path: mine, f"{stem}-{new.oid[:8]}{ending}": new}
        found.doubled.extend([] if _GROWING.search(path) else [path])
    if text is None:
        found.met.append(path)
        return {path: mine}
    if "/sessions/" in f"/{path}":  # each side's summing up: one of them stays, so that no line behind it has moved
        lines = text.decode("utf-8", "surrogateescape").split("\n")
        text = "\n".join(episode.once(lines, Memory(path, text).front_end)).encode("utf-8", "surrogateescape")
    return {path: GitFile(mine.mode, repository.put("blob", text))}


# -- the log ---------------------------------------------------------------------------------------------------------


class Commit(NamedTuple):
    """One commit: its parents, the author and the moment in local time, its subject and its trailers."""

    commit: str
    parents: list[str]
    at: dt.datetime
    author: Identity
    subject: str
    trailers: dict[str, str]

    @property
    def who(self) -> str:
        """The author as a person would name it: themselves, or the machine with its job and conversation."""
        if self.author != MACHINE:
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
    there = os.path.join(history.folder.root, place)
    follow = ["--follow"] if path and os.path.isfile(there) else []
    specs = [spec(history.path(place)), f":(top,exclude,literal){history.path(BOOKKEEPING)}"][: 1 if follow else 2]
    if not history.repository.head():
        return []
    commits = _commits(history, *follow, *([f"-{limit}"] if limit and not about else []), "HEAD", "--", *specs)
    if path and not commits and not os.path.lexists(there):
        history.folder.locate(path)
    how = ("log", "--format=%H", "--regexp-ignore-case", "--fixed-strings", "--no-textconv", "--no-ext-diff")
    for word in about.split():
        searches = (("--find-renames", "-S", word), (f"--grep={word}",))
        told = {oid for one in searches for oid in history.repository.text(*how, *one, "HEAD", "--", *specs).split()}
        commits = [commit for commit in commits if commit.commit in told]
    return commits[:limit] if limit else commits


def _commits(history: History, *arguments: str) -> list[Commit]:
    found = []
    for line in fields(history.repository.run("log", "-z", _FORMAT, *arguments)):
        commit, parents, at, name, email, subject, trailers = line.split("\x1f", 6)
        pairs = (entry.partition(":") for entry in trailers.splitlines())
        named = {key: one_line(value) for key, colon, value in pairs if colon}
        when = dt.datetime.fromisoformat(at).astimezone()
        found.append(Commit(commit, parents.split(), when, Identity(name, email), subject, named))
    return found


# -- as of a day ----------------------------------------------------------------------------------------------------


class Past(Folder):
    """One person's memories as a commit has them: every question is answered as ever, and nothing can be written.

    `moment` is what was asked for, `at` when the commit was made.
    """

    def __init__(self, folder: Folder, root: str, moment: dt.datetime, commit: tuple[str, dt.datetime, str]) -> None:
        super().__init__(root, folder.name, folder.trust, folder.store)
        self.moment = moment
        self.commit, self.at, self.subject = commit

    @contextlib.contextmanager
    def locked(self, wait: float = 10.0) -> Iterator[None]:
        """Refuse to write; raises Refused."""
        what = f"these are the memories as of {self.at:%Y-%m-%d}, which can be read but not changed"
        raise Refused(f"{what}; leave out the day.")
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
    line = ("log", "--first-parent", "--format=%H%x00%cI%x00%s", f"--before={end.isoformat(timespec='seconds')}", "-1")
    told = history.repository.text(*line, "HEAD") if history.repository.head() else ""
    commit, at, subject = told.split("\0") if told else ("", end.isoformat(), "")
    place = folder.bookkeeping(f"{PASTS}/{commit}")
    if not commit or not os.path.isdir(place):
        _lay_out(history, commit, place, end)
    with contextlib.suppress(OSError):
        os.utime(place)
    return Past(folder, place, end, (commit, dt.datetime.fromisoformat(at).astimezone(), subject))


def _lay_out(history: History, commit: str, place: str, end: dt.datetime) -> None:
    """Write a commit's files under `place`, which appears whole or not at all, and drop what was laid out long ago."""
    repository, above = history.repository, os.path.dirname(place)
    if not commit or not repository.tree(commit, history.inside):
        raise NotFound(f"nothing of {history.folder.name} had been committed by {end:%Y-%m-%d}; name a later day.")
    safe.make_folder(history.folder.bookkeeping(PASTS))
    safe.write(history.folder.bookkeeping(f"{PASTS}/.gitignore"), b"*\n")  # in a repository not set up for filemem, too
    with tempfile.TemporaryDirectory(prefix=safe.TEMPORARY, dir=above) as aside:
        private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
        repository.run("read-tree", f"{commit}:{history.inside}", env=private)
        plain = ("-c", "core.symlinks=false", "checkout-index", "--all", "--quiet", f"--prefix={aside}/new/")
        repository.run(*plain, env=private)
        with contextlib.suppress(OSError):  # another process was faster
            os.rename(os.path.join(aside, "new"), place)
    others = [entry.path for entry in os.scandir(above) if entry.is_dir(follow_symlinks=False) and entry.path != place]
    for old in sorted(others, key=os.path.getmtime, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


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
    landed = history._landing()
    history.catch_up()  # what waits may be the last commit
    undoes = _one(history, landed).trailers.get("Undoes", "") if landed else ""
    commit = _one(history, name or undoes) if name or undoes else _last_undoable(history)
    if commit.commit == undoes:
        return Undone(commit, _said(history, repository.steps(f"{landed}^", landed, history.inside)))
    short = commit.commit[:8]
    if len(commit.parents) > 1:
        raise FilememError(f"{short} is a merge; undo the commits that it brought in, filemem log lists them.")
    with repository.alone():
        head = repository.head()
        found = merge(repository, commit.commit, head, "".join(commit.parents), history.inside, union=False)
        changes = {path: file for path, file in found.changes.items() if not path.endswith(LOGS)}
        tree = repository.tree_with(head, changes)
        met = first_few(one_line(history.own(path)) for path in found.met if not path.endswith(LOGS))
        if met:
            what = "what it wrote there has been changed since; put it right by hand, git log -p shows who wrote it"
            raise FilememError(f"nothing was undone: {met}: {what}.")
        history.arriving(head, tree)  # raises where it could not be brought in
        steps = repository.steps(head, tree, history.inside)
        if not steps:
            raise FilememError(
                f"there is nothing left of {short} ({one_line(commit.subject, 60)}) to undo; see filemem log."
            )
        gone = {history.own(step.path) for step in steps if step.becomes is None}
        back = [path for path in (history.own(s.path) for s in steps if s.found is None) if archived(path) in gone]
        with history.folder.locked():  # else the next sweep would archive again what comes back
            journal.note_recalls(history.folder, back, journal.RESTORED, at)
            logs = {log: history.folder.place / log for log in LOGS}
            kept = {history.path(log): safe.read(place) for log, place in logs.items() if safe.exists(place)}
        noted = {path: GitFile(PLAIN[0], repository.put("blob", data)) for path, data in kept.items()}
        words = message(f'Undo "{commit.subject}"', {"Job": "undo", "Undoes": commit.commit})
        history.land(repository.commit_tree(repository.tree_with(tree, noted), [head], words, at))
    return Undone(commit, _said(history, steps))


def _last_undoable(history: History) -> Commit:
    """The last commit of the machine that is no undo, no merge and not undone; raises FilememError where there is none."""
    undone = set[str]()
    for commit in log(history):
        undoes = commit.trailers.get("Undoes", "")
        if commit.author == MACHINE and commit.commit not in undone:
            if undoes:
                undone.add(undoes)
            elif len(commit.parents) == 1:
                return commit
    raise FilememError("filemem has made no commit that could be undone; filemem log lists all, and any can be named.")


def _one(history: History, name: str) -> Commit:
    """The commit that a person means by `name`; raises GitError where there is none."""
    done = history.repository.ask("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
    if done.code:
        raise GitError(f"{one_line(name)} is no commit here; filemem log lists them.")
    return _commits(history, "-1", done.out.decode().strip())[0]


def _said(history: History, steps: list[Step]) -> list[str]:
    """A sentence on each file."""
    verbs = {(True, False): "Brought back {}.", (False, True): "Deleted {}.", (False, False): "Changed {} back."}
    own = [step for step in steps if not step.path.endswith(LOGS)]
    return [verbs[one.found is None, one.becomes is None].format(history.own(one.path)) for one in own]


# -- several machines ------------------------------------------------------------------------------------------------


class Synced(NamedTuple):
    """What a sync did: commits brought in and sent, the files with two versions, and sentences for the person."""

    fetched: int
    pushed: int
    doubled: list[str]
    notes: list[str]


def sync(history: History, remote: str | None, at: dt.datetime) -> Synced:
    """Bring in what other machines have learnt and send what this one has, with every line that anyone wrote still there.

    The merge is made beside the work tree and pushed first, never by force; only what the remote has taken is brought into the
    files. Raises FilememError, with everything committed here kept for the next time, where the remote cannot be reached, or
    what comes in meets uncommitted edits.
    """
    repository, store = history.require(), StoreFolder(history.folder.store, history.folder.trust)
    if os.path.realpath(history.home) != repository.where:
        what = f"{history.home} is only a part of {repository.where}"
        raise FilememError(f"{what}; bring it together with git pull and git push.")
    name, branch = _remote(repository, remote)
    single = history.home == history.folder.root
    everyone = [history] if single else [History(store.folder(user)) for user in users(history.folder.above)]
    everyone = [one for one in everyone if single or not os.path.lexists(os.path.join(one.folder.root, ".git"))]
    history.catch_up()
    for one in everyone:
        one.record("Note what was recalled and imported", (), {"Job": "sync"}, at)
    for _ in range(_TRIES):
        ours, theirs = repository.head(), _fetch(repository, name, branch)
        if not ours and not theirs:
            raise FilememError("there is nothing to sync yet, here or there; remember something first.")
        unrelated = ours and theirs and not repository.ask("merge-base", ours, theirs).out
        if unrelated and ATTRIBUTES[0].encode() not in repository.ask("show", f"{theirs}:.gitattributes").out:
            raise FilememError("the remote holds something else than memories; name another remote.")
        new, doubled, kept = history.joined(ours, theirs, f"Merge memories from {one_line(name, 40)}", at)
        history.arriving(ours, new)  # raises where it could not be brought in
        refused = _push(repository, name, branch, new) if new != theirs else ""
        if refused == "early":
            continue
        with repository.alone():
            history.land(new)
        if refused:
            raise GitError(f"{refused}; what came in is merged, and what is committed here goes with the next sync.")
        notes = [f"{one_line(path)}: deleted on one machine and changed on the other; it is kept." for path in kept]
        left = [
            history.path(path) if single else f"{one.folder.name}/{path}" for one in everyone for path in one._dirty()
        ]
        notes += [f"Not committed by you, so not sent: {first_few(left)}."] if left else []
        fetched, pushed = (
            int(repository.text("rev-list", "--count", after, *([f"^{before}"] if before else []))) if after else 0
            for before, after in ((ours, theirs), (theirs, new))
        )
        return Synced(fetched, pushed, doubled, notes)
    raise GitError(f"{name} kept changing while this machine pushed; everything is kept here, try again.")


def _remote(repository: Repository, given: str | None) -> tuple[str, str]:
    """Which remote is meant, and which of its branches; raises FilememError with the command that adds one."""
    branch, known = repository.branch(), repository.text("remote").split()
    followed = repository.setting(f"branch.{branch}.remote")
    name = given or followed or (known[0] if len(known) == 1 else "origin" if "origin" in known else "")
    if not name:
        add = f"git -C {repository.where} remote add origin URL"
        raise FilememError(f"there is no remote to sync with; name one, or add one: {add}.")
    if name.startswith("-"):
        raise FilememError(f"{one_line(name)} is no remote; name one as git does.")
    place = _place_here(repository, name)
    if place and f"{place}/".startswith(f"{repository.where}/"):  # as data it could have git run its hooks
        raise FilememError(f"{one_line(name)} lies among the memories, at {one_line(place)}; keep it elsewhere.")
    return name, (name == followed and repository.setting(f"branch.{branch}.merge")) or f"refs/heads/{branch}"


def _place_here(repository: Repository, name: str) -> str:
    """The real folder of a remote that lies on this machine; empty for one elsewhere."""
    url = repository.setting(f"remote.{name}.pushurl") or repository.text("ls-remote", "--get-url", "--", name)
    place = os.path.realpath(os.path.join(repository.where, url.removeprefix("file://")))
    return place if os.path.exists(place) else ""


def _fetch(repository: Repository, name: str, branch: str) -> str:
    """The remote branch's newest commit, fetched; empty where there is none yet. Raises GitError."""
    with repository.alone():
        done, commit, purged = (
            repository.ask("ls-remote", "--heads", "--", name, branch, timeout=NETWORK),
            "",
            repository.purged(),
        )
        if not done.code and done.out:
            commit = done.out.decode().split()[0]
            if commit not in purged:
                done = repository.ask("fetch", "--quiet", "--no-tags", "--", name, branch, timeout=NETWORK)
        if done.code:
            words = f"{one_line(name)} cannot be reached ({reason(done)})"
            raise GitError(f"{words}; everything is committed here and goes next time.")
    if commit in purged or (purged and commit and not purged.isdisjoint(repository.text("rev-list", commit).split())):
        what = f"{one_line(name)} still has the history that was purged here, and would bring it back"
        raise FilememError(f"{what}; replace it with git push --force, then sync again.")
    return commit


def _push(repository: Repository, name: str, branch: str, commit: str) -> str:
    """Send a commit as the remote branch's new end, never by force; why not, `early` where another machine came first."""
    here = (f"--receive-pack={_INERT_RECEIVER}",) if _place_here(repository, name) else ()
    with repository.alone():
        done = repository.ask("push", "--porcelain", *here, name, f"{commit}:{branch}", timeout=NETWORK)
    if not done.code:
        return ""
    verdict = next((line for line in done.out.decode(errors="replace").splitlines() if line.startswith("!")), "")
    early = ("non-fast-forward", "fetch first", "stale info", "failed to update ref", "cannot lock ref")
    if any(words in verdict or words in done.err for words in early):
        return "early"
    why = one_line(verdict.rpartition("\t")[2]) if verdict else reason(done)
    return f"{one_line(name)} did not take the push ({why})"


# -- setting up ----------------------------------------------------------------------------------------------------


def set_up(home: str, person: str, at: dt.datetime, trust: Trust | None = None) -> list[str]:
    """Let filemem keep the memories under `home`, a store or one user's folder, in git; returns what was done.

    Makes a repository where there is none. One of its own that is empty begins with what is there, under the person's name.
    Adds the lines of .gitignore and .gitattributes that are missing; touches nothing else. The repository counts as named by
    the person from now on.
    """
    repository = opened(git_place(home)) if git_place(home) else None
    made = repository is None
    if repository is None:
        Git(home).run("init", "--quiet")
        repository = opened(git_place(home))
    if repository is None:
        raise GitError(f"git init made no repository in {home}; try it by hand.")
    agree(git_place(home), trust or Trust())
    inside = os.path.relpath(os.path.realpath(home), repository.where)
    prefix = "" if inside == "." else inside + "/"
    begins = not prefix and not repository.head()
    if prefix and repository.ask("check-ignore", "--quiet", "--", prefix + "profile.md").code == 0:
        raise FilememError(f"{home} is ignored by {repository.where}/.gitignore; take that line out first.")
    said = [f"Made a git repository in {repository.where}."] if made else []
    files = [prefix + ".gitignore", prefix + ".gitattributes"]
    theirs = repository.run(*_STATUS, *map(spec, files))
    for name, wanted in ((".gitignore", IGNORE), (".gitattributes", ATTRIBUTES)):
        path = os.path.join(home, name)
        if missing := [line for line in wanted if line not in _lines(path)]:
            with contextlib.suppress(FileExistsError):
                safe.create(path, b"")
            end = b"\r\n" if b"\r\n" in safe.read(path) else b"\n"
            more = b"".join(line.encode() + end for line in missing)
            safe.edit(path, lambda old: old + (end if old[-1:] not in (b"", b"\n") else b"") + more)  # noqa: B023
            said.append(f"Added {len(missing)} lines to {path}.")
    changed = {line[3:]: line[:2] for line in fields(repository.run(*_STATUS, spec(prefix.rstrip("/"))))}
    chosen = [path for path in changed if path in files or (begins and _is_kept(path))]
    if theirs or (unfinished := repository.unfinished()):
        said.append(f"Not committed: {'the two files had changes of yours' if theirs else unfinished}; commit them.")
    elif chosen:
        subject = "Begin to keep these memories in git" if begins else "Let filemem keep its memories in git"
        name, email = (repository.setting(key) for key in ("user.name", "user.email"))
        owner = Identity(name or person, email or f"{person}@localhost") if begins else MACHINE
        repository.commit(chosen, [path for path in chosen if changed[path] == "??"], message(subject, {}), owner, at)
        said.append(f"Committed {len(chosen)} files.")
    return said or [f"{home} is set up for git already; nothing was changed."]


def _is_kept(path: str) -> bool:
    """Is this a memory, settings, or a log that git should have, rather than an editor's, or another repository?"""
    parts = path.split("/")
    odd = not parts[-1] or "\n" in path or any(part[0] == "." or is_temporary_name(part) for part in parts)
    return path.endswith(LOGS) or not odd


def _lines(path: str) -> list[str]:
    try:
        return [line.strip() for line in safe.read(path).decode(errors="replace").split("\n")]
    except FilememError:
        return []
