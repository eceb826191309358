"""What a coding agent did, a line each: the files that it changed, and what failed.

They are a document's words. Of a call and of an error a line holds the beginning and
the end, never a whole output. What it asks a person is told as what was said.
"""

import re
from datetime import datetime
from typing import Any

from filemem.importers.base import (
    MAX_CALL_CHARS,
    MAX_RESULT_CHARS,
    TOOL_CALL,
    TOOL_RESULT,
    UNSPOKEN,
    ImportedTurn,
    as_dict,
    brief,
    content_text,
    decoded,
    dicts_at,
    dig,
    first_text,
    joined,
    text_at,
)

SPEAKER = "document"

Part = dict[str, Any]
"""A call of a tool, its result, or any other object in the file of a session."""

# Claude Code's, and those of servers of files, as mcp__fs__write_file.
_EDITORS = (
    "Artifact Edit MultiEdit NotebookEdit Write create_file edit_file write_file"
).split()
_EDITED_AT = ("file_path", "notebook_path", "path")
_GIVEN_AT = ("input", "arguments", "action", "command")
_PRINTED_AT = ("content", "output", "aggregated_output", "stderr")
_QUESTION_TOOLS = ("AskUserQuestion", "request_user_input")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
# What Codex writes as a command or a patch ends, also one within a script; the id is
# that of the call, or another for one within a script.
_ENDED = ("CommandExecution", "FileChange", "patch_apply_end")
# How Codex heads what a command printed that failed.
_FAILED = re.compile(
    r"\A(?:(?:(?:Chunk ID|Wall time|Original token count): [^\n]*\n)*"
    r"(?:Exit code:|Process exited with code) (?!0\n)-?\d+\n"
    r"(?:[^\n]*\n){0,4}?Output:\n|Script failed\n[^\n]*\nOutput:\n"
    r"|(?=apply_patch verification failed))"
)
_COLOUR_OR_TAG = re.compile(r"\x1b\[[\d;]*m|</?tool_use_error>")


class AgentWork:
    """The work of one session, told as it goes on."""

    def __init__(self) -> None:
        self._calls = dict[str, Part]()
        self._changed = set[str]()

    def tool_of(self, result: Part) -> str:
        """Return the name of the tool whose result it is, '' if it is none."""
        return text_at(self._calls.get(_id(result)), "name")

    def dialogue(self, part: Part, result: object) -> list[str]:
        """Return what a call proposes or asks, or what a person answered to it.

        Args:
            part: of a session.
            result: what the tool returned, if the part is a result, or its JSON.
        """
        given = _given(part)
        texts = [
            first_text(one, "question", "title") for one in dicts_at(given, "questions")
        ]
        texts.append(text_at(given, "plan"))
        if self.tool_of(part) in _QUESTION_TOOLS:
            texts += _answered(result)
        return texts

    def told(self, part: Part, at: datetime | None) -> list[ImportedTurn]:
        """Return the line that a part of a session is worth, if it is worth one.

        Args:
            part: of a session.
            at: when it was.
        """
        id = _id(part)
        type = text_at(part, "type")
        call = self._calls.get(id)
        if UNSPOKEN.get(type) == TOOL_CALL:
            self._calls[id] = part
        if type in _ENDED and call is None:
            call = part
        elif UNSPOKEN.get(type) != TOOL_RESULT or not call:
            return []
        self._calls[id] = {}  # it has ended
        line = self._line(call, part)
        return [ImportedTurn(SPEAKER, at, line, id, f"call:{id}")] if line else []

    def _line(self, call: Part, result: Part) -> str:
        name = text_at(call, "name")
        given = _given(call)
        texts = [content_text(value) for value in as_dict(given).values() or [given]]
        files = [*_PATCHED.findall("\n".join(texts)), *as_dict(result.get("changes"))]
        if name.rpartition("__")[2] in _EDITORS:
            files = [first_text(given, *_EDITED_AT)]
        printed = content_text(_first(result, _PRINTED_AT))
        value = decoded(printed)
        printed = text_at(value, "output") or printed
        is_failed = result.get("is_error") or text_at(result, "status") == "failed"
        is_failed = is_failed or _FAILED.match(printed)
        if is_failed or dig(value, "metadata", "exit_code"):
            tried = joined(texts) or name
            if files:
                tried = f"{name} {', '.join(files)}"
            error = _COLOUR_OR_TAG.sub("", _FAILED.sub("", printed)).strip()
            told = [brief(tried, MAX_CALL_CHARS), brief(error, MAX_RESULT_CHARS)]
            return f"failed: {joined(told, ': ')}"
        new = [file for file in files if file and file not in self._changed]
        self._changed.update(new)
        return f"changed: {brief(', '.join(new), MAX_RESULT_CHARS)}" if new else ""


def _id(part: Part) -> str:
    """Return the id that a call of a tool and its result have in common."""
    return first_text(part, "call_id", "tool_use_id", "id")


def _answered(result: object) -> list[str]:
    """Return what a person answered to an agent's questions.

    Each answer is what they chose, then the note that they added; a note may stand
    without a choice.

    Args:
        result: what the tool that asked returned, or its JSON.
    """
    returned = decoded(result)
    choices = as_dict(dig(returned, "answers"))
    notes = as_dict(dig(returned, "annotations"))
    texts = list[str]()
    for question in choices | notes:
        choice = choices.get(question)
        texts.append(content_text(dig(choice, "answers") or choice))
        texts.append(text_at(notes, question, "notes"))
    return texts


def _given(call: Part) -> Any:
    """Return what a tool was called with."""
    return decoded(_first(call, _GIVEN_AT))


def _first(part: Part, keys: tuple[str, ...]) -> Any:
    """Return what stands under the first of some keys that has anything."""
    return next(filter(None, map(part.get, keys)), None)
