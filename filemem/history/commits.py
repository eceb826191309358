"""A user's memories in git: what is set up, and a commit for each job of the machine.

Git never stands in the way of a memory: where it cannot commit, the job waits in `.filemem/uncommitted.jsonl`, and goes with the
next commit. What the machine is about to make of a file stands in `.filemem/written.jsonl`: a file is the machine's to commit
where these notes lead from the last commit to what is on disk; one that a person has changed as well waits for theirs.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from filemem.errors import Changed, FilememError, NotFound, Problem
from filemem.files import config, journal, safe
from filemem.files.folder import BOOKKEEPING, WRITTEN, Folder, StoreFolder, is_temporary_name, users
from filemem.files.trust import Trust
from filemem.history.git import (
    LOGS,
    MACHINE,
    Declined,
    Git,
    GitError,
    Identity,
    Repository,
    Step,
    Untrusted,
    agree,
    fields,
    find,
    git_place,
    opened,
    spec,
)
from filemem.history.merging import arriving, carry_out, merge
from filemem.text.plain import counted, digest, first_few, one_line

COMMIT = "commit"  # git_person_edits
POSTPONED = "uncommitted.jsonl"
CUT_OFF = "Keep what a job had written when it was cut off"  # the subject of a commit that its job could not make
IGNORE = (f"**/{BOOKKEEPING}/*", *(f"!**/{log}" for log in LOGS), f"{safe.TEMPORARY}*")
ATTRIBUTES = ("**/sessions/** merge=union", *(f"**/{log} merge=union" for log in LOGS), "* -text")
SUBJECT = 72  # characters
LANDING = "filemem-landing"  # in the git directory: the commit to which a sync or an undo is bringing the files
_TRIES = 6  # saves of a person that may come in between
_STATUS = "status --porcelain=v1 -z --untracked-files=all --no-renames --ignore-submodules=all --".split()


class Recorded(NamedTuple):
    """The commit that was made, empty where there was none; `note` is a sentence for the person, mostly empty."""

    commit: str
    note: str


class Job(NamedTuple):
    """What one job wrote."""

    subject: str
    trailers: dict[str, str]
    at: str
    paths: list[str]


def message(subject: str, trailers: Mapping[str, str]) -> str:
    """A commit's message: one line, then its trailers."""
    lines = [f"{key}: {one_line(value, 500)}" for key, value in trailers.items() if value]
    return "\n".join([one_line(subject, SUBJECT) or "Change memories", *([""] if lines else []), *lines]) + "\n"


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

    def everyone(self) -> list[History]:
        """The users whose memories the repository holds: the one, or everyone in the store."""
        if self.home == self.folder.root:
            return [self]
        store, everyone = StoreFolder(self.folder.store, self.folder.trust), []
        for one in (History(store.folder(name)) for name in users(self.folder.above)):
            with contextlib.suppress(GitError):  # in a repository of their own, whoever made that
                everyone += [one] if one.found and one.found.where == self.repository.where else []
        return everyone

    def require(self) -> Repository:
        """The repository, where something can be committed now; raises FilememError otherwise."""
        if not self.home:
            raise FilememError(f"{self.repository.where} is not set up for filemem; run filemem init --git first.")
        if unfinished := self.repository.unfinished():
            raise FilememError(f"{unfinished}; then try again.")
        return self.repository

    def problems(self) -> list[Problem]:
        """What keeps git from being used here, what of the repository's own is not used, and what was cut off."""
        try:
            if not self.home or not self.found:
                return []
            unused = self.found.sandbox.unused_settings()
            remedy = "say it in your own configuration (git config --global) if you want it"
            found = (
                [Problem(".git", 1, f"of the repository's own {first_few(unused)} is not used", remedy)]
                if unused
                else []
            )
            return found + self.cut_off()
        except GitError as error:
            what, _, remedy = str(error).rstrip(".").rpartition("; ")
            return [Problem(".git", 1, what or remedy, remedy if what else "put right what git names")]

    def cut_off(self) -> list[Problem]:
        """An undo or a sync that was cut off, and each memory that git has and the disk has not; none without git."""
        found = []
        with contextlib.suppress(GitError):
            if self.home:
                if os.path.exists(self._landing):
                    remedy = "the next job finishes it, such as filemem maintain"
                    found.append(Problem(".git", 1, "an undo or a sync was cut off", remedy))
                gone = [path for path, state in self._dirty().items() if state == " D" and path not in self._noted()]
                remedy = "git checkout -- PATH brings it back, git commit lets it go"
                found += [Problem(path, 1, "git has this memory and the disk has not", remedy) for path in gone]
        return found

    # -- commits -------------------------------------------------------------------------------------------------

    def record(self, subject: str, paths: Iterable[str], trailers: Mapping[str, str], at: dt.datetime) -> Recorded:
        """Commit just what one job wrote, moved or deleted, with the logs; `trailers` are Session, Job, Source.

        Never raises for git's sake: where nothing can be committed now, the note says why, and it will be done later. To
        be called when the user's lock has been given back.
        """
        try:
            if not self.home:
                return Recorded("", "")
        except Declined:
            return Recorded("", "")
        except GitError:
            pass  # the job waits for its commit, as below
        job = Job(one_line(subject, SUBJECT), dict(trailers), at.isoformat(), [*dict.fromkeys([*paths, *LOGS])])
        try:
            with self.folder.locked():
                safe.log(self.folder.bookkeeping(POSTPONED), journal.line(job._asdict()))
            commit, left = self.catch_up(job)
        except Untrusted as error:
            return Recorded("", f"not committed yet: {error}" if self.folder.trust.first(*error.about) else "")
        except FilememError as error:
            return Recorded("", f"not committed yet: {error}")
        return Recorded(commit, f"left for you to commit, as you had changed it too: {first_few(left)}" if left else "")

    def catch_up(self, wanted: Job | None = None) -> tuple[str, list[str]]:
        """Commit what jobs wrote, each with its own commit, and what they wrote that were cut off.

        Returns the commit of the `wanted` one, and its paths that a person must commit. Raises FilememError.
        """
        with self.repository.alone():
            if unfinished := self.repository.unfinished():
                raise GitError(f"{unfinished}.")
            self.finish()
            with self.folder.locked():
                jobs, noted, dirty = self._waiting(), self._noted(), self._dirty()
            claimed = {path: job for job in jobs for path in job.paths}
            ours, now = self._ours(dirty, noted, claimed), dt.datetime.now().astimezone()
            if config.of(self.folder).git_person_edits == COMMIT:
                edits = sorted(path for path in dirty.keys() - ours if dirty[path][0] in " ?")
                others = f" and {counted(len(edits) - 1, 'other')}" if len(edits) > 1 else ""
                person = self.repository.person(self.folder.name)
                self._commit(edits, dirty, message(f"Edit {edits[0]}{others}" if edits else "", {}), person, now)
                dirty = {path: state for path, state in dirty.items() if path not in edits}
            ended = {path for path, notes in noted.items() if not any(_lives(note[0]) for note in notes)}
            orphans = sorted(ours & ended - claimed.keys())
            late = Job(CUT_OFF, {}, now.isoformat(), orphans)
            commit, done, claimed = "", set[str](), {**claimed, **dict.fromkeys(orphans, late)}
            for job in (late, *jobs):
                chosen = [path for path in job.paths if path in ours and claimed[path] is job]
                text, at = message(job.subject, job.trailers), dt.datetime.fromisoformat(job.at)
                made = self._commit(chosen, dirty, text, MACHINE, at)
                commit, done = made if job == wanted else commit, done.union(chosen)
            with self.folder.locked():
                rest = [job for job in self._waiting() if job not in jobs]
                journal.rewrite(self.folder.bookkeeping(POSTPONED), [job._asdict() for job in rest])
                over = {(*note,) for path, old in noted.items() if path in done or path not in dirty for note in old}
                later = [note for notes in self._noted().values() for note in notes if (*note,) not in over]
                journal.rewrite(self.folder.bookkeeping(WRITTEN), later)
        return commit, [path for path in (wanted.paths if wanted else ()) if path in dirty and path not in ours]

    def _commit(self, paths: list[str], dirty: Mapping[str, str], text: str, author: Identity, at: dt.datetime) -> str:
        new = [self.path(path) for path in paths if dirty[path] == "??"]
        return self.repository.commit(map(self.path, paths), new, text, author, at) if paths else ""

    def uncommitted(self) -> list[str]:
        """The memories that differ from the last commit by a person's hand."""
        dirty, noted = self._dirty(), self._noted()
        return sorted(dirty.keys() - self._ours(dirty, noted, ()))

    def _dirty(self) -> dict[str, str]:
        """The memories and logs that differ from the last commit, with git's two letters for how."""
        found = dict[str, str]()
        for line in fields(self.repository.run(*_STATUS, spec(self.inside))):
            path = self.own(line[3:])
            if path in LOGS or not ("\n" in path or path[-1] == "/" or any(map(is_temporary_name, path.split("/")))):
                found.setdefault(path, line[:2])
        return found

    def _ours(
        self, dirty: Mapping[str, str], noted: Mapping[str, list[list[Any]]], claimed: Collection[str]
    ) -> set[str]:
        """Those that only the machine has changed, as its notes tell; of what it did not note, new files and deletions that a
        job claims. What a person has staged is theirs."""
        free = [path for path, state in dirty.items() if state[0] in " ?"]
        there = {path for path in free if os.path.lexists(self.folder.place / path)}
        new = {path for path in free if path not in there or (dirty[path] == "??" and path not in noted)}
        ours = {path for path in free if path in LOGS or (path in claimed and path in new)}
        told = [path for path in free if path in noted and path not in ours]
        for path, old in zip(told, self.repository.contents(f"HEAD:{self.path(path)}" for path in told), strict=True):
            states = {None if old is None else digest(old)}
            for _, _, before, after in noted[path]:
                states |= {after} if before in states else set()
            now = None
            with contextlib.suppress(FilememError):
                now = safe.digest(self.folder.place / path) if path in there else None
            ours |= {path} if now in states else set()
        return ours

    def _noted(self) -> dict[str, list[list[Any]]]:
        """What was written and is not committed yet, by path: process, path, and digests before and after."""
        found = dict[str, list[list[Any]]]()
        for note in journal.values(self.folder.bookkeeping(WRITTEN)):
            if isinstance(note, list) and len(note) == 4:
                found.setdefault(str(note[1]), []).append(note)
        return found

    # -- what waits ----------------------------------------------------------------------------------------------

    def _waiting(self) -> list[Job]:
        """The jobs that wait for their commit."""
        jobs = []
        for job in journal.values(self.folder.bookkeeping(POSTPONED)):
            with contextlib.suppress(ValueError, TypeError, KeyError):
                paths = job["paths"] if "paths" in job else job["files"]
                jobs.append(Job(job["subject"], job["trailers"], job["at"], [*paths]))
        return jobs

    # -- what lands ----------------------------------------------------------------------------------------------

    @property
    def _landing(self) -> str:
        return os.path.join(self.repository.folder, LANDING)

    def finish(self) -> str:
        """Finish an undo or a sync that was cut off; returns its commit, mostly none. For who has the repository `alone`."""
        with contextlib.suppress(NotFound):
            landing = safe.read(self._landing, 100).decode(errors="replace")
            if self.repository.ask("cat-file", "-e", f"{landing}^{{commit}}").code:
                os.unlink(self._landing)
            else:
                self.land(landing)
                return landing
        return ""

    def land(self, commit: str) -> None:
        """Bring the files, the index and the branch to a commit, with whatever was committed since; for who has the repository
        `alone`. Where it is cut off, the next job goes on. Raises FilememError where uncommitted edits are in the way.

        The index comes before the branch: had it stayed behind, a person's next commit would take everything back.
        """
        repository, old = self.repository, self.repository.head()
        new = self.joined(old, commit, "Merge what was cut off", dt.datetime.now().astimezone())[0]
        with contextlib.ExitStack() as held:
            for folder in self._touched(old, new):
                held.enter_context(folder.locked())
            for last in range(_TRIES - 1, -1, -1):
                steps = self.arriving(old, new)
                safe.write(self._landing, commit.encode())
                with contextlib.suppress(*([] if not last else [Changed])):  # a person saved a file in between
                    carry_out(repository.where, steps)
                    break
            repository.run("read-tree", "-m", "-i", *filter(None, (old, new)))
            subject = repository.text("log", "-1", "--format=%s", new)
            repository.run("update-ref", "-m", f"filemem: {subject}", "HEAD", new, old or "0" * len(new))
            os.unlink(self._landing)

    def _touched(self, old: str, new: str) -> list[Folder]:
        """The users whose memories differ between two commits."""
        repository = self.repository
        if self.home == self.folder.root:
            return [self.folder]
        above = os.path.relpath(os.path.realpath(self.home), repository.where) + "/"
        paths = fields(repository.run("diff-tree", "-r", "-z", "--name-only", old or repository.empty(), new))
        names = {path.removeprefix(above).partition("/")[0] for path in paths} | {self.folder.name}
        store = StoreFolder(self.folder.store, self.folder.trust)
        return [store.folder(name) for name in sorted(names & {*users(self.folder.above), self.folder.name})]

    def arriving(self, old: str, new: str) -> list[Step]:
        """How the files come from one commit to another; raises FilememError where uncommitted edits are in the way."""
        steps, met = arriving(self.repository, old, new)
        if met:
            what = f"your uncommitted changes in {first_few(map(one_line, met))} meet incoming ones"
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
        return repository.commit_tree(tree, [ours, theirs], words, at), found.doubled, found.kept


def _lives(process: int) -> bool:
    """Is there a process of this number on this machine, as far as one can tell?"""
    if os.name != "posix":
        return process == os.getpid()
    with contextlib.suppress(PermissionError):
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError, TypeError):
            return False
    return True


# -- setting up ----------------------------------------------------------------------------------------------------


def set_up(home: str, person: str, at: dt.datetime, trust: Trust | None = None) -> list[str]:
    """Let filemem keep the memories under `home`, a store or one user's folder, in git; returns what was done.

    Makes a repository where there is none. One of its own that is empty begins with what is there, under the person's name.
    Adds the lines of .gitignore and .gitattributes that are missing; touches nothing else. The repository counts as named by
    the person from now on.
    """
    made = not git_place(home) or opened(git_place(home)) is None
    if made:
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
    unused = [] if made else repository.sandbox.unused_settings()
    said += [f"Of its own settings these are not used: {first_few(unused)}."] if unused else []
    files = [prefix + ".gitignore", prefix + ".gitattributes"]
    clean = not repository.run("status", "--porcelain", "--", *map(spec, files))
    for name, wanted in ((".gitignore", IGNORE), (".gitattributes", ATTRIBUTES)):
        if missing := _add_lines(os.path.join(home, name), wanted):
            said.append(f"Added {len(missing)} lines to {os.path.join(home, name)}.")
    if (unfinished := repository.unfinished()) or not clean:
        return [*said, f"Not committed: {unfinished or 'the two files had changes of yours; commit them'}."]
    others = ("ls-files", "--others", "--exclude-standard", "-z", "--full-name", "--", spec(prefix.rstrip("/")))
    new = [path for path in fields(repository.run(*others)) if path in files or (begins and _is_kept(path))]
    changed = {line[3:] for line in fields(repository.run(*_STATUS, *map(spec, files)))}
    if chosen := [*new, *(path for path in files if path in changed and path not in new)]:
        subject = "Begin to keep these memories in git" if begins else "Let filemem keep its memories in git"
        author = repository.person(person) if begins else MACHINE
        repository.commit(chosen, new, message(subject, {}), author, at)
        said.append(f"Committed {len(chosen)} files." if begins else "Committed .gitignore and .gitattributes.")
    return said or [f"{home} is set up for git already; nothing was changed."]


def _is_kept(path: str) -> bool:
    """Is this a memory, settings, or a log that git should have, rather than an editor's, or another repository?"""
    *folders, name = path.split("/")
    if BOOKKEEPING in folders:
        return path.endswith(LOGS)
    return bool(name) and not is_temporary_name(name) and not any(folder[0] == "." for folder in folders)


def _lines(path: str) -> list[str]:
    try:
        return [line.strip() for line in safe.read(path).decode(errors="replace").split("\n")]
    except FilememError:
        return []


def _add_lines(path: str, lines: Iterable[str]) -> list[str]:
    """Append the lines that a file lacks, in its own line ends; returns them."""
    there = _lines(path)
    missing = [line for line in lines if line not in there]
    if missing and not os.path.lexists(path):
        safe.create(path, b"")

    def longer(old: bytes) -> bytes:
        end = b"\r\n" if b"\r\n" in old else b"\n"
        return (old + end if old and not old.endswith(b"\n") else old) + b"".join(
            line.encode() + end for line in missing
        )

    if missing:
        safe.edit(path, longer)
    return missing
