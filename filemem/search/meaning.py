"""Passages that mean what a question means, ranked beside those that have its words."""

import functools
import heapq
import importlib.util
from dataclasses import dataclass

from filemem.errors import FilememError
from filemem.index import Corpus, Index
from filemem.search.features import Features, Ranked, with_meaning
from filemem.search.filters import Filters
from filemem.search.query import Query
from filemem.search.weights import Weights

MAX_MEANT = 70  # passages without a word of the question


@dataclass(frozen=True)
class Meant:
    """The passages ranked by words and meaning, and why words alone decide, if so."""

    matches: list[Ranked]
    note: str = ""


def add_meaning(
    index: Index,
    corpus: Corpus,
    text: str,
    query: Query,
    asked: Filters,
    document_weights: dict[int, float],
    matches: list[Ranked],
    weights: Weights,
    *,
    holds_question: bool,
) -> Meant:
    """Return the matches with what each means counted, where an embedder is there.

    Args:
        holds_question: the best match holds the question; an embedder that is yet to be
            loaded is then left alone.
    """
    if not query.content or importlib.util.find_spec("numpy") is None:
        return Meant(matches)
    from filemem.search import semantic  # noqa: PLC0415  numpy takes longer than a search

    try:
        known = semantic.of(index.folder)
    except (FilememError, OSError):
        return Meant(matches)  # broken settings, which others report
    if known is None:
        return Meant(matches)
    if holds_question and not known.ready:
        return Meant(matches)  # the embedder takes a second to load
    factor = functools.partial(_factor, corpus, query, asked, document_weights, weights)
    try:
        likely = [match.number for match in matches]
        gains = known.gains(index, corpus, text, factor, likely)
    except FilememError as error:
        return Meant(matches, f"{error} Found by words alone.")
    best = matches[0].score if matches else 1.0
    raised = [
        with_meaning(match, best * gains.get(match.number, 0.0)) for match in matches
    ]
    by_words = {match.number for match in matches}
    others = [
        number
        for number, gain in gains.items()
        if gain >= known.least and number not in by_words
    ]
    for number in heapq.nlargest(MAX_MEANT, others, key=gains.__getitem__):
        match = Ranked(number, corpus.file(number), Features(), 0.0)
        raised.append(with_meaning(match, best * gains[number]))
    raised.sort(key=lambda match: -match.score)
    return Meant(raised)


def _factor(
    corpus: Corpus,
    query: Query,
    asked: Filters,
    document_weights: dict[int, float],
    weights: Weights,
    number: int,
) -> float:
    """Return what a passage's meaning counts; 0 if it is not asked for."""
    entry = corpus.file(number)
    if not asked.admits_passage(corpus, entry, number):
        return 0.0
    role = 1.0
    if corpus.by_assistant(number) and not query.asks_assistant:
        role = weights.assistant
    return role * document_weights.get(entry.first, 1.0)
