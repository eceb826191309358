"""Google's ADK: sessions are kept once and found by its interface for memories, each user's alone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs filemem[google-adk]")
from google.adk.events.event import Event
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from filemem import Store
from filemem.adapters.google_adk import FileMemoryService


def said(author: str, text: str) -> Event:
    return Event(author=author, content=types.Content(role="user", parts=[types.Part(text=text)]))


def test_a_session_is_kept_once_and_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")

    async def run() -> None:
        sessions, memory = InMemorySessionService(), FileMemoryService(store)
        session = await sessions.create_session(app_name="app", user_id="mara", session_id="s1")
        await sessions.append_event(session, said("user", "My sister Inês breeds alpacas."))
        await sessions.append_event(session, said("agent", "How many?"))
        who: Any = {"app_name": "app", "user_id": "mara"}
        await memory.add_session_to_memory(session)
        await sessions.append_event(session, said("user", "Nine of them."))
        await memory.add_session_to_memory(session)
        await memory.add_events_to_memory(**who, events=[session.events[-1], said("agent", "Lovely.")], session_id="s1")
        [path] = [path for path in store.user("mara").folder.paths() if path.startswith("sessions/")]
        turns = [turn.text for turn in store.user("mara").open_file(path).passages]
        assert turns == ["My sister Inês breeds alpacas.", "How many?", "Nine of them.", "Lovely."]
        found = (await memory.search_memory(**who, query="What does my sister breed?")).memories
        assert found[0].content.parts[0].text == turns[0] and found[0].id.startswith(path) and found[0].author == "mara"
        assert not (await memory.search_memory(app_name="app", user_id="joao", query="alpacas")).memories

    asyncio.run(run())
