"""A request for a chat completion: what is the client's, and what is for the model."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from filemem.serve.running import BadRequest

MAX_MESSAGES = 5000
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
HEADERS = ("x-filemem-conversation", "x-conversation-id", "x-openwebui-chat-id")
METADATA = ("conversation_id", "chat_id", "session_id", "thread_id")
OURS = ("model", "messages", "tools", "stream", "stream_options", "store", "metadata")
NOT_SENT = (*OURS, "user", "n")  # all else goes to the model as it is


@dataclass(frozen=True)
class ChatRequest:
    """A request to go on with a chat.

    `conversation` is its id, empty where how it begins must tell. `options` go to the
    model as they are, as do `messages`, beside which it is told what is remembered.
    """

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    options: dict[str, Any]
    conversation: str
    is_kept: bool
    is_streamed: bool
    wants_usage: bool

    @property
    def message(self) -> str:
        """What the person said last."""
        for one in reversed(self.messages):
            if one["role"] == "user":
                return text_of(one)
        return ""

    @property
    def tool_names(self) -> set[str]:
        """The names of the client's own tools."""
        return {tool["function"]["name"] for tool in self.tools}


def parse(body: bytes, headers: Mapping[str, str]) -> ChatRequest:
    """Return the request in a body.

    Raises:
        BadRequest: it says what is wrong with it.
    """
    given = _json(body)
    if given.get("n") not in (None, 1):
        raise BadRequest(400, "n is 1 here: one answer at a time.")
    messages = given.get("messages")
    if not isinstance(messages, list) or not 0 < len(messages) <= MAX_MESSAGES:
        raise BadRequest(400, f"messages must be a list of 1 to {MAX_MESSAGES:,}.")
    for number, message in enumerate(messages):
        _check_message(message, f"messages[{number}]")
    if not _is_question(messages[-1]):
        raise BadRequest(
            400, "messages must end with what the user said, or with a call's result."
        )
    tools = given.get("tools") or []
    if not isinstance(tools, list) or not all(map(_is_function, tools)):
        raise BadRequest(400, "tools must be a list of functions, each with a name.")
    options = {key: given[key] for key in given if key not in NOT_SENT}
    if options.get("tool_choice") == "none":
        tools = []
    if not isinstance(options.get("tool_choice"), dict):
        options.pop("tool_choice", None)  # the tools of the memory are there, too
    usage = given.get("stream_options")
    return ChatRequest(
        model=str(given.get("model") or ""),
        messages=messages,
        tools=tools,
        options=options,
        conversation=_conversation(given, headers),
        is_kept=given.get("store") is not False,
        is_streamed=given.get("stream") is True,
        wants_usage=isinstance(usage, dict) and usage.get("include_usage") is True,
    )


def text_of(message: Mapping[str, Any]) -> str:
    """Return the words of a message, whose content is a text or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


def _conversation(given: dict[str, Any], headers: Mapping[str, str]) -> str:
    """Return the id of a conversation by the first place that names one."""
    metadata = given.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    named = [headers.get(name) for name in HEADERS]
    named += [metadata.get(name) for name in METADATA]
    named.append(given.get("user"))
    return next((name for name in named if isinstance(name, str) and name), "")


def _check_message(message: Any, place: str) -> None:
    if not isinstance(message, dict) or message.get("role") not in ROLES:
        raise BadRequest(400, f"{place} needs a role: system, user, assistant or tool.")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    is_right = isinstance(content, str | list | None)
    if not (is_right and all(map(_is_part, parts))):
        raise BadRequest(400, f"{place}.content must be text or a list of parts.")


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type", "text"), str)


def _is_question(message: dict[str, Any]) -> bool:
    """Is it for the model to say something to this message?"""
    if message["role"] == "user":
        return isinstance(message.get("content"), list) or bool(
            text_of(message).strip()
        )
    return bool(message["role"] == "tool")


def _is_function(tool: Any) -> bool:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return isinstance(name, str) and bool(name)


def _json(body: bytes) -> dict[str, Any]:
    """Return the object in a body; what Python alone takes for JSON is none."""
    try:
        given = json.loads(body, parse_constant=_number, parse_float=_number)
        json.dumps(given, ensure_ascii=False).encode()  # raises for half a character
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadRequest(
            400, "the body is no JSON object; send one with model and messages."
        )
    return given


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value
