"""A ChatGPT data export: `conversations.json` (large ones: `conversations-000.json` and on), its zip or its folder.

A conversation is a tree of messages, `mapping`; `current_node` is the leaf that the person last saw, and the way from
there up to the root is the conversation. OpenAI publishes no schema; the shapes are as exports showed them from 2023 to
2026 (github.com/mitkury/chatgpt-export-parser, docs; elizaOS/eliza pull request 12007).
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any

from filemem.importers.exports import (
    BRANCHES,
    ImportedConversation,
    ImportedTurn,
    Item,
    Seen,
    attached,
    branch,
    conversations,
    items,
    mapping,
    moment,
    words,
)
from filemem.text.plain import digest

SPEAKERS = {"user": "", "assistant": "ChatGPT", "tool": "ChatGPT"}  # a tool shows pictures on ChatGPT's behalf
_UNSPOKEN = (  # machinery that the person never saw as a message
    *("user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "execution_output"),
    *("tether_quote", "tether_browsing_display", "system_error"),
)
_FENCED = re.compile(r"```\n?(.*?)```\s*\Z", re.DOTALL)
_CITATION = re.compile("\ue200(?:file)?cite\ue202[^\ue200\ue201]*\ue201")


def parse(path: str, zone: tzinfo | None, seen: Seen) -> Iterator[Item]:
    """Every conversation as the person last saw it; turns on other branches are counted in a Skipped.

    Custom instructions, which stand in each conversation that had them, come last as a conversation of their own: they are
    the person's words, from which facts are made with their source, as from any others.
    """
    told: dict[str, datetime] = {}

    def read(raw: dict[str, Any], zone: tzinfo | None) -> ImportedConversation:
        said = _read(raw, zone)
        first = said.started or next((turn.time for turn in said.turns if turn.time), None)
        for text in _instructions(raw):
            if first and (text not in told or first < told[text]):
                told[text] = first
        return said

    yield from conversations(path, zone, seen, "ChatGPT", read)
    if told:
        turns = [
            ImportedTurn("", at, text, digest(text, 16)) for text, at in sorted(told.items(), key=lambda one: one[1])
        ]
        yield ImportedConversation("custom-instructions", "ChatGPT custom instructions", min(told.values()), turns)


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


def _read(raw: dict[str, Any], zone: tzinfo | None) -> ImportedConversation:
    """The branch that ends in the current node."""
    tree = {key: mapping(node) for key, node in mapping(raw["mapping"]).items()}
    shown = _branch(tree, raw.get("current_node"))
    spoken = {key: turn for key in tree if (turn := _turn(key, mapping(tree[key].get("message")), zone))}
    turns = [spoken[key] for key in shown if key in spoken]
    id = words(raw.get("conversation_id")) or words(raw.get("id")) or "".join(shown[:1])
    left = BRANCHES.format(len(spoken) - len(turns)) if len(spoken) > len(turns) else ""
    started = moment(raw.get("create_time"), zone)
    return ImportedConversation(id, words(raw.get("title")), started, turns, left=left)


def _branch(tree: dict[str, dict[str, Any]], current: object) -> list[str]:
    """The keys from the root down to `current`, or to the newest leaf where that is missing; cycles end the climb."""
    if not isinstance(current, str) or current not in tree:
        children = {
            key: [one for one in items(node.get("children")) if isinstance(one, str)] for key, node in tree.items()
        }
        leaves = [key for key in tree if not any(child in tree for child in children[key])]
        current = max(leaves or tree, key=lambda key: _created(tree[key]), default=None)
    return branch({key: node.get("parent") for key, node in tree.items()}, current)


def _created(node: dict[str, Any]) -> float:
    """When a node's message was created, in seconds since 1970; 0 where that is unknown."""
    created = moment(mapping(node.get("message")).get("create_time"), UTC)
    return created.timestamp() if created else 0.0


def _turn(key: str, message: dict[str, Any], zone: tzinfo | None) -> ImportedTurn | None:
    """What one node's message showed to the person; None for hidden messages, calls of tools and their results."""
    role = mapping(message.get("author")).get("role")
    metadata, content = mapping(message.get("metadata")), mapping(message.get("content"))
    addressed = message.get("recipient") in (None, "all")
    if role not in SPEAKERS or not addressed or metadata.get("is_visually_hidden_from_conversation"):
        return None
    kinds = [mapping(part).get("content_type") for part in items(content.get("parts"))]
    if content.get("content_type") in _UNSPOKEN or (role == "tool" and "image_asset_pointer" not in kinds):
        return None
    text = _text(content, metadata)
    return ImportedTurn(SPEAKERS[role], moment(message.get("create_time"), zone), text, key) if text else None


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
    return _without_citations("\n".join(filter(None, parts)), metadata).strip()


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


def _without_citations(text: str, metadata: dict[str, Any]) -> str:
    """Citation marks, private-use characters around numbers that mean nothing outside ChatGPT, as it shows them."""
    for reference in map(mapping, items(metadata.get("content_references"))):
        mark = words(reference.get("matched_text"))
        if mark.startswith(("\ue200", "【")):
            text = text.replace(mark, words(reference.get("alt")))
    return _CITATION.sub("", text)
