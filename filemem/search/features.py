"""What speaks for each passage, as named numbers; the score is their weighted sum.

A word that a passage lacks counts when a neighbour in the same file has it: people
answer without repeating the question.
"""

import math
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from filemem.index import APART, ASKS, Corpus, IndexedFile
from filemem.search.candidates import Candidates, Values
from filemem.search.filters import Filters
from filemem.search.query import Query
from filemem.search.weights import Weights

MAX_MATCHES = 150
NEAR_COVERAGE = 0.9  # the most that a word counts which only stands near a passage


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for one passage, each as a share of the question's weight.

    `by_word` has `words` by word of the question; `role` and `document` are factors.
    """

    words: float = 0.0
    by_word: tuple[float, ...] = ()
    session: float = 0.0
    speaker: float = 0.0
    follows_question: float = 0.0
    length: float = 0.0
    day: float = 0.0
    meaning: float = 0.0
    role: float = 1.0
    document: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage found, with what speaks for it and its score."""

    number: int
    entry: IndexedFile
    features: Features
    score: float


def score(features: Features) -> float:
    """Return the score of a passage; 1 is about a passage that holds every word."""
    total = (
        features.words
        + features.session
        + features.speaker
        + features.follows_question
        + features.length
        + features.day
        + features.meaning
    )
    return round(max(total, 0.0) * features.role * features.document, 6)


def with_named_day(match: Ranked, weights: Weights) -> Ranked:
    """Return a match whose text names a day asked for, which counts as being of it."""
    if match.features.day >= weights.on_day:
        return match
    features = replace(match.features, day=weights.on_day)
    return replace(match, features=features, score=score(features))


def with_meaning(match: Ranked, meaning: float) -> Ranked:
    """Return a match that also counts for what it means, a share as the others are."""
    features = replace(match.features, meaning=meaning)
    return replace(match, features=features, score=score(features))


def rank(
    query: Query,
    corpus: Corpus,
    candidates: Candidates,
    document_weights: dict[int, float],
    filters: Filters,
    weights: Weights,
) -> list[Ranked]:
    """Return the passages of the candidates, the best first, the newest of like ones."""
    spread = [
        spread_to_neighbors(found.values, corpus, weights)
        for found in candidates.occurrences
    ]
    totals: Values = {}
    for values in spread:
        for number, value in values.items():
            totals[number] = totals.get(number, 0.0) + value
    if candidates.is_bare:
        for entry in candidates.files:
            for number in entry.numbers:
                totals.setdefault(number, 0.0)
    sessions = _session_shares(candidates, weights)
    matches: list[Ranked] = []
    for entry in candidates.files:
        session = sessions.get(entry.first, 0.0)
        document = document_weights.get(entry.first, 1.0)
        among_people = not any(map(corpus.by_assistant, entry.numbers))
        for number in entry.numbers:
            if number not in totals:
                continue
            if not filters.admits_passage(corpus, entry, number):
                continue
            features = _features(
                number,
                entry,
                totals[number] / candidates.query_weight,
                session,
                document,
                among_people,
                query,
                corpus,
                weights,
            )
            matches.append(Ranked(number, entry, features, score(features)))
    matches.sort(
        key=lambda one: (-one.score, -one.entry.date, one.entry.path, one.number)
    )
    return [_with_words(match, spread, candidates) for match in matches[:MAX_MATCHES]]


def _with_words(match: Ranked, spread: list[Values], candidates: Candidates) -> Ranked:
    """Return a match with what each word of the question counts for it."""
    words = tuple(
        values.get(match.number, 0.0) / candidates.query_weight for values in spread
    )
    return replace(match, features=replace(match.features, by_word=words))


# -- words, and those of the neighbours --------------------------------------------


def spread_to_neighbors(values: Values, corpus: Corpus, weights: Weights) -> Values:
    """Return what a word counts for each passage within reach of where it stands.

    The nearest place gives most of it; the rest is summed over all in reach.
    """
    nearby = _Nearby(corpus, weights.neighbors)
    best: Values = {}
    total: Values = {}
    for number, value in values.items():
        first, shares = nearby.shares(number)
        for beside, share in enumerate(shares, first):
            part = value * share
            if beside not in best:
                best[beside] = part
                total[beside] = part
                continue
            total[beside] += part
            if part > best[beside]:
                best[beside] = part
    repeated = weights.repeated
    return {
        number: (1 - repeated) * nearest + repeated * total[number]
        for number, nearest in best.items()
    }


_Reaches = dict[tuple[float, ...], dict[int, tuple[int, tuple[float, ...]]]]
_reaches: "WeakKeyDictionary[Corpus, _Reaches]" = WeakKeyDictionary()


class _Nearby:
    """The passages within reach of each passage, kept for the next question."""

    def __init__(self, corpus: Corpus, kernel: tuple[float, ...]) -> None:
        self._corpus = corpus
        self._distance = len(kernel) - 1
        self._shares = (*kernel[:0:-1], *kernel)
        self._known: dict[int, tuple[int, tuple[float, ...]]] = _reaches.setdefault(
            corpus, {}
        ).setdefault(kernel, {})

    def shares(self, number: int) -> tuple[int, tuple[float, ...]]:
        """Return the first passage in reach, and what a word counts from there on.

        A pause, or another file, ends the reach.
        """
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._reach(number)
        return known

    def _reach(self, number: int) -> tuple[int, tuple[float, ...]]:
        flags = self._corpus.flags
        distance = self._distance
        first = number
        while number - first < distance and not flags[first] & APART:
            first -= 1
        end = number + 1
        while end - number <= distance and end < len(flags):
            if flags[end] & APART:
                break
            end += 1
        start = distance - (number - first)
        return first, self._shares[start : start + end - first]


def _session_shares(candidates: Candidates, weights: Weights) -> dict[int, float]:
    """Return what each file as a whole adds to its passages, by its first passage."""
    file_of = {
        number: entry.first for entry in candidates.files for number in entry.numbers
    }
    shares: dict[int, float] = {}
    for found in candidates.occurrences:
        best: dict[int, float] = {}
        for number, value in found.values.items():
            first = file_of[number]
            if value > best.get(first, 0.0):
                best[first] = value
        for first, value in best.items():
            share = weights.session * value / candidates.query_weight
            shares[first] = shares.get(first, 0.0) + share
    return shares


# -- the features of one passage ----------------------------------------------------


def _features(
    number: int,
    entry: IndexedFile,
    words: float,
    session: float,
    document: float,
    among_people: bool,
    query: Query,
    corpus: Corpus,
    weights: Weights,
) -> Features:
    speaker = corpus.speakers[number]
    is_of_speaker = speaker in query.about
    role = 1.0
    if corpus.by_assistant(number) and not query.asks_assistant:
        role = weights.assistant
    follows_question = 0.0
    length = 0.0
    if among_people:
        length = -weights.length * math.log1p(corpus.lengths[number])
        if _follows_question(corpus, entry, number):
            follows_question = weights.follows_question
    return Features(
        words=words,
        session=session,
        speaker=weights.named_speaker if is_of_speaker else 0.0,
        follows_question=follows_question,
        length=length,
        day=_day_of_passage(entry, number, query, weights),
        role=role,
        document=document,
    )


def _follows_question(corpus: Corpus, entry: IndexedFile, number: int) -> bool:
    """Say whether the turn before is somebody else's and ends in a question."""
    before = number - 1
    if before < entry.first or corpus.flags[number] & APART:
        return False
    if corpus.speakers[before] == corpus.speakers[number]:
        return False
    return bool(corpus.flags[before] & ASKS)


def _day_of_passage(
    entry: IndexedFile, number: int, query: Query, weights: Weights
) -> float:
    """Return what a passage's own day counts, or that of an event in its file."""
    if not query.days:
        return 0.0
    share = day_share(entry.day(number), query, weights)
    if "day" in entry.particulars:
        share = max(share, day_share(entry.days[-1], query, weights))
    return share


def day_share(day: int, query: Query, weights: Weights) -> float:
    """Return what a day, as an ordinal, counts: the days named, or shortly after."""
    share = 0.0
    for days in query.days:
        if not day:
            break
        if days.holds(day):
            return weights.on_day
        length = days.last - days.first + 1
        if days.last < day <= days.last + max(weights.days_after, length):
            share = weights.after_day
    return share


def coverage(match: Ranked, query: Query, candidates: Candidates) -> float:
    """Return how much of the content words a passage and its neighbours hold, 0 to 1."""
    held = 0.0
    total = 0.0
    found_with_words = zip(
        query.words, candidates.occurrences, match.features.by_word, strict=False
    )
    for word, found, share in found_with_words:
        if word.is_context or not found.weight:
            continue
        total += found.weight
        if match.number in found.exact:
            held += found.weight
        else:
            near = share * candidates.query_weight / found.weight
            held += found.weight * min(NEAR_COVERAGE, near)
    return round(held / total, 4) if total else 0.0
