"""Sentences that an answer of search_files says about the search itself."""

import datetime as dt

from filemem.index import Corpus
from filemem.search.candidates import Candidates
from filemem.search.days import files_of, is_named
from filemem.search.query import Query
from filemem.search.results import Hit
from filemem.search.search_request import SearchRequest
from filemem.store.paths import ARCHIVE
from filemem.text import chinese, spans, terms
from filemem.text.dayrange import DayRange
from filemem.text.plain import counted

HALF = 0.5  # of the question's content words
MIN_SPELLING_CHARS = 4  # of a word for which near spellings are named


def search_notes(
    request: SearchRequest,
    candidates: Candidates,
    hits: list[Hit],
) -> list[str]:
    """Return what an answer says before its passages.

    Args:
        request: what was asked.
        candidates: where its words stand.
        hits: those that the answer shows.

    Returns:
        Whole sentences: what stands nowhere, which days have no memory, and how little
        was found.
    """
    corpus = request.corpus
    query = request.query
    missing = _missing_words(candidates, corpus) + _missing_chinese(query, corpus)
    notes: list[str] = []
    if missing:
        words = ", ".join(dict.fromkeys(missing))
        where = "Nowhere"
        if request.in_prompt:  # there it may stand
            where = "Nowhere else"
        notes.append(f"{where} in memory: {words}.")
    undated = _undated(query, corpus, hits)
    if undated:
        notes.append(f"No memory is dated {' or '.join(map(_in_words, undated))}.")
    if not hits:
        notes += _nothing_found(request)
    # Many an answer is of such passages, so that none of them is left out.
    elif query.content and not any(map(_is_to_the_point, hits)):
        notes.append("All of it is weak: no passage holds half of the question.")
    return notes


def _is_to_the_point(hit: Hit) -> bool:
    """Say whether a passage holds half of the question, or is of a day asked for."""
    return hit.strength >= HALF or hit.features.is_of_day


def _missing_words(candidates: Candidates, corpus: Corpus) -> list[str]:
    """Return the words of a question that stand nowhere, nor what stands for them.

    Chinese ones are left out, and names of speakers.
    """
    names = set(" ".join(corpus.names_heard).split())
    missing: list[str] = []
    for found in candidates.occurrences:
        word = found.word
        is_met = found.values or word.text in names
        if word.is_content and not is_met and not terms.is_cjk(word.text):
            missing.append(_with_near_spellings(word.text, corpus))
    return missing


def _missing_chinese(query: Query, corpus: Corpus) -> list[str]:
    """Return the Chinese that no dictionary has, if it stands nowhere.

    What a dictionary has may be written in several ways, and is named nowhere.
    """
    missing: list[str] = []
    for run in filter(terms.is_cjk, terms.words(query.rest)):
        for piece in filter(chinese.is_unknown, chinese.chinese_content(run)):
            pairs = [token for token in terms.cjk_tokens(piece) if len(token) == 2]
            if not any(map(corpus.concept, pairs)):
                missing.append(piece)
    return missing


def _with_near_spellings(word: str, corpus: Corpus) -> str:
    near = corpus.near(word) if len(word) >= MIN_SPELLING_CHARS else []
    if not near:
        return word
    return f"{word} (near spellings, not searched: {', '.join(near)})"


def _undated(query: Query, corpus: Corpus, hits: list[Hit]) -> list[DayRange]:
    """Return the days asked for if nothing is of them, names them, or held on them.

    Days beyond the newest memory are none of these.

    Args:
        query: whose days they are.
        corpus: the files with their days.
        hits: those that the answer shows.
    """
    if any(hit.day_named for hit in hits):
        return []
    entries = corpus.files
    for days in query.days:
        if files_of(corpus, (days,)) or is_named(corpus, days):
            return []
    newest = max((entry.date for entry in entries), default=0)
    return [days for days in query.days if days.first <= newest]


def _in_words(days: DayRange) -> str:
    """Return a range as `7 May 2023`, `7 May 2023 and later`."""
    first = dt.date.fromordinal(days.first)
    last = dt.date.fromordinal(days.last)
    if last == dt.date.max:
        return f"{spans.in_words(spans.one_day(first), chinese=False)} and later"
    if first == dt.date.min:
        return f"{spans.in_words(spans.one_day(last), chinese=False)} and earlier"
    return spans.in_words(spans.Span(first, last), chinese=False)


def _nothing_found(request: SearchRequest) -> list[str]:
    """Say what was searched for nothing, and what there is without the filters."""
    filters = request.filters
    notes: list[str] = []
    if not (request.query.content or request.query.days):
        notes.append(
            "The query has no word to look for: name a thing or a day; speaker asks"
            " for somebody's words."
        )
    if filters.limits:
        notes.append(f"The search was limited to {filters.limits}.")
    if request.corpus.archived and not (filters.path or "").startswith(ARCHIVE):
        files = counted(request.corpus.archived, "file")
        notes.append(f'The archive holds {files}; path "archive/**" asks for it alone.')
    return notes
