"""OpenAI-style messages: a conversation a line, or a message a line.

Calls of tools come in the shapes of OpenAI's chat messages, OpenAI's items and
Anthropic's blocks.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from filemem.errors import FilememError
from filemem.importers.base import (
    ImportedConversation,
    ImportedTurn,
    Item,
    Skipped,
    as_dict,
    as_dicts,
    as_list,
    as_text,
    decode_json,
    joined,
    part_text,
    text_lines,
    time_of,
)
from filemem.store.roles import ASSISTANT, ROLE_NAMES, TOOL
from filemem.text.plain import one_line

MAX_ARGUMENTS_CHARS = 160
"""Characters that a transcript keeps of what a tool was asked."""
MAX_RESULT_CHARS = 320
"""Characters that a transcript keeps of what a tool answered."""

_UNHEARD_ROLES = ("system", "developer", "tool", "function")
_CALL_TYPES = ("function_call", "custom_tool_call", "tool_use")
_RESULT_TYPES = ("function_call_output", "custom_tool_call_output", "tool_result")


def openai_jsonl(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield a conversation for each line, then the one made of the single messages."""
    single = list[dict[str, Any]]()
    for number, line in text_lines(path):
        try:
            record = as_dict(decode_json(line))
        except FilememError as error:
            yield Skipped(f"line {number}", str(error))
            continue
        if isinstance(record.get("messages"), list):
            yield _conversation(record, f"line {number}", zone)
        elif isinstance(record.get("role"), str):
            single.append(record)
        else:
            yield Skipped(f"line {number}", "it has neither messages nor a role")
    if single:
        name = os.path.splitext(os.path.basename(path))[0]
        yield _conversation({"messages": single, "title": name}, name, zone)


def _conversation(
    record: dict[str, Any], place: str, zone: tzinfo | None
) -> ImportedConversation:
    """Read one conversation; without an id of its own how it begins tells it."""
    turns = spoken_turns(as_dicts(record["messages"]), zone)
    id = as_text(record.get("id")) or as_text(record.get("conversation_id"))
    if not id and not turns:
        id = place
    title = as_text(record.get("title"))
    return ImportedConversation(id, title, time_of(record, zone), turns)


def spoken_turns(
    messages: Iterable[dict[str, Any]], zone: tzinfo | None
) -> list[ImportedTurn]:
    """Return what was spoken, and each call of a tool with its answer, shortened.

    Messages of a system or a developer are nobody's words and are left out.
    """
    turns = list[ImportedTurn]()
    asked = dict[str, str]()
    for message in messages:
        moment = time_of(message, zone)
        for call in _tool_calls(message):
            if call.tool:
                arguments = one_line(call.text, MAX_ARGUMENTS_CHARS)
                asked[call.id] = f"{call.tool} {arguments}"
            elif call.id in asked:
                result = one_line(call.text, MAX_RESULT_CHARS)
                text = f"{asked.pop(call.id)}: {result}"
                turns.append(ImportedTurn(TOOL, moment, text, f"call:{call.id}"))
        text = message_text(message)
        role = _role(message)
        if text and role and role not in _UNHEARD_ROLES:
            speaker = _speaker(role, as_text(message.get("name")))
            turns.append(
                ImportedTurn(speaker, moment, text, as_text(message.get("id")))
            )
    return turns


def message_text(message: dict[str, Any]) -> str:
    """Return the words of a message whose content is a text or a list of parts."""
    content = message.get("content")
    return as_text(content) or joined(part_text(part) for part in as_list(content))


def _role(message: dict[str, Any]) -> str:
    """Return a message's role; an item of another type than a message has none."""
    role = as_text(message.get("role"))
    if role or "type" in message:
        return role
    return "unknown"


def _speaker(role: str, name: str) -> str:
    """Return the speaker of a message: its role decides whose words it holds.

    A name tells one person from another, never a person from an assistant.
    """
    if role == "assistant":
        return ASSISTANT
    if role != "user":
        return f"{role} (role)" if role != "unknown" else role
    return "" if name.casefold() in ROLE_NAMES else name


# -- calls of tools ------------------------------------------------------------------


@dataclass(frozen=True)
class _ToolMessage:
    """What a tool was asked, or, where `tool` is empty, what it answered."""

    id: str
    tool: str
    text: str


def _tool_calls(message: dict[str, Any]) -> Iterator[_ToolMessage]:
    """Yield the calls and the answers of tools in a message or an item."""
    for call in as_dicts(message.get("tool_calls")):
        function = as_dict(call.get("function"))
        name = as_text(function.get("name")) or TOOL
        arguments = _whole_text(function.get("arguments"))
        yield _ToolMessage(as_text(call.get("id")), name, arguments)
    if message.get("role") == "tool":
        answer = _whole_text(message.get("content"))
        yield _ToolMessage(as_text(message.get("tool_call_id")), "", answer)
    for block in [message, *as_dicts(message.get("content"))]:
        kind = as_text(block.get("type"))
        id = as_text(block.get("call_id")) or as_text(block.get("id"))
        if kind in _CALL_TYPES:
            name = as_text(block.get("name")) or TOOL
            arguments = _whole_text(block.get("arguments", block.get("input")))
            yield _ToolMessage(id, name, arguments)
        elif kind in _RESULT_TYPES:
            id = as_text(block.get("tool_use_id")) or id
            answer = _whole_text(block.get("output", block.get("content")))
            yield _ToolMessage(id, "", answer)


def _whole_text(value: object) -> str:
    """Return arguments or an answer as one text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(
            as_text(as_dict(part).get("text")) or as_text(part) for part in value
        )
    return "" if value is None else json.dumps(value, ensure_ascii=False)
