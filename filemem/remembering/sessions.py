"""What was said, session by session, as a model reads it; and the log of what was read and what came of it.

`.filemem/consolidated.jsonl` only ever grows, so that two clones merge by union; a line is one of

    {"read": "sessions/2026/….md", "turns": ["1f0c…", …], "size": 1234}      turns of a session that need no second look
    {"wrote": "facts/2026/….md", "digest": "…", "from": [["1f0c…", "77aa…"]]}   a memory as written, of a turn and a text
    {"line": "facts/2026/….md", "digest": "…"}                               the profile's line about a memory, as written
    {"proposed": {"text": "…", "origins": [["1f0c…", "77aa…"]], …}}          a claim that waits, `because` its form was refused
    {"refused": ["1f0c…", "77aa…"]}                                          one that the person did not want

A turn is known by a digest of its words and of when its session began, so that an edit above it, or another name for its
file, changes nothing, and the same words said another day are another turn.
"""

import contextlib
import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import NotFound
from filemem.files import journal, safe
from filemem.files.folder import Folder
from filemem.files.memory import (
    Memory,
    Passage,
    kind_of,
    live,
    when_of,
)
from filemem.files.roles import Role
from filemem.text import plain

NAME = "consolidated.jsonl"
Origin = tuple[str, str]  # digests of a turn and of what was made of it
CLIPPED = 60  # tokens of what an assistant or a tool said that are read along


def digest(text: str | bytes) -> str:
    """Twelve hexadecimal digits that name these words."""
    return plain.digest(text, 12)


class ConsolidationLog:
    """The log of one user as it was when it was read; `add` writes and takes in new lines."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.read: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.written: dict[
            str, set[str]
        ] = {}  # the digests of each memory as the program has left it, by path
        self.lines: set[str] = set()
        self.made: dict[Origin, str] = {}
        self.proposed: dict[Origin, tuple[dict[str, Any], str]] = {}
        self.refused: set[Origin] = set()
        with contextlib.suppress(NotFound):
            self._take_in(safe.read(folder.bookkeeping(NAME)))

    def add(self, entries: Iterable[dict[str, Any]]) -> None:
        """Append lines, durably, in one go."""
        lines = "".join(
            json.dumps(entry, ensure_ascii=False, default=str) + "\n"
            for entry in entries
        )
        data = lines.encode("utf-8", "replace")
        with self.folder.locked():
            safe.log(self.folder.bookkeeping(NAME), data)
        self._take_in(data)

    def _take_in(self, data: bytes) -> None:
        for line in data.decode(errors="replace").split("\n"):
            with contextlib.suppress(
                ValueError, TypeError, LookupError, AttributeError, RecursionError
            ):
                self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        if "read" in entry:
            self.read.update(map(str, entry["turns"]))
            self.sizes[str(entry["read"])] = int(entry["size"])
        elif "wrote" in entry:
            path, said = str(entry["wrote"]), str(entry["digest"])
            self.written[path] = (
                {said} | self.written.get(path, set()) if said else set()
            )
            self.made.update(
                ((str(turn), str(said)), str(entry["wrote"]))
                for turn, said in entry["from"]
            )
        elif "line" in entry:
            self.lines.add(str(entry["digest"]))
        elif "proposed" in entry:
            turn, said = entry["proposed"]["origins"][0]
            self.proposed[str(turn), str(said)] = (
                entry["proposed"],
                str(entry.get("because", "")),
            )
        elif "refused" in entry:
            turn, said = entry["refused"]
            self.refused.add((str(turn), str(said)))

    def untouched(self, path: str, data: bytes) -> bool:
        """Is the memory exactly as the program left it once?"""
        return digest(data) in self.written.get(live(path), ())


class SessionTurn(NamedTuple):
    """One turn, as it stands in the file; `digest` names its words."""

    line: int
    speaker: str
    text: str
    day: dt.date
    digest: str
    role: Role

    @property
    def is_foreign(self) -> bool:
        """Tell whether this is an assistant's, a tool's or a document's, not a person's."""
        return self.role is not Role.PERSON

    @property
    def shown(self) -> str:
        """What a model reads of it: a person's words whole, what a machine said clipped."""
        return plain.clip_tokens(self.text, CLIPPED) if self.is_foreign else self.text


class Session(NamedTuple):
    """One conversation; `path` is the live one even where it lies in the archive, `unread` the places of turns that were not read
    yet, `size` the file's in bytes, 0 where further unread turns follow. `user` is the one whose memory this is, by name."""

    path: str
    size: int
    memory: Memory
    turns: tuple[SessionTurn, ...]
    unread: tuple[int, ...]
    user: str

    @property
    def imported(self) -> bool:
        """Does it come from another program's export, or from notes? What a program adds itself is the person's talk with it."""
        return not str(self.memory.front.get("origin", "added:")).startswith("added:")

    @property
    def waiting(self) -> list[int]:
        """The unread turns that have words in them."""
        return [
            place for place in self.unread if re.search(r"\w", self.turns[place].text)
        ]

    def parted(self, place: int) -> tuple["Session", "Session"]:
        """It with the unread turns before a place, and with the rest of them."""
        before = tuple(one for one in self.unread if one < place)
        return self._replace(unread=before, size=0), self._replace(
            unread=self.unread[len(before) :]
        )


def unread(
    folder: Folder, log: ConsolidationLog, besides: str = ""
) -> Iterator[Session]:
    """The sessions that have turns which were not read, archived ones among them, by date and time; `besides` is one left out."""
    found = []
    for stat in folder.files():
        when, path = when_of(stat.path), live(stat.path)
        if (
            kind_of(path) == "sessions"
            and when
            and path != besides
            and log.sizes.get(path) != stat.size
        ):
            found.append((when.date, when.time, path, stat.path))
    for *_, place in sorted(found):
        session = _read(folder, place, log)
        if session and session.unread:
            yield session


def waiting(folder: Folder, besides: str = "") -> tuple[int, int]:
    """How many conversations have turns that no model has read, and the tokens of these; `besides` is one left out."""
    found = [
        one for one in unread(folder, ConsolidationLog(folder), besides) if one.waiting
    ]
    return len(found), sum(
        plain.count_tokens(one.turns[place].shown)
        for one in found
        for place in one.waiting
    )


def _read(folder: Folder, path: str, log: ConsolidationLog) -> Session | None:
    """A session; None where the transcript is none that can be read. A turn that is held back says nothing."""
    memory = folder.find(path)
    if memory is None or memory.binary:
        return None
    hidden, when = journal.pending_deletions(folder), when_of(path)
    begun, said = f"{when.date} {when.time}\0" if when else "", list[SessionTurn]()
    for passage in (one for one in memory.passages if one.speaker):
        text = "" if hidden.hides(memory.path, passage.line) else passage.text
        named = digest(f"{begun}{passage.speaker}\0{passage.text}")
        day = passage.day or memory.date or dt.date.min
        said.append(
            SessionTurn(
                passage.line,
                speaker(memory, passage),
                text,
                day,
                named,
                memory.role(passage.speaker),
            )
        )
    places = tuple(
        place for place, one in enumerate(said) if one.digest not in log.read
    )
    return Session(
        live(path), len(memory.data), memory, tuple(said), places, display(folder.name)
    )


def speaker(memory: Memory, passage: Passage) -> str:
    """Name who speaks, as a sentence has it."""
    role = memory.role(passage.speaker)
    return display(passage.speaker) if role is Role.PERSON else role.value


def display(name: str) -> str:
    """A user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name
