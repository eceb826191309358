"""Sentences that an answer of search_files says about the search itself."""

import datetime as dt
import re
from collections.abc import Mapping

from filemem.index import Corpus
from filemem.search.candidates import Candidates
from filemem.search.filters import in_words
from filemem.search.query import Query, QueryWord, is_light
from filemem.search.results import Hit, names_days
from filemem.search.validity import date_of
from filemem.store.paths import ARCHIVE
from filemem.text import terms
from filemem.text.dayrange import DayRange
from filemem.text.plain import counted, one_line

HALF = 0.5  # of the question's content words
MIN_SPELLING_CHARS = 4  # of a word for which near spellings are named

_NAME = re.compile(r"(?<=[\w,;:] )[A-Z]\w+")  # where no sentence begins
_QUOTED = re.compile(r"[\"“「『《]([^\"”」』》\n]{1,60})[\"”」』》]")
_NOUN = re.compile(
    r"\b(?:a|an|the|my|our|his|her|their|your|this|that|in|from|with|of|at|about|for)"
    r" (\w+)(?=\s*(?:[?.!,;]|$))",
    re.IGNORECASE,
)


def search_notes(
    query: str,
    parsed: Query,
    candidates: Candidates,
    corpus: Corpus,
    hits: list[Hit],
    given: Mapping[str, str | None],
    newest: int,
) -> list[str]:
    """Return what an answer says before its passages.

    Args:
        given: the filters as they were given, by their names.
        newest: the newest day of the memory, as an ordinal.
    """
    for piece in parsed.date_pieces:
        query = query.replace(piece, " ")
    notes = [
        _missing_words(query, parsed, candidates, corpus, names_all=not hits),
        _undated(parsed, corpus, hits, newest),
    ]
    if not hits:
        notes += _nothing_found(parsed, corpus, given)
    elif all(hit.strength < HALF for hit in hits) and parsed.content:
        notes.append("All of it is weak: no passage holds half of the question.")
    return [note for note in notes if note]


def _missing_words(
    query: str,
    parsed: Query,
    candidates: Candidates,
    corpus: Corpus,
    *,
    names_all: bool,
) -> str:
    """Name the names, quoted words and nouns of a question that stand nowhere.

    Args:
        names_all: name every word that stands nowhere, as nothing was found.
    """
    named = {terms.fold(name) for name in _NAME.findall(query)}
    for quoted in _QUOTED.findall(query):
        named.update(terms.words(quoted))
    named.update(terms.fold(noun) for noun in _NOUN.findall(query))
    said: list[str] = []
    for word, found in zip(parsed.words, candidates.occurrences, strict=True):
        if found.is_known:
            continue
        if (names_all or word.text in named) and _is_unknown(word, corpus):
            said.append(_with_near_spellings(word.text, corpus))
    for piece in _unknown_chinese(query, corpus):
        said.append(piece)
    if not said:
        return ""
    return f"Nowhere in memory: {', '.join(dict.fromkeys(said))}."


def _is_unknown(word: QueryWord, corpus: Corpus) -> bool:
    """Say whether a word that stands nowhere is one to name, and nobody's name."""
    if word.is_context or is_light(word.stem) or terms.is_cjk(word.text):
        return False
    return not any(word.text in name for name in corpus.speaker_names)


def _unknown_chinese(query: str, corpus: Corpus) -> list[str]:
    """Return quoted Chinese, and what no dictionary has, if it stands nowhere."""
    found: list[str] = []
    for run in terms.words(query):
        if not terms.is_cjk(run):
            continue
        for piece in terms.chinese_content(run):
            known = not terms.is_unknown(piece)
            if known or len(piece) < 2 or any(piece in n for n in corpus.speaker_names):
                continue
            pairs = [token for token in terms.cjk_tokens(piece) if len(token) == 2]
            if not any(corpus.concept(pair) for pair in pairs):
                found.append(piece)
    return found


def _with_near_spellings(word: str, corpus: Corpus) -> str:
    near = corpus.near(word) if len(word) >= MIN_SPELLING_CHARS else []
    if not near:
        return word
    return f"{word} (near spellings, not searched: {', '.join(near)})"


def _undated(parsed: Query, corpus: Corpus, hits: list[Hit], newest: int) -> str:
    """Say that no memory is of the days asked for, where that is so.

    Not of days beyond the memory, nor where a hit names the day, nor where what a fact
    says covers it.
    """
    if any(corpus.dated(days.first, days.last) for days in parsed.days):
        return ""
    asked = [days for days in parsed.days if days.first <= newest]
    if not asked:
        return ""
    if any(_covers(corpus, days) for days in asked):
        return ""
    if any(names_days(hit.text, hit.date, parsed) for hit in hits):
        return ""
    return f"No memory is dated {in_words(asked)}."


def _covers(corpus: Corpus, days: DayRange) -> bool:
    """Say whether a fact held on one of these days, by its front matter."""
    for entry in corpus.entries():
        since = date_of(entry, "valid_from")
        until = date_of(entry, "valid_until") or "9999"
        first = dt.date.fromordinal(days.first).isoformat()
        last = dt.date.fromordinal(days.last).isoformat()
        if since and since <= last and first <= until:
            return True
    return False


def _nothing_found(
    parsed: Query, corpus: Corpus, given: Mapping[str, str | None]
) -> list[str]:
    """Say what was searched for nothing, and what there is without the filters."""
    notes: list[str] = []
    if not parsed.words:
        notes.append(
            "The query has no word to look for: name a thing, a person, a day."
        )
    filters = [
        f"{name} {one_line(value, 60)}" for name, value in given.items() if value
    ]
    if filters:
        notes.append(f"The search was limited to {', '.join(filters)}.")
    if corpus.archived and not (given["path"] or "").startswith(ARCHIVE):
        files = counted(corpus.archived, "file")
        notes.append(f'The archive holds {files}; path "archive/**" asks for it alone.')
    return notes
