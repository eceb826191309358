"""The tables in `data/`, to be read and changed: words, and patterns of parts."""

import functools
import re
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"

_BLOCK = re.compile(r"^(\S.*)((?:\n +.*)*)", re.MULTILINE)
_PART = re.compile("‹([^›]+)›")


def lines(name: str) -> tuple[str, ...]:
    """Return the lines of a table, without blank ones and those that begin with `#`.

    Args:
        name: of a file in `data/`.
    """
    text = (DATA / name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and line[0] != "#")


@functools.cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table, each with its columns.

    Two or more spaces part columns. The indented lines under a row are its last column,
    joined without a space.

    Args:
        name: of a file in `data/`.
    """
    found: list[tuple[str, ...]] = []
    for head, under in _BLOCK.findall("\n".join(lines(name))):
        columns = re.split(" {2,}", head)
        if under:
            columns.append(re.sub(r"\n +", "", under))
        found.append(tuple(columns))
    return tuple(found)


@functools.cache
def parts(name: str) -> dict[str, str]:
    """Return the rows of two columns of a table, such as the parts of its patterns.

    Args:
        name: of a file in `data/`.
    """
    return dict(row for row in rows(name) if len(row) == 2)


def expand(name: str, pattern: str) -> str:
    """Return a pattern with every part in it, a ‹name› of the table, written out.

    Parts may have parts themselves.
    """
    while "‹" in pattern:
        pattern = _PART.sub(lambda match: parts(name)[match[1]], pattern)
    return pattern


@functools.cache
def compiled(name: str, pattern: str) -> re.Pattern[str]:
    """Return a pattern, expanded by a table, compiled without case."""
    # ASCII keeps \b between 天 and y, \d free of other scripts' digits, and the folding
    # of case out of Unicode's odd pairs.
    return re.compile(expand(name, pattern), re.IGNORECASE | re.ASCII)
