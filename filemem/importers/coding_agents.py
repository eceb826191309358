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
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.importers.base import (
    ImportedConversation,
    ImportedTurn,
    Item,
    Parser,
    Skipped,
    as_dict,
    as_list,
    as_text,
    decode_json,
    joined,
    modified_at,
    parse_time,
    part_text,
    text_lines,
)
from filemem.store import files

# Folders of Claude Code's beside a session.
_UNREAD_FOLDERS = ("subagents", "workflows", "tool-results")
_COMPRESSED = ".zst"


@dataclass(frozen=True)
class Entry:
    """One entry of a session's file, and the line on which it stands."""

    line: int
    value: dict[str, Any]


Entries = Iterator[Entry]
Reader = Callable[[Entries, str, tzinfo | None], ImportedConversation]


def agent_parser(assistant: str, name_pattern: str, read: Reader) -> Parser:
    """Make the parser of what a coding agent keeps.

    Args:
        assistant: the agent's name, as the speaker of its turns.
        name_pattern: matches the names of sessions' files.
        read: makes a conversation of a file's entries; its second argument is the
            file's name without an extension.

    Returns:
        A parser of a file, or of each session in a folder and those below. Links are
        left out, and so are sessions in which nobody spoke.
    """

    def parse(path: str, zone: tzinfo | None) -> Iterator[Item]:
        sessions = _session_files(path, name_pattern)
        if not sessions:
            what = f"{path} holds no sessions of {assistant}"
            raise NotFound(f"{what}; name the folder that it keeps them in.")
        copies = list[ImportedConversation]()
        for file in sessions:
            broken = list[Skipped]()
            try:
                entries = _entries(file, broken)
                session = read(entries, _stem(file), zone)
            except FilememError as error:
                if file == path:
                    raise
                yield Skipped(file, str(error))
                continue
            yield from broken
            session = replace(session, assistant=assistant)
            if not any(turn.time for turn in session.turns):
                began = session.started or modified_at(file, zone)
                session = replace(session, started=began)
            if session.copies:
                copies.append(session)
            elif session.turns:
                yield session
        yield from copies  # what they begin with has been taken in by now

    return parse


def _session_files(path: str, name_pattern: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    entries = files.walk(
        os.path.realpath(path), lambda _, entry: entry.name not in _UNREAD_FOLDERS
    )
    found = []
    for _, entry in entries:
        name = entry.name.removesuffix(_COMPRESSED)
        if re.fullmatch(name_pattern, name) and entry.is_file(follow_symlinks=False):
            found.append(entry.path)
    plain = set(found)
    return sorted(
        file for file in found if file.removesuffix(_COMPRESSED) not in plain - {file}
    )


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file.removesuffix(_COMPRESSED)))[0]


def _entries(file: str, broken: list[Skipped]) -> Entries:
    """Yield the entries of a file, and note in `broken` the lines that are none.

    A last line that is still being written is left to the next time.
    """
    waiting = ""
    for number, line in _lines(file):
        if waiting:
            broken.append(Skipped(f"{file}:{number}", waiting))
        try:
            waiting = ""
            yield Entry(number, as_dict(decode_json(line)))
        except FilememError as error:
            waiting = str(error)


def _lines(file: str) -> Iterator[tuple[int, str]]:
    if not file.endswith(_COMPRESSED):
        yield from text_lines(file)
        return
    try:
        import zstandard  # noqa: PLC0415  of an extra
    except ImportError:
        remedy = "install filemem[zstd], or unpack it with zstd -d, and import again"
        raise FilememError(f"it is compressed; {remedy}") from None
    with open(files.open_regular(file), "rb") as packed:
        try:
            text = zstandard.ZstdDecompressor().stream_reader(packed).read()
        except zstandard.ZstdError as error:
            raise FilememError(
                f"it cannot be unpacked ({error}); see zstd -t"
            ) from None
    for number, line in enumerate(text.decode(errors="replace").split("\n"), 1):
        if line.strip():
            yield number, line.strip()


# -- whose words ---------------------------------------------------------------------

_SPOKEN_COMMAND = re.compile(
    r"<command-name>(?P<name>[^<]{1,100})</command-name>"
    r"(?:.(?!<command-name>))*?<command-args>(?P<args>.+?)</command-args>",
    re.DOTALL,
)
# Tags between which a client puts its own text among a person's, or in its place.
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
_EDITOR_CONTEXT = "# Context from my IDE setup:"
_EDITOR_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


def _tag_pattern(tags: list[str]) -> re.Pattern[str]:
    return re.compile(rf"<({'|'.join(tags)})(?:\s[^>]{{0,200}})?>")


_CLAUDE_CODE_TAG = _tag_pattern(_CLAUDE_CODE_TAGS)
_CODEX_TAG = _tag_pattern(_CODEX_TAGS)


def _spoken(content: object, tag: re.Pattern[str]) -> str:
    """Return the words of a message's content, a text or blocks.

    Calls of tools, their results, thoughts and what a client put in are no words.
    """
    parts = [content] if isinstance(content, str) else as_list(content)
    texts = []
    for part in parts:
        text = _without_tagged(part_text(part), tag).strip()
        if not text.startswith(_CLIENT_BEGINNINGS):
            texts.append(text)
    return joined(texts, "\n\n")


def _without_tagged(text: str, tag: re.Pattern[str]) -> str:
    """Return a text without what stands between tags; a tag with no end stays."""
    kept = list[str]()
    place = 0
    endless = set[str]()
    for match in tag.finditer(text):
        name = match[1]
        if match.start() < place or name in endless:
            continue
        closing = f"</{name}>"
        end = text.find(closing, match.end())
        if end < 0:
            endless.add(name)
        else:
            kept.append(text[place : match.start()])
            place = end + len(closing)
    return "".join([*kept, text[place:]])


# -- Claude Code ---------------------------------------------------------------------

_ASIDE_KEYS = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TITLE_KEYS = {
    "summary": "summary",
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
}


def _claude_code(
    entries: Entries, stem: str, zone: tzinfo | None
) -> ImportedConversation:
    """Read one session by the order of its file.

    What a person took back they said as well. A row that is written again, with the
    same uuid, is one message.
    """
    title = ""
    copied_from = ""
    turns = dict[str, ImportedTurn]()
    for entry in entries:
        row = entry.value
        kind = as_text(row.get("type"))
        if kind in _TITLE_KEYS:
            title = as_text(row.get(_TITLE_KEYS[kind])) or title
        text = _claude_code_text(row, kind)
        if text:
            id = as_text(row.get("uuid")) or str(entry.line)
            fork = as_text(as_dict(row.get("forkedFrom")).get("sessionId"))
            copied_from = copied_from or fork
            is_unique = bool(fork) or _UUID.fullmatch(id) is not None
            speaker = "Claude" if kind == "assistant" else ""
            moment = parse_time(row.get("timestamp"), zone)
            turns.setdefault(id, ImportedTurn(speaker, moment, text, id, is_unique))
    said = list(turns.values())
    return ImportedConversation(stem, title, None, said, copies=copied_from)


def _claude_code_text(row: dict[str, Any], kind: str) -> str:
    """Return what somebody said in a row; empty where nobody did."""
    if any(row.get(key) for key in _ASIDE_KEYS) or not _is_human(row):
        return ""
    if kind == "attachment":
        return _queued_text(as_dict(row.get("attachment")))
    message = as_dict(row.get("message"))
    if kind not in ("user", "assistant") or message.get("model") == "<synthetic>":
        return ""
    content = message.get("content")
    if kind == "user":
        content = _with_commands_spoken(content)
    return _spoken(content, _CLAUDE_CODE_TAG)


def _is_human(value: dict[str, Any]) -> bool:
    """Tell whether a row or an attachment names no origin but the person."""
    kind = as_text(as_dict(value.get("origin")).get("kind"))
    return kind in ("", "human")


def _queued_text(attachment: dict[str, Any]) -> str:
    """Return what a person typed while Claude was at work."""
    is_prompt = attachment.get("commandMode") in (None, "prompt")
    if attachment.get("type") != "queued_command" or not is_prompt:
        return ""
    if not _is_human(attachment):
        return ""
    return _spoken(attachment.get("prompt"), _CLAUDE_CODE_TAG)


def _with_commands_spoken(content: object) -> object:
    """Return content in which a slash command with words stands as it was typed."""
    if not isinstance(content, str):
        return content
    return _SPOKEN_COMMAND.sub(
        lambda command: f"{command['name'].strip()} {command['args'].strip()}", content
    )


# -- Codex ---------------------------------------------------------------------------

_EVENT_SPEAKERS = {"user_message": "", "agent_message": "Codex"}
_ITEM_SPEAKERS = {"UserMessage": "", "AgentMessage": "Codex"}
_MESSAGE_SPEAKERS = {"user": "", "assistant": "Codex"}
_HARNESS_ENVELOPE = re.compile(r"<([a-z]+(?:_[a-z]+)+)\b[^>]{0,200}>.*</\1>", re.DOTALL)


@dataclass(frozen=True)
class _CodexRow:
    """One row that tells of a message.

    `source` is `event`, `item` or, where the harness wrote it too, `message`.
    """

    source: str
    turn: ImportedTurn


def _codex(entries: Entries, stem: str, zone: tzinfo | None) -> ImportedConversation:
    """Read one rollout; without turns where it is a subagent's.

    What was typed and answered stands in events or items; in older files only in
    messages, among context that the harness wrote.
    """
    id = ""
    started: datetime | None = None
    copied_from = ""
    rows = list[_CodexRow]()
    for entry in entries:
        value = entry.value
        payload = as_dict(value.get("payload")) if "payload" in value else value
        moment = parse_time(value.get("timestamp"), zone)
        if _is_codex_head(entry):
            if "subagent" in as_dict(payload.get("source")):
                return ImportedConversation(stem, "", None, [])
            if not id:  # a second head is that of the session that was copied
                id = as_text(payload.get("id"))
                started = parse_time(payload.get("timestamp"), zone) or moment
                copied_from = as_text(payload.get("forked_from_id"))
            continue
        row = _codex_row(value, payload, moment, str(entry.line))
        if row:
            rows.append(row)
    turns = _codex_turns(rows)
    return ImportedConversation(id or stem, "", started, turns, copies=copied_from)


def _is_codex_head(entry: Entry) -> bool:
    is_old_head = entry.line == 1 and "type" not in entry.value
    return entry.value.get("type") == "session_meta" or is_old_head


def _codex_row(
    value: dict[str, Any], payload: dict[str, Any], moment: datetime | None, id: str
) -> _CodexRow | None:
    """Read a row; None where it tells of no message."""
    kind = as_text(payload.get("type"))
    source = "message"
    content: object = payload.get("content")
    speakers = _MESSAGE_SPEAKERS
    speaker = as_text(payload.get("role")) if kind == "message" else ""
    if value.get("type") == "event_msg":
        if kind == "item_completed":
            item = as_dict(payload.get("item"))
            source = "item"
            content = item.get("content")
            speakers = _ITEM_SPEAKERS
            speaker = as_text(item.get("type"))
        else:
            source = "event"
            content = payload.get("message")
            speakers = _EVENT_SPEAKERS
            speaker = kind
    if speaker not in speakers:
        return None
    text = _request(_spoken(content, _CODEX_TAG))
    if source == "message" and _HARNESS_ENVELOPE.fullmatch(text):
        return None
    if not text:
        return None
    return _CodexRow(source, ImportedTurn(speakers[speaker], moment, text, id))


def _request(text: str) -> str:
    """Return what a person typed in an editor, which sends its context along."""
    if not text.startswith(_EDITOR_CONTEXT):
        return text
    heading = _EDITOR_REQUEST.search(text)
    return text[heading.end() :].strip() if heading else text


def _codex_turns(rows: list[_CodexRow]) -> list[ImportedTurn]:
    """Return each message once, of those that rows of several sources tell of.

    Where an event or an item tells of what a person typed, messages alone count for
    nothing: the harness writes them too.
    """
    # Each message with the sources that tell of it, by an id that never changes.
    told = list[tuple[ImportedTurn, set[str]]]()
    for row in rows:
        twin = _twin(row, told)
        if twin is None:
            told.append((row.turn, {row.source}))
            continue
        turn, sources = told[twin]
        sources.add(row.source)
        if row.source == "event" or (row.source == "message" and "item" in sources):
            told[twin] = (replace(turn, id=row.turn.id), sources)
    typed = [turn for turn, sources in told if sources & {"event", "item"}]
    if any(not turn.speaker for turn in typed):
        return typed
    return [turn for turn, _ in told]


def _twin(row: _CodexRow, told: list[tuple[ImportedTurn, set[str]]]) -> int | None:
    """Return the place of the message that a row tells of again.

    It is the speaker's last, in the same words, told by other sources only.
    """
    for place in reversed(range(len(told))):
        turn, sources = told[place]
        if turn.speaker == row.turn.speaker:
            is_same = turn.text == row.turn.text and row.source not in sources
            return place if is_same else None
    return None


claude_code = agent_parser("Claude", r"(?!agent-).*\.jsonl", _claude_code)
codex = agent_parser("Codex", r"rollout-.*\.jsonl", _codex)
