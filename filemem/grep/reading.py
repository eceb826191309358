"""The lines of a memory's file, of any size, in bounded memory."""

import itertools
from collections.abc import Iterator

from filemem.errors import FilememError
from filemem.files import safe
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, decode


class NotText(FilememError):
    """A file that holds no text."""


def memory(path: str, data: bytes) -> Memory:
    """A file's bytes, or their beginning, as a memory; raises NotText for a binary one."""
    found = Memory(path, data)
    if found.binary:
        raise NotText(f"{path} is no text file; nothing in it can be shown.")
    return found


def lines(folder: Folder, path: str, longest: int, start: int = 1) -> Iterator[tuple[int, str]]:
    """The lines from `start` on, with their numbers in an editor; of those in a file over LARGEST bytes the first `longest`
    bytes each."""
    found = memory(path, folder.read(path, LARGEST + 1))
    if len(found.data) <= LARGEST:
        yield from itertools.islice(enumerate(found.lines, 1), start - 1, None)
        return
    with open(safe.open_regular(folder.absolute(path)), "rb") as file:
        number, ended = 0, True
        while piece := file.readline(max(longest, 1 << 20)):
            number += ended
            if ended and number >= start:
                yield number, decode(piece.removesuffix(b"\n")[:longest]).removesuffix("\r")
            ended = piece.endswith(b"\n")


def count(folder: Folder, path: str) -> int:
    """How many lines the file has."""
    return sum(1 for _ in lines(folder, path, 1))
