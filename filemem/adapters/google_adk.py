"""Google's Agent Development Kit."""

from typing import Any

from google.adk.agents.llm_agent import ToolUnion
from google.adk.tools.base_tool import BaseTool
from google.genai.types import FunctionDeclaration

from filemem.adapters.shared import MemoryTool, memory_tools
from filemem.api import User


class AdkTool(BaseTool):
    """One of the four tools: ADK's own are made from the signature of a function."""

    def __init__(self, tool: MemoryTool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool

    def _get_declaration(self) -> FunctionDeclaration:
        return FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._tool.parameters,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> str:
        return await self._tool.arun(**args)


def tools(user: User, chat: str = "") -> list[ToolUnion]:
    """Return the four tools.

    Args:
        user: whose memories they read.
        chat: the conversation going on, of which a search finds nothing.
    """
    return [AdkTool(one) for one in memory_tools(user, chat)]
