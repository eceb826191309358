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

from filemem.errors import FilememError, missing_extra
from filemem.files import safe
from filemem.files.folder import BOOKKEEPING
from filemem.files.memory import LARGEST, Memory, live
from filemem.files.safe import Place
from filemem.forgetting import deletion
from filemem.forgetting.deletion import FORGOTTEN, LEAST, DeletionPlan, folded
from filemem.history import History
from filemem.history.git import PURGED, GitError, GitFile, Repository, fields, spec
from filemem.text.plain import first_few, one_line

LONG = 3600.0  # seconds
# What was typed, shown or fetched once.
_LEFT_BY_GIT = (
    "COMMIT_EDITMSG TAG_EDITMSG NOTES_EDITMSG MERGE_MSG SQUASH_MSG FETCH_HEAD ORIG_HEAD MERGE_RR gitk.cache".split()
)
_OBSTACLES = {  # refs, files of the git directory, lines of `git worktree list` and `git ls-files --stage`
    "refs/stash": "it has stashed changes; apply or drop them",
    "refs/replace/": "it has replacement refs; remove them with git replace -d",
    "refs/notes/": "it has notes on commits; delete them with git update-ref -d refs/notes/commits",
    "160000 ": "it has submodules",
    "shallow": "it is a shallow clone; complete it with git fetch --unshallow",
    "objects/info/alternates": "it borrows objects from another repository",
    "index.lock": "another git is at work; where none is, delete its index.lock",
    "worktrees": "it has several work trees; remove them with git worktree remove",
}


class InHistory(NamedTuple):
    """What in a repository says it: the user's own and nobody's, and other people's; how many objects were read."""

    own: list[str]
    others: list[str]
    searched: int


def require(history: History) -> Repository:
    """The repository, where its history can be rewritten; raises FilememError with the obstacle and its remedy."""
    if not importlib.util.find_spec("git_filter_repo"):
        raise missing_extra("git-filter-repo, which --purge-history needs,", "purge")
    repository = history.require()
    there = [*_refs(repository), *os.fsdecode(repository.run("ls-files", "--stage")).split("\n")]
    for sign, words in _OBSTACLES.items():
        if os.path.lexists(f"{repository.common}/{sign}") or any(line.startswith(sign) for line in there):
            raise FilememError(f"the history of {repository.where} cannot be rewritten: {words}. Then try again.")
    return repository


def remembers(history: History, found: DeletionPlan) -> list[str]:
    """Sentences on what git still has when nothing was rewritten: of all that is the user's, or of what was forgotten."""
    try:
        repository = history.found
        if repository is None:
            return []
        inside = ("rev-list", "--all", "--full-history", "--abbrev-commit", "--", spec(history.inside))
        commits = repository.text(*inside).split() if found.everything and repository.head() else []
        held = [f"commit {name}" for name in commits] or search(history, found).own
        return [f"Git remembers it: {first_few(held)}.", *_remotes(repository)] if held else []
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]


def _remotes(repository: Repository) -> list[str]:
    """A sentence for each remote: what was pushed there is there still."""
    urls = {
        name: repository.ask("ls-remote", "--get-url", "--", name).out for name in repository.text("remote").split()
    }
    return [
        f"The remote {name} ({one_line(os.fsdecode(url))}) has what was pushed there." for name, url in urls.items()
    ]


# -- rewriting ---------------------------------------------------------------------------------------------------


class _Versions:
    """What the history has of one user: what becomes of each path, and the versions that lose something."""

    def __init__(self, history: History, found: DeletionPlan) -> None:
        self.history, self.found = history, found
        how = ("--all", "--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z", "--format=")
        out = history.repository.run("log", *how, "--", spec(history.inside), timeout=LONG)
        parts = iter([part for part in fields(out) if part])
        entries = [(facts.split(" "), path) for facts, path in zip(parts, parts, strict=True)]
        versions = dict.fromkeys((path, oid) for (_, mode, _, oid, _), path in entries if mode.startswith("100"))
        self.paths = {path: self.renamed(path) for path, _ in versions}
        left = [(path, oid) for path, oid in versions if self.paths[path]]
        self.blobs = {
            oid: new for path, oid, data in _read(history.repository, left) if (new := self.cleaned(path, data)) != data
        }

    def renamed(self, path: str) -> str:
        """What becomes of a path of the repository; nothing where it goes."""
        own, found = live(self.history.own(path)), self.found
        if found.everything:
            return ""
        if own not in found.names and deletion.matching(Memory(own, b""), found.matcher):
            goes = own.startswith(("facts/", "lessons/"))
            found.names[own] = "" if goes else deletion.neutral_path(own, found.names.values())
        new = found.names.get(own, own)
        return path[: len(path) - len(own)] + new if new else ""

    def cleaned(self, path: str, data: bytes) -> bytes:
        """A version of a file of the user's without what is to go."""
        own, found = self.history.own(path), self.found
        if own.startswith(BOOKKEEPING + "/"):
            return deletion.record_without(data, found)
        with contextlib.suppress(FilememError):
            before, cuts = data, [item for item in found.items if item.line and live(item.path) == live(own)]
            data = deletion.without(data, cuts)
            more = deletion.matching(Memory(own, data), found.matcher)
            if any(not item.line and item.why == deletion.ASKED for item in more):
                return f"{FORGOTTEN}\n".encode()
            data = deletion.without(data, [item for item in more if item.line])
            if data != before:
                data = deletion.without(data, deletion.episode(Memory(own, data)))
        return deletion.renamed(data, found.names)


def purge(history: History, found: DeletionPlan) -> list[str]:
    """Rewrite this repository's branches, tags and index, and prune what they held before; says what was done.

    Raises FilememError where something is in the way; done again, it goes on from there.
    """
    repository = require(history)
    with repository.alone(), tempfile.TemporaryDirectory(prefix="filemem-purge-") as aside:
        past, copy, job = _Versions(history, found), os.path.join(aside, "copy.git"), os.path.join(aside, "job.json")
        touching = repository.text("rev-list", "--all", "--full-history", "--", spec(history.inside)).split()
        blobs = {oid: data.decode("latin-1") for oid, data in past.blobs.items()}
        with open(job, "w", encoding="utf-8") as file:
            json.dump({"paths": past.paths, "blobs": blobs, "commits": touching, "plan": found.as_json()}, file)
        clone = ("git", "-c", f"core.hooksPath={os.devnull}", "clone", "--quiet", "--mirror", "--template=")
        _apart(aside, *clone, repository.common, copy)
        _apart(copy, sys.executable, "-m", "filemem.forgetting.purge", job)
        with open(os.path.join(copy, "filter-repo/commit-map"), encoding="utf-8") as file:
            old = {pair[0] for line in file.read().split("\n")[1:] if line and len({*(pair := line.split())}) > 1}
        before = _refs(repository)
        how = "--quiet --force --no-tags --update-head-ok --no-write-fetch-head --no-auto-maintenance --prune".split()
        repository.run("fetch", *how, copy, "+refs/*:refs/*", timeout=LONG)
        after = _refs(repository)
        moved = sorted(ref for ref, oid in before.items() if after.get(ref) != oid)
        dropped = [ref for ref in moved if ref.startswith("refs/remotes/")]
        for ref in dropped:  # its old history is the remote's, not here to be known by
            repository.ask("update-ref", "--no-deref", "-d", ref)
        known = "".join(f"{oid}\n" for oid in sorted(repository.purged() | old))
        safe.write(os.path.join(repository.folder, PURGED), known.encode())
        _clean_index(history, past)
        _prune(repository)
    branches = [ref.split("/", 2)[2] for ref in moved if ref not in dropped]
    again = "Replace it there yourself (git push --force), and clone anew elsewhere, before you sync again."
    return [
        f"Rewrote {len(old)} commits; {', '.join(branches) or 'no branch'} moved.",
        *(f"Dropped {ref[13:]}, this repository's copy of a remote branch." for ref in dropped),
        *(f"{sentence} {again}" for sentence in _remotes(repository)),
    ]


def rewrite(job: dict[str, Any]) -> None:
    """Rewrite every ref of the bare repository that this process stands in, as the job says."""
    import git_filter_repo  # noqa: PLC0415  an extra

    found, touching = deletion.from_json(job["plan"]), set(job["commits"])
    targets = {os.fsencode(new) for old, new in job["paths"].items() if new and new != old}

    def name(path: bytes) -> bytes | None:
        return os.fsencode(job["paths"].get(os.fsdecode(path), os.fsdecode(path))) or None

    def blob(one: Any, _: Any) -> None:
        new = job["blobs"].get(one.original_id.decode())
        one.data = one.data if new is None else new.encode("latin-1")

    def message(text: bytes) -> bytes:
        lines = os.fsdecode(deletion.renamed(text, found.names)).split("\n")
        for n, line in enumerate(lines):
            end = folded(line.partition(": ")[2]).rstrip("… ")  # a subject ends with the beginning of a text
            cut_short = len(end.encode()) >= LEAST and any(one.startswith(end) for one in found.matcher.lines)
            if cut_short or found.matcher.holds(line):
                lines[n] = f"{line.partition(':')[0]}: {FORGOTTEN}" if ": " in line else FORGOTTEN
        return os.fsencode("\n".join(lines))

    def commit(one: Any, _: Any) -> None:
        for change in [change for change in one.file_changes if change.type == b"D" and change.filename in targets]:
            there = ["git", "cat-file", "-e", one.original_id + b":" + change.filename]
            if not subprocess.run(there, stderr=subprocess.DEVNULL, check=False).returncode:
                one.file_changes.remove(change)  # a file that has its new name already loses only the old one
        if one.original_id.decode() in touching or not one.file_changes:
            one.message = message(one.message)

    def tag(one: Any, _: Any) -> None:
        one.message = message(one.message)

    flags = ["--partial", "--force", "--quiet", "--prune-degenerate", "never"]
    how = git_filter_repo.FilteringOptions.parse_args(flags)
    callbacks = {"filename": name, "blob": blob, "commit": commit, "tag": tag}
    git_filter_repo.RepoFilter(how, **{f"{kind}_callback": call for kind, call in callbacks.items()}).run()


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


def _clean_index(history: History, past: _Versions) -> None:
    """Let the index have no version that was rewritten: the new one stands in its place."""
    repository, changes = history.repository, dict[str, GitFile | None]()
    head, staged = repository.tree(repository.head(), history.inside), repository.staged(history.inside)
    for path, _, data in _read(repository, [(path, entry.oid) for path, entry in staged.items()]):
        new, after = past.renamed(path), past.cleaned(path, data)
        if new != path or after != data:
            changes[path] = None
            if new:
                changes[new] = head.get(new) or GitFile(staged[path].mode, repository.put("blob", after))
    repository.stage(changes)
    repository.ask("update-index", "--clear-resolve-undo")


def _prune(repository: Repository) -> None:
    """Empty what else names the old history (reflogs and the like), and prune objects that nothing names."""
    for name in _LEFT_BY_GIT:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(repository.common, name))
    shutil.rmtree(os.path.join(repository.common, "rr-cache"), ignore_errors=True)
    every = ("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    repository.run(*every, env={"GIT_COMMON_DIR": repository.common}, timeout=LONG)  # found by git by its own folder
    own = ("-c", "gc.bigPackThreshold=0", "-c", "gc.cruftPacks=false")  # else they keep what nothing names
    repository.run(*own, "gc", "--prune=now", "--quiet", "--force", timeout=LONG)


# -- what still says it ------------------------------------------------------------------------------------------


def search(history: History, found: DeletionPlan) -> InHistory:
    """Read every object, packed, loose or named by nothing, and every file of the repository, such as reflogs, the index and
    what linked work trees and the stash hold; say which of it tells."""
    repository, told, count = history.repository, dict[str, str](), 0
    names = [b" %b\0" % os.fsencode(old.rpartition("/")[2]) for old in found.names]
    for oid, kind, data in objects(repository):
        count += 1
        if any(name in data for name in names) if kind == "tree" else any(deletion.in_bytes(data, found.matcher)):
            told[oid] = kind
    own, others = _described(history, told) if told else ([], [])
    own += (f".git/{one}" for one in deletion.search_under(Place(repository.common), found.matcher, but=("objects",)))
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
    places = {oid: path for oid, _, path in (os.fsdecode(line).partition(" ") for line in out.split(b"\n"))}
    touching = set(repository.text("rev-list", "--all", "--", spec(inside)).split()) if repository.head() else set()
    own, others = list[str](), list[str]()
    for oid, kind in told.items():
        path = places.get(oid)
        mine = path is None or not inside or f"{path}/".startswith(f"{inside}/") or f"{inside}/".startswith(f"{path}/")
        what = f"{kind} {oid[:12]}, {one_line(path or '') or 'the top folder'}"
        if path is None:
            what = f"{kind} {oid[:12]}, which no branch or tag names"
        elif kind in ("commit", "tag"):
            what, mine = f"the message of {kind} {oid[:12]}", kind == "tag" or oid in touching
        (own if mine else others).append(what)
    return own, others


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as given:
        rewrite(json.load(given))
