"""Take one commit of a job's back, and only that.

What was said in a chat stays, wherever its file lies; so do the logs, and what a
person wrote in a file that a job did no more than move.
"""

from __future__ import annotations

import datetime as dt
import shlex
from dataclasses import dataclass, replace

from filemem.errors import FilememError
from filemem.git.history import LOGS, Commit, History, commit_message, log, read_commits
from filemem.git.merge import FileChange, Trees, carry_out, check_clean, merge_trees
from filemem.git.repository import GitError, split_nul
from filemem.store import recalls
from filemem.store.paths import is_archived, kind_of, live
from filemem.store.scratch import Scratch
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
        commit, changes = _find(history, revision)
        check_clean(repository, changes)
        with history.noted():
            # Else the next sweep would archive again what comes back.
            back = _out_of_archive(history, changes)
            recalls.note_recalls(history.folder, back, recalls.RESTORED, at)
            carry_out(repository, changes)
            trailers = {"Job": "undo", "Undoes": commit.commit}
            message = commit_message(f'Undo "{commit.subject}"', trailers)
            paths = [history.own_path(p) for change in changes for p in change.paths]
            history.commit(paths, message, at)
    return Undone(commit, [_sentence(history, change) for change in changes])


def _find(history: History, revision: str | None) -> tuple[Commit, list[FileChange]]:
    """Return the commit to undo, and the changes that do; raises FilememError."""
    if revision is not None:
        commit = _named(history, revision)
        changes = _reverse(history, commit)
        if changes:
            return commit, changes
        raise FilememError(
            f"there is nothing left of {commit.commit[:8]} "
            f"({one_line(commit.subject, 60)}) to undo; see filemem log."
        )
    for commit in log(history):
        if _is_undoable(commit) and "Undoes" not in commit.trailers:
            changes = _reverse(history, commit)
            if changes:
                return commit, changes
    folder = shlex.quote(history.folder.root)
    raise FilememError(
        "filemem has made no commit that could be undone; filemem log lists all. "
        f"Your own edits git takes back: git -C {folder} diff shows them, restore "
        "FILE undoes them."
    )


def _is_undoable(commit: Commit) -> bool:
    """Say whether a job made this commit, and no merge."""
    return bool(commit.job) and len(commit.parents) == 1


def _named(history: History, revision: str) -> Commit:
    """Return the commit that a revision names; raises FilememError if it is no job's."""
    name = history.repository.resolve(revision)
    if not name:
        shown = one_line(revision) or "an empty name"
        raise GitError(f"{shown} is not a commit here; filemem log lists them.")
    [commit] = read_commits(history.repository, "-1", name)
    if not _is_undoable(commit):
        folder = shlex.quote(history.folder.root)
        raise FilememError(
            f"{name[:8]} is a merge, or not a job's commit; take it back with "
            f"git -C {folder} revert {name[:8]}."
        )
    return commit


def _reverse(history: History, commit: Commit) -> list[FileChange]:
    """Return the changes that take a commit back; raises FilememError on a conflict."""
    repository = history.repository
    revisions = (commit.commit, repository.resolve(), *commit.parents)
    touched = repository.run(
        "diff-tree", "-r", "-z", "--name-only", *commit.parents, commit.commit
    )
    if all(_stays(history, commit, path) for path in split_nul(touched)):
        return []
    trees = Trees(*(repository.tree(name, history.prefix) for name in revisions))
    with Scratch(history.folder) as scratch:
        merge = merge_trees(repository, trees, scratch, union=False)
    met = [path for path in merge.conflicts if not _stays(history, commit, path)]
    if met:
        raise FilememError(
            f"nothing was undone: {first_few(map(history.own_path, met))}: what it wrote "
            "there has been changed since; correct it by hand, git log -p shows who "
            "wrote it."
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
    if path.endswith(LOGS):
        return True
    return commit.job == "chat" and kind_of(history.own_path(path)) == "sessions"


def _out_of_archive(history: History, changes: list[FileChange]) -> list[str]:
    """Return the memories that the changes move out of the archive."""
    paths = []
    for change in changes:
        source = history.own_path(change.source)
        target = history.own_path(change.target)
        if is_archived(source) and live(source) == target:
            paths.append(target)
    return paths


def _sentence(history: History, change: FileChange) -> str:
    """Say what became of a file."""
    source = history.own_path(change.source)
    target = history.own_path(change.target)
    if not target:
        return f"Deleted {source}."
    if not source:
        return f"Brought back {target}."
    if source == target:
        return f"Changed {target} back."
    return f"Moved {source} back to {target}."
