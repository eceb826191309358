"""Review: what consolidation would remember waits in its ledger until the person has accepted, changed or rejected it."""

import contextlib
import datetime as dt
import functools
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive
from filemem.files.facts import set_front
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.remembering import consolidation, sessions
from filemem.remembering.comparison import DROP, FIRM, NOOP, SUPERSEDE, Claim, FactIndex, Verdict, compare, from_json
from filemem.remembering.consolidation import Applied, SessionPlan
from filemem.remembering.ledger import Ledger, digest


class CitedTurn(NamedTuple):
    """A turn that a proposal rests on, as the session has it now; `text` is empty where it is gone."""

    source: str
    speaker: str
    text: str


class Proposal(NamedTuple):
    """A claim that waits, what accepting it would do by what is known now, and the turns that it comes from."""

    claim: Claim
    verdict: Verdict
    turns: tuple[CitedTurn, ...]


class Review:
    """The proposals of one user that wait, oldest first; each is answered by `accept` or `reject`."""

    def __init__(self, user: Folder) -> None:
        self.user = user
        self.ledger = Ledger(user)
        self.claims = list(_waiting(self.ledger))
        self._memories: dict[str, Memory | None] = {}
        names = {turn.speaker for claim in self.claims for turn in self._turns(claim)}
        self.known = FactIndex(user, self.ledger, names - {""})

    def proposals(self) -> Iterator[Proposal]:
        """Each beside what is known when it is asked for. What is known by then is no proposal any more."""
        for claim in self.claims:
            if claim.origins[0] in self.ledger.made:
                continue
            verdict = compare(claim, self.known)
            if verdict.action in (NOOP, DROP):
                self.reject(claim)
            else:
                yield Proposal(claim, verdict, tuple(self._turns(claim)))

    def accept(self, claim: Claim, at: dt.datetime, text: str = "") -> Applied:
        """Remember a claim, in the person's words where `text` is given; raises FilememError where it cannot be written."""
        if text:
            states = self.known.states(text)
            claim = claim._replace(
                text=text, states=states, confidence=1.0, meant=None, body="", speaker="", retold_by=""
            )
        with self.user.locked():
            decision = consolidation.decided(claim, self.known)
            if decision.action in (NOOP, DROP):
                self.reject(claim)
                return Applied([decision], [], [])
            done = consolidation.apply(self.user, SessionPlan("", at.isoformat(), (), 0, (decision,), ()))
            for one in done.decisions if text else ():
                # What a person wrote is theirs: no digest is the file's, so that no job takes it for its own.
                self.ledger.add([{"wrote": archive.live(one.path), "digest": "", "from": []}])
        self.ledger.made.update((origin, one.path) for one in done.decisions for origin in one.claim.origins)
        return done

    def reject(self, claim: Claim) -> list[str]:
        """Do not remember a claim, and do not propose it again; returns the facts that it had put in doubt, surer again."""
        self.ledger.add([{"refused": list(claim.origins[0])}])
        verdict, changed = compare(claim, self.known), list[str]()
        for fact in verdict.facts if verdict.action == SUPERSEDE else ():
            if not fact.own or fact.days < FIRM:
                continue
            certain = f"{consolidation.raised_confidence(fact.confidence):g}"
            with contextlib.suppress(FilememError, ValueError):
                self.user.edit(fact.path, functools.partial(set_front, fact.path, key="confidence", value=certain))
                self.ledger.add([{"wrote": fact.path, "digest": digest(self.user.read(fact.path)), "from": []}])
                changed.append(fact.path)
        return changed

    def _turns(self, claim: Claim) -> Iterator[CitedTurn]:
        for source in claim.sources:
            path, _, line = source.rpartition(":")
            if path not in self._memories:
                place = next(archive.places(self.user, path), "")
                self._memories[path] = sessions.load(self.user, place) if place else None
            memory = self._memories[path]
            said = next((p for p in sessions.passages(memory) if str(p.line) == line), None) if memory else None
            yield CitedTurn(
                source, sessions.speaker(memory, said) if memory and said else "", said.text if said else ""
            )


def _waiting(ledger: Ledger) -> Iterator[Claim]:
    for origin, entry in ledger.proposed.items():
        if origin in ledger.made or origin in ledger.refused:
            continue
        try:
            yield from_json(entry)
        except (ValueError, TypeError, KeyError):
            continue  # written by another version; its session can be read again
