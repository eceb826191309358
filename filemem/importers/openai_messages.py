"""Messages as OpenAI's interfaces take and give them: JSON lines, and what a program has at hand.

A line is a conversation, `{"messages": [{"role", "content"}…]}` with an optional id, title and time; or it is one
message, and then the file is one conversation.

Calls of tools come in the three shapes that interfaces write: OpenAI's chat messages, OpenAI's items and Anthropic's blocks. A
transcript keeps each with its answer on one line, both shortened.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from filemem.errors import FilememError
from filemem.importers.exports import (
    ImportedConversation,
    ImportedTurn,
    Item,
    Skipped,
    attached,
    decode,
    items,
    lines,
    mapping,
    moment,
    words,
)
from filemem.text.plain import digest, one_line

TOOL = "tool"  # who a call and its answer are noted as
ASKED, ANSWERED = 160, 320  # characters that a transcript keeps of a call and of its answer
_UNSPOKEN = ("system", "developer", "tool", "function")
_TIMES = ("created", "created_at", "create_time", "timestamp", "date")


def parse(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """A conversation a line, then the one made of the single messages."""
    repeated, single = Counter[str](), list[dict[str, Any]]()
    for number, line in lines(path):
        try:
            record = mapping(decode(line))
        except FilememError as error:
            yield Skipped(f"line {number}", str(error))
            continue
        if isinstance(record.get("messages"), list):
            yield _conversation(record, f"line {number}", zone, repeated)
        elif isinstance(record.get("role"), str):
            single.append(record)
        else:
            yield Skipped(f"line {number}", "it has neither messages nor a role")
    if single:
        name = os.path.splitext(os.path.basename(path))[0]
        yield _conversation({"messages": single, "title": name}, name, zone, repeated)


def at_hand(
    messages: Iterable[Mapping[str, Any]], id: str, title: str, started: datetime
) -> ImportedConversation | None:
    """The conversation of messages that a program has at hand; None where nobody said anything."""
    turns = spoken_messages([dict(message) for message in messages], started.tzinfo)
    if not turns:
        return None
    begun = next((turn.time for turn in turns if turn.time), started)
    return ImportedConversation(id or _digest(title, turns[0].speaker, turns[0].text), title, begun, turns)


def _conversation(
    record: dict[str, Any], place: str, zone: tzinfo | None, repeated: Counter[str]
) -> ImportedConversation:
    """One conversation, with the number of its messages that nobody spoke; its own id, else its opening names it, numbered where
    several begin alike: more turns later do not change it."""
    messages = [mapping(message) for message in record["messages"]]
    turns = spoken_messages(messages, zone)
    title = words(record.get("title")) or words(record.get("name"))
    title = title or (turns[0].text.splitlines()[0][:60] if turns else "")
    id = words(record.get("id")) or words(record.get("conversation_id")) or ("" if turns else place)
    if not id:
        opening = _digest(words(record.get("title")), turns[0].speaker, turns[0].text)
        repeated[opening] += 1
        id = f"{opening}-{repeated[opening]}"
    others = len(messages) - sum(turn.speaker != TOOL for turn in turns)
    left = f"{others} messages without words of a person or an assistant: instructions, calls of tools"
    return ImportedConversation(id, title, _time(record, zone), turns, left=left if others else "")


def spoken_messages(messages: Iterable[dict[str, Any]], zone: tzinfo | None) -> list[ImportedTurn]:
    """The messages that somebody spoke, and each call of a tool with its answer, shortened; a message without an id is named by
    what it says and how often that was said."""
    turns, said, calls = list[ImportedTurn](), Counter[str](), dict[str, str]()
    for message in messages:
        at = _time(message, zone)
        for id, tool, text in _calls(message):
            if tool:
                calls[id] = f"{tool} {one_line(text, ASKED)}"
            elif id in calls:
                turns.append(ImportedTurn(TOOL, at, f"{calls.pop(id)}: {one_line(text, ANSWERED)}", f"call:{id}"))
        role = words(message.get("role")) or ("" if "type" in message else "unknown")
        text = words(message.get("content")) or "\n".join(filter(None, map(_part, items(message.get("content")))))
        if text and role and role not in _UNSPOKEN:
            said[digest := _digest(role, text)] += 1
            speaker = words(message.get("name")) or ("" if role == "user" else role)
            turns.append(ImportedTurn(speaker, at, text, words(message.get("id")) or f"{digest}-{said[digest]}"))
    return turns


def _part(part: object) -> str:
    """One part of a message; pictures and files leave a mark."""
    if not isinstance(part, dict):
        return words(part)
    if "image" in words(part.get("type")):
        return "[image: without a name]"
    if "file" in words(part.get("type")):
        return attached(words(mapping(part.get("file")).get("filename")) or "without a name")
    return words(part.get("text")) or words(part.get("refusal"))


def _time(record: dict[str, Any], zone: tzinfo | None) -> datetime | None:
    """The first time stamp that a record has under any of the usual names."""
    return next((when for key in _TIMES if (when := moment(record.get(key), zone))), None)


def _digest(*texts: str) -> str:
    """Sixteen hexadecimal digits that name these texts."""
    return digest("\0".join(texts), 16)


def _calls(entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The calls of tools in a message, an item or an entry: the call's id, the tool and what was asked; or "" and the answer."""
    for call in map(mapping, items(entry.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield words(call.get("id")), words(function.get("name")) or TOOL, _whole(function.get("arguments"))
    if entry.get("role") == "tool":
        yield words(entry.get("tool_call_id")), "", _whole(entry.get("content"))
    for block in map(mapping, [entry, *items(entry.get("content"))]):
        id, name = words(block.get("call_id")) or words(block.get("id")), words(block.get("name")) or TOOL
        if block.get("type") in ("function_call", "custom_tool_call", "tool_use"):
            yield id, name, _whole(block.get("arguments", block.get("input")))
        elif block.get("type") in ("function_call_output", "custom_tool_call_output", "tool_result"):
            yield words(block.get("tool_use_id")) or id, "", _whole(block.get("output", block.get("content")))


def _whole(value: object) -> str:
    """Arguments or an answer as one text."""
    if isinstance(value, list):
        return "\n".join(words(mapping(part).get("text")) or words(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value is not None else ""
