"""Every Python example of docs/agents.md runs against the real package, on a copy of the sample store."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import sample
from scripted_server import ScriptedServer, calls, say

ROOT = Path(__file__).parents[2]
SAID = "Oolong, as facts say."
MODELS = {
    "agents": """
from agents import OpenAIChatCompletionsModel, set_tracing_disabled
from openai import AsyncOpenAI
set_tracing_disabled(True)
model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI())
""",
    "llama_index": """
from llama_index.core.llms.mock import MockLLM
llm = MockLLM()
""",
    "pydantic_ai": """
from pydantic_ai.models.openai import OpenAIChatModel
model = OpenAIChatModel("scripted")
""",
}
"""What the reader of an example has: a model. Those that need none have nothing here."""


def examples() -> dict[str, str]:
    """The blocks by the package that they import."""
    text = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    named = [(re.search(r"filemem\.adapters\.(\w+)", block), block) for block in blocks]
    return {match[1].replace("openai_", ""): block for match, block in named if match}


@pytest.mark.parametrize(
    "package", ["agents", "langgraph", "llama_index", "pydantic_ai"]
)
def test_an_example_runs(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package, reason="needs its extra")
    assert "Oolong" in run(MODELS.get(package, "") + examples()[package], tmp_path)


def test_the_example_of_the_memory_tool_writes_a_note(tmp_path: Path) -> None:
    """Against an endpoint that answers as Anthropic's does: a call of the tool, then words."""
    pytest.importorskip("anthropic", reason="needs its extra")
    told = run(
        """
import json, anthropic, httpx2 as http
asked = []
def answer(request):
    asked.append(json.loads(request.content))
    done = len(asked) > 1
    input = {"command": "create", "path": "/memories/tea.md", "file_text": "Likes oolong."}
    said = [{"type": "text", "text": "Oolong it is."}] if done else [
        {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": input}]
    return http.Response(200, json={"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": said,
        "stop_reason": "end_turn" if done else "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}})
client = anthropic.Anthropic(api_key="x", http_client=http.Client(transport=http.MockTransport(answer)))
anthropic.Anthropic = lambda: client
"""
        + examples()["anthropic"],
        tmp_path,
    )
    assert "Oolong it is." in told
    assert (tmp_path / "memory_store/mara/notes/tea.md").read_text() == "Likes oolong."


def run(code: str, folder: Path) -> str:
    """What a program prints in a folder with the sample store, with the scripted server for OpenAI."""
    sample(folder / "memory_store")
    with ScriptedServer(
        calls(("search_files", {"query": "What tea?"})), say(SAID)
    ) as server:
        given = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "PYTHONPATH": str(ROOT),
        }
        call = [sys.executable, "-c", code]
        done = subprocess.run(
            call, cwd=folder, env=os.environ | given, capture_output=True, text=True
        )
    assert not done.returncode, done.stderr
    return done.stdout
