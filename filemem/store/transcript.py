"""One conversation on disk: a dated Markdown file to which every turn is appended as it is said."""

import contextlib
import datetime as dt
import os
from collections.abc import Iterable
from zoneinfo import ZoneInfo

from filemem.errors import FilememError, NotFound
from filemem.store import files, pending, saved_over
from filemem.store.encodings import encoding_of
from filemem.store.facts import page
from filemem.store.folder import Folder
from filemem.store.frontmatter import quoted
from filemem.store.memory import Memory
from filemem.store.passages import Passage, format_turn
from filemem.store.paths import is_archived, kind_of, slug, when_of

INTERRUPTED = "[interrupted]"


class Transcript:
    """The session file of one conversation; it is created with its first turn."""

    def __init__(self, folder: Folder, path: str = "") -> None:
        self.folder = folder
        self.path = path

    def add(self, speaker: str, text: str, at: dt.datetime) -> int:
        """Append one turn, durably, wherever the file lies now; returns the line on which it starts. `at` is the person's local
        time. Where they have deleted it, or it is no UTF-8 text any more, the conversation goes on in a new file."""
        clock = f"{at:%H:%M}"
        with self.folder.locked():
            standing = self._standing()
            other_day = standing and last_day(standing) != at.date()
            turn = format_turn(speaker, clock, text, at.date() if other_day else None)
            if standing is None:
                self.path = create(
                    self.folder, slug(text) or "conversation", at, [turn]
                )
                lines = self.folder.read(self.path).count(b"\n") - turn.count("\n")
            else:
                self.folder.append(self.path, turn)
                lines = len(standing.lines)
            saved_over.note_turn(
                self.folder, self.path, format_turn(speaker, clock, text, at.date())
            )
            return lines + 1

    def _standing(self) -> Memory | None:
        """The file, once no editor is in the middle of saving it; None where there is none to which a turn can be added."""
        try:
            with contextlib.suppress(NotFound):
                files.settle(self.folder.absolute(self.path)).close()
        except FilememError:
            return None
        memory = self._found()
        return (
            memory
            if memory and not memory.binary and encoding_of(memory.data) == "utf-8"
            else None
        )

    def _found(self) -> Memory | None:
        """The file as it is on disk, wherever it lies now; None where it is gone or cannot be read."""
        if memory := self.folder.find(self.path):
            self.path = memory.path
        return memory

    def turns(self) -> list[Passage]:
        """Every turn so far, as the file has it now, wherever it lies; none where it has gone."""
        memory = self._found()
        return [turn for turn in memory.passages if turn.speaker] if memory else []

    def subject(self) -> str:
        """What its commit is called: by the first turn that is not kept back."""
        turns, hidden = self.turns(), pending.pending_deletions(self.folder)
        said = next(
            (turn.text for turn in turns if not hidden.hides(self.path, turn.line)), ""
        )
        return f"Talk with {self.folder.name}{': ' * bool(said)}{said}"


class OffTheRecord(Transcript):
    """A conversation of which nothing is kept: its turns, behind those of `before`, end with the process."""

    def __init__(self, folder: Folder, before: Iterable[Passage] = ()) -> None:
        super().__init__(folder)
        self._turns = [*before]

    def add(self, speaker: str, text: str, at: dt.datetime) -> int:
        """Remember one turn for the rest of the conversation."""
        self._turns.append(Passage(0, 0, speaker, f"{at:%H:%M}", text))
        return 0

    def turns(self) -> list[Passage]:
        """Every turn so far."""
        return [*self._turns]


def last_day(session: Memory) -> dt.date | None:
    """The day of a session's last turn, the file's own where nothing was said yet."""
    return (
        next((turn.day for turn in reversed(session.passages) if turn.speaker), None)
        or session.date
    )


def create(
    folder: Folder, name: str, at: dt.datetime, turns: Iterable[str], **front: str
) -> str:
    """Write a session file of ready turns in one go, with further front matter; returns its path."""
    zone = quoted(zone_name(at)) if at.tzinfo else ""
    text = page(
        "".join(turns).rstrip("\n"),
        {"date": f"{at:%Y-%m-%dT%H:%M:%S}", "timezone": zone, **front},
    )
    return folder.create(f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md", text)


def zone_name(at: dt.datetime) -> str:
    """Name the zone of an aware moment: `Europe/Lisbon` where that is known.

    A moment that has no more than an offset, as this machine's time, has the machine's
    zone if that has the same offset then; else the name is `UTC+01:00`.
    """
    if isinstance(at.tzinfo, ZoneInfo) and at.tzinfo.key:
        return at.tzinfo.key
    is_local = at.utcoffset() == at.astimezone().utcoffset()
    machine = os.environ.get("TZ", "").lstrip(":")
    if "/" not in machine:
        machine = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    if is_local and "/" in machine and machine[0] != "/":
        return machine
    offset = f"{at:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}"


def newest(folder: Folder) -> list[str]:
    """The paths of all conversations, those in the archive last, and of each the one that began last first."""
    begun = []
    for stat in folder.files():
        if (
            kind_of(stat.path) == "sessions"
            and stat.path.endswith(".md")
            and (when := when_of(stat.path))
        ):
            begun.append(
                (
                    not is_archived(stat.path),
                    when.date,
                    when.time,
                    stat.changed,
                    stat.path,
                )
            )
    return [path for *_, path in sorted(begun, reverse=True)]
