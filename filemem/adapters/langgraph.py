"""LangGraph and LangChain."""

from langchain_core.tools import StructuredTool

from filemem.adapters.shared import memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[StructuredTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [
        StructuredTool(
            name=one.name,
            description=one.description,
            args_schema=one.parameters,
            func=one.run,
            coroutine=one.arun,
        )
        for one in memory_tools(user, chat)
    ]
