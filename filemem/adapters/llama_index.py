"""LlamaIndex: a memory block that recalls, a memory that keeps every message, and the four tools."""

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import ConfigDict, Field, PrivateAttr, create_model

from filemem.adapters.shared import KeptSession, MemoryFunction, functions, role
from filemem.api import User

_TYPES = {"string": str, "integer": int}


class FileMemoryBlock(BaseMemoryBlock[str]):
    """The profile and the best passages for what was said last; what leaves the short-term memory is kept.

    `passage_tokens` bounds the passages, the store's `profile_tokens` the rest.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str = "filemem"
    user: User = Field(exclude=True)
    passage_tokens: int = 1200
    _kept: KeptSession | None = PrivateAttr(
        default=None
    )  # the chat going on, which stands in the prompt already

    async def _aget(
        self, messages: list[ChatMessage] | None = None, **block_kwargs: Any
    ) -> str:
        return await asyncio.to_thread(
            self._recalled,
            next((m.content for m in reversed(messages or []) if m.content), ""),
        )

    def _recalled(self, said: str) -> str:
        current = self._kept.current() if self._kept else None
        return self.user.prompt_context(
            said, tokens=self.passage_tokens, current=current
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        session = next(
            (str(one.additional_kwargs.get("session_id", "")) for one in messages), ""
        )
        await asyncio.to_thread(
            _keep, KeptSession(self.user, "llama-index", session), messages
        )


class TranscriptMemory(Memory):
    """A `Memory` of which every message is on disk as soon as it is put; made by `memory`."""

    _kept: KeptSession = PrivateAttr()

    async def aput(self, message: ChatMessage) -> None:
        """Keep a message, then go on with it."""
        await self.aput_messages([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Keep messages, then go on with them."""
        await asyncio.to_thread(_keep, self._kept, messages)
        await super().aput_messages(messages)

    async def areset(self, status: Any = None) -> None:
        """Start over, in every process; what was said stays in memory as a finished session."""
        await asyncio.to_thread(self._kept.end)
        await super().areset(status)


def memory(user: User, session_id: str, **settings: Any) -> TranscriptMemory:
    """A chat engine's memory: recalls from all of the user's memories, and goes on with the session of this id.

    `settings` are those of `Memory.from_defaults`.
    """
    kept = KeptSession(user, "llama-index", session_id)
    block = FileMemoryBlock(user=user, accept_short_term_memory=False)
    history = [ChatMessage(role=role(turn), content=turn.text) for turn in kept.turns()]
    made: TranscriptMemory = TranscriptMemory.from_defaults(
        session_id=session_id, memory_blocks=[block], chat_history=history, **settings
    )
    made._kept = block._kept = kept
    return made


def tools(user: User, session_id: str = "") -> list[FunctionTool]:
    """grep, search_files, open and close over one user's memories; a search finds nothing of the session with this id."""
    kept = KeptSession(user, "llama-index", session_id)
    return [
        _tool(function)
        for function in functions(user, kept.current if session_id else lambda: None)
    ]


def _tool(function: MemoryFunction) -> FunctionTool:
    needed = function.parameters["required"]
    fields: dict[str, Any] = {}
    for name, one in function.parameters["properties"].items():
        kind: Any = _TYPES[one["type"]]
        default = {} if name in needed else {"default": None}
        fields[name] = (
            kind if name in needed else kind | None,
            Field(description=one["description"], **default),
        )
    schema = create_model(function.name, **fields)
    metadata = ToolMetadata(function.description, function.name, schema)
    return FunctionTool(fn=function.run, async_fn=function.arun, metadata=metadata)


def _keep(kept: KeptSession, messages: list[ChatMessage]) -> None:
    for message in messages:
        if (
            message.role.value in ("user", "assistant")
            and (message.content or "").strip()
        ):
            kept.say(message.role.value, message.content or "")
