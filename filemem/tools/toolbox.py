"""The four tools of an agent: their schemas, the check of a call, the open files.

Text in, text out, never an exception.
"""

import datetime as dt
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from filemem import index
from filemem.errors import FilememError, in_words
from filemem.search import filters
from filemem.search.searching import search_files
from filemem.store import config, recalls
from filemem.store.current import CurrentConversation
from filemem.store.folder import Folder
from filemem.store.memory import REFERENCE
from filemem.text.plain import escape_controls, one_line
from filemem.tools import render
from filemem.tools.grep import grep

_SCHEMAS: list[Any] = json.loads(
    (Path(__file__).parents[1] / "prompts/tools.json").read_text("utf-8")
)
_TOOLS: dict[str, dict[str, Any]] = {
    schema["function"]["name"]: schema["function"]["parameters"] for schema in _SCHEMAS
}
_EXAMPLES = {
    "pattern": "oolong",
    "query": "What tea do I like?",
    "path": "profile.md",
    "text": "Prefers oolong tea.",
}
_MIN = {"context": 0, "offset": 0}  # other numbers are from 1
_MAX = {"context": 20, "limit": render.MAX_HITS, "importance": 10}
MAX_NUMBER = 10**9
MAX_ARGUMENT_CHARS = 10_000
LONGEST_ERROR = 1000  # characters


class OpenedLines(NamedTuple):
    """What was asked for of an open file; `lines` is None for all."""

    line: int
    lines: int | None


class Toolbox:
    """The four tools over one user's memories.

    Args:
        folder: the user's.
        now: returns the moment of a call.
        briefing: returns, of a folder on a day, what a search for nothing tells; None
            for nothing.

    Attributes:
        schemas: of the tools, as OpenAI's API takes them.
        open_files: what was asked for of each, by path, the least
            recently used file first.
        current: the conversation going on, which no search shows.
        find_current: tells it anew at each call, where it is given.
        noting: whether what is opened counts as recalled.
        hits: lines or passages that the last call found; None if it was no search.
        places: what the last call has shown, as `path:line`.
    """

    schemas = _SCHEMAS

    def __init__(
        self,
        folder: Folder,
        now: Callable[[], dt.datetime],
        briefing: Callable[[Folder, dt.date], str] | None = None,
    ) -> None:
        self._folder = folder
        self._config = config.of(folder)
        self._now = now
        self._briefing = briefing
        self.current: CurrentConversation | None = None
        self.find_current: Callable[[], CurrentConversation | None] | None = None
        self.noting = True
        self.open_files: dict[str, OpenedLines] = {}
        self.hits: int | None = None
        self.places: list[str] = []

    def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """Return what a tool answers; nothing is raised for what a model asks.

        Args:
            name: of the tool.
            arguments: of the call, as the model's JSON or parsed.

        Returns:
            The answer; of a wrong call one sentence that says how to put it right.
        """
        self.hits = None
        self.places = []
        try:
            if name not in _TOOLS:
                raise FilememError(
                    f"there is no tool {one_line(str(name))!r}; "
                    f"the tools are {', '.join(_TOOLS)}."
                )
            given = checked(name, arguments, _TOOLS[name])
            if self.find_current:
                self.current = self.find_current()
            return escape_controls(getattr(self, f"_{name}")(**given))
        except (FilememError, OSError) as error:
            return f"Error: {one_line(in_words(error), LONGEST_ERROR)}"

    def _grep(self, pattern: str, **how: Any) -> str:
        """Show the lines that match, with the call that shows the next ones."""
        asked = {"pattern": pattern, **how}
        speaker = how.pop("speaker", None)
        speakers = None
        if speaker:
            corpus = index.of(self._folder).corpus()
            speakers = filters.speaker_names(corpus, speaker)
        today = self._now().date()
        days = filters.bounds(how.pop("after", None), how.pop("before", None), today)
        found = grep(
            self._folder,
            pattern,
            speakers=speakers,
            days=days,
            current=self.current,
            brackets=True,
            **how,
        )
        if found.case_counts:
            found.notes.append(
                "Case counts, as the pattern has a capital; begin it with (?i) if not."
            )
        self.hits = found.total
        self.places = [
            f"{line.path}:{line.line}" for line in found.lines if line.matches
        ]
        return render.grepped(self._folder, found, asked, today)

    def _search_files(self, query: str, **how: Any) -> str:
        """Show the best passages, with the calls that show more of them."""
        today = self._now().date()
        if self._briefing and not query.strip():
            return self._briefing(self._folder, today) or "Nothing is kept yet."
        found = search_files(
            index.of(self._folder), query, today=today, current=self.current, **how
        )
        self.hits = len(found.hits)
        self._folder.tell("recalled", self.hits)
        self.places = [f"{hit.path}:{hit.line}" for hit in found.hits]
        return "\n".join([render.searched(found, today), *render.what_was_cut(found)])

    def _open(self, path: str, line: int = 1, lines: int | None = None) -> str:
        """Show a file's lines; it joins the open files. A citation may be the path."""
        cited = REFERENCE.match(path)
        if line == 1 and cited and cited["line"]:
            path = cited["path"]
            line = max(1, int(cited["line"]))
        shown = self._reopened(path, line, lines)
        where = list(self.open_files)[-1]
        self.places = [f"{where}:{line}"]
        if self.noting:
            self._folder.tell("recalled", 1)
            recalls.note_recall(self._folder, where, recalls.How.OPENED, self._now())
        limit = self._config.open_files
        closed = list(self.open_files)[:-limit]
        for other in closed:
            del self.open_files[other]
        if not closed:
            return shown
        names = ", ".join(closed)
        return f"{shown}\nClosed {names}: at most {limit} files are open at once."

    def _reopened(self, path: str, line: int, lines: int | None) -> str:
        """Return lines of a file, which becomes the most recently used one.

        Args:
            path: as it was, or is.
            line: the first line to show.
            lines: how many; None for all.

        Raises:
            FilememError: there is no such file or line.
        """
        where = self._folder.locate(path)
        budget = self._config.open_tokens
        today = self._now().date()
        shown = render.page(self._folder, where, line, lines, budget, today, path)
        self.open_files.pop(where, None)
        self.open_files[where] = OpenedLines(line, lines)
        return shown

    def _close(self, path: str) -> str:
        """Take a file out of the open ones, by its path now, before, or cited."""
        wanted = path.removeprefix("./").removeprefix("archive/")
        closed = ""
        for name in self.open_files:
            if name.removeprefix("archive/") in (wanted, wanted.rpartition(":")[0]):
                closed = name
        self.open_files.pop(closed, None)
        still = "no file is open"
        if self.open_files:
            still = f"open are {', '.join(self.open_files)}"
        if not closed:
            raise FilememError(f"{one_line(path)} is not open; {still}.")
        return f"Closed {closed}; {still}."

    def pages(self) -> dict[str, str]:
        """Return each open file's lines as they are on disk now, by its path.

        One that is gone says so; one that has moved is open where it is now.
        """
        shown: dict[str, str] = {}
        opened = self.open_files
        self.open_files = {}
        for path, asked in opened.items():
            try:
                text = self._reopened(path, *asked)
            except FilememError as error:
                self.open_files[path] = asked
                text = str(error)
            shown[list(self.open_files)[-1]] = text
        return shown


# -- the check of a call ---------------------------------------------------------------


def checked(
    name: str, arguments: str | dict[str, Any], schema: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call, without those that are null or empty.

    But a query may be empty. A whole number may be written `2.0` or `"2"`, and a text
    as a number.

    Args:
        name: of the tool.
        arguments: an object, or its JSON.
        schema: a JSON Schema of the tool's arguments.

    Raises:
        FilememError: the call is wrong; the sentence says how to put it right.
    """
    try:
        given = arguments
        if isinstance(arguments, str):
            given = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        reason = one_line(str(error), 80)
        raise FilememError(
            f"the arguments of {name} are not valid JSON ({reason}); send an object."
        ) from None
    if not isinstance(given, dict):
        raise FilememError(
            f"the arguments of {name} are no JSON object; send an object."
        )
    known = schema["properties"]
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise FilememError(
                f"{name} has no argument {one_line(key)!r}; "
                f"its arguments are {', '.join(known)}."
            )
        is_blank = isinstance(value, str) and not value.strip() and key != "query"
        if value is not None and not is_blank:  # as models fill what they leave out
            check = _text if known[key]["type"] == "string" else _number
            values[key] = check(f"{key} of {name}", value, known[key])
    for key in schema["required"]:
        if key not in values:
            example = f'{name} {{"{key}": "{_EXAMPLES[key]}"}}'
            raise FilememError(f"{name} needs {key}; call it as {example}.")
    return values


def _text(what: str, value: Any, schema: dict[str, Any]) -> str:
    """Return a text, one of the choices that the schema has.

    Args:
        what: the argument and its tool, as an error names them.
        value: what was sent: text, or a number such as a year.
        schema: of the argument.

    Raises:
        FilememError: it is no text, too long, or none of the choices.
    """
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str) or len(value) > MAX_ARGUMENT_CHARS:
        raise FilememError(
            f"{what} takes text; send at most {MAX_ARGUMENT_CHARS:,} characters."
        )
    choices = schema.get("enum", [value])
    if value not in choices:
        raise FilememError(f"{what} is one of {', '.join(choices)}.")
    return value


def _number(what: str, value: Any, schema: dict[str, Any]) -> int:
    """Return a whole number within its bounds.

    Args:
        what: the argument and its tool, as an error names them.
        value: what was sent: a number, or text that writes one.
        schema: of the argument.

    Raises:
        FilememError: it is no whole number, or out of bounds.
    """
    key = what.partition(" ")[0]
    least = _MIN.get(key, 1)
    most = _MAX.get(key, MAX_NUMBER)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or number % 1 or not least <= number <= most:
        raise FilememError(f"{what} is a whole number from {least:,} to {most:,}.")
    return int(number)
