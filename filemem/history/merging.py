"""Three versions of the memories made one, by lines, and the files on disk brought to it.

Undo and sync go the same way: a commit is made beside the work tree, and lands in it. A person's uncommitted edits are merged
with what arrives, line by line, and stay uncommitted; where both meet in a line nothing is written. A landing that was cut off
is noted in the git directory, and every step of it may be taken twice.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from filemem.errors import Changed, FilememError
from filemem.files import episode, safe
from filemem.files.memory import ARCHIVE, Memory
from filemem.files.safe import Place
from filemem.history.git import LOGS, Git, GitFile, Repository, Step

# What only grows by lines: that both sides added some is no news.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|(?:summaries|sessions|\.filemem)/.+)$")


class Merged(NamedTuple):
    """What becomes of the files of one side; the paths in which both versions of a line stand, those that were deleted on one
    side and changed on the other and are kept, and those that could not be merged."""

    changes: dict[str, GitFile | None]
    doubled: list[str]
    kept: list[str]
    met: list[str]


def line_merge(ours: bytes, base: bytes, theirs: bytes, *, union: bool) -> bytes | None:
    """Both changes in one text; where they meet in a line both lines, with `union`, else None. None also for what is no text.

    A line of its own between any two keeps changes of neighbouring lines apart, which to git meet.
    """
    with tempfile.TemporaryDirectory() as aside:
        names = [os.path.join(aside, name) for name in ("ours", "base", "theirs")]
        for name, data in zip(names, (ours, base, theirs), strict=True):
            with open(name, "wb") as file:
                file.write(data.replace(b"\n", b"\n\x1e\n"))
        here = Git(aside, {"GIT_CEILING_DIRECTORIES": os.path.dirname(aside)})
        done = here.ask("merge-file", "-p", *(["--union"] if union else []), *names)
    return None if done.code else done.out.replace(b"\x1e\n", b"")


def merge(repository: Repository, base: str, ours: str, theirs: str, inside: str = "", *, union: bool) -> Merged:
    """What has changed from `base` to `theirs` under `inside`, made in `ours`.

    Where both changed a line both stand there, with `union`, else the file is not merged. An edit of what the other side has
    archived, or brought back, is made where it lies now.
    """
    before, here, there = (repository.tree(tree, inside) for tree in (base, ours, theirs))
    found = Merged({}, [], [], [])
    both = list[str]()
    for path in sorted({**before, **there}):
        old, mine, new = before.get(path), here.get(path), there.get(path)
        if mine == old != new:
            found.changes[path] = new
        elif old != new and mine != new:
            both.append(path)
        elif not union and old and not mine and not new:
            where = _twin(path, here)
            if where and not _twin(path, there):  # what is undone was archived since, and is not what comes back
                found.changes[where] = None
                found.met.extend([path] if here[where] != old else [])
    for path in both:
        old, mine, new = before.get(path), here.get(path), there.get(path)
        where = path
        if not mine or not new:
            where = _twin(path, there if mine else here)
            where = "" if where in before else where  # it is another memory, not this one moved
            mine, new = mine or here.get(where), new or there.get(where)
        if mine and new:
            found.changes[path] = None
            _lines(repository, where, (mine, old or before.get(_twin(path, before)), new), found, union=union)
        elif union:
            found.kept.append(path)
            found.changes[path] = mine or new
        else:
            found.met.append(path)
    return found


def _lines(
    repository: Repository, path: str, sides: tuple[GitFile, GitFile | None, GitFile], found: Merged, *, union: bool
) -> None:
    """Merge one file that both sides have changed."""
    texts = [repository.run("cat-file", "blob", one.oid) if one else b"" for one in sides]
    text = line_merge(*texts, union=False)
    if text is None and union:
        text = line_merge(*texts, union=True)
        if text is None:  # what is no text stands there twice
            stem, ending = os.path.splitext(path)
            found.changes.update({path: sides[0], f"{stem}-{sides[2].oid[:8]}{ending}": sides[2]})
        elif not _GROWING.search(path):
            found.doubled.append(path)
    if text is None:
        found.met.extend([] if union else [path])
        return
    if "/sessions/" in f"/{path}":  # each side's summing up: one of them stays, so that no line behind it has moved
        memory = Memory(path, text)
        single = episode.once(text.decode("utf-8", "surrogateescape").split("\n"), memory.front_end)
        text = "\n".join(single).encode("utf-8", "surrogateescape")
    found.changes[path] = GitFile(sides[0].mode, repository.put("blob", text))


def _twin(path: str, tree: Mapping[str, GitFile]) -> str:
    """Where a tree has a path in the archive, or out of it; empty where it has neither."""
    parts = path.split("/")
    there = ["/".join([*parts[:n], *parts[n + 1 :]]) for n, part in enumerate(parts) if part == ARCHIVE]
    there += ["/".join([*parts[:n], ARCHIVE, *parts[n:]]) for n in range(len(parts))]
    return next((candidate for candidate in there if candidate in tree), "")


# -- the files on disk ---------------------------------------------------------------------------------------------


def arriving(repository: Repository, old: str, new: str) -> tuple[list[Step], list[str]]:
    """How the files come from one commit to another, and those in which an uncommitted edit meets what arrives.

    Raises FilememError for a path that is no safe place for a plain file, and where a person has staged something in its way.
    """
    wanted, steps, met = repository.steps(old, new), list[Step](), list[str]()
    if repository.ask("read-tree", "--dry-run", "-m", "-i", *filter(None, (old, new))).code:
        raise FilememError("you have staged changes in files that are to change too; commit them, then try again.")
    for step in wanted:
        place = os.path.join(repository.where, step.path)
        now = safe.read(place) if os.path.lexists(place) else None
        if now not in (step.found, step.becomes) and safe.wait_for_editor(place):
            now = safe.read(place) if os.path.lexists(place) else None
        if now != step.becomes:
            steps.append(step)
            met += [step.path] if now != step.found and _onto(step, now) is None else []
    return steps, met


def _onto(step: Step, now: bytes | None) -> bytes | None:
    """What a step makes of a file as it is now; None where that cannot be."""
    if now == step.found:
        return step.becomes
    if now is None or step.found is None or step.becomes is None:
        return None
    return line_merge(now, step.found, step.becomes, union=step.path.endswith(LOGS))


def carry_out(top: str, steps: Iterable[Step]) -> None:
    """Make every step: what is new first, what goes last, so that nothing is ever missing.

    Raises Changed, and stops, where a person has just saved what it meets.
    """
    for step in sorted(steps, key=lambda one: (one.found is not None, one.becomes is None)):
        where = Place(top, step.path)
        if step.becomes is None:
            safe.delete_if(where, lambda at, step=step: safe.read(at) == step.found)  # type: ignore[misc]
        elif step.found is None:
            safe.make_folder(where.folder)
            try:
                safe.create(where, step.becomes)
            except FileExistsError:
                raise Changed(f"{step.path} has just been made by somebody else; it was left as it is.") from None
        else:
            safe.edit(where, lambda now, step=step: _edited(step, now))  # type: ignore[misc]


def _edited(step: Step, now: bytes) -> bytes:
    text = now if now == step.becomes else _onto(step, now)
    if text is None:
        raise Changed(f"{step.path} has just been changed; it was left as it is.")
    return text
