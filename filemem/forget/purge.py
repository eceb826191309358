"""Forgetting in git's history.

`purge` has git filter-repo rewrite it; `search` proves by reading every object that
nothing says it any more.

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
from filemem.forget.delete import version_without
from filemem.forget.matching import occurrences, said_in
from filemem.forget.plan import DeletionPlan, without_names
from filemem.git.command import GitError
from filemem.git.history import History
from filemem.git.repository import (
    Repository,
    find_dot_git,
    pathspec,
    read_text,
)
from filemem.git.sync import PURGED
from filemem.store import files
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import live
from filemem.text.plain import first_few, one_line

TIMEOUT_SECONDS = 3600.0
# What was typed, shown or fetched once.
_LEFT = (
    *("COMMIT_EDITMSG", "TAG_EDITMSG", "NOTES_EDITMSG", "MERGE_MSG", "SQUASH_MSG"),
    *("FETCH_HEAD", "ORIG_HEAD", "MERGE_RR", "gitk.cache"),
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
_FILTER = "--partial --force --quiet --prune-degenerate never"


def require(history: History) -> Repository:
    """Return the repository, where its history can be rewritten.

    Raises:
        FilememError: something is in the way, with its remedy.
    """
    if not importlib.util.find_spec("git_filter_repo"):
        raise missing_extra("git-filter-repo, which --purge-history needs,", "purge")
    repository = history.require()
    there = repository.text("ls-files", "--stage").split("\n") + _refs(repository)
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
    if not find_dot_git(history.folder.root):
        return []
    try:
        held = search(history, plan)
        if plan.whole_user:
            own = _named_objects(history, pathspec(history.prefix))
            held = [path for path in own.values() if path.startswith(history.prefix)]
        if not held:
            return []
        return [f"Git remembers it: {first_few(held)}.", *_remotes(history.repository)]
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]


def purge(history: History, plan: DeletionPlan) -> list[str]:
    """Rewrite the branches, tags and index of a user's repository, and prune what they
    held before; return sentences on what was done. Done again, it goes on from there.

    Raises:
        FilememError: something is in the way; the history is as it was.
    """
    repository = require(history)
    copy = f"{repository.git_dir}/filemem-purge"
    with repository.lock():
        shutil.rmtree(copy, ignore_errors=True)  # of one that was killed
        clone = "clone --quiet --mirror --template=".split()
        _run_apart(
            repository.git_dir, ["git", *clone, repository.common_dir, copy], b""
        )
        prefix = f"{history.prefix}/" if history.prefix else ""
        paths = frozenset(map(live, history.folder.paths()))
        rewriter = _Rewriter(prefix, plan, paths)
        this = [sys.executable, "-m", "filemem.forget.purge"]
        _run_apart(copy, this, pickle.dumps(rewriter))
        replaced = _replaced_commits(copy)
        _take_over(copy, repository)
        known = {*read_text(repository.git_dir, PURGED).split(), *replaced}
        text = "\n".join(sorted(known))
        files.write(f"{repository.git_dir}/{PURGED}", text.encode())
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


def _run_apart(where: str, command: list[str], given: bytes) -> None:
    """Run a command in a separate folder, without anybody's git configuration.

    Raises:
        FilememError: it failed.
    """
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
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise FilememError(
            f"the history could not be rewritten, and is as it was: {one_line(reason)}"
        )


def _replaced_commits(copy: str) -> list[str]:
    """Return the old names of the commits that have a new one."""
    pairs = read_text(copy, "filter-repo/commit-map").split()[2:]  # under a heading
    return [old for old, new in zip(pairs[::2], pairs[1::2], strict=True) if old != new]


def _take_over(copy: str, repository: Repository) -> None:
    """Take the refs of a copy over, but for what is known of remotes.

    There the old history is what they have.
    """
    repository.run(*_FETCH.split(), copy, "+refs/*:refs/*")
    for ref in _refs(repository):
        if ref.startswith("refs/remotes/"):
            repository.call("update-ref", "--no-deref", "-d", ref)


def _prune(repository: Repository) -> None:
    """Empty what else names the old history, and prune objects that nothing names."""
    for name in _LEFT:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{repository.common_dir}/{name}")
    shutil.rmtree(f"{repository.common_dir}/rr-cache", ignore_errors=True)
    expire = "reflog expire --expire=now --expire-unreachable=now --all".split()
    # Reflogs are found by git in its own folder.
    repository.run(*expire, GIT_COMMON_DIR=repository.common_dir)
    repository.run(*_COLLECT.split())


def _refs(repository: Repository) -> list[str]:
    """Return the names of all branches, tags and what is known of remotes."""
    return repository.text("for-each-ref", "--format=%(refname)").split("\n")


def _remotes(repository: Repository) -> list[str]:
    """Return a sentence for each remote: what was pushed there is there still."""
    said = list[str]()
    for name in repository.text("remote").split():
        url = repository.call("ls-remote", "--get-url", "--", name).stdout
        place = one_line(os.fsdecode(url))
        said.append(f"The remote {name} ({place}) has what was pushed there.")
    return said


# -- in the copy -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Rewriter:
    """What git filter-repo calls for every file, commit and tag.

    Attributes:
        prefix: how paths of the user's begin in the repository.
        plan: what goes.
        paths: of the user's files now, as live ones; another one goes from every commit
            where its name tells what goes.
    """

    prefix: str
    plan: DeletionPlan
    paths: frozenset[str]

    def run(self) -> None:
        """Rewrite every ref of the bare repository that this process stands in."""
        import git_filter_repo  # noqa: PLC0415  an extra

        git_filter_repo.RepoFilter(
            git_filter_repo.FilteringOptions.parse_args(_FILTER.split()),
            file_info_callback=self.file,
            commit_callback=self.commit,
            tag_callback=self.tag,
        ).run()

    def own(self, path: bytes) -> str:
        """Return a path as one of the user's; empty for anybody else's."""
        text = os.fsdecode(path)
        return text.removeprefix(self.prefix) if text.startswith(self.prefix) else ""

    def goes(self, own: str) -> bool:
        """Return whether a file of the user's goes from every commit."""
        if self.plan.whole_user or live(own) in self.plan.gone:
            return True
        is_told = self.plan.matcher.is_told_by(os.path.basename(own))
        return is_told and live(own) not in self.paths

    def file(self, path: bytes, mode: bytes, oid: bytes, value: Any) -> tuple[Any, ...]:
        """Return the path, none where the file goes, the mode and the blob."""
        own = self.own(path)
        if own and self.goes(own):
            return None, mode, oid
        if own and mode.startswith(b"100"):
            data = value.get_contents_by_identifier(oid)
            after = version_without(own, data, self.plan)
            if after != data:
                oid = value.insert_file_with_contents(after)
        return path, mode, oid

    def commit(self, commit: Any, _: Any) -> None:
        """Take files that go out of those that a commit deletes, and clear its message
        unless it changes only what others have."""
        kept = list[Any]()
        for change in commit.file_changes:
            own = self.own(change.filename)
            if change.type != b"D" or not (own and self.goes(own)):
                kept.append(change)
        commit.file_changes = kept
        if not kept or any(self.own(change.filename) for change in kept):
            commit.message = self.cleared(commit.message)

    def tag(self, tag: Any, _: Any) -> None:
        """Clear the message of a tag."""
        tag.message = self.cleared(tag.message)

    def cleared(self, message: bytes) -> bytes:
        """Return a message without the lines that say it."""
        matcher = self.plan.matcher
        lines = without_names(os.fsdecode(message), self.plan.gone).split("\n")
        for number, line in enumerate(lines):
            key, colon, said = line.partition(": ")
            if matcher.holds(line) or matcher.begins_line(said):
                lines[number] = f"{key}: {FORGOTTEN}" if colon else FORGOTTEN
        return os.fsencode("\n".join(lines))


# -- what still says it ----------------------------------------------------------------


def search(history: History, plan: DeletionPlan) -> list[str]:
    """Return what still says it, in words.

    Every object is read, packed, loose or named by nothing, but for those that touch
    nothing of the user's, and every file of the repository.
    """
    repository = history.repository
    own = _named_objects(history, pathspec(history.prefix))
    everybody_s = _named_objects(history, pathspec(""))
    said = list[str]()
    for one in objects(repository):
        where = "which no branch or tag names"
        if one.name in everybody_s:
            if one.name not in own:
                continue
            where = one_line(own[one.name]) or "its message or top folder"
        if _says_it(one, plan):
            said.append(f"{one.kind} {one.name[:12]}, {where}")
    for occurrence in occurrences(repository.common_dir, plan.matcher, ("objects",)):
        if "\0" in occurrence.text:  # it is no text: its path alone
            occurrence = replace(occurrence, text="")
        said.append(f".git/{occurrence}")
    return said


def _named_objects(history: History, place: str) -> dict[str, str]:
    """Return the objects that branches and tags name, of what touches a place.

    Each has its path, empty for commits and the top folder.
    """
    command = ("rev-list", "--objects", "--all", "--full-history", "--", place)
    listed = history.repository.run(*command)
    paths = dict[str, str]()
    for line in os.fsdecode(listed).split("\n"):
        name, _, path = line.partition(" ")
        paths[name] = path
    return paths


@dataclass(frozen=True)
class GitObject:
    """An object of a repository: its name, its kind (blob, tree, commit or tag), its
    bytes."""

    name: str
    kind: str
    data: bytes


def _says_it(one: GitObject, plan: DeletionPlan) -> bool:
    """Tell whether an object says what goes, a tree by the names of files."""
    matcher = plan.matcher
    if one.kind != "tree":
        return any(how >= matcher.least for _, how in said_in(one.data, matcher))
    gone = {os.path.basename(path) for path in plan.gone}
    names = map(os.fsdecode, _TREE_ENTRY.findall(one.data))
    return any(name in gone or matcher.is_told_by(name) for name in names)


def objects(repository: Repository) -> Iterator[GitObject]:
    """Yield every object of a repository."""
    process = repository.start(
        "cat-file", "--batch-all-objects", "--batch", "--unordered"
    )
    assert process.stdout
    try:
        for head in process.stdout:
            name, kind, size = head.decode().split()
            yield GitObject(name, kind, process.stdout.read(int(size)))
            process.stdout.read(1)
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    pickle.load(sys.stdin.buffer).run()
