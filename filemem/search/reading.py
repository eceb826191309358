"""The passages found, read from their files as they are now."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping

from filemem.errors import FilememError
from filemem.index import Corpus, Index, IndexedFile
from filemem.search import validity
from filemem.search.features import Ranked
from filemem.search.query import Query
from filemem.search.results import Hit
from filemem.store import pending
from filemem.store.bullets import parse as parse_bullet
from filemem.store.memory import SOURCE_MARK
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import PROFILE, live
from filemem.text import terms
from filemem.text.plain import one_line

SHOWN_WHOLE_CHARS = 500  # of a turn, however it is indexed
MAX_SUCCESSORS = 10
CERTAIN = 0.7  # the confidence below which a memory is marked


def replacements(
    matches: Iterable[Ranked], corpus: Corpus, today: dt.date
) -> dict[str, IndexedFile]:
    """Return what stands today in place of each superseded memory, by its path."""
    entries: dict[str, IndexedFile] = {}
    found: dict[str, IndexedFile] = {}
    for match in matches:
        entry = match.entry
        if validity.validity(entry, today) is not validity.Validity.SUPERSEDED:
            continue
        if not entries:
            entries = {live(entry.path): entry for entry in corpus.entries()}
        newest = _newest(entry, entries, today)
        if newest is not entry and newest.count:
            found[entry.path] = newest
    return found


def _newest(
    entry: IndexedFile, entries: Mapping[str, IndexedFile], today: dt.date
) -> IndexedFile:
    """Return the last of what replaced a memory; itself if they go in a ring."""
    newest = entry
    for _ in range(MAX_SUCCESSORS):
        if validity.validity(newest, today) is not validity.Validity.SUPERSEDED:
            return newest
        newer = entries.get(live(validity.successor(newest)))
        if newer is None:
            return newest
        newest = newer
    return entry


def with_replacements(
    matches: Iterable[Ranked], newer: Mapping[str, IndexedFile]
) -> list[Ranked]:
    """Return the matches, and at the same score what replaced them."""
    found = {match.number: match for match in matches}
    for match in list(found.values()):
        entry = newer.get(match.entry.path)
        if entry is not None:
            other = Ranked(entry.first, entry, match.features, match.score)
            found.setdefault(entry.first, other)
    return list(found.values())


def read_hits(
    index: Index,
    matches: Iterable[Ranked],
    newer: Mapping[str, IndexedFile],
    query: Query,
    today: dt.date,
) -> Iterator[Hit]:
    """Yield the passages as hits; of a long turn the best window alone.

    What cannot be read any more is left out, and what waits to be forgotten.
    """
    hidden = pending.pending_deletions(index.folder)
    seen: set[tuple[str, int]] = set()
    for match in matches:
        entry = match.entry
        try:
            memory = index.memory(entry.path, entry.stats)
            place, start, end = memory.windows[match.number - entry.first]
        except (FilememError, IndexError):
            continue
        passage = memory.passages[place]
        if (entry.path, passage.line) in seen or passage.text in ("", FORGOTTEN):
            continue
        if hidden.hides(entry.path, passage.line):
            continue
        seen.add((entry.path, passage.line))
        if passage.speaker and len(passage.text) <= SHOWN_WHOLE_CHARS:
            start = 0
            end = len(passage.text)
        yield Hit(
            path=entry.path,
            line=passage.line,
            end_line=passage.end_line,
            text=passage.text,
            speaker=passage.speaker,
            time=passage.time,
            date=passage.day or memory.day,
            when=memory.when,
            title=memory.told_title,
            score=match.score,
            strength=match.strength,
            excerpt=_excerpt(passage.text, start, end, query),
            is_cut=(start, end) != (0, len(passage.text)),
            note=_note(entry, newer, today),
            newer=newer[entry.path].path if entry.path in newer else "",
            sources=_sources(entry, passage),
            archived=entry.archived,
            previous=memory.passages[place - 1] if place else None,
            features=match.features,
        )


def _excerpt(text: str, start: int, end: int, query: Query) -> str:
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
    """Return what a heading says of whether a memory holds."""
    held = validity.validity_note(entry, today)
    if validity.validity(entry, today) is validity.Validity.SUPERSEDED:
        path = validity.successor(entry)
        if entry.path in newer:
            path = newer[entry.path].path
        return f"superseded by {one_line(path)}  {held}".strip()
    if not validity.is_certain(entry, CERTAIN):
        return (
            f"doubtful: confidence {entry.particulars['confidence']:g}  {held}".strip()
        )
    return held


def _sources(entry: IndexedFile, passage: Passage) -> tuple[str, ...]:
    """Return the places of what a passage tells over again."""
    if entry.kind in ("facts", "lessons"):
        return tuple(map(live, validity.sources(entry)))
    if entry.path == PROFILE:
        mark = SOURCE_MARK.search(passage.text)
        return (live(mark[1]),) if mark else ()
    bullet = None
    if entry.kind == "summaries":
        bullet = parse_bullet(passage.text, entry.path, passage.line)
    if bullet is None:
        return ()
    return tuple(f"{live(bullet.path)}:{line}" for line in bullet.lines)
