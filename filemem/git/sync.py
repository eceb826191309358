"""Share memories with other machines: fetch, merge, push; never by force."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from dataclasses import dataclass, field

from filemem.errors import FilememError
from filemem.files.folder import StoreFolder
from filemem.files.scratch import Scratch
from filemem.git.history import (
    ATTRIBUTES,
    LOGS,
    History,
    changed_paths,
    commit_message,
)
from filemem.git.merge import FileChange, Merge, carry_out, merge_trees, pending
from filemem.git.repository import (
    NETWORK_TIMEOUT_SECONDS,
    GitError,
    GitResult,
    Repository,
    dated,
    read_text,
)
from filemem.text.plain import counted, first_few, one_line

MAX_PUSHES = 6  # before which another machine may come each time
# The old names of commits that were rewritten so as to forget, in the git directory.
PURGED = "filemem-purged"
# For a remote on this machine, whose hooks and settings would run here.
_INERT_RECEIVER = (
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true "
    "-c receive.autogc=false -c receive.denyCurrentBranch=refuse receive-pack"
)


@dataclass(frozen=True)
class RemoteBranch:
    """A branch of a remote, as its full ref there; `commit` is '' if it has none yet."""

    remote: str
    ref: str
    commit: str = ""


@dataclass
class _Exchange:
    """What a sync has come to so far."""

    brought_in: int = 0
    sent: int = 0
    refusal: str = ""  # why the remote did not take the last push
    messages: list[str] = field(default_factory=list)


def sync(history: History, remote: str | None, at: dt.datetime) -> list[str]:
    """Bring in what other machines have learnt and send what this one has.

    Every line that anyone wrote is still there. Returns what to tell the person. Raises
    FilememError, with what is committed here kept for the next time, if the remote
    cannot be reached or does not take it, or what comes in meets uncommitted edits.
    """
    repository = history.require()
    if os.path.realpath(history.managed_root) != repository.root:
        raise FilememError(
            f"{history.managed_root} is only a part of {repository.root}; "
            "merge it with git pull and git push."
        )
    branch = _remote_branch(repository, remote)
    history.recover()
    history.record("Note what was recalled and imported", LOGS, {}, at)
    with repository.lock():
        done = _exchange(history, branch, at)
        drafts = changed_paths(repository, "")
    unsent = [path for path in drafts if not path.endswith(LOGS)]
    if unsent:
        done.messages.append(f"Not committed by you, so not sent: {first_few(unsent)}.")
    if done.brought_in or done.sent:
        brought_in = counted(done.brought_in, "commit")
        done.messages.append(f"Brought in {brought_in}, sent {done.sent}.")
    else:
        done.messages.append("Everything is the same here and there.")
    return done.messages


def _exchange(history: History, branch: RemoteBranch, at: dt.datetime) -> _Exchange:
    """Fetch, merge and push until nobody else's push comes in between."""
    repository = history.repository
    done = _Exchange()
    last = ""
    for attempt in range(MAX_PUSHES):
        ours = repository.resolve()
        branch = _fetch(repository, branch)
        theirs = branch.commit
        if not ours and not theirs:
            raise FilememError(
                "there is nothing to sync yet, here or there; remember something first."
            )
        if attempt and theirs == last:
            break
        commit = ours
        if theirs:
            commit = _bring_in(history, branch, at, done)
        done.brought_in += _count(repository, theirs, ours)
        done.sent = _count(repository, commit, theirs)
        last = theirs
        done.refusal = ""
        if commit != theirs:
            done.refusal = _push(repository, branch, commit)
        if not done.refusal:
            break
    if done.refusal:
        raise GitError(
            f"{one_line(branch.remote)} did not take the push ({done.refusal}); what "
            "came in is merged, and what is committed here goes with the next sync."
        )
    return done


def _count(repository: Repository, after: str, before: str) -> int:
    """Return how many commits one has that the other has not."""
    if not after:
        return 0
    without = [f"^{before}"] if before else []
    return int(repository.text("rev-list", "--count", after, *without))


# -- the remote ----------------------------------------------------------------------


def _remote_branch(repository: Repository, given: str | None) -> RemoteBranch:
    """Return the remote that is meant, and which of its branches.

    Raises FilememError, with the command that adds one, if there is no remote.
    """
    branch = repository.branch()
    followed = repository.setting(f"branch.{branch}.remote")
    remote = given or followed or _only_remote(repository)
    if not remote:
        raise FilememError(
            "there is no remote to sync with; name one, or add one: "
            f"git -C {repository.root} remote add origin URL."
        )
    ref = ""
    if remote == followed:
        ref = repository.setting(f"branch.{branch}.merge")
    return RemoteBranch(remote, ref or f"refs/heads/{branch}")


def _only_remote(repository: Repository) -> str:
    remotes = repository.text("remote").split()
    if len(remotes) == 1:
        return remotes[0]
    return "origin" if "origin" in remotes else ""


def _fetch(repository: Repository, branch: RemoteBranch) -> RemoteBranch:
    """Fetch the remote's branch and return it with its newest commit.

    If the remote has one branch alone, that is the one, whatever it is called. Raises
    GitError if it cannot be reached, FilememError if it has what was purged here.
    """
    remote = branch.remote
    purged = {*read_text(repository.git_dir, PURGED).split()}
    listed = repository.call(
        *("ls-remote", "--heads", "--", remote), timeout=NETWORK_TIMEOUT_SECONDS
    )
    _require_reached(remote, listed)
    heads = {}
    for line in os.fsdecode(listed.stdout).splitlines():
        commit, _, ref = line.partition("\t")
        heads[ref] = commit
    ref = branch.ref
    if ref not in heads and len(heads) == 1:
        [ref] = heads
    commit = heads.get(ref, "")
    if commit and commit not in purged:
        fetched = repository.call(
            *("fetch", "--quiet", "--no-tags", "--", remote, ref),
            timeout=NETWORK_TIMEOUT_SECONDS,
        )
        _require_reached(remote, fetched)
    if commit and purged:
        commits = [commit]
        if commit not in purged:
            commits = repository.text("rev-list", commit).split()
        if not purged.isdisjoint(commits):
            raise FilememError(
                f"{one_line(remote)} still has the history that was purged here, and "
                "would bring it back; replace it with git push --force, then sync "
                "again."
            )
    return RemoteBranch(remote, ref, commit)


def _require_reached(remote: str, result: GitResult) -> None:
    if result.code:
        raise GitError(
            f"{one_line(remote)} cannot be reached ({result.reason}); everything is "
            "committed here and goes with the next sync."
        )


def _push(repository: Repository, branch: RemoteBranch, commit: str) -> str:
    """Push a commit, never by force; return why the remote did not take it, or ''."""
    url = repository.setting(f"remote.{branch.remote}.pushurl")
    if not url:
        url = repository.text("ls-remote", "--get-url", "--", branch.remote)
    path = os.path.join(repository.root, url.removeprefix("file://"))
    receiver = []
    if os.path.exists(path):
        receiver = [f"--receive-pack={_INERT_RECEIVER}"]
    result = repository.call(
        *("push", *receiver, "--", branch.remote, f"{commit}:{branch.ref}"),
        timeout=NETWORK_TIMEOUT_SECONDS,
    )
    return result.reason if result.code else ""


# -- merging -------------------------------------------------------------------------


def _bring_in(
    history: History, branch: RemoteBranch, at: dt.datetime, done: _Exchange
) -> str:
    """Bring files and branch to the remote's commit, or to one that holds both.

    Returns that commit; `done` gets a sentence for each file in which the two met.
    Raises FilememError, with nothing written, as `pending` does.
    """
    repository = history.repository
    ours = repository.resolve()
    theirs = branch.commit
    base = repository.call("merge-base", ours, theirs).stdout.decode().strip()
    if base == theirs:
        return ours
    if ours and not base:
        _require_memories(repository, theirs)
    subject = f"Merge memories from {one_line(branch.remote, 40)}"
    with Scratch(history.folder) as scratch:
        merge = merge_trees(
            repository,
            repository.tree(base),
            repository.tree(ours),
            repository.tree(theirs),
            scratch,
            union=True,
        )
    written = _carry_out(history, merge, subject, at)
    commit = theirs
    if base != ours:
        commit = _merge_commit(repository, written, [ours, theirs], subject, at)
    log_message = f"filemem: {subject}"
    repository.run("update-ref", "-m", log_message, "HEAD", commit, written)
    for path, what in merge.conflicts.items():
        done.messages.append(f"{one_line(path)} {what}")
    return commit


def _require_memories(repository: Repository, commit: str) -> None:
    """Raise FilememError if a commit is not of a store that is set up for filemem."""
    attributes = repository.call("show", f"{commit}:.gitattributes").stdout
    if ATTRIBUTES[0].encode() not in attributes:
        raise FilememError(
            "the remote holds something other than memories; name another remote."
        )


def _carry_out(history: History, merge: Merge, subject: str, at: dt.datetime) -> str:
    """Make the changes of a merge on disk and commit them; return the commit."""
    repository = history.repository
    with contextlib.ExitStack() as held:
        users = _users_of(history, merge.changes)
        for user in users:
            held.enter_context(user.folder.locked())
        todo = pending(repository, merge.changes)
        for user in users:
            held.enter_context(user.noted())
        carry_out(repository, todo)
        paths = {path for change in merge.changes for path in change.paths}
        message = commit_message(subject, {"Job": "sync"})
        repository.commit(sorted(paths), message, at)
        return repository.resolve()


def _users_of(history: History, changes: list[FileChange]) -> list[History]:
    """Return the histories of the users whose memories the changes are about."""
    store = StoreFolder(history.folder.store)
    names = set()
    for change in changes:
        place = f"{history.repository.root}/{change.path}"
        names.add(os.path.relpath(place, store.root).split("/")[0])
    return [History(store.folder(name)) for name in sorted(names & {*store.users()})]


def _merge_commit(
    repository: Repository,
    written: str,
    parents: list[str],
    subject: str,
    at: dt.datetime,
) -> str:
    """Write a commit with the tree of `written` and these parents; return its name."""
    arguments = []
    for parent in parents:
        if parent:
            arguments += ["-p", parent]
    return repository.text(
        *("commit-tree", "--no-gpg-sign", f"{written}^{{tree}}", *arguments),
        stdin=commit_message(subject, {"Job": "sync"}).encode(),
        env=dated(at),
    )
