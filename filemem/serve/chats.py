"""One user's chats over the wire: which transcript a request goes on with, and the answer to it.

A client sends all of a chat with each message, and no name for it. So what has been said is noted in `.filemem/chats.jsonl` as a
digest, with the transcript that holds it; a chat that an earlier message was edited in is a new one. Each digest is noted
alone as well: `forget` takes out the lines that name what it deletes, and what it deleted must not come back.
"""

import contextlib
import datetime as dt
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from filemem import importers, index
from filemem.chat import Conversation, Delegated, Listener, Prompt, Text, unrecorded
from filemem.errors import FilememError
from filemem.files import journal, safe
from filemem.files.folder import Folder
from filemem.files.memory import ASSISTANT, NO_ANSWER, Passage
from filemem.files.transcript import OffTheRecord, Transcript
from filemem.jobs import ASKED, JobRun
from filemem.llm.client import OpenAIModel
from filemem.llm.model import Messages, Model, Reply, ToolCall, Tools, Usage
from filemem.serve.running import BadRequest
from filemem.serve.wire import ChatRequest, Finished
from filemem.text.plain import digest

RECORD = "chats.jsonl"
LARGEST = (
    1_000_000  # bytes of the record, some 4,000 messages; then the older half goes
)
LONG, OFTEN = (
    300,
    3,
)  # characters of a text, chats in which it stands: then a program says it, such as its examples
MOST_LONG = 1000  # texts that are counted
MOST_CALLS = 1000  # responses whose calls of the client's functions are known
_SEARCHES = threading.BoundedSemaphore(
    2
)  # more at once are no faster: they wake each other, and each takes memory
Said = tuple[tuple[str, str], ...]


class Stopped(Exception):
    """A listener wants to hear no more of an answer."""


class ServedConversation(Conversation):
    """A conversation whose client has instructions and tools of its own, and may leave at any time."""

    asked: ChatRequest
    stop: threading.Event

    def take(self, asked: ChatRequest, stop: threading.Event) -> None:
        """Go on with a request; `stop` is set once nobody wants its answer."""
        self.asked, self.stop, self.options = asked, stop, asked.options
        self.usage, self.finish = Usage(0, 0), "stop"
        self.delegated: tuple[ToolCall, ...] = ()

    def view(self, message: str = "") -> Prompt:
        """The prompt, with the client's own instructions behind those of filemem."""
        seen = super().view(message)
        rules, *rest = seen.system
        return seen._replace(system=[rules, ("client", self.asked.system), *rest])

    def _recall(self, turns: list[Passage]) -> str:
        with _SEARCHES:
            found = super()._recall(turns)
            index.of(self.user).rest()
            return found

    def _shown_turns(self) -> list[Passage]:
        """The turns up to what the person said last: an answer to that, which the client wants anew, is left out."""
        turns = super()._shown_turns()
        while turns and turns[-1].speaker == ASSISTANT:
            turns.pop()
        return turns

    def _reply(
        self, seen: Prompt, worked: Messages, listen: Listener, *, last: bool
    ) -> Reply:
        reply = super()._reply(seen, [*self.asked.since, *worked], listen, last=last)
        names = {tool["function"]["name"] for tool in self.asked.tools}
        theirs = tuple(call for call in reply.calls if call.name in names)
        ours = tuple(call for call in reply.calls if call.name not in names)
        if theirs and not ours:
            self.delegated = theirs
            raise Delegated
        return replace(
            reply, calls=ours
        )  # where both are called, the model calls theirs again once it has ours

    def _ask(
        self, messages: Messages, listen: Listener, tools: Tools, *, last: bool
    ) -> Reply:
        if self.stop.is_set():
            raise Stopped
        if not last and self._toolless is not self.model and self.asked.tools:
            names = {tool["function"]["name"] for tool in self.asked.tools}
            tools = [
                *(tool for tool in tools if tool["function"]["name"] not in names),
                *self.asked.tools,
            ]
        if self.asked.pictures:
            said = next(one for one in reversed(messages) if one["role"] == "user")
            said["content"] = [
                {"type": "text", "text": said["content"]},
                *self.asked.pictures,
            ]
        reply = super()._ask(messages, listen, tools, last=last)
        self.usage = Usage(
            self.usage.tokens_in + reply.usage.tokens_in,
            self.usage.tokens_out + reply.usage.tokens_out,
        )
        self.finish = "length" if reply.finish == "length" else "stop"
        return reply


def _recorded(asked: ChatRequest) -> ChatRequest:
    """The request without the messages that begin by asking not to be kept and their answers, which clients send again; where
    its last message is one, nothing of it is kept."""
    before, off = list[tuple[str, str]](), False
    for role, text in asked.before:
        off = unrecorded(text) if role == "user" else off
        before += [] if off else [(role, text)]
    return asked._replace(
        before=tuple(before), kept=asked.kept and not unrecorded(asked.text)
    )


class Chats:
    """The chats of one user; `model` makes a model for a conversation, `now` gives the time."""

    def __init__(
        self, user: Folder, model: Callable[[], Model], now: Callable[[], dt.datetime]
    ) -> None:
        self.user = user
        self._model = model
        self._now = now
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._left: dict[
            str, tuple[list[Passage], str]
        ] = {}  # by path, what left the prompt, and its summary
        self._long: dict[
            str, set[str]
        ] = {}  # the chats in which each long text has stood
        self._calls: dict[
            str, list[dict[str, Any]]
        ] = {}  # of each response, and what came of those before it

    def answer(
        self,
        asked: ChatRequest,
        stop: threading.Event,
        listen: Listener,
        begun: Callable[[Model], None],
    ) -> Finished:
        """Keep what was said, answer it, keep the answer. Raises as `Conversation.say` does, and Stopped.

        `begun` is told which model is asked, for whoever wants to hang up on it.
        """
        asked = self._continued(asked)
        model = self._model() if asked.program else None
        if isinstance(
            model, OpenAIModel
        ):  # a program's prompt: nothing is searched with it, and nothing kept
            begun(model)
            if stop.is_set():
                raise Stopped
            reply = model.ask(
                asked.messages,
                asked.tools,
                lambda text: listen(Text(text)),
                **asked.options,
            )
            return Finished(reply.text, reply.calls, reply.usage, reply.finish, "")
        asked = _recorded(
            self._of_the_person(asked._replace(kept=asked.kept and not asked.program))
        )
        with (
            JobRun(self.user, "chat", self._now(), exclusive=False)
            if asked.kept
            else contextlib.nullcontext() as run
        ):
            talk = self._begin(asked, stop, listen)
            path = talk.transcript.path
            begun(talk.model)
            try:
                with contextlib.suppress(Delegated):
                    text = talk.answer(listen)
                    if asked.kept:
                        said = (
                            *asked.before,
                            ("user", asked.text),
                            ("assistant", text),
                        )
                        self._note(said, talk.transcript, asked.id)
                    return Finished(
                        text, (), talk.usage, talk.finish, talk.transcript.path
                    )
                self._delegated(asked, talk)
                return Finished(
                    "", talk.delegated, talk.usage, "tool_calls", talk.transcript.path
                )
            finally:
                with self._lock:
                    self._busy.discard(path)
                    self._left |= {path: talk.left} if path and talk.left else {}
                kept = talk.transcript
                if run and kept.path and kept.turns():
                    run.commit(
                        kept.subject(), [kept.path, *talk.written], Session=kept.path
                    )
                talk.written = []

    def _continued(self, asked: ChatRequest) -> ChatRequest:
        """The request with what was said until the response that it goes on with, as far as the transcript has it."""
        if not asked.previous:
            return asked
        record = journal.values(self.user.bookkeeping(RECORD))
        found = next(
            (
                one
                for one in record
                if isinstance(one, dict) and one.get("id") == asked.previous
            ),
            {},
        )
        since, path = self._calls.get(asked.previous, []), str(found.get("path"))
        if not self._stands(path) or not (asked.text or since):
            what = f"nothing is known here of the response {asked.previous[:80]!r}; send all that was said."
            raise BadRequest(404, what, "previous_response_not_found")
        transcript = Transcript(self.user, self.user.locate(path))
        turns = [turn for turn in transcript.turns() if turn.text != NO_ANSWER]
        said = tuple(
            ("assistant" if turn.speaker == ASSISTANT else "user", turn.text)
            for turn in turns
        )
        if int(found.get("turns", 0)) >= len(said):
            self._note(
                said, transcript
            )  # in the words of the transcript, without secrets
        said = said[: int(found.get("turns", 0))]
        if not asked.text:
            asked = asked._replace(text=said[-1][1], since=[*since, *asked.since])
            said = said[:-1]
        return asked._replace(before=(*said, *asked.before))

    def _delegated(self, asked: ChatRequest, talk: ServedConversation) -> None:
        """Know what was called of a client's functions, for a request that goes on with this response."""
        if asked.kept:
            self._note((*asked.before, ("user", asked.text)), talk.transcript, asked.id)
            called = {
                "role": "assistant",
                "content": None,
                "tool_calls": [call.as_sent() for call in talk.delegated],
            }
            self._calls[asked.id] = [*asked.since, called]
            for oldest in list(self._calls)[:-MOST_CALLS]:
                del self._calls[oldest]

    def _of_the_person(self, asked: ChatRequest) -> ChatRequest:
        """The request with what a program says in every chat among the instructions, where it steers nothing else."""
        said = [text for role, text in asked.before if role == "user"]
        opening = digest(
            next((text for text in [*said, asked.text] if len(text) < LONG), "")
        )
        often = set()
        with self._lock:
            for text in said:
                if len(text) >= LONG:
                    chats = self._long.setdefault(digest(text), set())
                    chats.add(opening)
                    often |= {text} if len(chats) >= OFTEN else set()
            for oldest in list(self._long)[:-MOST_LONG]:
                del self._long[oldest]
        if not often or any(key == _key(asked.before) for key, _, _ in self._read()):
            return asked  # none, or a chat that began before it was known
        kept, gone = list[tuple[str, str]](), list[tuple[str, str]]()
        for role, text in asked.before:
            answers = role == "assistant" and bool(gone) and not kept[-1:]
            (gone if (role == "user" and text in often) or answers else kept).append(
                (role, text)
            )
        told = "\n\n".join(f"{role}: {text}" for role, text in gone)
        return asked._replace(
            before=tuple(kept), system="\n\n".join(filter(None, [asked.system, told]))
        )

    def _begin(
        self, asked: ChatRequest, stop: threading.Event, listen: Listener
    ) -> ServedConversation:
        """The conversation that a request belongs to, with what the person said on disk."""
        if not asked.kept:
            names = {"user": self.user.name, "assistant": ASSISTANT}
            before = [
                Passage(0, 0, names[role], "", text) for role, text in asked.before
            ]
            fleeting = ServedConversation(
                self.user,
                self._model(),
                self._now,
                OffTheRecord(self.user, before),
                ASKED,
            )
            fleeting.take(asked, stop)
            fleeting.record_turn(asked.text, listen)
            return fleeting
        with self._lock:
            path, said = self._find(asked)
            talk = ServedConversation(
                self.user, self._model(), self._now, Transcript(self.user, path), ASKED
            )
            talk.left = self._left.get(path)
            talk.take(asked, stop)
            if not (
                said and talk.said_last(asked.text)
            ):  # which a person may have deleted
                talk.record_turn(asked.text, listen)
                self._note((*asked.before, ("user", asked.text)), talk.transcript)
            self._busy.add(talk.transcript.path)
            return talk

    def _find(self, asked: ChatRequest) -> tuple[str, bool]:
        """The transcript that holds what was said before, empty for a new one; and whether it has the last message too.

        It has, where a client asks again: after an error, for another answer, or with the results of its own calls.
        """
        record = self._read()
        here, asking = (
            {path for _, _, path in record if path} - self._busy,
            (*asked.before, ("user", asked.text)),
        )
        last = {path: (key, words) for key, words, path in record}
        again = {key: path for key, _, path in record if path in here}.get(
            _key(asking), ""
        )
        if (
            again and last[again][1] == _key(_persons(asking)) and self._stands(again)
        ):  # and nothing was said since
            last_said = Transcript(self.user, again).turns()[-1:]
            if asked.before or any(
                turn.speaker != ASSISTANT or turn.text == NO_ANSWER
                for turn in last_said
            ):
                return again, True
        if not asked.before:
            return "", False
        wanted = _key(asked.before), _key(_persons(asked.before))
        for path in reversed(last):
            if (
                path in here
                and (last[path][0] == wanted[0] or last[path][1] == wanted[1])
                and self._stands(path)
            ):
                return path, False
        known = [path for key, _, path in record if key == wanted[0]]
        if known and not any(path and self._stands(path) for path in known):
            return "", False  # what was said before has been forgotten since
        messages = [{"role": role, "content": text} for role, text in asked.before]
        return importers.add_conversation(
            self.user, messages, self._now(), f"served-{os.urandom(8).hex()}", ""
        ), False

    def _stands(self, path: str) -> bool:
        with contextlib.suppress(FilememError):
            return bool(self.user.locate(path))
        return False

    # -- the record ----------------------------------------------------------------------------------------------

    def _read(self) -> list[tuple[str, str, str]]:
        """The digests of what had been said, all of it and the person's part, each with its transcript; oldest first."""
        found = []
        for one in journal.values(self.user.bookkeeping(RECORD)):
            with contextlib.suppress(TypeError, KeyError, AttributeError):
                found.append(
                    (
                        str(one["said"]),
                        str(one.get("person", "")),
                        str(one.get("path", "")),
                    )
                )
        return found

    def _note(self, said: Said, transcript: Transcript, id: str = "") -> None:
        alone, path = {"said": _key(said)}, transcript.path
        whole: dict[str, Any] = {**alone, "person": _key(_persons(said)), "path": path}
        if id.startswith("resp_"):
            whole |= {
                "id": id,
                "turns": sum(turn.text != NO_ANSWER for turn in transcript.turns()),
            }
        lines = journal.line(alone) + journal.line(whole)
        with self.user.locked():
            place = self.user.bookkeeping(RECORD)
            if safe.log(place, lines) > LARGEST:
                data = safe.read(place)
                safe.write(place, data[data.index(b"\n", len(data) // 2) + 1 :])


def _persons(said: Said) -> Said:
    return tuple(one for one in said if one[0] == "user")


def _key(said: Said) -> str:
    """What stands for all that has been said, white space aside, which clients change."""
    return digest(
        json.dumps([[role, " ".join(text.split())] for role, text in said]), 32
    )
