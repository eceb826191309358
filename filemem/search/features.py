"""What speaks for each passage, as named numbers; the score is their weighted sum.

A word that a passage lacks counts when a neighbour in the same file has it: people
answer without repeating the question.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from filemem.index import APART, ASKS, Corpus, IndexedFile
from filemem.search.candidates import TOLD_DAYS, Candidates, Values, add_values
from filemem.search.query import Query
from filemem.search.search_request import SearchRequest
from filemem.search.validity import held_days, tells_when
from filemem.search.weights import Weights
from filemem.text.dayrange import DayRange

MAX_MATCHES = 150
ADDED = ("session", "speaker", "follows_question", "length", "day", "meaning")
ON_DAY = 1.0  # the share of `weights.on_day` that a day asked for counts
NEAR_DAY = 0.5  # and one shortly before or after it
NEAR_STRENGTH = 0.9  # the most that a word counts which only stands near a passage


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for one passage, each as a share of the question's weight.

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
        total = (
            self.words
            + self.session
            + self.speaker
            + self.follows_question
            + self.length
            + self.day
            + self.meaning
        )
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

    `strength` is how much of the content words it and its neighbours hold, 0 to 1.
    """

    number: int
    entry: IndexedFile
    features: Features
    score: float
    strength: float = 0.0


@dataclass(frozen=True)
class Spread:
    """What the words of a question count for passages, as shares of its weight.

    Attributes:
        by_word: by word, what it counts for each passage, there and nearby.
        words: by passage, what all of them count.
        session: by the first passage of a file, what their best places in it count.
    """

    by_word: Mapping[str, Values]
    words: Values
    session: Values


def rank(request: SearchRequest, candidates: Candidates) -> list[Ranked]:
    """Return the passages of the candidates, the best first, the newest of like ones.

    Args:
        request: what is asked.
        candidates: the files to rank, and where the words stand in them.
    """
    spread = spread_words(request, candidates)
    matches: list[Ranked] = []
    for entry in candidates.files:
        for number, features in file_features(request, spread, entry).items():
            if request.admits(entry, number):
                matches.append(Ranked(number, entry, features, features.score))
    matches.sort(
        key=lambda one: (-one.score, -one.entry.date, one.entry.path, one.number)
    )
    del matches[MAX_MATCHES:]
    return [_with_words(match, request.query, candidates, spread) for match in matches]


def _with_words(
    match: Ranked, query: Query, candidates: Candidates, spread: Spread
) -> Ranked:
    """Return a match with what each word counts for it, and its strength."""
    by_word = {
        text: values[match.number]
        for text, values in spread.by_word.items()
        if match.number in values
    }
    features = replace(match.features, by_word=by_word)
    share = strength(query, candidates, match.number, by_word)
    return Ranked(match.number, match.entry, features, match.score, share)


def spread_words(request: SearchRequest, candidates: Candidates) -> Spread:
    """Return what the words of a question count for the passages of the candidates."""
    corpus = request.corpus
    reaches: dict[int, range] = {}
    for entry in candidates.files:
        reaches.update(reach_of_passages(entry, corpus.flags, request.weights))
    by_word: dict[str, Values] = {}
    words: Values = {}
    session: Values = {}
    occurrences = zip(request.query.words, candidates.occurrences, strict=True)
    for word, found in occurrences:
        shares = {
            number: value / candidates.query_weight
            for number, value in found.values.items()
        }
        by_word[word.text] = spread_to_neighbors(shares, reaches, request.weights)
        add_values(words, by_word[word.text])
        add_values(session, best_of_files(shares, corpus))
    return Spread(by_word, words, session)


def best_of_files(values: Values, corpus: Corpus) -> Values:
    """Return the greatest value in each file, by the file's first passage."""
    best: Values = {}
    for number, value in values.items():
        first = corpus.firsts[number]
        if value > best.get(first, 0.0):
            best[first] = value
    return best


def file_features(
    request: SearchRequest, spread: Spread, entry: IndexedFile
) -> dict[int, Features]:
    """Return what speaks for each passage of a file that has a word or a day asked for.

    Args:
        request: what is asked.
        spread: what the words of the question count.
        entry: the file.
    """
    corpus = request.corpus
    query = request.query
    weights = request.weights
    is_among_people = not any(map(corpus.by_assistant, entry.numbers))
    is_told = tells_of(entry, query.days)
    session = weights.session * spread.session.get(entry.first, 0.0)
    document = request.file_weight(entry)
    rows: dict[int, Features] = {}
    for number in entry.numbers:
        day = ON_DAY if is_told else day_share(entry.day(number), query.days)
        if number not in spread.words and not day:
            continue
        speaker = 0.0
        if corpus.speakers[number] == query.about:
            speaker = weights.named_speaker
        length = 0.0
        follows_question = 0.0
        if is_among_people:
            length = -weights.length * math.log1p(corpus.lengths[number])
            if _follows_question(corpus, entry, number):
                follows_question = weights.follows_question
        rows[number] = Features(
            words=spread.words.get(number, 0.0),
            session=session,
            speaker=speaker,
            follows_question=follows_question,
            length=length,
            day=weights.on_day * day,
            is_of_day=day == ON_DAY,
            role=request.role_weight(number),
            document=document,
        )
    return rows


def reach_of_passages(
    entry: IndexedFile, flags: Sequence[int], weights: Weights
) -> dict[int, range]:
    """Return for each passage of a file those nearby, between the same two pauses."""
    distance = len(weights.neighbors) - 1
    starts = [number for number in entry.numbers if flags[number] & APART]
    reaches: dict[int, range] = {}
    for start, end in itertools.pairwise([entry.first, *starts, entry.numbers.stop]):
        for number in range(start, end):
            first = max(start, number - distance)
            reaches[number] = range(first, min(end, number + distance + 1))
    return reaches


def spread_to_neighbors(
    values: Values, reaches: Mapping[int, range], weights: Weights
) -> Values:
    """Return what a word counts for each passage within reach of where it stands.

    The nearest place gives most of it; the rest is summed over all in reach.

    Args:
        values: what it counts where it stands.
        reaches: by passage those that it may reach.
        weights: `neighbors` has the share by the distance, `repeated` that of the sum.
    """
    farthest = len(weights.neighbors) - 1
    shares = (*weights.neighbors[:0:-1], *weights.neighbors)
    best: Values = {}
    total: Values = {}
    for number, value in values.items():
        reach = reaches[number]
        in_reach = shares[reach.start - number + farthest :]
        for beside, share in zip(reach, in_reach, strict=False):
            part = value * share
            total[beside] = total.get(beside, 0.0) + part
            if part > best.get(beside, 0.0):
                best[beside] = part
    repeated = weights.repeated
    return {
        number: (1 - repeated) * nearest + repeated * total[number]
        for number, nearest in best.items()
    }


def _follows_question(corpus: Corpus, entry: IndexedFile, number: int) -> bool:
    """Say whether the turn before is somebody else's and ends in a question."""
    before = number - 1
    if before < entry.first or corpus.flags[number] & APART:
        return False
    if corpus.speakers[before] == corpus.speakers[number]:
        return False
    return bool(corpus.flags[before] & ASKS)


def tells_of(entry: IndexedFile, days: Sequence[DayRange]) -> bool:
    """Say whether front matter tells of some days: of an event, or what held."""
    if "day" in entry.particulars:
        return any(asked.holds(entry.days[-1]) for asked in days)
    if days and tells_when(entry):
        return any(map(held_days(entry).overlaps, days))
    return False


def day_share(said_on: int, days: Sequence[DayRange]) -> float:
    """Return `ON_DAY` for a day asked for, as an ordinal, `NEAR_DAY` shortly off one.

    People tell of a day before it comes, and afterwards.
    """
    share = 0.0
    for asked in days:
        if said_on and asked.holds(said_on):
            return ON_DAY
        is_told = asked.first - TOLD_DAYS <= said_on <= asked.last + TOLD_DAYS
        if said_on and is_told:
            share = NEAR_DAY
    return share


def strength(
    query: Query, candidates: Candidates, number: int, by_word: Mapping[str, float]
) -> float:
    """Return how much of the content words a passage and its neighbours hold, 0 to 1.

    A word counts by its rarity, and one that only stands nearby a little less.

    Args:
        query: whose words they are.
        candidates: where they stand.
        number: of the passage.
        by_word: what each word counts for it, as a share of the question's weight.
    """
    held = 0.0
    total = 0.0
    for word, found in zip(query.words, candidates.occurrences, strict=True):
        if word.is_context or not found.weight:
            continue
        total += found.weight
        share = 1.0
        if number not in found.exact:
            near = by_word.get(word.text, 0.0) * candidates.query_weight / found.weight
            share = min(NEAR_STRENGTH, near)
        held += found.weight * share
    return round(held / total, 4) if total else 0.0
