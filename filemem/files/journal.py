"""All bookkeeping that cannot be rebuilt: logs in `.filemem/`, a line for each entry, to which the program only adds.

Two clones merge them by union. Reading is bounded; a line that a kill has torn, or somebody has spoilt, says nothing, and hides
no other. What lies beside the memories and never in them: recalls, what is held back until it is deleted, what was imported,
and summaries of conversations, which a model wrote.
"""

import contextlib
import datetime as dt
import json
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError, NotFound, Refused
from filemem.files import safe
from filemem.files.folder import Folder
from filemem.files.memory import Memory, live
from filemem.files.passages import Passage, turns
from filemem.files.safe import Place
from filemem.text.plain import digest

# -- lines -----------------------------------------------------------------------------------------------------------


def line(value: Any) -> bytes:
    """A JSON value as a line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def parsed(data: bytes) -> Iterator[Any]:
    """The JSON values of the lines in these bytes."""
    for text in data.decode(errors="replace").split("\n"):
        with contextlib.suppress(ValueError, RecursionError):
            yield json.loads(text)


def values(place: str) -> Iterator[Any]:
    """The JSON values of a log's lines; none where there is no log that may be read. Raises OSError where the system fails:
    what was not read must not be rewritten.
    """
    data = b""
    with contextlib.suppress(FilememError):
        data = safe.read(place)
    yield from parsed(data)


def _lines(folder: Folder, name: str) -> list[bytes]:
    """The lines of a log, without their ends; none where there is none. Raises FilememError where it cannot be read."""
    with contextlib.suppress(NotFound):
        return safe.read(folder.bookkeeping(name)).removesuffix(b"\n").split(b"\n")
    return []


def rewrite(place: str, entries: Iterable[Any]) -> None:
    """Let a log have just these entries, durably; without any there is none."""
    if lines := b"".join(map(line, entries)):
        safe.write(place, lines)
    elif safe.exists(place):
        safe.delete(place)


# -- recalls ---------------------------------------------------------------------------------------------------------

# One line a recall: `2026-11-20T09:31<TAB>open<TAB>facts/2026/2026-11-20-tea.md`. A job that puts a memory into the archive adds
# a line as well (`archived`): what is recalled after it comes back.
RECALLS = "recalls.log"
OPENED, CITED, RESTORED = "open", "cited", "restored"  # recalls
ARCHIVED = "archived"  # no recall


class RecallHistory(list[dt.date]):
    """What the log says of one memory: the days of its recalls, some of them twice; when it was recalled last and archived
    last (`2026-11-20T09:31`, empty for never); whether it was recalled since.

    A list, so that reading a million lines touches one object for each, not two.
    """

    __slots__ = ("archived", "last", "since")

    def __init__(self) -> None:
        super().__init__()
        self.last = b""
        self.archived = b""
        self.since = False


def note_recall(folder: Folder, path: str, how: str, at: dt.datetime) -> None:
    """Append one recall (`how` is `open` or `cited`); a log that cannot be written never spoils a reading."""
    with contextlib.suppress(FilememError, OSError):
        note_recalls(folder, [path], how, at, wait=1.0)


def note_recalls(folder: Folder, paths: Iterable[str], how: str, at: dt.datetime, wait: float = 10.0) -> None:
    """Append a line for each of some memories, in one go; raises FilememError or OSError where that cannot be done."""
    lines = "".join(f"{at:%Y-%m-%dT%H:%M}\t{how}\t{live(path)}\n" for path in paths)
    with folder.locked(wait):
        # A kill may cut a path off: it then names no memory, and the job that wrote it is done again.
        safe.log(folder.bookkeeping(RECALLS), lines.encode("utf-8", "replace"))


def recalled(folder: Folder) -> dict[str, RecallHistory]:
    """What the log says, by the memory's live path. Reads line by line: a log of a million lines takes a second."""
    found: dict[bytes, RecallHistory] = {}
    known: dict[bytes, dt.date] = {}  # one object for each day, however often it is named
    for line in _lines(folder, RECALLS):
        try:
            at, how, path = line.split(b"\t")
            day = known.get(at[:10]) or known.setdefault(at[:10], dt.date.fromisoformat(at[:10].decode()))
        except ValueError:
            continue
        trail = found.get(path) or found.setdefault(path, RecallHistory())
        if how == ARCHIVED.encode():
            trail.archived = max(trail.archived, at)
            trail.since = trail.last > trail.archived
            continue
        trail.append(day)
        trail.last = max(trail.last, at)
        trail.since |= bool(trail.archived) and at >= trail.archived
    return {path.decode(errors="replace"): trail for path, trail in found.items()}


def fold_recalls(folder: Folder) -> int:
    """Keep one line for each day on which a memory was recalled, the last; returns the number of lines that went.

    Retention asks for days alone, so it is what it was; and for what was recalled since it was archived, so the last
    `archived` line of each memory stays as well.
    """
    with folder.locked():
        lines = _lines(folder, RECALLS)
        last: dict[tuple[bytes, bytes], int] = {}
        for number, line in enumerate(lines):
            at, _, rest = line.partition(b"\t")
            how, _, path = rest.partition(b"\t")
            key = (path, how if how == ARCHIVED.encode() else at[:10])
            if key not in last or lines[last[key]][:16] <= at:
                last[key] = number
        if len(last) < len(lines):
            kept = b"".join(lines[number] + b"\n" for number in sorted(last.values()))
            safe.write(folder.bookkeeping(RECALLS), kept)
    return len(lines) - len(last)


# -- the last turns that were kept -----------------------------------------------------------------------------------

# This machine knows them beside their files, so that it notices where an editor saves over them what it had loaded before.
SAID = "said.jsonl"  # as stores have it
MOST_SAID = 1_000_000  # bytes; where there are more, the older half goes

Turn = tuple[str, str, str]  # speaker, clock, words


def turn_key(passage: Passage) -> Turn:
    """What one turn is known by, however its lines are broken."""
    return passage.speaker, passage.time, " ".join(passage.text.split())


def note_turn(folder: Folder, session: str, turn: str) -> None:
    """Note a turn that was just kept; where that fails the turn is kept all the same. Called under the user's lock."""
    place = folder.bookkeeping(SAID)
    with contextlib.suppress(OSError, FilememError):
        if safe.log(place, line({"session": live(session), "turn": turn}), durably=False) > MOST_SAID:
            newest = safe.read(place)[-MOST_SAID // 2 :]
            safe.write(place, newest.partition(b"\n")[2])


def noted_turns(folder: Folder) -> dict[str, list[str]]:
    """The turns by the live path of their session, in the order in which they were said."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(OSError):
        for entry in values(folder.bookkeeping(SAID)):
            with contextlib.suppress(TypeError, KeyError):
                found.setdefault(str(entry["session"]), []).append(str(entry["turn"]))
    return found


def forget_turns(folder: Folder, session: str, gone: Container[Turn | None]) -> None:
    """Take turns of a session out of the record."""
    with folder.locked():
        found = noted_turns(folder)
        kept = [
            {"session": name, "turn": turn}
            for name, said in found.items()
            for turn in said
            if name != live(session) or not any(turn_key(one) in gone for one in turns(turn.split("\n")))
        ]
        if len(kept) < sum(map(len, found.values())):
            rewrite(folder.bookkeeping(SAID), kept)


# -- what waits for its deletion -------------------------------------------------------------------------------------

# One line a place: `2026-11-20T09:31<TAB>withheld<TAB>by<TAB>place`, both as `path:line`, or the path alone for a whole memory;
# `by` is the turn that asked. A line `released` takes back what one turn withheld. A forgetting deletes their lines here too.
PENDING = "withheld.log"  # as stores have it
HELD, RELEASED = "withheld", "released"
MARK = "withheld"  # the key of front matter that says so in the memory itself


class PendingDeletion:
    """What is withheld: places by the turn that asked for it."""

    def __init__(self, places: dict[str, list[str]]) -> None:
        self.places = places
        self._all = {place for found in places.values() for place in found}

    def __bool__(self) -> bool:
        """Is anything withheld?"""
        return bool(self._all)

    def hides(self, path: str, line: int) -> bool:
        """Is the passage that begins at a line of a memory withheld?"""
        path = live(path)
        return bool(self._all) and (path in self._all or f"{path}:{line}" in self._all)


def pending_deletions(folder: Folder) -> PendingDeletion:
    """What is withheld now; a note that cannot be read withholds nothing."""
    places: dict[str, list[str]] = {}
    lines = list[bytes]()
    with contextlib.suppress(FilememError, OSError):
        lines = _lines(folder, PENDING)
    for line in lines:
        how, by, place = [*line.decode(errors="replace").split("\t", 3), "", "", ""][1:4]
        if how == HELD and place:
            places.setdefault(by, []).append(place)
        elif how == RELEASED:
            places.pop(by, None)
    return PendingDeletion(places)


def hold_back(folder: Folder, by: str, places: Iterable[str], at: dt.datetime) -> None:
    """Withhold places because a turn asked for it; of turns among them no copy stays in the bookkeeping."""
    wanted = list(map(live, places))
    _add_pending(folder, (f"{at:%Y-%m-%dT%H:%M}\t{HELD}\t{by}\t{place}\n" for place in wanted))
    lines = dict[str, set[str]]()
    for place in wanted:
        path, _, number = place.rpartition(":")
        lines.setdefault(path, set()).add(number)
    for path, numbers in lines.items():
        with contextlib.suppress(FilememError):
            passages = folder.memory(folder.locate(path)).passages if path else []
            forget_turns(folder, path, {turn_key(one) for one in passages if str(one.line) in numbers})


def release(folder: Folder, paths: Iterable[str], at: dt.datetime) -> None:
    """Take back whatever withheld one of these memories, with all else that the same turn withheld."""
    wanted = set(map(live, paths))
    found = [by for by, places in pending_deletions(folder).places.items() if wanted.intersection(places)]
    _add_pending(folder, (f"{at:%Y-%m-%dT%H:%M}\t{RELEASED}\t{by}\t\n" for by in found))


def _add_pending(folder: Folder, lines: Iterable[str]) -> None:
    data = "".join(lines).encode("utf-8", "replace")
    if data:
        with folder.locked():
            safe.log(folder.bookkeeping(PENDING), data)


# -- what was imported -----------------------------------------------------------------------------------------------

# A line for each time that something was taken: the origin (`chatgpt:<id>`), the memory that it went to, and its parts: ids of
# turns, or the digest of a note. A session is known by the `origin` in its front matter as well, so losing the record doubles
# nothing.
IMPORTS = "imports.jsonl"
HEAD = 8192  # bytes of a session in which its front matter is looked for


class Imported(NamedTuple):
    """What came from one origin: the path that it was last given (empty: forgotten), and its parts in their order."""

    path: str
    parts: list[str]


class Origins:
    """Where what one user imported came from, for one import: sessions are looked for once."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._imported: dict[str, Imported] = {}
        self._read = 0  # the bytes of the record, as it was read last or added to
        self._sessions: dict[bool, dict[str, str]] = {}

    def _record(self) -> dict[str, Imported]:
        """What is recorded, by origin; read again where another process has imported, too."""
        where = self.folder.bookkeeping(IMPORTS)
        size = safe.status(where).st_size if safe.exists(where) else 0
        if size != self._read:
            self._imported, self._read = {}, size
            for entry in values(where):
                with contextlib.suppress(KeyError, TypeError):
                    self._note(entry["origin"], str(entry["path"]), list(map(str, entry["parts"])))
        return self._imported

    def _note(self, origin: str, path: str, parts: list[str]) -> None:
        before = self._imported.get(origin, Imported("", []))
        self._imported[origin] = Imported(path, [*before.parts, *parts])

    def of(self, origin: str) -> Imported | None:
        """What has been imported from `origin`; None where nothing has."""
        return self._record().get(origin)

    def add(self, origin: str, path: str, parts: list[str]) -> None:
        """Record that `parts` of `origin` are in the memory at `path`; the caller holds the user's lock.

        Not fsynced line by line: what a power cut takes from the record is found again in the sessions themselves.
        """
        self._record()
        self._note(origin, path, parts)
        entry = {"origin": origin, "path": path, "parts": parts}
        self._read = safe.log(self.folder.bookkeeping(IMPORTS), line(entry), durably=False)

    def place(self, path: str) -> str | None:
        """Where the memory `path` lies now, live or archived; None where it is gone."""
        return next(self.folder.standing(path), None)

    def session(self, origin: str) -> str | None:
        """Where the session from `origin` lies now, moved or renamed by hand as it may be; None where it is gone.

        An origin that is not recorded is looked for only in sessions that are not either, so that one more conversation
        does not read all that were taken before it.
        """
        recorded = self._record()
        imported = recorded.get(origin)
        path = self.place(imported.path) if imported else None
        if path and self._origin(path) in (origin, ""):
            return path
        everywhere = imported is not None
        if everywhere not in self._sessions:
            known = set[str]() if everywhere else {one.path for one in recorded.values()}
            paths = (
                path for path in self.folder.paths() if "sessions" in path.split("/")[:2] and live(path) not in known
            )
            self._sessions[everywhere] = {found: path for path in paths if (found := self._origin(path))}
        return self._sessions[everywhere].get(origin)

    def _origin(self, path: str) -> str:
        """The origin in a session's front matter, or nothing."""
        with contextlib.suppress(NotFound, Refused):
            head = self.folder.read(path, HEAD)
            return str(Memory(path, head).front.get("origin", "")) if b"origin" in head else ""
        return ""


# -- hooks of other programs -----------------------------------------------------------------------------------------

HOOKS = "hooks.jsonl"  # those that failed when they were called last, and why


def note_hook(folder: Folder, event: str, error: str) -> None:
    """Note how a hook ended, `error` being empty where it did what it should."""
    before = failed_hooks(folder)
    if folder.exists() and before.get(event, "") != error:
        with folder.locked():
            now = {**failed_hooks(folder), event: error}
            rewrite(folder.bookkeeping(HOOKS), [{"event": name, "error": text} for name, text in now.items() if text])


def failed_hooks(folder: Folder) -> dict[str, str]:
    """The hooks that failed when they were called last, and why."""
    found = dict[str, str]()
    with contextlib.suppress(OSError, FilememError):
        for entry in values(folder.bookkeeping(HOOKS)):
            with contextlib.suppress(TypeError, KeyError):
                found[str(entry["event"])] = str(entry["error"])
    return found


# -- the running summary of a conversation ---------------------------------------------------------------------------

# A model wrote it of the first turns, whose number and digest stand beside it; where they have changed since, it is of no use. It
# goes at any forgetting.
RUNNING = "running"


class RunningSummary(NamedTuple):
    """What the first `turns` of a conversation came to."""

    text: str
    turns: int


NOTHING = RunningSummary("", 0)


def running_summary(folder: Folder, session: str, said: Sequence[Passage]) -> RunningSummary:
    """The summary of a session of which these are the turns; NOTHING where there is none of its first ones."""
    with contextlib.suppress(FilememError, ValueError, TypeError, KeyError, AttributeError):
        kept = json.loads(safe.read(_kept_at(folder, session)))
        found = RunningSummary(str(kept["summary"]), int(kept["turns"]))
        if 0 < found.turns <= len(said) and kept["digest"] == _digest_of(said[: found.turns]):
            return found
    return NOTHING


def keep_summary(folder: Folder, session: str, said: Sequence[Passage], text: str) -> None:
    """Keep the summary of the first turns; one that cannot be written never stops a conversation."""
    with contextlib.suppress(FilememError, OSError):
        safe.make_folder(folder.bookkeeping(RUNNING))
        safe.write(_kept_at(folder, session), line({"turns": len(said), "digest": _digest_of(said), "summary": text}))


def _kept_at(folder: Folder, session: str) -> Place:
    return folder.bookkeeping(f"{RUNNING}/{os.path.splitext(os.path.basename(session))[0]}.json")


def _digest_of(said: Sequence[Passage]) -> str:
    return digest("\0".join(f"{turn.speaker}\0{turn.text}" for turn in said), 24)
