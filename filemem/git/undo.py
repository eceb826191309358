"""Take one commit of a job's back, and only that.

What was said in a chat stays, wherever its file lies; so do the logs, and what a
person wrote in a file that a job did no more than move.
"""

import datetime as dt
import shlex
from dataclasses import dataclass, replace

from filemem.errors import FilememError
from filemem.git.command import GitError
from filemem.git.commits import Commit, commit_message, log
from filemem.git.history import History, is_log
from filemem.git.job_frame import JobFrame, commit_paths, recover
from filemem.git.merge import FileChange, carry_out, merge_trees
from filemem.store import recalls
from filemem.store.paths import Kind, is_archived, kind_of, live
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
    recover(history)  # what waits may be the last commit
    with repository.lock(), history.folder.locked():
        for commit in _undoable(history, revision):
            changes = _reverse(history, commit)
            if changes:
                return _take_back(history, commit, changes, at)
    raise FilememError(
        "there is nothing left to undo; filemem log lists the commits. Your own edits "
        f"git takes back: git -C {shlex.quote(history.folder.root)} restore FILE."
    )


def next_to_undo(history: History) -> Commit | None:
    """Return the commit that `undo` takes back if none is named; None if none is left.

    Raises:
        GitError, FilememError: as `undo` does.
    """
    recover(history)
    for commit in _undoable(history, None):
        if _reverse(history, commit):
            return commit
    return None


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
    with JobFrame(history).noted():
        # Else the next sweep would archive again what comes back.
        recalls.note_recalls(history.folder, restored, recalls.How.RESTORED, at)
        carry_out(history.repository, changes)
        trailers = {"Job": "undo", "Undoes": commit.commit}
        message = commit_message(f'Undo "{commit.subject}"', trailers)
        paths = [history.own_path(path) for one in changes for path in one.paths]
        commit_paths(history, paths, message, at)
    return Undone(commit, sentences)


def _undoable(history: History, revision: str | None) -> list[Commit]:
    """Return the commit of a job that is named, else all but undos, the newest first.

    Raises FilememError if what is named is no such commit.
    """
    commits = [one for one in log(history) if one.job and len(one.parents) == 1]
    if revision is None:
        return [one for one in commits if one.job != "undo" and not one.departs]
    name = history.repository.resolve(revision)
    if not name:
        shown = one_line(revision) or "an empty name"
        raise GitError(f"{shown} is not a commit here; filemem log lists them.")
    named = [one for one in commits if one.commit == name]
    if not named:
        folder = shlex.quote(history.folder.root)
        raise FilememError(
            f"{name[:8]} is a merge, or no commit of a job on these memories; take it "
            f"back with git -C {folder} revert {name[:8]}."
        )
    if named[0].departs:
        raise FilememError(
            f"{name[:8]} gave the user another name or deleted them, which is not"
            " undone; the rename method of Store gives a name back."
        )
    return named


def _reverse(history: History, commit: Commit) -> list[FileChange]:
    """Return the changes that take a commit back; raises FilememError on a conflict."""
    repository = history.repository
    revisions = (commit.commit, "HEAD", *commit.parents)
    trees = map(repository.tree, revisions)
    with history.folder.scratch() as scratch:
        merged = merge_trees(repository, scratch, *trees)
    changes = []
    met = []
    for change in merged:
        path = history.own_path(change.paths[0])
        if _stays(commit, path):
            continue
        if change.conflict:
            met.append(path)
        has_moved = commit.job in MOVING_JOBS and change.source
        if has_moved and kind_of(path) != Kind.SUMMARIES:
            target = change.target or change.source
            change = replace(change, target=target, new=change.old)
        if change.is_any:
            changes.append(change)
    if met:
        raise FilememError(
            f"nothing was undone: {first_few(met)}: what it wrote there has been "
            "changed since; correct it by hand, git log -p shows who wrote it."
        )
    return changes


def _stays(commit: Commit, path: str) -> bool:
    """Say whether a file is left as it is: a log, and what was said in a chat."""
    return is_log(path) or (commit.job == "chat" and kind_of(path) == Kind.SESSIONS)


def _sentence(source: str, target: str) -> str:
    """Say what became of a file."""
    if not target:
        return f"Deleted {source}."
    if not source:
        return f"Brought back {target}."
    if source == target:
        return f"Changed {target} back."
    return f"Moved {source} back to {target}."
