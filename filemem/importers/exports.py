"""The exports of ChatGPT and Claude: JSON documents in a folder, a zip or a file.

Both have a list of conversations, each of which is a tree of messages.
"""

import glob
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.importers.base import as_dict, decode_json
from filemem.store import files

# Large exports come as conversations-000.json, conversations-001.json, …
_DOCUMENT_NAME = re.compile(r"(?:conversations(?:-\d+)?|memories)\.json")
MAX_DOCUMENT_BYTES = 500_000_000
"""Of a document unpacked; an export of several years has 150,000,000."""

_UNPACKED_IN_USUAL_WAY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CONVERSATION_KEYS = {"ChatGPT": "mapping", "Claude": "chat_messages"}


class Element(NamedTuple):
    """One element of an export.

    `place` says where it stands; `problem` says why it is no conversation with the
    assistant, and is empty where it is one.
    """

    place: str
    value: dict[str, Any]
    problem: str


def elements(path: str, assistant: str) -> Iterator[Element]:
    """Yield what an export of `assistant` holds.

    Raises:
        NotFound: `path` holds no document.
        FilememError: a document is no export, or cannot be unpacked.
    """
    found = False
    for name, data in _documents(path):
        found = True
        try:
            document = decode_json(data)
        except FilememError as error:
            yield Element(name, {}, str(error))
            continue
        if not isinstance(document, list | dict):
            raise FilememError(
                f"{name} in {path} is not a JSON export; it should begin with [ or {{."
            )
        values = document if isinstance(document, list) else [document]
        for number, value in enumerate(values, 1):
            element = as_dict(value)
            problem = _problem(element, assistant)
            yield Element(f"{name}, element {number}", element, problem)
    if not found:
        raise NotFound(
            f"{path} contains no conversations.json; "
            "name the export's JSON file, zip or folder."
        )


def _problem(element: dict[str, Any], assistant: str) -> str:
    for other, key in _CONVERSATION_KEYS.items():
        if key in element:
            if other == assistant:
                return ""
            what = f"one with {other}; import it as {other.lower()}"
            return f"it is no conversation with {assistant}: {what}"
    what = f"{_CONVERSATION_KEYS[assistant]} is missing"
    return f"it is no conversation with {assistant}: {what}"


def _documents(path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the documents of an export by name, each with its bytes."""
    if os.path.isdir(path):
        yield from _documents_of_folder(path)
        return
    with open(files.open_regular(path), "rb") as file:
        if file.peek(2)[:2] == b"PK":
            yield from _documents_of_zip(path, file)
        else:
            _check_size(path, os.path.getsize(path))
            yield os.path.basename(path), file.read()


def _documents_of_folder(path: str) -> Iterator[tuple[str, bytes]]:
    names = glob.glob("*", root_dir=path)
    names += glob.glob("*/*", root_dir=path)  # unpacking often adds a folder
    for name in sorted(names):
        place = os.path.join(path, name)
        if _is_document(name) and os.path.isfile(place):
            size_bytes = os.path.getsize(place)
            _check_size(path, size_bytes)
            yield name, files.read(place, size_bytes)


def _documents_of_zip(path: str, file: Any) -> Iterator[tuple[str, bytes]]:
    try:
        archive = zipfile.ZipFile(file)
        for name in sorted(filter(_is_document, archive.namelist())):
            member = archive.getinfo(name)
            _check_size(path, member.file_size)
            if member.compress_type not in _UNPACKED_IN_USUAL_WAY:
                raise ValueError(f"{name} is packed in an unusual way")
            yield name, archive.read(name)
    except (
        zipfile.BadZipFile,
        zlib.error,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        what = f"{path} cannot be unpacked ({error})"
        remedy = "download it again or unpack it yourself"
        raise FilememError(f"{what}; {remedy}.") from None


def _is_document(name: str) -> bool:
    return _DOCUMENT_NAME.fullmatch(os.path.basename(name)) is not None


def _check_size(path: str, size_bytes: int) -> None:
    if size_bytes > MAX_DOCUMENT_BYTES:
        what = f"{path} has a document of {size_bytes // 1_000_000:,} MB"
        raise Refused(f"{what}; split it into files of at most 500.")


def branch_to(
    leaf: object, parents: Mapping[str, object], age: Callable[[str], Any]
) -> list[str]:
    """Return the keys from a root of a tree down to a leaf.

    Args:
        leaf: the key to end with; where it is none, the newest leaf counts.
        parents: each message's parent, by the message's key.
        age: of a key; the larger the newer.
    """
    key = leaf
    if not isinstance(key, str) or key not in parents:
        inner = {parent for parent in parents.values() if isinstance(parent, str)}
        leaves = [one for one in parents if one not in inner]
        key = max(leaves or parents, key=age, default=None)
    climbed = dict[str, None]()
    while isinstance(key, str) and key in parents and key not in climbed:
        climbed[key] = None
        key = parents[key]
    return list(reversed(climbed))
