"""What `remember` did, told to the person, and what a model reads of earlier conversations while a chat goes on."""

import datetime as dt
import queue
import threading
from collections.abc import Callable

from filemem import index
from filemem.chat.conversation import Conversation
from filemem.cli.screen import aside, say_aside, say_dim, tell
from filemem.errors import Busy, FilememError
from filemem.files import config
from filemem.jobs.telling import as_json, consolidated, lines, waiting
from filemem.models import OpenAIModel
from filemem.remembering import sessions
from filemem.remembering.consolidation import Applied
from filemem.remembering.supersession import PROPOSE
from filemem.text.plain import counted

WORTH_READING = 2_000  # tokens that wait, from which on a chat has them read; what is less waits for maintain


class BackgroundReading:
    """Earlier conversations that a chat's model reads in a thread of its own; the chat shows what came of it, and never waits."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._done: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def start(self) -> None:
        """Begin where there is a model and enough waits."""
        talk = self._talk
        if not isinstance(talk.model, OpenAIModel) or not config.of(talk.user).consolidate:
            return
        if sessions.waiting(talk.user, talk.transcript.path)[1] >= WORTH_READING:
            threading.Thread(target=self._read, args=(talk.model.apart(), talk.now()), daemon=True).start()

    def show(self) -> None:
        """Show what was done since the last time."""
        while not self._done.empty():
            self._done.get()()

    def _read(self, model: OpenAIModel, at: dt.datetime) -> None:
        user, current = self._talk.user.apart(), self._talk.transcript.path
        try:
            for done, note in consolidated(user, at, model, besides=current):
                self._done.put(_shown(done, note))
        except Busy:
            return  # another job is at it
        except (FilememError, OSError) as error:
            self._done.put(_shown(Applied([], [], [str(error)]), ""))


def _shown(done: Applied, note: str) -> Callable[[], None]:
    def shown() -> None:
        for one in done.decisions:
            if told := list(lines(one)):
                tell(as_json(one), *told, how=say_dim)
        for sentence in [*done.notes, *filter(None, (done.error,))]:
            aside(sentence)
        if proposed := sum(one.action == PROPOSE for one in done.decisions):
            aside(waiting(proposed))
        say_aside(note)

    return shown


def standing(talk: Conversation) -> str:
    """How many facts there are and how many conversations wait, for the end of a chat."""
    entries = index.of(talk.user).corpus().entries()
    facts = sum(entry.kind == "facts" and not entry.archived for entry in entries)
    waits, _ = sessions.waiting(talk.user)
    whom = "filemem maintain" if isinstance(talk.model, OpenAIModel) else "a model"
    wait = f"; {counted(waits, 'conversation')} {'waits' if waits == 1 else 'wait'} for {whom}"
    return f"{counted(facts, 'fact')}{wait if waits else ''}."
