"""Memories put into git: the repository, the two files that say what of a store belongs in it, and the first commit."""

from __future__ import annotations

import datetime as dt
import os
import shlex
from collections.abc import Iterable, Mapping

from filemem.errors import FilememError
from filemem.files import safe
from filemem.files.folder import BOOKKEEPING, is_temporary_name
from filemem.files.safe import Place, files, too_far
from filemem.files.trust import Trust
from filemem.history import sealed
from filemem.history.git import Git, GitError, fields, spec
from filemem.history.repository import LOGS, MACHINE, PLAIN, UNION, GitFile, git_place, opened
from filemem.text.plain import first_few, one_line

IGNORE = (f"**/{BOOKKEEPING}/*", *(f"!**/{log}" for log in LOGS), f"{safe.TEMPORARY}*")
ATTRIBUTES = (*UNION, "* -text")
SUBJECT = 72  # characters


def message(subject: str, trailers: Mapping[str, str]) -> str:
    """A commit's message: one line, then its trailers."""
    lines = [f"{key}: {one_line(value, 500)}" for key, value in trailers.items() if value]
    return "\n".join([one_line(subject, SUBJECT) or "Change memories", *([""] if lines else []), *lines]) + "\n"


def set_up(home: str, person: str, at: dt.datetime, trust: Trust | None = None) -> list[str]:
    """Let filemem keep the memories under `home`, a store or one user's folder, in git; returns what was done.

    Makes a repository where there is none. One of its own that is empty begins with what is there, under the person's name.
    Adds the lines of .gitignore and .gitattributes that are missing; touches nothing else. The repository counts as named by
    the person from now on.
    """
    made = not git_place(home) or opened(git_place(home)) is None
    if made:
        Git(home).run("init", "--quiet")
    repository = opened(git_place(home))
    if repository is None:
        raise GitError(f"git init made no repository in {home}; try it by hand.")
    sealed.agree(git_place(home), trust or Trust())
    inside = os.path.relpath(os.path.realpath(home), repository.where)
    prefix = "" if inside == "." else inside + "/"
    begins = not prefix and not repository.head()
    if prefix and repository.ignored([prefix + "profile.md"]):
        raise FilememError(f"{home} is ignored by {repository.where}/.gitignore; take that line out first.")
    said = [f"Made a git repository in {repository.where}."] if made else []
    left_out = [] if made else repository.seal.unused_settings()
    said += [f"Of its own settings these are not used: {first_few(left_out)}."] if left_out else []
    clean = not repository.run("status", "--porcelain", "--", *(spec(prefix + name) for name in _FILES))
    for name, lines in _FILES.items():
        if missing := _add_lines(os.path.join(home, name), lines):
            said.append(f"Added {len(missing)} lines to {os.path.join(home, name)}.")
    if (unfinished := repository.unfinished()) or not clean:
        return [*said, f"Not committed: {unfinished or 'the two files had changes of yours; commit them'}."]
    names = [*_FILES, *(_memories(home) if begins else [])]
    ignored = repository.ignored(prefix + name for name in names)
    blobs = repository.keep_files([prefix + name for name in names if prefix + name not in ignored])
    author = repository.person(person) if begins else MACHINE
    subject = "Begin to keep these memories in git" if begins else "Let filemem keep its memories in git"
    if repository.commit({p: GitFile(PLAIN[0], oid) for p, oid in blobs.items()}, message(subject, {}), author, at):
        said.append(f"Committed {len(blobs)} files." if begins else "Committed .gitignore and .gitattributes.")
    if not said:
        return [f"{home} is set up for git already; nothing was changed."]
    left = fields(repository.run("ls-files", "--others", "--exclude-standard", "-z", "--", spec(prefix.rstrip("/"))))
    add, commit = (f"git -C {shlex.quote(home)} {what}" for what in ("add .", "commit"))
    return [*said, f"{len(left)} files are not in git yet: {add} && {commit}"] if left else said


_FILES: dict[str, tuple[str, ...]] = {".gitignore": IGNORE, ".gitattributes": ATTRIBUTES}


def _memories(home: str) -> list[str]:
    """Every file under `home` that is worth keeping: memories, settings, logs."""
    top = Place(os.path.realpath(home))

    def enter(folder: str) -> bool:
        name = folder.rpartition("/")[2]
        own = os.path.lexists(top / folder / ".git")
        return (name[0] != "." or name == BOOKKEEPING) and not own and not too_far(top, folder)

    found = []
    for path in files(top, enter):
        folder, _, name = path.rpartition("/")
        kept = path.endswith(LOGS) if BOOKKEEPING in folder.split("/") else not is_temporary_name(name)
        found += [path] if kept else []
    return sorted(found)


def _add_lines(path: str, lines: Iterable[str]) -> list[str]:
    """Append the lines that a file lacks, in its own line ends; returns them."""
    missing = [line for line in lines if not has_line(path, line)]
    if missing and not os.path.lexists(path):
        safe.create(path, b"")

    def longer(old: bytes) -> bytes:
        end = b"\r\n" if b"\r\n" in old else b"\n"
        return (old + end if old and not old.endswith(b"\n") else old) + b"".join(
            line.encode() + end for line in missing
        )

    if missing:
        safe.edit(path, longer)
    return missing


def has_line(path: str, line: str) -> bool:
    """Does a file have this line?"""
    try:
        return line.encode() in [present.strip() for present in safe.read(path).split(b"\n")]
    except FilememError:
        return False
