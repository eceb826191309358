"""The four tools of an agent: their schemas, the check of a call, the open files. Text in, text out, never an exception."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filemem import index
from filemem.errors import FilememError
from filemem.files import config, journal
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import REFERENCE
from filemem.grep.lines import example, grep
from filemem.search import question
from filemem.search.searching import search_files
from filemem.text.plain import escape_controls, one_line
from filemem.tools import answers

_SCHEMAS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "prompts/tools.json").read_text("utf-8")
)
_TOOLS: dict[str, dict[str, Any]] = {
    one["function"]["name"]: one["function"]["parameters"] for one in _SCHEMAS
}
_EXAMPLES = {
    "pattern": "oolong",
    "query": "What tea do I like?",
    "text": "Prefers oolong tea.",
}  # else profile.md
_FROM_NOUGHT = ("context", "offset")  # other numbers are from 1
_MOST = {"context": 20, "limit": 200, "importance": 10}  # other numbers up to a billion
LONGEST_ERROR = 1000  # characters
LONGEST_TEXT = 10_000  # characters of an argument


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
        self.hits: int | None = (
            None  # lines or passages that the last call found, where it was a search
        )
        self.places: list[str] = []  # of what the last call has shown, as `path:line`

    def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """What the tool answers; a wrong call is answered with one sentence that says how to put it right."""
        self.hits, self.places = None, []
        try:
            if name not in _TOOLS:
                raise FilememError(
                    f"there is no tool {one_line(str(name))!r}; the tools are {', '.join(_TOOLS)}."
                )
            answer: str = getattr(self, f"_{name}")(
                **checked(name, arguments, _TOOLS[name])
            )
            return escape_controls(answer)
        except FilememError as error:
            return f"Error: {one_line(str(error), LONGEST_ERROR)}"

    def _grep(self, pattern: str, speaker: str | None = None, **asked: Any) -> str:
        said_by = (
            question.said_by(index.of(self._folder).corpus(), speaker)
            if speaker
            else None
        )
        found = grep(
            self._folder,
            pattern,
            said_by=said_by,
            current=self.current,
            brackets=True,
            **asked,
        )
        self.hits = found.total
        self.places = [
            f"{line.path}:{line.line}" for line in found.lines if line.matches
        ]
        if not found.total and (line := example(self._folder, asked.get("path"))):
            shown = one_line(line, answers.LONGEST_LEAD)
            found.notes.append(
                f"A line here reads {shown!r}; search_files finds what is said in other words."
            )
        return answers.grepped(
            self._folder, found, {"pattern": pattern, "speaker": speaker, **asked}
        )

    def _search_files(self, query: str, **asked: Any) -> str:
        found = search_files(
            index.of(self._folder),
            query,
            today=self._now().date(),
            current=self.current,
            **asked,
        )
        self.hits = len(found.hits)
        self.places = [f"{hit.path}:{hit.line}" for hit in found.hits]
        return answers.searched(found)

    def _open(self, path: str, line: int = 1, lines: int | None = None) -> str:
        """The file's lines from `line` on, also from a citation, `path:line`, given as the path; it joins the open files."""
        cited = REFERENCE.match(path)
        if line == 1 and cited and cited["line"]:
            path, line = cited["path"], max(1, int(cited["line"]))
        where, shown = self._page(path, line, lines)
        self.open_files.pop(where, None)
        self.open_files[where] = (line, lines)
        self.places = [f"{where}:{line}"]
        if self.noting:
            journal.note_recall(self._folder, where, journal.OPENED, self._now())
        if closed := [*self.open_files][: -self._config.open_files]:
            self.open_files = {
                path: asked
                for path, asked in self.open_files.items()
                if path not in closed
            }
            shown += f"\nClosed {', '.join(closed)}: at most {self._config.open_files} files are open at once."
        return shown

    def _page(self, path: str, line: int, lines: int | None) -> tuple[str, str]:
        """Where a file lies now, and its lines."""
        where = self._folder.locate(path)
        return where, answers.page(
            self._folder, where, line, lines, self._config.open_tokens, moved_from=path
        )

    def _close(self, path: str) -> str:
        path = path.removeprefix("./")
        names = (
            path,
            f"archive/{path}",
            path.removeprefix("archive/"),
            path.rpartition(":")[0],
        )
        found = next((name for name in names if name in self.open_files), "")
        self.open_files.pop(found, None)
        still = (
            f"open are {', '.join(self.open_files)}"
            if self.open_files
            else "no file is open"
        )
        if not found:
            raise FilememError(f"{one_line(path)} is not open; {still}.")
        return f"Closed {found}; {still}."

    def pages(self) -> list[tuple[str, str]]:
        """The open files as they are on disk now, each path with its numbered lines; one that is gone says so."""
        shown: dict[str, str] = {}
        opened, self.open_files = self.open_files, {}
        for path, asked in opened.items():
            try:
                where, text = self._page(path, *asked)
            except FilememError as error:
                where, text = path, str(error)
            self.open_files[where], shown[where] = asked, text
        return list(shown.items())


def checked(
    name: str, arguments: str | dict[str, Any], schema: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a right call of a tool with this JSON Schema; raises FilememError with the sentence for a wrong one."""
    known, needs = schema["properties"], schema["required"]
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            why = one_line(str(error), 80)
            raise FilememError(
                f"the arguments of {name} are not valid JSON ({why}); send an object."
            ) from None
    if not isinstance(arguments, dict):
        raise FilememError(
            f'the arguments of {name} are not a JSON object; send {{"{needs[0]}": …}}.'
        )
    for key, value in arguments.items():
        if key not in known:
            raise FilememError(
                f"{name} has no argument {one_line(key)!r}; its arguments are {', '.join(known)}."
            )
        if value is not None and (fault := _fault(key, value, known[key]["type"])):
            raise FilememError(f"{key} of {name} {fault}.")
    # Models fill what they leave out with null or with empty text.
    told = {
        key: value
        for key, value in arguments.items()
        if value is not None and str(value).strip()
    }
    for needed in (one for one in needs if one not in told):
        value = _EXAMPLES.get(needed, "profile.md")
        raise FilememError(
            f'{name} needs {needed}; call it as {name} {{"{needed}": "{value}"}}.'
        )
    return told


def _fault(key: str, value: Any, kind: str) -> str:
    """What is wrong with the type or size of an argument; empty where nothing is."""
    if isinstance(value, bool) or not isinstance(
        value, str if kind == "string" else int
    ):
        wants = "text" if kind == "string" else "a whole number"
        return f"takes {wants}, not {one_line(json.dumps(value, default=str), 60)}"
    if isinstance(value, str):
        return (
            f"is {len(value):,} characters long; send at most {LONGEST_TEXT:,}"
            if len(value) > LONGEST_TEXT
            else ""
        )
    least, most = int(key not in _FROM_NOUGHT), _MOST.get(key, 10**9)
    return (
        ""
        if least <= value <= most
        else f"is a whole number from {least:,} to {most:,}"
    )
