"""What coding agents keep of their sessions: Claude Code's and Codex's JSON lines, a file a session, only ever added to.

Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`; an entry has `type`, `uuid`, `timestamp` and the API's `message`
(docs.claude.com, SDK sessions; as npm oh-my-openagent's references/claude.md and kent/consciousness, docs, found it).
Entries with a key of _UNSPOKEN are nobody's words; subagents write `agent-*.jsonl` or lie in a folder `subagents`.

Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`; an entry is `{timestamp, type, payload}` (openai/codex,
codex-rs/protocol: RolloutLine). What was typed and answered stands in `event_msg`; in older files only in `response_item`, or
in bare items, among context that the program wrote. A subagent's session says so in the `source` of its `session_meta`.
"""

import os
import re
from collections.abc import Callable, Iterator
from datetime import tzinfo
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files.safe import Place, walk
from filemem.importers.exports import (
    ImportedConversation,
    ImportedTurn,
    Item,
    Skipped,
    decode,
    items,
    lines,
    mapping,
    modified,
    moment,
    words,
)

Entries = Iterator[tuple[int, dict[str, Any]]]
Read = Callable[[Entries, str, tzinfo | None], ImportedConversation | None]
FILES = {"claude-code": re.compile(r"(?!agent-).*\.jsonl"), "codex": re.compile(r"rollout-.*\.jsonl")}  # their names
_ASIDE = ("subagents", "workflows", "tool-results")  # folders of Claude Code's beside a session
_UNSPOKEN = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
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
    top = Place(os.path.realpath(path))
    found = walk(top, lambda path, entry: entry.name not in _ASIDE)
    return sorted(
        str(top / path) for path, one in found if one.is_file(follow_symlinks=False) and name.fullmatch(one.name)
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
        if kind not in ("user", "assistant") or any(entry.get(key) for key in _UNSPOKEN):
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
    parts = [content] if isinstance(content, str) else map(_block, items(content))
    return "\n\n".join(filter(None, (_told(words(part)) for part in parts)))


def _block(block: object) -> str:
    kind = words(mapping(block).get("type"))
    if kind in ("image", "input_image"):
        return "[image: without a name]"
    return words(mapping(block).get("text")) if kind in ("text", "input_text", "output_text") else ""


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
