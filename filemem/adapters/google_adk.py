"""Google's Agent Development Kit: a `BaseMemoryService` over a store; a session is a transcript."""

import asyncio
import copy
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from google.adk.memory.base_memory_service import (
    BaseMemoryService,
    SearchMemoryResponse,
)
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from filemem import index
from filemem.adapters.shared import added
from filemem.api import Store, User
from filemem.search.searching import Hit, search_files


class FileMemoryService(BaseMemoryService):
    """The memories of a store's users, by ADK's `user_id`; a search finds what was said in whatever app."""

    def __init__(self, store: Store, most: int = 10) -> None:
        self._store = store
        self._most = most
        self.current = ""  # the id of the session whose run asks

    async def add_session_to_memory(self, session: Any) -> None:
        """Keep what is new of a session."""
        who = {"app_name": session.app_name, "user_id": session.user_id}
        await self.add_events_to_memory(
            **who, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what was said in these events and is not kept yet."""
        said = []
        for one in events:
            if text := _text(one.content):
                who = "user" if one.author == "user" else "assistant"
                said.append(
                    {
                        "role": who,
                        "content": text,
                        "id": one.id,
                        "timestamp": one.timestamp,
                    }
                )
        id = f"adk:{app_name}:{session_id}" if session_id else ""
        await asyncio.to_thread(self._store.user(user_id).add_conversation, said, id=id)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """The passages that answer a query, the best first; `id` is where one stands."""
        found = await asyncio.to_thread(self._found, self._store.user(user_id), query)
        entries = [
            MemoryEntry(
                content=types.Content(role="user", parts=[types.Part(text=hit.text)]),
                id=f"{hit.path}:{hit.line}",
                author=hit.speaker or None,
                timestamp=f"{dt.datetime.combine(hit.date, dt.time()):%FT%T}"
                if hit.date
                else None,
            )
            for hit in found
        ]
        return SearchMemoryResponse(memories=entries)

    def _found(self, user: User, query: str) -> list[Hit]:
        today, current = dt.date.today(), added(user, self.current)
        found = search_files(
            index.of(user.folder), query, limit=self._most, today=today, current=current
        )
        return sorted(found.hits, key=lambda hit: -hit.score)


class RunningSession(BasePlugin):
    """A plugin for a runner with this service: what a run searches for it finds outside of its own session."""

    def __init__(self, name: str = "filemem") -> None:
        super().__init__(name)

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Have the run ask a service that knows its session."""
        session, service = (
            invocation_context.session,
            copy.copy(invocation_context.memory_service),
        )
        service.current = f"adk:{session.app_name}:{session.id}"
        invocation_context.memory_service = service


def _text(content: Any) -> str:
    return "\n".join(
        part.text
        for part in (content.parts if content else None) or ()
        if part.text and not part.thought
    )
