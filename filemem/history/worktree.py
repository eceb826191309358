"""Files of the work tree changed for git's sake, never over a person's bytes: compared at the moment of the change."""

import os
from collections.abc import Iterable
from typing import NamedTuple

from filemem.errors import Changed, FilememError, NotFound
from filemem.files import safe
from filemem.files.safe import Place
from filemem.history.repository import PLAIN, Changes, GitFile, Repository, merge_file
from filemem.text.plain import first_few, one_line

_TRIES = 5  # where somebody saves a file in between


class Step(NamedTuple):
    """What is to happen to one file: `found` was read from disk (None: no file), `becomes` is to stand there."""

    path: str
    found: bytes | None
    becomes: bytes | None


def read(path: str) -> bytes | None:
    """The bytes of a plain file once its save is over, None where there is none; raises Refused for anything else."""
    try:
        if safe.exists(path):
            safe.wait_for_editor(path)
        return safe.read(path)
    except NotFound:
        return None


def carry_out(top: str, steps: Iterable[Step]) -> None:
    """Make every step, deletions first; raises Changed where a file is no longer what was found, and stops there."""
    ordered = sorted(steps, key=lambda step: step.becomes is not None)
    for path, found, becomes in ordered:
        where = Place(top, path)
        if found == becomes:
            continue
        if becomes is None:
            safe.delete_if(where, lambda at, found=found: safe.read(at) == found)  # type: ignore[misc]
        elif found is None:
            safe.make_folder(where.folder)
            try:
                safe.create(where, becomes)
            except FileExistsError:
                raise Changed(f"{path} has just been made by somebody else; it was left as it is, try again.") from None
        elif not safe.edit(where, lambda now, old=found, new=becomes: new if now == old else None):  # type: ignore[misc]
            raise Changed(f"{path} has just been changed; it was left as it is, try again.")


def bring(repository: Repository, changes: Changes) -> None:
    """Plan and carry out, anew where somebody saves a file in between; raises FilememError, Changed after _TRIES."""
    for last in range(_TRIES - 1, -1, -1):
        try:
            carry_out(repository.where, plan(repository, changes))
            return
        except Changed:
            if not last:
                raise


def plan(repository: Repository, changes: Changes) -> list[Step]:
    """How to bring the work tree from one tree to another, `changes` being their differences, each uncommitted edit kept.

    Raises FilememError, before anything is written, where an edit meets an incoming one in a line, or a path is no safe
    place for a plain file.
    """
    for path, (before, after) in changes.items():
        _check(repository.where, path, before, after)
    staged = repository.index(*(changes if len(changes) < 100 else ()))
    held = [path for path, pair in changes.items() if staged.get(path) not in pair]
    if held:
        raise FilememError(
            f"you have staged changes in {first_few(held)} that others changed too; commit them, then try again."
        )
    pairs = list(changes.items())
    olds = iter(repository.contents((path, before) for path, (before, _) in pairs if before))
    news = iter(repository.contents((path, after) for path, (_, after) in pairs if after))
    steps, met = [], []
    for path, (before, after) in pairs:
        old, new = next(olds) if before else None, next(news) if after else None
        found = read(Place(repository.where, path))
        if found == new:
            continue
        if found == old:
            steps.append(Step(path, found, new))
        elif new is not None:
            both = merge_file(found, old, new) if found is not None and old is not None else None
            if both is None and found is not None:
                met.append(path)
            steps.append(Step(path, found, new if both is None else both))
    if met:
        raise FilememError(
            f"your uncommitted changes in {first_few(met)} meet incoming ones; commit them, then try again."
        )
    return steps


def _check(top: str, path: str, before: GitFile | None, after: GitFile | None) -> None:
    """Raises FilememError for a path or kind of file that memories have no use for and that could lead elsewhere."""
    parts = path.split("/")
    wrong = any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
    if wrong or any(ord(c) < 32 for c in path) or any(entry and entry.mode not in PLAIN for entry in (before, after)):
        raise FilememError(f"{one_line(path)} is no plain file with a plain name; bring it in by hand, with git pull.")
    folder = os.path.realpath(os.path.join(top, os.path.dirname(path)))
    if folder != os.path.join(top, os.path.dirname(path)).rstrip("/"):
        raise FilememError(f"{one_line(path)} lies behind a symbolic link here; put a real folder in its place first.")
