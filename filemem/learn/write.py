"""Decisions carried out: files written, changed, superseded, and noted in the log."""

import datetime as dt
from dataclasses import dataclass, field, replace
from functools import partial

from filemem.errors import Changed, FilememError, Refused
from filemem.learn import proposals
from filemem.learn.claims import ForgetWish
from filemem.learn.decide import said_in
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.learn.records import WAITING, WRITTEN, Action, Claim, Decision, yaml_value
from filemem.store import facts, recalls
from filemem.store.folder import Folder
from filemem.store.memory import parse
from filemem.store.paths import archived, live
from filemem.text.plain import LINK, printable


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
                reason = str(error)
            decision = decision.waiting(Action.REFUSE, reason)
        return self._propose(decision)

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
        if decision.action is Action.UPDATE:
            decision = self._change(decision)
        elif decision.action in WRITTEN:
            decision = self._create(decision)
        else:
            self._end(decision, decision.path)
        self.done.decisions.append(decision)
        return decision

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
            self.done.notes.append(
                f"{place} is superseded by {new}, but {error}; put it right by hand."
            )
            return
        if place == live(old):
            stayed = recalls.archive(self.folder, [place], self.at)
            self.done.notes += stayed.values()
        self.done.paths += [live(old), archived(old)]

    def propose_to_forget(self, wish: ForgetWish) -> None:
        """Let a wish wait for a yes; what was just reworded without it stays.

        So it rests no more on the turns that the wish means.
        """
        reworded = set()
        for one in self.done.decisions:
            if one.action is Action.UPDATE and not one.is_told_again:
                reworded.add(one.path)
        places = tuple(one for one in wish.places if one not in reworded)
        for kept in reworded.intersection(wish.places):
            self._rest_on_none_of(places, kept)
        path = proposals.propose_to_forget(self.folder, self.log, wish.asked, places)
        self.done.paths.append(path)
        told = f"filemem review deletes {', '.join(places)}"
        asked = wish.asked.place
        self.done.notes.append(f"Asked to be forgotten in {asked}: {told}")

    def _rest_on_none_of(self, places: tuple[str, ...], path: str) -> None:
        """Have a memory of the program's cite none of these places."""
        sources = self.folder.memory(path).sources
        rest = [source for source in sources if source not in places]
        value = facts.reference(rest)
        self.folder.edit(
            path, partial(facts.set_front, path, key="source", value=value)
        )
        now = self.folder.read(path)
        self.log.note_written(path, now, (), self.at.date())

    def _create(self, decision: Decision) -> Decision:
        """Write a new memory, and end what it supersedes; return it with its path."""
        claim = decision.claim
        page = claim.page(decision.replaces).encode("utf-8", "replace")
        path = self.folder.create(decision.path, page)
        self._end(decision, path)
        return self._noted(decision, path, page)

    def _change(self, decision: Decision) -> Decision:
        """Add sources and confidence, and the words in which it stands from now on.

        Raises:
            Changed: a person has edited it since it was decided about.
        """
        place = self.folder.locate(decision.path)
        before = self.folder.read(place)
        if not self.log.is_untouched(place, before):
            raise Changed(f"{place} was edited meanwhile; try again.")
        after = _confirmed(place, decision, before)
        self.folder.edit(place, partial(_unless_edited, place, before, after))
        self._end(decision, place)
        recalls.note_recall(self.folder, decision.path, recalls.CITED, self.at)
        return self._noted(decision, place, after)

    def _end(self, decision: Decision, path: str) -> None:
        """Supersede by the memory at `path` what a decision names."""
        claim = decision.claim
        for old in decision.replaces:
            self.supersede(old, path, claim.front.get("valid_from") or claim.day)

    def _noted(self, decision: Decision, path: str, data: bytes) -> Decision:
        """Note in the log what the program composed, and return it with its path."""
        self.done.paths.append(path)
        origins = decision.claim.origins
        self.log.note_written(live(path), data, origins, self.at.date())
        return replace(decision, path=path)

    def _propose(self, decision: Decision) -> Decision:
        """Write a proposal, where there is any text; return it with its path."""
        if decision.claim.text:
            path = proposals.propose(self.folder, self.log, decision)
            self.done.paths.append(path)
            decision = replace(decision, path=path)
        self.done.decisions.append(decision)
        return decision


def _confirmed(path: str, decision: Decision, data: bytes) -> bytes:
    """Return a memory as the program leaves it after an update.

    Raises:
        Refused: its front matter cannot be changed.
    """
    claim = decision.claim
    confidence = claim.front.get("confidence") or 1.0
    try:
        data = facts.confirmed(path, data, claim.sources, confidence)
        if decision.is_told_again:
            return data
        return _reworded(path, data, claim)
    except ValueError as error:
        why = f"{path} is not changed: {error}; put it right by hand."
        raise Refused(why) from None


def _unless_edited(path: str, before: bytes, after: bytes, data: bytes) -> bytes:
    """Return the bytes `after`; raise Changed where a file's are not as `before`."""
    if data != before:
        raise Changed(f"{path} was edited meanwhile; try again.")
    return after


def _reworded(path: str, data: bytes, claim: Claim) -> bytes:
    """Return the file with a claim's words and days in the place of its own.

    What was linked stays linked, and what a person asked to be remembered keeps its
    weight.

    Args:
        path: of the memory, which is as the program left it.
        data: the file.
        claim: what holds from now on.
    """
    before = parse(path, data)
    kept = {"confidence", "said_by"}
    if "retold_by" not in before.front:
        kept.add("importance")  # the person's own
    for key, value in claim.front.items():
        if value and key not in kept:
            data = facts.set_front(path, data, key, yaml_value(value))
    text = printable(claim.text)
    for name, _ in LINK.findall(said_in(before)):
        if f"[[{name}" not in text:
            text = text.replace(name, f"[[{name}]]", 1)
    head = data.splitlines(keepends=True)[: parse(path, data).front_end]
    if not claim.front.get("kind"):  # what was to come has come to stay
        head = [line for line in head if not line.startswith((b"kind:", b"day:"))]
    return b"".join([*head, f"\n{text}\n".encode("utf-8", "replace")])
