"""What whoever listens to a conversation hears while an answer comes."""

from collections.abc import Callable
from typing import NamedTuple


class Text(NamedTuple):
    """A piece of the answer, as it streams."""

    text: str


class ToolCalled(NamedTuple):
    """A tool call that was made; `brief` is the first line of its answer."""

    name: str
    arguments: str
    brief: str


class Notice(NamedTuple):
    """One line about how the answer came."""

    text: str


Event = Text | ToolCalled | Notice
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Hear nothing."""
