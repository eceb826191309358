"""The lines of a memory's file, of any size, in bounded memory."""

from collections.abc import Iterator

from filemem import disk
from filemem.errors import FilememError
from filemem.folder import Folder
from filemem.memory import LARGEST, Memory, decode

_CHUNK = 1 << 20


class NotText(FilememError):
    """A file that holds no text."""


def text(path: str, data: bytes) -> str:
    """The text of a whole file's bytes; raises NotText for a binary one."""
    if b"\0" not in data:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return decode(data)
    memory = Memory(path, data)
    if memory.binary:
        raise NotText(f"{path} is no text file; nothing in it can be shown.")
    return memory.text


def lines(folder: Folder, path: str, longest: int) -> Iterator[str]:
    """The lines as an editor numbers them; of those in a file over LARGEST bytes the first `longest` bytes each."""
    data = folder.read(path, LARGEST + 1)
    if len(data) <= LARGEST:
        yield from split(text(path, data))
        return
    text(path, data[:65536])
    del data
    with open(disk.open_regular(folder.absolute(path)), "rb") as file:
        kept = bytearray()
        while chunk := file.read(_CHUNK):
            first, *rest = chunk.split(b"\n")
            kept += first[: max(0, longest - len(kept))]
            for entry in rest:
                yield decode(bytes(kept)).removesuffix("\r")
                kept = bytearray(entry[:longest])
        if kept:
            yield decode(bytes(kept))


def split(whole: str) -> list[str]:
    """A text's lines without their ends."""
    found = [line.removesuffix("\r") for line in whole.split("\n")] if "\r" in whole else whole.split("\n")
    if found[-1] == "":
        found.pop()
    return found
