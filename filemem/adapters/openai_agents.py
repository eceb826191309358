"""OpenAI's Agents SDK."""

from agents import FunctionTool, Tool

from filemem.adapters.shared import memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[Tool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [
        FunctionTool(
            name=one.name,
            description=one.description,
            params_json_schema=one.parameters,
            on_invoke_tool=one.invoke,
            strict_json_schema=False,  # a strict one lets no argument be left out
        )
        for one in memory_tools(user, chat)
    ]
