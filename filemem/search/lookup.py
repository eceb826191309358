"""Where the words of a question stand, and what each counts there by itself: BM25 over a corpus of passages."""

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from filemem.search.question import ASIDE, Query, Word
from filemem.text import terms

K1, B = 0.9, 0.5
"""BM25: how soon repetition stops to count, how much a long passage is held back; low, as turns are short."""
MORE = 0.4  # of what may be said for a word, what each other than the best one in a passage adds
HOLLOW = 0.3  # what a word counts where memory is only asked or quoted
CAPTION = 0.5  # what a word in an image's caption counts, of a word said
REACH = (1.0, 0.87, 0.75, 0.62, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1)  # what a word counts so many half steps away; the
# next passage is two half steps away, or one where the same person goes on speaking, as in chats of short messages
BY_NAME = 0.7  # what a word counts in the turns of those who have it in their name
UNKNOWN_IDF = 9.0  # the most that a related word may weigh where the word itself stands nowhere

POSTINGS = 8_000  # places of the rarer words that are looked at to find the most promising files


class RankedFile(Protocol):
    """A file: the number of its first passage, how many it has, its date as an ordinal (0 where it has none); `days`
    are all of its passages'. `layout` is what ranking keeps of it from one question to the next, None at first."""

    path: str
    date: int
    first: int
    count: int
    layout: Any

    @property
    def days(self) -> Sequence[int]: ...
    def day(self, number: int) -> int: ...


class RankedCorpus(Protocol):
    """The passages to rank: numbered, those of one file in a row; `firsts` has the number of each file's first, ascending."""

    count: int
    firsts: Sequence[int]
    lengths: Sequence[int]
    speakers: Sequence[int]
    speaker_names: Sequence[str]

    @property
    def flags(self) -> bytes | bytearray: ...
    @property
    def voices(self) -> bytes: ...  # by passage who says it and how, as places in `Query.voices`; or empty
    @property
    def hollow(self) -> frozenset[int]: ...  # passages that only ask, or quote memory
    @property
    def uncounted(self) -> frozenset[int]: ...  # and answers to these
    @property
    def mean_length(self) -> float: ...
    def concept(self, stem: str) -> list[str]: ...
    def frequency(self, token: str) -> int: ...
    def postings(self, token: str) -> Iterable[tuple[Sequence[int], Sequence[int]]]: ...
    def file(self, number: int) -> RankedFile: ...
    def dated(self, first: int, last: int) -> Iterable[RankedFile]: ...


class Term(NamedTuple):
    """A stem to look up: for which word, whether it is that word itself, what it weighs, its tokens, and in how many
    passages it stands."""

    word: int
    itself: bool
    weight: float
    tokens: list[str]
    frequency: int


def idf(corpus: RankedCorpus, frequency: int) -> float:
    """Robertson's inverse document frequency with 1 added, so that it is never negative (as Lucene has it)."""
    return math.log(1 + (corpus.count - len(corpus.uncounted) - frequency + 0.5) / (frequency + 0.5))


def _term(corpus: RankedCorpus, word: int, itself: bool, stem: str, weight: float) -> Term:
    tokens = corpus.concept(stem)
    frequency = min(corpus.count, sum(map(corpus.frequency, tokens)))
    if frequency and corpus.uncounted:  # a word is no more common for being asked for
        asked = (corpus.uncounted.intersection(numbers) for token in tokens for numbers, _ in corpus.postings(token))
        frequency = max(0, frequency - sum(map(len, asked)))
    return Term(word, itself, weight, tokens, frequency)


def _by_name(corpus: RankedCorpus, place: int, word: Word) -> Term | None:
    """The turns of those who have a word in their name: the insurer's are about insurance. Half of all turns tell nothing."""
    frequency = corpus.frequency(terms.SPEAKER + word.text) if len(word.text) > 1 else 0
    rarity = idf(corpus, frequency) - idf(corpus, (corpus.count - len(corpus.uncounted)) // 2)
    if not frequency or rarity <= 0:
        return None
    share = word.weight / ASIDE if word.is_context_word else word.weight * BY_NAME
    return Term(place, True, share * rarity, [terms.SPEAKER + word.text], frequency)


def lookups(query: Query, corpus: RankedCorpus) -> tuple[list[Term], list[float]]:
    """What to look up, the words themselves first, the rarest first; and what each word weighs (0: it is nowhere)."""
    found: list[Term] = []
    weights: list[float] = []
    for place, word in enumerate(query.words):
        itself = _term(corpus, place, True, word.stem, 1.0)
        most = idf(corpus, itself.frequency) if itself.frequency else UNKNOWN_IDF
        spoken = _by_name(corpus, place, word)
        weights.append(max(word.weight * most if itself.frequency else 0.0, spoken.weight if spoken else 0.0))
        found += [spoken] if spoken else []
        others = [_term(corpus, place, False, stem, share) for stem, share in word.others]
        for term in (itself, *others):
            if term.frequency:
                rarity = min(most, idf(corpus, term.frequency))
                found.append(term._replace(weight=term.weight * word.weight * rarity))
    return sorted(found, key=lambda term: (not term.itself, term.frequency, term.word, term.tokens)), weights


_Values = dict[int, float]  # by passage number, what a word counts there


def rough(corpus: RankedCorpus, found: list[Term], words: int) -> tuple[_Values, dict[int, _Values]]:
    """What the words of a question count in each passage by the rarer of its terms, until POSTINGS of their places are seen; and
    what each of these terms counts, by its place among all."""
    known: dict[int, _Values] = {}
    seen = 0
    for place, term in enumerate(found):
        if not seen or seen + term.frequency <= POSTINGS:
            seen += term.frequency
            known[place] = _values(corpus, term, None)
    by_word = _by_word(((found[place], values) for place, values in known.items()), words)
    largest, *others = sorted(by_word, key=len, reverse=True) if words else [{}]
    for other in others:
        for number, value in other.items():
            largest[number] = largest.get(number, 0.0) + value
    return largest, known


def held(
    corpus: RankedCorpus, found: list[Term], words: int, asked: bytes, known: dict[int, _Values]
) -> dict[int, list[tuple[int, float]]]:
    """By passage number which words of a question it holds, by any of their terms, and what each counts; only in the passages
    `asked` for. What is `known` of some terms is not looked up again."""

    def values(place: int, term: Term) -> _Values:
        if place not in known:
            return _values(corpus, term, asked)
        return {number: value for number, value in known[place].items() if asked[number]}

    by_word = _by_word(((term, values(place, term)) for place, term in enumerate(found)), words)
    by_passage: dict[int, list[tuple[int, float]]] = {number: [] for number in set[int]().union(*by_word)}
    for word, counted in enumerate(by_word):
        for number, value in counted.items():
            by_passage[number].append((word, value))
    return by_passage


def _by_word(found: Iterable[tuple[Term, _Values]], words: int) -> list[_Values]:
    """What each word counts in each passage by any of its terms: the most; of those that only may be said for it the others add
    MORE of what they count."""
    itself: list[_Values] = [{} for _ in range(words)]
    others: list[_Values] = [{} for _ in range(words)]
    for term, values in found:
        _take_in(*((itself[term.word], values, 0.0) if term.itself else (others[term.word], values, MORE)))
    for known, more in zip(itself, others, strict=True):
        _take_in(known, more, 0.0)
    return itself


def _take_in(known: _Values, more: _Values, share: float) -> None:
    """Have what is known of a word count the larger of two values and a share of the other, passage by passage."""
    both = known.keys() & more.keys() if known else ()
    pairs = [(number, *sorted((known[number], more[number]))) for number in both]
    known.update(more)
    known.update({number: most + share * least for number, least, most in pairs})


def _values(corpus: RankedCorpus, term: Term, asked: bytes | None) -> _Values:
    """What a term counts, by passage number."""
    counts = _counts(corpus, term, asked)
    for number in corpus.hollow & counts.keys() if corpus.hollow else ():
        counts[number] *= HOLLOW
    weight, lengths, shares = term.weight, corpus.lengths, _saturation(corpus.mean_length)
    return {number: weight * shares[count][lengths[number]] for number, count in counts.items()}


@functools.lru_cache(maxsize=8)
def _saturation(mean_length: float) -> "_Saturation":
    return _Saturation(mean_length)


class _Saturation(dict[float, list[float]]):
    """What a term counts of its weight, by how often it stands in a passage, and the passage's length."""

    def __init__(self, mean_length: float) -> None:
        self._per_token = K1 * B / max(1.0, mean_length)

    def __missing__(self, count: float) -> list[float]:
        least = count + K1 * (1 - B)
        self[count] = [count * (1 + K1) / (least + self._per_token * length) for length in range(256)]
        return self[count]


def _counts(corpus: RankedCorpus, term: Term, asked: bytes | None) -> dict[int, float]:
    """Passage number -> how often it has the term, a caption's words counting less."""
    counts: dict[int, float] = {}
    for token in term.tokens:
        worth = CAPTION if token.startswith("[") else 1.0
        for numbers, times in corpus.postings(token):
            if asked:
                inside = bytes(map(asked.__getitem__, numbers))
                numbers, times = list(itertools.compress(numbers, inside)), list(itertools.compress(times, inside))
            found = dict(zip(numbers, times if worth == 1.0 else [count * worth for count in times], strict=True))
            for number in counts.keys() & found.keys() if counts else ():
                found[number] += counts[number]
            counts.update(found)
    return counts
