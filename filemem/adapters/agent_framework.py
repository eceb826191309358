"""Microsoft's Agent Framework."""

from agent_framework import FunctionTool

from filemem.adapters.shared import MemoryTool, memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[FunctionTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [_made(one) for one in memory_tools(user, chat)]


def _made(tool: MemoryTool) -> FunctionTool:
    return FunctionTool(
        name=tool.name,
        description=tool.description,
        input_model=tool.parameters,
        func=tool.arun,
    )
