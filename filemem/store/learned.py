"""What was read and what came of it: `.filemem/consolidated.jsonl`.

The log only ever grows, so that two clones merge by union. A line is one of

    {"read": "sessions/2026/….md", "turns": ["1f0c…"], "size": 1234, "digest": "…",
        "changed": 1795…} (on one line)
        these turns need no second look, nor a file of these bytes; it was changed last
        in that nanosecond. Earlier versions wrote no digest and no time
    {"wrote": "facts/2026/….md", "digest": "…", "from": [["1f0c…", "77aa…"]],
     "on": "2026-11-20"}
        a memory as the program left it on a day, made of a turn and a text; no digest:
        a person's
    {"line": "facts/2026/….md", "digest": "…"}
        the profile's line about a memory, as the program wrote it
    {"unreadable": "sessions/2026/….md"}
        a model read it, and its answer was not understood; it is read after others
    {"proposal": "proposed/facts/….md", "digest": "…", "from": [["1f0c…", "77aa…"]]}
        a proposal, made of these; it is not made a second time
    {"known": "facts/2026/….md", "from": [["id:m1", "77aa…"]]}
        a memory that said already what was asked to be remembered; with a digest one
        that is about to be written and to supersede others, and is `wrote` after that

A new memory is noted before it has its name. So whoever was killed in between has
noted what they made of each turn, and the next writer gives it that name.

A turn is known by a digest of its words and of when its session began, so that an edit
above it, or another name for its file, changes nothing, and the same words said another
day are another turn.
"""

import contextlib
import datetime as dt
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.store.folder import (
    DIGEST_LETTERS,
    LEARNED,
    OTHER_FORMS,
    Folder,
    Stat,
    is_memory,
    stats_of,
)
from filemem.store.logs import Log, LogReader
from filemem.store.paths import kind_of, live
from filemem.text import plain

LOG_NAME = LEARNED
_DAY_CHARS = len("2026-11-20")
_NUMBER = re.compile(r"-\d+$")

Origin = tuple[str, str]
"""The digests of a turn and of what was made of it."""


def digest(text: str | bytes) -> str:
    """Name words by twelve hexadecimal digits."""
    return plain.digest(text, DIGEST_LETTERS)


class ReadFile(NamedTuple):
    """A session's file when all of it was read.

    `size` is in bytes; `digest` is empty and `changed`, in nanoseconds, 0 where an
    earlier version read it.
    """

    size: int
    digest: str
    changed: int


OUTSIDE = "id:"
"""With which the origin of a fact begins that another program knows by an id."""
NOT_READ = ReadFile(0, "", 0)
"""Stands for a file of which not all was read."""


class Written:
    """Gathers what the program has written of one memory, entry by entry."""

    def __init__(self) -> None:
        self.digests: set[str] = set()  # of its file as the program once left it
        self.days: list[dt.date] = []  # on which it did; earlier versions noted none


def _undated(path: str) -> str:
    """Return the kind and the name of a program's file, without day and number.

    Args:
        path: such as `facts/2026/2026-11-20-keeps-bees-2.md`.
    """
    name = path.rpartition("/")[2]
    words = name.removesuffix(".md")[_DAY_CHARS:]
    return kind_of(path) + _NUMBER.sub("", words)


def about(key: str, path: str, text: str, origins: Iterable[Origin]) -> dict[str, Any]:
    """Return a line about a memory or a proposal as the program leaves it.

    Args:
        key: `wrote`, `known` or `proposal`.
        path: its live path.
        text: the whole file.
        origins: what it was made of.
    """
    left_as = digest(text.encode("utf-8", "replace"))
    return {key: path, "digest": left_as, "from": [*origins]}


def wrote(
    path: str, text: str, origins: Iterable[Origin], day: dt.date
) -> dict[str, Any]:
    """Return the line about a memory that is written on a day; as `about` has it."""
    return about("wrote", path, text, origins) | {"on": f"{day}"}


class LearnLog:
    """The log of one user, read on where it was read before in this process.

    Attributes:
        folder: whose log it is.
        read: the digests of the turns that were read.
        files: the sessions that were read, by path.
        unreadable: how often no answer about a session was understood.
        written: what the program has written, by its live path.
        lines: the digests of the program's lines in the profile.
        made: the memory or the proposal that was made of a turn, by what it says; under
            an outside id only of the text that came last.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._log = Log(folder, LOG_NAME)
        self._reader = LogReader(self._log)
        self._lock = threading.Lock()
        self._start_over()

    @classmethod
    def of(cls, folder: Folder) -> "LearnLog":
        """Return a user's log as it is now; raise FilememError or OSError."""
        log: LearnLog = folder.cached.setdefault(LOG_NAME, cls(folder))
        log.read_on()
        return log

    def _start_over(self) -> None:
        self.read: set[str] = set()
        self.files: dict[str, ReadFile] = {}
        self.unreadable = Counter[str]()
        self.written: dict[str, Written] = {}
        self._named: dict[str, list[str]] = {}
        self.lines: set[str] = set()
        self.made: dict[Origin, str] = {}
        self._last: dict[str, str] = {}  # the text that came last under an outside id
        self._ids: dict[str, set[str]] = {}  # whose last text a memory was made of

    def read_on(self) -> None:
        """Take in what was added since; raise FilememError or OSError."""
        with self._lock:
            added = self._reader.read_on()
            if added.is_anew:
                self._start_over()
            for entry in added.entries:
                # A line of another form says nothing.
                with contextlib.suppress(*OTHER_FORMS):
                    self._take_in(entry)

    def add(self, entries: list[dict[str, Any]]) -> None:
        """Append lines, each in one of the forms above, durably and in one go."""
        if not entries:
            return
        self._log.add(entries)
        self.read_on()

    def create(self, key: str, path: str, text: str, origins: Iterable[Origin]) -> str:
        """Write a new memory or proposal, noted before it has its name.

        Args:
            key: `known` or `proposal`.
            path: the one wanted.
            text: the whole file.
            origins: what it is made of.

        Returns:
            The path that it came to.
        """

        def note(paths: list[str]) -> None:
            self.add([about(key, one, text, origins) for one in paths])

        return self.folder.create(path, text, note)

    def note_accepted(self, path: str, day: dt.date) -> None:
        """Note that a memory, at its live path, is the person's since a day."""
        self.add([{"wrote": path, "digest": "", "from": [], "on": f"{day}"}])

    def made_of(self, origins: Iterable[Origin]) -> str:
        """Return what was made of all of these before; '' for nothing."""
        made = [self.made.get(origin, "") for origin in origins]
        return min(made, default="")

    def outdated(self, origins: Iterable[Origin]) -> str:
        """Return the memory of what came last under an outside id, as another text.

        Args:
            origins: of what comes now.

        Returns:
            Its path; '' for none, or where the text is the same.
        """
        for turn, text in origins:
            last = self._last.get(turn, text)
            if last != text:
                return self.made[turn, last]
        return ""

    def is_said(self, path: str, besides: Iterable[Origin]) -> bool:
        """Tell whether another outside id than of some origins told last what is there.

        Args:
            path: the live path of a memory.
            besides: of what comes now.
        """
        return bool(self._ids.get(path, set()).difference(dict(besides)))

    def named(self, path: str) -> list[str]:
        """Return the memories of the program's that have the name of a path.

        The day in front of it and a number behind are left out of account.
        Some may be gone.
        """
        return self._named.get(_undated(path), [])

    def others(self, *kinds: str) -> Iterator[Stat]:
        """Yield the memories of some kinds that the program has not written.

        They are a person's, or another program's. In no order; no file is read.
        """
        found = []
        for path, entry in self.folder.entries(*kinds):
            if live(path) in self.written:
                continue
            if kind_of(path) in kinds and is_memory(entry):
                found.append((path, entry))
        return stats_of(found)

    def is_untouched(self, path: str, data: bytes) -> bool:
        """Tell whether a memory is exactly as the program left it once."""
        return digest(data) in self.written_of(path).digests

    def written_of(self, path: str) -> Written:
        """Return what the program has written of the memory at a path, if anything."""
        return self.written.get(live(path), Written())

    def _take_in(self, entry: dict[str, Any]) -> None:
        noted = str(entry.get("digest", ""))
        if "read" in entry:
            self.read.update(entry["turns"])
            file = ReadFile(int(entry["size"]), noted, int(entry.get("changed", 0)))
            self.files[entry["read"]] = file
        elif "unreadable" in entry:
            self.unreadable[entry["unreadable"]] += 1
        elif "line" in entry:
            self.lines.add(noted)
        elif "proposal" in entry:
            self._note_origins(entry["from"], entry["proposal"])
        elif "known" in entry:
            self._note_origins(entry["from"], entry["known"])
        elif "wrote" in entry:
            path = entry["wrote"]
            if path not in self.written:
                named = self._named.setdefault(_undated(path), [])
                named.append(path)
            written = self.written.setdefault(path, Written())
            written.digests.add(noted)
            self._note_origins(entry["from"], entry["wrote"])
            written.days.append(dt.date.fromisoformat(entry["on"]))

    def _note_origins(self, origins: Iterable[Iterable[str]], path: str) -> None:
        for turn, text in origins:
            if turn.startswith(OUTSIDE):
                before = self.made.pop((turn, self._last.get(turn, "")), "")
                self._ids.get(before, set()).discard(turn)
                self._ids.setdefault(path, set()).add(turn)
                self._last[turn] = text
            self.made[turn, text] = path
