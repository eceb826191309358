"""What every parser yields, whatever the export looked like; and reading exports: JSON, the zip it came in, or its folder."""

import contextlib
import glob
import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import safe

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp", ".tif", ".tiff", ".avif", ".svg")
MILLISECONDS_FROM = 1e11  # epoch numbers from here on are milliseconds: as seconds they lie beyond the year 5000
LARGEST = 500_000_000  # bytes of one document, unpacked; an export of several years has 150,000,000
LONGEST = 50_000_000  # bytes of one line
CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json")  # large ChatGPT exports come as conversations-000.json, -001…
KEYS = {"ChatGPT": "mapping", "Claude": "chat_messages"}  # by which their conversations are known
BRANCHES = "{} turns on other branches: answers regenerated or questions rewritten"


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
    none is; `user` is None where the export does not say whose it is; `left` says what was left out of it and why.
    """

    id: str
    title: str
    started: datetime | None
    turns: list[ImportedTurn]
    assistant: str = ""
    user: str | None = None
    left: str = ""


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


# -- files -------------------------------------------------------------------------------------------------------------


def conversations(
    path: str,
    zone: tzinfo | None,
    seen: Seen,
    assistant: str,
    read: Callable[[dict[str, Any], tzinfo | None], ImportedConversation],
    names: re.Pattern[str] = CONVERSATIONS,
    notes: Callable[[dict[str, Any]], list[ImportedNote]] = lambda value: [],
) -> Iterator[Item]:
    """Every conversation with an assistant as the person last saw it, and the `notes` beside them."""
    key = KEYS[assistant]
    for place, value in elements(path, names, seen):
        if isinstance(value, Skipped):
            yield value
        elif beside := notes(value):
            yield from beside
        elif key in value:
            said = read(value, zone)
            yield said._replace(id=said.id or (said.turns[0].id if said.turns else place), assistant=assistant)
        else:
            other = next((name for name, key in KEYS.items() if key in value), "")
            why = f"it is one with {other}; import it as {other.lower()}" if other else f"{key} is missing"
            yield Skipped(place, f"it is no conversation with {assistant}: {why}")


def branch(parents: Mapping[str, object], leaf: object) -> list[str]:
    """The way from a root of a tree down to a leaf, as keys; a cycle ends it."""
    climbed = dict[str, None]()
    while isinstance(leaf, str) and leaf in parents and leaf not in climbed:
        climbed[leaf] = None
        leaf = parents[leaf]
    return list(reversed(climbed))


def elements(path: str, names: re.Pattern[str], seen: Seen) -> Iterator[tuple[str, dict[str, Any] | Skipped]]:
    """The objects in the export's documents, in order, each with where it stands; a broken document is told.

    `path` is a JSON file of any name, or a zip or folder with documents called `names`. Raises NotFound where there is
    none, FilememError where a file cannot be read.
    """
    with contextlib.ExitStack() as held:
        try:
            documents = _documents(path, names, held)
            if not documents:
                raise NotFound(
                    f"{path} holds no conversations.json; name the export's JSON file, its zip or its folder."
                )
            whole, before = sum(size for _, size, _ in documents), 0
            for name, size, read in documents:
                if size > LARGEST:
                    raise FilememError(f"{name} in {path} is larger than {LARGEST // 1_000_000} MB; split it.")
                try:
                    data = read()
                    value = decode(data.decode(json.detect_encoding(data), "replace"))
                except MemoryError:
                    raise FilememError(f"{name} in {path} is larger than the memory left; split it.") from None
                except FilememError as error:
                    yield name, Skipped(name, str(error))
                    value = []
                if not isinstance(value, list | dict):
                    raise FilememError(f"{name} in {path} is no JSON export; it should begin with [ or {{.")
                found = value if isinstance(value, list) else [value]
                for number, element in enumerate(found, 1):
                    seen(before + size * number // len(found), whole)
                    yield f"{name}, element {number}", mapping(element)
                before += size
            seen(whole, whole)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            raise FilememError(f"{path} is no whole zip ({error}); download it again or unpack it yourself.") from None


_Document = tuple[str, int, Callable[[], bytes]]  # its name, its size in bytes, and what reads it


def _documents(path: str, names: re.Pattern[str], held: contextlib.ExitStack) -> list[_Document]:
    """The documents of an export, sorted by name; a zip stays open as long as it is `held`."""
    if os.path.isdir(path):
        for depth in ("*", "*/*"):  # unpacking often adds a folder
            found = [one for one in glob.glob(depth, root_dir=path) if names.fullmatch(os.path.basename(one))]
            files = [one for one in found if stat.S_ISREG(os.lstat(os.path.join(path, one)).st_mode)]
            if files:
                places = ((one, os.path.join(path, one)) for one in sorted(files))
                return [(one, os.path.getsize(place), partial(safe.read, place, LARGEST)) for one, place in places]
        return []
    with open(safe.open_regular(path), "rb") as file:
        if not zipfile.is_zipfile(file):
            return [(os.path.basename(path), os.path.getsize(path), partial(safe.read, path, LARGEST))]
    archive = held.enter_context(zipfile.ZipFile(path))
    members = [info for info in archive.infolist() if names.fullmatch(info.filename.rpartition("/")[2])]
    return sorted((info.filename, info.file_size, partial(archive.read, info)) for info in members)


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
        raise FilememError(f"broken JSON ({error}); export it again") from None
    except RecursionError:
        raise FilememError("JSON nested too deeply; export it again") from None
