"""What was read and what came of it: `.filemem/consolidated.jsonl`.

The log only ever grows, so that two clones merge by union. A line is one of

    {"read": "sessions/2026/….md", "turns": ["1f0c…"], "size": 1234, "digest": "…",
        "changed": 1795…} (on one line)
        these turns need no second look, nor a file of these bytes; it was changed last
        in that nanosecond. Earlier versions wrote no digest and no time
    {"cut": "sessions/2026/….md", "turn": "1f0c…", "model": "…"}
        that model's answer to this turn alone was cut off; it is not asked again
    {"wrote": "facts/2026/….md", "digest": "…", "from": [["1f0c…", "77aa…"]],
     "on": "2026-11-20"}
        a memory as the program left it on a day, made of a turn and a text; no digest:
        a person's
    {"line": "facts/2026/….md", "digest": "…"}
        the profile's line about a memory, as the program wrote it
    {"proposal": "proposed/facts/….md", "from": [["1f0c…", "77aa…"]]}
        a proposal, made of these; it is not made a second time

A turn is known by a digest of its words and of when its session began, so that an edit
above it, or another name for its file, changes nothing, and the same words said another
day are another turn.
"""

import contextlib
import datetime as dt
from collections.abc import Iterable
from typing import Any, NamedTuple

from filemem.store.folder import Folder
from filemem.store.logs import Log
from filemem.store.paths import live
from filemem.text import plain

LOG_NAME = "consolidated.jsonl"
DIGEST_LETTERS = 12

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


class LearnLog:
    """The log of one user as it was when it was read; `add` writes and takes in lines.

    Attributes:
        read: the digests of the turns that were read.
        files: the sessions that were read, by path; a size of 0 where not all was.
        cut: turns to which alone an answer was cut off, each with the model's name.
        written: the digests that each memory of the program's once had.
        lines: the digests of the program's lines in the profile.
        made: the memory that was made of a turn, by what it says.
        proposed: of what proposals were made.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.read: set[str] = set()
        self.files: dict[str, ReadFile] = {}
        self.cut: set[tuple[str, str]] = set()
        self.written: dict[str, set[str]] = {}
        self.lines: set[str] = set()
        self.made: dict[Origin, str] = {}
        self.proposed: set[Origin] = set()
        self._log = Log(folder, LOG_NAME)
        for entry in self._log.entries():
            self._take(entry)

    def add(self, entries: Iterable[dict[str, Any]]) -> None:
        """Append lines, durably, in one go, and take them in.

        Args:
            entries: each a line, in one of the forms above.
        """
        added = list(entries)
        if not added:
            return
        self._log.add(added)
        for entry in added:
            self._take(entry)

    def note_written(
        self, path: str, data: bytes, origins: Iterable[Origin], day: dt.date
    ) -> None:
        """Note a memory as the program leaves it.

        Args:
            path: its live path.
            data: the whole file.
            origins: what it was made of.
            day: on which it does.
        """
        said = digest(data)
        self.add([{"wrote": path, "digest": said, "from": [*origins], "on": f"{day}"}])

    def made_of(self, origins: Iterable[Origin]) -> str:
        """Return the memory that was made of all of these before; '' for none."""
        made = [self.made.get(origin, "") for origin in origins]
        if not made or not all(made):
            return ""
        return made[0]

    def is_untouched(self, path: str, data: bytes) -> bool:
        """Tell whether a memory is exactly as the program left it once."""
        return digest(data) in self.written.get(live(path), ())

    def _take(self, entry: Any) -> None:
        """Take in a line; one of another form says nothing."""
        with contextlib.suppress(ValueError, TypeError, LookupError, AttributeError):
            self._take_kind(entry)

    def _take_kind(self, entry: dict[str, Any]) -> None:
        said = str(entry.get("digest", ""))
        if "read" in entry:
            self.read.update(map(str, entry["turns"]))
            changed = int(entry.get("changed", 0))
            self.files[str(entry["read"])] = ReadFile(int(entry["size"]), said, changed)
        elif "cut" in entry:
            self.cut.add((str(entry["turn"]), str(entry["model"])))
        elif "wrote" in entry:
            path = str(entry["wrote"])
            before = self.written.setdefault(path, set())
            before.add(said)
            if not said:
                before.clear()
            for origin in _origins(entry["from"]):
                self.made[origin] = path
        elif "line" in entry:
            self.lines.add(said)
        elif "proposal" in entry:
            self.proposed.update(_origins(entry["from"]))


def _origins(value: Any) -> list[Origin]:
    return [(str(turn), str(text)) for turn, text in value]
