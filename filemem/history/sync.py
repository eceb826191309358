"""The same memories on several machines: fetch, merge, push, with every line that anyone wrote still there afterwards.

The merge is made beside the work tree and pushed first; only what the remote has taken is brought into the files. So a
rejected push leaves nothing to take back, and two machines never merge the same commits twice over.
"""

from __future__ import annotations

import datetime as dt
import os
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.history.commits import ATTRIBUTES, History
from filemem.history.git import LOGS, NETWORK, GitDone, GitError, Repository, reason
from filemem.text.plain import first_few, one_line

# For a remote on this machine, whose hooks and settings would run here.
_INERT_RECEIVER = (
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true -c receive.autogc=false receive-pack"
)
_TRIES = 6  # pushes that another machine may come before


class Synced(NamedTuple):
    """What a sync did: commits brought in and sent, the files with two versions, and sentences for the person."""

    fetched: int
    pushed: int
    doubled: list[str]
    notes: list[str]


class _Remote(NamedTuple):
    name: str
    branch: str  # there, as refs/heads/…
    followed: bool  # does the local branch follow it already?


def sync(history: History, remote: str | None, at: dt.datetime) -> Synced:
    """Bring in what other machines have learnt and send what this one has.

    Raises FilememError, with everything committed here kept for the next time, where the remote cannot be reached, or
    what comes in meets uncommitted edits.
    """
    repository = history.require()
    if os.path.realpath(history.home) != repository.where:
        what = f"{history.home} is only a part of {repository.where}"
        raise FilememError(f"{what}; bring it together with git pull and git push.")
    where, everyone = _remote(repository, remote), history.everyone()
    with repository.alone():
        history.finish()
    for one in everyone:
        one.record("Note what was recalled and imported", LOGS, {"Job": "sync"}, at)
    for _ in range(_TRIES):
        ours, theirs = repository.head(), _fetch(repository, where)
        if not ours and not theirs:
            raise FilememError("there is nothing to sync yet, here or there; remember something first.")
        unrelated = ours and theirs and not repository.ask("merge-base", ours, theirs).out
        if unrelated and ATTRIBUTES[0].encode() not in repository.ask("show", f"{theirs}:.gitattributes").out:
            raise FilememError("the remote holds something else than memories; name another remote.")
        new, doubled, kept = history.joined(ours, theirs, f"Merge memories from {one_line(where.name, 40)}", at)
        history.arriving(ours, new)  # raises where it could not be brought in
        refused = _push(repository, where, new) if new != theirs else None
        if refused and "[rejected]" in refused:
            continue
        with repository.alone():
            history.land(new)
        if refused:
            raise GitError(f"{refused}; what came in is merged, and what is committed here goes with the next sync.")
        notes = [f"{one_line(path)}: deleted on one machine and changed on the other; it is kept." for path in kept]
        left = [os.path.join(one.folder.name, path) for one in everyone for path in one.uncommitted()]
        notes += [f"Not committed by you, so not sent: {first_few(left)}."] if left else []
        return Synced(_count(repository, ours, theirs), _count(repository, theirs, new), doubled, notes)
    raise GitError(f"{where.name} kept changing while this machine pushed; everything is kept here, try again.")


def _count(repository: Repository, old: str, new: str) -> int:
    """The commits that `new` has beyond `old`."""
    return int(repository.text("rev-list", "--count", new, *([f"^{old}"] if old else []))) if new else 0


# -- the remote ----------------------------------------------------------------------------------------------------


def _remote(repository: Repository, given: str | None) -> _Remote:
    """Which remote is meant, and which of its branches; raises FilememError with the command that adds one."""
    branch, known = repository.branch(), repository.text("remote").split()
    followed = repository.setting(f"branch.{branch}.remote")
    name = given or followed or (known[0] if len(known) == 1 else "origin" if "origin" in known else "")
    if not name:
        add = f"git -C {repository.where} remote add origin URL"
        hint = f"name one of {', '.join(known)}" if known else f"add one: {add}"
        raise FilememError(f"there is no remote to sync with; {hint}.")
    if name.startswith("-"):
        raise FilememError(f"{one_line(name)} is no remote; name one as git does.")
    place = _place_here(repository, name)
    if place and f"{place}/".startswith(f"{repository.where}/"):  # as data it could have git run its hooks
        raise FilememError(f"{one_line(name)} lies among the memories, at {one_line(place)}; keep it elsewhere.")
    follows = name == followed
    return _Remote(name, (follows and repository.setting(f"branch.{branch}.merge")) or f"refs/heads/{branch}", follows)


def _place_here(repository: Repository, name: str) -> str:
    """The real folder of a remote that lies on this machine; empty for one elsewhere."""
    done = repository.ask("remote", "get-url", "--push", name)
    url = os.fsdecode(done.out).strip() if not done.code else name
    place = os.path.realpath(os.path.join(repository.where, url.removeprefix("file://")))
    return place if os.path.exists(place) else ""


def _fetch(repository: Repository, where: _Remote) -> str:
    """The remote branch's newest commit, fetched; empty where there is none yet. Raises GitError."""

    def reached(*arguments: str) -> GitDone:
        done = repository.ask(*arguments, "--", where.name, where.branch, timeout=NETWORK)
        if done.code:
            words = f"{one_line(where.name)} cannot be reached ({reason(done)})"
            raise GitError(f"{words}; everything is committed here and goes next time.")
        return done

    with repository.alone():
        line = next(iter(reached("ls-remote", "--heads").out.decode().splitlines()), "")
        commit, purged = line.partition("\t")[0], repository.purged()
        if commit and commit not in purged:
            reached("fetch", "--quiet", "--no-tags")
            commit = repository.text("rev-parse", "--verify", "FETCH_HEAD^{commit}")
    if commit in purged or (purged and commit and not purged.isdisjoint(repository.text("rev-list", commit).split())):
        what = f"{one_line(where.name)} still has the history that was purged here, and would bring it back"
        raise FilememError(f"{what}; replace it with git push --force, then sync again.")
    return commit


def _push(repository: Repository, where: _Remote, commit: str) -> str | None:
    """Send a commit as the remote branch's new end, never by force; why not, or None."""
    here = (f"--receive-pack={_INERT_RECEIVER}",) if _place_here(repository, where.name) else ()
    with repository.alone():
        done = repository.ask("push", "--porcelain", *here, where.name, f"{commit}:{where.branch}", timeout=NETWORK)
        if not done.code:
            if not where.followed and where.name in repository.text("remote").split():
                for key, value in (("remote", where.name), ("merge", where.branch)):
                    own = ("config", "--file", os.path.join(repository.common, "config"))
                    repository.ask(*own, f"branch.{repository.branch()}.{key}", value)
            return None
    verdict = next((line for line in done.out.decode(errors="replace").splitlines() if line.startswith("!")), "")
    early = ("non-fast-forward", "fetch first", "stale info", "failed to update ref", "cannot lock ref")
    if any(words in verdict or words in done.err for words in early):
        return "[rejected]"
    why = one_line(verdict.rpartition("\t")[2]) if verdict else reason(done)
    told = [line.removeprefix("remote:").strip() for line in done.err.splitlines() if line.startswith("remote:")]
    why += "".join(f": {one_line(words)}" for words in list(filter(None, told))[-1:])
    return f"{one_line(where.name)} did not take the push ({why})"
