"""The lines of a memory's file, of any size, in bounded memory."""

import itertools
from collections.abc import Callable, Iterator

from filemem.errors import FilememError
from filemem.files import safe
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, decode

_CHUNK = 1 << 20


class NotText(FilememError):
    """A file that holds no text."""


def text(path: str, data: bytes) -> str:
    """The text of a whole file's bytes; raises NotText for a binary one."""
    memory = Memory(path, data)
    if memory.binary:
        raise NotText(f"{path} is no text file; nothing in it can be shown.")
    return memory.text


def lines(
    folder: Folder, path: str, longest: int, start: int = 1, worth: Callable[[str], bool] | None = None
) -> Iterator[tuple[int, str]]:
    """The lines from `start` on, with their numbers in an editor; of those in a file over LARGEST bytes the first `longest`
    bytes each, without those in pieces of it for whose text `worth` is false."""
    data = folder.read(path, LARGEST + 1)
    if len(data) <= LARGEST:
        yield from itertools.islice(enumerate(split(text(path, data)), 1), start - 1, None)
        return
    text(path, data[:65536])
    del data
    number, kept = 1, bytearray()
    with open(safe.open_regular(folder.absolute(path)), "rb") as file:
        while chunk := file.read(_CHUNK):
            count = chunk.count(b"\n")
            if count and (number + count <= start or _worthless(kept + chunk[: chunk.rfind(b"\n")], worth)):
                number += count
                kept = bytearray(chunk[chunk.rfind(b"\n") + 1 :][:longest])
                continue
            first, *rest = chunk.split(b"\n")
            kept += first[: max(0, longest - len(kept))]
            for entry in rest:
                if number >= start:
                    yield number, decode(bytes(kept)).removesuffix("\r")
                number, kept = number + 1, bytearray(entry[:longest])
        if kept and number >= start:
            yield number, decode(bytes(kept))


def _worthless(piece: bytearray, worth: Callable[[str], bool] | None) -> bool:
    """Is this piece of a file certainly not worth a look?"""
    try:
        return worth is not None and not worth(piece.decode())
    except UnicodeDecodeError:
        return False


def count(folder: Folder, path: str) -> int:
    """How many lines the file has."""
    data = folder.read(path, LARGEST + 1)
    if len(data) <= LARGEST:
        return len(split(text(path, data)))
    found, last = 0, b""
    with open(safe.open_regular(folder.absolute(path)), "rb") as file:
        while chunk := file.read(_CHUNK):
            found, last = found + chunk.count(b"\n"), chunk[-1:]
    return found + (last != b"\n")


def split(whole: str) -> list[str]:
    """A text's lines without their ends."""
    found = whole.split("\n")
    if found[-1] == "":
        found.pop()
    return [line.removesuffix("\r") for line in found] if "\r" in whole else found
