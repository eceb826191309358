"""The same memories on several machines: fetch, merge, push, with every line that anyone wrote still there afterwards.

The merge is made beside the work tree and pushed first; only what the remote has taken is brought into the files. So a
rejected push leaves nothing to take back, and two machines never merge the same commits twice over.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import config, episode, safe
from filemem.files.memory import Memory, counterpart
from filemem.files.store import StoreFolder, users
from filemem.history import weaving, worktree
from filemem.history.beginning import ATTRIBUTES, message
from filemem.history.commits import History
from filemem.history.git import NETWORK, GitDone, GitError, reason
from filemem.history.repository import LOGS, MACHINE, Changes, GitFile, Merged, Repository, merge_file
from filemem.text.plain import first_few, one_line

_LANDING = "filemem-landing"  # in the git directory: the commit that a sync is bringing in
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
    where = _remote(repository, remote)
    _resume(history, repository, where, at)
    for one in history.everyone():
        one.before(at)
        one.catch_up()
        one.record("Note what was recalled and imported", LOGS, {"Job": "sync"}, at)
    doubled: list[str] = []
    notes: list[str] = []
    fetched = 0
    for _ in range(_TRIES):
        ours, theirs = repository.head(), _fetch(repository, where)
        new, told = merge(history, ours, theirs, where.name, at)
        _inside(history, repository, ours, theirs, new)
        changes = repository.changed(ours, new) if new != ours else {}
        worktree.plan(repository, changes)
        refused = _push(repository, where, new) if new != theirs else None
        if refused and "[rejected]" in refused:
            continue
        if new != ours:
            fetched = _count(repository, ours, theirs)
            _land(history, repository, new, ours)
            pairs = [(path, after) for path, (_, after) in changes.items() if after]
            texts = zip(pairs, repository.contents(pairs), strict=True)
            doubled = [path for (path, _), data in texts if weaving.has_doubled_lines(data)]
            notes = _settings(history, repository, changes)
        if refused:
            raise GitError(f"{refused}; what came in is merged, and what is committed here goes with the next sync.")
        told = {paths: words for paths, words in told.items() if not set(paths.split(", ")) <= set(doubled)}
        pushed = _count(repository, theirs, new) if new != theirs else 0
        notes += [f"{paths}: {words}." for paths, words in told.items()]
        return Synced(fetched, pushed, doubled, [*notes, *_users_left_out(history), *_left(history)])
    raise GitError(f"{where.name} kept changing while this machine pushed; everything is kept here, try again.")


# -- this machine --------------------------------------------------------------------------------------------------


def _left(history: History) -> list[str]:
    """A sentence on what a person has not committed."""
    left = [os.path.join(one.folder.name, path) for one in history.everyone() for path in one.edited()]
    return [f"Not committed by you, hence not sent: {first_few(left)}."] if left else []


def _users_left_out(history: History) -> list[str]:
    """A sentence on each user whose memories lie in a repository that nobody here has agreed to."""
    said = []
    store = StoreFolder(history.folder.store, history.folder.trust)
    for name in users(history.folder.above) if history.home != history.folder.root else []:
        try:
            said += [] if History(store.folder(name)).found else [f"{name} is in no repository."]
        except GitError as error:
            said.append(f"{name} was left out: {error}")
    return said


def _land(history: History, repository: Repository, new: str, old: str) -> None:
    """Bring the files, the index and the branch to the merged commit. What is cut off in between is noted, to be resumed."""
    note = os.path.join(repository.folder, _LANDING)
    with contextlib.ExitStack() as held:
        held.enter_context(history.alone())
        for one in history.everyone():
            held.enter_context(one.folder.locked())
        safe.write(note, new.encode())
        changes = repository.changed(old, new)
        worktree.bring(repository, changes)
        if not repository.land(new, old):
            raise GitError("the branch has just moved; nothing is lost, try again.")
        os.unlink(note)


def _resume(history: History, repository: Repository, where: _Remote, at: dt.datetime) -> None:
    """Finish what an earlier sync was killed in, on top of whatever was committed since: half of its files are there."""
    note = os.path.join(repository.folder, _LANDING)
    landing, ours = (worktree.read(note) or b"").decode(errors="replace"), repository.head()
    if landing and ours and not repository.ask("cat-file", "-e", f"{landing}^{{commit}}").code:
        new, _ = merge(history, ours, landing, where.name, at)
        _land(history, repository, new, ours)
    elif landing:
        os.unlink(note)


def _settings(history: History, repository: Repository, changes: Changes) -> list[str]:
    """A sentence on the settings that came in; which of them must be agreed to first."""
    path = os.path.relpath(os.path.join(os.path.realpath(history.home), config.NAME), repository.where)
    if path not in changes:
        return []
    try:
        old, new = (config.parsed(repository.content(path, entry), path) for entry in changes[path])
    except config.ConfigError as error:
        return [f"Settings came in that cannot be used: {error}"]
    came = {key: new.get(key) for key in {**old, **new} if old.get(key) != new.get(key)}
    told = ", ".join(f"{key}: {config.spelt(value)}" for key, value in came.items())
    asked = [key for key in config.persons(new) if key in came]
    agree = f" You are asked before {' and '.join(asked)} count{'s' * (len(asked) == 1)}." if asked else ""
    return [f"Settings came in: {told}.{agree}"] if came else []


# -- the remote ----------------------------------------------------------------------------------------------------


def _remote(repository: Repository, given: str | None) -> _Remote:
    """Where to sync with: as named, what the branch follows, or the only remote; raises FilememError where that is open."""
    branch = repository.branch()
    known = repository.text("remote").split()
    followed = repository.setting(f"branch.{branch}.remote")
    name = given or followed or (known[0] if len(known) == 1 else "origin" if "origin" in known else "")
    if not name:
        hint = (
            f"name one of {', '.join(known)}" if known else f"add one: git -C {repository.where} remote add origin URL"
        )
        raise FilememError(f"there is no remote to sync with; {hint}.")
    if name.startswith("-"):
        raise FilememError(f"{one_line(name)} is no remote; name one as git does.")
    place = _place_here(repository, name)
    if place and (place + os.sep).startswith(repository.where + os.sep):  # as data it could have git run its hooks
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
    done = repository.ask("ls-remote", "--heads", "--", where.name, where.branch, timeout=NETWORK)
    if done.code:
        raise _unreachable(where, done)
    line = next((line for line in done.out.decode().splitlines() if line.endswith("\t" + where.branch)), "")
    commit, purged = line.partition("\t")[0], repository.purged()
    if commit:
        _spare(where, purged, [commit])
        fetch = ("fetch", "--quiet", "--no-tags", "--", where.name, where.branch)
        done = repository.ask(*fetch, timeout=NETWORK)
        if "cannot lock ref" in done.err:  # by another fetch, as that of a sync that was killed: its git goes on
            done = repository.ask(*fetch, timeout=NETWORK)
        if done.code:
            raise _unreachable(where, done)
        commit = repository.text("rev-parse", "--verify", "FETCH_HEAD^{commit}")
        _spare(where, purged, repository.text("rev-list", commit).split() if purged else [])
    return commit


def _spare(where: _Remote, purged: set[str], commits: list[str]) -> None:
    """Raise FilememError where a commit among these was purged here: it would bring back what was forgotten."""
    if not purged.isdisjoint(commits):
        what = f"{one_line(where.name)} still has the history that was purged here, and would bring it back"
        raise FilememError(f"{what}; replace it with git push --force, then sync again.")


def _unreachable(where: _Remote, done: GitDone) -> GitError:
    return GitError(
        f"{one_line(where.name)} cannot be reached ({reason(done)}); everything is committed here and goes next time."
    )


def _push(repository: Repository, where: _Remote, commit: str) -> str | None:
    """Send a commit as the remote branch's new end, never by force; why not, or None."""
    here = (f"--receive-pack={_INERT_RECEIVER}",) if _place_here(repository, where.name) else ()
    done = repository.ask("push", "--porcelain", *here, where.name, f"{commit}:{where.branch}", timeout=NETWORK)
    if not done.code:
        if not where.followed and where.name in repository.text("remote").split():
            branch = repository.branch()
            repository.set(f"branch.{branch}.remote", where.name)
            repository.set(f"branch.{branch}.merge", where.branch)
        return None
    verdict = next((line for line in done.out.decode(errors="replace").splitlines() if line.startswith("!")), "")
    early = ("non-fast-forward", "fetch first", "stale info", "failed to update ref", "cannot lock ref")
    if any(words in verdict or words in done.err for words in early):
        return "[rejected]"
    why = one_line(verdict.rpartition("\t")[2]) if verdict else reason(done)
    told = [line.removeprefix("remote:").strip() for line in done.err.splitlines() if line.startswith("remote:")]
    why += "".join(f": {one_line(words)}" for words in list(filter(None, told))[-1:])
    return f"{one_line(where.name)} did not take the push ({why})"


def _count(repository: Repository, old: str, new: str) -> int:
    """The commits that `new` has beyond `old`."""
    return int(repository.text("rev-list", "--count", new, *([f"^{old}"] if old else []))) if new else 0


def _inside(history: History, repository: Repository, ours: str, theirs: str, new: str) -> None:
    """Raises FilememError where a sync would bring in or send anything but memories: in a bigger repository."""
    home = os.path.relpath(os.path.realpath(history.home), repository.where)
    if home == ".":
        unrelated = theirs and ours and not repository.ask("merge-base", ours, theirs).out
        if unrelated and ATTRIBUTES[0].encode() not in repository.ask("show", f"{theirs}:.gitattributes").out:
            raise FilememError("the remote holds something else than memories; name another remote.")
        return
    others = f":(top,exclude,literal){home}"
    if new != ours and repository.run("diff-tree", "-r", ours, new, "--", ":(top)", others):
        raise FilememError(f"the remote has changes outside {home} too; bring them in with git pull, then sync again.")
    beyond = [f"^{theirs}"] if theirs else []
    if new != theirs and repository.run("rev-list", "-1", ours, *beyond, "--", ":(top)", others):
        raise FilememError(f"there are commits on files outside {home}; send them with git push, then sync again.")


_BASE, _OURS, _THEIRS = 1, 2, 3  # git's stages of what it could not settle
# What jobs add lines to: two new texts are one that grew.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|summaries/.+)$")


def merge(history: History, ours: str, theirs: str, remote: str, at: dt.datetime) -> tuple[str, dict[str, str]]:
    """The commit that holds both sides, and by paths what git could not settle by itself."""
    repository = history.repository
    if not theirs or not ours:
        if not theirs and not ours:
            raise FilememError("there is nothing to sync yet, here or there; remember something first.")
        return ours or theirs, {}
    for one, other in ((ours, theirs), (theirs, ours)):
        if not repository.ask("merge-base", "--is-ancestor", other, one).code:
            return one, {}
    merged = repository.merge_trees(ours, theirs)
    changes, quiet = _settled(history, merged)
    changes |= _summed_once(repository, merged.tree, ours, theirs)
    tree = repository.tree_with(merged.tree, changes) if changes else merged.tree
    text = message(f"Merge memories from {one_line(remote, 40)}", {"Job": "sync"})
    told = {}
    for paths, words in merged.messages:
        if quiet.isdisjoint(paths):
            kind = words.partition(":")[0].removeprefix("CONFLICT ").strip("()")
            unknown = f"git could not settle it ({one_line(kind)}); look at it"
            told[", ".join(map(one_line, dict.fromkeys(paths)))] = _CONFLICTS.get(kind, unknown)
    return repository.commit_tree(tree, [ours, theirs], text, MACHINE, at), told


# What git calls a conflict, in words for a person.
_CONFLICTS = {
    "content": "both machines changed the same lines; both versions are in the file",
    "add/add": "both machines made a file of this name; both versions are in it",
    "modify/delete": "deleted on one machine and changed on the other; it is kept",
    "rename/delete": "deleted on one machine and moved on the other; it is kept",
    "rename/rename": "moved to two places; it is kept in both",
}


def _settled(history: History, merged: Merged) -> tuple[dict[str, GitFile | None], set[str]]:
    """What is to be changed in git's merged tree, and the paths of which nobody need be told.

    Changes of different lines are all made; of the same lines both versions stand between marks, and of what cannot be merged
    as text in two files. A memory that one machine put into the archive and the other edited is one text.
    """
    repository = history.repository
    present = repository.tree(merged.tree) if merged.stages else {}
    changes: dict[str, GitFile | None] = {}
    quiet: set[str] = set()
    for path, sides in merged.stages.items():
        if path not in present:
            continue
        if _OURS not in sides or _THEIRS not in sides:
            moved = _moved(history, path, sides, present)
            changes |= moved
            quiet |= {place for place, becomes in moved.items() if becomes is None}
        elif (text := _both(repository, path, sides[_OURS], sides.get(_BASE), sides[_THEIRS])) is not None:
            changes[path] = _entry(repository, present[path], text)
            quiet |= set() if weaving.has_doubled_lines(text) else {path}
        elif sides[_OURS].oid != sides[_THEIRS].oid:
            stem, dot, ending = path.rpartition(".")
            name = sides[_THEIRS].oid[:8]
            apart = f"{stem}-{name}.{ending}" if dot and "/" not in ending else f"{path}-{name}"
            changes |= {path: sides[_OURS], apart: sides[_THEIRS]}
    return changes, quiet


def _summed_once(repository: Repository, merged: str, ours: str, theirs: str) -> dict[str, GitFile | None]:
    """The sessions of which git has kept both sides' episodes, with one of them, so that no line behind it has moved."""
    before, changes = [repository.tree(side) for side in (ours, theirs)], dict[str, GitFile | None]()
    for path, entry in repository.tree(merged).items():
        if "/sessions/" in f"/{path}" and all(side.get(path) not in (None, entry) for side in before):
            memory = Memory(path, repository.run("cat-file", "blob", entry.oid))
            lines = memory.data.decode("utf-8", "surrogateescape").split("\n")
            single = episode.once(lines, memory.front_end)
            if single != lines:
                text = "\n".join(single).encode("utf-8", "surrogateescape")
                changes[path] = _entry(repository, entry, text)
    return changes


def _both(repository: Repository, path: str, *sides: GitFile | None) -> bytes | None:
    """The changes of both sides (ours, base, theirs) in one text, None for what is no text."""
    ours, base, theirs = (repository.run("cat-file", "blob", entry.oid) if entry else None for entry in sides)
    if base is None and _GROWING.search(path):
        base = b""
    text = merge_file(ours or b"", base, theirs or b"", marks=True)
    return None if text is None else weaving.commented(path, text)


def _moved(
    history: History, path: str, sides: dict[int, GitFile], present: dict[str, GitFile]
) -> dict[str, GitFile | None]:
    """The edit of one machine in the text that the other has archived, or brought back, under its other path: so much may be
    written into a short memory on the way that git sees no move. Nothing where there is no such text."""
    owns = ((one, one.own(path)) for one in history.everyone())
    where = next(
        (one.path(counterpart(own)) for one, own in owns if one.path(own) == path), ""
    )  # none: it is no memory
    repository = history.repository
    edited, moved = sides.get(_OURS) or sides.get(_THEIRS), present.get(where)
    text = _both(repository, where, edited, sides[_BASE], moved) if edited and moved and _BASE in sides else None
    return {} if text is None or not moved else {path: None, where: _entry(repository, moved, text)}


def _entry(repository: Repository, like: GitFile, text: bytes) -> GitFile:
    return GitFile(like.mode, repository.put("blob", text))
