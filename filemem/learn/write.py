"""Decisions carried out: files written, changed, superseded, and noted in the log."""

import datetime as dt
from dataclasses import dataclass, field, replace
from functools import partial

from filemem.errors import Changed, FilememError
from filemem.learn import proposals
from filemem.learn.decide import said_in
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.learn.records import NEW, WAITING, Action, Decision, page
from filemem.store import facts, recalls
from filemem.store.folder import Folder
from filemem.store.memory import Memory
from filemem.store.paths import archived, live
from filemem.text.plain import LINK

MAX_SOURCES = 20  # that a memory names; what is told more often is certain enough


@dataclass
class Writer:
    """Carries out decisions, and gathers what came of it.

    Attributes:
        folder: whose memories these are.
        log: what was read and written; each file is noted as soon as it stands.
        at: the moment of the run.
        done: what was done.
    """

    folder: Folder
    log: LearnLog
    at: dt.datetime
    done: Applied = field(default_factory=Applied)

    def carry_out(self, decision: Decision) -> Decision:
        """Carry out a decision, and return it with the path that it came to.

        What is refused, or cannot be written, becomes a proposal with the reason.
        """
        if decision.action not in WAITING:
            try:
                return self.write(decision)
            except FilememError as error:
                decision = decision.deferred(Action.REFUSE, str(error))
        path = ""
        if decision.claim.text:
            path = proposals.propose(self.folder, self.log, decision)
        return self._done(replace(decision, path=path))

    def write(self, decision: Decision) -> Decision:
        """Carry out one decision.

        Args:
            decision: what is to be done; a new memory gets the next free path like the
                one wanted.

        Returns:
            The decision with the path that it came to.

        Raises:
            FilememError: the memory cannot be written.
        """
        claim = decision.claim
        text = ""
        if decision.action in NEW:
            text = claim.page(supersedes=decision.replaces)
            path = self.folder.create(decision.path, text)
            decision = replace(decision, path=path)
        elif decision.action is not Action.NOOP:
            text = self._rewrite(decision)
        since = claim.front.get("valid_from") or claim.day
        for old in decision.replaces:
            self.supersede(old, decision.path, since)
        if text:  # noted last, so that a run that is killed before does all of it again
            path = live(decision.path)
            data = text.encode("utf-8", "replace")
            self.log.note_written(path, data, claim.origins, self.at.date())
        return self._done(decision)

    def supersede(self, old: str, new: str, until: dt.date) -> None:
        """Mark a memory as replaced since a day, and move it to the archive.

        Args:
            old: its live path.
            new: the path of what replaces it.
            until: the day since which that holds.
        """
        place = next(self.folder.existing(old), "")
        if not place:
            return
        change = partial(facts.superseded, place, by=live(new), until=until)
        try:
            self.folder.edit(place, change)
        except ValueError as error:
            told = f"{place} is superseded by {new}, but {error}; put it right by hand."
            self.done.notes.append(told)
            return
        if place == live(old):
            stayed = recalls.archive(self.folder, [place], self.at)
            self.done.notes += stayed.values()
        self.done.paths += [live(old), archived(old)]

    def _rewrite(self, decision: Decision) -> str:
        """Have a memory of the program's say a claim, or name a further source.

        Returns:
            The whole file.

        Raises:
            Changed: a person has edited it since it was decided about.
        """
        place = self.folder.locate(decision.path)
        text = rewritten(self.folder.memory(place), decision)
        change = partial(self._unless_edited, place, text.encode("utf-8", "replace"))
        self.folder.edit(place, change)
        recalls.note_recall(self.folder, decision.path, recalls.CITED, self.at)
        return text

    def _unless_edited(self, path: str, after: bytes, data: bytes) -> bytes:
        """Return the bytes of a memory as it is to be.

        Args:
            path: where it lies.
            after: its bytes then.
            data: its bytes now.

        Raises:
            Changed: a person has edited it.
        """
        if not self.log.is_untouched(path, data):
            raise Changed(f"{path} was edited meanwhile; try again.")
        return after

    def _done(self, decision: Decision) -> Decision:
        """Gather a decision that was carried out, and return it."""
        self.done.decisions.append(decision)
        if decision.path and decision.action is not Action.NOOP:
            self.done.paths.append(decision.path)
        return decision


def rewritten(memory: Memory, decision: Decision) -> str:
    """Return a memory of the program's as an update or a further source leaves it.

    An update brings its words and days. What was linked stays linked, and what a person
    asked to be remembered keeps its weight.

    Args:
        memory: as the program left it.
        decision: UPDATE or CONFIRM.
    """
    claim = decision.claim
    front = dict(memory.front)
    named = dict.fromkeys([*memory.sources, *claim.sources])
    front["source"] = tuple(named)[:MAX_SOURCES]
    sure = claim.front.get("confidence") or 1.0
    if "confidence" in front:
        front["confidence"] = max(sure, front["confidence"])
    if decision.action is Action.CONFIRM:
        return page(memory.body.strip("\n"), front)
    kept = {"confidence"}
    if "retold_by" not in front:
        kept.add("importance")  # the person's own
    if not claim.front.get("kind"):  # what was to come has come to stay
        front.pop("kind", None)
        front.pop("day", None)
    for key, value in claim.front.items():
        if value and key not in kept:
            front[key] = value
    text = claim.text
    for name, _ in LINK.findall(said_in(memory)):
        if f"[[{name}" not in text:
            text = text.replace(name, f"[[{name}]]", 1)
    return page(text, front)
