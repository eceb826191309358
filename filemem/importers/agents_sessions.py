"""The SQLite sessions of the OpenAI Agents SDK: `SQLiteSession(id, "conversations.db")`.

`agent_sessions` has a row a session, `agent_messages` one an item: `message_data` is the item as the Responses API takes it,
`created_at` in UTC (openai/openai-agents-python, src/agents/memory/sqlite_session.py, as of 0.24.0). Items that are no messages
are calls of tools, their results and reasoning.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any
from urllib.parse import quote

from filemem.errors import FilememError
from filemem.files import safe
from filemem.importers import tool_calls
from filemem.importers.exports import (
    LONGEST,
    ExportedConversation,
    Item,
    Seen,
    conversation,
    decode,
    mapping,
    modified,
    moment,
    words,
)
from filemem.importers.openai_jsonl import spoken_messages

_TABLES = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('agent_sessions', 'agent_messages')"
_SESSIONS = "SELECT session_id, created_at FROM agent_sessions ORDER BY rowid"
_ITEMS = "SELECT id, message_data, created_at FROM agent_messages WHERE session_id = ? AND length(message_data) <= ? ORDER BY id"


def parse(path: str, zone: tzinfo | None, seen: Seen) -> Iterator[Item]:
    """Every session of the database at `path`, which is only read; raises FilememError where it is no such database."""
    if os.path.isdir(path):
        raise FilememError(f"{path} is a folder; name the SDK's SQLite file.")
    os.close(safe.open_regular(path))
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as database:
            database.text_factory = lambda data: data.decode("utf-8", "replace")
            if database.execute(_TABLES).fetchone()[0] != 2:
                raise FilememError(f"{path} has no sessions of the OpenAI Agents SDK: its two tables are missing.")
            sessions = database.execute(_SESSIONS).fetchall()
            for number, (id, created) in enumerate(sessions):
                rows = database.execute(_ITEMS, (id, LONGEST)).fetchall()
                worked = tool_calls.uses((_item(row, called=True), moment(_utc(row[2]), zone)) for row in rows)
                spoke = spoken_messages(map(_item, rows), zone)
                said = ExportedConversation(words(id), words(id), moment(_utc(created), zone), spoke, 0, worked)
                yield from conversation(said, words(id), modified(path, zone), "", "assistant")
                seen(number + 1, len(sessions))
    except sqlite3.Error as error:
        raise FilememError(f"{path} cannot be read as SQLite ({error}); name the SDK's database.") from None


def _item(row: tuple[int, str, str], *, called: bool = False) -> dict[str, Any]:
    """One item as a message, which is empty for what is none; or as a call of a tool or its answer."""
    with contextlib.suppress(FilememError):
        item = mapping(decode(row[1]))
        if called or item.get("type") in (None, "message"):
            return {**item, "id": str(row[0]), "created_at": _utc(row[2])}
    return {}


def _utc(stamp: object) -> str:
    """SQLite's CURRENT_TIMESTAMP as ISO 8601 with its offset."""
    return f"{stamp}+00:00"
