"""Claude's export: `conversations.json` and `memories.json`, the zip, or its folder.

`chat_messages` is a list, or a tree by `parent_message_uuid` (CherryHQ/cherry-studio
pull request 16164); what Claude itself remembers stands in `memories.json`
(NousResearch/hermes-agent pull request 28041).
"""

from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from filemem.importers.base import (
    UNNAMED,
    ImportedConversation,
    ImportedNote,
    ImportedTurn,
    Item,
    Skipped,
    as_dict,
    as_dicts,
    as_list,
    as_text,
    file_mark,
    joined,
    parse_time,
    part_text,
)
from filemem.importers.exports import branch_to, elements
from filemem.store.paths import slug
from filemem.text.plain import printable

ASSISTANT = "Claude"
_SPEAKERS = {"human": "", "user": "", "assistant": ASSISTANT}
_NO_PARENT = "00000000-0000-4000-8000-000000000000"  # which first messages name
_MEMORY = '---\norigin: "claude:{}"\n---\n\n# What Claude remembered\n\n{}\n'
_MAX_NAME_CHARS = 60
_FILE_LISTS = {
    "attachments": "pasted text",
    "files": UNNAMED,
    "files_v2": UNNAMED,
}  # by their keys, what one without a name is called


def claude(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield every conversation as the person last saw it, and Claude's memory."""
    for element in elements(path, ASSISTANT):
        if element.value.keys() & {"conversations_memory", "project_memories"}:
            yield from _memories(element.value)
        elif element.problem:
            yield Skipped(element.place, element.problem)
        else:
            yield _conversation(element.value, zone, element.place)


def _memories(value: dict[str, Any]) -> Iterator[ImportedNote]:
    """Yield what Claude remembers of the person and, apart, of each project."""
    texts = {"memory": value.get("conversations_memory")}
    for key, text in as_dict(value.get("project_memories")).items():
        texts[f"project {key}"] = text
    for title, text in texts.items():
        name = slug(title, _MAX_NAME_CHARS)
        words = printable(as_text(text))
        if words:
            note = _MEMORY.format(name, words).encode("utf-8", "replace")
            yield ImportedNote(f"claude/{name}.md", note, name)


def _conversation(
    value: dict[str, Any], zone: tzinfo | None, place: str
) -> ImportedConversation:
    """Read the branch that ends in the newest message."""
    messages = [one for one in as_list(value["chat_messages"]) if isinstance(one, dict)]
    turns = []
    shown = _branch(messages, value.get("current_leaf_message_uuid"))
    for index, message in enumerate(shown):
        turn = _turn(message, index, zone)
        if turn.text:
            turns.append(turn)
    first_id = turns[0].id if turns else place
    started = parse_time(value.get("created_at"), zone)
    return ImportedConversation(
        as_text(value.get("uuid")) or first_id,
        as_text(value.get("name")),
        started or parse_time(value.get("updated_at"), zone),
        turns,
        ASSISTANT,
    )


def _branch(messages: list[dict[str, Any]], leaf: object) -> list[dict[str, Any]]:
    """Return the messages from the first one down to `leaf`, or to the newest.

    All of them where the tree is not whole.
    """
    tree = {as_text(message.get("uuid")): message for message in messages}
    parents = {id: one.get("parent_message_uuid") for id, one in tree.items()}
    named = {as_text(parent) for parent in parents.values()}
    is_list = not named - {""}
    is_torn = bool(named - tree.keys() - {"", _NO_PARENT})
    if len(tree) < len(messages) or is_list or is_torn:
        return messages
    age = {
        id: (as_text(message.get("created_at")), place)
        for place, (id, message) in enumerate(tree.items())
    }
    return [tree[id] for id in branch_to(leaf, parents, age.__getitem__)]


def _turn(message: dict[str, Any], index: int, zone: tzinfo | None) -> ImportedTurn:
    """Read one message; without text where it only called a tool."""
    # Older exports have a text alone.
    blocks = as_list(message.get("content")) or [message.get("text")]
    parts = [_block_text(block) for block in blocks]
    text = joined([*parts, *_attachments(message)], "\n\n")
    sender = as_text(message.get("sender")) or "unknown"
    return ImportedTurn(
        _SPEAKERS.get(sender, sender),
        parse_time(message.get("created_at"), zone),
        text,
        as_text(message.get("uuid")) or str(index),
    )


def _block_text(block: object) -> str:
    """Return the words of a block; an artifact's text stands under its name."""
    call = as_dict(block)
    if call.get("type") != "tool_use":
        return part_text(block)
    if call.get("name") != "artifacts":
        return ""
    artifact = as_dict(call.get("input"))
    text = as_text(artifact.get("content")) or as_text(artifact.get("new_str"))
    title = as_text(artifact.get("title")) or as_text(artifact.get("id")) or UNNAMED
    return f"[document: {title}]\n{text}" if text else ""


def _attachments(message: dict[str, Any]) -> list[str]:
    """Return a mark for each file, with its text where the export has that."""
    texts = dict[str, str]()
    for key, unnamed in _FILE_LISTS.items():
        for file in as_dicts(message.get(key)):
            name = as_text(file.get("file_name")) or unnamed
            text = as_text(file.get("extracted_content"))
            texts[name] = joined([texts.get(name, ""), text])
    return [f"{file_mark(name)}\n{text}".strip() for name, text in texts.items()]
