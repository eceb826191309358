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
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.search import context_score, evidence, features, lookup
from filemem.search.lookup import RankedCorpus, RankedFile, Term
from filemem.search.question import LIGHT, Query, Word, is_light
from filemem.text import terms

ONCE = 0.9  # of a word's score, what its nearest place gives; the rest is summed over all places in reach
SESSION = 0.1  # what each word's best place in the file counts for all of its passages
ANOTHER = 0.5  # of the strength of a passage, where somebody else said it than the person asked about
ECHO = 0.3  # what is left of the score of a turn that asks the question and says nothing else
ON_DAY, AFTER_DAY = 0.5, 0.25  # the file's date lies in a span that the question names; or as long again after it, and
DAYS_AFTER = 14  # at least so many days: people tell of things afterwards
DAY_ALONE = 6  # times that, where the question has no other word: more than all its words can give, 1 + K1 times theirs
MANY = 20  # times as many places of a word as passages, from which on looking each passage up is the shorter way
BARE_QUERY_MASS = 2.0  # then: the least that it weighs, that of a word in an eighth of all passages
FLOOR = 0.001  # the least that a passage found scores
LEAST = 0.1  # of the question's weight, that a passage's words must give for what marks an answer to count in full

LIKELY = 120  # files whose passages are weighed by the rarer words, their neighbours and what marks them, and
PROMISING = 200  # of these those with so many of the passages that weigh most are scored by all words; more if more are asked for


class Scored(NamedTuple):
    """A passage found. `held` says what it holds of the question, `parts` what made its score; only of those that are shown
    is either asked."""

    number: int
    score: float
    held: Callable[[], evidence.TermCoverage]
    parts: Callable[[], Iterable[features.Share]]


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
    scorer = _Scorer(query, corpus, worth, speakers, limit)
    best = scorer.best(limit, days)
    return _Explainer(scorer, [number for *_, number, _ in best]).explained(best)


# -- within a file -------------------------------------------------------------------------------------------------


class _File:
    """A file that may hold answers: what it counts, the most that its dates give, its layout, the most that what marks an
    answer counts for each of its passages, its date aside, and what all words count in each, at first the rarer ones."""

    def __init__(
        self,
        entry: RankedFile,
        worth: float,
        dated: tuple[features.Share, ...],
        layout: features.Layout,
        shares: list[float],
    ) -> None:
        self.entry, self.worth, self.dated, self.layout, self.shares = entry, worth, dated, layout, shares
        self.numbers = range(entry.first, entry.first + entry.count)
        self.totals: list[float] = []
        self.near: list[float] = []  # what `nearby` makes of them
        self.held: list[Sequence[tuple[int, float]]] = []  # which words stand in each passage, and what they count
        self.session = 0.0  # what the file as a whole adds to each passage

    def hold(self, held: dict[int, list[tuple[int, float]]]) -> None:
        """Take up which words stand in its passages."""
        self.held = [held.get(number, ()) for number in self.numbers]
        self.totals = [sum([value for _, value in words]) if words else 0.0 for words in self.held]
        best: dict[int, float] = {}
        for word, value in itertools.chain.from_iterable(self.held):
            if value > best.get(word, 0.0):
                best[word] = value
        self.session = SESSION * sum(best[word] for word in sorted(best))


_Words = dict[int, float]  # by word of the question what it counts for a passage, the neighbours' taken together
_Ranked = tuple[float, int, str, int, _File]  # in order, the best first; the number tells any two apart


# -- what marks an answer ----------------------------------------------------------------------------------------


_Named = Callable[[int], bool]


def _named(query: Query, corpus: RankedCorpus) -> _Named:
    """Whether a passage that nobody speaks names one of the people asked about: a fact is told of somebody."""
    names = {token for speaker in query.about for token in terms.tokens(corpus.speaker_names[speaker])}
    found = [numbers for name in sorted(names) for numbers, _ in corpus.postings(name)]

    def test(number: int) -> bool:
        return any(_stands(number, numbers) for numbers in found)

    return test


def _dated(query: Query, date: int, bare: bool) -> tuple[features.Share, ...]:
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

    def __init__(
        self,
        query: Query,
        corpus: RankedCorpus,
        worth: Callable[[Any], float],
        speakers: frozenset[int] | None,
        limit: int,
    ) -> None:
        self.query = query
        self.corpus = corpus
        self._worth = worth
        self._speakers = speakers
        self._likely, self._promising = max(LIKELY, limit), max(PROMISING, limit)
        self._marks: dict[frozenset[int], features.Marks] = {}  # those asked for, by who speaks in a file
        found, self.weights = lookup.lookups(query, corpus)
        named = zip(query.words, self.weights, strict=True)
        self._bare = not any(weight and not is_light(word) for word, weight in named if not word.is_context_word)
        self.mass = max(self._mass(found), BARE_QUERY_MASS if self._bare else 0.0)
        self.names = _named(query, corpus)
        rough, known = lookup.rough(corpus, found, len(query.words))
        self._all_known = len(known) == len(found)
        self._files = self._promising_files(rough)
        asked = bytearray(len(corpus.flags))
        for file in self._files:
            asked[file.numbers.start : file.numbers.stop] = b"\1" * len(file.numbers)
        held = lookup.held(corpus, found, len(query.words), bytes(asked), known)
        for file in self._files:
            file.hold(held)

    def _mass(self, found: list[Term]) -> float:
        return sum(self.weights) or max((term.weight for term in found), default=1.0)

    def best(self, limit: int, days: tuple[int, int] | None) -> list[_Ranked]:
        """The `limit` best of the passages that hold words of the question, or stand beside one that does; of those of `days` if
        given. Those that can score most are looked at first, until no other can be among the best."""
        found: list[_Ranked] = []
        highest: list[float] = []  # scores, as a heap
        for most, number, file in self._by_bound():
            if len(highest) == limit and -most < highest[0] - 1e-6:
                break
            if self._speakers is not None and self.corpus.speakers[number] not in self._speakers:
                continue
            if days and not days[0] <= file.entry.day(number) <= days[1]:
                continue
            words = self.words(file, number)
            if words or (self._bare and (file.totals[number - file.numbers.start] or self._on_day(file, number))):
                score = round(self._score(file, words, number), 6)
                found.append((-score, -file.entry.date, file.entry.path, number, file))
                (heapq.heappush if len(highest) < limit else heapq.heappushpop)(highest, score)
        return sorted(found)[:limit]

    def _on_day(self, file: _File, number: int) -> bool:
        """Is a passage of a day that the question names?"""
        return any(first <= file.entry.day(number) <= last for first, last in self.query.spans)

    # -- which files ---------------------------------------------------------------------------------------------

    def _promising_files(self, rough: dict[int, float]) -> list[_File]:
        """The files of the PROMISING passages, and of those that are level with the last, that promise most by the `rough`
        weights of words, their neighbours' and what marks them."""
        files, corpus = list(self._likely_files(rough)), self.corpus
        for file in files:
            file.totals = [rough.get(number, 0.0) for number in file.numbers]
        found: list[list[float]] = []
        near = context_score.totals([(file.layout.places, file.totals) for file in files])
        for file, totals in zip(files, near, strict=True):
            file.near = totals
            dated, worth, mass = sum(share for _, share in file.dated), file.worth, self.mass
            shares = zip(totals, file.shares, strict=True)
            promises = [worth * (total + mass * (share + dated)) for total, share in shares]
            if corpus.voices:
                voices = corpus.voices[file.numbers.start : file.numbers.stop]
                promises = [promise * self.query.voices[voice] for promise, voice in zip(promises, voices, strict=True)]
            if self._speakers is not None:
                spoken = map(self._speakers.__contains__, self.corpus.speakers[file.numbers.start : file.numbers.stop])
                promises = list(itertools.compress(promises, spoken))
            found.append(promises)
        least = sorted(itertools.chain.from_iterable(found))[-self._promising :][:1]
        return [file for file, promises in zip(files, found, strict=True) if max(promises) >= least[0] - 1e-6]

    def _likely_files(self, rough: dict[int, float]) -> Iterator[_File]:
        """The LIKELY files, or so, with passages that hold most of the words, said by those asked about, and the newest of the
        days that the question names; but for those not asked for."""
        corpus, query = self.corpus, self.query
        named = [0.0] * len(corpus.speaker_names)
        for speaker in (*query.others, *query.about):
            named[speaker] = self.mass * (features.ASKED if speaker in query.about else features.ASKED / 2)
        speakers = corpus.speakers
        promise = {number: value + named[speakers[number]] for number, value in rough.items()}
        if voices := corpus.voices:
            promise = {number: value * query.voices[voices[number]] for number, value in promise.items()}
        # By the first passage; those alive differ in path.
        found: dict[int, tuple[float, int, str, RankedFile, float]] = {}
        for first, last in query.spans:
            for entry in heapq.nlargest(
                self._likely, corpus.dated(first, last), key=lambda entry: (entry.date, entry.path)
            ):
                if worth := self._asked(entry):
                    found[entry.first] = (-math.inf, -entry.date, entry.path, entry, worth)
        enough, least, passed = len(found) + self._likely, 0.0, set[int]()
        for number in sorted(promise, key=promise.__getitem__, reverse=True):
            if len(found) >= enough and promise[number] < least - 1e-6:
                break
            first = corpus.firsts[bisect_right(corpus.firsts, number) - 1]
            if first not in passed and first not in found:
                passed.add(first)
                entry = corpus.file(number)
                if worth := self._asked(entry):
                    least = promise[number]
                    found[first] = (-round(least, 6), -entry.date, entry.path, entry, worth)
        for *_, entry, worth in sorted(found.values())[:enough]:
            dated = max((_dated(query, day, self._bare) for day in entry.days), default=())
            layout = features.layout(corpus, entry)
            yield _File(entry, worth, dated, layout, self._shares(layout))

    def _asked(self, entry: RankedFile) -> float:
        """What a file counts; nothing where it is not asked for, or none of those asked for speaks in it."""
        first, corpus = entry.first, self.corpus
        if not entry.count:
            return 0.0
        if self._speakers is not None and self._speakers.isdisjoint(corpus.speakers[first : first + entry.count]):
            return 0.0
        return self._worth(entry)

    # -- which passages ------------------------------------------------------------------------------------------

    def _by_bound(self) -> list[tuple[float, int, _File]]:
        """The passages that may score, each with the most that it can, below zero, and its file; the highest first."""
        if not self._all_known:
            near = context_score.totals([(file.layout.places, file.totals) for file in self._files])
            for file, totals in zip(self._files, near, strict=True):
                file.near = totals
        found: list[tuple[float, int, _File]] = []
        for file in self._files:
            bounds = zip(self._bounds(file), file.numbers, strict=True)
            found += [(-bound, number, file) for bound, number in bounds if bound]
        return sorted(found)

    def _bounds(self, file: _File) -> list[float]:
        """The most that each passage of a file can score, 0 for one that cannot."""
        scale, loose, more = file.worth * self.mass, 1 - ONCE, file.session + FLOOR
        whole = 0.0 if self._bare else LEAST * self.mass  # that much a passage's words must give
        best, dated = ONCE * file.session / SESSION, sum(share for _, share in file.dated)
        bounds: list[float] = []
        for total, share, own in zip(file.near, file.shares, file.totals, strict=True):
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

    def _shares(self, layout: features.Layout) -> list[float]:
        """The most that what marks an answer can count for each passage of a file, its date aside."""
        query, speakers = self.query, layout.speakers
        asked = self._marks.get(speakers)
        if asked is None:  # what nobody speaks may be told of the person asked about
            about = query.about.union((0,)) & speakers if query.about else query.about
            when = query.asks_when or self._bare
            asked = self._marks[speakers] = features.Marks(about, query.others & speakers, when, self._bare, query.own)
        return layout.shares(asked)

    def words(self, file: _File, number: int) -> _Words:
        """What each word of the question counts for a passage, its own place and its neighbours' taken together."""
        best: dict[int, float] = {}
        total: dict[int, float] = {}
        first, shares = file.layout.around(number - file.entry.first)
        for share, held in zip(shares, file.held[first : first + len(shares)], strict=True):
            for word, value in held:
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
        return max(total + file.session + self._sure(total) * share, FLOOR) * file.worth * self.own(file, number)

    def _sure(self, words: float) -> float:
        """The question's weight as far as it counts beside a passage's words. What marks an answer counts for little where
        hardly any word stands: it tells answers from other turns about the same thing, not what a turn is about."""
        return self.mass if self._bare else min(1.0, words / (LEAST * self.mass)) * self.mass

    def _signs(self, file: _File, number: int) -> tuple[features.Share, ...]:
        """What marks a passage as an answer, as shares of the question's weight."""
        query, corpus, entry = self.query, self.corpus, file.entry
        speaker = corpus.speakers[number]
        about = speaker in query.about or (not speaker and self.names(number))
        named = features.ASKED if about else features.ASKED / 2 if speaker in query.others else 0.0
        marks = features.marks(named, file.layout.marks[number - entry.first], query.asks_when or self._bare, query.own)
        dated = file.dated if len(entry.days) < 2 else _dated(query, entry.day(number), self._bare)
        return marks + features.LENGTHS[self._bare][corpus.lengths[number]] + dated

    def own(self, file: _File, number: int) -> float:
        """What is left of a turn's score: less where it only quotes memory, or asks the question over again."""
        if self.corpus.voices and (voice := self.corpus.voices[number]):
            return self.query.voices[voice]
        if not self.corpus.flags[number] & terms.IS_QUESTION or not self.corpus.speakers[number]:
            return 1.0
        words = len(self.query.words)
        asked = len(file.held[number - file.entry.first])
        return ECHO if asked >= 0.8 * words and self.corpus.lengths[number] <= 1 + 1.25 * words else 1.0

    def parts(self, file: _File, number: int) -> Iterator[features.Share]:
        """What made a passage's score."""
        words = self.words(file, number)
        for word, value in words.items():
            yield self.query.words[word].text, value
        yield "session", file.session
        weight = self._sure(sum(words.values()))
        for name, share in self._signs(file, number):
            yield name, weight * share
        factor = file.worth * self.own(file, number)
        if factor != 1.0:
            yield "times", factor


# -- what was found ----------------------------------------------------------------------------------------------


class _Explainer:
    """Says what the passages found, by their numbers, have of the question."""

    def __init__(self, scorer: _Scorer, numbers: list[int]) -> None:
        query, corpus = scorer.query, scorer.corpus
        self._scorer = scorer
        self._standing = [_standing(corpus, word, set(numbers)) for word in query.words]
        unknown = lookup.idf(corpus, 0)
        self._units = evidence.units(query, scorer.weights, unknown, corpus.frequency)
        words = zip(query.words, scorer.weights, strict=True)
        self._weights = [weight or word.weight * unknown for word, weight in words]

    def explained(self, ranked: list[_Ranked]) -> list[Scored]:
        """The passages with what they have, and what made their scores."""
        held, parts, partial = self._held, self._scorer.parts, functools.partial
        return [
            Scored(number, -score, partial(held, file, number), partial(parts, file, number))
            for score, _, _, number, file in ranked
        ]

    def _of_another(self, number: int) -> bool:
        """Does somebody else speak than the person asked about, or is a fact, which names its people, of somebody else?"""
        about, corpus = self._scorer.query.about, self._scorer.corpus
        if not about:
            return False
        if speaker := corpus.speakers[number]:
            return speaker not in about
        return bool(corpus.flags[number] & terms.IS_DERIVED) and not self._scorer.names(number)

    def _held(self, file: _File, number: int) -> evidence.TermCoverage:
        words = self._scorer.words(file, number)
        shares = [
            1.0 if number in standing else min(evidence.NEAR, words.get(word, 0.0) / self._weights[word])
            for word, standing in enumerate(self._standing)
        ]
        return evidence.held(self._units, shares, ANOTHER if self._of_another(number) else 1.0)


def _standing(corpus: RankedCorpus, word: Word, numbers: set[int]) -> set[int]:
    """Those of the passages that hold a form of the word itself."""
    found: set[int] = set()
    for token in (*corpus.concept(word.stem), terms.SPEAKER + word.text):
        for places, _ in corpus.postings(token):
            few = len(places) < MANY * len(numbers)
            found |= numbers.intersection(places) if few else {number for number in numbers if _stands(number, places)}
    return found


def _stands(number: int, places: Sequence[int]) -> bool:
    """Is a number among these, which ascend?"""
    at = bisect_left(places, number)
    return at < len(places) and places[at] == number
