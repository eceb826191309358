"""Passages that mean what a question means, ranked beside those that have its words."""

import heapq
from dataclasses import dataclass, replace

from filemem.errors import FilememError
from filemem.index import Corpus, Index, vectors
from filemem.index.vectors import Likeness
from filemem.search.features import Features, Ranked, WordScores
from filemem.search.search_request import SearchRequest

MAX_LIKE = 700  # passages most alike the question
MAX_MEANT = 70  # of them without a word of it
FEW_PASSAGES = 20  # of which the middle one may be an answer


@dataclass(frozen=True)
class Meant:
    """The passages ranked by words and meaning, and why words alone decide, if so."""

    matches: list[Ranked]
    note: str = ""


def add_meaning(
    request: SearchRequest,
    index: Index,
    matches: list[Ranked],
    scores: WordScores,
) -> Meant:
    """Return the matches with what each means counted, where an embedder is there.

    One that is yet to be loaded, which takes a second, is not asked if the best match
    holds the question, of two words or more. If an endpoint fails, words alone decide,
    and a note says so.

    Args:
        request: what is asked.
        index: whose vectors are asked.
        matches: those found by words, the best first.
        scores: what the words count.
    """
    corpus = request.corpus
    known = _vectors(index)
    words = len(request.query.content)
    if known is None or not words:
        return Meant(matches)
    best = scores.strength(matches[0].number) if matches and words > 1 else 0.0
    if best >= request.weights.enough and not known.embedding.is_ready:
        return Meant(matches)
    likely = [match.number for match in matches]
    try:
        likeness = known.likeness(index, corpus, request.query.text, likely)
    except FilememError as error:
        return Meant(matches, f"{error} Found by words alone.")
    gains: dict[int, float] = {}
    for number, gain in _gains(likeness, corpus, known.embedding.unrelated).items():
        if gain > 0 and request.admits(number):
            gains[number] = request.weights.meaning * gain
    meant = _meant_alone(request, gains, set(likely))
    return Meant(_raised([*matches, *meant], gains))


def _vectors(index: Index) -> vectors.Vectors | None:
    """Return the vectors of the memories; None where no embedder is there."""
    try:
        return vectors.of(index.folder)
    except (FilememError, OSError):
        return None  # broken settings, which others report


def _meant_alone(
    request: SearchRequest, gains: dict[int, float], by_words: set[int]
) -> list[Ranked]:
    """Return the passages that gain most without a word of the question.

    Args:
        request: what is asked.
        gains: of each passage.
        by_words: the numbers of those that words have found.
    """
    meant: list[Ranked] = []
    for number in gains.keys() - by_words:
        entry = request.corpus.file(number)
        features = Features(
            role=request.role_weight(number), document=request.file_weight(entry)
        )
        gain = gains[number] * features.factor
        if gain >= request.weights.least_meaning:
            meant.append(Ranked(number, entry, features, gain))
    return heapq.nlargest(MAX_MEANT, meant, key=lambda one: one.score)


def _raised(matches: list[Ranked], gains: dict[int, float]) -> list[Ranked]:
    """Return the matches with what each gains added, the best first.

    A gain counts beside the best score by words.
    """
    best = max((match.features.score for match in matches), default=0.0) or 1.0
    raised: list[Ranked] = []
    for match in matches:
        meaning = best * gains.get(match.number, 0.0)
        features = replace(match.features, meaning=meaning)
        raised.append(replace(match, features=features, score=features.score))
    return sorted(raised, key=lambda match: -match.score)


def _gains(likeness: Likeness, corpus: Corpus, unrelated: float) -> dict[int, float]:
    """Return how much more alike the question passages are than the middle one.

    Half of it is the mean with the passages before and after in its file.
    """
    numpy = vectors.numpy()
    cosines = likeness.cosines
    if not len(cosines):
        return {}
    numbers = likeness.numbers
    files = numpy.array(corpus.firsts)[numbers]
    are_beside = (numpy.diff(numbers) == 1) & (numpy.diff(files) == 0)
    before = cosines.copy()
    before[1:][are_beside] = cosines[:-1][are_beside]
    after = cosines.copy()
    after[:-1][are_beside] = cosines[1:][are_beside]
    alike = (cosines + (before + cosines + after) / 3) / 2
    middle = numpy.median(alike)
    if len(alike) < FEW_PASSAGES:
        middle = min(middle, unrelated)
    best = numpy.argsort(-alike)[:MAX_LIKE]
    gains = (alike[best] - middle).tolist()
    return dict(zip(numbers[best].tolist(), gains, strict=True))
