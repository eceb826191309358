"""One conversation on disk: a dated Markdown file to which every turn is appended as it is said."""

import datetime as dt
import os
from collections.abc import Iterable

from filemem.errors import FilememError, NotFound
from filemem.files import passages, safe, saved_over
from filemem.files.folder import Folder
from filemem.files.front import quoted
from filemem.files.memory import Memory, encoding_of, is_archived, kind_of, live, slug, when_of
from filemem.files.passages import Passage, format_turn, needed_day

ASSISTANT = passages.ASSISTANT
INTERRUPTED = "[interrupted]"
NO_ANSWER = "[no answer]"  # stands for an answer that never came, so that no session holds a question alone
EVENTS = "events"  # the name of a day's file of what was told without talk


class Transcript:
    """The session file of one conversation; it is created with its first turn."""

    def __init__(self, folder: Folder, path: str = "") -> None:
        self.folder = folder
        self.path = path
        self.lost: list[str] = []  # turns that were kept and that the file was found without, for whom it may concern
        self._said: list[str] | None = None  # what this machine knows to have been kept, once it was asked for
        self._size = 0  # of the file's bytes behind the last turn that was kept here

    def add(self, speaker: str, text: str, at: dt.datetime) -> int:
        """Append one turn, durably; returns the line on which it starts. `at` is the person's local time.

        Where a person has archived the file meanwhile, the turn goes there. Where they have deleted it, or it is no
        UTF-8 text any more, the conversation goes on in a new file.
        """
        clock = f"{at:%H:%M}"
        with self.folder.locked():
            standing = self._standing()
            if standing is None:
                turn = format_turn(speaker, clock, text)
                self.path = create(self.folder, slug(first_words(text)) or "conversation", at, [turn])
                self._note(turn)
                return self.folder.read(self.path).count(b"\n") - turn.count("\n") + 1
            before = standing.data
            self._look(standing)
            turn = format_turn(speaker, clock, text, needed_day(at, *last_said(standing)))
            self.folder.append(self.path, turn)
            self._note(turn)
            self._size = len(before) + len(turn.encode("utf-8", "replace"))
            return before.count(b"\n") + (1 if before.endswith(b"\n") or not before else 2)

    def _note(self, turn: str) -> None:
        saved_over.note(self.folder, self.path, turn)
        if self._said is not None:
            self._said = [*self._said[-saved_over.LOOKED_AT :], turn]

    def _look(self, standing: Memory) -> None:
        """Notice the turns that an editor has saved over; each is told of once."""
        if self._said is None:
            self._said = saved_over.kept(self.folder).get(live(self.path), [])[-saved_over.LOOKED_AT :]
        elif len(standing.data) == self._size:
            return
        gone = saved_over.missing(standing, self._said)
        self._said = [turn for turn in self._said if turn not in gone]
        self.lost += gone

    def _standing(self) -> Memory | None:
        """The file as it is on disk, wherever it lies now; None where there is none to which a turn can be added."""
        try:
            safe.wait_for_editor(self.folder.absolute(self.path))
            self.path = self.folder.locate(self.path)
            memory = self.folder.memory(self.path)
        except FilememError:
            return None
        return None if memory.binary or encoding_of(memory.data) != "utf-8" else memory

    def turns(self) -> list[Passage]:
        """Every turn so far, as the file has it now; none where it has gone."""
        try:
            return [p for p in self.folder.memory(self.path).passages if p.speaker] if self.path else []
        except NotFound:
            return []


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


def last_said(session: Memory) -> tuple[dt.date | None, str]:
    """The day of a session's last turn and its clock, where it has one; the file's own date where nothing was said yet."""
    last = next((passage for passage in reversed(session.passages) if passage.speaker), None)
    return (last.day or session.date, last.time) if last else (session.date, "")


def create(folder: Folder, name: str, at: dt.datetime, turns: Iterable[str], extra: str = "") -> str:
    """Write a session file of ready turns in one go; returns its path. `extra` is further front matter lines."""
    zone = f"timezone: {quoted(zone_name(at))}\n" if at.tzinfo else ""
    front = f"---\ndate: {at:%Y-%m-%dT%H:%M:%S}\n{zone}{extra}---\n\n"
    return folder.create(f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-{name}.md", front + "".join(turns))


def newest(folder: Folder) -> list[str]:
    """The paths of all conversations, those in the archive last, and of each the one that began last first."""
    begun = []
    for stat in folder.files():
        when = when_of(stat.path)
        if when and kind_of(stat.path) == "sessions" and stat.path.endswith(".md"):
            if not when.time and stat.path.endswith(f"-{EVENTS}.md"):
                continue
            begun.append((not is_archived(stat.path), when.date, when.time, stat.changed, stat.path))
    return [path for *_, path in sorted(begun, reverse=True)]


def latest(folder: Folder) -> Transcript:
    """The live session that began last; raises NotFound where there is none."""
    path = next(iter(newest(folder)), "archive/")
    if is_archived(path):
        raise NotFound(f"{folder.name} has no session to resume; start one with: filemem chat.")
    return Transcript(folder, path)


def first_words(text: str) -> str:
    """What names the conversation: the beginning of its first message, a greeting aside."""
    return " ".join(text.split()[:12])


def zone_name(at: dt.datetime) -> str:
    """The zone of an aware time as a person knows it: `Europe/Lisbon` where the system tells, else `UTC+01:00`."""
    name = os.environ.get("TZ", "").lstrip(":") or os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    offset = f"{at:%z}"
    return name if "/" in name and name[0] != "/" else f"UTC{offset[:3]}:{offset[3:5]}"
