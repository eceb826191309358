"""The same memories on several machines: fetch, merge, push, with every line that anyone wrote still there afterwards.

The merge is made beside the work tree and pushed first; only what the remote has taken is brought into the files. So a
rejected push leaves nothing to take back, and two machines never merge the same commits twice over.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from filemem.errors import Changed, FilememError
from filemem.files import config, episode, safe
from filemem.files.memory import Memory, counterpart
from filemem.files.store import StoreFolder, users
from filemem.history.commits import ATTRIBUTES, LANDING, History, message
from filemem.history.git import (
    LOGS,
    NETWORK,
    GitDone,
    GitError,
    GitFile,
    Repository,
    Step,
    carry_out,
    line_merge,
    reason,
)
from filemem.text.plain import first_few, one_line

# For a remote on this machine, whose hooks and settings would run here.
_INERT_RECEIVER = (
    "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true -c receive.autogc=false receive-pack"
)
_TRIES = 6  # pushes that another machine, and saves that a person, may come before
# What only grows by lines: that both machines added some is no news.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|(?:summaries|sessions|\.filemem)/.+)$")


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
    everyone = history.everyone()
    for one in everyone:
        if job := one.begun():
            raise FilememError(
                f"an undo of {job.trailers['Undoes'][:8]} was cut off; finish it with filemem undo first."
            )
    _resume(history, where, at)
    for one in everyone:
        one.record("Note what was recalled and imported", LOGS, {"Job": "sync"}, at)
    for _ in range(_TRIES):
        ours, theirs = repository.head(), _fetch(repository, where)
        new, doubled, notes = merge(history, ours, theirs, where.name, at)
        _inside(history, ours, theirs, new)
        _arriving(repository, ours, new)  # raises where it could not be brought in
        refused = _push(repository, where, new) if new != theirs else None
        if refused and "[rejected]" in refused:
            continue
        if new != ours:
            notes += _settings(history, ours, new)
            _land(history, ours, new)
        if refused:
            raise GitError(f"{refused}; what came in is merged, and what is committed here goes with the next sync.")
        left = [os.path.join(one.folder.name, path) for one in everyone for path in one.uncommitted()]
        notes += [f"Not committed by you, hence not sent: {first_few(left)}."] if left else []
        fetched, pushed = _count(repository, ours, theirs), _count(repository, theirs, new)
        return Synced(fetched, pushed, doubled, [*notes, *_left_out(history)])
    raise GitError(f"{where.name} kept changing while this machine pushed; everything is kept here, try again.")


def _count(repository: Repository, old: str, new: str) -> int:
    """The commits that `new` has beyond `old`."""
    return int(repository.text("rev-list", "--count", new, *([f"^{old}"] if old else []))) if new else 0


def _left_out(history: History) -> list[str]:
    """A sentence on each user whose memories lie in a repository that nobody here has agreed to."""
    said, store = [], StoreFolder(history.folder.store, history.folder.trust)
    for name in users(history.folder.above) if history.home != history.folder.root else []:
        try:
            said += [] if History(store.folder(name)).found else [f"{name} is in no repository."]
        except GitError as error:
            said.append(f"{name} was left out: {error}")
    return said


def _settings(history: History, old: str, new: str) -> list[str]:
    """A sentence on the settings that come in; which of them must be agreed to first."""
    repository = history.repository
    path = os.path.relpath(os.path.join(os.path.realpath(history.home), config.NAME), repository.where)
    before, after = repository.contents([f"{tree or repository.empty()}:{path}" for tree in (old, new)])
    try:
        was, now = (config.parsed(data or b"", path) for data in (before, after))
    except config.ConfigError as error:
        return [f"Settings came in that cannot be used: {error}"]
    came = {key: now.get(key) for key in {**was, **now} if was.get(key) != now.get(key)}
    told = ", ".join(f"{key}: {config.spelt(value)}" for key, value in came.items())
    asked = [key for key in config.persons(now) if key in came]
    agree = f" You are asked before {' and '.join(asked)} count{'s' * (len(asked) == 1)}." if asked else ""
    return [f"Settings came in: {told}.{agree}"] if came else []


# -- the files -----------------------------------------------------------------------------------------------------


def _arriving(repository: Repository, old: str, new: str) -> list[Step]:
    """How to bring the files from one commit to another, each uncommitted edit kept; raises FilememError, before anything is
    written, where an edit meets an incoming one, or a path is no safe place for a plain file."""
    steps, found, met = repository.steps(old, new), [], []
    if repository.ask("read-tree", "--dry-run", "-m", "-i", *filter(None, (old, new))).code:
        raise FilememError("you have staged changes in files that others changed too; commit them, then try again.")
    for path, before, after in steps:
        place = os.path.join(repository.where, path)
        now = safe.read(place) if os.path.lexists(place) else None
        if now == before:
            found.append(Step(path, now, after))
        elif now is not None and now != after:
            both = None if before is None or after is None else line_merge(now, before, after, union=False)
            met += [path] if both is None else []
            found.append(Step(path, now, both))
    if met:
        raise FilememError(
            f"your uncommitted changes in {first_few(met)} meet incoming ones; commit them, then try again."
        )
    return found


def _land(history: History, old: str, new: str) -> None:
    """Bring the files, the index and the branch to the merged commit. What is cut off in between is noted, to be resumed.

    The index comes before the branch: had it stayed behind, a person's next commit would take everything back.
    """
    repository = history.repository
    note = os.path.join(repository.folder, LANDING)
    with repository.alone(), contextlib.ExitStack() as held:
        for one in history.everyone():
            held.enter_context(one.folder.locked())
        safe.write(note, new.encode())
        for last in range(_TRIES - 1, -1, -1):
            with contextlib.suppress(*([] if not last else [Changed])):  # a person saved a file in between
                carry_out(repository.where, _arriving(repository, old, new))
                break
        repository.run("read-tree", "-m", "-i", *filter(None, (old, new)))
        subject = repository.text("log", "-1", "--format=%s", new)
        repository.run("update-ref", "-m", f"filemem: {subject}", "HEAD", new, old or "0" * len(new))
        os.unlink(note)


def _resume(history: History, where: _Remote, at: dt.datetime) -> None:
    """Finish what an earlier sync was cut off in, on top of whatever was committed since: half of its files are there."""
    repository = history.repository
    note = os.path.join(repository.folder, LANDING)
    if os.path.exists(note):
        landing, ours = safe.read(note, 100).decode(errors="replace"), repository.head()
        if ours and not repository.ask("cat-file", "-e", f"{landing}^{{commit}}").code:
            _land(history, ours, merge(history, ours, landing, where.name, at)[0])
        else:
            os.unlink(note)


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


def _inside(history: History, ours: str, theirs: str, new: str) -> None:
    """Raises FilememError where a sync would bring in or send anything but memories: in a bigger repository."""
    repository = history.repository
    home = os.path.relpath(os.path.realpath(history.home), repository.where)
    if home == ".":
        unrelated = theirs and ours and not repository.ask("merge-base", ours, theirs).out
        if unrelated and ATTRIBUTES[0].encode() not in repository.ask("show", f"{theirs}:.gitattributes").out:
            raise FilememError("the remote holds something else than memories; name another remote.")
        return
    others = ("--", ":(top)", f":(top,exclude,literal){home}")
    if new != ours and repository.run("diff-tree", "-r", ours, new, *others):
        raise FilememError(f"the remote has changes outside {home} too; bring them in with git pull, then sync again.")
    if new != theirs and repository.run("rev-list", "-1", ours, *([f"^{theirs}"] if theirs else []), *others):
        raise FilememError(f"there are commits on files outside {home}; send them with git push, then sync again.")


# -- the merge -----------------------------------------------------------------------------------------------------


def merge(history: History, ours: str, theirs: str, remote: str, at: dt.datetime) -> tuple[str, list[str], list[str]]:
    """The commit that holds both sides, the files in which both versions of a line stand, and what else a person should know."""
    repository = history.repository
    if not theirs and not ours:
        raise FilememError("there is nothing to sync yet, here or there; remember something first.")
    if not theirs or not ours:
        return ours or theirs, [], []
    for one, other in ((ours, theirs), (theirs, ours)):
        if not repository.ask("merge-base", "--is-ancestor", other, one).code:
            return one, [], []
    tree, stages = repository.merge_trees(ours, theirs, renames=False)
    present = repository.tree(tree) if stages else {}
    changes, doubled, notes = dict[str, GitFile | None](), [], []
    for path, sides in stages.items():
        if path not in present or len({one.oid for one in sides.values()}) == 1:
            continue
        if {2, 3} <= sides.keys():
            alike = line_merge(*repository.blobs(sides), union=False)
            text = line_merge(*repository.blobs(sides), union=True) if alike is None else alike
            doubled += [path] if alike is None and text is not None and not _GROWING.search(path) else []
            changes |= _both(repository, path, sides) if text is None else _entry(repository, path, sides[2], text)
        elif moved := _moved(history, path, sides, present):
            changes |= moved
        else:
            notes.append(f"{one_line(path)}: deleted or moved on one machine and changed on the other; it is kept.")
    changes |= _summed_once(history, ours, theirs, {**present, **changes} if stages else repository.tree(tree))
    tree = repository.tree_with(tree, changes) if changes else tree
    words = message(f"Merge memories from {one_line(remote, 40)}", {"Job": "sync", "Doubled": ", ".join(doubled)})
    return repository.commit_tree(tree, [ours, theirs], words, at), doubled, notes


def _entry(repository: Repository, path: str, like: GitFile, text: bytes) -> dict[str, GitFile | None]:
    return {path: GitFile(like.mode, repository.put("blob", text))}


def _both(repository: Repository, path: str, sides: dict[int, GitFile]) -> dict[str, GitFile | None]:
    """What is no text stands there twice."""
    stem, dot, ending = path.rpartition(".")
    name = sides[3].oid[:8]
    return {path: sides[2], f"{stem}-{name}.{ending}" if dot and "/" not in ending else f"{path}-{name}": sides[3]}


def _moved(
    history: History, path: str, sides: dict[int, GitFile], present: dict[str, GitFile]
) -> dict[str, GitFile | None]:
    """The edit of one machine in the text that the other has archived, or brought back: so much may be written into a short
    memory on the way that git sees no move. Nothing where there is no such text."""
    owner = next((one for one in history.everyone() if path.startswith(one.path("") + "/") or not one.inside), history)
    where = owner.path(counterpart(owner.own(path)))
    edited, moved = sides.get(2) or sides.get(3), present.get(where)
    if not edited or not moved or 1 not in sides:
        return {}
    text = line_merge(*history.repository.blobs({1: sides[1], 2: edited, 3: moved}), union=True)
    return {} if text is None else {path: None, **_entry(history.repository, where, moved, text)}


def _summed_once(
    history: History, ours: str, theirs: str, merged: Mapping[str, GitFile | None]
) -> dict[str, GitFile | None]:
    """The sessions in which both sides' episodes stand, with one of them, so that no line behind it has moved."""
    repository = history.repository
    before, changes = [repository.tree(side) for side in (ours, theirs)], dict[str, GitFile | None]()
    for path, entry in merged.items():
        if entry and "/sessions/" in f"/{path}" and all(side.get(path) not in (None, entry) for side in before):
            memory = Memory(path, repository.run("cat-file", "blob", entry.oid))
            lines = memory.data.decode("utf-8", "surrogateescape").split("\n")
            if (single := episode.once(lines, memory.front_end)) != lines:
                changes |= _entry(repository, path, entry, "\n".join(single).encode("utf-8", "surrogateescape"))
    return changes
