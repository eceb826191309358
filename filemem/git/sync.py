"""Share memories with other machines: fetch, merge, push; never by force."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.git.history import (
    ATTRIBUTES,
    LOGS,
    History,
    changed_paths,
    commit_message,
)
from filemem.git.merge import FileChange, carry_out, merge_trees, pending
from filemem.git.repository import (
    NETWORK_TIMEOUT_SECONDS,
    GitError,
    GitResult,
    Repository,
    dated,
    read_text,
)
from filemem.store.folder import StoreFolder
from filemem.store.scratch import Scratch
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
    messages: list[str] = []
    with repository.lock():
        before = repository.resolve()
        branch = _exchange(history, branch, at, messages)
        brought_in = _count(repository, branch.commit, before)
        sent = _count(repository, repository.resolve(), branch.commit)
        unsent = [p for p in changed_paths(repository, "") if not p.endswith(LOGS)]
    if unsent:
        messages.append(f"Not committed by you, so not sent: {first_few(unsent)}.")
    if brought_in or sent:
        messages.append(f"Brought in {counted(brought_in, 'commit')}, sent {sent}.")
    else:
        messages.append("Everything is the same here and there.")
    return messages


def _exchange(
    history: History, branch: RemoteBranch, at: dt.datetime, messages: list[str]
) -> RemoteBranch:
    """Fetch, merge and push until no other machine's push comes in between.

    Returns the remote's branch as it was fetched last. `messages` gets a sentence for
    each file in which the two met.
    """
    repository = history.repository
    last = None
    refusal = ""
    for _ in range(MAX_PUSHES):
        branch = _fetch(repository, branch)
        if branch == last:
            break
        last = branch
        if branch.commit:
            messages += _bring_in(history, branch, at)
        head = repository.resolve()
        if not head:
            raise FilememError(
                "there is nothing to sync yet, here or there; remember something first."
            )
        if head != branch.commit:
            refusal = _push(repository, branch, head)
        if head == branch.commit or not refusal:
            return branch
    raise GitError(
        f"{one_line(branch.remote)} did not take the push ({refusal}); what "
        "came in is merged, and what is committed here goes with the next sync."
    )


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


def _bring_in(history: History, branch: RemoteBranch, at: dt.datetime) -> list[str]:
    """Bring files and HEAD to the remote's commit, or to one that holds both.

    Returns a sentence for each file in which the two met. Raises FilememError, with
    nothing written, as `pending` does.
    """
    repository = history.repository
    ours = repository.resolve()
    theirs = branch.commit
    base = repository.call("merge-base", ours, theirs).stdout.decode().strip()
    if base == theirs:
        return []
    if ours and not base:
        _require_memories(repository, theirs)
    with Scratch(history.folder) as scratch:
        merge = merge_trees(
            repository,
            repository.tree(base),
            repository.tree(ours),
            repository.tree(theirs),
            scratch,
            union=True,
        )
    subject = f"Merge memories from {one_line(branch.remote, 40)}"
    message = commit_message(subject, {"Job": "sync"})
    written = _carry_out(history, merge.changes, message, at)
    commit = theirs
    if base != ours:
        commit = repository.text(
            *("commit-tree", "--no-gpg-sign", f"{written}^{{tree}}"),
            *("-p", ours, "-p", theirs),
            stdin=message.encode(),
            env=dated(at),
        )
    reason = f"filemem: {subject}"
    repository.run("update-ref", "-m", reason, "HEAD", commit, written)
    return [f"{one_line(path)} {what}" for path, what in merge.conflicts.items()]


def _require_memories(repository: Repository, commit: str) -> None:
    """Raise FilememError if a commit is not of a store that is set up for filemem."""
    attributes = repository.call("show", f"{commit}:.gitattributes").stdout
    if ATTRIBUTES[0].encode() not in attributes:
        raise FilememError(
            "the remote holds something other than memories; name another remote."
        )


def _carry_out(
    history: History, changes: list[FileChange], message: str, at: dt.datetime
) -> str:
    """Make the changes on disk and commit them; return the commit."""
    repository = history.repository
    with contextlib.ExitStack() as held:
        users = _users_of(history, changes)
        for user in users:
            held.enter_context(user.folder.locked())
        todo = pending(repository, changes)
        for user in users:
            held.enter_context(user.noted())
        carry_out(repository, todo)
        paths = {path for change in changes for path in change.paths}
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
