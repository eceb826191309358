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
from collections.abc import Iterator
from typing import Any

from filemem.errors import FilememError, missing_extra
from filemem.files import safe
from filemem.files.memory import live, renamed
from filemem.forgetting import deletion
from filemem.forgetting.deletion import FORGOTTEN, LEAST, DeletionPlan, folded
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
from filemem.text.plain import first_few, one_line

LONG = 3600.0  # seconds
# What was typed, shown or fetched once.
_LEFT = "COMMIT_EDITMSG TAG_EDITMSG NOTES_EDITMSG MERGE_MSG SQUASH_MSG FETCH_HEAD ORIG_HEAD MERGE_RR gitk.cache".split()
_OBSTACLES = {  # refs, files of the git directory, lines of `git ls-files --stage`
    "refs/stash": "it has stashed changes; apply or drop them",
    "refs/replace/": "it has replacement refs; remove them with git replace -d",
    "refs/notes/": "it has notes on commits; delete them with git update-ref -d refs/notes/commits",
    "160000 ": "it has submodules",
    "shallow": "it is a shallow clone; complete it with git fetch --unshallow",
    "objects/info/alternates": "it borrows objects from another repository",
    "index.lock": "another git is at work; where none is, delete its index.lock",
    "worktrees": "it has several work trees; remove them with git worktree remove",
}


def require(history: History) -> Repository:
    """The repository, where its history can be rewritten; raises FilememError with the obstacle and its remedy."""
    if not importlib.util.find_spec("git_filter_repo"):
        raise missing_extra("git-filter-repo, which --purge-history needs,", "purge")
    repository = history.require()
    there = [
        *_refs(repository),
        *os.fsdecode(repository.run("ls-files", "--stage")).split("\n"),
    ]
    for sign, words in _OBSTACLES.items():
        if os.path.lexists(f"{repository.common_dir}/{sign}") or any(
            line.startswith(sign) for line in there
        ):
            raise FilememError(
                f"the history of {repository.root} cannot be rewritten: {words}. Then try again."
            )
    return repository


def remembers(history: History, found: DeletionPlan) -> list[str]:
    """Sentences on what git still has when nothing was rewritten: of all that is the user's, or of what was forgotten."""
    try:
        if not find_dot_git(history.folder.root):
            return []
        repository = history.repository
        inside = (
            "rev-list",
            "--all",
            "--full-history",
            "--abbrev-commit",
            "--",
            pathspec(history.prefix),
        )
        commits = (
            repository.text(*inside).split()
            if found.everything and repository.resolve()
            else []
        )
        held = [f"commit {name}" for name in commits] or search(history, found)
        return (
            [f"Git remembers it: {first_few(held)}.", *_remotes(repository)]
            if held
            else []
        )
    except GitError as error:
        return [f"What git remembers cannot be told: {error}"]


def _remotes(repository: Repository) -> list[str]:
    """A sentence for each remote: what was pushed there is there still."""
    names = repository.text("remote").split()
    urls = [
        one_line(
            os.fsdecode(repository.call("ls-remote", "--get-url", "--", name).stdout)
        )
        for name in names
    ]
    return [
        f"The remote {name} ({url}) has what was pushed there."
        for name, url in zip(names, urls, strict=True)
    ]


# -- rewriting ---------------------------------------------------------------------------------------------------


def purge(history: History, found: DeletionPlan) -> list[str]:
    """Rewrite this repository's branches, tags and index, and prune what they held before; says what was done. Raises
    FilememError where something is in the way; done again, it goes on from there."""
    repository = require(history)
    copy = os.path.join(repository.git_dir, "filemem-purge")
    with repository.lock():
        shutil.rmtree(copy, ignore_errors=True)  # of one that was killed
        every = ("--all", "--full-history", "--", pathspec(history.prefix))
        paths = split_nul(
            repository.run(
                "log",
                "-m",
                "--root",
                "--name-only",
                "--format=",
                "-z",
                *every,
                timeout=LONG,
            )
        )
        for own in dict.fromkeys(live(history.own_path(path)) for path in paths):
            if own not in found.names and deletion.named(own, found.matcher):
                whole = own.startswith(("facts/", "lessons/"))
                found.names[own] = (
                    "" if whole else deletion.neutral_path(own, found.names.values())
                )
        touching, job = (
            repository.text("rev-list", *every).split(),
            os.path.join(copy, "job.json"),
        )
        clone = (
            "git",
            "-c",
            f"core.hooksPath={os.devnull}",
            "clone",
            "--quiet",
            "--mirror",
            "--template=",
        )
        _apart(repository.git_dir, *clone, repository.common_dir, copy)
        with open(job, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "inside": history.prefix,
                    "commits": touching,
                    "plan": found.as_json(),
                },
                file,
            )
        _apart(copy, sys.executable, "-m", "filemem.forgetting.purge", job)
        with open(
            os.path.join(copy, "filter-repo/commit-map"), encoding="utf-8"
        ) as file:
            old = {
                pair[0]
                for line in file.read().split("\n")[1:]
                if line and len({*(pair := line.split())}) > 1
            }
        before = _refs(repository)
        how = "--quiet --force --no-tags --update-head-ok --no-write-fetch-head --no-auto-maintenance --prune".split()
        repository.run("fetch", *how, copy, "+refs/*:refs/*", timeout=LONG)
        after = _refs(repository)
        for (
            ref,
            oid,
        ) in before.items():  # of a remote's copy the old history is the remote's, not here to be known by
            if ref.startswith("refs/remotes/") and after.get(ref) != oid:
                repository.call("update-ref", "--no-deref", "-d", ref)
        known = "".join(
            f"{oid}\n"
            for oid in sorted({*read_text(repository.git_dir, PURGED).split()} | old)
        )
        safe.write(os.path.join(repository.git_dir, PURGED), known.encode())
        repository.run(
            "reset", "--quiet", "--", pathspec(history.prefix)
        )  # what was staged may have the text
        repository.call("update-index", "--clear-resolve-undo")
        _prune(repository)
        shutil.rmtree(copy)
    again = "Replace it there yourself (git push --force), and clone anew elsewhere, before you sync again."
    return [
        f"Rewrote {len(old)} commits.",
        *(f"{sentence} {again}" for sentence in _remotes(repository)),
    ]


def rewrite(inside: str, commits: list[str], plan: str) -> None:
    """Rewrite every ref of the bare repository that this process stands in, as `purge` says."""
    import git_filter_repo  # noqa: PLC0415  an extra

    found, touching, top = (
        deletion.from_json(plan),
        set(commits),
        f"{inside}/" if inside else "",
    )

    def name(path: bytes) -> bytes | None:
        own = os.fsdecode(path).removeprefix(top)
        new = "" if found.everything else found.names.get(live(own), live(own))
        kept = os.fsencode(top + own.removesuffix(live(own)) + new) if new else None
        return kept if os.fsdecode(path).startswith(top) else path

    def file(
        path: bytes, mode: bytes, oid: bytes, value: Any
    ) -> tuple[bytes | None, bytes, bytes]:
        if (
            (new := name(path))
            and os.fsdecode(path).startswith(top)
            and mode.startswith(b"100")
        ):
            data = value.get_contents_by_identifier(oid)
            if (
                after := deletion.version_after(
                    os.fsdecode(path).removeprefix(top), data, found
                )
            ) != data:
                oid = value.insert_file_with_contents(after)
        return new, mode, oid

    def there(commit: bytes, path: bytes) -> bool:
        return not subprocess.run(
            ["git", "cat-file", "-e", commit + b":" + path], capture_output=True
        ).returncode

    def commit(one: Any, _: Any) -> None:
        for change in [change for change in one.file_changes if change.type == b"D"]:
            old, change.filename = change.filename, name(change.filename)
            if not change.filename or (
                change.filename != old and there(one.original_id, change.filename)
            ):
                one.file_changes.remove(
                    change
                )  # a file that has its new name already loses only the old one
        if one.original_id.decode() in touching or not one.file_changes:
            one.message = _message(one.message, found)

    def tag(one: Any, _: Any) -> None:
        one.message = _message(one.message, found)

    flags = ["--partial", "--force", "--quiet", "--prune-degenerate", "never"]
    how = git_filter_repo.FilteringOptions.parse_args(flags)
    git_filter_repo.RepoFilter(
        how, file_info_callback=file, commit_callback=commit, tag_callback=tag
    ).run()


def _message(text: bytes, found: DeletionPlan) -> bytes:
    lines = os.fsdecode(renamed(text, found.names)).split("\n")
    for n, line in enumerate(lines):
        end = folded(line.partition(": ")[2]).rstrip(
            "… "
        )  # a subject ends with the beginning of a text
        cut_short = len(end.encode()) >= LEAST and any(
            one.startswith(end) for one in found.matcher.lines
        )
        if cut_short or found.matcher.holds(line):
            lines[n] = (
                f"{line.partition(':')[0]}: {FORGOTTEN}" if ": " in line else FORGOTTEN
            )
    return os.fsencode("\n".join(lines))


def _apart(where: str, *command: str) -> None:
    """Run a command in a separate folder, without anybody's git configuration."""
    env = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_")
    }
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    done = subprocess.run(
        command,
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LONG,
    )
    if done.returncode:
        why = one_line(done.stderr.strip().rpartition("\n")[2] or done.stdout)
        raise FilememError(
            f"the history could not be rewritten, and is as it was: {why}"
        )


def _refs(repository: Repository) -> dict[str, str]:
    lines = repository.text("for-each-ref", "--format=%(refname) %(objectname)").split(
        "\n"
    )
    return {ref: oid for ref, _, oid in (line.partition(" ") for line in lines) if ref}


def _prune(repository: Repository) -> None:
    """Empty what else names the old history (reflogs and the like), and prune objects that nothing names."""
    for name in _LEFT:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(repository.common_dir, name))
    shutil.rmtree(os.path.join(repository.common_dir, "rr-cache"), ignore_errors=True)
    every = ("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    repository.run(
        *every, env={"GIT_COMMON_DIR": repository.common_dir}, timeout=LONG
    )  # found by git by its own folder
    own = (
        "-c",
        "gc.bigPackThreshold=0",
        "-c",
        "gc.cruftPacks=false",
    )  # else they keep what nothing names
    repository.run(*own, "gc", "--prune=now", "--quiet", "--force", timeout=LONG)


# -- what still says it ------------------------------------------------------------------------------------------


def search(history: History, found: DeletionPlan) -> list[str]:
    """Read every object, packed, loose or named by nothing, and every file of the repository, such as reflogs, the index and
    what linked work trees and the stash hold; say which of it tells, of the user's own and of what nobody names."""
    repository, inside, told = history.repository, history.prefix, list[str]()
    out = repository.run(
        "rev-list", "--objects", "--all", "--indexed-objects", timeout=LONG
    )
    places = {
        oid: path
        for oid, _, path in (
            os.fsdecode(line).partition(" ") for line in out.split(b"\n")
        )
    }
    touching = (
        set(repository.text("rev-list", "--all", "--", pathspec(inside)).split())
        if repository.resolve()
        else set()
    )
    names = [b" %b\0" % os.fsencode(old.rpartition("/")[2]) for old in found.names]
    for oid, kind, data in objects(repository):
        if (
            any(name in data for name in names)
            if kind == "tree"
            else any(deletion.in_bytes(data, found.matcher))
        ):
            path, what = places.get(oid), f"{kind} {oid[:12]}"
            if path is None:
                told.append(f"{what}, which no branch or tag names")
            elif kind in ("commit", "tag"):
                told += (
                    [f"the message of {what}"]
                    if kind == "tag" or oid in touching
                    else []
                )
            elif (
                not inside
                or f"{path}/".startswith(f"{inside}/")
                or f"{inside}/".startswith(f"{path}/")
            ):
                told.append(f"{what}, {one_line(path) or 'the top folder'}")
    files = deletion.search_under(
        repository.common_dir, found.matcher, but=("objects",)
    )
    return [
        *told,
        *(f".git/{one.path if chr(0) in one.text else one}" for one in files),
    ]  # of no text the path alone


def objects(repository: Repository) -> Iterator[tuple[str, str, bytes]]:
    """Every object: its name, kind and bytes."""
    process = repository.start(
        "cat-file", "--batch-all-objects", "--batch", "--unordered"
    )
    assert process.stdout
    try:
        while head := process.stdout.readline():
            oid, kind, size = head.decode().split()
            yield oid, kind, process.stdout.read(int(size))
            process.stdout.read(1)
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as given:
        rewrite(**json.load(given))
