"""Git's own stream of a history, as `git fast-export --no-data` writes it and `git fast-import` reads it."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from filemem.history.git import GitError

_CHANGE = re.compile(rb"(?:M (\d+) (\S+)|D) (.*)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class Change(NamedTuple):
    """What a commit does to one file: its mode and blob afterwards, both empty where it goes."""

    path: str
    mode: bytes
    oid: str

    def line(self) -> bytes:
        """The change as a line of the stream."""
        escaped = os.fsencode(self.path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        return (b"M %s %s " % (self.mode, self.oid.encode()) if self.oid else b"D ") + b'"%s"\n' % escaped


class Commit(NamedTuple):
    """A commit; `head` are its lines on who and when, `parents` marks."""

    mark: bytes
    head: bytes
    message: bytes
    parents: list[bytes]
    changes: list[Change]

    def block(self, ref: str, parents: list[bytes]) -> bytes:
        """The commit as a part of the stream, on a ref and on top of others, by mark or name."""
        reset = b"" if parents else b"reset %s\n" % ref.encode()
        said = b"data %d\n%s\n" % (len(self.message), self.message)
        links = b"".join((b"merge " if number else b"from ") + parent + b"\n" for number, parent in enumerate(parents))
        changes = b"".join(change.line() for change in self.changes)
        head = b"commit %s\nmark %s\n%s\n" % (ref.encode(), self.mark, self.head)
        return reset + head + said + links + changes + b"\n"


def commits(stream: bytes) -> Iterator[Commit]:
    """The commits of a stream, parents first; what else stands in it is passed over. Raises GitError."""
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        line = stream[at:end]
        at = end + 1
        if not line.startswith((b"commit ", b"tag ")):
            continue
        head: list[bytes] = []
        while not (line := stream[at : (end := stream.index(b"\n", at))]).startswith(b"data "):
            head.append(line)
            at = end + 1
        size = int(line[5:])
        message, at = stream[end + 1 : end + 1 + size], end + 1 + size
        rest: list[bytes] = []
        while at < len(stream) and (line := stream[at : (end := stream.index(b"\n", at))]):
            rest.append(line)
            at = end + 1
        if head and head[0].startswith(b"mark "):
            links = [line for line in rest if line.startswith((b"from ", b"merge "))]
            parents = [link.partition(b" ")[2] for link in links]
            yield Commit(head[0][5:], b"\n".join(head[1:]), message, parents, [*map(_change, rest[len(links) :])])


def _change(line: bytes) -> Change:
    match = _CHANGE.fullmatch(line)
    if not match:
        raise GitError(f"git exports a change of a kind that is not known: {line[:40].decode(errors='replace')}.")
    return Change(_path(match[3]), match[1] or b"", (match[2] or b"").decode())


def _path(quoted: bytes) -> str:
    """A path as the stream has it, in quotes where it must be."""
    if not quoted.startswith(b'"'):
        return os.fsdecode(quoted)
    plain = _ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else _ESCAPES.get(m[1], m[1]), quoted[1:-1])
    return os.fsdecode(plain)


def marks(path: str) -> dict[bytes, bytes]:
    """What a file of marks says: each one's commit."""
    with open(path, "rb") as file:
        pairs = (line.split() for line in file)
        return {pair[0]: pair[1] for pair in pairs}
