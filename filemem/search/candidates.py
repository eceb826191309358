"""Where the words of a question stand, and which files promise an answer.

Each word counts in a passage by BM25 (Robertson and Zaragoza 2009, The Probabilistic
Relevance Framework), for itself, its inflections and, for less, for what else may be
said for it.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from filemem.index import Corpus, IndexedFile
from filemem.search.days import files_of, with_days_around
from filemem.search.query import QueryWord
from filemem.search.search_request import SearchRequest

MAX_FILES = 45  # whose passages are ranked, and of the best of these as many read
LEAST_QUERY_WEIGHT = 2.0  # so that a question of days alone is not about its "did"
FOR_NEIGHBORS = 0.01  # what a passage that may not be shown promises for those near it

Values = dict[int, float]  # by passage
FileValues = dict[int, float]  # by the first passage of a file


@dataclass(frozen=True)
class Occurrences:
    """Where one word of the question stands, outside of what the prompt has.

    Attributes:
        word: of the question.
        weight: what it counts: its weight there times its rarity.
        values: what it counts in each passage, or what may be said for it.
        exact: the passages with the word itself, in any inflection.
    """

    word: QueryWord
    weight: float
    values: Values
    exact: frozenset[int]


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


def find_candidates(request: SearchRequest, max_files: int) -> Candidates:
    """Find the files whose passages promise an answer, `max_files` at most."""
    occurrences = [look_up(request, word) for word in request.query.words]
    known = sum(found.weight for found in occurrences if found.exact)
    query_weight = max(LEAST_QUERY_WEIGHT, known)
    promising = _promising_files(request, occurrences, query_weight, max_files + 1)
    are_all = not any(
        _answers(request, entry, occurrences) for entry in promising[max_files:]
    )
    return Candidates(promising[:max_files], are_all, occurrences, query_weight)


def look_up(request: SearchRequest, word: QueryWord) -> Occurrences:
    """Return where a word of the question stands, or what may be said for it.

    What stands for a word counts no more than the word would. Of all that stands in a
    passage for one word that counts which counts most.
    """
    corpus = request.corpus
    counts = _counts(request, word.stem)
    rarity = idf(corpus, len(counts))
    weight = word.weight * rarity
    values = _bm25(request, counts, weight)
    exact = frozenset(values)
    for stem in word.alternatives:
        counts = _counts(request, stem)
        lesser = request.weights.lesser_word * min(rarity, idf(corpus, len(counts)))
        for number, value in _bm25(request, counts, word.weight * lesser).items():
            if value > values.get(number, 0.0):
                values[number] = value
    return Occurrences(word, weight, values, exact)


def idf(corpus: Corpus, frequency: int) -> float:
    """Return Robertson's inverse document frequency, which is never negative.

    As in Lucene 1 is added before the logarithm is taken.
    """
    return math.log(1 + (corpus.count - frequency + 0.5) / (frequency + 0.5))


def _counts(request: SearchRequest, stem: str) -> Counter[int]:
    """Return by passage how often words of a stem stand in it."""
    counts = Counter[int]()
    for token in request.corpus.concept(stem):
        found = request.corpus.postings(token)
        counts.update(dict(zip(found.numbers, found.times, strict=True)))
    for number in request.in_prompt:
        counts.pop(number, None)
    return counts


def _bm25(request: SearchRequest, counts: Counter[int], weight: float) -> Values:
    """Return what a word counts in each passage, up to `bm25_k1` + 1 times its weight.

    Args:
        request: which has the numbers of the formula.
        counts: by passage how often it stands there.
        weight: of the word.
    """
    k1 = request.weights.bm25_k1
    b = request.weights.bm25_b
    lengths = request.corpus.lengths
    per_word = k1 * b / max(1.0, request.corpus.mean_length)
    base = k1 * (1 - b)
    most = weight * (k1 + 1)
    return {
        number: most * count / (count + base + per_word * lengths[number])
        for number, count in counts.items()
    }


def _promising_files(
    request: SearchRequest,
    occurrences: Iterable[Occurrences],
    query_weight: float,
    max_files: int,
) -> list[IndexedFile]:
    """Return the files whose best passage promises most, the best first.

    Args:
        request: whose speakers, days and filters count, too.
        occurrences: where the words of the question stand.
        query_weight: what all of its words count together.
        max_files: how many at most.
    """
    sums = _promises(request, occurrences, query_weight)
    best = best_of_files(sums, request.corpus)
    for_day = query_weight * request.weights.near_day
    for entry in _files_by_day(request):
        best[entry.first] = best.get(entry.first, 0.0) + for_day
    return _admitted(request, best, max_files)


def _files_by_day(request: SearchRequest) -> list[IndexedFile]:
    """Return the files that the days of the question speak for, once for each reason.

    They are of one of the days, name one by date, or are of a day near one; so what was
    said on the day itself promises twice as much as what was said near it.
    """
    corpus = request.corpus
    days = request.query.days
    if not days:
        return []
    files = files_of(corpus, days)
    files += [entry for entry in corpus.files if entry.passages_naming(days)]
    for around in with_days_around(days):
        files += corpus.dated(around)
    return files


def _admitted(
    request: SearchRequest, best: FileValues, max_files: int
) -> list[IndexedFile]:
    """Return the files that may answer and promise most, the newest of like ones.

    A file counts in full at most, so that the rest need not be looked at once enough
    are found that promise more.

    Args:
        request: whose filters count, and what each file does.
        best: by file what its best passage promises.
        max_files: how many at most.
    """
    found: list[tuple[float, int, str, IndexedFile]] = []
    greatest = [0.0] * min(max_files, len(best))  # a heap, the least of them first
    for first, value in sorted(best.items(), key=lambda one: -one[1]):
        if round(value, 6) < greatest[0]:
            break
        entry = request.corpus.file(first)
        if any(map(request.admits, entry.numbers)):
            promise = round(value * request.file_weight(entry), 6)
            heapq.heappushpop(greatest, promise)
            found.append((-promise, -entry.date, entry.path, entry))
    return [entry for *_, entry in sorted(found)[:max_files]]


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
    if about is not None:
        for number in sums:
            if corpus.speakers[number] == about:
                sums[number] += for_speaker
    for number in sums.keys() & corpus.of_assistants:
        sums[number] *= request.role_weight(number)
    if request.filters.limits:
        for number in sums:
            if not request.admits(number):
                sums[number] *= FOR_NEIGHBORS
    return sums


def _answers(
    request: SearchRequest, entry: IndexedFile, occurrences: Iterable[Occurrences]
) -> bool:
    """Say whether a promising file is of a day asked for, or may show a word."""
    if request.query.days:
        return True
    shown = list(filter(request.admits, entry.numbers))
    return any(not found.values.keys().isdisjoint(shown) for found in occurrences)


def best_of_files(values: Values, corpus: Corpus) -> FileValues:
    """Return the greatest value in each file."""
    best: FileValues = {}
    for number, value in values.items():
        first = corpus.firsts[number]
        if value > best.get(first, 0.0):
            best[first] = value
    return best


def add_values(totals: Values, values: Values) -> None:
    """Add values to the totals, which are changed."""
    for key, value in values.items():
        totals[key] = totals.get(key, 0.0) + value
