"""What parsers yield, and how all of them read the values and lines of an export."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.store import files
from filemem.text.plain import one_line
from filemem.text.redaction import redact

IMAGE_SUFFIXES = tuple(
    ".png .jpg .jpeg .gif .webp .heic .bmp .tif .tiff .avif .svg".split()
)
MILLISECONDS_FROM = 1e11
"""Numbers from here on are milliseconds: as seconds they lie beyond the year 5000."""

FIRST_YEAR = 1000
"""The first year that has the four digits of a file name."""

MAX_LINE_CHARS = 50_000_000
"""Characters of a line that are read at once."""

MAX_UNCUT_CHARS = 10_000
"""Characters at either end of a text in which secrets are looked for before the text is
cut to a line."""

MAX_CALL_CHARS = 160
"""Characters that a transcript keeps of what a tool was asked."""

MAX_RESULT_CHARS = 320
"""Characters that a transcript keeps of what a tool answered or changed."""

UNNAMED = "without a name"


@dataclass(frozen=True)
class ImportedTurn:
    """One message of a conversation.

    Attributes:
        speaker: empty for the person whose memories these are.
        time: as the export has it, aware, or naive where it names no zone.
        text: the words.
        id: names the message within its conversation; empty where nothing does.
        shared: names it and its copies among all conversations of the format: by
            itself where it is the id, else together with the words.
    """

    speaker: str
    time: datetime | None
    text: str
    id: str = ""
    shared: str = ""


@dataclass(frozen=True)
class ImportedConversation:
    """One conversation.

    Attributes:
        id: unique within the format; empty where only how it begins tells it.
        title: may be empty.
        started: None where only the turns or the file say when.
        turns: in their order.
        assistant: the speaker that is an assistant; empty where none is.
        is_fork: it begins with copies of another one's turns, which is taken first.
        is_whole: the turns begin where the conversation did.
    """

    id: str
    title: str
    started: datetime | None
    turns: list[ImportedTurn]
    assistant: str = ""
    is_fork: bool = False
    is_whole: bool = True


class ImportedNote(NamedTuple):
    """One text file of a folder of notes.

    `path` is its path within the folder, `text` its bytes as they stand. `id` names it
    within its format, as its place does, or what it is called in every export.
    """

    path: str
    text: bytes
    id: str


class Skipped(NamedTuple):
    """Something that was left out or changed, and why."""

    what: str
    why: str


LeftOut = Counter[str]
"""How many things were left out without a name, by kind, as `tool call`."""

Item = ImportedConversation | ImportedNote | Skipped | LeftOut
Parser = Callable[[str, tzinfo | None], Iterable[Item]]

ABANDONED = "abandoned message"
BROKEN = "broken line"
EMPTY = "empty conversation"
HIDDEN = "hidden message"
SUBAGENT = "subagent session"
THOUGHT = "thought"
TOOL_CALL = "tool call"
TOOL_RESULT = "tool result"
RECORDING = "recording"
UNKNOWN = "unknown part"
# Of which of these a message's part is, by its type.
UNSPOKEN = {
    "thinking": THOUGHT,
    "redacted_thinking": THOUGHT,
    "reasoning": THOUGHT,
    "tool_use": TOOL_CALL,
    "server_tool_use": TOOL_CALL,
    "function_call": TOOL_CALL,
    "custom_tool_call": TOOL_CALL,
    "local_shell_call": TOOL_CALL,
    "tool_search_call": TOOL_CALL,
    "web_search_call": TOOL_CALL,
    "image_generation_call": TOOL_CALL,
    "tool_result": TOOL_RESULT,
    "web_search_tool_result": TOOL_RESULT,
    "function_call_output": TOOL_RESULT,
    "custom_tool_call_output": TOOL_RESULT,
    "tool_search_output": TOOL_RESULT,
}


# -- values of JSON, whatever they are -----------------------------------------------


def as_dict(value: object) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return `value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return `value` without outer white space if it is a string, else nothing."""
    return value.strip() if isinstance(value, str) else ""


def dig(value: object, *keys: str) -> Any:
    """Return what stands under keys within keys; None where one is missing."""
    for key in keys:
        value = as_dict(value).get(key)
    return value


def text_at(value: object, *keys: str) -> str:
    """Return the text under keys within keys, nothing where there is none."""
    return as_text(dig(value, *keys))


def first_text(value: object, *keys: str) -> str:
    """Return the text under the first of some keys that has any, else nothing."""
    return next(filter(None, (text_at(value, key) for key in keys)), "")


def dicts_at(value: object, *keys: str) -> list[dict[str, Any]]:
    """Return the elements of the array under keys within keys, none but objects."""
    return [as_dict(element) for element in as_list(dig(value, *keys))]


def parse_time(value: object, zone: tzinfo | None) -> datetime | None:
    """Read a time stamp as programs write it.

    Args:
        value: seconds or milliseconds since 1970, ISO 8601, or a datetime.
        zone: the person's zone, None for this machine's.

    Returns:
        The time in the zone that it names; where that is UTC, in which programs write
        wherever the person is, in `zone`. A time that names no zone is naive. None for
        anything that is no time.
    """
    try:
        moment = _moment(value)
        if moment is None:
            return None
        if moment.tzinfo and not moment.utcoffset():
            moment = moment.astimezone(zone)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year >= FIRST_YEAR else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return datetime.fromisoformat(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value / 1000 if abs(value) >= MILLISECONDS_FROM else value
    return datetime.fromtimestamp(seconds, UTC)


TIME_KEYS = (
    "created created_at create_time timestamp date updated_at update_time"
).split()


def time_of(record: dict[str, Any], zone: tzinfo | None) -> datetime | None:
    """Return the first time stamp that a record has under any of TIME_KEYS."""
    for key in TIME_KEYS:
        moment = parse_time(record.get(key), zone)
        if moment:
            return moment
    return None


def file_mark(name: str) -> str:
    """Return the mark that a picture or file leaves in the text of its message."""
    kind = "image" if name.lower().endswith(IMAGE_SUFFIXES) else "file"
    return f"[{kind}: {name}]"


def part_text(part: object) -> str:
    """Return the words of one part of a message; pictures and files leave a mark."""
    if not isinstance(part, dict):
        return as_text(part)
    kind = text_at(part, "type")
    if "image" in kind:
        return f"[image: {UNNAMED}]"
    if kind == "document" or "file" in kind:
        named = part | as_dict(part.get("file"))
        name = first_text(named, "title", "filename") or UNNAMED
        text = ""
        if text_at(part, "source", "type") == "text":
            text = text_at(part, "source", "data")
        return joined([file_mark(name), text])
    return first_text(part, "text", "refusal")


def spoken_part(part: object, left_out: LeftOut) -> str:
    """Return the same; count a part that has none, as a thought or a recording."""
    type = first_text(part, "type", "content_type")
    kind = UNSPOKEN.get(type, "")
    text = "" if kind else part_text(part)
    if "audio" in type or "video" in type:
        kind = RECORDING
    if not text and type and "text" not in type:
        left_out[kind or UNKNOWN] += 1
    return text


def spoken_text(content: object, left_out: LeftOut) -> str:
    """Return the words of a content; count its parts that have none."""
    parts = as_list(content) or [content]
    return joined(spoken_part(part, left_out) for part in parts)


def content_text(content: object) -> str:
    """Return the words of a content that is a text or a list of parts."""
    return spoken_text(content, LeftOut())


def brief(text: str, max_chars: int) -> str:
    """Return a text without secrets on one line, a long one without its middle."""
    if len(text) > 2 * MAX_UNCUT_CHARS:
        text = f"{text[:MAX_UNCUT_CHARS]} … {text[-MAX_UNCUT_CHARS:]}"
    # Of a secret that is cut in two no half would be known.
    line = one_line(redact(text).text, 2 * MAX_UNCUT_CHARS)
    half = max_chars // 2
    if len(line) <= max_chars:
        return line
    return f"{line[:half].rstrip()} … {line[-half:].lstrip()}"


def joined(parts: Iterable[str], between: str = "\n") -> str:
    """Join the parts that are not empty."""
    return between.join(part for part in parts if part)


# -- files ---------------------------------------------------------------------------


class NumberedLine(NamedTuple):
    """A line of a text file, with its number from 1."""

    number: int
    text: str


class Document(NamedTuple):
    """A file of an export, by its name."""

    name: str
    data: bytes


def text_lines(path: str) -> Iterator[NumberedLine]:
    """Yield the lines of a text file that are not blank.

    A line over MAX_LINE_CHARS comes in pieces.
    """
    with open(files.open_regular(path), encoding="utf-8-sig", errors="replace") as file:
        lines = iter(partial(file.readline, MAX_LINE_CHARS), "")
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield NumberedLine(number, line.strip())


def decode_json(text: str | bytes) -> Any:
    """Read one JSON value; raises FilememError where it is broken or too deep."""
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "replace")
        return json.loads(text, strict=False)
    except ValueError as error:
        raise FilememError(f"broken JSON ({error}); export it again") from None
    except RecursionError:
        raise FilememError("JSON nested too deeply; export it again") from None


def decoded(value: Any) -> Any:
    """Return what a text of JSON holds; anything else as it is."""
    try:
        return decode_json(value) if isinstance(value, str) else value
    except FilememError:
        return value
