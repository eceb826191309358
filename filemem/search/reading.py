"""The passages found, read from their files as they are now."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from filemem.errors import FilememError
from filemem.index import Corpus, Index, IndexedFile
from filemem.search import validity
from filemem.search.features import Ranked
from filemem.search.query import Query
from filemem.search.results import Hit
from filemem.search.search_request import SearchRequest
from filemem.store.bullets import parse as parse_bullet
from filemem.store.memory import SOURCE_MARK
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import PROFILE, FileDate, live, when_of
from filemem.text import terms
from filemem.text.plain import one_line

ECHO = 0.5  # the factor of a turn that has no word but those of the question
SHOWN_WHOLE_CHARS = 500  # of a turn, however it is indexed
REPLACED_CHARS = 80  # of what a memory replaced, in its heading


def replacements(
    matches: Iterable[Ranked], corpus: Corpus, today: dt.date
) -> dict[str, IndexedFile]:
    """Return what holds today in place of each superseded memory, by its path.

    Memories that replace each other in a ring have nothing in their place.

    Args:
        matches: the passages found.
        corpus: every file.
        today: the day in question.
    """
    found: dict[str, IndexedFile] = {}
    for entry in (match.entry for match in matches):
        passed: set[str] = set()
        newer: IndexedFile | None = entry
        while newer is not None and validity.is_superseded(newer, today):
            passed.add(newer.path)
            newer = corpus.by_live_path.get(live(validity.successor(newer)))
            if newer is not None and newer.path in passed:
                newer = None
        if newer is not None and newer is not entry and newer.count:
            found[entry.path] = newer
    return found


def with_replacements(
    request: SearchRequest, matches: Iterable[Ranked], newer: Mapping[str, IndexedFile]
) -> list[Ranked]:
    """Return the matches, and at the same score what replaced them.

    Args:
        request: whose filters say what may be shown.
        matches: the passages found.
        newer: what replaced a memory, by its path.
    """
    found = {match.number: match for match in matches}
    for match in list(found.values()):
        entry = newer.get(match.entry.path)
        if entry is not None and request.admits(entry, entry.first):
            features = replace(match.features, day=0.0, is_of_day=False)
            newest = replace(match, number=entry.first, entry=entry, features=features)
            found.setdefault(entry.first, newest)
    return list(found.values())


def read_hits(
    request: SearchRequest,
    index: Index,
    matches: Iterable[Ranked],
    newer: Mapping[str, IndexedFile],
) -> Iterator[Hit]:
    """Yield the passages as hits; of a long turn the best window alone.

    What cannot be read any more is left out.

    Args:
        request: what is asked.
        index: which has the files.
        matches: the passages to read, the best first.
        newer: what replaced a memory, by its path.
    """
    query = request.query
    seen: set[tuple[str, int]] = set()
    for match in matches:
        entry = match.entry
        try:
            memory = index.memory(entry.path, entry.stats)
            place, start, end = memory.windows[match.number - entry.first]
        except (FilememError, IndexError):
            continue
        passage = memory.passages[place]
        sources = _sources(entry, passage)
        when = _last_told(entry, memory.when, sources)
        if (entry.path, passage.line) in seen or passage.text in ("", FORGOTTEN):
            continue
        seen.add((entry.path, passage.line))
        if passage.speaker and len(passage.text) <= SHOWN_WHOLE_CHARS:
            start = 0
            end = len(passage.text)
        features = match.features
        score = match.score
        if passage.speaker and terms.content(passage.text) <= query.stems:
            features = replace(features, echo=ECHO)
            score = features.score
        yield Hit(
            path=entry.path,
            line=passage.line,
            end_line=passage.end_line,
            text=passage.text,
            speaker=passage.speaker,
            time=passage.time,
            date=passage.day or (when.day if when else None),
            when=when,
            title=memory.told_title,
            score=score,
            strength=match.strength,
            excerpt=_excerpt(passage.text, start, end, query),
            is_cut=(start, end) != (0, len(passage.text)),
            note=_note(entry, newer, request.today),
            replaced=_replaced(request, index, entry),
            newer=newer[entry.path].path if entry.path in newer else "",
            sources=sources,
            day_named=_event_day(entry, query),
            archived=entry.archived,
            features=features,
        )


def _event_day(entry: IndexedFile, query: Query) -> int:
    """Return the day of an event if it is asked for, as an ordinal; else 0."""
    if "day" not in entry.particulars:
        return 0
    day = entry.days[-1]
    return day if any(asked.holds(day) for asked in query.days) else 0


def _last_told(
    entry: IndexedFile, when: FileDate | None, sources: Iterable[str]
) -> FileDate | None:
    """Return the date of a memory; of a fact that of the last word that updated it."""
    if entry.kind in ("facts", "lessons"):
        for source in map(when_of, sources):
            if when and source and source.date > when.date:
                when = source._replace(time="")
    return when


def _excerpt(text: str, start: int, end: int, query: Query) -> str:
    """Return a part of a text, with a mark where more of it stands."""
    excerpt = text[start:end].strip()
    if start:
        excerpt = f"… {excerpt}"
    if end < len(text):
        excerpt = f"{excerpt} …"
    stems = {word.stem for word in query.words}
    for word in query.words:
        stems.update(word.alternatives)
    return terms.shorten_captions(excerpt, stems)


def _note(entry: IndexedFile, newer: Mapping[str, IndexedFile], today: dt.date) -> str:
    """Return what a heading says of whether, and when, a memory holds."""
    state = ""
    if validity.is_superseded(entry, today):
        last = newer[entry.path].path if entry.path in newer else ""
        state = f"superseded by {one_line(last or validity.successor(entry))}"
    elif not validity.is_certain(entry):
        state = f"doubtful: confidence {entry.particulars['confidence']:g}"
    return f"{state}  {validity.held_note(entry, today)}".strip()


def _replaced(request: SearchRequest, index: Index, entry: IndexedFile) -> str:
    """Return what a memory replaced, in its words, and when that held; or ''."""
    paths = validity.named(entry, "supersedes")
    older = request.corpus.by_live_path.get(live(paths[0])) if paths else None
    if older is None:
        return ""
    try:
        passage = index.memory(older.path, older.stats).passages[0]
    except (FilememError, IndexError):
        return ""
    if passage.text in ("", FORGOTTEN):
        return ""
    words = one_line(passage.text, REPLACED_CHARS)
    return f'replaced "{words}" {validity.held_note(older, request.today)}'.strip()


def _sources(entry: IndexedFile, passage: Passage) -> tuple[str, ...]:
    """Return the places of what a passage tells over again."""
    if entry.kind in ("facts", "lessons"):
        return tuple(map(live, validity.named(entry, "source")))
    if entry.path == PROFILE:
        mark = SOURCE_MARK.search(passage.text)
        return (live(mark[1]),) if mark else ()
    bullet = None
    if entry.kind == "summaries":
        bullet = parse_bullet(passage.text, entry.path, passage.line)
    if bullet is None:
        return ()
    return tuple(f"{live(bullet.path)}:{line}" for line in bullet.lines)
