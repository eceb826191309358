"""The four tools as plain functions, for frameworks that each have their own class for a tool."""

import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from filemem.api import User
from filemem.files import config
from filemem.files.folder import Folder
from filemem.models import prompt


class MemoryFunction(NamedTuple):
    """One tool: its JSON Schema, and the call, which takes JSON or a mapping and answers with text, never an exception."""

    name: str
    description: str
    parameters: dict[str, Any]
    call: Callable[[str | dict[str, Any]], str]


def functions(user: User) -> list[MemoryFunction]:
    """The four tools over one user's memories; they may be called from several threads, and share the open files."""
    toolbox, lock = user.tools(), threading.Lock()

    def call(name: str, arguments: str | dict[str, Any]) -> str:
        with lock:
            return toolbox.call(name, arguments)

    tools = (schema["function"] for schema in toolbox.schemas)
    described = ((one["name"], one["description"], one["parameters"]) for one in tools)
    return [MemoryFunction(*one, functools.partial(call, one[0])) for one in described]


def standing(folder: Folder) -> str:
    """What stands in every prompt of the chat, such as the profile: blocks, as data between marks; empty without any."""
    settings = config.of(folder)
    found = prompt.read_blocks(folder, [path for path in folder.paths() if path.startswith(prompt.BLOCKS)], settings)
    return "\n\n".join(part.text for part in prompt.block_sections(found, settings.block_tokens))
