"""Forgetting in git's history: `purge` has git filter-repo rewrite it, `search` proves by
reading every object that nothing says it any more.

The rewriting is done in a bare copy, by a process of its own, which runs this module.
Branches and tags are then taken over from there, so that no setting of the repository
steers it and no file of the work tree is touched.
"""

import contextlib
import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from filemem.errors import FilememError, missing_extra
from filemem.forget.execute import version_without
from filemem.forget.matching import (
    SHORTEST_LINE_BYTES,
    Matcher,
    folded,
    lines_with,
    occurrences,
    without_names,
)
from filemem.forget.plan import DeletionPlan
from filemem.git.history import History
from filemem.git.repository import (
    GitError,
    Repository,
    find_dot_git,
    pathspec,
    read_text,
    split_nul,
)
from filemem.git.sync import PURGED
from filemem.store import files
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import live
from filemem.text.plain import first_few, one_line

TIMEOUT_SECONDS = 3600.0
# What was typed, shown or fetched once.
_LEFT = (
    "COMMIT_EDITMSG",
    "TAG_EDITMSG",
    "NOTES_EDITMSG",
    "MERGE_MSG",
    "SQUASH_MSG",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "MERGE_RR",
    "gitk.cache",
)
# Refs, files of the git directory, lines of `git ls-files --stage`.
_OBSTACLES = {
    "refs/stash": "it has stashed changes; apply or drop them",
    "refs/replace/": "it has replacement refs; remove them with git replace -d",
    "refs/notes/": "it has notes on commits;"
    " delete them with git update-ref -d refs/notes/commits",
    "160000 ": "it has submodules",
    "shallow": "it is a shallow clone; complete it with git fetch --unshallow",
    "objects/info/alternates": "it borrows objects from another repository",
    "index.lock": "another git is at work; where none is, delete its index.lock",
    "worktrees": "it has several work trees; remove them with git worktree remove",
}
_TREE_ENTRY = re.compile(rb"(?:40000|100644|100755|120000|160000) ([^\0]+)\0")
_FETCH = (
    "fetch --quiet --force --no-tags --update-head-ok --no-write-fetch-head"
    " --no-auto-maintenance --prune"
)
_COLLECT = (
    "-c gc.bigPackThreshold=0 -c gc.cruftPacks=false gc --prune=now --quiet --force"
)


@dataclass(frozen=True)
class _Rewriting:
    """What the process that rewrites is told.

    Attributes:
        top: how paths of the user's begin in the repository.
        commits: those that touch the user's files.
        gone: the live paths of the user's files that go from every commit.
        plan: what goes.
    """

    top: str
    commits: frozenset[str]
    gone: frozenset[str]
    plan: DeletionPlan


def require(history: History) -> Repository:
    """Return the repository, where its history can be rewritten.

    Raises:
        FilememError: something is in the way, with its remedy.
    """
    if not importlib.util.find_spec("git_filter_repo"):
        raise missing_extra("git-filter-repo, which --purge-history needs,", "purge")
    repository = history.require()
    staged = os.fsdecode(repository.run("ls-files", "--stage")).split("\n")
    there = [*_refs(repository), *staged]
    for sign, words in _OBSTACLES.items():
        is_file = os.path.lexists(f"{repository.common_dir}/{sign}")
        if is_file or any(line.startswith(sign) for line in there):
            raise FilememError(
                f"the history of {repository.root} cannot be rewritten: {words}."
                " Then try again."
            )
    return repository


def remembers(history: History, plan: DeletionPlan) -> list[str]:
    """Return sentences on what git still has when nothing was rewritten: of all that is
    the user's, or of what was forgotten."""
    try:
        if not find_dot_git(history.folder.root):
            return []
        repository = history.repository
        held = list[str]()
        if plan.whole_user and repository.resolve():
            held = [f"commit {name[:7]}" for name in _commits(history)]
        if not plan.whole_user:
            held = search(history, plan)
        if not held:
            return []
        return [f"Git remembers it: {first_few(held)}.", *_remotes(repository)]
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]


def purge(history: History, plan: DeletionPlan) -> list[str]:
    """Rewrite the branches, tags and index of a user's repository, and prune what they
    held before; return sentences on what was done. Done again, it goes on from there.

    Raises:
        FilememError: something is in the way; the history is as it was.
    """
    repository = require(history)
    copy = os.path.join(repository.git_dir, "filemem-purge")
    with repository.lock():
        shutil.rmtree(copy, ignore_errors=True)  # of one that was killed
        _rewrite_in(copy, history, plan)
        replaced = _replaced_commits(copy)
        _take_over(copy, repository)
        known = {*read_text(repository.git_dir, PURGED).split(), *replaced}
        text = "".join(f"{name}\n" for name in sorted(known))
        files.write(os.path.join(repository.git_dir, PURGED), text.encode())
        # What was staged may have the text.
        repository.run("reset", "--quiet", "--", pathspec(history.prefix))
        repository.call("update-index", "--clear-resolve-undo")
        _prune(repository)
        shutil.rmtree(copy)
    again = (
        "Replace it there yourself (git push --force), and clone anew elsewhere,"
        " before you sync again."
    )
    remotes = [f"{sentence} {again}" for sentence in _remotes(repository)]
    return [f"Rewrote {len(replaced)} commits.", *remotes]


def _commits(history: History) -> list[str]:
    """Return the commits that touch the user's files."""
    every = ("--all", "--full-history", "--", pathspec(history.prefix))
    return history.repository.text("rev-list", *every).split()


def _gone(history: History, plan: DeletionPlan) -> frozenset[str]:
    """Return the files that go from every commit: those that are deleted now, and those
    whose name tells it, where no file has that name any more."""
    listed = "log -m --root --name-only --format= -z --all --full-history --".split()
    every = history.repository.run(*listed, pathspec(history.prefix))
    gone = set(plan.gone)
    for path in split_nul(every):
        own = live(history.own_path(path))
        name = own.rpartition("/")[2]
        telling = plan.matcher.match_name(name) >= plan.matcher.least
        if telling and not any(history.folder.existing(own)):
            gone.add(own)
    return frozenset(gone)


def _rewrite_in(copy: str, history: History, plan: DeletionPlan) -> None:
    """Rewrite the history in a bare copy of a repository."""
    repository = history.repository
    top = f"{history.prefix}/" if history.prefix else ""
    commits = frozenset(_commits(history))
    job = _Rewriting(top, commits, _gone(history, plan), plan)
    hooks = f"core.hooksPath={os.devnull}"
    clone = ["git", "-c", hooks, "clone", "--quiet", "--mirror", "--template="]
    _apart(repository.git_dir, [*clone, repository.common_dir, copy], b"")
    this = [sys.executable, "-m", "filemem.forget.purge"]
    _apart(copy, this, pickle.dumps(job))


def _apart(where: str, command: list[str], given: bytes) -> None:
    """Run a command in a separate folder, without anybody's git configuration."""
    env = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    done = subprocess.run(
        command,
        cwd=where,
        env=env,
        input=given,
        capture_output=True,
        timeout=TIMEOUT_SECONDS,
        start_new_session=True,  # no terminal to ask at
    )
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise FilememError(
            f"the history could not be rewritten, and is as it was: {one_line(told)}"
        )


def _replaced_commits(copy: str) -> set[str]:
    """Return the old names of the commits that have a new one."""
    place = os.path.join(copy, "filter-repo/commit-map")
    replaced = set[str]()
    with open(place, encoding="utf-8") as file:
        next(file, "")
        for line in file:
            old, _, new = line.strip().partition(" ")
            if old != new:
                replaced.add(old)
    return replaced


def _take_over(copy: str, repository: Repository) -> None:
    """Take the refs of a copy over. What is known of a remote's is not kept where it was
    rewritten: there the old history is the remote's."""
    before = _refs(repository)
    repository.run(*_FETCH.split(), copy, "+refs/*:refs/*")
    after = _refs(repository)
    for ref, name in before.items():
        if ref.startswith("refs/remotes/") and after.get(ref) != name:
            repository.call("update-ref", "--no-deref", "-d", ref)


def _prune(repository: Repository) -> None:
    """Empty what else names the old history, and prune objects that nothing names."""
    for name in _LEFT:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(repository.common_dir, name))
    shutil.rmtree(os.path.join(repository.common_dir, "rr-cache"), ignore_errors=True)
    expire = "reflog expire --expire=now --expire-unreachable=now --all".split()
    # Reflogs are found by git in its own folder.
    repository.run(*expire, GIT_COMMON_DIR=repository.common_dir)
    repository.run(*_COLLECT.split())


def _refs(repository: Repository) -> dict[str, str]:
    lines = repository.text("for-each-ref", "--format=%(refname) %(objectname)")
    pairs = (line.partition(" ") for line in lines.split("\n"))
    return {ref: name for ref, _, name in pairs if ref}


def _remotes(repository: Repository) -> list[str]:
    """Return a sentence for each remote: what was pushed there is there still."""
    said = list[str]()
    for name in repository.text("remote").split():
        url = repository.call("ls-remote", "--get-url", "--", name).stdout
        place = one_line(os.fsdecode(url))
        said.append(f"The remote {name} ({place}) has what was pushed there.")
    return said


# -- in the copy -----------------------------------------------------------------------


class _Rewriter:
    """What git filter-repo calls for every file, commit and tag."""

    def __init__(self, job: _Rewriting) -> None:
        self.job = job

    def run(self) -> None:
        """Rewrite every ref of the bare repository that this process stands in."""
        import git_filter_repo  # noqa: PLC0415  an extra

        flags = "--partial --force --quiet --prune-degenerate never".split()
        git_filter_repo.RepoFilter(
            git_filter_repo.FilteringOptions.parse_args(flags),
            file_info_callback=self.file,
            commit_callback=self.commit,
            tag_callback=self.tag,
        ).run()

    def own(self, path: bytes) -> str:
        """Return a path as one of the user's; empty for anybody else's."""
        text = os.fsdecode(path)
        return text.removeprefix(self.job.top) if text.startswith(self.job.top) else ""

    def goes(self, own: str) -> bool:
        """Return whether a file of the user's goes from every commit."""
        return bool(own) and (self.job.plan.whole_user or live(own) in self.job.gone)

    def file(self, path: bytes, mode: bytes, oid: bytes, value: Any) -> tuple[Any, ...]:
        """Return the path, none where the file goes, the mode and the blob."""
        own = self.own(path)
        if self.goes(own):
            return None, mode, oid
        if own and mode.startswith(b"100"):
            data = value.get_contents_by_identifier(oid)
            after = version_without(own, data, self.job.plan)
            if after != data:
                oid = value.insert_file_with_contents(after)
        return path, mode, oid

    def commit(self, commit: Any, _: Any) -> None:
        """Take files that go out of those that a commit deletes, and clear its message."""
        commit.file_changes = [
            change
            for change in commit.file_changes
            if change.type != b"D" or not self.goes(self.own(change.filename))
        ]
        touches = commit.original_id.decode() in self.job.commits
        if touches or not commit.file_changes:
            commit.message = self.cleared(commit.message)

    def tag(self, tag: Any, _: Any) -> None:
        """Clear the message of a tag."""
        tag.message = self.cleared(tag.message)

    def cleared(self, message: bytes) -> bytes:
        """Return a message without the lines that say it."""
        text = without_names(os.fsdecode(message), self.job.gone)
        lines = text.split("\n")
        for number, line in enumerate(lines):
            key, colon, said = line.partition(": ")
            matcher = self.job.plan.matcher
            if matcher.holds(line) or _is_beginning(said, matcher):
                lines[number] = f"{key}: {FORGOTTEN}" if colon else FORGOTTEN
        return os.fsencode("\n".join(lines))


def _is_beginning(said: str, matcher: Matcher) -> bool:
    """Return whether a text is the beginning of a line that goes, as a subject may be."""
    start = folded(said).rstrip("… ")
    if len(start.encode()) < SHORTEST_LINE_BYTES:
        return False
    return any(line.startswith(start) for line in matcher.lines)


# -- what still says it ----------------------------------------------------------------


def search(history: History, plan: DeletionPlan) -> list[str]:
    """Return what still says it: of every object, packed, loose or named by nothing, the
    user's own and those that nobody names, and of every file of the repository."""
    repository = history.repository
    listed = "rev-list --objects --all --indexed-objects".split()
    places = dict[str, str]()
    for line in repository.run(*listed).split(b"\n"):
        oid, _, path = os.fsdecode(line).partition(" ")
        places[oid] = path
    touching = {*_commits(history)} if repository.resolve() else set[str]()
    told = list[str]()
    for one in objects(repository):
        if not _says_it(one, plan):
            continue
        what = f"{one.kind} {one.name[:12]}"
        path = places.get(one.name, "")
        if one.name not in places:
            told.append(f"{what}, which no branch or tag names")
        elif one.kind == "tag" or one.name in touching:
            told.append(f"the message of {what}")
        elif one.kind != "commit" and _is_own(path, history.prefix):
            told.append(f"{what}, {one_line(path) or 'the top folder'}")
    for occurrence in occurrences(repository.common_dir, plan.matcher, ("objects",)):
        if "\0" in occurrence.text:  # it is no text: its path alone
            occurrence = replace(occurrence, text="")
        told.append(f".git/{occurrence}")
    return told


def _is_own(path: str, inside: str) -> bool:
    """Return whether a path of a tree is the user's, or a folder above theirs."""
    one, other = f"{path}/".lstrip("/"), f"{inside}/".lstrip("/")
    return one.startswith(other) or other.startswith(one)


@dataclass(frozen=True)
class GitObject:
    """An object of a repository: its name, its kind (blob, tree, commit or tag), its
    bytes."""

    name: str
    kind: str
    data: bytes


def _says_it(one: GitObject, plan: DeletionPlan) -> bool:
    if one.kind == "tree":
        names = [os.fsdecode(name) for name in _TREE_ENTRY.findall(one.data)]
        gone = {os.path.basename(path) for path in plan.gone}
        return any(
            name in gone or plan.matcher.match_name(name) >= plan.matcher.least
            for name in names
        )
    found = lines_with(one.data, plan.matcher)
    return any(how >= plan.matcher.least for _, _, how in found)


def objects(repository: Repository) -> Iterator[GitObject]:
    """Yield every object of a repository."""
    process = repository.start(
        "cat-file", "--batch-all-objects", "--batch", "--unordered"
    )
    assert process.stdout
    try:
        while head := process.stdout.readline():
            name, kind, size = head.decode().split()
            yield GitObject(name, kind, process.stdout.read(int(size)))
            process.stdout.read(1)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    _Rewriter(pickle.load(sys.stdin.buffer)).run()
