"""OpenAI's Agents SDK: an agent with the tools and a transcript for its session remembers over processes."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer, calls, say

from filemem import Store, User

pytest.importorskip("agents", reason="needs filemem[openai-agents]")
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    SQLiteSession,
    set_tracing_disabled,
)
from agents.memory import SessionSettings
from openai import AsyncOpenAI

from filemem.adapters.openai_agents import TranscriptSession, tools

set_tracing_disabled(True)
MESSAGES: list[Any] = [
    {"role": "user", "content": "I moved to Braga."},
    {"role": "assistant", "content": "How is it?"},
    {"role": "user", "content": "Quiet.\n\nAnd it rains. 外婆也来了。"},
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city": "Braga"}',
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
    {"role": "assistant", "content": "So I see."},
]

OTHER = """
import sys
from pathlib import Path
from types import SimpleNamespace
sys.path[:0] = sys.argv[1:3]
from test_openai_agents import ask, mara
print(ask(mara(Path(sys.argv[3])), SimpleNamespace(base_url=sys.argv[4]), "What did I ask?", "chat/1"))
"""


def mara(root: Path) -> User:
    return Store(root / "store").user("mara")


def ask(user: User, server: ScriptedServer, text: str, session: str) -> str:
    async def run() -> str:
        async with AsyncOpenAI(base_url=server.base_url, api_key="none") as client:
            model = OpenAIChatCompletionsModel("scripted", client)
            agent = Agent(name="memo", model=model, tools=tools(user))
            done = await Runner.run(
                agent, text, session=TranscriptSession(user, session)
            )
            return str(done.final_output)

    return asyncio.run(run())


def test_a_two_turn_agent_remembers_over_processes(tmp_path: Path) -> None:
    """The second process sends what was said and called in the first, and the memory's answer reaches the model."""
    user = mara(tmp_path)
    user.remember("Mara drinks oolong.")
    found = calls(("search_files", {"query": "what does Mara drink?"}))
    with ScriptedServer(
        found, say("Oolong, I hear."), say("You asked what you drink.")
    ) as server:
        assert ask(user, server, "What do I drink?", "chat/1") == "Oolong, I hear."
        assert "oolong" in server.requests[1].body["messages"][-1]["content"]
        here = Path(__file__).parent
        told = subprocess.run(
            [
                sys.executable,
                "-c",
                OTHER,
                str(here),
                str(here.parent),
                str(tmp_path),
                server.base_url,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == "You asked what you drink."
        sent = server.requests[2].body["messages"]
    assert [message["role"] for message in sent] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert (
        sent[0]["content"] == "What do I drink?"
        and sent[3]["content"] == "Oolong, I hear."
    )
    [session] = [path for path in user.folder.paths() if path.startswith("sessions/")]
    kept = user.open_file(session).text
    assert (
        "**mara**" in kept
        and "What do I drink?" in kept
        and "**assistant**" in kept
        and "search_files" not in kept
    )
    assert user.grep("What did I ask")[0].path == session


def test_the_session_answers_as_the_sdk_s_own_does(tmp_path: Path) -> None:
    """The same calls on the SDK's session in SQLite, side by side."""

    async def both() -> None:
        user = mara(tmp_path)
        sessions: tuple[Any, Any] = (
            TranscriptSession(user, "one"),
            SQLiteSession("one"),
        )

        async def same(call: str, *arguments: Any) -> None:
            ours, theirs = [
                await getattr(session, call)(*arguments) for session in sessions
            ]
            assert ours == theirs

        await same("pop_item")
        for item in MESSAGES:
            await same("add_items", [item])
        for limit in (None, 1, 100):
            await same("get_items", limit)
        for _ in MESSAGES:
            await same("pop_item")
        for call, *given in (
            ["get_items"],
            ["add_items", MESSAGES],
            ["get_items"],
            ["clear_session"],
            ["get_items"],
        ):
            await same(call, *given)
        await sessions[0].add_items(
            MESSAGES[2:3]
        )  # a new transcript, and no memory is lost
        assert (
            len([path for path in user.folder.paths() if path.startswith("sessions/")])
            == 2
        )
        assert user.grep("moved to Braga")

    asyncio.run(both())


def test_secrets_stay_out_and_what_is_forgotten_is_gone_from_the_session(
    tmp_path: Path,
) -> None:
    """Also where a tool's answer repeats it; a call and its answer stay together."""
    user = mara(tmp_path)
    session = TranscriptSession(user, "one")
    said = [
        {
            "role": "user",
            "content": "My password is Tulip-Garden-42, and I own a zeppelin called Hilda.",
        }
    ]
    output = {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": "a zeppelin called Hilda",
    }
    asyncio.run(session.add_items([*said, MESSAGES[3], output]))
    assert "Tulip-Garden" not in str(asyncio.run(session.get_items()))
    user.forget(about="zeppelin Hilda")
    items = asyncio.run(session.get_items())
    assert items[0] == {
        "role": "user",
        "content": "[forgotten]",
    } and "Hilda" not in str(items)
    assert [item.get("output") for item in items[1:]] == [None, "[forgotten]"]


def test_a_search_leaves_out_what_the_model_sees_of_its_session(tmp_path: Path) -> None:
    user = mara(tmp_path)
    whole = TranscriptSession(user, "one")
    asyncio.run(whole.add_items(MESSAGES))
    last = TranscriptSession(user, "one", SessionSettings(limit=1))

    def found(session: TranscriptSession) -> bool:
        search = next(
            tool for tool in tools(user, session) if tool.name == "search_files"
        )
        return "moved to Braga" in asyncio.run(
            search.on_invoke_tool(None, '{"query": "Where did I move to?"}')
        )

    assert (found(whole), found(last), found(TranscriptSession(user, "two"))) == (
        False,
        True,
        True,
    )


def test_a_session_s_id_leads_nowhere(tmp_path: Path) -> None:
    """Whatever it holds; and that of one user is not that of another."""
    store = Store(tmp_path / "store")
    for id in ("../../etc", "/etc/passwd", "a\0b", "", "名前", "x" * 5000, "\ud83c"):
        asyncio.run(TranscriptSession(store.user("mara"), id).add_items(MESSAGES))
        assert (
            len(asyncio.run(TranscriptSession(store.user("mara"), id).get_items())) == 6
        )
        assert asyncio.run(TranscriptSession(store.user("joao"), id).get_items()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
