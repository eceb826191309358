"""Hooks of coding agents: what a session is told, and what is taken in of it.

A client calls `filemem mcp hook CLIENT` with the event as JSON on standard input, and
gets JSON with `additionalContext` (Claude Code: code.claude.com, Hooks reference;
Codex: developers.openai.com/codex/hooks). What was put in stands between marks, which
the importers strip again, so that nothing is kept twice.
"""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from filemem import index
from filemem.chat.core_memory import core_memory
from filemem.chat.recall import HOLDS, recall
from filemem.llm import prompt
from filemem.overview import timeline
from filemem.store import imports, transcript
from filemem.store.folder import CurrentConversation, Folder
from filemem.store.paths import PROFILE
from filemem.text.dayrange import DayRange
from filemem.text.plain import clip_tokens, count_tokens, one_line

START_TOKENS = 400  # in all, as a session begins
WISHES_TOKENS = 100
PLANS_TOKENS = 80
MARKS_TOKENS = 40
PROMPT_TOKENS = 300  # beside a prompt
NEWEST_FACTS = 100  # that are looked at for plans
PLANS_DAYS = 60
NEWEST_TALKS = 8
CLIENTS = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop"),
}
ASKING = ("SessionStart", "UserPromptSubmit")  # the others end a stretch of a session
ENDING = ("SessionEnd",)  # after which nothing follows in it


def settings(client: str, command: str) -> str:
    """Return what belongs into a client's file of hooks."""
    hook = {"type": "command", "command": command, "timeout": 10}
    hooks = {event: [{"hooks": [hook]}] for event in CLIENTS[client]}
    return json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False)


def answer(user: Folder, client: str, event: Mapping[str, Any], at: dt.datetime) -> str:
    """Return what a client is told at an event, as JSON; '' for nothing.

    Args:
        user: whose memories are told.
        client: the agent's name, one of CLIENTS.
        event: as the client sends it.
        at: the moment that counts as now.
    """
    name = event.get("hook_event_name")
    text = ""
    if name == "UserPromptSubmit":
        text = _recalled(user, client, event, at.date())
    elif event.get("source") != "resume":  # which has what it was told before
        text = _standing(user, at.date())
    if not text:
        return ""
    put = {
        "hookEventName": name,
        "additionalContext": f"<filemem-context>\n{text}\n</filemem-context>",
    }
    return json.dumps({"hookSpecificOutput": put}, ensure_ascii=False)


def _standing(user: Folder, today: dt.date) -> str:
    """Return wishes, the profile, and plans of the next days."""
    wishes, profile = core_memory(user, today)
    wishes = clip_tokens(wishes, WISHES_TOKENS)
    plans = prompt.data("ahead", clip_tokens(_plans(user, today), PLANS_TOKENS))
    room = START_TOKENS - MARKS_TOKENS - count_tokens(wishes) - count_tokens(plans)
    profile = prompt.data(PROFILE, clip_tokens(profile, room))
    return "\n".join(part for part in (wishes, profile, plans) if part)


def briefing(user: Folder, today: dt.date) -> str:
    """Return what is good to know at first: also which conversations are the newest."""
    wishes, profile = core_memory(user, today)
    talks = []
    for path in transcript.newest(user)[:NEWEST_TALKS]:
        memory = user.find(path)
        if memory:
            talks.append(f"{path}  {one_line(memory.title, 100)}")
    parts = [
        wishes,
        prompt.data(PROFILE, profile),
        prompt.data("ahead", _plans(user, today)),
        prompt.data("newest conversations", "\n".join(talks)),
    ]
    return "\n".join(part for part in parts if part)


def _plans(user: Folder, today: dt.date) -> str:
    """Return what the newest facts say of the days to come, a line each."""
    entries = index.of(user).corpus().entries()
    facts = [one for one in entries if one.kind == "facts" and not one.archived]
    facts.sort(key=lambda one: (one.date, one.path))
    newest = {one.path for one in facts[-NEWEST_FACTS:]}
    first = today.toordinal()
    days = DayRange(first, first + PLANS_DAYS)
    events = timeline(user, newest.__contains__, days)
    return "\n".join(
        f"{one.day()} {one_line(one.text, 100)} ({one.path}:{one.line})"
        for one in events
        if not one.until
    )


def _recalled(
    user: Folder, client: str, event: Mapping[str, Any], today: dt.date
) -> str:
    """Return what a search for a prompt finds, if that is strong.

    The session itself, as far as it was imported, is left out.
    """
    path = imports.Origins(user).recorded(f"{client}:{event.get('session_id')}")
    current = CurrentConversation(path, 1) if path else None
    room = PROMPT_TOKENS - MARKS_TOKENS
    message = str(event.get("prompt", ""))
    found = recall(user, message, today, current, room, least_strength=HOLDS)
    return prompt.data("search_files", clip_tokens(found, room))
