"""LlamaIndex: a chat engine keeps what is said and recalls it, and an agent uses the tools."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from filemem import Store, User

pytest.importorskip("llama_index.core", reason="needs filemem[llama-index]")
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import Memory
from pydantic import PrivateAttr

from filemem.adapters.llama_index import FileMemoryBlock, memory, tools


class Scripted(CustomLLM):
    """A model that says what it is told to, and notes what it is asked."""

    answers: list[str]
    _asked: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, model_name="scripted")

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        self._asked.append(list(messages))
        return ChatResponse(
            message=ChatMessage(role="assistant", content=self.answers.pop(0))
        )

    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> Any:
        raise NotImplementedError


def mara(root: Path) -> User:
    return Store(root / "store").user("mara")


def chat(user: User, session: str, said: str, answer: str) -> str:
    """What the model was asked, as one text, when a new chat engine is told something."""
    model = Scripted(answers=[answer])
    engine = SimpleChatEngine.from_defaults(
        llm=model, memory=memory(user, session, token_limit=4000)
    )
    assert engine.chat(said).response == answer
    return "\n".join(
        f"{message.role.value}: {message.content}" for message in model._asked[0]
    )


def test_a_chat_engine_keeps_and_recalls(tmp_path: Path) -> None:
    """In one session over engines, and from another session; twice the same words are two turns."""
    user = mara(tmp_path)
    chat(user, "one", "My sister Inês breeds alpacas.", "How many?")
    asked = chat(user, "one", "Nine.", "Nine alpacas.")
    assert (
        "user: My sister Inês breeds alpacas." in asked
        and "assistant: How many?" in asked
    )
    chat(user, "one", "Nine.", "You said so.")
    asked = chat(user, "two", "What does my sister breed?", "Alpacas.")
    assert "\nassistant: How many?" not in asked
    assert '<memory path="search_files">' in asked and "Inês breeds alpacas" in asked
    first, _ = [path for path in user.folder.paths() if path.startswith("sessions/")]
    said = "My sister Inês breeds alpacas.|How many?|Nine.|Nine alpacas.|Nine.|You said so."
    assert [p.text for p in user.open_file(first).passages] == said.split("|")
    assert "alpacas" not in chat(
        Store(tmp_path / "store").user("joao"),
        "one",
        "What does my sister breed?",
        "Who?",
    )


def test_a_reset_lasts_and_leaves_what_was_said_in_memory(tmp_path: Path) -> None:
    user = mara(tmp_path)
    chat(user, "one", "My sister Inês breeds alpacas.", "How many?")
    memory(user, "one").reset()
    asked = chat(user, "one", "What does my sister breed?", "Alpacas.")
    assert (
        "assistant: How many?" not in asked
        and "Inês breeds alpacas" in asked.partition("</memory>")[0]
    )


def test_the_chat_going_on_is_left_out_of_what_is_recalled(tmp_path: Path) -> None:
    asked = chat(mara(tmp_path), "one", "My sister Inês breeds alpacas.", "How many?")
    asked = chat(
        mara(tmp_path), "one", "What does my sister breed, alpacas?", "Alpacas."
    )
    assert (
        asked.count("Inês breeds alpacas") == 1
        and "user: My sister Inês breeds alpacas." in asked
    )


def test_a_block_in_the_framework_s_own_memory_keeps_what_leaves_the_short_term(
    tmp_path: Path,
) -> None:
    user = mara(tmp_path)
    plain = Memory.from_defaults(
        session_id="s",
        token_limit=40,
        chat_history_token_ratio=0.5,
        token_flush_size=10,
        memory_blocks=[FileMemoryBlock(user=user)],
    )

    async def talk() -> None:
        for number in range(6):
            await plain.aput(
                ChatMessage(
                    role="user",
                    content=f"Alpaca number {number} is called Pepe {number}.",
                )
            )
            await plain.aput(ChatMessage(role="assistant", content="A fine name."))

    asyncio.run(talk())
    assert user.grep("Pepe 0") and not user.grep("Pepe 5")


def test_the_tools_answer_as_the_toolbox_does(tmp_path: Path) -> None:
    user = mara(tmp_path)
    user.remember("Mara drinks oolong.")
    made = {tool.metadata.name: tool for tool in tools(user)}
    assert list(made) == ["grep", "search_files", "open", "close"]
    found = made["search_files"].call(query="what does Mara drink?")
    assert "oolong" in str(found)
    assert "oolong" in str(asyncio.run(made["grep"].acall(pattern="oolong", path=None)))
    assert str(made["open"].call(path="../joao/profile.md")).startswith("Error: ")
    given = made["grep"].metadata.to_openai_tool()["function"]["parameters"]
    assert given["required"] == ["pattern"]
    chat(user, "one", "My sister Inês breeds alpacas.", "How many?")
    for session, finds in (("one", False), ("two", True)):
        search = next(
            tool
            for tool in tools(user, session)
            if tool.metadata.name == "search_files"
        )
        assert (
            "breeds alpacas" in str(search.call(query="What does my sister breed?"))
        ) is finds
    assert set(given["properties"]) == set(
        "pattern path speaker context offset".split()
    )
