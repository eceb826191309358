"""The words of a question: how much each tells, and which texts hold them. Pure functions."""

import functools
import math
from typing import NamedTuple

from filemem.index.corpus import Corpus
from filemem.search import evidence
from filemem.search.question import Query
from filemem.text import terms
from filemem.text.statements import table

_SAYS_NOTHING = frozenset(
    "still anymore ever actually really exactly currently again please whats whos wheres whens".split()
)
DOER = 0.6  # what the word for who does it counts
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
            found.append(
                AskedWord(
                    word.text,
                    ((word.stem, 1.0), *word.others, *_doers(word.text)),
                    word.weight * weight(count),
                    count > 0,
                )
            )
    weights = [word.weight if corpus.concept(word.stem) else 0.0 for word in parsed.words]
    for unit in evidence.units(parsed, weights, 1.0, corpus.frequency):
        if terms.is_cjk(unit.text):
            others = [other for place in unit.places for other in parsed.words[place].others]
            count, size = _count(unit.text, corpus), min(1.0, len(unit.text) / 2)
            rare = min(unit.text, key=corpus.frequency)
            part = [(rare, HALF)] if len(unit.text) > 1 and 0 < corpus.frequency(rare) <= RARE else []
            part += [(unit.text[at : at + 2], PAIR) for at in range(len(unit.text) - 1) if len(unit.text) > 2]
            found.append(AskedWord(unit.text, ((unit.text, 1.0), *part, *others), size * weight(count), count > 0))
    return found


def _doers(word: str) -> list[tuple[str, float]]:
    """The stems of who does what a word says, and of what they do: milker of milk, drive of driver."""
    base = terms.stem(word)
    forms = (
        [word[:-2], word[:-1], word[:-3]] if word.endswith("er") else [base + "er", base + "r", base + base[-1] + "er"]
    )
    return [(terms.stem(form), DOER) for form in forms if len(form) > 3 and terms.stem(form) != base]


def _count(text: str, corpus: Corpus) -> int:
    pairs = [text[n : n + 2] for n in range(max(1, len(text) - 1))]
    return min(corpus.frequency(pair) for pair in pairs)


def share(units: list[AskedWord], text: str) -> float:
    """The share of the question's words, by weight, that a text holds; little where all of them are common."""
    if not units:
        return 0.0
    stems, folded = forms(text)
    whole = sum(unit.weight for unit in units)
    return sum(unit.weight * held(unit, stems, folded) for unit in units) / max(whole, TELLING)


@functools.lru_cache(maxsize=10_000)
def forms(text: str) -> tuple[frozenset[str], str]:
    """The stems of a text's words, and the text folded, as it stands and in standard words."""
    text = f"{text}\n{table.in_standard_words(text)}"
    return frozenset(terms.stem(token) for token in terms.tokens(text)), terms.fold(text)


def held(unit: AskedWord, stems: frozenset[str], folded: str) -> float:
    values = [value for stem, value in unit.stems if (stem in folded if terms.is_cjk(stem) else stem in stems)]
    return max(values, default=0.0)


def stands(unit: AskedWord, text: str) -> bool:
    """Does a word itself stand in a text, or most of one of Chinese?"""
    return held(unit, *forms(text)) >= (PAIR if terms.is_cjk(unit.text) else 1.0)
