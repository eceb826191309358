"""Import of what other programs exported: a parser for each format, a function of a path and a time zone; and one intake, which
writes what they yield: each conversation a session, each note a memory, each of them once.

ChatGPT and Claude: `conversations.json`, the zip that it came in, or its folder. A conversation of ChatGPT's is a tree of
messages, `mapping`; `current_node` is the leaf that the person last saw. OpenAI publishes no schema; the shapes are as exports
showed them from 2023 to 2026 (github.com/mitkury/chatgpt-export-parser, docs; elizaOS/eliza pull request 12007). Claude's
`chat_messages` is a list, or a tree by `parent_message_uuid` (CherryHQ/cherry-studio pull request 16164); what Claude itself
remembers stands in `memories.json` (NousResearch/hermes-agent pull request 28041).

JSON lines: a conversation a line, `{"messages": [{"role", "content"}…]}`, or a message a line. Calls of tools come in the shapes
of OpenAI's chat messages, OpenAI's items and Anthropic's blocks.

Claude Code: `~/.claude/projects/<folder>/<session>.jsonl` (docs.claude.com, SDK sessions). Codex: `~/.codex/sessions/YYYY/MM/DD/
rollout-*.jsonl`, entries `{timestamp, type, payload}` (openai/codex, codex-rs/protocol: RolloutLine); what was typed and answered
stands in `event_msg`, in older files only in `response_item` or in bare items, among context that the program wrote.
"""

import contextlib
import glob
import json
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, tzinfo
from itertools import count
from math import isfinite
from typing import Any, NamedTuple

from filemem.errors import Changed, FilememError, NotFound, Refused
from filemem.files import config, safe, transcript
from filemem.files.folder import Folder, StoreFolder, is_temporary_name, numbered
from filemem.files.front import quoted
from filemem.files.journal import Origins
from filemem.files.memory import (
    ARCHIVE,
    LARGEST,
    Memory,
    Passage,
    encoding_of,
    format_turn,
    live,
    slug,
    turns,
)
from filemem.files.safe import walk
from filemem.text.plain import counted, digest, escape_controls, one_line, printable
from filemem.text.redaction import Redaction, kinds, redact

IMAGES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".heic",
    ".bmp",
    ".tif",
    ".tiff",
    ".avif",
    ".svg",
)
MILLISECONDS_FROM = 1e11  # epoch numbers from here on are milliseconds: as seconds they lie beyond the year 5000
LONGEST = 50_000_000  # characters of a line that are read at once


class ImportedTurn(NamedTuple):
    """One message; `id` names it within its conversation, `speaker` is empty for the person whose memories these are, and
    `time` is as the export has it, aware or naive local."""

    speaker: str
    time: datetime | None
    text: str
    id: str


class ImportedConversation(NamedTuple):
    """One conversation; `id` is unique within the format, empty where how it begins must do; `title` may be empty; `started` is
    None where only the turns or the file say when; `assistant` is the speaker that is an assistant, empty where none is."""

    id: str
    title: str
    started: datetime | None
    turns: list[ImportedTurn]
    assistant: str = ""


class ImportedNote(NamedTuple):
    """One text file of a folder of notes: its path within the folder, and its bytes as they stand; `id` names it within its
    format where its place does not: the next export of it lies elsewhere."""

    path: str
    text: bytes
    id: str = ""


class Skipped(NamedTuple):
    """Something that was left out or changed, and why."""

    what: str
    why: str


Item = ImportedConversation | ImportedNote | Skipped
Parser = Callable[[str, tzinfo | None], Iterable[Item]]


def moment(value: object, zone: tzinfo | None) -> datetime | None:
    """A time stamp as exports write it: seconds or milliseconds since 1970 or ISO 8601; None for anything else.

    An instant comes back in `zone` (None: this machine's); a time without an offset is taken as local and stays naive.
    """
    try:
        if isinstance(value, str):
            when = datetime.fromisoformat(value.strip())
        elif (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and isfinite(value)
        ):
            seconds = value / 1000 if abs(value) >= MILLISECONDS_FROM else value
            when = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        local = when.astimezone(zone) if when.tzinfo else when
    except (ValueError, OverflowError, OSError):
        return None
    return local if local.year >= 1000 else None  # a file name's year has four digits


def mapping(value: object) -> dict[str, Any]:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """`value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def words(value: object) -> str:
    """`value` without outer white space if it is a string, else nothing."""
    return value.strip() if isinstance(value, str) else ""


def attached(name: str) -> str:
    """The mark that a picture or file leaves in the text of its message."""
    kind = "image" if name.lower().endswith(IMAGES) else "file"
    return f"[{kind}: {name}]"


# -- files -------------------------------------------------------------------------------------------------------------


def lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of the text file at `path` that are not blank, with their numbers from 1; one over LONGEST in pieces."""
    with open(safe.open_regular(path), encoding="utf-8-sig", errors="replace") as file:
        pieces = enumerate(iter(lambda: file.readline(LONGEST), ""), 1)
        yield from ((number, text) for number, line in pieces if (text := line.strip()))


def modified(path: str, zone: tzinfo | None) -> datetime:
    """When the file or folder at `path` was last written, in `zone` (None: this machine's)."""
    return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC).astimezone(zone)


def decode(text: str | bytes) -> Any:
    """One JSON value; raises FilememError with the reason where it is broken or nested too deeply."""
    try:
        text = (
            text
            if isinstance(text, str)
            else text.decode(json.detect_encoding(text), "replace")
        )
        return json.loads(text, strict=False)
    except ValueError as error:
        raise FilememError(f"broken JSON ({error}); export it again") from None
    except RecursionError:
        raise FilememError("JSON nested too deeply; export it again") from None


# -- ChatGPT and Claude ------------------------------------------------------------------------------------------------

DOCUMENTS = re.compile(
    r"(?:conversations(?:-\d+)?|memories)\.json"
)  # large ones come as conversations-000.json, -001…
LARGEST_DOCUMENT = (
    500_000_000  # bytes, unpacked; an export of several years has 150,000,000
)
KEYS = {
    "ChatGPT": "mapping",
    "Claude": "chat_messages",
}  # by which their conversations are known


def chatgpt(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every conversation as the person last saw it.

    Custom instructions, which stand in each conversation that had them, come last as a conversation of their own: they are
    the person's words, from which facts are made with their source, as from any others.
    """
    told = dict[str, datetime]()
    for place, raw, why in _elements(path, "ChatGPT"):
        if why:
            yield Skipped(place, why)
            continue
        said = _chatgpt(raw, zone, place)
        yield said
        if first := said.started or next(
            (turn.time for turn in said.turns if turn.time), None
        ):
            told.update(
                {text: min(first, told.get(text, first)) for text in _instructions(raw)}
            )
    if told:
        turns = [
            ImportedTurn("", told[text], text, digest(text, 16))
            for text in sorted(told, key=told.__getitem__)
        ]
        yield ImportedConversation(
            "custom-instructions",
            "ChatGPT custom instructions",
            min(told.values()),
            turns,
        )


def claude(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every conversation as the person last saw it, and Claude's memory."""
    for place, raw, why in _elements(path, "Claude"):
        if raw.keys() & {"conversations_memory", "project_memories"}:
            yield from _memory(raw)
        else:
            yield Skipped(place, why) if why else _claude(raw, zone, place)


def _elements(path: str, assistant: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """What stands in an export: each element's place, the element, and why it is no conversation with the assistant.

    Raises NotFound where `path` holds no document, FilememError where one cannot be read.
    """
    found = False
    for name, data in _documents(path):
        found = True
        try:
            value = decode(data)
        except FilememError as error:
            yield name, {}, str(error)
            continue
        if not isinstance(value, list | dict):
            raise FilememError(
                f"{name} in {path} is not a JSON export; it should begin with [ or {{."
            )
        for number, raw in enumerate(
            map(mapping, value if isinstance(value, list) else [value]), 1
        ):
            other = next((name for name, key in KEYS.items() if key in raw), "")
            why = (
                f"one with {other}; import it as {other.lower()}"
                if other
                else f"{KEYS[assistant]} is missing"
            )
            why = (
                ""
                if other == assistant
                else f"it is no conversation with {assistant}: {why}"
            )
            yield f"{name}, element {number}", raw, why
    if not found:
        raise NotFound(
            f"{path} contains no conversations.json; name the export's JSON file, zip or folder."
        )


def _documents(path: str) -> Iterator[tuple[str, bytes]]:
    """The documents of an export with their bytes, sorted by name: of a folder, of a zip, or the one file."""

    def sized(size: int) -> int:
        if size > LARGEST_DOCUMENT:
            what = f"{path} has a document of {size // 1_000_000:,} MB"
            raise Refused(f"{what}; split it into files of at most 500.")
        return size

    if os.path.isdir(path):  # unpacking often adds a folder
        names = (
            one for depth in ("*", "*/*") for one in glob.glob(depth, root_dir=path)
        )
        for name in sorted(
            one for one in names if DOCUMENTS.fullmatch(os.path.basename(one))
        ):
            if os.path.isfile(place := os.path.join(path, name)):
                yield name, safe.read(place, sized(os.path.getsize(place)))
        return
    with open(safe.open_regular(path), "rb") as file:
        if file.peek(2)[:2] != b"PK":
            yield os.path.basename(path), file.read(sized(os.path.getsize(path)))
            return
        try:
            archive = zipfile.ZipFile(file)
            for name in sorted(
                one
                for one in archive.namelist()
                if DOCUMENTS.fullmatch(os.path.basename(one))
            ):
                member = archive.getinfo(name)
                sized(member.file_size)
                if member.compress_type not in (
                    zipfile.ZIP_STORED,
                    zipfile.ZIP_DEFLATED,
                ):
                    raise ValueError(f"{name} is packed in an unusual way")
                yield name, archive.read(name)
        except (
            zipfile.BadZipFile,
            zlib.error,
            RuntimeError,
            EOFError,
            OSError,
            ValueError,
        ) as error:
            what = f"{path} cannot be unpacked ({error})"
            raise FilememError(
                f"{what}; download it again or unpack it yourself."
            ) from None


def _way(
    parents: Mapping[str, object], leaf: object, age: Callable[[str], Any]
) -> list[str]:
    """The way from a root of a tree down to a leaf, or to the newest one where that is not there, as keys; a cycle ends it."""
    if not isinstance(leaf, str) or leaf not in parents:
        above = {one for one in parents.values() if isinstance(one, str)}
        leaf = max(
            [key for key in parents if key not in above] or parents,
            key=age,
            default=None,
        )
    climbed = dict[str, None]()
    while isinstance(leaf, str) and leaf in parents and leaf not in climbed:
        climbed[leaf] = None
        leaf = parents[leaf]
    return list(reversed(climbed))


# -- ChatGPT -----------------------------------------------------------------------------------------------------------

_SPEAKERS = {
    "user": "",
    "assistant": "ChatGPT",
    "tool": "ChatGPT",
}  # a tool shows pictures on ChatGPT's behalf
_UNSPOKEN = (  # machinery that the person never saw as a message
    *(
        "user_editable_context",
        "model_editable_context",
        "thoughts",
        "reasoning_recap",
        "execution_output",
    ),
    *("tether_quote", "tether_browsing_display", "system_error"),
)
_FENCED = re.compile(r"```\n?(.*?)```\s*\Z", re.DOTALL)
_CITATION = re.compile("\ue200(?:file)?cite\ue202[^\ue200\ue201]*\ue201")


def _instructions(raw: dict[str, Any]) -> Iterator[str]:
    """What a person told ChatGPT of themselves and of how it should answer; the export wraps it in words of ChatGPT's."""
    for node in mapping(raw["mapping"]).values():
        content = mapping(mapping(mapping(node).get("message")).get("content"))
        if content.get("content_type") == "user_editable_context":
            for key in ("user_profile", "user_instructions"):
                text = words(content.get(key))
                fenced = _FENCED.search(text)
                if told := (fenced[1] if fenced else text).strip():
                    yield told


def _chatgpt(
    raw: dict[str, Any], zone: tzinfo | None, place: str
) -> ImportedConversation:
    """The branch that ends in the current node."""
    tree = {key: mapping(node) for key, node in mapping(raw["mapping"]).items()}

    def created(key: str) -> float:
        when = moment(mapping(tree[key].get("message")).get("create_time"), UTC)
        return when.timestamp() if when else 0.0

    shown = _way(
        {key: node.get("parent") for key, node in tree.items()},
        raw.get("current_node"),
        created,
    )
    turns = [
        turn
        for key in shown
        if (turn := _turn(key, mapping(tree[key].get("message")), zone))
    ]
    id = (
        words(raw.get("conversation_id"))
        or words(raw.get("id"))
        or "".join(shown[:1])
        or place
    )
    return ImportedConversation(
        id,
        words(raw.get("title")),
        moment(raw.get("create_time"), zone),
        turns,
        "ChatGPT",
    )


def _turn(
    key: str, message: dict[str, Any], zone: tzinfo | None
) -> ImportedTurn | None:
    """What one node's message showed to the person; None for hidden messages, calls of tools and their results."""
    role = words(mapping(message.get("author")).get("role"))
    metadata, content = (
        mapping(message.get("metadata")),
        mapping(message.get("content")),
    )
    addressed = message.get("recipient") in (None, "all")
    if (
        role not in _SPEAKERS
        or not addressed
        or metadata.get("is_visually_hidden_from_conversation")
    ):
        return None
    kinds = [mapping(part).get("content_type") for part in items(content.get("parts"))]
    if content.get("content_type") in _UNSPOKEN or (
        role == "tool" and "image_asset_pointer" not in kinds
    ):
        return None
    text = _text(content, metadata)
    return (
        ImportedTurn(
            _SPEAKERS[role], moment(message.get("create_time"), zone), text, key
        )
        if text
        else None
    )


def _text(content: dict[str, Any], metadata: dict[str, Any]) -> str:
    """A message's words, with a mark for each picture and file."""
    files = [mapping(file) for file in items(metadata.get("attachments"))]
    names = {words(file.get("id")): words(file.get("name")) for file in files}
    parts = [_part(part, names) for part in items(content.get("parts"))]
    if words(content.get("text")):
        fence = content.get("content_type") == "code"
        language = words(content.get("language")).replace("unknown", "")
        parts.append(
            f"```{language}\n{words(content['text'])}\n```"
            if fence
            else words(content["text"])
        )
    parts += [attached(name) for name in names.values() if name]
    told = "\n".join(filter(None, parts))
    # Citation marks, private-use characters around numbers that mean nothing outside ChatGPT, as it shows them.
    for reference in map(mapping, items(metadata.get("content_references"))):
        if (mark := words(reference.get("matched_text"))).startswith(("\ue200", "【")):
            told = told.replace(mark, words(reference.get("alt")))
    return _CITATION.sub("", told).strip()


def _part(part: object, names: dict[str, str]) -> str:
    """One part of a message; a picture takes its name out of `names`, so that it is not marked twice."""
    if not isinstance(part, dict):
        return words(part)
    if part.get("content_type") != "image_asset_pointer":
        return words(
            part.get("text")
        )  # the transcription of something spoken; recordings have no words
    id = words(part.get("asset_pointer")).rsplit("/", 1)[-1].split("#")[0].split("?")[0]
    prompt = words(mapping(mapping(part.get("metadata")).get("dalle")).get("prompt"))
    caption = " ".join(prompt.split()) or names.get(id) or id or "without a name"
    names.pop(id, None)
    return f"[image: {caption}]"


# -- Claude ------------------------------------------------------------------------------------------------------------

_NOTE = '---\norigin: "claude:{}"\n---\n\n# What Claude remembered\n\n{}\n'
_SENDERS = {"human": "", "user": "", "assistant": "Claude"}
_ROOT = "00000000-0000-4000-8000-000000000000"  # the parent that first messages name


def _memory(value: dict[str, Any]) -> Iterator[ImportedNote]:
    """What Claude remembers of the person and, apart, of each project."""
    projects = mapping(value.get("project_memories"))
    texts = {"memory": value.get("conversations_memory")} | {
        f"project {key}": projects[key] for key in projects
    }
    for name, text in {
        slug(name, 60): printable(words(text)) for name, text in texts.items()
    }.items():
        if text:
            yield ImportedNote(
                f"claude/{name}.md",
                _NOTE.format(name, text).encode("utf-8", "replace"),
                name,
            )


def _claude(
    raw: dict[str, Any], zone: tzinfo | None, place: str
) -> ImportedConversation:
    """The branch that ends in the newest message."""
    messages = [
        message for message in items(raw["chat_messages"]) if isinstance(message, dict)
    ]
    shown = _told(messages, raw.get("current_leaf_message_uuid"))
    turns = [
        turn
        for index, message in enumerate(shown)
        if (turn := _message(message, index, zone))
    ]
    id = words(raw.get("uuid")) or (turns[0].id if turns else place)
    return ImportedConversation(
        id, words(raw.get("name")), moment(raw.get("created_at"), zone), turns, "Claude"
    )


def _told(messages: list[dict[str, Any]], leaf: object) -> list[dict[str, Any]]:
    """The messages from the first one down to `leaf`, or to the newest; all of them where the tree is not whole."""
    tree = {words(message.get("uuid")): message for message in messages}
    parents = {words(message.get("parent_message_uuid")) for message in messages}
    if (
        len(tree) < len(messages)
        or not parents - {""}
        or parents - tree.keys() - {"", _ROOT}
    ):
        return messages
    order = {
        id: (words(one.get("created_at")), place)
        for place, (id, one) in enumerate(tree.items())
    }
    shown = _way(
        {id: one.get("parent_message_uuid") for id, one in tree.items()},
        leaf,
        order.__getitem__,
    )
    return [tree[id] for id in shown]


def _message(
    message: dict[str, Any], index: int, zone: tzinfo | None
) -> ImportedTurn | None:
    """One message; None where it has neither words nor files, as when Claude only called a tool."""
    blocks = items(message.get("content")) or [
        message.get("text")
    ]  # a text alone, as older exports have it
    text = "\n\n".join(
        filter(None, [*map(_message_part, blocks), *_attachments(message)])
    )
    if not text:
        return None
    sender = words(message.get("sender")) or "unknown"
    id = words(message.get("uuid")) or str(index)
    return ImportedTurn(
        _SENDERS.get(sender, sender), moment(message.get("created_at"), zone), text, id
    )


def _attachments(message: dict[str, Any]) -> list[str]:
    """A mark for each file, with the text of those whose text the export has."""
    found = dict[str, str]()
    for key, unnamed in (
        ("attachments", "pasted text"),
        ("files", "without a name"),
        ("files_v2", "without a name"),
    ):
        for file in map(mapping, items(message.get(key))):
            name, text = (
                words(file.get("file_name")) or unnamed,
                words(file.get("extracted_content")),
            )
            found[name] = "\n".join(filter(None, [found.get(name), text]))
    return [f"{attached(name)}\n{text}".strip() for name, text in found.items()]


# -- JSON lines --------------------------------------------------------------------------------------------------------

TOOL = "tool"  # who a call and its answer are noted as
ASKED, ANSWERED = (
    160,
    320,
)  # characters that a transcript keeps of a call and of its answer
_UNHEARD = ("system", "developer", "tool", "function")
_TIMES = ("created", "created_at", "create_time", "timestamp", "date")


def openai_jsonl(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """A conversation a line, then the one made of the single messages."""
    single = list[dict[str, Any]]()
    for number, line in lines(path):
        try:
            record = mapping(decode(line))
        except FilememError as error:
            yield Skipped(f"line {number}", str(error))
            continue
        if isinstance(record.get("messages"), list):
            yield _record(record, f"line {number}", zone)
        elif isinstance(record.get("role"), str):
            single.append(record)
        else:
            yield Skipped(f"line {number}", "it has neither messages nor a role")
    if single:
        name = os.path.splitext(os.path.basename(path))[0]
        yield _record({"messages": single, "title": name}, name, zone)


def _record(
    record: dict[str, Any], place: str, zone: tzinfo | None
) -> ImportedConversation:
    """One conversation; without an id of its own it is known by how it begins."""
    turns = spoken_messages(map(mapping, record["messages"]), zone)
    id = (
        words(record.get("id"))
        or words(record.get("conversation_id"))
        or ("" if turns else place)
    )
    return ImportedConversation(
        id, words(record.get("title")), _time(record, zone), turns
    )


def spoken_messages(
    messages: Iterable[dict[str, Any]], zone: tzinfo | None
) -> list[ImportedTurn]:
    """The messages that somebody spoke, and each call of a tool with its answer, shortened; a message without an id is named by
    what it says and how often that was said."""
    turns, said, calls = list[ImportedTurn](), Counter[str](), dict[str, str]()
    for message in messages:
        at = _time(message, zone)
        for id, tool, text in _calls(message):
            if tool:
                calls[id] = f"{tool} {one_line(text, ASKED)}"
            elif id in calls:
                turns.append(
                    ImportedTurn(
                        TOOL,
                        at,
                        f"{calls.pop(id)}: {one_line(text, ANSWERED)}",
                        f"call:{id}",
                    )
                )
        role, content = (
            words(message.get("role")) or ("" if "type" in message else "unknown"),
            message.get("content"),
        )
        text = words(content) or "\n".join(
            filter(None, map(_message_part, items(content)))
        )
        if text and role and role not in _UNHEARD:
            said[same := digest(f"{role}\0{text}", 16)] += 1
            speaker = words(message.get("name")) or ("" if role == "user" else role)
            id = words(message.get("id")) or f"{same}-{said[same]}"
            turns.append(ImportedTurn(speaker, at, text, id))
    return turns


def _message_part(part: object) -> str:
    """One part of a message; pictures and files leave a mark."""
    if not isinstance(part, dict):
        return words(part)
    if "image" in words(part.get("type")):
        return "[image: without a name]"
    if "file" in words(part.get("type")):
        return attached(
            words(mapping(part.get("file")).get("filename")) or "without a name"
        )
    return words(part.get("text")) or words(part.get("refusal"))


def _time(record: dict[str, Any], zone: tzinfo | None) -> datetime | None:
    """The first time stamp that a record has under any of the usual names."""
    return next(
        (when for key in _TIMES if (when := moment(record.get(key), zone))), None
    )


def _calls(entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The calls of tools in a message, an item or an entry: the call's id, the tool and what was asked; or "" and the answer."""
    for call in map(mapping, items(entry.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield (
            words(call.get("id")),
            words(function.get("name")) or TOOL,
            _whole(function.get("arguments")),
        )
    if entry.get("role") == "tool":
        yield words(entry.get("tool_call_id")), "", _whole(entry.get("content"))
    for block in map(mapping, [entry, *items(entry.get("content"))]):
        id, name = (
            words(block.get("call_id")) or words(block.get("id")),
            words(block.get("name")) or TOOL,
        )
        if block.get("type") in ("function_call", "custom_tool_call", "tool_use"):
            yield id, name, _whole(block.get("arguments", block.get("input")))
        elif block.get("type") in (
            "function_call_output",
            "custom_tool_call_output",
            "tool_result",
        ):
            yield (
                words(block.get("tool_use_id")) or id,
                "",
                _whole(block.get("output", block.get("content"))),
            )


def _whole(value: object) -> str:
    """Arguments or an answer as one text."""
    if isinstance(value, list):
        return "\n".join(
            words(mapping(part).get("text")) or words(part) for part in value
        )
    return (
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False)
        if value is not None
        else ""
    )


# -- what coding agents keep of their sessions, a file a session, only ever added to -----------------------------------------

Entries = Iterator[tuple[int, dict[str, Any]]]
_FOLDERS = (
    "subagents",
    "workflows",
    "tool-results",
)  # folders of Claude Code's beside a session
_ASIDE = (
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
)
_TITLES = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
_PUT_IN = re.compile(  # begins what the programs put between a person's words, or in their place
    r"<(command-name|command-message|command-args|command-contents|local-command-stdout|local-command-stderr"
    r"|local-command-caveat|bash-input|bash-stdout|bash-stderr|system-reminder|task-notification|ide_opened_file"
    r"|ide_selection|ide_diagnostics|user-prompt-submit-hook|environment_context|user_instructions|permissions"
    r"|turn_aborted|skill|INSTRUCTIONS|filemem-context)(?:\s[^>]{0,200})?>"
)
_NOBODYS = (
    "[Request interrupted by user",
    "This session is being continued from",
    "# AGENTS.md instructions",
)


def _agent(
    name: str,
    named: str,
    read: Callable[[Entries, str, tzinfo | None], ImportedConversation | None],
) -> Parser:
    """The parser of what a coding agent keeps: of the file, or of each in a folder and those below, links left out, whose name
    matches; without subagents and tools. Sessions in which nobody spoke are passed over."""

    def sessions(path: str, zone: tzinfo | None) -> Iterator[Item]:
        found = [path]
        if os.path.isdir(path):
            below = walk(
                os.path.realpath(path), lambda _, entry: entry.name not in _FOLDERS
            )
            files = (entry for _, entry in below if re.fullmatch(named, entry.name))
            found = sorted(
                entry.path for entry in files if entry.is_file(follow_symlinks=False)
            )
        if not found:
            raise NotFound(
                f"{path} holds no sessions of {name}; name the folder that it keeps them in."
            )
        for file in found:
            broken: list[Skipped] = []
            said = read(
                _entries(file, broken),
                os.path.splitext(os.path.basename(file))[0],
                zone,
            )
            if said and said.turns:
                begun = said.started or said.turns[0].time or modified(file, zone)
                yield said._replace(started=begun, assistant=name)
            yield from broken

    return sessions


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


def _claude_code(
    entries: Entries, stem: str, zone: tzinfo | None
) -> ImportedConversation:
    """One session of Claude Code, by the order of its file: what a person took back they said as well."""
    title, turns = "", list[ImportedTurn]()
    for number, entry in entries:
        kind, message = words(entry.get("type")), mapping(entry.get("message"))
        if kind in _TITLES:
            title = words(entry.get(_TITLES[kind])) or title
        if kind not in ("user", "assistant") or any(entry.get(key) for key in _ASIDE):
            continue
        if (
            text := ""
            if message.get("model") == "<synthetic>"
            else _spoken(message.get("content"))
        ):
            speaker, id = (
                "Claude" if kind == "assistant" else "",
                words(entry.get("uuid")) or str(number),
            )
            turns.append(
                ImportedTurn(speaker, moment(entry.get("timestamp"), zone), text, id)
            )
    return ImportedConversation(stem, title, None, turns)


def _codex(
    entries: Entries, stem: str, zone: tzinfo | None
) -> ImportedConversation | None:
    """One rollout: the events where it has them, else the messages; None for a subagent's."""
    id, started, said, items_ = stem, None, list[ImportedTurn](), list[ImportedTurn]()
    for number, entry in entries:
        payload = mapping(entry.get("payload")) if "payload" in entry else entry
        kind, at, role = (
            payload.get("type"),
            moment(entry.get("timestamp"), zone),
            payload.get("role"),
        )
        if entry.get("type") == "session_meta" or (number == 1 and "type" not in entry):
            if "subagent" in mapping(payload.get("source")):
                return None
            if not started:
                id, started = (
                    words(payload.get("id")),
                    moment(payload.get("timestamp"), zone) or at,
                )
            continue
        typed = entry.get("type") == "event_msg" and kind in (
            "user_message",
            "agent_message",
        )
        told = typed or (kind == "message" and role in ("user", "assistant"))
        if told and (text := _spoken(payload.get("message" if typed else "content"))):
            speaker = "" if role == "user" or kind == "user_message" else "Codex"
            (said if typed else items_).append(
                ImportedTurn(speaker, at, text, str(number))
            )
    spoken = said if any(not turn.speaker for turn in said) else items_
    return ImportedConversation(id or stem, "", started, spoken)


def _spoken(content: object) -> str:
    """The words of a message's content, a text or blocks; calls of tools, their results and thoughts are no words."""
    parts = [content] if isinstance(content, str) else items(content)
    told = (_without_put_in(_message_part(part)).strip() for part in parts)
    return "\n\n".join(one for one in told if one and not one.startswith(_NOBODYS))


def _without_put_in(text: str) -> str:
    """A text without what a program put into it; the end of each tag is looked for until it has none."""
    kept, at, endless = list[str](), 0, set[str]()
    for tag in _PUT_IN.finditer(text):
        if tag.start() < at or tag[1] in endless:
            continue
        close = f"</{tag[1]}>"
        end = text.find(close, tag.end())
        if end < 0:
            endless.add(tag[1])
        else:
            kept.append(text[at : tag.start()])
            at = end + len(close)
    return "".join([*kept, text[at:]])


# -- notes -------------------------------------------------------------------------------------------------------------

ATTACHMENTS = (*IMAGES, ".pdf", ".rtf", ".ps", ".eps")  # those that may hold no NUL


def markdown(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every text file under the folder `path` (or the one file that it names), by path; nothing is dated by `zone`."""
    if not os.path.isdir(path):
        yield _note(os.path.basename(path), path)
        return
    found = walk(os.path.realpath(path), lambda path, entry: not _left_out(entry))
    for name, entry in sorted(found, key=lambda one: one[0]):
        if why := _left_out(entry):
            yield Skipped(name, why)
        elif not entry.is_dir():
            yield _note(name, entry.path)


def _left_out(entry: "os.DirEntry[str]") -> str:
    """Why a file or a folder is not looked into; empty where it is."""
    if is_temporary_name(entry.name):
        return "hidden, or an editor's temporary file"
    if entry.is_symlink():
        return "a link; import the file that it leads to"
    return (
        ""
        if os.access(entry.path, os.R_OK)
        else "it may not be read; check its permissions"
    )


def _note(path: str, full: str) -> ImportedNote | Skipped:
    """The file at `full` as the note `path`, unless it is binary or cannot be read."""
    try:
        data = safe.read(full, LARGEST + 1)
    except Refused as error:
        return Skipped(path, str(error))
    if path.lower().endswith(ATTACHMENTS) or Memory(path, data).binary:
        return Skipped(path, "an attachment, not a text file")
    if len(data) > LARGEST:
        return Skipped(
            path, f"larger than {LARGEST // 1_000_000} MB; split it into smaller files"
        )
    return ImportedNote(path, data)


FORMATS: dict[str, Parser] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "openai-jsonl": openai_jsonl,
    "claude-code": _agent("Claude", r"(?!agent-).*\.jsonl", _claude_code),
    "codex": _agent("Codex", r"rollout-.*\.jsonl", _codex),
    "markdown": markdown,
}
NOTES = "notes/"
OPENING = 2  # turns with which conversations of several days may begin alike
LONGEST_NAME, LONGEST_TITLE = 100, 200  # characters of a speaker's name, of a title


def find_parser(format: str) -> Parser:
    """The parser of a format: ours, else one that an installed package adds under the entry point filemem.importers.

    Raises NotFound, with the formats that there are.
    """
    if format in FORMATS:
        return FORMATS[format]
    from importlib import metadata  # noqa: PLC0415  slow to load, and needed for other people's formats only

    for found in metadata.entry_points(group="filemem.importers", name=format):
        parser: Parser = found.load()
        return parser
    what = (
        f"there is no format {one_line(format, 40)}" if format else "no format is named"
    )
    raise NotFound(f"{what}; take one of {', '.join(FORMATS)}.")


class ImportedMemory(NamedTuple):
    """One memory that an import met; `turns` is how many it added there, 0 for a note."""

    user: str
    path: str
    turns: int


class ImportReport(NamedTuple):
    """What an import did, or would do: memories added, updated, left as they are; what was left out or altered, why."""

    added: list[ImportedMemory]
    updated: list[ImportedMemory]
    unchanged: list[ImportedMemory]
    skipped: list[Skipped]


def import_file(
    store: StoreFolder,
    format: str,
    path: str,
    *,
    user: str,
    zone: tzinfo | None = None,
    dry_run: bool = False,
    with_secrets: bool = False,
) -> ImportReport:
    """Take into a user's memory what the export at `path` holds and the memory does not; a second run changes nothing.

    `format` is what `find_parser` knows; times are written in `zone` (None: this machine's). Secrets are taken out, and reported,
    unless `with_secrets` or the settings keep them. Raises NotFound, Refused or FilememError where `path` is no such export.
    What was taken before an error stays; the next run goes on from there.
    """
    intake = _Import(store.folder(user), dry_run, with_secrets)
    path, root = os.path.realpath(path), intake.folder.store
    if not os.path.exists(path):
        raise NotFound(
            f"{one_line(path)} does not exist; name the export's file or folder."
        )
    if os.path.isdir(path) and os.path.commonpath([path, root]) in (path, root):
        raise Refused(
            f"{one_line(path)} contains the store or lies in it; import from a separate folder."
        )
    for item in find_parser(format)(path, zone):
        if isinstance(item, Skipped):
            intake.skip(*item)
            continue
        try:
            intake.take(item, format, path, modified(path, zone))
        except (Refused, Changed) as error:
            intake.skip(
                item.path if isinstance(item, ImportedNote) else item.title or item.id,
                str(error),
            )
    return intake.report


def add_conversation(
    folder: Folder,
    messages: Iterable[Mapping[str, Any]],
    at: datetime,
    id: str,
    title: str,
) -> str:
    """Keep what is new of a conversation of OpenAI-style messages; returns its session's path, empty where nobody spoke.

    Raises Refused where it was kept before and a person has deleted it, FilememError for what is no message.
    """
    # What openai's client answers is an object.
    given = [
        message.model_dump() if hasattr(message, "model_dump") else message
        for message in messages
    ]
    for one in given:
        if not isinstance(one, Mapping) or not isinstance(
            one.get("content"), str | list | None
        ):
            form = 'a mapping such as {"role": "user", "content": "I live in Ghent."}'
            raise FilememError(
                f"{one_line(repr(one), 80)} is no message; give {form}, the content a text or a list."
            )
    turns = spoken_messages([dict(message) for message in given], at.tzinfo)
    if not turns:
        return ""
    intake = _Import(folder)
    intake.take(ImportedConversation(id, title, None, turns), "added", "", at)
    added, updated, unchanged, skipped = intake.report
    if taken := [*added, *updated, *unchanged]:
        return taken[0].path
    raise Refused(f"{one_line(title or turns[0].text, 80)}: {skipped[-1].why}.")


class _Import:
    """An import into one user's folder; a dry run reports the same and writes nothing."""

    def __init__(
        self, folder: Folder, dry: bool = False, with_secrets: bool = False
    ) -> None:
        self.folder, self.dry = folder, dry
        self.redacts = config.of(folder).redact and not with_secrets
        self.origins = Origins(folder, dry)
        self.planned = set[str]()  # the sessions that a dry run would have written
        self.report = ImportReport([], [], [], [])

    def skip(self, what: str, why: str) -> None:
        """Report what was left out or changed."""
        self.report.skipped.append(Skipped(one_line(what), one_line(why)))

    def take(
        self,
        item: ImportedConversation | ImportedNote,
        format: str,
        root: str,
        written: datetime,
    ) -> None:
        """Write what is new of one conversation, or of one note of the folder `root`, under the user's lock; where nothing else
        says when a conversation was, it was when its export was `written`."""
        with contextlib.nullcontext() if self.dry else self.folder.locked():
            if isinstance(item, ImportedNote):
                self._note(
                    item,
                    f"{format}:{item.id or digest(os.fsencode(os.path.join(root, item.path)), 16)}",
                )
            else:
                self._conversation(item, format, written)

    def _record(self, origin: str, path: str, parts: list[str]) -> None:
        if parts:
            self.origins.add(origin, path, parts)

    def _say_secrets(self, what: str, secrets: list[Redaction]) -> None:
        if secrets:
            count = f"{counted(len(secrets), 'secret')} left out: {kinds(secrets)}"
            self.skip(what, f"taken, but {count}; --with-secrets takes all")

    # -- conversations -------------------------------------------------------------------------------------------

    def _origin(
        self,
        format: str,
        item: ImportedConversation,
        said: list[ImportedTurn],
        at: datetime,
    ) -> str:
        """What names a conversation in the record; without an id how it begins, with a number: that of the one kept before which
        it goes on, or which holds it already.

        One of another day goes on only where more than its opening is the same: people say hello every day.
        """
        if item.id or not said:
            id = (
                item.id
                if item.id == one_line(item.id)
                else digest(escape_controls(item.id), 16)
            )
            return f"{format}:{id}"
        first, ids = item.turns[0], [turn.id for turn in said]
        opening = digest(f"{item.title}\0{first.speaker}\0{first.text}", 16)
        for number in count(1):
            known = self.origins.of(origin := f"{format}:{opening}-{number}")
            alike = known and all(
                one == other for one, other in zip(known.parts, ids, strict=False)
            )
            same_day = known and (f"{at:%Y-%m-%d}" in known.path or not known.path)
            if not known or (
                alike and (same_day or min(len(known.parts), len(ids)) > OPENING)
            ):
                break
        return origin

    def _cleaned(self, conversation: ImportedConversation) -> list[ImportedTurn]:
        """The turns with the user's name as their own speaker's and with ids that each name one; those without words left out."""
        said, seen = [], Counter[str]()
        for turn in conversation.turns:
            if turn.text.strip():
                seen[turn.id] += 1
                id = turn.id if seen[turn.id] == 1 else f"{turn.id}#{seen[turn.id]}"
                speaker = one_line(turn.speaker, LONGEST_NAME) or self.folder.name
                said.append(
                    ImportedTurn(
                        speaker, turn.time, turn.text, one_line(id, LONGEST_TITLE)
                    )
                )
        return said

    def _conversation(
        self, item: ImportedConversation, format: str, written_at: datetime
    ) -> None:
        title, said, secrets = (
            one_line(item.title, LONGEST_TITLE),
            self._cleaned(item),
            list[Redaction](),
        )
        at = item.started or next(
            (turn.time for turn in item.turns if turn.time), written_at
        )
        origin = self._origin(format, item, said, at)
        if self.redacts:
            texts = [redact(text) for text in (title, *(turn.text for turn in said))]
            secrets = [one for _, found in texts for one in found]
            title, *clean = (text for text, _ in texts)
            said = [
                turn._replace(text=text) for turn, text in zip(said, clean, strict=True)
            ]
        named = title or one_line(item.id)
        imported, path = self.origins.of(origin), self.origins.session(origin)
        known = set(imported.parts) if imported else set[str]()
        if imported and imported.path in self.planned:
            path = imported.path
        if not said:
            return self.skip(named, "it has no turns")
        if imported and not path:
            named_before = (
                f" as {imported.path}" if "/" in imported.path else ""
            )  # its name may be forgotten, too
            return self.skip(
                named,
                f"imported before{named_before} and deleted since; it stays deleted",
            )
        fresh = [turn.id for turn in said if turn.id not in known]
        if path is None:  # a new session
            new, report = said, self.report.added
            name = slug(title) or slug(said[0].text) or "conversation"
            front = {
                "title": title and quoted(title),
                "assistant": item.assistant,
                "origin": quoted(origin),
            }
            path = f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md"
            if self.dry:
                free = (
                    one
                    for one in numbered(path)
                    if not next(self.folder.standing(one), "")
                )
                path = next(one for one in free if one not in self.planned)
            else:
                path = transcript.create(
                    self.folder, name, at, [written(said, at.date())], **front
                )
        else:
            session = (
                self.folder.memory(path) if fresh and path not in self.planned else None
            )
            new = (
                missing(said, known, session)
                if session
                else [turn for turn in said if turn.id not in known]
            )
            report = self.report.updated if new else self.report.unchanged
            if session and new and not self.dry:
                self.folder.append(path, written(new, transcript.last_day(session)))
        report.append(ImportedMemory(self.folder.name, path, len(new)))
        if self.dry:
            self.planned.add(path)
        self._record(origin, path, fresh)
        if new:
            self._say_secrets(named, secrets)
        return None

    # -- notes ---------------------------------------------------------------------------------------------------

    def _note(self, note: ImportedNote, origin: str) -> None:
        """Give a note its own path, or the next free one; where the very same bytes stand there, they are the note. One that was
        imported before is brought up to date, unless a person changed or deleted it here."""
        imported, text = self.origins.of(origin), note.text
        if self.redacts:
            encoding = encoding_of(text)
            broken = "surrogateescape" if encoding == "utf-8" else "replace"
            clean, secrets = redact(text.decode(encoding, broken))
            text = clean.encode(encoding, broken) if secrets else text
            if not imported or imported.parts[-1] != digest(text, 16):
                self._say_secrets(note.path, secrets)
        if imported:
            return self._update(
                note.path, text, origin, imported.path, imported.parts[-1]
            )
        self.folder.absolute(
            NOTES + note.path
        )  # raises Refused, where nothing is written, too
        standing = (
            (path, next(self.folder.standing(path), ""))
            for path in numbered(NOTES + note.path)
        )
        path, place = next(
            (path, place)
            for path, place in standing
            if not place or self.folder.read(place) == text
        )
        if not place and not self.dry:
            path = self.folder.create(path, text)
        report = self.report.unchanged if place else self.report.added
        report.append(ImportedMemory(self.folder.name, place or path, 0))
        self._record(origin, path, [digest(text, 16)])
        if path != NOTES + note.path:
            self.skip(note.path, f"taken as {path}: its own name is another note's")
        return None

    def _update(
        self, name: str, text: bytes, origin: str, path: str, before: str
    ) -> None:
        """Bring the note at `path`, which had the digest `before`, up to date; where the new text lacks lines of what is here,
        that is kept in the archive."""
        place, now = next(self.folder.standing(path), None), digest(text, 16)
        if not place:
            return self.skip(
                name, "imported before and deleted or moved since; left so"
            )
        here = self.folder.read(place)
        new = now != before and here != text
        if new and digest(here, 16) != before:
            return self.skip(
                name,
                f"changed, but so was {place} since it was imported, which stays as it is",
            )
        if new:
            lines, kept = iter(text.splitlines()), f"{ARCHIVE}/{live(place)}"
            if not all(line in lines for line in here.splitlines()):
                kept = (
                    kept if self.dry else self.folder.create(kept, here)
                )  # under the next free name
                self.report.added.append(ImportedMemory(self.folder.name, kept, 0))
            if not self.dry and not self.folder.edit(
                place, lambda data: text if data == here else None
            ):
                raise Changed(f"{place} changed on disk meanwhile; import again.")
        (self.report.updated if new else self.report.unchanged).append(
            ImportedMemory(self.folder.name, place, 0)
        )
        return self._record(origin, path, [now] if now != before else [])


# -- turns as lines of a transcript --------------------------------------------------------------------------------------


def written(said: list[ImportedTurn], day: date | None) -> str:
    """The turns as a transcript goes on with them behind a turn of `day`: each of another day than the last has its date."""
    lines = []
    for turn in said:
        own = turn.time.date() if turn.time else day
        lines.append(_line(turn, own if own != day else None))
        day = own
    return "".join(lines)


def missing(
    said: list[ImportedTurn], known: set[str], session: Memory
) -> list[ImportedTurn]:
    """The turns that `session` does not have yet; `known` are the ids of all that were imported into it before.

    Turns beyond the number of those known were written without being recorded, so the very words tell which they are.
    With no record at all, what comes before the last turn that is there was there too, and has been edited since.
    """

    def as_written(passage: Passage) -> tuple[str, str, str]:
        return passage.speaker, passage.time, passage.text

    there = Counter(
        [as_written(passage) for passage in turns(session.lines, session.front_end)][
            len(known) :
        ]
    )
    new, found = list[ImportedTurn](), 0
    for turn in said:
        key = as_written(
            turns(_line(turn).encode("utf-8", "replace").decode().split("\n"))[0]
        )
        if turn.id in known:
            continue
        if there[key]:
            there[key] -= 1
            found = len(new)
        else:
            new.append(turn)
    return new if known else new[found:]


def _line(turn: ImportedTurn, day: date | None = None) -> str:
    return format_turn(
        turn.speaker, f"{turn.time:%H:%M}" if turn.time else "", turn.text, day
    )
