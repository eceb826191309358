"""Lists in JSON as models write it: read what is meant, whatever stands around it.

Put right are stray backslashes (`C:\\Users`), raw line ends, quotation marks within a
text, trailing commas, one object in the place of a list, JSON within a JSON text, and a
missing end. Pure functions.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder(strict=False)
_TRAILING_COMMA = re.compile(r",\s*(?=[}\]])")
_SIGN = re.compile(
    r"""(?P<escape>\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))
    | \\(?P<apostrophe>')
    | (?P<stray>\\)
    | (?P<before>(?:\A|[{\[,:])\s*)? " (?P<after>(?=\s*(?:[,:}\]]|\Z)))?""",
    re.VERBOSE | re.DOTALL,
)
_FENCED = re.compile(r"\s*(?:```(?:json)?\s*)?(\{.*\})\s*(?:```)?\s*", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*(?![\s,\]}]|\Z)")


@dataclass(frozen=True)
class Listed:
    """The elements of a list, and whether its end was missing."""

    elements: list[Any]
    is_cut_off: bool


def read_list(text: str, key: str) -> Listed | None:
    """Read the list under a key, in whatever talk or fences its JSON stands.

    Returns:
        The elements that are whole; None where the text holds no such list.
    """
    if text.lstrip().startswith('"') or rf"\"{key}\"" in text:
        text = text.strip().removeprefix('"').replace('\\"', '"').replace("\\\\", "\\")
    begin = re.search(rf'"{key}"\s*:\s*|\A\W*(?:json)?\s*(?=\[)', text)
    if not begin:
        return None
    rest = _TRAILING_COMMA.sub("", text[begin.end() :])
    rest = _SIGN.sub(_put_right, rest)
    if rest.startswith("["):
        return _elements(rest)
    read = _value(rest, 0)
    if read is None:
        return Listed([], is_cut_off=True)
    if isinstance(read.value, str):
        return _elements(_TRAILING_COMMA.sub("", read.value).strip())
    is_given = read.value is not None
    return Listed([read.value] if is_given else [], is_cut_off=False)


def read_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text is, within a fence or not; None for any other."""
    fenced = _FENCED.fullmatch(text)
    if fenced:
        read = _value(fenced[1], 0)
        if read and read.end == len(fenced[1]):
            whole: dict[str, Any] = read.value
            return whole
    return None


def _elements(text: str) -> Listed:
    """Read the elements of a list, as far as they are whole.

    Args:
        text: which begins with the bracket.
    """
    found: list[Any] = []
    at = 1
    while more := _BETWEEN.match(text, at):
        read = _value(text, more.end())
        if read is None:
            return Listed(found, is_cut_off=True)
        found.append(read.value)
        at = read.end
    return Listed(found, is_cut_off="]" not in text[at:])


class _Value(NamedTuple):
    """A value that was read, and the place behind it."""

    value: Any
    end: int


def _value(text: str, at: int) -> _Value | None:
    """Read one value at a place; return None where there is no whole one."""
    try:
        return _Value(*_DECODER.raw_decode(text, at))
    except (ValueError, RecursionError):
        return None


def _put_right(match: re.Match[str]) -> str:
    """Escape a stray backslash, and a quotation mark within a text; an apostrophe needs
    none."""
    if match["apostrophe"]:
        return "'"
    if match["stray"]:
        return r"\\"
    if match["escape"] or match["before"] is not None or match["after"] is not None:
        return match[0]
    return r"\""
