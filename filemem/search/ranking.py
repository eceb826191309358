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
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from filemem.index import BY_ASSISTANT, Corpus, IndexedFile
from filemem.search.question import Query, is_light
from filemem.text import terms

K1, B = 0.9, 0.5
"""BM25: how soon repetition stops to count, how much a long passage is held back; low, as turns are short."""
CAPTION = 0.5  # what a word in an image's caption counts, of a word said
UNKNOWN_IDF = (
    9.0  # the most that a related word may weigh where the word itself stands nowhere
)
POSTINGS = 8_000  # places of the rarer words that are looked at to find the most promising files
LIKELY = 60  # files whose passages are weighed by all words, and
PROMISING = 300  # the passages of these that promise most, which are scored; more of either if more are asked for

REACH = (
    1.0,
    0.75,
    0.5,
    0.3,
    0.2,
    0.1,
)  # what a word counts so many passages away in the same file
ALONE = 0.5  # of it, where one person speaks in all of these: nobody answers there, each says something else
ONCE = 0.9  # of a word's score, what its nearest place gives; the rest is summed over all places in reach
SESSION = 0.1  # what each word's best place in the file counts for all of its passages
COMPANY = 0.1  # of the best score in a file where people talk with each other, what its others count more, up to that
STRONG, PARTIAL = (
    0.75,
    0.45,
)  # strength from which on a passage holds most of a question, and part of it
NEAR = 0.9  # the most that a word counts for it which only stands near the passage, or only by a related word
ANOTHER = 0.5  # of the strength of a passage, where somebody else said it than the person asked about

# Shares of the question's weight.
ASKED, OWN_WORDS = (
    0.2,
    0.08,
)  # said by a person named; and in the first person, half where only the question is
TIME = 0.2  # a time word where the question asks when
ASKING, ANSWERING = -0.08, 0.06  # ends in a question; follows one
NAMING, OPENING = 0.05, 0.05  # has a name; opens its file, where people say what is new
LENGTH = -0.05  # a fold in length, but beside talks with an assistant: at equal merit the shorter leaves more room
BARE_QUERY_LENGTH = 0.1  # likewise, where the question has no word to look for
BARE_QUERY_MASS = 2.0  # the least that such a question weighs: as much as a word in an eighth of all passages
ON_DAY, AFTER_DAY = (
    0.5,
    0.25,
)  # the file's date lies in a span that the question names; or as long again after it, and
DAYS_AFTER = 14  # at least so many days: people tell of things afterwards
AROUND = 7  # days before and after those asked for, where these hold little, or nothing else is asked for, and
FARTHER = 0.01  # less for each of these

FLOOR = 0.001  # the least that a passage found scores

_OPENS, _ANSWERS, _COMPANY = (
    256,
    512,
    1024,
)  # marks of a passage beside the flags of its text
_KERNEL = (*REACH[:0:-1], *REACH)  # from one end of the reach to the other
_MONOLOGUE = tuple(share if share == 1.0 else ALONE * share for share in _KERNEL)

Share = tuple[str, float]  # what a part of a score is for, and how much
_Values = dict[int, float]  # by passage, what a word counts there


# -- how much of a question a passage holds, in a measure that compares across questions -----------------------------------


class TermCoverage(NamedTuple):
    """What a passage holds of a question. `strength` (0 to 1) is the share of the question's weight that it and its neighbours
    hold; it compares across questions. `itself` is the share of its words that stand in the passage."""

    strength: float = 0.0
    itself: float = 0.0


# -- what is found -----------------------------------------------------------------------------------------------------


class Scored(NamedTuple):
    """A passage found. `held` says what it holds of the question, `parts` what made its score; only of those that are shown
    is either asked."""

    number: int
    score: float
    held: Callable[[], TermCoverage]
    parts: Callable[[], Iterable[Share]]


def rank(
    query: Query,
    corpus: Corpus,
    *,
    limit: int,
    worth: Callable[[Any], float] = lambda entry: 1.0,
    speakers: frozenset[int] | None = None,
    days: tuple[int, int] | None = None,
) -> tuple[list[Scored], int]:
    """The `limit` best passages, best first; ties by date, newest first, then path, then place in the file. And how many match.

    `worth` is what a file counts (0: not asked for; less than 1: archived, superseded); with `speakers` only their
    passages are returned, with `days` (the first and the last, as ordinals) only those of these, ranked with all around them.
    """
    scorer = _Scorer(query, corpus, worth, speakers, max(LIKELY, limit))
    promising = list(scorer.promising(days))
    some = heapq.nlargest(max(PROMISING, 2 * limit), promising, key=lambda one: one[:2])
    ranked = [
        found
        for _, number, entry, worth in some
        if (found := scorer.scored(number, entry, worth))
    ]
    ranked.sort(
        key=lambda one: (
            -one.score,
            -corpus.file(one.number).date,
            corpus.file(one.number).path,
            one.number,
        )
    )
    matching = sum(number not in corpus.uncounted for _, number, *_ in promising)
    return _in_company(corpus, ranked[:limit]), matching


def _in_company(corpus: Corpus, ranked: list[Scored]) -> list[Scored]:
    """The passages, best first, with what the best one of its file counts for each: what answers stands together where people
    talk with each other; one person alone, or with an assistant, comes from one thing to another."""
    best: dict[int, float] = {}

    def raised(item: Scored) -> Scored:
        most = best.setdefault(corpus.file(item.number).first, item.score)
        more = round(min(COMPANY * most, most - item.score), 6)
        if not more or not _spot(corpus, item.number).mark & _COMPANY:
            return item
        return item._replace(
            score=item.score + more, parts=lambda: [*item.parts(), ("company", more)]
        )

    return sorted(map(raised, ranked), key=lambda item: -item.score)


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
    return math.log(
        1 + (corpus.count - len(corpus.uncounted) - frequency + 0.5) / (frequency + 0.5)
    )


def _term(corpus: Corpus, word: int, itself: bool, stem: str, weight: float) -> Term:
    tokens = corpus.concept(stem)
    frequency = min(corpus.count, sum(map(corpus.frequency, tokens)))
    if frequency and corpus.uncounted:  # being asked for makes a word no more common
        asked = (
            corpus.uncounted.intersection(numbers)
            for token in tokens
            for numbers, _ in corpus.postings(token)
        )
        frequency = max(0, frequency - sum(map(len, asked)))
    return Term(word, itself, weight, tokens, frequency)


def lookups(query: Query, corpus: Corpus) -> tuple[list[Term], list[float]]:
    """What to look up, the words themselves first, the rarest first; and what each word weighs (0: it is nowhere)."""
    found: list[Term] = []
    weights: list[float] = []
    for place, word in enumerate(query.words):
        itself = _term(corpus, place, True, word.stem, 1.0)
        most = idf(corpus, itself.frequency) if itself.frequency else UNKNOWN_IDF
        weights.append(word.weight * most if itself.frequency else 0.0)
        others = [
            _term(corpus, place, False, stem, share) for stem, share in word.others
        ]
        for term in (itself, *others):
            if term.frequency:
                rarity = min(most, idf(corpus, term.frequency))
                found.append(term._replace(weight=term.weight * word.weight * rarity))
    return sorted(
        found,
        key=lambda term: (not term.itself, term.frequency, term.word, term.tokens),
    ), weights


def _values(corpus: Corpus, term: Term, asked: bytearray | None) -> _Values:
    """What a term counts in each passage, or in each of those asked for; a caption's words less."""
    counts: dict[int, float] = {}
    for token in term.tokens:
        worth = CAPTION if token.startswith("[") else 1.0
        for numbers, times in corpus.postings(token):
            pairs: Iterable[tuple[int, float]] = zip(numbers, times, strict=True)
            if asked:
                pairs = itertools.compress(pairs, map(asked.__getitem__, numbers))
            found = (
                dict(pairs)
                if worth == 1.0
                else {number: count * worth for number, count in pairs}
            )
            for number in counts.keys() & found.keys() if counts else ():
                found[number] += counts[number]
            counts = counts | found if counts else found
    weight, lengths, norms = (
        term.weight * (1 + K1),
        corpus.lengths,
        _norms(max(1.0, corpus.mean_length)),
    )
    return {
        number: weight * count / (count + norms[lengths[number]])
        for number, count in counts.items()
    }


@functools.lru_cache(maxsize=8)
def _norms(mean: float) -> tuple[float, ...]:
    """What a passage's length adds to the count of a word, as BM25 has it, by the length in words."""
    return tuple(K1 * (1 - B + B * length / mean) for length in range(256))


# -- a passage among its neighbours ------------------------------------------------------------------------------------


class _Spot(NamedTuple):
    """The first passage in reach of a passage, what the words of each from there on count for it, and what marks it, as
    flags: the same for every question."""

    first: int
    shares: tuple[float, ...]
    mark: int


def _spot(corpus: Corpus, number: int) -> _Spot:
    """The place of a passage, kept for the next question."""
    known: _Spot | None = corpus.kept.get(number)
    if known is None:
        flags, first, end, most = corpus.flags, number, number + 1, len(REACH) - 1
        while number - first < most and not flags[first] & terms.APART:
            first -= 1
        while (
            end - number <= most and end < len(flags) and not flags[end] & terms.APART
        ):
            end += 1
        entry, speaker = corpus.file(number), corpus.speakers[number]
        file = slice(entry.first, entry.first + entry.count)
        heard = {*corpus.speakers[file]}
        kernel = _MONOLOGUE if speaker and heard == {speaker} else _KERNEL
        shares = kernel[most - (number - first) : most + end - number]
        people = len(heard - {0}) > 1 and BY_ASSISTANT not in corpus.voices[file]
        known = corpus.kept[number] = _Spot(
            first, shares, _mark(corpus, number) | _COMPANY * people
        )
    return known


def _mark(corpus: Corpus, number: int) -> int:
    """What marks a passage, whatever the question."""
    flags, speakers = corpus.flags, corpus.speakers
    mark = flags[number] & (
        terms.HAS_TIME_WORD | terms.IS_QUESTION | terms.FIRST_PERSON | terms.HAS_NAME
    )
    if not speakers[number]:
        mark |= terms.FIRST_PERSON  # what nobody speaks is told of whom it names
    first = corpus.file(number).first
    if (
        speakers[number]
        and not any(speakers[first:number])
        and not flags[number] & terms.IS_DERIVED
    ):
        return mark | _OPENS
    before = number
    while (
        before > max(first, number - 4) and not flags[before] & terms.APART
    ):  # who comes later answers nothing
        before -= 1
        if not speakers[number] or speakers[before] != speakers[number]:
            return mark | (_ANSWERS if flags[before] & terms.IS_QUESTION else 0)
    return mark


_Promise = tuple[
    float, int, IndexedFile, float
]  # about what a passage scores, its number, its file, what that counts


def _around(totals: list[float]) -> list[float]:
    """About what the words of all in reach of each of a file's passages count for it."""
    sums = list(itertools.accumulate((0.0,) * 4 + (*totals,) + (0.0,) * 4, initial=0.0))
    return [
        0.25 * total
        + 0.35 * (sums[at + 6] - sums[at + 3])
        + 0.4 * (sums[at + 9] - sums[at])
        for at, total in enumerate(totals)
    ]


# -- the score ---------------------------------------------------------------------------------------------------


class _Scorer:
    """Scores the passages for one question. `weights` are those of its words, `mass` of all together; it is `bare` with no word
    to look for but days and people. `held` says which words stand in each passage, and what they count there."""

    def __init__(
        self,
        query: Query,
        corpus: Corpus,
        worth: Callable[[Any], float],
        speakers: frozenset[int] | None,
        likely: int,
    ) -> None:
        self.query, self.corpus, self._worth, self._speakers = (
            query,
            corpus,
            worth,
            speakers,
        )
        found, self.weights = lookups(query, corpus)
        named = zip(query.words, self.weights, strict=True)
        self._bare = not any(
            weight and not is_light(word.stem)
            for word, weight in named
            if not word.is_context_word
        )
        self._days = [
            (first - AROUND * self._bare, last + AROUND * self._bare)
            for first, last in query.spans
        ]
        mass = sum(self.weights) or max((term.weight for term in found), default=1.0)
        self.mass = max(mass, BARE_QUERY_MASS) if self._bare else mass
        names = {
            token
            for speaker in query.about
            for token in terms.tokens(corpus.speaker_names[speaker])
        }
        self._naming = {
            number
            for name in names
            for numbers, _ in corpus.postings(name)
            for number in numbers
        }
        self._sessions: dict[int, float] = {}
        self._signs: dict[tuple[int, float, int, float], tuple[Share, ...]] = {}
        self._held_by_word: list[_Values] = [{} for _ in query.words]
        # By word the passages that have it in some form.
        self._itself: list[Collection[int]] = [() for _ in query.words]
        self.held: dict[int, list[tuple[int, float]]] = {}
        seen = 0
        for term in list(found):
            if not seen or seen + term.frequency <= POSTINGS:
                seen += term.frequency
                self._take_in(term, None)
                found.remove(term)
        self._files = self._likely_files(likely)
        asked = bytearray(len(corpus.flags))
        for entry, _ in self._files:
            asked[entry.first : entry.first + entry.count] = b"\1" * entry.count
        for term in found:
            self._take_in(term, asked)
        held = self.held
        for place, values in enumerate(self._held_by_word):
            for number, value in itertools.compress(
                values.items(), map(asked.__getitem__, values)
            ):
                if known := held.get(number):
                    known.append((place, value))
                else:
                    held[number] = [(place, value)]

    def _take_in(self, term: Term, asked: bytearray | None) -> None:
        """Have a word count the most that any of its terms does, passage by passage."""
        known, values = self._held_by_word[term.word], _values(self.corpus, term, asked)
        if term.itself:
            self._itself[term.word] = values.keys()
        both = (
            [(number, known[number]) for number in known.keys() & values.keys()]
            if known
            else ()
        )
        known.update(values)
        known.update(
            {number: value for number, value in both if value > values[number]}
        )

    def _likely_files(self, enough: int) -> list[tuple[IndexedFile, float]]:
        """The files, about `enough`, with passages that hold most of the words, said by those asked about, of the days that
        the question names, each with what it counts; but for those not asked for."""
        corpus, query = self.corpus, self.query
        promise: _Values = {}
        for values in sorted(self._held_by_word, key=len, reverse=True):
            for number, value in values.items() if promise else ():
                promise[number] = promise.get(number, 0.0) + value
            promise = promise or dict(values)
        named = [
            self.mass * self._named(speaker, 0)
            for speaker in range(len(corpus.speaker_names))
        ]
        speakers, voices = corpus.speakers, corpus.voices
        promise = {
            number: value + named[speakers[number]] for number, value in promise.items()
        }
        if voices:
            promise = {
                number: value * query.voices[voices[number]]
                for number, value in promise.items()
            }
        for span in self._days:
            for entry in corpus.dated(*span):
                share = self.mass * max(map(self._dated, entry.days))
                for number in (
                    entry.numbers if self._bare else promise.keys() & {*entry.numbers}
                ):
                    promise[number] = promise.get(number, 0.0) + share
        found: dict[int, tuple[float, int, str, IndexedFile, float]] = {}
        least, passed = 0.0, set[int]()
        for number in sorted(promise, key=promise.__getitem__, reverse=True):
            if (
                len(found) >= enough and promise[number] < least - 1e-6
            ):  # those level with the last are compared
                break
            entry = corpus.file(number)
            spoken = (
                ()
                if entry.first in passed
                else corpus.speakers[entry.first : entry.first + entry.count]
            )
            asked = bool(spoken) and (
                self._speakers is None or not self._speakers.isdisjoint(spoken)
            )
            if asked and (worth := self._worth(entry)):
                least = promise[number]
                found[entry.first] = (
                    -round(least, 6),
                    -entry.date,
                    entry.path,
                    entry,
                    worth,
                )
            passed.add(entry.first)
        return [(entry, worth) for *_, entry, worth in sorted(found.values())[:enough]]

    def promising(self, days: tuple[int, int] | None) -> Iterator[_Promise]:
        """All passages that hold words of the question, or stand about where one does, of `days` if given, with about what they
        score."""
        own = {
            number: sum([value for _, value in held])
            for number, held in self.held.items()
        }
        corpus, voices = self.corpus, self.corpus.voices
        named = [
            self.mass * self._named(speaker, 0)
            for speaker in range(len(corpus.speaker_names))
        ]
        of_days = [days] if days else self._days
        for entry, worth in self._files:
            numbers, several = entry.numbers, bool(entry.day_starts)
            dated, event = (
                self.mass * self._dated(entry.date),
                entry.days[-1] if "day" in entry.particulars else 0,
            )
            for number, near in zip(
                numbers,
                _around([own.get(number, 0.0) for number in numbers]),
                strict=True,
            ):
                if not near and not self._bare:
                    continue
                if (
                    self._speakers is not None
                    and corpus.speakers[number] not in self._speakers
                ):
                    continue
                day = entry.day(number) if several else entry.date
                if (days or not near) and not any(
                    a <= one <= b for one in (day, event) for a, b in of_days
                ):
                    continue
                promise = (
                    near
                    + named[corpus.speakers[number]]
                    + (self.mass * self._dated(day) if several else dated)
                )
                yield (
                    promise
                    * worth
                    * (self.query.voices[voices[number]] if voices else 1.0),
                    number,
                    entry,
                    worth,
                )

    def scored(self, number: int, entry: IndexedFile, worth: float) -> Scored | None:
        """A passage with its score; None where no word is in reach."""
        words = sum(self._words(number).values())
        if not words and not self._bare:
            return None
        share = sum([share for _, share in self._marks(number, entry)])
        total = max(words + self._session(entry) + self.mass * share, FLOOR) * worth
        total *= (
            self.query.voices[self.corpus.voices[number]] if self.corpus.voices else 1.0
        )
        return Scored(
            number,
            round(total, 6),
            lambda: self._held(number),
            lambda: self._parts(number, entry, worth),
        )

    def _session(self, entry: IndexedFile) -> float:
        """What a file as a whole adds to each of its passages."""
        if entry.first not in self._sessions:
            best: _Values = {}
            for number in entry.numbers:
                for word, value in self.held.get(number, ()):
                    if value > best.get(word, 0.0):
                        best[word] = value
            self._sessions[entry.first] = SESSION * sum(
                best[word] for word in sorted(best)
            )
        return self._sessions[entry.first]

    def _named(self, speaker: int, number: int) -> float:
        """The share that who says a passage counts; what nobody speaks is told of whom it names."""
        return (
            ASKED
            if speaker in self.query.about or (not speaker and number in self._naming)
            else 0.0
        )

    def _marks(self, number: int, entry: IndexedFile) -> tuple[Share, ...]:
        """What marks a passage as an answer, as shares of the question's weight; beside the days asked for not its length."""
        corpus, query = self.corpus, self.query
        named, mark = (
            self._named(corpus.speakers[number], number),
            _spot(corpus, number).mark,
        )
        date = self._dated(entry.day(number))
        key = mark, named, corpus.lengths[number], date
        if key not in self._signs:
            when, length = query.asks_when or self._bare, corpus.lengths[number]
            fold = 0.0 if corpus.voices else LENGTH
            if self._bare:
                fold = 0.0 if 0 < date <= ON_DAY else BARE_QUERY_LENGTH
            signs = (
                ("speaker", named),
                (
                    "own words",
                    OWN_WORDS
                    * (1.0 if named else 0.5 * query.own)
                    * bool(mark & terms.FIRST_PERSON),
                ),
                ("time word", TIME * bool(when and mark & terms.HAS_TIME_WORD)),
                ("question", ASKING * bool(mark & terms.IS_QUESTION)),
                ("name", NAMING * bool(mark & terms.HAS_NAME)),
                ("opening", OPENING * bool(mark & _OPENS)),
                ("answer", ANSWERING * bool(mark & _ANSWERS)),
                ("length", fold * math.log1p(length)),
                ("date", date),
            )
            self._signs[key] = tuple(sign for sign in signs if sign[1])
        return self._signs[key]

    def _dated(self, day: int) -> float:
        """The share of the question's weight that a day gives; where only days are asked for, twice as much."""
        away = min(
            (
                max(first - day, day - last, 0)
                for first, last in self.query.spans
                if day
            ),
            default=AROUND + 1,
        )
        if self._bare:
            return ON_DAY * (1 + (not away)) - FARTHER * away if away <= AROUND else 0.0
        after = any(
            last < day <= last + max(DAYS_AFTER, last - first + 1)
            for first, last in self.query.spans
        )
        return ON_DAY if not away else AFTER_DAY if day and after else 0.0

    # -- what made it --------------------------------------------------------------------------------------------

    def _words(self, number: int) -> _Values:
        """What each word of the question counts for a passage, by its place in the question."""
        first, shares, _ = _spot(self.corpus, number)
        best: _Values = {}
        whole: _Values = {}
        for beside, share in enumerate(shares, first):
            for word, value in self.held.get(beside, ()):
                part = value * share
                whole[word] = whole.get(word, 0.0) + part
                if part > best.get(word, 0.0):
                    best[word] = part
        return {
            word: ONCE * best[word] + (1 - ONCE) * whole[word] for word in sorted(best)
        }

    def _parts(self, number: int, entry: IndexedFile, worth: float) -> Iterator[Share]:
        words = self._words(number)
        for word, value in words.items():
            yield self.query.words[word].text, value
        yield "session", self._session(entry)
        for name, share in self._marks(number, entry):
            yield name, self.mass * share
        voice = (
            self.query.voices[self.corpus.voices[number]] if self.corpus.voices else 1.0
        )
        if voice * worth != 1.0:
            yield "times", voice * worth

    def _held(self, number: int) -> TermCoverage:
        """What a passage holds; of somebody else's than the person asked about, or a fact, which names its people, of somebody
        else, less."""
        query, corpus, words = self.query, self.corpus, self._words(number)
        shares = [
            1.0
            if number in itself
            else min(NEAR, words.get(word, 0.0) / self._whole[word])
            for word, itself in enumerate(self._itself)
        ]
        held = [
            (weight, sum([shares[word] for word in known]) / len(known))
            for weight, known in self._pieces
        ]
        if not held:
            return TermCoverage()
        speaker, derived = (
            corpus.speakers[number],
            corpus.flags[number] & terms.IS_DERIVED,
        )
        another = (
            speaker not in query.about
            if speaker
            else derived and number not in self._naming
        )
        strength = sum(weight * share for weight, share in held) / sum(
            weight for weight, _ in held
        )
        strength *= ANOTHER if query.about and another else 1.0
        return TermCoverage(
            round(strength, 4), sum(share == 1.0 for _, share in held) / len(held)
        )

    @functools.cached_property
    def _whole(self) -> list[float]:
        """What each word weighs, also where it stands nowhere."""
        words = zip(self.query.words, self.weights, strict=True)
        return [weight or word.weight * idf(self.corpus, 0) for word, weight in words]

    @functools.cached_property
    def _pieces(self) -> list[tuple[float, list[int]]]:
        """What each piece of the question weighs, and its words by their places in the question."""
        places = {word.text: place for place, word in enumerate(self.query.words)}
        found = []
        for text in self.query.pieces:
            tokens = [
                one
                for one in terms.tokens(text)
                if not terms.is_cjk(text) or len(one) == min(2, len(text))
            ]
            if known := [places[token] for token in tokens if token in places]:
                found.append((max(self._whole[word] for word in known), known))
        return found
