"""Anthropic's memory tool (`memory_20250818`): its file commands on the user's `notes/`, which it knows as `/memories`.

It answers, errors too, as the SDK's own tool does. What it writes are memories like all others: found by search, edited by
hand, contained in the user's folder, without secrets.
"""

import asyncio
import contextlib
import os
import posixpath
import re
from collections import Counter
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from filemem.api import User
from filemem.errors import FilememError, NotFound, Refused
from filemem.files import config
from filemem.files.memory import LARGEST
from filemem.text.plain import one_line
from filemem.text.redaction import redact

ROOT, NOTES = "/memories", "notes"
MOST_LINES = 999_999


class NotesMemoryTool(BetaAbstractMemoryTool):
    """The tool for `client.beta.messages.run_tools`, over one user's notes."""

    def __init__(self, user: User, **settings: Any) -> None:
        super().__init__(**settings)
        self._folder = user.folder

    def execute(self, command: Any) -> Any:
        """Carry out one command; raises ToolError, in a sentence for the model, for what cannot be done."""
        try:
            with self._folder.locked():
                return super().execute(command)
        except Refused:
            name = one_line(getattr(command, "new_path", None) or command.path, 200)
            raise ToolError(f"Path {name} would escape {ROOT} directory") from None
        except (FilememError, NotImplementedError, AttributeError, TypeError, ValueError) as error:
            raise ToolError(one_line(str(error), 300)) from None

    def view(self, command: Any) -> str:
        path, name = _path(command.path), command.path
        if path in self._folders():
            return _listing(self._notes(), path, name.rstrip("/"))
        first, last = command.view_range or (1, -1)
        text = self._text(path, name)
        if text.count("\n") >= MOST_LINES:
            raise ToolError(f"File {name} exceeds maximum line limit of {MOST_LINES:,} lines.")
        return f"Here's the content of {name} with line numbers:\n{_numbered(text, max(1, first), last)}"

    def create(self, command: Any) -> str:
        path = _path(command.path)
        self._free(path, f"File {command.path}")
        if len(command.file_text.encode()) > LARGEST:
            raise ToolError(f"File {command.path} would be too large; split it.")
        self._folder.create(path, self._without_secrets(command.file_text))
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        path, old = _path(command.path), command.old_str
        before = self._text(path, command.path)
        found = [match.start() for match in re.finditer(f"(?={re.escape(old)})", before)] if old else []
        if not found:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
        if len(found) > 1:
            lines = ", ".join(str(before.count("\n", 0, at) + 1) for at in found)
            what = f"Multiple occurrences of old_str `{old}` in lines: {lines}"
            raise ToolError(f"No replacement was performed. {what}. Please ensure it is unique")
        after = before.replace(old, self._without_secrets(command.new_str))
        self._write(path, before, after)
        at = before.count("\n", 0, found[0])
        shown = _numbered(after, max(0, at - 2) + 1, at + 3)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def insert(self, command: Any) -> str:
        path, where = _path(command.path), command.insert_line
        before = self._text(path, command.path)
        lines = before.removesuffix("\n").split("\n") if before else []
        if not 0 <= where <= len(lines):
            what = f"Invalid `insert_line` parameter: {where}"
            raise ToolError(f"{what}. It should be within the range [0, {len(lines)}].")
        lines.insert(where, self._without_secrets(command.insert_text).rstrip("\n"))
        self._write(path, before, "\n".join(lines) + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        for path in self._inside(command.path, "delete"):
            self._folder.delete(path)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        old, new = _path(command.old_path), _path(command.new_path)
        if old != NOTES:
            self._free(new, f"The destination {command.new_path}")
        inside = self._inside(command.old_path, "rename")
        if new.startswith(f"{old}/"):
            raise ToolError(f"{command.old_path} cannot be moved into itself")
        for path in inside:
            self._folder.move(path, new + path.removeprefix(old))
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def _without_secrets(self, text: str) -> str:
        settings = config.of(self._folder)
        return redact(text, settings.own)[0] if settings.redact else text

    def _notes(self) -> dict[str, int]:
        """The size of every note in bytes."""
        return {stat.path: stat.size for stat in self._folder.files() if stat.path.startswith(f"{NOTES}/")}

    def _folders(self) -> set[str]:
        return {NOTES} | {path[:at] for path in self._notes() for at, c in enumerate(path) if c == "/"}

    def _free(self, path: str, what: str) -> None:
        if os.path.lexists(self._folder.absolute(path)):
            raise ToolError(f"{what} already exists")

    def _inside(self, name: str, verb: str) -> list[str]:
        """The notes at a path or below it; raises ToolError where there is none, and for the root."""
        path = _path(name)
        if path == NOTES:
            raise ToolError(f"Cannot {verb} the {ROOT} directory itself")
        self._folder.absolute(path)
        found = [note for note in sorted(self._notes()) if note == path or note.startswith(f"{path}/")]
        if not found:
            raise ToolError(f"The path {name} does not exist")
        return found

    def _text(self, path: str, name: str) -> str:
        if path in self._folders():
            raise ToolError(f"The path {name} is not a file.")
        with contextlib.suppress(NotFound):
            self._folder.absolute(path)
            try:
                return self._folder.read(path, LARGEST).decode()
            except UnicodeDecodeError:
                raise ToolError(f"The file {name} is not a valid UTF-8 text file.") from None
        raise ToolError(f"The path {name} does not exist. Please provide a valid path.")

    def _write(self, path: str, before: str, after: str) -> None:
        """Put a text in the place of the one that was read; raises ToolError where the file has another now."""
        old, new = before.encode(), after.encode("utf-8", "replace")
        if not self._folder.edit(path, lambda data: new if data == old else None) and old != new:
            raise ToolError("The file was changed by somebody else meanwhile, or is no UTF-8; view it and try again.")


class AsyncNotesMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for an asynchronous client."""

    def __init__(self, user: User, **settings: Any) -> None:
        super().__init__(**settings)
        self._tool = NotesMemoryTool(user)

    async def execute(self, command: Any) -> Any:
        """Carry out one command, as the other tool does, without holding up the event loop."""
        return await asyncio.to_thread(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute


def _path(name: str) -> str:
    """A path of the tool as one in the user's folder; raises Refused for one that is not under /memories."""
    if not name.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {one_line(name)}")
    inside = posixpath.normpath(name.rstrip("/"))
    if inside != ROOT and not inside.startswith(f"{ROOT}/"):
        raise Refused(f"{one_line(name)} is not under {ROOT}.")
    return NOTES + inside.removeprefix(ROOT)


def _listing(notes: dict[str, int], path: str, name: str) -> str:
    """What lies in the folder `path`, which the tool calls `name`, two levels deep; `notes` has every file's size in bytes."""
    sizes = Counter({"": 0})
    for note, size in notes.items():
        parts = note.removeprefix(path).split("/") if note.startswith(f"{path}/") else []
        for depth in range(1, min(len(parts), 3) + 1):
            sizes["/".join(parts[:depth]) + "/" * (1 < depth < len(parts))] += size
    head = f"Here're the files and directories up to 2 levels deep in {name}, excluding hidden items:"
    shown = sorted(sizes, key=lambda one: one.rstrip("/").split("/"))
    return "\n".join([head, *(f"{_size(sizes[one])}\t{name}{one}" for one in shown)])


def _numbered(text: str, first: int, last: int) -> str:
    """The lines of a text from one to another, -1 standing for its end, with their numbers."""
    lines = text.split("\n")
    return "\n".join(f"{n:>6}\t{lines[n - 1]}" for n in range(first, min(last % 2**62, len(lines)) + 1))


def _size(count: int) -> str:
    """A size as `du -h` writes it."""
    unit = min(3, max(0, count.bit_length() - 1) // 10)
    return f"{count / 1024**unit:.1f}".removesuffix(".0") + "BKMG"[unit]
