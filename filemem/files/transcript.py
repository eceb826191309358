"""One conversation on disk: a dated Markdown file to which every turn is appended as it is said."""

import contextlib
import datetime as dt
import os
from collections import Counter
from collections.abc import Iterable

from filemem.errors import FilememError, NotFound
from filemem.files import journal, passages, safe
from filemem.files.folder import Folder
from filemem.files.front import quoted
from filemem.files.journal import Turn, turn_key
from filemem.files.memory import Memory, encoding_of, is_archived, kind_of, live, slug, when_of
from filemem.files.passages import Passage, format_turn, needed_day

ASSISTANT = passages.ASSISTANT
INTERRUPTED = "[interrupted]"
NO_ANSWER = passages.NO_ANSWER
LOOKED_AT = 500  # turns, the last ones, that a conversation going on misses when they are gone
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
        journal.note_turn(self.folder, self.path, turn)
        if self._said is not None:
            self._said = [*self._said[-LOOKED_AT:], turn]

    def _look(self, standing: Memory) -> None:
        """Notice the turns that an editor has saved over; each is told of once."""
        if self._said is None:
            self._said = journal.noted_turns(self.folder).get(live(self.path), [])[-LOOKED_AT:]
        elif len(standing.data) == self._size:
            return
        gone = missing(standing, self._said)
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


# -- turns that an editor saved over ---------------------------------------------------------------------------------

# An editor that empties a file, waits and writes what it had loaded saves over the turns that were kept meanwhile. They are
# offered back; nothing is put back unasked. What a person has changed within a turn is no loss.


def missing(session: Memory, said: Iterable[str]) -> list[str]:
    """Those of some turns that a session has not any more, neither as they were said nor changed by a person: with the same
    speaker and clock."""
    here = Counter(map(turn_key, _turns(session)))
    gone = []
    for turn in said:
        key = _parsed(turn)
        if key and here[key] > 0:
            here[key] -= 1
        elif key:
            gone.append((key, turn))
    changed = Counter(key[:2] for key in here.elements())
    left = []
    for key, turn in gone:
        if changed[key[:2]] > 0:
            changed[key[:2]] -= 1
        else:
            left.append(turn)
    return left


def lost(folder: Folder) -> dict[str, list[str]]:
    """The turns that sessions have lost, by the path where each lies now; of one that is gone altogether, none."""
    found = {}
    for path, said in journal.noted_turns(folder).items():
        with contextlib.suppress(FilememError, OSError):
            place = folder.locate(path)
            if gone := missing(folder.memory(place), said):
                found[place] = gone
    return found


def put_back(folder: Folder, path: str) -> int:
    """Put the lost turns of a session back, each behind the one that it followed; returns how many there were."""
    with folder.locked():
        said = journal.noted_turns(folder).get(live(path), [])
        gone = missing(folder.memory(path), said)
        if gone:
            folder.edit(path, lambda data: _with(Memory(path, data), said))
    return len(gone)


def let_go(folder: Folder, path: str) -> int:
    """Offer the lost turns of a session back no more; returns how many there were."""
    gone = missing(folder.memory(path), journal.noted_turns(folder).get(live(path), []))
    journal.forget_turns(folder, path, set(map(_parsed, gone)))
    return len(gone)


def _with(session: Memory, said: list[str]) -> bytes:
    """A session's bytes with the turns that it lost, each behind the one before it."""
    gone = Counter(map(_parsed, missing(session, said)))
    here, wanted = _turns(session), list(map(_parsed, said))
    import difflib  # noqa: PLC0415  hardly ever needed, and slow to load

    blocks = difflib.SequenceMatcher(None, wanted, list(map(turn_key, here)), autojunk=False).get_matching_blocks()
    ends = {block.a + n: here[block.b + n].end_line for block in blocks for n in range(block.size)}
    lines = session.data.splitlines(keepends=True)
    at, put = here[0].line - 1 if ends else len(lines), dict[int, list[str]]()
    for number, key in enumerate(wanted):
        if number in ends:
            at = ends[number]
        elif gone[key] > 0:
            gone[key] -= 1
            put.setdefault(at, []).append(said[number])
    end = b"\r\n" if session.data.count(b"\r\n") * 2 > session.data.count(b"\n") else b"\n"
    for place in sorted(put, reverse=True):
        if place and not lines[place - 1].endswith(b"\n"):
            lines[place - 1] += end
        lines.insert(place, "".join(put[place]).encode("utf-8", "replace").replace(b"\n", end))
    return b"".join(lines)


def _turns(session: Memory) -> list[Passage]:
    return [passage for passage in session.passages if passage.speaker]


def _parsed(turn: str) -> Turn | None:
    """A turn of the record as its file has it; None for what is none."""
    return next(map(turn_key, passages.turns(turn.split("\n"))), None)
