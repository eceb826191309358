"""What adapters share: a framework's session as a transcript, found again by the origin in its front matter in whatever process;
and the four tools as plain functions, for frameworks that each have their own class for a tool."""

import asyncio
import datetime as dt
import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from filemem.api import User
from filemem.files import config, journal, transcript
from filemem.files.folder import CurrentConversation
from filemem.files.front import quoted
from filemem.files.memory import ASSISTANT, Memory, Passage, format_turn, in_utf8, slug
from filemem.text.plain import digest
from filemem.text.redaction import redact

ENDED = "ended "  # stands before the origin of a finished session


class KeptSession:
    """The session `id` of a framework: one transcript, which a person may move, edit or archive meanwhile."""

    def __init__(self, user: User, framework: str, id: str) -> None:
        self.folder = user.folder
        self.name = digest(id, 16)
        self._origin = f"{framework}:{self.name}"
        self._path = ""

    def turns(self) -> list[Passage]:
        """What has been said, oldest first."""
        session = self._session()
        return (
            [passage for passage in session.passages if passage.speaker]
            if session
            else []
        )

    def current(self, most: int | None = None) -> CurrentConversation | None:
        """The session as the conversation going on: all of it, or what its last `most` turns are."""
        said = self.turns()
        shown = said if most is None else said[-most:] if most > 0 else []
        return CurrentConversation(self._path, shown[0].line) if shown else None

    def say(self, role: str, text: str) -> None:
        """Keep what the `user` or the `assistant` said, secrets taken out unless the store is set otherwise."""
        at = dt.datetime.now().astimezone()
        speaker = self.folder.name if role == "user" else ASSISTANT
        settings = config.of(self.folder)
        text = redact(text)[0] if settings.redact else text
        with self.folder.locked():
            session = self._session()
            day = (
                at.date()
                if session and transcript.last_day(session) != at.date()
                else None
            )
            turn = format_turn(speaker, f"{at:%H:%M}", text, day)
            if session:
                self.folder.append(session.path, turn)
            else:
                name = slug(text) or "conversation"
                self._path = transcript.create(
                    self.folder, name, at, [turn], origin=quoted(self._origin)
                )

    def take_back(self, turn: Passage) -> None:
        """Take a turn's lines out of the transcript."""

        def without(data: bytes) -> bytes:
            lines = data.split(b"\n")
            return b"\n".join(lines[: turn.line - 1] + lines[turn.end_line :])

        self._edit(without)

    def end(self) -> None:
        """Begin a new transcript with the next turn; this one stays in memory."""
        old, new = (
            f"origin: {quoted(text)}".encode()
            for text in (self._origin, ENDED + self._origin)
        )
        self._edit(lambda data: data.replace(old, new, 1))
        self._path = ""

    def _edit(self, change: Callable[[bytes], bytes]) -> None:
        """Change the transcript's bytes, if there is one, as UTF-8 has them."""
        if session := self._session():
            self.folder.edit(session.path, lambda data: in_utf8(data, change))

    def _session(self) -> Memory | None:
        """The transcript, wherever it lies now; None if there is none yet, or no longer."""
        memory = self.folder.find(self._path)
        if memory is None or memory.front.get("origin") != self._origin:
            sessions = (
                path
                for path in reversed(self.folder.paths())
                if "sessions" in path.split("/")[:2]
            )
            found = (
                path
                for path in sessions
                if journal.origin_of(self.folder, path) == self._origin
            )
            memory = self.folder.find(next(found, ""))
        self._path = memory.path if memory else ""
        return memory


def role(turn: Passage) -> str:
    """Who said a turn, as chat messages name it."""
    return "assistant" if turn.speaker == ASSISTANT else "user"


class MemoryFunction(NamedTuple):
    """One tool: its JSON Schema, and the call, which takes JSON or a mapping, and the conversation going on where only the caller
    knows it; it answers with text, never an exception."""

    name: str
    description: str
    parameters: dict[str, Any]
    call: Callable[..., str]

    def run(self, **arguments: Any) -> str:
        """The answer to a call."""
        return self.call(arguments)

    async def arun(self, **arguments: Any) -> str:
        """The answer to a call, without holding up the event loop."""
        return await asyncio.to_thread(self.call, arguments)


def added(user: User, id: str) -> CurrentConversation | None:
    """What `User.add_conversation` keeps under an id, as the conversation going on; None where nothing is."""
    path = journal.Origins(user.folder).recorded(f"added:{id}") if id else None
    return CurrentConversation(path, 1) if path else None


def functions(
    user: User, current: Callable[[], CurrentConversation | None] = lambda: None
) -> list[MemoryFunction]:
    """The four tools over one user's memories; they may be called from several threads, and share the open files.

    `current` is asked for the conversation going on, which a search leaves out.
    """
    toolbox, lock = user.tools(), threading.Lock()

    def call(
        name: str,
        arguments: str | dict[str, Any],
        now: CurrentConversation | None = None,
    ) -> str:
        with lock:
            toolbox.current = now or current()
            return toolbox.call(name, arguments)

    tools = (schema["function"] for schema in toolbox.schemas)
    return [
        MemoryFunction(**one, call=functools.partial(call, one["name"]))
        for one in tools
    ]
