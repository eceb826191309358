"""Take one commit of a job's back, and only that.

What was said in a chat stays, wherever its file lies; so do the logs, and what a
person wrote in a file that a job did no more than move.
"""

from __future__ import annotations

import datetime as dt
import shlex
from dataclasses import dataclass, replace

from filemem.errors import FilememError
from filemem.git.history import (
    Commit,
    History,
    commit_message,
    is_log,
    log,
    read_commits,
)
from filemem.git.merge import FileChange, Trees, carry_out, merge_trees
from filemem.git.repository import GitError, split_nul
from filemem.store import recalls
from filemem.store.paths import is_archived, kind_of, live
from filemem.text.plain import first_few, one_line

# Jobs that only move what they find; a summary alone is of their own writing.
MOVING_JOBS = ("sweep", "compact", "restore")


@dataclass(frozen=True)
class Undone:
    """The commit that was undone, and a sentence on each file."""

    commit: Commit
    sentences: list[str]


def undo(history: History, revision: str | None, at: dt.datetime) -> Undone:
    """Undo a job's commit, by default the last of which anything is left.

    Raises FilememError, with nothing written, if a file has uncommitted changes or has
    changed since in the same lines. If an undo was cut off, what it had written is
    committed, and the same call does the rest.
    """
    repository = history.require()
    history.recover()  # what waits may be the last commit
    with repository.lock(), history.folder.locked():
        for commit in _undoable(history, revision):
            changes = _reverse(history, commit)
            if changes:
                return _take_back(history, commit, changes, at)
    raise FilememError(
        "there is nothing left to undo; filemem log lists the commits. Your own edits "
        f"git takes back: git -C {shlex.quote(history.folder.root)} restore FILE."
    )


def _take_back(
    history: History, commit: Commit, changes: list[FileChange], at: dt.datetime
) -> Undone:
    """Make the changes that take a commit back, and commit them."""
    restored = []
    sentences = []
    for change in changes:
        source = history.own_path(change.source)
        target = history.own_path(change.target)
        sentences.append(_sentence(source, target))
        if is_archived(source) and live(source) == target:
            restored.append(target)
    with history.noted():
        # Else the next sweep would archive again what comes back.
        recalls.note_recalls(history.folder, restored, recalls.RESTORED, at)
        carry_out(history.repository, changes)
        trailers = {"Job": "undo", "Undoes": commit.commit}
        message = commit_message(f'Undo "{commit.subject}"', trailers)
        paths = [history.own_path(path) for one in changes for path in one.paths]
        history.commit(paths, message, at)
    return Undone(commit, sentences)


def _undoable(history: History, revision: str | None) -> list[Commit]:
    """Return the commit of a job that is named, else all but undos, the newest first.

    Raises FilememError if what is named is no such commit.
    """
    if revision is None:
        commits = log(history)
        return [one for one in commits if _is_jobs(one) and one.job != "undo"]
    name = history.repository.resolve(revision)
    if not name:
        shown = one_line(revision) or "an empty name"
        raise GitError(f"{shown} is not a commit here; filemem log lists them.")
    [commit] = read_commits(history.repository, "-1", name)
    if not _is_jobs(commit):
        folder = shlex.quote(history.folder.root)
        raise FilememError(
            f"{name[:8]} is a merge, or not a job's commit; take it back with "
            f"git -C {folder} revert {name[:8]}."
        )
    return [commit]


def _is_jobs(commit: Commit) -> bool:
    """Say whether a job made this commit, and no merge."""
    return bool(commit.job) and len(commit.parents) == 1


def _reverse(history: History, commit: Commit) -> list[FileChange]:
    """Return the changes that take a commit back; raises FilememError on a conflict."""
    repository = history.repository
    revisions = (commit.commit, repository.resolve(), *commit.parents)
    touched = repository.run(
        "diff-tree", "-r", "-z", "--name-only", *commit.parents, commit.commit
    )
    if all(_stays(history, commit, path) for path in split_nul(touched)):
        return []
    trees = Trees(*map(repository.tree, revisions))
    with history.folder.scratch() as scratch:
        merge = merge_trees(repository, trees, scratch, union=False)
    met = [path for path in merge.conflicts if not _stays(history, commit, path)]
    if met:
        named = first_few(map(history.own_path, met))
        raise FilememError(
            f"nothing was undone: {named}: what it wrote there has been changed since; "
            "correct it by hand, git log -p shows who wrote it."
        )
    changes = []
    for change in merge.changes:
        path = change.paths[0]
        is_summary = kind_of(history.own_path(path)) == "summaries"
        if commit.job in MOVING_JOBS and change.source and not is_summary:
            target = change.target or change.source
            change = replace(change, target=target, new=change.old)
        is_change = (change.source, change.old) != (change.target, change.new)
        if is_change and not _stays(history, commit, path):
            changes.append(change)
    return changes


def _stays(history: History, commit: Commit, path: str) -> bool:
    """Say whether a file, by its path in the repository, is left as it is.

    A log is, and what was said in a chat.
    """
    if is_log(path):
        return True
    return commit.job == "chat" and kind_of(history.own_path(path)) == "sessions"


def _sentence(source: str, target: str) -> str:
    """Say what became of a file."""
    if not target:
        return f"Deleted {source}."
    if not source:
        return f"Brought back {target}."
    if source == target:
        return f"Changed {target} back."
    return f"Moved {source} back to {target}."
