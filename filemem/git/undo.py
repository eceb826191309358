"""Take one commit of a job's back, and only that.

What was said in a chat stays, wherever its file lies; so do the logs, and what a
person wrote in a file that a job did no more than move.
"""

from __future__ import annotations

import datetime as dt
import shlex
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.git.history import LOGS, Commit, History, commit_message, log, read_commits
from filemem.git.merge import FileChange, Merge, carry_out, merge_trees, pending
from filemem.git.repository import GitError, split_nul
from filemem.store import recalls
from filemem.store.paths import archived, is_archived, kind_of, live
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
    """Undo a job's commit, by default the last that can be.

    Raises FilememError, with nothing written, if a file has uncommitted changes or has
    changed since in the same lines. If an undo was cut off, what it had written is
    committed, and the same call does the rest.
    """
    repository = history.require()
    history.recover()  # what waits may be the last commit
    with repository.lock(), history.folder.locked():
        commit = _find(history, revision)
        merge = _reverse(history, commit)
        changes = merge.changes
        if revision and not changes:
            raise FilememError(
                f"there is nothing left of {commit.commit[:8]} "
                f"({one_line(commit.subject, 60)}) to undo; see filemem log."
            )
        todo = pending(repository, changes)
        with history.noted():
            # Else the next sweep would archive again what comes back.
            back = _out_of_archive(history, changes)
            recalls.note_recalls(history.folder, back, recalls.RESTORED, at)
            carry_out(repository, todo)
            trailers = {"Job": "undo", "Undoes": commit.commit}
            message = commit_message(f'Undo "{commit.subject}"', trailers)
            paths = [history.own_path(p) for change in changes for p in change.paths]
            history.commit(paths, message, at)
    return Undone(commit, [_sentence(history, change) for change in changes])


def _find(history: History, revision: str | None) -> Commit:
    """Return the commit to undo; raises FilememError if there is none to be undone."""
    if revision is None:
        return _last_undoable(history)
    repository = history.repository
    name = repository.resolve(revision)
    if not name:
        shown = one_line(revision) or "an empty name"
        raise GitError(f"{shown} is not a commit here; filemem log lists them.")
    [commit] = read_commits(repository, "-1", name)
    short = name[:8]
    if len(commit.parents) > 1:
        raise FilememError(
            f"{short} is a merge; undo the commits that it brought in, "
            "filemem log lists them."
        )
    if not commit.job:
        raise FilememError(
            f"{short} is not a job's commit; take it back with "
            f"git -C {shlex.quote(history.folder.root)} revert {short}."
        )
    return commit


def _last_undoable(history: History) -> Commit:
    """Return the last commit of a job that did more than keep a conversation.

    Undos, merges and what is undone already are passed over.
    """
    undone = set()
    for commit in log(history):
        if commit.job in ("", "sync") or commit.commit in undone:
            continue
        if "Undoes" in commit.trailers:
            undone.add(commit.trailers["Undoes"])
        elif len(commit.parents) == 1 and _changes_memories(history, commit):
            return commit
    folder = shlex.quote(history.folder.root)
    raise FilememError(
        "filemem has made no commit that could be undone; filemem log lists all. "
        f"Your own edits git takes back: git -C {folder} diff shows them, restore "
        "FILE undoes them."
    )


def _changes_memories(history: History, commit: Commit) -> bool:
    """Say whether a commit changed anything that undoing it would touch."""
    listed = history.repository.run(
        "diff-tree", "-r", "-z", "--name-only", *commit.parents, commit.commit
    )
    return not all(_stays(history, commit, path) for path in split_nul(listed))


def _stays(history: History, commit: Commit, path: str) -> bool:
    """Say whether a file, by its path in the repository, is left as it is.

    A log is, and what was said in a chat.
    """
    if path.endswith(LOGS):
        return True
    return commit.job == "chat" and kind_of(history.own_path(path)) == "sessions"


def _reverse(history: History, commit: Commit) -> Merge:
    """Return the changes that take a commit back; raises FilememError on a conflict."""
    repository = history.repository
    prefix = history.prefix
    after = repository.tree(commit.commit, prefix)
    before = repository.tree("".join(commit.parents), prefix)
    if commit.job in MOVING_JOBS:
        before = _moved_back(history, before, after)
    now = repository.tree(repository.resolve(), prefix)
    with Scratch(history.folder) as scratch:
        merge = merge_trees(repository, after, now, before, scratch, union=False)
    met = [
        one_line(history.own_path(path))
        for path in merge.conflicts
        if not _stays(history, commit, path)
    ]
    if met:
        raise FilememError(
            f"nothing was undone: {first_few(met)}: what it wrote there has been "
            "changed since; correct it by hand, git log -p shows who wrote it."
        )
    merge.changes = [c for c in merge.changes if not _stays(history, commit, c.path)]
    return merge


def _moved_back(
    history: History, before: dict[str, str], after: dict[str, str]
) -> dict[str, str]:
    """Return the tree before a job that moves files, with what they hold after it.

    So an undo moves them back and changes nothing in them: what else a commit of a
    move has, such as edits that were not committed before, a person wrote. For the
    same reason no file goes that the tree before did not have at all.
    """
    wanted = dict(before)
    for path, entry in after.items():
        own = history.own_path(path)
        if before.get(path) == entry or kind_of(own) == "summaries":
            continue
        prefix = path.removesuffix(own)
        names = (prefix + live(own), prefix + archived(own))
        earlier = [name for name in names if name in before]
        if path in earlier:
            place = path
        elif earlier:
            place = earlier[0]
        else:
            place = names[0] if is_archived(own) else path
        wanted[place] = entry
    return wanted


def _out_of_archive(history: History, changes: list[FileChange]) -> list[str]:
    """Return the memories that the changes move out of the archive."""
    paths = []
    for change in changes:
        source = history.own_path(change.source)
        target = history.own_path(change.target)
        if target and source != target and source == archived(target):
            paths.append(target)
    return paths


def _sentence(history: History, change: FileChange) -> str:
    """Say what became of a file."""
    source = history.own_path(change.source)
    target = history.own_path(change.target)
    if source and target:
        if source == target:
            return f"Changed {target} back."
        return f"Moved {source} back to {target}."
    return f"Brought back {target}." if target else f"Deleted {source}."
