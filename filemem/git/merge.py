"""Merge two trees of memories line by line, and bring files to what came of it.

Git's own merge is not used: it would take two short facts for one that was renamed,
`merge=union` brings forgotten turns back, and neighbouring lines that both sides
changed would conflict.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from filemem.errors import Changed, FilememError, Refused
from filemem.git.repository import Repository
from filemem.store import files
from filemem.store.paths import ARCHIVE
from filemem.text.plain import digest, first_few, one_line

Tree = Mapping[str, str]  # the entry of each file, by its path in the repository

_REGULAR_FILE = ("100644 ", "100755 ")
_ODD_PART = re.compile(r"/(?:|\.|\.\.|\.git)/|[\x00-\x1f]", re.IGNORECASE)
# Git takes changes less than four lines apart for one, so that neighbouring lines which
# two sides changed would conflict: three lines stand between any two while it merges.
_PADDING = b"\x1ea\n\x1eb\n\x1ec\n"
_PADDING_LINE = re.compile(rb"\x1e[abc]\n")


@dataclass(frozen=True)
class FileChange:
    """What a merge does to one file.

    The file at `source`, '' for a new one, is to be at `target`, '' if it goes, and its
    bytes are to become `new` from `old`. `conflict` is the end of a sentence, if both
    sides had changed it and do not go together.
    """

    source: str
    target: str
    old: bytes
    new: bytes
    conflict: str = ""

    @property
    def paths(self) -> list[str]:
        """The paths that it touches, that of afterwards first."""
        return [path for path in (self.target, self.source) if path]

    @property
    def is_any(self) -> bool:
        """Whether the file is to be another than it is."""
        return (self.source, self.old) != (self.target, self.new)


class Version(NamedTuple):
    """One side's version of a memory: where it lies and its entry; '' for none."""

    path: str = ""
    entry: str = ""


def merge_trees(
    repository: Repository, scratch: str, base: Tree, ours: Tree, theirs: Tree
) -> list[FileChange]:
    """Return what brings to `ours` that which changed from `base` to `theirs`.

    What was deleted on one side and changed on the other is kept. Where both sides
    changed the same lines the file holds both versions. `scratch` is a private folder
    for the texts. Raises FilememError for a path that leads elsewhere, or what is no
    regular file.
    """
    versions = _by_name([base, ours, theirs])
    changed = []
    for name in sorted({*versions[0], *versions[1], *versions[2]}):
        sides = [side.get(name, Version()) for side in versions]
        if sides[2] not in sides[:2]:  # else changed on our side alone, or alike
            _check_regular(sides[1:])
            changed.append(sides)
    entries = {version.entry for sides in changed for version in sides}
    contents = repository.contents(filter(None, entries))
    texts = _Texts(repository, scratch, contents)
    merged = [_merge_file(texts, *sides) for sides in changed]
    return [change for change in merged if change.is_any or change.conflict]


def _by_name(trees: Iterable[Tree]) -> list[dict[str, Version]]:
    """Return each tree's files by the names of the memories, archived or not.

    A name that a tree has both live and archived stands for two files.
    """
    ambiguous = set()
    for tree in trees:
        for path in tree:
            name = _memory_name(path)
            if name != path and name in tree:
                ambiguous.add(name)
    named = []
    for tree in trees:
        versions = {}
        for path, entry in tree.items():
            name = _memory_name(path)
            versions[path if name in ambiguous else name] = Version(path, entry)
        named.append(versions)
    return named


def _memory_name(path: str) -> str:
    """Return a path of the repository without the archive's folder."""
    return f"/{path}".replace(f"/{ARCHIVE}/", "/", 1)[1:]


def _check_regular(versions: Iterable[Version]) -> None:
    """Raise FilememError for a path that leads elsewhere, or no regular file."""
    for path, entry in versions:
        is_odd = bool(_ODD_PART.search(f"/{path}/"))
        if path and (is_odd or not entry.startswith(_REGULAR_FILE)):
            raise FilememError(
                f"{one_line(path)} is not a regular file with a plain name; "
                "bring it in by hand, with git pull."
            )


# -- one file --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Texts:
    """The bytes of files by their entries, and git's merging of their lines."""

    repository: Repository
    scratch: str
    contents: Mapping[str, bytes]

    def of(self, version: Version) -> bytes:
        """Return the bytes of a version; of none, none."""
        return self.contents.get(version.entry, b"")

    def merged(self, sides: Iterable[Version], *how: str) -> bytes | None:
        """Return the lines of ours, base and theirs merged, or None if that fails."""
        places = []
        for number, side in enumerate(sides):
            places.append(f"{self.scratch}/{number}")
            with open(places[-1], "wb") as file:
                file.write(self.of(side).replace(b"\n", b"\n" + _PADDING))
        done = self.repository.call("merge-file", "-p", *how, *places)
        return None if done.code else _PADDING_LINE.sub(b"", done.stdout)


def _merge_file(
    texts: _Texts, base: Version, ours: Version, theirs: Version
) -> FileChange:
    """Merge a file that their side changed."""
    target = theirs.path
    if theirs.path and ours.path != base.path:
        target = ours.path
    old = texts.of(ours)
    new = texts.of(theirs)
    if ours.entry == base.entry:
        return FileChange(ours.path, target, old, new)
    if theirs.entry in (base.entry, ours.entry):
        return FileChange(ours.path, target, old, old)
    if not (ours.entry and theirs.entry):
        kept = ours.path or theirs.path
        met = "deleted on one machine and changed on the other; it is kept."
        return FileChange(ours.path, kept, old, old or new, met)
    sides = (ours, base, theirs)
    text = texts.merged(sides)
    if text is not None:
        return FileChange(ours.path, target, old, text)
    met = "was changed on both machines"
    text = texts.merged(sides, "--union")
    if text is not None:
        met += " in the same lines; it now holds both versions."
        return FileChange(ours.path, target, old, text, met)
    met += " and is not text; this machine's stays, git has the other's."
    return FileChange(ours.path, target, old, old, met)


# -- bringing files to it ------------------------------------------------------------


def carry_out(repository: Repository, changes: Iterable[FileChange]) -> None:
    """Make the changes on disk: new files first, and those that go last.

    So nothing is missing meanwhile.

    Raises FilememError, with nothing written, if uncommitted edits, links or files that
    git does not have are in the way; Changed if a person saves one of the files at the
    same moment.
    """
    todo = sorted(changes, key=_turn)
    paths = {path for change in todo for path in change.paths}
    for path in sorted(paths):
        if files.through_link(f"{repository.root}/{path}"):
            raise Refused(
                f"the path to {one_line(path)} goes through a symbolic link, which is "
                "not followed; delete that link."
            )
    edited = sorted(paths.intersection(repository.changed_paths("")))
    if edited:
        git = f"git -C {shlex.quote(repository.root)}"
        named = shlex.join(edited)
        raise FilememError(
            f"your uncommitted changes in {first_few(edited)} are in the way; keep "
            f"them with {git} commit -m 'My edits' {named}, or drop them with {git} "
            f"restore {named}, then try again."
        )
    for change in todo:
        _check_free(repository.root, change)
    for change in todo:
        _carry_out(repository.root, change)


def _turn(change: FileChange) -> int:
    """Return when a change has its turn: what is new, what is changed, what goes."""
    if not change.target:
        return 2
    return 1 if change.source else 0


def _check_free(root: str, change: FileChange) -> None:
    """Raise Refused if anything stands where a file is to come, or its folders are."""
    if change.target in ("", change.source):
        return
    place = change.target
    is_taken = os.path.lexists(f"{root}/{place}")
    while not is_taken and os.path.dirname(place):
        place = os.path.dirname(place)
        is_taken = os.path.isfile(f"{root}/{place}")
    if is_taken:
        raise Refused(
            f"{one_line(place)} is in the way of what comes in; "
            "move it elsewhere, then try again."
        )


def _carry_out(root: str, change: FileChange) -> None:
    """Make one change, durably, if the file is as the change has it."""
    source = f"{root}/{change.source}"
    target = f"{root}/{change.target}"
    if not change.target:
        files.delete_if(source, digest(change.old))
        files.sync_folder(os.path.dirname(source))
        return
    files.make_folder(os.path.dirname(target))
    if not change.source:
        files.create(target, change.new)
        return
    if source != target:
        files.rename_new(source, target)
        files.sync_folder(os.path.dirname(target))
        files.sync_folder(os.path.dirname(source))
    is_edited = files.edit(
        target, lambda now: change.new if now == change.old else None
    )
    if not is_edited and change.old != change.new:
        raise Changed(
            f"{change.target} has just been changed; commit it, then try again."
        )
