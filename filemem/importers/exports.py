"""What every parser yields, whatever the export looked like; and reading export files: JSON, the zip it came in, or its folder.

A document is held in memory as one string and its elements are decoded one at a time: a ChatGPT export of 150 MB was
imported with a peak of 300 MB (measured, Python 3.11), twice its size and not the tenfold of the whole decoded tree.
"""

import contextlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import safe

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp", ".tif", ".tiff", ".avif", ".svg")
MILLISECONDS_FROM = 1e11  # epoch numbers from here on are milliseconds: as seconds they lie beyond the year 5000
LARGEST = 500_000_000  # bytes of one document, unpacked; an export of several years has 150,000,000
LONGEST = 50_000_000  # bytes of one line
CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json")  # large ChatGPT exports come as conversations-000.json, -001…
_GAP = re.compile(r"[ \t\r\n,]*")
KEYS = {"ChatGPT": "mapping", "Claude": "chat_messages"}  # by which their conversations are known


class ImportedTurn(NamedTuple):
    """One message; `id` names it within its conversation.

    `speaker` is empty for the person whose memories these are; `time` is as the export has it, aware or naive local.
    """

    speaker: str
    time: datetime | None
    text: str
    id: str


class ToolUse(NamedTuple):
    """One call of a tool: what it was asked, its error, empty where it succeeded, when it was, how long it took."""

    id: str
    tool: str
    asked: str
    error: str
    at: datetime | None
    milliseconds: int


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
    calls: Sequence[ToolUse] = ()


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


# -- conversations -----------------------------------------------------------------------------------------------------


class ExportedConversation(NamedTuple):
    """What an export says of one conversation: `others` are its turns on branches that the person left."""

    id: str
    title: str
    started: datetime | None
    turns: list[ImportedTurn]
    others: int
    calls: Sequence[ToolUse] = ()


def conversations(
    path: str,
    zone: tzinfo | None,
    seen: Seen,
    assistant: str,
    read: Callable[[dict[str, Any], tzinfo | None], ExportedConversation],
    names: re.Pattern[str] = CONVERSATIONS,
    notes: Callable[[dict[str, Any]], list[ImportedNote]] = lambda value: [],
) -> Iterator[Item]:
    """Every conversation with an assistant as the person last saw it, then what was left out of it; and `notes` beside them."""
    written, key = modified(path, zone), KEYS[assistant]
    for element in elements(path, names, seen):
        if isinstance(element, Skipped):
            yield element
        elif beside := notes(mapping(element.value)):
            yield from beside
        elif key in mapping(element.value):
            said = read(element.value, zone)
            left = f"{said.others} turns on other branches: answers regenerated or questions rewritten"
            yield from conversation(said, said.title or element.place, written, left if said.others else "", assistant)
        else:
            other = next((name for name, key in KEYS.items() if key in mapping(element.value)), "")
            why = f"it is one with {other}; import it as {other.lower()}" if other else f"{key} is missing"
            yield Skipped(element.place, f"it is no conversation with {assistant}: {why}")


def conversation(
    said: ExportedConversation, place: str, written: datetime, left: str, assistant: str = ""
) -> Iterator[Item]:
    """A conversation, dated as it says or by its first turn or by its file; then what was `left` out of it, if anything."""
    if not said.turns:
        yield Skipped(place, "it has no turns")
        return
    started = said.started or next((turn.time for turn in said.turns if turn.time), written)
    yield ImportedConversation(
        None, said.id or said.turns[0].id, said.title, started, said.turns, assistant, said.calls
    )
    if left:
        yield Skipped(place, left)


# -- files -------------------------------------------------------------------------------------------------------------


class Element(NamedTuple):
    """One element of the top array: where it stands, and its decoded value."""

    place: str
    value: Any


class _Document(NamedTuple):
    """A JSON file on disk, or a member of the zip at `path`; `size` in bytes."""

    name: str
    path: str
    member: str | None
    size: int


def elements(path: str, names: re.Pattern[str], seen: Seen) -> Iterator[Element | Skipped]:
    """The elements of the export's documents, in order; broken JSON ends its document with a Skipped.

    `path` is a JSON file of any name, or a zip or folder with documents called `names`. Raises NotFound where there is
    none, FilememError where a file is neither JSON nor a whole zip.
    """
    documents = _documents(path, names)
    whole, before = sum(document.size for document in documents), 0
    for document in documents:
        text = _text(document)
        for entry, position in _values(text, document.name):
            seen(before + document.size * position // max(1, len(text)), whole)
            yield entry
        before += document.size
    seen(whole, whole)


def lines(path: str, seen: Seen) -> Iterator[tuple[int, str]]:
    """The lines of the text file at `path` that are not blank, with their numbers from 1."""
    read = 0
    with open(safe.open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), start=1):
            if len(line) > LONGEST:
                raise FilememError(
                    f"{path}:{number}: longer than {LONGEST // 1_000_000} MB, so no line of an export; split it."
                )
            read += len(line)
            seen(read, size)
            text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
            if text:
                yield number, text


def modified(path: str, zone: tzinfo | None) -> datetime:
    """When the file or folder at `path` was last written, in `zone` (None: this machine's)."""
    return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC).astimezone(zone)


def decode(text: str) -> Any:
    """One JSON value; raises FilememError with the reason where it is broken or nested too deeply."""
    try:
        return json.loads(text, strict=False)
    except ValueError as error:
        raise FilememError(f"broken JSON ({error})") from None
    except RecursionError:
        raise FilememError("JSON nested too deeply") from None


def _documents(path: str, names: re.Pattern[str]) -> list[_Document]:
    """The JSON documents at `path`, sorted by name."""
    if os.path.isdir(path):
        found = _in_folder(path, names)
    elif _is_zip(path):
        found = _in_zip(path, names)
    else:
        found = [_Document(os.path.basename(path), path, None, os.path.getsize(path))]
    if not found:
        raise NotFound(f"{path} holds no conversations.json; name the export's JSON file, its zip or its folder.")
    return sorted(found)


def _in_folder(path: str, names: re.Pattern[str]) -> list[_Document]:
    """The documents in a folder, or in the folders right under it: unpacking often adds one."""
    for folders in ([path], [entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]):
        named = (entry for folder in folders for entry in os.scandir(folder) if names.fullmatch(entry.name))
        files = [entry for entry in named if entry.is_file(follow_symlinks=False)]
        if files:
            return [_Document(os.path.relpath(file.path, path), file.path, None, file.stat().st_size) for file in files]
    return []


def _is_zip(path: str) -> bool:
    """Does the plain file at `path` end like a zip?"""
    with open(safe.open_regular(path), "rb") as file:
        return zipfile.is_zipfile(file)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[zipfile.ZipFile]:
    """The zip at `path`; raises FilememError where it is broken or needs a password."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise FilememError(f"{path} is no whole zip ({error}); download it again or unpack it yourself.") from None


def _in_zip(path: str, names: re.Pattern[str]) -> list[_Document]:
    """The documents in a zip, in whichever of its folders."""
    with _opened(path) as archive:
        members = [info for info in archive.infolist() if names.fullmatch(info.filename.rsplit("/", 1)[-1])]
    return [_Document(info.filename, path, info.filename, info.file_size) for info in members]


def _text(document: _Document) -> str:
    """A document's text; bytes that are not what its encoding allows become U+FFFD. Raises FilememError where it is too large."""
    where = document.path if document.member is None else f"{document.path}, {document.name}"
    if document.size > LARGEST:
        most = f"{LARGEST // 1_000_000} MB"
        raise FilememError(f"{where} is larger than {most}, too large to be imported; split it into smaller files.")
    try:
        if document.member is None:
            data = safe.read(document.path, document.size)
        else:
            with _opened(document.path) as archive:
                data = archive.read(document.member)
        return data.decode(json.detect_encoding(data), "replace")
    except MemoryError:
        raise FilememError(f"{where} is larger than the memory left; split it into smaller files.") from None


def _values(text: str, name: str) -> Iterator[tuple[Element | Skipped, int]]:
    """The elements of the array in `text`, or its single object, each with the position where it ends."""
    decoder = json.JSONDecoder(strict=False)
    position = _end_of_gap(text, 0)
    if text[position : position + 1] not in ("[", "{"):
        raise FilememError(f"{name} is no JSON export; it should begin with [ or {{.")
    if text[position] == "[":
        position = _end_of_gap(text, position + 1)
    number = 0
    while position < len(text) and text[position] != "]":
        number += 1
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            why = f"broken JSON at or after character {position + 1}; nothing from there on was read"
            yield Skipped(f"{name}, element {number}", why), len(text)
            return
        yield Element(f"{name}, element {number}", value), position
        position = _end_of_gap(text, position)


def _end_of_gap(text: str, position: int) -> int:
    """The position after white space and commas."""
    found = _GAP.match(text, position)
    return found.end() if found else position
