"""Conversations that a program hands over, as OpenAI-style messages."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from filemem.errors import FilememError, Refused
from filemem.importers.base import ImportedConversation, LeftOut
from filemem.importers.intake import Intake, origin_of_id
from filemem.importers.jsonl import spoken_turns
from filemem.store.current import CurrentConversation
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.imports import Origins
from filemem.text.plain import one_line

FORMAT = "added"


def add_conversation(
    folder: Folder,
    messages: Iterable[Mapping[str, Any]],
    at: datetime,
    id: str,
    title: str,
) -> str:
    """Keep what is new of a conversation.

    Args:
        folder: whose memory it is.
        messages: all of the conversation, its last messages, or the new ones.
        at: when it began, if its messages have no times; its zone is the person's.
        id: names the conversation; empty where how it begins does.
        title: may be empty.

    Returns:
        The path of its session, empty where nobody spoke.

    Raises:
        Refused: it was kept before, a person has deleted it, and nothing is new.
        FilememError: something is no message.
    """
    given = [_mapping(message) for message in messages]
    turns = spoken_turns(given, at.tzinfo, LeftOut())
    if not turns:
        return ""
    intake = Intake(folder, FORMAT, at)
    intake.take(ImportedConversation(id, title, None, turns, is_whole=not id))
    report = intake.report
    for taken in (*report.added, *report.updated, *report.unchanged):
        return taken.path
    for skipped in report.skipped:
        what = skipped.what or intake.gate.clean(one_line(turns[0].text, 80)).text
        raise Refused(f"{what}: {skipped.why}.")
    return ""


def origin_of(folder: Folder, id: str) -> str:
    """Return what names a program's conversation in the record of imports."""
    return origin_of_id(Gate(folder), FORMAT, id)


def going_on(folder: Folder, id: str) -> CurrentConversation | None:
    """Return the conversation of an id, of which a search then finds nothing."""
    path = Origins(folder).recorded(origin_of(folder, id)) if id else None
    return CurrentConversation(path, 1) if path else None


def _mapping(message: Any) -> dict[str, Any]:
    """Return a message as a mapping; what openai's client answers is an object."""
    if hasattr(message, "model_dump"):
        message = message.model_dump()
    if isinstance(message, Mapping):
        given = dict(message)
        if isinstance(given.get("content"), str | list | None):
            return given
    raise FilememError(
        f"{one_line(repr(message), 80)} is no message; give a mapping such as "
        '{"role": "user", "content": "I live in Ghent."}, the content a text or a list.'
    )
