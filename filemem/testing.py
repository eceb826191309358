"""For tests of programs that use filemem: a model with a queue of replies, a clock.

store = Store(tmp_path, model=FakeModel("Oolong."), clock=FrozenClock(noon))
"""

import datetime as dt

from filemem.llm.model import Messages, OnText, Reply, Tools, Usage

NO_USAGE = Usage(0, 0)


class FakeModel:
    """A model that gives its replies one after the other, the last one for ever.

    Args:
        replies: a text, a Reply with calls, or an error to raise.

    Attributes:
        asked: the messages of each request, the first one first.
    """

    name = "fake"

    def __init__(self, *replies: str | Reply | Exception) -> None:
        self._replies = list(replies)
        self.asked: list[Messages] = []

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """Return the next reply, its text handed to `on_text`; raise an error."""
        self.asked.append(messages)
        reply = self._replies[0]
        if len(self._replies) > 1:
            self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            reply = Reply(reply, (), NO_USAGE, "stop")
        on_text(reply.text)
        return reply


class FrozenClock:
    """A clock that stands still until it is moved; a Store takes it as its `clock`."""

    def __init__(self, at: dt.datetime) -> None:
        self.at = at

    def __call__(self) -> dt.datetime:
        """Return the moment at which it stands."""
        return self.at

    def move(self, **by: float) -> None:
        """Move it on, by `days=`, `hours=` and whatever else a timedelta takes."""
        self.at += dt.timedelta(**by)
