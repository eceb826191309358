"""Remembering while a chat goes on: what has left the prompt's window is consolidated in the background."""

import datetime as dt
import queue
import threading
from collections.abc import Callable

from filemem.chat.conversation import Conversation
from filemem.cli.telling import aside, show
from filemem.errors import Busy, FilememError
from filemem.files import archive, config
from filemem.files.folder import Folder
from filemem.history import Before, History
from filemem.models import OpenAIModel
from filemem.remembering import consolidation
from filemem.remembering.consolidation import Applied
from filemem.remembering.extraction import listener


class BackgroundConsolidation:
    """One chat's background: a thread at a time reads what has left the window, and the chat shows what came of it."""

    def __init__(self, talk: Conversation, *, as_json: bool) -> None:
        self._talk = talk
        self._as_json = as_json
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
            self._thread = threading.Thread(
                target=self._read, args=(current.path, current.line, self._talk.now()), daemon=True
            )
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
        user = Folder(own.root, own.name, own.trust)
        model = self._talk.model
        if isinstance(model, OpenAIModel):
            model = model.apart()
        try:
            with archive.job_lock(user):
                before = History(user).before(at)
                for session, done in consolidation.run(user, at, listener(model, self._say), [path], until=line):
                    self._done.put(self._shown(session, done, before))
        except Busy:
            return  # another job is at it; these turns are read when the chat ends
        except (FilememError, OSError) as error:
            self._say(f"Nothing was remembered of this yet: {error}")

    def _say(self, sentence: str) -> None:
        self._done.put(lambda: aside(sentence, json=self._as_json))

    def _shown(self, session: str, done: Applied, before: Before) -> Callable[[], None]:
        return lambda: show(self._talk.user, session, done, before, json=self._as_json)
