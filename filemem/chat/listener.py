"""What whoever listens to a conversation hears while an answer comes."""

from collections.abc import Callable
from typing import NamedTuple


class Text(NamedTuple):
    """A piece of the answer, as it streams: its `text`."""

    text: str


class ToolCalled(NamedTuple):
    """A tool call that was made.

    Attributes:
        name: of the tool.
        arguments: the JSON that the model wrote.
        brief: the first line of the answer.
    """

    name: str
    arguments: str
    brief: str


class Notice(NamedTuple):
    """One line about how the answer came, in `text`."""

    text: str


Event = Text | ToolCalled | Notice
Listener = Callable[[Event], None]
