"""Which passages answer a question: lexical ranking made for conversations. Pure functions over a corpus of passages.

A passage scores for each word of the question by BM25, for the word itself, its inflections, and for less what else may
be said for it. A word that the passage lacks counts when a neighbour in the same file has it: people answer without
repeating the question. On top come small shares of the question's weight for what marks an answer: said by the person
asked about, in the first person, after a question, with a name, with a time word where the question asks when, on a day
that the question names.
"""

import functools
import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from filemem import terms
from filemem.search import evidence, lookup
from filemem.search.lookup import CITING, FILES, REACH, Corpus, Entry, Spans, Term
from filemem.search.question import LIGHT, Query, Word

NOTES = 4  # half steps from a paragraph or list item to the next: unlike a reply, it says again what it speaks of
ONCE = 0.85  # of a word's score, what its nearest place gives; the rest is summed over all places in reach
SESSION = 0.05  # what each word's best place in the file counts for all of its passages
ASKED, OWN_WORDS = 0.2, 0.08  # shares of the question's weight: said by a person named; and in the first person
TIME = 0.2  # a time word where the question asks when
ASKING, ANSWERING = -0.08, 0.06  # ends in a question; follows one
NAMING, OPENING = 0.05, 0.08  # has a name; opens its file, where people say what is new
ANOTHER = 0.5  # of the strength of a passage, where somebody else said it than the person asked about
LENGTH = -0.04  # a fold in length: at equal merit the shorter passage leaves more room for others
SLIGHT = (0.2, 0.15, 0.1)  # held back for having 0, 1 or 2 words besides stop words: there is little to learn from it
ECHO = 0.3  # what is left of the score of a turn that asks the question and says nothing else
ON_DAY, AFTER_DAY = 0.5, 0.25  # the file's date lies in a span that the question names; or as long again after it, and
DAYS_AFTER = 14  # at least so many days: people tell of things afterwards
DAY_ALONE = 6  # times that, where the question has no other word: more than all its words can give, 1 + K1 times theirs
MANY = 20  # times as many places of a word as passages, from which on looking each passage up is the shorter way
ALONE, TELLING = 2.0, 0.1
"""Then: the least that it weighs, that of a word in an eighth of all passages; and a fold in length."""
FLOOR = 0.001  # the least that a passage found scores
LEAST = 0.1  # of the question's weight, that a passage's words must give for what marks an answer to count in full


Share = tuple[str, float]  # what a part of a score is for, and how much


class Scored(NamedTuple):
    """A passage found. `held` says what it holds of the question, `parts` what made its score; only of those that are shown
    is either asked."""

    number: int
    score: float
    held: Callable[[], evidence.Held]
    parts: Callable[[], Iterable[Share]]


def rank(
    query: Query,
    corpus: Corpus,
    *,
    limit: int,
    worth: Callable[[Any], float] = lambda entry: 1.0,
    speakers: frozenset[int] | None = None,
    days: tuple[int, int] | None = None,
) -> list[Scored]:
    """The `limit` best passages, best first; ties by date, newest first, then path, then place in the file.

    `worth` is what a file counts (0: not asked for; less than 1: archived, superseded); with `speakers` only their
    passages are returned, with `days` (the first and the last, as ordinals) only those of these, ranked with all around them.
    """
    scorer = _Scorer(query, corpus, worth)
    best = scorer.best(limit, speakers, days)
    return _Explainer(scorer, [number for _, _, _, number, _ in best]).explained(best)


# -- within a file -------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _reach(speakers: tuple[int, ...], at: int) -> tuple[tuple[int, float], ...]:
    """The passages in reach of the one at a place among some with these speakers, itself first: how far away each is, and
    what its words count there."""
    found = [(0, 1.0)]
    for step in (1, -1):
        place, away = at + step, 0
        while 0 <= place < len(speakers):
            speaker, last = speakers[place], speakers[place - step]
            away += NOTES if not (speaker or last) else 1 if speaker == last else 2
            if away >= len(REACH):
                break
            found.append((place - at, REACH[away]))
            place += step
    return tuple(found)


def _around(corpus: Corpus, entry: Entry, number: int) -> tuple[tuple[int, float], ...]:
    """`_reach` of a passage in its file."""
    first, end = max(entry.first, number - len(REACH)), min(entry.first + entry.count, number + len(REACH) + 1)
    apart = [place for place in range(first + 1, end) if corpus.flags[place] & terms.APART]
    first, end = max([first, *(p for p in apart if p <= number)]), min([end, *(p for p in apart if p > number)])
    return _reach(tuple(corpus.speakers[first:end]), number - first)


class _File(NamedTuple):
    """A file that holds words of the question, what it counts, and which of its passages hold them."""

    entry: Entry
    worth: float
    numbers: list[int]


def _by_file(corpus: Corpus, numbers: list[int], worth: Callable[[Any], float]) -> Iterator[_File]:
    """The passages (ascending) by file, without those of files that are not asked for."""
    start = 0
    while start < len(numbers):
        entry = corpus.file(numbers[start])
        stop = bisect_left(numbers, entry.first + entry.count, start)
        factor = worth(entry) if corpus.alive(numbers[start]) else 0.0
        if factor:
            yield _File(entry, factor, numbers[start:stop])
        start = stop


class _Scores(NamedTuple):
    """A file's passages: for each word, number -> value with the neighbours'; the same for all words together; what the file
    as a whole adds; and the most that its dates give."""

    file: _File
    spread: list[dict[int, float]]
    words: dict[int, float]
    session: float
    dated: tuple[Share, ...]


_Ranked = tuple[float, int, str, int, _Scores]  # in order, the best first; the number tells any two apart


def _spread(corpus: Corpus, file: _File, values: list[dict[int, float]], dated: tuple[Share, ...]) -> _Scores:
    """What the words count for each passage of a file, its own place and its neighbours' taken together."""
    around = {number: _around(corpus, file.entry, number) for number in file.numbers}
    spread: list[dict[int, float]] = []
    words: dict[int, float] = {}
    tops = 0.0
    for places in values:
        standing = [number for number in file.numbers if number in places]
        spread.append(_spread_word(standing, places, around))
        tops += max([places[number] for number in standing], default=0.0)
        for place, value in spread[-1].items():
            words[place] = words.get(place, 0.0) + value
    return _Scores(file, spread, words, SESSION * tops, dated)


def _spread_word(
    numbers: list[int], values: dict[int, float], around: dict[int, tuple[tuple[int, float], ...]]
) -> dict[int, float]:
    """The same of one word that stands in these passages."""
    best: dict[int, float] = {}
    total: dict[int, float] = {}
    for number in numbers:
        value = values[number]
        for away, share in around[number]:
            place, part = number + away, value * share
            if place in best:
                total[place] += part
                if part > best[place]:
                    best[place] = part
            else:
                best[place] = total[place] = part
    return {place: ONCE * top + (1 - ONCE) * total[place] for place, top in best.items()}


# -- what marks an answer ----------------------------------------------------------------------------------------


_Named = Callable[[int], bool]


def _named(query: Query, corpus: Corpus) -> _Named:
    """Whether a passage that nobody speaks names one of the people asked about: a fact is told of somebody."""
    names = {token for speaker in query.about for token in terms.tokens(corpus.speaker_names[speaker])}
    found = [numbers for name in sorted(names) for numbers, _ in corpus.postings(name)]

    def test(number: int) -> bool:
        return any(
            number in numbers[place : place + 1] for numbers in found for place in [bisect_left(numbers, number)]
        )

    return test


def _answers(corpus: Corpus, entry: Entry, number: int) -> bool:
    """Whether what stands before, leaving out what the same person said just before, is a question."""
    before = number - 1
    while before > max(entry.first, number - 4) and corpus.speakers[before] == corpus.speakers[number]:
        before -= 1
    return before >= entry.first and bool(corpus.flags[before] & terms.IS_QUESTION)


@functools.lru_cache(maxsize=4096)
def _marks(named: float, flags: int, when: bool, opens: bool, answers: bool) -> tuple[Share, ...]:
    """What marks a passage with these flags as an answer, as shares of the question's weight: `named` is what it counts who
    says it, `when` that the question asks for a time, the rest where the passage stands."""
    found = []
    if named:
        found.append(("speaker", named))
        if flags & terms.FIRST_PERSON:
            found.append(("own words", OWN_WORDS))
    if when and flags & terms.HAS_TIME_WORD:
        found.append(("time word", TIME))
    if flags & terms.IS_QUESTION:
        found.append(("question", ASKING))
    if flags & terms.HAS_NAME:
        found.append(("name", NAMING))
    if opens:
        found.append(("opening", OPENING))
    elif answers:
        found.append(("answer", ANSWERING))
    return tuple(found)


def _lengths(fold: float) -> tuple[tuple[Share, ...], ...]:
    """By its length in tokens what a passage gets for it, where a fold counts `fold`."""
    slight = (*SLIGHT, *[0.0] * (256 - len(SLIGHT)))
    return tuple((("length", fold * math.log1p(length) - slight[length]),) for length in range(256))


_LENGTHS = {False: _lengths(LENGTH), True: _lengths(TELLING)}


def _dated(query: Query, date: int, bare: bool) -> tuple[Share, ...]:
    """The share of the question's weight that a day gives; a question that is `bare` has no word to look for."""
    shares = [0.0]
    for first, last in query.spans:
        if date and first <= date <= last:
            shares.append(ON_DAY)
        elif date and last < date <= last + max(DAYS_AFTER, last - first + 1):
            shares.append(AFTER_DAY)
    return (("date", max(shares) * (DAY_ALONE if bare else 1.0)),) if len(shares) > 1 else ()


# -- the score ---------------------------------------------------------------------------------------------------


class _Scorer:
    """Scores the passages for one question. `weights` are those of its words, `mass` of all together; it is `bare` with no word
    to look for but days and people."""

    def __init__(self, query: Query, corpus: Corpus, worth: Callable[[Any], float]) -> None:
        self.query = query
        self.corpus = corpus
        self._worth = worth
        found, self.weights = lookup.lookups(query, corpus)
        large = bool(found) and corpus.count > lookup.EXACT
        spans = lookup.promising(corpus, found, len(query.words), worth) if large else None
        self._values: list[dict[int, float]] = [{} for _ in query.words]
        for term in found:
            lookup.add(corpus, term, self._values[term.word], spans)
        named = zip(query.words, self.weights, strict=True)
        self._bare = not any(weight and word.weight > LIGHT for word, weight in named if not word.aside)
        self.mass = max(self._mass(found), ALONE if self._bare else 0.0)
        self.names = _named(query, corpus)

    def _mass(self, found: list[Term]) -> float:
        return sum(self.weights) or max((term.weight for term in found), default=1.0)

    def best(self, limit: int, speakers: frozenset[int] | None, days: tuple[int, int] | None) -> list[_Ranked]:
        """The `limit` best of the passages that hold words of the question, or stand beside one that does; of those of
        `speakers` and of `days` if given."""
        found: list[_Ranked] = []
        highest: list[float] = []  # scores, as a heap
        for scores in sorted(self._scores(), key=lambda scores: max(scores.words.values(), default=0.0), reverse=True):
            entry, words = scores.file.entry, scores.words
            room = scores.session + self._most_marks * self.mass + sum(share * self.mass for _, share in scores.dated)
            for number in words.keys() | (scores.file.numbers if self._bare else ()):
                if speakers is not None and self.corpus.speakers[number] not in speakers:
                    continue
                if days and not days[0] <= entry.day(number) <= days[1]:
                    continue
                most = max(words.get(number, 0.0) + room, FLOOR) * scores.file.worth
                if len(highest) == limit and most < highest[0] - 1e-6:
                    continue
                score = round(self._score(scores, number), 6)
                found.append((-score, -entry.date, entry.path, number, scores))
                (heapq.heappush if len(highest) < limit else heapq.heappushpop)(highest, score)
        return sorted(found)[:limit]

    def _scores(self) -> Iterator[_Scores]:
        """What the words count in each file that holds some."""
        for file in _by_file(self.corpus, self._candidates(), self._worth):
            days = [_dated(self.query, day, self._bare) for day in file.entry.days]
            yield _spread(self.corpus, file, self._values, max(days, default=()))

    @functools.cached_property
    def _most_marks(self) -> float:
        """The most that what marks an answer can count, its date aside, as a share of the question's weight."""
        if self._bare:
            return math.inf
        named = ASKED + OWN_WORDS if self.query.about or self.query.others else 0.0
        return named + (TIME if self.query.asks_when else 0.0) + NAMING + max(OPENING, ANSWERING)

    def _candidates(self) -> list[int]:
        """The passages that hold words of the question; of a bare one also all of the newest files of the days it names."""
        found = {number for places in self._values for number in places}
        for first, last in self.query.spans if self._bare else ():
            dated = self.corpus.dated(first, last)
            for entry in heapq.nlargest(FILES, dated, key=lambda entry: (entry.date, entry.path)):
                numbers = range(entry.first, entry.first + entry.count)
                found.update(number for number in numbers if first <= entry.day(number) <= last)
        return sorted(found)

    def _score(self, scores: _Scores, number: int) -> float:
        words = scores.words.get(number, 0.0)
        more, weight = scores.session, self._sure(words)
        for _, share in self._signs(scores, number):
            more += weight * share
        return max(words + more, FLOOR) * scores.file.worth * self.own(number)

    def _sure(self, words: float) -> float:
        """The question's weight as far as it counts beside a passage's words. What marks an answer counts for little where
        hardly any word stands: it tells answers from other turns about the same thing, not what a turn is about."""
        return self.mass if self._bare else min(1.0, words / (LEAST * self.mass)) * self.mass

    def _signs(self, scores: _Scores, number: int) -> tuple[Share, ...]:
        """What marks a passage as an answer, as shares of the question's weight."""
        query, corpus, entry = self.query, self.corpus, scores.file.entry
        flags, speaker = corpus.flags[number], corpus.speakers[number]
        about = speaker in query.about or (not speaker and self.names(number))
        named = ASKED if about else ASKED / 2 if speaker in query.others else 0.0
        own = 0 if speaker else terms.FIRST_PERSON  # what nobody speaks is told of whom it names
        opens = number == entry.first and speaker > 0 and not flags & terms.RETELLS  # a quotation opens nothing
        when = query.asks_when or self._bare
        marks = _marks(named, flags | own, when, opens, not opens and _answers(corpus, entry, number))
        dated = scores.dated if len(entry.days) < 2 else _dated(query, entry.day(number), self._bare)
        return marks + _LENGTHS[self._bare][corpus.lengths[number]] + dated

    def own(self, number: int) -> float:
        """What is left of a turn's score: less where it only quotes memory, or asks the question over again."""
        flags = self.corpus.flags[number]
        if not flags & (terms.CITES | terms.IS_QUESTION) or not self.corpus.speakers[number]:
            return 1.0
        if flags & terms.CITES:
            return CITING
        words = len(self.query.words)
        asked = sum(number in places for places in self._values)
        return ECHO if asked >= 0.8 * words and self.corpus.lengths[number] <= 1 + 1.25 * words else 1.0

    def parts(self, scores: _Scores, number: int) -> Iterator[Share]:
        """What made a passage's score."""
        for word, values in zip(self.query.words, scores.spread, strict=True):
            if values.get(number):
                yield word.text, values[number]
        yield "session", scores.session
        weight = self._sure(scores.words.get(number, 0.0))
        for name, share in self._signs(scores, number):
            yield name, weight * share
        factor = scores.file.worth * self.own(number)
        if factor != 1.0:
            yield "times", factor


# -- what was found ----------------------------------------------------------------------------------------------


class _Explainer:
    """Says what the passages found, by their numbers, have of the question."""

    def __init__(self, scorer: _Scorer, numbers: list[int]) -> None:
        query, corpus = scorer.query, scorer.corpus
        spans = Spans((number, number + 1) for number in sorted(numbers))
        self._scorer = scorer
        self._standing = [_standing(corpus, word, set(numbers), spans) for word in query.words]
        unknown = lookup.idf(corpus, 0)
        self._units = evidence.units(query, scorer.weights, unknown, corpus.frequency)
        words = zip(query.words, scorer.weights, strict=True)
        self._weights = [weight or word.weight * unknown for word, weight in words]

    def explained(self, ranked: list[_Ranked]) -> list[Scored]:
        """The passages with what they have, and what made their scores."""
        held, parts, partial = self._held, self._scorer.parts, functools.partial
        return [
            Scored(number, -score, partial(held, scores, number), partial(parts, scores, number))
            for score, _, _, number, scores in ranked
        ]

    def _of_another(self, number: int) -> bool:
        """Does somebody else speak than the person asked about, or is a fact, which names its people, of somebody else?"""
        about, corpus = self._scorer.query.about, self._scorer.corpus
        if not about:
            return False
        if speaker := corpus.speakers[number]:
            return speaker not in about
        return bool(corpus.flags[number] & terms.RETELLS) and not self._scorer.names(number)

    def _held(self, scores: _Scores, number: int) -> evidence.Held:
        words = zip(self._standing, scores.spread, self._weights, strict=True)
        shares = [
            1.0 if number in standing else min(evidence.NEAR, values.get(number, 0.0) / weight)
            for standing, values, weight in words
        ]
        return evidence.held(self._units, shares, ANOTHER if self._of_another(number) else 1.0)


def _standing(corpus: Corpus, word: Word, numbers: set[int], spans: Spans) -> set[int]:
    """Those of the passages that hold a form of the word itself; `spans` are the same passages."""
    found: set[int] = set()
    for token in (*corpus.concept(word.stem), terms.SPEAKER + word.text):
        for places, _ in corpus.postings(token):
            if len(places) < MANY * len(numbers):
                found |= numbers.intersection(places)
            else:
                found.update(places[at] for at in spans.places(places))
    return found
