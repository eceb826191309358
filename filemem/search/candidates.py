"""Where the words of a question stand, and which files promise an answer.

Each word counts in a passage by BM25 (Robertson and Zaragoza 2009, The Probabilistic
Relevance Framework), for itself, its inflections and, for less, for what else may be
said for it.
"""

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from filemem.index import Corpus, IndexedFile
from filemem.search.query import Query
from filemem.search.search_request import SearchRequest
from filemem.search.weights import Weights

MAX_FILES = 45
MAX_POSTINGS = 8_000  # of the rarer words, which are looked at to choose the files
LEAST_QUERY_WEIGHT = 2.0  # so that a question of days alone is not about its "did"

TOLD_DAYS = 14  # before and after a day, on which it is told of

Values = dict[int, float]  # by passage, or by the first one of a file


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
    """A stem to look up for a word of the question.

    Attributes:
        word: the word's place in the question.
        is_exact: the stem is the word's own, and none that stands for it.
        rarity: its inverse document frequency, at most that of the word.
        tokens: those of the stem.
        frequency: in how many passages they stand.
    """

    word: int
    is_exact: bool
    rarity: float
    tokens: list[str]
    frequency: int


def find_candidates(request: SearchRequest, max_files: int) -> Candidates:
    """Find the files whose passages promise an answer, `max_files` at most."""
    corpus = request.corpus
    lookups = _lookups(request)
    read = itertools.accumulate(lookup.frequency for lookup in lookups)
    rare = max(1, sum(postings <= MAX_POSTINGS for postings in read))
    is_looked_at = bytearray(b"\1" * len(corpus.flags))
    for number in request.in_prompt:
        is_looked_at[number] = 0
    occurrences = _occurrences(request, lookups[:rare], is_looked_at)
    query_weight = _query_weight(request.query, lookups)
    promising = []
    for first, value in _likely_files(request, occurrences, query_weight).items():
        entry = corpus.file(first)
        promise = round(value * request.file_weight(entry), 6)
        if promise:
            promising.append((-promise, -entry.date, entry.path, entry))
    chosen = [entry for *_, entry in heapq.nsmallest(max_files, promising)]
    is_chosen = bytearray(len(corpus.flags))
    for entry in chosen:
        span = slice(entry.first, entry.first + entry.count)
        is_chosen[span] = is_looked_at[span]
    occurrences = _occurrences(request, lookups, is_chosen)
    return Candidates(chosen, occurrences, query_weight)


def _query_weight(query: Query, lookups: Sequence[Lookup]) -> float:
    """Return what all the words of a question that stand anywhere count together."""
    weight = 0.0
    for lookup in lookups:
        if lookup.is_exact and lookup.frequency:
            weight += query.words[lookup.word].weight * lookup.rarity
    return max(LEAST_QUERY_WEIGHT, weight)


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


def _lookups(request: SearchRequest) -> list[Lookup]:
    """Return what to look up: the words themselves first, the rarest first.

    What stands for a word counts no more than the word would.
    """
    corpus = request.corpus
    found: list[Lookup] = []
    for place, word in enumerate(request.query.words):
        own = corpus.concept(word.stem)
        limit = idf(corpus, _frequency(corpus, own, request.in_prompt))
        for stem in dict.fromkeys((word.stem, *word.alternatives)):
            tokens = corpus.concept(stem)
            frequency = _frequency(corpus, tokens, request.in_prompt)
            is_exact = stem == word.stem
            if is_exact or frequency:
                rarity = min(limit, idf(corpus, frequency))
                found.append(Lookup(place, is_exact, rarity, tokens, frequency))
    found.sort(key=lambda one: (not one.is_exact, one.frequency, one.word, one.tokens))
    return found


def _occurrences(
    request: SearchRequest, lookups: Sequence[Lookup], is_wanted: bytearray
) -> list[Occurrences]:
    """Return where each word of the question stands, in wanted passages alone.

    Of the stems that stand for it in a passage the one counts that counts most.

    Args:
        request: whose words are looked for.
        lookups: the stems to look up, those of the words themselves first.
        is_wanted: by passage 1 if it is wanted, else 0.
    """
    words = request.query.words
    weights = request.weights
    found = [Occurrences(word.weight, False) for word in words]
    for lookup in lookups:
        weight = words[lookup.word].weight * lookup.rarity
        if not lookup.is_exact:
            weight *= weights.lesser_word
        values = _bm25(request.corpus, lookup.tokens, weight, weights, is_wanted)
        if lookup.is_exact:
            is_known = lookup.frequency > 0
            found[lookup.word] = Occurrences(weight, is_known, values, set(values))
        else:
            keep_greatest(found[lookup.word].values, values)
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
    request: SearchRequest, occurrences: list[Occurrences], query_weight: float
) -> Values:
    """Return about what the best passage of each file scores, by the file's first.

    A file without a passage that may be shown has none.

    Args:
        request: whose speakers, days and filters count, too.
        occurrences: where each word of the question stands.
        query_weight: what all of its words count together.
    """
    corpus = request.corpus
    query = request.query
    weights = request.weights
    sums: Values = {}
    for found in occurrences:
        add_values(sums, found.values)
    by_assistant = 1.0 if query.asks_assistant else weights.assistant
    best: Values = {}
    for number, value in sums.items():
        if corpus.speakers[number] == query.about:
            value += query_weight * weights.named_speaker
        if corpus.by_assistant(number):
            value *= by_assistant
        first = corpus.firsts[number]
        if request.is_limited and not request.admits(corpus.file(number), number):
            value *= weights.neighbors[1]  # what stands beside it may be shown
        if value > best.get(first, 0.0):
            best[first] = value
    for days in query.days:
        for entry in corpus.dated(days.first - TOLD_DAYS, days.last + TOLD_DAYS):
            share = query_weight * weights.on_day
            best[entry.first] = best.get(entry.first, 0.0) + share
    if not request.is_limited:
        return best
    return {first: value for first, value in best.items() if _answers(request, first)}


def _answers(request: SearchRequest, first: int) -> bool:
    """Say whether a passage of the file that begins there may be shown."""
    entry = request.corpus.file(first)
    return any(request.admits(entry, number) for number in entry.numbers)


def add_values(totals: Values, values: Values) -> None:
    """Add values to the totals, which are changed."""
    for key, value in values.items():
        totals[key] = totals.get(key, 0.0) + value


def keep_greatest(best: Values, values: Values) -> None:
    """Keep the greater value of each key in `best`, which is changed."""
    for key, value in values.items():
        if value > best.get(key, 0.0):
            best[key] = value
