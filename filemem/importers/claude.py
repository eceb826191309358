"""Claude's export: `conversations.json` and `memories.json`, the zip, or its folder.

`chat_messages` is a list, or a tree by `parent_message_uuid` (CherryHQ/cherry-studio
pull request 16164); what Claude itself remembers stands in `memories.json`
(NousResearch/hermes-agent pull request 28041).
"""

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from filemem.importers.base import (
    UNNAMED,
    ImportedConversation,
    ImportedNote,
    Item,
    LeftOut,
    Skipped,
    as_dict,
    as_list,
    as_text,
    dicts_at,
    dig,
    file_mark,
    first_text,
    joined,
    spoken_part,
    text_at,
    time_of,
)
from filemem.importers.exports import Node, elements, read_conversation
from filemem.store.paths import slug
from filemem.text.plain import printable

ASSISTANT = "Claude"
_NO_PARENT = "00000000-0000-4000-8000-000000000000"  # which first messages name
_MEMORY = (
    '---\ntype: note\norigin: "claude:{}"\n---\n\n# What Claude remembered\n\n{}\n'
)
_MAX_NAME_CHARS = 60
# Its tools that write what a person sees; a server's name may stand before theirs. Of
# its cards a letter and a recipe have rows, others a title.
_WRITERS = re.compile(
    r"(?:.*:)?"
    r"(?:artifacts|create_file|str_replace|show_widget"
    r"|message_compose_v\d+|\w+_display_v\d+)"
)
_ROWS = ("variants", "ingredients", "steps")
_CELLS = "label subject amount unit name title body content".split()
# A message's lists of files, and what one without a name is called.
_FILE_LISTS = {"attachments": "pasted text", "files": UNNAMED, "files_v2": UNNAMED}


def claude(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield every conversation as the person last saw it, and Claude's memory."""
    left_out = LeftOut()
    for element in elements(path, ASSISTANT):
        if isinstance(element, Skipped):
            yield element
        elif "chat_messages" in element:
            yield _conversation(element, zone, left_out)
        else:
            yield from _memories(element)
    yield left_out


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
    value: dict[str, Any], zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation:
    """Read the branch that ends in the message seen last."""
    nodes = []
    for place, message in enumerate(dicts_at(value, "chat_messages")):
        id = text_at(message, "uuid") or str(place)
        parent = text_at(message, "parent_message_uuid").replace(_NO_PARENT, "")
        sender = text_at(message, "sender")
        nodes.append(Node(id, parent, sender, time_of(message, zone), message))
    return read_conversation(ASSISTANT, value, nodes, _text, zone, left_out)


def _text(message: dict[str, Any], left_out: LeftOut) -> str:
    """Return a message's words, with a mark for each file, and its text if known."""
    # Older exports have a text alone.
    blocks = as_list(message.get("content")) or [message.get("text")]
    parts = [_artifact(block) or spoken_part(block, left_out) for block in blocks]
    texts = dict[str, str]()
    for key, unnamed in _FILE_LISTS.items():
        for file in dicts_at(message, key):
            mark = file_mark(text_at(file, "file_name") or unnamed)
            text = text_at(file, "extracted_content")
            texts[mark] = joined([texts.get(mark, mark), text])
    return joined([*parts, *texts.values()], "\n\n")


def _artifact(block: object) -> str:
    """Return the text of an artifact or file that a block writes, with its name."""
    given = dig(block, "input")
    if not given or not _WRITERS.fullmatch(text_at(block, "name")):
        return ""
    name = first_text(given, "title", "summary_title", "id", "path") or UNNAMED
    texts = [
        f"[document: {name}]",
        first_text(given, "content", "new_str", "file_text", "body"),
    ]
    for key in _ROWS:
        for row in dicts_at(given, key):
            texts.append(_line(row))
    return joined(texts)


def _line(row: dict[str, Any]) -> str:
    """Return what a row of a card shows, on a line."""
    cells = map(row.get, _CELLS)
    return " ".join(str(cell) for cell in cells if cell)
