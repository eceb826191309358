"""What was read and what came of it: `.filemem/consolidated.jsonl`.

The log only ever grows, so that two clones merge by union. A line is one of

    {"read": "sessions/2026/….md", "turns": ["1f0c…"], "size": 1234}
        these turns need no second look, nor a file of that many bytes
    {"wrote": "facts/2026/….md", "digest": "…", "from": [["1f0c…", "77aa…"]]}
        a memory as the program left it, made of a turn and a text; no digest: a person's
    {"line": "facts/2026/….md", "digest": "…"}
        the profile's line about a memory, as the program wrote it
    {"proposal": "proposed/facts/….md", "digest": "…", "from": [["1f0c…", "77aa…"]]}
        a proposal as written, made of these; it is not made a second time

and of stores of before `{"proposed": {…}, "because": "…"}`, a claim that waits, and
`{"refused": ["1f0c…", "77aa…"]}`, one that the person did not want.

A turn is known by a digest of its words and of when its session began, so that an edit
above it, or another name for its file, changes nothing, and the same words said another
day are another turn.
"""

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from filemem.errors import NotFound
from filemem.store import files
from filemem.store.folder import Folder
from filemem.store.paths import live
from filemem.text import plain

LOG_NAME = "consolidated.jsonl"
DIGEST_LETTERS = 12

Origin = tuple[str, str]
"""The digests of a turn and of what was made of it."""


def digest(text: str | bytes) -> str:
    """Name words by twelve hexadecimal digits."""
    return plain.digest(text, DIGEST_LETTERS)


@dataclass(frozen=True)
class EarlierProposal:
    """A claim that waits in the log of a store of before, as JSON, and its fault."""

    claim: dict[str, Any]
    fault: str


class LearnLog:
    """The log of one user as it was when it was read; `add` writes and takes in lines."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.read: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.written: dict[str, set[str]] = {}
        self.lines: set[str] = set()
        self.made: dict[Origin, str] = {}
        self.proposals: dict[str, str] = {}
        self.proposed: set[Origin] = set()
        self.earlier: dict[Origin, EarlierProposal] = {}
        with contextlib.suppress(NotFound):
            self._take_in(files.read(folder.bookkeeping(LOG_NAME)))

    def add(self, entries: Iterable[dict[str, Any]]) -> None:
        """Append lines, durably, in one go."""
        lines = [json.dumps(one, ensure_ascii=False, default=str) for one in entries]
        if not lines:
            return
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        with self.folder.locked():
            files.log(self.folder.bookkeeping(LOG_NAME), data)
        self._take_in(data)

    def is_untouched(self, path: str, data: bytes) -> bool:
        """Tell whether a memory is exactly as the program left it once."""
        return digest(data) in self.written.get(live(path), ())

    def _take_in(self, data: bytes) -> None:
        broken = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
        for line in data.decode(errors="replace").split("\n"):
            with contextlib.suppress(*broken):
                self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        if "read" in entry:
            self.read.update(map(str, entry["turns"]))
            self.sizes[str(entry["read"])] = int(entry["size"])
        elif "wrote" in entry:
            self._take_written(str(entry["wrote"]), str(entry["digest"]))
            for origin in _origins(entry["from"]):
                self.made[origin] = str(entry["wrote"])
        elif "line" in entry:
            self.lines.add(str(entry["digest"]))
        elif "proposal" in entry:
            self.proposals[str(entry["proposal"])] = str(entry["digest"])
            self._settle(_origins(entry["from"]))
        elif "proposed" in entry:
            origin = _origins(entry["proposed"]["origins"])[0]
            fault = str(entry.get("because", ""))
            self.earlier[origin] = EarlierProposal(entry["proposed"], fault)
        elif "refused" in entry:
            self._settle(_origins([entry["refused"]]))

    def _take_written(self, path: str, digest: str) -> None:
        if not digest:
            self.written[path] = set()
            return
        self.written.setdefault(path, set()).add(digest)

    def _settle(self, origins: Iterable[Origin]) -> None:
        for origin in origins:
            self.proposed.add(origin)
            self.earlier.pop(origin, None)


def _origins(value: Any) -> tuple[Origin, ...]:
    return tuple((str(turn), str(text)) for turn, text in value)
