"""Decisions carried out: files written, changed and superseded, each noted in the log."""

import contextlib
import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from filemem.errors import FilememError
from filemem.learn import proposals
from filemem.learn.log import LearnLog, digest
from filemem.learn.records import UPDATE, WRITTEN, Action, Claim, Decision
from filemem.store import facts, recalls
from filemem.store.folder import Folder
from filemem.store.frontmatter import quoted
from filemem.store.memory import IMPORTANCE, Memory, parse
from filemem.store.paths import archived, live
from filemem.text.plain import printable


@dataclass
class Writer:
    """Carries out decisions, and gathers what came of it.

    Attributes:
        folder: whose memories these are.
        log: what was read and written; each file is noted as soon as it stands.
        at: the moment of the run.
        done: the decisions that were carried out, or proposed.
        paths: the paths that changed.
        notes: sentences for the person.
    """

    folder: Folder
    log: LearnLog
    at: dt.datetime
    done: list[Decision] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def carry_out(self, decisions: Iterable[Decision]) -> None:
        """Carry out decisions, one after the other.

        What is refused, or cannot be written, becomes a proposal with the reason.
        """
        for decision in decisions:
            if decision.action in (Action.REFUSE, Action.PROPOSE):
                self._propose(decision)
                continue
            try:
                self.write(decision)
            except FilememError as error:
                reason = str(error)
                self._propose(replace(decision, action=Action.REFUSE, reason=reason))
        told_again = [one.path for one in self.done if one.action is UPDATE]
        if told_again:
            recalled = dict.fromkeys(told_again)
            recalls.note_recalls(self.folder, recalled, recalls.CITED, self.at)

    def supersede(self, old: str, new: str, until: dt.date) -> None:
        """Mark a memory as replaced since a day, and move it to the archive."""
        place = next(self.folder.existing(old), "")
        if not place:
            return
        try:
            self.folder.edit(
                place, lambda data: facts.superseded(place, data, live(new), until)
            )
        except ValueError as error:
            self.notes.append(
                f"{place} is superseded by {new}, but {error}; put it right by hand."
            )
            return
        if place == live(old):
            stayed = recalls.archive(self.folder, [place], self.at)
            self.notes += stayed.values()
        self.paths += [live(old), archived(old)]

    def write(self, decision: Decision) -> None:
        """Carry out one decision; raises FilememError where it cannot be written."""
        if decision.action not in WRITTEN:
            self.done.append(decision)
            return
        if decision.action is UPDATE:
            written = self._change(decision)
        else:
            decision = self._create(decision)
            written = [decision.path]
            claim = decision.claim
            for old in decision.replaces:
                self.supersede(old, decision.path, claim.valid_from or claim.day)
        self.paths += written
        self.done.append(decision)
        entries = []
        for path in dict.fromkeys([*map(live, written), *decision.replaces]):
            memory = self.folder.find(path)
            if memory:
                is_new = path not in decision.replaces
                origins = decision.claim.origins if is_new else ()
                said = digest(memory.data)
                entries.append({"wrote": path, "digest": said, "from": origins})
        self.log.add(entries)

    def _create(self, decision: Decision) -> Decision:
        """Write a new memory; return the decision with the name that it got."""
        claim = decision.claim
        with self.folder.locked():
            for place in self.folder.existing(decision.path):
                if _says(self.folder.memory(place), claim):
                    return decision  # by a run that was killed
            path = self.folder.create(decision.path, claim.page(decision.replaces))
        return replace(decision, path=path)

    def _change(self, decision: Decision) -> list[str]:
        """Add sources and confidence, and the words in which it stands from now on."""
        place = self.folder.locate(decision.path)
        claim = decision.claim
        is_told_again = bool(decision.reason)

        def change(data: bytes) -> bytes:
            after = facts.confirmed(place, data, claim.sources, claim.confidence)
            if is_told_again or not self.log.is_untouched(place, data):
                return after
            return _reworded(place, after, claim)

        with contextlib.suppress(ValueError):
            self.folder.edit(place, change)
        return [place]

    def _propose(self, decision: Decision) -> None:
        claim = decision.claim
        is_refused = decision.action is Action.REFUSE
        fault = decision.reason if is_refused else ""
        if claim.text:
            path = proposals.propose(self.folder, self.log, claim, fault)
            self.paths.append(path)
            decision = replace(decision, path=path)
        if is_refused:
            told = f"Refused: {claim.text} ({decision.reason}); filemem review keeps it"
            self.notes.append(told)
        else:
            self.done.append(decision)


def _reworded(path: str, data: bytes, claim: Claim) -> bytes:
    """The file with a claim's words and days in the place of its own."""
    values = {
        "valid_from": str(claim.valid_from or ""),
        "valid_until": str(claim.valid_until or ""),
        "day": str(claim.event_day or ""),
        "kind": "event" if claim.is_event else "",
        "retold_by": quoted(claim.retold_by) if claim.retold_by else "",
    }
    is_retold = "retold_by" in parse(path, data).front
    if is_retold and claim.importance != IMPORTANCE:  # a person's own stays
        values["importance"] = str(claim.importance)
    for key, value in values.items():
        if value:
            data = facts.set_front(path, data, key, value)
    head = data.splitlines(keepends=True)[: parse(path, data).front_end]
    if not claim.is_event:  # what was to come has come to stay
        head = [line for line in head if not line.startswith((b"kind:", b"day:"))]
    body = f"\n{printable(claim.text)}\n".encode("utf-8", "replace")
    return b"".join(head) + body


def _says(memory: Memory, claim: Claim) -> bool:
    """Tell whether a memory was made of a claim, superseded or confirmed since."""
    body = "\n".join(memory.lines[memory.front_end :]).strip()
    is_same = f"{body}\n".startswith(f"{claim.body or claim.text}\n")
    return is_same and {*claim.sources} <= {*memory.sources}
