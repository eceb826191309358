"""LlamaIndex."""

from typing import Any

from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import Field, create_model

from filemem.adapters.shared import MemoryTool, memory_tools
from filemem.api import User

TYPES = {"string": str, "integer": int}


def tools(user: User, chat: str = "") -> list[FunctionTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [_made(one) for one in memory_tools(user, chat)]


def _made(tool: MemoryTool) -> FunctionTool:
    fields: dict[str, Any] = {}
    for name, schema in tool.parameters["properties"].items():
        default = ... if name in tool.parameters["required"] else None
        kind: Any = TYPES[schema["type"]]
        described = Field(default, description=schema["description"])
        fields[name] = (kind | None, described)
    model = create_model(tool.name, **fields)
    metadata = ToolMetadata(tool.description, tool.name, model)
    return FunctionTool(fn=tool.run, async_fn=tool.arun, metadata=metadata)
