"""What of a client's conversation its model sees: the newest exchanges, as they came.

The older ones are left out where all are longer than `client_window_tokens`.
"""

import json
from dataclasses import dataclass
from typing import Any

from filemem.chat.window import window_start
from filemem.importers.base import LeftOut
from filemem.importers.jsonl import message_text, spoken_turns
from filemem.llm.model import Messages
from filemem.store.current import CurrentConversation
from filemem.store.passages import Passage
from filemem.store.roles import ASSISTANT

INSTRUCTIONS = ("system", "developer")  # the roles of messages that are never left out


@dataclass(frozen=True)
class Window:
    """What a model sees of a conversation, and what it does not.

    Attributes:
        path: of the session; '' where none is kept.
        messages: go to the model as they came.
        to_summarise: the turns that have left the window.
        gone: these, and what the client has left out itself.
        current: what a search need not find; None where nothing is kept.
    """

    path: str
    messages: Messages
    to_summarise: list[Passage]
    gone: list[Passage]
    current: CurrentConversation | None


def fit(messages: Messages, path: str, kept: list[Passage], room_tokens: int) -> Window:
    """Return what a model sees of a conversation.

    It begins with what the person said. What they said last and all that follows is
    never left out, so that a tool's answer stands behind its call.

    Args:
        messages: those of the client.
        path: of the session; '' where none is kept.
        kept: its turns, the last of which are those of the messages.
        room_tokens: how many tokens the model sees, instructions aside.
    """
    sent = _turns(messages)
    kept = _up_to(kept, sent)
    turns = kept or sent
    not_sent = turns[: max(0, len(turns) - len(sent))]
    sized = [*not_sent]
    places: list[int] = []  # of the messages that are no instructions
    last = 0
    for place, message in enumerate(messages):
        if message["role"] in INSTRUCTIONS:
            continue
        speaker: str = ASSISTANT
        if message["role"] == "user" or not places:
            speaker = ""
            last = len(places)
        places.append(place)
        sized.append(Passage(0, 0, speaker, "", _text(message)))
    start = window_start(sized, room_tokens)
    left_out = places[: min(max(0, start - len(not_sent)), last)]
    seen = [one for place, one in enumerate(messages) if place not in left_out]
    first = max(0, len(turns) - len(_turns(seen)))
    to_summarise = not_sent[:start]
    if left_out:
        to_summarise = turns[:first]
    current = None
    for turn in kept[first:][:1]:
        current = CurrentConversation(path, turn.line)
    return Window(
        path=path,
        messages=seen,
        to_summarise=to_summarise,
        gone=turns[:first],
        current=current,
    )


def _up_to(kept: list[Passage], sent: list[Passage]) -> list[Passage]:
    """Return the kept turns up to the last that was sent.

    A client that asks for another answer leaves the one before out.
    """
    texts = [turn.text for turn in kept]
    while texts and sent and texts[-1] != sent[-1].text:
        texts.pop()
    return kept[: len(texts)] or kept


def _turns(messages: Messages) -> list[Passage]:
    """Return the messages as turns that stand in no file."""
    turns = []
    for one in spoken_turns(messages, None, LeftOut()):
        turns.append(Passage(0, 0, one.speaker or "user", "", one.text))
    return turns


def _text(message: dict[str, Any]) -> str:
    """Return the words of a message, and its calls; a picture counts for nothing."""
    calls = message.get("tool_calls")
    return message_text(message) + (json.dumps(calls) if calls else "")
