"""What one search finds for a message: beside it for a model, else the answer."""

import datetime as dt

from filemem import index
from filemem.chat import phrases
from filemem.chat.core_memory import core_memory
from filemem.chat.phrases import to_remember
from filemem.errors import FilememError
from filemem.llm import prompt
from filemem.search.results import Hit
from filemem.search.searching import search_files
from filemem.store.folder import CurrentConversation, Folder
from filemem.store.memory import SOURCE_MARK
from filemem.store.paths import PROFILE, FileDate
from filemem.text.plain import count_tokens
from filemem.tools import render

HOLDS = 0.5  # share of a question's content words that a passage holds, to hold it
MAX_QUERY_CHARS = 2000  # of a message that are searched for: its beginning and end
MAX_QUOTES = 3  # in an answer without a model
NOTHING_FOUND = "A search for the last message found nothing."
NEAREST_FOUND = (
    "A search for the last message found these, the nearest first, and maybe more:"
)


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
        The passages, best first, without the profile, which every prompt has; '' where
        nothing was found, or the best passage is too weak.
    """
    hits = _search(folder, message, today, current)
    if before and not _best_strength(hits):
        hits = _search(folder, f"{before}\n{message}", today, current)
    if _best_strength(hits) < least_strength:
        return ""
    parts = [NEAREST_FOUND]
    for hit in hits:
        if hit.path == PROFILE:
            continue
        parts.append(_item(hit, message, today))
        if len(parts) > 2 and count_tokens("\n".join(parts)) > room_tokens:
            parts.pop()
            break
    return "\n".join(parts) if len(parts) > 1 else ""


def quoted(
    folder: Folder, message: str, today: dt.date, current: CurrentConversation | None
) -> str:
    """Return the best passages for a message as an answer; '' where nothing was found.

    What the chat said itself, quotes above all, is left out; beside a fact that is kept
    stands only what holds its words. The arguments are those of `recall`; `current`
    begins with the message.
    """
    asked = to_remember(message)
    least_strength = HOLDS if asked else 0.0
    told = []
    for hit in _search(folder, asked or message, today, current):
        is_own = hit.text.startswith(phrases.OWN_BEGINNINGS)
        if hit.strength >= least_strength and not is_own:
            told.append(hit)
    items = [_item(hit, message, today) for hit in told[:MAX_QUOTES]]
    if not items:
        return ""
    return "\n\n".join([phrases.said_to(message, phrases.FOUND), *items])


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
    return "\n\n".join(filter(None, parts))


def _search(
    folder: Folder, message: str, today: dt.date, current: CurrentConversation | None
) -> list[Hit]:
    """Return what a search for a message finds by its words or its days, best first.

    Nothing where nothing is kept yet, or it cannot be read.
    """
    query = message
    if len(message) > MAX_QUERY_CHARS:
        half = MAX_QUERY_CHARS // 2
        query = f"{message[:half]} {message[-half:]}"
    try:
        found = search_files(index.of(folder), query, today=today, current=current)
    except FilememError:
        return []
    hits = [hit for hit in found.hits if hit.strength or hit.features.day]
    return sorted(hits, key=lambda hit: hit.score, reverse=True)


def _best_strength(hits: list[Hit]) -> float:
    return max((hit.strength for hit in hits), default=0.0)


def _item(hit: Hit, message: str, today: dt.date) -> str:
    """Return a passage as a list item, with its day and its `path:line` below it."""
    text = SOURCE_MARK.sub("", hit.excerpt.removeprefix("- ")).rstrip()
    lines = []
    for line in text.split("\n"):
        lines.append(render.line_text(line, hit.date, hit.path, hit.line))
    who = hit.speaker or hit.title
    if who:
        lines[0] = f"{who}: {lines[0]}"
    when = hit.when
    if hit.date and (when is None or when.date != hit.date):
        when = FileDate(hit.date, False, "")
    day = f"{phrases.day_of(when, message)}, " if when else ""
    notes = [hit.note] if hit.note else []
    if when and when.date > today:
        notes.append("later than today")
    told = f"  ({'; '.join(notes)})" if notes else ""
    lines.append(f"{day}{hit.path}:{hit.line}{told}")
    return "- " + "\n  ".join(lines)
