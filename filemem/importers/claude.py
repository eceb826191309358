"""A Claude data export: `conversations.json`, its zip or its folder.

`chat_messages` is a flat list; where its messages name their `parent_message_uuid`, it is a tree in which an edited or
regenerated message starts a branch (CherryHQ/cherry-studio pull request 16164). A pasted document stands in
`attachments` with its text; pictures and uploads stand in `files` by name only.

What Claude itself remembers stands in `memories.json`, `[{"conversations_memory": Markdown, "project_memories": {id: Markdown}}]`
(NousResearch/hermes-agent pull request 28041): each becomes a note, as these are Claude's words about the person and not theirs.
"""

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from filemem.files.memory import slug
from filemem.importers.exports import (
    BRANCHES,
    ImportedConversation,
    ImportedNote,
    ImportedTurn,
    Item,
    Seen,
    attached,
    branch,
    conversations,
    items,
    mapping,
    moment,
    words,
)

DOCUMENTS = re.compile(r"(?:conversations(?:-\d+)?|memories)\.json")
_NOTE = '---\norigin: "claude:{}"\n---\n\n# What Claude remembered\n\n{}\n'
SPEAKERS = {"human": "", "user": "", "assistant": "Claude"}
ROOT = "00000000-0000-4000-8000-000000000000"  # the parent that first messages name


def parse(path: str, zone: tzinfo | None, seen: Seen) -> Iterator[Item]:
    """Every conversation as the person last saw it, and Claude's memory; turns on other branches are counted in a Skipped."""
    return conversations(path, zone, seen, "Claude", _read, DOCUMENTS, _memory)


def _memory(value: dict[str, Any]) -> list[ImportedNote]:
    """What Claude remembers of the person and, apart, of each project."""
    projects = mapping(value.get("project_memories"))
    texts = {"memory": value.get("conversations_memory")} | {f"project {key}": projects[key] for key in projects}
    found = {slug(name, 60): words(text) for name, text in texts.items()}
    notes = ((name, _NOTE.format(name, text).encode("utf-8", "replace")) for name, text in found.items() if text)
    return [ImportedNote(f"claude/{name}.md", note, name) for name, note in notes]


def _read(raw: dict[str, Any], zone: tzinfo | None) -> ImportedConversation:
    """The branch that ends in the newest message."""
    messages = [message for message in items(raw["chat_messages"]) if isinstance(message, dict)]
    shown = _branch(messages, raw.get("current_leaf_message_uuid"))
    turns = [turn for index, message in enumerate(shown) if (turn := _turn(message, index, zone))]
    started, others = moment(raw.get("created_at"), zone), len(messages) - len(shown)
    left = BRANCHES.format(others) if others else ""
    return ImportedConversation(words(raw.get("uuid")), words(raw.get("name")), started, turns, left=left)


def _branch(messages: list[dict[str, Any]], leaf: object) -> list[dict[str, Any]]:
    """The messages from the first one down to `leaf`, or to the newest; all of them where the tree is not whole."""
    tree = {words(message.get("uuid")): message for message in messages}
    parents = {words(message.get("parent_message_uuid")) for message in messages}
    if len(tree) < len(messages) or not parents - {""} or parents - tree.keys() - {"", ROOT}:
        return messages
    key = leaf if isinstance(leaf, str) and leaf in tree else _newest(messages)
    return [tree[one] for one in branch({id: one.get("parent_message_uuid") for id, one in tree.items()}, key)]


def _newest(messages: list[dict[str, Any]]) -> str:
    """The id of the message that was created last; of several, the one that stands last."""
    last = max(enumerate(messages), key=lambda pair: (words(pair[1].get("created_at")), pair[0]))
    return words(last[1].get("uuid"))


def _turn(message: dict[str, Any], index: int, zone: tzinfo | None) -> ImportedTurn | None:
    """One message; None where it has neither words nor files, as when Claude only called a tool."""
    text = "\n\n".join(filter(None, [_words(message), *_attachments(message)]))
    if not text:
        return None
    sender = words(message.get("sender")) or "unknown"
    id = words(message.get("uuid")) or str(index)
    return ImportedTurn(SPEAKERS.get(sender, sender), moment(message.get("created_at"), zone), text, id)


def _words(message: dict[str, Any]) -> str:
    """The text blocks; `text` alone, as older exports have it, where there are none."""
    blocks = [mapping(block) for block in items(message.get("content"))]
    said = [words(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "\n\n".join(filter(None, said)) if blocks else words(message.get("text"))


def _attachments(message: dict[str, Any]) -> Iterator[str]:
    """A mark for each file, with the text of those whose text the export has."""
    marked = set()
    for file in map(mapping, items(message.get("attachments"))):
        name, text = words(file.get("file_name")) or "pasted text", words(file.get("extracted_content"))
        marked.add(name)
        yield f"{attached(name)}\n{text}".strip()
    for file in map(mapping, items(message.get("files")) + items(message.get("files_v2"))):
        name = words(file.get("file_name")) or "without a name"
        if name not in marked:
            marked.add(name)
            yield attached(name)
