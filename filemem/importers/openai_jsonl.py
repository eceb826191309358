"""JSON lines of chat messages, as OpenAI's interfaces take and give them.

A line is a conversation, `{"messages": [{"role", "content"}…]}` with an optional id, title and time; or it is one
message, and then the file is one conversation.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from filemem.errors import FilememError
from filemem.importers import exports, tool_calls
from filemem.importers.exports import (
    ExportedConversation,
    ImportedConversation,
    ImportedTurn,
    Item,
    Seen,
    Skipped,
    ToolUse,
    attached,
    decode,
    items,
    lines,
    mapping,
    modified,
    moment,
    words,
)
from filemem.text.plain import digest

SPEAKERS = {"user": ""}
TOOL = "tool"  # who a call and its answer are noted as
_UNSPOKEN = ("system", "developer", "tool", "function")
_TIMES = ("created", "created_at", "create_time", "timestamp", "date")


def parse(path: str, zone: tzinfo | None, seen: Seen) -> Iterator[Item]:
    """A conversation a line, then the one made of the single messages. Undated ones get the file's own date."""
    written, repeated = modified(path, zone), Counter[str]()
    single: list[dict[str, Any]] = []
    for number, line in lines(path, seen):
        try:
            record = mapping(decode(line))
        except FilememError as error:
            yield Skipped(f"line {number}", str(error))
            continue
        if isinstance(record.get("messages"), list):
            yield from _conversation(record, f"line {number}", zone, written, repeated)
        elif isinstance(record.get("role"), str):
            single.append(record)
        else:
            yield Skipped(f"line {number}", "it has neither messages nor a role")
    if single:
        name = os.path.splitext(os.path.basename(path))[0]
        yield from _conversation({"messages": single, "title": name}, name, zone, written, repeated)


def conversation(record: Mapping[str, Any], started: datetime) -> ImportedConversation | None:
    """The conversation of messages that a program has at hand; None where nobody said anything."""
    turns = spoken_messages([dict(message) for message in record["messages"]], started.tzinfo)
    if not turns:
        return None
    title, times = words(record.get("title")), [turn.time for turn in turns if turn.time]
    id = words(record.get("id")) or _digest(title, turns[0].speaker, turns[0].text)
    begun, calls = times[0] if times else started, _calls(map(mapping, record["messages"]), started.tzinfo)
    return ImportedConversation(None, id, title, begun, turns, calls=calls)


def _calls(messages: Iterable[dict[str, Any]], zone: tzinfo | None) -> list[ToolUse]:
    return tool_calls.uses((message, _time(message, zone)) for message in messages)


def _conversation(
    record: dict[str, Any], place: str, zone: tzinfo | None, written: datetime, repeated: Counter[str]
) -> Iterator[Item]:
    """One conversation, then the number of its messages that nobody spoke."""
    messages = [mapping(message) for message in record["messages"]]
    turns = spoken_messages(messages, zone)
    title = words(record.get("title")) or words(record.get("name"))
    title = title or (turns[0].text.splitlines()[0][:60] if turns else "")
    id = _id(record, turns, repeated) if turns else ""
    others = len(messages) - sum(turn.speaker != TOOL for turn in turns)
    said = ExportedConversation(id, title, _time(record, zone), turns, others, _calls(messages, zone))
    left = f"{said.others} messages without words of a person or an assistant: instructions, calls of tools"
    return exports.conversation(said, place, written, left if said.others else "")


def spoken_messages(messages: Iterable[dict[str, Any]], zone: tzinfo | None) -> list[ImportedTurn]:
    """The messages that somebody spoke, and each call of a tool with its answer, shortened; a message without an id is named by
    what it says and how often that was said."""
    turns, said, calls = list[ImportedTurn](), Counter[str](), dict[str, tool_calls.Piece]()
    for message in messages:
        for piece in tool_calls.pieces(message):
            if piece.asked is not None:
                calls[piece.id] = piece
            elif piece.id in calls:
                told = tool_calls.turn(calls.pop(piece.id), piece.answer)
                turns.append(ImportedTurn(TOOL, _time(message, zone), told, f"call:{piece.id}"))
        role, text = words(message.get("role")) or "unknown", _text(message.get("content"))
        if not text or role in _UNSPOKEN:
            continue
        digest = _digest(role, text)
        said[digest] += 1
        id = words(message.get("id")) or f"{digest}-{said[digest]}"
        turns.append(
            ImportedTurn(words(message.get("name")) or SPEAKERS.get(role, role), _time(message, zone), text, id)
        )
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


def _id(record: dict[str, Any], turns: list[ImportedTurn], repeated: Counter[str]) -> str:
    """The record's own id; else its opening, numbered where several begin alike: more turns later do not change it."""
    if id := words(record.get("id")) or words(record.get("conversation_id")):
        return id
    opening = _digest(words(record.get("title")), turns[0].speaker, turns[0].text)
    repeated[opening] += 1
    return f"{opening}-{repeated[opening]}"


def _digest(*texts: str) -> str:
    """Sixteen hexadecimal digits that name these texts."""
    return digest("\0".join(texts), 16)
