"""Tool calls that a model writes into its answer: none reaches the screen, and those that can be read are made.

Models spell them in many ways, all of one shape: a head, which is wrapping (fences, backticks, tags, labels in brackets) and may
name one of our tools, and then arguments: JSON, brackets as in a program, or further tags.
"""

import ast
import contextlib
import json
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from filemem.tools.toolbox import Toolbox

LONGEST = 4_000  # characters that are looked at as they come; of more only the whole
_KEYS = {tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in Toolbox.schemas}
_ALL_KEYS = frozenset().union(*_KEYS.values())
_ANY = "|".join(_KEYS)
_NAME = re.compile(rf"(?<![\w/-])(?:[A-Za-z]\w*\.)*({_ANY})(?![\w/-])")
_NAMED = rf"(?:[a-z]\w*\()*{_NAME.pattern}"
_PIECE = re.compile(  # of wrapping; what a model's own tokens, which its endpoint failed to read, have between them is no name
    r"(?:`{3,}|~{3,})\w*[ \t]*(?=\n)|`+|~{3,}|\[/?[A-Z_]{3,}\]|\[(?![A-Z_/])|\s+"
    r"|<[|｜][^<>\n]*>(?:commentary to=|function\b|json\b)?|<[^<>\n]{1,80}>"
)
_HEAD = re.compile(rf"(?:{_PIECE.pattern}|{_NAMED}(?:\.\w+|:\d+)?)*")
_HEAD_GOES_ON = re.compile(r"(?:<[^<>\n]{0,80}|\[/?[A-Z_]*|~+|[.:]|[a-z][\w.(= ]{0,40})?\Z")
_OPENS = re.compile(rf"`|~~~|<[\w/|｜]|\{{|\[(?=\s*[{{a-z])|\[/?[A-Z_]{{3,}}\]|^{_NAMED}", re.MULTILINE)
_MAY_OPEN = re.compile(r"(?:<|~+|\[(?:\s*|/?[A-Z_]*)|^[a-z][\w.(]{0,40})\Z", re.MULTILINE)
_CLOSING = re.compile(r"(?:[\s`~,;)\]]|</[^<>\n]{1,80}>|<[|｜][^<>\n]*>|\[/?[A-Z_]+\])*")
_CLOSING_GOES_ON = re.compile(r"(?:<[^<>\n]{0,80}|\[/?[A-Z_]*)?\Z")
_TAG = re.compile(rf"<(?=(\w+))(?:[^<>\n]*?{_NAME.pattern}[^<>\n]*>|[^<>\n]*>\s*{_NAME.pattern}(?=\s*<))")
_CODE_ENDS = re.compile(r"\)*[ \t;]*(?:\Z|[\n`~,\]<])")
_BRACKETS = re.compile(r""""(?:\\.|[^"\\])*"|(?<=[\[({,:=\s])'(?:\\.|[^'\\])*'|["\[\](){}]""", re.DOTALL)
_UNREADABLE = re.compile(rf"""(?s)(?=.*["'](?:{_ANY})["'])(?=.*\b(?:arguments|parameters|pattern|query|path)\b)""")
_WRONG = (ValueError, SyntaxError, AssertionError, RecursionError, MemoryError)
_Call = tuple[str, Any]
_Stretch = tuple[
    int, list[_Call] | None
]  # up to where; no calls where it is none, an empty list where it cannot be read


class CallFilter:
    """Passes on the text of one reply as it streams, but for the calls written in it: `calls` are those that could be read,
    `found` tells whether there was any."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._waiting = ""
        self._rest: list[str] = []  # what came once too much waited
        self._shown: list[str] = []
        self._line = "\n"  # the end of what was shown
        self._behind = self._gap = False  # does what waits stand behind a call? is what is shown next a new paragraph?
        self.found = False
        self.calls: list[tuple[str, str]] = []  # the tool's name and its arguments as JSON

    def feed(self, text: str) -> None:
        """Take the next piece."""
        if len(self._waiting) > LONGEST:
            self._rest.append(text)
            return
        self._waiting += text
        self._sort(end=False)

    def end(self) -> str:
        """The end of the reply; returns all that was passed on."""
        self._waiting = "".join([self._waiting, *self._rest])
        self._sort(end=True)
        return "".join(self._shown)

    def _sort(self, *, end: bool) -> None:
        while self._waiting:
            if self._behind:
                at = _CLOSING.match(self._waiting).end()  # type: ignore[union-attr]
                if not end and _CLOSING_GOES_ON.match(self._waiting, at):
                    return
                self._waiting, self._behind, self._gap = self._waiting[at:], False, bool(self._shown)
                self._line = "\n"
            line = self._line + self._waiting
            opens = _OPENS.search(line, len(self._line)) or (None if end else _MAY_OPEN.search(line, len(self._line)))
            self._pass(opens.start() - len(self._line) if opens else len(self._waiting))
            if not opens or opens.re is _MAY_OPEN:
                return
            found = _read(self._waiting, self._line, end=end)
            if found is None:
                return
            stop, calls = found
            if calls is None:
                self._pass(stop)
                continue
            self._waiting, self._behind, self.found = self._waiting[stop:], True, True
            for name, given in calls:
                spelt = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
                self.calls.append((name, spelt))

    def _pass(self, length: int) -> None:
        text, self._waiting = self._waiting[:length], self._waiting[length:]
        if text:
            self._shown.append(f"\n\n{text}" if self._gap else text)
            self._gap, self._line = False, (self._line + text)[-40:]
            self._show(self._shown[-1])


def _read(text: str, before: str, *, end: bool) -> _Stretch | None:
    """What a text begins with, which stands behind `before`; None where more must come to tell."""
    at = _HEAD.match(text).end()  # type: ignore[union-attr]
    if not end and _HEAD_GOES_ON.match(text, at):
        return None
    names = _NAME.findall(before.rpartition("\n")[2] + text[:at])
    if text.startswith(("{", "("), at):
        stop = _balanced(text, at)
        if stop is None or (text[at] == "(" and stop == len(text) and not end):
            cannot = _UNREADABLE.match(text) if text[at] == "{" else names
            return (len(text), [] if cannot else None) if end else None
        if text[at] == "{":
            return stop, _object(text[at:stop], names)
        if names and _CODE_ENDS.match(text, stop):
            return stop, _code(text[at:stop], names[-1])
    if tag := _TAG.search(text, 0, at):
        closing = re.compile(rf"</{tag[1]}\s*>").search(text, tag.end())
        if not closing and not tag[0].endswith("/>") and not end:
            return None
        stop = closing.end() if closing else tag.end() if tag[0].endswith("/>") else len(text)
        if given := _tags(text[tag.start() : stop], name := tag[2] or tag[3]):
            return stop, [(name, given)]
    piece = _PIECE.match(text)
    return piece.end() if piece else at or 1, None


def _object(text: str, names: list[str]) -> list[_Call] | None:
    """A mapping in braces, which may name a tool or hold the arguments of the last one that was named."""
    value = None
    with contextlib.suppress(*_WRONG):
        value = json.loads(text, strict=False)
    if value is None and len(text) <= LONGEST:
        with contextlib.suppress(*_WRONG), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
    if names and isinstance(value, dict) and value and value.keys() <= _KEYS[names[-1]].keys():
        return [(names[-1], value)]
    return list(_calls(value)) or ([] if value is None and _UNREADABLE.match(text) else None)


def _code(text: str, name: str) -> list[_Call] | None:
    """A call as in a program, of which these are the brackets."""
    try:
        call = ast.parse(f"_{text}", mode="eval").body
        assert isinstance(call, ast.Call)
        given = dict(zip(_KEYS[name], map(ast.literal_eval, call.args), strict=False))
        given |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except _WRONG:
        return []
    return [(name, given)] if given else None


def _tags(text: str, name: str) -> dict[str, Any]:
    """The arguments of a tool in the tags, or in the attributes, of an element."""
    given: dict[str, Any] = {}
    for key, schema in _KEYS[name].items():
        value = rf"""\b{key}(?:=["']([^"'<>]*)["']|["']?\s*(?:>|</[^<>]*>)(?:\s*<\w[^<>]*>)*\s*([^<]+))"""
        if spelt := re.search(value, text):
            said = (spelt[1] or spelt[2] or "").strip()
            given[key] = int(said) if schema["type"] == "integer" and said.isdecimal() else said
    return given


def _calls(value: Any) -> Iterator[_Call]:
    """The calls in a JSON value, at any depth: a mapping that names a tool and has arguments, beside its name or in it."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return
    named = [one.rpartition(".")[2] for key, one in value.items() if isinstance(one, str) and key not in _ALL_KEYS]
    name = next((one for one in named if one in _KEYS), None)
    beside = {key: one for key, one in value.items() if key in _KEYS.get(name or "", ())}
    inside = [one for one in map(mapping, value.values()) if one is not None]
    if name and (inside or beside):
        yield name, inside[0] if inside else beside
    elif isinstance(value.get("name"), str) and {"arguments", "parameters"} & value.keys():
        yield value["name"], value.get("arguments", value.get("parameters"))  # of a tool that there is not
    else:
        for key, one in value.items():
            given = mapping(one)
            yield from [(key, given)] if key in _KEYS and given is not None else _calls(one)


def _balanced(text: str, at: int) -> int | None:
    """Where the bracket that opens there is closed."""
    depth = 0
    for mark in _BRACKETS.finditer(text, at):
        if mark[0] == '"':
            return None  # a string that has not ended
        depth += 1 if mark[0] in "[({" else -1 if mark[0] in "])}" else 0
        if not depth:
            return mark.end()
    return None


def mapping(value: object) -> dict[str, Any] | None:
    """The JSON object that a value is, or spells; None where it does neither."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(value) if isinstance(value, str) else value
    return value if isinstance(value, dict) else None
