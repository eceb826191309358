"""What a client sends and is sent, in the shapes of OpenAI's interface for chats."""

import json
import math
import re
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.models import ToolCall, Usage

MOST_MESSAGES, MOST_TOOLS = 5000, 128
# What is handed on to the model as it is.
OPTIONS = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "presence_penalty"),
    *("frequency_penalty", "response_format", "reasoning_effort", "logit_bias", "parallel_tool_calls"),
)
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
_CODES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class BadRequest(FilememError):
    """A request that cannot be answered, with the HTTP status that says so, and perhaps a code of OpenAI's."""

    def __init__(self, status: int, sentence: str, code: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


class ChatRequest(NamedTuple):
    """A request to go on with a chat: what was said before the last message of the person, as (role, text), and since."""

    model: str
    before: tuple[tuple[str, str], ...]
    text: str  # the person's last message
    pictures: list[dict[str, Any]]  # and what it has besides text
    since: list[dict[str, Any]]  # the client's own calls after it, with their results
    system: str
    tools: list[dict[str, Any]]
    options: dict[str, Any]
    stream: bool
    usage: bool  # wanted at the end of a stream
    kept: bool  # "store": false keeps nothing
    program: bool  # a program's own prompt, such as for a chat's title, which is passed on to the model as it is
    messages: list[dict[str, Any]]  # all of them as they came


def parsed(body: bytes) -> ChatRequest:
    """The request in a body; raises BadRequest, which says what is wrong with it."""
    given = _json(body)
    if not isinstance(given, dict):
        raise BadRequest(400, "the body is no JSON object; send one with model and messages.")
    if given.get("n") not in (None, 1):
        raise BadRequest(400, "n is 1 here: one answer at a time.")
    messages = _messages(given.get("messages"))
    last = max((n for n, one in enumerate(messages) if one["role"] == "user"), default=-1)
    if last < 0 or (messages[-1]["role"] not in ("user", "tool") and messages[-1] is not messages[last]):
        raise BadRequest(400, "messages must end with what the user said, or with the results of calls since.")
    content = messages[last].get("content")
    pictures = [part for part in content if _text([part]) == ""] if isinstance(content, list) else []
    text = "\n".join(filter(None, [_text(content), *(f"[{part.get('type')}]" for part in pictures)]))
    if not text.strip():
        raise BadRequest(400, "the user's last message is empty.")
    spoken = [one for one in messages[:last] if one["role"] in ("user", "assistant")]
    return ChatRequest(
        model=str(given.get("model") or ""),
        before=tuple((one["role"], said) for one in spoken if (said := _text(one.get("content"))).strip()),
        text=text,
        pictures=pictures,
        since=[{"content": None, **one} for one in messages[last + 1 :] if one["role"] in ("assistant", "tool")],
        system="\n\n".join(
            filter(None, (_text(m.get("content")) for m in messages if m["role"] in ("system", "developer")))
        ),
        tools=_tools(given) if given.get("tool_choice") != "none" else [],
        options={key: given[key] for key in OPTIONS if given.get(key) is not None},
        stream=given.get("stream") is True,
        kept=given.get("store") is not False,
        program=bool(given["metadata"].get("task")) if isinstance(given.get("metadata"), dict) else False,
        messages=messages,
        usage=isinstance(given.get("stream_options"), dict) and given["stream_options"].get("include_usage") is True,
    )


def _json(body: bytes) -> Any:
    """The value in a body; what Python takes for JSON and no endpoint does is none."""
    try:
        text = body.decode()
        given = json.loads(text, parse_constant=_number, parse_float=_number)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(given, ensure_ascii=False).encode()  # half of a surrogate pair is no character
    except (ValueError, RecursionError):
        raise BadRequest(400, "the body is no valid JSON; send an object with model and messages.") from None
    return given


def _number(text: str) -> float:
    if math.isfinite(value := float(text)):
        return value
    raise ValueError


def _messages(given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not given or len(given) > MOST_MESSAGES:
        raise BadRequest(400, f"messages must be a list of 1 to {MOST_MESSAGES:,}.")
    for number, one in enumerate(given):
        if not isinstance(one, dict) or str(one.get("role")) not in _ROLES:
            raise BadRequest(400, f"messages[{number}] needs a role: system, user, assistant or tool.")
        if not isinstance(one.get("content"), str | list | None):
            raise BadRequest(400, f"messages[{number}].content must be text or a list of parts.")
        if isinstance(one.get("content"), list) and not all(map(_is_part, one["content"])):
            raise BadRequest(400, f"messages[{number}].content has a part that is no object with a type.")
    return given


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type", "text"), str)


def _tools(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The client's own tools."""
    tools = given.get("tools") or []
    for one in tools if isinstance(tools, list) else [None]:
        function = one.get("function") if isinstance(one, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            raise BadRequest(400, "tools must be a list of functions, each with a name.")
    if len(tools) > MOST_TOOLS:
        raise BadRequest(400, f"tools may be {MOST_TOOLS} at most.")
    return list(tools)


def _text(content: Any) -> str:
    """The words of a message's content."""
    if not isinstance(content, list):
        return content or ""
    texts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type", "text") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def error(status: int, sentence: str, code: str | None = None) -> dict[str, Any]:
    """An error's body."""
    return {"error": {"message": sentence, "type": _CODES.get(status, "api_error"), "param": None, "code": code}}


def calls(made: tuple[ToolCall, ...], *, numbered: bool = False) -> list[dict[str, Any]]:
    """Calls of the client's tools; in a stream each with its number."""
    whole = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}} for one in made
    ]
    return [{"index": number, **one} for number, one in enumerate(whole)] if numbered else whole


def counted(usage: Usage) -> dict[str, int]:
    """Tokens as the interface tells them."""
    count = {"prompt_tokens": usage.tokens_in, "completion_tokens": usage.tokens_out}
    return {**count, "total_tokens": sum(usage)}


def event(value: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n\n"
