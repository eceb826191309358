"""What was said, session by session, as consolidation reads it: secrets taken out, days told apart, unread turns known."""

import datetime as dt
import re
from collections.abc import Iterator
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import config, journal
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, kind_of, only_asked, when_of
from filemem.files.passages import Passage
from filemem.files.transcript import ASSISTANT
from filemem.remembering.consolidation_log import ConsolidationLog, turn_digest
from filemem.remembering.supersession import display
from filemem.text import tokens
from filemem.text.redaction import NONE, OwnPatterns, redact

# Who was the assistant in what older versions imported, by origin.
_IMPORTED = {"chatgpt:": "ChatGPT", "claude:": "Claude"}
_NO_PERSON = (ASSISTANT, "tool", "system", "event", "document", "Document")
CLIPPED = 60  # tokens of what an assistant or a tool said that are read along


class SessionTurn(NamedTuple):
    """One turn: `text` without secrets, `digest` of the words as they stand in the file."""

    line: int
    speaker: str
    text: str
    day: dt.date
    digest: str

    @property
    def is_foreign(self) -> bool:
        """Is this not what a person says, but an assistant, a tool, an event or a document?"""
        return self.speaker in _NO_PERSON

    @property
    def shown(self) -> str:
        """What a model reads of it: a person's words whole, what a machine said clipped."""
        return tokens.clip(self.text, CLIPPED) if self.is_foreign else self.text


class Session(NamedTuple):
    """One conversation; `path` is the live one even where it lies in the archive, `unread` the places of turns that were not read
    yet, `size` the file's in bytes, 0 where further unread turns follow. `user` is the one whose memory this is, by name."""

    path: str
    size: int
    memory: Memory
    turns: tuple[SessionTurn, ...]
    unread: tuple[int, ...]
    user: str
    own: OwnPatterns = NONE

    @property
    def speakers(self) -> list[str]:
        """Who speaks, in the order of their first words."""
        return list(dict.fromkeys(said.speaker for said in self.turns))

    @property
    def imported(self) -> bool:
        """Does it come from another program's export, or from notes? What a program adds itself is the person's talk with it."""
        return not str(self.memory.front.get("origin", "added:")).startswith("added:")

    @property
    def waiting(self) -> list[int]:
        """The unread turns that have words in them."""
        return [place for place in self.unread if re.search(r"\w", self.turns[place].text)]

    def parted(self, place: int) -> tuple["Session", "Session"]:
        """It with the unread turns before a place, and with the rest of them."""
        before = tuple(one for one in self.unread if one < place)
        return self._replace(unread=before, size=0), self._replace(unread=self.unread[len(before) :])


def unread(folder: Folder, log: ConsolidationLog, besides: str = "", *, counted: bool = False) -> Iterator[Session]:
    """The sessions that have turns which were not read, archived ones among them, by date and time; `besides` is one left out.

    Secrets are out, unless they are only `counted`: looking for them takes most of the time.
    """
    found = []
    for stat in folder.files():
        when, path = when_of(stat.path), live(stat.path)
        if kind_of(path) == "sessions" and when and path != besides and log.sizes.get(path) != stat.size:
            found.append((when.date, when.time, path, stat.path))
    for *_, place in sorted(found):
        session = _read(folder, place, log, counted)
        if session and session.unread and not only_asked(session.memory):
            yield session


def waiting(folder: Folder, besides: str = "") -> tuple[int, int]:
    """How many conversations have turns that no model has read, and the tokens of these; `besides` is one left out."""
    found = [one for one in unread(folder, ConsolidationLog(folder), besides, counted=True) if one.waiting]
    return len(found), sum(tokens.count(one.turns[place].shown) for one in found for place in one.waiting)


def _read(folder: Folder, path: str, log: ConsolidationLog, counted: bool) -> Session | None:
    """A session; None where the transcript is none that can be read. A turn that is held back says nothing."""
    try:
        memory = Memory(path, folder.read(path, LARGEST + 1))
    except FilememError:
        return None
    if len(memory.data) > LARGEST or memory.binary:
        return None
    hidden = journal.pending_deletions(folder)
    own, day, said = config.of(folder).own, memory.date or dt.date.min, list[SessionTurn]()
    for passage in passages(memory):
        text = passage.text if counted else redact(passage.text, own)[0]
        digest = turn_digest(memory.path, passage)
        text = "" if hidden.hides(memory.path, passage.line) else text
        said.append(SessionTurn(passage.line, speaker(memory, passage), text, passage.day or day, digest))
    places = tuple(log.unread(memory.path, [one.digest for one in said]))
    return Session(live(path), len(memory.data), memory, tuple(said), places, display(folder.name), own)


def passages(memory: Memory) -> list[Passage]:
    """The turns of a transcript, and nothing else in it."""
    return [passage for passage in memory.passages if passage.speaker]


def speaker(memory: Memory, passage: Passage) -> str:
    """Who speaks, as a sentence has it; an assistant by whatever name it was imported under."""
    named = memory.front.get("assistant")
    if named is None and (origin := str(memory.front.get("origin", ""))):
        named = next((name for begins, name in _IMPORTED.items() if origin.startswith(begins)), None)
    machine = passage.speaker.casefold() == ASSISTANT or (named and passage.speaker == str(named))
    if machine:
        return ASSISTANT
    return passage.speaker.casefold() if passage.speaker.casefold() in _NO_PERSON else display(passage.speaker)
