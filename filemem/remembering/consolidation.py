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
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound
from filemem.files import config, facts, journal, safe
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, Memory, Passage, archived, kind_of, live
from filemem.files.sections import HEADING, SECTIONS, is_of
from filemem.models.endpoint import Model, ModelError
from filemem.remembering import sessions
from filemem.remembering.extraction import ForgetRequest, Request, ask, batches, halves
from filemem.remembering.sessions import ConsolidationLog, Session, digest, display
from filemem.remembering.supersession import (
    ADD,
    PROPOSE,
    REFUSE,
    SUPERSEDE,
    UPDATE,
    WRITTEN,
    Claim,
    Decision,
    KnownMemories,
    said_in,
)
from filemem.text import terms
from filemem.text.plain import counted, one_line, printable
from filemem.text.redaction import kinds, redact

JOURNAL = "consolidating.json"


class BatchPlan(NamedTuple):
    """What is to be done about what one request has read, at the time of the run: of each session the digests of its turns, and
    its size in bytes (0 where there are further turns to read)."""

    read: Sequence[dict[str, Any]]
    at: str
    decisions: Sequence[Decision]
    forget: Sequence[ForgetRequest] = ()


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
    before = resume(folder)
    if before.decisions or before.paths:
        yield before
    log = ConsolidationLog(folder)
    paths, notes = revise_profile(folder, log, at.date())
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


def _planned(
    batch: list[Session], known: KnownMemories, at: dt.datetime, found: Request | None, ask: bool
) -> BatchPlan:
    """What becomes of what a request came to, which `known` takes in; `ask` the person first."""
    decisions = list[Decision]()
    for claim, wrong in found.claims if found else ():
        one = Decision(REFUSE, "", claim, wrong) if wrong else known.decided(claim)
        waits = (ask or claim.waits) and one.action in WRITTEN
        decisions.append(one._replace(action=PROPOSE) if waits else one)
    read = [
        {"read": one.path, "turns": [one.turns[place].digest for place in one.unread], "size": one.size}
        for one in batch
    ]
    return BatchPlan(read, at.isoformat(), decisions, found.forget if found else ())


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
    return done._replace(paths=[*left.paths, *done.paths])


def resume(folder: Folder) -> Applied:
    """Finish the plan that a killed run has left, if there is one."""
    journal, done = folder.bookkeeping(JOURNAL), Applied([], [], [])
    if os.path.lexists(journal):
        with folder.locked(), contextlib.suppress(NotFound):
            left = safe.read(journal)
            with contextlib.suppress(
                ValueError, TypeError, KeyError
            ):  # no plan of this version: its sessions are read again
                done = _carry_out(folder, _from_json(json.loads(left)), ConsolidationLog(folder))
            safe.delete(journal)
    return done


def _from_json(value: Any) -> BatchPlan:
    """A plan from the JSON of its fields in their order."""
    read, at, decided, forget = value
    decisions = [
        Decision(action, path, Claim.from_json(dict(zip(Claim._fields, fields, strict=True))), *more)
        for action, path, fields, *more in decided
    ]
    return BatchPlan(read, at, decisions, [ForgetRequest(*one) for one in forget])


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
                one, written = (
                    (one, _change(folder, one, log)) if one.action == UPDATE else _write(folder, one, at, notes)
                )
            except FilememError as error:
                notes.append(str(error))
                continue
            paths += written
            for path in dict.fromkeys(map(live, written)):
                if memory := folder.find(path):
                    origins = [] if path in one.replaces else [list(origin) for origin in one.claim.origins]
                    entries.append({"wrote": path, "digest": digest(memory.data), "from": origins})
        done.append(one)
    made = [one for one in done if one.action in WRITTEN]
    changed, said = revise_profile(
        folder, log, at.date(), made, [path for one in found.forget for path in one.memories]
    )
    paths, notes = [*paths, *changed], [*notes, *said]
    if told_again := [one.path for one in done if one.action == UPDATE]:
        journal.note_recalls(folder, dict.fromkeys(told_again), journal.CITED, at)
    notes += [_held_back(folder, wish, at) for wish in found.forget]
    log.add([*entries, *found.read])
    return Applied(done, list(dict.fromkeys(paths)), notes)


def _held_back(folder: Folder, wish: ForgetRequest, at: dt.datetime) -> str:
    """Hold back what a person asked to be forgotten, with the turns that it goes back to; a sentence on it."""
    memories = (folder.find(path) for path in wish.memories)
    told = [source for one in memories if one for source in facts.sources(one)]
    journal.hold_back(folder, wish.asked, [*wish.turns, *wish.memories, *told], at)
    what, how = ", ".join(wish.memories or wish.turns), "filemem forget deletes it, filemem restore takes it back"
    return f"Held back, as asked in {wish.asked}: {what}; {how}"


def take_back(folder: Folder, path: str, turns: Sequence[Passage], at: dt.datetime) -> list[str]:
    """Hold back the exchange before the last turn of a session, which asks for it, with the memories made of it; their lines
    leave the profile. Returns the places. The note comes first, so what is cut off is held back already. Nothing is deleted."""
    *before, request = turns
    said = [n for n, turn in enumerate(before) if turn.speaker == request.speaker]
    if not said:
        return []
    log, by, told = (
        ConsolidationLog(folder),
        f"{path}:{request.line}",
        [f"{path}:{turn.line}" for turn in before[said[-1] :]],
    )
    made = [one.path for one in KnownMemories(folder, log).live.values() if {*told} & {*one.sources}]
    _held_back(folder, ForgetRequest(by, (*told, by), tuple(made)), at)
    revise_profile(folder, log, at.date(), gone=made)
    return [*told, *made]


def _write(folder: Folder, one: Decision, at: dt.datetime, notes: list[str]) -> tuple[Decision, list[str]]:
    """Write a new memory, then mark what it supersedes and put that into the archive; the decision with the name that it got, and
    the paths that changed."""
    claim = one.claim

    def holds(memory: Memory) -> bool:
        """Is this what was made of the claim, superseded or confirmed since perhaps?"""
        said = "\n".join(memory.lines[memory.front_end :]).strip()
        return f"{said}\n".startswith(f"{claim.body or claim.text}\n") and {*claim.sources} <= {*facts.sources(memory)}

    with folder.locked():
        if not any(holds(folder.memory(place)) for place in folder.standing(one.path)):
            # Another name where this one is taken.
            one = one._replace(path=folder.create(one.path, claim.page(one.replaces)))
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
            notes += journal.archive(folder, [place], at).values()
        paths += [live(old), archived(old)]
    return one, paths


def _change(folder: Folder, one: Decision, log: ConsolidationLog) -> list[str]:
    """Add sources and confidence to a memory, and give it the words in which it stands from now on, unless it was told again."""
    place, claim = folder.locate(one.path), one.claim

    def change(data: bytes) -> bytes:
        after = facts.confirmed(place, data, claim.sources, claim.confidence)
        if one.reason or not log.untouched(place, data):
            return after
        days = {"valid_from": claim.valid_from, "valid_until": claim.valid_until, "day": claim.when}
        for key, value in {**days, "kind": claim.nature}.items():
            after = facts.set_front(place, after, key, str(value)) if value else after
        if not claim.nature:  # what was to come has come to stay
            end = Memory(place, after).front_end
            lines = enumerate(after.splitlines(keepends=True), 1)
            after = b"".join(line for number, line in lines if number > end or not line.startswith((b"kind:", b"day:")))
        return facts.retold(place, after, claim.text, claim.retold_by)

    with contextlib.suppress(ValueError):
        folder.edit(place, change)
    return [place]


# -- the profile -------------------------------------------------------------------------------------------------------

# Each of the program's own lines of profile.md names the memory that it rests on: `- Mara lives in Porto. <!-- facts/….md -->`.
# A line without such a mark, or with one that a person has changed, is never touched.
_ROOMY = 200  # characters of a line

Revision = tuple[list[str], list[str]]  # the paths that were changed, and sentences for the person


def _line(text: str, path: str) -> str:
    """The profile's line about a memory: the words, and the mark."""
    return f"- {one_line(text, _ROOMY)} <!-- {path} -->"


def marked(text: str) -> list[tuple[int, str, str]]:
    """The lines with a mark: number from 1, the path, the line."""
    lines = enumerate((line.strip("\r") for line in text.split("\n")), 1)
    found = ((number, SOURCE_MARK.search(line), line) for number, line in lines if line[:2] in ("- ", "* ", "+ "))
    return [(number, mark[1], line) for number, mark, line in found if mark]


class _Page:
    """The profile's lines, changed one by one."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tail = "\r" if text.count("\r\n") * 2 > text.count("\n") else ""
        self.notes: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _heads(self) -> list[tuple[int, str]]:
        """The headings, by their places."""
        found = ((n, HEADING.match(one.rstrip("\r"))) for n, one in enumerate(self.lines))
        return [(n, match[1]) for n, match in found if match]

    def insert(self, said: str, section: str) -> None:
        """Put a line behind the last item of its section, which is made where there is none."""
        names, heads = SECTIONS[section], self._heads()
        start = next((n for n, title in heads if is_of(title, names)), None)
        if start is None:
            later = list(SECTIONS.values())[list(SECTIONS).index(section) + 1 :]
            before = [n for n, title in heads if any(is_of(title, other) for other in later)]
            if not before:
                if not self.lines[-1]:
                    self.lines.pop()
                self.lines += [self.tail] if self.lines and self.lines[-1].strip() else []
            start = min(before, default=len(self.lines))
            heading = f"## {names[terms.is_chinese(said.partition('<!--')[0])]}"
            self.lines[start:start] = [heading + self.tail, self.tail if before else ""]
        end = next((n for n, _ in self._heads() if n > start), len(self.lines))
        last = max((n for n in range(start + 1, end) if self.lines[n].strip()), default=start)
        self.lines[last + 1 : last + 1] = [*([self.tail] if last == start else []), said + self.tail]

    def replace(self, number: int, fresh: str) -> None:
        """Put another line, or none, in the place of one; a section of the program's that holds nothing any more goes with its
        last."""
        self.lines[number - 1 : number] = [fresh + self.tail] if fresh else []
        heads = self._heads()
        start, title = next((head for head in reversed(heads) if head[0] < number - 1), (0, ""))
        end = next((n for n, _ in heads if n > start), len(self.lines))
        ours = any(title in names for names in SECTIONS.values())
        if not fresh and ours and not any(one.strip() for one in self.lines[start + 1 : end]):
            del self.lines[start:end]


def revise_profile(
    folder: Folder, log: ConsolidationLog, today: dt.date, decisions: Sequence[Decision] = (), gone: Iterable[str] = ()
) -> Revision:
    """Have the program's lines follow the memories behind them: changed, superseded, deleted or expired, or `gone`, to be
    forgotten; and bring in those of what was decided just now."""
    gone = {*map(live, gone)}
    now = gone | {live(path) for one in decisions if not one.reason for path in (one.path, *one.replaces)}

    def change(page: _Page) -> None:
        standing = set[str]()
        for number, path, said in reversed(marked(page.text)):
            heir = None if path in gone else _heir(folder, path, today)
            after, ours = live(heir.path) if heir else "", digest(said) in log.lines
            holds = heir is not None and after == path and log.untouched(path, heir.data)
            if ours and not holds:
                page.replace(number, _line(said_in(heir), after) if heir and after not in standing else "")
            elif not holds and path in now:
                words = said.partition("<!--")[0]
                page.notes.append(f"profile.md:{number} is yours; see whether it still holds: {words}")
            standing |= {after} if ours else {path, after}
        for one in decisions:
            if one.claim.heading and live(one.path) not in standing:
                page.insert(_line(one.claim.text, live(one.path)), one.claim.heading)

    return _edited(folder, log, change, make=any(one.claim.heading for one in decisions))


def _edited(folder: Folder, log: ConsolidationLog, change: Callable[[_Page], None], *, make: bool) -> Revision:
    """Change the program's lines of the profile, which is made where there is none and `make` says so."""
    notes = list[str]()

    def edit(data: bytes) -> bytes:
        page = _Page(data.decode())
        before = {one[1:] for one in marked(page.text)}
        change(page)
        notes[:] = page.notes
        # Noted first, so that a run that is killed here leaves no line of the program's that it does not know.
        fresh = {one[1:] for one in marked(page.text)} - before
        if fresh:
            log.add({"line": path, "digest": digest(said)} for path, said in fresh)
        return page.text.encode()

    try:
        with folder.locked():
            if not list(folder.standing(PROFILE)):
                if not make:
                    return [], []
                folder.create(PROFILE, f"# {display(folder.name)}\n")
            elif folder.memory(PROFILE).front.get("read_only") is True:
                return [], [f"{PROFILE} says that it is read only, and is as it was"]
            changed = folder.edit(PROFILE, edit)
    except (FilememError, UnicodeDecodeError) as error:
        return [], [f"{PROFILE} is as it was: {error}"]
    return [PROFILE] if changed else [], notes


def _heir(folder: Folder, path: str, today: dt.date) -> Memory | None:
    """The memory at a path, or what has superseded it since; None where that is gone, has ended, or is a machine's word."""
    met = set[str]()
    while (memory := folder.find(path)) and (by := memory.particular("superseded_by")) and path not in met:
        met.add(path)
        path = live(str(by))
    until = memory.particular("valid_until") if memory else None
    if memory is None or path in met or memory.front.get("said_by") or (until and until < today):
        return None
    return memory if said_in(memory) else None


# -- what a person decides themselves ------------------------------------------------------------------------------------

# What consolidation would remember, or what form forbade a model to keep, waits in the log until the person has answered.
ASKED = 8  # importance of what a person asks to be remembered
ON_PURPOSE = "filemem remember --with-secrets keeps it all"


class Remembered(NamedTuple):
    """The memory that holds the fact, what was decided about it, the paths that changed, sentences for the person."""

    memory: Memory
    decision: Decision
    paths: list[str]
    notes: list[str]


def remember(
    user: Folder,
    text: str,
    at: dt.datetime,
    importance: int | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    with_secrets: bool = False,
    source: str = "",
    replaces: str = "",
) -> Remembered:
    """Keep one fact of the day of `at`, said at `source` (`path:line`), if in a conversation, superseding the fact at the path
    `replaces`, if any; raises FilememError for empty text, a wrong importance, a path that is no fact which may be superseded.

    Secrets are taken out, which a note says, unless `with_secrets` or the store's settings keep them. Told again it stays
    the memory that it was.
    """
    body = printable(text.replace("\r\n", "\n")).strip()
    if not body:
        raise FilememError("there is nothing to remember; say what, as in: filemem remember 'Prefers oolong tea.'")
    if importance is not None and not 1 <= importance <= 10:
        raise FilememError(f"importance is a whole number from 1 to 10, not {importance}.")
    keeps = with_secrets or not config.of(user).redact
    body, notes = (body, []) if keeps else _without_secrets(body)
    with user.locked():
        left = resume(user)  # what a killed run has left is known once it is finished
        claim = Claim(
            " ".join(body.split()),
            at.date(),
            sources=(source,) if source else (),
            importance=importance or ASKED,
            pinned=pinned,
            tags=tuple(tags),
            body=body,
            action=SUPERSEDE if replaces else ADD,
            target=replaces,
        )
        known = KnownMemories(user, ConsolidationLog(user))
        old = known.live.get(replaces)
        if replaces and (old is None or old.pinned or old.since > at.date() or kind_of(replaces) != "facts"):
            why = "is not a current fact that can be superseded; name one as a search shows it."
            raise NotFound(f"{one_line(replaces)} {why}")
        one = known.decided(claim)
        done = apply(user, BatchPlan((), at.isoformat(), (one,)))
        one = done.decisions[0] if done.decisions else one
    memory = user.memory(user.locate(one.path))
    return Remembered(memory, one, [*left.paths, *done.paths], [*notes, *done.notes])


def _without_secrets(text: str) -> tuple[str, list[str]]:
    """The text without secrets, and a sentence that says what they were; refused where nothing else was said."""
    clean, found = redact(text)
    if not found:
        return text, []
    if not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", clean)):
        raise FilememError(f"that is only a secret ({kinds(found)}), so it was not kept; {ON_PURPOSE}.")
    return clean, [f"Taken out: {kinds(found)}; {ON_PURPOSE}."]


def said(one: Decision) -> list[str]:
    """What was decided, as lines for the one who told it."""
    if one.action in (ADD, SUPERSEDE):
        return [f"Remembered {one.path}", *(f"Superseded {old}" for old in one.replaces)]
    return [f"Knew that already: {one.path}"]


def subject(decisions: Iterable[Decision]) -> str:
    """What a person would write of a consolidation that wrote these memories."""
    written = [one for one in decisions if one.action in (ADD, SUPERSEDE)]
    if len(written) == 1:
        return f"Learn: {written[0].claim.text}"
    return f"Learn {len(written)} facts" if written else "Bring what was known up to date"


class Proposal(NamedTuple):
    """A claim that waits, why its form was refused (empty where it was not), the turns that it comes from as the sessions have
    them now (the place, who speaks and the text, empty where it is gone), and the text of the memory that it would update or
    supersede, empty where it is new."""

    claim: Claim
    because: str
    turns: tuple[tuple[str, str, str], ...]
    instead_of: str


class Review:
    """The proposals of one user that wait, oldest first; each is answered by `accept` or `reject`."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.log = ConsolidationLog(folder)
        self.known = KnownMemories(folder, self.log)

    def proposals(self) -> Iterator[Proposal]:
        """Each beside what is known when it is asked for. What is known by then is no proposal any more."""
        for origin, (entry, because) in [*self.log.proposed.items()]:
            if origin in self.log.made or origin in self.log.refused:
                continue
            try:
                claim = Claim.from_json(entry)
            except (ValueError, TypeError, KeyError):
                continue  # written by another version; its session can be read again
            if self.known.same(claim):
                self.reject(claim)
                continue
            target = self.known.live.get(claim.target)
            yield Proposal(claim, because, tuple(map(self._turn, claim.sources)), target.text if target else "")

    def _turn(self, source: str) -> tuple[str, str, str]:
        path, _, line = source.rpartition(":")
        memory = self.folder.find(path)
        turns = [one for one in memory.passages if one.speaker and str(one.line) == line] if memory else []
        return (source, sessions.speaker(memory, turns[0]), turns[0].text) if memory and turns else (source, "", "")

    def accept(self, claim: Claim, at: dt.datetime, text: str = "") -> Applied:
        """Remember a claim, in the person's words where `text` is given; raises FilememError where it cannot be written."""
        if text:
            claim = claim._replace(text=text, confidence=1.0, body="", retold_by="")
        with self.folder.locked():
            decision = self.known.decided(claim)
            if decision.action not in WRITTEN:
                self.reject(claim)
                return Applied([decision], [], [])
            done = apply(self.folder, BatchPlan((), at.isoformat(), (decision,)), self.log)
            for one in done.decisions if text else ():
                # What a person wrote is theirs: no digest is the file's, so that no job takes it for its own.
                self.log.add([{"wrote": live(one.path), "digest": "", "from": []}])
        return done

    def reject(self, claim: Claim) -> None:
        """Do not remember a claim, and do not propose it again."""
        self.log.add([{"refused": list(claim.origins[0])}])
