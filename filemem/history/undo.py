"""Taking back what one commit did to a user's memories, and nothing that was done since.

Each file is merged by itself: today's bytes, what the commit left, what was there before it. Where that cannot be done
in a single file, nothing is written at all.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import journal
from filemem.files.memory import archived, counterpart
from filemem.history import log, worktree
from filemem.history.commits import History, Recorded
from filemem.history.git import fields, spec
from filemem.history.log import Commit
from filemem.history.repository import LOGS, PLAIN, GitFile, merge_file
from filemem.history.worktree import Step
from filemem.text.plain import one_line


class Undone(NamedTuple):
    """What was taken back: the commit, sentences on each file, and how that was recorded."""

    commit: Commit
    said: list[str]
    recorded: Recorded


class _CommittedChange(NamedTuple):
    """What a commit did to one file: `old` and `new` are its paths of the user's, None where it came or went."""

    old: str | None
    new: str | None
    before: bytes
    after: bytes


def undo(history: History, name: str, at: dt.datetime) -> Undone:
    """Undo a commit, the machine's last one where none is named. Raises FilememError, with nothing written, where a file
    has changed since in the same lines."""
    history.require()
    commit = log.one(history, name) if name else log.last_undoable(history)
    if len(commit.parents) > 1:
        raise FilememError(
            f"{commit.commit[:8]} is a merge; undo the commits that it brought in, filemem log lists them."
        )
    before = history.before(at)
    with history.folder.locked():
        steps, said = _plan(history, commit)
        worktree.carry_out(history.folder.place, steps)
        left = {step.path for step in steps if step.becomes is None}
        back = [step.path for step in steps if step.found is None and archived(step.path) in left]
        journal.note_recalls(history.folder, back, journal.RESTORED, at)  # else the next sweep would archive them again
    trailers = {"Job": "undo", "Undoes": commit.commit}
    wrote = {step.path: (step.found, step.becomes) for step in steps}
    recorded = history.record(f'Undo "{commit.subject}"', list(wrote), trailers, at, before._replace(wrote=wrote))
    return Undone(commit, said, recorded)


def _plan(history: History, commit: Commit) -> tuple[list[Step], list[str]]:
    """The steps that undo a commit, and what to say of them."""
    steps: list[Step] = []
    said: list[str] = []
    clashes: list[str] = []
    for change in _changes(history, commit):
        where = ""
        with contextlib.suppress(NotFound):  # it is gone
            where = history.folder.locate(change.new or change.old or "")
        found = worktree.read(history.folder.place / where) if where else None
        try:
            made, words = _reverse(history, change, where, found)
        except _ChangedSince as clash:
            path = where or change.old or ""
            later = None if path in history.edited() else log.changed_since(history, path, commit.commit)
            by = f"last by {later.commit[:8]}, {one_line(later.subject, 60)}" if later else "not committed yet"
            clashes.append(f"{one_line(path)}: {clash} ({by})")
            continue
        steps += made
        said += words
    if clashes:
        raise FilememError("nothing was undone: " + "; ".join(clashes[:3]) + ".")
    if not steps:
        raise FilememError(f"there is nothing left of {commit.commit[:8]} ({one_line(commit.subject, 60)}) to undo.")
    return steps, said


class _ChangedSince(Exception):
    """What the commit did has been changed since; the text says how."""


def _reverse(
    history: History, change: _CommittedChange, where: str, found: bytes | None
) -> tuple[list[Step], list[str]]:
    """The steps that take one change back; raises _Meets."""
    if change.old is None:
        if found is None:
            return [], []
        if found != change.after:
            raise _ChangedSince("what was added has been changed since; delete the file by hand, or keep it")
        return [Step(where, found, None)], [f"Deleted {where}."]
    if change.new is None:
        if found == change.before:
            return [], []
        if found is not None:
            raise _ChangedSince("there is another file in its place now; move that one first")
        return [Step(change.old, None, change.before)], [f"Brought back {change.old}."]
    if found is None:
        raise _ChangedSince("the file has been deleted since")
    back = merge_file(found, change.after, change.before) if change.after != change.before else found
    if back is None:
        raise _ChangedSince(
            "the same lines have been changed since; put them right by hand, filemem blame shows who wrote them"
        )
    if change.old == change.new or where != change.new:
        return ([Step(where, found, back)], [f"Changed {where} back."]) if back != found else ([], [])
    if os.path.lexists(history.folder.absolute(change.old)):
        raise _ChangedSince(f"it came from {change.old}, where another file is now; move that one first")
    return [Step(where, found, None), Step(change.old, None, back)], [f"Moved {where} back to {change.old}."]


def _changes(history: History, commit: Commit) -> list[_CommittedChange]:
    """What a commit did to the user's plain files; logs only grow, so they are left out.

    A memory that came under its path in the archive, or back, was moved, however much was written into it on the way.
    """
    told = list(_told(history, commit))
    gone = {old: change for change in told if (old := change.old) and old != change.new}
    new = {path: change for change in told if (path := change.new) and path != change.old}
    twins = [(path, counterpart(path)) for path in gone]
    alike = [(change.old, change.new) for change in told if change.old and change.new]
    found = [change for change in told if change.old == change.new]
    for old, path in [*twins, *alike]:
        if old in gone and path in new:
            found.append(_CommittedChange(old, path, gone.pop(old).before, new.pop(path).after))
    found += [change._replace(new=None, after=b"") for change in gone.values()]
    return found + [change._replace(old=None, before=b"") for change in new.values()]


def _told(history: History, commit: Commit) -> Iterator[_CommittedChange]:
    """What a commit did, as git tells it: a move where the texts are alike."""
    repository = history.repository
    parent = commit.parents[0] if commit.parents else repository.empty_tree()
    arguments = ["diff-tree", "-r", "-z", "-M", parent, commit.commit, "--", spec(history.inside)]
    parts = iter(fields(repository.run(*arguments)))
    for facts in parts:
        old_mode, new_mode, old, new, status = facts.removeprefix(":").split(" ")
        first = next(parts)
        second = next(parts) if status[0] == "R" else first
        if any(mode not in (*PLAIN, "000000") for mode in (old_mode, new_mode)) or history.own(second).endswith(LOGS):
            continue
        before = repository.content(first, GitFile(old_mode, old)) if status[0] != "A" else b""
        after = repository.content(second, GitFile(new_mode, new)) if status[0] != "D" else b""
        was, now = history.own(first), history.own(second)
        yield _CommittedChange(was if status[0] != "A" else None, now if status[0] != "D" else None, before, after)
