"""What one search finds for a message: beside it for a model, else the answer."""

import datetime as dt
from collections.abc import Collection
from typing import NamedTuple

from filemem import index
from filemem.chat import phrases
from filemem.chat.core_memory import core_memory, preferences, wish_of
from filemem.chat.phrases import to_remember
from filemem.errors import FilememError
from filemem.llm import prompt
from filemem.search.notes import HALF
from filemem.search.results import Hit
from filemem.search.searching import search_files
from filemem.store.current import CurrentConversation
from filemem.store.folder import Folder
from filemem.store.memory import SOURCE_MARK
from filemem.store.paths import PROFILE, FileDate
from filemem.store.roles import ASSISTANT
from filemem.text import answers, dates
from filemem.text.plain import clip_tokens, count_tokens
from filemem.tools import render

MAX_QUERY_CHARS = 2000  # of a message that are searched for: its beginning and end
MARKS_TOKENS = 24  # around the profile, or what a search found
NEAREST = 3  # passages beside a message, however long they are, or in an answer
TOKENS = 400  # of passages beside a message
FACT_HOLDS = 1 / 3  # share of the content words that a fact holds, to have a place
FACT_PLACES = 2  # of facts beside a message, behind the best passage
NOTHING_FOUND = "A search for the last message found nothing that is not here already."
NEAREST_FOUND = (
    "A search for the last message found these, the nearest first, and maybe more:"
)


def room_beside(*, has_tools: bool) -> int:
    """Return how many tokens of passages stand beside a message: for a model that
    cannot search for itself three times as many."""
    return TOKENS if has_tools else 3 * TOKENS


def recall(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None,
    room_tokens: int,
    *,
    before: str = "",
    told: Collection[str] = (),
    least_strength: float = 0.0,
) -> str:
    """Return the passages nearest to a message, and what they are.

    Args:
        folder: whose memories are searched.
        message: what the person said last.
        today: the day from which words such as "yesterday" count.
        current: the conversation going on, whose lines the prompt has already.
        room_tokens: how long the answer may be; the nearest passages are in any case.
        before: what the person said before it, which is searched for as well where
            the message alone finds nothing.
        told: the paths of the memories that the prompt tells in its profile.
        least_strength: how much of the message the best passage must hold.

    Returns:
        The passages, the best first, then the best facts, without the profile and the
        wishes, which every prompt has; '' where nothing was found, or the best passage
        is too weak.
    """
    hits = _search(folder, message, today, current)
    if before and not _best_strength(hits):
        hits = _search(folder, f"{before}\n{message}", today, current)
    if _best_strength(hits) < least_strength:
        return ""
    parts = [NEAREST_FOUND]
    wishes = preferences(folder, today) if folder.is_own else []
    facts = _search(folder, message, today, current, path="facts/**")
    for hit in _with_facts(hits, facts):
        if hit.path in (PROFILE, *told) or wish_of(hit.text) in wishes:
            continue
        parts.append(_item(hit, message, today))
        is_near = len(parts) <= 1 + NEAREST
        if not is_near and count_tokens("\n".join(parts)) > room_tokens:
            parts.pop()
            break
    folder.tell("recalled", len(parts) - 1)
    return "\n".join(parts) if len(parts) > 1 else ""


def _with_facts(hits: list[Hit], facts: list[Hit]) -> list[Hit]:
    """Put the best current facts right behind the best hit: they say in a line what
    turns tell at length.

    Args:
        hits: the best of the memory.
        facts: the best facts.
    """
    holding = []
    for hit in facts:
        if hit.strength >= FACT_HOLDS and not hit.newer:
            holding.append(hit)
    first = [*hits[:1], *holding[:FACT_PLACES]]
    by_place = {hit.place: hit for hit in [*first, *hits[1:]]}
    return list(by_place.values())


class Quotes(NamedTuple):
    """The best passages for a message, under a heading in its language.

    Attributes:
        text: the heading and the passages; '' for none.
        is_held: whether one of them holds what the message says or asks, and is more
            than its words again.
    """

    text: str
    is_held: bool


def quoted(
    folder: Folder, message: str, today: dt.date, current: CurrentConversation | None
) -> Quotes:
    """Return the best passages for a message, three at most, to be quoted as an answer.

    What the chat said itself is left out; of what is to be kept as a fact only the
    words count.

    Args:
        folder: whose memories are searched.
        message: what the person said.
        today: the day from which words such as "yesterday" count.
        current: the conversation going on, from the message on.

    Returns:
        The passages: those that hold the message, behind what replaced them; others
        that are near; last those that only repeat the message.
    """
    asked = to_remember(message)
    names_day = not asked and _names_day(message, today)
    holding: list[Hit] = []
    near: list[Hit] = []
    repeating: list[Hit] = []
    for hit in _search(folder, asked or message, today, current):
        is_own = hit.speaker == ASSISTANT
        if is_own and answers.tells_of_memory(hit.text):
            continue
        is_of_day = names_day and hit.features.is_of_day
        is_plan = hit.day_named > today.toordinal()
        if hit.is_echo:
            repeating.append(hit)
        elif hit.strength >= HALF or is_of_day or is_plan:
            holding.append(hit)
        else:
            near.append(hit)
    replacing = {hit.newer for hit in holding}
    holding += [hit for hit in near if hit.path in replacing]
    holding.sort(key=lambda hit: bool(hit.newer))
    others = [hit for hit in near if hit.path not in replacing]
    hits = [*holding, *others, *repeating]
    if not hits:
        return Quotes("", is_held=False)
    heading = answers.FOUND if holding else answers.NEAREST
    if repeating and not holding:
        heading = answers.REPEATED
    items = [_item(hit, message, today) for hit in hits[:NEAREST]]
    folder.tell("recalled", len(items))
    text = "\n\n".join([phrases.said_to(message, heading), *items])
    return Quotes(text, bool(holding))


def _names_day(text: str, today: dt.date) -> bool:
    """Tell whether a text names a single day, and not only a month or a year."""
    for mention in dates.mentioned(text, today):
        if any(span.start == span.end for span in mention.spans):
            return True
    return False


def prompt_context(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None,
    tokens: int,
) -> str:
    """Return what belongs into the prompt of a chat that is not filemem's.

    That is the person's wishes, the profile, and what a search for the message finds;
    all but the wishes as data between marks. It has `tokens` at most: wishes and
    profile a third each.
    """
    wishes, profile, told = core_memory(folder, today)
    clipped = clip_tokens(profile, tokens // 3 - MARKS_TOKENS)
    if clipped != profile:
        told = frozenset()
    parts = [clip_tokens(wishes, tokens // 3), prompt.data(PROFILE, clipped)]
    left = tokens - sum(map(count_tokens, parts)) - MARKS_TOKENS
    if message.strip() and left > 0:
        found = recall(folder, message, today, current, left, told=told)
        parts.append(prompt.data("search_files", clip_tokens(found, left)))
    return "\n\n".join(filter(None, parts))


def _search(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None,
    path: str | None = None,
) -> list[Hit]:
    """Return what a search for a message finds by words, days or meaning, best first.

    Nothing where nothing is kept yet, or it cannot be read.
    """
    query = message
    if len(message) > MAX_QUERY_CHARS:
        half = MAX_QUERY_CHARS // 2
        query = f"{message[:half]} {message[-half:]}"
    try:
        found = search_files(
            index.of(folder), query, path=path, today=today, current=current
        )
    except FilememError:
        return []
    hits = []
    for hit in found.hits:
        found_by = hit.features
        if found_by.by_word or found_by.day or found_by.meaning:
            hits.append(hit)
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
    notes = [note for note in (hit.note, hit.replaced) if note]
    if when and when.date > today:
        notes.append(render.LATER)
    told = f"  ({'; '.join(notes)})" if notes else ""
    lines.append(f"{day}{hit.path}:{hit.line}{told}")
    return "- " + "\n  ".join(lines)
