"""The exports of ChatGPT and Claude: JSON documents in a folder, a zip or a file.

Both have a list of conversations, each of which is a tree of messages.
"""

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from filemem.errors import FilememError, NotFound, Refused
from filemem.importers.base import (
    ABANDONED,
    Document,
    ImportedConversation,
    ImportedTurn,
    LeftOut,
    Skipped,
    as_dict,
    decode_json,
    first_text,
    time_of,
)
from filemem.store import files

# Large exports come as conversations-000.json, conversations-001.json, …
_DOCUMENT_NAME = re.compile(r"(?:.*/)?(?:conversations(?:-\d+)?|memories)\.json")
MAX_DOCUMENT_BYTES = 500_000_000
"""Of a document unpacked; an export of several years has 150,000,000."""

# What an element has that is a conversation, or a memory.
_KEYS = {
    "ChatGPT": {"mapping"},
    "Claude": {"chat_messages", "conversations_memory", "project_memories"},
}


def elements(path: str, assistant: str) -> Iterator[dict[str, Any] | Skipped]:
    """Yield the conversations with an assistant and its memories in an export.

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
            yield Skipped(name, str(error))
            continue
        if isinstance(document, dict):
            document = [document]
        if not isinstance(document, list):
            raise FilememError(
                f"{name} in {path} is not a JSON export; it should begin with [ or {{."
            )
        for number, value in enumerate(document, 1):
            if _KEYS[assistant] & as_dict(value).keys():
                yield value
            else:
                what = f"{name}, element {number}"
                yield Skipped(what, f"it is no conversation with {assistant}")
    if not found:
        raise NotFound(
            f"{path} contains no conversations.json; name the export's JSON file, zip "
            "or folder."
        )


def _documents(path: str) -> Iterator[Document]:
    """Yield the documents of an export by name."""
    if os.path.isdir(path):
        top = Path(path)
        found = [*top.glob("*.json"), *top.glob("*/*.json")]  # unpacking adds a folder
        for file in sorted(found):
            if _DOCUMENT_NAME.fullmatch(file.name) and file.is_file():
                yield Document(str(file.relative_to(top)), _read(str(file)))
    elif files.read(path, 2) == b"PK":
        yield from _unpacked(path)
    else:
        yield Document(os.path.basename(path), _read(path))


def _read(path: str) -> bytes:
    size_bytes = os.path.getsize(path)
    _check_size(path, size_bytes)
    return files.read(path, size_bytes)


def _unpacked(path: str) -> Iterator[Document]:
    try:
        archive = zipfile.ZipFile(path)
        for name in sorted(filter(_DOCUMENT_NAME.fullmatch, archive.namelist())):
            _check_size(path, archive.getinfo(name).file_size)
            yield Document(name, archive.read(name))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError) as error:
        raise FilememError(
            f"{path} cannot be unpacked ({error}); download it again or unpack it "
            "yourself."
        ) from None


def _check_size(path: str, size_bytes: int) -> None:
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise Refused(
            f"{path} has a document of {size_bytes // 1_000_000:,} MB; split it into "
            "files of at most 500."
        )


# -- a conversation's tree -------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """One message.

    Attributes:
        id: of the message.
        parent: the id of the one that it follows; empty for the first.
        role: who speaks, as the export has it.
        time: when, if that is known.
        message: as it stands in the export.
        shared: names its words, which stand in other conversations as well.
    """

    id: str
    parent: str
    role: str
    time: datetime | None
    message: dict[str, Any]
    shared: str = ""


def read_conversation(
    assistant: str,
    value: dict[str, Any],
    nodes: list[Node],
    text_of: Callable[[dict[str, Any], LeftOut], str],
    zone: tzinfo | None,
    left_out: LeftOut,
) -> ImportedConversation:
    """Read a conversation as the person last saw it.

    Args:
        assistant: the speaker of what is not the person's.
        value: the conversation's element of the export.
        nodes: its messages.
        text_of: returns what of a message the person saw.
        zone: the person's.
        left_out: counts what is not shown; it is changed.
    """
    # A tool shows pictures on the assistant's behalf.
    speakers = {
        "assistant": assistant,
        "tool": assistant,
        "user": "",
        "human": "",
        "": "unknown",
    }
    leaf = first_text(value, "current_node", "current_leaf_message_uuid")
    shown = shown_branch(nodes, leaf)
    left_out[ABANDONED] += len(nodes) - len(shown)
    turns = []
    for node in shown:
        text = text_of(node.message, left_out)
        speaker = speakers.get(node.role, node.role)
        if text:
            id = node.shared or node.id
            turns.append(ImportedTurn(speaker, node.time, text, id, node.shared))
    id = first_text(value, "conversation_id", "id", "uuid")
    title = first_text(value, "title", "name")
    dated = value
    if any(turn.time for turn in turns):  # of which the first tells better than this
        dated = dict(value, update_time=None, updated_at=None)
    return ImportedConversation(id, title, time_of(dated, zone), turns, assistant)


def shown_branch(nodes: list[Node], leaf: str) -> list[Node]:
    """Return the messages from the first one down to a leaf of their tree.

    All of them where they are a list, or a tree that is not whole.

    Args:
        nodes: the newest last where times do not tell.
        leaf: the id to end with; where it is none, the newest leaf counts.
    """
    tree = {node.id: node for node in nodes}
    inner = {node.parent for node in nodes} - {""}
    leaves = [node for node in nodes if node.id not in inner]
    is_whole = inner <= tree.keys() and len(tree) == len(nodes)
    if not (inner and leaves and is_whole):
        return nodes
    leaves.sort(key=lambda node: node.time.timestamp() if node.time else 0.0)
    id = leaf if leaf in tree else leaves[-1].id
    climbed = dict[str, Node]()
    while id and id not in climbed:
        climbed[id] = tree[id]
        id = tree[id].parent
    return list(reversed(climbed.values()))
