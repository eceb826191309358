"""Decisions carried out: files written, changed, superseded, and noted in the log."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from filemem.errors import Changed, FilememError, Refused
from filemem.learn import proposals
from filemem.learn.outcome import Applied
from filemem.learn.records import NEW, WAITING, Action, Decision, page
from filemem.store import facts, recalls
from filemem.store.fields import Episode
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog, wrote
from filemem.store.memory import Memory
from filemem.store.paths import DISTILLED, archived, kind_of, live

MAX_SOURCES = 20  # that a memory names; what is told more often is certain enough


class Writer:
    """Carries out decisions, and gathers what came of it.

    Args:
        folder: whose memories these are.
        log: what was read and written; each file is noted as soon as it stands.
        at: the moment of the run.
    """

    def __init__(self, folder: Folder, log: LearnLog, at: dt.datetime) -> None:
        self.folder = folder
        self.log = log
        self.at = at
        self._decisions: list[Decision] = []
        self._paths: list[str] = []
        self._notes: list[str] = []

    @property
    def done(self) -> Applied:
        """What was done so far.

        It is a copy, which later work does not change.
        """
        return Applied([*self._decisions], [*self._paths], [*self._notes])

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
        if decision.action is Action.ADD:
            return self.add_all([decision])[0]
        claim = decision.claim
        text = ""
        if decision.action in NEW:
            text = claim.page(supersedes=decision.replaces)
            path = self.log.create("known", decision.path, text, claim.origins)
            decision = replace(decision, path=path)
        elif decision.action is not Action.NOOP:
            text = self._rewrite(decision)
        since = claim.front.get("valid_from") or claim.day
        ended = self.supersede(decision.replaces, decision.path, since)
        decision = replace(decision, replaces=ended)
        if text:  # noted last, so that what a killed run has not superseded is so later
            path = live(decision.path)
            self.log.add([wrote(path, text, claim.origins, self.at.date())])
            self.folder.tell("remembered", 1)
        return self._done(decision)

    def add_all(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Write the memories of decisions to ADD, made durable together.

        Args:
            decisions: of which each wants a path.

        Returns:
            They with the paths that they came to.

        Raises:
            FilememError, OSError: one cannot be written; those that are noted are.
        """
        wanted = [(one.path, one.claim.page()) for one in decisions]
        note = partial(self._note_new, decisions)
        paths = self.folder.create_all(wanted, note)
        done = []
        for decision, path in zip(decisions, paths, strict=True):
            decision = replace(decision, path=path)
            done.append(self._done(decision))
        self.folder.tell("remembered", len(done))
        return done

    def _note_new(self, decisions: Sequence[Decision], paths: list[str]) -> None:
        """Note what is about to be written.

        Args:
            decisions: to ADD.
            paths: the path that each comes to.
        """
        today = self.at.date()
        lines = []
        for decision, path in zip(decisions, paths, strict=True):
            claim = decision.claim
            line = wrote(path, claim.page(), claim.origins, today)
            lines.append(line)
        self.log.add(lines)

    def supersede(
        self, replaced: Iterable[str], new: str, until: dt.date
    ) -> tuple[str, ...]:
        """Mark memories as replaced since a day, and move them to the archive.

        A note names one whose file cannot be rewritten; it stays as it is, as does what
        is no fact and no lesson.

        Args:
            replaced: their paths.
            new: the path of what replaces them.
            until: the day since which that holds.

        Returns:
            The paths of those that are marked now.
        """
        ended: list[str] = []
        for old in replaced:
            place = next(self.folder.existing(old), "")
            if kind_of(place) not in DISTILLED:  # nothing, or what no fact replaces
                continue
            change = partial(facts.superseded, place, by=live(new), until=until)
            try:
                self.folder.edit(place, change)
            except (Refused, ValueError) as error:
                why = str(error).rstrip(".")
                todo = f"write superseded_by: {live(new)} into it by hand"
                told = f"{place} stays as it is: {why}; {todo}."
                self._notes.append(told)
                continue
            if place == live(old):
                stayed = recalls.archive(self.folder, [place], self.at)
                self._notes += stayed.values()
            self._paths += [live(old), archived(old)]
            ended.append(old)
        return tuple(ended)

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
        recalls.note_recall(self.folder, decision.path, recalls.How.CITED, self.at)
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
        """Gather a decision that was carried out, and return it.

        A memory that was known already has not changed.
        """
        self._decisions.append(decision)
        if decision.path and decision.action is not Action.NOOP:
            self._paths.append(decision.path)
        return decision


def rewritten(memory: Memory, decision: Decision) -> str:
    """Return a memory of the program's as an update or a further source leaves it.

    An update brings its words, its confidence and, of an event, all its days. What a
    person asked to be remembered keeps its weight. What they have said themselves is
    not a machine's word any more.

    Args:
        memory: as the program left it.
        decision: UPDATE or CONFIRM.
    """
    claim = decision.claim
    front = dict(memory.front)
    named = dict.fromkeys([*memory.sources, *claim.sources])
    front["source"] = tuple(named)[:MAX_SOURCES]
    if not claim.said_by:
        front.pop("said_by", None)
    if decision.action is Action.CONFIRM:
        if "confidence" in front:
            sure = claim.front.get("confidence") or 1.0
            front["confidence"] = max(sure, front["confidence"])
        return page(memory.kind, memory.body.strip("\n"), front)
    outdated = ["kind", "day", "confidence"]
    if Episode.EVENT in (front.get("kind"), claim.front.get("kind")):
        outdated.append("valid_until")
    for key in outdated:
        front.pop(key, None)
    is_asked_for = "retold_by" not in front
    for key, value in claim.front.items():
        if value and not (is_asked_for and key == "importance"):
            front[key] = value
    return page(memory.kind, facts.linked_as(memory.statement, claim.text), front)
