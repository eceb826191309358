"""What was said and no model has read yet, turn by turn."""

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.learn.log import LearnLog, digest
from filemem.store import pending
from filemem.store.folder import Folder, Stat
from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.paths import kind_of, live, when_of
from filemem.store.roles import Role
from filemem.text.plain import clip_tokens, count_tokens

MACHINE_TOKENS = 60  # of what an assistant or a tool said that are read along
CONTEXT_TURNS = 4  # before an unread one, to be understood by


@dataclass(frozen=True)
class Session:
    """The file of one conversation.

    Attributes:
        path: the live one, even where it lies in the archive.
        size: the file's, in bytes.
        file_digest: of all its bytes.
        began: the clock time of its beginning, if its name has one.
        is_imported: whether it comes from another program's export, or from notes;
            what a program adds itself is the person's talk with it.
        digests: of all its turns.
    """

    path: str
    size: int
    file_digest: str
    began: str
    is_imported: bool
    digests: frozenset[str]


@dataclass(frozen=True)
class SaidTurn:
    """One turn.

    Attributes:
        session: the conversation that it is of.
        line: of the file, where it begins.
        speaker: who speaks, as a sentence has it.
        text: what is said; of a turn that is to be forgotten nothing.
        day: on which it was said.
        digest: of its words; the log knows it by this.
        is_machine: whether an assistant's, a tool's or a document's words are in it.
        is_own: whether it is the turn of the person whose memories these are.
        before: the turns right before it.
    """

    session: Session
    line: int
    speaker: str
    text: str
    day: dt.date
    digest: str
    is_machine: bool
    is_own: bool
    before: tuple["SaidTurn", ...] = field(default=(), repr=False, compare=False)

    @property
    def place(self) -> str:
        """Where it stands: `path:line`."""
        return f"{self.session.path}:{self.line}"

    @property
    def has_words(self) -> bool:
        """Whether there is anything in it to be read."""
        return re.search(r"\w", self.text) is not None

    @property
    def shown(self) -> str:
        """What a model reads of it: a person's words whole, a machine's clipped."""
        return clip_tokens(self.text, MACHINE_TOKENS) if self.is_machine else self.text


class Waiting(NamedTuple):
    """How much no model has read: conversations, and the tokens of their turns."""

    conversations: int
    tokens: int


def unread(folder: Folder, log: LearnLog, besides: str = "") -> Iterator[SaidTurn]:
    """Yield the turns that were not read, session by session, by date and time.

    Args:
        folder: whose sessions these are, archived ones among them.
        log: knows what was read.
        besides: the path of a session that is left out.
    """
    found = []
    for stat in folder.files():
        path = live(stat.path)
        when = when_of(path)
        if kind_of(path) != "sessions" or when is None or path == besides:
            continue
        if not _is_read(folder, log, stat):
            found.append((when.date, when.time, path, stat.path))
    for *_, place in sorted(found):
        memory = folder.find(place)
        if memory and not memory.binary:
            yield from _unread_of(folder, memory, log)


def waiting(folder: Folder, besides: str = "") -> Waiting:
    """Count what no model has read; `besides` is the path of a session left out."""
    found = unread(folder, LearnLog(folder), besides)
    turns = [turn for turn in found if turn.has_words]
    paths = {turn.session.path for turn in turns}
    return Waiting(len(paths), sum(count_tokens(turn.shown) for turn in turns))


def speaker(memory: Memory, passage: Passage) -> str:
    """Name who speaks, as a sentence has it: a person by name, else the role."""
    role = memory.role(passage.speaker)
    return display(passage.speaker) if role is Role.PERSON else role.value


def display(name: str) -> str:
    """Write a user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


def _is_read(folder: Folder, log: LearnLog, stat: Stat) -> bool:
    """Tell whether a session was read whole, and has not been edited since.

    A log of before knows the sizes alone.
    """
    path = live(stat.path)
    if log.sizes.get(path) != stat.size:
        return False
    before = log.files.get(path)
    if not before:
        return True
    with suppress(FilememError, OSError):
        return digest(folder.read(stat.path)) == before
    return False


def _unread_of(folder: Folder, memory: Memory, log: LearnLog) -> Iterator[SaidTurn]:
    """Yield the unread turns of a session, each with those before it."""
    hidden = pending.pending_deletions(folder)
    passages = [one for one in memory.passages if one.speaker]
    digests = [_digest(memory, one) for one in passages]
    session = Session(
        path=live(memory.path),
        size=len(memory.data),
        file_digest=digest(memory.data),
        began=memory.when.time if memory.when else "",
        is_imported=not str(memory.front.get("origin", "added:")).startswith("added:"),
        digests=frozenset(digests),
    )
    turns: list[SaidTurn] = []
    for passage, said in zip(passages, digests, strict=True):
        is_hidden = hidden.hides(memory.path, passage.line)
        name = speaker(memory, passage)
        is_machine = memory.role(passage.speaker) is not Role.PERSON
        turn = SaidTurn(
            session=session,
            line=passage.line,
            speaker=name,
            text="" if is_hidden else passage.text,
            day=passage.day or memory.date or dt.date.min,
            digest=said,
            is_machine=is_machine,
            is_own=not is_machine and name == display(folder.name),
            before=tuple(turns[-CONTEXT_TURNS:]),
        )
        turns.append(turn)
        if said not in log.read:
            yield turn


def _digest(memory: Memory, passage: Passage) -> str:
    when = memory.when
    begun = f"{when.date} {when.time}\0" if when else ""
    return digest(f"{begun}{passage.speaker}\0{passage.text}")
