"""What a client sends and gets, as OpenAI's interfaces have it: `/v1/chat/completions`, and `/v1/responses`, which Codex and the
Agents SDK speak. An answer is put whole or as a stream."""

import itertools
import json
import math
import re
import secrets
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem.llm.model import ToolCall, Usage
from filemem.serve.running import BadRequest

MOST_MESSAGES, MOST_TOOLS = 5000, 128
SPACE = "-in-"  # between a namespace and a function of it, in the one name that a model is told
# What is handed on to the model as it is.
OPTIONS = (
    *(
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "seed",
        "presence_penalty",
    ),
    *(
        "frequency_penalty",
        "response_format",
        "reasoning_effort",
        "logit_bias",
        "parallel_tool_calls",
    ),
)
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


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
    id: str  # what its answer is called
    previous: (
        str  # the response that it goes on with, empty where it has all that was said
    )


def parsed(body: bytes, *, response: bool = False) -> ChatRequest:
    """The request in a body, for a chat or for a `response`; raises BadRequest, which says what is wrong with it."""
    given = _json(body)
    if not isinstance(given, dict):
        raise BadRequest(
            400, "the body is no JSON object; send one with model and messages."
        )
    given = _as_chat(given) if response else given
    previous = str(given.get("previous") or "")
    if given.get("n") not in (None, 1):
        raise BadRequest(400, "n is 1 here: one answer at a time.")
    messages = _messages(given.get("messages"))
    last = max(
        (n for n, one in enumerate(messages) if one["role"] == "user"), default=-1
    )
    results = messages[-1]["role"] == "tool" and (last >= 0 or bool(previous))
    if not results and (last < 0 or messages[-1] is not messages[last]):
        raise BadRequest(
            400,
            "messages must end with what the user said, or with the results of calls since.",
        )
    content = messages[last].get("content") if last >= 0 else ""
    pictures = (
        [part for part in content if _text([part]) == ""]
        if isinstance(content, list)
        else []
    )
    text = "\n".join(
        filter(None, [_text(content), *(f"[{part.get('type')}]" for part in pictures)])
    )
    if last >= 0 and not text.strip():
        raise BadRequest(400, "the user's last message is empty.")
    spoken = [
        one for one in messages[: max(last, 0)] if one["role"] in ("user", "assistant")
    ]
    return ChatRequest(
        model=str(given.get("model") or ""),
        before=tuple(
            (one["role"], said)
            for one in spoken
            if (said := _text(one.get("content"))).strip()
        ),
        text=text,
        pictures=pictures,
        since=[
            {"content": None, **one}
            for one in messages[last + 1 :]
            if one["role"] in ("assistant", "tool")
        ],
        system="\n\n".join(
            filter(
                None,
                (
                    _text(m.get("content"))
                    for m in messages
                    if m["role"] in ("system", "developer")
                ),
            )
        ),
        tools=_tools(given) if given.get("tool_choice") != "none" else [],
        options={key: given[key] for key in OPTIONS if given.get(key) is not None},
        stream=given.get("stream") is True,
        kept=given.get("store") is not False,
        program=bool(given["metadata"].get("task"))
        if isinstance(given.get("metadata"), dict)
        else False,
        messages=messages,
        id=f"{'resp_' if response else 'chatcmpl-'}{secrets.token_hex(12)}",
        previous=previous,
        usage=isinstance(given.get("stream_options"), dict)
        and given["stream_options"].get("include_usage") is True,
    )


def _as_chat(given: dict[str, Any]) -> dict[str, Any]:
    """A request for a response as one for a chat; raises BadRequest. Hosted tools and what a model reasoned are left out."""
    tools, text, effort = (
        given.get("tools") or [],
        given.get("text"),
        given.get("reasoning"),
    )
    said = given.get("input")
    if not (isinstance(said, str | list) and isinstance(tools, list)):
        raise BadRequest(
            400, "input must be text or a list of items, and tools a list."
        )
    messages: list[Any] = (
        [{"role": "user", "content": said}] if isinstance(said, str) else []
    )
    for item in said if isinstance(said, list) else []:
        messages += _messages_of(item if isinstance(item, dict) else {}, messages)
    if given.get("instructions"):
        messages.insert(0, {"role": "system", "content": given["instructions"]})
    form = text.get("format") if isinstance(text, dict) else None
    if isinstance(form, dict) and form.get("type") == "json_schema":
        form = {
            "type": "json_schema",
            "json_schema": {key: form[key] for key in form if key != "type"},
        }
    spaces = [
        ("", tools),
        *((one.get("name"), one.get("tools")) for one in tools if _is_part(one)),
    ]
    functions = [
        {**one, "name": f"{space}{SPACE}{one.get('name')}"} if space else one
        for space, inside in spaces
        for one in (inside if isinstance(inside, list) else ())
        if isinstance(one, dict) and one.get("type") == "function"
    ]
    named = ("name", "description", "parameters", "strict")
    return {
        **{
            key: given.get(key)
            for key in ("model", "stream", "store", "metadata", "tool_choice", *OPTIONS)
        },
        "previous": given.get("previous_response_id"),
        "messages": messages,
        "max_completion_tokens": given.get("max_output_tokens"),
        "reasoning_effort": effort.get("effort") if isinstance(effort, dict) else None,
        "response_format": form
        if isinstance(form, dict) and form.get("type") != "text"
        else None,
        "tools": [
            {"type": "function", "function": {k: one[k] for k in named if k in one}}
            for one in functions
        ],
    }


def _messages_of(item: dict[str, Any], before: list[Any]) -> list[dict[str, Any]]:
    """What an item of a response's input is in a chat; calls in a row are of one message, `before` having the others."""
    content, id = item.get("content"), str(item.get("call_id") or "")
    match item.get("type", "message"):
        case "message":
            return [{"role": item.get("role"), "content": _parts(content)}]
        case "function_call":
            space = f"{item['namespace']}{SPACE}" if item.get("namespace") else ""
            made = {
                "name": f"{space}{item.get('name')}",
                "arguments": str(item.get("arguments")),
            }
            call = {"id": id, "type": "function", "function": made}
            if before and before[-1]["role"] == "assistant":
                before[-1].setdefault("tool_calls", []).append(call)
                return []
            return [{"role": "assistant", "content": None, "tool_calls": [call]}]
        case "function_call_output":
            return [
                {
                    "role": "tool",
                    "tool_call_id": id,
                    "content": _text(_parts(item.get("output"))),
                }
            ]
    return []


def _parts(content: Any) -> Any:
    """The parts of an item's content as a chat's message has them."""
    if not isinstance(content, list) or not all(map(_is_part, content)):
        return content
    plain, found = (
        {"input_text": "text", "output_text": "text", "refusal": "text"},
        list[dict[str, Any]](),
    )
    for part in content:
        kind = part.get("type", "text")
        if kind == "input_image":
            found.append(
                {"type": "image_url", "image_url": {"url": part.get("image_url")}}
            )
        else:
            text = (
                {"text": part["refusal"]}
                if kind == "refusal" and "refusal" in part
                else {}
            )
            found.append({**part, "type": plain.get(kind, kind), **text})
    return found


def _json(body: bytes) -> Any:
    """The value in a body; what Python takes for JSON and no endpoint does is none."""
    try:
        text = body.decode()
        given = json.loads(text, parse_constant=_number, parse_float=_number)
        if re.search(r"\\u[dD][89a-fA-F]", text):
            json.dumps(
                given, ensure_ascii=False
            ).encode()  # half of a surrogate pair is no character
    except (ValueError, RecursionError):
        raise BadRequest(
            400, "the body is no valid JSON; send an object with model and messages."
        ) from None
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
            raise BadRequest(
                400,
                f"messages[{number}] needs a role: system, user, assistant or tool.",
            )
        if not isinstance(one.get("content"), str | list | None):
            raise BadRequest(
                400, f"messages[{number}].content must be text or a list of parts."
            )
        if isinstance(one.get("content"), list) and not all(
            map(_is_part, one["content"])
        ):
            raise BadRequest(
                400,
                f"messages[{number}].content has a part that is no object with a type.",
            )
    return given


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type", "text"), str)


def _tools(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The client's own tools."""
    tools = given.get("tools") or []
    for one in tools if isinstance(tools, list) else [None]:
        function = one.get("function") if isinstance(one, dict) else None
        if (
            not isinstance(function, dict)
            or not isinstance(function.get("name"), str)
            or not function["name"]
        ):
            raise BadRequest(
                400, "tools must be a list of functions, each with a name."
            )
    if len(tools) > MOST_TOOLS:
        raise BadRequest(400, f"tools may be {MOST_TOOLS} at most.")
    return list(tools)


def _text(content: Any) -> str:
    """The words of a message's content."""
    if not isinstance(content, list):
        return content or ""
    texts = (
        part.get("text")
        for part in content
        if isinstance(part, dict) and part.get("type", "text") == "text"
    )
    return "\n".join(text for text in texts if isinstance(text, str))


class Finished(NamedTuple):
    """What became of a request: an answer, or calls of the client's own tools."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
    session: str


class Completion:
    """One answer as a chat's completion."""

    def __init__(self, asked: ChatRequest, model: str) -> None:
        self._usage = asked.usage
        self._frame = {"id": asked.id, "created": int(time.time()), "model": model}

    def begin(self) -> Iterator[bytes]:
        """What opens a stream."""
        yield self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> Iterator[bytes]:
        """A piece of the text."""
        yield self._chunk({"content": text})

    def end(self, done: Finished, details: dict[str, Any]) -> Iterator[bytes]:
        """What closes a stream."""
        if done.calls:
            made = [
                {"index": number, **call.as_sent()}
                for number, call in enumerate(done.calls)
            ]
            yield self._chunk({"tool_calls": made})
        yield self._chunk({}, done.finish, **details)
        if self._usage:
            frame = {**self._frame, "object": "chat.completion.chunk", "choices": []}
            yield _event({**frame, "usage": _counted(done.usage)})
        yield b"data: [DONE]\n\n"

    def failed(self, error: dict[str, Any]) -> bytes:
        """What ends a stream in which something went wrong."""
        return _event(error)

    def whole(self, done: Finished, details: dict[str, Any]) -> dict[str, Any]:
        """The answer in one piece."""
        message: dict[str, Any] = {"role": "assistant", "content": done.text or None}
        if done.calls:
            message["tool_calls"] = [call.as_sent() for call in done.calls]
        choice = {"index": 0, "message": message, "finish_reason": done.finish}
        whole = {
            **self._frame,
            "object": "chat.completion",
            "choices": [choice],
            "usage": _counted(done.usage),
        }
        return {**whole, **details}

    def _chunk(
        self, delta: dict[str, Any], finish: str | None = None, **more: Any
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event(
            {
                **self._frame,
                "object": "chat.completion.chunk",
                "choices": [choice],
                **more,
            }
        )


class Response:
    """One answer as a response: its items are a message and the calls of the client's own functions."""

    def __init__(self, asked: ChatRequest, model: str) -> None:
        frame = {
            "id": asked.id,
            "object": "response",
            "created_at": int(time.time()),
            "model": model,
        }
        echoed = {
            "instructions": asked.system or None,
            "previous_response_id": asked.previous or None,
        }
        said_of_all = {
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "metadata": {},
            "error": None,
        }
        self._frame: dict[str, Any] = {**frame, **echoed, **said_of_all}
        self._message = f"msg_{secrets.token_hex(12)}"
        self._said = ""
        self._numbers = itertools.count()

    def begin(self) -> Iterator[bytes]:
        """What opens a stream."""
        for kind in ("created", "in_progress"):
            yield self._told(
                f"response.{kind}",
                response=self._frame | {"status": "in_progress", "output": []},
            )

    def piece(self, text: str) -> Iterator[bytes]:
        """A piece of the text."""
        if not self._said:
            yield self._told(
                "response.output_item.added",
                output_index=0,
                item=self._item("", "in_progress"),
            )
            yield self._part("response.content_part.added", part=_part(""))
        self._said += text
        yield self._part("response.output_text.delta", delta=text, logprobs=[])

    def end(self, done: Finished, details: dict[str, Any]) -> Iterator[bytes]:
        """What closes a stream."""
        if self._said:
            yield self._part("response.output_text.done", text=self._said, logprobs=[])
            yield self._part("response.content_part.done", part=_part(self._said))
        whole = self.whole(done._replace(text=self._said), details)
        for number, item in enumerate(whole["output"]):
            if item["type"] == "function_call":
                waiting = item | {"arguments": "", "status": "in_progress"}
                yield self._told(
                    "response.output_item.added", output_index=number, item=waiting
                )
                where = {"output_index": number, "item_id": item["id"]}
                yield self._told(
                    "response.function_call_arguments.delta",
                    delta=item["arguments"],
                    **where,
                )
                given = {"name": item["name"], "arguments": item["arguments"]}
                yield self._told(
                    "response.function_call_arguments.done", **given, **where
                )
            yield self._told(
                "response.output_item.done", output_index=number, item=item
            )
        yield self._told(f"response.{whole['status']}", response=whole)

    def failed(self, error: dict[str, Any]) -> bytes:
        """What ends a stream in which something went wrong."""
        told = {
            "code": error["error"]["code"] or "server_error",
            "message": error["error"]["message"],
        }
        return self._told(
            "response.failed",
            response=self._frame | {"status": "failed", "output": [], "error": told},
        )

    def whole(self, done: Finished, details: dict[str, Any]) -> dict[str, Any]:
        """The answer in one piece."""
        cut = done.finish == "length"
        output = (
            [self._item(done.text, "incomplete" if cut else "completed")]
            if done.text
            else []
        )
        for call in done.calls:
            item = {
                "type": "function_call",
                "id": f"fc_{secrets.token_hex(12)}",
                "call_id": call.id,
            }
            space, _, name = call.name.rpartition(SPACE)
            item |= {"name": name, "arguments": call.arguments, "status": "completed"}
            output.append({**item, "namespace": space} if space else item)
        usage: dict[str, Any] = {
            "input_tokens": done.usage.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
        }
        usage |= {
            "output_tokens": done.usage.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        status: dict[str, Any] = {
            "status": "incomplete" if cut else "completed",
            "output": output,
        }
        status["incomplete_details"] = {"reason": "max_output_tokens"} if cut else None
        return {
            **self._frame,
            **status,
            "usage": usage | {"total_tokens": sum(done.usage)},
            **details,
        }

    def _item(self, text: str, status: str) -> dict[str, Any]:
        content = [_part(text)] if text else []
        return {
            "type": "message",
            "id": self._message,
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def _part(self, kind: str, **more: Any) -> bytes:
        return self._told(
            kind, item_id=self._message, output_index=0, content_index=0, **more
        )

    def _told(self, kind: str, **more: Any) -> bytes:
        named = f"event: {kind}\n".encode()
        return named + _event(
            {"type": kind, "sequence_number": next(self._numbers), **more}
        )


Form = Completion | Response


def error(status: int, sentence: str, code: str | None = None) -> dict[str, Any]:
    """An error's body."""
    return {
        "error": {
            "message": sentence,
            "type": _TYPES.get(status, "api_error"),
            "param": None,
            "code": code,
        }
    }


def _counted(usage: Usage) -> dict[str, int]:
    """Tokens as the interface tells them."""
    count = {"prompt_tokens": usage.tokens_in, "completion_tokens": usage.tokens_out}
    return {**count, "total_tokens": sum(usage)}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _event(value: Any) -> bytes:
    """One event of a stream."""
    return (
        b"data: "
        + json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
        + b"\n\n"
    )
