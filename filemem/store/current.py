"""Which conversation is going on."""

from typing import NamedTuple


class CurrentConversation(NamedTuple):
    """The conversation going on, whose lines from `line` on stand in the prompt."""

    path: str
    line: int
