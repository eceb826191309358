"""Long-term memory for LLM agents that is just a folder of dated Markdown and YAML files."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filemem.agent import Called, Conversation, Notice, Text, Thought
    from filemem.api import Change, Store, User
    from filemem.config import ConfigError
    from filemem.errors import Busy, Changed, FilememError, NotFound, Refused
    from filemem.grep import Match
    from filemem.history.git import GitError
    from filemem.memory import Memory
    from filemem.model import ModelError
    from filemem.problems import Problem
    from filemem.search import Hit
    from filemem.tools import Toolbox

__all__ = [
    "Busy",
    "Called",
    "Change",
    "Changed",
    "ConfigError",
    "Conversation",
    "FilememError",
    "GitError",
    "Hit",
    "Match",
    "Memory",
    "ModelError",
    "NotFound",
    "Notice",
    "Problem",
    "Refused",
    "Store",
    "Text",
    "Thought",
    "Toolbox",
    "User",
]
_HOMES = {
    "Busy": "errors",
    "Called": "agent",
    "Change": "api",
    "Changed": "errors",
    "ConfigError": "config",
    "Conversation": "agent",
    "FilememError": "errors",
    "GitError": "history.git",
    "Hit": "search",
    "Match": "grep",
    "Memory": "memory",
    "ModelError": "model",
    "NotFound": "errors",
    "Notice": "agent",
    "Problem": "problems",
    "Refused": "errors",
    "Store": "api",
    "Text": "agent",
    "Thought": "agent",
    "Toolbox": "tools",
    "User": "api",
}


def __getattr__(name: str) -> Any:
    # Each name is imported when it is first asked for (PEP 562), so that a command pays for what it uses only.
    if name not in _HOMES:
        raise AttributeError(f"module 'filemem' has no attribute {name!r}")
    return getattr(importlib.import_module(f"filemem.{_HOMES[name]}"), name)
