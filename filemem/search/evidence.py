"""How much of a question a passage holds, in a measure that compares across questions, and in words that can be read.

A word of a language with spaces is one unit. Chinese, Japanese and Korean are indexed by characters and pairs, of which
many straddle two words; so a run of them is cut by the dictionary into units such as 外婆, 喜欢, 茶.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from filemem.search.question import Query
from filemem.text import terms

STRONG, PARTIAL = 0.75, 0.45  # strength from which on a passage holds most of a question, and part of it
NEAR = 0.9  # the most that a word counts which only stands near the passage, or only by a related word


class Unit(NamedTuple):
    """A word of the question: `places` of the words in `Query.words` that it is known by, what it weighs, whether it
    stands anywhere in memory."""

    text: str
    places: tuple[int, ...]
    weight: float
    known: bool


class TermCoverage(NamedTuple):
    """What a passage holds of a question. `strength` (0 to 1) is the share of the question's weight that it and its neighbours
    hold; it compares across questions. `has`: the question's words that stand in it; `near`: those that stand in a neighbour,
    or only as a related word; `lacks`: the others."""

    strength: float
    has: tuple[str, ...]
    near: tuple[str, ...]
    lacks: tuple[str, ...]


def units(query: Query, weights: Sequence[float], unknown: float) -> list[Unit]:
    """The units of a question. `weights` are those of its words, 0 for one that stands nowhere, which then weighs
    `unknown`; those that a passage need not repeat are left out."""
    found = [
        Unit(word.text, (place,), weight or word.weight * unknown, weight > 0)
        for place, (word, weight) in enumerate(zip(query.words, weights, strict=True))
        if not word.is_context_word and not terms.is_cjk(word.text)
    ]
    places = {word.text: place for place, word in enumerate(query.words) if not word.is_context_word}
    for text in dict.fromkeys(piece for run in query.runs for piece in _pieces(run)):
        tokens = [text] if len(text) == 1 else [text[n : n + 2] for n in range(len(text) - 1)]
        known_by = tuple(places[token] for token in tokens if token in places)
        if known_by:
            known = all(weights[place] > 0 for place in known_by)
            weight = max(weights[place] for place in known_by) if known else unknown
            found.append(Unit(text, known_by, weight, known))
    return found


def _pieces(run: str) -> Iterator[str]:
    """The words of a run, by the dictionary; what it does not know in one piece between stop words."""
    for alone, group in itertools.groupby(terms.segments(run), lambda word: len(word) == 1):
        words = list(group)
        yield from "".join(" " if word in terms.STOP else word for word in words).split() if alone else words


def held(units: Sequence[Unit], shares: Sequence[float], factor: float) -> TermCoverage:
    """What a passage holds: `shares` says of each of the question's words 1 where it stands in the passage itself, else what
    neighbours and related words give of it, NEAR at most; `factor` is what is left of the strength. A question without units
    has none."""
    has: list[str] = []
    near: list[str] = []
    lacks: list[str] = []
    total = whole = 0.0
    for unit in units:
        places = unit.places
        value = shares[places[0]] if len(places) == 1 else sum([shares[place] for place in places]) / len(places)
        total += unit.weight * value
        whole += unit.weight
        (has if value == 1.0 else near if value > 0 else lacks).append(unit.text)
    strength = round(factor * total / whole, 4) if whole else 0.0
    return TermCoverage(strength, tuple(has), tuple(near), tuple(lacks))
