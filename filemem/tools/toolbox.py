"""The four tools of an agent: their schemas, the check of a call, the open files.

Text in, text out, never an exception.
"""

import datetime as dt
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filemem import index
from filemem.errors import FilememError
from filemem.search import filters
from filemem.search.searching import search_files
from filemem.store import config, recalls
from filemem.store.folder import CurrentConversation, Folder
from filemem.store.memory import REFERENCE
from filemem.text.plain import escape_controls, one_line
from filemem.tools import render
from filemem.tools.grep import grep

_SCHEMAS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "prompts/tools.json").read_text("utf-8")
)
_TOOLS: dict[str, dict[str, Any]] = {
    schema["function"]["name"]: schema["function"]["parameters"] for schema in _SCHEMAS
}
_EXAMPLES = {
    "pattern": "oolong",
    "query": "What tea do I like?",
    "text": "Prefers oolong tea.",
}
_EXAMPLE_PATH = "profile.md"
_FROM_ZERO = ("context", "offset")  # other numbers are from 1
_LARGEST = {"context": 20, "limit": 200, "importance": 10}
LARGEST_NUMBER = 10**9
LONGEST_ERROR = 1000  # characters
MAX_ARGUMENT_CHARS = 10_000
_WHOLE_NUMBER = re.compile(r"\s*([+-]?\d{1,12})(?:\.0*)?\s*")


class Toolbox:
    """The four tools over one user's memories.

    Attributes:
        open_files: the first line and the number of lines asked for, by path, the least
            recently used file first.
        current: the conversation going on, which no search shows.
        noting: whether what is opened counts as recalled.
        hits: lines or passages that the last call found; None if it was no search.
        places: what the last call has shown, as `path:line`.
    """

    schemas = _SCHEMAS

    def __init__(self, folder: Folder, now: Callable[[], dt.datetime]) -> None:
        self._folder = folder
        self._config = config.of(folder)
        self._now = now
        self.current: CurrentConversation | None = None
        self.noting = True
        self.open_files: dict[str, tuple[int, int | None]] = {}
        self.hits: int | None = None
        self.places: list[str] = []

    def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """Return what a tool answers.

        A wrong call is answered by one sentence that says how to put it right.
        """
        self.hits = None
        self.places = []
        tools: dict[str, Callable[..., str]] = {
            "grep": self._grep,
            "search_files": self._search_files,
            "open": self._open,
            "close": self._close,
        }
        try:
            if name not in tools:
                raise FilememError(
                    f"there is no tool {one_line(str(name))!r}; "
                    f"the tools are {', '.join(tools)}."
                )
            given = checked(name, arguments, _TOOLS[name])
            return escape_controls(tools[name](**given))
        except FilememError as error:
            return f"Error: {one_line(str(error), LONGEST_ERROR)}"

    def _grep(
        self,
        pattern: str,
        speaker: str | None = None,
        after: str | None = None,
        before: str | None = None,
        **how: Any,
    ) -> str:
        said_by = None
        if speaker:
            said_by = filters.said_by(index.of(self._folder).corpus(), speaker)
        found = grep(
            self._folder,
            pattern,
            said_by=said_by,
            days=filters.bounds(after, before, self._now().date()),
            current=self.current,
            brackets=True,
            **how,
        )
        self.hits = found.total
        self.places = [
            f"{line.path}:{line.line}" for line in found.lines if line.matches
        ]
        asked = {"pattern": pattern, "speaker": speaker}
        asked |= {"after": after, "before": before, **how}
        return render.grepped(self._folder, found, asked)

    def _search_files(self, query: str, **how: Any) -> str:
        found = search_files(
            index.of(self._folder),
            query,
            today=self._now().date(),
            current=self.current,
            **how,
        )
        self.hits = len(found.hits)
        self.places = [f"{hit.path}:{hit.line}" for hit in found.hits]
        return render.searched(found)

    def _open(self, path: str, line: int = 1, lines: int | None = None) -> str:
        """Show a file's lines; it joins the open files. A citation may be the path."""
        cited = REFERENCE.match(path)
        if line == 1 and cited and cited["line"]:
            path = cited["path"]
            line = max(1, int(cited["line"]))
        where, shown = self._page(path, line, lines)
        self.open_files.pop(where, None)
        self.open_files[where] = (line, lines)
        self.places = [f"{where}:{line}"]
        if self.noting:
            recalls.note_recall(self._folder, where, recalls.OPENED, self._now())
        most = self._config.open_files
        closed = list(self.open_files)[:-most]
        for other in closed:
            del self.open_files[other]
        if closed:
            shown += (
                f"\nClosed {', '.join(closed)}: at most {most} files are open at once."
            )
        return shown

    def _page(self, path: str, line: int, lines: int | None) -> tuple[str, str]:
        """Return where a file lies now, and its lines."""
        where = self._folder.locate(path)
        budget = self._config.open_tokens
        shown = render.page(self._folder, where, line, lines, budget, moved_from=path)
        return where, shown

    def _close(self, path: str) -> str:
        path = path.removeprefix("./")
        names = (
            path,
            f"archive/{path}",
            path.removeprefix("archive/"),
            path.rpartition(":")[0],
        )
        closed = [name for name in names if name in self.open_files][:1]
        for name in closed:
            del self.open_files[name]
        still = "no file is open"
        if self.open_files:
            still = f"open are {', '.join(self.open_files)}"
        if not closed:
            raise FilememError(f"{one_line(path)} is not open; {still}.")
        return f"Closed {closed[0]}; {still}."

    def pages(self) -> list[tuple[str, str]]:
        """Return each open file's path with its lines as they are on disk now.

        One that is gone says so; one that has moved is open where it is now.
        """
        shown: dict[str, str] = {}
        opened = self.open_files
        self.open_files = {}
        for path, (line, lines) in opened.items():
            try:
                where, text = self._page(path, line, lines)
            except FilememError as error:
                where = path
                text = str(error)
            self.open_files[where] = (line, lines)
            shown[where] = text
        return list(shown.items())


# -- the check of a call ---------------------------------------------------------------


def checked(
    name: str, arguments: str | dict[str, Any], schema: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call, without those that are null or empty.

    A whole number may be written `2.0` or `"2"`.

    Args:
        name: of the tool.
        arguments: an object, or its JSON.
        schema: a JSON Schema of the tool's arguments.

    Raises:
        FilememError: the call is wrong; the sentence says how to put it right.
    """
    known = schema["properties"]
    needs = schema["required"]
    given = _parsed(name, arguments, next(iter(known)))
    for key in given:
        if key not in known:
            raise FilememError(
                f"{name} has no argument {one_line(key)!r}; "
                f"its arguments are {', '.join(known)}."
            )
    # Models fill what they leave out with null or with empty text.
    values = {}
    for key, value in given.items():
        is_blank = isinstance(value, str) and not value.strip()
        if value is not None and not is_blank:
            values[key] = _checked_value(f"{key} of {name}", value, known[key])
    for key in needs:
        if key not in values:
            example = _EXAMPLES.get(key, _EXAMPLE_PATH)
            raise FilememError(
                f'{name} needs {key}; call it as {name} {{"{key}": "{example}"}}.'
            )
    return values


def _parsed(name: str, arguments: str | dict[str, Any], needed: str) -> dict[str, Any]:
    """Return the arguments as an object; raise FilememError if they are none."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            reason = one_line(str(error), 80)
            raise FilememError(
                f"the arguments of {name} are not valid JSON ({reason}); send an object."
            ) from None
    if not isinstance(arguments, dict):
        raise FilememError(
            f'the arguments of {name} are not a JSON object; send {{"{needed}": …}}.'
        )
    return arguments


def _checked_value(what: str, value: Any, schema: dict[str, Any]) -> Any:
    """Return an argument's value; raise FilememError for a wrong type or size."""
    if schema["type"] == "string":
        return _checked_text(what, value, schema.get("enum"))
    return _checked_number(what, value)


def _checked_text(what: str, value: Any, choices: list[str] | None) -> str:
    if not isinstance(value, str):
        raise FilememError(f"{what} takes text, not {_as_json(value)}.")
    if len(value) > MAX_ARGUMENT_CHARS:
        raise FilememError(
            f"{what} is {len(value):,} characters long; "
            f"send at most {MAX_ARGUMENT_CHARS:,}."
        )
    if choices and value not in choices:
        raise FilememError(f"{what} is one of {', '.join(choices)}.")
    return value


def _checked_number(what: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        written = _WHOLE_NUMBER.fullmatch(value)
        value = int(written[1]) if written else value
    if isinstance(value, bool) or not isinstance(value, int):
        raise FilememError(f"{what} takes a whole number, not {_as_json(value)}.")
    key = what.partition(" ")[0]
    least = 0 if key in _FROM_ZERO else 1
    most = _LARGEST.get(key, LARGEST_NUMBER)
    if not least <= value <= most:
        raise FilememError(f"{what} is a whole number from {least:,} to {most:,}.")
    return value


def _as_json(value: Any) -> str:
    return one_line(json.dumps(value, default=str), 60)
