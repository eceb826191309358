"""Let filemem keep a store, or one user's folder, in git."""

import datetime as dt
import os

from filemem.errors import FilememError
from filemem.git.history import ATTRIBUTES, IGNORE, changes_in
from filemem.git.job_frame import BEGUN, finish
from filemem.git.repository import Repository, find_dot_git, read_text
from filemem.store import files
from filemem.text.plain import first_few


def set_up(folder: str, person: str, at: dt.datetime) -> list[str]:
    """Set up a folder, a store or one user's, for git.

    Where there is no repository one is made. If no commit has the folder yet, what is
    there is committed, under the person's name. Of their files only .gitignore and
    .gitattributes are touched, and get the lines that are missing; where a commit has
    the folder these are left for the person to commit.

    Args:
        folder: where the memories lie.
        person: their name, where git knows none.
        at: the moment of the commit.

    Returns:
        What was done, a sentence each.

    Raises:
        FilememError: git ignores the folder, or nothing can be committed now.
    """
    root = os.path.realpath(folder)
    done = []
    if not find_dot_git(root):
        Repository(os.path.join(root, ".git")).run("init", "--quiet")
        done.append(f"Made a git repository in {root}.")
    repository = Repository(find_dot_git(root))
    repository.require_branch()
    profile = os.path.join(root, "profile.md")
    if (
        root != repository.root
        and not repository.call("check-ignore", "-q", "--", profile).code
    ):
        raise FilememError(
            f"{folder} is ignored by {repository.root}/.gitignore; "
            "remove that line first."
        )
    prefix = root.removeprefix(repository.root).strip("/")
    begins = not repository.has_folder(prefix)
    if begins:
        files.write(os.path.join(repository.git_dir, BEGUN), b"")
    added = _add_lines(os.path.join(root, ".gitignore"), IGNORE)
    added += _add_lines(os.path.join(root, ".gitattributes"), ATTRIBUTES)
    done += added
    if begins:
        count = finish(repository, prefix, at, _owner(repository, person))
        done.append(f"Committed {count:,} files.")
    elif added:
        waiting = [os.path.join(prefix, one) for one in changes_in(repository, prefix)]
        done.append(f"Left for you to commit: {first_few(waiting)}.")
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
    """Return the person as git knows them, else by the name of their folder.

    Git takes no name that is empty without its signs.
    """
    person = person or "filemem"
    name = repository.setting("user.name").strip(" .,:;<>\"'\\") or person
    email = repository.setting("user.email") or f"{person}@localhost"
    return f"{name} <{email}>"
