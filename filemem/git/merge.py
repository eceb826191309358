"""Merge two trees of memories line by line, and bring files to what came of it.

Git's own merge is not used: it would take two short facts for one that was renamed,
`merge=union` brings forgotten turns back, and neighbouring lines that both sides
changed would conflict.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from filemem.errors import Changed, FilememError, Refused
from filemem.git.history import LOGS
from filemem.git.repository import Repository, object_name
from filemem.store import files
from filemem.store.folder import numbered
from filemem.store.paths import ARCHIVE
from filemem.text.plain import first_few, one_line

Tree = Mapping[str, str]  # the entry of each file, by its path in the repository

# What only grows by lines: that both sides added some is no news.
_GROWING = re.compile(r"(?:^|/)(?:profile\.md|(?:summaries|sessions|\.filemem)/.+)$")
_REGULAR_FILE = ("100644 ", "100755 ")
# Git joins changes that are less than four lines apart.
_PADDING = b"\x1ea\n\x1eb\n\x1ec\n"
_PADDING_LINE = re.compile(rb"\x1e[abc]\n")


@dataclass(frozen=True)
class FileChange:
    """What a merge does to one file.

    The file at `source`, '' for a new one, is to be at `target`, '' if it goes; `old`
    and `new` are its entries in a tree, before and after.
    """

    source: str
    target: str
    old: str
    new: str

    @property
    def path(self) -> str:
        return self.target or self.source

    @property
    def paths(self) -> list[str]:
        return [path for path in (self.source, self.target) if path]

    @property
    def stays(self) -> bool:
        """Whether the file has one name before and after."""
        return self.source == self.target


@dataclass(frozen=True)
class Version:
    """One side's version of a memory: where it lies and its entry; '' for none."""

    path: str = ""
    entry: str = ""


@dataclass
class Merge:
    """What came of a merge: the changes to make, and what to tell of some files.

    `conflicts` has the end of a sentence for each path at which the two sides met.
    """

    changes: list[FileChange] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)


def memory_name(path: str) -> str:
    """Return what a memory is called, whether it lies in the archive or not."""
    return f"/{path}".replace(f"/{ARCHIVE}/", "/", 1)[1:]


def merge_trees(
    repository: Repository,
    base: Tree,
    ours: Tree,
    theirs: Tree,
    scratch: str,
    *,
    union: bool,
) -> Merge:
    """Make in `ours` what changed from `base` to `theirs`.

    What was deleted on one side and changed on the other is kept. With `union` both
    versions of a line that both sides changed are kept; without, such a file is a
    conflict and has no change. `scratch` is a private folder for the texts.
    """
    return _TreeMerge(repository, (base, ours, theirs), scratch, union=union).run()


class _TreeMerge:
    """A three-way merge; see `merge_trees`."""

    def __init__(
        self,
        repository: Repository,
        trees: tuple[Tree, Tree, Tree],
        scratch: str,
        *,
        union: bool,
    ) -> None:
        self.repository = repository
        self.trees = trees
        self.scratch = scratch
        self.union = union
        self.result = Merge()

    def run(self) -> Merge:
        base, ours, theirs = self._by_name()
        for name in sorted({*base, *ours, *theirs}):
            self._merge_file(
                base.get(name, Version()),
                ours.get(name, Version()),
                theirs.get(name, Version()),
            )
        return self.result

    def _by_name(self) -> list[dict[str, Version]]:
        """Return each tree's files by the names of the memories.

        A name that a tree has both live and archived stands for two files.
        """
        ambiguous = set()
        for tree in self.trees:
            for path in tree:
                name = memory_name(path)
                if name != path and name in tree:
                    ambiguous.add(name)
        named = []
        for tree in self.trees:
            versions = {}
            for path, entry in tree.items():
                name = memory_name(path)
                key = path if name in ambiguous else name
                versions[key] = Version(path, entry)
            named.append(versions)
        return named

    def _merge_file(self, base: Version, ours: Version, theirs: Version) -> None:
        if theirs in (base, ours):
            return  # changed on our side alone, or alike
        if ours.entry and theirs.entry:
            self._merge_contents(base, ours, theirs)
        elif base.entry == ours.entry:  # deleted or new on their side
            self._change(ours.path, theirs.path, ours.entry, theirs.entry)
        elif base.entry != theirs.entry:
            self.result.conflicts[ours.path or theirs.path] = (
                "deleted on one machine and changed on the other; it is kept."
            )
            if theirs.entry and self.union:
                self._change("", theirs.path, "", theirs.entry)

    def _merge_contents(self, base: Version, ours: Version, theirs: Version) -> None:
        target = theirs.path if ours.path == base.path else ours.path
        merged = self._merge_entries(base.entry, ours.entry, theirs.entry)
        entry = merged.entry or ours.entry
        if (ours.path, ours.entry) != (target, entry):
            self._change(ours.path, target, ours.entry, entry)
        if not merged.entry and self.union:
            beside = self._free_path(target)
            self._change("", beside, "", theirs.entry)
            self.result.conflicts[target] = (
                "was changed on both machines and is no text; "
                f"the other's is {one_line(beside)} now."
            )
        elif not merged.entry or (merged.met and not _GROWING.search(target)):
            self.result.conflicts[target] = (
                "was changed on both machines in the same lines; "
                "it now holds both versions."
            )

    def _merge_entries(self, base: str, ours: str, theirs: str) -> _MergedEntry:
        if base == ours or ours == theirs:
            return _MergedEntry(theirs)
        if base == theirs:
            return _MergedEntry(ours)
        entries = {"ours": ours, "base": base, "theirs": theirs}
        files = []
        texts = self.repository.contents(entries.values())
        for name, text in zip(entries, texts, strict=True):
            path = os.path.join(self.scratch, name)
            with open(path, "wb") as file:
                file.write(text.replace(b"\n", b"\n" + _PADDING))
            files.append(path)
        done = self.repository.call("merge-file", "-p", *files)
        met = bool(done.code) and self.union
        if met:
            done = self.repository.call("merge-file", "-p", "--union", *files)
        if done.code:
            return _MergedEntry("", met)
        text = _PADDING_LINE.sub(b"", done.stdout)
        blob = self.repository.text("hash-object", "-w", "--stdin", stdin=text)
        mode = ours.partition(" ")[0]
        return _MergedEntry(f"{mode} blob {blob}", met)

    def _free_path(self, path: str) -> str:
        """Return the next name like this one that no tree has."""
        for candidate in numbered(path):
            if not any(candidate in tree for tree in self.trees):
                return candidate
        raise Refused(f"{one_line(path)} has no free name beside it; rename it.")

    def _change(self, source: str, target: str, old: str, new: str) -> None:
        self.result.changes.append(FileChange(source, target, old, new))


@dataclass(frozen=True)
class _MergedEntry:
    """A merged file's entry, '' for what is no text or conflicts; `met`: in a line."""

    entry: str
    met: bool = False


# -- bringing files to it ------------------------------------------------------------


def pending(repository: Repository, changes: Iterable[FileChange]) -> list[FileChange]:
    """Return what is left to do of some changes, in an order in which nothing is missing.

    New files come first, what goes comes last. Raises FilememError if uncommitted
    edits are in the way, or a path or kind of file could lead out of the memories.
    """
    todo = []
    edited = []
    staged = repository.staged()
    for change in changes:
        _check_plain(change)
        source = _read(repository, change.source)
        target = _read(repository, change.target)
        source_is_gone = source is None or change.stays
        if _has(target, change.new) and source_is_gone:
            continue
        target_is_free = target is None or change.stays
        is_clean = _has(source, change.old) and target_is_free
        if (not is_clean and not change.path.endswith(LOGS)) or not staged.isdisjoint(
            change.paths
        ):
            edited.append(one_line(change.path))
        todo.append(change)
    if edited:
        raise FilememError(
            f"your uncommitted changes in {first_few(edited)} are in the way; "
            "commit them, then try again."
        )
    return sorted(todo, key=lambda change: (bool(change.source), not change.target))


def _check_plain(change: FileChange) -> None:
    """Raise FilememError for a path that leads elsewhere, or what is no plain file."""
    path = change.path
    parts = path.split("/")
    leads_elsewhere = any(
        part in ("", ".", "..") or part.lower() == ".git" for part in parts
    )
    is_odd = any(ord(character) < 32 for character in path)
    is_regular = f"{change.new or change.old} ".startswith(_REGULAR_FILE)
    if leads_elsewhere or is_odd or not is_regular:
        raise FilememError(
            f"{one_line(path)} is not a regular file with a plain name; "
            "bring it in by hand, with git pull."
        )


def _read(repository: Repository, path: str) -> bytes | None:
    """Return what is on disk at a path of the repository, None for nothing.

    Raises Refused for what is behind a link, or no plain file.
    """
    if not path:
        return None
    place = f"{repository.root}/{path}"
    if files.through_link(place):
        raise Refused(
            f"the path to {one_line(path)} goes through a symbolic link, which is "
            "not followed; delete that link."
        )
    return files.read(place) if os.path.lexists(place) else None


def _has(data: bytes | None, entry: str) -> bool:
    """Say whether these bytes are those of an entry, or neither is there."""
    if data is None or not entry:
        return data is None and not entry
    name = object_name(entry)
    algorithm = "sha1" if len(name) == 40 else "sha256"
    hashed = hashlib.new(algorithm, b"blob %d\0%b" % (len(data), data))
    return hashed.hexdigest() == name


def carry_out(repository: Repository, changes: list[FileChange]) -> None:
    """Make the changes on disk; raises Changed if a person saves a file meanwhile."""
    contents = repository.contents(change.new for change in changes)
    for change, data in zip(changes, contents, strict=True):
        if change.target:
            _write(repository.root, change, data)
        else:
            _delete(f"{repository.root}/{change.source}", change.old)


def _delete(place: str, entry: str) -> None:
    files.delete_if(place, lambda path: _has(files.read(path), entry))
    files.sync_folder(os.path.dirname(place))


def _write(root: str, change: FileChange, data: bytes) -> None:
    source = f"{root}/{change.source}"
    target = f"{root}/{change.target}"
    is_log = change.target.endswith(LOGS)

    def merged(now: bytes) -> bytes | None:
        if _has(now, change.old):
            return data
        return _with_lines(now, data) if is_log else None

    files.make_folder(os.path.dirname(target))
    if not change.source and not os.path.lexists(target):
        files.create(target, data)
        return
    if change.source and not change.stays:
        files.rename_new(source, target)
        files.sync_folder(os.path.dirname(target))
        files.sync_folder(os.path.dirname(source))
    changed = files.edit(target, merged)
    if not (changed or is_log or change.old == change.new):
        raise Changed(
            f"{change.target} has just been changed; commit it, then try again."
        )


def _with_lines(text: bytes, other: bytes) -> bytes:
    """Return a log with the lines of another that it has not."""
    known = {*text.splitlines(keepends=True)}
    new = [line for line in other.splitlines(keepends=True) if line not in known]
    if text and not text.endswith(b"\n"):
        text += b"\n"
    return text + b"".join(new)
