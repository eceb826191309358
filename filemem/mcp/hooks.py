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

from filemem.chat.recall import recall
from filemem.llm import prompt
from filemem.overview.briefing import briefing
from filemem.search.notes import HALF
from filemem.store import imports
from filemem.store.current import CurrentConversation
from filemem.store.folder import Folder
from filemem.text.plain import clip_tokens

PROMPT_TOKENS = 260  # beside a prompt, marks aside
CLIENTS = {"claude-code": "~/.claude/settings.json", "codex": "~/.codex/hooks.json"}
"""The clients that have hooks, with the files that name them."""
ASKING = ("SessionStart", "UserPromptSubmit")  # the others end a stretch of a session
ENDING = "SessionEnd"  # after which nothing follows; Codex has none


def settings(client: str, command: str) -> str:
    """Return what belongs into a client's file of hooks."""
    last = "Stop" if client == "codex" else ENDING
    hook = {"type": "command", "command": command, "timeout": 10}
    events = (*ASKING, "PreCompact", last)
    hooks = {event: [{"hooks": [hook]}] for event in events}
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
        text = briefing(user, at.date(), short=True)
    if not text:
        return ""
    put = {
        "hookEventName": name,
        "additionalContext": f"<filemem-context>\n{text}\n</filemem-context>",
    }
    return json.dumps({"hookSpecificOutput": put}, ensure_ascii=False)


def _recalled(
    user: Folder, client: str, event: Mapping[str, Any], today: dt.date
) -> str:
    """Return what a search for a prompt finds, if that is strong.

    The session itself, as far as it was imported, is left out.
    """
    path = imports.Origins(user).recorded(f"{client}:{event.get('session_id')}")
    current = CurrentConversation(path, 1) if path else None
    message = str(event.get("prompt", ""))
    found = recall(user, message, today, current, PROMPT_TOKENS, least_strength=HALF)
    return prompt.data("search_files", clip_tokens(found, PROMPT_TOKENS))
