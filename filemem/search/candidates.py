"""Where the words of a question stand, and which files promise an answer.

Each word counts in a passage by BM25 (Robertson and Zaragoza 2009, The Probabilistic
Relevance Framework), for itself, its inflections and, for less, for what else may be
said for it.
"""

import heapq
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from filemem.index import Corpus, IndexedFile
from filemem.search.days import files_of
from filemem.search.query import QueryWord
from filemem.search.search_request import SearchRequest
from filemem.text.dayrange import DayRange

MAX_FILES = 45
MAX_POSTINGS = 8_000  # of the rarer words, which are looked at to choose the files
LEAST_QUERY_WEIGHT = 2.0  # so that a question of days alone is not about its "did"
TOLD_DAYS = 14  # before and after a day, on which it is told of
FOR_NEIGHBORS = 0.01  # what a passage that may not be shown promises for those near it

Values = dict[int, float]  # by passage, or by the first one of a file


@dataclass
class Occurrences:
    """Where one word of the question stands, filled in stem by stem.

    Attributes:
        word: of the question.
        weight: what it counts: its weight there times its rarity.
        is_known: it stands somewhere, or what may be said for it.
        values: what either counts in each passage.
        exact: the passages with the word itself, in any inflection.
        nearby: what it counts in each passage in reach of these.
    """

    word: QueryWord
    weight: float
    is_known: bool = False
    values: Values = field(default_factory=dict)
    exact: set[int] = field(default_factory=set)
    nearby: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Candidates:
    """The files to rank, with where the words of the question stand in them.

    Attributes:
        files: the likeliest first.
        are_all: no other file may have an answer.
        occurrences: of each word.
        query_weight: what all of the words that stand somewhere count together.
    """

    files: list[IndexedFile]
    are_all: bool
    occurrences: list[Occurrences]
    query_weight: float


@dataclass(frozen=True)
class Lookup:
    """A stem to look up for a word of the question.

    Attributes:
        target: where the word stands, to be filled in.
        is_exact: the stem is the word's own, and none that stands for it.
        weight: what it counts in a passage.
        tokens: those of the stem.
        frequency: in how many passages they stand, about.
    """

    target: Occurrences
    is_exact: bool
    weight: float
    tokens: list[str]
    frequency: int


def find_candidates(request: SearchRequest, max_files: int) -> Candidates:
    """Find the files whose passages promise an answer, `max_files` at most.

    The rarer words choose them; the others are then looked up in these files alone.
    """
    flags = request.corpus.flags
    lookups = _lookups(request)
    exact = [lookup for lookup in lookups if lookup.is_exact]
    occurrences = [lookup.target for lookup in exact]
    known = sum(lookup.weight for lookup in exact if lookup.frequency)
    query_weight = max(LEAST_QUERY_WEIGHT, known)

    lookups.sort(key=lambda lookup: (not lookup.is_exact, lookup.frequency))
    postings = itertools.accumulate(lookup.frequency for lookup in lookups)
    rare = max(1, sum(read <= MAX_POSTINGS for read in postings))
    is_wanted = bytearray(b"\1" * len(flags))
    for number in request.in_prompt:
        is_wanted[number] = 0
    for lookup in lookups[:rare]:
        _look_up(request, lookup, is_wanted)
    promising = _promising_files(request, occurrences, query_weight, max_files + 1)
    files = promising[:max_files]
    is_chosen = bytearray(len(flags))
    for entry in files:
        span = slice(entry.first, entry.first + entry.count)
        is_chosen[span] = is_wanted[span]
    for lookup in lookups[rare:]:
        _look_up(request, lookup, is_chosen)
    are_all = not any(
        _answers(request, one, occurrences) for one in promising[max_files:]
    )
    return Candidates(files, are_all, occurrences, query_weight)


def idf(corpus: Corpus, frequency: int) -> float:
    """Return Robertson's inverse document frequency, which is never negative.

    As in Lucene 1 is added before the logarithm is taken.
    """
    return math.log(1 + (corpus.count - frequency + 0.5) / (frequency + 0.5))


def _lookups(request: SearchRequest) -> list[Lookup]:
    """Return what to look up for each word of a question, the word itself first.

    What stands for a word counts no more than the word would.
    """
    corpus = request.corpus
    lookups: list[Lookup] = []
    for word in request.query.words:
        tokens = corpus.concept(word.stem)
        frequency = _frequency(corpus, tokens)
        rarity = idf(corpus, frequency)
        target = Occurrences(word, word.weight * rarity)
        lookups.append(Lookup(target, True, target.weight, tokens, frequency))
        for stem in dict.fromkeys(word.alternatives):
            tokens = corpus.concept(stem)
            frequency = _frequency(corpus, tokens)
            if frequency and stem != word.stem:
                weight = word.weight * min(rarity, idf(corpus, frequency))
                weight *= request.weights.lesser_word
                lookups.append(Lookup(target, False, weight, tokens, frequency))
    return lookups


def _frequency(corpus: Corpus, tokens: Iterable[str]) -> int:
    """Return in about how many passages one of some tokens stands."""
    return min(corpus.count, sum(map(corpus.frequency, tokens)))


def _look_up(request: SearchRequest, lookup: Lookup, is_wanted: bytearray) -> None:
    """Fill in how well a stem matches each wanted passage, by BM25.

    Of the stems for one word in a passage the one counts that counts most.

    Args:
        request: what is asked.
        lookup: the stem, and the target to fill in. A passage has up to `bm25_k1` + 1
            times its weight.
        is_wanted: by passage 1 if it is wanted, else 0.
    """
    corpus = request.corpus
    counts: dict[int, int] = {}
    for token in lookup.tokens:
        found = corpus.postings(token)
        wanted = map(is_wanted.__getitem__, found.numbers)
        pairs = zip(found.numbers, found.times, strict=True)
        for number, count in itertools.compress(pairs, wanted):
            counts[number] = counts.get(number, 0) + count
    target = lookup.target
    if counts or lookup.frequency > len(request.in_prompt):
        target.is_known = True
    if lookup.is_exact:
        target.exact.update(counts)
    k1 = request.weights.bm25_k1
    most = lookup.weight * (k1 + 1)
    base = k1 * (1 - request.weights.bm25_b)
    per_word = k1 * request.weights.bm25_b / max(1.0, corpus.mean_length)
    lengths = corpus.lengths
    values = target.values
    for number, count in counts.items():
        value = most * count / (count + base + per_word * lengths[number])
        if value > values.get(number, 0.0):
            values[number] = value


def _promising_files(
    request: SearchRequest,
    occurrences: Iterable[Occurrences],
    query_weight: float,
    max_files: int,
) -> list[IndexedFile]:
    """Return the files whose best passage promises most, the newest of like ones.

    Args:
        request: whose speakers, days and filters count, too.
        occurrences: where the words of the question stand.
        query_weight: what all of its words count together.
        max_files: how many at most.
    """
    corpus = request.corpus
    sums = _promises(request, occurrences, query_weight)
    best = best_of_files(sums, corpus)
    for_day = query_weight * request.weights.on_day
    of_days = files_of(corpus, request.query.days)
    for days in request.query.days:  # told of on them, or shortly before or after
        around = DayRange(days.first - TOLD_DAYS, days.last + TOLD_DAYS)
        of_days += corpus.dated(around)
    for entry in of_days:
        best[entry.first] = best.get(entry.first, 0.0) + for_day / 2
    promises: Values = {}
    promising: list[IndexedFile] = []
    for first, value in best.items():
        entry = corpus.file(first)
        if request.admits_any(entry):
            promises[first] = round(value * request.file_weight(entry), 6)
            promising.append(entry)
    return heapq.nsmallest(
        max_files,
        promising,
        key=lambda entry: (-promises[entry.first], -entry.date, entry.path),
    )


def _promises(
    request: SearchRequest, occurrences: Iterable[Occurrences], query_weight: float
) -> Values:
    """Return what the words of the question that stand in each passage count, by its
    speaker; little in one that may not be shown."""
    corpus = request.corpus
    about = request.query.about
    for_speaker = query_weight * request.weights.named_speaker
    sums: Values = {}
    for found in occurrences:
        add_values(sums, found.values)
    for number in sums:
        if corpus.speakers[number] == about:
            sums[number] += for_speaker
        sums[number] *= request.role_weight(number)
    if request.is_limited:
        for number in sums:
            if not request.admits(corpus.file(number), number):
                sums[number] *= FOR_NEIGHBORS
    return sums


def _answers(
    request: SearchRequest, entry: IndexedFile, occurrences: Iterable[Occurrences]
) -> bool:
    """Say whether a promising file is of a day asked for, or may show a word."""
    if request.query.days:
        return True
    shown = [number for number in entry.numbers if request.admits(entry, number)]
    return any(not found.values.keys().isdisjoint(shown) for found in occurrences)


def best_of_files(values: Values, corpus: Corpus) -> Values:
    """Return the greatest value in each file, by the file's first passage."""
    best: Values = {}
    for number, value in values.items():
        first = corpus.firsts[number]
        if value > best.get(first, 0.0):
            best[first] = value
    return best


def add_values(totals: Values, values: Values) -> None:
    """Add values to the totals, which are changed."""
    for key, value in values.items():
        totals[key] = totals.get(key, 0.0) + value
