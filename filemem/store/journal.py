"""All bookkeeping that cannot be rebuilt: logs in `.filemem/`, a line for each entry, to which the program only adds.

Two clones merge them by union. Reading is bounded; a line that is torn by a kill, or spoilt, says nothing, and hides no other.
"""

import contextlib
import dataclasses
import datetime as dt
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.store import safe, sections
from filemem.store.folder import Folder, Progress, no_progress
from filemem.store.memory import Memory, archived, live

OPENED, CITED, RESTORED = "open", "cited", "restored"  # recalls
ARCHIVED = "archived"  # no recall
MINUTE = "%Y-%m-%dT%H:%M"  # with which a line begins
MARK = "withheld"  # of what waits for its deletion


def line(value: Any) -> bytes:
    """A JSON value as a line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def values(place: str) -> Iterator[Any]:
    """The JSON values of a log's lines; none where there is no log that may be read. Raises OSError where the system fails, as
    what was not read must not be rewritten."""
    data = b""
    with contextlib.suppress(FilememError):
        data = safe.read(place)
    for text in data.decode(errors="replace").split("\n"):
        with contextlib.suppress(ValueError, RecursionError):
            yield json.loads(text)


def rows(folder: Folder, name: str) -> Iterator[list[str]]:
    """The fields of a log's lines, which tabs separate. Raises FilememError where it cannot be read."""
    with contextlib.suppress(NotFound):
        for text in (
            safe.read(folder.bookkeeping(name)).decode(errors="replace").split("\n")
        ):
            yield text.split("\t")


def add_rows(
    folder: Folder, name: str, entries: Iterable[Iterable[str]], wait: float = 10.0
) -> None:
    """Add such lines in one write."""
    if text := "".join("\t".join(entry) + "\n" for entry in entries):
        with folder.locked(wait):
            safe.log(folder.bookkeeping(name), text.encode("utf-8", "replace"))


# -- recalls, as `2026-11-20T09:31<TAB>open<TAB>facts/2026/2026-11-20-tea.md` ---------------------------------------------

RECALLS = "recalls.log"


class RecallHistory(list[dt.date]):
    """The days on which one memory was recalled, some of them twice; was it recalled `since` it was archived last?"""

    since = False
    last = archived = ""


def note_recall(folder: Folder, path: str, how: str, at: dt.datetime) -> None:
    """Append one recall (`how` is `open` or `cited`); a log that cannot be written never spoils a reading."""
    with contextlib.suppress(FilememError, OSError):
        note_recalls(folder, [path], how, at, wait=1.0)


def note_recalls(
    folder: Folder, paths: Iterable[str], how: str, at: dt.datetime, wait: float = 10.0
) -> None:
    """Append a line for each of some memories, in one go; raises FilememError or OSError where that cannot be done."""
    add_rows(
        folder, RECALLS, ((f"{at:{MINUTE}}", how, live(path)) for path in paths), wait
    )


def recalled(folder: Folder) -> dict[str, RecallHistory]:
    """What the log says, by the memory's live path. A log of a million lines takes a second."""
    found: dict[str, RecallHistory] = {}
    known: dict[str, dt.date] = {}  # one object for each day, however often it is named
    for at, how, path in (row[:3] for row in rows(folder, RECALLS) if len(row) > 2):
        try:
            day = known.get(at[:10]) or known.setdefault(
                at[:10], dt.date.fromisoformat(at[:10])
            )
        except ValueError:
            continue
        trail = found.get(path) or found.setdefault(path, RecallHistory())
        if how == ARCHIVED:
            trail.archived = max(trail.archived, at)
            trail.since = trail.last > trail.archived
        else:
            trail.append(day)
            trail.last = max(trail.last, at)
            trail.since |= "" < trail.archived <= at
    return found


# -- the last turns that were kept, beside their files: an editor may save over them what it had loaded before ------------------

SAID = "said.jsonl"  # as stores have it
MOST_SAID = 1_000_000  # bytes; where there are more, the older half goes


def note_turn(folder: Folder, session: str, turn: str) -> None:
    """Note a turn that was just kept; where that fails the turn is kept all the same. Called under the user's lock."""
    place = folder.bookkeeping(SAID)
    with contextlib.suppress(OSError, FilememError):
        if (
            safe.log(
                place, line({"session": live(session), "turn": turn}), durably=False
            )
            > MOST_SAID
        ):
            safe.write(place, safe.read(place)[-MOST_SAID // 2 :].partition(b"\n")[2])


def noted_turns(folder: Folder) -> dict[str, list[str]]:
    """The turns by the live path of their session, in the order in which they were said."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(FilememError, OSError):
        for entry in values(folder.bookkeeping(SAID)):
            with contextlib.suppress(TypeError, KeyError):
                found.setdefault(str(entry["session"]), []).append(str(entry["turn"]))
    return found


# -- what waits for its deletion -------------------------------------------------------

# Earlier versions hid what a chat was asked to forget, and noted it here: a line a place,
# `2026-11-20T09:31<TAB>withheld<TAB>by<TAB>place`, both as `path:line`, or the path alone
# for a whole memory; `by` is the turn that asked. A line `released` takes back what one
# turn withheld. It stays hidden until it is deleted, or restored; nothing is added.
PENDING = "withheld.log"


class PendingDeletion(frozenset[str]):
    """The places that wait for their deletion, and are hidden until then."""

    def hides(self, path: str, line: int) -> bool:
        """Tell whether the passage that begins at a line of a memory is hidden."""
        return bool(self) and (live(path) in self or f"{live(path)}:{line}" in self)


def pending_places(folder: Folder) -> dict[str, list[str]]:
    """Return what waits for its deletion, by the turn that asked for it."""
    found: dict[str, list[str]] = {}
    with contextlib.suppress(FilememError, OSError):
        for row in rows(folder, PENDING):
            if len(row) > 3 and row[1] == MARK and row[3]:
                found.setdefault(row[2], []).append(row[3])
            elif len(row) > 2:
                found.pop(row[2], None)
    return found


def pending_deletions(folder: Folder) -> PendingDeletion:
    """Return what waits for its deletion, with the lines of summaries that retell it."""
    held = PendingDeletion(
        place for places in pending_places(folder).values() for place in places
    )
    if not held:
        return held
    hidden = set(held)
    for path in {one.summary for one in compacted(folder).values()}:
        memory = folder.find(path)
        for number, text in enumerate(memory.lines if memory else (), 1):
            told = sections.parse(text, path, number)
            if told and any(held.hides(told.path, line) for line in told.lines):
                hidden.add(f"{path}:{number}")
    return PendingDeletion(hidden)


def settle_pending(folder: Folder, places: Iterable[str]) -> list[str]:
    """Take from the log what the turns withheld that withheld one of these places.

    That is done once it is deleted, or a person wants to see it again. Returns all
    places that are not hidden any more.
    """
    wanted = set(map(live, places))
    settled = []
    asked = set()
    for by, held in pending_places(folder).items():
        if wanted.intersection(held):
            asked.add(by)
            settled += held
    if asked:
        with folder.locked():
            kept = [
                row
                for row in rows(folder, PENDING)
                if len(row) < 3 or row[2] not in asked
            ]
            text = "\n".join("\t".join(row) for row in kept)
            safe.write(folder.bookkeeping(PENDING), text.encode("utf-8", "replace"))
    return settled


# -- what was imported -----------------------------------------------------------------------------------------------

# A line for each time that something was taken: the origin (`chatgpt:<id>`), the memory
# that it went to, and its parts: ids of turns, or the digest of a note; `behind` is the
# part that they go on from, where that is not the last before them. A session is known
# by the `origin` in its front matter as well, so losing the record doubles nothing.
IMPORTS = "imports.jsonl"
NO_PART = -1
"""The place from which the first part of an origin goes on."""


@dataclasses.dataclass(frozen=True)
class Imported:
    """What came from one origin.

    Attributes:
        path: that it was last given; a mere word where it was forgotten.
        parts: in the order in which they came.
        parents: for each part the place of the one that it goes on from, or NO_PART.
    """

    path: str
    parts: list[str] = dataclasses.field(default_factory=list)
    parents: list[int] = dataclasses.field(default_factory=list)

    def place_of(self, part: str) -> int:
        """Return the last place of a part; NO_PART where it has none."""
        for place in reversed(range(len(self.parts))):
            if self.parts[place] == part:
                return place
        return NO_PART

    def grown(self, path: str, parts: list[str], behind: str | None) -> "Imported":
        """Return it with further parts, behind the last one where None is named."""
        last = len(self.parts) - 1
        first = last if behind is None else self.place_of(behind)
        parents = [first, *range(last + 1, last + len(parts))] if parts else []
        return Imported(path, [*self.parts, *parts], [*self.parents, *parents])


class Origins:
    """Where what one user imported came from, for one import: sessions are looked for
    once. A dry one writes nothing down."""

    def __init__(self, folder: Folder, dry: bool = False) -> None:
        self.folder = folder
        self.dry = dry
        self._imported: dict[str, Imported] = {}
        self._owners: dict[str, list[str]] = {}  # the origins that have a part
        self._read_bytes = 0  # of the record, as it was read last
        self._sessions: dict[str, str] | None = None

    def of(self, origin: str) -> Imported | None:
        """Return what has been imported from `origin`; None where nothing has."""
        return self._all().get(origin)

    def with_part(self, part: str, format_: str) -> list[str]:
        """Return the origins of a format that have a part, the newest last."""
        owners = self._owners.get(part, ()) if self._all() else ()
        found = (owner for owner in owners if owner.partition(":")[0] == format_)
        return list(dict.fromkeys(found))

    def _all(self) -> dict[str, Imported]:
        """Read the record again where it has grown: another process may import, too."""
        where = self.folder.bookkeeping(IMPORTS)
        size_bytes = os.path.getsize(where) if os.path.lexists(where) else 0
        if size_bytes != self._read_bytes:
            self._imported = {}
            self._owners = {}
            self._read_bytes = size_bytes
            for entry in values(where):
                with contextlib.suppress(KeyError, TypeError, AttributeError):
                    parts = [str(part) for part in entry["parts"]]
                    behind = entry.get("behind")
                    self._note(entry["origin"], str(entry["path"]), parts, behind)
        return self._imported

    def _note(
        self, origin: str, path: str, parts: list[str], behind: str | None
    ) -> None:
        before = self._imported.get(origin, Imported(path))
        self._imported[origin] = before.grown(path, parts, behind)
        for part in parts:
            self._owners.setdefault(part, []).append(origin)

    def add(
        self, origin: str, path: str, parts: list[str], behind: str | None = None
    ) -> None:
        """Record that `parts` of `origin` are in the memory at `path`.

        The caller holds the user's lock. It is not fsynced, as what a power cut takes
        from it is found again in the sessions themselves.

        Args:
            behind: the part that they go on from; None for the last one.
        """
        self.of(origin)
        self._note(origin, path, parts, behind)
        if self.dry:
            return
        entry = {"origin": origin, "path": path, "parts": parts}
        if behind is not None:
            entry["behind"] = behind
        where = self.folder.bookkeeping(IMPORTS)
        self._read_bytes = safe.log(where, line(entry), durably=False)

    def recorded(self, origin: str) -> str | None:
        """Where the session from `origin` lies as recorded; None where nothing is, or a person has moved it."""
        imported = self.of(origin)
        return (
            next(self.folder.standing(imported.path), None)
            if imported and imported.path
            else None
        )

    def session(self, origin: str) -> str | None:
        """Where the session from `origin` lies now, as recorded, or by its front matter among those at no recorded place, to
        which a person may have moved it; None where it is gone."""
        path = self.recorded(origin)
        if path and origin_of(self.folder, path) in (origin, ""):
            return path
        if self._sessions is None:
            known = {one.path for one in self._imported.values()}
            paths = [
                path
                for path in self.folder.paths()
                if "sessions" in path.split("/")[:2]
            ]
            self._sessions = {
                origin_of(self.folder, path): path
                for path in paths
                if live(path) not in known
            }
        return self._sessions.get(origin)


def origin_of(folder: Folder, path: str) -> str:
    """The origin in a session's front matter, or nothing."""
    with contextlib.suppress(FilememError):
        return str(Memory(path, folder.read(path, 8192)).front.get("origin", ""))
    return ""


def archive(
    folder: Folder,
    paths: Iterable[str],
    at: dt.datetime,
    progress: Progress = no_progress,
) -> dict[str, str]:
    """Move live memories to the archive, having noted it in the log of recalls; a sentence for each path that stayed. A kill
    leaves every file under one of its two names."""
    wanted = list(paths)
    note_recalls(folder, wanted, ARCHIVED, at)
    return folder.move({path: archived(path) for path in wanted}, progress)


# -- what was compacted ------------------------------------------------------------------------------------------------

COMPACTED = "compacted.log"  # source<TAB>its digest<TAB>summary<TAB>the section's digest<TAB>done; the last counts
DONE = "done"
RETOLD = "retold"  # done, in a model's words


@dataclasses.dataclass(frozen=True)
class Compacted:
    """What the log says last of one source.

    Attributes:
        digest: of the source.
        summary: the summary that stands for it, by path.
        section: the digest of its section there.
        is_retold: whether the section is a model's words, and no quotes.
    """

    digest: str
    summary: str
    section: str
    is_retold: bool = False


def compacted(folder: Folder) -> dict[str, Compacted]:
    """What was compacted, by the source's live path; nothing where there is no log."""
    found: dict[str, Compacted] = {}
    with contextlib.suppress(FilememError):
        for source, *entry in rows(folder, COMPACTED):
            if entry[3:] in ([DONE], [RETOLD]):
                before, summary, section, how = entry
                is_retold = how == RETOLD
                found[source] = Compacted(before, summary, section, is_retold)
    return found
