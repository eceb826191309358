"""Calls of tools in conversations with agents, in the three shapes that interfaces write: OpenAI's chat messages, OpenAI's items
and Anthropic's blocks. Whether one failed is said outright by two of them; else it is read from how its answer begins.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.importers.exports import ToolUse, decode, items, mapping, words
from filemem.text.plain import one_line

ASKED, ANSWERED = 160, 320  # characters that a transcript keeps of a call and of its answer

_FAILED = re.compile(
    r"\s*(?:\W{0,3}(?:\w*error|\w*exception|traceback|fatal|fail(?:ed|ure)|permission denied|command not found)\b"
    r"|.{0,80}\bexit(?:ed with)?(?: code| status)?:? [1-9]|(?:错误|失败|异常|出错))",
    re.IGNORECASE,
)


class Piece(NamedTuple):
    """A call, or what answered one: `asked` is None for an answer, `failed` where it is said outright."""

    id: str
    tool: str
    asked: str | None
    answer: str
    failed: bool | None


def turn(call: "Piece", answer: str) -> str:
    """What a transcript keeps of a call and its answer: one line, both shortened."""
    asked = one_line(call.asked or "", ASKED)
    return f"{call.tool} {asked}: {one_line(answer, ANSWERED)}".strip()


def uses(entries: Iterable[tuple[dict[str, Any], datetime | None]]) -> list[ToolUse]:
    """The calls in messages, items or entries with their times, in order, each with its answer; those without one left out."""
    open_calls: dict[str, tuple[Piece, datetime | None]] = {}
    found = []
    for entry, at in entries:
        for piece in pieces(entry):
            if piece.asked is not None:
                open_calls[piece.id] = piece, at
            elif piece.id in open_calls:
                call, begun = open_calls.pop(piece.id)
                spent = (at - begun).total_seconds() if at and begun and bool(at.tzinfo) == bool(begun.tzinfo) else 0
                error = _error(piece.answer, piece.failed)
                found.append(ToolUse(call.id, call.tool, call.asked or "", error, begun, max(0, round(1000 * spent))))
    return found


def pieces(entry: dict[str, Any]) -> Iterator[Piece]:
    """What a message, an item or an entry has of calls."""
    for call in map(mapping, items(entry.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield Piece(words(call.get("id")), words(function.get("name")), _text(function.get("arguments")), "", None)
    if entry.get("role") == "tool":
        yield Piece(words(entry.get("tool_call_id")), "", None, _text(entry.get("content")), None)
    kind = words(entry.get("type"))
    if kind in ("function_call", "custom_tool_call"):
        asked = _text(entry.get("arguments", entry.get("input")))
        yield Piece(words(entry.get("call_id")), words(entry.get("name")), asked, "", None)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield Piece(words(entry.get("call_id")), "", None, _text(entry.get("output")), None)
    for block in map(mapping, items(entry.get("content"))):
        if block.get("type") == "tool_use":
            yield Piece(words(block.get("id")), words(block.get("name")), _text(block.get("input")), "", None)
        elif block.get("type") == "tool_result":
            error = block.get("is_error")
            failed = error if isinstance(error, bool) else None
            yield Piece(words(block.get("tool_use_id")), "", None, _text(block.get("content")), failed)


def _text(value: object) -> str:
    """Arguments or an answer as one text."""
    if isinstance(value, list):
        return "\n".join(words(mapping(part).get("text")) or words(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value is not None else ""


def _error(answer: str, failed: bool | None) -> str:
    """The line of an answer that tells what failed, by its JSON or else by how it begins; empty where it did not fail."""
    told: dict[str, Any] = {}
    with contextlib.suppress(FilememError):
        told = mapping(decode(answer)) if answer[:1] == "{" else {}
    if failed is None:
        code = told.get("exit_code", mapping(told.get("metadata")).get("exit_code"))
        failed = bool(told.get("error") or told.get("success") is False or (isinstance(code, int) and code))
        failed = failed or (not told and _FAILED.match(answer) is not None)
    text = next((_text(told[key]) for key in ("error", "message", "output") if told.get(key)), answer)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["failed"]
    return (lines[-1] if lines[0] == "Traceback (most recent call last):" else lines[0]) if failed else ""
