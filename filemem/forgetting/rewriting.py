"""Git's objects as they are stored; and commits, trees, blobs and tags as they are without what is to be forgotten."""

import contextlib
import hashlib
import os
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files.archive import live
from filemem.files.folder import BOOKKEEPING
from filemem.files.memory import LARGEST, Memory
from filemem.forgetting import deletion, erasure
from filemem.forgetting.wording import FORGOTTEN, LineCut, Wording, apply_cuts
from filemem.history import History
from filemem.history.git import GitError
from filemem.history.repository import Repository

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}  # as a pack has them
FOLDER, MODULE, LINK = b"40000", b"160000", b"120000"


class Object(NamedTuple):
    """An object: what it is, and its bytes."""

    kind: str
    data: bytes


class TreeEntry(NamedTuple):
    """A line of a tree."""

    mode: bytes
    name: bytes
    oid: str


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
    """The objects of a repository by name; new ones are kept until `write`."""

    def __init__(self, repository: Repository, process: subprocess.Popen[bytes]) -> None:
        self.repository = repository
        self._process = process
        self._hash = "sha256" if len(repository.head()) == 64 else "sha1"
        self._new: dict[str, Object] = {}

    def read(self, oid: str) -> Object:
        """One object; raises GitError where it is missing."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(oid.encode() + b"\n")
        self._process.stdin.flush()
        header = self._process.stdout.readline().decode().split()
        if len(header) != 3 or not header[2].isdigit():
            raise GitError(f"object {oid[:12]} of {self.repository.where} is missing; git fsck says what is broken.")
        return Object(header[1], self._process.stdout.read(int(header[2]) + 1)[:-1])

    def entries(self, tree: str) -> list[TreeEntry]:
        """What a tree holds."""
        data, at, found = self.read(tree).data, 0, []
        size = len(tree) // 2
        while at < len(data):
            space, end = data.index(b" ", at), data.index(b"\0", at)
            found.append(TreeEntry(data[at:space], data[space + 1 : end], data[end + 1 : end + 1 + size].hex()))
            at = end + 1 + size
        return found

    def tree(self, entries: Iterable[TreeEntry]) -> str:
        """The name of a new tree; a folder stands in it as if its name ended in a slash."""
        ordered = sorted(entries, key=lambda entry: entry.name + (b"/" if entry.mode == FOLDER else b""))
        lines = [b"%s %s\0%s" % (entry.mode, entry.name, bytes.fromhex(entry.oid)) for entry in ordered]
        return self.add("tree", b"".join(lines))

    def add(self, kind: str, data: bytes) -> str:
        """The name of a new object."""
        whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
        oid = hashlib.new(self._hash, whole, usedforsecurity=False).hexdigest()
        self._new[oid] = Object(kind, data)
        return oid

    def write(self) -> None:
        """Put the new objects into the repository, as one pack; raises GitError."""
        if not self._new:
            return
        pack = bytearray(b"PACK" + (2).to_bytes(4) + len(self._new).to_bytes(4))
        for kind, data in self._new.values():
            head, size = _KINDS[kind] << 4 | len(data) & 15, len(data) >> 4
            while size:
                pack.append(head | 128)
                head, size = size & 127, size >> 7
            pack.append(head)
            pack += zlib.compress(data)
        pack += hashlib.new(self._hash, pack, usedforsecurity=False).digest()
        self.repository.run("index-pack", "--stdin", stdin=bytes(pack), timeout=LONG)
        self._new.clear()


LONG = 3600.0  # seconds for a command that goes through a whole repository


@contextlib.contextmanager
def opened(repository: Repository) -> Iterator[Objects]:
    """The objects of a repository, to be read one by one."""
    with _running(repository, "--batch") as process:
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

    def leads(self, path: str) -> bool:
        """Is a folder of the repository the user's, or on the way there?"""
        inside = self.history.inside
        return not inside or f"{path}/".startswith(f"{inside}/") or f"{inside}/".startswith(f"{path}/")

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
    """The new history, as far as it has been thought out: `commits` has the new name of each old commit."""

    def __init__(self, target: PurgeTarget, read: Objects) -> None:
        self.target = target
        self.read = read
        self.commits: dict[str, str] = {}
        self._trees: dict[tuple[str, str], str] = {}
        self._blobs: dict[tuple[str, str], str] = {}
        self._tree_of: dict[str, str] = {}  # by commit, new ones too
        self._own_trees: dict[str, str] = {}  # the user's folder, by tree

    def file(self, path: str, oid: str) -> tuple[str, str] | None:
        """The new path and blob of a file of the user's; None where it goes."""
        place = self.target.place(path)
        if place is None:
            return None
        if (path, oid) not in self._blobs:
            data = self.read.read(oid).data
            new = self.target.cleaned(path, data)
            self._blobs[path, oid] = oid if new == data else self.read.add("blob", new)
        return place, self._blobs[path, oid]

    def tree(self, oid: str, path: str = "") -> str:
        """The new name of a folder's tree; empty where nothing is left of it."""
        if not self.target.leads(path) and path:
            return oid
        if (path, oid) not in self._trees:
            old = self.read.entries(oid)
            new = {entry.name: entry for entry in self._entries(old, path)}
            same = list(new.values()) == old
            self._trees[path, oid] = oid if same else self.read.tree(new.values()) if new or not path else ""
        return self._trees[path, oid]

    def _entries(self, old: list[TreeEntry], path: str) -> Iterator[TreeEntry]:
        inside = self.target.history.inside
        for entry in old:
            inner = f"{path}/{os.fsdecode(entry.name)}".removeprefix("/")
            if entry.mode == FOLDER:
                tree = self.tree(entry.oid, inner)
                if tree:
                    yield entry._replace(oid=tree)
            elif entry.mode in (MODULE, LINK) or (inside and not inner.startswith(inside + "/")):
                yield entry
            else:
                new = self.file(inner, entry.oid)
                if new:
                    yield TreeEntry(entry.mode, os.fsencode(new[0].rpartition("/")[2]), new[1])

    def commit(self, oid: str) -> str:
        """The new name of a commit whose parents have theirs; one of which nothing is left is its parent."""
        head, _, message = self.read.read(oid).data.partition(b"\n\n")
        fields = re.findall(rb"[^\n]+(?:\n [^\n]*)*", head)
        tree = fields[0][5:].decode()
        parents = [field[7:].decode() for field in fields if field.startswith(b"parent ")]
        self._tree_of[oid] = tree
        said = self._message(message) if self._touches(tree, parents[:1]) else message
        new_tree, new_parents = self.tree(tree), [self.commits.get(parent, parent) for parent in parents]
        if (new_tree, new_parents, said) == (tree, parents, message):
            new = oid
        elif len(parents) == 1 and new_tree == self._tree_of[new_parents[0]] and tree != self._tree_of[parents[0]]:
            new = new_parents[0]
        else:
            links = [b"parent " + parent.encode() for parent in dict.fromkeys(new_parents)]
            others = [field for field in fields[1:] if not field.startswith((b"parent ", *_VOUCHES))]
            lines = [b"tree " + new_tree.encode(), *links, *others]
            new = self.read.add("commit", b"\n".join(lines) + b"\n\n" + said)
            self._tree_of[new] = new_tree
        self.commits[oid] = new
        return new

    def _touches(self, tree: str, parents: list[str]) -> bool:
        """Does a commit change the user's folder, or nothing but the message?"""
        before = self._tree_of[parents[0]] if parents else ""
        return (
            tree == before
            or not self.target.history.inside
            or self._own_tree(tree) != (self._own_tree(before) if before else "")
        )

    def _own_tree(self, tree: str) -> str:
        if tree not in self._own_trees:
            self._own_trees[tree] = self._found(tree)
        return self._own_trees[tree]

    def _found(self, tree: str) -> str:
        for name in self.target.history.inside.split("/"):
            found = [entry.oid for entry in self.read.entries(tree) if os.fsdecode(entry.name) == name]
            if not found:
                return ""
            tree = found[0]
        return tree

    def _message(self, message: bytes) -> bytes:
        text = message.decode("utf-8", "surrogateescape")
        return self.target.wording.blanked(text).encode("utf-8", "surrogateescape")

    def tag(self, oid: str) -> str:
        """The new name of an annotated tag, whose signature goes where it changes."""
        head, _, message = self.read.read(oid).data.partition(b"\n\n")
        object_, kind, *others = head.split(b"\n")
        old = object_[7:].decode()
        new = self.tag(old) if kind == b"type tag" else self.commits.get(old, old)
        said = self._message(message)
        if (new, said) == (old, message):
            return oid
        lines = [b"object " + new.encode(), kind, *others]
        return self.read.add("tag", b"\n".join(lines) + b"\n\n" + _SIGNED.sub(b"", said))
