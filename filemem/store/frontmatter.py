"""Front matter as text: a mapping read from YAML that anyone may have written, and one
key of it changed.

YAML is hostile: it can nest deeper than a parser's stack, repeat itself without bound,
and name values that are none.
"""

import re
from typing import Any

import yaml

from filemem.errors import Problem
from filemem.store.fields import MAX_YAML_CHARS, FrontMatter

MAX_DEPTH = 50  # libyaml's binding recurses, and ends the process with its stack
MAX_NUMBER_CHARS = 100  # Python takes seconds over long ones, and prints none
# What a YAML text has that nests deeply or repeats itself.
_SUSPECT = re.compile(r"\*|(?:[\[{][^\[{]*){50}|^[ \t?:-]{50}", re.MULTILINE)
_NEEDS_NO_QUOTES = re.compile(r"[^\W\d_][\w /.+-]*(?::\d+)?(?<! )")
_INVALID = (
    yaml.YAMLError,
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    OverflowError,
)
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]
    """The safe loader, for which an invalid date or number is text."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        is_scalar = isinstance(node, yaml.ScalarNode)
        if is_scalar and len(node.value) > MAX_NUMBER_CHARS:
            return node.value
        try:
            return super().construct_object(node, deep)
        except _INVALID:
            if is_scalar:
                return node.value
            raise


def load(source: str, path: str = "", above: int = 0) -> FrontMatter:
    """Read the mapping in a YAML text.

    Args:
        source: the text; an empty one is an empty mapping.
        path: of the file, for its problems.
        above: how many lines of the file stand over the text.
    """
    try:
        _check_bounds(source)
        values = yaml.load(source, _Loader)
        if not isinstance(values, dict | None):
            raise _fault("it is no mapping of keys to values")
    except (yaml.YAMLError, RecursionError) as error:
        why = getattr(error, "problem", None) or getattr(error, "reason", None)
        what = f"broken YAML: {' '.join((why or 'it cannot be read').split())}"
        line = above + _line_of(error, source)
        return FrontMatter({}, Problem(path, line, what, "fix this line"))
    return FrontMatter({str(key): value for key, value in (values or {}).items()})


def _fault(what: str) -> yaml.YAMLError:
    return yaml.MarkedYAMLError(problem=what)


def _line_of(error: Exception, source: str) -> int:
    """Return the line of a text at which YAML is broken, from 1.

    That is where a quote or bracket without its end began; of what stands line by line,
    a block, the line that does not fit.
    """
    mark = getattr(error, "context_mark", None)
    if mark is None or "block" in str(getattr(error, "context", "")):
        mark = getattr(error, "problem_mark", None)
    index = mark.index if mark else getattr(error, "position", 0)
    # The last line with text where it points behind all.
    return source.count("\n", 0, min(index, len(source.rstrip()))) + 1


def _check_bounds(source: str) -> None:
    """Raise YAMLError for a text that could nest or grow without bound."""
    if len(source) > MAX_YAML_CHARS:
        raise _fault(f"it has over {MAX_YAML_CHARS:,} characters")
    if not _SUSPECT.search(source):
        return
    depth = 0
    for event in yaml.parse(source, Loader=_SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise _fault("it uses anchors and aliases")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise _fault("it is nested too deeply")


def replaced(source: str, key: str, value: str, newline: str = "\n") -> str:
    """Return a YAML text with one key set; every other character of it stays.

    Args:
        source: the text.
        key: what is set, or added at the end; in front of a text without a last
            newline, which may be part of a value.
        value: YAML on one line.
        newline: what ends a line that is added.

    Raises:
        ValueError: the text is broken, a person wrote the value over several lines, or
            another key would change its meaning.
    """
    before = load(source)
    if before.fault:
        raise ValueError("the YAML is broken")
    after = _with_value(source, key, value)
    line = f"{key}: {value}{newline}"
    if not after:
        is_whole = source == "" or source.endswith("\n")
        after = source + line if is_whole else line + source
    if load(after).values != before.values | {key: yaml.safe_load(value)}:
        raise ValueError(f"{key} cannot be set without touching other lines")
    return after


def _with_value(source: str, key: str, value: str) -> str:
    """Return a YAML text with the value of a key replaced; '' if it has no such key."""
    nodes = yaml.compose(source, Loader=yaml.SafeLoader)
    after = ""
    for name, old in nodes.value if nodes else ():
        if name.value != key:
            continue
        start = old.start_mark.index
        end = old.end_mark.index
        colon = source.index(":", name.end_mark.index) + 1
        if "\n" in source[colon:end]:
            raise ValueError(f"{key} stands on several lines")
        if start == end:  # empty there, except perhaps for a comment
            after = f"{source[:colon]} {value}{source[colon:]}"
        else:
            after = source[:start] + value + source[end:]
    return after


def quoted(text: str) -> str:
    """Return a YAML scalar on one line for any text."""
    if _NEEDS_NO_QUOTES.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    dumped: str = yaml.safe_dump(
        text, default_style='"', allow_unicode=True, width=float("inf")
    )
    return dumped.rstrip("\n")
