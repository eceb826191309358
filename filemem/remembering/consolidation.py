"""Consolidation: what was said becomes facts, lessons and lines of the profile. `plan` decides, `apply` writes.

A model reads; without one everything waits. What a request came to is written down in `.filemem/consolidating.json` before it
is carried out, and every step of it may be done twice; so a run that was killed is taken up where it stopped, and ends as it
would have ended.
"""

import contextlib
import datetime as dt
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import archive, config, episode, facts, journal, safe
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.models import Model, ModelError
from filemem.remembering import consolidation_log, profile, sessions
from filemem.remembering.consolidation_log import ConsolidationLog
from filemem.remembering.extraction import KEEP, Extracted, ForgetRequest, Request, ask, batches, estimate, halves
from filemem.remembering.sessions import Session
from filemem.remembering.supersession import (
    PROPOSE,
    REFUSE,
    UPDATE,
    WRITTEN,
    Claim,
    Decision,
    KnownMemories,
    claim_from_json,
)
from filemem.text.plain import counted

JOURNAL = "consolidating.json"


class ReadSession(NamedTuple):
    """A session that a plan has read: the digests of its turns, its size in bytes (0 where there are further turns to read), and
    the line of its front matter that sums it up, empty where nothing does."""

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


class Applied(NamedTuple):
    """What was done: the decisions that were carried out or noted for review, the paths that changed, sentences for the person.

    `error`: why the model read no further; the rest waits.
    """

    decisions: list[Decision]
    paths: list[str]
    notes: list[str]
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


def cost(folder: Folder) -> Cost:
    """What it would take to read all that waits."""
    log = ConsolidationLog(folder)
    waiting = [one for one in sessions.unread(folder, log, counted=True) if one.waiting]
    known = KnownMemories(folder, log) if waiting else None
    sizes = [estimate(batch, known) for batch in batches(waiting)] if known else []
    return Cost(len(waiting), len(sizes), sum(sizes))


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: archive.Progress = archive.no_progress,
    *,
    review: bool = False,
    besides: str = "",
) -> Iterator[Applied]:
    """Finish what a killed run has left, then have the model read all that waits, request by request, in the order of the
    days; yields what was done. `progress` counts turns; `besides` is a session left out.

    Without a model nothing is read. With `review`, or where the store's settings say so, what is planned is only proposed.
    Where the model fails, the last that is yielded says so; what was read before stands.
    """
    if before := resume(folder):
        yield before
    log = ConsolidationLog(folder)
    paths, notes = profile.revise(folder, log, at.date())
    if paths:
        yield Applied([], paths, notes)
    total = sum(len(one.unread) for one in sessions.unread(folder, log, besides, counted=True)) if model else 0
    if not total or model is None:
        return
    review = review or config.of(folder).review
    known, refused, again = KnownMemories(folder, log), list[str](), list[list[Session]]()
    done, requests, spent = 0, 0, 0
    waiting = batches(sessions.unread(folder, log, besides))
    while batch := again.pop(0) if again else next(waiting, None):
        progress(done, total)
        told, found = [one for one in batch if one.waiting], Extracted([], {}, [], [])
        if told:
            request = Request(told, known, at.date(), refused)
            try:
                reply = ask(model, "consolidate", "keep", KEEP, request.text)
                requests, spent = requests + 1, spent + reply.usage.tokens_in + reply.usage.tokens_out
                if reply.finish == "length" and len(smaller := halves(told)) == 2:
                    again[:0] = [[*smaller[0], *(one for one in batch if not one.waiting)], smaller[1]]
                    continue
                found = request.taken(reply, model.name)
            except ModelError as error:
                yield Applied([], [], [], f"{error} What was not read yet waits.")
                return
            refused = [f"{claim.text} ({reason})" for claim, reason in found.claims if reason]
        done += sum(len(one.unread) for one in batch)
        yield apply(folder, _planned(batch, found, known, at, review), log)
    progress(total, total)
    if spent:
        yield Applied([], [], [f"{model.name}: {counted(requests, 'request')}, {spent:,} tokens"])
    if requests and not review:
        paths, notes = profile.condense(folder, log, model)
        if paths or notes:
            yield Applied([], paths, notes)


def _planned(batch: list[Session], found: Extracted, known: KnownMemories, at: dt.datetime, review: bool) -> BatchPlan:
    """What becomes of what a request came to; `known` takes it in."""
    lessons = config.of(known.folder).steering == "review"

    def decided(claim: Claim, wrong: str) -> Decision:
        if wrong:
            return Decision(REFUSE, "", claim, wrong)
        one = known.decided(claim)
        waits = review or claim.waits or (lessons and claim.kind == "lessons")
        return one._replace(action=PROPOSE) if waits and one.action in WRITTEN else one

    read = []
    for session in batch:
        turns = tuple(session.turns[place].digest for place in session.unread)
        told = found.episodes.get(session.path)
        line = told.line if told and told.text and not review else ""
        read.append(ReadSession(session.path, turns, session.size, line))
    decisions = tuple(decided(claim, wrong) for claim, wrong in found.claims)
    return BatchPlan(tuple(read), at.isoformat(), decisions, tuple(found.notes), tuple(found.forget))


# -- apply -------------------------------------------------------------------------------------------------------


def apply(folder: Folder, found: BatchPlan, log: ConsolidationLog | None = None) -> Applied:
    """Carry out a plan, and note that its turns were read; raises FilememError or OSError.

    `log` is the consolidation log where it was read already. First what a killed run has left is finished: whoever holds the
    lock and finds a journal is looking at such a one's.
    """
    with folder.locked():
        left = resume(folder)
        journal = folder.bookkeeping(JOURNAL)
        safe.write(journal, json.dumps(found, ensure_ascii=False, default=str).encode("utf-8", "replace"))
        done = _carry_out(folder, found, log or ConsolidationLog(folder))
        safe.delete(journal)
    return done._replace(paths=[*left.paths, *done.paths]) if left else done


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


def _from_json(value: Any) -> BatchPlan:
    """A plan from the JSON of its fields in their order."""
    read, at, decided, notes, forget = value
    decisions = []
    for action, path, fields, reason, confidence, replaces in decided:
        claim = claim_from_json(dict(zip(Claim._fields, fields, strict=True)))
        decisions.append(Decision(action, path, claim, reason, confidence, tuple(replaces)))
    return BatchPlan(
        tuple(ReadSession(path, tuple(turns), size, line) for path, turns, size, line in read),
        at,
        tuple(decisions),
        tuple(notes),
        tuple(ForgetRequest(asked, tuple(turns), tuple(memories)) for asked, turns, memories in forget),
    )


def _carry_out(folder: Folder, found: BatchPlan, log: ConsolidationLog) -> Applied:
    """Do every step that was not done yet."""
    at, entries = dt.datetime.fromisoformat(found.at), list[dict[str, Any]]()
    done, paths, notes = list[Decision](), list[str](), list(found.notes)
    for one in found.decisions:
        if one.action == REFUSE:
            notes.append(f"Refused: {one.claim.text} ({one.reason}); filemem review keeps it")
        else:
            done.append(one)
        if one.action == PROPOSE or (one.action == REFUSE and one.claim.text and one.claim.sources):
            because = {"because": one.reason} if one.action == REFUSE else {}
            entries.append({"proposed": one.claim._asdict(), **because})
        if one.action not in WRITTEN:
            continue
        try:
            written = _change(folder, one, log) if one.action == UPDATE else _write(folder, one, at, notes)
        except FilememError as error:
            done.pop()
            notes.append(str(error))
            continue
        done[-1] = written.decisions[0]
        paths += written.paths
        entries += _entries(folder, done[-1], written.paths)
    gone = tuple(path for one in found.forget for path in one.memories)
    changed, said = profile.revise(folder, log, at.date(), [one for one in done if one.action in WRITTEN], gone)
    paths, notes = [*paths, *changed], [*notes, *said]
    told_again = [one.path for one in done if one.action == UPDATE]
    if told_again:
        journal.note_recalls(folder, dict.fromkeys(told_again), journal.CITED, at)
    for wish in found.forget:
        memories = (archive.read(folder, path) for path in wish.memories)
        told = [source for one in memories if one for source in facts.sources(one)]
        journal.hold_back(folder, wish.asked, [*wish.turns, *wish.memories, *told], at)
        what = ", ".join(wish.memories or wish.turns)
        notes.append(
            f"Held back, as asked in {wish.asked}: {what}; filemem forget deletes it, filemem restore takes it back"
        )
    for session in found.sessions:
        grown = 0
        if session.episode:
            kept_line, grown = _write_episode(folder, session.path, session.episode, log)
            entries += kept_line
            paths += [session.path] if grown else []
        entries.append(
            {"read": session.path, "turns": list(session.turns), "size": session.size and session.size + grown}
        )
    log.add(entries)
    return Applied(done, list(dict.fromkeys(paths)), notes)


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


def _write_episode(folder: Folder, path: str, written: str, log: ConsolidationLog) -> tuple[list[dict[str, Any]], int]:
    """Set a session's episode, where there is room or nothing but the program's; returns what the log keeps, and by how many
    bytes the file grew."""
    grown = 0

    def is_ours(line: str) -> bool:
        blanked = line.partition(":")[2].strip() == episode.OWN_NAME
        return blanked or line == written or consolidation_log.digest(line) in log.episodes.get(path, ())

    def change(data: bytes) -> bytes | None:
        nonlocal grown
        lines = data.decode().split("\n")
        memory = Memory(path, data)
        here = {*episode.places(lines, memory.front_end), *filter(None, [memory.episode_line])}
        room = memory.front_end and lines[memory.front_end : memory.front_end + 1] in ([""], ["\r"])
        room = room and episode.KEY not in memory.front and (memory.front != {} or memory.front_end == 2)
        if not (all(is_ours(lines[n - 1].rstrip("\r")) for n in here) if here else room):
            return None
        lines = episode.once(lines, memory.front_end)
        memory = Memory(path, "\n".join(lines).encode())
        after = "\n".join(episode.put(lines, memory.front_end, memory.episode_line, written)).encode()
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
