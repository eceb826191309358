"""What speaks for each passage, as named numbers; the score is their weighted sum.

A word that a passage lacks counts when a neighbour in the same file has it: people
answer without repeating the question.
"""

import functools
import heapq
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from filemem.index import Corpus, IndexedFile
from filemem.index.corpus import APART, ASKS, QUOTES
from filemem.search.candidates import (
    Candidates,
    FileValues,
    Occurrences,
    Values,
    add_values,
    best_of_files,
)
from filemem.search.days import with_days_around
from filemem.search.search_request import SearchRequest
from filemem.search.validity import tells_of
from filemem.search.weights import Weights
from filemem.text.dayrange import DayRange

MAX_MATCHES = 150  # by the words of the question; those of a day asked for are more
ADDED = ("session", "speaker", "follows_question", "length", "day", "meaning")


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for one passage, each as a share of the question's weight.

    Each is what it adds to the score: its weight is in it already.

    Attributes:
        words: what the words of the question count, here and nearby.
        session: what the best places of the words in the file count.
        speaker: whether the person asked about says it.
        follows_question: whether it answers somebody's question.
        length: what is taken off for its length.
        day: how near it is to a day asked for.
        is_of_day: whether it is of a day asked for, or tells of one.
        meaning: how much alike it is to the question.
        role, echo, document: factors, for who says it, for a turn that has no word but
            those of the question, and for its file.
        by_word: `words` by word of the question.
    """

    words: float = 0.0
    session: float = 0.0
    speaker: float = 0.0
    follows_question: float = 0.0
    length: float = 0.0
    day: float = 0.0
    is_of_day: bool = False
    meaning: float = 0.0
    role: float = 1.0
    echo: float = 1.0
    document: float = 1.0
    by_word: Mapping[str, float] = field(default_factory=dict)

    @property
    def factor(self) -> float:
        """Return the product of the factors."""
        return self.role * self.echo * self.document

    @property
    def score(self) -> float:
        """Return the score of the passage; 1 is about one that holds every word."""
        total: float = self.words + sum(getattr(self, name) for name in ADDED)
        return round(max(total, 0.0) * self.factor, 6)

    @property
    def parts(self) -> dict[str, float]:
        """Return the named parts of the score, those that count something.

        What is no word of the question has a name in brackets, as no word has.
        """
        parts = dict(self.by_word)
        for name in ADDED:
            parts[f"({name.replace('_', ' ')})"] = getattr(self, name)
        if self.factor != 1:
            parts["(times)"] = self.factor
        return {name: value for name, value in parts.items() if value}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage found, with what speaks for it.

    `successor` is the file of what holds in its place.
    """

    number: int
    entry: IndexedFile
    features: Features
    score: float
    successor: IndexedFile | None = None


@dataclass(frozen=True)
class WordScores:
    """What the words of the question count for the passages of the candidates.

    Attributes:
        words: where each stands.
        nearby: what each counts, by passage in reach of where it stands.
        query_weight: what all of them count together, of which scores are shares.
        total: by passage, what all of them count.
        session: by file, what their best places in it count.
    """

    words: list[Occurrences]
    nearby: list[Values]
    query_weight: float
    total: Values
    session: FileValues

    @functools.cached_property
    def found_share(self) -> float:
        """The share of the question's weight that is of words which memory holds as
        asked.

        It is 1 unless these are so common that they weigh next to nothing. Length is
        scaled by it, which would decide alone then.
        """
        known = sum(found.weight for found in self.words if found.exact)
        return known / self.query_weight

    def by_word(self, number: int) -> dict[str, float]:
        """Return what each word counts for a passage, as a share, if anything."""
        return {
            found.word.text: nearby[number] / self.query_weight
            for found, nearby in zip(self.words, self.nearby, strict=True)
            if number in nearby
        }

    def held(self, number: int) -> frozenset[str]:
        """Return the content words that a passage itself holds, or what is said for
        them."""
        return frozenset(
            found.word.text
            for found in self.words
            if found.word.is_content and number in found.values
        )

    def strength(self, number: int) -> float:
        """Return how much of the question a passage and its neighbours hold, 0 to 1.

        Its words count by their rarity, those of a date or a name nothing.
        """
        held = 0.0
        total = 0.0
        for found, nearby in zip(self.words, self.nearby, strict=True):
            if not found.word.is_content:
                continue
            total += found.weight
            if number in found.exact:
                held += found.weight
            else:
                held += min(found.weight, nearby.get(number, 0.0))
        return round(held / total, 4) if total else 0.0


def score_words(request: SearchRequest, candidates: Candidates) -> WordScores:
    """Return what the words of a question count for the passages of the candidates.

    Those of a memory that a chat quoted count less for the quote, and what is near it.
    """
    farthest = len(request.weights.neighbors) - 1
    reaches: dict[int, range] = {}
    for entry in candidates.files:
        reaches.update(passages_in_reach(entry, request.corpus.flags, farthest))
    words = candidates.occurrences
    nearby: list[Values] = []
    total: Values = {}
    session: FileValues = {}
    for found in words:
        chosen: Values = {}
        for number in found.values.keys() & reaches.keys():
            is_copy = request.corpus.flags[number] & QUOTES
            factor = request.weights.assistant if is_copy else 1.0
            chosen[number] = found.values[number] * factor
        nearby.append(spread_to_neighbors(chosen, reaches, request.weights))
        add_values(total, nearby[-1])
        add_values(session, best_of_files(chosen, request.corpus))
    return WordScores(words, nearby, candidates.query_weight, total, session)


def passages_in_reach(
    entry: IndexedFile, flags: Sequence[int], farthest: int
) -> dict[int, range]:
    """Return for each passage of a file those nearby, between the same two pauses.

    Args:
        entry: the file.
        flags: by passage what is known of it.
        farthest: how many passages away the last is.
    """
    starts = [number for number in entry.numbers if flags[number] & APART]
    reaches: dict[int, range] = {}
    for start, end in itertools.pairwise([entry.first, *starts, entry.numbers.stop]):
        for number in range(start, end):
            first = max(start, number - farthest)
            reaches[number] = range(first, min(end, number + farthest + 1))
    return reaches


def spread_to_neighbors(
    values: Values, reaches: Mapping[int, range], weights: Weights
) -> Values:
    """Return what a word counts for each passage in reach of where it stands.

    The nearest place gives most of it; the rest is summed over all in reach.

    Args:
        values: what it counts where it stands.
        reaches: by passage those that it may reach; none for one of no candidate.
        weights: `neighbors` has the share by the distance, `repeated` that of the sum.
    """
    neighbors = weights.neighbors
    best: Values = {}
    total: Values = {}
    for number, value in values.items():
        for beside in reaches.get(number, ()):
            part = value * neighbors[abs(beside - number)]
            total[beside] = total.get(beside, 0.0) + part
            if part > best.get(beside, 0.0):
                best[beside] = part
    repeated = weights.repeated
    return {
        number: nearest + repeated * (total[number] - nearest)
        for number, nearest in best.items()
    }


def rank(
    request: SearchRequest, candidates: Candidates, scores: WordScores
) -> list[Ranked]:
    """Return the passages of the candidates, the best first, the newest of like ones.

    These are the MAX_MATCHES that words speak for most, and all of a day asked for.

    Args:
        request: what is asked.
        candidates: the files to rank.
        scores: what the words count in them.
    """
    weighed: Values = {}
    for number, value in scores.total.items():
        if request.admits(number):
            weighed[number] = value * request.role_weight(number)
    likely = set(heapq.nlargest(MAX_MATCHES, weighed, key=weighed.__getitem__))
    matches: list[Ranked] = []
    for entry in candidates.files:
        matches += _matches(request, scores, entry, likely)
    matches.sort(
        key=lambda one: (-one.score, -one.entry.date, one.entry.path, one.number)
    )
    return matches


def _matches(
    request: SearchRequest, scores: WordScores, entry: IndexedFile, likely: set[int]
) -> list[Ranked]:
    """Return passages of a file: the likely ones, and those of a day asked for."""
    corpus = request.corpus
    weights = request.weights
    session = scores.session.get(entry.first, 0.0) / scores.query_weight
    document = request.file_weight(entry)
    is_among_people = not any(map(corpus.by_assistant, entry.numbers))
    days = request.query.days
    of_day = _of_days(entry, days)
    by_day = dict.fromkeys(_said_on(entry, with_days_around(days)), weights.near_day)
    by_day |= dict.fromkeys(of_day, weights.on_day)
    matches: list[Ranked] = []
    for number in entry.numbers:
        is_found_by_day = number in by_day and request.admits(number)
        if number not in likely and not is_found_by_day:
            continue
        speaker = 0.0
        if corpus.speakers[number] == request.query.about:
            speaker = weights.named_speaker
        features = Features(
            words=scores.total.get(number, 0.0) / scores.query_weight,
            session=weights.session * session,
            speaker=speaker,
            day=by_day.get(number, 0.0),
            is_of_day=number in of_day,
            role=request.role_weight(number),
            document=document,
        )
        if is_among_people:
            features = _among_people(request, scores, number, features)
        matches.append(Ranked(number, entry, features, features.score))
    return matches


def _of_days(entry: IndexedFile, days: Sequence[DayRange]) -> set[int]:
    """Return the passages of a file that were said on some days, or tell of one."""
    if tells_of(entry, days):
        return set(entry.numbers)
    return entry.passages_naming(days) | _said_on(entry, days)


def _said_on(entry: IndexedFile, days: Sequence[DayRange]) -> set[int]:
    """Return the passages of a file that were said on some days."""
    return {
        number
        for number in entry.numbers
        if any(one.holds(entry.day(number)) for one in days)
    }


def _among_people(
    request: SearchRequest, scores: WordScores, number: int, features: Features
) -> Features:
    """Return the features of a passage where people talk with each other.

    It counts less the longer it is, and more if it follows somebody's question.
    """
    weights = request.weights
    words = math.log1p(request.corpus.lengths[number])
    follows_question = 0.0
    if _follows_question(request.corpus, number):
        follows_question = weights.follows_question
    return replace(
        features,
        length=-weights.length * scores.found_share * words,
        follows_question=follows_question,
    )


def _follows_question(corpus: Corpus, number: int) -> bool:
    """Say whether the turn before is somebody else's and ends in a question."""
    if corpus.flags[number] & APART:  # as the first of a file is
        return False
    before = number - 1
    is_question = bool(corpus.flags[before] & ASKS)
    return is_question and corpus.speakers[before] != corpus.speakers[number]
