"""search_files over a user's memories, as one walk.

A question becomes a query, the query finds candidates, each candidate gets its
features, their weighted sum ranks them, and the best within a budget are the answer.
"""

import datetime as dt
import functools
from dataclasses import dataclass, replace

from filemem.index import Corpus, Index, IndexedFile
from filemem.search import validity
from filemem.search.candidates import MAX_FILES, find_candidates
from filemem.search.days import named_days
from filemem.search.features import rank
from filemem.search.filters import Filters, bounds, filters
from filemem.search.meaning import add_meaning
from filemem.search.notes import search_notes
from filemem.search.query import Query, parse
from filemem.search.reading import (
    CERTAIN,
    entries_by_path,
    read_hits,
    replacements,
    with_replacements,
)
from filemem.search.results import (
    Hit,
    choose,
    merge_evidence,
    put_current_first,
    put_newest_first,
    put_plans_in_order,
    raise_named_days,
)
from filemem.search.weights import WEIGHTS, Weights
from filemem.store.folder import CurrentConversation
from filemem.text.dayrange import DayRange

READ_MATCHES = 40  # of the best; more where more are asked for


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
    question: str,
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
        index: of whose memories.
        question: what is asked.
        limit: how many hits to return; if None, those that are worth their room.
        path: a glob of the files to search.
        speaker: whose words to search; an assistant's then count in full.
        after, before: the first and the last day, as in `2026-05`, `last week`.
        today: the day from which days count.
        anchor: the day from which the question's own days count, if another.
        current: what the conversation going on has in the prompt, which is left out.
        weights: the numbers of the ranking.

    Raises:
        FilememError: a filter means nothing.
    """
    corpus = index.corpus()
    limits = bounds(after, before, today)
    asked = filters(index.folder, corpus, path, speaker, limits)
    days = named_days(question, corpus, today=today, anchor=anchor)
    query = parse(question, corpus.speaker_names, corpus.names, days, weights)
    if speaker:
        query = replace(query, asks_assistant=True)
    weigh = functools.partial(
        file_weight, asked=asked, query=query, today=today, weights=weights
    )
    max_files = max(MAX_FILES, limit or 0)
    in_prompt = passages_in_prompt(corpus, current)
    candidates = find_candidates(query, corpus, weigh, weights, max_files, in_prompt)
    matches = rank(query, corpus, candidates, weigh, asked, weights)
    meant = add_meaning(index, corpus, question, query, asked, weigh, matches, weights)
    matches = [one for one in meant.matches if one.number not in in_prompt]
    likely = matches[: max(READ_MATCHES, 2 * (limit or 0))]
    entries = entries_by_path(likely, corpus)
    newer = replacements(likely, entries, today)
    likely = with_replacements(likely, newer, asked, corpus)
    hits = list(read_hits(index, likely, entries, newer, query, today))
    hits = raise_named_days(hits, query.days, weights)
    hits = merge_evidence(hits)
    hits = put_newest_first(hits, weights)
    hits = put_plans_in_order(hits, today)
    hits = put_current_first(hits)
    chosen = choose(hits, limit, weights)
    given = {"path": path, "speaker": speaker, "after": after, "before": before}
    notes = search_notes(question, query, candidates, corpus, chosen, given)
    if meant.note:
        notes.append(meant.note)
    files = sum(map(asked.admits, corpus.entries()))
    return Found(chosen, files, notes, max(0, len(matches) - len(chosen)))


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


def file_weight(
    entry: IndexedFile,
    *,
    asked: Filters,
    query: Query,
    today: dt.date,
    weights: Weights,
) -> float:
    """Return what a file counts.

    Nothing where it was not asked for, less where it is archived, uncertain, or holds
    on none of the days asked for.

    Args:
        entry: the file.
        asked: the filters of the search.
        query: whose days it holds on or not.
        today: the day in question if the query names none.
        weights: the numbers of the ranking.
    """
    if not asked.admits(entry):
        return 0.0
    held = validity.held_days(entry)
    now = today.toordinal()
    weight = weights.archived if entry.archived else 1.0
    if not any(held.overlaps(days) for days in query.days or [DayRange(now, now)]):
        weight *= weights.lapsed
    if not validity.is_certain(entry, CERTAIN):
        weight *= weights.doubtful
    return weight
