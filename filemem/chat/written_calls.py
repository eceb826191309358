"""Tool calls that a model writes into its answer: none reaches the screen, and those that can be read are made.

Where one begins the answer ends: what a model writes behind its own call is what it thinks the tool will say. What may begin one
(a fence, a brace, a tag, a line that begins with a tool's name or with a label such as `Action:`) waits for what follows it.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from filemem.tools.toolbox import Toolbox

WAITS = 400  # characters behind what may begin a call, in which it must show that it is one
LONGEST = 20_000  # characters of a call that are read
_KEYS = {tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in Toolbox.schemas}
_TOOL = rf"(?<![\w/-])(?:\w+\.)*({'|'.join(_KEYS)})\b"
_KEY = rf"(?:arguments|parameters|{'|'.join(dict.fromkeys(key for keys in _KEYS.values() for key in keys))})"
_OPENS = re.compile(
    rf"(?<=\n)[ \t]*(?:`{{3,}}|~{{3,}})|`*\[?\s*\{{|<(?:tool_call|function|invoke|[|｜]\w|/?{_TOOL})|\[TOOL_CALL"
    rf"|(?<=\n)[^\w\n]*(?:{_TOOL}|(?:Action|Tool|Function)\b)"
)
_MAY_OPEN = re.compile(r"(?:<[^<>\s]{0,30}|`+|~+|\[(?:\s*|[A-Z_]*)|(?<=\n)[^\w\n]*(?:[a-zAFT][a-z_.]{0,20})?)\Z")
_CALL = re.compile(  # a tool and the first of its arguments, any name with arguments in JSON, or a tag of calls alone
    rf"""{_TOOL}.{{0,80}}?(?:[{{(<]\s*\W{{0,2}}|,\s*["']){_KEY}(?:\W{{0,2}}\s*[:=]|>)"""
    r"""|["']name["']\s*:\s*["'][\w.]+["']\s*,\s*["'](?:arguments|parameters)["']\s*:"""
    r"""|<(?:tool_call|function=|invoke\b|[|｜]\w)|\[TOOL_CALL""",
    re.DOTALL,
)


class CallFilter:
    """Passes on the text of one reply as it streams, up to the first call that is written in it: `found` tells whether there was
    any, `calls` are those that could be read, each the tool's name and its arguments as JSON."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._shown: list[str] = []
        self._waiting = "\n"  # behind its first character, which was passed on
        self.found = False
        self.calls: list[tuple[str, str]] = []

    def feed(self, text: str, *, end: bool = False) -> None:
        """Take the next piece."""
        self._waiting += text
        at = 1
        while not self.found and (opens := _OPENS.search(self._waiting, at)):
            self.found = _CALL.search("\n" + self._waiting[opens.start() : opens.end() + WAITS]) is not None
            if self.found or not (end or len(self._waiting) > opens.end() + WAITS):
                self._pass(opens.start())
                return
            at = opens.end()
        if not self.found:
            waits = None if end else _MAY_OPEN.search(self._waiting, at)
            self._pass(waits.start() if waits else len(self._waiting))

    def _pass(self, length: int) -> None:
        text, self._waiting = self._waiting[1:length], self._waiting[length - 1 :]
        if text:
            self._shown.append(text)
            self._show(text)

    def end(self) -> str:
        """The end of the reply; returns all that was passed on."""
        self.feed("", end=True)
        if self.found:
            read = _calls(self._waiting[:LONGEST])
            self.calls = [(name, json.dumps(given, ensure_ascii=False)) for name, given in read]
        return "".join(self._shown)


def _calls(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls in a text: JSON that names a tool or stands behind its name."""
    decoder, names, at = json.JSONDecoder(strict=False), list(re.finditer(_TOOL, text)), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            yield from _in(value, next((name[1] for name in reversed(names) if name.start() < at), ""))
            at = end
        except (ValueError, RecursionError):
            at += 1


def _in(value: Any, tool: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls in a JSON value, at any depth, JSON in its texts too; `tool` is the one that was named last."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        yield from _calls(f"{tool} {value}")
    elif isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        named = (one.rpartition(".")[2] for one in value.values() if isinstance(one, str))
        tool = next((one for one in named if one in _KEYS), tool)
        if given := {key: one for key, one in value.items() if key in _KEYS.get(tool, ())}:
            yield tool, given
        else:
            for one in value.values():
                yield from _in(one, tool)
