"""What coding agents keep of their sessions: a file a session, only ever added to.

Claude Code: `~/.claude/projects/<folder>/<session>.jsonl` (docs.claude.com, SDK
sessions). Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, after some days
compressed, entries `{timestamp, type, payload}` (openai/codex, codex-rs/protocol:
RolloutLine). docs/agents.md has the table of what is kept of each.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.importers.base import (
    BROKEN,
    HIDDEN,
    SUBAGENT,
    ImportedConversation,
    ImportedTurn,
    Item,
    LeftOut,
    Skipped,
    as_dict,
    as_list,
    decode_json,
    dig,
    joined,
    parse_time,
    spoken_part,
    text_at,
    text_lines,
)
from filemem.store import files

_COMPRESSED = ".zst"
MAX_UNPACKED_BYTES = 500_000_000


@dataclass(frozen=True)
class Entry:
    """One entry of a session's file, and the line on which it stands."""

    line: int
    value: dict[str, Any]


Reader = Callable[
    [Iterator[Entry], tzinfo | None, LeftOut], ImportedConversation | None
]


def _sessions(
    assistant: str, name_pattern: str, read: Reader, path: str, zone: tzinfo | None
) -> Iterator[Item]:
    """Yield the sessions of an agent.

    Args:
        assistant: the agent's name, as the speaker of its turns.
        name_pattern: matches the names of sessions' files.
        read: makes a conversation of a file's entries.
        path: of a session, or of a folder; links in it are left out.
        zone: the person's.
    """
    left_out = LeftOut()
    found = _session_files(path, name_pattern, left_out)
    if not found:
        what = f"{path} holds no sessions of {assistant}"
        raise NotFound(f"{what}; name the folder that it keeps them in.")
    forks = list[ImportedConversation]()
    for file in found:
        try:
            session = read(_entries(file, left_out), zone, left_out)
        except FilememError as error:
            if file == path:
                raise
            yield Skipped(file, str(error))
            continue
        if session is None:
            continue
        stem = os.path.basename(file).partition(".")[0]
        session = replace(session, id=session.id or stem, assistant=assistant)
        if session.copies:
            forks.append(session)
        else:
            yield session
    yield from forks  # what they begin with has been taken in by now
    yield left_out


def _session_files(path: str, name_pattern: str, left_out: LeftOut) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    found = list[str]()
    for place, entry in files.walk(os.path.realpath(path), lambda *_: True):
        name = entry.name.removesuffix(_COMPRESSED)
        if not name.endswith(".jsonl") or not entry.is_file(follow_symlinks=False):
            continue
        if name.startswith("agent-") or "subagents" in place.split("/"):
            left_out[SUBAGENT] += 1
        elif re.fullmatch(name_pattern, name):
            found.append(entry.path)
    return sorted(found)


def _entries(file: str, left_out: LeftOut) -> Iterator[Entry]:
    """Yield the entries of a file; the last may be in the midst of being written."""
    lines = text_lines(file)
    if file.endswith(_COMPRESSED):
        lines = enumerate(_unpacked(file).split("\n"), 1)
    for number, line in lines:
        try:
            yield Entry(number, as_dict(decode_json(line)))
        except FilememError:
            left_out[BROKEN] += 1


def _unpacked(file: str) -> str:
    try:
        import zstandard  # noqa: PLC0415  of an extra
    except ImportError:
        remedy = "install filemem[zstd], or unpack it with zstd -d, and import again"
        raise FilememError(f"it is compressed; {remedy}") from None
    with open(files.open_regular(file), "rb") as packed:
        reader = zstandard.ZstdDecompressor().stream_reader(packed)
        try:
            return str(reader.read(MAX_UNPACKED_BYTES), "utf-8", "replace")
        except zstandard.ZstdError as error:
            why = f"it cannot be unpacked ({error}); see zstd -t"
            raise FilememError(why) from None


# -- whose words ---------------------------------------------------------------------

# Tags between which a client puts its own text among a person's, or in its place.
# Claude Code: as its sessions have them (simonw/claude-code-transcripts,
# daaain/claude-code-log); Codex: openai/codex, codex-rs/protocol, and its releases.
_CLAUDE_CODE_TAGS = (
    "command-name command-message command-args command-contents local-command-stdout "
    "local-command-stderr local-command-caveat bash-input bash-stdout bash-stderr "
    "system-reminder task-notification ide_opened_file ide_selection ide_diagnostics "
    "user-prompt-submit-hook filemem-context"
).split()
_CODEX_TAGS = (
    "environment_context user_instructions permissions turn_aborted skill INSTRUCTIONS "
    "recommended_plugins user_shell_command collaboration_mode subagent_notification "
    "goal_context filemem-context"
).split()
# How texts begin that a client writes in the person's place.
_CLIENT_BEGINNINGS = (
    "[Request interrupted by user",
    "This session is being continued from",
    "# AGENTS.md instructions",
    "Warning: apply_patch was requested via",
    "Another language model started to solve this problem",
)


def _spoken(content: object, tags: list[str], left_out: LeftOut) -> str:
    """Return the words of a message's content, a text or blocks.

    Calls of tools, their results, thoughts and what a client put in are no words.
    """
    texts = []
    for part in as_list(content) or [content]:
        text = spoken_part(part, left_out)
        for tag in tags:
            text = _without_tagged(text, tag)
        if not text.startswith(_CLIENT_BEGINNINGS):
            texts.append(text)
    return joined(texts, "\n\n")


def _without_tagged(text: str, tag: str) -> str:
    """Return a text without what stands between a tag and its end."""
    if f"<{tag}" not in text:
        return text
    *closed, rest = text.split(f"</{tag}>")
    kept = ""
    for piece in closed:
        opening = re.search(rf"<{tag}(?:\s[^>]{{0,200}})?>", piece)
        kept += piece[: opening.start()] if opening else f"{piece}</{tag}>"
    return (kept + rest).strip()


# -- Claude Code ---------------------------------------------------------------------

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
_TITLE_KEYS = {
    "summary": "summary",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
}


def _read_claude_code(
    entries: Iterator[Entry], zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation:
    """Read one session by the order of its file.

    What a person took back they said as well. A row that is written again, with the
    same uuid, is one message.
    """
    title = ""
    copies = ""
    turns = dict[str, ImportedTurn]()
    for entry in entries:
        row = entry.value
        kind = text_at(row, "type")
        title = text_at(row, _TITLE_KEYS.get(kind, "")) or title
        text = _claude_code_text(row, kind, left_out)
        if text:
            id = text_at(row, "uuid") or str(entry.line)
            fork = text_at(row, "forkedFrom", "sessionId")
            copies = copies or fork
            is_unique = bool(fork or _UUID.fullmatch(id))
            speaker = "Claude" if kind == "assistant" else ""
            moment = parse_time(row.get("timestamp"), zone)
            turns.setdefault(id, ImportedTurn(speaker, moment, text, id, is_unique))
    return ImportedConversation("", title, None, list(turns.values()), copies=copies)


def _claude_code_text(row: dict[str, Any], kind: str, left_out: LeftOut) -> str:
    """Return what somebody said in a row.

    What the person typed while the agent worked is an attachment.
    """
    content = dig(row, "message", "content")
    if text_at(row, "attachment", "type") == "queued_command":
        content = dig(row, "attachment", "prompt")
    elif kind not in ("user", "assistant"):
        return ""
    origins = {
        text_at(row, "origin", "kind"),
        text_at(row, "attachment", "origin", "kind"),
        text_at(row, "attachment", "commandMode"),
    }
    is_synthetic = text_at(row, "message", "model") == "<synthetic>"
    is_aside = is_synthetic or any(row.get(key) for key in _ASIDE_KEYS)
    if is_aside or not origins <= {"", "human", "prompt"}:
        left_out[HIDDEN] += 1
        return ""
    if isinstance(content, str) and kind == "user":
        name = _COMMAND_NAME.search(content)
        words = _COMMAND_WORDS.search(content)
        if name and words:
            content = f"{name[1].strip()} {words[1].strip()}\n\n{content}"
    return _spoken(content, _CLAUDE_CODE_TAGS, left_out)


# -- Codex ---------------------------------------------------------------------------

# Who speaks, by an event's type, an item's type (from 0.147 on) or a message's role.
_SPEAKERS = {
    "user_message": "",
    "UserMessage": "",
    "user": "",
    "agent_message": "Codex",
    "AgentMessage": "Codex",
    "assistant": "Codex",
}
_HARNESS_ENVELOPE = re.compile(r"<([a-z]+(?:_[a-z]+)+)\b[^>]{0,200}>.*</\1>", re.DOTALL)
_EDITOR_CONTEXT = "# Context from my IDE setup:"
_EDITOR_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


def _read_codex(
    entries: Iterator[Entry], zone: tzinfo | None, left_out: LeftOut
) -> ImportedConversation | None:
    """Read one rollout; None where it is a subagent's.

    What was typed and answered stands in events, since 0.147 in items; in older files
    only in messages, which the harness writes too.
    """
    id = ""
    started: datetime | None = None
    copies = ""
    told = list[ImportedTurn]()
    messages = list[ImportedTurn]()
    last = dict[str, str]()  # by text, the type of the row that told of it
    for entry in entries:
        payload = as_dict(entry.value.get("payload")) or entry.value
        moment = parse_time(entry.value.get("timestamp"), zone)
        kind = text_at(entry.value, "type")
        if kind == "session_meta" or (entry.line == 1 and not kind):
            if "subagent" in as_dict(payload.get("source")):
                left_out[SUBAGENT] += 1
                return None
            if not id:  # a second head is that of the session that was copied
                id = text_at(payload, "id")
                started = parse_time(payload.get("timestamp"), zone) or moment
                copies = text_at(payload, "forked_from_id")
        source = text_at(payload, "type")
        item = as_dict(payload.get("item")) or payload
        who = text_at(item, "role") or text_at(item, "type")
        text = _codex_text(item, left_out) if who in _SPEAKERS else ""
        if not text:
            spoken_part(payload, left_out)
            continue
        turn = ImportedTurn(_SPEAKERS[who], moment, text, str(entry.line))
        if source == "message":
            messages.append(turn)
        elif last.pop(text, source) == source:
            last[text] = source
            told.append(turn)
    is_typed_told = any(not turn.speaker for turn in told)
    turns = told if is_typed_told else messages
    return ImportedConversation(id, "", started, turns, copies=copies)


def _codex_text(item: dict[str, Any], left_out: LeftOut) -> str:
    """Return what was said in an event, an item or a message."""
    content = item.get("content") or item.get("message")
    text = _spoken(content, _CODEX_TAGS, left_out)
    if _HARNESS_ENVELOPE.fullmatch(text) and text_at(item, "role"):
        return ""
    # An editor sends its context along.
    heading = _EDITOR_REQUEST.search(text)
    if heading and text.startswith(_EDITOR_CONTEXT):
        return text[heading.end() :].strip()
    return text


claude_code = partial(_sessions, "Claude", r".*\.jsonl", _read_claude_code)
codex = partial(_sessions, "Codex", r"rollout-.*\.jsonl", _read_codex)
