"""Tool calls that a model writes into its answer, where its endpoint knows no tools: they never reach the screen."""

import json
import re
from collections.abc import Callable
from typing import Any

_START = re.compile(r"(?<=\n)[ \t]*(?:`{3}|<tool_call>|\{)")
_MAY_START = re.compile(r"(?<=\n)[ \t]*(?:`{0,2}|<[a-z_]{0,9})\Z")
_FENCED = re.compile(r"[ \t]*```[^\n]*\n(?P<inside>.*?)\n[ \t]*```[ \t]*(?:\n|$)", re.DOTALL)
_INSIDE = re.compile(r"\s*(?:<tool_call>|```\w*)?\s*(\{.*\})\s*(?:</tool_call>|```)?\s*", re.DOTALL)


class CallFilter:
    """Passes on the text of one reply as it streams, but for calls written in it; `found` says whether there was one."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._waiting = ""
        self._shown: list[str] = []
        self.found = False

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._waiting += text
        while (start := self._found(_START)) is not None:
            self._pass(start)
            block = _FENCED.match(self._waiting)
            if block is None:
                return  # its end has not come yet
            self._pass(block.end(), call=_is_call(block["inside"]))
        may_start = self._found(_MAY_START)
        self._pass(len(self._waiting) if may_start is None else may_start)

    def _found(self, start: re.Pattern[str]) -> int | None:
        """Where in the waiting text a line begins in a way."""
        line = self._shown[-1][-1] if self._shown else "\n"  # what stands before it
        found = start.search(line + self._waiting, 1)
        return found.start() - 1 if found else None

    def end(self) -> str:
        """The end of the reply; returns all that was passed on."""
        self._pass(len(self._waiting), call=_is_call(self._waiting))
        return "".join(self._shown)

    def _pass(self, length: int, *, call: bool = False) -> None:
        text, self._waiting = self._waiting[:length], self._waiting[length:]
        self.found = self.found or call
        if text and not call:
            self._shown.append(text)
            self._show(text)


def _is_call(text: str) -> bool:
    inside = _INSIDE.fullmatch(text)
    given = mapping(inside[1]) if inside else None
    if given is None:
        return False
    named = given.get("function", given.get("name"))
    return isinstance(named, str) and bool({"arguments", "parameters"} & given.keys())


def mapping(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
