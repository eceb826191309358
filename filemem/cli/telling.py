"""What consolidation and `remember` did, told to the person: lines with paths, and the commit behind them.

While a chat goes on, what has left the prompt's window is consolidated in the background.
"""

import datetime as dt
import queue
import threading
from collections.abc import Callable
from typing import Any

from filemem.chat.conversation import Conversation
from filemem.cli.common import clock
from filemem.cli.screen import aside, say_aside, say_dim, tell
from filemem.endpoint.traced import traced
from filemem.errors import Busy, FilememError
from filemem.files import archive, config
from filemem.files.folder import Folder
from filemem.history import History, UncommittedChanges
from filemem.jobs import telling
from filemem.jobs.telling import as_json, committed, consolidated, lines, waiting
from filemem.models import Model, OpenAIModel
from filemem.remembering import consolidation, sessions
from filemem.remembering.consolidation import Applied
from filemem.remembering.extraction import listener


def remembered(folder: Folder, text: str, **how: Any) -> list[str]:
    """Keep one fact; lines that say what was decided."""
    lines, note = telling.remembered(folder, text, clock(), {}, **how)
    say_aside(note)
    return lines


def _apart(model: Model, user: Folder, now: Callable[[], dt.datetime]) -> Model | None:
    """The model for work beside the chat, which shows nothing of what this one thinks."""
    apart = model.apart() if isinstance(model, OpenAIModel) else model
    return traced(apart, user, now, "consolidation")


def after_talk(talk: Conversation) -> None:
    """Make memories of the conversation that has ended, and of those that were cut off; what fails waits for the next time."""
    user, staged = talk.user, 0
    if not talk.transcript.path or not config.of(user).consolidate:
        return
    try:
        with archive.job_lock(user):
            listen = listener(_apart(talk.model, user, clock), aside)
            for done, note in consolidated(user, clock(), listen, sessions.interrupted(user)):
                show(done)
                say_aside(note)
                staged += len(done.decisions) * done.staged
        if staged:
            aside(waiting(staged))
    except KeyboardInterrupt:
        aside("Stopped; what is not remembered yet is, when the next chat ends or with filemem consolidate.")
    except Busy:
        return  # another job is at it; the next one finds these turns
    except (FilememError, OSError) as error:
        aside(f"Nothing was remembered of this: {error}")


def show(done: Applied) -> None:
    """Show in a chat what was made of one session."""
    for one in done.decisions:
        if told := list(lines(one, staged=done.staged)):
            tell(as_json(one, staged=done.staged), *told, how=say_dim)
    for note in done.notes:
        aside(note)


class BackgroundConsolidation:
    """One chat's background: a thread at a time reads what has left the window, and the chat shows what came of it."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._line = 0  # up to which turns were read
        self._thread: threading.Thread | None = None
        self._done: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def look(self) -> None:
        """Show what is done, and start on what has left the window since."""
        self._show()
        current = self._talk.tools.current
        if not config.of(self._talk.user).consolidate or not current or (self._thread and self._thread.is_alive()):
            return
        turns = self._talk.transcript.turns()
        if turns and current.line > max(self._line, turns[0].line):
            self._line = current.line
            where = (current.path, current.line, self._talk.now())
            self._thread = threading.Thread(target=self._read, args=where, daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Wait for what is under way, and show it; a Ctrl-C, which is raised, leaves it to the next time."""
        try:
            if self._thread:
                self._thread.join()
        finally:
            self._show()

    def _show(self) -> None:
        while not self._done.empty():
            self._done.get()()

    def _read(self, path: str, line: int, at: dt.datetime) -> None:
        """Consolidate the turns before a line; with a user and a model of this thread's own."""
        own = self._talk.user
        user = own.apart()
        try:
            with archive.job_lock(user):
                before = History(user).before(at)
                for session, done in consolidation.run(
                    user, at, listener(_apart(self._talk.model, user, lambda: at), self._say), [path], until=line
                ):
                    self._done.put(self._shown(session, done, before))
        except Busy:
            return  # another job is at it; these turns are read when the chat ends
        except (FilememError, OSError) as error:
            self._say(f"Nothing was remembered of this yet: {error}")

    def _say(self, sentence: str) -> None:
        self._done.put(lambda: aside(sentence))

    def _shown(self, session: str, done: Applied, before: UncommittedChanges) -> Callable[[], None]:
        def shown() -> None:
            show(done)
            say_aside(committed(self._talk.user, done, session, before, clock()))

        return shown
