"""Google's ADK: sessions are kept once and found by its interface for memories, each user's alone."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs filemem[google-adk]")
from google.adk.agents.llm_agent import LlmAgent
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from filemem import Store
from filemem.adapters.google_adk import FileMemoryService, RunningSession


def said(author: str, text: str) -> Event:
    return Event(
        author=author, content=types.Content(role="user", parts=[types.Part(text=text)])
    )


def test_a_session_is_kept_once_and_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")

    async def run() -> None:
        sessions, memory = InMemorySessionService(), FileMemoryService(store)
        session = await sessions.create_session(
            app_name="app", user_id="mara", session_id="s1"
        )
        await sessions.append_event(
            session, said("user", "My sister Inês breeds alpacas.")
        )
        await sessions.append_event(session, said("agent", "How many?"))
        who: Any = {"app_name": "app", "user_id": "mara"}
        await memory.add_session_to_memory(session)
        await sessions.append_event(session, said("user", "Nine of them."))
        await memory.add_session_to_memory(session)
        await memory.add_events_to_memory(
            **who,
            events=[session.events[-1], said("agent", "Lovely.")],
            session_id="s1",
        )
        [path] = [
            path
            for path in store.user("mara").folder.paths()
            if path.startswith("sessions/")
        ]
        turns = [turn.text for turn in store.user("mara").open_file(path).passages]
        assert turns == [
            "My sister Inês breeds alpacas.",
            "How many?",
            "Nine of them.",
            "Lovely.",
        ]
        found = (
            await memory.search_memory(**who, query="What does my sister breed?")
        ).memories
        assert (
            found[0].content.parts[0].text == turns[0]
            and found[0].id.startswith(path)
            and found[0].author == "mara"
        )
        assert not (
            await memory.search_memory(app_name="app", user_id="joao", query="alpacas")
        ).memories

    asyncio.run(run())


class Preloaded(BaseLlm):
    """A model that says what it was sent."""

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        sent = f"{llm_request.config.system_instruction} {llm_request.contents}"
        yield LlmResponse(
            content=types.Content(
                role="model", parts=[types.Part(text=str(sent.count("Inês breeds")))]
            )
        )


def test_a_run_s_own_searches_leave_its_session_out(tmp_path: Path) -> None:
    """ADK's own tool that recalls before a run: another session's words come, those of its own stand in the prompt once."""

    async def run() -> list[str]:
        sessions, memory = (
            InMemorySessionService(),
            FileMemoryService(Store(tmp_path / "store")),
        )
        agent = LlmAgent(
            name="memo", model=Preloaded(model="scripted"), tools=[PreloadMemoryTool()]
        )
        how: Any = {"app_name": "app", "agent": agent, "plugins": [RunningSession()]}
        runner, heard = (
            Runner(session_service=sessions, memory_service=memory, **how),
            list[str](),
        )
        for id in ("s1", "s2"):
            session = await sessions.create_session(
                app_name="app", user_id="mara", session_id=id
            )
            if id == "s1":
                await sessions.append_event(
                    session, said("user", "My sister Inês breeds alpacas.")
                )
                await memory.add_session_to_memory(session)
            asked = said("user", "What does my sister breed?").content
            async for event in runner.run_async(
                user_id="mara", session_id=id, new_message=asked
            ):
                heard.append(event.content.parts[0].text)
        return heard

    assert asyncio.run(run()) == ["1", "1"]
