"""Logs in the bookkeeping: a line for each entry, mostly JSON, to which the program only adds.

A line that a kill has torn, or somebody has spoilt, says nothing, and hides no other.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from filemem.errors import FilememError
from filemem.files import disk


def line(value: Any) -> bytes:
    """A JSON value as a line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def parsed(data: bytes) -> Iterator[Any]:
    """The JSON values of the lines in these bytes."""
    for text in data.decode(errors="replace").split("\n"):
        with contextlib.suppress(ValueError, RecursionError):
            yield json.loads(text)


def values(place: str) -> Iterator[Any]:
    """The JSON values of a log's lines; none where there is no log that may be read. Raises OSError where the system fails:
    what was not read must not be rewritten.
    """
    data = b""
    with contextlib.suppress(FilememError):
        data = disk.read(place)
    yield from parsed(data)


def add(place: str, lines: bytes, *, durably: bool = False) -> int:
    """Add lines as they are to a log, made where there is none, behind what may be torn; returns how large it is then.

    Nothing is rewritten, so that a large log costs no more than a small one, and a kill may tear the last line; where it must
    not, there is `disk.log`. Raises FilememError or OSError.
    """
    with open(disk.open_regular(place, os.O_RDWR | os.O_APPEND | os.O_CREAT), "r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        left = memoryview(disk.from_new_line(os.pread(file.fileno(), 1, max(0, end - 1)), lines))
        while left:
            left = left[file.write(left) or 0 :]
        if durably:
            os.fsync(file.fileno())
        return file.tell()


def rewrite(place: str, entries: Iterable[Any]) -> None:
    """Let a log have just these entries, durably; without any there is none."""
    if lines := b"".join(map(line, entries)):
        disk.write(place, lines)
    elif disk.exists(place):
        disk.delete(place)
