"""Forgetting in git: which commits still tell of it, and this repository's own branches and tags rewritten without it.

The history is streamed through git's own export and import. Only the commits from the first that tells of it on get new
names; branches and tags move in one step, and only where nobody has moved them meanwhile. Then what nothing names any more
is pruned, and every object that is left is searched.
"""

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem import forget
from filemem.archive import archived, live
from filemem.errors import FilememError
from filemem.folder import BOOKKEEPING
from filemem.forget import cuts, erasure, export
from filemem.forget.export import Change, Commit
from filemem.forget.wording import FORGOTTEN, LINE, SENTENCE, Wording
from filemem.history import History
from filemem.history.git import GitError, environment, fields, spec
from filemem.history.repository import Repository
from filemem.memory import LARGEST, Memory
from filemem.plain import one_line

_LONG = 3600.0  # seconds
_TIP = "refs/filemem/purge"


class Target(NamedTuple):
    """What is to leave the history: everything of the user's (`all`), or what the wording tells of; with `every`, all that
    holds the words asked for, and not just what was chosen of it."""

    history: History
    wording: Wording
    all: bool
    every: bool = False

    def place(self, path: str) -> str | None:
        """A path of the repository as the new history has it; None where it goes."""
        inside = self.history.inside
        if inside and not path.startswith(inside + "/"):
            return path
        if self.all:
            return None
        own = self.history.own(path)
        new = self.wording.names.get(live(own), live(own))
        return path[: len(path) - len(live(own))] + new if new else None


class Purged(NamedTuple):
    """What was rewritten: the number of commits with a new name, the branches and tags; sentences on what is left."""

    commits: int
    refs: list[str]
    notes: list[str]


# -- before ------------------------------------------------------------------------------------------------------


def require(history: History, paths: Iterable[str]) -> Repository:
    """The repository, where its history can be rewritten; raises FilememError with the obstacle and its remedy."""
    repository = history.require()
    folder = repository.text("rev-parse", "--path-format=absolute", "--git-common-dir")
    obstacles = {
        "it has several work trees; remove them with git worktree remove": repository.text("worktree", "list").count(
            "\n"
        ),
        "it has submodules": any(entry.mode == "160000" for entry in repository.index().values()),
        "it is a shallow clone; complete it with git fetch --unshallow": os.path.exists(
            os.path.join(folder, "shallow")
        ),
        "it borrows objects from another repository": os.path.exists(os.path.join(folder, "objects/info/alternates")),
        "it has stashed changes; apply or drop them": repository.text("for-each-ref", "refs/stash"),
        "it has replacement refs; remove them with git replace -d": repository.text("for-each-ref", "refs/replace"),
        "there are staged changes; commit them": repository.ask("diff", "--cached", "--quiet", "HEAD").code,
    }
    for words, there in obstacles.items():
        if there:
            raise FilememError(f"the history of {repository.where} cannot be rewritten: {words}. Nothing was changed.")
    known = repository.tree(repository.head(), history.inside)
    dirty = sorted({path for path in paths if history.path(path) in known} & set(history.edited()))
    if dirty:
        raise FilememError(f"{', '.join(dirty[:3])} has changes that are not committed; commit them, then try again.")
    return repository


def remembers(history: History, wording: Wording, paths: Iterable[str], *, everything: bool = False) -> list[str]:
    """Sentences on what git still has: commits here, and the remotes that may have them."""
    try:
        repository = history.found
        if repository is None or not repository.head():
            return []
        specs = [spec(history.inside)] if everything else [spec(history.path(path)) for path in _both(wording, paths)]
        out = (
            repository.text("log", "--all", "--full-history", "--format=%h %cs", "--no-renames", "--", *specs)
            if specs
            else ""
        )
        commits = out.split("\n") if out else []
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]
    if not commits:
        return []
    said = [
        f"Git remembers {'it' if len(commits) == 1 else 'them'}: {len(commits)} commits, {commits[-1]} to {commits[0]}."
    ]
    return said + remotes(repository)


def _both(wording: Wording, paths: Iterable[str]) -> list[str]:
    names = dict.fromkeys([*wording.names, *map(live, paths)])
    return [candidate for path in names for candidate in (path, archived(path))]


def remotes(repository: Repository) -> list[str]:
    """A sentence for each remote: what was pushed there is there still."""
    names = repository.text("remote").split()
    where = {
        name: one_line(repository.ask("remote", "get-url", name).out.decode(errors="replace").strip()) for name in names
    }
    return [f"The remote {name} ({url}) has what was pushed there." for name, url in where.items()]


# -- what only the history says ----------------------------------------------------------------------------------


def learn(target: Target, gone: str = "") -> set[str]:
    """Add to the wording what old versions of the memories say that holds the words asked for, and all that the memory
    `gone` ever said; returns the live paths of these, and a word on messages that say it. Raises GitError."""
    history, wording = target.history, target.wording
    today = {live(history.own(path)) for path in history.repository.tree(history.repository.head(), history.inside)}
    found: set[str] = set()
    for path, _, data in _read(history.repository, _versions(target)):
        memory = Memory(history.own(path), data)
        own = live(memory.path)
        if own.startswith(BOOKKEEPING + "/") or len(data) > LARGEST:
            continue
        items = [forget.whole(memory)] if own == gone else forget.asked(memory, wording)
        found |= {own} if items else set()
        for item in items if items and items[0].why != forget.ITS_NAME else ():
            if not item.line and own not in today:
                wording.names[own] = ""
            for text in [item.text] if item.line else [passage.text for passage in memory.passages]:
                if own == gone:
                    wording.add(text, SENTENCE if memory.kind == "sessions" else LINE)
                else:
                    wording.add_asked(text)
        if own not in today and own not in wording.names and forget.named_so(own, wording):
            wording.names[own] = forget.nameless(own, today | {*wording.names.values()})
    said = history.repository.text("log", "--branches", "--tags", "--format=%B", "--", spec(history.inside))
    return found | ({"the messages of commits"} if any(map(wording.asks, said.split("\n"))) else set())


# -- rewriting ---------------------------------------------------------------------------------------------------


def purge(target: Target) -> Purged:
    """Rewrite this repository's branches and tags, prune what they held before, and search what is left.

    Raises FilememError, with every branch as it was, where what is to go has not been committed as deleted, or a branch moves.
    """
    repository = target.history.require()
    head = repository.tree(repository.head(), target.history.inside)
    standing = [path for path in head if target.place(path) != path]
    if standing:
        raise FilememError(f"{standing[0]} is still in the last commit; commit its deletion, then try again.")
    blobs = _rewritten_blobs(target, {(path, entry.oid) for path, entry in head.items()})
    with tempfile.TemporaryDirectory() as aside:
        marks = os.path.join(aside, "marks")
        options = ("--no-data", "--signed-tags=strip", "--tag-of-filtered-object=rewrite", "--reencode=no")
        stream = repository.run(
            "fast-export", *options, f"--export-marks={marks}", "--branches", "--tags", timeout=_LONG
        )
        old = export.marks(marks)
        commits = [_clean(commit, target, blobs) for commit in export.commits(stream)]
        new = _imported(repository, commits, old, os.path.join(aside, "new"))
    names = {old[mark].decode(): oid.decode() for mark, oid in new.items()}
    first = [
        old[commit.mark].decode() for commit, _ in commits if commit.mark in new and not {*commit.parents} & {*new}
    ]
    refs = _move_refs(repository, names, target.wording) if names else []
    if names:
        repository.note_purged(names)
    notes = _prune(repository, first)
    return Purged(len(names), refs, notes + _left(target))


def _clean(commit: Commit, target: Target, blobs: dict[tuple[str, str], str]) -> tuple[Commit, bool]:
    """A commit without what is to go, and whether that makes it another."""
    changes: list[Change] = []
    written = {target.place(change.path) for change in commit.changes if change.oid}
    for change in commit.changes:
        place = target.place(change.path)
        if place is not None and (change.oid or place not in written):  # else it is deleted where it gets its new name
            changes.append(Change(place, change.mode, blobs.get((change.path, change.oid), change.oid)))
    inside, message = target.history.inside, commit.message
    if not inside or any(change.path.startswith(inside + "/") for change in commit.changes):
        said = message.decode("utf-8", "surrogateescape")
        message = target.wording.blanked(said).encode("utf-8", "surrogateescape")
    cleaned = commit._replace(changes=changes, message=message)
    return cleaned, cleaned != commit


def _imported(
    repository: Repository, commits: list[tuple[Commit, bool]], old: dict[bytes, bytes], marks: str
) -> dict[bytes, bytes]:
    """Write the commits that are others now, and those after them; returns each one's new name by its mark.

    A commit of which nothing is left is passed over, unless it is a merge or the first.
    """
    instead: dict[bytes, bytes] = {}
    out: list[bytes] = []
    for commit, changed in commits:
        if not changed and not any(parent in instead for parent in commit.parents):
            continue
        parents = [instead.get(parent, old.get(parent, parent)) for parent in commit.parents]
        emptied = changed and not commit.changes and len(parents) == 1
        instead[commit.mark] = parents[0] if emptied else commit.mark
        if emptied:
            continue
        out.append(commit.block(_TIP, parents))
    options = ("--quiet", "--force", "--date-format=raw-permissive", f"--export-marks={marks}")
    if out:
        repository.run("fast-import", *options, stdin=b"".join(out), timeout=_LONG)
    made = export.marks(marks) if out else {}
    return {mark: made.get(name, name) for mark, name in instead.items()}


def _rewritten_blobs(target: Target, standing: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """New blobs for the versions of the user's files that tell of it, by path and old blob; what stands now is left alone."""
    if target.all:
        return {}
    repository = target.history.repository
    found = {}
    for path, oid, data in _read(repository, [key for key in _versions(target) if key not in standing]):
        cleaned = _cleaned(target, path, data)
        if cleaned != data:
            found[path, oid] = repository.text("hash-object", "-w", "--stdin", "--no-filters", stdin=cleaned)
    return found


def _versions(target: Target) -> list[tuple[str, str]]:
    """Every version of the user's files in the history that is not to go as a whole: its path and blob."""
    raw = ("--raw", "-z", "-m", "--root", "--no-renames", "--no-abbrev", "--format=")
    history = target.history
    out = history.repository.run("log", "--branches", "--tags", *raw, "--", spec(history.inside), timeout=_LONG)
    parts = iter([part for part in fields(out) if part])
    found: dict[tuple[str, str], None] = {}
    for facts in parts:
        path = next(parts)
        oid = facts.lstrip("\n").split(" ")[3]
        if oid.strip("0") and target.place(path) is not None:
            found[path, oid] = None
    return list(found)


def _read(repository: Repository, wanted: list[tuple[str, str]]) -> Iterator[tuple[str, str, bytes]]:
    """The blobs' bytes as they are stored, a few hundred at a time."""
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        out = repository.run(
            "cat-file", "--batch", stdin=b"".join(oid.encode() + b"\n" for _, oid in some), timeout=_LONG
        )
        at = 0
        for path, oid in some:
            end = out.index(b"\n", at)
            size = int(out[at:end].split(b" ")[2])
            yield path, oid, out[end + 1 : end + 1 + size]
            at = end + size + 2


def _cleaned(target: Target, path: str, data: bytes) -> bytes:
    """An old version of a file without what is to go."""
    own = target.history.own(path)
    if own.startswith(BOOKKEEPING + "/"):
        return erasure.record_without(own.partition("/")[2], data, target.wording)[0]
    memory, wording = Memory(own, data), target.wording

    def goes(text: str) -> bool:
        return FORGOTTEN not in text and (wording.repeats(text) or (target.every and forget.asks(text, wording)))

    if len(data) <= LARGEST and (wording.repeats(memory.text) or (target.every and wording.asks(memory.text))):
        wanted = forget.told(memory, goes)
        with contextlib.suppress(FilememError):
            data = cuts.apply(data, [forget.cut(memory, item) for item in wanted])
    return wording.renamed(data)


def _move_refs(repository: Repository, names: dict[str, str], wording: Wording) -> list[str]:
    """Let branches and tags name the new commits, all or none; raises GitError where one has moved."""
    tree = repository.text("rev-parse", "HEAD^{tree}")
    head = repository.head()
    if repository.text("rev-parse", f"{names.get(head, head)}^{{tree}}") != tree:
        raise GitError("the rewritten history does not end in the files of today; nothing was changed.")
    listed = repository.text(
        "for-each-ref", "--format=%(objectname) %(objecttype) %(refname)", "refs/heads", "refs/tags"
    )
    lines, refs = [], []
    for line in listed.split("\n"):
        oid, kind, ref = line.split(" ", 2)
        new = names.get(oid) if kind == "commit" else _new_tag(repository, oid, names, wording)
        if new and new != oid:
            lines.append(f"update {ref} {new} {oid}\n")
            refs.append(ref.partition("/")[2].partition("/")[2])
    repository.run("update-ref", "--stdin", stdin=os.fsencode("".join(lines)))
    repository.ask("update-ref", "-d", _TIP)
    return refs


def _new_tag(repository: Repository, oid: str, names: dict[str, str], wording: Wording) -> str:
    """An annotated tag of a commit that has a new name, without its signature; empty where it may stay."""
    text = os.fsdecode(repository.run("cat-file", "tag", oid))
    match = re.match(r"object (\w+)\ntype commit\n", text)
    if not match or match[1] not in names:
        return ""
    head, _, body = text.partition("\n\n")
    body = wording.blanked(re.sub(r"-----BEGIN (?:PGP|SSH) SIGNATURE-----.*", "", body, flags=re.DOTALL))
    new = f"{head.replace(match[1], names[match[1]], 1)}\n\n{body}"
    return repository.text("mktag", "--no-strict", stdin=os.fsencode(new))


# -- after -------------------------------------------------------------------------------------------------------


def _prune(repository: Repository, first: list[str]) -> list[str]:
    """Let go of what the old history was named by, reflogs too, and prune what nothing names; sentences on what that was."""
    said = []
    for oid in first[:50]:
        for ref in repository.text("for-each-ref", "--format=%(refname)", f"--contains={oid}").split():
            if ref.startswith("refs/remotes/"):
                repository.ask("update-ref", "--no-deref", "-d", ref)
                said.append(f"Dropped {ref.removeprefix('refs/remotes/')}, this repository's copy of a remote branch.")
            else:
                said.append(f"{ref} still holds the old history; delete it with git update-ref -d {ref}.")
    for name in ("FETCH_HEAD", "ORIG_HEAD"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(repository.folder, name))
    repository.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all", timeout=_LONG)
    repository.run("gc", "--prune=now", "--quiet", timeout=_LONG)
    for sentence in remotes(repository):
        said.append(
            f"{sentence} Replace it there yourself (git push --force), and clone anew elsewhere, before you sync again."
        )
    return list(dict.fromkeys(said))


def _left(target: Target) -> list[str]:
    """Every object of the repository that still tells of it, but for the files that stand today and other people's."""
    repository = target.history.repository
    mine = {entry.oid for entry in repository.tree(repository.head(), target.history.inside).values()}
    said = []
    for oid, kind, data in objects(repository):
        told = oid not in mine and (
            _names_it(target.wording, data) if kind == "tree" else bool(target.wording.stands_in(data))
        )
        if told:
            said.append(f"The {kind} {oid[:12]} still says it; another user's memories may, and a pack that git keeps.")
    return said


def _names_it(wording: Wording, tree: bytes) -> bool:
    names = (old.rpartition("/")[2].encode() for old in wording.names)
    return any(b" " + name + b"\0" in tree for name in names if len(name) > len("0000-00-00.md"))


def objects(repository: Repository) -> Iterator[tuple[str, str, bytes]]:
    """Every object in the repository, reachable or not: its name, kind and bytes."""
    command = ["git", "-C", repository.where, "cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(os.environ)) as process:
        assert process.stdout
        while header := process.stdout.readline():
            oid, kind, size = header.decode().split()
            yield oid, kind, process.stdout.read(int(size) + 1)[:-1]
    if process.returncode:
        raise GitError(f"git cannot list its objects: exit code {process.returncode}.")
