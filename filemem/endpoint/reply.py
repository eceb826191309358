"""What a model answers: a reply made of an endpoint's events, what was thought told from what was said."""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from filemem.endpoint.connection import Failure

MOST_CALLS = 32  # tool calls that are taken of one reply
LONGEST_NAME = 200  # characters of a call's name or id


class ToolCall(NamedTuple):
    """A call that the model wants made; `arguments` is the JSON text as the model wrote it, well-formed or not."""

    id: str
    name: str
    arguments: str


class Usage(NamedTuple):
    """Tokens of one request as the endpoint reports them, 0 where it does not."""

    tokens_in: int
    tokens_out: int


class Reply(NamedTuple):
    """One whole answer; `finish` is the endpoint's reason for stopping, "length" where it ran into a limit."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str


class Draft:
    """A reply in the making, from the events of a stream or from one whole completion."""

    def __init__(self, on_text: Callable[[str], None], on_thought: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._on_thought = on_thought
        self._thinking = Thinking()
        self._pieces: list[str] = []
        self._half = ""
        self._calls: list[tuple[object, dict[str, str]]] = []  # each with its index
        self._usage = Usage(0, 0)
        self._finish = ""
        self._chosen = False

    @property
    def text(self) -> str:
        """What has been handed to `on_text` so far, without what turned out to be thoughts."""
        return "".join(self._pieces)

    def take(self, event: object) -> None:
        """Add one event, a chunk of a stream or a completion; raises Failure for what is none."""
        if not isinstance(event, dict):
            raise Failure("garbled")
        if event.get("error"):
            raise Failure("error", body=event["error"])
        usage = event.get("usage")
        if isinstance(usage, dict):
            self._usage = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        for choice in _mappings(event.get("choices"))[:1]:
            self._chosen = True
            whole = choice.get("message")
            part = choice.get("delta") or whole
            if isinstance(part, dict):
                self._add(part)
            self._finish = str(choice.get("finish_reason") or self._finish or ("stop" if whole else ""))

    def reply(self, prefix: str) -> Reply:
        """The whole reply; raises Failure where it is not whole. Calls without an id get one that starts as told."""
        problem = "" if self._finish else "cut" if self._chosen else "empty"
        if problem or self._finish == "content_filter":
            raise Failure(problem or "filtered")
        self._sort(self._thinking.end())
        calls: list[ToolCall] = []
        for number, (_, call) in enumerate(self._calls[:MOST_CALLS], 1):
            fresh = call["id"] and call["id"] not in [made.id for made in calls]
            id = call["id"][:LONGEST_NAME] if fresh else f"{prefix}{number}"
            calls.append(ToolCall(id, call["name"][:LONGEST_NAME], call["arguments"]))
        return Reply(self.text, tuple(calls), self._usage, self._finish)

    def _add(self, part: dict[str, Any]) -> None:
        for key in ("reasoning_content", "reasoning"):  # DeepSeek, llama.cpp, vLLM; OpenRouter, Groq
            if thought := _text(part.get(key)):
                self._on_thought(_writable(thought))
        self._say(_text(part.get("content")) + _text(part.get("refusal")))  # its own words, where it will not answer
        for delta in _mappings(part.get("tool_calls")):
            function = delta.get("function")
            function = function if isinstance(function, dict) else {}
            name, arguments = _text(function.get("name")), function.get("arguments")
            call = self._call(delta.get("index"), _text(delta.get("id")), name)
            call["name"] += name if name != call["name"] else ""
            call["arguments"] += _spelt(arguments) if isinstance(arguments, dict) else _text(arguments)

    def _say(self, text: str) -> None:
        # An endpoint may cut between the two halves of an emoji's surrogate pair; half of one cannot be written.
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        self._sort(self._thinking.feed(_writable(text[: len(text) - len(self._half)])))

    def _sort(self, parts: list[tuple[str, str]]) -> None:
        """Hand on what was said and what was thought."""
        for kind, text in parts:
            if kind == Thinking.SAID:
                self._pieces.append(text)
                self._on_text(text)
            elif kind == Thinking.THOUGHT:
                self._on_thought(text)
            else:
                self._pieces.clear()

    def _call(self, index: object, id: str, name: str) -> dict[str, str]:
        """The call that a delta goes on with, or a new one.

        Some endpoints leave the index out or send 0 for every call (ollama#7881, ollama#15457): there a name under
        another id, or under none, opens the next call.
        """
        known = [call for at, call in self._calls if index is None or at == index]
        if known and not (name and known[-1]["name"] and (id != known[-1]["id"] if id else index is None)):
            return known[-1]
        self._calls.append((index, {"id": id, "name": "", "arguments": ""}))
        return self._calls[-1][1]


def _spelt(arguments: dict[str, Any]) -> str:
    """Arguments that came as a mapping, as JSON; raises Failure for one that is nested too deep to write."""
    try:
        return json.dumps(arguments)
    except RecursionError:
        raise Failure("garbled") from None


def _writable(text: str) -> str:
    """`text` with surrogates joined to characters, or replaced where one stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(value: object) -> str:
    """The text of a message's part: a string, or a list of typed parts of which the text counts."""
    if isinstance(value, list):
        texts = (part.get("text") for part in _mappings(value) if part.get("type", "text") == "text")
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""


def _mappings(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


class Thinking:
    """Tells what a model thinks from what it says: text between `<think>` and `</think>`, in pieces cut anywhere.

    What stands in code, behind an odd number of backticks, is no tag. A part is SAID or THOUGHT; WAS_THOUGHT means that all
    before was thought: a closing tag without its opening one, as from models whose prompt ends in `<think>`.
    """

    SAID, THOUGHT, WAS_THOUGHT = "said", "thought", "was thought"
    _TAG = re.compile(r"<(/?)(?:think|thinking|thought)>", re.IGNORECASE)
    _BEGUN = re.compile(
        r"</?(?:t|th|tho|thou|thoug|though|thought|thi|thin|think|thinki|thinkin|thinking)?\Z", re.IGNORECASE
    )

    def __init__(self) -> None:
        self._held = ""  # the end of what came, which may be the beginning of a tag
        self._inside = False
        self._ticks = 0
        self._opened = False  # was there an opening tag?

    def feed(self, text: str, *, end: bool = False) -> list[tuple[str, str]]:
        """What can be told of the text so far; at its `end` nothing is held back."""
        text, at = self._held + text, 0
        parts: list[tuple[str, str]] = []
        for tag in self._TAG.finditer(text):
            before, closing = text[at : tag.start()], bool(tag[1])
            in_code = (self._ticks + before.count("`")) % 2 == 1
            if closing if self._inside else not in_code and not (closing and self._opened):
                parts.append(self._part(before))
                parts += [(self.WAS_THOUGHT, "")] if closing and not self._inside else []
                self._opened, self._inside, at = True, not closing, tag.end()
        begun = None if end else self._BEGUN.search(text, at)
        cut = begun.start() if begun else len(text)
        self._held = text[cut:]
        parts.append(self._part(text[at:cut]))
        return [part for part in parts if part[1] or part[0] == self.WAS_THOUGHT]

    def end(self) -> list[tuple[str, str]]:
        """What was still held, once nothing more comes."""
        return self.feed("", end=True)

    def _part(self, text: str) -> tuple[str, str]:
        if self._inside:
            return self.THOUGHT, text
        self._ticks += text.count("`")
        return self.SAID, text
