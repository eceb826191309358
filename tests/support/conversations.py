"""Conversations for tests of remembering: a person and the assistant in turn, read by a scripted model."""

import datetime as dt
from collections.abc import Iterable

from reader import Reader

from filemem.learn import consolidate, proposals, remember
from filemem.learn.log import LearnLog
from filemem.learn.records import Decision
from filemem.store import transcript
from filemem.store.folder import Folder
from filemem.store.passages import format_turn
from filemem.store.roles import ASSISTANT


def day(month: int, number: int) -> dt.datetime:
    return dt.datetime(2026, month, number, 9, 30, tzinfo=dt.UTC)


def talk(
    user: Folder, at: dt.datetime, *said: str, speakers: Iterable[str] = ()
) -> str:
    """A session in which the user and the assistant (or these `speakers`) take turns; its path. The first turn is on line 6."""
    names = [*speakers] or [user.name, ASSISTANT]
    turns = [
        format_turn(names[n % len(names)], f"{at:%H:%M}", text)
        for n, text in enumerate(said)
    ]
    return transcript.create(user, "talk", at, turns)


def remembered(
    user: Folder, at: dt.datetime, reader: Reader | None = None
) -> list[Decision]:
    """Consolidate all that is new, each turn of a person as a fact where no other reader is given; what was decided."""
    return [
        one
        for done in consolidate.run(user, at, reader or Reader(echo=True))
        for one in done.decisions
    ]


def waiting(user: Folder) -> int:
    """How many conversations no model has read."""
    count: int = consolidate.cost(user, None).facts["conversations"]
    return count


def accepted(user: Folder, at: dt.datetime) -> list[Decision]:
    """Accept every proposal; what was decided about each."""
    log = LearnLog(user)
    return [
        remember.accept(user, log, found, at).decisions[0]
        for found in proposals.waiting(user)
    ]


def tree(user: Folder) -> dict[str, str]:
    """Every memory that is no session, whole."""
    return {
        path: user.memory(path).text
        for path in user.paths()
        if not path.startswith("sessions/")
    }
