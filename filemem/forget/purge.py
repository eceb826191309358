"""Forgetting in git's history.

`purge` has git filter-repo rewrite it; `search` proves by reading every object that
nothing says it any more.

The rewriting is done in a bare copy, by a process of its own, which runs this module.
Branches and tags are then taken over from there, so that no setting of the repository
steers it and no file of the work tree is touched.
"""

import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filemem.errors import FilememError, missing_extra
from filemem.forget.delete import version_without
from filemem.forget.matching import UNREADABLE, is_packed, occurrences, said_in
from filemem.forget.plan import DeletionPlan
from filemem.git.command import Git, GitError
from filemem.git.history import DEPARTURES, History
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
from filemem.text.plain import one_line

_REWRITTEN = ("refs/heads/", "refs/tags/", "refs/remotes/")
_OBSTACLES = {
    "worktrees": "a second work tree (git worktree remove)",
    "shallow": "an edge, as a shallow clone (git fetch --unshallow)",
}
_CLONE = f"-c core.hooksPath={os.devnull} clone --quiet --mirror --template="
_FETCH = (
    "fetch --quiet --force --no-tags --update-head-ok --no-write-fetch-head"
    " --no-auto-maintenance --prune"
)
_STILL_THERE = (
    "Git's history still has it; filemem forget {}--purge-history removes it."
)
_EXPIRE = "reflog expire --expire=now --expire-unreachable=now --all"
_MISSING = (
    "Git still has the folder {0}, which is no longer there: if it was this user's by"
    " another name, bring it back (git checkout -- {0}) and delete that user, too."
)
_UNCLEAR = (
    "Git has the folder {0}, which was this user's and somebody else's after them; as"
    " it was renamed by hand, nothing tells what of it is whose: look (git log -- {0}),"
    " and if it is this user's, have git filter-repo remove it."
)
_BY_HAND = (
    "Git has the folder {0}, which was this user's until it was renamed by hand:"
    " filemem forget --whole-user {0} --purge-history removes it."
)
_COLLECT = (
    "-c gc.bigPackThreshold=0 -c gc.cruftPacks=false gc --prune=now --quiet --force"
)
_TREE_ENTRY = re.compile(rb"[0-7]{5,6} ([^\0]+)\0")
_FILTER = "--partial --force --quiet --prune-degenerate never"


def require(history: History) -> Repository:
    """Return the repository, where its history can be rewritten.

    Raises:
        FilememError: something is in the way, with its remedy.
    """
    if not importlib.util.find_spec("git_filter_repo"):
        raise missing_extra("git-filter-repo, which --purge-history needs,", "purge")
    repository = history.require()
    in_the_way = [ref for ref in _refs(repository) if not ref.startswith(_REWRITTEN)]
    for name, what in _OBSTACLES.items():
        if os.path.lexists(f"{repository.common_dir}/{name}"):
            in_the_way.append(what)
    if in_the_way:
        raise FilememError(
            f"the history of {repository.root} cannot be rewritten while it has"
            f" {in_the_way[0]}; apply or remove that, then try again."
        )
    return repository


def remembers(history: History, plan: DeletionPlan) -> list[str]:
    """Return a sentence if git still has what was forgotten; none if it has not."""
    if not find_dot_git(history.folder.root):
        return []
    try:
        told = told_of_places(history)
        if search(history, plan):
            whose = ""
            if plan.whole_user:
                whose = f"--whole-user {one_line(history.folder.name)} "
            return [_STILL_THERE.format(whose), *told]
        if plan.whole_user:
            told += map(_MISSING.format, history.missing_users())
        return told
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]


def told_of_places(history: History) -> list[str]:
    """Return a sentence on each folder that a person renamed, and git has still."""
    said = list[str]()
    for place in history.by_hand:
        name = one_line(os.path.basename(place.folder))
        sentence = _UNCLEAR if place.others else _BY_HAND
        said.append(sentence.format(name))
    return said


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
        Git(repository.git_dir).run(*_CLONE.split(), repository.common_dir, copy)
        _rewrite(copy, _Rewriter(history, plan))
        pairs = read_text(copy, "filter-repo/commit-map").split()[2:]  # under a heading
        new_names = zip(pairs[::2], pairs[1::2], strict=True)
        replaced = [old for old, new in new_names if old != new]
        # What is known of remotes goes: there the old history is what they have.
        repository.run(*_FETCH.split(), copy, "+refs/*:refs/*")
        for ref in _refs(repository):
            if ref.startswith("refs/remotes/"):
                repository.call("update-ref", "--no-deref", "-d", ref)
        known = {*read_text(repository.git_dir, PURGED).split(), *replaced}
        text = "\n".join(sorted(known))
        files.write(f"{repository.git_dir}/{PURGED}", text.encode())
        # What was staged may have the text.
        repository.run("reset", "--quiet", "--", pathspec(history.prefix))
        repository.call("update-index", "--clear-resolve-undo")
        _prune(repository)
        shutil.rmtree(copy)
    said = [f"Rewrote {len(replaced)} commits."]
    if repository.text("remote"):
        said.append(
            "A remote has what was pushed there: replace it (git push --force), and"
            " clone anew elsewhere, before you sync again."
        )
    return said


def _rewrite(copy: str, rewriter: "_Rewriter") -> None:
    """Rewrite every ref of a copy, without anybody's git configuration.

    Raises:
        FilememError: that failed.
    """
    env = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "filemem.forget.purge"],
        cwd=copy,
        env=env,
        input=pickle.dumps(rewriter),
        capture_output=True,
        start_new_session=True,  # no terminal to ask at
    )
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise FilememError(
            f"the history could not be rewritten, and is as it was: {one_line(reason)}"
        )


def _prune(repository: Repository) -> None:
    """Empty what else names the old history, and prune objects that nothing names."""
    # What was typed, shown or fetched once, such as COMMIT_EDITMSG and FETCH_HEAD.
    for place in Path(repository.common_dir).glob("*_*"):
        if place.name.isupper() and place.is_file():
            place.unlink()
    shutil.rmtree(f"{repository.common_dir}/rr-cache", ignore_errors=True)
    # Reflogs are found by git in its own folder.
    repository.run(*_EXPIRE.split(), GIT_COMMON_DIR=repository.common_dir)
    repository.run(*_COLLECT.split())


def _refs(repository: Repository) -> list[str]:
    """Return the names of all branches, tags and what else names commits."""
    return repository.text("for-each-ref", "--format=%(refname)").split()


# -- whose a version of a file is ------------------------------------------------------

Version = tuple[str, str]
"""The path of a file in the repository, and the digest of what it held."""


def _own_versions(history: History) -> dict[Version, str]:
    """Return the path in a user's folder of each version that is theirs in git.

    What others have or had in the same folder, too, is not.
    """
    own = dict[Version, str]()
    for place in history.places:
        prefix = f"{place.folder}/".lstrip("/")
        found = _versions(history.repository, place.folder, place.commits)
        found -= _versions(history.repository, place.folder, place.others)
        for path, digest in found:
            own[path, digest] = path.removeprefix(prefix)
    return own


def _versions(
    repository: Repository, folder: str, commits: Iterable[str]
) -> set[Version]:
    """Return the versions that commits gave to files in a folder."""
    how = "diff-tree --stdin -r -m -z --root --no-commit-id --no-renames --"
    given = "".join(f"{commit}\n" for commit in commits).encode()
    told = repository.items(*how.split(), pathspec(folder), stdin=given)
    found = set[Version]()
    for change, path in zip(told[::2], told[1::2], strict=True):
        found.add((path, change.split(" ")[3]))
    return found


# -- in the copy -----------------------------------------------------------------------


class _Rewriter:
    """What git filter-repo calls for every file, commit and tag.

    Args:
        history: of the user whose memories go.
        plan: what goes.
    """

    def __init__(self, history: History, plan: DeletionPlan) -> None:
        self.own = _own_versions(history)
        # The user's commits, by how the paths of their files begin in these.
        self.commits = dict[bytes, frozenset[str]]()
        for place in history.places:
            folder = f"{place.folder}/".lstrip("/")
            self.commits[os.fsencode(folder)] = place.commits
        self.plan = plan
        self.paths = frozenset(map(live, history.folder.paths()))

    def run(self) -> None:
        """Rewrite every ref of the bare repository that this process stands in."""
        import git_filter_repo  # noqa: PLC0415  an extra

        git_filter_repo.RepoFilter(
            git_filter_repo.FilteringOptions.parse_args(_FILTER.split()),
            file_info_callback=self.file,
            commit_callback=self.commit,
            tag_callback=self.message,
        ).run()

    def goes(self, own: str) -> bool:
        """Return whether a file of the user's goes from every commit: also one that is
        there no more and whose name tells what goes."""
        if self.plan.whole_user or live(own) in self.plan.gone:
            return bool(own)
        is_told = self.plan.matcher.is_told_by(os.path.basename(own))
        return is_told and live(own) not in self.paths

    def file(self, path: bytes, mode: bytes, oid: bytes, value: Any) -> tuple[Any, ...]:
        """Return the path, none where the file goes, the mode and the blob."""
        own = self.own.get((os.fsdecode(path), os.fsdecode(oid)), "")
        if self.goes(own):
            return None, mode, oid
        if own and mode.startswith(b"100"):
            data = value.get_contents_by_identifier(oid)
            after = version_without(own, data, self.plan)
            if after != data:
                oid = value.insert_file_with_contents(after)
        return path, mode, oid

    def commit(self, commit: Any, _: Any) -> None:
        """Clear a commit's message, unless it changes only what others have.

        From the commits of a user who goes whole all changes in their folder go. A
        version that others have alike stays in the commits of these.
        """
        name = os.fsdecode(commit.original_id)
        own = [folder for folder, names in self.commits.items() if name in names]
        if own and self.plan.whole_user:
            folders = tuple(own)
            commit.file_changes = [
                change
                for change in commit.file_changes
                if not change.filename.startswith(folders)
            ]
        if own or not commit.file_changes:
            self.message(commit, _)

    def message(self, one: Any, _: Any) -> None:
        """Clear the message of a commit or a tag of the lines that say it."""
        matcher = self.plan.matcher
        message = self.plan.names.without(os.fsdecode(one.message))
        lines = list[str]()
        for line in message.split("\n"):
            key, _, said = line.partition(": ")
            is_told = matcher.holds(line) or matcher.begins_line(said)
            if is_told and key not in DEPARTURES:  # which tell whose a folder was
                line = FORGOTTEN
            lines.append(line)
        one.message = os.fsencode("\n".join(lines))


# -- what still says it ----------------------------------------------------------------


def search(history: History, plan: DeletionPlan) -> list[str]:
    """Return what of a user's still says it, or what is left of a user that goes whole.

    Every object is read, packed, loose or named by nothing, but for those that touch
    nothing of the user's, and every file of the repository.

    Args:
        history: the user's.
        plan: what was to go.

    Raises:
        GitError: git cannot be asked.
    """
    repository = history.repository
    own = _own_objects(history)
    others = _named_objects(repository, "").keys() - own.keys()
    said = list[str]()
    for one in objects(repository):
        if one.name in others:
            continue
        where = own.get(one.name, "which no branch or tag names")
        named = f"{one.kind} {one.name[:12]}, {one_line(where)}".rstrip(", ")
        is_file = one.kind in ("blob", "tree") and bool(own.get(one.name))
        if (plan.whole_user and is_file) or _says_it(one, plan):
            said.append(named)
        elif is_packed(one.data) and plan.matcher:
            said.append(f"{named}: {UNREADABLE}")
    found = occurrences(repository.common_dir, plan.matcher, ("objects",))
    return [*said, *(f".git/{one}" for one in found)]


def _own_objects(history: History) -> dict[str, str]:
    """Return the objects that are a user's by the places that they have in git.

    Each has its path. What others have alike is the user's, too.
    """
    repository = history.repository
    own = dict[str, str]()
    for place in history.places:
        own |= _named_objects(repository, place.folder, place.commits)
    return own


def _named_objects(
    repository: Repository, folder: str, commits: Iterable[str] | None = None
) -> dict[str, str]:
    """Return the objects that commits name, each with its path, '' for commits.

    Args:
        repository: which has them.
        folder: only what touches that; '' for all.
        commits: them; None for those of all branches and tags.
    """
    which = ["--all"]
    given = ""
    if commits is not None:
        which = ["--no-walk", "--stdin"]
        given = "".join(f"{commit}\n" for commit in commits)
        if not given:
            return {}
    command = ("rev-list", "--objects", "--full-history", *which)
    listed = repository.run(*command, "--", pathspec(folder), stdin=given.encode())
    paths = dict[str, str]()
    for line in os.fsdecode(listed).split("\n"):
        name, _, path = line.partition(" ")
        paths[name] = path
    return paths


@dataclass(frozen=True)
class GitObject:
    """An object of a repository.

    Attributes:
        name: its digest.
        kind: blob, tree, commit or tag.
        data: its bytes.
    """

    name: str
    kind: str
    data: bytes


def _says_it(one: GitObject, plan: DeletionPlan) -> bool:
    """Tell whether an object says what goes, a tree by the names of files."""
    if one.kind != "tree":
        return bool(said_in(one.data, plan.matcher))
    gone = {os.path.basename(path) for path in plan.gone}
    names = map(os.fsdecode, _TREE_ENTRY.findall(one.data))
    return any(name in gone or plan.matcher.is_told_by(name) for name in names)


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
