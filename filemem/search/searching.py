"""search_files over a user's memories, as one walk.

A question becomes a query, the query finds candidates, each candidate gets its
features, their weighted sum ranks them, and the best within a budget are the answer.
"""

import datetime as dt
from dataclasses import dataclass, replace

from filemem.index import Corpus, Index
from filemem.search.candidates import MAX_FILES, find_candidates
from filemem.search.days import named_days
from filemem.search.features import rank, score_words
from filemem.search.filters import read_filters
from filemem.search.meaning import add_meaning
from filemem.search.notes import search_notes
from filemem.search.query import parse
from filemem.search.reading import read_hits, with_facts, with_successors
from filemem.search.results import Hit, choose, in_order, merge_evidence
from filemem.search.search_request import SearchRequest
from filemem.search.weights import WEIGHTS, Weights
from filemem.store.current import CurrentConversation
from filemem.text.terms import fold


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        hits: in the order of the answer.
        files: how many were looked at.
        notes: whole sentences on the search.
        has_more: weaker passages were left out.
    """

    hits: list[Hit]
    files: int
    notes: list[str]
    has_more: bool


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
        current: what the conversation going on has in the prompt, which is left out.
        weights: the numbers of the ranking.

    Raises:
        FilememError: a filter means nothing.
    """
    corpus = index.corpus()
    filters = read_filters(
        index.folder,
        corpus,
        today,
        path=path,
        speaker=speaker,
        after=after,
        before=before,
    )
    days = named_days(question, corpus, today)
    names = _people(corpus, index.folder.person)
    query = parse(question, names, corpus.names, days, weights)
    if speaker:
        query = replace(query, asks_assistant=True)
    in_prompt = passages_in_prompt(corpus, current)
    request = SearchRequest(corpus, query, filters, in_prompt, today, weights)

    candidates = find_candidates(request, max(MAX_FILES, limit or 0))
    scores = score_words(request, candidates)
    by_words = rank(request, candidates, scores)
    meant = add_meaning(request, index, by_words, scores)
    count = max(MAX_FILES, 2 * (limit or 0))
    best = with_facts(corpus, meant.matches[:count], meant.matches[count:])
    to_read = with_successors(request, best)

    hits = read_hits(request, index, to_read, scores)
    hits = in_order(merge_evidence(hits), today, weights)
    chosen = choose(hits, limit, weights)

    notes = search_notes(request, candidates, chosen)
    if days.counted_from:
        notes.append(f"Its days count from the newest memory, {days.counted_from}.")
    if meant.note:
        notes.append(meant.note)
    files = sum(map(filters.admits_file, corpus.files))
    shown = {hit.said for hit in chosen}
    has_more = (
        not candidates.are_all
        or len(best) < len(meant.matches)
        or any(hit.said not in shown for hit in hits)
    )
    return Found(chosen, files, notes, has_more)


def _people(corpus: Corpus, person: str) -> list[str]:
    """Return the folded names of those who speak, by number, and of the person last.

    Their facts are about them, and seldom name them.
    """
    names = corpus.names_heard
    own = fold(person)
    return names if own in names else [*names, own]


def passages_in_prompt(
    corpus: Corpus, current: CurrentConversation | None
) -> frozenset[int]:
    """Return the numbers of the passages that the conversation going on has shown."""
    if current is None or current.path not in corpus.by_live_path:
        return frozenset()
    numbers = corpus.by_live_path[current.path].numbers
    return frozenset(
        number for number in numbers if corpus.lines[number] >= current.line
    )
