"""Pydantic AI."""

from typing import Any

from pydantic_ai import Tool

from filemem.adapters.shared import memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[Tool[Any]]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [
        Tool.from_schema(one.arun, one.name, one.description, one.parameters)
        for one in memory_tools(user, chat)
    ]
