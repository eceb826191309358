"""JSON lines: messages as OpenAI's interfaces take and give them, from a file or a program, and what coding agents keep.

A line is a conversation, `{"messages": [{"role", "content"}…]}` with an optional id, title and time; or it is one message, and
then the file is one conversation. Calls of tools come in the three shapes that interfaces write: OpenAI's chat messages, OpenAI's
items and Anthropic's blocks. A transcript keeps each with its answer on one line, both shortened.

Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`; an entry has `type`, `uuid`, `timestamp` and the API's `message`
(docs.claude.com, SDK sessions; as npm oh-my-openagent's references/claude.md and kent/consciousness, docs, found it).
Entries with a key of _ASIDE are nobody's words; subagents write `agent-*.jsonl` or lie in a folder `subagents`.

Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`; an entry is `{timestamp, type, payload}` (openai/codex,
codex-rs/protocol: RolloutLine). What was typed and answered stands in `event_msg`; in older files only in `response_item`, or
in bare items, among context that the program wrote. A subagent's session says so in the `source` of its `session_meta`.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, tzinfo
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files.safe import walk
from filemem.importers.exports import (
    ImportedConversation,
    ImportedTurn,
    Item,
    Skipped,
    attached,
    decode,
    items,
    lines,
    mapping,
    modified,
    moment,
    words,
)
from filemem.text.plain import digest, one_line

TOOL = "tool"  # who a call and its answer are noted as
ASKED, ANSWERED = 160, 320  # characters that a transcript keeps of a call and of its answer
_UNSPOKEN = ("system", "developer", "tool", "function")
_TIMES = ("created", "created_at", "create_time", "timestamp", "date")


def parse(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """A conversation a line, then the one made of the single messages."""
    repeated, single = Counter[str](), list[dict[str, Any]]()
    for number, line in lines(path):
        try:
            record = mapping(decode(line))
        except FilememError as error:
            yield Skipped(f"line {number}", str(error))
            continue
        if isinstance(record.get("messages"), list):
            yield _conversation(record, f"line {number}", zone, repeated)
        elif isinstance(record.get("role"), str):
            single.append(record)
        else:
            yield Skipped(f"line {number}", "it has neither messages nor a role")
    if single:
        name = os.path.splitext(os.path.basename(path))[0]
        yield _conversation({"messages": single, "title": name}, name, zone, repeated)


def _conversation(
    record: dict[str, Any], place: str, zone: tzinfo | None, repeated: Counter[str]
) -> ImportedConversation:
    """One conversation; its own id, else its opening names it, numbered where several begin alike: more turns later do not
    change it."""
    turns = spoken_messages(map(mapping, record["messages"]), zone)
    title = words(record.get("title")) or words(record.get("name"))
    title = title or (turns[0].text.splitlines()[0][:60] if turns else "")
    id = words(record.get("id")) or words(record.get("conversation_id")) or ("" if turns else place)
    if not id:
        begins = opening(words(record.get("title")), turns[0].speaker, turns[0].text)
        repeated[begins] += 1
        id = f"{begins}-{repeated[begins]}"
    return ImportedConversation(id, title, _time(record, zone), turns)


def spoken_messages(messages: Iterable[dict[str, Any]], zone: tzinfo | None) -> list[ImportedTurn]:
    """The messages that somebody spoke, and each call of a tool with its answer, shortened; a message without an id is named by
    what it says and how often that was said."""
    turns, said, calls = list[ImportedTurn](), Counter[str](), dict[str, str]()
    for message in messages:
        at = _time(message, zone)
        for id, tool, text in _calls(message):
            if tool:
                calls[id] = f"{tool} {one_line(text, ASKED)}"
            elif id in calls:
                turns.append(ImportedTurn(TOOL, at, f"{calls.pop(id)}: {one_line(text, ANSWERED)}", f"call:{id}"))
        role = words(message.get("role")) or ("" if "type" in message else "unknown")
        text = words(message.get("content")) or "\n".join(filter(None, map(_part, items(message.get("content")))))
        if text and role and role not in _UNSPOKEN:
            said[same := opening(role, text)] += 1
            speaker = words(message.get("name")) or ("" if role == "user" else role)
            id = words(message.get("id")) or f"{same}-{said[same]}"
            turns.append(ImportedTurn(speaker, at, text, id))
    return turns


def _part(part: object) -> str:
    """One part of a message; pictures and files leave a mark."""
    if not isinstance(part, dict):
        return words(part)
    if "image" in words(part.get("type")):
        return "[image: without a name]"
    if "file" in words(part.get("type")):
        return attached(words(mapping(part.get("file")).get("filename")) or "without a name")
    return words(part.get("text")) or words(part.get("refusal"))


def _time(record: dict[str, Any], zone: tzinfo | None) -> datetime | None:
    """The first time stamp that a record has under any of the usual names."""
    return next((when for key in _TIMES if (when := moment(record.get(key), zone))), None)


def opening(*texts: str) -> str:
    """Sixteen hexadecimal digits that name these texts."""
    return digest("\0".join(texts), 16)


def _calls(entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The calls of tools in a message, an item or an entry: the call's id, the tool and what was asked; or "" and the answer."""
    for call in map(mapping, items(entry.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield words(call.get("id")), words(function.get("name")) or TOOL, _whole(function.get("arguments"))
    if entry.get("role") == "tool":
        yield words(entry.get("tool_call_id")), "", _whole(entry.get("content"))
    for block in map(mapping, [entry, *items(entry.get("content"))]):
        id, name = words(block.get("call_id")) or words(block.get("id")), words(block.get("name")) or TOOL
        if block.get("type") in ("function_call", "custom_tool_call", "tool_use"):
            yield id, name, _whole(block.get("arguments", block.get("input")))
        elif block.get("type") in ("function_call_output", "custom_tool_call_output", "tool_result"):
            yield words(block.get("tool_use_id")) or id, "", _whole(block.get("output", block.get("content")))


def _whole(value: object) -> str:
    """Arguments or an answer as one text."""
    if isinstance(value, list):
        return "\n".join(words(mapping(part).get("text")) or words(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value is not None else ""


# -- what coding agents keep of their sessions, a file a session, only ever added to -----------------------------------------

Entries = Iterator[tuple[int, dict[str, Any]]]
Read = Callable[[Entries, str, tzinfo | None], ImportedConversation | None]
FILES = {"claude-code": re.compile(r"(?!agent-).*\.jsonl"), "codex": re.compile(r"rollout-.*\.jsonl")}  # their names
_FOLDERS = ("subagents", "workflows", "tool-results")  # folders of Claude Code's beside a session
_ASIDE = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_TAG = re.compile(  # what the programs put between a person's words, or in their place
    r"<(command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr"
    r"|local-command-caveat|bash-input|bash-stdout|bash-stderr|system-reminder|task-notification|ide_opened_file"
    r"|ide_selection|ide_diagnostics|user-prompt-submit-hook|environment_context|user_instructions|permissions"
    r"|turn_aborted|skill|INSTRUCTIONS|filemem-context)(?:\s[^>]{0,200})?>"
)
_NOBODYS = ("[Request interrupted by user", "This session is being continued from", "# AGENTS.md instructions")


def claude_code(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every session of Claude Code at `path`, a file or a folder of them, without subagents and tools."""
    return _sessions(path, zone, "Claude", FILES["claude-code"], _claude_code)


def codex(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every session of Codex at `path`, a rollout or a folder of them, without subagents and tools."""
    return _sessions(path, zone, "Codex", FILES["codex"], _codex)


def session_files(path: str, name: re.Pattern[str]) -> list[str]:
    """The plain files of such a name at `path`, or in the folder `path` and those below, links left out; sorted."""
    if os.path.isfile(path):
        return [path]
    if not os.path.isdir(path):
        raise NotFound(f"{path} does not exist; name a session, or their folder.")
    top = os.path.realpath(path)
    found = walk(top, lambda path, entry: entry.name not in _FOLDERS)
    return sorted(
        f"{top}/{path}" for path, one in found if one.is_file(follow_symlinks=False) and name.fullmatch(one.name)
    )


def _sessions(path: str, zone: tzinfo | None, assistant: str, name: re.Pattern[str], read: Read) -> Iterator[Item]:
    """The sessions at `path`, one after the other; those in which nobody spoke are passed over."""
    found = session_files(path, name)
    if not found:
        raise NotFound(f"{path} holds no sessions of {assistant}; name the folder that it keeps them in.")
    for file in found:
        broken: list[Skipped] = []
        said = read(_entries(file, broken), os.path.splitext(os.path.basename(file))[0], zone)
        if said and said.turns:
            begun = said.started or said.turns[0].time or modified(file, zone)
            yield said._replace(started=begun, assistant=assistant)
        yield from broken


def _entries(file: str, broken: list[Skipped]) -> Entries:
    """The entries of a file with their lines; a last line that is still being written is left to the next time."""
    waiting = ""
    for number, line in lines(file):
        if waiting:
            broken.append(Skipped(f"{file}:{number}", waiting))
        try:
            waiting = ""
            yield number, mapping(decode(line))
        except FilememError as error:
            waiting = str(error)


def _claude_code(entries: Entries, stem: str, zone: tzinfo | None) -> ImportedConversation:
    """One session of Claude Code, by the order of its file: what a person took back they said as well."""
    title, turns = "", list[ImportedTurn]()
    for number, entry in entries:
        kind, message = entry.get("type"), mapping(entry.get("message"))
        if kind in _TITLES:
            title = words(entry.get(_TITLES[kind])) or title
        if kind not in ("user", "assistant") or any(entry.get(key) for key in _ASIDE):
            continue
        if text := "" if message.get("model") == "<synthetic>" else _spoken(message.get("content")):
            speaker, id = "Claude" if kind == "assistant" else "", words(entry.get("uuid")) or str(number)
            turns.append(ImportedTurn(speaker, moment(entry.get("timestamp"), zone), text, id))
    return ImportedConversation(stem, title, None, turns)


def _codex(entries: Entries, stem: str, zone: tzinfo | None) -> ImportedConversation | None:
    """One rollout: the events where it has them, else the messages; None for a subagent's."""
    id, started, said, items_ = stem, None, list[ImportedTurn](), list[ImportedTurn]()
    for number, entry in entries:
        payload = mapping(entry.get("payload")) if "payload" in entry else entry
        kind, at = payload.get("type"), moment(entry.get("timestamp"), zone)
        if entry.get("type") == "session_meta" or (number == 1 and "type" not in entry):
            if "subagent" in mapping(payload.get("source")):
                return None
            if not started:
                id, started = words(payload.get("id")), moment(payload.get("timestamp"), zone) or at
        elif entry.get("type") == "event_msg" and kind in ("user_message", "agent_message"):
            speaker = "" if kind == "user_message" else "Codex"
            if text := _told(words(payload.get("message"))):
                said.append(ImportedTurn(speaker, at, text, str(number)))
        elif kind == "message" and payload.get("role") in ("user", "assistant"):
            speaker = "" if payload["role"] == "user" else "Codex"
            if text := _spoken(payload.get("content")):
                items_.append(ImportedTurn(speaker, at, text, str(number)))
    spoken = said if any(not turn.speaker for turn in said) else items_
    return ImportedConversation(id or stem, "", started, spoken)


def _spoken(content: object) -> str:
    """The words of a message's content, a text or blocks; calls of tools, their results and thoughts are no words."""
    parts = [content] if isinstance(content, str) else items(content)
    return "\n\n".join(filter(None, (_told(_part(part)) for part in parts)))


def _told(text: str) -> str:
    """What is left of a text without what the program put into it; each kind of tag is looked for once if it never ends."""
    kept, at, endless = list[str](), 0, set[str]()
    for tag in _TAG.finditer(text):
        if tag.start() < at or tag[1] in endless:
            continue
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            endless.add(tag[1])
        else:
            kept.append(text[at : tag.start()])
            at = end + len(tag[1]) + 3
    told = "".join([*kept, text[at:]]).strip()
    return "" if told.startswith(_NOBODYS) else told
