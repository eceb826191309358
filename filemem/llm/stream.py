"""From the events of a stream, or one whole completion, to a reply."""

import json
import re
from typing import Any

from filemem.llm.model import OnText, Reply, ToolCall, Usage

MAX_CALLS = 32  # tool calls that are taken of one reply
GARBLED = (
    "what came back is no chat completion; check OPENAI_BASE_URL, which often ends in "
    "/v1, or choose another model"
)
NO_ANSWER = (
    "an event stream came back without an answer in it; ask again, or choose another "
    "model"
)
BROKEN_OFF = "the answer broke off in the middle; what had come is kept, ask again"
NOTICES = {  # by the reason for which an answer ended
    "length": "The answer was cut at the endpoint's limit on length.",
    "content_filter": "The endpoint's content filter stopped the answer.",
}

# Keys that are read here. Every other key is the endpoint's own and goes back to it.
_MESSAGE_KEYS = {"role", "content", "refusal", "tool_calls", "function_call"}
_CALL_KEYS = {"index", "id", "type", "function"}
_THOUGHT_TAG = re.compile(
    r"<(?P<closes>/?)"
    r"(?:think|thinking|thought|(?P<details>details)(?:\s[^<>]{0,400})?)>",
    re.IGNORECASE,
)
_OF_REASONING = re.compile("""type=["']reasoning["']""", re.IGNORECASE)
_HALF_A_TAG = re.compile(
    r"<(?:/?(?:t[a-z]{0,7}|d[a-z]{0,6})?|details\s[^<>]{0,400})\Z",
    re.IGNORECASE,
)


class IncompleteAnswer(Exception):
    """An answer that is not whole; its text is the sentence for the person."""


class _PartialCall:
    """Gathers a tool call, of which more may come; `index` is the endpoint's own."""

    def __init__(self, index: object, id: str) -> None:
        self.index = index
        self.id = id
        self.name = ""
        self.arguments = ""
        self.extra: dict[str, Any] = {}


class ThoughtFilter:
    """Passes on what a model says, and leaves out what it thinks.

    A thought stands between `<think>` and `</think>`, or before a closing tag that none
    opened, as from models whose prompt ends in `<think>`; or, as chat clients show it,
    between `<details type="reasoning">` and its `</details>`. In code, behind an odd
    number of backticks, none of these is a tag.
    """

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._said: list[str] = []
        self._pending = ""  # the end of what came, which may begin a tag
        self._thinking = False
        self._depth = 0  # of details, where it thinks in such
        self._has_thought = False
        self._backticks = 0

    @property
    def text(self) -> str:
        """All that was said so far, less what turned out to be a thought."""
        return "".join(self._said)

    def feed(self, text: str, *, final: bool = False) -> None:
        """Take the next piece; after the `final` one nothing is held back."""
        text = self._pending + text
        start = 0
        for tag in _THOUGHT_TAG.finditer(text):
            before = text[start : tag.start()]
            closes = bool(tag["closes"])
            if not self._counts(tag, before):
                continue
            if closes and not self._thinking:
                self._said.clear()
            else:
                self._say(before)
            self._thinking = not closes
            self._has_thought = True
            start = tag.end()
        half = _HALF_A_TAG.search(text, start)
        end = len(text)
        if half and not final:
            end = half.start()
        self._pending = text[end:]
        self._say(text[start:end])

    def _counts(self, tag: re.Match[str], before: str) -> bool:
        """Tell whether a tag, with this text before it, changes anything."""
        closes = bool(tag["closes"])
        if self._thinking and tag["details"]:
            return self._leaves_details(closes)
        if self._thinking:
            return closes and not self._depth
        if (self._backticks + before.count("`")) % 2 == 1:  # in code
            return False
        if tag["details"]:
            self._depth = int(_OF_REASONING.search(tag[0]) is not None)
            return self._depth == 1
        return not (closes and self._has_thought)

    def _leaves_details(self, closes: bool) -> bool:
        """Count a tag of details within a thought; tell whether that ends with it."""
        if self._depth == 0:  # it is within `<think>`
            return False
        if closes:
            self._depth -= 1
        else:
            self._depth += 1
        return self._depth == 0

    def _say(self, text: str) -> None:
        if text and not self._thinking:
            self._backticks += text.count("`")
            self._said.append(text)
            self._on_text(text)


def without_thoughts(text: str) -> str:
    """Return what a model says in a text, without what it thinks."""
    spoken = ThoughtFilter(lambda piece: None)
    spoken.feed(text, final=True)
    return spoken.text


class StreamParser:
    """A reply in the making. Feed it each event, then take `reply`.

    Attributes:
        has_choice: whether any event has had something of an answer.
    """

    def __init__(self, on_text: OnText) -> None:
        self._filter = ThoughtFilter(on_text)
        self._calls: list[_PartialCall] = []
        self._extra: dict[str, Any] = {}
        self._usage = Usage(0, 0)
        self._finish = ""
        self.has_choice = False

    def feed(self, event: dict[str, Any]) -> None:
        """Add a chunk of a stream or a whole completion, as plain JSON values.

        One that is neither raises TypeError, ValueError, LookupError or AttributeError.
        """
        usage = event.get("usage")
        if usage:
            tokens_in = int(usage.get("prompt_tokens") or 0)
            self._usage = Usage(tokens_in, int(usage.get("completion_tokens") or 0))
        for choice in (event.get("choices") or [])[:1]:
            self.has_choice = True
            whole = choice.get("message")
            self._add(choice.get("delta") or whole or {})
            if whole:
                self._finish = "stop"
            self._finish = str(choice.get("finish_reason") or self._finish)

    def reply(self, id_prefix: str) -> Reply:
        """Return the whole reply; a call without an id of its own gets one.

        Raises:
            IncompleteAnswer: it is not whole.
        """
        if not self.has_choice:
            raise IncompleteAnswer(GARBLED)
        if not self._finish:
            raise IncompleteAnswer(BROKEN_OFF)
        self._filter.feed("", final=True)
        calls: dict[str, ToolCall] = {}
        for number, call in enumerate(self._calls[:MAX_CALLS], 1):
            id = call.id
            if not id or id in calls:
                id = f"{id_prefix}{number}"
            calls[id] = ToolCall(id, call.name, call.arguments, call.extra)
        return Reply(
            text=self._filter.text,
            calls=tuple(calls.values()),
            usage=self._usage,
            finish=self._finish,
            notice=NOTICES.get(self._finish, ""),
            extra=self._extra,
        )

    def _add(self, part: dict[str, Any]) -> None:
        text = _text(part.get("content")) + _text(part.get("refusal"))
        # Half an emoji, as some endpoints cut them, could not be written to a file.
        self._filter.feed(text.encode("utf-8", "replace").decode())
        _collect(self._extra, part, _MESSAGE_KEYS)
        for delta in part.get("tool_calls") or []:
            function = delta.get("function") or {}
            name = str(function.get("name") or "")
            id = str(delta.get("id") or "")
            call = self._call_of(delta.get("index"), id, name)
            if name != call.name:  # some endpoints repeat it in every delta
                call.name += name
            arguments = function.get("arguments") or ""
            if isinstance(arguments, dict):
                arguments = json.dumps(arguments)
            call.arguments += arguments
            _collect(call.extra, delta, _CALL_KEYS)

    def _call_of(self, index: object, id: str, name: str) -> _PartialCall:
        """Return the call that a delta goes on with, or a new one.

        Some endpoints leave the index out or send 0 for every call (ollama#7881,
        ollama#15457): there a name under another id, or under none, opens a new call.
        """
        for call in reversed(self._calls):
            if index is not None and call.index != index:
                continue
            opens_another = id != call.id if id else index is None
            if name and call.name and opens_another:
                break
            return call
        call = _PartialCall(index, id)
        self._calls.append(call)
        return call


def _collect(extra: dict[str, Any], part: dict[str, Any], known: set[str]) -> None:
    """Add a part's other keys to `extra`: texts and lists grow, all else is set."""
    for key, value in part.items():
        if key in known or value in (None, "", []):
            continue
        before: Any = extra.get(key)
        grows = isinstance(value, str | list) and type(before) is type(value)
        extra[key] = before + value if grows else value


def _text(content: Any) -> str:
    """Return the text of a message's part: a string, or the texts of typed parts."""
    if not isinstance(content, list):
        return str(content or "")
    texts = [part["text"] for part in content if part["type"] == "text"]
    return "".join(texts)
