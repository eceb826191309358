"""Data exports of ChatGPT and Claude: `conversations.json`, the zip that it came in, or its folder.

A conversation of ChatGPT's is a tree of messages, `mapping`; `current_node` is the leaf that the person last saw, and the way
from there up to the root is the conversation. OpenAI publishes no schema; the shapes are as exports showed them from 2023 to 2026
(github.com/mitkury/chatgpt-export-parser, docs; elizaOS/eliza pull request 12007).

Claude's `chat_messages` is a flat list; where its messages name their `parent_message_uuid`, it is a tree in which an edited or
regenerated message starts a branch (CherryHQ/cherry-studio pull request 16164). A pasted document stands in `attachments` with
its text; pictures and uploads stand in `files` by name only. What Claude itself remembers stands in `memories.json`,
`[{"conversations_memory": Markdown, "project_memories": {id: Markdown}}]` (NousResearch/hermes-agent pull request 28041): each
becomes a note, as these are Claude's words about the person and not theirs.
"""

import contextlib
import glob
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files import safe
from filemem.files.memory import slug
from filemem.importers.exports import (
    ImportedConversation,
    ImportedNote,
    ImportedTurn,
    Item,
    Skipped,
    attached,
    decode,
    items,
    mapping,
    moment,
    words,
)
from filemem.text.plain import digest

DOCUMENTS = re.compile(
    r"(?:conversations(?:-\d+)?|memories)\.json"
)  # large exports come as conversations-000.json, -001…
LARGEST = 500_000_000  # bytes of one document, unpacked; an export of several years has 150,000,000
KEYS = {"ChatGPT": "mapping", "Claude": "chat_messages"}  # by which their conversations are known
Read = Callable[[dict[str, Any], tzinfo | None, str], ImportedConversation]


def chatgpt(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every conversation as the person last saw it.

    Custom instructions, which stand in each conversation that had them, come last as a conversation of their own: they are
    the person's words, from which facts are made with their source, as from any others.
    """
    told = dict[str, datetime]()

    def read(raw: dict[str, Any], zone: tzinfo | None, place: str) -> ImportedConversation:
        said = _chatgpt(raw, zone, place)
        if first := said.started or next((turn.time for turn in said.turns if turn.time), None):
            told.update({text: min(first, told.get(text, first)) for text in _instructions(raw)})
        return said

    yield from _conversations(path, zone, "ChatGPT", read)
    if told:
        turns = [ImportedTurn("", told[text], text, digest(text, 16)) for text in sorted(told, key=told.__getitem__)]
        yield ImportedConversation("custom-instructions", "ChatGPT custom instructions", min(told.values()), turns)


def claude(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Every conversation as the person last saw it, and Claude's memory."""
    return _conversations(path, zone, "Claude", _claude)


# -- files -------------------------------------------------------------------------------------------------------------


def _conversations(path: str, zone: tzinfo | None, assistant: str, read: Read) -> Iterator[Item]:
    """The conversations with an assistant, and what Claude remembers; what is broken is told.

    Raises NotFound where `path` holds no document, FilememError where one cannot be read.
    """
    for name, data in _documents(path):
        try:
            value = decode(data.decode(json.detect_encoding(data), "replace"))
        except FilememError as error:
            yield Skipped(name, str(error))
            continue
        if not isinstance(value, list | dict):
            raise FilememError(f"{name} in {path} is no JSON export; it should begin with [ or {{.")
        for number, raw in enumerate(map(mapping, value if isinstance(value, list) else [value]), 1):
            place = f"{name}, element {number}"
            if KEYS[assistant] in raw:
                yield read(raw, zone, place)
                continue
            if assistant == "Claude" and raw.keys() & {"conversations_memory", "project_memories"}:
                yield from _memory(raw)
                continue
            other = next((name for name, key in KEYS.items() if key in raw), "")
            why = f"it is one with {other}; import it as {other.lower()}" if other else f"{KEYS[assistant]} is missing"
            yield Skipped(place, f"it is no conversation with {assistant}: {why}")


def _documents(path: str) -> Iterator[tuple[str, bytes]]:
    """The documents of an export with their bytes, sorted by name."""
    try:
        with contextlib.ExitStack() as held:
            if os.path.isdir(path):  # unpacking often adds a folder
                found = [one for depth in ("*", "*/*") for one in glob.glob(depth, root_dir=path)]
                files = {one: os.path.join(path, one) for one in found}
                read = {
                    one: partial(safe.read, file, LARGEST) for one, file in files.items() if not os.path.isdir(file)
                }
            elif zipfile.is_zipfile(file := held.enter_context(open(safe.open_regular(path), "rb"))):
                archive = held.enter_context(zipfile.ZipFile(file))
                members = (one for one in archive.infolist() if one.file_size <= LARGEST)
                read = {one.filename: partial(archive.read, one) for one in members}
            else:
                yield os.path.basename(path), safe.read(path, LARGEST)
                return
            names = sorted(one for one in read if DOCUMENTS.fullmatch(os.path.basename(one)))
            if not names:
                size = f"of at most {LARGEST // 1_000_000} MB"
                raise NotFound(
                    f"{path} holds no conversations.json {size}; name the export's JSON file, zip or folder."
                )
            for name in names:
                yield name, read[name]()
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise FilememError(f"{path} is no whole zip ({error}); download it again or unpack it yourself.") from None


def _way(parents: Mapping[str, object], leaf: object, age: Callable[[str], Any]) -> list[str]:
    """The way from a root of a tree down to a leaf, or to the newest one where that is not there, as keys; a cycle ends it."""
    if not isinstance(leaf, str) or leaf not in parents:
        above = {one for one in parents.values() if isinstance(one, str)}
        leaf = max([key for key in parents if key not in above] or parents, key=age, default=None)
    climbed = dict[str, None]()
    while isinstance(leaf, str) and leaf in parents and leaf not in climbed:
        climbed[leaf] = None
        leaf = parents[leaf]
    return list(reversed(climbed))


# -- ChatGPT -----------------------------------------------------------------------------------------------------------

_SPEAKERS = {"user": "", "assistant": "ChatGPT", "tool": "ChatGPT"}  # a tool shows pictures on ChatGPT's behalf
_UNSPOKEN = (  # machinery that the person never saw as a message
    *("user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "execution_output"),
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


def _chatgpt(raw: dict[str, Any], zone: tzinfo | None, place: str) -> ImportedConversation:
    """The branch that ends in the current node."""
    tree = {key: mapping(node) for key, node in mapping(raw["mapping"]).items()}

    def created(key: str) -> float:
        when = moment(mapping(tree[key].get("message")).get("create_time"), UTC)
        return when.timestamp() if when else 0.0

    shown = _way({key: node.get("parent") for key, node in tree.items()}, raw.get("current_node"), created)
    turns = [turn for key in shown if (turn := _turn(key, mapping(tree[key].get("message")), zone))]
    id = words(raw.get("conversation_id")) or words(raw.get("id")) or "".join(shown[:1]) or place
    return ImportedConversation(id, words(raw.get("title")), moment(raw.get("create_time"), zone), turns, "ChatGPT")


def _turn(key: str, message: dict[str, Any], zone: tzinfo | None) -> ImportedTurn | None:
    """What one node's message showed to the person; None for hidden messages, calls of tools and their results."""
    role = mapping(message.get("author")).get("role")
    metadata, content = mapping(message.get("metadata")), mapping(message.get("content"))
    addressed = message.get("recipient") in (None, "all")
    if role not in _SPEAKERS or not addressed or metadata.get("is_visually_hidden_from_conversation"):
        return None
    kinds = [mapping(part).get("content_type") for part in items(content.get("parts"))]
    if content.get("content_type") in _UNSPOKEN or (role == "tool" and "image_asset_pointer" not in kinds):
        return None
    text = _text(content, metadata)
    return ImportedTurn(_SPEAKERS[role], moment(message.get("create_time"), zone), text, key) if text else None


def _text(content: dict[str, Any], metadata: dict[str, Any]) -> str:
    """A message's words, with a mark for each picture and file."""
    files = [mapping(file) for file in items(metadata.get("attachments"))]
    names = {words(file.get("id")): words(file.get("name")) for file in files}
    parts = [_part(part, names) for part in items(content.get("parts"))]
    if words(content.get("text")):
        fence = content.get("content_type") == "code"
        language = words(content.get("language")).replace("unknown", "")
        parts.append(f"```{language}\n{words(content['text'])}\n```" if fence else words(content["text"]))
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
        return words(part.get("text"))  # the transcription of something spoken; recordings have no words
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
    texts = {"memory": value.get("conversations_memory")} | {f"project {key}": projects[key] for key in projects}
    for name, text in {slug(name, 60): words(text) for name, text in texts.items()}.items():
        if text:
            yield ImportedNote(f"claude/{name}.md", _NOTE.format(name, text).encode("utf-8", "replace"), name)


def _claude(raw: dict[str, Any], zone: tzinfo | None, place: str) -> ImportedConversation:
    """The branch that ends in the newest message."""
    messages = [message for message in items(raw["chat_messages"]) if isinstance(message, dict)]
    shown = _told(messages, raw.get("current_leaf_message_uuid"))
    turns = [turn for index, message in enumerate(shown) if (turn := _message(message, index, zone))]
    id = words(raw.get("uuid")) or (turns[0].id if turns else place)
    return ImportedConversation(id, words(raw.get("name")), moment(raw.get("created_at"), zone), turns, "Claude")


def _told(messages: list[dict[str, Any]], leaf: object) -> list[dict[str, Any]]:
    """The messages from the first one down to `leaf`, or to the newest; all of them where the tree is not whole."""
    tree = {words(message.get("uuid")): message for message in messages}
    parents = {words(message.get("parent_message_uuid")) for message in messages}
    if len(tree) < len(messages) or not parents - {""} or parents - tree.keys() - {"", _ROOT}:
        return messages
    order = {id: (words(one.get("created_at")), place) for place, (id, one) in enumerate(tree.items())}
    shown = _way({id: one.get("parent_message_uuid") for id, one in tree.items()}, leaf, order.__getitem__)
    return [tree[id] for id in shown]


def _message(message: dict[str, Any], index: int, zone: tzinfo | None) -> ImportedTurn | None:
    """One message; None where it has neither words nor files, as when Claude only called a tool."""
    blocks = [mapping(block) for block in items(message.get("content"))]
    said = [words(block.get("text")) for block in blocks if block.get("type") == "text"]
    said = said if blocks else [words(message.get("text"))]  # alone, as older exports have it
    text = "\n\n".join(filter(None, [*said, *_attachments(message)]))
    if not text:
        return None
    sender = words(message.get("sender")) or "unknown"
    id = words(message.get("uuid")) or str(index)
    return ImportedTurn(_SENDERS.get(sender, sender), moment(message.get("created_at"), zone), text, id)


def _attachments(message: dict[str, Any]) -> list[str]:
    """A mark for each file, with the text of those whose text the export has."""
    given, named = (
        map(mapping, items(message.get("attachments"))),
        items(message.get("files")) + items(message.get("files_v2")),
    )
    found = [(words(one.get("file_name")) or "pasted text", words(one.get("extracted_content"))) for one in given]
    for name in (words(mapping(file).get("file_name")) or "without a name" for file in named):
        found += [] if name in dict(found) else [(name, "")]
    return [f"{attached(name)}\n{text}".strip() for name, text in found]
