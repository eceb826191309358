"""What the OpenAI Agents SDK itself writes is what the importer reads. Needs the extra `filemem[openai-agents]`."""

import asyncio
from pathlib import Path

import pytest

agents = pytest.importorskip("agents", reason="needs the extra filemem[openai-agents]")

from filemem import Store
from filemem.files.folder import StoreFolder
from filemem.importers import import_file


def test_a_session_of_the_sdk_is_taken_in_and_goes_on(tmp_path: Path) -> None:
    """Its messages, each call of a tool with its answer; what it has popped meanwhile stays said, what is new is added."""
    path, store = tmp_path / "conversations.db", StoreFolder(tmp_path / "store")
    session = agents.SQLiteSession("support-1", path)
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "TOOL OUTPUT"}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Lovely."}]}

    async def said(*items: object) -> None:
        await session.add_items(list(items))

    def turns() -> list[str]:
        report = import_file(store, "agents-sessions", str(path), user="mara")
        (taken,) = [*report.added, *report.updated, *report.unchanged]
        return [
            f"{turn.speaker}: {turn.text}" for turn in Store(store.root).user("mara").open_file(taken.path).passages
        ]

    asyncio.run(said({"role": "user", "content": "I moved to Porto."}, call, result, answer))
    said_before = ["mara: I moved to Porto.", "tool: look {}: TOOL OUTPUT", "assistant: Lovely."]
    assert turns() == said_before
    asyncio.run(session.pop_item())
    asyncio.run(said({"role": "user", "content": [{"type": "input_text", "text": "By the river."}]}))
    assert turns() == [*said_before, "mara: By the river."] == turns()
    session.close()
