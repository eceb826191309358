"""Taking back what one commit did to a user's memories, and nothing that was done since.

Git merges today's files with what was there before the commit, on top of what it left. Where that meets in a line nothing is
written. What is new is written first and what goes is deleted last; an undo that was cut off is finished by the next.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import shutil
import tempfile
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import journal
from filemem.files.memory import archived, counterpart
from filemem.history import log
from filemem.history.commits import History, Job, Recorded
from filemem.history.git import LOGS, GitFile, Step, carry_out, line_merge, spec
from filemem.history.log import Commit
from filemem.text.plain import first_few, one_line


class Undone(NamedTuple):
    """What was taken back: the commit, sentences on each file, and how that was recorded."""

    commit: Commit
    said: list[str]
    recorded: Recorded


def undo(history: History, name: str, at: dt.datetime) -> Undone:
    """Undo a commit, the machine's last one where none is named. Raises FilememError, with nothing written, where a file
    has changed since in the same lines."""
    repository, begun = history.require(), history.begun()
    history.catch_up()  # what waits may be the last commit, or its undo
    named = name or (begun.trailers["Undoes"] if begun else "")
    commit = log.one(history, named) if named else log.last_undoable(history)
    if begun and begun.trailers["Undoes"] != commit.commit:
        raise FilememError(f"an undo of {begun.trailers['Undoes'][:8]} was cut off; finish it with filemem undo first.")
    if len(commit.parents) > 1:
        raise FilememError(
            f"{commit.commit[:8]} is a merge; undo the commits that it brought in, filemem log lists them."
        )
    subject, trailers = f'Undo "{commit.subject}"', {"Job": "undo", "Undoes": commit.commit}
    with history.folder.locked():
        try:
            steps = _plan(history, commit)
            if not steps and not begun:
                short = f"{commit.commit[:8]} ({one_line(commit.subject, 60)})"
                raise FilememError(f"there is nothing left of {short} to undo.")
        except FilememError:
            history.postpone(None)  # one that was cut off and cannot be finished: its files are as they are
            raise
        history.postpone(Job(subject, trailers, at.isoformat(), None))
        for path, *versions in steps:
            history.folder.note(history.own(path), *versions)
        carry_out(repository.where, steps)
        gone = [history.own(step.path) for step in steps if step.becomes is None]
        new = [history.own(step.path) for step in steps if step.found is None]
        back = [path for path in new if archived(path) in gone]
        journal.note_recalls(history.folder, back, journal.RESTORED, at)  # else the next sweep would archive them again
    moved = {path: counterpart(path) for path in gone if counterpart(path) in new}
    said = [f"Moved {path} back to {target}." for path, target in moved.items()]
    said += [f"Deleted {path}." for path in gone if path not in moved]
    said += [f"Brought back {path}." for path in new if path not in moved.values()]
    paths = [history.own(step.path) for step in steps]
    said += [f"Changed {path} back." for path in paths if path not in (*gone, *new)]
    return Undone(commit, said, history.record(subject, paths, trailers, at))


def _plan(history: History, commit: Commit) -> list[Step]:
    """The steps that undo a commit; raises FilememError where what it wrote has changed since."""
    repository, inside = history.repository, spec(history.inside)
    with tempfile.TemporaryDirectory() as aside:
        private = {"GIT_INDEX_FILE": os.path.join(aside, "index")}
        with contextlib.suppress(FileNotFoundError):  # so that git need not read every file
            shutil.copyfile(os.path.join(repository.folder, "index"), private["GIT_INDEX_FILE"])
        repository.run("read-tree", "-m", "-i", "HEAD", env=private)
        repository.run("add", "--all", "--", inside, env=private)
        today = repository.text("write-tree", env=private)
    before = f"{commit.parents[0]}^{{tree}}" if commit.parents else repository.empty()
    sides = [repository.commit_tree(tree, [commit.commit], "Undo", commit.at) for tree in (today, before)]
    merged, stages = repository.merge_trees(*sides)
    changes, met = dict[str, GitFile | None](), []
    for path, versions in stages.items():
        text = line_merge(*repository.blobs(versions), union=False) if {*versions} == {1, 2, 3} else None
        if text is not None:
            changes[path] = GitFile(versions[2].mode, repository.put("blob", text))
        elif f"{path}/".startswith(history.path("")) and not path.endswith(LOGS):
            met.append(history.own(path))
    if met:
        what = "what it wrote there has been changed since; put it right by hand, git log -p shows who wrote it"
        raise FilememError(f"nothing was undone: {first_few(map(one_line, met))}: {what}.")
    steps = repository.steps(today, repository.tree_with(merged, changes) if changes else merged, history.inside)
    return [step for step in steps if not step.path.endswith(LOGS)]
