"""The four tools as plain functions, for frameworks that each have their own class for a tool."""

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from filemem.api import User
from filemem.files.folder import CurrentConversation


class MemoryFunction(NamedTuple):
    """One tool: its JSON Schema, and the call, which takes JSON or a mapping and answers with text, never an exception."""

    name: str
    description: str
    parameters: dict[str, Any]
    call: Callable[[str | dict[str, Any]], str]

    def run(self, **arguments: Any) -> str:
        """The answer to a call."""
        return self.call(arguments)

    async def arun(self, **arguments: Any) -> str:
        """The answer to a call, without holding up the event loop."""
        return await asyncio.to_thread(self.call, arguments)


def functions(user: User, current: Callable[[], CurrentConversation | None] = lambda: None) -> list[MemoryFunction]:
    """The four tools over one user's memories; they may be called from several threads, and share the open files.

    `current` is asked for the conversation going on, which a search leaves out.
    """
    toolbox, lock = user.tools(), threading.Lock()

    def call(name: str, arguments: str | dict[str, Any]) -> str:
        with lock:
            toolbox.current = current()
            return toolbox.call(name, arguments)

    tools = (schema["function"] for schema in toolbox.schemas)
    described = ((one["name"], one["description"], one["parameters"]) for one in tools)
    return [MemoryFunction(*one, functools.partial(call, one[0])) for one in described]
