"""Anthropic's memory tool (`memory_20250818`): its file commands on the user's `notes/`, which it knows as `/memories`.

It is the SDK's own tool for a local folder, so that it answers as that does. What it writes are memories like all others: found
by search, edited by hand, without secrets.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from filemem.api import User
from filemem.errors import FilememError, Refused
from filemem.files import config
from filemem.files.memory import LARGEST
from filemem.text.plain import one_line
from filemem.text.redaction import redact

ROOT, NOTES = "/memories", "notes"
PATHS = ("path", "old_path", "new_path")  # what a command names
WRITTEN = (
    "file_text",
    "new_str",
    "insert_text",
)  # what a command brings of a memory's text


class NotesMemoryTool(BetaLocalFilesystemMemoryTool):
    """The tool for `client.beta.messages.run_tools`, over one user's notes."""

    def __init__(self, user: User) -> None:
        self._folder = user.folder
        user.folder.make()
        self._folder.absolute(NOTES)
        super().__init__(user.folder.root)

    @property
    def memory_root(self) -> Path:
        """Where the notes are."""
        return Path(self._folder.root, NOTES)

    @memory_root.setter
    def memory_root(self, place: Path) -> None:
        """Do nothing: the SDK would make a folder of its own."""

    def execute(self, command: Any) -> Any:
        """Carry out one command; raises ToolError, in a sentence for the model, for what cannot be done."""
        try:
            for key in PATHS:
                self._inside(getattr(command, key, ROOT))
            written = {
                key: getattr(command, key) for key in WRITTEN if hasattr(command, key)
            }
            if any(len(text.encode()) > LARGEST for text in written.values()):
                raise ToolError("That is too large for one file; split it.")
            settings = config.of(self._folder)
            for key, text in written.items() if settings.redact else ():
                setattr(command, key, redact(text)[0])
            with self._folder.locked():
                return super().execute(command)
        except OSError as error:
            raise ToolError(
                f"{os.strerror(error.errno or 0)}; take another path."
            ) from None
        except (
            FilememError,
            NotImplementedError,
            AttributeError,
            TypeError,
            ValueError,
        ) as error:
            raise ToolError(one_line(str(error), 300)) from None

    def _inside(self, name: str) -> None:
        """Raise ToolError for a path that leads out of the notes, by links or odd names too."""
        path = os.path.normpath(name)
        if not f"{name}/".startswith(f"{ROOT}/"):
            raise ToolError(f"Path must start with {ROOT}, got: {one_line(name)}")
        try:
            if not f"{path}/".startswith(f"{ROOT}/"):
                raise Refused(path)
            self._folder.absolute(NOTES + path.removeprefix(ROOT))
        except Refused:
            raise ToolError(
                f"Path {one_line(name, 200)} would escape {ROOT} directory"
            ) from None


class AsyncNotesMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for an asynchronous client."""

    def __init__(self, user: User) -> None:
        super().__init__()
        self._tool = NotesMemoryTool(user)

    async def execute(self, command: Any) -> Any:
        """Carry out one command, as the other tool does, without holding up the event loop."""
        return await asyncio.to_thread(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute
