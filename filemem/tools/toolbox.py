"""The four tools of an agent: their schemas, the check of a call, the open files. Text in, text out, never an exception."""

import contextlib
import datetime as dt
import json
from collections.abc import Callable
from typing import Any

from filemem import index
from filemem.errors import FilememError, NotFound
from filemem.files import config, recalls
from filemem.files.folder import Current, Folder
from filemem.grep import example, grep
from filemem.search import Found, search_files
from filemem.text.plain import escape_controls, one_line
from filemem.tools import answers

_PATH = "path or glob of the files to look at, e.g. facts/** or sessions/2026/** (archive/** for archived ones alone)"
_ARGUMENTS: dict[str, dict[str, tuple[str, str]]] = {
    "grep": {
        "pattern": (
            "string",
            "regular expression, matched line by line; ignores case unless it holds a capital letter; \\b marks the edge "
            "of a word, e.g. \\boolong\\b|乌龙",
        ),
        "path": ("string", _PATH),
        "context": ("integer", "lines to show before and after each match, 0 to 20 (default 0)"),
        "offset": ("integer", "number of matches to pass over, to read on where an answer was cut (default 0)"),
    },
    "search_files": {
        "query": (
            "string",
            "words or a whole question, as it was asked; best passages first, or in time where it asks for the first, the "
            "latest, or an order (in order, timeline, over time; 第一次, 最近一次, 按时间)",
        ),
        "limit": ("integer", "most passages to return, 1 to 200 (default: as many as are worth reading)"),
        "path": ("string", _PATH),
        "speaker": ("string", "only what this person said, e.g. Caroline"),
        "after": ("string", "only from this day on: 2026-05-08, 2026-05, last week"),
        "before": ("string", "only up to this day: 2026-05-08, 2026-05, last week"),
    },
    "open": {
        "path": ("string", "the file's path, as grep and search_files show it"),
        "line": ("integer", "first line to show, from 1 (default 1)"),
        "lines": ("integer", "how many lines to show (default: as many as fit)"),
    },
    "close": {"path": ("string", "path of an open file")},
}
_REQUIRED = {"grep": "pattern", "search_files": "query", "open": "path", "close": "path"}
_PURPOSE = {
    "grep": "Find the lines in memory that match a regular expression, newest file first. For exact words, names, numbers.",
    "search_files": "Find the passages in memory that best answer a question. Use this first, with the question itself.",
    "open": "Read a memory file by line. It stays in the prompt, re-read from disk at every step, until closed.",
    "close": "Take an open file out of the prompt again.",
}
_WORDS = {"string": "text", "integer": "a whole number"}
LONGEST_ERROR = 1000  # characters
_BOUNDS = {"context": (0, 20), "offset": (0, 10**9), "limit": (1, 200), "line": (1, 10**9), "lines": (1, 10**6)}


def schema(name: str) -> dict[str, Any]:
    """One tool as the OpenAI API describes a function."""
    properties = {}
    for key, (kind, text) in _ARGUMENTS[name].items():
        properties[key] = {"type": kind, "description": text}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": [_REQUIRED[name]],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": _PURPOSE[name], "parameters": parameters}}


class _WrongCall(FilememError):
    """A call whose tool or arguments are not right."""


class Toolbox:
    """The four tools over one user's memories; remembers which files are open, the least recently used first."""

    schemas = [schema(name) for name in _ARGUMENTS]

    def __init__(self, folder: Folder, now: Callable[[], dt.datetime]) -> None:
        self._folder = folder
        self._index = index.of(folder)
        self._config = config.of(folder)
        self._now = now
        self.current: Current | None = None
        self.open_files: dict[str, tuple[int, int | None]] = {}
        self.found: list[Found] = []  # what the last two searches found, for a responder that quotes passages

    def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """What the tool answers; a wrong call is answered with one sentence that says how to put it right."""
        try:
            return escape_controls(self._answer(name, _check(name, arguments)))
        except FilememError as error:
            return f"Error: {one_line(str(error), LONGEST_ERROR)}"

    def _answer(self, name: str, checked: dict[str, Any]) -> str:
        match name:
            case "grep":
                return self._grep(**checked)
            case "search_files":
                return self._search_files(**checked)
            case "open":
                return self.open(**checked)
            case _:
                return self._close(**checked)

    def _grep(self, pattern: str, path: str | None = None, context: int = 0, offset: int = 0) -> str:
        corpus = self._index.corpus()
        found = grep(self._folder, corpus, pattern, path=path, context=context, offset=offset, current=self.current)
        if not found.total and (line := example(self._folder, corpus, path)):
            found.notes.append(answers.line_like(line))
        return answers.grepped(self._folder, found, {"pattern": pattern, **_given(path=path, context=context or None)})

    def _search_files(self, query: str, **filters: Any) -> str:
        found = search_files(self._index, query, today=self._now().date(), current=self.current, **filters)
        self.found = [*self.found[-1:], found]
        return answers.searched(found, {"query": query, **filters})

    def open(self, path: str, line: int = 1, lines: int | None = None) -> str:
        """The file's lines from `line` on; it joins the open files. Raises FilememError where it cannot be shown."""
        path, line = self._with_line(path, line)
        where = self._folder.locate(path)
        shown = answers.page(self._folder, where, line, lines, self._config.open_tokens, moved_from=path)
        self.open_files.pop(where, None)
        self.open_files[where] = (line, lines)
        recalls.note(self._folder, where, recalls.OPENED, self._now())
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


def _check(name: str, arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The arguments of a right call; raises _WrongCall with the sentence for a wrong one."""
    if name not in _ARGUMENTS:
        raise _WrongCall(f"there is no tool {one_line(name)!r}; the tools are {', '.join(_ARGUMENTS)}.")
    given = _parsed(name, arguments)
    known = _ARGUMENTS[name]
    for key, value in given.items():
        if key not in known:
            raise _WrongCall(f"{name} has no argument {one_line(key)!r}; its arguments are {', '.join(known)}.")
        if value is not None:
            _check_value(name, key, value)
    # Models fill what they leave out with null or with empty text.
    told = {key: value for key, value in given.items() if value is not None and str(value).strip()}
    needed = _REQUIRED[name]
    if needed not in told:
        raise _WrongCall(f'{name} needs {needed}, for example {name} {{"{needed}": "{_EXAMPLES[needed]}"}}.')
    return told


def _parsed(name: str, arguments: str | dict[str, Any]) -> dict[str, Any]:
    """The arguments as a mapping, from the model's JSON."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise _WrongCall(
                f"the arguments of {name} are no valid JSON ({one_line(str(error), 80)}); send an object."
            ) from None
    if not isinstance(arguments, dict):
        raise _WrongCall(f'the arguments of {name} are no JSON object; send {{"{_REQUIRED[name]}": …}}.')
    return arguments


def _check_value(name: str, key: str, value: Any) -> None:
    """Raise _WrongCall where the value of an argument has the wrong type or size."""
    kind = _ARGUMENTS[name][key][0]
    right = isinstance(value, str) if kind == "string" else isinstance(value, int) and not isinstance(value, bool)
    if not right:
        raise _WrongCall(f"{key} of {name} takes {_WORDS[kind]}, not {one_line(json.dumps(value, default=str), 60)}.")
    least, most = _BOUNDS.get(key, (0, 0))
    if kind == "integer" and not least <= value <= most:
        raise _WrongCall(f"{key} of {name} is a whole number from {least:,} to {most:,}.")
    if kind == "string" and len(value) > 10_000:
        raise _WrongCall(f"{key} of {name} is {len(value):,} characters long; send at most 10,000.")


def _given(**arguments: Any) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if value is not None}


_EXAMPLES = {"pattern": "oolong", "query": "What tea do I like?", "path": "profile.md"}
