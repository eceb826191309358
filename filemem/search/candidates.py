"""Where the words of a question stand, and which files promise an answer.

Each word counts in a passage by BM25 (Robertson and Zaragoza 2009, The Probabilistic
Relevance Framework), for itself, its inflections and, for less, for what else may be
said for it.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from filemem.index import Corpus, IndexedFile
from filemem.search.query import Query
from filemem.search.weights import Weights

MAX_FILES = 45
MAX_POSTINGS = 8_000  # of the rarer words, which are looked at to choose the files
LEAST_QUERY_WEIGHT = 2.0  # so that a question of days alone is not about its "did"

TOLD_DAYS = 14  # before and after a day, on which it is told of

Values = dict[int, float]  # by passage


@dataclass(frozen=True)
class Occurrences:
    """Where one word of the question stands.

    `weight` is the most that it counts, its rarity times its weight in the question;
    `values` what it counts in each passage; `exact` are those with the word itself.
    """

    weight: float
    is_known: bool
    values: Values = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Candidates:
    """The files to rank, with where the words of the question stand in them."""

    files: list[IndexedFile]
    occurrences: list[Occurrences]
    query_weight: float


@dataclass(frozen=True)
class Lookup:
    """A stem to look up for a word of the question, by the word's place."""

    word: int
    is_exact: bool
    weight: float
    tokens: list[str]
    frequency: int


def find_candidates(
    query: Query,
    corpus: Corpus,
    file_weight: Callable[[IndexedFile], float],
    weights: Weights,
    max_files: int = MAX_FILES,
    left_out: frozenset[int] = frozenset(),
) -> Candidates:
    """Find the files whose passages promise an answer.

    Args:
        query: what is asked.
        corpus: where to look.
        file_weight: what a file counts; 0 if it is not asked for.
        weights: the numbers of the ranking.
        max_files: how many files are found, at most.
        left_out: passages that the prompt has already, which count for nothing.
    """
    lookups = _lookups(query, corpus, left_out)
    read = itertools.accumulate(lookup.frequency for lookup in lookups)
    rare = max(1, sum(postings <= MAX_POSTINGS for postings in read))
    is_looked_at = bytearray(b"\1" * len(corpus.flags))
    for number in left_out:
        is_looked_at[number] = 0
    occurrences = _occurrences(query, corpus, lookups[:rare], weights, is_looked_at)
    known = [one for one in lookups if one.is_exact and one.frequency]
    weight = sum(query.words[one.word].weight * one.weight for one in known)
    query_weight = max(LEAST_QUERY_WEIGHT, weight)
    files = _likely_files(query, corpus, occurrences, query_weight, weights)
    best = {
        first: value * file_weight(corpus.file(first)) for first, value in files.items()
    }
    chosen = [corpus.file(first) for first, value in best.items() if value]
    chosen.sort(
        key=lambda entry: (-round(best[entry.first], 6), -entry.date, entry.path)
    )
    del chosen[max_files:]
    is_chosen = bytearray(len(corpus.flags))
    for entry in chosen:
        span = slice(entry.first, entry.first + entry.count)
        is_chosen[span] = is_looked_at[span]
    occurrences = _occurrences(query, corpus, lookups, weights, is_chosen)
    return Candidates(chosen, occurrences, query_weight)


def idf(corpus: Corpus, frequency: int) -> float:
    """Return Robertson's inverse document frequency, which is never negative.

    As in Lucene 1 is added before the logarithm is taken.
    """
    return math.log(1 + (corpus.count - frequency + 0.5) / (frequency + 0.5))


def _frequency(corpus: Corpus, tokens: Iterable[str], left_out: frozenset[int]) -> int:
    """Return in about how many passages one of some tokens stands.

    Args:
        corpus: where to look.
        tokens: as the index has them.
        left_out: passages that are not counted.
    """
    count = 0
    for token in tokens:
        count += corpus.frequency(token)
        if left_out:
            count -= len(left_out.intersection(corpus.postings(token).numbers))
    return max(0, min(corpus.count, count))


def _lookups(query: Query, corpus: Corpus, left_out: frozenset[int]) -> list[Lookup]:
    """Return what to look up: the words themselves first, the rarest first.

    What stands for a word counts no more than the word would.

    Args:
        query: whose words, and what may stand for them, are looked up.
        corpus: where to look.
        left_out: passages that do not count for how common a stem is.
    """
    found: list[Lookup] = []
    for place, word in enumerate(query.words):
        own = corpus.concept(word.stem)
        limit = idf(corpus, _frequency(corpus, own, left_out))
        for stem in (word.stem, *word.alternatives):
            tokens = corpus.concept(stem)
            frequency = _frequency(corpus, tokens, left_out)
            is_exact = stem == word.stem
            if is_exact or frequency:
                rarity = min(limit, idf(corpus, frequency))
                found.append(Lookup(place, is_exact, rarity, tokens, frequency))
    found.sort(key=lambda one: (not one.is_exact, one.frequency, one.word, one.tokens))
    return found


def _occurrences(
    query: Query,
    corpus: Corpus,
    lookups: Sequence[Lookup],
    weights: Weights,
    is_wanted: bytearray,
) -> list[Occurrences]:
    """Return where each word of the question stands, in wanted passages alone.

    Of the stems that stand for it in a passage the one counts that counts most.

    Args:
        query: whose words are looked for.
        corpus: where to look.
        lookups: the stems to look up, those of the words themselves first.
        weights: the numbers of the ranking.
        is_wanted: by passage 1 if it is wanted, else 0.
    """
    found = [Occurrences(word.weight, False) for word in query.words]
    for lookup in lookups:
        word = query.words[lookup.word]
        weight = word.weight * lookup.weight
        if lookup.is_exact:
            values = _bm25(corpus, lookup.tokens, weight, weights, is_wanted)
            is_known = lookup.frequency > 0
            found[lookup.word] = Occurrences(weight, is_known, values, set(values))
            continue
        weight *= weights.lesser_word
        known = found[lookup.word].values
        values = _bm25(corpus, lookup.tokens, weight, weights, is_wanted)
        for number, value in values.items():
            if value > known.get(number, 0.0):
                known[number] = value
    return found


def _bm25(
    corpus: Corpus,
    tokens: Iterable[str],
    weight: float,
    weights: Weights,
    is_wanted: bytearray,
) -> Values:
    """Return how well some tokens match each wanted passage.

    Args:
        corpus: where to look.
        tokens: those of one stem, counted together.
        weight: what they count; a passage has up to k1 + 1 times as much.
        weights: `bm25_k1` and `bm25_b`.
        is_wanted: by passage 1 if it is wanted, else 0.
    """
    counts: Values = {}
    for token in tokens:
        found = corpus.postings(token)
        wanted = map(is_wanted.__getitem__, found.numbers)
        pairs = zip(found.numbers, found.times, strict=True)
        for number, count in itertools.compress(pairs, wanted):
            counts[number] = counts.get(number, 0.0) + count
    k1 = weights.bm25_k1
    base = 1 - weights.bm25_b
    b_per_word = weights.bm25_b / max(1.0, corpus.mean_length)
    lengths = corpus.lengths
    return {
        number: weight
        * ((k1 + 1) * count / (count + k1 * (base + b_per_word * lengths[number])))
        for number, count in counts.items()
    }


def _likely_files(
    query: Query,
    corpus: Corpus,
    occurrences: list[Occurrences],
    query_weight: float,
    weights: Weights,
) -> dict[int, float]:
    """Return about what the best passage of each file scores, by the file's first.

    Args:
        query: whose speakers and days count, too.
        corpus: the passages.
        occurrences: where each word of the question stands.
        query_weight: what all of its words count together.
        weights: the numbers of the ranking.
    """
    sums: Values = {}
    for found in occurrences:
        for number, value in found.values.items():
            sums[number] = sums.get(number, 0.0) + value
    best: dict[int, float] = {}
    for number, value in sums.items():
        if corpus.speakers[number] in query.about:
            value += query_weight * weights.named_speaker
        if not query.asks_assistant and corpus.by_assistant(number):
            value *= weights.assistant
        first = corpus.firsts[number]
        if value > best.get(first, 0.0):
            best[first] = value
    for days in query.days:
        for entry in corpus.dated(days.first - TOLD_DAYS, days.last + TOLD_DAYS):
            share = query_weight * weights.on_day
            best[entry.first] = best.get(entry.first, 0.0) + share
    return best
