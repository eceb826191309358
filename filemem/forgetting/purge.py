"""What git still says of what was forgotten: `search` reads every object, `purge` has git filter-repo rewrite the history.

The rewriting is done in a bare copy beside, by a process of its own, which runs this module. The branches and tags are then
taken over from there, so that no setting of the repository steers it and no file of the work tree is touched.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files import installed, safe
from filemem.files.folder import BOOKKEEPING
from filemem.files.memory import LARGEST, Memory, live
from filemem.forgetting import deletion
from filemem.forgetting.deletion import DeletionPlan
from filemem.history import History
from filemem.history.git import PURGED, GitError, GitFile, Repository, fields, spec
from filemem.text.plain import first_few, one_line

LONG = 3600.0  # seconds
EXTRA = "--purge-history needs git-filter-repo: run {}, then the same command again."
# What was typed, shown or fetched once.
_LEFT_BY_GIT = (
    "COMMIT_EDITMSG TAG_EDITMSG NOTES_EDITMSG MERGE_MSG SQUASH_MSG FETCH_HEAD ORIG_HEAD MERGE_RR gitk.cache".split()
)


class InHistory(NamedTuple):
    """What in a repository says it: the user's own and nobody's, and other people's; how many objects were read."""

    own: list[str]
    others: list[str]
    searched: int


def require(history: History) -> Repository:
    """The repository, where its history can be rewritten; raises FilememError with the obstacle and its remedy."""
    if not importlib.util.find_spec("git_filter_repo"):
        raise FilememError(EXTRA.format(installed.adding("purge")))
    repository = history.require()
    folder, refs = repository.common, repository.text("for-each-ref", "--format=%(refname)").split("\n")
    obstacles = {
        "it has several work trees; remove them with git worktree remove": "\n" in repository.text("worktree", "list"),
        "it has submodules": b"160000 " in repository.run("ls-files", "--stage"),
        "it is a shallow clone; complete it with git fetch --unshallow": os.path.exists(f"{folder}/shallow"),
        "it borrows objects from another repository": os.path.exists(f"{folder}/objects/info/alternates"),
        "another git is at work; where none is, delete its index.lock": os.path.lexists(f"{folder}/index.lock"),
        "it has stashed changes; apply or drop them": "refs/stash" in refs,
        "it has replacement refs; remove them with git replace -d": any(r.startswith("refs/replace/") for r in refs),
        "it has notes on commits; delete them with git update-ref -d refs/notes/commits": any(
            ref.startswith("refs/notes/") for ref in refs
        ),
    }
    for words, there in obstacles.items():
        if there:
            raise FilememError(f"the history of {repository.where} cannot be rewritten: {words}. Then try again.")
    return repository


def remotes(repository: Repository) -> list[str]:
    """A sentence for each remote: what was pushed there is there still."""
    names = repository.text("remote").split()
    urls = [repository.ask("ls-remote", "--get-url", "--", name).out.decode(errors="replace").strip() for name in names]
    return [
        f"The remote {name} ({one_line(url)}) has what was pushed there." for name, url in zip(names, urls, strict=True)
    ]


def remembers(history: History, found: DeletionPlan) -> list[str]:
    """Sentences on what git still has when nothing was rewritten: of all that is the user's, or of what was forgotten."""
    try:
        repository = history.found
        if repository is None:
            return []
        inside = ("rev-list", "--all", "--full-history", "--abbrev-commit", "--", spec(history.inside))
        commits = repository.text(*inside).split() if found.everything and repository.head() else []
        held = [f"commit {name}" for name in commits] or search(history, found).own
        return [f"Git remembers it: {first_few(held)}.", *remotes(repository)] if held else []
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]


# -- rewriting ---------------------------------------------------------------------------------------------------


class _UserHistory:
    """What the history has of one user: what becomes of each path, and the versions that lose something."""

    def __init__(self, history: History, found: DeletionPlan) -> None:
        self.history, self.found = history, found
        how = ("--all", "--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z", "--format=")
        out = history.repository.run("log", *how, "--", spec(history.inside), timeout=LONG)
        parts = iter([part for part in fields(out) if part])
        entries = [(facts.split(" "), path) for facts, path in zip(parts, parts, strict=True)]
        versions = [(path, oid) for (_, mode, _, oid, _), path in entries if mode.startswith("100")]
        self.paths = {path: self.renamed(path) for path in dict.fromkeys(p for p, _ in versions)}
        told = {path: new for path, new in self.paths.items() if new and new != path}
        self.found = found._replace(names=found.names | {self._own(old): self._own(new) for old, new in told.items()})
        self.blobs: dict[str, str] = {}
        for path, oid, data in _read(history.repository, [v for v in dict.fromkeys(versions) if self.paths[v[0]]]):
            if cleaned(history.own(path), data, self.found) != data:
                self.blobs[oid] = history.own(path)

    def _own(self, path: str) -> str:
        return live(self.history.own(path))

    def renamed(self, path: str) -> str | None:
        """What becomes of a path of the repository; None where it goes."""
        own, found = self._own(path), self.found
        new = found.names.get(own)
        if new is None and found.every and found.matcher.about and deletion.matching(Memory(own, b""), found.matcher):
            new = "" if own.startswith(("facts/", "lessons/")) else deletion.neutral_path(own, found.names.values())
            found.names[own] = new
        if found.everything:
            return None
        return path if new is None else path[: len(path) - len(own)] + new if new else None


def cleaned(own: str, data: bytes, found: DeletionPlan) -> bytes:
    """A version of a user's file without what is to go."""
    if own.startswith(BOOKKEEPING + "/"):
        return deletion.record_without(own.partition("/")[2], data, found)
    with contextlib.suppress(FilememError):
        before = data
        data = deletion.apply_cuts(data, found.lines.get(own) or found.lines.get(live(own), []))
        memory = Memory(own, data)
        if found.every and len(data) <= LARGEST and found.matcher.has_words(memory.text):
            items = list(deletion.passages_with(memory, found.matcher))
            data = deletion.apply_cuts(data, [deletion.cut(memory, item) for item in items])
        line = Memory(own, data).episode_line if data != before else 0
        if line:
            memory = Memory(own, data)
            item = deletion.DeletionItem(own, line, line, "", "")
            data = deletion.apply_cuts(data, [deletion.cut(memory, item)])
    return deletion.renamed(data, found.names)


def purge(history: History, found: DeletionPlan) -> list[str]:
    """Rewrite this repository's branches, tags and index, and prune what they held before; says what was done.

    Raises FilememError where something is in the way; done again, it goes on from there.
    """
    repository = require(history)
    with repository.alone(), tempfile.TemporaryDirectory(prefix="filemem-purge-") as aside:
        past = _UserHistory(history, found)
        touching = repository.text("rev-list", "--all", "--full-history", "--", spec(history.inside)).split()
        job = {"paths": past.paths, "blobs": past.blobs, "commits": touching, **deletion.as_json(past.found)}
        copy = os.path.join(aside, "copy.git")
        clone = ("git", "-c", f"core.hooksPath={os.devnull}", "clone", "--quiet", "--mirror", "--template=")
        _apart(aside, *clone, repository.common, copy)
        with open(os.path.join(aside, "job.json"), "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(job, file)
        _apart(copy, sys.executable, "-m", "filemem.forgetting.purge", file.name)
        with open(os.path.join(copy, "filter-repo/commit-map"), encoding="utf-8") as file:
            pairs = [line.split() for line in file.read().split("\n")[1:] if line]
        old = {before for before, after in pairs if before != after}
        before = _refs(repository)
        how = "--quiet --force --no-tags --update-head-ok --no-write-fetch-head --no-auto-maintenance --prune".split()
        repository.run("fetch", *how, copy, "+refs/*:refs/*", timeout=LONG)
        after = _refs(repository)
        moved = sorted(ref for ref, oid in before.items() if after.get(ref) != oid)
        for ref in moved:
            if ref.startswith("refs/remotes/"):  # its old history is the remote's, not here to be known by
                repository.ask("update-ref", "--no-deref", "-d", ref)
        known = sorted(repository.purged() | old)
        safe.write(os.path.join(repository.folder, PURGED), "".join(f"{oid}\n" for oid in known).encode())
        _clean_index(history, past)
        _prune(repository, found)
    branches = [ref.split("/", 2)[2] for ref in moved if not ref.startswith("refs/remotes/")]
    dropped = [ref.removeprefix("refs/remotes/") for ref in moved if ref.startswith("refs/remotes/")]
    again = "Replace it there yourself (git push --force), and clone anew elsewhere, before you sync again."
    return [
        f"Rewrote {len(old)} commits; {', '.join(branches) or 'no branch'} moved.",
        *(f"Dropped {name}, this repository's copy of a remote branch." for name in dropped),
        *(f"{sentence} {again}" for sentence in remotes(repository)),
    ]


def rewrite(job: dict[str, Any]) -> None:
    """Rewrite every ref of the bare repository that this process stands in, as the job says."""
    import git_filter_repo  # noqa: PLC0415  an extra

    found, touching = deletion.from_json(job), set(job["commits"])

    def blob(one: Any, _: Any) -> None:
        if path := job["blobs"].get(one.original_id.decode()):
            one.data = cleaned(path, one.data, found)

    def name(path: bytes) -> bytes | None:
        text = path.decode("utf-8", "surrogateescape")
        new = job["paths"].get(text, text)
        return new.encode("utf-8", "surrogateescape") if new else None

    def message(text: bytes) -> bytes:
        said = deletion.renamed(text, found.names).decode("utf-8", "surrogateescape").split("\n")
        kept = [line if not found.matcher.begins(line) else _blank(line) for line in said]
        return "\n".join(kept).encode("utf-8", "surrogateescape")

    targets = {os.fsencode(new) for old, new in job["paths"].items() if new and new != old}

    def commit(one: Any, _: Any) -> None:
        # A file that has its new name already loses only the old one.
        again = [change for change in one.file_changes if change.type == b"D" and change.filename in targets]
        for change in again:
            there = ["git", "cat-file", "-e", one.original_id + b":" + change.filename]
            if not subprocess.run(there, stderr=subprocess.DEVNULL, check=False).returncode:
                one.file_changes.remove(change)
        if one.original_id.decode() in touching or not one.file_changes:
            one.message = message(one.message)

    def tag(one: Any, _: Any) -> None:
        one.message = message(one.message)

    how = git_filter_repo.FilteringOptions.parse_args(
        ["--partial", "--force", "--quiet", "--prune-degenerate", "never"]
    )
    git_filter_repo.RepoFilter(
        how, filename_callback=name, blob_callback=blob, commit_callback=commit, tag_callback=tag
    ).run()


def _blank(line: str) -> str:
    return f"{line.partition(':')[0]}: {deletion.FORGOTTEN}" if ": " in line else deletion.FORGOTTEN


def _apart(where: str, *command: str) -> None:
    """Run a command in a folder beside, with nobody's git configuration."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, errors="replace", timeout=LONG)
    if done.returncode:
        why = one_line(done.stderr.strip().rpartition("\n")[2] or done.stdout)
        raise FilememError(f"the history could not be rewritten, and is as it was: {why}")


def _refs(repository: Repository) -> dict[str, str]:
    lines = repository.text("for-each-ref", "--format=%(refname) %(objectname)").split("\n")
    return {ref: oid for ref, _, oid in (line.partition(" ") for line in lines) if ref}


def _clean_index(history: History, past: _UserHistory) -> None:
    """Let the index have no version that was rewritten: the new one stands in its place."""
    repository, changes = history.repository, dict[str, GitFile | None]()
    head, staged = repository.tree(repository.head(), history.inside), repository.staged(history.inside)
    for path, _, data in _read(repository, [(path, entry.oid) for path, entry in staged.items()]):
        new, after = past.renamed(path), cleaned(history.own(path), data, past.found)
        if new != path or after != data:
            changes[path] = None
            if new:
                changes[new] = head.get(new) or GitFile(staged[path].mode, repository.put("blob", after))
    repository.stage(changes)
    repository.ask("update-index", "--clear-resolve-undo")


def _prune(repository: Repository, found: DeletionPlan) -> None:
    """Empty what else names the old history (reflogs and the like), and prune objects that nothing names."""
    folder = repository.common
    for name in _LEFT_BY_GIT:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    shutil.rmtree(os.path.join(folder, "rr-cache"), ignore_errors=True)
    every = ("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    repository.run(*every, env={"GIT_COMMON_DIR": folder}, timeout=LONG)  # which git finds by its own folder
    own = ("-c", "gc.bigPackThreshold=0", "-c", "gc.cruftPacks=false")  # else they keep what nothing names
    repository.run(*own, "gc", "--prune=now", "--quiet", "--force", timeout=LONG)


# -- what still says it ------------------------------------------------------------------------------------------


def search(history: History, found: DeletionPlan) -> InHistory:
    """Read every object, packed, loose or named by nothing, and every file of the repository, such as reflogs, the index and
    what linked work trees and the stash hold; say which of it tells."""
    repository, matcher = history.repository, found.matcher
    count, told = 0, dict[str, str]()
    names = [old.rpartition("/")[2].encode() for old in found.names]
    for oid, kind, data in objects(repository):
        count += 1
        if kind == "tree":
            holds = any(b" " + name + b"\0" in data for name in names)
        else:
            holds = bool(matcher) and any(deletion.in_bytes(data, matcher))
        if holds:
            told[oid] = kind
    own, others = _described(history, told) if told else ([], [])
    for one in deletion.search_under(repository.common, matcher, but=("objects",)) if matcher else ():
        own.append(f".git/{one}")
    return InHistory(own, others, count)


def objects(repository: Repository) -> Iterator[tuple[str, str, bytes]]:
    """Every object: its name, its kind and its bytes."""
    process = repository.start("cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert process.stdout
    try:
        while head := process.stdout.readline():
            oid, kind, size = head.decode().split()
            yield oid, kind, process.stdout.read(int(size))
            process.stdout.read(1)
    finally:
        process.kill()
        process.communicate()


def _read(repository: Repository, versions: list[tuple[str, str]]) -> Iterator[tuple[str, str, bytes]]:
    """Versions of files, each a path and a name of git's, with their bytes; what is too large to be read aside."""
    for start in range(0, len(versions), 200):
        some = versions[start : start + 200]
        for (path, name), data in zip(some, repository.contents(name for _, name in some), strict=True):
            if data is not None and len(data) <= LARGEST:
                yield path, name, data


def _described(history: History, told: dict[str, str]) -> tuple[list[str], list[str]]:
    """What each object is that tells of it: the user's and what nothing names, then other people's."""
    repository, inside = history.repository, history.inside
    out = repository.run("rev-list", "--objects", "--all", "--indexed-objects", timeout=LONG)
    lines = (os.fsdecode(line).partition(" ") for line in out.split(b"\n"))
    places = {oid: path for oid, _, path in lines if oid in told}
    touching = set(repository.text("rev-list", "--all", "--", spec(inside)).split()) if repository.head() else set()
    own: list[str] = []
    others: list[str] = []
    for oid, kind in told.items():
        path = places.get(oid)
        if path is None:
            own.append(f"{kind} {oid[:12]}, which no branch or tag names")
        elif kind in ("commit", "tag"):
            (own if kind == "tag" or oid in touching else others).append(f"the message of {kind} {oid[:12]}")
        else:
            mine = not inside or f"{path}/".startswith(f"{inside}/") or f"{inside}/".startswith(f"{path}/")
            (own if mine else others).append(f"{kind} {oid[:12]}, {one_line(path) or 'the top folder'}")
    return own, others


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as given:
        rewrite(json.load(given))
