"""A request for a chat completion: what is the client's, and what is for the model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from filemem.serve.running import BadRequest

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
ID_HEADERS = ("x-filemem-conversation", "x-conversation-id", "x-openwebui-chat-id")
ID_KEYS = ("conversation_id", "chat_id", "session_id", "thread_id")  # in metadata
# All other keys go to the model as they are.
NOT_SENT = frozenset(
    "model messages tools stream stream_options store metadata user n".split()
)


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
        said = (one for one in reversed(self.messages) if one["role"] == "user")
        return text_of(next(said, {}))

    @property
    def tool_names(self) -> set[str]:
        """The names of the client's own tools."""
        return {tool["function"]["name"] for tool in self.tools}


def parse(body: bytes, headers: Mapping[str, str]) -> ChatRequest:
    """Return the request in a body.

    Raises:
        BadRequest: it says what is wrong with it.
    """
    given = _object(body)
    if given.get("n") not in (None, 1):
        raise BadRequest(400, "n is 1 here: one answer at a time.")
    messages = given.get("messages")
    if not isinstance(messages, list) or not all(map(_is_message, messages)):
        raise BadRequest(
            400,
            "messages must be a list, each with a role (system, user, assistant or"
            " tool) and a content that is text or a list of parts.",
        )
    if not messages or not _is_question(messages[-1]):
        raise BadRequest(
            400, "messages must end with what the user said, or with a call's result."
        )
    tools = given.get("tools") or []
    if not isinstance(tools, list) or not all(map(_is_function, tools)):
        raise BadRequest(400, "tools must be a list of functions, each with a name.")
    options = {key: given[key] for key in given.keys() - NOT_SENT}
    if options.get("tool_choice") == "none":
        tools = []
    if not isinstance(options.get("tool_choice"), dict):
        options.pop("tool_choice", None)  # the tools of the memory are there, too
    return ChatRequest(
        model=str(given.get("model") or ""),
        messages=messages,
        tools=tools,
        options=options,
        conversation=_conversation(given, headers),
        is_kept=given.get("store") is not False,
        is_streamed=given.get("stream") is True,
        wants_usage=_at(given, "stream_options", "include_usage") is True,
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
    named = [headers.get(name) for name in ID_HEADERS]
    named += [_at(given, "metadata", key) for key in ID_KEYS]
    named.append(given.get("user"))
    return next((name for name in named if isinstance(name, str) and name), "")


def _at(value: Any, *keys: str) -> Any:
    """Return what stands under keys within keys; None where one is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _is_message(message: Any) -> bool:
    content = _at(message, "content")
    if _at(message, "role") not in ROLES or not isinstance(content, str | list | None):
        return False
    parts = content if isinstance(content, list) else []
    return all(
        isinstance(part, dict) and isinstance(part.get("type", "text"), str)
        for part in parts
    )


def _is_question(message: dict[str, Any]) -> bool:
    """Tell whether it is for the model to say something to this message."""
    if message["role"] == "user":
        content = message.get("content")
        return isinstance(content, list) or bool(text_of(message).strip())
    return bool(message["role"] == "tool")


def _is_function(tool: Any) -> bool:
    name = _at(tool, "function", "name")
    return isinstance(name, str) and bool(name)


def _object(body: bytes) -> dict[str, Any]:
    """Return the object in a body; what Python alone takes for JSON is none."""
    try:
        given = json.loads(body)
        # It raises for half a character, and for what is no number.
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadRequest(
            400, "the body is no JSON object; send one with model and messages."
        )
    return given
