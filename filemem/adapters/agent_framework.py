"""Microsoft's Agent Framework."""

from agent_framework import FunctionTool

from filemem.adapters.shared import memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[FunctionTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [
        FunctionTool(
            name=one.name,
            description=one.description,
            input_model=one.parameters,
            func=one.arun,
        )
        for one in memory_tools(user, chat)
    ]
