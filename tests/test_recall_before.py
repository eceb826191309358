"""Before a model is asked, the memory is searched for the message, together with what it goes on with: the best passages
stand in the prompt as data, within 600 tokens, unless the store says that the model searches by itself.
"""

import datetime as dt
import re
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, say

from filemem import Store
from filemem.chat.conversation import Conversation
from filemem.chat.recalling import BESIDE_TOOLS, searched
from filemem.models import OpenAIModel
from filemem.text import tokens

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


def asked(root: Path, messages: list[str], settings: str = "") -> list[str]:
    """What came with each message, the message itself last."""
    (root / "ann/facts").mkdir(parents=True, exist_ok=True)
    (root / "filemem.yaml").write_text(settings)
    (root / "ann/facts/2026-05-01-nadia.md").write_text("Nadia has worked at the harbour office since March 2024.\n")
    (root / "ann/facts/2026-05-02-娜迪亚.md").write_text("王伟从2024年3月起在港务局工作。\n")
    for number in range(40):
        (root / f"ann/facts/tuba-{number}.md").write_text(f"The tuba number {number} " + "was polished " * 30 + "\n")
    with ScriptedServer(*[say("Yes.")] * len(messages)) as server:
        talk = Conversation(
            Store(root).user("ann").folder, OpenAIModel("gpt-x", server.base_url, "none", 30), lambda: NOW
        )
        for message in messages:
            talk.say(message)
        return [request.body["messages"][-1]["content"] for request in server.requests]


def recalled(system: str) -> str:
    return system.partition('<memory path="search_files">')[2].partition("</memory>")[0]


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        (["Where does Nadia work?", "And since when?"], "since March 2024"),
        (["王伟在哪里工作？", "从什么时候开始？"], "3月"),
    ],
)
def test_the_best_passages_stand_in_the_prompt_also_of_what_a_message_goes_on_with(
    tmp_path: Path, messages: list[str], found: str
) -> None:
    assert all(found in recalled(told) and "facts/2026-05-0" in recalled(told) for told in asked(tmp_path, messages))


def test_a_message_that_stands_alone_is_searched_for_alone() -> None:
    assert searched(["Where does Nadia work?", "Who polished the tuba?"]) == "Who polished the tuba?"


@pytest.mark.parametrize("message", ["Hello!", "Thanks a lot", "你好", "How do volcanoes erupt?"])
def test_what_the_memory_has_nothing_on_brings_nothing(tmp_path: Path, message: str) -> None:
    assert recalled(asked(tmp_path, [message])[0]) == ""


def test_they_keep_to_their_budget(tmp_path: Path) -> None:
    found = recalled(asked(tmp_path, ["Which tuba was polished?"])[0])
    assert "tuba number" in found and tokens.count(found) <= BESIDE_TOOLS + 2
    count, many = re.search(r"\nshown (\d+) of (\d+): ", found).groups()  # type: ignore[union-attr]
    assert int(count) == found.count("The tuba number") < 40 and many == "51", "of all that match"
    assert found.count("was polished was …") == int(count), "whole passages, as a search shows them"


def test_a_store_may_leave_the_search_to_the_model(tmp_path: Path) -> None:
    (system,) = asked(tmp_path, ["Where does Nadia work?"], "recall: tools\n")
    assert recalled(system) == ""
