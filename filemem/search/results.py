"""From ranked passages to the answer: one hit a piece of evidence, within a budget."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from filemem.errors import FilememError
from filemem.index import Corpus, Index, IndexedFile
from filemem.search import validity
from filemem.search.candidates import Candidates
from filemem.search.features import Features, Ranked, coverage, with_named_day
from filemem.search.query import Query
from filemem.search.weights import Weights
from filemem.store import pending
from filemem.store.bullets import parse as parse_bullet
from filemem.store.folder import CurrentConversation
from filemem.store.memory import SOURCE_MARK, Memory
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import PROFILE, FileDate, archived, kind_of
from filemem.text import dates, terms
from filemem.text.dayrange import DayRange
from filemem.text.plain import count_tokens

MERGED_MATCHES = 100  # of the best, those that are compared with each other
DATED_MATCHES = 60  # of the best, those whose text is searched for days
COMPARED_MATCHES = 20  # of the best, those that are compared with the question
SHOWN_WHOLE_CHARS = 500  # of a person's turn, however it is indexed
MAX_EXCERPT_SOURCE_CHARS = 20_000  # of a turn in which sentences are looked for
HEADING_TOKENS = 14
MAX_NAMED_DAYS = 7  # of a span that a text names, to be of each of its days
LINE_TOKENS = 6  # a line's number and speaker
MAX_SUCCESSORS = 10
DOUBTFUL = "doubtful: confidence "

_SENTENCE = re.compile(
    r"(?:[^.!?;。！？；…\n]|[.](?=\w))+[.!?;。！？；…”’」』）'\")\]*]*"
)


@dataclass(frozen=True)
class Hit:
    """One passage found, as its file has it.

    `score` is about 1 for a passage that holds every word of the question, `strength`
    the share of its content words that the passage and its neighbours hold, `parts`
    what made the score. `note` says why it may not hold, `newer` what replaced it,
    `sources` where a fact was said, as `path:line`. `excerpt` is what an answer shows.
    """

    path: str
    line: int
    end_line: int
    text: str
    speaker: str
    time: str
    date: dt.date | None
    when: FileDate | None
    title: str
    score: float
    strength: float
    excerpt: str
    is_cut: bool
    note: str = ""
    newer: str = ""
    sources: tuple[str, ...] = ()
    archived: bool = False
    previous: Passage | None = None
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Return the kind of memory, such as `facts`."""
        return kind_of(self.path)


class Reader:
    """Reads the passages of an answer, as their files are now."""

    def __init__(
        self,
        index: Index,
        corpus: Corpus,
        query: Query,
        candidates: Candidates,
        today: dt.date,
        current: CurrentConversation | None,
        weights: Weights,
    ) -> None:
        self.corpus = corpus
        self.query = query
        self._candidates = candidates
        self.today = today
        self.weights = weights
        self._index = index
        self._current = current
        self._hidden = pending.pending_deletions(index.folder)
        self._memories: dict[str, Memory | None] = {}
        self._entries: dict[str, IndexedFile] = {}
        self._word_weights = _stem_weights(query)

    def is_left_out(self, path: str, line: int) -> bool:
        """Say whether a passage stands in the prompt already, or is to be forgotten."""
        current = self._current
        if current is not None and path == current.path and line >= current.line:
            return True
        return self._hidden.hides(path, line)

    def memory(self, entry: IndexedFile) -> Memory | None:
        """Return a file as it is now; None if it cannot be read."""
        if entry.path not in self._memories:
            try:
                memory = self._index.memory(entry.path, entry.stats)
            except FilememError:
                memory = None
            self._memories[entry.path] = memory
        return self._memories[entry.path]

    def passage(self, match: Ranked) -> Passage | None:
        """Return a match's passage; None if it is gone."""
        memory = self.memory(match.entry)
        place = match.number - match.entry.first
        if memory is None or place >= len(memory.windows):
            return None
        return memory.passages[memory.windows[place][0]]

    def entry(self, path: str) -> IndexedFile | None:
        """Return the indexed file at a path, or where it lies in the archive."""
        if not self._entries:
            self._entries = {entry.path: entry for entry in self.corpus.entries()}
        return self._entries.get(path) or self._entries.get(archived(path))

    def hit(self, match: Ranked) -> Hit | None:
        """Return a match as a hit; None if its passage is gone or empty."""
        passage = self.passage(match)
        memory = self.memory(match.entry)
        if passage is None or memory is None or passage.text in ("", FORGOTTEN):
            return None
        entry = match.entry
        place, start, end = memory.windows[match.number - entry.first]
        is_aside = self._is_aside(match)
        if is_aside:
            start, end = self.best_sentences(passage.text)
        elif passage.speaker and len(passage.text) <= SHOWN_WHOLE_CHARS:
            start, end = 0, len(passage.text)
        return Hit(
            path=entry.path,
            line=passage.line,
            end_line=passage.end_line,
            text=passage.text,
            speaker=passage.speaker,
            time=passage.time,
            date=passage.day or memory.date,
            when=memory.when,
            title=memory.told_title,
            score=match.score,
            strength=self.coverage(match),
            excerpt=self._excerpt(passage.text, start, end),
            is_cut=(start, end) != (0, len(passage.text)),
            note=self._note(entry),
            newer=validity.successor(entry, self.today),
            sources=validity.sources(entry),
            archived=entry.archived,
            previous=memory.passages[place - 1] if place else None,
            parts=_parts(match.features, self.query),
        )

    def is_talk_with_assistant(self, entry: IndexedFile) -> bool:
        """Say whether an assistant speaks in a file."""
        return any(map(self.corpus.by_assistant, entry.numbers))

    def coverage(self, match: Ranked) -> float:
        """Return how much of the content words a passage and its neighbours hold."""
        return coverage(match, self.query, self._candidates)

    def _is_aside(self, match: Ranked) -> bool:
        """Say whether a passage is an assistant's that nobody asked for."""
        is_assistant = self.corpus.by_assistant(match.number)
        return is_assistant and not self.query.asks_assistant

    def _excerpt(self, text: str, start: int, end: int) -> str:
        excerpt = text[start:end].strip()
        if start:
            excerpt = f"… {excerpt}"
        if end < len(text):
            excerpt = f"{excerpt} …"
        return terms.shorten_captions(excerpt, self._word_weights.keys())

    def _note(self, entry: IndexedFile) -> str:
        note = validity.validity_note(entry, self.today)
        certainty = validity.confidence(entry)
        if not note and certainty < self.weights.sure:
            note = f"{DOUBTFUL}{certainty:g}"
        return note

    def stems_in(self, text: str) -> set[str]:
        """Return the stems of the question that a text has."""
        return set(terms.stems(terms.tokens(text))) & self._word_weights.keys()

    def adds(self, match: Ranked) -> bool:
        """Say whether a passage has a content word that the question does not have."""
        passage = self.passage(match)
        text = passage.text if passage else ""
        asked = self.query.stems
        for token in terms.tokens(terms.split_captions(text)[0]):
            if token in terms.STOP or (len(token) == 1 and terms.is_cjk(token)):
                continue
            stem = terms.stem(token)
            if stem not in asked and stem not in terms.STOP:
                return True
        return False

    def best_sentences(self, text: str) -> tuple[int, int]:
        """Return where the sentences of a text stand that hold most of the question.

        They follow each other and have about `excerpt_tokens` tokens.
        """
        limit = self.weights.excerpt_tokens
        end_of_text = min(len(text), MAX_EXCERPT_SOURCE_CHARS)
        spans = [
            match.span()
            for match in _SENTENCE.finditer(text, 0, end_of_text)
            if match[0].strip(" *#|-_\n")
        ]
        best_weight = -1.0
        best = (0, end_of_text)
        for place, (start, first_end) in enumerate(spans):
            held: set[str] = set()
            for _, end in spans[place:]:
                if end > first_end and count_tokens(text[start:end]) > limit:
                    break
                held |= self.stems_in(text[start:end])
                weight = sum(self._word_weights[stem] for stem in held)
                if weight > best_weight + 1e-6:
                    best_weight = weight
                    best = (start, end)
        return self._around_words(text, *best)

    def _around_words(self, text: str, start: int, end: int) -> tuple[int, int]:
        """Return a part of a long sentence that begins before its first word asked for."""
        limit = self.weights.excerpt_tokens
        if count_tokens(text[start:end]) <= limit + 10:
            stripped = len(text[start:end]) - len(text[start:end].lstrip())
            return start + stripped, end
        first = min(self._places(text, start, end), default=start)
        if count_tokens(text[start:first]) > limit // 2:
            start = text.rfind(" ", start, max(start + 1, first - limit)) + 1 or first
        while count_tokens(text[start:end]) > limit + 10:
            end = start + (end - start) * 9 // 10
        return start, end

    def _places(self, text: str, start: int, end: int) -> Iterator[int]:
        """Yield where the words of the question stand in a part of a text."""
        for match in re.finditer(r"\w+", text[start:end]):
            if self.stems_in(match[0]):
                yield start + match.start()


def _stem_weights(query: Query) -> dict[str, float]:
    """Return what each stem of the question, or in place of one, counts."""
    found: dict[str, float] = {}
    for word in query.words:
        for stem, share in (*word.alternatives, (word.stem, 1.0)):
            found[stem] = max(found.get(stem, 0.0), share * word.weight)
    return found


def _parts(features: Features, query: Query) -> dict[str, float]:
    """Return the named parts of a score, those that count something."""
    parts = {
        word.text: value
        for word, value in zip(query.words, features.by_word, strict=False)
    }
    for name in (
        "session",
        "speaker",
        "follows_question",
        "length",
        "day",
        "meaning",
    ):
        parts[name.replace("_", " ")] = getattr(features, name)
    factor = features.role * features.document
    if factor != 1.0:
        parts["times"] = factor
    return {name: value for name, value in parts.items() if value}


# -- days that a text names ----------------------------------------------------------


def names_days(text: str, said_on: dt.date | None, query: Query) -> bool:
    """Say whether a text names one of the days asked for."""
    day = said_on or dt.date.min
    for mention in dates.mentioned(text, day):
        span = dates.nearest(mention, day)
        is_long = (span.end - span.start).days > MAX_NAMED_DAYS
        named = DayRange(span.start.toordinal(), span.end.toordinal())
        for days in query.days:
            if days.overlaps(named) and (not is_long or days.contains(named)):
                return True
    return False


def raise_named_days(matches: list[Ranked], reader: Reader) -> list[Ranked]:
    """Return the matches, those whose text names a day asked for as if said on it."""
    if not reader.query.days:
        return matches
    raised: list[Ranked] = []
    for match in matches[:DATED_MATCHES]:
        passage = reader.passage(match)
        memory = reader.memory(match.entry)
        if passage is not None and memory is not None:
            said_on = passage.day or memory.date
            if names_days(passage.text, said_on, reader.query):
                match = with_named_day(match, reader.weights)
        raised.append(match)
    raised += matches[DATED_MATCHES:]
    return sorted(raised, key=lambda match: -match.score)


# -- one piece of evidence, one hit -------------------------------------------------


def merge_evidence(matches: list[Ranked], reader: Reader) -> list[Ranked]:
    """Return the matches with what tells the same made one, best first.

    A fact stands for the turns that it rests on. A line of a summary or the profile
    gives way to a fact or a turn that it retells. What is kept has the better score.
    """
    kept: dict[str, Ranked] = {}
    teller: dict[str, str] = {}
    for match in matches[:MERGED_MATCHES]:
        place = _place(match, reader)
        if place in kept:
            continue  # another window of the same long turn
        places: list[str] = []
        for told in _retold(match, reader):
            places += [told, archived(told)]
        same = [teller[one] for one in (place, *places) if one in teller]
        same += [one for one in places if one in kept]
        others = [one for one in dict.fromkeys(same) if one in kept]
        winner = min([match, *(kept[one] for one in others)], key=_precedence)
        score = max([match.score, *(kept[one].score for one in others)])
        weaker = [one for one in others if _precedence(kept[one]) > _precedence(winner)]
        for one in weaker:
            del kept[one]
        winner_place = _place(winner, reader)
        if winner is match or winner_place in kept:
            kept[winner_place] = replace(winner, score=score)
        teller.update(dict.fromkeys(places, place))
    merged = sorted(kept.values(), key=lambda match: -match.score)
    return merged + matches[MERGED_MATCHES:]


def _precedence(match: Ranked) -> int:
    """Return which of several that tell the same is shown: the lowest."""
    if _is_fact(match):
        return 0
    if match.entry.path == PROFILE or match.entry.kind == "summaries":
        return 2
    return 1


def _place(match: Ranked, reader: Reader) -> str:
    return f"{match.entry.path}:{reader.corpus.lines[match.number]}"


def _is_fact(match: Ranked) -> bool:
    return match.entry.kind in ("facts", "lessons")


def _retold(match: Ranked, reader: Reader) -> list[str]:
    """Return the places of what a match tells over again."""
    entry = match.entry
    if _is_fact(match):
        return list(validity.sources(entry))
    if entry.path != PROFILE and entry.kind != "summaries":
        return []
    passage = reader.passage(match)
    if passage is None:
        return []
    if entry.path == PROFILE:
        mark = SOURCE_MARK.search(passage.text)
        fact = reader.entry(mark[1]) if mark else None
        if fact is None or not fact.count:
            return []
        return [f"{fact.path}:{reader.corpus.lines[fact.first]}"]
    bullet = parse_bullet(passage.text, entry.path, passage.line)
    if bullet is None:
        return []
    return [f"{bullet.path}:{line}" for line in bullet.lines]


def put_current_first(matches: list[Ranked], reader: Reader) -> list[Ranked]:
    """Return the matches with what replaced a superseded one right before it."""
    ordered: list[Ranked] = []
    shown: set[int] = set()
    for match in matches:
        newer = _replacement(match, reader)
        if newer is not None and newer.number not in shown:
            found = next((one for one in matches if one.number == newer.number), newer)
            ordered.append(replace(found, score=max(found.score, match.score)))
            shown.add(newer.number)
        if match.number not in shown:
            ordered.append(match)
            shown.add(match.number)
    return ordered


def _replacement(match: Ranked, reader: Reader) -> Ranked | None:
    """Return what replaced a superseded memory last, at the same score."""
    entry: IndexedFile | None = match.entry
    for _ in range(MAX_SUCCESSORS):
        path = validity.successor(entry, reader.today) if entry else ""
        newer = reader.entry(path) if path else None
        if newer is None:
            break
        entry = newer
    if entry is None or entry is match.entry or not entry.count:
        return None
    if reader.is_left_out(entry.path, reader.corpus.lines[entry.first]):
        return None
    return replace(match, number=entry.first, entry=entry)


def put_bare_questions_last(matches: list[Ranked], reader: Reader) -> list[Ranked]:
    """Return the matches, those that add no word to the question at a lower score."""
    weighed: list[Ranked] = []
    for match in matches[:COMPARED_MATCHES]:
        if not reader.adds(match):
            match = replace(match, score=match.score * reader.weights.adds_nothing)
        weighed.append(match)
    weighed += matches[COMPARED_MATCHES:]
    return sorted(weighed, key=lambda match: -match.score)


def put_newest_first(matches: list[Ranked], reader: Reader) -> list[Ranked]:
    """Return the matches, the newest first of those that count as equal to the best.

    What no longer holds stays where it is.
    """
    if not matches:
        return matches
    least = reader.weights.equal_share * matches[0].score
    equal = [match for match in matches if match.score >= least]
    rest = matches[len(equal) :]
    by_assistant = reader.corpus.by_assistant
    best_role = by_assistant(matches[0].number)
    alike = [one for one in equal if by_assistant(one.number) == best_role]
    others = [one for one in equal if by_assistant(one.number) != best_role]
    alike.sort(key=lambda match: -match.entry.day(match.number))
    return alike + others + rest


# -- which of them an answer shows --------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """The hits to show in their order, and how many weaker ones there are."""

    hits: list[Hit]
    left_out: int


class Budget:
    """What may still be shown in an answer without a limit."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.weights = reader.weights
        self.best_score = 0.0
        self.best_coverage = 0.0
        self.room = 0.0
        self.tokens = 0
        self.passages = 0
        self.files: set[str] = set()

    def is_worth_it(self, match: Ranked) -> bool:
        """Say whether a passage scores enough to be shown after those before it."""
        coverage = self.reader.coverage(match)
        if not self.passages:
            self.best_score = max(self.best_score, match.score)
        if coverage > self.best_coverage or not self.room:
            self.best_coverage = max(coverage, self.best_coverage)
            self.room = self._room(match)
        lacking = self.best_coverage - coverage
        least = self.weights.least_share
        if _is_fact(match):
            least = self.weights.least_fact_share
        share = (
            least
            + self.weights.share_per_passage * self.passages
            + self.weights.coverage_penalty * lacking
        )
        return match.score >= share * self.best_score

    def _room(self, match: Ranked) -> float:
        """Return the tokens of the answer: where little matches, more helps little."""
        weights = self.weights
        growth = weights.answer_tokens - weights.weak_answer_tokens
        room = weights.weak_answer_tokens + self.best_coverage * growth
        if self.reader.is_talk_with_assistant(match.entry):
            return max(room, weights.talk_tokens)
        return room

    def is_over(self, hit: Hit) -> bool:
        """Say whether a hit no longer fits."""
        return bool(self.passages) and self.tokens + self._cost(hit) > self.room

    def spend(self, hit: Hit) -> None:
        """Count a hit as shown."""
        self.tokens += self._cost(hit)
        self.passages += 1
        self.files.add(hit.path)

    def _cost(self, hit: Hit) -> int:
        cost = count_tokens(hit.excerpt) + LINE_TOKENS
        return cost if hit.path in self.files else cost + HEADING_TOKENS


def choose(
    matches: Iterable[Ranked], reader: Reader, limit: int | None, matching: int
) -> Choice:
    """Choose the hits that an answer shows: the `limit` best, or what is worth its room."""
    chosen: list[Hit] = []
    seen: set[tuple[str, int]] = set()
    excerpts: set[str] = set()
    budget = Budget(reader)
    for match in matches:
        place = (match.entry.path, reader.corpus.lines[match.number])
        if place in seen or reader.is_left_out(*place):
            continue
        if limit is None and not budget.is_worth_it(match):
            continue
        seen.add(place)
        hit = reader.hit(match)
        if hit is None or (hit.speaker and hit.excerpt in excerpts):
            continue
        if limit is None and budget.is_over(hit):
            break
        chosen.append(hit)
        excerpts.add(hit.excerpt)
        budget.spend(hit)
        if len(chosen) == limit:
            break
    left_out = max(0, matching - len(chosen))
    return Choice(_laid_out(chosen, reader.weights.best_tokens), left_out)


def _laid_out(hits: list[Hit], best_tokens: int) -> list[Hit]:
    """Return hits, best first, in parts of so many tokens, each by file and line."""
    parts: list[list[Hit]] = [[]]
    tokens = 0
    for hit in hits:
        cost = count_tokens(hit.excerpt) + LINE_TOKENS + HEADING_TOKENS
        if parts[-1] and tokens + cost > best_tokens:
            parts.append([])
            tokens = 0
        parts[-1].append(hit)
        tokens += cost
    return [hit for part in parts for hit in _by_file(part)]


def _by_file(hits: list[Hit]) -> list[Hit]:
    """Return hits by file, that of the first one first, each file's by line."""
    files: dict[str, list[Hit]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    ordered: list[Hit] = []
    for group in files.values():
        ordered += sorted(group, key=lambda hit: hit.line)
    return ordered
