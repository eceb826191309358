"""What was said, conversation by conversation, as a model reads it."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from filemem.learn.log import LearnLog, digest
from filemem.store import pending
from filemem.store.folder import Folder
from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.paths import kind_of, live, when_of
from filemem.store.roles import Role
from filemem.text.plain import clip_tokens, count_tokens

MACHINE_TOKENS = 60  # of what an assistant or a tool said that are read along


@dataclass(frozen=True)
class SessionTurn:
    """One turn.

    Attributes:
        line: of the file, where it begins.
        speaker: who speaks, as a sentence has it.
        text: what is said; of a turn that is to be forgotten nothing.
        day: on which it was said.
        digest: of its words; the log knows it by this.
        role: whose words it holds.
    """

    line: int
    speaker: str
    text: str
    day: dt.date
    digest: str
    role: Role

    @property
    def is_machine(self) -> bool:
        """Whether an assistant's, a tool's or a document's words are in it."""
        return self.role is not Role.PERSON

    @property
    def shown(self) -> str:
        """What a model reads of it: a person's words whole, a machine's clipped."""
        return clip_tokens(self.text, MACHINE_TOKENS) if self.is_machine else self.text


@dataclass(frozen=True)
class Session:
    """One conversation.

    Attributes:
        path: the live one, even where it lies in the archive.
        size: the file's in bytes, 0 where further unread turns follow.
        memory: the file.
        turns: all of them, in order.
        unread: the places of turns that were not read yet.
        user: the name of the one whose memory this is, as a sentence has it.
    """

    path: str
    size: int
    memory: Memory
    turns: tuple[SessionTurn, ...]
    unread: tuple[int, ...]
    user: str

    @property
    def is_imported(self) -> bool:
        """Whether it comes from another program's export, or from notes.

        What a program adds itself is the person's talk with it.
        """
        origin = str(self.memory.front.get("origin", "added:"))
        return not origin.startswith("added:")

    @property
    def waiting(self) -> list[int]:
        """The places of unread turns that have words in them."""
        return [at for at in self.unread if re.search(r"\w", self.turns[at].text)]

    def split(self, place: int) -> tuple["Session", "Session"]:
        """Split it into the unread turns before a place, and the rest of them."""
        before = tuple(at for at in self.unread if at < place)
        rest = self.unread[len(before) :]
        return replace(self, unread=before, size=0), replace(self, unread=rest)


class Waiting(NamedTuple):
    """How much no model has read: conversations, and the tokens of their turns."""

    conversations: int
    tokens: int


def unread(folder: Folder, log: LearnLog, besides: str = "") -> Iterator[Session]:
    """Yield the sessions with turns that were not read, by date and time.

    Archived ones are among them; `besides` is the path of one that is left out.
    """
    found = []
    for stat in folder.files():
        path = live(stat.path)
        when = when_of(stat.path)
        if kind_of(path) != "sessions" or when is None or path == besides:
            continue
        if log.sizes.get(path) != stat.size:
            found.append((when.date, when.time, path, stat.path))
    for *_, place in sorted(found):
        session = _read(folder, place, log)
        if session and session.unread:
            yield session


def waiting(folder: Folder, besides: str = "") -> Waiting:
    """Count what no model has read; `besides` is the path of a session left out."""
    conversations = 0
    tokens = 0
    for session in unread(folder, LearnLog(folder), besides):
        places = session.waiting
        conversations += bool(places)
        tokens += sum(count_tokens(session.turns[at].shown) for at in places)
    return Waiting(conversations, tokens)


def speaker(memory: Memory, passage: Passage) -> str:
    """Name who speaks, as a sentence has it: a person by name, else the role."""
    role = memory.role(passage.speaker)
    return display(passage.speaker) if role is Role.PERSON else role.value


def display(name: str) -> str:
    """Write a user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


def _read(folder: Folder, path: str, log: LearnLog) -> Session | None:
    """Read a session; None where the file is no text."""
    memory = folder.find(path)
    if memory is None or memory.binary:
        return None
    hidden = pending.pending_deletions(folder)
    when = when_of(path)
    begun = f"{when.date} {when.time}\0" if when else ""
    turns = []
    for passage in memory.passages:
        if passage.speaker:
            is_hidden = hidden.hides(memory.path, passage.line)
            turn = SessionTurn(
                line=passage.line,
                speaker=speaker(memory, passage),
                text="" if is_hidden else passage.text,
                day=passage.day or memory.date or dt.date.min,
                digest=digest(f"{begun}{passage.speaker}\0{passage.text}"),
                role=memory.role(passage.speaker),
            )
            turns.append(turn)
    places = [at for at, turn in enumerate(turns) if turn.digest not in log.read]
    return Session(
        path=live(path),
        size=len(memory.data),
        memory=memory,
        turns=tuple(turns),
        unread=tuple(places),
        user=display(folder.name),
    )
