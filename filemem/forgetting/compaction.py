"""Compaction: old conversations are summarised by month, old months by year, and the originals move to the archive.

A summary is written only where it is under half of its sources; a source that is too short for it stays as it is.

`plan` looks; `apply` writes a section for each source into its summary, moves the originals, asks the summary or the archive
for the most telling turn of each, and takes back what can no longer be found. A job that is killed leaves sections that the
log does not have; the next run goes on from them. Every source is logged with its digest, so nothing is done twice, and a
conversation that was edited afterwards is compacted again.
"""

import contextlib
import datetime as dt
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from filemem import index
from filemem.errors import FilememError
from filemem.files import archive, config, journal, safe, sections
from filemem.files.archive import Progress, no_progress
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory
from filemem.files.sections import Bullet, Compacted
from filemem.forgetting import condensing
from filemem.forgetting.condensing import Said, SourceTurn
from filemem.models import Model
from filemem.search import search_files
from filemem.text import bounded, tokens
from filemem.text.bounded import DatedText
from filemem.text.own_patterns import OwnPatterns

FOUND = 10  # hits among which a probe must find its source
ASKED = 20_000  # tokens of conversations that a model is asked to condense at once


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
    def room(self) -> float:
        """The tokens that its section may have besides its heading; what was summarised once keeps a section."""
        if self.old and self.old.state == sections.DONE:
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
    taken_back: list[str]
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
        if source and not _settled(source, cited, summaries.values()):
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
    old, digest = known.get(archive.live(path)), sections.digest(memory.data)
    if (old and old.digest == digest) or memory.binary or len(memory.data) > LARGEST or memory.particular("pinned"):
        return None
    hidden = journal.pending_deletions(folder)
    told = [passage for passage in memory.passages if passage.line != memory.episode_line]
    memory.passages = [passage for passage in told if not hidden.hides(path, passage.line)]
    return Source(memory, digest, old) if any(passage.text.strip() for passage in memory.passages) else None


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
    """The summary that takes up a source."""
    for path, data in written.items():
        if sections.month_of(archive.live(path)) and sections.find(data, source.path):
            return path
    day, most = _day(source), config.of(folder).month_tokens
    summary = sections.of_month(day)
    if sizes.get(summary, 0) + expected[summary] <= most:
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
        if month is None or month.toordinal() >= last or (source.old and source.old.digest == source.digest):
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
    entries = {source.path: Compacted(source.digest, "", "", sections.KEPT) for source in short}
    if entries:
        sections.note(folder, entries)


def _compact(folder: Folder, batch: Batch, at: dt.datetime, model: Model | None) -> Compaction:
    """Write the sections, move the originals, ask the probes, take back what is lost, log what stands."""
    own = config.of(folder).own
    turns = condensing.weighted_turns(((one.memory, _told(one.memory, own)) for one in batch.sources), _rarity(folder))
    probes = condensing.probe_questions(turns)
    today = at.date()
    before = [source for source in batch.sources if _finds(folder, probes[source.path], source, batch.summary, today)]
    made, by, notes = _sections(folder, batch, turns, model)
    _write(folder, batch, made)
    moving = [s.path for s in batch.sources if not s.memory.archived and (not s.old or s.old.state == sections.KEPT)]
    stayed = archive.move_in(folder, moving, at)
    lost = [source for source in before if not _finds(folder, probes[source.path], source, batch.summary, today)]
    back = [source.path for source in lost if source.path in moving]
    notes += (stayed | archive.move_out(folder, back)).values()
    notes += [f"{s.path} is no longer found by its most telling turn." for s in lost if s.path not in back]
    _take_out(folder, batch.summary, {path: sections.digest(made[path]) for path in back})
    entries = {}
    for source in batch.sources:
        state = sections.KEPT if source.path in back else sections.DONE
        section = sections.digest(made[source.path])
        entries[source.path] = Compacted(source.digest, archive.live(batch.summary), section, state)
    sections.note(folder, entries)
    kept = [source for source in batch.sources if source.path not in back]
    return Compaction(
        summary=batch.summary,
        sources=[source.path for source in kept],
        before=sum(len(source.memory.data) for source in kept),
        after=sum(len(made[source.path]) for source in kept),
        by=by,
        archive_only=_archive_only(kept, made, own),
        taken_back=back,
        notes=notes,
    )


def _told(memory: Memory, own: OwnPatterns) -> list[tuple[Said, Bullet]]:
    """The turns of a conversation, or the bullets of a month's summary, as what a summary may take up."""
    if memory.kind == "sessions":
        return condensing.bullets_of(memory, own)
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
    folder: Folder, batch: Batch, turns: list[SourceTurn], model: Model | None
) -> tuple[dict[str, bytes], str, list[str]]:
    """The section of each source by its path, who made them, and sentences on what went wrong. One that a run which was
    cut off has written already is taken as it is.
    """
    where, share = folder.absolute(batch.summary), config.of(folder).summary_share
    standing = safe.read(where) if safe.exists(where) else b""
    made: dict[str, bytes] = {}
    for source in batch.sources:
        place = sections.find(standing, source.path)
        if place and source.old is None:
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
        bullets |= condensing.chosen([t for t in turns if t.path in room_left], budget, room_left)
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
        bullets, failures = condensing.bullets(model, memories[:count], settings.summary_share, settings.own)
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


def _take_out(folder: Folder, summary: str, digests: dict[str, str]) -> None:
    """Take the machine's own sections out of a summary again; one that holds nothing else goes with them."""
    if not digests:
        return

    def changed(data: bytes) -> bytes:
        for path, known in digests.items():
            data = sections.without(data, path, known)
        return data

    with folder.locked():
        folder.edit(summary, changed)
        if not folder.read(summary).strip():
            folder.delete(summary)


def _archive_only(sources: list[Source], made: dict[str, bytes], own: OwnPatterns) -> list[str]:
    """The details of the sources that only the archive has now; links to lines are none."""
    texts = [DatedText(turn.text, source.memory.day) for source in sources for turn, _ in _told(source.memory, own)]
    kept = [
        DatedText(sections.unlinked(made[source.path].decode(errors="replace")), source.memory.day)
        for source in sources
    ]
    return bounded.archive_only(texts, kept)


# -- the gate ----------------------------------------------------------------------------------------------------


def _finds(folder: Folder, probe: str, source: Source, summary: str, today: dt.date) -> bool:
    """Does a search for the probe question find the source, live or archived, or its lines in the summary?"""
    for hit in search_files(index.of(folder), probe, limit=FOUND, today=today, by_words=True).hits:
        if archive.live(hit.path) == source.path or f"({source.path}:" in hit.text:
            return True
        if hit.path == summary and source.memory.kind != "sessions":
            return True
    return False
