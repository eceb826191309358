"""Logs in `.filemem/`: a line for each entry, to which the program only adds.

Two clones merge them by union. Reading is bounded; a line that is torn by a kill, or spoilt, says nothing, and hides no other.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.store import files
from filemem.store.folder import Folder

MINUTE = "%Y-%m-%dT%H:%M"  # with which a line begins


def line(value: Any) -> bytes:
    """A JSON value as a line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def values(place: str) -> Iterator[Any]:
    """The JSON values of a log's lines; none where there is no log that may be read. Raises OSError where the system fails, as
    what was not read must not be rewritten."""
    data = b""
    with contextlib.suppress(FilememError):
        data = files.read(place)
    for text in data.decode(errors="replace").split("\n"):
        with contextlib.suppress(ValueError, RecursionError):
            yield json.loads(text)


def rows(folder: Folder, name: str) -> Iterator[list[str]]:
    """The fields of a log's lines, which tabs separate. Raises FilememError where it cannot be read."""
    with contextlib.suppress(NotFound):
        for text in (
            files.read(folder.bookkeeping(name)).decode(errors="replace").split("\n")
        ):
            yield text.split("\t")


def add_rows(
    folder: Folder, name: str, entries: Iterable[Iterable[str]], wait: float = 10.0
) -> None:
    """Add such lines in one write."""
    if text := "".join("\t".join(entry) + "\n" for entry in entries):
        with folder.locked(wait):
            files.log(folder.bookkeeping(name), text.encode("utf-8", "replace"))
