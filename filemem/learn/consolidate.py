"""Consolidation: a model reads what was said, once; facts, lessons and the profile.

One request reads as many conversations as fit, beside the memories that are like them.
The log says last which turns were read: what a killed run has written is known to the
next, which reads these turns again.
"""

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from filemem.learn import profile
from filemem.learn.batch import asked_for, batches, build_request, session_of
from filemem.learn.claims import Noted, read_answer
from filemem.learn.decide import KINDS, KnownMemories
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.learn.records import WAITING, WRITTEN, Action, Claim
from filemem.learn.remember import take_in
from filemem.learn.sessions import SaidTurn, unread
from filemem.learn.write import Writer
from filemem.llm import prompt
from filemem.llm.model import Model, ModelError, PromptTooLong, Reply, ToolsRefused
from filemem.store import config
from filemem.store.folder import (
    PROPOSED,
    Folder,
    JobDone,
    Progress,
    no_progress,
)
from filemem.store.paths import archived, kind_of, live
from filemem.text.plain import count_tokens, counted

MAX_UNREADABLE = 2  # answers in a row, after which the model is asked no more
CUT_REMEDY = (
    "has no room for its answer; split it into shorter turns, or read it with another "
    "model: filemem consolidate --model NAME."
)
ASK_AGAIN = (
    "\n\nYour last answer could not be read. Note by one call of `keep`, or by one "
    "JSON object of the same form and nothing else."
)


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: Progress = no_progress,
    *,
    review: bool = False,
) -> Iterator[Applied]:
    """Have a model read all that waits, request by request, in the order of the days.

    Args:
        folder: whose conversations these are.
        at: the moment of the run.
        model: without one nothing is read; what a person did by hand, and what a killed
            run has left, is finished all the same.
        progress: told how many requests are done.
        review: only propose, as where the store's settings say so.

    Yields:
        What was done; where the model fails, the last says so, and what was read before
        stands.
    """
    log = LearnLog(folder)
    yield from _settled(folder, log, at)
    if model:
        review = review or config.of(folder).review
        reading = Reading(folder, log, at, model, is_review=review)
        turns = [*readable(folder, log, model), *asked_for(reading.known, log)]
        yield from reading.read(list(batches(turns)), progress)
        yield from _stuck(folder, log, model)
        condensed = profile.condense(folder, log, at.date(), model)
        if condensed != Applied():
            yield condensed


def cost(folder: Folder, model: Model | None) -> JobDone:
    """Tell what it would take to read all that waits.

    Args:
        folder: whose conversations these are.
        model: None where none is configured, so that they wait.

    Returns:
        The facts `conversations`, `requests` and `tokens`, some of which are estimated.
    """
    log = LearnLog(folder)
    turns = list(readable(folder, log, model))
    facts = list(asked_for(KnownMemories(folder, log), log))
    requests = len(list(batches([*turns, *facts])))
    rules = prompt.template("consolidate") + prompt.template("consolidate.json")
    tokens = requests * count_tokens(rules)
    tokens += sum(count_tokens(turn.shown) for turn in [*turns, *facts])
    conversations = len({turn.session.path for turn in turns})
    said = "Nothing new to read."
    if requests:
        what = counted(conversations, "conversation")
        if facts:
            what += f" and {counted(len(facts), 'fact')} of yours"
        told = f"{counted(requests, 'request')} of some {tokens:,} tokens in all"
        said = f"{what} to read: {told}."
        if model is None:
            said += " No model is configured, so they wait."
    sizes = {"requests": requests, "tokens": tokens}
    data = {"facts": [], "conversations": conversations, **sizes}
    return JobDone("consolidate", [said], data)


def readable(folder: Folder, log: LearnLog, model: Model | None) -> Iterator[SaidTurn]:
    """Yield the unread turns but those to which alone this model's answer was cut off.

    Args:
        folder: whose conversations these are.
        log: what was read.
        model: who is to read; None for any.
    """
    name = model.name if model else ""
    for turn in unread(folder, log):
        if (turn.digest, name) not in log.cut:
            yield turn


def _stuck(folder: Folder, log: LearnLog, model: Model) -> Iterator[Applied]:
    """Say which turns wait because this model has no room to answer to them."""
    found: list[str] = []
    if log.cut:
        for turn in unread(folder, log):
            if (turn.digest, model.name) in log.cut:
                found.append(turn.place)
    if found:
        where = f"{counted(len(found), 'turn')} ({', '.join(found[:3])})"
        yield Applied(notes=[f"To {where} {model.name} {CUT_REMEDY}"])


def _settled(folder: Folder, log: LearnLog, at: dt.datetime) -> Iterator[Applied]:
    """Finish what a person did by hand or a killed run has left; yield what changed."""
    for path in folder.paths():
        if kind_of(path) not in KINDS or live(path) in log.written:
            continue
        memory = folder.find(path)
        keys = set(memory.front) if memory else set()
        if keys & {"supersedes", "section"} and "superseded_by" not in keys:
            yield take_in(folder, log, at, path)
    revised = profile.revise(folder, log, at.date())
    if revised.paths:
        yield revised


class Unreadable(ModelError):
    """An answer was not understood."""


@dataclass(frozen=True)
class Attempt:
    """What came of one try to have turns read.

    Attributes:
        answer: what was understood of it.
        is_full: the request or the answer did not fit.
        fault: a sentence of the model's, if it took no request as long.
    """

    answer: Noted
    is_full: bool = False
    fault: str = ""


@dataclass
class Reading:
    """A model at work on what waits.

    Attributes:
        folder: whose conversations these are.
        log: what was read and written.
        at: the moment of the run.
        model: who reads.
        is_review: whether all is only proposed.
        requests: that were sent so far.
        tokens: that they took.
    """

    folder: Folder
    log: LearnLog
    at: dt.datetime
    model: Model
    is_review: bool
    requests: int = 0
    tokens: int = 0

    @cached_property
    def known(self) -> KnownMemories:
        """The memories, as the decisions leave them."""
        return KnownMemories(self.folder, self.log)

    def read(
        self, waiting: list[list[SaidTurn]], progress: Progress
    ) -> Iterator[Applied]:
        """Read batches; yield what was done about each, and then what it took."""
        unreadable = 0
        error = ""
        for number, batch in enumerate(waiting):
            progress(number, len(waiting))
            try:
                yield from self._read_batch(batch)
                unreadable = 0
            except Unreadable as failure:
                error = f"{failure}; what was said there waits."
                unreadable += 1
            except ModelError as failure:
                error = f"{failure} What was not read yet waits."
                break
            if unreadable == MAX_UNREADABLE:
                break
        if self.tokens:
            took = f"{counted(self.requests, 'request')}, {self.tokens:,} tokens"
            yield Applied(notes=[f"{self.model.name}: {took}"])
        if error:
            yield Applied(error=error)

    def _read_batch(self, batch: list[SaidTurn]) -> Iterator[Applied]:
        """Read one batch; what does not fit whole is read in halves.

        Raises:
            Unreadable: of some of it nothing could be read; the rest is read.
        """
        told = [turn for turn in batch if turn.has_words]
        attempt = self._attempt(told) if told else Attempt(Noted())
        if attempt.is_full and len(batch) > 1:
            yield from self._read_in_halves(batch)
            return
        if attempt.is_full and attempt.answer.is_cut_off:
            self._note_cut(batch)
        if attempt.answer.is_cut_off and not attempt.answer.claims:
            said = attempt.answer.beginning or "nothing"
            why = f"{self.model.name} answered with no facts that can be read: {said}"
            raise Unreadable(attempt.fault or why)
        yield self._applied(batch, attempt.answer)

    def _read_in_halves(self, batch: list[SaidTurn]) -> Iterator[Applied]:
        """Read both halves of a batch, the second though the first cannot be read."""
        failure: Unreadable | None = None
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            try:
                yield from self._read_batch(half)
            except Unreadable as error:
                failure = error
        if failure:
            raise failure

    def _attempt(self, told: list[SaidTurn]) -> Attempt:
        """Ask about turns, and once more if what came cannot be read but had room."""
        request = build_request(self.folder, told, self.known, self.at.date())
        try:
            reply = self._ask(request.text)
            answer = read_answer(request, reply, self.model.name)
            if answer.is_cut_off and reply.finish != "length":
                reply = self._ask(request.text + ASK_AGAIN)
                answer = read_answer(request, reply, self.model.name)
        except PromptTooLong as error:
            return Attempt(Noted(is_cut_off=True), is_full=True, fault=str(error))
        return Attempt(answer, is_full=reply.finish == "length")

    def _ask(self, told: str) -> Reply:
        """Have the model note what is worth it, by a call, or without tools in JSON."""
        rules = prompt.template("consolidate").strip()
        tools = json.loads(prompt.template("consolidate.json"))
        messages = [
            {"role": "system", "content": rules},
            {"role": "user", "content": told},
        ]
        try:
            reply = self.model.ask(messages, tools, _ignore)
        except ToolsRefused:
            reply = self.model.ask(messages, [], _ignore)
        self.requests += 1
        self.tokens += sum(reply.usage)
        return reply

    def _applied(self, batch: list[SaidTurn], answer: Noted) -> Applied:
        """Carry out what an answer came to, and note that its turns were read.

        They are not where the end of the answer was missing: they are read again
        another time, beside what was kept of them.
        """
        done = Applied()
        writer = Writer(self.folder, self.log, self.at, done)
        with self.folder.locked():
            fresh = self._carry_out(writer, answer.claims)
            for wish in answer.wishes:
                writer.propose_to_forget(wish)
            revised = profile.revise(self.folder, self.log, self.at.date(), fresh)
            done.add(revised)
            if answer.is_cut_off:
                cut = "was cut off; what it had said whole is kept, the rest waits"
                done.notes.insert(0, f"{self.model.name} {cut}")
            else:
                self._note_read(batch)
        return done

    def _carry_out(self, writer: Writer, claims: list[Claim]) -> dict[str, str]:
        """Decide about claims in turn, and carry out each before the next.

        What one claim has become the next may end, by its label.

        Args:
            writer: carries them out.
            claims: as the model noted them.

        Returns:
            The section for each memory that is to have a line of the profile, by live
            path.
        """
        made: dict[str, str] = {}
        updated: set[str] = set()
        proposed: set[str] = set()
        fresh: dict[str, str] = {}
        for number, claim in enumerate(claims, 1):
            named = [made.get(one, one) for one in claim.targets]
            targets = tuple(filter(None, named))
            claim = replace(claim, targets=targets)
            if claim.action is Action.UPDATE and not updated.isdisjoint(targets):
                claim = replace(claim, action=Action.ADD)  # what was just written stays
            self.known.refresh(targets)  # edited, perhaps, while the model answered
            decision = self.known.decide(claim)
            is_asked = self.is_review or claim.needs_review
            is_change = decision.action in WRITTEN or bool(decision.replaces)
            if is_change and is_asked and decision.action is not Action.REFUSE:
                decision = decision.waiting(Action.PROPOSE, decision.reason)
            if decision.action in WAITING and claim.action is not Action.ADD:
                also = tuple(one for one in targets if one in proposed)
                decision = replace(decision, replaces=decision.replaces + also)
            decision = writer.carry_out(decision)
            path = decision.path.removeprefix(f"{PROPOSED}/")
            made[f"F{number}"] = path
            if decision.action in WAITING:
                proposed.add(path)
            if decision.action in WAITING or not path:
                continue
            if not decision.is_told_again:
                updated.add(decision.path)
            ended = decision.replaces
            self.known.refresh([decision.path, *ended, *map(archived, ended)])
            if claim.section:
                fresh[live(decision.path)] = claim.section
        return fresh

    def _note_cut(self, batch: list[SaidTurn]) -> None:
        """Note that the answer to a turn alone was cut off, so that it waits."""
        for turn in batch:
            of_turn = {"cut": turn.session.path, "turn": turn.digest}
            self.log.add([{**of_turn, "model": self.model.name}])

    def _note_read(self, batch: list[SaidTurn]) -> None:
        """Note that turns were read, and each session of which no other waits."""
        entries: list[dict[str, Any]] = []
        read = self.log.read | {turn.digest for turn in batch}
        for session, turns in groupby(batch, key=session_of):
            digests = [turn.digest for turn in turns]
            entry = {"read": session.path, "turns": digests, "size": 0}
            if session.digests <= read:
                entry |= session.file._asdict()
            entries.append(entry)
        self.log.add(entries)


def _ignore(text: str) -> None:
    """Take what a model says on the way, which nobody hears."""
