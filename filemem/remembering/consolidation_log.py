"""What consolidation has read and what it made of it: `.filemem/consolidated.jsonl`, beside the memories and never in them.

Lines are only ever added, so that two clones merge by union:

    {"read": "sessions/2026/….md", "turns": ["1f0c…", …], "size": 1234}      turns of a session that need no second look
    {"wrote": "facts/2026/….md", "digest": "…", "from": [["1f0c…", "77aa…"]]}
                                  with "anew": true it rests on these alone, and on nothing that an earlier line names
    {"line": "facts/2026/….md", "digest": "…"}                               the profile's line about a memory, as written
    {"proposed": {"text": "…", "origins": [["1f0c…", "77aa…"]], …}}           a claim that waits for the person's word; `because`
                                  is why its form was refused, if it was
    {"refused": ["1f0c…", "77aa…"]}                                          one that the person did not want
    {"episode": "sessions/2026/….md", "written": "…"}          the line of its front matter that sums it up

A turn is known by a digest of its words and of when its session began, so that an edit above it, or another name for its
file, changes nothing, and the same words said another day are another turn.
"""

import contextlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from filemem.errors import NotFound
from filemem.files import safe
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import when_of
from filemem.files.passages import Passage
from filemem.text import plain

NAME = "consolidated.jsonl"
Origin = tuple[str, str]  # digests of a turn and of what was made of it


class WrittenMemory(NamedTuple):
    """A memory as the program left it: the digest of its bytes, and what it came from."""

    digest: str
    origins: tuple[Origin, ...]


def digest(text: str | bytes) -> str:
    """Twelve hexadecimal digits that name these words."""
    return plain.digest(text, 12)


def turn_digest(session: str, turn: Passage) -> str:
    """What names a turn of the session at a path: who said what in it, on whatever line."""
    when = when_of(session)
    return digest(f"{when.date} {when.time}\0{turn.speaker}\0{turn.text}" if when else f"{turn.speaker}\0{turn.text}")


class ConsolidationLog:
    """The log of one user as it was when it was read; `add` writes and takes in new lines."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.read: dict[str, set[str]] = {}
        self.sizes: dict[str, int] = {}
        self.written: dict[str, WrittenMemory] = {}
        self.lines: dict[str, set[str]] = {}
        self.made: dict[Origin, str] = {}
        self.proposed: dict[Origin, tuple[dict[str, Any], str]] = {}
        self.refused: set[Origin] = set()
        self.episodes: dict[str, set[str]] = {}
        self._sessions_of: dict[str, set[str]] = {}
        with contextlib.suppress(NotFound):
            self._take_in(safe.read(folder.bookkeeping(NAME)))

    def add(self, entries: Iterable[dict[str, Any]]) -> None:
        """Append lines, durably, in one go."""
        lines = "".join(json.dumps(entry, ensure_ascii=False, default=str) + "\n" for entry in entries)
        data = lines.encode("utf-8", "replace")
        with self.folder.locked():
            safe.log(self.folder.bookkeeping(NAME), data)
        self._take_in(data)

    def _take_in(self, data: bytes) -> None:
        for line in data.decode(errors="replace").split("\n"):
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
                self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        if "read" in entry:
            path = str(entry["read"])
            turns = set(map(str, entry["turns"]))
            self.read.setdefault(path, set()).update(turns)
            for turn in turns:
                self._sessions_of.setdefault(turn, set()).add(path)
            self.sizes[path] = int(entry["size"])
        elif "wrote" in entry:
            path, before = str(entry["wrote"]), self.written.get(str(entry["wrote"]))
            origins = tuple((str(turn), str(said)) for turn, said in entry["from"])
            self.written[path] = WrittenMemory(
                str(entry["digest"]),
                tuple(dict.fromkeys((*(before.origins if before and not entry.get("anew") else ()), *origins))),
            )
            self.made.update((origin, path) for origin in origins)
        elif "line" in entry:
            self.lines.setdefault(str(entry["line"]), set()).add(str(entry["digest"]))
        elif "proposed" in entry:
            turn, said = entry["proposed"]["origins"][0]
            self.proposed[str(turn), str(said)] = (entry["proposed"], str(entry.get("because", "")))
        elif "refused" in entry:
            turn, said = entry["refused"]
            self.refused.add((str(turn), str(said)))
        elif "episode" in entry:
            self.episodes.setdefault(str(entry["episode"]), set()).add(str(entry["written"]))

    def unread(self, session: str, said: Sequence[str]) -> list[int]:
        """The places of the turns, given by their digests, that were not read yet in this session, whatever its name was."""
        known = self.read.get(live(session))
        if known is None:
            others = sorted(self._sessions_of.get(said[0], ())) if said else []
            known = next((self.read[name] for name in others if self.read[name].issuperset(said)), set())
        return [place for place, name in enumerate(said) if name not in known]

    def untouched(self, path: str, data: bytes) -> bool:
        """Is the memory just as the program left it?"""
        known = self.written.get(live(path))
        return known is not None and known.digest == digest(data)
