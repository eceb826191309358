"""How an answer is put, whole or as a stream: for `/v1/chat/completions`, and for `/v1/responses`, which Codex and the Agents SDK
speak."""

import itertools
import json
import secrets
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem.models import ToolCall, Usage
from filemem.serve.wire import SPACE, ChatRequest

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


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
            made = [{"index": number, **call} for number, call in enumerate(calls(done.calls))]
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
            message["tool_calls"] = calls(done.calls)
        choice = {"index": 0, "message": message, "finish_reason": done.finish}
        whole = {**self._frame, "object": "chat.completion", "choices": [choice], "usage": _counted(done.usage)}
        return {**whole, **details}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**self._frame, "object": "chat.completion.chunk", "choices": [choice], **more})


class Response:
    """One answer as a response: its items are a message and the calls of the client's own functions."""

    def __init__(self, asked: ChatRequest, model: str) -> None:
        echoed = {"instructions": asked.system or None, "previous_response_id": asked.previous or None}
        frame: dict[str, Any] = {"id": asked.id, "object": "response", "created_at": int(time.time()), "model": model}
        self._frame = {
            **frame,
            **echoed,
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "metadata": {},
            "error": None,
        }
        self._message = f"msg_{secrets.token_hex(12)}"
        self._said = ""
        self._numbers = itertools.count()

    def begin(self) -> Iterator[bytes]:
        """What opens a stream."""
        for kind in ("created", "in_progress"):
            yield self._told(f"response.{kind}", response=self._frame | {"status": "in_progress", "output": []})

    def piece(self, text: str) -> Iterator[bytes]:
        """A piece of the text."""
        if not self._said:
            yield self._told("response.output_item.added", output_index=0, item=self._item("", "in_progress"))
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
                yield self._told("response.output_item.added", output_index=number, item=waiting)
                where = {"output_index": number, "item_id": item["id"]}
                yield self._told("response.function_call_arguments.delta", delta=item["arguments"], **where)
                given = {"name": item["name"], "arguments": item["arguments"]}
                yield self._told("response.function_call_arguments.done", **given, **where)
            yield self._told("response.output_item.done", output_index=number, item=item)
        yield self._told(f"response.{whole['status']}", response=whole)

    def failed(self, error: dict[str, Any]) -> bytes:
        """What ends a stream in which something went wrong."""
        told = {"code": error["error"]["code"] or "server_error", "message": error["error"]["message"]}
        return self._told("response.failed", response=self._frame | {"status": "failed", "output": [], "error": told})

    def whole(self, done: Finished, details: dict[str, Any]) -> dict[str, Any]:
        """The answer in one piece."""
        cut = done.finish == "length"
        output = [self._item(done.text, "incomplete" if cut else "completed")] if done.text else []
        for call in done.calls:
            item = {"type": "function_call", "id": f"fc_{secrets.token_hex(12)}", "call_id": call.id}
            space, _, name = call.name.rpartition(SPACE)
            item |= {"name": name, "arguments": call.arguments, "status": "completed"}
            output.append({**item, "namespace": space} if space else item)
        usage: dict[str, Any] = {"input_tokens": done.usage.tokens_in, "input_tokens_details": {"cached_tokens": 0}}
        usage |= {"output_tokens": done.usage.tokens_out, "output_tokens_details": {"reasoning_tokens": 0}}
        status: dict[str, Any] = {"status": "incomplete" if cut else "completed", "output": output}
        status["incomplete_details"] = {"reason": "max_output_tokens"} if cut else None
        return {**self._frame, **status, "usage": usage | {"total_tokens": sum(done.usage)}, **details}

    def _item(self, text: str, status: str) -> dict[str, Any]:
        content = [_part(text)] if text else []
        return {"type": "message", "id": self._message, "role": "assistant", "status": status, "content": content}

    def _part(self, kind: str, **more: Any) -> bytes:
        return self._told(kind, item_id=self._message, output_index=0, content_index=0, **more)

    def _told(self, kind: str, **more: Any) -> bytes:
        named = f"event: {kind}\n".encode()
        return named + _event({"type": kind, "sequence_number": next(self._numbers), **more})


Form = Completion | Response


def error(status: int, sentence: str, code: str | None = None) -> dict[str, Any]:
    """An error's body."""
    return {"error": {"message": sentence, "type": _TYPES.get(status, "api_error"), "param": None, "code": code}}


def calls(made: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    """Calls of the client's tools, as a chat's message has them."""
    return [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}} for one in made
    ]


def _counted(usage: Usage) -> dict[str, int]:
    """Tokens as the interface tells them."""
    count = {"prompt_tokens": usage.tokens_in, "completion_tokens": usage.tokens_out}
    return {**count, "total_tokens": sum(usage)}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _event(value: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n\n"
