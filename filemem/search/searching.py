"""search_files over a user's memories, as one walk.

A question becomes a query, the query finds candidates, each candidate gets its
features, their weighted sum ranks them, and the best within a budget are the answer.
"""

import datetime as dt
from dataclasses import dataclass, replace

from filemem.index import Corpus, Index
from filemem.search import filters, validity
from filemem.search.candidates import MAX_FILES, find_candidates
from filemem.search.days import LAST_DAY, named_days
from filemem.search.features import coverage, rank
from filemem.search.filters import Filters
from filemem.search.meaning import add_meaning
from filemem.search.notes import search_notes
from filemem.search.query import Query, parse
from filemem.search.results import (
    Hit,
    Reader,
    choose,
    merge_evidence,
    put_bare_questions_last,
    put_current_first,
    put_newest_first,
    raise_named_days,
)
from filemem.search.weights import WEIGHTS, Weights
from filemem.store.folder import CurrentConversation

HOLDS_QUESTION = 0.75  # of its content words


@dataclass(frozen=True)
class Found:
    """The hits in the order of the answer.

    `files` were looked at; `notes` are whole sentences on the search; `more` weaker
    passages were left out.
    """

    hits: list[Hit]
    files: int
    notes: list[str]
    more: int


def search_files(
    index: Index,
    query: str,
    *,
    limit: int | None = None,
    path: str | None = None,
    speaker: str | None = None,
    after: str | None = None,
    before: str | None = None,
    today: dt.date,
    anchor: dt.date | None = None,
    current: CurrentConversation | None = None,
    weights: Weights = WEIGHTS,
) -> Found:
    """Find the best passages for a question.

    Args:
        limit: how many hits to return; if None, those that are worth their room.
        path: a glob of the files to search.
        speaker: whose words to search; an assistant's then count in full.
        after, before: the first and the last day, as in `2026-05`, `last week`.
        today: the day from which days count.
        anchor: the day from which the question's own days count, if another.
        current: what the conversation going on has in the prompt, which is left out.

    Raises:
        FilememError: a filter means nothing.
    """
    corpus = index.corpus()
    asked = filters.filters(
        index.folder,
        corpus,
        path=path,
        speaker=speaker,
        days=filters.bounds(after, before, today),
    )
    days = named_days(query, corpus, today=today, anchor=anchor)
    parsed = parse(query, corpus, days, weights)
    document_weights = weigh_documents(corpus, asked, parsed, today, weights)
    max_files = max(MAX_FILES, limit or 0)
    if speaker:
        parsed = replace(parsed, asks_assistant=True)
    candidates = find_candidates(
        parsed,
        corpus,
        document_weights,
        weights,
        max_files,
        passages_in_prompt(corpus, current),
    )
    matches = rank(parsed, corpus, candidates, document_weights, asked, weights)
    reader = Reader(index, corpus, parsed, candidates, today, current, weights)
    strength = coverage(matches[0], parsed, candidates) if matches else 0.0
    meant = add_meaning(
        index,
        corpus,
        query,
        parsed,
        asked,
        document_weights,
        matches,
        weights,
        holds_question=strength >= HOLDS_QUESTION and len(parsed.content) > 1,
    )
    matches = raise_named_days(meant.matches, reader)
    matches = merge_evidence(matches, reader)
    matches = put_bare_questions_last(matches, reader)
    matches = put_newest_first(matches, reader)
    ordered = put_current_first(matches, reader)
    choice = choose(ordered, reader, limit, len(matches))
    given = {"path": path, "speaker": speaker, "after": after, "before": before}
    notes = search_notes(
        query, parsed, candidates, corpus, choice.hits, given, newest_day(corpus)
    )
    if meant.note:
        notes.append(meant.note)
    return Found(choice.hits, files_searched(corpus, asked), notes, choice.left_out)


def passages_in_prompt(
    corpus: Corpus, current: CurrentConversation | None
) -> frozenset[int]:
    """Return the numbers of the passages that the conversation going on has shown."""
    if current is None:
        return frozenset()
    for entry in corpus.entries():
        if entry.path == current.path:
            return frozenset(
                number
                for number in entry.numbers
                if corpus.lines[number] >= current.line
            )
    return frozenset()


def files_searched(corpus: Corpus, asked: Filters) -> int:
    """Return how many files the filters admit."""
    if asked.is_open:
        return corpus.files
    return sum(asked.admits(entry) for entry in corpus.entries())


def newest_day(corpus: Corpus) -> int:
    """Return the newest day of a memory, as an ordinal; 0 if none has a day."""
    return max((entry.date for entry in corpus.entries()), default=0)


def weigh_documents(
    corpus: Corpus, asked: Filters, query: Query, today: dt.date, weights: Weights
) -> dict[int, float]:
    """Return what each file counts, by its first passage, where that is not 1.

    Nothing where it was not asked for, less where it is archived, uncertain, or holds
    on none of the days asked for.
    """
    moments = [dt.date.fromordinal(days.last) for days in query.days]
    moments = [day for day in moments if day.toordinal() < LAST_DAY] or [today]
    found: dict[int, float] = {}
    for entry in corpus.entries():
        if not entry.count:
            continue
        weight = 1.0
        if not asked.is_open and not asked.admits(entry):
            weight = 0.0
        elif entry.archived or entry.particulars:
            holds = any(
                validity.validity(entry, day) is validity.Validity.HOLDS
                for day in moments
            )
            if entry.archived:
                weight = weights.archived if holds else weights.replaced
            elif not holds:
                weight = weights.lapsed
            certainty = min(1.0, validity.confidence(entry) / weights.sure)
            weight *= weights.doubtful + (1 - weights.doubtful) * certainty
        if weight != 1.0:
            found[entry.first] = weight
    return found


CERTAIN, MAYBE = 1, 1
