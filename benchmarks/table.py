"""Tables in Markdown, as every program here prints its figures."""

from collections.abc import Iterable


def grid(head: str, rows: Iterable[Iterable[object]]) -> str:
    """A table; the names of its columns are parted by `|`."""
    names = head.split("|")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)
