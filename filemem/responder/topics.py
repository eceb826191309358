"""What a question is about: topics such as allergies or the address, and what a sentence that answers it looks like.

The table is `data/topics.toml`, to be read and changed there. Pure functions.
"""

import functools
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from filemem.statements import relations
from filemem.statements import table as statement_table
from filemem.statements.sentences import is_chinese, plainly

ALIKE = 0.5  # what another word for the one in the question counts, of a topic
_FILE = Path(__file__).parents[1] / "data" / "topics.toml"


class Topic(NamedTuple):
    """A topic: `own` is a trait of somebody; `sure`: where no memory holds it, it is not known; `words` to search for."""

    name: str
    ask: re.Pattern[str]
    hold: re.Pattern[str]
    own: bool
    sure: bool
    relations: tuple[str, ...]
    kinds: tuple[str, ...]
    words: str
    person: str  # the person whom it is about by itself, empty for none
    worth: float

    def holds(self, sentence: str) -> bool:
        """Does a sentence hold what answers a question about this?"""
        return self.hold.search(plainly(sentence)) is not None

    def is_of_kind(self, sentence: str) -> bool:
        """Is a sentence of a kind that may?"""
        said = plainly(sentence)
        language = "zh" if is_chinese(said) else "en"
        return any(statement_table.search("kind", kind, said, language) for kind in self.kinds)


def asked(question: str) -> list[Topic]:
    """The topics that a question asks about."""
    said = plainly(question)
    return [topic for topic in _topics() if topic.ask.search(said)]


def relations_asked(question: str, about: list[Topic]) -> list[str]:
    """The names of the relations that answer a question."""
    return list(dict.fromkeys([*relations.asked(question), *(name for topic in about for name in topic.relations)]))


@functools.cache
def table_rows(section: str) -> list[dict[str, Any]]:
    """The rows of a section of the table."""
    rows: list[dict[str, Any]] = table()[section]
    return rows


@functools.cache
def table() -> dict[str, Any]:
    """The whole table."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@functools.cache
def _topics() -> list[Topic]:
    return [
        Topic(
            row["name"],
            re.compile(row.get("ask", row["hold"]), re.IGNORECASE),
            re.compile(row["hold"], re.IGNORECASE),
            row.get("own", False),
            row.get("sure", False),
            tuple(row.get("relations", ())),
            tuple(row.get("kinds", ())),
            row.get("words", ""),
            row.get("person", ""),
            1.0,
        )
        for row in table_rows("topic")
    ] + [_alike(pattern) for pattern in table()["alike"]]


def _alike(pattern: str) -> Topic:
    words = re.compile(pattern, re.IGNORECASE)
    return Topic("", words, words, own=False, sure=False, relations=(), kinds=(), words="", person="", worth=ALIKE)
