"""Git's objects, read and written as they are stored: every one that a repository has, one by its name, and new ones."""

import contextlib
import hashlib
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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


def every(repository: Repository) -> Iterator[tuple[str, str, bytes]]:
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
