"""Which passages answer a question: lexical ranking made for conversations. Pure functions over a corpus of passages.

A passage scores for each word of the question by BM25, for the word itself, its inflections, and for less what else may
be said for it. A word that the passage lacks counts when a neighbour in the same file has it: people answer without
repeating the question. On top come small shares of the question's weight for what marks an answer: said by the person
asked about, in the first person, after a question, with a name, with a time word where the question asks when, on a day
that the question names.
"""

import difflib
import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from filemem import terms
from filemem.search import evidence
from filemem.search.question import ASIDE, LIGHT, Query, Word

K1, B = 1.2, 0.5  # BM25: how soon repetition stops to count, how much a long passage is held back
CAPTION = 0.3  # what a word in an image's caption counts, of a word said
CITING = 0.3  # what a word counts, and what is left of the score, in a turn that cites memory: it only quotes
SPELLING, ALIKE = 0.7, 0.85  # what a word spelt like one that stands nowhere counts, and how alike they must be
REACH = (1.0, 0.87, 0.75, 0.62, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1)  # what a word counts so many half steps away; the
# next passage is two half steps away, or one where the same person goes on speaking, as in chats of short messages
NOTES = 4  # half steps from a paragraph or list item to the next: unlike a reply, it says again what it speaks of
ONCE = 0.85  # of a word's score, what its nearest place gives; the rest is summed over all places in reach
SESSION = 0.05  # what each word's best place in the file counts for all of its passages
BY_NAME = 0.7  # what a word counts in the turns of those who have it in their name
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
LEAST = 0.1  # of the question's weight, that a passage's words must give for what marks an answer to count in full
UNKNOWN_IDF = 9.0  # the most that a related word may weigh where the word itself stands nowhere

EXACT = 10_000  # passages of a store up to which every one that holds a word is scored
POSTINGS = 20_000  # on a larger one, places of the rarer words that are looked at to find the most promising files,
FILES = 200  # this many, whose passages are then scored by all words


class Entry(Protocol):
    """A file: the number of its first passage, how many it has, its date as an ordinal (0 where it has none)."""

    path: str
    date: int
    first: int
    count: int


class Corpus(Protocol):
    """The passages to rank: numbered, those of one file in a row."""

    count: int
    mean_length: float
    lengths: Sequence[int]
    flags: Sequence[int]
    speakers: Sequence[int]
    speaker_names: Sequence[str]

    def concept(self, stem: str) -> list[str]: ...
    def frequency(self, token: str) -> int: ...
    def postings(self, token: str) -> Iterable[tuple[Sequence[int], Sequence[int]]]: ...
    def alive(self, number: int) -> bool: ...
    def file(self, number: int) -> Entry: ...
    def dated(self, first: int, last: int) -> Iterable[Entry]: ...
    def near(self, word: str, count: int = 3) -> list[str]: ...


class Scored(NamedTuple):
    """A passage found. `strength` (0 to 1) is the share of the question's weight that it and its neighbours hold; it
    compares across questions. `has`: the question's words that stand in it; `near`: those that stand in a neighbour, or
    only as a related word; `lacks`: the others. `parts` says what made the score."""

    number: int
    score: float
    strength: float
    has: tuple[str, ...]
    near: tuple[str, ...]
    lacks: tuple[str, ...]
    parts: tuple[tuple[str, float], ...]


# -- where the words stand ---------------------------------------------------------------------------------------


class _Term(NamedTuple):
    """A stem to look up: for which word, whether it is that word itself, what it weighs, its tokens, and in how many
    passages it stands."""

    word: int
    itself: bool
    weight: float
    tokens: list[str]
    frequency: int


def _idf(corpus: Corpus, frequency: int) -> float:
    """Robertson's inverse document frequency with 1 added, so that it is never negative (as Lucene has it)."""
    return math.log(1 + (corpus.count - frequency + 0.5) / (frequency + 0.5))


def _term(corpus: Corpus, word: int, itself: bool, stem: str, weight: float) -> _Term:
    tokens = corpus.concept(stem)
    return _Term(word, itself, weight, tokens, min(corpus.count, sum(map(corpus.frequency, tokens))))


def _by_name(corpus: Corpus, place: int, word: Word) -> _Term | None:
    """The turns of those who have a word in their name: the insurer's are about insurance. Half of all turns tell nothing."""
    frequency = corpus.frequency(terms.SPEAKER + word.text) if len(word.text) > 1 else 0
    rarity = _idf(corpus, frequency) - _idf(corpus, corpus.count // 2)
    if not frequency or rarity <= 0:
        return None
    share = word.weight / ASIDE if word.aside else word.weight * BY_NAME
    return _Term(place, True, share * rarity, [terms.SPEAKER + word.text], frequency)


def _lookups(query: Query, corpus: Corpus) -> tuple[list[_Term], list[float]]:
    """What to look up, the words themselves first, the rarest first; and what each word weighs (0: it is nowhere)."""
    found: list[_Term] = []
    weights: list[float] = []
    for place, word in enumerate(query.words):
        itself = _term(corpus, place, True, word.stem, 1.0)
        most = _idf(corpus, itself.frequency) if itself.frequency else UNKNOWN_IDF
        spoken = _by_name(corpus, place, word)
        weights.append(max(word.weight * most if itself.frequency else 0.0, spoken.weight if spoken else 0.0))
        found += [spoken] if spoken else []
        others = [_term(corpus, place, False, stem, share) for stem, share in word.others]
        if not itself.tokens:
            others += [_term(corpus, place, False, stem, SPELLING) for stem in _respelt(corpus, word.text)]
        for term in (itself, *others):
            if term.frequency:
                idf = min(most, _idf(corpus, term.frequency))
                found.append(term._replace(weight=term.weight * word.weight * idf))
    return sorted(found, key=lambda term: (not term.itself, term.frequency, term.word, term.tokens)), weights


def _respelt(corpus: Corpus, word: str) -> list[str]:
    """The stems of tokens spelt so much like a word that stands nowhere that they may be meant."""
    if len(word) < 5 or not word.isalpha() or terms.is_cjk(word):
        return []
    alike = [token for token in corpus.near(word) if difflib.SequenceMatcher(None, token, word).ratio() >= ALIKE]
    return sorted({terms.stem(token) for token in alike})


def _counts(corpus: Corpus, term: _Term, ranges: list[tuple[int, int]] | None) -> dict[int, float]:
    """Passage number -> how often it has the term, a caption's words counting less; within `ranges` where given."""
    counts: dict[int, float] = {}
    for token in term.tokens:
        worth = CAPTION if token.startswith("[") else 1.0
        for numbers, times in corpus.postings(token):
            if ranges is None:
                for number, count in zip(numbers, times, strict=True):
                    counts[number] = counts.get(number, 0.0) + count * worth
                continue
            for first, end in ranges:
                for place in range(bisect_left(numbers, first), bisect_left(numbers, end)):
                    counts[numbers[place]] = counts.get(numbers[place], 0.0) + times[place] * worth
    return counts


def _add(corpus: Corpus, term: _Term, values: dict[int, float], ranges: list[tuple[int, int]] | None = None) -> None:
    """Raises the values of a word to what `term` gives in its places."""
    lengths, per_token = corpus.lengths, K1 * B / max(1.0, corpus.mean_length)
    for number, count in _counts(corpus, term, ranges).items():
        if corpus.flags[number] & terms.CITES and corpus.speakers[number]:
            count *= CITING
        value = term.weight * count * (1 + K1) / (count + K1 * (1 - B) + per_token * lengths[number])
        if value > values.get(number, 0.0):
            values[number] = value


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


def _presence(corpus: Corpus, lookups: list[_Term], words: int) -> dict[int, float]:
    """Passage number -> what the question's words in it weigh, read from the rarer terms until POSTINGS are seen."""
    places: list[dict[int, float]] = [{} for _ in range(words)]
    seen = 0
    for term in lookups:
        if seen and seen + term.frequency > POSTINGS:
            continue
        seen += term.frequency
        for token in term.tokens:
            for numbers, _ in corpus.postings(token):
                found = dict.fromkeys(numbers, term.weight)
                found.update(places[term.word])  # a word itself was looked up before what may stand for it
                places[term.word] = found
    largest, *others = sorted(places, key=len, reverse=True)
    for other in others:
        for number, weight in other.items():
            largest[number] = largest.get(number, 0.0) + weight
    return largest


def _closeness(numbers: list[int], weights: dict[int, float]) -> float:
    """The most that stands close together in a file."""
    best = run = 0.0
    last = numbers[0]
    for number in numbers:
        away = 2 * (number - last)
        run = weights[number] + (run * REACH[away] if away < len(REACH) else 0.0)
        if run > best:
            best = run
        last = number
    return best


def _ranges(query: Query, corpus: Corpus, lookups: list[_Term], worth: Callable[[Any], float]) -> list[tuple[int, int]]:
    """The passages, as sorted ranges of numbers, of the files that promise most: where the words stand close together."""
    weights = _presence(corpus, lookups, len(query.words))
    promises = (
        (-round(file.worth * _closeness(file.numbers, weights), 6), -file.entry.date, file.entry.path, file.entry)
        for file in _by_file(corpus, sorted(weights), worth)
    )
    best = heapq.nsmallest(FILES, promises, key=lambda promise: promise[:3])
    return sorted((entry.first, entry.first + entry.count) for *_, entry in best)


# -- the score ---------------------------------------------------------------------------------------------------


def _around(corpus: Corpus, entry: Entry, number: int) -> Iterator[tuple[int, float]]:
    """The passages in reach of a passage of the file, itself first, and what its words count for them."""
    yield number, 1.0
    speakers, end = corpus.speakers, entry.first + entry.count
    for step in (1, -1):
        place, away = number + step, 0
        while entry.first <= place < end:
            speaker, last = speakers[place], speakers[place - step]
            away += NOTES if not (speaker or last) else 1 if speaker == last else 2
            if away >= len(REACH):
                break
            yield place, REACH[away]
            place += step


def _spread(values: dict[int, float], corpus: Corpus, file: _File) -> dict[int, float]:
    """What a word counts for each passage of a file, its own place and its neighbours' taken together."""
    best: dict[int, float] = {}
    total: dict[int, float] = {}
    for number in file.numbers:
        value = values.get(number)
        if value is not None:
            for place, share in _around(corpus, file.entry, number):
                part = value * share
                total[place] = total.get(place, 0.0) + part
                if part > best.get(place, 0.0):
                    best[place] = part
    return {place: ONCE * best[place] + (1 - ONCE) * total[place] for place in total}


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


def _signs(query: Query, corpus: Corpus, entry: Entry, number: int, named: _Named) -> Iterable[tuple[str, float]]:
    """What marks a passage as an answer, as shares of the question's weight."""
    flags = corpus.flags[number]
    speaker = corpus.speakers[number]
    about = speaker in query.about or (not speaker and named(number))
    if about or speaker in query.others:
        yield "speaker", ASKED if about else ASKED / 2
        if not speaker or flags & terms.FIRST_PERSON:
            yield "own words", OWN_WORDS
    if query.asks_when and flags & terms.HAS_TIME_WORD:
        yield "time word", TIME
    if flags & terms.IS_QUESTION:
        yield "question", ASKING
    if flags & terms.HAS_NAME:
        yield "name", NAMING
    if number == entry.first:
        yield "opening", OPENING
    elif _answers(corpus, entry, number):
        yield "answer", ANSWERING
    length = corpus.lengths[number]
    yield "length", LENGTH * math.log1p(length) - (SLIGHT[length] if length < len(SLIGHT) else 0.0)
    dated = _dated(query, entry.date)
    if dated:
        yield "date", dated


def _dated(query: Query, date: int) -> float:
    """The share of the question's weight that a file's date gives."""
    shares = [0.0]
    for first, last in query.spans:
        if date and first <= date <= last:
            shares.append(ON_DAY)
        elif date and last < date <= last + max(DAYS_AFTER, last - first + 1):
            shares.append(AFTER_DAY)
    return max(shares)


class _Scores(NamedTuple):
    """A file's passages: for each word, number -> value with the neighbours'; what the file as a whole adds."""

    file: _File
    spread: list[dict[int, float]]
    session: float

    def words(self, number: int) -> float:
        """What all words count for a passage."""
        return sum(word.get(number, 0.0) for word in self.spread)


class _Frame(NamedTuple):
    """What is the same for all passages: what the question's words weigh, and all of them together; whether it is `bare`,
    with no word to look for but days and people; who is named."""

    weights: list[float]
    mass: float
    bare: bool
    named: _Named


def _frame(query: Query, corpus: Corpus, lookups: list[_Term], weights: list[float]) -> _Frame:
    mass = sum(weights) or max((term.weight for term in lookups), default=1.0)
    bare = not any(
        weight and word.weight > LIGHT for word, weight in zip(query.words, weights, strict=True) if not word.aside
    )
    return _Frame(weights, mass, bare, _named(query, corpus))


def _parts(query: Query, corpus: Corpus, frame: _Frame, scores: _Scores, number: int) -> Iterator[tuple[str, float]]:
    """What is added to the words of a passage. What marks an answer counts for little where hardly any word stands: it tells
    answers from other turns about the same thing, not what a turn is about."""
    sure = 1.0 if frame.bare else min(1.0, scores.words(number) / (LEAST * frame.mass))
    yield "session", scores.session
    for name, share in _signs(query, corpus, scores.file.entry, number, frame.named):
        yield name, sure * frame.mass * share


def _candidates(query: Query, corpus: Corpus, frame: _Frame, values: list[dict[int, float]]) -> list[int]:
    """The passages that hold words of the question; of a bare one also all of the newest files of the days that it names."""
    found = {number for places in values for number in places}
    if frame.bare:
        for first, last in query.spans:
            for entry in heapq.nlargest(FILES, corpus.dated(first, last), key=lambda entry: (entry.date, entry.path)):
                found.update(range(entry.first, entry.first + entry.count))
    return sorted(found)


def rank(
    query: Query,
    corpus: Corpus,
    *,
    limit: int,
    worth: Callable[[Any], float] = lambda entry: 1.0,
    speakers: frozenset[int] | None = None,
) -> list[Scored]:
    """The `limit` best passages, best first; ties by date, newest first, then path, then place in the file.

    `worth` is what a file counts (0: not asked for; less than 1: archived, superseded); with `speakers` only their
    passages are returned, ranked with everybody's around them.
    """
    lookups, weights = _lookups(query, corpus)
    ranges = _ranges(query, corpus, lookups, worth) if lookups and corpus.count > EXACT else None
    values: list[dict[int, float]] = [{} for _ in query.words]
    for term in lookups:
        _add(corpus, term, values[term.word], ranges)
    frame = _frame(query, corpus, lookups, weights)
    scored: list[tuple[float, int, str, int, _Scores]] = []
    for file in _by_file(corpus, _candidates(query, corpus, frame, values), worth):
        scores = _score_file(corpus, file, values)
        inside = file.numbers if frame.bare else ()
        for number in sorted({place for word in scores.spread for place in word}.union(inside)):
            if speakers is None or corpus.speakers[number] in speakers:
                more = sum(part for _, part in _parts(query, corpus, frame, scores, number))
                score = max(scores.words(number) + more, 0.001) * file.worth * _own(query, corpus, number, values)
                scored.append((-round(score, 6), -file.entry.date, file.entry.path, number, scores))
    best = heapq.nsmallest(limit, scored, key=lambda item: item[:4])
    numbers = [number for _, _, _, number, _ in best]
    standing = [_standing(corpus, word, numbers) for word in query.words]
    factors = {number: _own(query, corpus, number, values) for number in numbers}
    units = evidence.units(query, weights, _idf(corpus, 0), corpus.frequency)
    return [_explain(query, corpus, frame, _Whole(units, standing, factors), item) for item in best]


def _own(query: Query, corpus: Corpus, number: int, values: list[dict[int, float]]) -> float:
    """What is left of a turn's score: less where it only quotes memory, or asks the question over again."""
    flags = corpus.flags[number]
    if not corpus.speakers[number] or not flags & (terms.CITES | terms.IS_QUESTION):
        return 1.0
    if flags & terms.CITES:
        return CITING
    asked = sum(number in places for places in values)
    echo = asked >= 0.8 * len(query.words) and corpus.lengths[number] <= 1 + 1.25 * len(query.words)
    return ECHO if echo else 1.0


def _score_file(corpus: Corpus, file: _File, values: list[dict[int, float]]) -> _Scores:
    spread = [_spread(places, corpus, file) for places in values]
    most = sum(max((places.get(number, 0.0) for number in file.numbers), default=0.0) for places in values)
    return _Scores(file, spread, SESSION * most)


def _standing(corpus: Corpus, word: Word, numbers: list[int]) -> set[int]:
    """Those of the passages that hold a form of the word itself."""
    found: set[int] = set()
    for token in (*corpus.concept(word.stem), terms.SPEAKER + word.text):
        for places, _ in corpus.postings(token):
            for number in numbers:
                place = bisect_left(places, number)
                if place < len(places) and places[place] == number:
                    found.add(number)
    return found


class _Whole(NamedTuple):
    """For all passages found: the question's units, of each word the passages that hold it, what is left of their scores."""

    units: list[evidence.Unit]
    standing: list[set[int]]
    factors: dict[int, float]


def _explain(
    query: Query, corpus: Corpus, frame: _Frame, whole: _Whole, item: tuple[float, int, str, int, _Scores]
) -> Scored:
    """What a passage has of the question, and what made its score."""
    score, _, _, number, scores = item
    given = [spread.get(number, 0.0) for spread in scores.spread]
    held = evidence.held(
        whole.units,
        lambda place: number in whole.standing[place],
        lambda place: given[place] / (frame.weights[place] or query.words[place].weight * _idf(corpus, 0)),
    )
    parts = [(word.text, value) for word, value in zip(query.words, given, strict=True) if value]
    parts.extend(_parts(query, corpus, frame, scores, number))
    factor = scores.file.worth * whole.factors[number]
    if factor != 1.0:
        parts.append(("times", factor))
    speaker = corpus.speakers[number]
    another = bool(query.about and speaker and speaker not in query.about)
    strength = held.strength * (ANOTHER if another else 1.0)
    return Scored(number, -score, round(strength, 4), held.has, held.near, held.lacks, tuple(parts))
