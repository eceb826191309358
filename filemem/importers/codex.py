"""Codex's sessions: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

After some days they are compressed. Entries are `{timestamp, type, payload}`
(openai/codex, codex-rs/protocol: RolloutLine, and its releases).
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import Any

from filemem.importers.agent_work import SPEAKER, AgentWork
from filemem.importers.base import (
    SUBAGENT,
    ImportedConversation,
    ImportedTurn,
    LeftOut,
    as_dict,
    parse_time,
    spoken_part,
    text_at,
)
from filemem.importers.coding_agents import Entry, sessions, spoken

ASSISTANT = "Codex"
# Tags between which it puts its own text among a person's, or in its place.
_TAGS = (
    "environment_context user_instructions permissions turn_aborted skill INSTRUCTIONS "
    "recommended_plugins user_shell_command collaboration_mode subagent_notification "
    "goal_context filemem-context"
).split()
# Who speaks, by an event's type, an item's type (from 0.147 on) or a message's role.
_SPEAKERS = {
    "user_message": "",
    "UserMessage": "",
    "user": "",
    "agent_message": ASSISTANT,
    "AgentMessage": ASSISTANT,
    "assistant": ASSISTANT,
}
_HARNESS_ENVELOPE = re.compile(r"<([a-z]+(?:_[a-z]+)+)\b[^>]{0,200}>.*</\1>", re.DOTALL)
_EDITOR_CONTEXT = "# Context from my IDE setup:"
_EDITOR_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


def _read(
    entries: Iterator[Entry], zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation | None:
    """Read one rollout; None where it is a subagent's.

    What was typed and answered stands in events, since 0.147 in items; in older files
    only in messages, which the harness writes too.
    """
    ids = list[str]()
    started: datetime | None = None
    told = list[ImportedTurn]()
    messages = list[ImportedTurn]()
    last = dict[str, str]()  # by text, the type of the row that told of it
    work = AgentWork()
    for entry in entries:
        payload = as_dict(entry.value.get("payload")) or entry.value
        moment = parse_time(entry.value.get("timestamp"), zone)
        kind = text_at(entry.value, "type")
        if kind == "session_meta" or (entry.line == 1 and not kind):
            if "subagent" in as_dict(payload.get("source")):
                left_out[SUBAGENT] += 1
                return None
            started = started or parse_time(payload.get("timestamp"), zone) or moment
            # Behind its own head a fork has those of the sessions that it goes back to.
            ids += [text_at(payload, "id"), text_at(payload, "forked_from_id")]
        source = text_at(payload, "type")
        item = as_dict(payload.get("item")) or payload
        who = text_at(item, "role") or text_at(item, "type")
        text = _text(item, left_out) if who in _SPEAKERS else ""
        if not text:
            spoken_part(payload, left_out)
            done = work.told([payload], moment)
            told += done
            messages += done
            continue
        turn = ImportedTurn(_SPEAKERS[who], moment, text, str(entry.line))
        if source == "message":
            messages.append(turn)
        elif last.pop(text, source) == source:
            last[text] = source
            told.append(turn)
    is_typed_told = any(not turn.speaker for turn in told)
    ids = list(filter(None, ids)) or [""]
    turns = _in_thread(told if is_typed_told else messages, ids[-1])
    is_fork = ids[-1] != ids[0]
    return ImportedConversation(ids[0], "", started, turns, is_fork=is_fork)


def _in_thread(turns: list[ImportedTurn], first: str) -> list[ImportedTurn]:
    """Return turns that are known in a fork, which begins with copies of them.

    The copies have the moment of the fork, so that a turn is known by the first of the
    sessions, its place and its words.
    """
    numbered = []
    number = 0
    for turn in turns:
        if first and turn.speaker != SPEAKER:
            number += 1
            turn = replace(turn, shared=f"{first} {number}")
        numbered.append(turn)
    return numbered


def _text(item: dict[str, Any], left_out: LeftOut) -> str:
    """Return what was said in an event, an item or a message."""
    content = item.get("content") or item.get("message")
    text = spoken(content, _TAGS, left_out)
    if _HARNESS_ENVELOPE.fullmatch(text) and text_at(item, "role"):
        return ""
    # An editor sends its context along.
    heading = _EDITOR_REQUEST.search(text)
    if heading and text.startswith(_EDITOR_CONTEXT):
        return text[heading.end() :].strip()
    return text


codex = partial(sessions, ASSISTANT, r"rollout-.*\.jsonl", _read)
