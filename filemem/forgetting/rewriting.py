"""Git's objects as they are stored; and commits, files and tags as they are without what is to be forgotten."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files.archive import live
from filemem.files.folder import BOOKKEEPING
from filemem.files.memory import LARGEST, Memory
from filemem.forgetting import deletion, erasure
from filemem.forgetting.wording import FORGOTTEN, LineCut, Wording, apply_cuts
from filemem.history import History
from filemem.history.git import GitError
from filemem.history.repository import PLAIN, GitFile, Repository

LONG = 3600.0  # seconds for a command that goes through a whole repository


class Object(NamedTuple):
    """An object: its name, what it is, and its bytes."""

    oid: str
    kind: str
    data: bytes


def all_objects(repository: Repository) -> Iterator[tuple[str, str, bytes]]:
    """Every object in the repository, reachable or not, packed or loose: its name, kind and bytes. Raises GitError."""
    with _running(repository, "--batch-all-objects", "--batch", "--buffer", "--unordered") as process:
        assert process.stdout
        while header := process.stdout.readline():
            oid, kind, size = header.decode().split()
            yield oid, kind, process.stdout.read(int(size) + 1)[:-1]
        if process.wait():
            raise GitError(f"git cannot list the objects of {repository.where}; git fsck says what is broken.")


class Objects:
    """The objects of a repository, one by one."""

    def __init__(self, repository: Repository, process: subprocess.Popen[bytes]) -> None:
        self.repository = repository
        self._process = process

    def find(self, name: str) -> Object | None:
        """What a name, such as a commit's with a path behind a colon, stands for; None for nothing."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(os.fsencode(name) + b"\0")
        self._process.stdin.flush()
        header = self._process.stdout.readline().decode(errors="replace").split()
        if len(header) != 3 or not header[2].isdigit():
            return None
        return Object(header[0], header[1], self._process.stdout.read(int(header[2]) + 1)[:-1])

    def read(self, oid: str) -> bytes:
        """The bytes of one object; raises GitError where it is missing."""
        found = self.find(oid)
        if found is None:
            raise GitError(f"object {oid[:12]} of {self.repository.where} is missing; git fsck says what is broken.")
        return found.data


@contextlib.contextmanager
def opened(repository: Repository) -> Iterator[Objects]:
    """The objects of a repository, to be read one by one."""
    with _running(repository, "--batch", "-z") as process:
        yield Objects(repository, process)


@contextlib.contextmanager
def _running(repository: Repository, *how: str) -> Iterator[subprocess.Popen[bytes]]:
    with repository.start("cat-file", *how) as process:
        try:
            yield process
        finally:
            process.kill()


_SIGNED = re.compile(rb"-----BEGIN (?:PGP|SSH) SIGNATURE-----.*", re.DOTALL)
_VOUCHES = (b"gpgsig", b"gpgsig-sha256", b"mergetag")  # headers of a commit that hold for the old one alone


class PurgeTarget(NamedTuple):
    """What is to leave the history: everything of the user's (`all`), or what the wording tells of and what the cuts of
    `lines` hold; with `every`, all that holds the words asked for, and not just what was chosen of it."""

    history: History
    wording: Wording
    all: bool
    every: bool = False
    lines: Mapping[str, list[LineCut]] = {}

    def place(self, path: str) -> str | None:
        """A path of the repository as the new history has it; None where it goes."""
        inside = self.history.inside
        if inside and not path.startswith(inside + "/"):
            return path
        if self.all:
            return None
        own = self.history.own(path)
        new = self.wording.names.get(live(own), live(own))
        return path[: len(path) - len(live(own))] + new if new else None

    def cleaned(self, path: str, data: bytes) -> bytes:
        """A version of a file without what is to go."""
        own = self.history.own(path)
        if own.startswith(BOOKKEEPING + "/"):
            return erasure.record_without(own.partition("/")[2], data, self.wording)[0]
        memory, wording = Memory(own, data), self.wording

        def goes(text: str) -> bool:
            return FORGOTTEN not in text and (
                wording.repeats(text) or (self.every and deletion.has_words(text, wording))
            )

        if len(data) <= LARGEST:
            with contextlib.suppress(FilememError):
                before = data
                data = apply_cuts(data, self.lines.get(own, []) or self.lines.get(live(own), []))
                memory = Memory(own, data)
                if wording.repeats(memory.text) or (self.every and wording.has_words(memory.text)):
                    data = apply_cuts(
                        data, [deletion.cut(memory, item) for item in deletion.passages_with(memory, goes)]
                    )
                if data != before:
                    data = deletion.without_episode(own, data)
        return wording.renamed(data)


class Rewriting:
    """The new history, as far as it has been written: `commits` has the new name of each old commit."""

    def __init__(self, target: PurgeTarget, read: Objects) -> None:
        self.target = target
        self.read = read
        self.commits: dict[str, str] = {}
        self._trees: dict[str, str] = {}  # by commit, new ones too
        self._own: dict[str, str] = {}  # by commit, the tree of the user's folder
        self._changes: dict[str, dict[str, GitFile | None]] = {}  # by such a tree
        self._files: dict[tuple[str, str], tuple[str, str] | None] = {}

    def file(self, path: str, oid: str) -> tuple[str, str] | None:
        """The new path and blob of a file of the user's; None where it goes."""
        if (path, oid) not in self._files:
            place = self.target.place(path)
            data = self.read.read(oid) if place else b""
            new = self.target.cleaned(path, data) if place else data
            kept = oid if new == data else self.read.repository.put("blob", new)
            self._files[path, oid] = (place, kept) if place else None
        return self._files[path, oid]

    def commit(self, oid: str) -> str:
        """The new name of a commit whose parents have theirs; one of which nothing is left is its parent."""
        head, _, message = self.read.read(oid).partition(b"\n\n")
        fields = re.findall(rb"[^\n]+(?:\n [^\n]*)*", head)
        tree = fields[0][5:].decode()
        parents = [field[7:].decode() for field in fields if field.startswith(b"parent ")]
        before = self._trees[parents[0]] if parents else ""
        own = self.read.find(f"{oid}:{self.target.history.inside}")
        self._trees[oid], self._own[oid] = tree, own.oid if own and own.kind == "tree" else ""
        touches = tree == before or self._own[oid] != (self._own[parents[0]] if parents else "")
        said = self._message(message) if touches else message
        new_tree, new_parents = self._tree(oid), [self.commits.get(parent, parent) for parent in parents]
        if (new_tree, new_parents, said) == (tree, parents, message):
            new = oid
        elif len(parents) == 1 and new_tree == self._trees[new_parents[0]] and tree != before:
            new = new_parents[0]
        else:
            links = [b"parent " + parent.encode() for parent in dict.fromkeys(new_parents)]
            others = [field for field in fields[1:] if not field.startswith((b"parent ", *_VOUCHES))]
            lines = [b"tree " + new_tree.encode(), *links, *others]
            new = self.read.repository.put("commit", b"\n".join(lines) + b"\n\n" + said)
            self._trees[new] = new_tree
        self.commits[oid] = new
        return new

    def _tree(self, commit: str) -> str:
        """The new name of a commit's tree."""
        repository, own = self.read.repository, self._own[commit]
        if own not in self._changes:
            changed: dict[str, GitFile | None] = {}
            for path, entry in repository.tree(commit, self.target.history.inside).items() if own else ():
                new = self.file(path, entry.oid) if entry.mode in PLAIN else (path, entry.oid)
                if new != (path, entry.oid):
                    changed.setdefault(path, None)
                    changed |= {new[0]: GitFile(entry.mode, new[1])} if new else {}
            self._changes[own] = changed
        changes, tree = self._changes[own], self._trees[commit]
        return repository.tree_with(tree, changes) if changes else tree

    def _message(self, message: bytes) -> bytes:
        text = message.decode("utf-8", "surrogateescape")
        return self.target.wording.blanked(text).encode("utf-8", "surrogateescape")

    def tag(self, oid: str) -> str:
        """The new name of an annotated tag, whose signature goes where it changes."""
        head, _, message = self.read.read(oid).partition(b"\n\n")
        object_, kind, *others = head.split(b"\n")
        old = object_[7:].decode()
        new = self.tag(old) if kind == b"type tag" else self.commits.get(old, old)
        said = self._message(message)
        if (new, said) == (old, message):
            return oid
        lines = [b"object " + new.encode(), kind, *others]
        return self.read.repository.put("tag", b"\n".join(lines) + b"\n\n" + _SIGNED.sub(b"", said))
