"""The words for time in English and Chinese, from `data/dates.txt`: what they count for, and the patterns that find them."""

import re
from collections.abc import Iterable
from functools import cache

from filemem.text import tables
from filemem.text.dates.spans import MONTHS, WEEKDAYS
from filemem.text.terms import simplified

MONTH_OF = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
WEEKDAY_OF = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS)}
ASCII_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")


@cache
def table(sort: str) -> dict[str, tuple[int, ...]]:
    """What the words of a sort count for."""
    rows = (row for row in tables.rows("dates.txt") if len(row) == 3 and row[0] == sort)
    return {word: tuple(map(int, numbers.split())) for _, words, numbers in rows for word in words.split(", ")}


@cache
def values(sort: str) -> dict[str, int]:
    """The same of words that count for one number."""
    return {word: numbers[0] for word, numbers in table(sort).items()}


@cache
def _parts() -> dict[str, str]:
    made = {"months": "|".join(MONTHS), "counts": "|".join(table("count"))}
    return tables.parts("dates.txt") | made


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern of the table, whatever case letters have."""
    return compiled(f"‹{name}›")


@cache
def compiled(text: str) -> re.Pattern[str]:
    """A pattern that may name others."""
    # ASCII keeps \b between 天 and y, \d free of other scripts' digits, and the folding of case out of Unicode's odd pairs.
    return re.compile(tables.expanded(text, _parts()), re.IGNORECASE | re.ASCII)


def any_of(names: Iterable[str]) -> str:
    """A pattern for any of some expressions, each a group of its name."""
    return "|".join(f"(?P<{name}>‹{name}›)" for name in names)


def may_be_relative(text: str) -> bool:
    """False where no expression in the text can count from a day: a look that spares most texts the patterns."""
    lowered = simplified(text.lower())
    return any(cue in lowered for cue in _parts()["cues"].split()) or pattern("a month").search(lowered) is not None
