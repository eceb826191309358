"""Long-term memory for LLM agents: a folder of dated Markdown and YAML files."""

import importlib
from typing import TYPE_CHECKING, Any

# What a type checker reads; to a running program `_PLACES` says the same. `as` has each
# be a public name.
if TYPE_CHECKING:
    from filemem.api import Conversation as Conversation
    from filemem.api import Forgotten as Forgotten
    from filemem.api import Info as Info
    from filemem.api import Proposed as Proposed
    from filemem.api import Store as Store
    from filemem.api import User as User
    from filemem.chat.listener import Notice as Notice
    from filemem.chat.listener import Text as Text
    from filemem.chat.listener import ToolCalled as ToolCalled
    from filemem.errors import Busy as Busy
    from filemem.errors import Changed as Changed
    from filemem.errors import DiskError as DiskError
    from filemem.errors import FilememError as FilememError
    from filemem.errors import NotFound as NotFound
    from filemem.errors import Problem as Problem
    from filemem.errors import Refused as Refused
    from filemem.git.command import GitError as GitError
    from filemem.importers import ImportReport as ImportReport
    from filemem.learn.records import Claim as Claim
    from filemem.learn.records import Decision as Decision
    from filemem.llm.client import OpenAIModel as OpenAIModel
    from filemem.llm.model import Model as Model
    from filemem.llm.model import ModelError as ModelError
    from filemem.llm.model import PromptTooLong as PromptTooLong
    from filemem.llm.model import Reply as Reply
    from filemem.llm.model import ToolCall as ToolCall
    from filemem.llm.model import ToolsRefused as ToolsRefused
    from filemem.llm.model import Usage as Usage
    from filemem.overview import Counts as Counts
    from filemem.overview import KindCount as KindCount
    from filemem.reports import Report as Report
    from filemem.reports import Waits as Waits
    from filemem.search.results import Hit as Hit
    from filemem.store.config import ConfigError as ConfigError
    from filemem.store.heard import MemoryEvent as MemoryEvent
    from filemem.store.memory import Memory as Memory
    from filemem.store.paths import Kind as Kind
    from filemem.tools.grep import Match as Match
    from filemem.tools.toolbox import Toolbox as Toolbox

_PLACES = {
    "api": "Conversation Forgotten Info Proposed Store User",
    "chat.listener": "Notice Text ToolCalled",
    "errors": "Busy Changed DiskError FilememError NotFound Problem Refused",
    "git.command": "GitError",
    "importers": "ImportReport",
    "learn.records": "Claim Decision",
    "llm.client": "OpenAIModel",
    "llm.model": "Model ModelError PromptTooLong Reply ToolCall ToolsRefused Usage",
    "overview": "Counts KindCount",
    "reports": "Report Waits",
    "search.results": "Hit",
    "store.config": "ConfigError",
    "store.heard": "MemoryEvent",
    "store.memory": "Memory",
    "store.paths": "Kind",
    "tools.grep": "Match",
    "tools.toolbox": "Toolbox",
}
_HOMES = {name: home for home, names in _PLACES.items() for name in names.split()}
"""The module of each public name."""
__all__ = sorted(_HOMES)

if not TYPE_CHECKING:  # to a type checker a wrong name is one

    def __getattr__(name: str) -> Any:
        # Each is imported when it is first asked for (PEP 562), as a grep needs none.
        if name not in _HOMES:
            raise AttributeError(f"module 'filemem' has no attribute {name!r}")
        return getattr(importlib.import_module(f"filemem.{_HOMES[name]}"), name)
