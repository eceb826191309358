"""The known keys of front matter: what a value of each must be, and its remedy."""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from filemem.errors import Problem

MAX_YAML_CHARS = 200_000  # YAML takes a second for each million
# Front matter that names what the memory is about.
NAMING = frozenset({"title", "aliases", "tags"})
# Front matter that describes the memory and says nothing to search for.
DESCRIBING = frozenset(
    "importance pinned source valid_from valid_until supersedes superseded_by "
    "confidence date created timezone origin assistant records actions".split()
)
# The same, of what the program writes into facts and lessons.
OF_FACTS = frozenset("kind day retold_by said_by tool calls success".split())
# The program's own lines for the Open Knowledge Format, in which there are no words.
FORMAL = frozenset(
    (
        "type: fact",
        "type: session",
        "type: lesson",
        "type: summary",
        "type: profile",
        "type: forget",
        "type: note",
        "status: deprecated",
    )
)


class Episode(StrEnum):
    """The `kind` of a fact that is over once its day is."""

    EVENT = "event"
    PLAN = "plan"


@dataclass(frozen=True)
class FrontMatter:
    """A mapping, or what is wrong with its text, and then it is empty."""

    values: dict[str, Any]
    fault: Problem | None = None


def day_of(value: object) -> dt.date | None:
    """Return the day of a YAML date or time, one in quotes too; None for anything
    else."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = dt.datetime.fromisoformat(value)
    if isinstance(value, dt.datetime):
        return value.date()
    return value if isinstance(value, dt.date) else None


def texts(value: object) -> Iterator[str]:
    """Yield the strings in a front matter value, nested ones too."""
    if isinstance(value, dict):
        for key, entry in value.items():
            for text in texts(entry):
                yield f"{key}: {text}"
    elif isinstance(value, list | tuple | set):
        for entry in value:
            yield from texts(entry)
    elif value is not None:
        yield str(value)


class Field(NamedTuple):
    """A known key: whether a value is well-formed, and what it ought to be.

    Where that is empty any value is allowed, but only a well-formed one counts.
    """

    is_valid: Callable[[Any], object]
    rule: str


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_list(value: object) -> bool:
    return isinstance(value, str | list)


def _is_importance(value: object) -> bool:
    return type(value) is int and 1 <= value <= 10


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 <= float(str(value)) <= 1


FIELDS = {
    "importance": Field(_is_importance, "a whole number from 1 to 10"),
    "confidence": Field(_is_share, "a number from 0 to 1"),
    "pinned": Field(lambda value: isinstance(value, bool), "true or false"),
    "tags": Field(_is_text_or_list, "a list: [tea, family]"),
    "aliases": Field(_is_text_or_list, "a list: [NYC, Big Apple]"),
    "valid_from": Field(day_of, "a date: 2026-11-20"),
    "valid_until": Field(day_of, "a date: 2026-11-20"),
    "source": Field(_is_text_or_list, "path:line of where it was said, or a list"),
    # Of the Open Knowledge Format.
    "sources": Field(lambda value: isinstance(value, list), ""),
    "stale_after": Field(day_of, "a date: 2026-11-20"),
    "status": Field(lambda value: value == "deprecated", ""),
    "supersedes": Field(_is_text_or_list, "the path of the older memory"),
    "superseded_by": Field(_is_text, "the path of the newer memory"),
    "assistant": Field(_is_text, "the name of the speaker who is one"),
    "kind": Field(lambda value: value in [*Episode], ""),
    # Of an event; a note's `day: Friday` is its own matter.
    "day": Field(day_of, ""),
}
