"""Every recipe of docs/agents.md runs against the real package, on a copy of the store."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import sample
from scripted_server import ScriptedServer, calls, say

ROOT = Path(__file__).parents[2]
ANSWER = "Oolong, as facts say."
QUERY = {"query": "What tea?"}
FOUND = "facts/2026/2026-03-14-prefers-oolong-tea.md"
MODELS = {
    "langgraph": """
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **how):
        return self
    def _generate(self, messages, *given, **how):
        print(messages)
        return super()._generate(messages, *given, **how)
call = {"name": "search_files", "args": QUERY, "id": "1"}
model = Scripted(messages=iter([AIMessage("", tool_calls=[call]), AIMessage(ANSWER)]))
""",
    "agents": """
from agents import OpenAIChatCompletionsModel, set_tracing_disabled
from openai import AsyncOpenAI
set_tracing_disabled(True)
model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI())
""",
    "llama_index": """
from llama_index.core.llms import CustomLLM, CompletionResponse, LLMMetadata
class Scripted(CustomLLM):
    said: list = [f"Thought: I look.\\nAction: search_files\\nAction Input: {QUERY}",
        f"Thought: I can answer without using any more tools.\\nAnswer: {ANSWER}"]
    @property
    def metadata(self):
        return LLMMetadata()
    def complete(self, prompt, formatted=False, **how):
        print(prompt)
        return CompletionResponse(text=self.said.pop(0))
    def stream_complete(self, prompt, formatted=False, **how):
        yield self.complete(prompt)
model = Scripted()
""",
    "pydantic_ai": """
from pydantic_ai.models.openai import OpenAIChatModel
model = OpenAIChatModel("scripted")
""",
    "google.adk": """
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types
class Scripted(BaseLlm):
    async def generate_content_async(self, request, stream=False):
        print(request.config.system_instruction, request.contents)
        told = any(part.function_response for one in request.contents for part in one.parts)
        part = types.Part(text=ANSWER) if told else types.Part.from_function_call(
            name="search_files", args=QUERY)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))
model = Scripted(model="scripted")
""",
    "agent_framework": """
from agent_framework import BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message
class Scripted(FunctionInvocationLayer, BaseChatClient):
    def _inner_get_response(self, *, messages, stream, options, **how):
        return self.answer(messages, options)
    async def answer(self, messages, options):
        print(options.get("instructions"), [str(c.result) for m in messages for c in m.contents])
        told = any(c.type == "function_result" for m in messages for c in m.contents)
        part = Content.from_text(ANSWER) if told else Content.from_function_call(
            "1", "search_files", arguments=QUERY)
        return ChatResponse(messages=[Message("assistant", [part])])
model = Scripted()
""",
}
"""What the reader of a recipe has: a model, which searches once and then answers."""


def recipes() -> dict[str, str]:
    """The recipes by the package whose adapter they import; empty for any other."""
    text = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = {}
    for block in blocks:
        adapter = re.search(r"filemem\.adapters\.(\w+)", block)
        if adapter:
            name = adapter[1].replace("openai_", "").replace("google_", "google.")
            found[name] = block
        elif "toolbox" in block:
            found[""] = block
    return found


def test_every_recipe_is_tried() -> None:
    assert set(recipes()) == {*MODELS, ""}


@pytest.mark.parametrize("package", MODELS)
def test_a_recipe_recalls_searches_and_keeps_what_was_said(
    package: str, tmp_path: Path
) -> None:
    """The model gets the profile and the tool's answer; the exchange is a transcript."""
    pytest.importorskip(package, reason="needs its extra")
    given = f"QUERY = {QUERY}\nANSWER = {ANSWER!r}\n{MODELS[package]}"
    told = run(given + recipes()[package], tmp_path)
    assert told.rstrip().endswith(ANSWER)
    assert "Mara Teixeira" in told and FOUND in told
    [path] = (tmp_path / "memory_store/mara/sessions").rglob("*what-tea*.md")
    assert "What tea do I like now?" in path.read_text() and ANSWER in path.read_text()


def test_any_other_framework_takes_the_schemas(tmp_path: Path) -> None:
    assert FOUND in run(recipes()[""], tmp_path)


def run(code: str, folder: Path) -> str:
    """Return what a program prints, and what a model behind OpenAI's interface is told.

    It runs in a folder with the sample store, with a scripted server for OpenAI.
    """
    sample(folder / "memory_store")
    with ScriptedServer(calls(("search_files", QUERY)), say(ANSWER)) as server:
        given = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=os.environ | given,
            capture_output=True,
            text=True,
        )
        asked = "".join(str(request.body) for request in server.requests)
    assert not done.returncode, done.stderr
    return asked + done.stdout
