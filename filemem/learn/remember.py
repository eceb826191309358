"""What a person decides themselves: one fact kept, a proposal accepted or rejected."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.learn import profile
from filemem.learn.decide import KnownMemories, letters
from filemem.learn.outcome import Applied
from filemem.learn.proposals import Proposal
from filemem.learn.records import NEW, Action, Claim, Decision
from filemem.learn.write import Writer
from filemem.store import files
from filemem.store.fields import DESCRIBING, OF_FACTS, texts
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.learned import LearnLog, digest
from filemem.store.memory import Memory
from filemem.store.paths import Kind, live
from filemem.text.dates import parse_bound
from filemem.text.plain import one_line, printable
from filemem.text.redaction import kinds

AT_ONCE = 100  # facts that become durable together; other writers wait meanwhile
DEFAULT_IMPORTANCE = 8  # of what a person asks to be remembered
KEEPS_ALL = "filemem remember --with-secrets keeps it all"
_REDACTED = re.compile(r"\[redacted: ([^]]*)\]")


@dataclass(frozen=True)
class Asked:
    """A fact that a person, or a program of theirs, wants to be kept.

    Attributes:
        text: the fact; secrets are taken out.
        day: its own; None for that of the moment of keeping.
        importance: from 1 to 10.
        pinned: whether it never fades.
        tags: of the person's.
        on: the day of the event or plan that it tells of, or its month or a few days,
            as people write them; '' for none.
        source: `path:line` of the turn that says it, if it was said in a conversation.
        replaces: the path of a fact that it supersedes, as does a fact that says it
            already.
        id: by which another program knows it; of a list the last text counts. What came
            last under it is not kept again; another text supersedes that fact, or what
            a person made of it, unless they have pinned it or another id still tells
            it. It stays away where they have deleted that, or given its file another
            name.
        metadata: further keys of its front matter; those of filemem's own are left out.
    """

    text: str
    day: dt.date | None = None
    importance: int | None = None
    pinned: bool = False
    tags: Iterable[str] = ()
    on: str = ""
    source: str = ""
    replaces: str = ""
    id: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


def remember(user: Folder, text: str, at: dt.datetime, **how: Any) -> Applied:
    """Keep one fact, as `remember_all` does; `how` are further fields of Asked."""
    return remember_all(user, [Asked(text, **how)], at)


def remember_all(
    user: Folder,
    facts: Iterable[Asked],
    at: dt.datetime,
    *,
    with_secrets: bool = False,
) -> Applied:
    """Keep facts; what a memory says already stays the memory that it was.

    A hundred at a time become durable together. A killed run leaves whole facts, and
    the next one keeps the others.

    Args:
        user: whose memories they become.
        facts: what is to be kept; a note says where secrets were taken out.
        at: the moment of keeping.
        with_secrets: keep secrets, as where the store's settings do.

    Raises:
        FilememError: a text is empty or only a secret, an importance is out of range,
            `replaces` is no fact that may be superseded, or nothing can be written.
    """
    gate = Gate(user, with_secrets=with_secrets)
    log = LearnLog.of(user)
    writer = Writer(user, log, at)
    listed = _as_told_last(list(facts))
    notes: list[str] = []
    for start in range(0, len(listed), AT_ONCE):
        claims: list[Claim] = []
        try:
            for asked in listed[start : start + AT_ONCE]:
                claims.append(_claim(gate, asked, at.date(), notes))
        finally:  # what comes before a mistake is kept
            for together in _apart(log, claims):
                with user.locked():
                    # Another process may have kept something meanwhile.
                    log.read_on()
                    _keep(KnownMemories(user, log), writer, together)
    return writer.done.with_notes(notes)


def _as_told_last(facts: list[Asked]) -> list[Asked]:
    """Return facts with the last one of an id in the place of each that has it.

    Args:
        facts: in the order in which they are told.
    """
    last = {asked.id: asked for asked in facts if asked.id}
    return [last.get(asked.id, asked) for asked in facts]


def _apart(log: LearnLog, claims: list[Claim]) -> Iterator[list[Claim]]:
    """Yield claims in groups, in which each may be decided about before any is kept.

    What replaces a memory is alone, and no two of a group say the same, have one id or
    change by their ids what one memory says.
    """
    together: list[Claim] = []
    said: set[object] = set()
    for claim in claims:
        ends = log.outdated(claim.origins) or claim.text
        says = {letters(claim.text), ends, *dict(claim.origins)}
        is_apart = claim.targets or not said.isdisjoint(says)
        if together and (is_apart or together[-1].targets):
            yield together
            together = []
            said = set()
        together.append(claim)
        said |= says
    if together:
        yield together


def _keep(known: KnownMemories, writer: Writer, claims: list[Claim]) -> None:
    """Keep claims that have nothing to do with each other, in their order.

    The new ones become durable together. Of what is known already the log gets the ids.
    """
    for path in claims[0].targets:
        _check_may_be_superseded(known, path, claims[0].day)
    today = writer.at.date()
    decided = [_decide(known, claim, today) for claim in claims]
    for is_new, run in groupby(decided, lambda one: one.action is Action.ADD):
        if is_new:
            done = writer.add_all(list(run))
        else:
            done = [writer.write(one) for one in run]
        for one in done:
            known.note(one)
    known.note_ids(decided)


def _decide(known: KnownMemories, claim: Claim, today: dt.date) -> Decision:
    """Decide about a claim, which takes the place of what had its id.

    Where a person has deleted that, there is nothing to do, and no path.

    Args:
        known: the memories.
        claim: what is to be kept.
        today: the day on which that is said, whatever its own.
    """
    decision = known.decide(claim)
    before = known.outdated(claim)
    lasting = before[-1:]
    if decision.action not in NEW:
        lasting.append(decision.path)
    if not all(_exists(known, path) for path in lasting):
        return Decision(Action.NOOP, "", claim, "it was deleted")
    ended = [*decision.replaces, *map(live, claim.targets)]
    for path in lasting:
        ended += known.unfinished(path)
    if before and not known.is_said(before, claim):
        ended += _endable(known, before[-1], today)
    return _ending(decision, ended)


def _endable(known: KnownMemories, path: str, today: dt.date) -> list[str]:
    """Return the live path of a memory if it may be superseded.

    Args:
        known: the memories.
        path: of one, which may be pinned, or superseded by now.
        today: the day on which another text is said.
    """
    old = known.read(path)
    if old is None or not known.may_end(old, today):
        return []
    return [live(path)]


def _exists(known: KnownMemories, path: str) -> bool:
    """Tell whether a memory lies anywhere."""
    return any(known.folder.existing(path))


def _ending(decision: Decision, ended: Iterable[str]) -> Decision:
    """Return a decision that supersedes some memories, though not what says it already.

    Args:
        decision: ADD, SUPERSEDE or NOOP.
        ended: their live paths; one may come twice.
    """
    paths = dict.fromkeys(ended)
    action = decision.action
    if action is Action.NOOP:
        paths.pop(live(decision.path), None)
    if paths and action is Action.ADD:
        action = Action.SUPERSEDE
    return replace(
        decision,
        action=action,
        replaces=tuple(paths),
    )


def _claim(gate: Gate, asked: Asked, today: dt.date, notes: list[str]) -> Claim:
    """Return a claim that says what was asked for.

    Args:
        gate: takes secrets out.
        asked: what was asked for.
        today: the day of a fact that has none.
        notes: gets a sentence on secrets that were taken out.

    Raises:
        FilememError: the text is empty or only a secret, or the importance is out of
            range.
    """
    body, secrets = gate.clean(printable(asked.text.replace("\r\n", "\n")).strip())
    if not body:
        example = "filemem remember 'Prefers oolong tea.'"
        raise FilememError(f"there is nothing to remember; say what, as in: {example}")
    weight = asked.importance
    if weight is not None and weight not in range(1, 11):
        raise FilememError(f"importance is a whole number from 1 to 10, not {weight}.")
    taken = _REDACTED.findall(body)
    if taken and not re.search(r"\w", _REDACTED.sub("", body)):
        why = f"that is only a secret ({', '.join(taken)}), so it was not kept"
        raise FilememError(f"{why}; {KEEPS_ALL}.")
    if secrets:
        notes.append(f"Taken out: {kinds(secrets)}; {KEEPS_ALL}.")
    text = " ".join(body.split())
    return Claim(
        text=text,
        day=asked.day or today,
        sources=(asked.source,) if asked.source else (),
        origins=((f"id:{asked.id}", digest(text)),) if asked.id else (),
        front=_front(gate, asked) | _days(asked.on, today),
        body=body,
        action=Action.SUPERSEDE if asked.replaces else Action.ADD,
        targets=(asked.replaces,) if asked.replaces else (),
    )


def _days(on: str, today: dt.date) -> dict[str, dt.date]:
    """Return the first and the last day of an event, as front matter.

    Args:
        on: its days, as people write them; '' for none.
        today: the day from which words such as `next week` count.

    Raises:
        FilememError: no day is meant.
    """
    if not on:
        return {}
    try:
        first = parse_bound(on, today, end=False)
        last = parse_bound(on, today, end=True)
    except ValueError as error:
        raise FilememError(str(error)) from None
    return {"day": first} if first == last else {"day": first, "valid_until": last}


def _front(gate: Gate, asked: Asked) -> dict[str, Any]:
    """Return what was asked for besides the text, as front matter without secrets."""
    named = [asked.tags] if isinstance(asked.tags, str) else asked.tags
    front: dict[str, Any] = {
        "importance": asked.importance or DEFAULT_IMPORTANCE,
        "pinned": asked.pinned,
        "tags": [gate.clean(str(tag)).text for tag in named],
    }
    for key, value in asked.metadata.items():
        is_ours = key in front or key in DESCRIBING or key in OF_FACTS
        if re.fullmatch(r"[\w-]+", key) and not is_ours:
            front[key] = gate.clean(str(value)).text
    return front


def _check_may_be_superseded(known: KnownMemories, path: str, today: dt.date) -> None:
    """Raise NotFound unless a path is that of a fact that may be superseded today."""
    old = known.read(path)
    if old is None or old.kind != Kind.FACTS or not known.may_end(old, today):
        why = "is not a current fact that can be superseded"
        raise NotFound(f"{one_line(path)} {why}; name one as a search shows it.")


def accept(user: Folder, log: LearnLog, proposal: Proposal, at: dt.datetime) -> Applied:
    """Keep what was proposed, as its file says it now; it is the person's from then on.

    Args:
        user: whose memory it becomes.
        log: what was read and written.
        proposal: which goes then.
        at: the moment of keeping.

    Returns:
        What was done; what is known already is kept no second time, but supersedes.

    Raises:
        FilememError: it cannot be written.
    """
    wanted = proposal.memory
    with user.locked():
        memories = KnownMemories(user, log).refresh()
        known = memories.same(wanted.kind, proposal.text)
        if known:
            done = take_in(user, log, at, wanted, known.path, Action.NOOP)
        else:
            path = user.create(wanted.path, proposal.page())
            done = take_in(user, log, at, wanted, path)
            user.tell("remembered", 1)
        return done.plus(reject(user, proposal))


def take_in(
    user: Folder,
    log: LearnLog,
    at: dt.datetime,
    wanted: Memory,
    path: str,
    action: Action = Action.ADD,
) -> Applied:
    """Do what a memory asks for that a person has taken in, or a killed run written.

    What it supersedes goes to the archive, and the profile has a line about it if it
    names a section. If the log does not know it, it is the person's from now on.

    Args:
        user: whose memory it is.
        log: what was read and written.
        at: the moment that counts as now.
        wanted: what it says, and asks for in its front matter.
        path: of the memory that says it.
        action: what is told to have been done: ADD, or NOOP if it was known.
    """
    day = wanted.date or at.date()
    since = wanted.metadata.get("valid_from") or day
    named = [one for one in texts(wanted.front.get("supersedes")) if one != live(path)]
    writer = Writer(user, log, at)
    ended = writer.supersede(named, path, since)
    claim = Claim(wanted.statement, day)
    done = Applied([Decision(action, path, claim, replaces=ended)], [path])
    if live(path) not in log.written:
        log.note_accepted(live(path), at.date())
    section = str(wanted.front.get("section") or "")
    sections = {live(path): section} if section else {}
    revised = profile.revise(user, log, at.date(), sections)
    return done.plus(writer.done).plus(revised)


def reject(user: Folder, proposal: Proposal) -> Applied:
    """Delete a proposal; it is not made a second time."""
    files.delete(user.absolute(proposal.path))
    return Applied(paths=[proposal.path])


def told(done: Applied) -> list[str]:
    """Say what became of one fact to the one who told it.

    Args:
        done: what `remember` did.
    """
    [one] = done.decisions
    said = f"Knew that already: {one.path}"
    if one.action in NEW:
        said = f"Remembered {one.path}"
    return [said, *(f"Superseded {old}" for old in one.replaces), *done.notes]
