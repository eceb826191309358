"""OpenAI-style messages: a conversation a line, or a message a line."""

import os
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from typing import Any

from filemem.errors import FilememError
from filemem.importers.base import (
    HIDDEN,
    MAX_CALL_CHARS,
    MAX_RESULT_CHARS,
    TOOL_CALL,
    TOOL_RESULT,
    UNKNOWN,
    ImportedConversation,
    ImportedTurn,
    Item,
    LeftOut,
    Skipped,
    as_dict,
    brief,
    content_text,
    decode_json,
    dicts_at,
    first_text,
    spoken_text,
    text_at,
    text_lines,
    time_of,
)
from filemem.store.roles import ASSISTANT, ROLE_NAMES, TOOL

_UNHEARD_ROLES = {
    "system": HIDDEN,
    "developer": HIDDEN,
    "tool": TOOL_RESULT,
    "function": TOOL_RESULT,
}


def openai_jsonl(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield a conversation for each line, then the one made of the single messages."""
    single = []
    left_out = LeftOut()
    for number, line in text_lines(path):
        place = f"line {number}"
        try:
            record = as_dict(decode_json(line))
        except FilememError as error:
            yield Skipped(place, str(error))
            continue
        if "messages" in record:
            yield _conversation(record, zone, left_out)
        elif "role" in record:
            single.append(record)
        else:
            yield Skipped(place, "it has neither messages nor a role")
    if single:
        name = os.path.splitext(os.path.basename(path))[0]
        yield _conversation({"messages": single, "title": name}, zone, left_out)
    yield left_out


def _conversation(
    record: dict[str, Any], zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation:
    """Read one conversation; without an id of its own how it begins tells it."""
    turns = spoken_turns(dicts_at(record, "messages"), zone, left_out)
    id = first_text(record, "id", "conversation_id")
    title = text_at(record, "title")
    return ImportedConversation(id, title, time_of(record, zone), turns)


def spoken_turns(
    messages: Iterable[dict[str, Any]], zone: tzinfo | None, left_out: LeftOut
) -> list[ImportedTurn]:
    """Return what was spoken, and each call of a tool with its answer, shortened.

    Messages of a system or a developer are nobody's words and are left out, counted.
    """
    turns = list[ImportedTurn]()
    asked = dict[str, str]()
    for message in messages:
        speaker = _speaker(message)
        role = text_at(message, "role")
        text = spoken_text(message.get("content"), left_out)
        id = text_at(message, "id")
        for call in dicts_at(message, "tool_calls"):
            arguments = brief(text_at(call, "function", "arguments"), MAX_CALL_CHARS)
            name = text_at(call, "function", "name") or TOOL
            asked[text_at(call, "id")] = f"{name} {arguments}"
        call_id = text_at(message, "tool_call_id")
        if role == TOOL and call_id in asked:
            speaker = TOOL
            text = f"{asked.pop(call_id)}: {brief(text, MAX_RESULT_CHARS)}"
            id = f"call:{call_id}"
        if speaker is None:
            left_out[_UNHEARD_ROLES.get(role, UNKNOWN)] += 1
        elif text:
            turns.append(ImportedTurn(speaker, time_of(message, zone), text, id))
    left_out[TOOL_CALL] += len(asked)
    return turns


def message_text(message: dict[str, Any]) -> str:
    """Return the words of a message whose content is a text or a list of parts."""
    return content_text(message.get("content"))


def _speaker(message: dict[str, Any]) -> str | None:
    """Return the speaker of a message: its role decides whose words it holds.

    A name tells one person from another, never a person from an assistant. None for a
    role that is nobody's, and for an item of another type than a message.
    """
    role = text_at(message, "role")
    name = text_at(message, "name")
    if role == "user":
        return "" if name.casefold() in ROLE_NAMES else name
    if role in _UNHEARD_ROLES or (not role and "type" in message):
        return None
    if role in (ASSISTANT, ""):
        return role or "unknown"
    return f"{role} (role)"
