"""Review: what consolidation would remember waits in its log until the person has accepted, changed or rejected it.

So does what form forbade a model to keep: the person may want it all the same.
"""

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

from filemem.files import archive
from filemem.files.folder import Folder
from filemem.files.memory import Memory
from filemem.remembering import consolidation, sessions
from filemem.remembering.consolidation import Applied, BatchPlan
from filemem.remembering.consolidation_log import ConsolidationLog
from filemem.remembering.supersession import WRITTEN, Claim, KnownMemories, claim_from_json


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
        self._memories: dict[str, Memory | None] = {}
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
            if path not in self._memories:
                place = next(archive.places(self.folder, path), "")
                self._memories[path] = sessions.load(self.folder, place) if place else None
            memory = self._memories[path]
            said = next((p for p in sessions.passages(memory) if str(p.line) == line), None) if memory else None
            yield CitedTurn(
                source, sessions.speaker(memory, said) if memory and said else "", said.text if said else ""
            )

    def _waiting(self) -> Iterator[tuple[Claim, str]]:
        for origin, (entry, because) in self.log.proposed.items():
            if origin in self.log.made or origin in self.log.refused:
                continue
            try:
                yield claim_from_json(entry), because
            except (ValueError, TypeError, KeyError):
                continue  # written by another version; its session can be read again
