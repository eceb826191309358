"""Hooks of coding agents: what Claude Code and Codex put into a session of theirs, and what is taken in of it.

A client calls `filemem mcp hook CLIENT` with the event as JSON on standard input, and gets JSON with `additionalContext` (Claude
Code: code.claude.com, Hooks reference; Codex: developers.openai.com/codex/hooks). What was put in stands between marks, which
the importers strip again, so that nothing is kept twice.
"""

import datetime as dt
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from filemem import chat, index
from filemem.files import journal
from filemem.files.folder import CurrentConversation, Folder, StoreFolder
from filemem.files.memory import PROFILE
from filemem.jobs import imported
from filemem.llm import prompt
from filemem.overview import timeline
from filemem.search import ranking
from filemem.text.plain import clip_tokens, count_tokens, one_line

SLOWEST = 1.0  # seconds of a hook
AT_START, WISHES, AHEAD, WITH_PROMPT = (
    400,
    100,
    80,
    300,
)  # tokens put in: in all at the start, of that wishes and plans
NEWEST, SOON = (
    100,
    60,
)  # facts that are looked at for plans, and the days in which these are near
CLIENTS = {  # their events: the first two ask, the others end a stretch of the session
    "claude-code": ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop"),
}


class Tried(NamedTuple):
    """How a hook did when it was tried: `failed` says why, if it did."""

    event: str
    seconds: float
    tokens: int
    failed: str


def settings(client: str, command: str) -> str:
    """What belongs into a client's file of hooks."""
    hook = {"type": "command", "command": command, "timeout": 10}
    hooks = {event: [{"hooks": [hook]}] for event in CLIENTS[client]}
    return json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False)


def answer(user: Folder, client: str, said: Mapping[str, Any], at: dt.datetime) -> str:
    """What a client is told at an event, as JSON; empty where there is nothing to tell."""
    event, text = str(said.get("hook_event_name")), ""
    if (
        event == "SessionStart" and said.get("source") != "resume"
    ):  # which has what it was told before
        text = _standing(user, at.date())
    elif event == "UserPromptSubmit" and not chat.unrecorded(
        str(said.get("prompt", ""))
    ):
        text = _recalled(user, client, said, at.date())
    if not text:
        return ""
    put = {
        "hookEventName": event,
        "additionalContext": f"<filemem-context>\n{text}\n</filemem-context>",
    }
    return json.dumps({"hookSpecificOutput": put}, ensure_ascii=False)


def _standing(user: Folder, today: dt.date) -> str:
    """Wishes, the profile, and plans of the next days."""
    wishes, profile = chat.core_memory(user, today)
    wishes = clip_tokens(wishes, WISHES)
    facts = [
        one
        for one in index.of(user).corpus().entries()
        if one.kind == "facts" and not one.archived
    ]
    newest = {
        one.path
        for one in sorted(facts, key=lambda one: (one.date, one.path))[-NEWEST:]
    }
    plans = timeline(
        user, newest.__contains__, (today.toordinal(), today.toordinal() + SOON)
    )
    ahead = "\n".join(
        f"{one.day()} {one_line(one.text, 100)} ({one.path}:{one.line})"
        for one in plans
        if not one.until
    )
    parts = [wishes, prompt.data("ahead", clip_tokens(ahead, AHEAD))]
    room = AT_START - 40 - sum(map(count_tokens, parts))
    profile = clip_tokens(profile, room)
    parts.insert(1, prompt.data(PROFILE, profile))
    return "\n".join(filter(None, parts))


def _recalled(
    user: Folder, client: str, said: Mapping[str, Any], today: dt.date
) -> str:
    """What a search for a prompt finds, where that is strong; nothing of the session itself."""
    place = journal.Origins(user).recorded(f"{client}:{said.get('session_id')}")
    current = CurrentConversation(place, 1) if place else None
    room = WITH_PROMPT - 30
    found = chat.recall(
        user, [str(said.get("prompt", ""))], today, current, room, least=ranking.STRONG
    )
    return prompt.data("search_files", clip_tokens(found, room))


def take_in(
    store: StoreFolder, user: str, client: str, path: str, at: dt.datetime
) -> None:
    """Keep what is new of a session, as `filemem import` does."""
    imported(store, client, path, at, user)


def tried(client: str, command: list[str]) -> Iterator[Tried]:
    """Each hook of a client, run as it runs them, on a session in which nobody has spoken."""
    with tempfile.NamedTemporaryFile("w", prefix="rollout-", suffix=".jsonl") as file:
        file.write('{"type": "summary", "summary": "A check"}\n')
        file.flush()
        for event in CLIENTS[client]:
            said = {
                "hook_event_name": event,
                "session_id": "check",
                "transcript_path": file.name,
                "prompt": "Who am I?",
            }
            began = time.monotonic()
            done = subprocess.run(
                command,
                input=json.dumps(said).encode(),
                capture_output=True,
                check=False,
            )
            spent = time.monotonic() - began
            failed = (
                done.stderr.decode(errors="replace").strip() if done.returncode else ""
            )
            slow = f"took {spent:.1f} s" if spent > SLOWEST else ""
            yield Tried(
                event,
                spent,
                count_tokens(done.stdout.decode(errors="replace")),
                one_line(failed) or slow,
            )
