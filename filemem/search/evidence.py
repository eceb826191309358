"""How much of a question a passage holds, in a measure that compares across questions, and in words that can be read.

A word of a language with spaces is one unit. Chinese, Japanese and Korean are indexed by characters and pairs, of which
many straddle two words; so a run of them is cut, by how the memories themselves join its characters, into units such as
外婆, 喜欢, 茶.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from filemem.search.question import Query
from filemem.text import terms

LOOSE = 0.3  # of its neighbours' cohesion, under which a pair of characters is taken to straddle two words
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


def units(query: Query, weights: Sequence[float], unknown: float, frequency: Callable[[str], int]) -> list[Unit]:
    """The units of a question. `weights` are those of its words, 0 for one that stands nowhere, which then weighs
    `unknown`; those that a passage need not repeat are left out."""
    found = [
        Unit(word.text, (place,), weight or word.weight * unknown, weight > 0)
        for place, (word, weight) in enumerate(zip(query.words, weights, strict=True))
        if not word.is_context_word and not terms.is_cjk(word.text)
    ]
    places = {word.text: place for place, word in enumerate(query.words) if not word.is_context_word}
    pieces = (piece for run in query.runs for piece in _pieces(run, frequency))
    for text in dict.fromkeys(pieces):
        tokens = [text] if len(text) == 1 else [text[n : n + 2] for n in range(len(text) - 1)]
        known_by = tuple(places[token] for token in tokens if token in places)
        if known_by:
            known = all(weights[place] > 0 for place in known_by)
            weight = max(weights[place] for place in known_by) if known else unknown
            found.append(Unit(text, known_by, weight, known))
    return found


def _pieces(run: str, frequency: Callable[[str], int]) -> list[str]:
    """The words of a run, by the dictionary; what it does not know, but for stop words, cut by the memories."""
    pieces: list[str] = []
    for alone, group in itertools.groupby(terms.segments(run), lambda word: len(word) == 1):
        words = list(group)
        left = "".join(" " if word in terms.STOP else word for word in words).split() if alone else []
        pieces += [piece for part in left for piece in _unlisted(part, frequency)] if alone else words
    return pieces


def _unlisted(text: str, frequency: Callable[[str], int]) -> list[str]:
    """The words of a text that are in no dictionary: cut where the pair over the cut is rare beside those next to it.

    Two characters that would each be left alone stay together: a word that stands nowhere is one still. Likewise a
    character that stands nowhere and the next one, as most words have two.
    """
    bonds = [_cohesion(text[n : n + 2], frequency) for n in range(len(text) - 1)]
    around = [max(bonds[max(0, n - 1) : n + 2]) for n in range(len(bonds))]
    joined = [bond > 0 and bond >= LOOSE * most for bond, most in zip(bonds, around, strict=True)]
    for n in range(len(joined)):
        if not any(joined[max(0, n - 1) : n + 2]):
            joined[n] = True
        if not frequency(text[n]) and not (n and joined[n - 1]):
            joined[n : n + 2] = [True, False][: len(joined) - n]
    pieces = [text[:1]]
    for character, together in zip(text[1:], joined, strict=True):
        if together:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _cohesion(pair: str, frequency: Callable[[str], int]) -> float:
    """How often the rarer of two characters stands in this pair, 0 to 1."""
    rarer = min(frequency(pair[0]), frequency(pair[1]))
    return frequency(pair) / rarer if rarer else 0.0


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
