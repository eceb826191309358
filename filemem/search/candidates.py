"""Passages that may be shown. Most are only compared by their scores, so files are read late."""

import bisect
import datetime as dt
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, journal
from filemem.files.folder import CurrentConversation
from filemem.files.memory import FileDate, Memory, kind_of, when_of
from filemem.files.passages import Passage
from filemem.index import Index
from filemem.index.corpus import BY_ASSISTANT, Corpus, IndexedFile
from filemem.search import filters, ranking
from filemem.search.evidence import TermCoverage
from filemem.search.question import Query
from filemem.search.ranking import Scored
from filemem.text import dates, terms, tokens
from filemem.text.own_words import own_part

A_WEEK = 7  # days that a text may tell of at once to be of each of them
CHAIN = 10  # times that a memory is followed to what replaced it
THEN = "then: "  # how the note begins of what held at the time that is asked for
DOUBTFUL = "doubtful: confidence "  # of what is not certain
WHOLE = 500  # characters of a person's turn that is shown whole, however it is indexed
LOOKED_AT = 20_000  # characters of it in which that is looked for
EXCERPT = 40  # tokens that are shown of an assistant's turn, unless it is asked for
_SENTENCES = re.compile(r"(?:[^.!?;。！？；…\n]|[.](?=\w))+[.!?;。！？；…”’」』）'\")\]*]*")
_WORDLESS = re.compile(r"\W*(?:[\w-]+\.(?:jpe?g|png|gif|heic|webp|mp[34]|mov|m4a|opus|ogg|amr|pdf)\b|[\d\W_])*")
WINDOWS, SECOND = 2, 0.6  # most windows of a passage that are shown; of the best one's score, what the other must have


SHORT, SLIGHT = 40, 50  # columns of a reply that says little without its question; of one that starts with a pronoun

_WIDE = re.compile(f"[{terms.CJK}]")
_QUESTION = re.compile(r"[?？][^?？]{0,25}$|[吗嗎呢][。~～\s]*$")
_LEANING = re.compile(
    r"(?:yes|yeah|yep|no|nope|sure|of course|definitely|exactly|absolutely|it|it's|that|that's|they|he|she|those|these)\b"
    r"|[对對是没沒不嗯它那他她这這]",
    re.IGNORECASE,
)


class Hit(NamedTuple):
    """One passage found. `has`, `near` and `lacks` are the question's words in it, around it, and in neither.

    `date` is its own day, `when` that of its file. `excerpt` is what an answer shows of the text, `cut` whether that is
    only a part; `before` the turn that it leans on; `sources` where a fact was said, as `path:line`; `newer` the path of what
    replaced it; `title` that of a note whose path does not tell it.
    """

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
    when: FileDate | None
    excerpt: str
    cut: bool
    before: Passage | None
    sources: tuple[str, ...]
    newer: str
    title: str


def leans(passage: Passage, before: Passage) -> bool:
    """Does a turn say little without the one before it: a short reply to a question, a bare yes, a pronoun?"""
    if not passage.speaker or before.speaker in ("", passage.speaker):
        return False
    width = len(passage.text) + len(_WIDE.findall(passage.text))
    if width <= SHORT and _QUESTION.search(before.text):
        return True
    return width <= SLIGHT and _LEANING.match(passage.text) is not None


class FileStatus(NamedTuple):
    """What all passages of a file have in common: why it may not hold, what replaced it, where it was said."""

    path: str
    note: str = ""
    newer: str = ""
    sources: tuple[str, ...] = ()


class Candidate:
    """One passage, by its place in its file; see `Hit` for what its attributes mean."""

    def __init__(self, reader: "Reader", told: FileStatus, place: int, line: int, item: Scored) -> None:
        self.path, self.note, self.newer, self.sources = told
        self.line = line
        self.score = item.score
        self._parts: dict[str, float] = {}
        self._reader = reader
        self._told = told
        self._place = place
        self._item = item
        self._places = [place]
        self.is_episode = False  # does it sum up its session?
        self.is_aside = False  # does an assistant say it whom nobody asked about?

    def also(self, place: int, score: float) -> None:
        """Another window of the same passage was found, less strong."""
        if len(self._places) < WINDOWS and score >= SECOND * self._item.score:
            self._places.append(place)

    def counting(self, score: float, by: str = "") -> "Candidate":
        """The same candidate with another score; the difference is shown among the parts of the score as `by`."""
        other = Candidate(self._reader, self._told, self._place, self.line, self._item)
        other.score, other._places = score, self._places
        other.is_episode, other.is_aside = self.is_episode, self.is_aside
        other._parts = {**self._parts, by: score - self.score} if by and score != self.score else self._parts
        return other

    @functools.cached_property
    def held(self) -> TermCoverage:
        """What it holds of the question."""
        return self._item.held()

    @property
    def lapsed(self) -> bool:
        """Did it not hold at the time that is asked for, or is it unknown?"""
        return bool(self.note) and not self.note.startswith((THEN, DOUBTFUL))

    @property
    def strength(self) -> float:
        """How much of the question it holds."""
        return self.held.strength

    @functools.cached_property
    def _passages(self) -> tuple[Passage | None, Passage]:
        """The passage and the one before it, as the file has them now; an empty one where it has gone."""
        memory = self._reader.memory(self.path)
        if memory is None or self._place >= len(memory.windows):
            return None, Passage(self.line, self.line, "", "", "")
        place, *_ = memory.windows[self._place]
        return memory.passages[place - 1] if place else None, memory.passages[place]

    @functools.cached_property
    def cited(self) -> tuple[str, ...]:
        """The turn that it was taken from: the first of its file's sources, or of those of its own day, where it has one."""
        day = self._passages[1].day if len(self.sources) > 1 else None
        own = [
            source
            for source in self.sources
            if day and (when := when_of(source.rpartition(":")[0])) and when.date == day
        ]
        return (*own, *self.sources)[:1]

    @property
    def text(self) -> str:
        """The passage's text."""
        return self._passages[1].text

    @property
    def speaker(self) -> str:
        """Who says it; empty where nobody does."""
        return self._passages[1].speaker

    @property
    def is_pasted(self) -> bool:
        """Does what it holds of the question stand in what the person quoted or pasted, and not in what they say?"""
        own = own_part(self.text, self.speaker) if self.speaker else self.text
        return own != self.text and 2 * len(self._reader.found_in(own)) < len(self._reader.found_in(self.text))

    @property
    def before(self) -> str:
        """The text of the passage before it, empty where there is none."""
        passage, _ = self._passages
        return passage.text if passage else ""

    @functools.cached_property
    def company(self) -> frozenset[str]:
        """Who speaks in its file."""
        memory = self._reader.memory(self.path)
        return frozenset(passage.speaker for passage in memory.passages) if memory else frozenset()

    @functools.cached_property
    def date(self) -> dt.date | None:
        """Its own day, or that of its file."""
        memory = self._reader.memory(self.path)
        return self._passages[1].day or (memory.date if memory else None)

    def is_of(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Was it said on one of these days, the first and the last as ordinals, or does it tell of one?"""
        day = self.date or dt.date.min
        said = day.toordinal()
        if any(first <= said <= last for first, last in spans):
            return True
        told = (one.span for one in dates.mentioned(self.text, day) if not one.other)
        days = [(span.start.toordinal(), span.end.toordinal()) for span in told]
        return any(
            end - start < A_WEEK and first <= end and start <= last for first, last in spans for start, end in days
        )

    @functools.cached_property
    def shown(self) -> tuple[tuple[int, int], ...]:
        """The parts of the text that an answer shows, as places in it; an episode whole."""
        if self.is_episode:
            return ((0, len(self.text)),)
        memory = self._reader.memory(self.path)
        found = memory.windows if memory else []
        spans = sorted((start, end) for _, start, end in (found[place] for place in self._places if place < len(found)))
        joined = spans[:1]
        for start, end in spans[1:]:
            joined[-1:] = [(joined[-1][0], end)] if start == joined[-1][1] else [joined[-1], (start, end)]
        if self.is_aside and joined:
            return (self._reader.best_sentences(self.text),)
        return ((0, len(self.text)),) if self.speaker and len(self.text) <= WHOLE else tuple(joined)

    @functools.cached_property
    def excerpt(self) -> str:
        """What an answer shows of the text: these parts, captions without a word of the question shortened; an episode whole, and
        as what it is."""
        if self.is_episode:
            return f"episode: {self.text}"
        spans = self.shown
        found = " … ".join(self.text[start:end].strip() for start, end in spans)
        found = ("… " if spans and spans[0][0] else "") + found
        found += " …" if spans and spans[-1][1] < len(self.text) else ""
        return terms.shorten_captions(found, self._reader.stems)

    @functools.cached_property
    def wordless(self) -> bool:
        """Is it but the name of a file, or marks and numbers?"""
        return bool(self.speaker) and len(self.text) < WHOLE and _WORDLESS.fullmatch(self.text) is not None

    @functools.cached_property
    def empty(self) -> bool:
        """Has it nothing to tell: a greeting, thanks, or the heading over something else?"""
        if self.speaker:
            return terms.is_courtesy(self.text, self._reader.names)
        memory = self._reader.memory(self.path)
        over = memory is not None and not memory.titled and len(memory.passages) > 1
        return over and memory is not None and memory.lines[self.line - 1 : self.line][:1] == [f"# {self.text}"]

    def hit(self) -> Hit | None:
        """The passage whole; None where it has gone since its file was listed."""
        memory = self._reader.memory(self.path)
        before, passage = self._passages
        if memory is None or not passage.text:
            return None
        return Hit(
            path=self.path,
            line=passage.line,
            end_line=passage.end_line,
            date=passage.day or memory.date,
            score=self.score,
            text=passage.text,
            archived=memory.archived,
            speaker=passage.speaker,
            time=passage.time,
            note=self.note,
            **self.held._asdict(),
            parts={**dict(self._item.parts()), **self._parts},
            when=memory.when,
            excerpt=self.excerpt,
            cut=self.shown != ((0, len(passage.text)),),
            before=before if before and leans(passage, before) else None,
            sources=self.sources,
            newer=self.newer,
            title=memory.told_title,
        )


class Reader:
    """Reads passages as their files have them now."""

    def __init__(
        self, index: Index, corpus: Corpus, parsed: Query, today: dt.date, current: CurrentConversation | None
    ) -> None:
        self._index, self._folder = index, index.folder
        self._shelf = index.shelf
        self.corpus = corpus
        self.today = today
        self._current = current
        self.time = filters.time_asked(parsed.spans, today)
        self._listed: dict[str, int] = {}  # a passage of the file, by path
        self._read: dict[str, Memory | None] = {}
        self._pending = journal.pending_deletions(self._folder)
        self.names = frozenset(token for name in corpus.speaker_names for token in terms.tokens(name))
        self._voices = parsed.voices
        self._weights = {
            stem: share * word.weight * ranking.idf(corpus, sum(map(corpus.frequency, corpus.concept(stem))))
            for word in parsed.words
            for stem, share in (*word.others, (word.stem, 1.0))
        }
        self.stems = frozenset(stem for word in parsed.words for stem in (word.stem, *(o for o, _ in word.others)))

    def found_in(self, text: str) -> set[str]:
        """The stems of the question that a text has."""
        return {terms.stem(token) for token in terms.tokens(text)} & self.stems

    def candidates(self, scored: Iterable[Scored]) -> Iterator[Candidate]:
        """The passages in the same order, without those that stand in the prompt already and what sums the prompt up."""
        corpus, told = self.corpus, dict[int, tuple[FileStatus, int]]()
        voices = corpus.voices
        found: dict[tuple[str, int], Candidate] = {}
        for item in scored:
            file = bisect.bisect_right(corpus.firsts, item.number)
            if file not in told:
                entry = corpus.file(item.number)
                told[file] = self._told(entry), entry.first
                self._listed[entry.path] = item.number
            known, first = told[file]
            line = corpus.line(item.number)
            if (known.path, line) in found:
                found[known.path, line].also(item.number - first, item.score)
                continue
            derived = corpus.flags[item.number] & terms.IS_DERIVED
            sums_up = bool(derived and not corpus.speakers[item.number] and kind_of(known.path) == "sessions")
            if not (self._left_out(known.path, line) or (sums_up and self._going_on(known.path))):
                one = found[known.path, line] = Candidate(self, known, item.number - first, line, item)
                one.is_episode = sums_up
                one.is_aside = bool(voices) and voices[item.number] == BY_ASSISTANT and self._voices[BY_ASSISTANT] < 1
                yield one

    def best_sentences(self, text: str) -> tuple[int, int]:
        """The sentences of a text, one behind the other, that hold most of the question in EXCERPT tokens, as places; of a
        longer sentence the beginning. The one that a text closes with, an offer of more mostly, is none of them."""
        last = min(len(text), LOOKED_AT)
        spans = [match.span() for match in _SENTENCES.finditer(text, 0, last) if match[0].strip(" *#|-_\n")]
        if len(spans) > 1 and text.rstrip()[-1:] in "!?！？":
            del spans[-1]
        best, chosen = -1.0, (0, last)
        for place, (start, _) in enumerate(spans):
            held = set[str]()
            for _, end in spans[place:]:
                if end > spans[place][1] and tokens.count(text[start:end]) > EXCERPT:
                    break
                held |= {terms.stem(token) for token in terms.tokens(text[start:end])}
                worth = sum(self._weights.get(stem, 0.0) for stem in held)
                if worth > best + 1e-6:
                    best, chosen = worth, (start, end)
        start, end = chosen
        while tokens.count(text[start:end]) > EXCERPT + 10:
            end = start + (end - start) * 9 // 10
        return start + len(text[start:end]) - len(text[start:end].lstrip()), end

    def _told(self, entry: IndexedFile) -> FileStatus:
        more = entry.particulars
        if not more:
            return FileStatus(entry.path)
        note, newer = filters.lapse(entry, self.today), filters.replaced(entry, self.today)
        if (held := filters.then_or_now(entry, self.today, self.time)) == "then":
            note, newer = f"{THEN}{note}", ""
        elif held and self.time:
            note = f"now: {filters.lapse(entry, *self.time)}"
        if not note and filters.confidence(entry) < filters.SURE:
            note = f"{DOUBTFUL}{filters.confidence(entry):g}"
        return FileStatus(entry.path, note, newer, _listed(more.get("source")))

    def _left_out(self, path: str, line: int) -> bool:
        """Does a passage stand in the prompt already, or is it withheld?"""
        return self._in_prompt(path, line) or self._pending.hides(path, line)

    def _in_prompt(self, path: str, line: int) -> bool:
        return self._current is not None and self._going_on(path) and line >= self._current.line

    def _going_on(self, path: str) -> bool:
        return self._current is not None and path == self._current.path

    def memory(self, path: str) -> Memory | None:
        """A file as it is now; None where it cannot be read."""
        if path not in self._read:
            number = self._listed.get(path)
            try:
                if number is None:
                    self._read[path] = self._folder.memory(path)
                else:
                    self._read[path] = self._shelf.memory(self._folder, path, self.corpus.stats(number))
            except FilememError:
                self._read[path] = None
        return self._read[path]

    def source(self, cited: str, fact: Candidate) -> Candidate | None:
        """The turn that a fact cites as `path:line`; it holds what the fact holds."""
        path, _, line = cited.rpartition(":")
        path = next(archive.places(self._folder, path), path)
        memory = self.memory(path) if line.isascii() and line.isdigit() else None
        lines = [memory.passages[window[0]].line for window in memory.windows] if memory else []
        for place, number in enumerate(lines):
            if number == int(line) and not self._left_out(path, number):
                item = _like(
                    fact, TermCoverage(fact.strength, (), fact.held.has + fact.held.near, fact.held.lacks), "said"
                )
                return Candidate(self, FileStatus(path), place, number, item)
        return None

    def replacement(self, old: Candidate) -> Candidate | None:
        """What holds now instead of a superseded memory, with the same score; None where it cannot be told."""
        path, memory = old.newer, None
        for _ in range(CHAIN):
            try:
                path = self._folder.locate(path)
            except FilememError:
                return None
            memory = self.memory(path)
            following = memory and memory.particular("superseded_by")
            if not following:
                break
            path = str(following)
        if memory is None or not memory.passages or path == old.path:
            return None
        line, item = memory.passages[0].line, _like(old, old.held, "replaces")
        return None if self._left_out(path, line) else Candidate(self, FileStatus(path), 0, line, item)


def _like(other: Candidate, held: TermCoverage, why: str) -> Scored:
    """The score and coverage of `other` for a passage that stands in its place; `why` is shown with the score."""
    return Scored(0, other.score, lambda: held, lambda: [(why, other.score)])


def _listed(value: object) -> tuple[str, ...]:
    """A front matter value that is a text or a list of them."""
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),) if value else ()
