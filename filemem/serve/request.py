"""A request for a chat completion: what is the client's, and what is for the model."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from filemem.importers.base import dig, text_at
from filemem.importers.jsonl import message_text
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

    Attributes:
        model: as the client names it.
        messages: go to the model as they are, beside what is remembered.
        tools: the client's own.
        options: go to the model as they are.
        conversation: its id; empty where how it begins must tell.
        is_kept: whether anything of it may be kept.
        is_streamed: the answer comes in pieces.
        wants_usage: the last piece tells the tokens.
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
        said = [one for one in self.messages if one["role"] == "user"]
        return message_text(said[-1]) if said else ""

    @property
    def tool_names(self) -> set[str]:
        """The names of the client's own tools."""
        return {text_at(tool, "function", "name") for tool in self.tools}


def parse(body: bytes, headers: Mapping[str, str]) -> ChatRequest:
    """Return the request in a body.

    Args:
        body: of the request.
        headers: may name the conversation.

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
            "messages must be a list, each with a role: system, user, assistant or"
            " tool.",
        )
    if not messages or not _is_question(messages[-1]):
        raise BadRequest(
            400, "messages must end with what the user said, or with a call's result."
        )
    tools = given.get("tools") or []
    if not isinstance(tools, list):
        raise BadRequest(400, "tools must be a list.")
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
        wants_usage=dig(given, "stream_options", "include_usage") is True,
    )


def _conversation(given: dict[str, Any], headers: Mapping[str, str]) -> str:
    """Return the id of a conversation by the first place that names one."""
    named = [headers.get(name) for name in ID_HEADERS]
    named += [dig(given, "metadata", key) for key in ID_KEYS]
    named.append(given.get("user"))
    return next((name for name in named if isinstance(name, str) and name), "")


def _is_message(message: Any) -> bool:
    return dig(message, "role") in ROLES


def _is_question(message: dict[str, Any]) -> bool:
    """Tell whether it is for the model to say something to this message."""
    content = message.get("content")
    if isinstance(content, str):
        content = content.strip()
    is_said = isinstance(content, str | list) and bool(content)
    return message["role"] == "tool" or (message["role"] == "user" and is_said)


def _object(body: bytes) -> dict[str, Any]:
    """Return the object in a body.

    Raises:
        BadRequest: it is none, or only Python takes it for JSON.
    """
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
