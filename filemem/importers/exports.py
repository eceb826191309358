"""What every parser yields, whatever the export looked like, and what parsers have in common."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files import safe

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp", ".tif", ".tiff", ".avif", ".svg")
MILLISECONDS_FROM = 1e11  # epoch numbers from here on are milliseconds: as seconds they lie beyond the year 5000
LONGEST = 50_000_000  # characters of a line that are read at once


class ImportedTurn(NamedTuple):
    """One message; `id` names it within its conversation.

    `speaker` is empty for the person whose memories these are; `time` is as the export has it, aware or naive local.
    """

    speaker: str
    time: datetime | None
    text: str
    id: str


class ImportedConversation(NamedTuple):
    """One conversation; `id` is unique within the format, `title` and `id` may be empty.

    `started` is None where only the turns or the file say when. `assistant` is the speaker that is an assistant, empty where
    none is.
    """

    id: str
    title: str
    started: datetime | None
    turns: list[ImportedTurn]
    assistant: str = ""


class ImportedNote(NamedTuple):
    """One text file of a folder of notes: its path within the folder, and its bytes as they stand.

    `id` names it within its format where its place does not: the next export of it lies elsewhere.
    """

    path: str
    text: bytes
    id: str = ""


class Skipped(NamedTuple):
    """Something that was left out, or taken with a change, and why."""

    what: str
    why: str


Item = ImportedConversation | ImportedNote | Skipped


def moment(value: object, zone: tzinfo | None) -> datetime | None:
    """A time stamp as exports write it: seconds or milliseconds since 1970 or ISO 8601; None for anything else.

    An instant comes back in `zone` (None: this machine's); a time without an offset is taken as local and stays naive.
    """
    try:
        if isinstance(value, str):
            when = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            seconds = value / 1000 if abs(value) >= MILLISECONDS_FROM else value
            when = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        local = when.astimezone(zone) if when.tzinfo else when
    except (ValueError, OverflowError, OSError):
        return None
    return local if local.year >= 1000 else None  # a file name's year has four digits


def mapping(value: object) -> dict[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """`value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def words(value: object) -> str:
    """`value` without outer white space if it is a string, else nothing."""
    return value.strip() if isinstance(value, str) else ""


def attached(name: str) -> str:
    """The mark that a picture or file leaves in the text of its message."""
    kind = "image" if name.lower().endswith(IMAGES) else "file"
    return f"[{kind}: {name}]"


# -- files -------------------------------------------------------------------------------------------------------------


def lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of the text file at `path` that are not blank, with their numbers from 1; one over LONGEST in pieces."""
    with open(safe.open_regular(path), encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST), ""), start=1):
            if text := line.strip():
                yield number, text


def modified(path: str, zone: tzinfo | None) -> datetime:
    """When the file or folder at `path` was last written, in `zone` (None: this machine's)."""
    return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC).astimezone(zone)


def decode(text: str) -> Any:
    """One JSON value; raises FilememError with the reason where it is broken or nested too deeply."""
    try:
        return json.loads(text, strict=False)
    except ValueError as error:
        raise FilememError(f"broken JSON ({error}); export it again") from None
    except RecursionError:
        raise FilememError("JSON nested too deeply; export it again") from None
