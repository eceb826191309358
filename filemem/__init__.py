"""Long-term memory for LLM agents that is just a folder of dated Markdown and YAML files."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filemem.errors import FilememError
    from filemem.grep import Match
    from filemem.memory import Memory
    from filemem.problems import Problem
    from filemem.search import Hit
    from filemem.store import Store, User
    from filemem.tools import Toolbox

__all__ = ["FilememError", "Hit", "Match", "Memory", "Problem", "Store", "Toolbox", "User"]
_HOMES = {
    "FilememError": "errors",
    "Hit": "search",
    "Match": "grep",
    "Memory": "memory",
    "Problem": "problems",
    "Store": "store",
    "Toolbox": "tools",
    "User": "store",
}


def __getattr__(name: str) -> Any:
    # Each name is imported when it is first asked for (PEP 562), so that a command pays for what it uses only.
    if name not in _HOMES:
        raise AttributeError(f"module 'filemem' has no attribute {name!r}")
    return getattr(importlib.import_module(f"filemem.{_HOMES[name]}"), name)
