"""The four tools as plain functions, for frameworks that each have their own class."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

from filemem.api import User
from filemem.tools.toolbox import Toolbox


@dataclass(frozen=True)
class MemoryTool:
    """One of the four tools over one user's memories; it answers, and never raises.

    The four of a conversation share the open files, and take turns.
    """

    name: str
    description: str
    parameters: dict[str, Any]  # a JSON Schema
    toolbox: Toolbox
    turn: threading.Lock

    def call(self, arguments: str | dict[str, Any]) -> str:
        """Return the answer to a call with JSON or a mapping."""
        with self.turn:
            return self.toolbox.call(self.name, arguments)

    def run(self, **arguments: Any) -> str:
        """Return the answer to a call with keywords."""
        return self.call(arguments)

    async def arun(self, **arguments: Any) -> str:
        """Return the same, without holding up the event loop."""
        return await self.invoke(None, arguments)

    async def invoke(self, _context: object, arguments: str | dict[str, Any]) -> str:
        """Return the answer to a call with JSON or a mapping, in the same way."""
        return await asyncio.to_thread(self.call, arguments)


def memory_tools(user: User, chat: str = "") -> list[MemoryTool]:
    """Return grep, search_files, open and close over one user's memories.

    Args:
        user: whose memories they are.
        chat: the id under which `user.add_conversation` keeps the conversation going
            on, of which a search then finds nothing.
    """
    toolbox = user.tools(chat=chat)
    turn = threading.Lock()
    return [
        MemoryTool(**one["function"], toolbox=toolbox, turn=turn)
        for one in toolbox.schemas
    ]
