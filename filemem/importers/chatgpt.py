"""ChatGPT's export: `conversations.json`, the zip that it came in, or its folder.

A conversation is a tree of messages, `mapping`; `current_node` is the leaf that the
person last saw. OpenAI publishes no schema; the shapes are as exports showed them from
2023 to 2026 (github.com/mitkury/chatgpt-export-parser, docs; elizaOS/eliza pull request
12007).
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any

from filemem.errors import FilememError
from filemem.importers.base import (
    UNNAMED,
    ImportedConversation,
    ImportedTurn,
    Item,
    Skipped,
    as_dict,
    as_dicts,
    as_list,
    as_text,
    decode_json,
    file_mark,
    joined,
    parse_time,
)
from filemem.importers.exports import branch_to, elements
from filemem.text.plain import digest

ASSISTANT = "ChatGPT"
# A tool shows pictures on ChatGPT's behalf.
_SPEAKERS = {"user": "", "assistant": ASSISTANT, "tool": ASSISTANT}
# Content that the person never saw as a message.
_UNSEEN_CONTENT = frozenset(
    "user_editable_context model_editable_context thoughts reasoning_recap "
    "execution_output tether_quote tether_browsing_display system_error".split()
)
_FENCED = re.compile(r"```\n?(.*?)```\s*\Z", re.DOTALL)
# A canvas is written by a call of a tool of this name.
_CANVAS = "canmore."
# ChatGPT shows a mark, `U+E200 kind U+E202 argument … U+E201`, as a name or a link.
_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
_LEFT_OF_MARKS = re.compile("[\ue200-\ue20f]")
_OLD_CITATION = re.compile("【[^【】]*†[^【】]*】")
_REFERENCE = re.compile(r"turn\d+[a-z_]+\d+")


def chatgpt(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield every conversation as the person last saw it.

    Custom instructions, which stand in each conversation that had them, come last as a
    conversation of their own: they are the person's words.
    """
    told_at = dict[str, datetime]()
    for element in elements(path, ASSISTANT):
        if element.problem:
            yield Skipped(element.place, element.problem)
            continue
        conversation = _conversation(element.value, zone, element.place)
        yield conversation
        began = conversation.started or _first_time(conversation.turns)
        if began is None:
            continue
        for text in _instructions(element.value):
            told_at[text] = min(began, told_at.get(text, began))
    if told_at:
        yield _instructions_conversation(told_at)


def _first_time(turns: list[ImportedTurn]) -> datetime | None:
    return next((turn.time for turn in turns if turn.time), None)


def _instructions_conversation(told_at: dict[str, datetime]) -> ImportedConversation:
    turns = [
        ImportedTurn("", told_at[text], text, digest(text, 16))
        for text in sorted(told_at, key=told_at.__getitem__)
    ]
    return ImportedConversation(
        "custom-instructions",
        "ChatGPT custom instructions",
        min(told_at.values()),
        turns,
    )


def _instructions(conversation: dict[str, Any]) -> Iterator[str]:
    """Yield what a person told ChatGPT of themselves and of how it should answer.

    The export wraps it in words of ChatGPT's.
    """
    for node in as_dict(conversation["mapping"]).values():
        content = as_dict(as_dict(as_dict(node).get("message")).get("content"))
        if content.get("content_type") != "user_editable_context":
            continue
        for key in ("user_profile", "user_instructions"):
            text = as_text(content.get(key))
            fenced = _FENCED.search(text)
            if fenced:
                text = fenced[1].strip()
            if text:
                yield text


def _conversation(
    value: dict[str, Any], zone: tzinfo | None, place: str
) -> ImportedConversation:
    """Read the branch that ends in the current node."""
    tree = {key: as_dict(node) for key, node in as_dict(value["mapping"]).items()}

    def created(key: str) -> float:
        message = as_dict(tree[key].get("message"))
        moment = parse_time(message.get("create_time"), UTC)
        return moment.timestamp() if moment else 0.0

    parents = {key: node.get("parent") for key, node in tree.items()}
    shown = branch_to(value.get("current_node"), parents, created)
    turns = []
    for key in shown:
        turn = _turn(key, as_dict(tree[key].get("message")), zone)
        if turn.text:
            turns.append(turn)
    id = as_text(value.get("conversation_id")) or as_text(value.get("id"))
    started = parse_time(value.get("create_time"), zone)
    return ImportedConversation(
        id or "".join(shown[:1]) or place,
        as_text(value.get("title")),
        started or parse_time(value.get("update_time"), zone),
        turns,
        ASSISTANT,
    )


def _turn(key: str, message: dict[str, Any], zone: tzinfo | None) -> ImportedTurn:
    """Read what one node's message showed to the person.

    The text is empty for hidden messages, calls of tools and their results.
    """
    role = as_text(as_dict(message.get("author")).get("role"))
    moment = parse_time(message.get("create_time"), zone)
    return ImportedTurn(_SPEAKERS.get(role, role), moment, _shown(role, message), key)


def _shown(role: str, message: dict[str, Any]) -> str:
    metadata = as_dict(message.get("metadata"))
    if role not in _SPEAKERS or metadata.get("is_visually_hidden_from_conversation"):
        return ""
    content = as_dict(message.get("content"))
    recipient = as_text(message.get("recipient"))
    if recipient.startswith(_CANVAS):
        return _canvas(as_text(content.get("text")))
    kind = content.get("content_type")
    if recipient not in ("", "all") or kind in _UNSEEN_CONTENT:
        return ""
    if role == "tool" and not any(
        part.get("content_type") == "image_asset_pointer"
        for part in as_dicts(content.get("parts"))
    ):
        return ""
    return _text(content, metadata)


def _canvas(call: str) -> str:
    """Return the document that a call writes or changes, under a mark with its name."""
    try:
        document = as_dict(decode_json(call))
    except FilememError:
        return ""
    texts = [as_text(document.get("content"))]
    for update in as_dicts(document.get("updates")):
        texts.append(as_text(update.get("replacement")))
    text = joined(texts)
    name = as_text(document.get("name")) or UNNAMED
    return f"[document: {name}]\n{text}" if text else ""


def _text(content: dict[str, Any], metadata: dict[str, Any]) -> str:
    """Return a message's words, with a mark for each picture and file."""
    names = {
        as_text(file.get("id")): as_text(file.get("name"))
        for file in as_dicts(metadata.get("attachments"))
    }
    parts = [_part(part, names) for part in as_list(content.get("parts"))]
    text = as_text(content.get("text"))
    if text and content.get("content_type") == "code":
        language = as_text(content.get("language")).replace("unknown", "")
        text = f"```{language}\n{text}\n```"
    parts.append(text)
    parts += [file_mark(name) for name in names.values() if name]
    return _without_marks(joined(parts), metadata)


def _part(part: object, names: dict[str, str]) -> str:
    """Return the words of one part of a message.

    A picture takes its name out of `names`, so that it is not marked twice.
    """
    if not isinstance(part, dict):
        return as_text(part)
    if part.get("content_type") != "image_asset_pointer":
        return as_text(part.get("text"))  # what was spoken; a recording has no words
    file_id = as_text(part.get("asset_pointer")).rsplit("/", 1)[-1]
    file_id = file_id.split("#")[0].split("?")[0]
    name = names.pop(file_id, "")
    prompt = as_text(as_dict(as_dict(part.get("metadata")).get("dalle")).get("prompt"))
    caption = " ".join(prompt.split()) or name or file_id or UNNAMED
    return f"[image: {caption}]"


# -- marks ---------------------------------------------------------------------------


def _without_marks(text: str, metadata: dict[str, Any]) -> str:
    """Return the text with ChatGPT's marks as it shows them, or without them."""
    for reference in as_dicts(metadata.get("content_references")):
        mark = as_text(reference.get("matched_text"))
        if mark.startswith(("\ue200", "【")):
            shown = as_text(reference.get("alt")) or as_text(reference.get("name"))
            text = text.replace(mark, shown)
    text = _MARK.sub(_name_in_mark, text)
    text = _OLD_CITATION.sub("", text)
    return _LEFT_OF_MARKS.sub("", text).strip()


def _name_in_mark(mark: re.Match[str]) -> str:
    """Return the name that a mark shows; nothing for one that shows a number."""
    kind, _, arguments = str(mark[1]).partition("\ue202")
    argument = arguments.partition("\ue202")[0]
    if kind.endswith("cite") or _REFERENCE.fullmatch(argument):
        return ""
    if not argument.lstrip().startswith(("[", "{")):
        return argument.strip()
    try:
        value = decode_json(argument)
    except FilememError:
        return ""
    if isinstance(value, list):  # of an entity: its kind, its name, …
        return as_text(value[1]) if len(value) > 1 else ""
    names = []
    for selection in as_list(as_dict(value).get("selections")):
        names += [as_text(name) for name in as_list(selection)[1:2]]
    return joined(names, ", ")
