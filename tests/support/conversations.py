"""Conversations for tests of remembering: a person and the assistant in turn, read by a
scripted model.
"""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from reader import Note, Reader

from filemem.learn import consolidate, proposals, remember
from filemem.learn.outcome import Applied
from filemem.learn.records import WRITTEN, Decision
from filemem.store import transcript
from filemem.store.folder import Folder
from filemem.store.learned import LearnLog
from filemem.store.passages import format_turn
from filemem.store.roles import ASSISTANT


def day(month: int, number: int) -> dt.datetime:
    """Half past nine of a day of 2026."""
    return dt.datetime(2026, month, number, 9, 30, tzinfo=dt.UTC)


def talk(
    user: Folder, at: dt.datetime, *said: str, speakers: Iterable[str] = ()
) -> str:
    """A session in which the user and the assistant (or these `speakers`) take turns.

    Returns its path; the first turn is on line 7.
    """
    names = [*speakers] or [user.name, ASSISTANT]
    turns = [
        format_turn(names[n % len(names)], f"{at:%H:%M}", text)
        for n, text in enumerate(said)
    ]
    return transcript.create(user, "talk", at, turns)


def read(user: Folder, at: dt.datetime, model: Any, **how: Any) -> Applied:
    """Consolidate all that is new; what was done in all."""
    whole = Applied()
    for done in consolidate.run(user, at, model, **how):
        whole = whole.plus(done)
    return whole


def remembered(
    user: Folder, at: dt.datetime, reader: Reader | None = None
) -> list[Decision]:
    """Consolidate all that is new; what was decided.

    Each turn of a person becomes a fact where no other reader is given.
    """
    return read(user, at, reader or Reader(echo=True)).decisions


def decided(
    user: Folder, at: dt.datetime, said: str, *notes: Note, **more: Any
) -> list[Decision]:
    """What is decided about what a model notes of one turn.

    The assistant answers it with a word.
    """
    talk(user, at, said, "I see.", **more)
    return remembered(user, at, Reader(*notes))


def kept(
    user: Folder, at: dt.datetime, said: str, *notes: Note, **more: Any
) -> list[str]:
    """The texts that are kept of one turn."""
    found = decided(user, at, said, *notes, **more)
    return [one.claim.text for one in found if one.action in WRITTEN]


def waiting(user: Folder) -> int:
    """How many conversations no model has read."""
    count: int = consolidate.cost(user, None).facts["conversations"]
    return count


def accepted(user: Folder, at: dt.datetime) -> list[Decision]:
    """Accept every proposal; what was decided about each."""
    log = LearnLog.of(user)
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


def facts(user: Folder) -> list[str]:
    """The paths of the facts that stand."""
    return [path for path in tree(user) if path.startswith("facts/")]
