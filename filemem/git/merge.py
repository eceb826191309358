"""Merge two trees of memories line by line, and bring files to what came of it.

Git's own merge is not used: it would take two short facts for one that was renamed,
`merge=union` brings forgotten turns back, and neighbouring lines that both sides
changed would conflict.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from filemem.errors import Changed, FilememError, Refused
from filemem.git.history import changed_paths
from filemem.git.repository import Repository
from filemem.store import files
from filemem.store.paths import ARCHIVE
from filemem.text.plain import first_few, one_line

Tree = Mapping[str, str]  # the entry of each file, by its path in the repository

# What only grows by lines: that both sides added some is no news.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|(?:summaries|sessions|\.filemem)/.+)$")
_REGULAR_FILE = ("100644 ", "100755 ")
_ODD_PART = re.compile(r"/(?:|\.|\.\.|\.git)/|[\x00-\x1f]", re.IGNORECASE)
# Git joins changes that are less than four lines apart.
_PADDING = b"\x1ea\n\x1eb\n\x1ec\n"
_PADDING_LINE = re.compile(rb"\x1e[abc]\n")


class Trees(NamedTuple):
    """What two sides had in common, and what each has now."""

    base: Tree
    ours: Tree
    theirs: Tree


@dataclass(frozen=True)
class FileChange:
    """What a merge does to one file.

    The file at `source`, '' for a new one, is to be at `target`, '' if it goes, and its
    bytes are to become `new` from `old`.
    """

    source: str
    target: str
    old: bytes
    new: bytes

    @property
    def paths(self) -> list[str]:
        """The paths that it touches, that of afterwards first."""
        return [path for path in (self.target, self.source) if path]


@dataclass(frozen=True)
class Version:
    """One side's version of a memory: where it lies and its entry; '' for none."""

    path: str = ""
    entry: str = ""


def merge_trees(
    repository: Repository,
    trees: Trees,
    scratch: str,
    *,
    union: bool,
) -> Merge:
    """Make in `ours` what changed from `base` to `theirs`.

    What was deleted on one side and changed on the other is kept. With `union` both
    versions of a line that both sides changed are kept; without, such a file is a
    conflict and has no change. `scratch` is a private folder for the texts. Raises
    FilememError for a path that leads elsewhere, or what is no regular file.
    """
    versions = _by_name(trees)
    met = []
    entries = {""}
    for name in sorted({*versions[0], *versions[1], *versions[2]}):
        sides = [side.get(name, Version()) for side in versions]
        if sides[2] not in sides[:2]:  # else changed on our side alone, or alike
            _check_regular(sides[1:])
            met.append(sides)
            entries |= {side.entry for side in sides}
    texts = repository.contents(entries - {""})
    merge = Merge(repository, texts | {"": b""}, scratch, union)
    for sides in met:
        merge.add(*sides)
    return merge


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
    for version in versions:
        path = version.path
        is_odd = bool(_ODD_PART.search(f"/{path}/"))
        if path and (is_odd or not version.entry.startswith(_REGULAR_FILE)):
            raise FilememError(
                f"{one_line(path)} is not a regular file with a plain name; "
                "bring it in by hand, with git pull."
            )


@dataclass(frozen=True)
class Merge:
    """What comes of merging one file after the other; see `merge_trees`.

    `texts` has the bytes of each entry. `changes` are to be made; `conflicts` has the
    end of a sentence for each path at which the two sides met.
    """

    repository: Repository
    texts: Mapping[str, bytes]
    scratch: str
    union: bool
    changes: list[FileChange] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)

    def add(self, base: Version, ours: Version, theirs: Version) -> None:
        """Bring in what their side did to a file, which they changed."""
        if ours.entry and theirs.entry:
            self._merge_both(base, ours, theirs)
        elif base.entry == ours.entry:  # deleted or new on their side
            self._change(ours, theirs.path, self.texts[theirs.entry])
        elif base.entry != theirs.entry:
            self.conflicts[ours.path or theirs.path] = (
                "deleted on one machine and changed on the other; it is kept."
            )
            if theirs.entry and self.union:
                self._change(ours, theirs.path, self.texts[theirs.entry])

    def _merge_both(self, base: Version, ours: Version, theirs: Version) -> None:
        """Merge where a file lies and what is in it."""
        target = theirs.path if ours.path == base.path else ours.path
        text: bytes | None = self.texts[ours.entry]
        if base.entry == ours.entry:
            text = self.texts[theirs.entry]
        elif theirs.entry not in (base.entry, ours.entry):
            text = self._merged([ours, base, theirs])
        met = ""
        if text is None:
            met = "in the same lines; it now holds both versions."
            if self.union:
                text = self._merged([ours, base, theirs], "--union")
        if text is None:
            met = "and is no text; this machine's stays, git has the other's."
            text = self.texts[ours.entry]
        self._change(ours, target, text)
        if met and not (self.union and _GROWING.search(target)):
            self.conflicts[target] = f"was changed on both machines {met}"

    def _merged(self, sides: Iterable[Version], *how: str) -> bytes | None:
        """Return the lines of ours, base and theirs merged by git, or None."""
        places = []
        for number, side in enumerate(sides):
            places.append(os.path.join(self.scratch, str(number)))
            with open(places[-1], "wb") as file:
                file.write(self.texts[side.entry].replace(b"\n", b"\n" + _PADDING))
        done = self.repository.call("merge-file", "-p", *how, *places)
        return None if done.code else _PADDING_LINE.sub(b"", done.stdout)

    def _change(self, ours: Version, target: str, text: bytes) -> None:
        old = self.texts[ours.entry]
        if (ours.path, old) != (target, text):
            change = FileChange(ours.path, target, old, text)
            self.changes.append(change)


# -- bringing files to it ------------------------------------------------------------


def carry_out(repository: Repository, changes: Iterable[FileChange]) -> None:
    """Make the changes on disk: new files first, so that nothing is missing meanwhile.

    Raises FilememError, with nothing written, if uncommitted edits, links or files that
    git does not have are in the way; Changed if a person saves one of the files at the
    same moment.
    """
    todo = sorted(changes, key=lambda change: (bool(change.source), not change.target))
    uncommitted = changed_paths(repository, "")
    edited = []
    for path in (path for change in todo for path in change.paths):
        if path in uncommitted:
            edited.append(one_line(path))
        if files.through_link(f"{repository.root}/{path}"):
            raise Refused(
                f"the path to {one_line(path)} goes through a symbolic link, which is "
                "not followed; delete that link."
            )
    if edited:
        raise FilememError(
            f"your uncommitted changes in {first_few(edited)} are in the way; "
            "commit them, then try again."
        )
    for change in todo:
        _check_free(repository.root, change)
    for change in todo:
        _carry_out(repository.root, change)


def _check_free(root: str, change: FileChange) -> None:
    """Raise Refused if a file, which git ignores, stands where one is to come."""
    target = change.target
    is_new = target not in ("", change.source)
    if is_new and os.path.lexists(f"{root}/{target}"):
        raise Refused(
            f"{one_line(target)} is in the way, and git does not have it; "
            "move it elsewhere, then try again."
        )


def _carry_out(root: str, change: FileChange) -> None:
    """Make one change, durably, if the file is as the change has it."""
    source = f"{root}/{change.source}"
    target = f"{root}/{change.target}"
    if not change.target:
        files.delete_if(source, lambda path: files.read(path) == change.old)
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
