"""OpenAI's Agents SDK."""

import asyncio
from functools import partial
from typing import Any

from agents import FunctionTool

from filemem.adapters.shared import MemoryTool, memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[FunctionTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [_made(one) for one in memory_tools(user, chat)]


def _made(tool: MemoryTool) -> FunctionTool:
    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=partial(_invoke, tool),
        strict_json_schema=False,  # a strict schema lets no argument be left out
    )


async def _invoke(tool: MemoryTool, context: Any, arguments: str) -> str:
    return await asyncio.to_thread(tool.call, arguments)
