"""What consolidation and `remember` did, told to the person: lines with paths, and the commit behind them.

While a chat goes on, what has left the prompt's window is consolidated in the background.
"""

from typing import Any

from filemem.chat.conversation import Conversation
from filemem.cli.common import clock
from filemem.cli.screen import say_aside
from filemem.files.folder import Folder
from filemem.jobs import telling


def remembered(folder: Folder, text: str, **how: Any) -> list[str]:
    """Keep one fact; lines that say what was decided."""
    lines, note = telling.remembered(folder, text, clock(), {}, **how)
    say_aside(note)
    return lines


def after_talk(talk: Conversation) -> None:
    """What a conversation told waits for the next job: nobody waits for a model that reads."""


class BackgroundConsolidation:
    """Nothing is read while a chat goes on."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk

    def look(self) -> None:
        """Nothing to show."""

    def end(self) -> None:
        """Nothing to wait for."""
