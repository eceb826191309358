"""What a question is about: topics such as allergies or the address, what a sentence that answers it looks like, and its words.

The table is `data/topics.toml`, to be read and changed there. Pure functions.
"""

import functools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem.index.corpus import Corpus
from filemem.search import evidence
from filemem.search.question import Query
from filemem.text import tables, terms
from filemem.text.statements import table as statement_table
from filemem.text.statements.sentences import language_of, plainly

ALIKE = 0.5  # what another word for the one in the question counts, of a topic
_SORTS = {
    "#phone": r"\d[\d ()-]{6,}\d",
    "#place": r"\b(?:in|at|to|from|near) (?-i:[A-Z])\w+|[在去到住飞回][\u4e00-\u9fff]{2}",
    "#weekday": r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]",
}


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return statement_table.compiled(pattern)


class LazyPattern(NamedTuple):
    """A pattern that is compiled when it is first searched for: of hundreds, a question asks about a few."""

    pattern: str

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in a text that holds it."""
        return _compiled(self.pattern).search(terms.simplified(text))

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place in a text that holds it."""
        return _compiled(self.pattern).finditer(terms.simplified(text))

    def match(self, text: str) -> re.Match[str] | None:
        """What holds it where a text begins with that."""
        return _compiled(self.pattern).match(terms.simplified(text))


class Topic(NamedTuple):
    """A topic: `own` is a trait of somebody; `sure`: where no memory holds it, it is not known; `words` to search for."""

    name: str
    ask: re.Pattern[str]
    hold: LazyPattern
    own: bool = False
    sure: bool = False
    relations: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    words: str = ""
    person: str = ""  # the person whom it is about by itself, empty for none

    def holds(self, sentence: str) -> bool:
        """Does a sentence hold what answers a question about this?"""
        return self.hold.search(plainly(sentence)) is not None

    def is_of_kind(self, sentence: str) -> bool:
        """Is a sentence of a kind that may?"""
        said = plainly(sentence)
        language = language_of(said)
        return any(statement_table.search("kind", kind, said, language) for kind in self.kinds)


def asked(question: str) -> list[Topic]:
    """The topics that a question asks about."""
    said = plainly(question)
    return [topic for topic in (*_topics(), *_fields(said.lower())) if topic.ask.search(said)]


def named(name: str) -> Topic:
    """The topic of a name."""
    return next(topic for topic in _topics() if topic.name == name)


def table() -> dict[str, Any]:
    """The whole table."""
    return statement_table.loaded("topics.toml")


@functools.cache
def _topics() -> list[Topic]:
    rows = [
        {**row, **{key: tuple(row.get(key, ())) for key in ("relations", "kinds")}, "hold": LazyPattern(row["hold"])}
        for row in table()["topic"]
    ]
    named = [Topic(**{**row, "ask": _compiled(row.get("ask", row["hold"].pattern))}) for row in rows]
    return [*named, *(_alike(pattern, pattern) for pattern in table()["alike"])]


class AnswerType(NamedTuple):
    """A sort of thing that a question asks for, such as a time of day, and what an answer of that sort counts more."""

    name: str
    worth: float
    ask: re.Pattern[str]
    hold: LazyPattern | None


def answer_types(question: str) -> list[AnswerType]:
    """The sorts of things that a question asks for."""
    said = plainly(question)
    return [sort for sort in _sorts() if sort.ask.search(said)]


@functools.cache
def _sorts() -> list[AnswerType]:
    return [
        AnswerType(
            row["name"], row["worth"], _compiled(row["ask"]), LazyPattern(row["hold"]) if "hold" in row else None
        )
        for row in table()["sort"]
    ]


@functools.cache
def _field_rows() -> list[tuple[list[str], str]]:
    """The rows of the table of words: what may be asked for, and what is said where it is answered."""
    rows = (terms.simplified(row).partition(": ") for row in tables.lines("fields.txt"))
    return [(asked.split(", "), f"{asked}, {held}" if held else asked) for asked, _, held in rows]


def _fields(question: str) -> Iterator[Topic]:
    """The topics of that table of which a question, in small letters, holds a word at least as letters."""
    for asked, held in _field_rows():
        if any(word in _SORTS or word.rstrip("*") in question for word in asked):
            yield _alike(_any_of(asked), _any_of(held.split(", ")))


def _any_of(words: list[str]) -> str:
    """A pattern for any of some words: those in letters whole, with the endings of everyday words, `*` for any ending."""
    return "|".join(_SORTS.get(word) or _one_word(word) for word in words)


def _one_word(word: str) -> str:
    if not word.isascii():
        return re.escape(word)
    start, end = r"\b" if word[0].isalnum() else "", r"\b" if word[-1].isalnum() else ""
    if word.endswith("*"):
        return start + re.escape(word[:-1]) + r"\w*"
    return start + re.escape(word) + ("(?:'?s|es|ed|d|ing)?" if end else "") + end


def _alike(asked: str, held: str) -> Topic:
    return Topic("", _compiled(asked), LazyPattern(held))


_SAYS_NOTHING = frozenset(
    "still anymore ever actually really exactly currently again please whats whos wheres whens".split()
)
RARE = 6  # passages that a character stands in, up to which it tells a word
TELLING = 2.5  # the weight of a word that tells something
HALF, PAIR = 0.5, 0.6  # what a rare character counts of a word of Chinese, and two characters of a longer one


class AskedWord(NamedTuple):
    """A word of the question: the stems that stand for it with what each counts, and what it weighs."""

    text: str
    stems: tuple[tuple[str, float], ...]
    weight: float
    known: bool


def units_of(parsed: Query, corpus: Corpus) -> list[AskedWord]:
    """The words that a passage may hold, the rarer the weightier; one that stands nowhere weighs most."""

    def weight(count: int) -> float:
        return math.log(1 + (corpus.count + 1) / (1 + count))

    found = []
    for word in parsed.words:
        if not word.is_context_word and not terms.is_cjk(word.text) and word.text not in _SAYS_NOTHING:
            count = sum(map(corpus.frequency, corpus.concept(word.stem)))
            stems = ((word.stem, 1.0), *word.others)
            found.append(AskedWord(word.text, stems, word.weight * weight(count), count > 0))
    weights = [word.weight if corpus.concept(word.stem) else 0.0 for word in parsed.words]
    for unit in evidence.units(parsed, weights, 1.0, corpus.frequency):
        if terms.is_cjk(unit.text):
            others = [other for place in unit.places for other in parsed.words[place].others]
            pairs = [unit.text[n : n + 2] for n in range(max(1, len(unit.text) - 1))]
            count, size = min(map(corpus.frequency, pairs)), min(1.0, len(unit.text) / 2)
            rare = min(unit.text, key=corpus.frequency)
            part = [(rare, HALF)] if len(unit.text) > 1 and 0 < corpus.frequency(rare) <= RARE else []
            part += [(unit.text[at : at + 2], PAIR) for at in range(len(unit.text) - 1) if len(unit.text) > 2]
            found.append(AskedWord(unit.text, ((unit.text, 1.0), *part, *others), size * weight(count), count > 0))
    return found


def word_share(units: list[AskedWord], text: str) -> float:
    """The share of the question's words, by weight, that a text holds; little where all of them are common."""
    if not units:
        return 0.0
    stems, folded = forms(text)
    whole = sum(unit.weight for unit in units)
    return sum(unit.weight * held(unit, stems, folded) for unit in units) / max(whole, TELLING)


@functools.lru_cache(maxsize=10_000)
def forms(text: str) -> tuple[frozenset[str], str]:
    """The stems of a text's words, and the text folded, as it stands and in standard words."""
    text = f"{text}\n{statement_table.in_standard_words(text)}"
    return frozenset(terms.stem(token) for token in terms.tokens(text)), terms.fold(text)


def held(unit: AskedWord, stems: frozenset[str], folded: str) -> float:
    values = [value for stem, value in unit.stems if (stem in folded if terms.is_cjk(stem) else stem in stems)]
    return max(values, default=0.0)


def stands(unit: AskedWord, text: str) -> bool:
    """Does a word itself stand in a text, or most of one of Chinese?"""
    return held(unit, *forms(text)) >= (PAIR if terms.is_cjk(unit.text) else 1.0)
