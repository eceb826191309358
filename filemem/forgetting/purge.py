"""Forgetting in git: find what still tells of a memory, and rewrite this repository's own history without it.

The new history is the old one with every version of every memory cleaned, the last one too, and so is the index; a person's
other changes stay as they are. Only commits from the first that tells of it on get new names, and branches and tags move in
one step, where nobody has moved them meanwhile. Then what nothing names is pruned and every byte searched. Each step may be
taken twice, so a purge that was cut off is finished by doing it again.
"""

import contextlib
import fnmatch
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files.archive import archived, live
from filemem.files.folder import BOOKKEEPING
from filemem.files.memory import LARGEST, Memory
from filemem.forgetting import deletion, erasure
from filemem.forgetting.rewriting import LONG, PurgeTarget, Rewriting, all_objects, opened
from filemem.forgetting.wording import LINE, SENTENCE, Wording
from filemem.history import History
from filemem.history.git import GitError, fields, nul, spec
from filemem.history.repository import Repository
from filemem.text.plain import first_few, one_line

_MADE_AGAIN = ("FETCH_HEAD", "ORIG_HEAD")  # names of the old history, which git writes anew when it needs them
# What was typed or shown once.
_LEFT_BY_GIT = (
    "*_EDITMSG MERGE_MSG SQUASH_MSG EDIT_DESCRIPTION MERGE_RR rr-cache/* gitk.cache fast_import_crash_*".split()
)


class Purged(NamedTuple):
    """What was rewritten: the number of commits with a new name, the branches and tags; sentences on what else was done."""

    commits: int
    refs: list[str]
    notes: list[str]


class StillInHistory(NamedTuple):
    """What in a repository says it: the user's own and nobody's, and other people's; how many objects were read."""

    own: list[str]
    others: list[str]
    searched: int


# -- before ------------------------------------------------------------------------------------------------------


def require(history: History) -> Repository:
    """The repository, where its history can be rewritten; raises FilememError with the obstacle and its remedy."""
    repository = history.require()
    folder = repository.common
    refs = repository.text("for-each-ref", "--format=%(refname)").split("\n")
    obstacles = {
        "it has several work trees; remove them with git worktree remove": "\n" in repository.text("worktree", "list"),
        "it has submodules": any(entry.mode == "160000" for entry in repository.index().values()),
        "it is a shallow clone; complete it with git fetch --unshallow": os.path.exists(f"{folder}/shallow"),
        "it borrows objects from another repository": os.path.exists(f"{folder}/objects/info/alternates"),
        "another git is at work; where none is, delete its index.lock": os.path.lexists(f"{folder}/index.lock"),
        "it has stashed changes; apply or drop them": "refs/stash" in refs,
        "it has replacement refs; remove them with git replace -d": any(
            ref.startswith("refs/replace/") for ref in refs
        ),
        "it has notes on commits, which would lose them; delete them with git update-ref -d refs/notes/commits": any(
            ref.startswith("refs/notes/") for ref in refs
        ),
    }
    for words, there in obstacles.items():
        if there:
            raise FilememError(f"the history of {repository.where} cannot be rewritten: {words}. Then try again.")
    return repository


def remembers(history: History, wording: Wording, paths: Iterable[str], *, everything: bool = False) -> list[str]:
    """Sentences on what git still has: commits here, and the remotes that may have them."""
    try:
        repository = history.found
        if repository is None:
            return []
        names = dict.fromkeys([*wording.names, *map(live, paths)])
        both = [history.path(candidate) for path in names for candidate in (path, archived(path))]
        specs = [spec(history.inside)] if everything else [*map(spec, both)]
        log = ("log", "--all", "--full-history", "--format=%h %cs", "--no-renames", "--", *specs)
        out = repository.text(*log) if specs and repository.head() else ""
        commits = out.split("\n") if out else []
        held = search(PurgeTarget(history, wording, everything)).own if wording and not commits else []
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]
    if commits:
        them = "it" if len(commits) == 1 else "them"
        return [f"Git remembers {them}: {len(commits)} commits, {commits[-1]} to {commits[0]}.", *remotes(repository)]
    return [f"Git remembers it: {first_few(held)}."] if held else []


def remotes(repository: Repository) -> list[str]:
    """A sentence for each remote: what was pushed there is there still."""
    names = repository.text("remote").split()
    urls = [repository.ask("remote", "get-url", name).out.decode(errors="replace").strip() for name in names]
    return [
        f"The remote {name} ({one_line(url)}) has what was pushed there." for name, url in zip(names, urls, strict=True)
    ]


# -- what only the history says ----------------------------------------------------------------------------------


def learn(target: PurgeTarget, gone: str = "") -> set[str]:
    """Add to the wording what old versions of the memories say that holds the words asked for, and all that the memory
    `gone` ever said; returns the live paths of these, and a word on what else of git's says it. Raises GitError."""
    history, wording = target.history, target.wording
    found: set[str] = set()
    here = {live(path) for path in history.folder.paths()}
    for memory in _all_versions(target):
        own = live(memory.path)
        if own.startswith(BOOKKEEPING + "/"):
            continue
        items = [deletion.whole(memory)] if own == gone else deletion.matching(memory, wording)
        found |= {own} if items else set()
        for item in items if items and items[0].why != deletion.ITS_NAME else ():
            if not item.line and own not in here:
                wording.names[own] = ""
            for text in [item.text] if item.line else [passage.text for passage in memory.passages]:
                if own == gone:
                    wording.add(text, SENTENCE if memory.kind == "sessions" else LINE)
                else:
                    wording.add_asked(text)
        if own not in here and own not in wording.names and deletion.name_has_words(own, wording):
            wording.names[own] = deletion.neutral_path(own, here | {*wording.names.values()})
    log = history.repository.ask("log", "--all", "--format=%B", "--", spec(history.inside))
    if any(map(wording.has_words, os.fsdecode(log.out).split("\n"))):
        found.add("the messages of commits")
    return found or set(search(target).own if wording else ())


def learn_all(target: PurgeTarget) -> None:
    """Add to the wording all that the user's memories ever said, but for what is short. Raises GitError."""
    for memory in _all_versions(target):
        for passage in memory.passages:
            target.wording.add(passage.text, SENTENCE)


def _all_versions(target: PurgeTarget) -> Iterator[Memory]:
    """Every version of the user's files, in commits and in the index, each once; what is too large to be read aside."""
    how = ("--all", "--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z", "--format=")
    out = target.history.repository.run("log", *how, "--", spec(target.history.inside), timeout=LONG)
    parts = iter([part for part in fields(out) if part])
    entries = [(facts.split(" "), path) for facts, path in zip(parts, parts, strict=True)]
    found = [(path, oid) for (_, mode, _, oid, _), path in entries if mode not in ("000000", "160000")]
    with opened(target.history.repository) as read:
        for path, oid in dict.fromkeys([*found, *((path, oid) for _, oid, _, path in _staged(target))]):
            data = read.read(oid)
            if len(data) <= LARGEST:
                yield Memory(target.history.own(path), data)


def _staged(target: PurgeTarget) -> list[tuple[str, str, str, str]]:
    """The index, as far as it is the user's: mode, blob, stage and path."""
    inside = target.history.inside
    out = fields(target.history.repository.run("ls-files", "--stage", "-z", "--full-name", "--", spec(inside)))
    entries = (line.partition("\t") for line in out)
    return [(*facts.split(" "), path) for facts, _, path in entries if not facts.startswith("160000")]  # type: ignore[misc]


# -- rewriting ---------------------------------------------------------------------------------------------------


def purge(target: PurgeTarget) -> Purged:
    """Rewrite this repository's refs and index, and prune what they held before; `search` tells what is left then.

    Raises FilememError where something is in the way, or a branch moves; done again, it goes on from there.
    """
    repository = require(target.history)
    with target.history.alone():
        with opened(repository) as read:
            rewriting = Rewriting(target, read)
            for commit in repository.text("rev-list", "--topo-order", "--reverse", "--all").split():
                rewriting.commit(commit)
            updates, said = _updates(repository, rewriting)
            staged = _staged_anew(target, rewriting)
        repository.note_purged(oid for oid, new in rewriting.commits.items() if new != oid)
        if staged:
            repository.run("update-index", "-z", "--index-info", stdin=nul(staged))
        repository.ask("update-index", "--clear-resolve-undo")
        if updates:
            repository.run("update-ref", "--no-deref", "--stdin", stdin=os.fsencode("".join(updates.values())))
        _prune(repository, target)
    changed = sum(new != oid for oid, new in rewriting.commits.items())
    moved = [ref.split("/", 2)[2] for ref in updates if not ref.startswith("refs/remotes/")]
    again = "Replace it there yourself (git push --force), and clone anew elsewhere, before you sync again."
    return Purged(changed, moved, [*said, *(f"{sentence} {again}" for sentence in remotes(repository))])


def _updates(repository: Repository, rewriting: Rewriting) -> tuple[dict[str, str], list[str]]:
    """Commands that let every ref name its new commit, and drop copies of remote branches that hold the old history."""
    updates: dict[str, str] = {}
    said = []
    for line in repository.text("for-each-ref", "--format=%(objectname) %(objecttype) %(refname) %(symref)").split(
        "\n"
    ):
        oid, kind, ref, symbolic = line.split(" ", 3) if line else ("", "", "", "")
        new = rewriting.tag(oid) if kind == "tag" else rewriting.commits.get(oid, oid)
        if new == oid:
            continue
        if ref.startswith("refs/remotes/"):
            updates[ref] = f"delete {ref}{'' if symbolic else ' ' + oid}\n"
            said.append(f"Dropped {ref.removeprefix('refs/remotes/')}, this repository's copy of a remote branch.")
        elif not symbolic:
            updates[ref] = f"update {ref} {new} {oid}\n"
    return updates, said


def _staged_anew(target: PurgeTarget, rewriting: Rewriting) -> list[str]:
    """What `git update-index --index-info` needs to be told, so that the index is clean as well."""
    entries = _staged(target)
    new = {entry: rewriting.file(entry[3], entry[1]) for entry in entries}
    changed = {path for (mode, oid, stage, path), after in new.items() if after != (path, oid)}
    gone = [f"0 {'0' * len(entries[0][1])}\t{path}" for path in sorted(changed)]
    kept = [
        f"{mode} {after[1]} {stage}\t{after[0]}"
        for (mode, _, stage, path), after in new.items()
        if path in changed and after
    ]
    return gone + kept


def _prune(repository: Repository, target: PurgeTarget) -> None:
    """Empty what else names the old history (reflogs and the like), and prune objects that nothing names."""
    folder = repository.common
    for name in _MADE_AGAIN:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    telling = erasure.still_saying(folder, target.wording, but=("objects",))
    for where in (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names):
        left = any(fnmatch.fnmatch(os.path.relpath(where, folder), pattern) for pattern in _LEFT_BY_GIT)
        if left and (target.all or where in telling):
            os.unlink(where)
    repository.expire_reflogs(LONG)
    own = ("-c", "gc.bigPackThreshold=0", "-c", "gc.cruftPacks=false")  # else they keep what nothing names
    repository.run(*own, "gc", "--prune=now", "--quiet", "--force", timeout=LONG)


# -- what still says it ------------------------------------------------------------------------------------------


def search(target: PurgeTarget) -> StillInHistory:
    """Read every object and every file of the repository, and say what of it tells. A version that a file of the store is
    today is left out: it is for a search of the store to name."""
    repository, wording = target.history.repository, target.wording
    count, told = 0, dict[str, str]()
    names = [old.rpartition("/")[2] for old in wording.names]
    in_trees = [b" " + name.encode() + b"\0" for name in names if len(name) > len("0000-00-00.md")]
    for oid, kind, data in all_objects(repository):
        count += 1
        if any(name in data for name in in_trees) if kind == "tree" else wording.line_about(data):
            told[oid] = kind
    here = erasure.still_saying(target.history.folder.above, wording, but=(".git",)) if told else ()
    readable = (where for where in here if os.path.isfile(where) and os.access(where, os.R_OK))
    listed = "".join(f"{where}\n" for where in readable if "\n" not in where)
    for oid in repository.text("hash-object", "--no-filters", "--stdin-paths", stdin=os.fsencode(listed)).split():
        told.pop(oid, None)
    own, others = _described(target, told) if told else ([], [])
    folder = repository.common
    files = erasure.still_saying(folder, wording, but=("objects",))
    own += [
        f"{one_line(os.path.relpath(where, repository.where))}: {one_line(line, 80)}" for where, line in files.items()
    ]
    return StillInHistory(own, others, count)


def _described(target: PurgeTarget, told: dict[str, str]) -> tuple[list[str], list[str]]:
    """What each object is that tells of it: the user's and what nothing names, then other people's."""
    repository, inside = target.history.repository, target.history.inside
    out = repository.run("rev-list", "--objects", "--all", "--indexed-objects", timeout=LONG)
    lines = (os.fsdecode(line).partition(" ") for line in out.split(b"\n"))
    places = {oid: path for oid, _, path in lines if oid in told}
    touching = set(repository.text("rev-list", "--all", "--", spec(inside)).split()) if repository.head() else set()
    packs = os.path.join(repository.common, "objects/pack")
    keeps = [name for name in os.listdir(packs) if name.endswith(".keep")] if os.path.isdir(packs) else []
    kept = f"; packs are kept by {first_few(keeps)} in {packs}, delete that and give the same command again"
    kept = kept if keeps else ""
    own: list[str] = []
    others: list[str] = []
    for oid, kind in told.items():
        path = places.get(oid)
        if path is None:
            own.append(f"{kind} {oid[:12]}, which nothing names{kept}")
        elif kind in ("commit", "tag"):
            (own if kind == "tag" or oid in touching else others).append(f"the message of {kind} {oid[:12]}")
        else:
            mine = not inside or f"{path}/".startswith(f"{inside}/") or f"{inside}/".startswith(f"{path}/")
            (own if mine else others).append(f"{kind} {oid[:12]}, {one_line(path) or 'the top folder'}")
    return own, others
