"""What a model sees of a conversation: the prompt's parts, the turns that fit, and what
stands for those that do not."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from filemem.llm import prompt
from filemem.llm.model import Messages
from filemem.store.passages import Passage
from filemem.store.roles import ASSISTANT
from filemem.text.plain import both_ends, count_tokens, one_line

_PROGRAM_TAG = re.compile(r"<(?=\s*/?\s*program\s*>)", re.IGNORECASE)


class Part(NamedTuple):
    """A named part of a prompt."""

    name: str
    text: str


class Prompt(NamedTuple):
    """What a model sees of a message.

    `system` and the turns change little from one request to the next, so that
    endpoints can cache them; `beside` stands with the last message.
    """

    system: list[Part]
    turns: list[Passage]
    beside: list[Part]

    def messages(self, opened: str = "") -> Messages:
        """Return the request: one system message, then the turns.

        Turns of one role in a row become one message. `opened` is the text of the open
        files, which stands before the last message of the person.
        """
        system = "\n\n".join(part.text for part in self.system)
        messages: Messages = [{"role": "system", "content": system}]
        for turn in self.turns:
            role = "assistant" if turn.speaker == ASSISTANT else "user"
            text = _PROGRAM_TAG.sub("&lt;", turn.text)
            if turn is self.turns[-1] and role == "user":
                beside = [opened, *(part.text for part in self.beside)]
                text = "\n\n".join([*filter(None, beside), text])
            if messages[-1]["role"] == role:
                messages[-1]["content"] += f"\n\n{text}"
            else:
                messages.append({"role": role, "content": text})
        return messages


def rules(name: str, *, has_tools: bool) -> str:
    """Return the rules of a chat with a person of this name.

    With tools the model is told how to search, without them where it finds what the
    program has searched for.
    """
    reading = prompt.template("tools" if has_tools else "passages").strip()
    text = prompt.template("chat").strip().replace("{name}", prompt.contained(name))
    return text.replace("{reading}", reading)


def window_start(turns: Sequence[Passage], room_tokens: int) -> int:
    """Return the index of the first turn that stands in the prompt.

    Args:
        turns: all that was said so far.
        room_tokens: how many tokens of turns the prompt holds.

    It is the same for whoever goes on with the conversation. It moves by a third of the
    window at a time, as endpoints cache a prompt that begins as the last one did.
    """
    sizes = [count_tokens(turn.text) for turn in turns]
    start = 0
    held = 0
    for place, size in enumerate(sizes):
        held += size
        if held <= room_tokens:
            continue
        while start < place and held > room_tokens * 2 // 3:
            held -= sizes[start]
            start += 1
    while start < len(turns) - 1 and turns[start].speaker == ASSISTANT:
        start += 1  # it opens with what a person said
    return start


def with_last_cut(turns: Sequence[Passage], room_tokens: int) -> list[Passage]:
    """Return turns, of the last one both ends alone where it is longer than the room.

    Args:
        turns: those that stand in the prompt.
        room_tokens: how many tokens of turns the prompt holds.
    """
    shown = [*turns]
    for last in turns[-1:]:
        shown[-1] = replace(last, text=both_ends(last.text, room_tokens // 2))
    return shown


def beginnings(turns: Sequence[Passage], room_tokens: int) -> str:
    """Return the last of some turns that fit, each in one line with its number."""
    lines: list[str] = []
    for turn in reversed(turns):
        line = f"{turn.line or '':>4}  {turn.speaker}: {one_line(turn.text)}"
        room_tokens -= count_tokens(line)
        if room_tokens < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))
