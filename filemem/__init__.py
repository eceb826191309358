"""Long-term memory for LLM agents: a folder of dated Markdown and YAML files."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filemem.api import Store as Store
    from filemem.api import User as User
    from filemem.chat.conversation import Conversation as Conversation
    from filemem.chat.listener import Notice as Notice
    from filemem.chat.listener import Text as Text
    from filemem.chat.listener import ToolCalled as ToolCalled
    from filemem.errors import Busy as Busy
    from filemem.errors import Changed as Changed
    from filemem.errors import FilememError as FilememError
    from filemem.errors import NotFound as NotFound
    from filemem.errors import Problem as Problem
    from filemem.errors import Refused as Refused
    from filemem.git.command import GitError as GitError
    from filemem.learn.records import Decision as Decision
    from filemem.llm.model import ModelError as ModelError
    from filemem.search.results import Hit as Hit
    from filemem.store.config import ConfigError as ConfigError
    from filemem.store.memory import Memory as Memory
    from filemem.tools.grep import Match as Match
    from filemem.tools.toolbox import Toolbox as Toolbox

_HOMES = {
    "Busy": "errors",
    "Changed": "errors",
    "ConfigError": "store.config",
    "Conversation": "chat.conversation",
    "Decision": "learn.records",
    "FilememError": "errors",
    "GitError": "git.command",
    "Hit": "search.results",
    "Match": "tools.grep",
    "Memory": "store.memory",
    "ModelError": "llm.model",
    "NotFound": "errors",
    "Notice": "chat.listener",
    "Problem": "errors",
    "Refused": "errors",
    "Store": "api",
    "Text": "chat.listener",
    "ToolCalled": "chat.listener",
    "Toolbox": "tools.toolbox",
    "User": "api",
}
"""The module of each public name."""
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # Each is imported when it is first asked for (PEP 562), as a grep needs none.
    if name not in _HOMES:
        raise AttributeError(f"module 'filemem' has no attribute {name!r}")
    return getattr(importlib.import_module(f"filemem.{_HOMES[name]}"), name)
