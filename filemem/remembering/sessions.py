"""What was said to a user's assistant, session by session, as consolidation reads it: secrets taken out, days told apart."""

import datetime as dt
import os
from collections import Counter
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, trace
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import LARGEST, Memory, kind_of, when_of
from filemem.files.passages import Passage
from filemem.files.pending_deletion import PendingDeletion
from filemem.files.transcript import ASSISTANT
from filemem.remembering.comparison import display
from filemem.remembering.ledger import Ledger, turn_digest
from filemem.text.own_patterns import NONE, OwnPatterns
from filemem.text.redaction import redact
from filemem.text.statements import table
from filemem.text.statements.sentences import Utterance, plainly

# Who was the assistant in what older versions imported, by origin.
_IMPORTED = {"chatgpt:": "ChatGPT", "claude:": "Claude"}
_NO_PERSON = (ASSISTANT, "tool", "system", "event", "document", "Document")
ENOUGH = 2  # turns of a speaker by which it is told whether they talk
TALKS = 0.1  # share of the turns of one who talks that have a word for the speaker, at least


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
        return self.speaker.casefold() in _NO_PERSON

    @property
    def turn(self) -> Utterance:
        """As statements take it."""
        return Utterance(self.speaker, self.text, self.line)


class Session(NamedTuple):
    """One conversation; `path` is the live one even where it lies in the archive, `size` the file's in bytes.

    `user` is the name of the one whose memory this is; `kept` is how many facts were made of each of its days before,
    `own` are their patterns of secrets.
    """

    path: str
    size: int
    memory: Memory
    turns: tuple[SessionTurn, ...]
    user: str
    kept: Counter[dt.date] = Counter()
    own: OwnPatterns = NONE

    @property
    def speakers(self) -> list[str]:
        """Who speaks, in the order of their first words."""
        return list(dict.fromkeys(said.speaker for said in self.turns))

    @property
    def imported(self) -> bool:
        """Does it come from another program, or from notes?"""
        return "origin" in self.memory.front

    @property
    def to_assistant(self) -> bool:
        """Does the user talk to an assistant, rather than to other people?"""
        return set(self.speakers) <= {self.user, *_NO_PERSON}

    @property
    def of_records(self) -> bool:
        """Is it records rather than talk, of which at most the user's own words tell anything?

        So says its front matter, or one of its speakers never speaks of themselves: a calendar, the messages of a bank.
        """
        if "records" in self.memory.front:
            return bool(self.memory.front["records"])
        spoken = [(said.speaker, said.text) for said in self.turns if said.speaker not in (self.user, *_NO_PERSON)]
        for name, count in Counter(name for name, _ in spoken).items():
            own = sum(
                speaker == name and table.sign("first person", plainly(text)) is not None for speaker, text in spoken
            )
            if count >= ENOUGH and own < TALKS * count:
                return True
        return False


def in_order(user: Folder) -> list[str]:
    """The paths of all sessions by date and time, archived ones among them."""
    found = []
    for path in user.paths():
        when = when_of(path)
        if kind_of(path) == "sessions" and when:
            found.append((when.date, when.time, live(path), path))
    return [path for *_, path in sorted(found)]


def interrupted(folder: Folder, most: int = 20) -> list[str]:
    """The chats that have turns which were not read, by what the disk says of their sizes: the `most` latest of them."""
    book, found = Ledger(folder), list[str]()
    for name in trace.sessions(folder)[-10 * most :]:
        for place in archive.places(folder, f"sessions/{name[:4]}/{name}.md"):
            if os.stat(folder.absolute(place)).st_size != book.sizes.get(live(place)):
                found.append(place)
    return found[-most:]


def load(user: Folder, path: str) -> Memory | None:
    """The transcript at `path`; None where it is none that can be read."""
    try:
        data = user.read(path, LARGEST + 1)
    except FilememError:
        return None
    memory = Memory(path, data)
    return None if len(data) > LARGEST or memory.binary or memory.date is None else memory


def passages(memory: Memory) -> list[Passage]:
    """The turns of a transcript, and nothing else in it."""
    return [passage for passage in memory.passages if passage.speaker]


def speaker(memory: Memory, passage: Passage) -> str:
    """Who speaks, as a sentence has it; an assistant by whatever name it was imported under."""
    named = memory.front.get("assistant")
    if named is None and (origin := str(memory.front.get("origin", ""))):
        named = next((name for begins, name in _IMPORTED.items() if origin.startswith(begins)), None)
    machine = passage.speaker.casefold() == ASSISTANT or (named and passage.speaker == str(named))
    return ASSISTANT if machine else display(passage.speaker)


def users_turns(memory: Memory, user: str, hidden: PendingDeletion, own: OwnPatterns = NONE) -> Session:
    """What was said in a transcript of the user of that name; a turn that is `hidden` says nothing."""
    day, said = memory.date or dt.date.min, []
    for passage in passages(memory):
        text, digest = redact(passage.text, own)[0], turn_digest(memory.path, passage)
        text = "" if hidden.hides(memory.path, passage.line) else text
        said.append(SessionTurn(passage.line, speaker(memory, passage), text, passage.day or day, digest))
    return Session(live(memory.path), len(memory.data), memory, tuple(said), display(user), own=own)
