"""Long-term memory for LLM agents that is just a folder of dated Markdown and YAML files."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filemem.api import Change, Store, User
    from filemem.chat.conversation import Conversation, Notice, Text, ToolCalled
    from filemem.errors import Busy, Changed, FilememError, NotFound, Problem, Refused
    from filemem.files.config import ConfigError
    from filemem.files.memory import Memory
    from filemem.grep import Match
    from filemem.history.git import GitError
    from filemem.models import ModelError
    from filemem.search import Hit
    from filemem.tools.toolbox import Toolbox

__all__ = [
    "Busy",
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
    "ToolCalled",
    "Toolbox",
    "User",
]
_HOMES = {
    "Busy": "errors",
    "Change": "api",
    "Changed": "errors",
    "ConfigError": "files.config",
    "Conversation": "chat.conversation",
    "FilememError": "errors",
    "GitError": "history.git",
    "Hit": "search",
    "Match": "grep",
    "Memory": "files.memory",
    "ModelError": "models",
    "NotFound": "errors",
    "Notice": "chat.conversation",
    "Problem": "errors",
    "Refused": "errors",
    "Store": "api",
    "Text": "chat.conversation",
    "ToolCalled": "chat.conversation",
    "Toolbox": "tools.toolbox",
    "User": "api",
}


def __getattr__(name: str) -> Any:
    # Each name is imported when it is first asked for (PEP 562), so that a command only pays for what it uses.
    if name not in _HOMES:
        raise AttributeError(f"module 'filemem' has no attribute {name!r}")
    return getattr(importlib.import_module(f"filemem.{_HOMES[name]}"), name)
