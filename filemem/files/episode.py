"""The episode of a session: what it was about and came to, on one line of its front matter.

Memories cite turns by line, so no other line may move: where there is no such line yet, it stands over the `---` that closes the
front matter, in the room of the blank line behind it. The line is JSON, which is YAML too, and quick to read.
"""

import json
from typing import Any, NamedTuple

from filemem.text.plain import json_visible

KEY = "episode"
FORGOTTEN = f"{KEY}: forgotten"  # a line that told what was to be forgotten


class Episode(NamedTuple):
    """What a session was about, what came of it, what is left to do; `by` names the model that says so."""

    title: str = ""
    outcome: str = ""
    open: tuple[str, ...] = ()
    by: str = ""

    @property
    def text(self) -> str:
        """All that it says, to be searched."""
        return "; ".join(dict.fromkeys(filter(None, (self.title, self.outcome, *self.open))))

    @property
    def line(self) -> str:
        """As front matter has it, without characters that YAML cannot hold."""
        written = json.dumps(self.as_json(), ensure_ascii=False).translate({0xFFFE: None, 0xFFFF: None})
        return f"{KEY}: {json_visible(written)}"

    def as_json(self) -> dict[str, Any]:
        """For a script, without empty fields."""
        return {key: value for key, value in self._asdict().items() if value}


NONE = Episode()


def read(line: str) -> Episode:
    """The episode on a line of front matter; an empty one where it is no such JSON."""
    try:
        title, outcome, left, by = map(json.loads(line.partition(":")[2]).get, Episode._fields)
        listed = left if isinstance(left, list) else []
        return Episode(str(title or ""), str(outcome or ""), tuple(map(str, listed)), str(by or ""))
    except (ValueError, RecursionError, AttributeError, TypeError):
        return NONE


def places(lines: list[str], front_end: int) -> list[int]:
    """The lines (from 1) of front matter that are episodes: several where git has kept those of two clones."""
    front = enumerate(lines[: max(0, front_end - 1)], 1)
    named = ((n, line) for n, line in front if line.startswith(f"{KEY}:"))
    return [n for n, line in named if read(line) != NONE or line.rstrip() == FORGOTTEN]


def put(lines: list[str], front_end: int, written: str = "") -> list[str]:
    """The lines of a file with one episode: `written`, else of those that a merge of two clones left the one that every machine
    chooses. A new one stands in the room behind the front matter, which ends at `front_end`: no other line moves. Unchanged
    where there is no room."""
    if here := places(lines, front_end):
        kept = written + "\r" * lines[here[0] - 1].endswith("\r") if written else max(lines[n - 1] for n in here)
        return [kept if n == here[0] else line for n, line in enumerate(lines, 1) if n not in here[1:]]
    if not written or not front_end or lines[front_end : front_end + 1] not in ([""], ["\r"]):
        return lines
    close = lines[front_end - 1]
    return [*lines[: front_end - 1], written + "\r" * close.endswith("\r"), close, *lines[front_end + 1 :]]
