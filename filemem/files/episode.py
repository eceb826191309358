"""The episode of a session: what it was about and came to, on one line of its front matter.

Memories cite turns by line, so no other line may move: where there is no such line yet, it stands over the `---` that closes the
front matter, in the room of the blank line behind it. The line is JSON, which is YAML too, and quick to read.
"""

import json
from typing import Any, NamedTuple

from filemem.text.plain import json_visible

KEY = "episode"
LISTS = ("open",)
OWN_NAME = "forgotten"  # the value of a line that told what was to be forgotten


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
        return {key: list(value) if key in LISTS else value for key, value in self._asdict().items() if value}


NONE = Episode()


def of(value: Any) -> Episode:
    """The episode in a front matter value; malformed parts are ignored."""
    found: dict[str, Any] = {}
    for key in Episode._fields if isinstance(value, dict) else ():
        entries = value.get(key) if isinstance(value.get(key), list) else [value.get(key)]
        texts = tuple(text for one in entries if one is not None and (text := " ".join(str(one).split())))
        if texts and not any(isinstance(one, list | dict) for one in entries):
            found[key] = texts if key in LISTS else texts[0]
    return Episode(**found)


def read(written: str) -> Episode | None:
    """The episode in the JSON of a line; None if it is not JSON and must be read as YAML."""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return of(value) if isinstance(value, dict) else None


def put(lines: list[str], front_end: int, at: int, written: str) -> list[str]:
    """The lines of a file with its episode set: on the line `at` (from 1) where it has one, else in the room behind the front
    matter, which ends at `front_end`. No other line moves; unchanged where there is no room."""
    if not at and (not front_end or lines[front_end : front_end + 1] not in ([""], ["\r"])):
        return lines
    place = (at or front_end) - 1
    written += "\r" * lines[place].endswith("\r")
    return [*lines[:place], written, *([] if at else lines[place : place + 1]), *lines[place + (1 if at else 2) :]]


def places(lines: list[str], front_end: int) -> list[int]:
    """The lines (from 1) of front matter that are episodes: several where git has kept those of two clones."""
    return [n for n, line in enumerate(lines[: max(0, front_end - 1)], 1) if line.startswith(f"{KEY}: {{")]


def once(lines: list[str], front_end: int) -> list[str]:
    """The lines with one episode, where a merge of two clones left two; every machine chooses the same one."""
    found = places(lines, front_end)
    kept = max(found, key=lambda n: lines[n - 1], default=0)
    return [line for n, line in enumerate(lines, 1) if n == kept or n not in found]
