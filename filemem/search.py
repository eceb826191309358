"""search_files over a user's memories: the passages that best answer a question, and what the answer should say of them."""

import datetime as dt
from collections.abc import Callable
from typing import NamedTuple

from filemem import dates, globs, question, ranking, terms
from filemem.corpus import Corpus, Entry
from filemem.errors import FilememError, NotFound
from filemem.folder import Current, Folder
from filemem.index import Index
from filemem.memory import Memory, Passage, When
from filemem.plain import one_line
from filemem.question import Query
from filemem.ranking import Scored

MOST, MARGIN = 120, 20  # passages looked at where no limit is given; and beyond a limit, for those that are left out
FIRST, ROOM = 2000, 8400  # characters: of the strongest passages; of all in an answer without a limit (2,100 tokens)
WORTH = 0.2  # of the best score, under which a passage is not worth its room
STRONG = 0.6  # share of the question's weight from which on a match is called strong
ALIAS = 0.6  # what another name of a thing counts, of the name asked for
ARCHIVED = 0.6  # what an archived memory counts beside a live one
OUTDATED = 0.5  # what a superseded or expired one counts


class Hit(NamedTuple):
    """One passage found. `has`, `near` and `lacks` are the question's words in it, around it, and in neither."""

    path: str
    line: int
    end_line: int
    date: dt.date | None
    score: float
    text: str
    archived: bool
    speaker: str
    time: str
    strength: float
    note: str
    has: tuple[str, ...]
    near: tuple[str, ...]
    lacks: tuple[str, ...]
    parts: dict[str, float]
    when: When | None


class Found(NamedTuple):
    """The hits in the order of the answer, each file once; `files` were looked at; `notes` are whole sentences.

    `strength` continues the line that counts; `more` is a limit that would show more, 0 where nothing was left out.
    """

    hits: list[Hit]
    files: int
    strength: str
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
    current: Current | None = None,
) -> Found:
    """The best passages for a question; see `ranking` for how they are ranked.

    `after` and `before` count from `today`; the question's own dates from `anchor`, else from the newest memory. What the
    conversation going on has in the prompt (`current`) is left out. Raises a FilememError for a filter that means nothing.
    """
    corpus = index.corpus()
    asked = _asked(
        index.folder, corpus, path, speaker, _bound(after, today, end=False), _bound(before, today, end=True)
    )
    parsed = _parsed(query, anchor, corpus)
    wanted = (limit or MOST) + MARGIN
    scored = ranking.rank(parsed, corpus, limit=wanted, worth=asked.worth(today), speakers=asked.speakers)
    hits = _outdated_below(_hits(index.folder, corpus, scored, current, today))
    shown = _chosen(hits, limit)
    more = min(200, 2 * len(shown)) if 0 < len(shown) < min(len(hits), 200) else 0
    return Found(shown, asked.files, _strength(shown), _unknown(corpus, parsed), more)


# -- filters -----------------------------------------------------------------------------------------------------


class _Asked(NamedTuple):
    """Which files and whose passages are asked for."""

    test: Callable[[Entry], bool] | None
    files: int
    speakers: frozenset[int] | None

    def worth(self, today: dt.date) -> Callable[[Entry], float]:
        """What a file counts: nothing where it is not asked for, less where it is archived or no longer true."""

        def factor(entry: Entry) -> float:
            if self.test and not self.test(entry):
                return 0.0
            return (ARCHIVED if entry.archived else 1.0) * (OUTDATED if _outdated(entry, today) else 1.0)

        return factor


def _asked(
    folder: Folder, corpus: Corpus, path: str | None, speaker: str | None, after: int | None, before: int | None
) -> _Asked:
    """The filters; raises NotFound where the path or the speaker is unknown."""
    wanted = globs.matcher(path) if path else None

    def test(entry: Entry) -> bool:
        if (after is not None and entry.date < after) or (before is not None and not 0 < entry.date <= before):
            return False
        return wanted is None or wanted(entry.path)

    if wanted is None and after is None and before is None:
        return _Asked(None, corpus.files, _speakers(corpus, speaker))
    files = sum(map(test, corpus.entries()))
    if wanted and not any(wanted(entry.path) for entry in corpus.entries()):
        near = folder.nearest(path or "")
        raise NotFound(f"no file matches {one_line(path or '')}; the nearest are {', '.join(near) or 'none'}.")
    return _Asked(test, files, _speakers(corpus, speaker))


def _speakers(corpus: Corpus, speaker: str | None) -> frozenset[int] | None:
    """The numbers of the speakers that a name means: the whole name, else any word of it."""
    if speaker is None:
        return None
    wanted = terms.fold(speaker).strip()
    names = [terms.fold(name) for name in corpus.speaker_names]
    found = [n for n, name in enumerate(names) if name == wanted] or [
        n for n, name in enumerate(names) if wanted in name.split()
    ]
    if not found or not wanted:
        known = ", ".join(name for name in corpus.speaker_names[:20] if name) or "none yet"
        raise NotFound(
            f"nobody named {one_line(speaker)} speaks in these memories; the speakers are {one_line(known)}."
        )
    return frozenset(found)


def _bound(text: str | None, today: dt.date, *, end: bool) -> int | None:
    """The ordinal of a day given as `after` or `before`; raises FilememError for one that cannot be read."""
    if text is None:
        return None
    try:
        return dates.parse_bound(text, today, end).toordinal()
    except ValueError as error:
        raise FilememError(str(error)) from None


# -- the question ------------------------------------------------------------------------------------------------


def _parsed(query: str, anchor: dt.date | None, corpus: Corpus) -> Query:
    """The question with its speakers, the days that it names, and what else its names are called.

    Relative days count from `anchor`, else from the newest memory.
    """
    found = dates.mentioned(query, anchor or dt.date.max)
    if any(not mention.relative for mention in found):
        found = [mention for mention in found if not mention.relative]
    elif found and anchor is None:
        found = dates.mentioned(query, dt.date.fromordinal(max(1, corpus.newest)))
    spans = [(mention.span.start.toordinal(), mention.span.end.toordinal(), 1.0) for mention in found]
    named = [query[mention.start : mention.end] for mention in found]
    return _with_names(question.parse(query, corpus.speaker_names, spans, named), query, corpus)


def _with_names(parsed: Query, query: str, corpus: Corpus) -> Query:
    """The question with what else its names are called: NYC finds New York City, by the aliases in front matter."""
    folded = f" {' '.join(terms.words(terms.fold(query)))} "
    words = list(parsed.words)
    for name, others in corpus.names().items():
        if (f" {name} " if name.isascii() else name) not in folded:
            continue
        first = next((n for n, word in enumerate(words) if word.text in terms.tokens(name)), None)
        stems = {terms.stem(token): 0.0 for other in others for token in terms.tokens(other) if token not in terms.STOP}
        if first is not None and stems:
            alike = tuple((stem, ALIAS) for stem in stems)
            words[first] = words[first]._replace(others=words[first].others + alike)
    return parsed._replace(words=tuple(words))


def _unknown(corpus: Corpus, parsed: Query) -> list[str]:
    """A sentence on the words of the question that stand nowhere, with the nearest spelling."""
    said = []
    for word in parsed.words:
        if not corpus.concept(word.stem) and not word.of_date:
            near = corpus.near(word.text, 2)
            said.append(f"{word.text} (nearest: {', '.join(near)})" if near else word.text)
    return [f"Nowhere in memory: {', '.join(said)}."] if said else []


# -- the hits ----------------------------------------------------------------------------------------------------


def _hits(folder: Folder, corpus: Corpus, scored: list[Scored], current: Current | None, today: dt.date) -> list[Hit]:
    """The passages as their files have them now, best first."""
    read: dict[str, Memory | None] = {}
    found = []
    for item in scored:
        entry = corpus.file(item.number)
        if entry.path not in read:
            read[entry.path] = _memory(folder, entry.path)
        memory = read[entry.path]
        place = item.number - entry.first
        if memory is None or place >= len(memory.passages):
            continue
        passage = memory.passages[place]
        if current is None or entry.path != current.path or passage.line < current.line:
            found.append(_hit(memory, passage, item, _note(entry, today)))
    return found


def _memory(folder: Folder, path: str) -> Memory | None:
    try:
        return folder.memory(path)
    except FilememError:
        return None


def _hit(memory: Memory, passage: Passage, item: Scored, note: str) -> Hit:
    return Hit(
        path=memory.path,
        line=passage.line,
        end_line=passage.end_line,
        date=memory.date,
        score=item.score,
        text=passage.text,
        archived=memory.archived,
        speaker=passage.speaker,
        time=passage.time,
        strength=item.strength,
        note=note,
        has=item.has,
        near=item.near,
        lacks=item.lacks,
        parts=dict(item.parts),
        when=memory.when,
    )


def _outdated(entry: Entry, today: dt.date) -> bool:
    """Has something replaced this memory, or is its time over?"""
    until = entry.particulars.get("valid_until")
    return bool(entry.particulars.get("superseded_by")) or bool(until and str(until)[:10] < today.isoformat())


def _note(entry: Entry, today: dt.date) -> str:
    """What the heading must say of a memory that no longer holds."""
    by, until = entry.particulars.get("superseded_by"), entry.particulars.get("valid_until")
    if by:
        return f"superseded by {one_line(str(by))}"
    return f"held until {str(until)[:10]}" if until and str(until)[:10] < today.isoformat() else ""


def _outdated_below(hits: list[Hit]) -> list[Hit]:
    """The hits with every superseded one behind what replaced it, where both were found."""
    out = list(hits)
    for hit in hits:
        if hit.note.startswith("superseded by "):
            newer = hit.note.removeprefix("superseded by ")
            last = max((n for n, other in enumerate(out) if other.path.endswith(newer)), default=-1)
            if last > out.index(hit):
                out.remove(hit)
                out.insert(last, hit)
    return out


# -- the answer --------------------------------------------------------------------------------------------------


def _chosen(hits: list[Hit], limit: int | None) -> list[Hit]:
    """The hits to show: the `limit` best, or as many as are worth their room; the first page's worth of them first.

    Gathering all passages of the best file at once would push the other files' best ones down the page, so the strongest
    are shown by file, and then, by file again, the rest.
    """
    first: list[Hit] = []
    rest: list[Hit] = []
    spent = 0
    for hit in hits[: limit or MOST]:
        part = first if spent < FIRST else rest
        spent += len(hit.text) + (10 if any(other.path == hit.path for other in part) else len(hit.path) + 30)
        if not limit and part and (spent > ROOM or hit.score < WORTH * hits[0].score):
            break
        (first if spent < FIRST else rest).append(hit)
    return _by_file(first) + _by_file(rest)


def _by_file(hits: list[Hit]) -> list[Hit]:
    """Hits by file, the file with the best one first, each file's by line."""
    files: dict[str, list[Hit]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    return [hit for group in files.values() for hit in sorted(group, key=lambda hit: hit.line)]


def _strength(hits: list[Hit]) -> str:
    """How well the best hit answers, in a way that compares across questions."""
    if not hits:
        return ""
    best = max(hits, key=lambda hit: hit.strength)
    word = "strong match" if best.strength >= STRONG else "no strong match"
    has = ", ".join(dict.fromkeys([*best.has, *best.near])) or "none of the words"
    lacks = f"; lacks {', '.join(best.lacks)}" if best.lacks else ""
    return f"; {word}: {best.strength:.0%} of the question (has {has}{lacks})"
