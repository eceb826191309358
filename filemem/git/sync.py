"""Share memories with other machines: fetch, merge, push; never by force."""

import contextlib
import datetime as dt
import os
from collections.abc import Collection
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.git.command import GitError
from filemem.git.commits import commit_message
from filemem.git.departed import follow, incoming, note_merge
from filemem.git.history import ATTRIBUTES, History, changes_in, is_log, without_logs
from filemem.git.job_frame import JobFrame, commit_paths, recover
from filemem.git.merge import carry_out, merge_trees
from filemem.git.repository import Repository, read_text
from filemem.store.users import StoreFolder
from filemem.text.plain import first_few, one_line

NOTED = "Note what was recalled and imported"
MAX_PUSH_ATTEMPTS = 6  # before each of which another machine may push
# The old names of commits that were rewritten so as to forget, in the git directory.
PURGED = "filemem-purged"
# For a remote on this machine, whose hooks and settings would run here.
_INERT_RECEIVER = (
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true "
    "-c receive.autogc=false -c receive.denyCurrentBranch=refuse receive-pack"
)


@dataclass(frozen=True)
class RemoteBranch:
    """A branch of a remote, as its full ref there; `commit` is '' if there is none."""

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
    for user in _users(history):
        recover(user)
    with repository.lock():
        messages = follow(repository, _users(history))  # a merge that was cut off
        for user in _users(history):
            commit_paths(user, (), NOTED, at)
        messages += _exchange(history, branch, at)
        unsent = without_logs(changes_in(repository, ""))
    if unsent:
        messages.append(f"Not committed by you, so not sent: {first_few(unsent)}.")
    place = one_line(branch.remote)
    return [*messages, f"What is committed is the same here and on {place}."]


def _users(history: History, tops: Collection[str] | None = None) -> list[History]:
    """Return the histories of those whose memories are in the repository.

    With `tops`, the first folders of some paths, of those alone whose these are.
    """
    if not history.prefix:
        return [history]
    store = StoreFolder(history.folder.store)
    users = map(store.folder, store.users())
    return [History(one) for one in users if tops is None or one.own_folder in tops]


def _exchange(history: History, branch: RemoteBranch, at: dt.datetime) -> list[str]:
    """Fetch, merge and push until no other machine's push comes in between.

    Returns a sentence for each file in which the two met.
    """
    repository = history.repository
    messages = []
    refusal = ""
    for _ in range(MAX_PUSH_ATTEMPTS):
        last = branch
        branch = _fetch(repository, branch)
        if refusal and branch == last:
            break
        messages += _bring_in(history, branch, at)
        head = repository.resolve()
        if not head:
            raise FilememError(
                "there is nothing to sync yet, here or there; remember something first."
            )
        refusal = _push(repository, branch, head)
        if not refusal:
            return messages
    raise GitError(
        f"{one_line(branch.remote)} did not take the push ({refusal}); what "
        "came in is merged, and what is committed here goes with the next sync."
    )


# -- the remote ----------------------------------------------------------------------


def _remote_branch(repository: Repository, given: str | None) -> RemoteBranch:
    """Return the remote that is meant, and which of its branches.

    Raises FilememError, with the command that adds one, if there is no remote.
    """
    branch = repository.branch()
    followed = repository.setting(f"branch.{branch}.remote")
    remote = given or followed
    if not remote and repository.setting("remote.origin.url"):
        remote = "origin"
    if not remote:
        raise FilememError(
            "there is no remote to sync with; name one, or add one: "
            f"git -C {repository.root} remote add origin URL."
        )
    ref = ""
    if remote == followed:
        ref = repository.setting(f"branch.{branch}.merge")
    return RemoteBranch(remote, ref or f"refs/heads/{branch}")


def _fetch(repository: Repository, branch: RemoteBranch) -> RemoteBranch:
    """Fetch the remote's branch and return it with its newest commit.

    If the remote has one branch alone, that is the one, whatever it is called. Raises
    GitError if it cannot be reached, FilememError if it has what was purged here.
    """
    remote = branch.remote
    heads = {}
    listed = _reach(repository, "ls-remote", "--heads", "--", remote)
    for line in listed.splitlines():
        commit, _, ref = line.partition("\t")
        heads[ref] = commit
    ref = branch.ref
    if ref not in heads and len(heads) == 1:
        [ref] = heads
    commit = heads.get(ref, "")
    purged = {*read_text(repository.git_dir, PURGED).split()}
    commits = {commit}
    if commit and commit not in purged:
        _reach(repository, "fetch", "--quiet", "--no-tags", "--", remote, ref)
        if purged:
            commits = {*repository.text("rev-list", commit).split()}
    if not purged.isdisjoint(commits):
        raise FilememError(
            f"{one_line(remote)} still has the history that was purged here, and "
            "would bring it back; replace it with git push --force, then sync again."
        )
    return RemoteBranch(remote, ref, commit)


def _reach(repository: Repository, command: str, *arguments: str) -> str:
    """Return what a git command that asks a remote prints; raises GitError."""
    result = repository.call(command, *arguments)
    if result.code:
        raise GitError(
            f"the remote cannot be reached ({result.reason}); everything is "
            "committed here and goes with the next sync."
        )
    return os.fsdecode(result.stdout)


def _push(repository: Repository, branch: RemoteBranch, commit: str) -> str:
    """Push a commit, never by force; return why the remote did not take it, or ''."""
    urls = repository.settings(f"remote.{branch.remote}.pushurl")
    if not urls:
        urls = repository.settings(f"remote.{branch.remote}.url") or [branch.remote]
    for url in urls:
        receiver = []
        if _is_on_this_machine(repository.text("ls-remote", "--get-url", "--", url)):
            receiver = [f"--receive-pack={_INERT_RECEIVER}"]
        place = url if len(urls) > 1 else branch.remote
        result = repository.call(
            "push", *receiver, "--", place, f"{commit}:{branch.ref}"
        )
        if result.code:
            return result.reason
    return ""


def _is_on_this_machine(url: str) -> bool:
    """Say whether git takes a URL for a path on this machine, whatever lies there.

    That is a `file:` URL, and one without a colon before its first slash.
    """
    return url.lower().startswith("file:") or ":" not in url.partition("/")[0]


# -- merging -------------------------------------------------------------------------


def _bring_in(history: History, branch: RemoteBranch, at: dt.datetime) -> list[str]:
    """Bring files and HEAD to the remote's commit, or to one that holds both.

    Who was deleted or renamed there is so here then, too.

    Returns a sentence for each of these, and for each file in which the two met. Raises
    FilememError, with nothing written, as `carry_out` does.
    """
    repository = history.repository
    theirs = branch.commit
    ours = repository.resolve()
    base = repository.call("merge-base", ours, theirs).stdout.decode().strip()
    if base == theirs:  # both are '' where neither side has a commit
        return []
    attributes = repository.call("show", f"{theirs}:.gitattributes").stdout
    if ours and not base and ATTRIBUTES[0].encode() not in attributes:
        raise FilememError(
            "the remote holds something other than memories; name another remote."
        )
    before = repository.tree(base)
    after = repository.tree(theirs)
    tops = {path.partition("/")[0] for path, _ in before.items() ^ after.items()}
    users = _users(history, tops)
    with contextlib.ExitStack() as held:
        for user in users:
            held.enter_context(user.folder.locked())
            commit_paths(user, (), NOTED, at)  # what was recalled since
            held.enter_context(JobFrame(user).noted())
        ours = repository.resolve()
        now = repository.tree(ours)
        if history.prefix and base:
            note_merge(repository, ours, theirs)
            before = incoming(repository, ours, theirs).without_logs(users, now)
        scratch = held.enter_context(history.folder.scratch())
        changes = merge_trees(repository, scratch, before, now, after)
        carry_out(repository, changes)
        paths = [path for change in changes for path in change.paths]
        forward = "filemem: fast-forward"
        if base != ours or not repository.advance(paths, theirs, ours, forward):
            subject = f"Merge memories from {one_line(branch.remote, 40)}"
            message = commit_message(subject, {"Job": "sync"})
            repository.commit(paths, message, at, merged=theirs, onto=ours)
        told = follow(repository, users)
    for change in changes:
        path = change.paths[0]
        if change.conflict and not is_log(path):
            told.append(f"{one_line(path)} {change.conflict}")
    return told
