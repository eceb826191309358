"""Consolidation: what was said becomes facts, lessons and lines of the profile. `plan` decides, `apply` writes.

A model reads; without one everything waits. What a request came to is written down in `.filemem/consolidating.json` before it
is carried out, and every step of it may be done twice; so a run that was killed is taken up where it stopped, and ends as it
would have ended.
"""

import contextlib
import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import archive, config, episode, facts, journal, safe
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, Memory, encoding_of, is_archived
from filemem.models import Model, ModelError
from filemem.remembering import consolidation_log, profile, sessions
from filemem.remembering.consolidation_log import ConsolidationLog
from filemem.remembering.extraction import Batch, Dropped, Extracted, ForgetRequest, OnePass, batches
from filemem.remembering.supersession import (
    ADD,
    SUPERSEDE,
    UPDATE,
    Decision,
    KnownMemories,
    claim_from_json,
)
from filemem.text import tokens
from filemem.text.plain import counted

JOURNAL = "consolidating.json"
WRITTEN = (ADD, SUPERSEDE, UPDATE)
RULES = 1_300  # tokens of a request besides its turns and memories, about: the rules and the form


class ReadSession(NamedTuple):
    """A session that a plan has read: the digests of its turns, its size in bytes (0 where there are further turns to read), and
    the line of its front matter that sums it up, empty where that is not the program's to write."""

    path: str
    turns: tuple[str, ...]
    size: int
    episode: str = ""


class BatchPlan(NamedTuple):
    """What is to be done about what one request has read; `at` is the time of the run."""

    sessions: tuple[ReadSession, ...]
    at: str
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...] = ()
    forget: tuple[ForgetRequest, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class Applied(NamedTuple):
    """What was done: the decisions that were carried out, the paths that changed, sentences for the person.

    `staged`: the decisions wait for review, and no memory was touched. `error`: why the model read no further; the rest waits.
    """

    decisions: list[Decision]
    paths: list[str]
    notes: list[str]
    staged: bool = False
    error: str = ""


class Cost(NamedTuple):
    """What reading takes: conversations, requests, tokens that these ask, about."""

    conversations: int
    requests: int
    tokens: int

    @property
    def text(self) -> str:
        """In words."""
        asked = f"{counted(self.requests, 'request')} of some {self.tokens:,} tokens in all"
        return (
            f"{counted(self.conversations, 'conversation')} to read: {asked}."
            if self.requests
            else "Nothing new to read."
        )


# -- the plan ----------------------------------------------------------------------------------------------------


def cost(folder: Folder, paths: Iterable[str] | None = None) -> Cost:
    """What it would take to read all that waits (in `paths`, anywhere where none are given)."""
    log = ConsolidationLog(folder)
    waiting = [one for one in sessions.unread(folder, log, paths) if one.waiting]
    asked = list(batches(waiting))
    known = KnownMemories(folder, log) if asked else None
    spent = 0
    for batch in asked:
        said = [part.session.turns[place] for part in batch for place in part.places]
        spent += RULES + sum(tokens.count(f"[0:00] {one.speaker}: {one.shown}") for one in said)
        spent += (
            sum(tokens.count(one.text) + 8 for one in known.like((one.text for one in said), 100))
            if known is not None
            else 0
        )
    return Cost(len(waiting), len(asked), spent)


def plan(
    folder: Folder,
    at: dt.datetime,
    extractor: Callable[[Batch, KnownMemories, dt.date], Extracted],
    paths: Iterable[str] | None = None,
    progress: archive.Progress = archive.no_progress,
    *,
    log: ConsolidationLog | None = None,
) -> Iterator[BatchPlan]:
    """The plan of each request that reads what was not read yet, in the order of the days.

    Each takes what those before it decide as done, so the caller may apply one before it asks for the next. `progress`
    counts turns. Raises ModelError; what was planned before stands.
    """
    log = log or ConsolidationLog(folder)
    waiting = list(sessions.unread(folder, log, paths))
    if not waiting:
        return
    known, done, total = KnownMemories(folder, log), 0, sum(len(one.waiting) for one in waiting)
    for batch in batches(waiting):
        progress(done, total)
        yield _planned(batch, extractor(batch, known, at.date()), known, log, at)
        done += sum(len(part.places) for part in batch)
    progress(total, total)


def _planned(batch: Batch, found: Extracted, known: KnownMemories, log: ConsolidationLog, at: dt.datetime) -> BatchPlan:
    """What becomes of what a request came to; `known` takes it in."""
    decisions = [known.decided(claim) for claim in found.claims]
    read = []
    for part in batch:
        session = part.session
        empty = {session.turns[place].digest for place in {*session.unread} - {*session.waiting}}
        turns = (*(session.turns[place].digest for place in part.places), *sorted(empty))
        whole = part.places[-1:] == tuple(session.waiting[-1:])
        told = found.episodes.get(session.path)
        line = told.line if told and told.text and _may_have_episode(session.memory, log) else ""
        read.append(ReadSession(session.path, turns, session.size if whole else 0, line))
    return BatchPlan(
        tuple(read), at.isoformat(), tuple(decisions), tuple(found.notes), tuple(found.forget), tuple(found.dropped)
    )


# -- apply -------------------------------------------------------------------------------------------------------


def apply(folder: Folder, found: BatchPlan, log: ConsolidationLog | None = None) -> Applied:
    """Carry out a plan, and note that its turns were read; raises FilememError or OSError.

    `log` is the consolidation log where it was read already. First what a killed run has left is finished: whoever holds the
    lock and finds a journal is looking at such a one's.
    """
    with folder.locked():
        left = resume(folder)
        journal = folder.bookkeeping(JOURNAL)
        safe.write(journal, _as_json(found))
        done = _carry_out(folder, found, log or ConsolidationLog(folder))
        safe.delete(journal)
    return done._replace(paths=[*left.paths, *done.paths]) if left else done


def stage(folder: Folder, found: BatchPlan, log: ConsolidationLog | None = None) -> Applied:
    """Note what a plan would write as proposals for review, and that its turns were read; no memory is touched."""
    folder.make()
    staged = [one for one in found.decisions if one.action in WRITTEN]
    (log or ConsolidationLog(folder)).add([
        *({"proposed": one.claim._asdict()} for one in staged),
        *_refusals(found),
        *({"read": one.path, "turns": list(one.turns), "size": one.size} for one in found.sessions),
    ])  # fmt: skip
    return Applied(staged, [], list(found.notes), staged=True)


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    paths: Iterable[str] | None = None,
    progress: archive.Progress = archive.no_progress,
    *,
    review: bool = False,
) -> Iterator[Applied]:
    """Finish what a killed run has left, then have the model read all that waits, request by request; yields what was done.

    Without a model nothing is read. With `review`, or where the store's settings say so, what is planned is only proposed.
    Where the model fails, the last that is yielded says so; what was read before stands.
    """
    if before := resume(folder):
        yield before
    log = ConsolidationLog(folder)
    kept = profile.sync_profile(folder, log, at.date())
    if kept.changed:
        yield Applied([], [PROFILE], kept.notes)
    if model is None:
        return
    extractor = OnePass(model)
    propose = review or config.of(folder).review
    try:
        for found in plan(folder, at, extractor, paths, progress, log=log):
            if propose:
                yield stage(folder, found, log)
                continue
            waits, settled = _parted(folder, found)
            if waits.decisions:
                yield stage(folder, waits, log)
            yield apply(folder, settled, log)
    except ModelError as error:
        yield Applied([], [], [], error=f"{error} What was not read yet waits.")
        return
    if extractor.requests:
        spent = f"{counted(extractor.requests, 'request')}, {extractor.spent:,} tokens" if extractor.spent else ""
        yield Applied([], [], [f"{model.name}: {spent}."] if spent else [])
    if extractor.requests and not propose:
        done = profile.condense(folder, log, model)
        if done.changed or done.notes:
            yield Applied([], [PROFILE] if done.changed else [], done.notes)


def _parted(folder: Folder, found: BatchPlan) -> tuple[BatchPlan, BatchPlan]:
    """What of a plan waits for the person's word whatever else does, as it steers the assistant; and the rest."""
    asks = config.of(folder).steering == "review"
    held = [one for one in found.decisions if one.claim.waits or (asks and one.claim.kind == "lessons")]
    held = [one for one in held if one.action in WRITTEN]
    kept = tuple(one for one in found.decisions if one not in held)
    return (
        found._replace(sessions=(), decisions=tuple(held), notes=(), forget=(), dropped=()),
        found._replace(decisions=kept),
    )


def resume(folder: Folder) -> Applied | None:
    """Finish the plan that a killed run has left; None where there is none."""
    journal = folder.bookkeeping(JOURNAL)
    if not safe.exists(journal):
        return None
    with folder.locked():
        try:
            done = _carry_out(folder, _from_json(json.loads(safe.read(journal))), ConsolidationLog(folder))
        except NotFound:
            return None
        except (ValueError, TypeError, KeyError):
            done = None  # no plan of this version: its sessions are read again
        safe.delete(journal)
    return done


def _as_json(found: BatchPlan) -> bytes:
    value = {
        **found._asdict(),
        "sessions": [one._asdict() for one in found.sessions],
        "decisions": [{**one._asdict(), "claim": one.claim._asdict()} for one in found.decisions],
        "forget": [one._asdict() for one in found.forget],
        "dropped": [{"claim": one.claim._asdict(), "reason": one.reason} for one in found.dropped],
    }
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _from_json(value: dict[str, Any]) -> BatchPlan:
    return BatchPlan(
        tuple(ReadSession(**_with_tuples(one)) for one in value["sessions"]),
        value["at"],
        tuple(Decision(**_with_tuples({**one, "claim": claim_from_json(one["claim"])})) for one in value["decisions"]),
        tuple(value["notes"]),
        tuple(ForgetRequest(**_with_tuples(one)) for one in value["forget"]),
        tuple(Dropped(claim_from_json(one["claim"]), one["reason"]) for one in value["dropped"]),
    )


def _with_tuples(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a NamedTuple as they were before JSON made lists of its tuples."""
    return {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}


def _refusals(found: BatchPlan) -> Iterator[dict[str, Any]]:
    """What form forbade, for the log, where a person may accept it after all."""
    for one in found.dropped:
        if one.claim.text and one.claim.sources:
            yield {"proposed": one.claim._asdict(), "because": one.reason}


def _carry_out(folder: Folder, found: BatchPlan, log: ConsolidationLog) -> Applied:
    """Do every step that was not done yet."""
    at, entries = dt.datetime.fromisoformat(found.at), list[dict[str, Any]]()
    log.read_on()
    done, paths, notes = list[Decision](), list[str](), list(found.notes)
    for one in found.decisions:
        if one.action not in WRITTEN:
            done.append(one)
            continue
        try:
            written = _change(folder, one, log) if one.action == UPDATE else _write(folder, one, at, notes)
        except FilememError as error:
            notes.append(str(error))
            continue
        done.append(written.decisions[0])
        paths += written.paths
        entries += _entries(folder, done[-1], written.paths)
    gone = tuple(path for one in found.forget for path in one.memories)
    kept = profile.revise(folder, log, [one for one in done if one.action in WRITTEN], gone)
    paths += [PROFILE] if kept.changed else []
    notes += kept.notes
    told_again = [one.path for one in done if one.action == UPDATE]
    if told_again:
        journal.note_recalls(folder, dict.fromkeys(told_again), journal.CITED, at)
    for wish in found.forget:
        told = [source for path in wish.memories for source in _sources(folder, path)]
        journal.hold_back(folder, wish.asked, [*wish.turns, *wish.memories, *told], at)
        what = ", ".join(wish.memories or wish.turns)
        notes.append(
            f"Held back, as asked in {wish.asked}: {what}; filemem forget deletes it, filemem restore takes it back"
        )
    notes += [f"Refused: {one.claim.text} ({one.reason}); filemem review keeps it" for one in found.dropped]
    for session in found.sessions:
        grown = 0
        if session.episode:
            kept_line, grown = _write_episode(folder, session.path, session.episode, log)
            entries += kept_line
            paths += [session.path] if grown else []
        entries.append(
            {"read": session.path, "turns": list(session.turns), "size": session.size and session.size + grown}
        )
    log.add([*entries, *_refusals(found)])
    return Applied(done, list(dict.fromkeys(paths)), notes)


def _sources(folder: Folder, path: str) -> list[str]:
    """The turns that a memory names as its source; nothing where it is gone."""
    memory = archive.read(folder, path)
    return facts.sources(memory) if memory else []


def _write(folder: Folder, one: Decision, at: dt.datetime, notes: list[str]) -> Applied:
    """Write a new memory, then mark and put away what it supersedes."""
    with folder.locked():
        if not any(_holds(folder.memory(place), one) for place in archive.places(folder, one.path)):
            one = one._replace(path=folder.create(one.path, one.page()))  # another name where somebody took this one
    touched = [one.path]
    for old in one.replaces:
        touched += _supersede(folder, old, one, at, notes)
    return Applied([one], touched, notes)


def _holds(memory: Memory, one: Decision) -> bool:
    """Is a memory what was made of a claim, superseded or confirmed since perhaps?"""
    said = "\n".join(memory.lines[memory.front_end :]).strip()
    claim = one.claim
    return f"{said}\n".startswith(f"{claim.body or claim.text}\n") and set(claim.sources) <= set(facts.sources(memory))


def _supersede(folder: Folder, old: str, one: Decision, at: dt.datetime, notes: list[str]) -> list[str]:
    """Mark a memory as superseded and put it into the archive; where it has gone, nothing is left to do."""
    until = one.claim.valid_from or one.claim.day
    place = next(archive.places(folder, old), "")
    if not place:
        return []
    try:
        folder.edit(place, lambda data: facts.superseded(place, data, live(one.path), until))
    except ValueError as error:
        notes.append(f"{place} is superseded by {one.path}, but {error}; put it right by hand.")
        return []
    if place == live(old):
        notes += archive.move_in(folder, [place], at).values()
    return [live(old), archive.archived(old)]


def _change(folder: Folder, one: Decision, log: ConsolidationLog) -> Applied:
    """Add sources and confidence to a memory, and give it the words in which it stands from now on, unless it was told again."""
    place, claim = folder.locate(one.path), one.claim

    def change(data: bytes) -> bytes:
        after = facts.confirmed(place, data, claim.sources, one.confidence)
        if one.reason or not log.untouched(place, data):
            return after
        days = {
            "valid_from": claim.valid_from,
            "valid_until": claim.valid_until,
            "kind": claim.nature,
            "day": claim.when,
        }
        after = facts.set_fronts(place, after, {key: str(value) for key, value in days.items() if value})
        if not claim.nature:  # what was to come has come to stay
            end = Memory(place, after).front_end
            lines = enumerate(after.splitlines(keepends=True), 1)
            after = b"".join(line for number, line in lines if number > end or not line.startswith((b"kind:", b"day:")))
        return facts.retold(place, after, claim.text, claim.retold_by)

    with contextlib.suppress(ValueError):
        folder.edit(place, change)
    return Applied([one], [place], [])


def _entries(folder: Folder, one: Decision, touched: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What the log keeps of a decision that was carried out: the memory as it is now, and those that it replaced."""
    for path in dict.fromkeys(map(live, touched)):
        place = next(archive.places(folder, path), "")
        if place:
            first = path not in one.replaces
            memory = folder.memory(place)
            entry: dict[str, Any] = {
                "wrote": path,
                "digest": consolidation_log.digest(memory.data),
                "from": [list(origin) for origin in one.claim.origins] if first else [],
            }
            if first and (one.action != UPDATE or set(facts.sources(memory)) <= set(one.claim.sources)):
                entry["anew"] = True  # it rests on these turns alone: its file is new, or its turn was edited
            yield entry


# -- the line of a session's front matter that sums it up --------------------------------------------------------------


def _may_have_episode(memory: Memory, log: ConsolidationLog) -> bool:
    """Is a session live, with room for an episode or with nothing but the program's in it?"""
    if is_archived(memory.path) or encoding_of(memory.data) != "utf-8":
        return False
    here = memory.lines[memory.episode_line - 1 : memory.episode_line] if memory.episode_line else []
    here += [memory.lines[n - 1] for n in episode.places(memory.lines, memory.front_end) if not memory.episode_line]
    if here:
        return all(_is_ours(line, log, memory.path) for line in here)
    room = memory.front_end and memory.lines[memory.front_end : memory.front_end + 1] == [""]
    return bool(room) and episode.KEY not in memory.front and (memory.front != {} or memory.front_end == 2)


def _is_ours(line: str, log: ConsolidationLog, path: str) -> bool:
    """Did the program write this line, or blank it?"""
    blanked = line.partition(":")[2].strip() == episode.OWN_NAME
    return blanked or consolidation_log.digest(line) in log.episodes.get(archive.live(path), ())


def _write_episode(folder: Folder, path: str, written: str, log: ConsolidationLog) -> tuple[list[dict[str, Any]], int]:
    """Set a session's episode; returns what the log keeps, and by how many bytes the file grew."""
    grown = 0

    def change(data: bytes) -> bytes | None:
        nonlocal grown
        lines = episode.once(data.decode().split("\n"), Memory(path, data).front_end)
        memory = Memory(path, "\n".join(lines).encode())
        if f"{written}\n" not in memory.text and not _may_have_episode(memory, log):
            return None
        lines = episode.put(lines, memory.front_end, memory.episode_line, written)
        after = "\n".join(lines).encode()
        grown = len(after) - len(data)
        return after

    try:
        folder.edit(path, change)
        here = folder.memory(path)
    except (FilememError, UnicodeDecodeError):
        return [], 0
    if here.episode_line and here.lines[here.episode_line - 1] == written:
        return [{"episode": path, "written": consolidation_log.digest(written)}], grown
    return [], 0
