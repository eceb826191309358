"""Tool calls that a model writes into its answer: none reaches the screen, and those that can be read are made.

Models spell them in many ways. What all have in common: a tool's name beside its arguments, as JSON, as a call in code or between
tags; and around that nothing but wrapping, such as fences, backticks, tags and labels in brackets.
"""

import ast
import contextlib
import json
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from filemem.models import ToolCall
from filemem.tools.toolbox import Toolbox

LONGEST = 4_000  # characters that are looked at as they come; of more only the whole
_KEYS = {tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in Toolbox.schemas}
_ALL_KEYS = frozenset().union(*_KEYS.values())
_ANY = "|".join(_KEYS)
_NAME = rf"(?<![\w/-])(?:[A-Za-z]\w*\.)*(?P<name>{_ANY})(?![\w/-])"
_BEGUN = "|".join(name[:end] for name in _KEYS for end in range(1, len(name) + 1))
_CODE_BEGUN = r"(?:[a-z]\w{0,30}[.(]){0,4}(?:[a-z]\w{0,30})?"
_OPENS = re.compile(
    rf"`|~~~|<[A-Za-z/|｜]|\{{|\[(?=\s*(?:\{{|{_ANY}))|\[/?[A-Z_]{{3,}}\]|(?:^(?:[a-z]\w*\()+)?{_NAME}", re.MULTILINE
)
_MAY_OPEN = re.compile(
    rf"(?:<|~+|\[\s*(?:[a-z_]*|/?[A-Z_]*)|(?<![\w/-])(?:[A-Za-z]\w*\.)*(?:{_BEGUN})|^{_CODE_BEGUN})\Z", re.MULTILINE
)
_FENCE = r"(?:`{3,}+|~{3,}+)"
_WRAPPING = re.compile(
    rf"{_FENCE}(?:\w*[ \t]*\n|(?=\s*[^\w\s`~]))|`{{1,2}}(?!`)|\[/?[A-Z_]{{3,}}\]|\[(?=\s*(?:\{{|{_ANY}))|<[^<>\n]{{1,80}}>|\s+"
)
_WRAPPING_BEGUN = re.compile(rf"(?:{_FENCE}\w*[ \t]*|`+|~+|\[/?[A-Z_]*|<[^<>\n]{{0,80}})\Z")
_CLOSING = re.compile(r"`+|~+|\[/?[A-Z_]*\]|\]|</?[^<>\n]{1,80}>|[\s,;)]+")
_CLOSING_BEGUN = re.compile(r"(?:<[^<>\n]{0,80}|\[/?[A-Z_]*)\Z")
_CODE = re.compile(rf"(?:[a-z]\w*\()*{_NAME}(?:\.\w+)?(?=\()")
_CODE_ENDS = re.compile(r"\)*[ \t;]*(?:\Z|[\n`~,\]<])")
_WITH_JSON = re.compile(rf"{_NAME}[^{{}}()]{{0,40}}(?=\{{)")
_MAY_HAVE_JSON = re.compile(rf"(?:[a-z]\w*\()*{_NAME}(?:\.\w*)?[^{{}}()]{{0,40}}\Z|{_CODE_BEGUN}\Z")
_TAG = re.compile(
    rf"<(?=(?P<tag>\w+))(?:[^<>\n]*?{_NAME}[^<>\n]*>|[^<>\n]*>\s*{_NAME.replace('name', 'inside')}(?=\s*<))"
)
_RUN = re.compile(r"(.)\1*", re.DOTALL)
_SPECIAL = re.compile(r"<[|｜][^<>\n]*>?")  # tokens of a model that its endpoint failed to read
_BRACKETS = re.compile(r""""(?:\\.|[^"\\])*"|(?<=[\[({,:=\s])'(?:\\.|[^'\\])*'|["\[\](){}]""", re.DOTALL)
_UNREADABLE = re.compile(rf"""(?s)(?=.*["'](?:{_ANY})["'])(?=.*\b(?:arguments|parameters|pattern|query|path)\b)""")
_Call = tuple[str, Any]


class _Stretch(NamedTuple):
    """A piece of a reply up to `end`; `calls` are None where it is no call, and empty where it is one that cannot be read."""

    end: int
    calls: list[_Call] | None = None


class CallFilter:
    """Passes on the text of one reply as it streams, but for the calls written in it: `calls` are those that could be read,
    `found` tells whether there was any."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._waiting = ""
        self._rest: list[str] = []  # what came once too much waited
        self._shown: list[str] = []
        self._behind = self._gap = False  # does what waits stand behind a call? is what is shown next a new paragraph?
        self.found = False
        self.calls: list[ToolCall] = []

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
            if self._behind and not self._leave_wrapping(end=end):
                return None
            start = self._found(_OPENS)
            if start is None:
                may = None if end else self._found(_MAY_OPEN)
                return self._pass(len(self._waiting) if may is None else may)
            self._pass(start)
            unit = _unit(self._waiting, begins_line=self._before == "\n", end=end)
            if unit is None:
                return None
            if unit.calls is None:
                self._pass(unit.end)
                continue
            self._waiting, self._behind, self.found = self._waiting[unit.end :], True, True
            for name, given in unit.calls:
                spelt = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
                self.calls.append(ToolCall(f"written_{len(self.calls) + 1}", name, spelt))
        return None

    @property
    def _before(self) -> str:
        """The character in front of what waits."""
        return self._shown[-1][-1] if self._shown else "\n"

    def _leave_wrapping(self, *, end: bool) -> bool:
        """Leave out the wrapping that ends a call; was all of it there?"""
        at = 0
        while closing := _CLOSING.match(self._waiting, at):
            at = closing.end()
        if not end and (at == len(self._waiting) or _CLOSING_BEGUN.match(self._waiting, at)):
            return False
        self._waiting, self._behind, self._gap = self._waiting[at:], False, bool(self._shown)
        return True

    def _found(self, opens: re.Pattern[str]) -> int | None:
        """Where in the waiting text something opens."""
        found = opens.search(self._before + self._waiting, 1)
        return found.start() - 1 if found else None

    def _pass(self, length: int) -> None:
        text, self._waiting = self._waiting[:length], self._waiting[length:]
        if text and self._gap:
            text, self._gap = f"\n\n{text}", False
        if text:
            self._shown.append(text)
            self._show(text)


def _unit(text: str, *, begins_line: bool, end: bool) -> _Stretch | None:
    """What a text begins with: wrapping and what stands in it; None where more must come to tell."""
    if _SPECIAL.match(text):
        return _special(text) if end else None
    at = 0
    while not (tag := _TAG.match(text, at)) and (piece := _WRAPPING.match(text, at)):
        at = piece.end()
    if not end and (at == len(text) or _WRAPPING_BEGUN.match(text, at)):
        return None
    if tag:
        return _element(text, tag, end=end)
    if text.startswith("{", at):
        return _object(text, at, end=end)
    code = _CODE.match(text, at) if at or begins_line else None
    if code:
        return _code(text, code, end=end)
    if named := _WITH_JSON.match(text, at):
        value, stop = _decoded(text, named.end())
        if stop is None:
            return _Stretch(len(text), []) if end else None
        known = isinstance(value, dict) and bool(value) and value.keys() <= _KEYS[named["name"]].keys()
        return _Stretch(stop, [(named["name"], value)] if known else list(_calls(value)) or None)
    if not end and _MAY_HAVE_JSON.match(text, at):
        return None
    return _Stretch(at or _RUN.match(text).end())  # type: ignore[union-attr]


def _special(text: str) -> _Stretch:
    """The rest of a reply, from a token on that is none of the answer's."""
    inside = CallFilter(lambda _: None)
    inside.feed(_SPECIAL.sub("\n", text))
    inside.end()
    return _Stretch(len(text), [(call.name, call.arguments) for call in inside.calls] if inside.found else None)


def _element(text: str, tag: re.Match[str], *, end: bool) -> _Stretch | None:
    """A tag that names a tool, up to its end, and the arguments in it: JSON, attributes, or further tags."""
    closing = re.compile(rf"</{tag['tag']}\s*>").search(text, tag.end())
    if not closing and not tag[0].endswith("/>") and not end:
        return None
    stop = closing.end() if closing else tag.end() if tag[0].endswith("/>") else len(text)
    name, inside = tag["name"] or tag["inside"], text[tag.start() : stop]
    value, _ = _decoded(inside, inside.find("{")) if "{" in inside else (None, None)
    given = dict(value) if isinstance(value, dict) else {}
    for key, schema in _KEYS[name].items() if not given else ():
        spelt = re.search(
            rf"""\b{key}(?:=["']([^"'<>]*)["']|["']?\s*(?:>|</[^<>]*>)(?:\s*<\w[^<>]*>)*\s*([^<]+))""", inside
        )
        if spelt:
            said = (spelt[1] or spelt[2] or "").strip()
            given[key] = int(said) if schema["type"] == "integer" and said.isdecimal() else said
    return _Stretch(stop, list(_calls(given)) or [(name, given)] if given else None)


def _object(text: str, at: int, *, end: bool) -> _Stretch | None:
    """A mapping in braces, which may be a call."""
    value, stop = _decoded(text, at)
    if stop is None:
        return _Stretch(len(text), [] if _UNREADABLE.match(text) else None) if end else None
    calls = list(_calls(value))
    return _Stretch(stop, calls or ([] if value is None and _UNREADABLE.match(text[at:stop]) else None))


def _code(text: str, code: re.Match[str], *, end: bool) -> _Stretch | None:
    """A call as in a program, which is all that stands on its line."""
    stop = _balanced(text, code.end())
    if stop is None or (stop == len(text) and not end):
        return _Stretch(len(text), []) if end else None
    if not _CODE_ENDS.match(text, stop):
        return _Stretch(code.end())
    keys, given = _KEYS[code["name"]], {}
    try:
        call = ast.parse(f"_{text[code.end() : stop]}", mode="eval").body
        assert isinstance(call, ast.Call)
        given = dict(zip(keys, map(ast.literal_eval, call.args), strict=False))
        given |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, SyntaxError, AssertionError, RecursionError, MemoryError):
        return _Stretch(stop, [])
    return _Stretch(stop, [(code["name"], given)] if given else None)


def _calls(value: Any) -> Iterator[_Call]:
    """The calls in a JSON value, at any depth: a mapping that names a tool and has arguments, beside its name or in it."""
    if isinstance(value, list):
        for one in value:
            yield from _calls(one)
    if not isinstance(value, dict):
        return
    named = [str(one).rpartition(".")[2] for key, one in value.items() if key not in _ALL_KEYS and isinstance(one, str)]
    name = next((one for one in named if one in _KEYS), None)
    inside = [one for one in map(_as_mapping, value.values()) if one is not None]
    beside = {key: one for key, one in value.items() if key in _KEYS.get(name or "", ())}
    if name and (inside or beside):
        yield name, inside[0] if inside else beside
    elif isinstance(value.get("name"), str) and {"arguments", "parameters"} & value.keys():
        yield value["name"], value.get("arguments", value.get("parameters"))  # of a tool that there is not
    else:
        for key, one in value.items():
            given = _as_mapping(one)
            yield from [(key, given)] if key in _KEYS and given is not None else _calls(one)


def _as_mapping(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else mapping(value) if isinstance(value, str) else None


def _decoded(text: str, at: int) -> tuple[Any, int | None]:
    """The value whose brace opens there, None where it cannot be read, and where it ends, None where it does not."""
    with contextlib.suppress(ValueError, RecursionError):
        value, stop = json.JSONDecoder(strict=False).raw_decode(text, at)
        return value, stop
    end = _balanced(text, at)
    if end is not None and end - at <= LONGEST:
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text[at:end]), end
    return None, end


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


def mapping(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
