"""Consolidation: what was said becomes facts, lessons and lines of the profile. `plan` decides, `apply` writes.

A session's plan is written down in `.filemem/consolidating.json` before it is carried out, and every step of it may be
done twice; so a run that was killed is taken up where it stopped, and ends as it would have ended.
"""

import contextlib
import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import archive, config, disk, facts, pending_deletion, recalls
from filemem.files.archive import live
from filemem.files.facts import plain
from filemem.files.folder import Folder
from filemem.files.front import quoted
from filemem.files.memory import ARCHIVE, PROFILE, Memory
from filemem.remembering import episodes, ledger, profile, sessions, upkeep
from filemem.remembering.comparison import (
    ADD,
    DOUBT,
    DROP,
    LATE,
    NOOP,
    SUPERSEDE,
    TAKEN_BACK,
    UPDATE,
    Claim,
    Fact,
    FactIndex,
    Verdict,
    adds_detail,
    compare,
    display,
    from_json,
    holds_more_than,
    may_take_detail,
)
from filemem.remembering.episodes import New
from filemem.remembering.ledger import Ledger
from filemem.remembering.rules import Extracted, extract
from filemem.remembering.sessions import Session
from filemem.remembering.upkeep import Replacement
from filemem.text import retention
from filemem.text.statements.words import content

JOURNAL = "consolidating.json"
LOWERED = 0.75  # what is left of a confidence where somebody says otherwise
RAISED = 0.5  # of what a confidence lacks to 1, what each further day on which it is told takes away
Extractor = Callable[[Session, list[int], FactIndex], Extracted]


class Decision(NamedTuple):
    """What is done about one claim; `path` is the memory that is written, changed or known already.

    `replaces` are the memories that it supersedes, which end on the day `until`, and `in_part` those of them that tell
    something beside and stay; for LATE the one that supersedes it.
    """

    action: str
    path: str
    claim: Claim
    reason: str = ""
    confidence: float = 1.0
    replaces: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    until: str = ""
    heading: str = ""
    adds: str = ""  # what an UPDATE appends to its memory
    retells: bool = False  # it stands in the place of all that the memory says

    def page(self) -> str:
        """The file that is written."""
        claim = self.claim
        front = {
            "source": facts.reference(claim.sources) if claim.sources else "",
            "importance": str(claim.importance) if claim.importance != retention.IMPORTANCE else "",
            "confidence": f"{self.confidence:g}" if self.confidence < 1 else "",
            "pinned": "true" if claim.pinned else "",
            "tags": f"[{', '.join(map(quoted, claim.tags))}]" if claim.tags else "",
            "aliases": f"[{', '.join(map(quoted, claim.aliases))}]" if claim.aliases else "",
            "said_by": claim.said_by,
            "valid_from": str(claim.valid_from or ""),
            "valid_until": str(claim.valid_until or ""),
            "retold_by": quoted(claim.retold_by) if claim.retold_by else "",
            "kind": claim.nature,
            "day": str(claim.when or ""),
        }
        if self.action == LATE:
            front |= {"valid_until": self.until, "superseded_by": facts.reference(self.replaces)}
        elif self.replaces:
            front["supersedes"] = facts.reference(self.replaces)
        return facts.page(claim.body or claim.text, front)


class SessionPlan(NamedTuple):
    """What is to be done about one session; `turns` are the digests of those that it looks at, `at` is the time of the run.

    `size` is the file's in bytes, 0 where there are further turns to read. `episode` is the line that sums it up, empty where
    that stands or is not the program's, and `about` the turns that it is about.
    """

    session: str
    at: str
    turns: tuple[str, ...]
    size: int
    decisions: tuple[Decision, ...]
    notes: tuple[str, ...]
    episode: str = ""
    about: str = ""


class Applied(NamedTuple):
    """What was done: the decisions that were carried out, the paths that changed, sentences for the person.

    `staged`: the decisions wait for review, and no memory was touched.
    """

    decisions: list[Decision]
    paths: list[str]
    notes: list[str]
    staged: bool = False


# -- the plan ----------------------------------------------------------------------------------------------------


def plan(
    folder: Folder,
    at: dt.datetime,
    extractor: Extractor | None = None,
    paths: Iterable[str] | None = None,
    progress: archive.Progress = archive.no_progress,
    *,
    until: int | None = None,
    book: Ledger | None = None,
) -> Iterator[SessionPlan]:
    """The plans of the sessions (all where no `paths` are given) with unread turns or without an episode, by their dates.

    Each takes what those before it decide as done, so the caller may apply one before it asks for the next, or none.
    `extractor` makes claims of a session, the rules where it is None. `progress` counts turns; of a conversation
    that goes on, only those before the line `until` are read. `book` is the ledger where it was read already.
    """
    order = sessions.in_order(folder)
    chosen = set(order if paths is None else paths)
    book, pending, names = book or Ledger(folder), [], set[str]()
    hidden = pending_deletion.read(folder)
    for path in order:
        memory = sessions.load(folder, path) if path in chosen else None
        new = episodes.new_of(memory, book, hidden, until) if memory else None
        if memory and new and (new.unread or new.due):
            said = sessions.passages(memory)
            pending.append((path, len(said)))
            names.update(sessions.speaker(memory, passage) for passage in said if new.unread)
    known = FactIndex(folder, book, names) if names else None
    done, total = 0, sum(count for _, count in pending)
    for path, count in pending:
        progress(done, total)
        memory = sessions.load(folder, path)  # anew: somebody may have saved it since
        new = episodes.new_of(memory, book, hidden, until) if memory else None
        if memory and new and (new.unread or new.due):
            session = sessions.users_turns(memory, folder.name, hidden, config.of(folder).own)
            planned = _planned(session, new, book, known, extractor, at)
            yield planned if until is None else planned._replace(size=0)
        done += count
    progress(total, total)


def _planned(
    session: Session, new: New, book: Ledger, known: FactIndex | None, extractor: Extractor | None, at: dt.datetime
) -> SessionPlan:
    """The plan of one session: what becomes of its unread turns, and its episode."""
    found, planned = Extracted([], [], []), SessionPlan(session.path, at.isoformat(), (), session.size, (), ())
    if new.unread and known:
        days = {turn.digest: turn.day for turn in session.turns}
        session = session._replace(kept=Counter(days[one] for one in book.facts_of(days)))
        found = extractor(session, new.unread, known) if extractor else extract(session, new.unread)
        planned = _session_plan(session, new.unread, found, known, at)
    if new.about and (new.due or found.episode.text):
        planned = planned._replace(episode=episodes.line(session, found.episode), about=new.about)
    return planned


def _session_plan(
    session: Session, unread: list[int], told: Extracted, known: FactIndex, at: dt.datetime
) -> SessionPlan:
    """What becomes of the claims of one session; `known` takes it in."""
    day = session.memory.date or at.date()
    decisions = [Decision(DROP, "", Claim(one.text, day, sources=(one.source,)), one.reason) for one in told.dropped]
    for claim in told.claims:
        decisions.append(decided(claim, known))
    turns = tuple(session.turns[place].digest for place in unread)
    notes = (*told.notes, *upkeep.contradicted(known, _settled(decisions, known)))
    return SessionPlan(session.path, at.isoformat(), turns, session.size, tuple(decisions), notes)


def decided(claim: Claim, known: FactIndex) -> Decision:
    """What is to be done about one claim; `known` takes it in."""
    before = next((known.ledger.made[origin] for origin in claim.origins[:1] if origin in known.ledger.made), "")
    if before:
        return Decision(NOOP, before, claim, f"this turn was made into {before} before")
    cited = next((known.cited[source] for source in claim.sources[:1] if source in known.cited), "")
    if cited:
        return Decision(NOOP, cited, claim, f"{cited} rests on this turn already")
    if any(origin in known.ledger.refused for origin in claim.origins):
        return Decision(NOOP, "", claim, "it was proposed before and rejected")
    verdict = compare(claim, known)
    if verdict.action in (NOOP, DROP):
        return Decision(verdict.action, verdict.facts[0].path if verdict.facts else "", claim, verdict.reason)
    if verdict.action == DOUBT:
        doubted = verdict.facts[0]._replace(confidence=round(verdict.facts[0].confidence * LOWERED, 2))
        known.put(doubted)
        return Decision(DOUBT, doubted.path, claim, verdict.reason, doubted.confidence)
    if verdict.action == UPDATE:
        return _confirmed(claim, verdict.facts[0], known)
    return _new(claim, verdict, known)


def raised_confidence(confidence: float) -> float:
    """How certain is what is told on a further day."""
    return round(1 - (1 - confidence) * RAISED, 2)


def _confirmed(claim: Claim, fact: Fact, known: FactIndex) -> Decision:
    """A memory gets a further source, and what is new; told on another day, it is also more certain."""
    certain = fact.confidence
    if claim.day != fact.since and not claim.said_by:
        certain = raised_confidence(fact.confidence)
    certain = max(certain, claim.confidence)
    found = Decision(UPDATE, fact.path, claim, "told again", certain)
    if claim.merged and claim.meant == (UPDATE, fact.path):
        found = found._replace(adds=claim.merged, retells=True)
        fact = fact._replace(text=claim.merged, speaker="")
    elif adds_detail(fact, claim) and may_take_detail(fact, claim):
        found = found._replace(adds=claim.body or claim.text)
        fact = fact._replace(text=f"{fact.text} {plain(claim.text)}")
    words = frozenset(content(plain(claim.text)))
    if found.adds and fact.words <= words and not claim.said_by:  # its line of the profile says so, too
        found = found._replace(heading=claim.heading)
    named = tuple(dict.fromkeys([*fact.sources, *claim.sources]))
    since, words = max(fact.since, claim.day), fact.words | words if found.adds else fact.words
    known.put(fact._replace(confidence=certain, since=since, words=words, sources=named))
    return found


def _new(claim: Claim, verdict: Verdict, known: FactIndex) -> Decision:
    """A memory of its own, in the place of others perhaps."""
    path = known.free(facts.name(claim.kind, claim.text, claim.day, display(known.user.name)))
    late = verdict.action == LATE
    heading = "" if late or claim.said_by else claim.heading
    place = f"{ARCHIVE}/{path}" if late else path
    found = Decision(verdict.action, place, claim, verdict.reason, claim.confidence)
    # What was true until something else is told was true until that began, and when it was told last.
    told = max((fact.since for fact in verdict.facts), default=dt.date.min)
    until = told if late else max(min(claim.valid_from or claim.day, claim.day), min(told, claim.day))
    replaces = tuple(live(fact.path) for fact in verdict.facts)
    heading = profile.IN_PLACE if not heading and claim.states and replaces else heading
    if late:
        known.paths.add(found.path)
        return found._replace(replaces=replaces, until=str(until))
    if verdict.reason:
        found = found._replace(confidence=round(claim.confidence * RAISED, 2))
    whole = claim.meant is not None and claim.meant[0] == TAKEN_BACK  # nothing of a joke stays
    in_part = tuple(live(fact.path) for fact in verdict.facts if not whole and holds_more_than(fact, claim))
    for fact in verdict.facts:
        if live(fact.path) not in in_part:
            known.supersede(fact.path)
    words = frozenset(content(plain(claim.text)))
    new = Fact(
        path, plain(claim.text), claim.day, claim.states, words, True, claim.pinned, found.confidence,
        claim.sources, claim.speaker, claim.nature, claim.when,
    )  # fmt: skip
    known.put(new)
    return found._replace(replaces=replaces, in_part=in_part, until=str(until) if replaces else "", heading=heading)


def _settled(decisions: Iterable[Decision], known: FactIndex) -> Iterator[Replacement]:
    """What the new memories settle."""
    for one in decisions:
        if one.claim.states and one.action in (ADD, SUPERSEDE):
            before = tuple(known.replaced[path] for path in one.replaces if path in known.replaced)
            yield Replacement(one.path, one.claim.states, one.claim.text, before)


# -- apply -------------------------------------------------------------------------------------------------------


def apply(folder: Folder, found: SessionPlan, book: Ledger | None = None) -> Applied:
    """Carry out the plan of one session, and note that its turns were read; raises FilememError or OSError.

    `book` is the ledger where it was read already. First what a killed run has left is finished: whoever holds the lock and
    finds a journal is looking at such a one's.
    """
    with folder.locked():
        left = resume(folder)
        journal = folder.bookkeeping(JOURNAL)
        disk.write(journal, _as_json(found))
        done = _carry_out(folder, found, book or Ledger(folder))
        disk.delete(journal)
    return done._replace(paths=[*left.paths, *done.paths]) if left else done


def stage(folder: Folder, found: SessionPlan, book: Ledger | None = None) -> Applied:
    """Note what a plan would write as proposals for review, and that its turns were read; no memory is touched."""
    folder.make()
    staged = [one for one in found.decisions if one.action not in (NOOP, DROP)]
    read = {"read": found.session, "turns": list(found.turns), "size": found.size}
    (book or Ledger(folder)).add([*({"proposed": one.claim._asdict()} for one in staged), read])
    return Applied(staged, [], list(found.notes), staged=True)


def run(
    folder: Folder,
    at: dt.datetime,
    extractor: Extractor | None = None,
    paths: Iterable[str] | None = None,
    progress: archive.Progress = archive.no_progress,
    *,
    until: int | None = None,
    review: bool = False,
) -> Iterator[tuple[str, Applied]]:
    """Finish what a killed run has left, then plan and apply session by session; yields each session's path and what was done,
    and last which others were summed up. With `review`, or where the store's settings say so, what is planned is only proposed.
    """
    before = resume(folder)
    if before:
        yield "", before
    book = Ledger(folder)
    kept = upkeep.sync_profile(folder, book, at.date())
    if kept.changed:
        yield "", Applied([], [PROFILE], kept.notes)
    carry, summed = stage if review or config.of(folder).review else apply, list[str]()
    for found in plan(folder, at, extractor, paths, progress, until=until, book=book):
        if not found.turns:
            summed += apply(folder, found, book).paths
            continue
        waiting, settled = _parted(folder, found)
        if waiting.decisions and carry is apply:
            yield found.session, stage(folder, waiting, book)
        yield found.session, carry(folder, settled if carry is apply else found, book)
    if summed:
        yield "", Applied([], summed, [])


def _parted(folder: Folder, found: SessionPlan) -> tuple[SessionPlan, SessionPlan]:
    """What of a plan waits for the person's word whatever else does, as it steers the assistant; and the rest."""
    asks = config.of(folder).steering == "review"
    waits = [
        one.action == DOUBT or one.claim.waits or (asks and one.claim.kind == "lessons") for one in found.decisions
    ]
    held = [one for one, wait in zip(found.decisions, waits, strict=True) if wait and one.action not in (NOOP, DROP)]
    kept = [one for one in found.decisions if one not in held or one.action == DOUBT]
    return found._replace(turns=(), size=0, decisions=tuple(held), notes=()), found._replace(decisions=tuple(kept))


def resume(folder: Folder) -> Applied | None:
    """Finish the plan that a killed run has left; None where there is none."""
    journal = folder.bookkeeping(JOURNAL)
    if not disk.exists(journal):
        return None
    with folder.locked():
        try:
            done = _carry_out(folder, _from_json(json.loads(disk.read(journal))), Ledger(folder))
        except NotFound:
            return None
        except (ValueError, TypeError, KeyError):
            done = None  # no plan of this version: its session is read again
        disk.delete(journal)
    return done


def _as_json(found: SessionPlan) -> bytes:
    decisions = [{**one._asdict(), "claim": one.claim._asdict()} for one in found.decisions]
    value = {**found._asdict(), "decisions": decisions}
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _from_json(value: dict[str, Any]) -> SessionPlan:
    decisions = [Decision(**_with_tuples({**one, "claim": from_json(one["claim"])})) for one in value["decisions"]]
    return SessionPlan(**_with_tuples({**value, "decisions": decisions}))


def _with_tuples(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a NamedTuple as they were before JSON made lists of its tuples."""
    return {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}


def _carry_out(folder: Folder, found: SessionPlan, book: Ledger) -> Applied:
    """Do every step that was not done yet."""
    at, entries = dt.datetime.fromisoformat(found.at), list[dict[str, Any]]()
    book.read_on()
    done, paths, notes = list[Decision](), list[str](), list(found.notes)
    for one in found.decisions:
        if one.action in (NOOP, DROP):
            done.append(one)
            continue
        try:
            written = _confirm(folder, one, book) if one.action in (UPDATE, DOUBT) else _write(folder, one, at, notes)
        except FilememError as error:
            notes.append(str(error))
            continue
        done.append(written.decisions[0])
        paths += written.paths
        entries += _entries(folder, done[-1], written.paths)
    told = [one for one in done if one.action in (ADD, SUPERSEDE, UPDATE) and (one.heading or one.replaces)]
    changes = list(map(_profile_change, told))
    kept = upkeep.revise(folder, book, changes)
    entries += kept.entries
    paths += [PROFILE] if kept.changed else []
    notes += kept.notes
    told_again = [one.path for one in done if one.action == UPDATE]
    if told_again:
        recalls.note_all(folder, dict.fromkeys(told_again), recalls.CITED, at)
    grown = 0
    if found.episode:
        kept_line, grown = episodes.write(folder, found.session, found.episode, found.about, book)
        entries += kept_line
        paths += [found.session] if grown else []
    if found.session:
        size = found.size and found.size + grown
        entries.append({"read": found.session, "turns": list(found.turns), "size": size})
    book.add(entries)
    return Applied(done, list(dict.fromkeys(paths)), notes)


def _profile_change(one: Decision) -> profile.ProfileChange:
    line = profile.line(one.claim.text, one.path, quoted=bool(one.claim.speaker))
    return profile.ProfileChange(one.path, one.heading, line, one.replaces)


def _write(folder: Folder, one: Decision, at: dt.datetime, notes: list[str]) -> Applied:
    """Write a new memory, then mark and put away what it supersedes."""
    with folder.locked():
        if not any(_holds(folder.memory(place), one.claim) for place in archive.places(folder, one.path)):
            one = one._replace(path=folder.create(one.path, one.page()))  # another name where somebody took this one
    touched = [one.path]
    for old in one.replaces if one.action != LATE else ():
        touched += _supersede(folder, old, one, at, notes)
    return Applied([one], touched, notes)


def _holds(memory: Memory, claim: Claim) -> bool:
    """Is a memory what was made of a claim, superseded or confirmed since perhaps, or told more of?"""
    said = "\n".join(memory.lines[memory.front_end :]).strip()
    return f"{said}\n".startswith(f"{claim.body or claim.text}\n") and set(claim.sources) <= set(facts.sources(memory))


def _supersede(folder: Folder, old: str, one: Decision, at: dt.datetime, notes: list[str]) -> list[str]:
    """Mark a memory as superseded and put it into the archive; where it has gone, nothing is left to do."""
    until = dt.date.fromisoformat(one.until)
    place = next(archive.places(folder, old), "")
    if not place:
        return []
    part = live(old) in one.in_part
    try:
        folder.edit(place, lambda data: facts.superseded(place, data, live(one.path), None if part else until))
    except ValueError as error:
        notes.append(f"{place} is superseded by {one.path}, but {error}; put it right by hand.")
        return []
    if place == live(old) and not part:
        notes += archive.move_in(folder, [place], at).values()
    return [live(old), archive.archived(old)]


def _confirm(folder: Folder, one: Decision, book: Ledger) -> Applied:
    """Add sources, confidence and what is new to a memory; take confidence from one that is put in doubt."""
    place = folder.locate(one.path)

    def change(data: bytes) -> bytes:
        if one.action == DOUBT:
            return facts.set_front(place, data, "confidence", f"{one.confidence:g}")
        after = facts.confirmed(place, data, one.claim.sources, one.confidence)
        if one.retells and book.untouched(place, data):
            return facts.retold(place, after, one.adds, one.claim.retold_by)
        for key, day in (("valid_from", one.claim.valid_from), ("valid_until", one.claim.valid_until)):
            if day and not Memory(place, after).particular(key):
                after = facts.set_front(place, after, key, str(day))
        return facts.appended(place, after, one.adds, one.claim.day) if one.adds and not one.retells else after

    with contextlib.suppress(ValueError):
        folder.edit(place, change)
    return Applied([one], [place], [])


def _entries(folder: Folder, one: Decision, touched: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What the ledger keeps of a decision that was carried out: the memory as it is now, and those that it replaced."""
    for path in dict.fromkeys(map(live, touched)):
        place = next(archive.places(folder, path), "")
        if place:
            first = one.action != DOUBT and (path not in one.replaces or one.action == LATE)
            origins = [list(origin) for origin in one.claim.origins] if first else []
            memory = folder.memory(place)
            entry: dict[str, Any] = {"wrote": path, "digest": ledger.digest(memory.data), "from": origins}
            if first and (one.action != UPDATE or set(facts.sources(memory)) <= set(one.claim.sources)):
                entry["anew"] = True  # it rests on these turns alone: its file is new, or its turn was edited
            yield entry
