"""Pydantic AI: a toolset over the memories of the user whom the dependencies name."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from filemem import Store, User

pytest.importorskip("pydantic_ai", reason="needs filemem[pydantic-ai]")
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from filemem.adapters.pydantic_ai import MemoryToolset


@dataclass
class Deps:
    user: User


def searching(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A model that searches once, opens what is not there, then says what it was told."""
    told = [
        part.content
        for message in messages
        for part in message.parts
        if part.part_kind == "tool-return"
    ]
    if not told:
        search, look = (
            ToolCallPart("search_files", {"query": "what tea?"}),
            ToolCallPart("open", {"path": "../x"}),
        )
        return ModelResponse(parts=[search, look])
    names = ",".join(tool.name for tool in info.function_tools)
    return ModelResponse(
        parts=[TextPart("\n".join([names, info.instructions or "", *map(str, told)]))]
    )


def test_an_agent_has_the_tools_of_the_user_in_its_dependencies(tmp_path: Path) -> None:
    """One agent, two users: each run sees its own memories and profile, and an error is text for the model."""
    store = Store(tmp_path / "store")
    agent = Agent(
        FunctionModel(searching),
        deps_type=Deps,
        toolsets=[MemoryToolset[Deps](lambda deps: deps.user)],
    )
    for name, tea in (("mara", "oolong"), ("joao", "sencha")):
        store.user(name).remember(f"Drinks {tea} tea.")
        (tmp_path / "store" / name / "profile.md").write_text(
            f"{name} likes short answers.\n"
        )
    for name, tea, other in (
        ("mara", "oolong", "sencha"),
        ("joao", "sencha", "oolong"),
    ):
        said = agent.run_sync("Which tea?", deps=Deps(store.user(name))).output
        assert said.startswith("grep,search_files,open,close")
        assert tea in said and other not in said
        assert (
            f"{name} likes short answers." in said
            and "Error: ../x is not a path inside" in said
        )


def test_a_user_may_be_given_at_once(tmp_path: Path) -> None:
    user = Store(tmp_path / "store").user("mara")
    user.remember("Drinks oolong tea.")
    agent = Agent(FunctionModel(searching), toolsets=[MemoryToolset[None](user)])
    assert "oolong" in agent.run_sync("Which tea?").output


def test_a_search_leaves_out_the_conversation_that_goes_on(tmp_path: Path) -> None:
    user = Store(tmp_path / "store").user("mara")
    user.add_conversation(
        [{"role": "user", "content": "I drink oolong tea."}], id="one"
    )
    agent = Agent(
        FunctionModel(searching),
        deps_type=str,
        toolsets=[MemoryToolset[str](user, chat=lambda chat: chat)],
    )
    found = [
        "oolong" in agent.run_sync("Which tea?", deps=chat).output
        for chat in ("one", "two", "")
    ]
    assert found == [False, True, True]
