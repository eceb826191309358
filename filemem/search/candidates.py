"""Where the words of a question stand, and which files promise an answer.

Each word counts in a passage by BM25 (Robertson and Zaragoza 2009, The Probabilistic
Relevance Framework), for itself, its inflections and, for less, for what else may be
said for it.
"""

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from filemem.index import Corpus, IndexedFile
from filemem.search.query import Query, QueryWord, is_light
from filemem.search.weights import Weights

MAX_FILES = 45
MAX_POSTINGS = 8_000  # of the rarer words, which are looked at to choose the files
UNKNOWN_WORD_IDF = 9.0  # of a word that stands nowhere, for what may stand for it
BARE_QUERY_WEIGHT = 2.0  # the least of a question of days and names alone

Values = dict[int, float]  # by passage


@dataclass(frozen=True)
class Occurrences:
    """Where one word of the question stands.

    `weight` is the most that it counts, its rarity times its weight in the question;
    `values` what it counts in each passage, `exact` the passages with the word itself.
    """

    weight: float
    is_known: bool
    values: Values = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Candidates:
    """The files to rank, with where the words of the question stand in them.

    `is_bare`: the question has no word to look for that stands anywhere, so that its
    days and names alone decide.
    """

    files: list[IndexedFile]
    occurrences: list[Occurrences]
    query_weight: float
    is_bare: bool


@dataclass(frozen=True)
class _Lookup:
    """A stem to look up for a word of the question."""

    word: int
    is_exact: bool
    weight: float
    tokens: list[str]
    frequency: int


def find_candidates(
    query: Query,
    corpus: Corpus,
    document_weights: dict[int, float],
    weights: Weights,
    max_files: int = MAX_FILES,
    left_out: frozenset[int] = frozenset(),
) -> Candidates:
    """Find the files whose passages promise an answer.

    Args:
        document_weights: by the first passage of each file what the file counts;
            one with 0 is left out.
        max_files: how many files are found, at most.
        left_out: passages that the prompt has already, which count for nothing.
    """
    occurrences = [_rarity(corpus, word, left_out) for word in query.words]
    query_weight = sum(found.weight for found in occurrences if found.is_known)
    if not query_weight:
        query_weight = max((found.weight for found in occurrences), default=1.0)
    is_bare = not any(
        found.is_known
        for word, found in zip(query.words, occurrences, strict=True)
        if not word.is_context and not is_light(word.stem)
    )
    if is_bare:
        query_weight = max(query_weight, BARE_QUERY_WEIGHT)
    waiting: list[_Lookup] = []
    postings_read = 0
    for lookup in _lookups(query, corpus, occurrences, left_out):
        fits = postings_read + lookup.frequency <= MAX_POSTINGS
        if postings_read and not fits:
            waiting.append(lookup)
            continue
        postings_read += lookup.frequency
        _count(corpus, lookup, occurrences[lookup.word], weights, None)
    for found in occurrences:
        for number in left_out & found.values.keys():
            del found.values[number]
    files = _likely_files(
        query,
        corpus,
        occurrences,
        document_weights,
        query_weight,
        weights,
        max_files,
        is_bare=is_bare,
    )
    wanted = bytearray(len(corpus.flags))
    for entry in files:
        wanted[entry.first : entry.first + entry.count] = b"\1" * entry.count
    for lookup in waiting:
        _count(corpus, lookup, occurrences[lookup.word], weights, wanted)
    within = [_within(found, wanted) for found in occurrences]
    return Candidates(files, within, query_weight, is_bare)


def idf(corpus: Corpus, frequency: int) -> float:
    """Return Robertson's inverse document frequency, which is never negative.

    As in Lucene 1 is added before the logarithm is taken.
    """
    return math.log(1 + (corpus.count - frequency + 0.5) / (frequency + 0.5))


def _rarity(corpus: Corpus, word: QueryWord, left_out: frozenset[int]) -> Occurrences:
    """Return what a word weighs, before it is known where it stands."""
    frequency = _frequency(corpus, corpus.concept(word.stem), left_out)
    return Occurrences(word.weight * idf(corpus, frequency), frequency > 0)


def _frequency(corpus: Corpus, tokens: Iterable[str], left_out: frozenset[int]) -> int:
    """Return in about how many passages one of some tokens stands."""
    count = 0
    for token in tokens:
        count += corpus.frequency(token)
        if left_out:
            count -= len(left_out.intersection(corpus.postings(token).numbers))
    return max(0, min(corpus.count, count))


def _lookups(
    query: Query,
    corpus: Corpus,
    occurrences: list[Occurrences],
    left_out: frozenset[int],
) -> list[_Lookup]:
    """Return what to look up: the words themselves first, the rarest first."""
    found: list[_Lookup] = []
    for place, word in enumerate(query.words):
        limit = UNKNOWN_WORD_IDF
        if occurrences[place].is_known:
            limit = occurrences[place].weight / word.weight
        for stem, share in ((word.stem, 1.0), *word.alternatives):
            tokens = corpus.concept(stem)
            frequency = _frequency(corpus, tokens, left_out)
            if not frequency:
                continue
            weight = word.weight * share * min(limit, idf(corpus, frequency))
            is_exact = stem == word.stem
            found.append(_Lookup(place, is_exact, weight, tokens, frequency))
    found.sort(key=lambda one: (not one.is_exact, one.frequency, one.word, one.tokens))
    return found


def _count(
    corpus: Corpus,
    lookup: _Lookup,
    occurrences: Occurrences,
    weights: Weights,
    wanted: bytearray | None,
) -> None:
    """Add a stem's places to those of its word, which counts the most of any there."""
    values = _bm25(corpus, lookup, weights, wanted)
    if lookup.is_exact:
        occurrences.exact.update(values)
    known = occurrences.values
    for number, value in values.items():
        if value > known.get(number, 0.0):
            known[number] = value


def _bm25(
    corpus: Corpus, lookup: _Lookup, weights: Weights, wanted: bytearray | None
) -> Values:
    """Return what a stem counts in each passage, or in each that is wanted."""
    counts: Values = {}
    for token in lookup.tokens:
        share = weights.caption if token.startswith("[") else 1.0
        found = corpus.postings(token)
        pairs: Iterable[tuple[int, int]] = zip(found.numbers, found.times, strict=True)
        if wanted is not None:
            is_wanted = map(wanted.__getitem__, found.numbers)
            pairs = itertools.compress(pairs, is_wanted)
        for number, count in pairs:
            counts[number] = counts.get(number, 0.0) + share * count
    norms = _norms(weights.bm25_k1, weights.bm25_b, max(1.0, corpus.mean_length))
    factor = lookup.weight * (1 + weights.bm25_k1)
    lengths = corpus.lengths
    return {
        number: factor * count / (count + norms[lengths[number]])
        for number, count in counts.items()
    }


@functools.lru_cache(maxsize=8)
def _norms(k1: float, b: float, mean_length: float) -> tuple[float, ...]:
    """Return what a passage's length adds to a word's count, by its length in words."""
    return tuple(k1 * (1 - b + b * length / mean_length) for length in range(256))


def _likely_files(
    query: Query,
    corpus: Corpus,
    occurrences: list[Occurrences],
    document_weights: dict[int, float],
    query_weight: float,
    weights: Weights,
    max_files: int,
    *,
    is_bare: bool,
) -> list[IndexedFile]:
    """Return the files whose best passage promises most, the newest of like ones."""
    promise = _promises(
        query, corpus, occurrences, query_weight, weights, is_bare=is_bare
    )
    best: dict[int, float] = {}
    for number, value in promise.items():
        first = corpus.file(number).first
        value *= document_weights.get(first, 1.0)
        if value > best.get(first, 0.0):
            best[first] = value
    files = [corpus.file(first) for first in best]
    files.sort(
        key=lambda entry: (-round(best[entry.first], 6), -entry.date, entry.path)
    )
    return files[:max_files]


def _within(found: Occurrences, wanted: bytearray) -> Occurrences:
    """Return the occurrences in wanted passages alone."""
    values = {number: value for number, value in found.values.items() if wanted[number]}
    return Occurrences(found.weight, found.is_known, values, found.exact)


def _promises(
    query: Query,
    corpus: Corpus,
    occurrences: list[Occurrences],
    query_weight: float,
    weights: Weights,
    *,
    is_bare: bool,
) -> Values:
    """Return about what each passage scores, by its own words, speaker and day."""
    promise: Values = {}
    for found in occurrences:
        for number, value in found.values.items():
            promise[number] = promise.get(number, 0.0) + value
    for number in promise:
        if corpus.speakers[number] in query.about:
            promise[number] += query_weight * weights.named_speaker
        if corpus.by_assistant(number) and not query.asks_assistant:
            promise[number] *= weights.assistant
    for days in query.days:
        last = days.last
        if is_bare:
            last += weights.days_after  # people tell of a day afterwards
        for entry in corpus.dated(days.first, last):
            for number in entry.numbers:
                if number in promise or is_bare:
                    share = query_weight * weights.on_day
                    promise[number] = promise.get(number, 0.0) + share
    return promise
