"""Claude Code's sessions: `~/.claude/projects/<folder>/<session>.jsonl`.

The rows are as its sessions have them (docs.claude.com, SDK sessions;
simonw/claude-code-transcripts; daaain/claude-code-log).
"""

import re
from dataclasses import replace
from datetime import tzinfo
from functools import partial

from filemem.importers.agent_work import AgentWork, Part
from filemem.importers.base import (
    HIDDEN,
    UNSPOKEN,
    ImportedConversation,
    ImportedTurn,
    LeftOut,
    as_dict,
    content_text,
    dicts_at,
    dig,
    joined,
    parse_time,
    text_at,
)
from filemem.importers.coding_agents import Entries, sessions, spoken

ASSISTANT = "Claude"
# Where words stand in a row, by its type, or by that of what is attached to it. What
# the person types while the agent works is queued, then attached or a row of its own.
_WORDS_AT = {
    # code.claude.com/docs, sessions; simonw/claude-code-transcripts
    "user": ("message", "content"),
    "assistant": ("message", "content"),
    # daaain/claude-code-log, claude_code_log/factories/attachment_factory.py
    "queued_command": ("attachment", "prompt"),
    # there: test/test_data/session_id_steering_order.jsonl
    "queue-operation": ("content",),
}
# Tags between which it puts its own text among a person's, or in its place, or what
# another agent sent.
_TAGS = (
    # daaain/claude-code-log, claude_code_log/factories/user_factory.py
    "command-contents local-command-stdout local-command-stderr bash-input "
    "bash-stdout bash-stderr ide_opened_file ide_selection ide_diagnostics "
    "post-tool-use-hook command-message "
    # there: teammate_factory.py, test/test_data/system_reminder.jsonl
    "teammate-message system-reminder "
    # FailproofAI/failproofai, src/hooks/semantic/intent.ts
    "local-command-caveat task-notification agent-message cross-session-message "
    # as public readers of its sessions leave them out
    "skill-format user-prompt-submit-hook "
    # filemem/mcp/hooks.py
    "filemem-context"
).split()
_ASIDE_KEYS = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "sourceToolUseID",
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMMAND = re.compile(
    r"<command-name>([^<]{1,200})</command-name>\s*"
    r"<command-args>\s*+(?!</command-args>)(.+?)</command-args>",
    re.DOTALL,
)
_MEMORY_TAG = re.compile("</?user-memory-input>")
# The result of a call that the person refused; what they said stands before a note to
# the model.
_REFUSED = re.compile(
    r"The user doesn't want to .*?"
    r"(?:the user said:\n(?!The user wants to clarify)(.+?))?(?:\n\nNote: |\Z)",
    re.DOTALL,
)


def _read(
    entries: Entries, zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation:
    """Read one session by the order of its file.

    What a person took back they said as well. A row that is written again, with the
    same uuid, is one message; so are rows of one answer that were written as it grew.
    """
    is_fork = False
    work = AgentWork()
    queued = dict[str, str]()  # ids of turns, by words that may come again
    answers = dict[str, str]()  # ids of turns, by that of the answer
    turns = dict[str, ImportedTurn]()
    for line, row in entries:
        kind = text_at(row, "attachment", "type") or text_at(row, "type")
        if kind not in _WORDS_AT:
            is_counted = kind in UNSPOKEN or "attachment" in row
            left_out[UNSPOKEN.get(kind, HIDDEN)] += is_counted
            continue
        content = dig(row, *_WORDS_AT[kind])
        if _is_aside(row):
            left_out[HIDDEN] += 1
            turns.pop(queued.pop(content_text(content), ""), None)
            continue
        id = text_at(row, "uuid") or str(line)
        moment = parse_time(row.get("timestamp"), zone)
        is_copy = "forkedFrom" in row
        is_fork = is_fork or is_copy
        typed = _MEMORY_TAG.sub("", spoken(content, _TAGS, left_out))
        # Behind the last end there is nothing to search for, however long it is.
        commands, end, rest = typed.rpartition("</command-args>")
        typed = _COMMAND.sub(r"\1 \2", commands + end) + rest
        texts = [spoken(typed, ["command-name", "command-args"], left_out)]
        for part in dicts_at(row, "message", "content"):
            texts += work.dialogue(part, row.get("toolUseResult"))
            refusal = _refusal(row, part, work)
            if refusal is not None:
                texts.append(refusal)
                continue
            for turn in work.told(part, moment):
                turns.setdefault(turn.id, turn)
        text = joined(texts, "\n\n")
        speaker = ASSISTANT if kind == "assistant" else ""
        operation = text_at(row, "operation")
        if not speaker and operation != "enqueue":
            for words in (text, *text.splitlines()):
                turns.pop(queued.pop(words, ""), None)
        if operation:
            queued[text] = id
        shared = id if is_copy or _UUID.fullmatch(id) else ""
        turn = ImportedTurn(speaker, moment, text, id, shared)
        _add(turn, text_at(row, "message", "id") or id, answers, turns)
    return ImportedConversation("", "", None, list(turns.values()), is_fork=is_fork)


def _add(
    turn: ImportedTurn,
    answer: str,
    answers: dict[str, str],
    turns: dict[str, ImportedTurn],
) -> None:
    """Add a turn that is new; empty the one before if it is how the answer began.

    Programs that drive Claude Code write an answer several times as it streams. What an
    earlier import took of it stays, and goes on with all of it.

    Args:
        turn: from a row.
        answer: the id that the rows of one answer have in common.
        answers: the last turn with words of each; it is changed.
        turns: those of the session, by their ids; it is changed.
    """
    before = turns.get(answers.get(answer, ""))
    if before and turn.id not in turns and turn.text.startswith(before.text):
        turns[before.id] = replace(before, text="")
    if turn.text:
        answers[answer] = turn.id
    turns.setdefault(turn.id, turn)


def _is_aside(row: Part) -> bool:
    """Tell whether a row is the program's own, or a subagent's."""
    sent = as_dict(row.get("attachment")) or row
    origin = text_at(sent, "origin", "kind") or text_at(sent, "commandMode")
    return (
        origin not in ("", "human", "prompt")
        or text_at(row, "message", "model") == "<synthetic>"
        or any(row.get(key) for key in _ASIDE_KEYS)
    )


def _refusal(row: Part, part: Part, work: AgentWork) -> str | None:
    """Return what a person said as they refused a call; None where it was allowed.

    Rows before 2.1.205 tell it in the result alone, which a server of tools writes as
    it likes.
    """
    refused = _REFUSED.match(content_text(part.get("content")))
    is_foreign = work.tool_of(part).startswith("mcp__")
    is_refused = refused and part.get("is_error") and not is_foreign
    if not is_refused and not text_at(row, "toolDenialKind"):
        return None
    return (refused and refused[1]) or ""


claude_code = partial(sessions, ASSISTANT, r".*\.jsonl", _read)
