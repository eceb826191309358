"""The passages found, read from their files as they are now."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from filemem.errors import FilememError
from filemem.index import Corpus, Index, IndexedFile
from filemem.search import validity
from filemem.search.features import Ranked, WordScores
from filemem.search.query import Query
from filemem.search.results import Hit, first_day_named
from filemem.search.search_request import SearchRequest
from filemem.store.bullets import parse as parse_bullet
from filemem.store.fields import texts
from filemem.store.memory import SOURCE_MARK, Memory
from filemem.store.passages import FORGOTTEN, NO_ANSWER, Passage
from filemem.store.paths import DISTILLED, PROFILE, FileDate, Kind, live, when_of
from filemem.text import terms
from filemem.text.plain import one_line

SHOWN_WHOLE_CHARS = 500  # of a turn, however it is indexed
LONGEST_ECHO = 2  # times the length of the question


def in_its_place(
    entry: IndexedFile, corpus: Corpus, today: dt.date
) -> IndexedFile | None:
    """Return what holds today in the place of a superseded memory; else None.

    Memories that replace each other in a ring have nothing in their place.
    """
    passed: set[str] = set()
    last: IndexedFile | None = entry
    while last and validity.is_past(last, today):
        if last.path in passed:
            return None
        passed.add(last.path)
        newer = last.particulars.get("superseded_by", "")
        last = corpus.by_live_path.get(live(str(newer)))
    return last if passed and last is not None and last.count else None


def with_facts(
    corpus: Corpus, best: Iterable[Ranked], others: Iterable[Ranked]
) -> list[Ranked]:
    """Return the best matches, and of the others the facts that rest on one of them."""
    found = list(best)
    places = {f"{live(one.entry.path)}:{corpus.lines[one.number]}" for one in found}
    for other in others:
        if not places.isdisjoint(_named_sources(other.entry)):
            found.append(other)
    return found


def with_successors(
    request: SearchRequest, matches: Sequence[Ranked]
) -> Iterator[Ranked]:
    """Yield the matches, each before what replaced it, at the same score.

    Args:
        request: whose filters say what may be shown.
        matches: the passages found.
    """
    found = {match.number for match in matches}
    for match in matches:
        entry = in_its_place(match.entry, request.corpus, request.today)
        yield replace(match, successor=entry)
        if entry is None or entry.first in found:
            continue
        if request.admits(entry.first):
            features = replace(match.features, day=0.0, is_of_day=False)
            yield Ranked(entry.first, entry, features, match.score)


def read_hits(
    request: SearchRequest,
    index: Index,
    matches: Iterable[Ranked],
    scores: WordScores,
) -> list[Hit]:
    """Return the passages as hits, the best first.

    Of a passage with several windows the first is shown. What cannot be read any more
    is left out.

    Args:
        request: what is asked.
        index: which has the files.
        matches: the passages to read, the best first.
        scores: what the words of the question count.
    """
    hits: dict[str, Hit] = {}
    for match in matches:
        shown = _read(index, match)
        if shown is not None:
            hit = _hit(request, index, match, shown, scores)
            hits.setdefault(hit.place, hit)
    return sorted(hits.values(), key=lambda hit: -hit.score)


@dataclass(frozen=True)
class ShownPassage:
    """A passage as its file has it, and what of its text is shown.

    Attributes:
        memory: of its file.
        passage: all of it.
        start, end: from where to where it is shown.
    """

    memory: Memory
    passage: Passage
    start: int
    end: int


def _read(index: Index, match: Ranked) -> ShownPassage | None:
    """Read a passage; None if it is not there any more, or was forgotten.

    A short turn is shown whole, however it is indexed.
    """
    entry = match.entry
    try:
        memory = index.memory(entry.path, entry.stats)
        place, start, end = memory.windows[match.number - entry.first]
    except (FilememError, IndexError):
        return None
    passage = memory.passages[place]
    if passage.text in ("", FORGOTTEN, NO_ANSWER):
        return None
    if passage.speaker and len(passage.text) <= SHOWN_WHOLE_CHARS:
        return ShownPassage(memory, passage, 0, len(passage.text))
    return ShownPassage(memory, passage, start, end)


def _hit(
    request: SearchRequest,
    index: Index,
    match: Ranked,
    shown: ShownPassage,
    scores: WordScores,
) -> Hit:
    """Return a passage as a hit.

    One that names a day asked for counts as if said on it.
    """
    entry = match.entry
    passage = shown.passage
    sources = _sources(entry, passage)
    when = _last_told(entry, shown.memory.when, sources)
    date = passage.day or (when.day if when else None)
    day_named = first_day_named(passage.text, date, request.query.days)
    read = _as_read(request, match, passage, names_day=bool(day_named))
    return Hit(
        path=entry.path,
        line=passage.line,
        end_line=passage.end_line,
        text=passage.text,
        speaker=passage.speaker,
        time=passage.time,
        date=date,
        when=when,
        title=shown.memory.told_title,
        score=read.score,
        strength=scores.strength(match.number),
        held=scores.held(match.number),
        excerpt=_excerpt(shown, request.query),
        is_cut=shown.end - shown.start < len(passage.text),
        note=_note(entry, match.successor, request.today),
        replaced=validity.replaced_note(index.folder, entry.particulars),
        newer=match.successor.path if match.successor else "",
        sources=sources,
        day_named=day_named or _event_day(entry, request.query),
        archived=entry.archived,
        held_then=validity.tells_of(entry, request.query.days),
        features=replace(read.features, by_word=scores.by_word(match.number)),
    )


def _as_read(
    request: SearchRequest, match: Ranked, passage: Passage, *, names_day: bool
) -> Ranked:
    """Return a match with what its text adds to its features.

    Args:
        request: what is asked.
        match: as it was ranked.
        passage: its text.
        names_day: it names a day asked for.
    """
    features = match.features
    if names_day and not features.is_of_day:
        features = replace(features, day=request.weights.on_day, is_of_day=True)
    if passage.speaker and _is_echo(passage.text, request.query):
        features = replace(features, echo=request.weights.echo)
    if features is match.features:  # what replaced another keeps the other's score
        return match
    return replace(match, features=features, score=features.score)


def _is_echo(text: str, query: Query) -> bool:
    """Say whether a turn has no word but those of the question.

    One that is much longer has; to look at its words would take longer.
    """
    is_short = len(text) <= LONGEST_ECHO * len(query.text)
    return is_short and terms.content(text) <= query.stems


def _event_day(entry: IndexedFile, query: Query) -> int:
    """Return the first day asked for of an event, as an ordinal; 0 for none."""
    event = validity.event_days(entry.particulars)
    if event is None:
        return 0
    asked = filter(event.overlaps, query.days)
    return min((max(days.first, event.first) for days in asked), default=0)


def _last_told(
    entry: IndexedFile, when: FileDate | None, sources: Iterable[str]
) -> FileDate | None:
    """Return the date of a memory; of a fact that of the last word that updated it."""
    if entry.kind in DISTILLED:
        for source in map(when_of, sources):
            if when and source and source.date > when.date:
                when = source._replace(time="")
    return when


def _excerpt(shown: ShownPassage, query: Query) -> str:
    """Return what is shown of a text, with a mark where more of it stands."""
    text = shown.passage.text
    excerpt = text[shown.start : shown.end].strip()
    if shown.start:
        excerpt = f"… {excerpt}"
    if shown.end < len(text):
        excerpt = f"{excerpt} …"
    stems = {word.stem for word in query.words}
    for word in query.words:
        stems.update(word.alternatives)
    return terms.shorten_captions(excerpt, stems)


def _note(entry: IndexedFile, successor: IndexedFile | None, today: dt.date) -> str:
    """Return what a heading says of whether, and when, a memory holds.

    Args:
        entry: the memory's file.
        successor: what holds in its place.
        today: the day in question.
    """
    state = ""
    confidence = entry.particulars.get("confidence", validity.CERTAIN)
    if successor:
        state = f"superseded by {one_line(successor.path)}"
    elif validity.is_past(entry, today):
        state = validity.fate(entry.particulars)
    elif confidence < validity.CERTAIN:
        state = f"doubtful: confidence {confidence:g}"
    held = validity.held_note(entry.particulars, entry.date)
    return f"{state}  {held}".strip()


def _named_sources(entry: IndexedFile) -> tuple[str, ...]:
    """Return the places that front matter names as sources."""
    return tuple(map(live, texts(entry.particulars.get("source"))))


def _sources(entry: IndexedFile, passage: Passage) -> tuple[str, ...]:
    """Return the places of what a passage tells over again."""
    if entry.kind in DISTILLED:
        return _named_sources(entry)
    if entry.path == PROFILE:
        mark = SOURCE_MARK.search(passage.text)
        return (live(mark[1]),) if mark else ()
    bullet = None
    if entry.kind == Kind.SUMMARIES:
        bullet = parse_bullet(passage.text, entry.path, passage.line)
    if bullet is None:
        return ()
    return tuple(f"{live(bullet.path)}:{line}" for line in bullet.lines)
