"""One conversation on disk: a dated Markdown file to which every turn is appended as it
is said."""

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress
from zoneinfo import ZoneInfo

from filemem.errors import FilememError
from filemem.store import files
from filemem.store.encodings import UTF_8
from filemem.store.facts import page
from filemem.store.folder import Folder
from filemem.store.frontmatter import quoted
from filemem.store.imports import Origins
from filemem.store.memory import Memory
from filemem.store.passages import Passage, format_turn
from filemem.store.paths import Kind, is_archived, kind_of, slug, when_of
from filemem.store.saved_over import note_turn

INTERRUPTED = "[interrupted]"


class Transcript:
    """The session file of one conversation; it is created with its first turn."""

    def __init__(self, folder: Folder, path: str = "", origin: str = "") -> None:
        self.folder = folder
        self.path = path
        self.origin = origin  # by which a program knows it again
        if origin:
            self._found()  # which takes up the session that it has

    def add(self, speaker: str, text: str, at: dt.datetime) -> int:
        """Append one turn, durably, wherever the file lies now.

        Where the person has deleted it, or it is no UTF-8 text any more, the
        conversation goes on in a new file.

        Args:
            speaker: who said it.
            text: the words.
            at: when, in the person's local time.

        Returns:
            The line on which the turn starts.
        """
        clock = f"{at:%H:%M}"
        turn = format_turn(speaker, clock, text)
        dated = format_turn(speaker, clock, text, at.date())
        with self.folder.locked():
            session = self._session()
            if session is None:
                line = self._begin(turn, text, at)
            else:
                is_same_day = last_day(session) == at.date()
                self.folder.append(self.path, turn if is_same_day else dated)
                line = len(session.lines) + 1
            note_turn(self.folder, self.path, dated)
            return line

    def _begin(self, turn: str, text: str, at: dt.datetime) -> int:
        """Create the file with its first turn, named by its text; return the line."""
        front = {"origin": quoted(self.origin)} if self.origin else {}
        name = slug(text) or "conversation"
        if self.origin:
            Origins(self.folder).begin(self.origin)
        self.path = create(self.folder, name, at, [turn], **front)
        if self.origin:
            Origins(self.folder).add(self.origin, self.path, [])
        lines = self.folder.read(self.path).count(b"\n")
        return lines - turn.count("\n") + 1

    def _session(self) -> Memory | None:
        """Return the file, once no editor is in the middle of saving it; None if there
        is none to which a turn can be added."""
        with suppress(FilememError):
            files.settle(self.folder.absolute(self.path)).close()
        memory = self._found()
        return memory if memory and memory.encoding == UTF_8 else None

    def _found(self) -> Memory | None:
        """Return the file as it is on disk, wherever it lies; None if it is gone.

        Of one with an origin that is also the file which another process has begun.
        """
        memory = self.folder.find(self.path)
        if self.origin and not memory:
            begun = Origins(self.folder).session(self.origin) or ""
            memory = self.folder.find(begun)
        if memory:
            self.path = memory.path
        return memory

    def turns(self) -> list[Passage]:
        """Return every turn so far, as the file has it now; none if it is gone."""
        memory = self._found()
        return [turn for turn in memory.passages if turn.speaker] if memory else []

    def subject(self) -> str:
        """Return what its commit is called: by its first turn."""
        for turn in self.turns():
            return f"Talk with {self.folder.person}: {turn.text}"
        return f"Talk with {self.folder.person}"


class OffTheRecord(Transcript):
    """A conversation of which nothing is kept: its turns, behind those of `before`, end
    with the process."""

    def __init__(self, folder: Folder, before: Iterable[Passage] = ()) -> None:
        super().__init__(folder)
        self._turns = [*before]

    def add(self, speaker: str, text: str, at: dt.datetime) -> int:
        """Remember one turn for the rest of the conversation."""
        self._turns.append(Passage(0, 0, speaker, f"{at:%H:%M}", text))
        return 0

    def turns(self) -> list[Passage]:
        """Return every turn so far."""
        return [*self._turns]


def last_day(session: Memory) -> dt.date | None:
    """Return the day of a session's last turn, its own if nothing was said yet."""
    for turn in reversed(session.passages):
        if turn.speaker:
            return turn.day or session.date
    return session.date


def create(
    folder: Folder, name: str, at: dt.datetime, turns: Iterable[str], **front: str
) -> str:
    """Write a session file of ready turns in one go, and return its path.

    Args:
        folder: whose it becomes.
        name: the words in its file's name.
        at: when it began.
        turns: as `format_turn` has them.
        front: further front matter, YAML values of one line.
    """
    zone = quoted(zone_name(at)) if at.tzinfo else ""
    head = {"date": f"{at:%Y-%m-%dT%H:%M:%S}", "timezone": zone, **front}
    text = page(Kind.SESSIONS, "".join(turns).rstrip("\n"), head)
    return folder.create(f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md", text)


def zone_name(at: dt.datetime) -> str:
    """Name the zone of an aware moment: `Europe/Lisbon`, else `UTC+01:00`."""
    if isinstance(at.tzinfo, ZoneInfo) and at.tzinfo.key:
        return at.tzinfo.key
    offset = f"{at:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}"


def newest(folder: Folder) -> list[str]:
    """Return the paths of all conversations: those in the archive last, and of each the
    one that began last first."""
    begun = []
    for stat in folder.files():
        when = when_of(stat.path)
        if when and kind_of(stat.path) == Kind.SESSIONS and stat.path.endswith(".md"):
            is_live = not is_archived(stat.path)
            begun.append((is_live, when, stat.changed, stat.path))
    return [path for *_, path in sorted(begun, reverse=True)]
