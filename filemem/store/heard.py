"""What happens to a user's memories, as a program hears it and the logger tells it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

LOG = logging.getLogger("filemem")
Happening = Literal[
    "kept", "recalled", "requested", "remembered", "archived", "forgotten"
]


@dataclass(frozen=True)
class MemoryEvent:
    """Something that happened to a user's memories; it holds no words of theirs.

    Attributes:
        kind: `kept` (of a conversation), `recalled`, `requested` (of a model),
            `remembered`, `archived` or `forgotten`.
        user: whose memories.
        count: how many turns, hits, requests or memories.
        tokens_in: that a request took, as the endpoint reports them.
        tokens_out: that it answered with.
    """

    kind: Happening
    user: str
    count: int = 1
    tokens_in: int = 0
    tokens_out: int = 0


OnEvent = Callable[[MemoryEvent], None]


def ignore(event: object) -> None:
    """Hear nothing."""
