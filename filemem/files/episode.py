"""The episode of a session: what it was about and came to, on one line of its front matter.

Memories cite turns by line, so no other line may move: where there is no such line yet, it stands over the `---` that closes the
front matter, in the room of the blank line behind it. The line is JSON, which is YAML too, and quick to read.
"""

import json
from typing import Any, NamedTuple

from filemem.text.plain import json_visible

KEY = "episode"
LISTS = ("findings", "open", "tags")
_NO_CHARACTERS = {0xFFFE: None, 0xFFFF: None}  # which YAML does not have
OWN_NAME = "forgotten"  # the value of a line that told what was to be forgotten


class Episode(NamedTuple):
    """What a session was about, what was wanted, what came of it, what is left to do; `by` names the model that says so, none
    where all is quoted."""

    title: str = ""
    intent: str = ""
    outcome: str = ""
    findings: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    by: str = ""

    @property
    def text(self) -> str:
        """All that it says, to be searched."""
        told = (self.title, self.intent, self.outcome, *self.findings, *self.open, ", ".join(self.tags))
        return "; ".join(dict.fromkeys(filter(None, told)))

    @property
    def line(self) -> str:
        """As front matter has it."""
        written = json.dumps(self.as_json(), ensure_ascii=False)
        return f"{KEY}: {json_visible(written.translate(_NO_CHARACTERS))}"

    def as_json(self) -> dict[str, Any]:
        """For a script, without what it has not."""
        return {key: list(value) if key in LISTS else value for key, value in self._asdict().items() if value}


NONE = Episode()


def of(value: Any) -> Episode:
    """The episode that a value of front matter is; what in it is malformed says nothing."""
    if not isinstance(value, dict):
        return NONE
    found: dict[str, Any] = {}
    for key in Episode._fields:
        given = value.get(key)
        entries = given if isinstance(given, list) else [given]
        texts = tuple(text for one in entries if one is not None and (text := " ".join(str(one).split())))
        if texts and not any(isinstance(one, list | dict) for one in entries):
            found[key] = texts if key in LISTS else texts[0]
    return Episode(**found)


def read(written: str) -> Episode | None:
    """The episode in the JSON of a line; None where that is none and must be read as YAML."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return of(value) if isinstance(value, dict) else None


def put(lines: list[str], front_end: int, at: int, written: str) -> list[str]:
    """The lines of a file with its episode set: on the line `at` (from 1) where it has one, else in the room behind the front
    matter, which ends at `front_end`. No other line moves; unchanged where there is no room."""
    if at:
        return [*lines[: at - 1], _like(lines[at - 1], written), *lines[at:]]
    if not front_end or lines[front_end : front_end + 1] not in ([""], ["\r"]):
        return lines
    close = front_end - 1
    return [*lines[:close], _like(lines[close], written), lines[close], *lines[front_end + 1 :]]


def places(lines: list[str], front_end: int) -> list[int]:
    """The lines (from 1) of front matter that are episodes: several where git has kept those of two clones."""
    return [n for n, line in enumerate(lines[: max(0, front_end - 1)], 1) if line.startswith(f"{KEY}: {{")]


def once(lines: list[str], front_end: int) -> list[str]:
    """The lines with one episode, where a merge of two clones left two; every machine chooses the same one."""
    found = places(lines, front_end)
    kept = max(found, key=lambda n: lines[n - 1], default=0)
    return [line for n, line in enumerate(lines, 1) if n == kept or n not in found]


def _like(line: str, written: str) -> str:
    """What was `written`, with the line ending of `line`."""
    return written + "\r" * line.endswith("\r")
