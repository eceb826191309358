"""The best passages beside a message: what one search finds for it, as a prompt has it."""

import datetime as dt
from dataclasses import replace

from filemem import index
from filemem.chat.core_memory import core_memory, profile_text
from filemem.errors import FilememError
from filemem.llm import prompt
from filemem.search.results import Hit
from filemem.search.searching import Found, search_files
from filemem.store.folder import CurrentConversation, Folder
from filemem.store.memory import SOURCE_MARK
from filemem.store.paths import PROFILE
from filemem.text.plain import count_tokens, escape_controls
from filemem.tools import render

HOLDS = 0.5  # share of a question's content words that a passage holds, to hold it
MAX_QUERY_CHARS = 2000  # of a message that are searched for: its beginning and end
NOTHING_FOUND = "A search for the last message found nothing."
NEAREST_FOUND = "A search for the last message found {total}; the nearest {shown}: "


def recall(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None,
    room_tokens: int,
    *,
    before: str = "",
    least_strength: float = 0.0,
) -> str:
    """Return the passages nearest to a message, and what they are.

    Args:
        folder: whose memories are searched.
        message: what the person said last.
        today: the day from which words such as "yesterday" count.
        current: the conversation going on, whose lines the prompt has already.
        room_tokens: how long the answer may be; at least one passage is in it.
        before: what the person said before it, which is searched for as well where
            the message alone finds nothing.
        least_strength: how much of the message the best passage must hold.

    Returns:
        The passages, best first, then by file, without lines of the profile that every
        prompt has; '' where nothing was found, or the best passage is too weak.
    """
    found = search(folder, message, today, current)
    if found is not None and not _best_strength(found) and before:
        found = search(folder, f"{before}\n{message}", today, current)
    if found is None or _best_strength(found) < least_strength:
        return ""
    hits = _beyond_profile(folder, found.hits)
    total = len(hits) + found.more
    while hits:
        text = render.searched(replace(found, hits=hits))
        heading = NEAREST_FOUND.format(total=total, shown=len(hits))
        told = heading + escape_controls(text)
        if len(hits) == 1 or count_tokens(told) <= room_tokens:
            return told
        weakest = min(reversed(hits), key=lambda hit: hit.score)
        hits.remove(weakest)
    return ""


def prompt_context(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None = None,
    room_tokens: int = 0,
) -> str:
    """Return what belongs into the prompt of a chat that is not filemem's.

    That is the person's wishes, the profile, and within `room_tokens` what a search for
    the message finds; all but the wishes as data between marks.
    """
    wishes, profile = core_memory(folder, today)
    found = ""
    if room_tokens and message.strip():
        found = recall(folder, message, today, current, room_tokens)
    parts = [wishes, prompt.data(PROFILE, profile), prompt.data("search_files", found)]
    return "\n\n".join(part for part in parts if part)


def search(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None,
    limit: int | None = None,
) -> Found | None:
    """Search for a message; None where nothing is kept yet, or it cannot be read."""
    query = message
    if len(message) > MAX_QUERY_CHARS:
        half = MAX_QUERY_CHARS // 2
        query = f"{message[:half]} {message[-half:]}"
    try:
        return search_files(
            index.of(folder), query, limit=limit, today=today, current=current
        )
    except FilememError:
        return None


def _best_strength(found: Found) -> float:
    return max((hit.strength for hit in found.hits), default=0.0)


def _beyond_profile(folder: Folder, hits: list[Hit]) -> list[Hit]:
    """Return the hits that the profile in every prompt does not show."""
    if not any(hit.path == PROFILE for hit in hits):
        return list(hits)
    profile = profile_text(folder)
    kept = []
    for hit in hits:
        line = SOURCE_MARK.sub("", hit.text).rstrip()
        if hit.path != PROFILE or line not in profile:
            kept.append(hit)
    return kept
