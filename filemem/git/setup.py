"""Let filemem keep a store, or one user's folder, in git."""

from __future__ import annotations

import contextlib
import datetime as dt
import os

from filemem.errors import FilememError
from filemem.git.history import ATTRIBUTES, IGNORE, changed_paths, commit_message
from filemem.git.repository import MACHINE, Repository, find_dot_git, read_text
from filemem.store import files
from filemem.store.folder import Progress, no_progress


def set_up(
    folder: str, person: str, at: dt.datetime, progress: Progress = no_progress
) -> list[str]:
    """Set up a folder, a store or one user's, for git; return what was done.

    Where there is no repository one is made, and begins with what is there, under the
    person's name. Of their files only .gitignore and .gitattributes are touched, and
    get the lines that are missing.
    """
    root = os.path.realpath(folder)
    done = []
    if not find_dot_git(root):
        Repository(os.path.join(root, ".git")).run("init", "--quiet")
        done.append(f"Made a git repository in {root}.")
    repository = Repository(find_dot_git(root))
    inside = os.path.relpath(root, repository.root)
    prefix = "" if inside == "." else f"{inside}/"
    _refuse_ignored(repository, folder, prefix)
    begins = not prefix and not repository.resolve()
    files = {f"{prefix}.gitignore": IGNORE, f"{prefix}.gitattributes": ATTRIBUTES}
    edited = {} if begins else changed_paths(repository, *files)
    for name, lines in files.items():
        done += _add_lines(os.path.join(repository.root, name), lines)
    obstacle = repository.obstacle()
    if edited:
        obstacle = "the two files had changes of yours"
    chosen = [*changed_paths(repository, *([""] if begins else files))]
    if obstacle:
        done.append(f"Not committed: {obstacle}; commit them.")
    elif chosen:
        subject = "Let filemem keep its memories in git"
        author = MACHINE
        if begins:
            subject = "Begin to keep these memories in git"
            author = _owner(repository, person)
        message = commit_message(subject, {})
        with repository.lock():
            repository.commit(chosen, message, at, author=author, progress=progress)
        done.append(f"Committed {len(chosen):,} files.")
    return done or [f"{folder} is set up for git already; nothing was changed."]


def _refuse_ignored(repository: Repository, folder: str, prefix: str) -> None:
    """Raise FilememError if the repository is told to ignore the folder."""
    if not prefix:
        return
    profile = f"{prefix}profile.md"
    if repository.call("check-ignore", "--quiet", "--", profile).code == 0:
        raise FilememError(
            f"{folder} is ignored by {repository.root}/.gitignore; "
            "remove that line first."
        )


def _add_lines(path: str, lines: tuple[str, ...]) -> list[str]:
    """Add the lines that a file lacks; return what was done."""
    present = read_text(*os.path.split(path)).splitlines()
    missing = [line for line in lines if line not in present]
    if not missing:
        return []
    with contextlib.suppress(FileExistsError):
        files.create(path, b"")
    files.append(path, "".join(f"{line}\n" for line in missing).encode())
    return [f"Added {len(missing)} lines to {path}."]


def _owner(repository: Repository, person: str) -> str:
    """Return the person as git knows them, else by the name of their folder."""
    name = repository.setting("user.name") or person
    email = repository.setting("user.email") or f"{person}@localhost"
    return f"{name} <{email}>"
