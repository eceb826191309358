"""What a person decides themselves: one fact is kept on request, in their words; what waits for their word is reviewed; and what
does not stand any more is named to them.

What consolidation would remember waits in its log until the person has accepted, changed or rejected it. So does what form
forbade a model to keep: the person may want it all the same.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Problem
from filemem.files import archive, config, facts
from filemem.files.archive import live
from filemem.files.facts import set_fronts
from filemem.files.folder import Folder
from filemem.files.front import quoted
from filemem.files.memory import PROFILE, Memory, is_archived, kind_of
from filemem.remembering import consolidation, profile, sessions
from filemem.remembering.consolidation import Applied, BatchPlan
from filemem.remembering.consolidation_log import ConsolidationLog, turn_digest
from filemem.remembering.supersession import (
    ADD,
    KINDS,
    SUPERSEDE,
    UPDATE,
    WRITTEN,
    Claim,
    Decision,
    KnownMemories,
    claim_from_json,
)
from filemem.text.plain import one_line, printable
from filemem.text.redaction import OwnPatterns, kinds, redact

ASKED = 8  # importance of what a person asks to be remembered
RESTING = ("facts", "lessons", "summaries")  # kinds of memory that rest on others
LOOK = "see whether it still holds; then correct it, or delete it"
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
    one memory, with the importance, pin and tags that are given now.
    """
    body = printable(text.replace("\r\n", "\n")).strip()
    if not body:
        raise FilememError("there is nothing to remember; say what, as in: filemem remember 'Prefers oolong tea.'")
    if importance is not None and not 1 <= importance <= 10:
        raise FilememError(f"importance is a whole number from 1 to 10, not {importance}.")
    keeps = with_secrets or not config.of(user).redact
    body, notes = (body, []) if keeps else _without_secrets(body, config.of(user).own)
    with user.locked():
        left = consolidation.resume(user)  # what a killed run has left is known once it is finished
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
        old = known.at(replaces)
        if replaces and (old is None or old.pinned or old.since > at.date() or kind_of(replaces) != "facts"):
            raise NotFound(
                f"{one_line(replaces)} is no fact that holds and may be superseded; name one as a search does."
            )
        one = known.decided(claim)
        done = consolidation.apply(user, BatchPlan((), at.isoformat(), (one,)))
        one = done.decisions[0] if done.decisions else one
        where = user.locate(one.path)
        if one.action not in (ADD, SUPERSEDE):
            given = {"importance": str(importance or ""), "pinned": "true" if pinned else ""}
            given["tags"] = f"[{', '.join(map(quoted, claim.tags))}]" if claim.tags else ""
            done.paths.extend(_set(user, where, {key: given[key] for key in given if given[key]}))
    return Remembered(user.memory(where), one, [*(left.paths if left else ()), *done.paths], [*notes, *done.notes])


def _without_secrets(text: str, own: OwnPatterns) -> tuple[str, list[str]]:
    """The text without secrets, and a sentence that says what they were; refused where nothing else was said."""
    clean, found = redact(text, own)
    if not found:
        return text, []
    if not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", clean)):
        raise FilememError(f"that is a secret and nothing else ({kinds(found)}), so it was not kept; {ON_PURPOSE}.")
    return clean, [f"Taken out: {kinds(found)}; {ON_PURPOSE}."]


def _set(user: Folder, path: str, front: dict[str, str]) -> list[str]:
    """Set front matter as the person wishes it now; returns the path where that changed anything."""
    try:
        return [path] if front and user.edit(path, lambda data: set_fronts(path, data, front)) else []
    except ValueError as error:
        raise FilememError(f"{path} says so already, but its front matter cannot be changed: {error}.") from None


def said(one: Decision) -> list[str]:
    """What was decided, as lines for the one who told it."""
    if one.action in (ADD, SUPERSEDE):
        return [f"Remembered {one.path}", *(f"Superseded {old}" for old in one.replaces)]
    return [f"Knew that already: {one.path}"]


def subject(decisions: Sequence[Decision], paths: Iterable[str]) -> str:
    """What a person would write of a consolidation that wrote these memories."""
    written = [one for one in decisions if one.action in (ADD, SUPERSEDE)]
    if len(written) == 1:
        return f"Learn: {written[0].claim.text}"
    if written:
        return f"Learn {len(written)} facts"
    if any(one.action == UPDATE for one in decisions):
        return "Confirm what was known"
    return (
        "Sum up what was said" if all(kind_of(path) == "sessions" for path in paths) else "Bring the profile up to date"
    )


# -- review ------------------------------------------------------------------------------------------------------------


class CitedTurn(NamedTuple):
    """A turn that a proposal rests on, as the session has it now; `text` is empty where it is gone."""

    source: str
    speaker: str
    text: str


class Proposal(NamedTuple):
    """A claim that waits, why its form was refused (empty where it was not), the turns that it comes from, and the text of the
    memory that it would update or supersede, empty where it is new."""

    claim: Claim
    because: str
    turns: tuple[CitedTurn, ...]
    instead_of: str


class Review:
    """The proposals of one user that wait, oldest first; each is answered by `accept` or `reject`."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.log = ConsolidationLog(folder)
        self.known = KnownMemories(folder, self.log)
        self.waiting = list(self._waiting())

    def proposals(self) -> Iterator[Proposal]:
        """Each beside what is known when it is asked for. What is known by then is no proposal any more."""
        for claim, because in self.waiting:
            if claim.origins[0] in self.log.made:
                continue
            if self.known.same(claim):
                self.reject(claim)
                continue
            target = self.known.at(claim.target)
            yield Proposal(claim, because, tuple(self._turns(claim)), target.text if target else "")

    def accept(self, claim: Claim, at: dt.datetime, text: str = "") -> Applied:
        """Remember a claim, in the person's words where `text` is given; raises FilememError where it cannot be written."""
        if text:
            claim = claim._replace(text=text, confidence=1.0, body="", retold_by="")
        with self.folder.locked():
            decision = self.known.decided(claim)
            if decision.action not in WRITTEN:
                self.reject(claim)
                return Applied([decision], [], [])
            done = consolidation.apply(self.folder, BatchPlan((), at.isoformat(), (decision,)))
            for one in done.decisions if text else ():
                # What a person wrote is theirs: no digest is the file's, so that no job takes it for its own.
                self.log.add([{"wrote": archive.live(one.path), "digest": "", "from": []}])
        self.log.made.update((origin, one.path) for one in done.decisions for origin in one.claim.origins)
        return done

    def reject(self, claim: Claim) -> None:
        """Do not remember a claim, and do not propose it again."""
        self.log.add([{"refused": list(claim.origins[0])}])

    def _turns(self, claim: Claim) -> Iterator[CitedTurn]:
        for source in claim.sources:
            path, _, line = source.rpartition(":")
            memory = archive.read(self.folder, path)
            said = next((p for p in sessions.passages(memory) if str(p.line) == line), None) if memory else None
            found = (sessions.speaker(memory, said), said.text) if memory and said else ("", "")
            yield CitedTurn(source, *found)

    def _waiting(self) -> Iterator[tuple[Claim, str]]:
        for origin, (entry, because) in self.log.proposed.items():
            if origin in self.log.made or origin in self.log.refused:
                continue
            try:
                yield claim_from_json(entry), because
            except (ValueError, TypeError, KeyError):
                continue  # written by another version; its session can be read again


# -- what stands no more -----------------------------------------------------------------------------------------------


def stale(folder: Folder) -> Iterator[Problem]:
    """What memories rest on that does not stand any more, for a person to look at: turns that were edited or deleted, memories
    that were superseded."""
    yield from _changed_turns(folder)
    for path in folder.paths():
        if kind_of(path) in RESTING and not is_archived(path) and (memory := archive.read(folder, path)):
            for source in facts.sources(memory):
                if by := _superseded_by(folder, source):
                    yield Problem(path, memory.line_of("source"), f"it rests on {source}, which {by} superseded", LOOK)
    page = archive.read(folder, PROFILE)
    for number, paths, _ in profile.marked(page.text) if page else ():
        for path in paths:
            if not list(archive.places(folder, path)):
                remedy = "delete the line, or let filemem consolidate do it"
                yield Problem(PROFILE, number, f"the line rests on {path}, which is gone", remedy)
            elif by := _superseded_by(folder, path):
                yield Problem(PROFILE, number, f"the line rests on {path}, which {by} superseded", LOOK)


def _changed_turns(folder: Folder) -> Iterator[Problem]:
    """A problem for each memory, as the program left it, of which turns are not in their sessions as they were."""
    log, turns = ConsolidationLog(folder), dict[str, set[str]]()
    for path, written in log.written.items():
        memory = archive.read(folder, path)
        if memory is None or not log.untouched(path, memory.data):
            continue
        named = {live(source.rpartition(":")[0]) for source in facts.sources(memory)}
        for session in named - turns.keys():
            said = archive.read(folder, session)
            turns[session] = {turn_digest(session, one) for one in (sessions.passages(said) if said else ())}
        lost = sum(not any(turn in turns[session] for session in named) for turn, _ in written.origins)
        if lost and all(turns[session] for session in named):  # that a session is gone is told elsewhere
            what = f"{'a turn' if lost == 1 else f'{lost} turns'} that it rests on was edited or deleted since"
            yield Problem(path, memory.line_of("source"), what, LOOK)


def _superseded_by(folder: Folder, path: str) -> str:
    """What superseded a fact or lesson; empty where nothing did, or it is none."""
    memory = archive.read(folder, path) if kind_of(path) in KINDS else None
    return str(memory.particular("superseded_by") or "") if memory else ""
