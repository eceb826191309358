"""The one way to work on a user's memories: their lock is taken, and what was written is committed where they lie in git."""

import contextlib
import datetime as dt
import os
from collections.abc import Iterable, Iterator

from filemem.chat.requests import Does
from filemem.errors import FilememError
from filemem.files import archive, journal
from filemem.files.folder import Folder
from filemem.forgetting import deletion, forget_in_chat
from filemem.forgetting.deletion import DeletionPlan, DeletionReport
from filemem.history import History
from filemem.remembering import remembering


class UserJob:
    """A job at work on a user's memories."""

    def __init__(self, user: Folder, name: str, at: dt.datetime) -> None:
        self.history = History(user)
        self._name = name
        self._at = at

    def commit(self, subject: str, paths: Iterable[str], **trailers: str) -> str:
        """Commit what was written; what git has to say of it, empty where there is nothing to say."""
        written = list(dict.fromkeys(paths))
        return self.history.record(subject, written, {"Job": self._name, **trailers}, self._at).note if written else ""

    def catch_up(self) -> list[str]:
        """Commit and finish what was cut off; what git knows of that is still amiss, in sentences."""
        with contextlib.suppress(FilememError):
            if self.history.home:
                self.history.catch_up()
        return [str(one) for one in self.history.problems()]


@contextlib.contextmanager
def job(user: Folder, name: str, at: dt.datetime, *, alone: bool = True) -> Iterator[UserJob]:
    """Work on a user's memories, and hand what was written to `commit`; raises Busy where another job is at it.

    What was cut off before it was committed is with the next commit. Not `alone`: a short piece of work, such as one fact, which
    waits for no other job.
    """
    with archive.job_lock(user) if alone else contextlib.nullcontext():
        yield UserJob(user, name, at)


def forget(user: Folder, found: DeletionPlan, at: dt.datetime) -> DeletionReport:
    """Delete what a plan names, and commit that; it is written down before it begins."""
    done = delete(user, deletion.start(user, found), at)
    deletion.end(user, found)
    return done


def delete(user: Folder, found: DeletionPlan, at: dt.datetime) -> DeletionReport:
    """Carry out a deletion that was written down, from the start or from where it was cut off, and commit it."""
    with job(user, "forget", at) as run:
        with contextlib.suppress(FilememError):
            run.history.require()  # which finds where the memories lie while that can be told
        owned = os.path.lexists(os.path.join(user.root, ".git"))
        done = deletion.carry_out(user, found)
        gone = owned and found.everything and found.purge
        note = "" if gone else run.commit(done.subject, [*done.paths, journal.RECALLS])
    return done._replace(note=note)


def _remember(user: Folder, words: str, at: dt.datetime, source: str) -> tuple[str, list[str], list[str]]:
    done = remembering.remember(user, words, at, source=source)
    return done.memory.path, [done.memory.path, *done.paths], done.notes


ASKED = Does(_remember, forget_in_chat.take_back)
"""What a chat has done when a person asks for it; the commit is that of the chat."""
