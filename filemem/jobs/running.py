"""The one way to work on a user's memories: their lock is taken, and what was written is committed where they lie in git."""

import contextlib
import datetime as dt
import os
from collections.abc import Iterable, Iterator
from typing import Any

from filemem import index
from filemem.chat.conversation import Does
from filemem.files import journal
from filemem.files.folder import Folder, StoreFolder
from filemem.forgetting import deletion
from filemem.forgetting.deletion import DeletionPlan, DeletionReport
from filemem.history import History
from filemem.importers import ImportReport, import_file
from filemem.remembering import consolidation
from filemem.remembering.consolidation import Applied, Remembered
from filemem.remembering.supersession import ADD, DROP, NOOP, PROPOSE, SUPERSEDE, UPDATE, Decision
from filemem.search import semantic
from filemem.text.plain import counted, one_line

_WORDS = {ADD: "remembered", SUPERSEDE: "remembered", UPDATE: "updated", NOOP: "knew", DROP: "left out"}


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


@contextlib.contextmanager
def job(user: Folder, name: str, at: dt.datetime, *, alone: bool = True) -> Iterator[UserJob]:
    """Work on a user's memories, and hand what was written to `commit`; raises Busy where another job is at it.

    What was cut off before it was committed is committed first. Not `alone`: a short piece of work, such as one fact, which
    waits for no other job.
    """
    with user.job_lock() if alone else contextlib.nullcontext():
        run = UserJob(user, name, at)
        with run.history.at_work():
            yield run


# -- remembering -------------------------------------------------------------------------------------------------


def remembered(folder: Folder, text: str, at: dt.datetime, source: str = "", **how: Any) -> tuple[Remembered, str]:
    """Keep one fact, with the options `how` of `consolidation.remember`, and commit it; returns what git says, too.

    `source`: who asked for it, where it was not the person, as the commit says.
    """
    with job(folder, "remember", at, alone=False) as run:
        done = consolidation.remember(folder, text, at, **how)
        subject = f"Remember: {done.decision.claim.text}"
        return done, run.commit(subject, [done.memory.path, *done.paths], **({"Source": source} if source else {}))


def consolidated(folder: Folder, at: dt.datetime, *given: Any, **how: Any) -> Iterator[tuple[Applied, str]]:
    """Consolidate, as `consolidation.run` is told to, and commit what becomes of each request; with what git says of it. What
    is new has its vectors then, where there are any."""
    with job(folder, "consolidate", at) as run:
        for done in consolidation.run(folder, at, *given, **how):
            yield done, committed(run, done)
    semantic.catch_up(index.of(folder))


def committed(run: UserJob, done: Applied) -> str:
    """Commit what consolidation or a review wrote; what git has to say of it."""
    return run.commit(consolidation.subject(done.decisions), done.paths)


def lines(one: Decision, *, whole: bool = False) -> Iterator[str]:
    """A decision as lines; `whole` tells what was left out as well."""
    text = one_line(one.claim.text, 160)
    if one.action == PROPOSE:
        yield f"proposed: {text}"
    elif one.action in (ADD, SUPERSEDE, UPDATE):
        reason = f" ({one.reason})" if one.reason and one.action != UPDATE else ""
        yield f"{_WORDS[one.action]} {one.path}: {text}{reason}"
        yield from (f"superseded {old}" for old in one.replaces if one.action == SUPERSEDE)
    elif whole:
        yield f"{_WORDS[one.action]} {one.path or ', '.join(one.claim.sources)}: {text} ({one.reason})"


def imported(
    store: StoreFolder, format_: str, file: str, at: dt.datetime, user: str, **how: Any
) -> tuple[ImportReport, str]:
    """Take in an export, as `import_file` is told `how` to, and commit it; with what git has to say of it."""
    with job(store.folder(user), "import", at, alone=False) as run:
        report = import_file(store, format_, file, user=user, **how)
        paths = [entry.path for entry in (*report.added, *report.updated)]
        name = os.path.basename(file)
        subject = f"Import {counted(len(paths), 'memory', 'memories')} from {name}"
        return report, run.commit(subject, paths, Source=f"{format_}:{name}")


# -- forgetting --------------------------------------------------------------------------------------------------


def forget(user: Folder, found: DeletionPlan, at: dt.datetime) -> DeletionReport:
    """Delete what a plan names, and commit that; it is written down before it begins."""
    done = delete(user, deletion.start(user, found), at)
    deletion.end(user, found)
    return done


def delete(user: Folder, found: DeletionPlan, at: dt.datetime) -> DeletionReport:
    """Carry out a deletion that was written down, from the start or from where it was cut off, and commit it."""
    with job(user, "forget", at) as run:
        owned = os.path.lexists(os.path.join(user.root, ".git"))
        done = deletion.carry_out(user, found)
        gone = owned and found.everything and found.purge
        # A conversation that git has not yet is its chat's to commit: an undo would take it away with what was forgotten.
        new = {path for path in run.history.new() if path.startswith("sessions/")} - {*found.names.values()}
        paths = [path for path in done.paths if path not in new]
        return done._replace(note="" if gone else run.commit(done.subject, [*paths, journal.RECALLS]))


def _remember(user: Folder, words: str, at: dt.datetime, source: str) -> tuple[str, list[str], list[str]]:
    done = consolidation.remember(user, words, at, source=source)
    return done.memory.path, [done.memory.path, *done.paths], done.notes


ASKED = Does(_remember, deletion.take_back)
"""What a chat has done when a person asks for it; the commit is that of the chat."""
