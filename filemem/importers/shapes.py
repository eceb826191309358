"""What every parser yields, whatever the export looked like: conversations, notes, and what was left out and why."""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import Any, NamedTuple

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp", ".tif", ".tiff", ".avif", ".svg")
MILLISECONDS_FROM = 1e11  # epoch numbers from here on are milliseconds: as seconds they lie beyond the year 5000


class ImportedTurn(NamedTuple):
    """One message; `id` names it within its conversation.

    `speaker` is empty for the person whose memories these are; `time` is as the export has it, aware or naive local.
    """

    speaker: str
    time: datetime | None
    text: str
    id: str


class ImportedConversation(NamedTuple):
    """One conversation; `user` is None where the export does not say whose it is; `id` is unique within the format.

    `assistant` is the speaker that is an assistant, empty where none is.
    """

    user: str | None
    id: str
    title: str
    started: datetime
    turns: list[ImportedTurn]
    assistant: str = ""


class ImportedNote(NamedTuple):
    """One text file of a folder of notes: its path within the folder, and its bytes as they stand."""

    path: str
    text: bytes


class Skipped(NamedTuple):
    """Something that was left out, or taken with a change, and why."""

    what: str
    why: str


Item = ImportedConversation | ImportedNote | Skipped
Seen = Callable[[int, int], None]  # how far the reading is: so much of so much


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
