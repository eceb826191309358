"""Compaction: old conversations are summarised by month, and the originals move to the archive.

A conversation gets a section in the summary of its month, where that is under half of it; one that is too short for it stays as
it is. `plan` looks; `apply` writes the sections of a month, moves the originals, and logs what is done. After a job that was
killed the next one goes on: a section that stands there is taken as it is. Each conversation is logged with its digest, so
nothing is done twice, and one that was edited afterwards is compacted again.

What a summary says are a model's statements with the turns they rest on, else the most telling turns. A turn is worth more where
it names a day, a number or a name, opens a conversation, answers a question or tells of its speaker, and in rare words, as the
index has it. Of two equals the shorter is kept, since it leaves room for others.
"""

import datetime as dt
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from filemem import index
from filemem.files import config, journal, safe, sections
from filemem.files.folder import Folder, Progress, no_progress
from filemem.files.journal import Compacted, PendingDeletion
from filemem.files.memory import ASSISTANT, LARGEST, Memory, Passage, live, only_asked
from filemem.files.sections import Bullet
from filemem.index.corpus import Corpus
from filemem.models import Model, ModelError, prompt
from filemem.models.offline import program_says
from filemem.text import dates, redaction, terms
from filemem.text.plain import count_tokens, escape_controls, one_line

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
ASKED = 6_000  # tokens of conversations in one request
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


class CompactionPlan(NamedTuple):
    """What a compaction would do, in the order in which it would do it, by the summary that takes it up; `short` are too short to
    be summarised."""

    due: dict[str, list[Source]]
    short: list[Source]


class Compaction(NamedTuple):
    """What became of one conversation: its bytes and those of its section, who wrote this, and what went wrong."""

    summary: str
    source: str
    before: int
    after: int
    by: str
    notes: list[str]


# -- the plan ----------------------------------------------------------------------------------------------------


def plan(
    folder: Folder, today: dt.date, older_than: int | None = None, progress: Progress = no_progress
) -> CompactionPlan:
    """What is due by `today`: the sessions more than `older_than` days old, else as set."""
    known, hidden, paths = journal.compacted(folder), journal.pending_deletions(folder), dict.fromkeys(folder.paths())
    before = today.toordinal() - (config.of(folder).compact_after_days if older_than is None else older_than)
    homes = dict[str, str]()  # the summaries that have a section already, by its title
    for path in paths:
        if live(path).startswith("summaries/") and (summary := folder.find(path)):
            homes |= dict.fromkeys(re.findall("^## (.+?)\r?$", summary.text, re.MULTILINE), path)
    sessions = [path for path in sorted(paths, key=live) if live(path).startswith("sessions/")]
    found = CompactionPlan({}, [])
    for done, path in enumerate(sessions):
        if done % 100 == 0:
            progress(done, len(sessions))
        memory = folder.find(path) if path == live(path) or live(path) not in paths else None
        if memory and memory.date and memory.date.toordinal() < before and _tells(memory, hidden):
            month = sections.of_month(memory.date)
            home = homes.get(sections.title(path)) or next(folder.standing(month), month)
            source = Source(memory, sections.digest(memory.data), known.get(live(path)))
            if (
                not source.old
                or source.old.digest != source.digest
                or source.old.state not in (journal.DONE, journal.KEPT)
            ):
                fits = any(bullet.tokens <= source.room for _, bullet in _bullets(memory))
                (found.due.setdefault(home, []) if fits else found.short).append(source)
    progress(len(sessions), len(sessions))
    return found


def _tells(memory: Memory, hidden: PendingDeletion) -> bool:
    """Is a session text that tells more than questions, and not pinned? It loses the turns that are held back."""
    if memory.binary or len(memory.data) > LARGEST or memory.particular("pinned") or only_asked(memory):
        return False
    told = [passage for passage in memory.passages if passage.line > memory.front_end]
    memory.passages = [passage for passage in told if not hidden.hides(memory.path, passage.line)]
    return any(passage.text.strip() for passage in memory.passages)


# -- apply -------------------------------------------------------------------------------------------------------


def apply(
    folder: Folder,
    found: CompactionPlan,
    at: dt.datetime,
    model: Model | None = None,
    progress: Progress = no_progress,
) -> list[Compaction]:
    """Do what the plan says, one summary after the other. A conversation that was changed meanwhile waits for the next run. What
    is too short is noted, so that it is looked at again only when it was edited."""
    journal.note_compacted(folder, {one.path: Compacted(one.digest, "", "", journal.KEPT) for one in found.short})
    out = list[Compaction]()
    for done, (summary, sources) in enumerate(found.due.items()):
        progress(done, len(found.due))
        fresh = [one for one in sources if (now := folder.find(one.memory.path)) and now.data == one.memory.data]
        out += _compact(folder, summary, fresh, at, model) if fresh else []
    progress(len(found.due), len(found.due))
    return out


def _compact(
    folder: Folder, summary: str, sources: list[Source], at: dt.datetime, model: Model | None
) -> Iterator[Compaction]:
    """Write the sections, move the originals, log what is done. A section that a run which was cut off has written already is
    taken as it is."""
    where, share = folder.absolute(summary), config.of(folder).summary_share
    standing = safe.read(where) if os.path.lexists(where) else b""
    places = {one.path: sections.find(standing, one.path) for one in sources if one.new}
    made = {path: standing[place[0] : place[1]] for path, place in places.items() if place}
    asked = [one for one in sources if one.path not in made]
    bullets, notes = _by_model(model, asked, share) if model and model.name != "offline" else ({}, {})
    by_model, left = {*bullets}, [one for one in sources if one.path not in {*made, *bullets}]
    bullets |= _chosen(left, index.of(folder).corpus(), share) if left else {}
    made |= {path: sections.section(path, said) for path, said in bullets.items()}

    def changed(data: bytes) -> bytes:
        for source in sources:
            place = sections.find(data, source.path)
            if not place or data[place[0] : place[1]] != made[source.path]:
                data = sections.put(data, source.path, made[source.path], source.old.section if source.old else "")
        return data

    with folder.locked():
        if os.path.lexists(where):
            folder.edit(summary, changed)
        else:
            folder.create(summary, changed(b"").decode())
    stayed = journal.archive(folder, [one.path for one in sources if one.new and not one.memory.archived], at)
    digests = {path: sections.digest(section) for path, section in made.items()}
    done = {one.path: Compacted(one.digest, live(summary), digests[one.path], journal.DONE) for one in sources}
    journal.note_compacted(folder, done)
    for one in sources:
        by = model.name if model and one.path in by_model else "extractive"
        told = [*notes.get(one.path, ()), *filter(None, [stayed.get(one.path)])]
        yield Compaction(summary, one.path, len(one.memory.data), len(made[one.path]), by, told)


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


def _chosen(sources: list[Source], corpus: Corpus, share: float) -> dict[str, list[Bullet]]:
    """The bullets of the turns that carry the most, by conversation: as many as fit within a share of the bytes of all and what
    each has room for, in tokens; of each at least the most telling turn that it has room for."""
    best, others, room = list[Bullet](), list[tuple[float, Bullet]](), {one.path: one.room for one in sources}
    budget = share * sum(len(one.memory.data) for one in sources)
    for source in sources:
        budget -= 1 + len(sections.section(source.path, []))
        fitting = [turn for turn in _weighed(source.memory, corpus) if turn[1].tokens <= source.room]
        first = max(fitting, key=lambda turn: turn[0])
        best.append(first[1])
        others += [turn for turn in fitting if turn[0] and turn is not first]
    others.sort(key=lambda turn: turn[0] / (PRICE + len(turn[1].text)) ** THRIFT, reverse=True)
    found = dict[str, list[Bullet]]()
    for bullet in [*best, *(bullet for _, bullet in others)]:
        size = len(str(bullet).encode("utf-8", "replace"))
        if bullet.path not in found or (size <= budget and bullet.tokens <= room[bullet.path]):
            found.setdefault(bullet.path, []).append(bullet)
            budget -= size
            room[bullet.path] -= bullet.tokens
    return {path: sorted(bullets, key=lambda bullet: bullet.lines) for path, bullets in found.items()}


# -- a model's statements -----------------------------------------------------------------------------------------


def _by_model(
    model: Model, sources: list[Source], share: float
) -> tuple[dict[str, list[Bullet]], dict[str, list[str]]]:
    """The model's statements on each conversation for which they are enough and not too long, as many conversations a request
    as ASKED has room for; and what went wrong, by the first of a request."""
    groups, spent = list[list[Source]](), ASKED
    for source in sources:
        spent += (size := count_tokens(source.memory.text))
        if spent > ASKED:
            groups, spent = [*groups, []], size
        groups[-1].append(source)
    bullets, notes = dict[str, list[Bullet]](), dict[str, list[str]]()
    for group in groups:
        stated, notes[group[0].path] = _stated(model, [source.memory for source in group], share)
        for source in group:
            said = [bullet for bullet in stated if bullet.path == source.path]
            if said and sum(one.tokens for one in said) <= source.room:
                bullets[source.path] = said
    return bullets, notes


def _stated(model: Model, memories: list[Memory], share: float) -> tuple[list[Bullet], list[str]]:
    """The model's statements on some conversations, none if they are too few or it fails; and what went wrong. A statement whose
    labels are not turns is dropped."""
    said = " ".join(passage.text for memory in memories for passage in memory.passages)
    unit, size = ("characters", 1.0) if terms.is_chinese(said) else ("words", WORDS)
    room = f"{max(LEAST, round(share * TEXT * size * count_tokens(said)))} {unit}"
    system = {"role": "system", "content": prompt.template("compact").replace("{room}", room)}
    shown = "\n".join(_shown(number, memory) for number, memory in enumerate(memories, 1))
    try:
        reply = model.ask([system, {"role": "user", "content": shown}], [], lambda _: None)
    except ModelError as error:
        return [], [f"no summary from the model: {error}"]
    found, notes = _parsed(reply.text, memories)
    told = [(live(memory.path), turn) for memory in memories for turn in memory.passages]
    telling = {
        (path, one.line) for path, one in told if terms.flags(one.text) & terms.HAS_NAME or _NUMBER.search(one.text)
    }
    rests = len(telling.intersection((bullet.path, line) for bullet in found for line in bullet.lines))
    wrong = ""
    if not found:
        wrong = "it holds no statement with the labels of its lines."
    elif sum(len(bullet.text) for bullet in found) > len(said):
        wrong = "it is longer than what was said."
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


def _parsed(answer: str, memories: list[Memory]) -> tuple[list[Bullet], list[str]]:
    """The statements in an answer whose every label is a turn, and a note on each item that has none such. The first label tells
    which conversation it is of."""
    turns, found, notes = [{one.line for one in memory.passages} for memory in memories], list[Bullet](), list[str]()
    for line in answer.split("\n"):
        match = _BULLET.match(line)
        cited = [(int(number), int(at)) for number, at in re.findall(r"(\d+):(\d+)", match[2])] if match else []
        if match and all(0 < number <= len(turns) and at in turns[number - 1] for number, at in cited):
            about = cited[0][0]
            text = redaction.redact(one_line(match[1].replace("**", ""), LONGEST))[0]
            lines = tuple(dict.fromkeys(at for number, at in cited if number == about))
            found.append(Bullet("", text, live(memories[about - 1].path), lines))
        elif re.match(r"\s*[-*•]\s", line):
            notes.append(f"left out of the summary, as it cites no turn: {one_line(line, 80)}")
    return found, notes
