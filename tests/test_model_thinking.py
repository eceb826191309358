"""What a model thinks is no part of what it says: it is told apart however it is sent, in pieces cut anywhere, and shown,
if at all, for what it is.
"""

import pytest
from scripted_server import ScriptedServer, deltas, say
from test_model import MESSAGES, TOOLS

from filemem.models import OpenAIModel
from filemem.models.endpoint import Thinking


def sorted_out(*pieces: str) -> tuple[str, str]:
    """What was said and what was thought, of a reply in these pieces."""
    thinking, said, thought = Thinking(), "", ""
    for kind, text in [part for piece in pieces for part in thinking.feed(piece)] + thinking.feed("", end=True):
        if kind == Thinking.SAID:
            said += text
        elif kind == Thinking.THOUGHT:
            thought += text
        else:
            said, thought = "", said
    return said, thought


CASES = [
    ("<think>Tea?</think>Oolong.", "Oolong.", "Tea?"),
    ("<thinking>茶？</thinking>乌龙茶。", "乌龙茶。", "茶？"),
    ("Wait. <think>Tea?</think>Oolong.", "Wait. Oolong.", "Tea?"),
    ("<think>a</think>b<think>c</think>d", "bd", "ac"),
    ("<think>for ever", "", "for ever"),
    ("Tea?</think>Oolong.", "Oolong.", "Tea?"),
    ("Write `<think>` first, `</think>` last.", "Write `<think>` first, `</think>` last.", ""),
    ("```\n<think>x</think>\n```\nDone.", "```\n<think>x</think>\n```\nDone.", ""),
    ("1 < 2, <thin air>, a <t", "1 < 2, <thin air>, a <t", ""),
]


@pytest.mark.parametrize(("text", "said", "thought"), CASES)
def test_thoughts_are_told_from_words_wherever_the_pieces_are_cut(text: str, said: str, thought: str) -> None:
    assert sorted_out(text) == (said, thought)
    assert sorted_out(*text) == (said, thought)
    for at in range(len(text)):
        assert sorted_out(text[:at], text[at:]) == (said, thought)


@pytest.mark.parametrize(
    "step",
    [
        say("<think>Tea", "? O", "olong, </th", "ink>Ool", "ong."),
        deltas({"reasoning_content": "Tea? "}, {"reasoning_content": "Oolong, "}, {"content": "Oolong."}),
        deltas({"reasoning": "Tea? Oolong, ", "content": None}, {"content": "Oolong."}),
    ],
    ids=["tags", "reasoning_content", "reasoning"],
)
def test_a_reply_is_what_was_said(step: object) -> None:
    with ScriptedServer(step) as server:  # type: ignore[arg-type]
        said: list[str] = []
        thought: list[str] = []
        model = OpenAIModel("gpt-x", server.base_url)
        model.on_thought = thought.append
        reply = model.ask(MESSAGES, TOOLS, said.append)
    assert reply.text == "Oolong." == "".join(said)
    assert "".join(thought) == "Tea? Oolong, "
