"""What a job may commit: all that it wrote, and nothing of a person's.

Git never stands in the way of a memory: what could not be committed goes with a later
job. A job notes in `.filemem/jobs/` what differs from the last commit before it
begins: that is a person's, stays where it lies, and waits for their commit. What
differs beyond the note of a job that was cut off, or could not commit, is the job's,
and the next one commits it. `git status` alone cannot tell the two apart, and files
that were staged may have been staged by the person.
"""

import contextlib
import datetime as dt
import functools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from filemem.errors import Busy, FilememError, NotFound, in_words
from filemem.git.commits import commit_message
from filemem.git.history import DELETED, LOGS, RENAMED, History, changes_in
from filemem.git.repository import MACHINE, Repository
from filemem.store import files
from filemem.store.users import folder_name
from filemem.text.plain import first_few

BEGINS = "Begin to keep these memories in git"
RECOVERED = "Keep what jobs had written before git could commit it"
BEGUN = "filemem-begun"  # in git's folder, until the first commit on the memories
NOTES = "jobs"  # the folder in the bookkeeping with a note for each job at work
NOTE_HEADING = "These files differed from the last commit before a job began:"


def commit_paths(
    history: History,
    paths: Iterable[str],
    message: str,
    at: dt.datetime,
    drafts: Collection[str] = (),
) -> list[str]:
    """Commit what differs of some paths, with the logs.

    The caller holds the repository's lock. A person had changed `drafts` before a job
    began: of these only what the job deleted is committed. Returns the others, which
    wait for the person.
    """
    history.repository.require_branch()
    changes = set(history.changes())
    waiting = []
    mine = [*LOGS]
    for path in paths:
        if path in drafts and path in changes and history.is_on_disk(path):
            waiting.append(path)
        else:
            mine.append(path)  # unchanged or ignored ones, too
    if not changes.isdisjoint(mine):
        inside = [os.path.join(history.prefix, path) for path in mine]
        history.repository.commit(inside, message, at)
    return waiting


def finish(
    repository: Repository,
    prefix: str,
    at: dt.datetime,
    author: str = MACHINE,
) -> int:
    """Make the first commit on a folder that is being set up.

    Nothing is committed if none is being set up, or somebody has committed it since.

    Args:
        repository: that holds the folder.
        prefix: the folder's path in it.
        at: the moment of the commit.
        author: of the commit.

    Returns:
        How many files it has.
    """
    begun = os.path.join(repository.git_dir, BEGUN)
    if not os.path.lexists(begun):
        return 0
    chosen = list[str]()
    repository.require_branch()
    with repository.lock():
        if not repository.has_folder(prefix):
            message = commit_message(BEGINS, {})
            for path in changes_in(repository, prefix):
                chosen.append(os.path.join(prefix, path))
            repository.commit(chosen, message, at, author=author)
    with contextlib.suppress(NotFound):
        files.delete(begun)
    return len(chosen)


def recover(history: History) -> None:
    """Commit what jobs that were cut off have left, as their notes tell.

    So is what was to be committed as git was set up. Raises FilememError, and then the
    notes stay.
    """
    root = history.managed_root
    if root:
        repository = history.repository
        prefix = root.removeprefix(repository.root).strip("/")
        finish(repository, prefix, dt.datetime.now())
    place = history.folder.bookkeeping(NOTES)
    if not root or not os.path.isdir(place):
        return
    history.folder.recover()
    written: set[str] = set()
    notes: list[str] = []
    with contextlib.ExitStack() as held:
        for name in sorted(os.listdir(place)):
            note = f"{place}/{name}"
            try:
                held.enter_context(files.lock(note, 0))
            except Busy:
                continue  # its job is at work
            heading, *listed = os.fsdecode(files.read(note)).split("\n")
            if heading:  # else it had not begun
                written |= set(history.changes()).difference(listed)
            notes.append(note)
        if written:
            trailers = {}
            former = folder_name(history.folder.renamed_from())
            left = history.missing().get(former)
            if left:  # by a rename that was cut off
                trailers[RENAMED] = former
                written.update(left)
            if history.is_deleted():
                trailers[DELETED] = history.folder.own_folder
            message = commit_message(RECOVERED, trailers)
            with history.repository.lock():
                commit_paths(history, written, message, dt.datetime.now())
        for note in notes:
            files.delete(note)


class JobFrame:
    """One job at work on memories that git may keep.

    `drafts` are the memories that differed from the last commit before it began.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.drafts: frozenset[str] = frozenset()
        self._fault = ""  # a sentence: why git cannot be used for this job

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Recover what others left, and note what is a person's: no move takes that.

        Never raises for git's sake.
        """
        folder = self.history.folder
        with contextlib.ExitStack() as held:
            with self._taking_fault():
                recover(self.history)
            held.callback(setattr, folder, "drafts", folder.drafts)
            held.callback(setattr, folder, "when_begun", folder.when_begun)
            folder.when_begun = functools.partial(self._note, held)
            if folder.exists():  # else once it is begun, if ever
                self._note(held)
            yield

    def _note(self, held: contextlib.ExitStack) -> None:
        """Hold the note of this job, and have no move take what is a person's."""
        with self._taking_fault():
            held.enter_context(self.noted())
        self.history.folder.drafts = self.drafts

    @contextlib.contextmanager
    def _taking_fault(self) -> Iterator[None]:
        """Have what git cannot do be said by `record` instead of raised."""
        try:
            yield
        except (FilememError, OSError) as error:
            self._fault = in_words(error)

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note what differs from the last commit while files are written.

        If that is cut off, or not committed, the note stays for `recover`. Raises
        FilememError.
        """
        history = self.history
        if not history.managed_root:
            yield
            return
        self.drafts = history.drafts()
        name = f"{NOTES}/{os.urandom(8).hex()}"
        note = history.folder.bookkeeping(name)
        files.make_folder(os.path.dirname(note))
        with files.lock(note, 0):
            lines = "".join(f"{one}\n" for one in (NOTE_HEADING, *sorted(self.drafts)))
            files.log(note, os.fsencode(lines))
            yield
            if not self._fault:
                with contextlib.suppress(NotFound):  # it went with the user's folder
                    files.delete(history.folder.bookkeeping(name))

    def record(
        self,
        subject: str,
        paths: Collection[str],
        trailers: Mapping[str, str],
        at: dt.datetime,
    ) -> str:
        """Commit just what the job wrote, moved or deleted, with the logs.

        `trailers` are Job, Session, Source. Returns a sentence if something waits for
        the person or nothing can be committed now; never raises for git's sake.
        """
        history = self.history
        message = commit_message(subject, trailers)
        waiting = []
        with self._taking_fault():
            if not self._fault and history.managed_root:
                with history.repository.lock():
                    waiting = commit_paths(history, paths, message, at, self.drafts)
        if self._fault:
            return f"not committed yet: {self._fault}"
        if waiting:
            named = first_few(waiting)
            return (
                f"not committed with this, as it had changed before: {named}. A chat"
                " commits its own when it ends; the rest is left for you to commit"
            )
        return ""
