"""Let filemem keep a store, or one user's folder, in git."""

from __future__ import annotations

import datetime as dt
import os

from filemem.errors import FilememError
from filemem.git.history import ATTRIBUTES, IGNORE, changed_paths, commit_message
from filemem.git.repository import MACHINE, Repository, find_dot_git, read_text
from filemem.store import files
from filemem.text.plain import first_few


def set_up(folder: str, person: str, at: dt.datetime) -> list[str]:
    """Set up a folder, a store or one user's, for git; return what was done.

    Where there is no repository one is made, and begins with what is there, under the
    person's name. Of their files only .gitignore and .gitattributes are touched, and
    get the lines that are missing. Raises FilememError if git ignores the folder, or
    nothing can be committed now.
    """
    root = os.path.realpath(folder)
    done = []
    if not find_dot_git(root):
        Repository(os.path.join(root, ".git")).run("init", "--quiet")
        done.append(f"Made a git repository in {root}.")
    repository = Repository(find_dot_git(root))
    repository.require_branch()
    prefix = f"{root}/".removeprefix(f"{repository.root}/")
    profile = f"{prefix}profile.md"
    if prefix and not repository.call("check-ignore", "-q", "--", profile).code:
        raise FilememError(
            f"{folder} is ignored by {repository.root}/.gitignore; "
            "remove that line first."
        )
    lines_of = {f"{prefix}.gitignore": IGNORE, f"{prefix}.gitattributes": ATTRIBUTES}
    edited = changed_paths(repository, *lines_of)
    for name, lines in lines_of.items():
        done += _add_lines(os.path.join(repository.root, name), lines)
    if prefix or repository.resolve():
        subject = "Let filemem keep its memories in git"
        author = MACHINE
        chosen = [p for p in changed_paths(repository, *lines_of) if p not in edited]
        if done and edited:
            done.append(f"Left for you to commit: {first_few(edited)}.")
    else:
        subject = "Begin to keep these memories in git"
        author = _owner(repository, person)
        chosen = [*changed_paths(repository, "")]
    if chosen:
        message = commit_message(subject, {})
        with repository.lock():
            repository.commit(chosen, message, at, author=author)
        done.append(f"Committed {len(chosen):,} files.")
    return done or [f"{folder} is set up for git already; nothing was changed."]


def _add_lines(path: str, lines: tuple[str, ...]) -> list[str]:
    """Add the lines that a file lacks; return what was done."""
    present = read_text(*os.path.split(path)).splitlines()
    missing = [line for line in lines if line not in present]
    if not missing:
        return []
    files.log(path, "".join(f"{line}\n" for line in missing).encode())
    return [f"Added {len(missing)} lines to {path}."]


def _owner(repository: Repository, person: str) -> str:
    """Return the person as git knows them, else by the name of their folder."""
    name = repository.setting("user.name") or person
    email = repository.setting("user.email") or f"{person}@localhost"
    return f"{name} <{email}>"
