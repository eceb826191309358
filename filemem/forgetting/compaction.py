"""Compaction: old conversations are summarised by month, old months by year, and the originals move to the archive.

A summary is written only where it is under half of its sources; a source that is too short for it stays as it is, and so does
one that a search for its most telling turn would no longer find in the archive.

`plan` looks; `apply` logs which sources stay and which are begun with, writes the sections of these into their summary, moves
the originals, and logs what is done. After a job that was killed the next run goes on with what is begun, without deciding
anew. Every source is logged with its digest, so nothing is done twice, and a conversation that was edited afterwards is
compacted again.

What a summary says are a model's statements with the turns they rest on, else the most telling turns. A turn is worth more where
it names a day, a number or a name, opens a conversation, answers a question, tells of its speaker, and in rare words, as the
index has it. Of two equals the shorter is kept, since it leaves room for others.
"""

import bisect
import contextlib
import datetime as dt
import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from filemem import index
from filemem.errors import FilememError
from filemem.files import archive, config, journal, safe, sections
from filemem.files.archive import Progress, no_progress
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, only_asked
from filemem.files.sections import Bullet, Compacted
from filemem.files.transcript import ASSISTANT
from filemem.index.corpus import IndexedFile
from filemem.models import Model, ModelError, prompt
from filemem.models.offline import program_says
from filemem.search import search_files
from filemem.text import dates, grounding, redaction, terms, tokens
from filemem.text.grounding import DatedText
from filemem.text.plain import escape_controls, one_line
from filemem.text.redaction import OwnPatterns

FOUND = 10  # hits among which a probe must find its source
ASKED = 20_000  # tokens of conversations that a model is asked to condense at once
# By how much a turn is worth more, as logarithms of odds: those of a regression on the turns that answer LoCoMo's questions
# (Maharana et al. 2024, five conversations), rounded.
DATE, NAME, NUMBER, OPENING, ANSWER, OWN, QUESTION = 1.3, 0.4, 0.4, 0.8, 0.75, 0.5, -1.2
RARITY = 0.95  # for the mean inverse frequency of its words in all memories, as a logarithm
TO_ASSISTANT = 1.2  # for what people tell an assistant of themselves, which they do tersely
INTERCEPT = -5.7
PRICE = 60  # characters that a bullet costs besides its text: speaker, link, line
THRIFT = 0.8  # how strongly length counts against a turn
TURNS, LETTERS = 3, 500  # of one speaker that share a bullet, and with it a link; characters of such a bullet
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
_LABEL = re.compile(r"(\d+):(\d+)")


class Said(NamedTuple):
    """What `speaker` said in one go; `line` is where it stands in its file."""

    speaker: str
    text: str
    line: int = 0


class SourceTurn(NamedTuple):
    """A turn of a source, the bullet that it would be alone, what keeping it is worth."""

    path: str
    turn: Said
    bullet: Bullet
    worth: float


class Source(NamedTuple):
    """A conversation, or the summary of a month, that is to be summarised; `old` is what the log says of it, if anything."""

    memory: Memory
    digest: str
    old: Compacted | None

    @property
    def path(self) -> str:
        """Where it lies when it is live: the name by which it is logged and linked."""
        return archive.live(self.memory.path)

    @property
    def new(self) -> bool:
        """Has it no section yet, as far as the log knows?"""
        return not self.old or self.old.state != sections.DONE

    @property
    def logged(self) -> str:
        """What the log says of it as it is now: the state, empty where it says nothing."""
        return self.old.state if self.old and self.old.digest == self.digest else ""

    @property
    def room(self) -> float:
        """The tokens that its section may have besides its heading; what was summarised once keeps a section."""
        if not self.new:
            return math.inf
        return (tokens.count(self.memory.text) - 1) // 2 - tokens.count(sections.section(self.path, []).decode())


class Batch(NamedTuple):
    """A summary, and the sources that it is to take up."""

    summary: str
    sources: list[Source]


class CompactionPlan(NamedTuple):
    """What a compaction would do, in the order in which it would do it; `short` are too short to be summarised."""

    batches: list[Batch]
    short: list[Source]


class Compaction(NamedTuple):
    """What became of one batch: bytes of the sources and of their sections, details that are in the archive only."""

    summary: str
    sources: list[str]
    before: int
    after: int
    by: str
    archive_only: list[str]
    notes: list[str]


# -- the plan ----------------------------------------------------------------------------------------------------


def plan(
    folder: Folder, today: dt.date, older_than: int | None = None, progress: Progress = no_progress
) -> CompactionPlan:
    """What is due by `today`: sessions more than `older_than` days old (else as set), and months as set."""
    days = config.of(folder).compact_after_days if older_than is None else older_than
    known = sections.compacted(folder)
    paths = dict.fromkeys(sorted(folder.paths()))
    summaries = {path: folder.memory(path) for path in paths if archive.live(path).startswith("summaries/")}
    cited = {link for memory in summaries.values() for link in sections.cited(memory.text)}
    due: list[Source] = []
    sessions = [path for path in paths if archive.live(path).startswith("sessions/")]
    sessions = [path for path in sessions if path == archive.live(path) or archive.live(path) not in paths]
    for done, path in enumerate(sessions):
        if done % 100 == 0:
            progress(done, len(sessions))
        source = _source(folder, path, known, today.toordinal() - days)
        if source and not _settled(source, cited, summaries.values()) and not only_asked(source.memory):
            due.append(source)
    progress(len(sessions), len(sessions))
    months = list(_months(folder, summaries.values(), known, today))
    own = config.of(folder).own
    # Those of which no turn alone would make a section that is under half of its source.
    short = {
        source.path: source
        for source in [*due, *months]
        if not any(bullet.tokens <= source.room for _, bullet in _told(source.memory, own))
    }
    due, months = ([source for source in found if source.path not in short] for found in (due, months))
    batches = _batches(folder, due, {path: memory.data for path, memory in summaries.items()})
    years: dict[str, Batch] = {}
    for source in months:
        summary = _where(sections.of_year(sections.month_of(source.path) or dt.date.min), summaries)
        years.setdefault(summary, Batch(summary, [])).sources.append(source)
    return CompactionPlan([*batches, *years.values()], list(short.values()))


def _source(folder: Folder, path: str, known: dict[str, Compacted], before: int) -> Source | None:
    """A session that is old enough (its day's ordinal is under `before`) and not compacted as it is now, unless it is
    pinned or cannot be read as text; without the turns that are withheld.
    """
    memory = Memory(path, b"")
    if memory.date is None or memory.date.toordinal() >= before:
        return None
    try:
        memory = folder.memory(path)
    except FilememError:
        return None
    source = Source(memory, sections.digest(memory.data), known.get(archive.live(path)))
    if source.logged in (sections.DONE, sections.KEPT) or memory.binary or len(memory.data) > LARGEST:
        return None
    if memory.particular("pinned"):
        return None
    hidden = journal.pending_deletions(folder)
    told = [passage for passage in memory.passages if passage.line != memory.episode_line]
    memory.passages = [passage for passage in told if not hidden.hides(path, passage.line)]
    return source if any(passage.text.strip() for passage in memory.passages) else None


def _settled(source: Source, cited: set[str], summaries: Collection[Memory]) -> bool:
    """Has somebody summarised an archived session by hand, or on another machine whose log did not come along?"""
    if source.old or not source.memory.archived or source.path not in cited:
        return False
    return all(sections.find(memory.data, source.path) is None for memory in summaries)


def _batches(folder: Folder, due: list[Source], written: dict[str, bytes]) -> list[Batch]:
    """The sources by summary: that of the month while it is not too long, else of the week, in parts where need be."""
    found: dict[str, Batch] = {}
    sizes = {path: tokens.count(data.decode(errors="replace")) for path, data in written.items()}
    expected: dict[str, int] = {}
    written = {begun.old.summary: b"" for begun in due if begun.old and begun.logged} | written
    for source in due:
        month = sections.of_month(_day(source))
        expected[month] = expected.get(month, 0) + _tokens(source, config.of(folder).summary_share)
    for source in sorted(due, key=lambda source: source.path):
        summary = _home(folder, source, sizes, expected, written)
        sizes[summary] = sizes.get(summary, 0) + _tokens(source, config.of(folder).summary_share)
        found.setdefault(summary, Batch(summary, [])).sources.append(source)
    return list(found.values())


def _home(
    folder: Folder, source: Source, sizes: dict[str, int], expected: dict[str, int], written: dict[str, bytes]
) -> str:
    """The summary that takes up a source: the one with which it is begun, else that which has room."""
    if source.old and source.logged:
        return _where(source.old.summary, written)
    for path, data in written.items():
        if sections.month_of(archive.live(path)) and sections.find(data, source.path):
            return path
    day, most = _day(source), config.of(folder).month_tokens
    summary = sections.of_month(day)
    by_weeks = any(
        sections.month_of(path) == day.replace(day=1) for path in map(archive.live, written) if path != summary
    )
    if not by_weeks and sizes.get(summary, 0) + expected[summary] <= most:
        expected[summary] -= _tokens(source, config.of(folder).summary_share)
        return _where(summary, written)
    for part in range(1, 1000):
        summary = sections.of_week(day, part)
        if sizes.get(summary, 0) < most:
            break
    return _where(summary, written)


def _where(summary: str, written: Collection[str]) -> str:
    """Where a summary lies: in the archive once it was gathered into that of its year."""
    return archive.archived(summary) if archive.archived(summary) in written else summary


def _tokens(source: Source, share: float) -> int:
    """About as many tokens as the section of a source will have."""
    return round(share * tokens.count(source.memory.text))


def _day(source: Source) -> dt.date:
    return source.memory.date or dt.date.min


def _months(
    folder: Folder, summaries: Collection[Memory], known: dict[str, Compacted], today: dt.date
) -> Iterator[Source]:
    """The summaries of months that are old enough, or were changed since they were gathered."""
    last = today.toordinal() - config.of(folder).year_after_days
    for memory in summaries:
        source = Source(memory, sections.digest(memory.data), known.get(archive.live(memory.path)))
        month = sections.month_of(source.path)
        if month is None or month.toordinal() >= last or source.logged in (sections.DONE, sections.KEPT):
            continue
        by_hand = memory.archived and not source.old  # put there by a person, unless a run was cut off
        lost = by_hand and not any(sections.find(one.data, source.path) for one in summaries)
        if not lost and _told(memory, config.of(folder).own):
            yield source


# -- apply -------------------------------------------------------------------------------------------------------


def apply(folder: Folder, found: CompactionPlan, at: dt.datetime, model: Model | None = None) -> list[Compaction]:
    """Do what the plan says, one summary after the other. A source that was changed meanwhile waits for the next run."""
    note_too_short(folder, found.short)
    out = []
    for batch in found.batches:
        fresh = []
        for source in batch.sources:
            with contextlib.suppress(FilememError):
                fresh += [source] if folder.memory(source.memory.path).data == source.memory.data else []
        if fresh:
            out.append(_compact(folder, batch._replace(sources=fresh), at, model))
    return out


def note_too_short(folder: Folder, short: Iterable[Source]) -> None:
    """Note what is too short to be summarised, so that it is looked at again only when it was edited."""
    sections.note(folder, {source.path: Compacted(source.digest, "", "", sections.KEPT) for source in short})


def _compact(folder: Folder, batch: Batch, at: dt.datetime, model: Model | None) -> Compaction:
    """Ask the probes and log what they decide, write the sections, move the originals, log what is done."""
    own = config.of(folder).own
    turns = weighted_turns(((one.memory, _told(one.memory, own)) for one in batch.sources), _rarity(folder))
    probes = probe_questions(turns)
    where = folder.absolute(batch.summary)
    standing = safe.read(where) if safe.exists(where) else b""
    fresh = [s for s in batch.sources if s.new and not s.logged and not s.memory.archived]
    fresh = [source for source in fresh if not sections.find(standing, source.path)]
    lost = [s.path for s in fresh if _would_be_lost(folder, probes[s.path], s.path, batch, at.date())]
    state = {s.path: sections.KEPT if s.path in lost else sections.BEGUN for s in fresh}
    sections.note(folder, {s.path: Compacted(s.digest, archive.live(batch.summary), "", state[s.path]) for s in fresh})
    batch = batch._replace(sources=[source for source in batch.sources if source.path not in lost])
    turns = [turn for turn in turns if turn.path not in lost]
    made, by, notes = _sections(folder, batch, turns, model, standing)
    if made:
        _write(folder, batch, made)
    moving = [source.path for source in batch.sources if source.new and not source.memory.archived]
    notes += archive.move_in(folder, moving, at).values()
    notes += [f"{path} stays as it is: its most telling turn would not be found in the archive." for path in lost]
    entries = {}
    for source in batch.sources:
        section = sections.digest(made[source.path])
        entries[source.path] = Compacted(source.digest, archive.live(batch.summary), section, sections.DONE)
    sections.note(folder, entries)
    return Compaction(
        summary=batch.summary,
        sources=[source.path for source in batch.sources],
        before=sum(len(source.memory.data) for source in batch.sources),
        after=sum(map(len, made.values())),
        by=by,
        archive_only=_archive_only(batch.sources, made, own),
        notes=notes,
    )


def _told(memory: Memory, own: OwnPatterns) -> list[tuple[Said, Bullet]]:
    """The turns of a conversation, or the bullets of a month's summary, as what a summary may take up."""
    if memory.kind == "sessions":
        return bullets_of(memory, own)
    parsed = ((line, sections.parse(text, memory.path, line)) for line, text in enumerate(memory.lines, 1))
    return [(Said(bullet.speaker, bullet.text, line), bullet) for line, bullet in parsed if bullet]


def _rarity(folder: Folder) -> Callable[[str], float]:
    """The inverse frequency of a word, by its stem, among all passages of a user, as a logarithm."""
    corpus = index.of(folder).corpus()

    @functools.cache
    def rarity(stem: str) -> float:
        return math.log(corpus.count / max(1, sum(map(corpus.frequency, corpus.concept(stem)))))

    return rarity


def _sections(
    folder: Folder, batch: Batch, turns: list[SourceTurn], model: Model | None, standing: bytes
) -> tuple[dict[str, bytes], str, list[str]]:
    """The section of each source by its path, who made them, and sentences on what went wrong. One that a run which was
    cut off has written already is taken as it is.
    """
    share = config.of(folder).summary_share
    made: dict[str, bytes] = {}
    for source in batch.sources:
        place = sections.find(standing, source.path)
        if place and source.new:
            made[source.path] = standing[place[0] : place[1]]
    wanted = [source for source in batch.sources if source.path not in made]
    notes: list[str] = []
    bullets: dict[str, list[Bullet]] = {}
    room = {source.path: source.room for source in wanted}
    if model is not None and model.name != "offline":
        bullets, notes = asked(folder, wanted, model)
        bullets = {path: said for path, said in bullets.items() if sum(one.tokens for one in said) <= room[path]}
    left = [source for source in wanted if source.path not in bullets]
    if left:
        room_left = {source.path: room[source.path] for source in left}
        budget = share * sum(len(source.memory.data) for source in left)
        budget -= sum(1 + len(sections.section(path, [])) for path in room_left)
        bullets |= chosen([t for t in turns if t.path in room_left], budget, room_left)
    made |= {source.path: sections.section(source.path, bullets.get(source.path, [])) for source in wanted}
    by = model.name if model and len(left) < len(wanted) else "extractive"
    return made, f"{by} and extractive" if 0 < len(left) < len(wanted) else by, notes


def asked(folder: Folder, sources: Iterable[Source], model: Model) -> tuple[dict[str, list[Bullet]], list[str]]:
    """The model's bullets by source, as many conversations at once as it may be asked for; and what went wrong."""
    memories = [source.memory for source in sources if source.memory.kind == "sessions"]
    settings = config.of(folder)
    found: dict[str, list[Bullet]] = {}
    notes: list[str] = []
    while memories:
        count, spent = 1, tokens.count(memories[0].text)
        while count < len(memories) and spent + tokens.count(memories[count].text) <= ASKED:
            spent += tokens.count(memories[count].text)
            count += 1
        bullets, failures = stated(model, memories[:count], settings.summary_share, settings.own)
        notes += failures
        for bullet in bullets:
            path = archive.live(bullet.path)
            found.setdefault(path, []).append(bullet._replace(path=path))
        memories = memories[count:]
    return found, notes


def _write(folder: Folder, batch: Batch, made: dict[str, bytes]) -> None:
    """Put the sections into the summary, which is created where there is none."""

    def changed(data: bytes) -> bytes:
        for source in batch.sources:
            place = sections.find(data, source.path)
            if not place or data[place[0] : place[1]] != made[source.path]:
                data = sections.put(data, source.path, made[source.path], source.old.section if source.old else "")
        return data

    with folder.locked():
        if safe.exists(folder.absolute(batch.summary)):
            folder.edit(batch.summary, changed)
        else:
            folder.create(batch.summary, changed(b"").decode())


def _archive_only(sources: list[Source], made: dict[str, bytes], own: OwnPatterns) -> list[str]:
    """The details of the sources that only the archive has now; links to lines are none."""
    texts = [DatedText(turn.text, source.memory.day) for source in sources for turn, _ in _told(source.memory, own)]
    kept = [
        DatedText(sections.unlinked(made[source.path].decode(errors="replace")), source.memory.day)
        for source in sources
    ]
    return grounding.archive_only(texts, kept)


# -- what a summary says ------------------------------------------------------------------------------------------


def trimmed(text: str) -> str:
    """The first sentences of a turn, captions aside, until they have ENOUGH letters and digits; on one line."""
    kept: list[str] = []
    for sentence in _END.split(terms.split_captions(text)[0].strip()):
        if sum(character.isalnum() for part in kept for character in part) >= ENOUGH:
            break
        kept.append(" ".join(sentence.split()))
    return " ".join(filter(None, kept)) or " ".join(text.split())


def bullets_of(memory: Memory, own: OwnPatterns) -> list[tuple[Said, Bullet]]:
    """The turns of a conversation, each with the bullet that it would be: trimmed, secrets out, relative dates resolved."""
    path, day, found = archive.live(memory.path), memory.day, []
    for passage in memory.passages:
        if passage.text.strip():
            text = redaction.redact(escape_controls(trimmed(passage.text)), own)[0]
            said_on = passage.day or day
            text = dates.annotate(text, said_on) if said_on else text
            bullet = Bullet(one_line(passage.speaker, 80), text, path, (passage.line,))
            found.append((Said(passage.speaker, passage.text, passage.line), bullet))
    return found


def weighted_turns(
    sources: Iterable[tuple[Memory, list[tuple[Said, Bullet]]]], rarity: Callable[[str], float]
) -> list[SourceTurn]:
    """Every turn of some sources, in order, with what keeping it is worth; `rarity` is a word's inverse frequency."""
    out = list[SourceTurn]()
    for memory, found in sources:
        to_assistant = ASSISTANT in {turn.speaker.casefold() for turn, _ in found}
        previous = Said("", "")
        for turn, bullet in found:
            flags, machine = terms.flags(turn.text), turn.speaker.casefold() == ASSISTANT
            total = INTERCEPT + _telling(turn, previous, flags, memory.day, rarity)
            total += TO_ASSISTANT if to_assistant and not machine and flags & terms.FIRST_PERSON else 0
            worth = (0.5 if machine else 1) / (1 + math.exp(-total))
            quotes = machine and (flags & terms.CITES or program_says(turn.text))
            out.append(SourceTurn(archive.live(memory.path), turn, bullet, 0.0 if quotes else worth))
            previous = turn
    return out


def _telling(turn: Said, previous: Said, flags: int, day: dt.date | None, rarity: Callable[[str], float]) -> float:
    """How much a turn tells, behind another, by what it names and in what words."""
    words = terms.content(turn.text)
    # Added up so that the order of a set, which differs from run to run, changes nothing.
    total = RARITY * math.fsum(map(rarity, words)) / max(1, len(words))
    total += 0 if previous.speaker or previous.text else OPENING  # the first of its conversation
    total += DATE if dates.mentioned(turn.text, day or dt.date(2000, 1, 1)) else 0
    asked = previous.speaker != turn.speaker and terms.flags(previous.text[-2_000:]) & terms.IS_QUESTION
    for flag, weight in ((terms.HAS_NAME, NAME), (terms.FIRST_PERSON, OWN), (terms.IS_QUESTION, QUESTION)):
        total += weight if flags & flag else 0
    return total + (ANSWER if asked else 0) + (NUMBER if _NUMBER.search(turn.text) else 0)


def chosen(turns: Iterable[SourceTurn], budget: float, room: Mapping[str, float]) -> dict[str, list[Bullet]]:
    """The bullets of the turns that carry the most, by source: as many as fit within `budget` bytes and the tokens that all
    sources have `room` for; of each source at least the most telling turn that it has room for itself.
    """
    turns = [turn for turn in turns if turn.bullet.tokens <= room[turn.path]]
    least = _best(turns)
    others = [turn for turn in turns if turn.worth and turn is not least[turn.path]]
    others.sort(key=lambda turn: turn.worth / (PRICE + len(turn.bullet.text)) ** THRIFT, reverse=True)
    ranked = [*least.values(), *others]

    def left(kept: list[SourceTurn]) -> tuple[float, float]:
        """The bytes and tokens that some turns leave, together in their bullets."""
        bullets = [bullet for found in _bundled(kept).values() for bullet in found]
        size = sum(len(str(bullet).encode("utf-8", "replace")) for bullet in bullets)
        return budget - size, sum(room.values()) - sum(bullet.tokens for bullet in bullets)

    places = range(len(least) + 1, len(ranked) + 1)
    return _bundled(ranked[: len(least) + bisect.bisect_left(places, True, key=lambda n: min(left(ranked[:n])) < 0)])


def _bundled(turns: Iterable[SourceTurn]) -> dict[str, list[Bullet]]:
    """The bullets of some turns by source: a few turns of one speaker share a bullet, and with it a link."""
    kept: dict[tuple[str, str, str], list[SourceTurn]] = {}
    for turn in sorted(turns, key=lambda turn: (turn.path, turn.turn.line)):
        kept.setdefault((turn.path, turn.bullet.path, turn.bullet.speaker), []).append(turn)
    found: dict[str, list[Bullet]] = {}
    for (path, *_), said in kept.items():
        found.setdefault(path, []).extend(_joined(turn.bullet for turn in said))
    return found


def _joined(bullets: Iterable[Bullet]) -> list[Bullet]:
    """The bullets of one speaker, neighbours made one while it is not too long."""
    joined: list[Bullet] = []
    for bullet in bullets:
        last = joined[-1] if joined else bullet
        fits = len(last.lines) + len(bullet.lines) <= TURNS and len(last.text) + len(bullet.text) <= LETTERS
        if joined and last.speaker and fits:
            joined[-1] = last._replace(text=f"{last.text} … {bullet.text}", lines=last.lines + bullet.lines)
        else:
            joined.append(bullet)
    return joined


def probe_questions(turns: Iterable[SourceTurn]) -> dict[str, str]:
    """For each path, its most telling turn as a question that should find it; dates aside, which `last week` would mislead."""
    found = {path: said.bullet.text[:300] for path, said in _best(turns).items()}
    for path, text in found.items():
        for mention in reversed(dates.mentioned(text, dt.date(2000, 1, 1))):
            found[path] = f"{found[path][: mention.start]} {found[path][mention.end :]}"
    return found


def _best(turns: Iterable[SourceTurn]) -> dict[str, SourceTurn]:
    """The most telling turn of each path."""
    best: dict[str, SourceTurn] = {}
    for turn in turns:
        if turn.path not in best or turn.worth > best[turn.path].worth:
            best[turn.path] = turn
    return best


def stated(model: Model, memories: Sequence[Memory], share: float, own: OwnPatterns) -> tuple[list[Bullet], list[str]]:
    """The model's statements on some conversations, none where they are too few or it fails; and a sentence on what went wrong.

    A statement whose labels are no turns is dropped. Its first label decides which conversation it belongs to.
    """
    ask = [
        {"role": "system", "content": prompt.template("compact").replace("{room}", _room(memories, share))},
        {
            "role": "user",
            "content": "\n".join(_shown(number, memory, own) for number, memory in enumerate(memories, 1)),
        },
    ]
    try:
        reply = model.ask(ask, [], lambda _: None)
    except ModelError as error:
        return [], [f"no summary from the model: {error}"]
    found, passed_over = _parsed(reply.text, memories, own)
    notes = [f"left out of the summary, as it cites no turn: {line}" for line in passed_over]
    wrong = _wrong(found, memories)
    return ([], [*notes, f"the model's summary was refused: {wrong}"]) if wrong else (found, notes)


def _room(memories: Sequence[Memory], share: float) -> str:
    """How long a summary may be: `300 words`, or characters where most is Chinese."""
    said = " ".join(p.text for memory in memories for p in memory.passages)
    unit, size = ("characters", 1.0) if terms.is_chinese(said) else ("words", WORDS)
    return f"{max(LEAST, round(share * TEXT * size * tokens.count(said)))} {unit}"


def _shown(number: int, memory: Memory, own: OwnPatterns) -> str:
    """One conversation as the model reads it, secrets taken out, each turn with its label under its day."""
    lines, day = list[str](), None
    for passage in memory.passages:
        said_on = passage.day or memory.day
        if said_on and said_on != day:
            lines.append(f"{said_on:%A} {said_on.day} {said_on:%B %Y}:")
            day = said_on
        text = " ".join((dates.annotate(passage.text, said_on) if said_on else passage.text).split())
        lines.append(f"[{number}:{passage.line}] {passage.speaker + ': ' if passage.speaker else ''}{text}")
    text = redaction.redact("\n".join(lines), own)[0]
    return f"Conversation {number}:\n{prompt.data(memory.path, text)}"


def _parsed(answer: str, memories: Sequence[Memory], own: OwnPatterns) -> tuple[list[Bullet], list[str]]:
    """The statements in an answer whose every label is a line of a turn, and the items that have none such."""
    turns = [{p.line for p in memory.passages} for memory in memories]
    found, passed_over = list[Bullet](), list[str]()
    for line in answer.split("\n"):
        match = _BULLET.match(line)
        labels = [(int(a), int(b)) for a, b in _LABEL.findall(match[2])] if match else []
        if match and all(0 < number <= len(turns) and at in turns[number - 1] for number, at in labels):
            first = labels[0][0]
            lines = tuple(dict.fromkeys(at for number, at in labels if number == first))
            text = redaction.redact(one_line(match[1].replace("**", ""), LONGEST), own)[0]
            found.append(Bullet("", text, memories[first - 1].path, lines))
        elif re.match(r"\s*[-*•]\s", line):
            passed_over.append(one_line(line, 80))
    return found, passed_over


def _wrong(found: Sequence[Bullet], memories: Sequence[Memory]) -> str:
    """Why an answer is not used, as a sentence; empty for a good one."""
    if not found:
        return "it holds no statement with the labels of its lines."
    if sum(len(bullet.text) for bullet in found) > sum(len(p.text) for memory in memories for p in memory.passages):
        return "it is longer than the conversations."
    telling = {
        (memory.path, p.line)
        for memory in memories
        for p in memory.passages
        if terms.flags(p.text) & terms.HAS_NAME or _NUMBER.search(p.text)
    }
    cited = {(bullet.path, line) for bullet in found for line in bullet.lines}
    few = len(telling & cited) < COVERED * len(telling)
    return f"it rests on {len(telling & cited)} of {len(telling)} turns with names or numbers." if few else ""


# -- the gate ----------------------------------------------------------------------------------------------------


def _would_be_lost(folder: Folder, probe: str, path: str, batch: Batch, today: dt.date) -> bool:
    """Does a search for the probe question find a source while those of its batch are live, and not if they are archived?"""
    paths = {source.path for source in batch.sources}

    def finds(archived: bool) -> bool:
        def rests(entry: IndexedFile) -> bool:
            return archived if archive.live(entry.path) in paths else entry.archived

        found = search_files(index.of(folder), probe, limit=FOUND, today=today, by_words=True, archived=rests)
        return any(archive.live(hit.path) == path for hit in found.hits)

    return finds(False) and not finds(True)
