"""What a coding agent did, a line each: the files that it changed, and what failed.

They are a document's words. Of a call and of an error a line holds the beginning and
the end, never a whole output.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from filemem.errors import FilememError
from filemem.importers.base import (
    TOOL_CALL,
    TOOL_RESULT,
    UNSPOKEN,
    ImportedTurn,
    as_dict,
    brief,
    content_text,
    decode_json,
    dig,
    joined,
    text_at,
)
from filemem.store.roles import Role

SPEAKER = Role.DOCUMENT.value
MAX_CALL_CHARS = 160
MAX_ERROR_CHARS = 320

_EDITORS = ("Edit", "MultiEdit", "NotebookEdit", "Write")  # Claude Code's
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
# How Codex heads what a command printed.
_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count): [^\n]*\n)*"
    r"(?:Exit code:|Process exited with code) (-?\d+)\n(?:[^\n]*\n){0,4}?Output:\n"
)
_COLOUR_OR_TAG = re.compile(r"\x1b\[[\d;]*m|</?tool_use_error>")
_PATCH_FAILED = "apply_patch verification failed"


class AgentWork:
    """The work of one session, told as it goes on."""

    def __init__(self) -> None:
        self._calls = dict[str, dict[str, Any]]()
        self._changed = set[str]()

    def tool_of(self, result: dict[str, Any]) -> str:
        """Return the name of the tool whose result it is, '' if it is none."""
        return text_at(self._calls.get(_id(result)), "name")

    def told(
        self, parts: Iterable[dict[str, Any]], at: datetime | None
    ) -> list[ImportedTurn]:
        """Return the lines that parts of a session are worth.

        Args:
            parts: calls of tools, their results, or anything else.
            at: when they were.
        """
        turns = []
        for part in parts:
            id = _id(part)
            kind = UNSPOKEN.get(text_at(part, "type"))
            if kind == TOOL_CALL:
                self._calls[id] = part
            elif kind == TOOL_RESULT and id in self._calls:
                line = self._line(self._calls.pop(id), part)
                if line:
                    turns.append(ImportedTurn(SPEAKER, at, line, id, f"call:{id}"))
        return turns

    def _line(self, call: dict[str, Any], result: dict[str, Any]) -> str:
        name = text_at(call, "name")
        given = call.get("input") or call.get("arguments") or call.get("action")
        given = _decoded(given)
        texts = [content_text(value) for value in [given, *as_dict(given).values()]]
        files = _PATCHED.findall("\n".join(texts))
        if name in _EDITORS:
            files = [text_at(given, "file_path") or text_at(given, "notebook_path")]
        output = _output(result)
        head = _HEAD.match(output)
        is_failed = result.get("is_error") is True or output.startswith(_PATCH_FAILED)
        if is_failed or (head and head[1] != "0"):
            tried = joined(texts) or name
            if files:
                tried = f"{name} {', '.join(files)}"
            error = _COLOUR_OR_TAG.sub("", output[head.end() if head else 0 :]).strip()
            what = f"failed: {brief(tried, MAX_CALL_CHARS)}"
            return f"{what}: {brief(error, MAX_ERROR_CHARS)}" if error else ""
        new = [file for file in files if file and file not in self._changed]
        self._changed.update(new)
        return f"changed: {brief(', '.join(new), MAX_ERROR_CHARS)}" if new else ""


def _id(part: dict[str, Any]) -> str:
    """Return the id that a call of a tool and its result have in common."""
    ids = [text_at(part, key) for key in ("call_id", "tool_use_id", "id")]
    return next(filter(None, ids), "")


def _decoded(value: Any) -> Any:
    """Return what a text of JSON holds; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value)
    except FilememError:
        return value


def _output(result: dict[str, Any]) -> str:
    """Return what a call printed, under Codex's head also where it is in JSON."""
    output = content_text(result.get("content") or result.get("output"))
    value = _decoded(output)
    printed = text_at(value, "output")
    if printed:
        code = dig(value, "metadata", "exit_code")
        return f"Exit code: {code}\nOutput:\n{printed}"
    return output
