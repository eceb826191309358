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
_PLAINLY = "write it as plain `key: value` lines"
_STRING = "tag:yaml.org,2002:str"
_IN_WORDS = {"timestamp": "date", "int": "number", "float": "number"}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
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
    """The safe loader, for which an invalid date or number is text, and a problem."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.invalid: list[Any] = []

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        if not isinstance(node, yaml.ScalarNode) or node.tag == _STRING:
            return super().construct_object(node, deep)
        if len(node.value) <= MAX_NUMBER_CHARS:
            try:
                return super().construct_object(node, deep)
            except _INVALID:
                pass
        self.invalid.append(node)
        return node.value


def load(source: str, path: str = "", above: int = 0) -> FrontMatter:
    """Read the mapping in a YAML text.

    Args:
        source: the text; an empty one is an empty mapping.
        path: of the file, for its problems.
        above: how many lines of the file stand over the text.
    """

    def broken(what: str, remedy: str = _PLAINLY, line: int = 1) -> FrontMatter:
        return FrontMatter({}, (Problem(path, above + line, what, remedy),), True)

    if len(source) > MAX_YAML_CHARS:
        what = f"over {MAX_YAML_CHARS:,} characters, too large for YAML"
        return broken(what, "keep it as Markdown")
    try:
        fault = _unbounded(source)
        if fault:
            return broken(f"the YAML {fault}")
        loader = _Loader(source)
        values = loader.get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        why = getattr(error, "problem", None) or getattr(error, "reason", None)
        what = " ".join((why or "it cannot be read").split())
        return broken(f"broken YAML: {what}", "fix this line", _line_of(error, source))
    if values is None:
        return FrontMatter({})
    if not isinstance(values, dict):
        return broken("the YAML is no mapping of keys to values")
    problems = []
    for node in loader.invalid:
        tag = node.tag.rpartition(":")[2]
        what = f"{node.value[:40]} is no {_IN_WORDS.get(tag, tag)}"
        line = above + source.count("\n", 0, node.start_mark.index) + 1
        problems.append(Problem(path, line, what, "correct it, or put it in quotes"))
    named = {str(key): value for key, value in values.items()}
    return FrontMatter(named, tuple(sorted(problems)))


def _line_of(error: Exception, source: str) -> int:
    """Return the line of a text at which YAML is broken, from 1."""
    # A bracket or quote that is never closed is reported where it opens.
    opened = re.search("flow|quoted", getattr(error, "context", None) or "")
    mark = getattr(error, "context_mark" if opened else "problem_mark", None)
    control = _CONTROL.search(source)
    index = 0
    if mark:
        index = int(mark.index)
    elif control:
        index = control.start()
    # The last line with text where it points behind all.
    return source.count("\n", 0, min(index, len(source.rstrip()))) + 1


def _unbounded(source: str) -> str:
    """Return how the YAML could nest or grow without bound; '' if it cannot."""
    indents = (len(line) - len(line.lstrip(" \t-?:")) for line in source.split("\n"))
    deepest = source.count("[") + source.count("{") + max(indents)
    if deepest <= MAX_DEPTH and "*" not in source:
        return ""
    depth = 0
    for event in yaml.parse(source, Loader=_SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            return "uses anchors and aliases"
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            return "is nested too deeply"
    return ""


def replaced(source: str, key: str, value: str, newline: str = "\n") -> str:
    """Return a YAML text with one key set; every other character of it stays.

    Args:
        source: the text.
        key: what is set, or added at the end.
        value: YAML on one line.
        newline: what ends a line that is added.

    Raises:
        ValueError: the text is broken, a person wrote the value over several lines, or
            another key would change its meaning.
    """
    before = load(source)
    if before.is_broken:
        raise ValueError("the YAML is broken")
    nodes = yaml.compose(source, Loader=yaml.SafeLoader)
    pairs = nodes.value if nodes else []
    line = f"{key}: {value}{newline}"
    named = [pair for pair in pairs if pair[0].value == key]
    if named:
        after = _with_value(source, named[-1], value)
    elif pairs and not source.endswith("\n"):
        # Behind a block of text without a last newline, one would add to it.
        start = pairs[0][0].start_mark.index
        after = f"{source[:start]}{line}{source[start:]}"
    else:
        gap = newline if source and not source.endswith("\n") else ""
        after = f"{source}{gap}{line}"
    wanted = before.values | {key: yaml.safe_load(value)}
    if _in_order(load(after).values) != _in_order(wanted):
        raise ValueError(f"{key} cannot be set without touching other lines")
    return after


def _with_value(source: str, pair: tuple[Any, Any], value: str) -> str:
    """Return a YAML text with the value of one pair of nodes replaced."""
    key, old = pair
    start = old.start_mark.index
    end = old.end_mark.index
    colon = source.index(":", key.end_mark.index) + 1
    if start == end:  # empty there, except perhaps for a comment
        return f"{source[:colon]} {value}{source[colon:]}"
    if "\n" in source[colon:end]:
        raise ValueError(f"{key.value} stands on several lines")
    return source[:start] + value + source[end:]


def _in_order(values: dict[str, Any]) -> str:
    """Return a mapping as text, to compare; not-a-number equals itself."""
    return repr(sorted(values.items(), key=str))


def quoted(text: str) -> str:
    """Return a YAML scalar on one line for any text."""
    if _NEEDS_NO_QUOTES.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    dumped: str = yaml.safe_dump(
        text, default_style='"', allow_unicode=True, width=float("inf")
    )
    return dumped.rstrip("\n")
