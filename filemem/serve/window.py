"""What of a client's conversation its model sees: the newest exchanges, as they came.

The older ones are left out where all are longer than the window of a chat.
"""

import json
from dataclasses import dataclass

from filemem.chat.window import window_start
from filemem.importers.base import LeftOut
from filemem.importers.jsonl import message_text, spoken_turns
from filemem.llm.model import Messages
from filemem.store.current import CurrentConversation
from filemem.store.passages import Passage

INSTRUCTIONS = ("system", "developer")  # the roles of messages that are never left out


@dataclass(frozen=True)
class Window:
    """What a model sees of a conversation, and what it does not.

    Attributes:
        path: of the session; '' where none is kept.
        messages: go to the model as they came.
        to_summarise: the turns that have left the window of a chat.
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

    An exchange begins with what the person said, and is left out as a whole; the last
    one never is, so that a tool's answer stands behind its call.

    Args:
        messages: those of the client.
        path: of the session; '' where none is kept.
        kept: its turns, the last of which are those of the messages.
        room_tokens: how many tokens of exchanges the model sees.
    """
    exchanges = _exchanges(messages)
    sent = _turns(messages)
    turns = kept or sent
    not_sent = turns[: max(0, len(turns) - len(sent))]
    sizes = [*not_sent]
    for exchange in exchanges:
        sizes.append(Passage(0, 0, "", "", _text(exchange)))
    start = window_start(sizes, room_tokens)
    left_out = max(0, start - len(not_sent))
    seen = _without(messages, exchanges[:left_out])
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


def _exchanges(messages: Messages) -> list[Messages]:
    """Return what was said, from each message of the person to before the next."""
    exchanges: list[Messages] = []
    for message in messages:
        if message["role"] in INSTRUCTIONS:
            continue
        if message["role"] == "user" or not exchanges:
            exchanges.append([])
        exchanges[-1].append(message)
    return exchanges


def _without(messages: Messages, exchanges: list[Messages]) -> Messages:
    """Return the messages that are of none of these exchanges."""
    left_out = set[int]()
    for exchange in exchanges:
        left_out.update(map(id, exchange))
    return [message for message in messages if id(message) not in left_out]


def _turns(messages: Messages) -> list[Passage]:
    """Return the messages as turns that stand in no file."""
    turns = []
    for one in spoken_turns(messages, None, LeftOut()):
        turns.append(Passage(0, 0, one.speaker or "user", "", one.text))
    return turns


def _text(exchange: Messages) -> str:
    """Return the words of an exchange, and its calls; a picture counts for nothing."""
    texts = []
    for message in exchange:
        calls = message.get("tool_calls")
        texts.append(message_text(message))
        if calls:
            texts.append(json.dumps(calls))
    return "".join(texts)
