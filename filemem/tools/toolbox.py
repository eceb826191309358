"""The four tools of an agent: their schemas, the check of a call, the open files. Text in, text out, never an exception."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filemem import index
from filemem.errors import FilememError, NotFound
from filemem.files import config, journal
from filemem.files.folder import CurrentConversation, Folder
from filemem.grep import example, grep
from filemem.search import filters, search_files
from filemem.text.plain import escape_controls, one_line
from filemem.tools import answers

_SCHEMAS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "prompts/tools.json").read_text(encoding="utf-8")
)
_TOOLS: dict[str, dict[str, Any]] = {one["function"]["name"]: one["function"]["parameters"] for one in _SCHEMAS}
_WORDS = {"string": "text", "integer": "a whole number"}
_EXAMPLES = {
    "pattern": "oolong",
    "query": "What tea do I like?",
    "path": "profile.md",
    "text": "Prefers oolong tea.",
    "id": "profile.md",
}
LONGEST_ERROR = 1000  # characters
_BOUNDS = {
    **{"context": (0, 20), "offset": (0, 10**9), "limit": (1, 200), "line": (1, 10**9), "lines": (1, 10**6)},
    "importance": (1, 10),
}


class _WrongCall(FilememError):
    """A call whose tool or arguments are not right."""


class Toolbox:
    """The four tools over one user's memories; remembers which files are open, the least recently used first."""

    schemas = _SCHEMAS

    def __init__(self, folder: Folder, now: Callable[[], dt.datetime]) -> None:
        self._folder = folder
        self._config = config.of(folder)
        self._now = now
        self.current: CurrentConversation | None = None
        self.noting = True  # does what is opened count as recalled?
        self.open_files: dict[str, tuple[int, int | None]] = {}
        self._tools: dict[str, Callable[..., str]] = {
            "grep": self._grep,
            "search_files": self._search_files,
            "open": self.open,
            "close": self._close,
        }
        self.hits: int | None = None  # lines or passages that the last call found, where it was a search
        self.places: list[str] = []  # of what the last call has shown, as `path:line`

    def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """What the tool answers; a wrong call is answered with one sentence that says how to put it right."""
        self.hits, self.places = None, []
        try:
            if name not in _TOOLS:
                raise _WrongCall(f"there is no tool {one_line(name)!r}; the tools are {', '.join(_TOOLS)}.")
            tools: dict[str, Callable[..., str]] = {
                "grep": self._grep,
                "search_files": self._search_files,
                "open": self.open,
                "close": self._close,
            }
            return escape_controls(tools[name](**checked(name, arguments, _TOOLS[name])))
        except FilememError as error:
            return f"Error: {one_line(str(error), LONGEST_ERROR)}"

    def _grep(
        self, pattern: str, path: str | None = None, speaker: str | None = None, context: int = 0, offset: int = 0
    ) -> str:
        corpus = index.of(self._folder).corpus()
        found = grep(
            self._folder,
            corpus,
            pattern,
            path=path,
            said_by=filters.said_by(corpus, speaker),
            context=context,
            offset=offset,
            current=self.current,
            brackets=True,
        )
        self.hits = found.total
        self.places = [f"{line.path}:{line.line}" for line in found.lines if line.matches]
        if not found.total and (line := example(self._folder, corpus, path)):
            shown = one_line(line, answers.LONGEST_LEAD)
            found.notes.append(f"A line here reads {shown!r}; search_files finds what is said in other words.")
        asked = {"pattern": pattern, "path": path, "speaker": speaker, "context": context or None}
        return answers.grepped(self._folder, found, asked)

    def _search_files(self, query: str, **filters: Any) -> str:
        found = search_files(index.of(self._folder), query, today=self._now().date(), current=self.current, **filters)
        self.hits = len(found.hits)
        self.places = [f"{hit.path}:{hit.line}" for hit in found.hits]
        return answers.searched(found)

    def open(self, path: str, line: int = 1, lines: int | None = None) -> str:
        """The file's lines from `line` on; it joins the open files. Raises FilememError where it cannot be shown."""
        path, line = self._with_line(path, line)
        where = self._folder.locate(path)
        shown = answers.page(self._folder, where, line, lines, self._config.open_tokens, moved_from=path)
        self.open_files.pop(where, None)
        self.open_files[where] = (line, lines)
        self.places = [f"{where}:{line}"]
        if self.noting:
            journal.note_recall(self._folder, where, journal.OPENED, self._now())
        closed = []
        while len(self.open_files) > self._config.open_files:
            closed.append(next(iter(self.open_files)))
            del self.open_files[closed[-1]]
        if closed:
            shown += f"\nClosed {', '.join(closed)}: at most {self._config.open_files} files are open at once."
        return shown

    def _with_line(self, path: str, line: int) -> tuple[str, int]:
        """A path and line, also from a citation, `path:line`, given as the path."""
        cited, _, number = path.rpartition(":")
        if line == 1 and cited and number.isascii() and number.isdigit() and 0 < len(number) < 10:
            with contextlib.suppress(NotFound):
                self._folder.locate(cited)
                return cited, max(1, int(number))
        return path, line

    def _close(self, path: str) -> str:
        path = path.removeprefix("./")
        for candidate in (path, f"archive/{path}", path.removeprefix("archive/"), path.rpartition(":")[0]):
            if candidate in self.open_files:
                del self.open_files[candidate]
                return f"Closed {candidate}; {self._still_open()}."
        raise _WrongCall(f"{one_line(path)} is not open; {self._still_open()}.")

    def _still_open(self) -> str:
        return f"open are {', '.join(self.open_files)}" if self.open_files else "no file is open"

    def pages(self) -> list[tuple[str, str]]:
        """The open files as they are on disk now, each path with its numbered lines; one that is gone says so."""
        shown: dict[str, str] = {}
        opened, self.open_files = self.open_files, {}
        for path, (line, lines) in opened.items():
            where = path
            try:
                where = self._folder.locate(path)
                text = answers.page(self._folder, where, line, lines, self._config.open_tokens, moved_from=path)
            except FilememError as error:
                text = str(error)
            self.open_files[where] = (line, lines)
            shown[where] = text
        return list(shown.items())


def checked(name: str, arguments: str | dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a right call of a tool with this JSON Schema; raises FilememError with the sentence for a wrong one."""
    given, known = _parsed(name, arguments, schema), schema["properties"]
    for key, value in given.items():
        if key not in known:
            raise _WrongCall(f"{name} has no argument {one_line(key)!r}; its arguments are {', '.join(known)}.")
        if value is not None:
            _check_value(name, key, value, known[key]["type"])
    # Models fill what they leave out with null or with empty text.
    told = {key: value for key, value in given.items() if value is not None and str(value).strip()}
    for needed in (one for one in schema["required"] if one not in told):
        raise _WrongCall(f'{name} needs {needed}, for example {name} {{"{needed}": "{_EXAMPLES[needed]}"}}.')
    return told


def _parsed(name: str, arguments: str | dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments as a mapping, from the model's JSON."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise _WrongCall(
                f"the arguments of {name} are no valid JSON ({one_line(str(error), 80)}); send an object."
            ) from None
    if not isinstance(arguments, dict):
        (needed,) = schema["required"]
        raise _WrongCall(f'the arguments of {name} are no JSON object; send {{"{needed}": …}}.')
    return arguments


def _check_value(name: str, key: str, value: Any, kind: str) -> None:
    """Raise _WrongCall where the value of an argument has the wrong type or size."""
    right = isinstance(value, str) if kind == "string" else isinstance(value, int) and not isinstance(value, bool)
    if not right:
        raise _WrongCall(f"{key} of {name} takes {_WORDS[kind]}, not {one_line(json.dumps(value, default=str), 60)}.")
    least, most = _BOUNDS.get(key, (0, 0))
    if kind == "integer" and not least <= value <= most:
        raise _WrongCall(f"{key} of {name} is a whole number from {least:,} to {most:,}.")
    if kind == "string" and len(value) > 10_000:
        raise _WrongCall(f"{key} of {name} is {len(value):,} characters long; send at most 10,000.")
