"""LlamaIndex."""

from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import ConfigDict, create_model

from filemem.adapters.shared import MemoryTool, memory_tools
from filemem.api import User


def tools(user: User, chat: str = "") -> list[FunctionTool]:
    """Return the four tools; of the conversation `chat` a search finds nothing."""
    return [_made(one) for one in memory_tools(user, chat)]


def _made(tool: MemoryTool) -> FunctionTool:
    config = ConfigDict(json_schema_extra=tool.parameters, extra="allow")
    schema = create_model(tool.name, __config__=config)
    metadata = ToolMetadata(tool.description, tool.name, schema)
    return FunctionTool(fn=tool.run, async_fn=tool.arun, metadata=metadata)
