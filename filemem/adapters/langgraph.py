"""LangGraph and LangChain."""

from langchain_core.tools import StructuredTool

from filemem.adapters.shared import MemoryTool, memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[StructuredTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [_made(one) for one in memory_tools(user, chat)]


def _made(tool: MemoryTool) -> StructuredTool:
    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.parameters,
        func=tool.run,
        coroutine=tool.arun,
    )
