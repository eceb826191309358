"""What agents' tools did, as their conversations tell it: a line a call in `.filemem/calls.jsonl`, secrets out, shortened.

Lines are only ever added, so that two clones merge by union. filemem's own four tools stand in the traces instead.
"""

import contextlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from filemem.files import disk, logs, trace
from filemem.files.folder import Folder

NAME = "calls.jsonl"
SHORT = 200  # characters of what was asked, and of an error


class MadeCall(NamedTuple):
    """One call: `id` is its own among all, `at` ISO 8601 or empty, `error` empty where it succeeded."""

    id: str
    at: str
    tool: str
    asked: str
    error: str
    milliseconds: int
    session: str


def add(folder: Folder, calls: Iterable[MadeCall]) -> None:
    """Note calls, those that are known aside; raises FilememError or OSError."""
    with folder.locked():
        known = {one.id for one in _noted(folder)}
        new = [one for one in calls if one.id not in known]
        _append(folder, (one._asdict() for one in new))


def read(folder: Folder) -> list[MadeCall]:
    """Every call that is known, oldest first, with those of filemem's own tools that its traces tell of."""
    own = (_traced(name, step) for name in trace.sessions(folder) for step in enumerate(trace.read(folder, name)))
    return sorted([*_noted(folder), *filter(None, own)], key=lambda one: one.at)


def lessons(folder: Folder) -> dict[str, str]:
    """The path of the lesson that was written about each tool."""
    return {str(entry["lesson"]): str(entry["path"]) for entry in _entries(folder) if {*entry} >= {"lesson", "path"}}


def wrote(folder: Folder, tool: str, path: str) -> None:
    """Note that a tool's lesson was written, so that it is not written again where the person deletes it."""
    with folder.locked():
        _append(folder, [{"lesson": tool, "path": path}])


def _append(folder: Folder, entries: Iterable[dict[str, Any]]) -> None:
    if lines := b"".join(map(logs.line, entries)):
        disk.log(folder.bookkeeping(NAME), lines)


def _noted(folder: Folder) -> list[MadeCall]:
    found = []
    for entry in _entries(folder):
        with contextlib.suppress(TypeError, ValueError):
            call = MadeCall(**entry)
            found.append(call._replace(milliseconds=int(call.milliseconds), at=str(call.at), tool=str(call.tool)))
    return found


def _entries(folder: Folder) -> list[dict[str, Any]]:
    with contextlib.suppress(OSError):
        return [entry for entry in logs.values(folder.bookkeeping(NAME)) if isinstance(entry, dict)]
    return []


def _traced(session: str, numbered: tuple[int, dict[str, Any]]) -> MadeCall | None:
    """The call of one of filemem's own tools that a step tells of."""
    number, step = numbered
    if step.get("kind") != "call":
        return None
    answer, asked = str(step.get("answer", "")), str(step.get("arguments", ""))[:SHORT]
    error = answer.removeprefix("Error: ")[:SHORT] if answer.startswith("Error: ") else ""
    spent = step.get("milliseconds")
    at, tool = str(step.get("at", "")), str(step.get("name", ""))
    return MadeCall(f"{session}#{number}", at, tool, asked, error, spent if isinstance(spent, int) else 0, session)
