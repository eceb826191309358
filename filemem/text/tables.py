"""The tables in `data/`, which are there to be read and changed: words, and patterns put together of named parts."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a table, without blank ones and those that begin with `#`."""
    text = (DATA / name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and line[0] != "#")


def _blocks(name: str) -> Iterator[tuple[str, list[str]]]:
    """Each line that begins at the margin, and those that are indented under it."""
    for block in re.findall(r"^(\S.*)((?:\n +.*)*)", "\n".join(lines(name)), re.MULTILINE):
        yield block[0], [line.strip() for line in block[1].split("\n")[1:]]


@cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table, columns two or more spaces apart; the indented lines under a row are its last column."""
    return tuple((*re.split(" {2,}", head), *filter(None, ["".join(under)])) for head, under in _blocks(name))


@cache
def words(name: str) -> dict[str, list[str]]:
    """The words that are indented under each head of a table."""
    return {head: " ".join(under).split() for head, under in _blocks(name)}


def parts(name: str) -> dict[str, str]:
    """A table of two columns, by the first."""
    return dict(row for row in rows(name) if len(row) == 2)


def expanded(pattern: str, known: Mapping[str, str]) -> str:
    """The pattern with every ‹name› in it written out."""
    while "‹" in pattern:
        pattern = re.sub("‹([^›]+)›", lambda found: known[found[1]], pattern)
    return pattern
