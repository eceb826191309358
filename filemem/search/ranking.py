"""Which passages answer a question: lexical ranking made for conversations. Pure functions over a corpus of passages.

A passage scores for each word of the question by BM25, for the word itself, its inflections, and for less what else may
be said for it. A word that the passage lacks counts when a neighbour in the same file has it: people answer without
repeating the question. On top come small shares of the question's weight for what marks an answer: said by the person
asked about, in the first person, after a question, with a name, with a time word where the question asks when, on a day
that the question names.
"""

import functools
import heapq
import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from filemem.search import evidence, lookup, nearby
from filemem.search.lookup import CITING, FILES, REACH, RankedCorpus, RankedFile, Spans, Term
from filemem.search.question import LIGHT, Query, Word
from filemem.text import terms

NOTES = 4  # half steps from a paragraph or list item to the next: unlike a reply, it says again what it speaks of
ONCE = 0.85  # of a word's score, what its nearest place gives; the rest is summed over all places in reach
SESSION = 0.1  # what each word's best place in the file counts for all of its passages
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
BARE_QUERY_MASS, BARE_QUERY_LENGTH = 2.0, 0.1
"""Then: the least that it weighs, that of a word in an eighth of all passages; and a fold in length."""
FLOOR = 0.001  # the least that a passage found scores
LEAST = 0.1  # of the question's weight, that a passage's words must give for what marks an answer to count in full

OPENS, ANSWERS = 256, 512  # marks of a passage beside the flags of its text
_MARKS = terms.HAS_TIME_WORD | terms.IS_QUESTION | terms.FIRST_PERSON | terms.HAS_NAME

Share = tuple[str, float]  # what a part of a score is for, and how much


class Scored(NamedTuple):
    """A passage found. `held` says what it holds of the question, `parts` what made its score; only of those that are shown
    is either asked."""

    number: int
    score: float
    held: Callable[[], evidence.TermCoverage]
    parts: Callable[[], Iterable[Share]]


def rank(
    query: Query,
    corpus: RankedCorpus,
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
    return _Explainer(scorer, [number for _, _, _, number, _, _ in best]).explained(best)


# -- within a file -------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8192)
def _layout(flags: bytes, speakers: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Of a file's passages the places, in half steps from the first, and the marks, as flags that `_marks` knows."""
    places = [0] if speakers else []
    for flag, (last, speaker) in zip(flags[1:], itertools.pairwise(speakers), strict=True):
        step = NOTES if not (speaker or last) else 1 if speaker == last else 2
        places.append(places[-1] + (len(REACH) if flag & terms.APART else step))
    return places, [_mark(flags, speakers, place) for place in range(len(speakers))]


class _File(NamedTuple):
    """A file that holds words of the question, what it counts, what it adds as a whole to each of its passages, the most that
    its dates give, which of its passages hold words, and the layout of all."""

    entry: RankedFile
    worth: float
    session: float
    dated: tuple[Share, ...]
    held: dict[int, float]  # by place in the file: what all words count in it
    places: list[int]
    marks: list[int]
    shares: list[float]  # the most that what marks an answer counts for each, its date aside


_Words = dict[int, float]  # by word of the question what it counts for a passage, the neighbours' taken together
_Ranked = tuple[float, int, str, int, _File, _Words]  # in order, the best first; the number tells any two apart


# -- what marks an answer ----------------------------------------------------------------------------------------


_Named = Callable[[int], bool]


def _named(query: Query, corpus: RankedCorpus) -> _Named:
    """Whether a passage that nobody speaks names one of the people asked about: a fact is told of somebody."""
    names = {token for speaker in query.about for token in terms.tokens(corpus.speaker_names[speaker])}
    found = [numbers for name in sorted(names) for numbers, _ in corpus.postings(name)]

    def test(number: int) -> bool:
        return any(
            number in numbers[place : place + 1] for numbers in found for place in [bisect_left(numbers, number)]
        )

    return test


def _mark(flags: bytes, speakers: tuple[int, ...], place: int) -> int:
    """What marks a passage, whatever the question, as flags."""
    mark = flags[place] & _MARKS
    if not speakers[place]:
        mark |= terms.FIRST_PERSON  # what nobody speaks is told of whom it names
    elif not place and not flags[place] & terms.IS_DERIVED:  # a quotation opens nothing
        return mark | OPENS
    before = place - 1  # and before what the same person said just before
    while before > max(0, place - 4) and speakers[before] == speakers[place]:
        before -= 1
    return mark | (ANSWERS if before >= 0 and flags[before] & terms.IS_QUESTION else 0)


@functools.lru_cache(maxsize=4096)
def _marks(named: float, mark: int, when: bool) -> tuple[Share, ...]:
    """What marks a passage as an answer, as shares of the question's weight: `named` is what it counts who says it, `when`
    that the question asks for a time."""
    found = []
    if named:
        found.append(("speaker", named))
        if mark & terms.FIRST_PERSON:
            found.append(("own words", OWN_WORDS))
    if when and mark & terms.HAS_TIME_WORD:
        found.append(("time word", TIME))
    if mark & terms.IS_QUESTION:
        found.append(("question", ASKING))
    if mark & terms.HAS_NAME:
        found.append(("name", NAMING))
    if mark & OPENS:
        found.append(("opening", OPENING))
    elif mark & ANSWERS:
        found.append(("answer", ANSWERING))
    return tuple(found)


class _Marks(NamedTuple):
    """What marks of an answer a question asks for: speakers, and the time; whether it is bare."""

    about: frozenset[int]
    others: frozenset[int]
    when: bool
    bare: bool


@functools.lru_cache(maxsize=8192)
def _most_shares(marks: tuple[int, ...], speakers: tuple[int, ...], lengths: bytes, asked: _Marks) -> list[float]:
    """The most that these marks and lengths count for each passage of a file, as shares of the question's weight."""
    found = []
    for mark, speaker, length in zip(marks, speakers, lengths, strict=True):
        named = ASKED if speaker in asked.about else ASKED / 2 if speaker in asked.others else 0.0
        shares = _marks(named, mark, asked.when) + _LENGTHS[asked.bare][length]
        found.append(sum([share for _, share in shares]))
    return found


def _lengths(fold: float) -> tuple[tuple[Share, ...], ...]:
    """By its length in tokens what a passage gets for it, where a fold counts `fold`."""
    slight = (*SLIGHT, *[0.0] * (256 - len(SLIGHT)))
    return tuple((("length", fold * math.log1p(length) - slight[length]),) for length in range(256))


_LENGTHS = {False: _lengths(LENGTH), True: _lengths(BARE_QUERY_LENGTH)}


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

    def __init__(self, query: Query, corpus: RankedCorpus, worth: Callable[[Any], float]) -> None:
        self.query = query
        self.corpus = corpus
        self._worth = worth
        found, self.weights = lookup.lookups(query, corpus)
        large = bool(found) and corpus.count > lookup.EXACT
        spans = lookup.promising(corpus, found, len(query.words), worth) if large else None
        self._held = lookup.held(corpus, found, len(query.words), spans)
        named = zip(query.words, self.weights, strict=True)
        self._bare = not any(weight and word.weight > LIGHT for word, weight in named if not word.is_context_word)
        self.mass = max(self._mass(found), BARE_QUERY_MASS if self._bare else 0.0)
        self.names = _named(query, corpus)

    def _mass(self, found: list[Term]) -> float:
        return sum(self.weights) or max((term.weight for term in found), default=1.0)

    def best(self, limit: int, speakers: frozenset[int] | None, days: tuple[int, int] | None) -> list[_Ranked]:
        """The `limit` best of the passages that hold words of the question, or stand beside one that does; of those of
        `speakers` and of `days` if given. Those that can score most are looked at first, until no other can be among the best."""
        found: list[_Ranked] = []
        highest: list[float] = []  # scores, as a heap
        for most, number, file in self._by_bound():
            if len(highest) == limit and most < highest[0] - 1e-6:
                break
            if speakers is not None and self.corpus.speakers[number] not in speakers:
                continue
            if days and not days[0] <= file.entry.day(number) <= days[1]:
                continue
            words = self._words(file, number)
            if words or (self._bare and number - file.entry.first in file.held):
                score = round(self._score(file, words, number), 6)
                found.append((-score, -file.entry.date, file.entry.path, number, file, words))
                (heapq.heappush if len(highest) < limit else heapq.heappushpop)(highest, score)
        return sorted(found)[:limit]

    def _files(self) -> Iterator[_File]:
        """The files with passages that hold words of the question, but for those not asked for; to a bare one also the newest
        files of the days it names."""
        corpus, numbers, start = self.corpus, self._candidates(), 0
        while start < len(numbers):
            entry = corpus.file(numbers[start])
            first, end = entry.first, entry.first + entry.count
            stop = bisect_left(numbers, end, start)
            worth = self._worth(entry) if corpus.alive(first) else 0.0
            if worth:
                best: dict[int, float] = {}
                held: dict[int, float] = {}
                for number in numbers[start:stop]:
                    total = 0.0
                    for word, value in self._held.get(number, ()):
                        total += value
                        if value > best.get(word, 0.0):
                            best[word] = value
                    held[number - first] = total
                dated = max((_dated(self.query, day, self._bare) for day in entry.days), default=())
                places, marks = _layout(bytes(corpus.flags[first:end]), tuple(corpus.speakers[first:end]))
                shares = self._shares(first, end, marks)
                yield _File(entry, worth, SESSION * sum(best.values()), dated, held, places, marks, shares)
            start = stop

    def _candidates(self) -> list[int]:
        """The passages that hold words of the question; of a bare one also all of the newest files of the days it names."""
        found = set(self._held)
        for first, last in self.query.spans if self._bare else ():
            dated = self.corpus.dated(first, last)
            for entry in heapq.nlargest(FILES, dated, key=lambda entry: (entry.date, entry.path)):
                numbers = range(entry.first, entry.first + entry.count)
                found.update(number for number in numbers if first <= entry.day(number) <= last)
        return sorted(found)

    def _by_bound(self) -> Iterator[tuple[float, int, _File]]:
        """The passages that may score, each with the most that it can, and its file; the highest first."""
        files = list(self._files())
        bounds: list[float] = []
        found: list[tuple[int, _File]] = []
        totals = nearby.totals([(file.places, file.held) for file in files])
        for file, near in zip(files, totals, strict=True):
            bounds += self._bounds(file, near)
            found += zip(range(file.entry.first, file.entry.first + file.entry.count), itertools.repeat(file))
        order = sorted(range(len(bounds)), key=bounds.__getitem__, reverse=True)
        return ((bounds[place], *found[place]) for place in order if bounds[place])

    def _bounds(self, file: _File, totals: list[float]) -> list[float]:
        """The most that each passage of a file can score, 0 for one that cannot; `totals` is what `nearby` makes of its words."""
        scale, loose, more = file.worth * self.mass, 1 - ONCE, file.session + FLOOR
        whole = 0.0 if self._bare else LEAST * self.mass  # that much a passage's words must give
        best, dated = ONCE * file.session / SESSION, sum(share for _, share in file.dated)
        held = [0.0] * len(totals)
        for place, value in file.held.items():
            held[place] = value
        bounds: list[float] = []
        for total, share, own in zip(totals, file.shares, held, strict=True):
            if not total and not self._bare:
                bounds.append(0.0)
                continue
            share += dated
            spread = loose * total
            words = total if share > 0 else own if own > spread else spread  # at least, where these take from the score
            if words < whole:
                share *= words / whole
            near = best + spread
            bounds.append(((near if near < total else total) + more) * file.worth + share * scale)
        return bounds

    def _shares(self, first: int, end: int, marks: list[int]) -> list[float]:
        """The most that what marks an answer can count for each passage of a file, its date aside."""
        query, speakers = self.query, tuple(self.corpus.speakers[first:end])
        # What nobody speaks may be told of the person asked about.
        about = query.about.union((0,)).intersection(speakers) if query.about else query.about
        asked = _Marks(about, query.others.intersection(speakers), query.asks_when or self._bare, self._bare)
        return _most_shares(tuple(marks), speakers, bytes(self.corpus.lengths[first:end]), asked)

    def _words(self, file: _File, number: int) -> _Words:
        """What each word of the question counts for a passage, its own place and its neighbours' taken together."""
        best: dict[int, float] = {}
        total: dict[int, float] = {}
        first = file.entry.first
        for place, share in nearby.around(file.places, number - first):
            for word, value in self._held.get(first + place, ()):
                part = value * share
                if word not in best:
                    best[word] = total[word] = part
                else:
                    total[word] += part
                    if part > best[word]:
                        best[word] = part
        return {word: ONCE * best[word] + (1 - ONCE) * total[word] for word in sorted(best)}

    def _score(self, file: _File, words: _Words, number: int) -> float:
        total = sum(words.values())
        if len(file.entry.days) < 2 and (self.corpus.speakers[number] or not self.query.about):
            share = file.shares[number - file.entry.first] + (file.dated[0][1] if file.dated else 0.0)
        else:
            share = sum([share for _, share in self._signs(file, number)])
        return max(total + file.session + self._sure(total) * share, FLOOR) * file.worth * self.own(number)

    def _sure(self, words: float) -> float:
        """The question's weight as far as it counts beside a passage's words. What marks an answer counts for little where
        hardly any word stands: it tells answers from other turns about the same thing, not what a turn is about."""
        return self.mass if self._bare else min(1.0, words / (LEAST * self.mass)) * self.mass

    def _signs(self, file: _File, number: int) -> tuple[Share, ...]:
        """What marks a passage as an answer, as shares of the question's weight."""
        query, corpus, entry = self.query, self.corpus, file.entry
        speaker = corpus.speakers[number]
        about = speaker in query.about or (not speaker and self.names(number))
        named = ASKED if about else ASKED / 2 if speaker in query.others else 0.0
        marks = _marks(named, file.marks[number - entry.first], query.asks_when or self._bare)
        dated = file.dated if len(entry.days) < 2 else _dated(query, entry.day(number), self._bare)
        return marks + _LENGTHS[self._bare][corpus.lengths[number]] + dated

    def own(self, number: int) -> float:
        """What is left of a turn's score: less where it only quotes memory, or asks the question over again."""
        flags = self.corpus.flags[number]
        if not flags & (terms.CITES | terms.IS_QUESTION) or not self.corpus.speakers[number]:
            return 1.0
        if flags & terms.CITES:
            return CITING
        words = len(self.query.words)
        asked = len(self._held.get(number, ()))
        return ECHO if asked >= 0.8 * words and self.corpus.lengths[number] <= 1 + 1.25 * words else 1.0

    def parts(self, file: _File, words: _Words, number: int) -> Iterator[Share]:
        """What made a passage's score."""
        for word, value in words.items():
            yield self.query.words[word].text, value
        yield "session", file.session
        weight = self._sure(sum(words.values()))
        for name, share in self._signs(file, number):
            yield name, weight * share
        factor = file.worth * self.own(number)
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
            Scored(number, -score, partial(held, words, number), partial(parts, file, words, number))
            for score, _, _, number, file, words in ranked
        ]

    def _of_another(self, number: int) -> bool:
        """Does somebody else speak than the person asked about, or is a fact, which names its people, of somebody else?"""
        about, corpus = self._scorer.query.about, self._scorer.corpus
        if not about:
            return False
        if speaker := corpus.speakers[number]:
            return speaker not in about
        return bool(corpus.flags[number] & terms.IS_DERIVED) and not self._scorer.names(number)

    def _held(self, words: _Words, number: int) -> evidence.TermCoverage:
        shares = [
            1.0 if number in standing else min(evidence.NEAR, words.get(word, 0.0) / self._weights[word])
            for word, standing in enumerate(self._standing)
        ]
        return evidence.held(self._units, shares, ANOTHER if self._of_another(number) else 1.0)


def _standing(corpus: RankedCorpus, word: Word, numbers: set[int], spans: Spans) -> set[int]:
    """Those of the passages that hold a form of the word itself; `spans` are the same passages."""
    found: set[int] = set()
    for token in (*corpus.concept(word.stem), terms.SPEAKER + word.text):
        for places, _ in corpus.postings(token):
            if len(places) < MANY * len(numbers):
                found |= numbers.intersection(places)
            else:
                found.update(places[at] for at in spans.places(places))
    return found
