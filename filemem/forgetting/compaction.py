"""Compaction: old conversations are summarised by month, and the originals move to the archive.

A summary is written only where it is under half of its sources; a source that is too short for it stays as it is. `plan` looks;
`apply` writes the sections of some sources into their summary, moves the originals, and logs what is done. After a job that
was killed the next one goes on: a section that stands there is taken as it is. Every source is logged with its digest, so
nothing is done twice, and a conversation that was edited afterwards is compacted again.

What a summary says are a model's statements with the turns they rest on, else the most telling turns. A turn is worth more where
it names a day, a number or a name, opens a conversation, answers a question or tells of its speaker, and in rare words, as the
index has it. Of two equals the shorter is kept, since it leaves room for others.
"""

import contextlib
import datetime as dt
import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from filemem import index
from filemem.errors import FilememError
from filemem.files import config, journal, safe, sections
from filemem.files.config import Config
from filemem.files.folder import Folder, Progress, no_progress
from filemem.files.journal import Compacted
from filemem.files.memory import ASSISTANT, LARGEST, Memory, Passage, archived, live, only_asked
from filemem.files.sections import Bullet
from filemem.index.corpus import Corpus
from filemem.models import Model, ModelError, prompt
from filemem.models.offline import program_says
from filemem.text import dates, redaction, terms
from filemem.text.plain import count_tokens, escape_controls, one_line

ASKED = 20_000  # tokens of conversations that a model is asked to condense at once
# By how much a turn is worth more, as logarithms of odds: those of a regression on the turns that answer LoCoMo's questions
# (Maharana et al. 2024, five conversations), rounded.
DATE, NAME, NUMBER, OPENING, ANSWER, OWN, QUESTION = 1.3, 0.4, 0.35, 0.8, 0.75, 0.5, -1.2
RARITY = 0.95  # for the mean inverse frequency of its words in all memories, as a logarithm
PRICE = 60  # characters that a bullet costs besides its text: speaker, link, line
THRIFT = 0.8  # how strongly length counts against a turn
ENOUGH = 120  # letters and digits, behind which a turn is cut at the end of a sentence
LONGEST = 1000  # characters of one statement
TEXT = 0.65  # of a summary's bytes, what is text; the rest are links
WORDS = 0.75  # that a token is
LEAST = 60  # words
COVERED = 0.1  # of the turns with a name or a number, the least that a model's summary must cite
_END = re.compile(r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+")
_BULLET = re.compile(
    r"\s*[-*•]\s+(.+?)\s*[(\[（【]\s*(\d+:\d+(?:\s*[,;，、]\s*\[?\d+:\d+\]?)*)\s*[)\]）】]\s*[.。]?\s*$"
)
_NUMBER = re.compile(r"\d|[两三四五六七八九十百千万]")


class Source(NamedTuple):
    """A conversation that is to be summarised; `old` is what the log says of it, if anything."""

    memory: Memory
    digest: str
    old: Compacted | None

    @property
    def path(self) -> str:
        """Where it lies when it is live: the name by which it is logged and linked."""
        return live(self.memory.path)

    @property
    def new(self) -> bool:
        """Has it no section yet, as far as the log knows?"""
        return not self.old or self.old.state != journal.DONE

    @property
    def room(self) -> float:
        """The tokens that its section may have besides its heading; what was summarised once keeps a section."""
        if not self.new:
            return math.inf
        return (count_tokens(self.memory.text) - 1) // 2 - count_tokens(sections.section(self.path, []).decode())


class Batch(NamedTuple):
    """A summary, and the sources that it is to take up."""

    summary: str
    sources: list[Source]


class CompactionPlan(NamedTuple):
    """What a compaction would do, in the order in which it would do it; `short` are too short to be summarised."""

    batches: list[Batch]
    short: list[Source]


class Compaction(NamedTuple):
    """What became of one batch: bytes of the sources and of their sections, who wrote these, and what went wrong."""

    summary: str
    sources: list[str]
    before: int
    after: int
    by: str
    notes: list[str]


# -- the plan ----------------------------------------------------------------------------------------------------


def plan(
    folder: Folder, today: dt.date, older_than: int | None = None, progress: Progress = no_progress
) -> CompactionPlan:
    """What is due by `today`: the sessions more than `older_than` days old, else as set."""
    settings, known, paths = config.of(folder), journal.compacted(folder), dict.fromkeys(folder.paths())
    before = today.toordinal() - (settings.compact_after_days if older_than is None else older_than)
    sessions = [path for path in paths if live(path).startswith("sessions/")]
    sessions = [path for path in sessions if path == live(path) or live(path) not in paths]
    due, short = list[Source](), list[Source]()
    for done, path in enumerate(sessions):
        if done % 100 == 0:
            progress(done, len(sessions))
        if source := _source(folder, path, known.get(live(path)), before):
            fits = any(bullet.tokens <= source.room for _, bullet in _bullets(source.memory))
            (due if fits else short).append(source)
    progress(len(sessions), len(sessions))
    return CompactionPlan(_batches(folder, due, paths, settings), short)


def _source(folder: Folder, path: str, old: Compacted | None, before: int) -> Source | None:
    """A session that is old enough (its day's ordinal is under `before`) and not compacted as it is now, unless it is pinned,
    holds but questions, or cannot be read as text; without the turns that are withheld.
    """
    date = Memory(path, b"").date
    if date is None or date.toordinal() >= before:
        return None
    try:
        memory = folder.memory(path)
    except FilememError:
        return None
    source = Source(memory, sections.digest(memory.data), old)
    settled = old and old.digest == source.digest and old.state in (journal.DONE, journal.KEPT)
    if settled or memory.binary or len(memory.data) > LARGEST or memory.particular("pinned") or only_asked(memory):
        return None
    hidden = journal.pending_deletions(folder)
    told = [passage for passage in memory.passages if passage.line != memory.episode_line]
    memory.passages = [passage for passage in told if not hidden.hides(path, passage.line)]
    return source if any(passage.text.strip() for passage in memory.passages) else None


def _batches(folder: Folder, due: list[Source], paths: Iterable[str], settings: Config) -> list[Batch]:
    """The sources by summary: the one that has a section of it, else that of the month, in parts where it is too long."""
    found, sizes, homes = dict[str, Batch](), dict[str, int](), dict[str, str]()
    for path in paths if due else ():
        if live(path).startswith("summaries/"):
            text = folder.memory(path).text
            sizes[path] = count_tokens(text)
            homes |= dict.fromkeys(re.findall("^## (.+?)\r?$", text, re.MULTILINE), path)
    for source in sorted(due, key=lambda source: source.path):
        size = round(settings.summary_share * count_tokens(source.memory.text))
        summary = homes.get(sections.title(source.path), "")
        for part in itertools.count(1):
            if summary:
                break
            free = sections.of_month(source.memory.date or dt.date.min, part)
            taken = sizes.get(free, 0)
            if archived(free) not in sizes and (not taken or taken + size <= settings.month_tokens):
                summary = free
        sizes[summary] = sizes.get(summary, 0) + size
        found.setdefault(summary, Batch(summary, [])).sources.append(source)
    return list(found.values())


# -- apply -------------------------------------------------------------------------------------------------------


def apply(
    folder: Folder,
    found: CompactionPlan,
    at: dt.datetime,
    model: Model | None = None,
    progress: Progress = no_progress,
) -> list[Compaction]:
    """Do what the plan says, one summary after the other. A source that was changed meanwhile waits for the next run. What is too
    short is noted, so that it is looked at again only when it was edited."""
    journal.note_compacted(folder, {one.path: Compacted(one.digest, "", "", journal.KEPT) for one in found.short})
    out = []
    for done, batch in enumerate(found.batches):
        progress(done, len(found.batches))
        fresh = []
        for source in batch.sources:
            with contextlib.suppress(FilememError):
                fresh += [source] if folder.memory(source.memory.path).data == source.memory.data else []
        if fresh:
            out.append(_compact(folder, batch._replace(sources=fresh), at, model))
    progress(len(found.batches), len(found.batches))
    return out


def _compact(folder: Folder, batch: Batch, at: dt.datetime, model: Model | None) -> Compaction:
    """Write the sections, move the originals, log what is done."""
    where = folder.absolute(batch.summary)
    made, by, notes = _sections(folder, batch, model, safe.read(where) if os.path.lexists(where) else b"")

    def changed(data: bytes) -> bytes:
        for source in batch.sources:
            place = sections.find(data, source.path)
            if not place or data[place[0] : place[1]] != made[source.path]:
                data = sections.put(data, source.path, made[source.path], source.old.section if source.old else "")
        return data

    with folder.locked():
        if os.path.lexists(where):
            folder.edit(batch.summary, changed)
        else:
            folder.create(batch.summary, changed(b"").decode())
    moving = [source.path for source in batch.sources if source.new and not source.memory.archived]
    notes += journal.archive(folder, moving, at).values()
    sizes = [(len(source.memory.data), len(made[source.path])) for source in batch.sources]
    summary, digests = live(batch.summary), {path: sections.digest(section) for path, section in made.items()}
    done = {one.path: Compacted(one.digest, summary, digests[one.path], journal.DONE) for one in batch.sources}
    journal.note_compacted(folder, done)
    before, after = map(sum, zip(*sizes, strict=True))
    return Compaction(batch.summary, list(done), before, after, by, notes)


def _sections(
    folder: Folder, batch: Batch, model: Model | None, standing: bytes
) -> tuple[dict[str, bytes], str, list[str]]:
    """The section of each source by its path, who made them, and sentences on what went wrong. One that a run which was
    cut off has written already is taken as it is.
    """
    settings, made, notes = config.of(folder), dict[str, bytes](), list[str]()
    for source in batch.sources:
        place = sections.find(standing, source.path)
        if place and source.new:
            made[source.path] = standing[place[0] : place[1]]
    wanted = [source for source in batch.sources if source.path not in made]
    bullets, room = dict[str, list[Bullet]](), {source.path: source.room for source in wanted}
    if model is not None and model.name != "offline":
        groups, spent = list[list[Memory]](), ASKED
        for source in wanted:  # as many conversations at once as it may be asked for
            spent += (size := count_tokens(source.memory.text))
            if spent > ASKED:
                groups, spent = [*groups, []], size
            groups[-1].append(source.memory)
        for memories in groups:
            stated, failures = _stated(model, memories, settings)
            notes += failures
            for bullet in stated:
                bullets.setdefault(bullet.path, []).append(bullet)
        bullets = {path: said for path, said in bullets.items() if sum(one.tokens for one in said) <= room[path]}
    left = [source for source in wanted if source.path not in bullets]
    if left:
        budget = settings.summary_share * sum(len(source.memory.data) for source in left)
        budget -= sum(1 + len(sections.section(source.path, [])) for source in left)
        bullets |= _chosen([source.memory for source in left], index.of(folder).corpus(), budget, room)
    made |= {source.path: sections.section(source.path, bullets.get(source.path, [])) for source in wanted}
    by = model.name if model and len(left) < len(wanted) else "extractive"
    return made, f"{by} and extractive" if 0 < len(left) < len(wanted) else by, notes


# -- the most telling turns ---------------------------------------------------------------------------------------


def _bullets(memory: Memory) -> Iterable[tuple[Passage, Bullet]]:
    """The turns of a conversation, each with the bullet that it would be: its first sentences, captions aside, until they have
    ENOUGH letters and digits, secrets out, relative dates resolved."""
    for turn in memory.passages:
        kept = list[str]()
        for sentence in _END.split(terms.split_captions(turn.text)[0].strip()):
            if sum(character.isalnum() for part in kept for character in part) >= ENOUGH:
                break
            kept.append(" ".join(sentence.split()))
        text = " ".join(filter(None, kept)) or " ".join(turn.text.split())
        text, said_on = redaction.redact(escape_controls(text))[0], turn.day or memory.day
        text = dates.annotate(text, said_on) if said_on else text
        if text:
            yield turn, Bullet(one_line(turn.speaker, 80), text, live(memory.path), (turn.line,))


def _weighed(memory: Memory, corpus: Corpus) -> Iterator[tuple[float, Bullet]]:
    """The turns of a conversation, in order, each with what keeping it is worth; an assistant's half, its quotes nothing."""

    def rarity(stem: str) -> float:
        return math.log(corpus.count / max(1, sum(map(corpus.frequency, corpus.concept(stem)))))

    asked, before = False, ""
    for turn, bullet in _bullets(memory):
        flags, machine = terms.flags(turn.text), turn.speaker.casefold() == ASSISTANT
        dated = dates.mentioned(turn.text, memory.day or dt.date(2000, 1, 1))
        of_turn = {
            DATE: bool(dated),
            NAME: flags & terms.HAS_NAME,
            NUMBER: _NUMBER.search(turn.text) is not None,
            OPENING: not before,
            ANSWER: asked and before != turn.speaker,
            OWN: flags & terms.FIRST_PERSON,
            QUESTION: flags & terms.IS_QUESTION,
        }
        words = terms.content(turn.text)
        # Added up so that the order of a set, which differs from run to run, changes nothing.
        total = RARITY * math.fsum(map(rarity, words)) / max(1, len(words))
        quotes = machine and (flags & terms.CITES or program_says(turn.text))
        worth = math.exp(total + sum(weight for weight, holds in of_turn.items() if holds)) * (0.5 if machine else 1)
        yield 0.0 if quotes else worth, bullet
        asked, before = bool(flags & terms.IS_QUESTION), turn.speaker or " "


def _chosen(
    memories: Iterable[Memory], corpus: Corpus, budget: float, room: Mapping[str, float]
) -> dict[str, list[Bullet]]:
    """The bullets of the turns that carry the most, by source: as many as fit within `budget` bytes and what each source has
    `room` for, in tokens; of each source at least the most telling turn that it has room for."""
    best, others = list[Bullet](), list[tuple[float, Bullet]]()
    for memory in memories:
        fitting = [turn for turn in _weighed(memory, corpus) if turn[1].tokens <= room[live(memory.path)]]
        first = max(fitting, key=lambda turn: turn[0], default=None)
        best += [first[1]] if first else []
        others += [turn for turn in fitting if turn[0] and turn is not first]
    others.sort(key=lambda turn: turn[0] / (PRICE + len(turn[1].text)) ** THRIFT, reverse=True)
    found, left = dict[str, list[Bullet]](), dict(room)
    for number, bullet in enumerate([*best, *(bullet for _, bullet in others)]):
        size = len(str(bullet).encode("utf-8", "replace"))
        if number < len(best) or (size <= budget and bullet.tokens <= left[bullet.path]):
            found.setdefault(bullet.path, []).append(bullet)
            budget -= size
            left[bullet.path] -= bullet.tokens
    return {path: sorted(bullets, key=lambda bullet: bullet.lines) for path, bullets in found.items()}


# -- a model's statements -----------------------------------------------------------------------------------------


def _stated(model: Model, memories: Sequence[Memory], settings: Config) -> tuple[list[Bullet], list[str]]:
    """The model's statements on some conversations, none if they are too few or it fails; and what went wrong.

    A statement whose labels are not turns is dropped. Its first label decides which conversation it belongs to.
    """
    said = [passage.text for memory in memories for passage in memory.passages]
    unit, size = ("characters", 1.0) if terms.is_chinese(" ".join(said)) else ("words", WORDS)
    room = f"{max(LEAST, round(settings.summary_share * TEXT * size * count_tokens(' '.join(said))))} {unit}"
    shown = "\n".join(_shown(number, memory) for number, memory in enumerate(memories, 1))
    system = {"role": "system", "content": prompt.template("compact").replace("{room}", room)}
    try:
        reply = model.ask([system, {"role": "user", "content": shown}], [], lambda _: None)
    except ModelError as error:
        return [], [f"no summary from the model: {error}"]
    found, notes = _parsed(reply.text, memories)
    telling = {
        (live(memory.path), turn.line)
        for memory in memories
        for turn in memory.passages
        if terms.flags(turn.text) & terms.HAS_NAME or _NUMBER.search(turn.text)
    }
    rests = len(telling & {(bullet.path, line) for bullet in found for line in bullet.lines})
    wrong = ""
    if not found:
        wrong = "it holds no statement with the labels of its lines."
    elif sum(len(bullet.text) for bullet in found) > sum(map(len, said)):
        wrong = "it is longer than the conversations."
    elif rests < COVERED * len(telling):
        wrong = f"it rests on {rests} of {len(telling)} turns with names or numbers."
    return ([], [*notes, f"the model's summary was refused: {wrong}"]) if wrong else (found, notes)


def _shown(number: int, memory: Memory) -> str:
    """One conversation as the model reads it, secrets taken out, each turn with its label under its day."""
    lines, day = list[str](), None
    for passage in memory.passages:
        said_on = passage.day or memory.day
        if said_on and said_on != day:
            lines.append(f"{said_on:%A} {said_on.day} {said_on:%B %Y}:")
            day = said_on
        text = " ".join((dates.annotate(passage.text, said_on) if said_on else passage.text).split())
        lines.append(f"[{number}:{passage.line}] {passage.speaker + ': ' if passage.speaker else ''}{text}")
    text = redaction.redact("\n".join(lines))[0]
    return f"Conversation {number}:\n{prompt.data(memory.path, text)}"


def _parsed(answer: str, memories: Sequence[Memory]) -> tuple[list[Bullet], list[str]]:
    """The statements in an answer whose every label is a line of a turn, and a note on each item that has none such."""
    turns = [{p.line for p in memory.passages} for memory in memories]
    found, notes = list[Bullet](), list[str]()
    for line in answer.split("\n"):
        match = _BULLET.match(line)
        labels = [(int(a), int(b)) for a, b in re.findall(r"(\d+):(\d+)", match[2])] if match else []
        if match and all(0 < number <= len(turns) and at in turns[number - 1] for number, at in labels):
            first = labels[0][0]
            lines = tuple(dict.fromkeys(at for number, at in labels if number == first))
            text = redaction.redact(one_line(match[1].replace("**", ""), LONGEST))[0]
            found.append(Bullet("", text, live(memories[first - 1].path), lines))
        elif re.match(r"\s*[-*•]\s", line):
            notes.append(f"left out of the summary, as it cites no turn: {one_line(line, 80)}")
    return found, notes
