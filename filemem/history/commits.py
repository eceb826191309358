"""A user's memories in git: what is set up, what a person has left uncommitted, and a commit for each job of the machine.

Git never stands in the way of a memory: where it cannot commit, the job's files are noted in `.filemem/uncommitted.jsonl`
and go with the next commit.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.errors import Busy, FilememError, Problem
from filemem.files import config, journal, safe
from filemem.files.folder import WRITTEN, Folder, is_temporary_name
from filemem.files.store import StoreFolder, users
from filemem.history.beginning import ATTRIBUTES, SUBJECT, has_line, message
from filemem.history.git import GitError, fields, spec
from filemem.history.repository import LOGS, MACHINE, PLAIN, GitFile, Repository, find, merge_file
from filemem.history.sealed import Declined
from filemem.text.plain import counted, digest, first_few, one_line

COMMIT = "commit"  # git_person_edits
LARGEST = 10_000_000  # bytes; what a person has changed in a larger file is not told from what a job adds to it
POSTPONED = "uncommitted.jsonl"
CUT_OFF = "Keep what a job had written when it was cut off"  # the subject of a commit that its job could not make
_STATUS = "status --porcelain=v1 -z --untracked-files=all --no-renames --ignore-submodules=all --".split()
_WAIT = 30.0  # seconds for another filemem to finish its commit


class UncommittedChanges(NamedTuple):
    """What a person had changed and not committed when a job began: the bytes, or None where only git's index has more.

    `wrote` has the bytes that a job found in a file and those that it left there, where it knows: what a person saves in
    between is then told from it too.
    """

    edits: Mapping[str, bytes | None] = {}
    wrote: Mapping[str, tuple[bytes | None, bytes | None]] = {}


class Recorded(NamedTuple):
    """The commit that was made, empty where there was none; `note` is a sentence for the person, mostly empty."""

    commit: str
    note: str


class _JobFiles(NamedTuple):
    """What one job wrote: the digest of each file by path, None where the file went."""

    subject: str
    trailers: dict[str, str]
    at: dt.datetime
    files: dict[str, str | None]


class _Note(NamedTuple):
    """What a process was about to make of a memory: the digests of its bytes before and after, None where there are none."""

    process: int
    path: str
    before: str | None
    after: str | None


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
            if has_line(os.path.join(folder, ".gitattributes"), ATTRIBUTES[0]) and self.found:
                top = os.path.realpath(folder)
                return folder if top == self.found.where or top.startswith(self.found.where + os.sep) else ""
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
        store = StoreFolder(self.folder.store, self.folder.trust)
        everyone = []
        for one in (History(store.folder(name)) for name in users(self.folder.above)):
            with contextlib.suppress(GitError):  # in a repository of their own, whoever made that
                everyone += [one] if one.found and one.found.where == self.repository.where else []
        return everyone

    def require(self) -> Repository:
        """The repository, where something can be committed now; raises FilememError otherwise."""
        repository = self.repository
        if not self.home:
            raise FilememError(f"{repository.where} is not set up for filemem; run filemem init --git first.")
        unfinished = repository.unfinished()
        if unfinished:
            raise FilememError(f"{unfinished}; then try again.")
        with self.alone():
            repository.unstage_unlanded()
        return repository

    def problems(self) -> list[Problem]:
        """What keeps git from being used here, or what of the repository's own is not."""
        try:
            left_out = self.found.seal.unused_settings() if self.home and self.found else []
        except GitError as error:
            what, _, remedy = str(error).rstrip(".").rpartition("; ")
            return [Problem(".git", 1, what or remedy, remedy if what else "put right what git names")]
        remedy = "say it in your own configuration (git config --global) if you want it"
        return (
            [Problem(".git", 1, f"of the repository's own {first_few(left_out)} is not used", remedy)]
            if left_out
            else []
        )

    # -- a person's edits ----------------------------------------------------------------------------------------

    def before(self, at: dt.datetime) -> UncommittedChanges:
        """To be called when a job begins that changes files: what must not be mixed into its commit.

        With the setting `git_person_edits: commit` it is committed now, under the person's own name.
        """
        setting = config.of(self.folder).git_person_edits
        with contextlib.suppress(GitError, Busy):  # the job's own commit will say why
            if self.home:
                with contextlib.suppress(GitError, Busy), self.alone():
                    self._catch_up()
                    if setting == COMMIT:
                        self._commit_edits(at)
                return UncommittedChanges(
                    {path: self._bytes(path) if tracked else None for path, tracked in self.edited().items()}
                )
        return UncommittedChanges()

    def edited(self) -> dict[str, bool]:
        """The memories that differ from the last commit and that no job wrote: is there a version to compare with?"""
        postponed = {path: left for job in self._postponed() for path, left in job.files.items()}
        found = {}
        for line in fields(self.repository.run(*_STATUS, spec(self.inside))):
            path = self.own(line[3:])
            memory = path[-1] != "/" and not any(map(is_temporary_name, path.split("/")))
            if memory and (path not in postponed or postponed[path] != self._digest(path)):
                found[path] = line[:2] == " M"
        return found

    def _commit_edits(self, at: dt.datetime) -> None:
        """Commit what a person has changed under their name; what is staged in part stays theirs to commit."""
        repository = self.repository
        if repository.unfinished():
            return
        paths = sorted(self.edited())
        changes, _ = self._changes(paths, UncommittedChanges())
        if changes:
            others = f" and {counted(len(changes) - 1, 'other')}" if len(changes) > 1 else ""
            subject = f"Edit {paths[0]}{others}"
            repository.commit(changes, message(subject, {}), repository.person(self.folder.name), at)

    # -- the machine's commits -----------------------------------------------------------------------------------

    def record(
        self,
        subject: str,
        paths: Iterable[str],
        trailers: Mapping[str, str],
        at: dt.datetime,
        before: UncommittedChanges | None = None,
    ) -> Recorded:
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
        before = before or UncommittedChanges()
        files = {path: self._digest(path) for path in dict.fromkeys([*paths, *LOGS])}
        files |= {path: None if left is None else digest(left) for path, (_, left) in before.wrote.items()}
        job = _JobFiles(one_line(subject, SUBJECT), dict(trailers), at, files)
        try:
            waiting = job._replace(files={p: d for p, d in files.items() if p not in before.edits})
            self._postpone(add=waiting)  # first of all, as what follows may be cut off
            self._forget_noted(set(files))
            with self.alone():
                self._catch_up([waiting])
                if waiting not in self._postponed():  # another process has caught up with it: the logs are others' now
                    job = job._replace(files={p: d for p, d in files.items() if p not in LOGS})
                commit, left = self._commit(job, before)
            self._postpone(done=[waiting])
        except (GitError, Busy) as error:
            return Recorded("", f"not committed yet: {error}")
        note = f"left for you to commit, as you had changed it too: {', '.join(left[:5])}" if left else ""
        return Recorded(commit, note)

    def cut_off(self) -> None:
        """Let what a job of this process has written wait for the next commit, as it was cut off before its own."""
        with contextlib.suppress(GitError, Busy):
            if self.home:
                self._adopt_orphans(os.getpid())

    def catch_up(self) -> None:
        """Commit what earlier jobs could not; raises GitError where it still cannot be."""
        with self.alone():
            self._catch_up()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes of filemem from committing here meanwhile; does not nest. Raises GitError."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(safe.lock(os.path.join(self.repository.folder, "filemem.lock"), _WAIT))
            except Busy:
                raise GitError("another filemem is committing here.") from None
            except OSError as error:
                raise GitError(f"{self.repository.folder} cannot be written ({error.strerror}).") from None
            yield

    def _catch_up(self, but: Collection[_JobFiles] = ()) -> None:
        self.repository.unstage_unlanded()
        self._adopt_orphans()
        jobs = [job for job in self._postponed() if job not in but]
        for number, job in enumerate(jobs, 1):
            later = {path for other in jobs[number:] for path in other.files}
            whole = {p: d for p, d in job.files.items() if p not in later and self._digest(p) == d}
            self._commit(job._replace(files=whole), UncommittedChanges())
            self._postpone(done=[job])

    def _commit(self, job: _JobFiles, before: UncommittedChanges) -> tuple[str, list[str]]:
        """The commit of one job, empty where nothing differs, and the paths that a person must commit."""
        unfinished = self.repository.unfinished()
        if unfinished:
            raise GitError(f"{unfinished}.")
        changes, left = self._changes(job.files, before)
        if not changes:
            return "", left
        return self.repository.commit(changes, message(job.subject, job.trailers), MACHINE, job.at), left

    def _changes(self, paths: Iterable[str], before: UncommittedChanges) -> tuple[dict[str, GitFile | None], list[str]]:
        """The entries to commit, by path in the repository, and the user's paths that must be left to the person."""
        repository = self.repository
        known, staged = repository.tree(repository.head(), self.inside), repository.index(self.inside)
        places = {self.path(path): path for path in paths}
        ignored = repository.ignored(place for place in places if place not in known) if places else set()
        whole: list[str] = []
        changes: dict[str, GitFile | None] = {}
        left: list[str] = []
        for place, path in places.items():
            entry, exists = known.get(place), os.path.isfile(os.path.join(repository.where, place))
            if place in ignored or (entry is None and not exists):
                continue
            if staged.get(place) != entry or (entry and entry.mode not in PLAIN):
                left.append(path)
            elif path in before.edits or path in before.wrote:
                known_apart, apart = self._without_edits(path, entry, before)
                if known_apart:
                    changes[place] = apart
                else:
                    left.append(path)
            elif exists:
                whole.append(place)
            else:
                changes[place] = None
        for place, oid in repository.keep_files(whole).items():
            changes[place] = GitFile(known[place].mode if place in known else PLAIN[0], oid)
        return {place: entry for place, entry in changes.items() if entry != known.get(place)}, left

    def _without_edits(
        self, path: str, committed: GitFile | None, before: UncommittedChanges
    ) -> tuple[bool, GitFile | None]:
        """The committed version with the job's changes alone; False where a person's edits cannot be told from them."""
        place = self.path(path)
        if path not in before.wrote and before.edits[path] is None:
            return False, None
        found, left = before.wrote.get(path) or (before.edits[path], self._bytes(path))
        base = self.repository.content(place, committed) if committed else None
        if found == base:
            result = left
        elif found is None or left is None or base is None:
            return False, None
        else:
            result = merge_file(base, found, left)
            if result is None:
                return False, None
        mode = committed.mode if committed else PLAIN[0]
        return True, None if result is None else GitFile(mode, self.repository.keep(place, result))

    # -- what could not be committed yet -------------------------------------------------------------------------

    def _postponed(self) -> list[_JobFiles]:
        """The jobs that wait for their commit."""
        jobs = []
        for job in journal.values(self.folder.bookkeeping(POSTPONED)):
            with contextlib.suppress(ValueError, TypeError, KeyError):
                jobs.append(_JobFiles(**{**job, "at": dt.datetime.fromisoformat(job["at"])}))
        return jobs

    def _postpone(self, add: _JobFiles | None = None, done: Collection[_JobFiles] = ()) -> None:
        """Let a job wait, and others wait no longer."""
        with self.folder.locked():
            jobs = [job for job in self._postponed() if job not in done] + ([add] if add else [])
            entries = [{**job._asdict(), "at": job.at.isoformat()} for job in jobs]
            journal.rewrite(self.folder.bookkeeping(POSTPONED), entries)

    def _adopt_orphans(self, cut_off: int = 0) -> None:
        """Let what processes wrote that are no more (or were `cut_off`), and did not come to commit, wait for its commit.

        Just what is on disk as they left it, and was as in the last commit before they came.
        """
        with self.folder.locked():
            ended = [note for note in _noted(self.folder) if note.process == cut_off or not _lives(note.process)]
            if not ended:
                return
            places = {self.path(note.path): note.path for note in ended}
            known = {
                place: entry for place, entry in self.repository.tree(self.repository.head()).items() if place in places
            }
            texts = zip(known, self.repository.contents(known.items()), strict=True)
            states = {places[place]: digest(text) for place, text in texts}
            left: dict[str, list[str | None]] = {}  # what it became in turn; the last may not have come about
            for note in ended:
                was = left[note.path][-1] if note.path in left else states.get(note.path)
                if note.before == was:
                    left.setdefault(note.path, []).append(note.after)
            now = {path: self._digest(path) for path in left}
            whole = {path: found for path, found in now.items() if found in left[path]}
            if whole:
                self._postpone(add=_JobFiles(CUT_OFF, {}, dt.datetime.now().astimezone(), whole))
            self._forget_noted(set(places.values()), {note.process for note in ended})

    def _forget_noted(self, paths: set[str], processes: Collection[int] = ()) -> None:
        """Take back the notes on paths that are committed now, or wait for it: this process's, or those named."""
        gone = processes or {os.getpid()}
        with self.folder.locked():
            noted = _noted(self.folder)
            left = [note for note in noted if note.path not in paths or note.process not in gone]
            if len(left) < len(noted):
                journal.rewrite(self.folder.bookkeeping(WRITTEN), left)

    def _bytes(self, path: str) -> bytes | None:
        with contextlib.suppress(FilememError):
            data = safe.read(self.folder.place / path, LARGEST + 1)
            return data if len(data) <= LARGEST else None
        return None

    def _digest(self, path: str) -> str | None:
        with contextlib.suppress(FilememError):
            return safe.digest(self.folder.place / path)
        return None


def _noted(folder: Folder) -> list[_Note]:
    """What was about to be written and is not committed yet, in its order."""
    notes = []
    for line in journal.values(folder.bookkeeping(WRITTEN)):
        with contextlib.suppress(TypeError):
            notes.append(_Note(*line))
    return notes


def _lives(process: int) -> bool:
    """Is there a process of this number on this machine?"""
    with contextlib.suppress(PermissionError):
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError, TypeError):
            return False
    return True
