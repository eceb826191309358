"""Consolidation: what was said becomes facts, lessons and lines of the profile. A model reads; without one everything waits.

What a request came to is written down in `.filemem/consolidating.json` before it is carried out, and every step of it may be done
twice; so a run that was killed is taken up where it stopped, and ends as it would have ended.
"""

import contextlib
import datetime as dt
import functools
import itertools
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import archive, config, episode, facts, journal, safe
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.models import Model, ModelError
from filemem.remembering import profile, sessions
from filemem.remembering.extraction import ForgetRequest, Request, ask, batches, halves
from filemem.remembering.sessions import ConsolidationLog, Session, digest
from filemem.remembering.supersession import PROPOSE, REFUSE, UPDATE, WRITTEN, Claim, Decision, KnownMemories
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
        read = f"{counted(self.conversations, 'conversation')} to read: {asked}."
        return read if self.requests else "Nothing new to read."


def cost(folder: Folder) -> Cost:
    """What it would take to read all that waits."""
    log = ConsolidationLog(folder)
    waiting = [one for one in sessions.unread(folder, log) if one.waiting]
    known = KnownMemories(folder, log) if waiting else None
    asked = [Request(batch, known, dt.date.min).tokens for batch in batches(waiting)] if known else []
    return Cost(len(waiting), len(asked), sum(asked))


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    *,
    review: bool = False,
    besides: str = "",
) -> Iterator[Applied]:
    """Finish what a killed run has left, then have the model read all that waits, request by request, in the order of the
    days; yields what was done. `besides` is a session left out.

    Without a model nothing is read. With `review`, or where the store's settings say so, what is planned is only proposed.
    Where the model fails, the last that is yielded says so; what was read before stands.
    """
    if before := resume(folder):
        yield before
    log = ConsolidationLog(folder)
    paths, notes = profile.revise(folder, log, at.date())
    if paths:
        yield Applied([], paths, notes)
    waiting = batches(sessions.unread(folder, log, besides))
    if model is None or not (first := next(waiting, None)):
        return
    review = review or config.of(folder).review
    known, requests, spent, waiting = KnownMemories(folder, log), 0, 0, itertools.chain([first], waiting)
    while batch := next(waiting, None):
        told, request = [one for one in batch if one.waiting], None
        if told:
            request = Request(told, known, at.date())
            try:
                reply = ask(model, "consolidate", request.text)
                requests, spent = requests + 1, spent + sum(reply.usage)
                if reply.finish == "length" and len(smaller := halves(batch)) == 2:
                    waiting = itertools.chain(smaller, waiting)
                    continue
                request.take(reply, model.name)
                if reply.finish == "length":
                    yield Applied([], [], [f"{model.name} was cut off; what it had said whole by then is kept"])
            except ModelError as error:
                yield Applied([], [], [], f"{error} What was not read yet waits.")
                return
        yield apply(folder, _planned(batch, known, at, request, review), log)
    if spent:
        yield Applied([], [], [f"{model.name}: {counted(requests, 'request')}, {spent:,} tokens"])
    if requests and not review:
        paths, notes = profile.condense(folder, log, model)
        if paths or notes:
            yield Applied([], paths, notes)


def _planned(
    batch: list[Session], known: KnownMemories, at: dt.datetime, found: Request | None, ask: bool
) -> BatchPlan:
    """What becomes of what a request came to, which `known` takes in; `ask` the person first."""
    decisions, read = list[Decision](), list[ReadSession]()
    for claim, wrong in found.claims if found else ():
        one = Decision(REFUSE, "", claim, wrong) if wrong else known.decided(claim)
        waits = (ask or claim.waits) and one.action in WRITTEN
        decisions.append(one._replace(action=PROPOSE) if waits else one)
    for session in batch:
        turns = tuple(session.turns[place].digest for place in session.unread)
        told = found.episodes.get(session.path) if found and not ask else None
        read.append(ReadSession(session.path, turns, session.size, told.line if told and told.text else ""))
    return BatchPlan(tuple(read), at.isoformat(), tuple(decisions), tuple(found.forget) if found else ())


# -- what is carried out ---------------------------------------------------------------------------------------------


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
    if not os.path.lexists(journal):
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
    read, at, decided, forget = value
    decisions = []
    for action, path, fields, reason, replaces in decided:
        claim = Claim.from_json(dict(zip(Claim._fields, fields, strict=True)))
        decisions.append(Decision(action, path, claim, reason, tuple(replaces)))
    return BatchPlan(
        tuple(ReadSession(path, tuple(turns), size, line) for path, turns, size, line in read),
        at,
        tuple(decisions),
        tuple(ForgetRequest(asked, tuple(turns), tuple(memories)) for asked, turns, memories in forget),
    )


def _carry_out(folder: Folder, found: BatchPlan, log: ConsolidationLog) -> Applied:
    """Do every step that was not done yet."""
    at, entries = dt.datetime.fromisoformat(found.at), list[dict[str, Any]]()
    done, paths, notes = list[Decision](), list[str](), list[str]()
    for one in found.decisions:
        if one.action == REFUSE:
            notes.append(f"Refused: {one.claim.text} ({one.reason}); filemem review keeps it")
            if one.claim.text and one.claim.sources:
                entries.append({"proposed": one.claim._asdict(), "because": one.reason})
            continue
        if one.action == PROPOSE:
            entries.append({"proposed": one.claim._asdict()})
        if one.action in WRITTEN:
            try:
                one, written = (_change if one.action == UPDATE else _write)(folder, one, log, at, notes)
            except FilememError as error:
                notes.append(str(error))
                continue
            paths += written
            for path in dict.fromkeys(map(live, written)):
                if memory := archive.read(folder, path):
                    origins = [] if path in one.replaces else [list(origin) for origin in one.claim.origins]
                    entries.append({"wrote": path, "digest": digest(memory.data), "from": origins})
        done.append(one)
    made = [one for one in done if one.action in WRITTEN]
    changed, said = profile.revise(
        folder, log, at.date(), made, [path for one in found.forget for path in one.memories]
    )
    paths, notes = [*paths, *changed], [*notes, *said]
    if told_again := [one.path for one in done if one.action == UPDATE]:
        journal.note_recalls(folder, dict.fromkeys(told_again), journal.CITED, at)
    notes += [_held_back(folder, wish, at) for wish in found.forget]
    for session in found.sessions:
        grown = _write_episode(folder, session.path, session.episode, log) if session.episode else None
        if grown is not None:
            entries.append({"episode": session.path, "written": digest(session.episode)})
            paths += [session.path] if grown else []
        size = session.size and session.size + (grown or 0)
        entries.append({"read": session.path, "turns": list(session.turns), "size": size})
    log.add(entries)
    return Applied(done, list(dict.fromkeys(paths)), notes)


def _held_back(folder: Folder, wish: ForgetRequest, at: dt.datetime) -> str:
    """Hold back what a person asked to be forgotten, with the turns that it goes back to; a sentence on it."""
    memories = (archive.read(folder, path) for path in wish.memories)
    told = [source for one in memories if one for source in facts.sources(one)]
    journal.hold_back(folder, wish.asked, [*wish.turns, *wish.memories, *told], at)
    what, how = ", ".join(wish.memories or wish.turns), "filemem forget deletes it, filemem restore takes it back"
    return f"Held back, as asked in {wish.asked}: {what}; {how}"


Written = tuple[Decision, list[str]]  # a decision as it was carried out, and the paths that changed


def _write(folder: Folder, one: Decision, log: ConsolidationLog, at: dt.datetime, notes: list[str]) -> Written:
    """Write a new memory, then mark what it supersedes and put that into the archive."""
    claim = one.claim

    def holds(memory: Memory) -> bool:
        """Is this what was made of the claim, superseded or confirmed since perhaps?"""
        said = "\n".join(memory.lines[memory.front_end :]).strip()
        return f"{said}\n".startswith(f"{claim.body or claim.text}\n") and {*claim.sources} <= {*facts.sources(memory)}

    with folder.locked():
        if not any(holds(folder.memory(place)) for place in folder.standing(one.path)):
            one = one._replace(
                path=folder.create(one.path, claim.page(one.replaces))
            )  # another name where this one is taken
    paths = [one.path]
    for old in one.replaces:
        if not (place := next(folder.standing(old), "")):
            continue
        try:
            mark = functools.partial(facts.superseded, place, by=live(one.path), until=claim.valid_from or claim.day)
            folder.edit(place, mark)
        except ValueError as error:
            notes.append(f"{place} is superseded by {one.path}, but {error}; put it right by hand.")
            continue
        if place == live(old):
            notes += archive.move_in(folder, [place], at).values()
        paths += [live(old), archive.archived(old)]
    return one, paths


def _change(folder: Folder, one: Decision, log: ConsolidationLog, at: dt.datetime, notes: list[str]) -> Written:
    """Add sources and confidence to a memory, and give it the words in which it stands from now on, unless it was told again."""
    place, claim = folder.locate(one.path), one.claim

    def change(data: bytes) -> bytes:
        after = facts.confirmed(place, data, claim.sources, claim.confidence)
        if one.reason or not log.untouched(place, data):
            return after
        days = {
            "valid_from": claim.valid_from,
            "valid_until": claim.valid_until,
            "kind": claim.nature,
            "day": claim.when,
        }
        for key, value in days.items():
            after = facts.set_front(place, after, key, str(value)) if value else after
        if not claim.nature:  # what was to come has come to stay
            end = Memory(place, after).front_end
            lines = enumerate(after.splitlines(keepends=True), 1)
            after = b"".join(line for number, line in lines if number > end or not line.startswith((b"kind:", b"day:")))
        return facts.retold(place, after, claim.text, claim.retold_by)

    with contextlib.suppress(ValueError):
        folder.edit(place, change)
    return one, [place]


def _write_episode(folder: Folder, path: str, written: str, log: ConsolidationLog) -> int | None:
    """Set the line of a session's front matter that sums it up, where there is room or nothing but the program's; by how many
    bytes the file grew, None where it is as it was."""
    grown = None

    def change(data: bytes) -> bytes | None:
        nonlocal grown
        lines, memory = data.decode().split("\n"), Memory(path, data)
        here = {*episode.places(lines, memory.front_end), *filter(None, [memory.episode_line])}
        told = {lines[n - 1].rstrip("\r") for n in here} - {written, f"{episode.KEY}: {episode.OWN_NAME}"}
        if not log.episodes.issuperset(map(digest, told)) or not (
            here or (memory.front and episode.KEY not in memory.front)
        ):
            return None
        lines = episode.once(lines, memory.front_end)
        memory = Memory(path, "\n".join(lines).encode())
        after = "\n".join(episode.put(lines, memory.front_end, memory.episode_line, written)).encode()
        grown = len(after) - len(data)
        return after

    with contextlib.suppress(FilememError, UnicodeDecodeError):
        folder.edit(path, change)
    return grown
