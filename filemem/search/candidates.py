"""Passages that may be shown. Most are only compared by their scores, so files are read late."""

import copy
import datetime as dt
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from filemem.errors import FilememError
from filemem.files import archive, journal
from filemem.files.folder import CurrentConversation
from filemem.files.memory import FileDate, Memory, kind_of
from filemem.files.passages import Passage
from filemem.index import Index
from filemem.index.corpus import BY_ASSISTANT, Corpus, IndexedFile
from filemem.search import filters, ranking
from filemem.search.question import Query
from filemem.search.ranking import Scored, TermCoverage
from filemem.text import dates, terms, tokens
from filemem.text.own_words import own_part

A_WEEK = 7  # days that a text may tell of at once to be of each of them
CHAIN = 10  # times that a memory is followed to what replaced it
DOUBTFUL = "doubtful: confidence "  # of what is not certain
WHOLE = 500  # characters of a person's turn that is shown whole, however it is indexed
LOOKED_AT = 20_000  # characters of an assistant's turn in which what is shown is looked for
EXCERPT = 40  # tokens that are shown of it, unless it is asked for
SHORT, SLIGHT = 40, 50  # columns of a reply that says little without its question; of one that starts with a pronoun
_SENTENCES = re.compile(r"(?:[^.!?;。！？；…\n]|[.](?=\w))+[.!?;。！？；…”’」』）'\")\]*]*")
_WORDLESS = re.compile(r"\W*(?:[\w-]+\.(?:jpe?g|png|gif|heic|webp|mp[34]|mov|m4a|opus|ogg|amr|pdf)\b|[\d\W_])*")
_WIDE = re.compile(f"[{terms.CJK}]")
_QUESTION = re.compile(r"[?？][^?？]{0,25}$|[吗嗎呢][。~～\s]*$")
_LEANING = re.compile(
    r"(?:yes|yeah|yep|no|nope|sure|of course|definitely|exactly|absolutely|it|it's|that|that's|they|he|she|those|these)\b"
    r"|[对對是没沒不嗯它那他她这這]",
    re.IGNORECASE,
)


def leans(passage: Passage, before: Passage) -> bool:
    """Does a turn say little without the one before it: a short reply to a question, a bare yes, a pronoun?"""
    if not passage.speaker or before.speaker in ("", passage.speaker):
        return False
    width = len(passage.text) + len(_WIDE.findall(passage.text))
    if width <= SHORT and _QUESTION.search(before.text):
        return True
    return width <= SLIGHT and _LEANING.match(passage.text) is not None


class Hit:
    """One passage found, as its file has it when it is first looked at.

    `note` says why it may not hold, `newer` what replaced it, `sources` where a fact was said, as `path:line`.
    """

    def __init__(
        self, reader: "Reader", path: str, place: int, line: int, item: Scored, told: tuple[str, str, tuple[str, ...]]
    ) -> None:
        self.path, self.line, self.score = path, line, item.score
        self.note, self.newer, self.sources = told
        self.is_episode = False  # does it sum up its session?
        self.is_aside = False  # does an assistant say it whom nobody asked about?
        self._reader, self._place, self._item = reader, place, item
        self._more: dict[str, float] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and self._says() == other._says()

    def __repr__(self) -> str:
        return f"<Hit {self.path}:{self.line} {self.text[:40]!r}>"

    def _says(self) -> tuple[object, ...]:
        return self.path, self.line, self.score, self.text, self.note, self.newer, self.sources

    def counting(self, score: float, by: str = "") -> "Hit":
        """The same with another score; the difference is shown among the parts of the score as `by`."""
        other = copy.copy(self)
        other.score = score
        other._more = {**self._more, by: score - self.score} if by and score != self.score else self._more
        return other

    @property
    def parts(self) -> dict[str, float]:
        """What made its score."""
        return {**dict(self._item.parts()), **self._more}

    @functools.cached_property
    def held(self) -> TermCoverage:
        """What it holds of the question."""
        return self._item.held()

    @property
    def strength(self) -> float:
        """How much of the question it holds."""
        return self.held.strength

    @property
    def has(self) -> tuple[str, ...]:
        """The question's words that stand in it."""
        return self.held.has

    @property
    def near(self) -> tuple[str, ...]:
        """Those that stand around it."""
        return self.held.near

    @property
    def lacks(self) -> tuple[str, ...]:
        """Those that stand in neither."""
        return self.held.lacks

    @property
    def lapsed(self) -> bool:
        """Is it known not to hold?"""
        return bool(self.note) and not self.note.startswith(DOUBTFUL)

    # -- what its file says --------------------------------------------------------------------------------------

    @functools.cached_property
    def _memory(self) -> Memory | None:
        return self._reader.memory(self.path)

    @functools.cached_property
    def passage(self) -> Passage:
        """The passage; an empty one where it has gone since."""
        found = self._memory and self._memory.windows[self._place : self._place + 1]
        return (
            self._memory.passages[found[0][0]] if self._memory and found else Passage(self.line, self.line, "", "", "")
        )

    @functools.cached_property
    def previous(self) -> Passage | None:
        """The passage before it."""
        place = self._memory.windows[self._place][0] if self._memory and self.text else 0
        return self._memory.passages[place - 1] if self._memory and place else None

    @property
    def text(self) -> str:
        """What it says."""
        return self.passage.text

    @property
    def speaker(self) -> str:
        """Who says it; empty where nobody does."""
        return self.passage.speaker

    @property
    def time(self) -> str:
        """Its clock."""
        return self.passage.time

    @property
    def end_line(self) -> int:
        """Its last line."""
        return self.passage.end_line

    @property
    def when(self) -> FileDate | None:
        """The day of its file."""
        return self._memory.when if self._memory else None

    @property
    def date(self) -> dt.date | None:
        """Its own day, or that of its file."""
        return self.passage.day or (self._memory.date if self._memory else None)

    @property
    def archived(self) -> bool:
        """Does its file lie in the archive?"""
        return bool(self._memory and self._memory.archived)

    @property
    def title(self) -> str:
        """That of a note whose path does not tell it."""
        return self._memory.told_title if self._memory else ""

    @property
    def before(self) -> Passage | None:
        """The turn that it leans on."""
        return self.previous if self.previous and leans(self.passage, self.previous) else None

    # -- what of it is shown -------------------------------------------------------------------------------------

    @functools.cached_property
    def shown(self) -> tuple[int, int]:
        """The part of the text that an answer shows, as places in it; an episode whole, as a person's short turn."""
        if self.is_aside:
            return self._reader.best_sentences(self.text)
        if self.is_episode or (self.speaker and len(self.text) <= WHOLE) or not (self._memory and self.text):
            return 0, len(self.text)
        return self._memory.windows[self._place][1:]

    @property
    def cut(self) -> bool:
        """Is that only a part?"""
        return self.shown != (0, len(self.text))

    @functools.cached_property
    def excerpt(self) -> str:
        """What an answer shows of the text, captions without a word of the question shortened; an episode as what it is."""
        start, end = self.shown
        found = f"{'… ' * bool(start)}{self.text[start:end].strip()}{' …' * (end < len(self.text))}"
        return f"episode: {self.text}" if self.is_episode else terms.shorten_captions(found, self._reader.stems)

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

    @property
    def is_pasted(self) -> bool:
        """Does what it holds of the question stand in what the person quoted or pasted, and not in what they say?"""
        own = own_part(self.text, self.speaker) if self.speaker else self.text
        return own != self.text and 2 * len(self._reader.found_in(own)) < len(self._reader.found_in(self.text))

    @property
    def wordless(self) -> bool:
        """Is it but the name of a file, or marks and numbers?"""
        return bool(self.speaker) and len(self.text) < WHOLE and _WORDLESS.fullmatch(self.text) is not None

    @property
    def empty(self) -> bool:
        """Has it nothing to tell: a greeting, thanks, or the heading over something else?"""
        if self.speaker or not self._memory:
            return terms.is_courtesy(self.text, self._reader.names) or not self.text
        over = not self._memory.titled and len(self._memory.passages) > 1
        return over and self._memory.lines[self.line - 1 : self.line] == [f"# {self.text}"]


class Reader:
    """Reads passages as their files have them now."""

    def __init__(
        self, index: Index, corpus: Corpus, parsed: Query, today: dt.date, current: CurrentConversation | None
    ) -> None:
        self.corpus, self.today = corpus, today
        self.names = frozenset(token for name in corpus.speaker_names for token in terms.tokens(name))
        self._folder, self._shelf, self._current, self._voices = index.folder, index.shelf, current, parsed.voices
        self._listed: dict[str, int] = {}  # a passage of the file, by path
        self._read: dict[str, Memory | None] = {}
        self._pending = journal.pending_deletions(self._folder)
        self._weights = {
            stem: share * word.weight * ranking.idf(corpus, sum(map(corpus.frequency, corpus.concept(stem))))
            for word in parsed.words
            for stem, share in (*word.others, (word.stem, 1.0))
        }
        self.stems = frozenset(self._weights)

    def found_in(self, text: str) -> set[str]:
        """The stems of the question that a text has."""
        return {terms.stem(token) for token in terms.tokens(text)} & self.stems

    def hits(self, scored: Iterable[Scored]) -> Iterator[Hit]:
        """The passages in the same order, each once, without what stands in the prompt already or sums it up."""
        corpus, voices, found = self.corpus, self.corpus.voices, set[tuple[str, int]]()
        for item in scored:
            entry, line = corpus.file(item.number), corpus.line(item.number)
            self._listed[entry.path] = item.number
            derived = corpus.flags[item.number] & terms.IS_DERIVED and not corpus.speakers[item.number]
            sums_up = bool(derived) and kind_of(entry.path) == "sessions"
            going_on = self._current is not None and entry.path == self._current.path
            if (entry.path, line) in found or self._left_out(entry.path, line) or (sums_up and going_on):
                continue
            found.add((entry.path, line))
            hit = Hit(self, entry.path, item.number - entry.first, line, item, self._told(entry))
            hit.is_episode = sums_up
            hit.is_aside = bool(voices) and voices[item.number] == BY_ASSISTANT and self._voices[BY_ASSISTANT] < 1
            yield hit

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
                held |= self.found_in(text[start:end])
                worth = sum(self._weights[stem] for stem in held)
                if worth > best + 1e-6:
                    best, chosen = worth, (start, end)
        start, end = chosen
        while tokens.count(text[start:end]) > EXCERPT + 10:
            end = start + (end - start) * 9 // 10
        return start + len(text[start:end]) - len(text[start:end].lstrip()), end

    def _told(self, entry: IndexedFile) -> tuple[str, str, tuple[str, ...]]:
        """Why a file may not hold, what replaced it, where it was said."""
        if not (more := entry.particulars):
            return "", "", ()
        note, newer = filters.lapse(entry, self.today), filters.replaced(entry, self.today)
        if not note and filters.confidence(entry) < filters.SURE:
            note = f"{DOUBTFUL}{filters.confidence(entry):g}"
        sources = more.get("source") or ()
        return note, newer, tuple(map(str, sources)) if isinstance(sources, list | tuple) else (str(sources),)

    def _left_out(self, path: str, line: int) -> bool:
        """Does a passage stand in the prompt already, or is it withheld?"""
        in_prompt = self._current is not None and path == self._current.path and line >= self._current.line
        return in_prompt or self._pending.hides(path, line)

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

    def source(self, cited: str, fact: Hit) -> Hit | None:
        """The turn that a fact cites as `path:line`; it holds what the fact holds."""
        path, _, line = cited.rpartition(":")
        path = next(archive.places(self._folder, path), path)
        memory = self.memory(path) if line.isascii() and line.isdigit() else None
        for place, (passage, *_) in enumerate(memory.windows if memory else ()):
            if memory and memory.passages[passage].line == int(line) and not self._left_out(path, int(line)):
                held = TermCoverage(fact.strength, (), fact.has + fact.near, fact.lacks)
                return Hit(self, path, place, int(line), _like(fact, held, "said"), ("", "", ()))
        return None

    def replacement(self, old: Hit) -> Hit | None:
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
        if memory is None or not memory.passages or path == old.path or self._left_out(path, memory.passages[0].line):
            return None
        return Hit(self, path, 0, memory.passages[0].line, _like(old, old.held, "replaces"), ("", "", ()))


def _like(other: Hit, held: TermCoverage, why: str) -> Scored:
    """The score and coverage of `other` for a passage that stands in its place; `why` is shown with the score."""
    return Scored(0, other.score, lambda: held, lambda: [(why, other.score)])
