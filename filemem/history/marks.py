"""Which repositories filemem uses: those that it was told to set up, or that a person has agreed to, on this machine.

Each has a mark, a name drawn by lot in its git directory, and the person's own configuration folder has the same by its path
(`trust`). A repository that came with a store, or took the place of another, has no such mark.
"""

import os
import secrets

from filemem.errors import FilememError, NotFound
from filemem.files import disk
from filemem.files.trust import VARIABLE, Trust
from filemem.history.git import GitError
from filemem.history.sealed import Seal
from filemem.text.plain import few, one_line

NAME = "filemem-mark"  # in the git directory
_REMEDY = f"if it is yours, run filemem init --git, or say so with --trust or {VARIABLE}"


class Untrusted(GitError):
    """A repository that the person has not agreed to; the sentence says what it would have done."""


class Declined(Untrusted):
    """One that they have said no to."""


def require(place: str, trust: Trust) -> None:
    """Have the person agree to the repository of a `.git`, as they have before or do now; raises Untrusted."""
    folder = _folder(place)
    content = {"mark": _mark(folder)}
    if trust.known(place, content) is None and trust.ask:
        question = f"{one_line(place)} was not agreed to on this machine; filemem would commit there{_would(folder)}."
        trust.settle(place, content, question)
    if not trust.known(place, content):
        words = (
            f"{one_line(place)} was not set up on this machine, so git is not used there{_would(folder)}; {_REMEDY}."
        )
        raise (Untrusted if trust.known(place, content) is None else Declined)(words)
    if trust.given or (trust.ask and not content["mark"]):
        agree(place, trust)


def agree(place: str, trust: Trust) -> None:
    """Mark a repository as one that the person has named."""
    folder = _folder(place)
    if _mark(folder) and trust.kept(place, {"mark": _mark(folder)}):
        return
    mark = secrets.token_hex(16)
    try:
        disk.write(os.path.join(folder, NAME), f"{mark}\n".encode())
    except OSError as error:
        raise GitError(f"{folder} cannot be written ({error.strerror}).") from None
    trust.keep(place, {"mark": mark}, trusted=True)


def _folder(place: str) -> str:
    """The git directory of a `.git`, which may be a file that names it; raises GitError."""
    if os.path.isdir(place):
        return place
    try:
        told = os.fsdecode(disk.read(place, 10_000)).partition("gitdir:")[2].strip()
    except FilememError as error:
        raise GitError(str(error)) from None
    return os.path.join(os.path.dirname(place), told or ".git")


def _mark(folder: str) -> str:
    try:
        return disk.read(os.path.join(folder, NAME), 100).decode(errors="replace").strip()
    except NotFound:
        return ""
    except FilememError as error:
        raise GitError(str(error)) from None


def _would(folder: str) -> str:
    """What a repository's own configuration would have git run, and where it would send memories to."""
    try:
        common = os.fsdecode(disk.read(os.path.join(folder, "commondir"), 10_000)).strip()
    except FilememError:
        common = ""
    seal = Seal(os.path.join(folder, common))
    runs, sends = seal.unused_settings(), seal.remotes()
    words = [f"its settings would run or steer {few(map(one_line, runs))}"] if runs else []
    words += [f"a sync would send them to {few(one_line(url) for url in sends)}"] if sends else []
    return "".join(f" ({'; '.join(words)})" if words else "")
