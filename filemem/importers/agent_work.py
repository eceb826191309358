"""What a coding agent did, a line each: the files that it changed, and what failed.

They are a document's words. Of a call and of an error a line holds the beginning and
the end, never a whole output.
"""

import re
from contextlib import suppress
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

    def told(self, part: dict[str, Any], at: datetime | None) -> list[ImportedTurn]:
        """Return the line that a part of a session is worth, if it is worth one.

        Args:
            part: a call of a tool, its result, or anything else.
            at: when it was.
        """
        ids = [text_at(part, key) for key in ("call_id", "tool_use_id", "id")]
        id = next(filter(None, ids), "")
        kind = UNSPOKEN.get(text_at(part, "type"))
        if kind == TOOL_CALL and id:
            self._calls[id] = part
        elif kind == TOOL_RESULT and id in self._calls:
            line = self._line(self._calls.pop(id), part)
            if line:
                return [ImportedTurn(SPEAKER, at, line, id, f"call:{id}")]
        return []

    def _line(self, call: dict[str, Any], result: dict[str, Any]) -> str:
        told = text_at(call, "name")
        given = _arguments(call)
        texts = [content_text(value) for value in [given, *as_dict(given).values()]]
        files = _PATCHED.findall("\n".join(texts))
        if told in _EDITORS:
            files = [text_at(given, "file_path") or text_at(given, "notebook_path")]
        output = _output(result)
        head = _HEAD.match(output)
        is_failed = result.get("is_error") is True or output.startswith(_PATCH_FAILED)
        if is_failed or (head and head[1] != "0"):
            told = f"{told} {', '.join(files)}" if files else joined(texts) or told
            error = _COLOUR_OR_TAG.sub("", _HEAD.sub("", output, count=1)).strip()
            what = f"failed: {brief(told, MAX_CALL_CHARS)}"
            return f"{what}: {brief(error, MAX_ERROR_CHARS)}" if error else ""
        new = [file for file in files if file and file not in self._changed]
        self._changed.update(new)
        return f"changed: {brief(', '.join(new), MAX_ERROR_CHARS)}" if new else ""


def _arguments(call: dict[str, Any]) -> Any:
    """Return an object of arguments, or the text that is given in its place."""
    given = call.get("input") or call.get("arguments") or call.get("action")
    if isinstance(given, str):
        with suppress(FilememError):
            return decode_json(given)
    return given


def _output(result: dict[str, Any]) -> str:
    """Return what a call printed, under Codex's head also where it is in JSON."""
    output = content_text(result.get("content") or result.get("output"))
    with suppress(FilememError):
        value = decode_json(output)
        if text_at(value, "output"):
            code = dig(value, "metadata", "exit_code")
            return f"Exit code: {code}\nOutput:\n{text_at(value, 'output')}"
    return output
