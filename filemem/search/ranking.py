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
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.index.corpus import Corpus, IndexedFile
from filemem.search import evidence, features
from filemem.search.question import ASIDE, Query, Word, is_light
from filemem.text import terms

K1, B = 0.9, 0.5
"""BM25: how soon repetition stops to count, how much a long passage is held back; low, as turns are short."""
MORE = 0.4  # of what may be said for a word, what each other than the best one in a passage adds
HOLLOW = 0.3  # what a word counts where memory is only asked or quoted
CAPTION = 0.5  # what a word in an image's caption counts, of a word said
BY_NAME = 0.7  # what a word counts in the turns of those who have it in their name
UNKNOWN_IDF = 9.0  # the most that a related word may weigh where the word itself stands nowhere

POSTINGS = 8_000  # places of the rarer words that are looked at to find the most promising files

ONCE = 0.9  # of a word's score, what its nearest place gives; the rest is summed over all places in reach
SESSION = 0.1  # what each word's best place in the file counts for all of its passages
ANOTHER = 0.5  # of the strength of a passage, where somebody else said it than the person asked about
ON_DAY, AFTER_DAY = 0.5, 0.25  # the file's date lies in a span that the question names; or as long again after it, and
DAYS_AFTER = 14  # at least so many days: people tell of things afterwards
DAY_ALONE = 6  # times that, where the question has no other word: more than all its words can give, 1 + K1 times theirs
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


class Ranking(list[Scored]):
    """The best passages, best first; `matching` are all that were found."""

    matching = 0


def rank(
    query: Query,
    corpus: Corpus,
    *,
    limit: int,
    worth: Callable[[Any], float] = lambda entry: 1.0,
    speakers: frozenset[int] | None = None,
    days: tuple[int, int] | None = None,
) -> Ranking:
    """The `limit` best passages, best first; ties by date, newest first, then path, then place in the file.

    `worth` is what a file counts (0: not asked for; less than 1: archived, superseded); with `speakers` only their
    passages are returned, with `days` (the first and the last, as ordinals) only those of these, ranked with all around them.
    """
    scorer = _Scorer(query, corpus, worth, speakers, limit)
    best = scorer.best(limit, days)
    found = Ranking(_Explainer(scorer, [number for *_, number, _ in best]).explained(best))
    found.matching = scorer.matching
    return found


# -- where the words stand, and what each counts there by itself: BM25 ----------------------------------------------


class Term(NamedTuple):
    """A stem to look up: for which word, whether it is that word itself, what it weighs, its tokens, and in how many
    passages it stands."""

    word: int
    itself: bool
    weight: float
    tokens: list[str]
    frequency: int


def idf(corpus: Corpus, frequency: int) -> float:
    """Robertson's inverse document frequency with 1 added, so that it is never negative (as Lucene has it)."""
    return math.log(1 + (corpus.count - len(corpus.uncounted) - frequency + 0.5) / (frequency + 0.5))


def _term(corpus: Corpus, word: int, itself: bool, stem: str, weight: float) -> Term:
    tokens = corpus.concept(stem)
    frequency = min(corpus.count, sum(map(corpus.frequency, tokens)))
    if frequency and corpus.uncounted:  # a word is no more common for being asked for
        asked = (corpus.uncounted.intersection(numbers) for token in tokens for numbers, _ in corpus.postings(token))
        frequency = max(0, frequency - sum(map(len, asked)))
    return Term(word, itself, weight, tokens, frequency)


def _by_name(corpus: Corpus, place: int, word: Word) -> Term | None:
    """The turns of those who have a word in their name: the insurer's are about insurance. Half of all turns tell nothing."""
    frequency = corpus.frequency(terms.SPEAKER + word.text) if len(word.text) > 1 else 0
    rarity = idf(corpus, frequency) - idf(corpus, (corpus.count - len(corpus.uncounted)) // 2)
    if not frequency or rarity <= 0:
        return None
    share = word.weight / ASIDE if word.is_context_word else word.weight * BY_NAME
    return Term(place, True, share * rarity, [terms.SPEAKER + word.text], frequency)


def lookups(query: Query, corpus: Corpus) -> tuple[list[Term], list[float]]:
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


def rough(corpus: Corpus, found: list[Term], words: int) -> tuple[_Values, dict[int, _Values]]:
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
    corpus: Corpus, found: list[Term], words: int, asked: bytes, known: dict[int, _Values]
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
    values = [(number, known[number], more[number]) for number in both]
    known.update(more)
    known.update({number: max(one, other) + share * min(one, other) for number, one, other in values})


def _values(corpus: Corpus, term: Term, asked: bytes | None) -> _Values:
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


def _counts(corpus: Corpus, term: Term, asked: bytes | None) -> dict[int, float]:
    """Passage number -> how often it has the term, a caption's words counting less."""
    counts: dict[int, float] = {}
    for token in term.tokens:
        worth = CAPTION if token.startswith("[") else 1.0
        for numbers, times in corpus.postings(token):
            pairs: Iterable[tuple[int, float]] = zip(numbers, times, strict=True)
            if asked:
                pairs = itertools.compress(pairs, map(asked.__getitem__, numbers))
            found = dict(pairs) if worth == 1.0 else {number: count * worth for number, count in pairs}
            for number in counts.keys() & found.keys() if counts else ():
                found[number] += counts[number]
            counts.update(found)
    return counts


# -- within a file -------------------------------------------------------------------------------------------------


class _File:
    """A file that may hold answers: what it counts, the most that its dates give, its layout, the most that what marks an
    answer counts for each of its passages, its date aside, and what all words count in each, at first the rarer ones."""

    def __init__(
        self,
        entry: IndexedFile,
        worth: float,
        dated: tuple[features.Share, ...],
        layout: features.Layout,
        shares: list[float],
    ) -> None:
        self.entry, self.worth, self.dated, self.layout, self.shares = entry, worth, dated, layout, shares
        self.numbers = range(entry.first, entry.first + entry.count)
        self.totals: list[float] = []
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


def _named(query: Query, corpus: Corpus) -> _Named:
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
        corpus: Corpus,
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
        self.matching = 0
        found, self.weights = lookups(query, corpus)
        named = zip(query.words, self.weights, strict=True)
        self._bare = not any(weight and not is_light(word) for word, weight in named if not word.is_context_word)
        self.mass = max(self._mass(found), BARE_QUERY_MASS if self._bare else 0.0)
        self.names = _named(query, corpus)
        roughly, known = rough(corpus, found, len(query.words))
        self._files = self._promising_files(roughly)
        asked = bytearray(len(corpus.flags))
        for file in self._files:
            asked[file.numbers.start : file.numbers.stop] = b"\1" * len(file.numbers)
        words = held(corpus, found, len(query.words), bytes(asked), known)
        for file in self._files:
            file.hold(words)

    def _mass(self, found: list[Term]) -> float:
        return sum(self.weights) or max((term.weight for term in found), default=1.0)

    def best(self, limit: int, days: tuple[int, int] | None) -> list[_Ranked]:
        """The `limit` best of the passages that hold words of the question, or stand beside one that does; of those of `days` if
        given. The PROMISING ones are scored, or twice as many as are asked for."""
        promised: list[tuple[float, int, _File]] = []
        for file, promises in zip(self._files, self._promises(self._files), strict=True):
            for promise, number in zip(promises, file.numbers, strict=True):
                if promise and (not days or days[0] <= file.entry.day(number) <= days[1]):
                    promised.append((promise, number, file))
        self.matching = sum(number not in self.corpus.uncounted for _, number, _ in promised)
        found: list[_Ranked] = []
        for _, number, file in heapq.nlargest(max(PROMISING, 2 * limit), promised, key=lambda one: one[:2]):
            words = self.words(file, number)
            if words or (self._bare and (file.totals[number - file.numbers.start] or self._on_day(file, number))):
                score = round(self._score(file, words, number), 6)
                found.append((-score, -file.entry.date, file.entry.path, number, file))
        return sorted(found)[:limit]

    def _on_day(self, file: _File, number: int) -> bool:
        """Is a passage of a day that the question names?"""
        return any(first <= file.entry.day(number) <= last for first, last in self.query.spans)

    # -- which files ---------------------------------------------------------------------------------------------

    def _promising_files(self, rough: dict[int, float]) -> list[_File]:
        """The files of the PROMISING passages, and of those that are level with the last, that promise most by the `rough`
        weights of words, their neighbours' and what marks them."""
        files = list(self._likely_files(rough))
        for file in files:
            file.totals = [rough.get(number, 0.0) for number in file.numbers]
        found = list(self._promises(files))
        least = sorted(itertools.chain.from_iterable(found))[-self._promising :][:1]
        return [file for file, promises in zip(files, found, strict=True) if max(promises) >= least[0] - 1e-6]

    def _promises(self, files: list[_File]) -> Iterator[list[float]]:
        """For each file about what its passages score, by their words, their neighbours' and what marks them; 0 for those that
        are not asked for, or have nothing to score by."""
        corpus, mass = self.corpus, self.mass
        near = features.context_scores([(file.layout.places, file.totals) for file in files])
        for file, totals in zip(files, near, strict=True):
            where = slice(file.numbers.start, file.numbers.stop)
            dated, worth = sum(share for _, share in file.dated), file.worth
            promises = [
                worth * (total + mass * (share + dated)) if total or self._bare else 0.0
                for total, share in zip(totals, file.shares, strict=True)
            ]
            if corpus.voices:
                voices = corpus.voices[where]
                promises = [promise * self.query.voices[voice] for promise, voice in zip(promises, voices, strict=True)]
            if self._speakers is not None:
                spoken = map(self._speakers.__contains__, corpus.speakers[where])
                promises = list(map(operator.mul, promises, spoken))
            yield promises

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
        found: dict[int, tuple[float, int, str, IndexedFile, float]] = {}
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

    def _asked(self, entry: IndexedFile) -> float:
        """What a file counts; nothing where it is not asked for, or none of those asked for speaks in it."""
        first, corpus = entry.first, self.corpus
        if not entry.count:
            return 0.0
        if self._speakers is not None and self._speakers.isdisjoint(corpus.speakers[first : first + entry.count]):
            return 0.0
        return self._worth(entry)

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
        return 1.0

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
        unknown = idf(corpus, 0)
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


def _standing(corpus: Corpus, word: Word, numbers: set[int]) -> set[int]:
    """Those of the passages that hold a form of the word itself."""
    tokens = (*corpus.concept(word.stem), terms.SPEAKER + word.text)
    places = [places for token in tokens for places, _ in corpus.postings(token)]
    return {number for number in numbers if any(_stands(number, some) for some in places)}


def _stands(number: int, places: Sequence[int]) -> bool:
    """Is a number among these, which ascend?"""
    at = bisect_left(places, number)
    return at < len(places) and places[at] == number
