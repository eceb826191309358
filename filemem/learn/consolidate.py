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
from typing import Any

from filemem.learn import profile, proposals
from filemem.learn.batch import Batch, Request, batches, build_request, halves
from filemem.learn.claims import CheckedClaim, Noted, Unreadable, read_answer
from filemem.learn.decide import KnownMemories
from filemem.learn.log import LearnLog
from filemem.learn.outcome import Applied
from filemem.learn.records import (
    ADD,
    UPDATE,
    WRITTEN,
    Action,
    Decision,
    ForgetWish,
)
from filemem.learn.remember import finish
from filemem.learn.sessions import Session, unread
from filemem.learn.write import Writer
from filemem.llm import prompt
from filemem.llm.model import Model, ModelError, Reply, ToolsRefused
from filemem.store import config
from filemem.store.folder import Folder, JobDone
from filemem.store.paths import live
from filemem.text.plain import count_tokens, counted

MAX_UNREADABLE = 2  # answers in a row, after which the model is asked no more
ASK_AGAIN = (
    "\n\nYour last answer could not be read. Noted by one call of `keep`, or by one JSON "
    "object of the same form and nothing else."
)


def run(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    *,
    review: bool = False,
    besides: str = "",
) -> Iterator[Applied]:
    """Have a model read all that waits, request by request, in the order of the days.

    Args:
        folder: whose conversations these are.
        at: the moment of the run.
        model: without one nothing is read; what a person did by hand, and what a killed
            run has left, is finished all the same.
        review: only propose, as where the store's settings say so.
        besides: the path of a session that is left out.

    Yields:
        What was done; where the model fails, the last says so, and what was read before
        stands.
    """
    log = LearnLog(folder)
    yield from _settled(folder, log, at)
    if model is None:
        return
    review = review or config.of(folder).review
    reading = Reading(folder, log, at, model, is_review=review)
    yield from reading.read(batches(unread(folder, log, besides)))


def cost(folder: Folder, model: Model | None) -> JobDone:
    """Tell what it would take to read all that waits: conversations, requests, tokens."""
    log = LearnLog(folder)
    found = [session for session in unread(folder, log) if session.waiting]
    rules = prompt.template("consolidate") + prompt.template("consolidate.json")
    requests = 0
    tokens = 0
    if found:
        known = KnownMemories(folder, log)
        for batch in batches(found):
            text = build_request(batch, known, dt.date.min).text
            requests += 1
            tokens += count_tokens(rules + text)
    said = "Nothing new to read."
    if requests:
        told = f"{counted(requests, 'request')} of some {tokens:,} tokens in all"
        said = f"{counted(len(found), 'conversation')} to read: {told}."
        if model is None:
            said += " No model is configured, so they wait."
    sizes = {"conversations": len(found), "requests": requests, "tokens": tokens}
    return JobDone("consolidate", [said], {"facts": [], **sizes})


def _settled(folder: Folder, log: LearnLog, at: dt.datetime) -> Iterator[Applied]:
    """Finish what a person did by hand or a killed run has left; yield what changed."""
    carried = proposals.carry_over(folder, log)
    if carried:
        yield Applied([], carried)
    for memory in list(KnownMemories(folder, log).live.values()):
        is_unknown = live(memory.path) not in log.written
        if is_unknown and (memory.supersedes or memory.section):
            yield finish(folder, log, at, memory.path, memory.section)
    revised = profile.revise(folder, log, at.date())
    if revised.paths:
        yield Applied([], revised.paths, revised.notes)


@dataclass
class Reading:
    """A model at work on what waits.

    Attributes:
        folder: whose conversations these are.
        log: what was read and written.
        at: the moment of the run.
        model: who reads.
        is_review: whether all is only proposed.
        requests, tokens: what was asked so far.
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
        """The memories, each decision taken in."""
        return KnownMemories(self.folder, self.log)

    def read(self, waiting: Iterator[Batch]) -> Iterator[Applied]:
        """Read batches; yield what was done about each, and then what it took."""
        unreadable = 0
        error = ""
        for batch in waiting:
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

    def _read_batch(self, batch: Batch) -> Iterator[Applied]:
        """Read one batch, in halves where the answer did not fit."""
        told = [session for session in batch if session.waiting]
        answer = Noted()
        if told:
            request = build_request(told, self.known, self.at.date())
            reply = self._ask(request.text)
            parts = halves(batch)
            if reply.finish == "length" and len(parts) > 1:
                for part in parts:
                    yield from self._read_batch(part)
                return
            answer = self._understood(request, reply)
        yield self._applied(batch, answer)

    def _ask(self, told: str) -> Reply:
        """Have the model note what is worth it, by a call or, without tools, in words."""
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

    def _understood(self, request: Request, reply: Reply) -> Noted:
        """Read an answer; one that cannot be read is asked for once more.

        Raises Unreadable where that cannot be read either.
        """
        name = self.model.name
        is_full = reply.finish == "length"  # the same again would not fit either
        try:
            answer = read_answer(request, reply, name)
            if is_full or not answer.is_cut_off:
                return answer
        except Unreadable:
            if is_full:
                raise
        return read_answer(request, self._ask(request.text + ASK_AGAIN), name)

    def _applied(self, batch: Batch, answer: Noted) -> Applied:
        """Carry out what an answer came to, and note that its turns were read."""
        writer = Writer(self.folder, self.log, self.at)
        with self.folder.locked():
            writer.carry_out(self._decided(answer.claims))
            for wish in answer.wishes:
                self._propose_to_forget(writer, wish)
            fresh = {
                live(one.path): one.claim.section
                for one in writer.done
                if one.path and one.action is not Action.PROPOSE and one.claim.section
            }
            revised = profile.revise(self.folder, self.log, self.at.date(), fresh)
            self.log.add(map(_read_entry, batch))
        notes = [*answer.notes, *writer.notes, *revised.notes]
        if answer.is_cut_off:
            cut = "was cut off; what it had said whole by then is kept"
            notes.insert(0, f"{self.model.name} {cut}")
        paths = dict.fromkeys([*writer.paths, *revised.paths])
        return Applied(writer.done, list(paths), notes)

    def _propose_to_forget(self, writer: Writer, wish: ForgetWish) -> None:
        """Let a wish wait for a yes; what was just reworded without it stays."""
        reworded = {
            one.path for one in writer.done if one.action is UPDATE and not one.reason
        }
        places = tuple(one for one in wish.places if one not in reworded)
        keeps = tuple(one for one in wish.places if one in reworded)
        wish = replace(wish, places=places, keeps=keeps)
        path = proposals.propose_to_forget(self.folder, self.log, wish)
        writer.paths.append(path)
        writer.notes.append(
            f"Asked to be forgotten in {wish.asked}: filemem review deletes "
            f"{', '.join(places)}"
        )

    def _decided(self, claims: list[CheckedClaim]) -> Iterator[Decision]:
        """Decide about claims in turn; under review the person is asked first."""
        updated: set[str] = set()
        for checked in claims:
            claim = checked.claim
            if checked.fault:
                yield Decision(Action.REFUSE, "", claim, checked.fault)
                continue
            if claim.action is UPDATE and claim.target in updated:
                claim = replace(claim, action=ADD)  # what was just written stays
            one = self.known.decide(claim)
            updated.add(one.path)
            if one.action in WRITTEN and (self.is_review or claim.needs_review):
                one = replace(one, action=Action.PROPOSE)
            yield one


def _read_entry(session: Session) -> dict[str, Any]:
    turns = [session.turns[at].digest for at in session.unread]
    return {"read": session.path, "turns": turns, "size": session.size}


def _ignore(text: str) -> None:
    """Take what a model says on the way, which nobody hears."""
