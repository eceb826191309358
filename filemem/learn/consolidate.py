"""Consolidation: a model reads what was said, once; facts, lessons and the profile.

One request reads as many conversations as fit, beside the memories that are like them.
The log says last which turns were read: what a killed run has written is known to the
next, which reads these turns again.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from filemem.learn import profile
from filemem.learn.batch import asked_for, batches, build_request, session_of
from filemem.learn.claims import Noted, read_answer
from filemem.learn.decide import KnownMemories
from filemem.learn.outcome import Applied
from filemem.learn.records import NEW, WAITING, Action, Claim, Decision
from filemem.learn.remember import take_in
from filemem.learn.sessions import Ended, SaidTurn, unread
from filemem.learn.write import Writer
from filemem.llm import prompt
from filemem.llm.asking import ask
from filemem.llm.model import Model, ModelError, PromptTooLong, Reply
from filemem.store import config
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.store.paths import DISTILLED, kind_of, live
from filemem.text.plain import count_tokens, counted
from filemem.work import JobDone, Progress, no_progress

MAX_UNREADABLE = 4  # conversations in a row, after which the model is asked no more
ASK_AGAIN = (
    "\n\nYour last answer could not be read. Note by one call of `keep`, or by one "
    "JSON object of the same form and nothing else."
)
ASK_FOR_THE_REST = " Of it these are kept already; note what else there is:\n"
WAITS = "what was said there waits for the next run, or for another model"


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: Progress = no_progress,
    *,
    review: bool = False,
    ended: Ended | None = None,
) -> Iterator[Applied]:
    """Have a model read all that waits, request by request, in the order of the days.

    What no answer to it was understood of comes last, so that it holds up no other.

    Args:
        folder: whose conversations these are.
        at: the moment of the run.
        model: without one nothing is read; what a person did by hand, and what a killed
            run has left, is finished all the same.
        progress: told how many requests are done.
        review: only propose, as where the store's settings say so.
        ended: read no conversation that is not over.

    Yields:
        What was done; where the model fails, the last says so, and what was read before
        stands.
    """
    log = LearnLog.of(folder)
    yield from _finish(folder, log, at)
    if model:
        review = review or config.of(folder).review
        known = KnownMemories(folder, log).refresh()
        reading = Reading(known, log, at, model, is_review=review, ended=ended)
        yield from reading.read(progress)
        yield from profile.condense(folder, log, at.date(), model)


def cost(folder: Folder, model: Model | None) -> JobDone:
    """Tell what it would take to read all that waits.

    Args:
        folder: whose conversations these are.
        model: None where none is configured, so that they wait.

    Returns:
        The facts `conversations`, `requests` and `tokens`, some of which are estimated.
    """
    log = LearnLog.of(folder)
    turns = list(unread(folder, log))
    facts = list(asked_for(KnownMemories(folder, log).refresh(), log))
    waiting = [*turns, *facts]
    requests = len(batches(waiting))
    rules = prompt.template("consolidate") + prompt.template("consolidate.json")
    tokens = requests * count_tokens(rules)
    tokens += sum(count_tokens(turn.shown) for turn in waiting)
    conversations = _conversations(turns)
    said = "Nothing new to read."
    if requests:
        said = counted(conversations, "conversation")
        if facts:
            said += f" and {counted(len(facts), 'fact')} of yours"
        said += f" to read: {counted(requests, 'request')} of some {tokens:,} tokens"
        said += " in all."
        if model is None:
            said += " No model is configured, so they wait."
    sizes = {"requests": requests, "tokens": tokens}
    data = {"facts": [], "conversations": conversations, **sizes}
    return JobDone("consolidate", [said], data)


def waiting(folder: Folder) -> int:
    """Return how many conversations are not read, or not all of them."""
    return _conversations(unread(folder, LearnLog.of(folder)))


def _conversations(turns: Iterable[SaidTurn]) -> int:
    return len({turn.session.path for turn in turns})


def _finish(folder: Folder, log: LearnLog, at: dt.datetime) -> Iterator[Applied]:
    """Finish what a person did by hand or a killed run has left; yield what changed."""
    folder.recover()
    for path in sorted(one.path for one in log.others(*DISTILLED)):
        memory = folder.find(path)
        keys = set(memory.front) if memory else set()
        if memory and keys & {"supersedes", "section"} and "superseded_by" not in keys:
            yield take_in(folder, log, at, memory, path)
    yield profile.revise(folder, log, at.date(), {})


class Reading:
    """A model at work on what waits; counts what that takes.

    Args:
        known: the memories, as the decisions leave them.
        log: what was read and written.
        at: the moment of the run.
        model: who reads.
        is_review: whether all is only proposed.
        ended: what is read, if not all.
    """

    def __init__(
        self,
        known: KnownMemories,
        log: LearnLog,
        at: dt.datetime,
        model: Model,
        *,
        is_review: bool,
        ended: Ended | None,
    ) -> None:
        self.known = known
        self.log = log
        self.at = at
        self.model = model
        self.is_review = is_review
        self.ended = ended
        self.requests = 0  # that were sent so far
        self.tokens = 0  # that they took
        self.unreadable = 0  # conversations in a row whose answer was cut off
        self.error = ""  # why the last was

    def read(self, progress: Progress) -> Iterator[Applied]:
        """Read all that waits; yield what was done, and then what it took."""
        turns = [*unread(self.known.folder, self.log, self.ended)]
        turns += asked_for(self.known, self.log)
        turns.sort(key=lambda turn: self.log.unreadable[turn.session.path])
        requests = batches(turns)
        try:
            for number, batch in enumerate(requests):
                progress(number, len(requests))
                if number:
                    self.known.refresh()
                yield from self._read_batch(batch)
        except ModelError as error:
            self.error = f"{error} What was not read yet waits."
        took = Applied(
            error=self.error,
            requests=self.requests,
            tokens=self.tokens,
        )
        if self.tokens:
            sent = f"{counted(self.requests, 'request')}, {self.tokens:,} tokens"
            took = took.with_notes([f"{self.model.name}: {sent}"])
        yield took

    def _read_batch(self, batch: list[SaidTurn]) -> Iterator[Applied]:
        """Read one batch; where an answer is cut off, the conversations in parts.

        A conversation is read in parts where there was no room. What cannot be read
        waits, beside what was kept of it.

        Yields:
            What was done, for each part of the batch that could be read.

        Raises:
            ModelError: the model fails; no more can be asked.
        """
        if self.unreadable == MAX_UNREADABLE:
            return
        spoken = [turn for turn in batch if turn.has_words]
        answers = self._answers(spoken) if spoken else [Noted()]
        answer = answers[-1]
        middle = _middle(batch, answer)
        if middle:
            yield from self._read_batch(batch[:middle])
            yield from self._read_batch(batch[middle:])
            return
        if answer.is_cut_off:
            self.unreadable += 1
            self.log.add([{"unreadable": batch[0].session.path}])
            self.error = f"{answer.fault}; {WAITS}."
        else:
            self.unreadable = 0
        for answer in answers:
            if answer.claims or not answer.is_cut_off:
                yield self._apply(batch, answer)

    def _answers(self, turns: list[SaidTurn]) -> list[Noted]:
        """Ask about turns, and once more for the rest of what is cut off, but had room.

        A request that the model has no room for counts as an answer that is full.
        """
        request = build_request(self.known, turns, self.at.date())
        try:
            answer = read_answer(request, self._ask(request.text), self.model.name)
            if not answer.is_cut_off or answer.is_full:
                return [answer]
            ask_again = request.text + ASK_AGAIN
            if answer.claims:
                kept = [f"- {claim.text}" for claim in answer.claims]
                ask_again += ASK_FOR_THE_REST + "\n".join(kept)
            rest = read_answer(request, self._ask(ask_again), self.model.name)
        except PromptTooLong as error:
            full = Noted(is_cut_off=True, is_full=True, fault=str(error).rstrip("."))
            return [full]
        return [answer, rest]

    def _ask(self, request: str) -> Reply:
        """Have the model note what is worth it, and count what that takes.

        Raises:
            ModelError: it fails.
        """
        reply = ask(self.model, "consolidate", request, by_call=True)
        self.requests += 1
        self.tokens += sum(reply.usage)
        return reply

    def _apply(self, batch: list[SaidTurn], answer: Noted) -> Applied:
        """Carry out what an answer came to, and note that its turns were read.

        They are not where the answer was cut off: they are read again another time,
        beside what was kept of them.

        Args:
            batch: the turns.
            answer: what the model noted of them.

        Returns:
            What was done to the memories and to the profile, with a sentence on each
            turn of the person that was too long to be read whole.
        """
        folder = self.known.folder
        writer = Writer(folder, self.log, self.at)
        with folder.locked():
            self.known.read_new()
            sections = self._carry_out(answer.claims, writer)
            revised = profile.revise(folder, self.log, self.at.date(), sections)
            if not answer.is_cut_off:
                self._note_read(batch)
        long = [turn for turn in batch if turn.is_own and turn.shown != turn.text]
        notes = [f"{turn.place} is long: its middle was not read" for turn in long]
        return writer.done.plus(revised).with_notes(notes)

    def _carry_out(self, claims: list[Claim], writer: Writer) -> dict[str, str]:
        """Decide about each claim, and carry it out before the next.

        What one claim has become the next may end, by its label, but not reword: the
        words of the first would be lost. It ends what it names by such a label, and
        stands beside what another has reworded.

        Args:
            claims: in the order of the answer.
            writer: carries them out.

        Returns:
            The section for each memory that is to have a line of the profile, by live
            path.
        """
        paths: dict[str, str] = {}
        said: set[str] = set()
        sections: dict[str, str] = {}
        for number, claim in enumerate(claims, 1):
            is_of_answer = not paths.keys().isdisjoint(claim.targets)
            targets = tuple(paths.get(one, one) for one in claim.targets)
            claim = replace(claim, targets=targets)
            if claim.action is Action.UPDATE and not said.isdisjoint(targets):
                action = Action.SUPERSEDE if is_of_answer else Action.ADD
                claim = replace(claim, action=action)
            done = writer.carry_out(self._decide(claim))
            self.known.note(done)
            paths[f"F{number}"] = done.path
            if done.action is not Action.CONFIRM:
                said.add(done.path)
            if claim.section and kind_of(done.path) in DISTILLED:
                sections[live(done.path)] = claim.section
        return sections

    def _decide(self, claim: Claim) -> Decision:
        """Decide about a claim.

        What the person has to agree to is only proposed; what is told again is not.
        """
        decision = self.known.decide(claim)
        is_news = decision.action in (*NEW, Action.UPDATE) or decision.replaces
        if decision.action in WAITING or not is_news:
            return decision
        if self.is_review or claim.needs_review:
            return decision.deferred(Action.PROPOSE, decision.reason)
        return decision

    def _note_read(self, batch: list[SaidTurn]) -> None:
        """Note that turns were read, and each session of which no other waits.

        It is the last that is written, so that nothing counts as read too soon.
        """
        entries: list[dict[str, Any]] = []
        read = self.log.read | {turn.digest for turn in batch}
        for session, turns in groupby(batch, key=session_of):
            digests = [turn.digest for turn in turns]
            entry = {"read": session.path, "turns": digests, "size": 0}
            if session.digests <= read:
                entry |= session.file._asdict()
            entries.append(entry)
        self.log.add(entries)


def _middle(batch: list[SaidTurn], answer: Noted) -> int:
    """Return where a batch is split, to be read in two parts; 0 if it is not.

    Args:
        batch: is split between two conversations or, of one, between two turns.
        answer: only for one that is cut off; within a conversation, for want of room.
    """
    if not answer.is_cut_off and not answer.is_full:
        return 0
    places = range(1, len(batch))
    found = [at for at in places if batch[at].session != batch[at - 1].session]
    if not found and answer.is_full:
        found = list(places)
    return found[len(found) // 2] if found else 0
