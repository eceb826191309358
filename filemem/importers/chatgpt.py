"""ChatGPT's export: `conversations.json`, the zip that it came in, or its folder.

A conversation is a tree of messages, `mapping`; `current_node` is the leaf that the
person last saw. OpenAI publishes no schema; the shapes are as exports showed them from
2023 to 2026 (github.com: mitkury/chatgpt-export-parser, elizaOS/eliza issue 11881).
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from typing import Any

from filemem.errors import FilememError
from filemem.importers.base import (
    HIDDEN,
    THOUGHT,
    TOOL_CALL,
    TOOL_RESULT,
    UNNAMED,
    Item,
    LeftOut,
    Skipped,
    as_dict,
    as_list,
    decode_json,
    decoded,
    dicts_at,
    dig,
    file_mark,
    first_text,
    joined,
    spoken_part,
    text_at,
    time_of,
)
from filemem.importers.exports import Node, elements, read_conversation
from filemem.text.plain import digest

ASSISTANT = "ChatGPT"
# Content that the person never saw as a message.
_UNSEEN_CONTENT = {
    "user_editable_context": HIDDEN,
    "model_editable_context": HIDDEN,
    "system_error": HIDDEN,
    "thoughts": THOUGHT,
    "reasoning_recap": THOUGHT,
    "execution_output": TOOL_RESULT,
    "tether_quote": TOOL_RESULT,
    "tether_browsing_display": TOOL_RESULT,
}
_FENCED = re.compile(r"```\n?(.*?)```\s*\Z", re.DOTALL)
_CANVAS = "canmore."  # how the name begins of the tool that writes one


def chatgpt(path: str, zone: tzinfo | None) -> Iterator[Item]:
    """Yield every conversation as the person last saw it.

    Custom instructions are the person's words: turns of the first conversation that had
    them.
    """
    left_out = LeftOut()
    for element in elements(path, ASSISTANT):
        if isinstance(element, Skipped):
            yield element
            continue
        nodes = []
        shown = partial(_shown, dict[str, str]())
        for key, node in as_dict(element["mapping"]).items():
            message = as_dict(dig(node, "message"))
            moment = time_of(message, zone)
            parent = text_at(node, "parent")
            for told in _instructions(message):
                id = digest(told, 16)
                said = {"author": {"role": "user"}, "content": {"parts": [told]}}
                nodes.append(Node(f"{key} {id}", parent, "user", moment, said, id))
                parent = f"{key} {id}"
            role = text_at(message, "author", "role")
            nodes.append(Node(key, parent, role, moment, message))
        yield read_conversation(ASSISTANT, element, nodes, shown, zone, left_out)
    yield left_out


def _instructions(message: dict[str, Any]) -> Iterator[str]:
    """Yield what a person told ChatGPT of themselves and of how it should answer.

    The export wraps it in words of ChatGPT's.

    Args:
        message: of which most have none.
    """
    content = as_dict(message.get("content"))
    if text_at(content, "content_type") != "user_editable_context":
        return
    for key in ("user_profile", "user_instructions"):
        text = text_at(content, key)
        fenced = _FENCED.search(text)
        if fenced:
            text = fenced[1].strip()
        if text:
            yield text


def _shown(last: dict[str, str], message: dict[str, Any], left_out: LeftOut) -> str:
    """Return what one message showed to the person; count it where that is nothing.

    Args:
        last: has the name of the canvas that was made last, and the report that was
            shown last; it is changed.
        message: of the conversation.
        left_out: it is changed.
    """
    if not message:
        return ""  # as of a tree's root
    report = _report(message)
    words = str(report.get("content"))
    if report and words != last.get("report"):
        last["report"] = words
        message = report
    content = as_dict(message.get("content"))
    role = text_at(message, "author", "role")
    recipient = text_at(message, "recipient")
    canvas = ""
    if recipient.startswith(_CANVAS):
        canvas = _canvas(last, text_at(content, "text"))
    unseen = _UNSEEN_CONTENT.get(text_at(content, "content_type"), "")
    if dig(message, "metadata", "is_visually_hidden_from_conversation"):
        unseen = HIDDEN
    elif recipient not in ("", "all") and not canvas:
        unseen = TOOL_CALL
    elif role == "tool" and not any(map(_is_picture, as_list(content.get("parts")))):
        unseen = TOOL_RESULT
    elif role not in ("user", "assistant", "tool"):
        unseen = HIDDEN
    if unseen:
        left_out[unseen] += 1
        return ""
    return canvas or _text(content, as_dict(message.get("metadata")), left_out)


def _report(message: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a deep research that a tool's message has, as a message.

    It is the message itself, or stands in the state of a widget, which each later
    message of the widget repeats. Empty where there is none.
    """
    report: dict[str, Any] = {}
    if text_at(message, "author", "role") == "tool":
        state = decoded(dig(message, "metadata", "chatgpt_sdk", "widget_state"))
        report = as_dict(dig(state, "report_message"))
        if dig(message, "metadata", "is_async_task_result_message"):
            report = message
    return report and report | {"author": {"role": "assistant"}, "recipient": "all"}


def _canvas(last: dict[str, str], call: str) -> str:
    """Return what a call writes or changes of a canvas, under a mark with its name.

    Args:
        last: has the name of the one before, which a change leaves out; it is changed.
        call: JSON, of which a message that broke off has the beginning.
    """
    document = {}
    for end in ('"}', ""):
        with suppress(FilememError):
            document = as_dict(decode_json(call + end))
    updates = dicts_at(document, "updates")
    texts = [text_at(update, "replacement") for update in updates]
    text = joined([text_at(document, "content"), *texts])
    if not (text or "name" in document):
        return ""
    last["name"] = text_at(document, "name") or last.get("name", UNNAMED)
    return joined([f"[document: {last['name']}]", text])


def _text(content: dict[str, Any], metadata: dict[str, Any], left_out: LeftOut) -> str:
    """Return a message's words, with a mark for each picture and file."""
    files = dicts_at(metadata, "attachments")
    names = {text_at(file, "id"): text_at(file, "name") for file in files}
    shown = as_list(content.get("parts"))
    parts = [_picture(part, names) or spoken_part(part, left_out) for part in shown]
    parts.append(spoken_part(content, left_out))
    parts += [file_mark(name) for name in names.values() if name]
    return _without_marks(joined(parts), metadata)


def _picture(part: object, names: dict[str, str]) -> str:
    """Return the mark of a part of a message that is a picture, '' of another part.

    Its name is taken out of `names`, so that it is not marked twice.
    """
    if not _is_picture(part):
        return ""
    file_id = text_at(part, "asset_pointer").rpartition("/")[2]
    file_id = re.split("[#?]", file_id)[0]
    name = names.pop(file_id, file_id) or UNNAMED
    prompt = text_at(part, "metadata", "dalle", "prompt")
    return f"[image: {' '.join(prompt.split()) or name}]"


def _is_picture(part: object) -> bool:
    return text_at(part, "content_type") == "image_asset_pointer"


# -- marks: `U+E200 kind U+E202 argument … U+E201`, shown as a name or a link ----------

_MARK = re.compile(
    "\ue200([^\ue200-\ue202]*)\ue202?([^\ue200-\ue202]*)[^\ue201]*\ue201"
)
_NOT_SHOWN = re.compile(
    r"[\ue200-\ue20f]|【[^【】]*†[^【】]*】|\[\d+†[^]\n]{0,200}\]"
    r"|:contentReference\[oaicite:\d+\]\{index=\d+\}"
    r"|\[oai_citation:\d+‡[^]\n]{0,300}\](?:\([^)\s]{0,2000}\))?"
)
_REFERENCE = re.compile(r"turn\d+[a-z_]+\d+")
# Of an entity or a product as JSON: its kind or number, then its name.
_NAME_IN_JSON = re.compile(r'\[\s*"[^"]*"\s*,\s*"([^"]*)"')


def _without_marks(text: str, metadata: dict[str, Any]) -> str:
    """Return the text with ChatGPT's marks as it shows them, or without them."""
    for reference in dicts_at(metadata, "content_references"):
        mark = text_at(reference, "matched_text")
        if mark.startswith(("\ue200", "【")):
            shown = first_text(reference, "alt", "name")
            text = text.replace(mark, shown)
    return _NOT_SHOWN.sub("", _MARK.sub(_name_in_mark, text)).strip()


def _name_in_mark(mark: re.Match[str]) -> str:
    """Return the name that a mark shows; nothing for one that shows a number."""
    kind, argument = mark.groups()
    if kind.endswith("cite") or _REFERENCE.fullmatch(argument):
        return ""
    if argument.lstrip().startswith(("[", "{")):
        return ", ".join(_NAME_IN_JSON.findall(argument))
    return argument.strip()
