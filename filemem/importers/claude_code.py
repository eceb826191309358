"""Claude Code's sessions: `~/.claude/projects/<folder>/<session>.jsonl`.

The rows are as its sessions have them (docs.claude.com, SDK sessions;
simonw/claude-code-transcripts; daaain/claude-code-log).
"""

import re
from collections.abc import Iterator
from datetime import tzinfo
from functools import partial
from typing import Any

from filemem.importers.agent_work import AgentWork
from filemem.importers.base import (
    HIDDEN,
    ImportedConversation,
    ImportedTurn,
    LeftOut,
    as_dict,
    as_text,
    content_text,
    dicts_at,
    dig,
    joined,
    parse_time,
    text_at,
)
from filemem.importers.coding_agents import Entry, sessions, spoken

ASSISTANT = "Claude"
# Tags between which it puts its own text among a person's, or in its place.
_TAGS = (
    "command-name command-message command-args command-contents local-command-stdout "
    "local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr "
    "system-reminder task-notification ide_opened_file ide_selection ide_diagnostics "
    "user-prompt-submit-hook filemem-context"
).split()
_ASIDE_KEYS = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMMAND_NAME = re.compile(r"<command-name>([^<]{1,100})</command-name>")
_COMMAND_WORDS = re.compile(r"<command-args>(.+?)</command-args>", re.DOTALL)
_QUESTION_TOOL = "AskUserQuestion"
_UNQUEUED = "remove"  # the operation on a message that joins the conversation
# What a person said who refused a call stands behind this, before a note to the model.
_REFUSAL = re.compile(
    r"the user said:\n(?!The user wants to clarify)(.+?)(?:\n\nNote: |\Z)", re.DOTALL
)


def _read(
    entries: Iterator[Entry], zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation:
    """Read one session by the order of its file.

    What a person took back they said as well. A row that is written again, with the
    same uuid, is one message.
    """
    is_fork = False
    work = AgentWork()
    steered = dict[str, str]()  # ids by words that left the queue and may come again
    turns = dict[str, ImportedTurn]()
    for entry in entries:
        row = entry.value
        kind = text_at(row, "type")
        if _is_aside(row):
            left_out[HIDDEN] += kind in ("user", "assistant", "attachment")
            continue
        id = text_at(row, "uuid") or str(entry.line)
        is_copy = bool(text_at(row, "forkedFrom", "sessionId"))
        is_fork = is_fork or is_copy
        moment = parse_time(row.get("timestamp"), zone)
        text = _text(row, kind, work, left_out)
        if not text_at(row, "toolDenialKind"):
            for turn in work.told(dicts_at(row, "message", "content"), moment):
                turns.setdefault(turn.id, turn)
        if not text:
            continue
        if text_at(row, "operation") == _UNQUEUED:
            steered[text] = id
        elif kind != "assistant":
            turns.pop(steered.pop(text, ""), None)
        speaker = ASSISTANT if kind == "assistant" else ""
        shared = id if is_copy or _UUID.fullmatch(id) else ""
        turns.setdefault(id, ImportedTurn(speaker, moment, text, id, shared))
    return ImportedConversation("", "", None, list(turns.values()), is_fork=is_fork)


def _is_aside(row: dict[str, Any]) -> bool:
    """Tell whether a row is the program's own, or a subagent's."""
    origins = {
        text_at(row, "origin", "kind"),
        text_at(row, "attachment", "origin", "kind"),
        text_at(row, "attachment", "commandMode"),
    }
    is_synthetic = text_at(row, "message", "model") == "<synthetic>"
    is_other = not origins <= {"", "human", "prompt"}
    return is_synthetic or is_other or any(row.get(key) for key in _ASIDE_KEYS)


def _text(row: dict[str, Any], kind: str, work: AgentWork, left_out: LeftOut) -> str:
    """Return what somebody said in a row.

    What the person typed while the agent worked is an attachment, or leaves the queue.
    """
    content = None
    if text_at(row, "attachment", "type") == "queued_command":
        content = dig(row, "attachment", "prompt")
    elif text_at(row, "operation") == _UNQUEUED:
        content = row.get("content")
    elif kind in ("user", "assistant"):
        content = dig(row, "message", "content")
    texts = []
    name = _COMMAND_NAME.search(as_text(content))
    words = _COMMAND_WORDS.search(as_text(content))
    if name and words and kind == "user":
        texts.append(f"{name[1].strip()} {words[1].strip()}")
    texts.append(spoken(content, _TAGS, left_out))
    for part in dicts_at(row, "message", "content"):
        texts += _answers(row, part, work)
    return joined(texts, "\n\n")


def _answers(row: dict[str, Any], part: dict[str, Any], work: AgentWork) -> list[str]:
    """Return what was asked in a call of a tool, or said in its result.

    The person answers a question there, and may say something as they refuse a call.
    """
    if text_at(part, "name") == _QUESTION_TOOL:
        questions = dicts_at(part, "input", "questions")
        return [text_at(question, "question") for question in questions]
    texts = list[str]()
    if work.tool_of(part) == _QUESTION_TOOL:
        answers = as_dict(dig(row, "toolUseResult", "answers"))
        texts += map(content_text, answers.values())
    refusal = _REFUSAL.search(content_text(part.get("content")))
    if refusal and text_at(row, "toolDenialKind") == "user-rejected":
        texts.append(refusal[1])
    return texts


claude_code = partial(sessions, ASSISTANT, r".*\.jsonl", _read)
