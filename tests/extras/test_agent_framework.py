"""Microsoft's Agent Framework: an agent recalls what another session said, uses the tools, and what it says is kept."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer, calls, say

pytest.importorskip("agent_framework", reason="needs filemem[agent-framework]")
pytest.importorskip("agent_framework_openai", reason="needs agent-framework-openai")
import agent_framework.openai as openai
from agent_framework import Agent, InMemoryHistoryProvider

from filemem import Store
from filemem.adapters.agent_framework import FileMemoryProvider


def test_an_agent_recalls_and_keeps(tmp_path: Path) -> None:
    user = Store(tmp_path / "store").user("mara")
    user.folder.make()
    Path(user.folder.root, "profile.md").write_text("Mara is a nurse in Braga.\n")
    found = calls(("search_files", {"query": "what does my sister breed?"}))

    async def run(server: ScriptedServer) -> None:
        client: Any = openai.OpenAIChatCompletionClient(
            model="scripted", api_key="none", base_url=server.base_url
        )
        both = [
            InMemoryHistoryProvider(),
            FileMemoryProvider(lambda session: user),
        ]  # an agent has none until 1.12
        agent = Agent(client, "Be brief.", context_providers=both)
        one = agent.create_session()
        assert (
            await agent.run("My sister Inês breeds alpacas.", session=one)
        ).text == "How many?"
        assert (
            await agent.run("Nine. Which animals does my sister breed?", session=one)
        ).text == "Alpacas."
        assert (
            await agent.run(
                "What does my sister breed?", session=agent.create_session()
            )
        ).text == "Alpacas, nine."

    with ScriptedServer(
        say("How many?"), say("Alpacas."), found, say("Alpacas, nine.")
    ) as server:
        asyncio.run(run(server))
        sent = [str(request.body["messages"]) for request in server.requests]
    assert all("nurse in Braga" in text for text in sent)
    assert (
        sent[1].count("Inês breeds alpacas") == 1
    )  # what was said in this session is in the prompt, and not recalled
    assert (
        "Inês breeds alpacas" in sent[2]
        and "Inês breeds alpacas" in sent[3].partition("'role': 'tool'")[2]
    )
    kept = [path for path in user.folder.paths() if path.startswith("sessions/")]
    assert sorted(len(user.open_file(path).passages) for path in kept) == [2, 4]
