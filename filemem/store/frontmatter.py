"""Front matter as text: a mapping read from YAML that anyone may have written, and one key of it changed.

YAML is hostile: it can nest deeper than a parser's stack, repeat itself without bound, and name values that are none.
"""

import re
from typing import Any

import yaml

from filemem.errors import Problem

DEEPEST = 50  # levels of nesting; libyaml's Python binding recurses, and ends the process when the stack is used up
LONGEST_NUMBER = (
    100  # characters; Python takes seconds over the longest, and refuses to print them
)
Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRING = "tag:yaml.org,2002:str"
_KINDS = {
    "tag:yaml.org,2002:timestamp": "date",
    "tag:yaml.org,2002:int": "number",
    "tag:yaml.org,2002:float": "number",
}
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]"
)  # no YAML may hold them


class _Loader(Safe):  # type: ignore[misc]
    """The safe loader, but an invalid date or number stays text instead of spoiling the other keys."""

    def __init__(self, source: str, path: str, above: int) -> None:
        super().__init__(source)
        self.source, self.path, self.above = source, path, above
        self.problems: list[Problem] = []

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        if not isinstance(node, yaml.ScalarNode) or node.tag == _STRING:
            return super().construct_object(node, deep)
        try:
            if len(node.value) <= LONGEST_NUMBER:
                return super().construct_object(node, deep)
        except (
            yaml.YAMLError,
            ValueError,
            LookupError,
            AttributeError,
            TypeError,
            OverflowError,
        ):
            pass
        kind = _KINDS.get(node.tag, node.tag.rpartition(":")[2])
        line = self.above + self.source.count("\n", 0, node.start_mark.index) + 1
        what = f"{node.value[:40]} is no {kind}"
        self.problems.append(
            Problem(self.path, line, what, "correct it, or put it in quotes")
        )
        return node.value


def load(
    source: str, path: str = "", above: int = 0
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The mapping in a YAML text, empty for an empty one, None for a broken one; and the problems of the file at `path`, in which
    `above` lines stand over it."""
    plainly = "write it as plain `key: value` lines"
    try:
        if wrong := _unbounded(source):
            return None, [Problem(path, above + 1, f"the YAML {wrong}", plainly)]
        loader = _Loader(source, path, above)
        value = loader.get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        told = (
            getattr(error, "problem", None)
            or getattr(error, "reason", None)
            or "it cannot be read"
        )
        # A bracket or quote that is never closed is reported where it opens.
        opened = re.search("flow|quoted", getattr(error, "context", None) or "")
        mark, control = (
            getattr(error, "context_mark" if opened else "problem_mark", None),
            _CONTROL.search(source),
        )
        index = int(mark.index) if mark else control.start() if control else 0
        line = (
            source.count("\n", 0, min(index, len(source.rstrip()))) + 1
        )  # the last with text where it points behind
        return None, [
            Problem(
                path,
                above + line,
                f"broken YAML: {' '.join(told.split())}",
                "fix this line",
            )
        ]
    if value is None:
        return {}, []
    if not isinstance(value, dict):
        return None, [
            Problem(
                path, above + 1, "the YAML is no mapping of keys to values", plainly
            )
        ]
    return {str(key): entry for key, entry in value.items()}, sorted(loader.problems)


def _unbounded(source: str) -> str:
    """How the YAML could nest or grow without bound; empty where it cannot."""
    indents = (len(line) - len(line.lstrip(" \t-?:")) for line in source.split("\n"))
    if (
        source.count("[") + source.count("{") + max(indents) <= DEEPEST
        and "*" not in source
    ):
        return ""
    depth = 0
    for event in yaml.parse(source, Loader=Safe):
        if isinstance(event, yaml.AliasEvent):
            return "uses anchors and aliases"
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if depth > DEEPEST:
            return "is nested too deeply"
    return ""


def replaced(source: str, key: str, value: str, newline: str = "\n") -> str:
    """`source` with `key` set to a YAML value on one line; every character that is not that value's stays. Raises ValueError
    where it is broken, where a person wrote the value over several lines, or where another key would change its meaning."""
    before, _ = load(source)
    if before is None:
        raise ValueError("the YAML is broken")
    nodes = yaml.compose(source, Loader=yaml.SafeLoader)
    pairs = nodes.value if nodes else []
    pair = next((pair for pair in reversed(pairs) if pair[0].value == key), None)
    if pair:
        start, end = pair[1].start_mark.index, pair[1].end_mark.index
        colon = source.index(":", pair[0].end_mark.index) + 1
        if start == end:  # empty there, except perhaps for a comment
            after = f"{source[:colon]} {value}{source[colon:]}"
        elif "\n" in source[colon:end]:
            raise ValueError(f"{key} stands on several lines")
        else:
            after = source[:start] + value + source[end:]
    elif pairs and not source.endswith(
        "\n"
    ):  # behind a block of text without a last newline, one would add to it
        start = pairs[0][0].start_mark.index
        after = f"{source[:start]}{key}: {value}{newline}{source[start:]}"
    else:
        gap = newline if source and not source.endswith("\n") else ""
        after = f"{source}{gap}{key}: {value}{newline}"
    wanted = {**before, key: yaml.safe_load(value)}
    if repr(sorted((load(after)[0] or {}).items(), key=str)) != repr(
        sorted(wanted.items(), key=str)
    ):
        raise ValueError(f"{key} cannot be set without touching other lines")
    return after


def quoted(text: str) -> str:
    """A YAML scalar on one line for any text."""
    if (
        re.fullmatch(r"[^\W\d_][\w /.+-]*(?::\d+)?(?<! )", text)
        and yaml.safe_load(text) == text
    ):
        return text
    return yaml.safe_dump(
        text, default_style='"', allow_unicode=True, width=float("inf")
    ).rstrip("\n")
