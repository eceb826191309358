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
from typing import Any, NamedTuple

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
    turns, said, calls = list[ImportedTurn](), Counter[str](), dict[str, _Piece]()
    for message in messages:
        for piece in _pieces(message):
            if piece.tool:
                calls[piece.id] = piece
            elif piece.id in calls:
                call = calls.pop(piece.id)
                told = f"{call.tool} {one_line(call.text, ASKED)}: {one_line(piece.text, ANSWERED)}"
                turns.append(ImportedTurn(TOOL, _time(message, zone), told, f"call:{piece.id}"))
        role = words(message.get("role")) or ("" if "type" in message else "unknown")
        text = _text(message.get("content"))
        if not text or not role or role in _UNSPOKEN:
            continue
        digest = _digest(role, text)
        said[digest] += 1
        id = words(message.get("id")) or f"{digest}-{said[digest]}"
        speaker = words(message.get("name")) or ("" if role == "user" else role)
        turns.append(ImportedTurn(speaker, _time(message, zone), text, id))
    return turns


def _text(content: object) -> str:
    """A message's words: a string, or parts of which some are pictures or files."""
    return words(content) or "\n".join(filter(None, (_part(part) for part in items(content))))


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


# -- calls of tools ------------------------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """A call of a tool and what was asked, or, without a tool's name, what answered one."""

    id: str
    tool: str
    text: str


def _pieces(entry: dict[str, Any]) -> Iterator[_Piece]:
    """What a message, an item or an entry has of calls."""
    for call in map(mapping, items(entry.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield _Piece(words(call.get("id")), words(function.get("name")) or TOOL, _whole(function.get("arguments")))
    if entry.get("role") == "tool":
        yield _Piece(words(entry.get("tool_call_id")), "", _whole(entry.get("content")))
    kind = words(entry.get("type"))
    if kind in ("function_call", "custom_tool_call"):
        asked = _whole(entry.get("arguments", entry.get("input")))
        yield _Piece(words(entry.get("call_id")), words(entry.get("name")) or TOOL, asked)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield _Piece(words(entry.get("call_id")), "", _whole(entry.get("output")))
    for block in map(mapping, items(entry.get("content"))):
        if block.get("type") == "tool_use":
            yield _Piece(words(block.get("id")), words(block.get("name")) or TOOL, _whole(block.get("input")))
        elif block.get("type") == "tool_result":
            yield _Piece(words(block.get("tool_use_id")), "", _whole(block.get("content")))


def _whole(value: object) -> str:
    """Arguments or an answer as one text."""
    if isinstance(value, list):
        return "\n".join(words(mapping(part).get("text")) or words(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value is not None else ""
