"""Structured answers of models: a tool's arguments, or JSON somewhere in the text, whole or cut off."""

import json
import re
from collections.abc import Iterator
from typing import Any

from filemem.models import Model, Reply, ToolsRefused, prompt

_TRAILING = re.compile(r",\s*([}\]])")


def request(template: str, told: str) -> list[prompt.Message]:
    """The messages that have a model do what a template says with what it is told."""
    return [{"role": "system", "content": prompt.template(template).strip()}, {"role": "user", "content": told}]


def tool(name: str, what: str, key: str, item: dict[str, Any], **more: dict[str, Any]) -> dict[str, Any]:
    """The one tool of a request: a list of objects under `key`, and what `more` may be given."""
    parameters = {"type": "object", "properties": {key: {"type": "array", "items": item}, **more}, "required": [key]}
    return {"type": "function", "function": {"name": name, "description": what, "parameters": parameters}}


def filled(model: Model, messages: list[dict[str, Any]], form: dict[str, Any]) -> Reply:
    """An answer in the form of a tool's arguments; of a model that takes no tools, whatever it says. Raises ModelError."""
    try:
        return model.ask(messages, [form], lambda _: None)
    except ToolsRefused:
        return model.ask(messages, [], lambda _: None)


def objects(reply: Reply, key: str) -> list[dict[str, Any]] | None:
    """The objects in the list `key` of an answer, as many as are whole; None where the answer holds no such thing at all.

    A list without its mapping, a single object, code fences, talk around the JSON and trailing commas are put up with.
    """
    found = None
    for text in [*(call.arguments for call in reply.calls), reply.text]:
        for value in _values(text):
            taken = _taken(value, key)
            if taken is not None:
                found = [*(found or []), *taken]
        if found is None and f'"{key}"' in text:
            # A list whose end is missing.
            found = [value for value in _values(text.partition(f'"{key}"')[2], "{") if isinstance(value, dict)]
        if found is not None:
            return found
    return None


def _taken(value: Any, key: str) -> list[dict[str, Any]] | None:
    if isinstance(value, dict):
        if key in value:
            value = value[key]
        elif not any(name in value for name in ("text", "fact")):
            return None
        value = [value] if isinstance(value, dict) else value
    if not isinstance(value, list):
        return None
    return [entry for entry in value if isinstance(entry, dict)]


def _values(text: str, begins: str = r"[{\[]") -> Iterator[Any]:
    """The JSON values that begin with a bracket, one behind the other, as many as are whole."""
    decoder, at = json.JSONDecoder(), 0
    text = _TRAILING.sub(r"\1", text)
    while match := re.compile(begins).search(text, at):
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return
        yield value
