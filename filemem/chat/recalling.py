"""Recall before the answer: one search of the memory for a message, whose best passages stand beside it in the prompt."""

import datetime as dt
import re
from collections.abc import Sequence

from filemem import index
from filemem.errors import FilememError
from filemem.files.folder import CurrentConversation, Folder
from filemem.search import STRONG, Found, evidence, question, search_files
from filemem.text import tokens
from filemem.text.plain import escape_controls
from filemem.tools import answers

SURE, BESIDE_TOOLS, ALONE = 250, 400, 1200  # tokens: of a strong match, of another, of any for a model without tools
MOST = 30  # passages for a model without tools
LONGEST_QUERY = 2000  # characters of a message that are searched for: its beginning and its end
FEW = 1  # words to look for, up to which a message is taken to go on with what was said before
BEFORE = 2  # of the person's turns that such a message goes on with
_NO_CALLS = re.compile(r"\n(?:[\d,]+ weaker left out|… marks what was left out of)[^\n]*$", re.MULTILINE)
"""What an answer says on how to see more, which `shown 3 of 12` says here."""


def recall(
    folder: Folder,
    said: Sequence[str],
    today: dt.date,
    current: CurrentConversation | None,
    room: int,
    *,
    weak: bool,
    least: float = evidence.PARTIAL,
    sure: int = 0,
) -> str:
    """The best passages for the last of a person's messages, whole ones within `room` tokens, of a strong match within `sure`,
    and how many of how many these are; of those weaker than `least` none, unless `weak`."""
    query = searched(said)
    try:
        found = search_files(index.of(folder), query, limit=MOST if weak else None, today=today, current=current)
    except FilememError as error:
        return f"Error: {error}" if weak else ""
    if not weak and max((hit.strength for hit in found.hits), default=0.0) < least:
        return ""
    if not found.hits:
        return _text(found, query)
    room = sure if sure and found.certainty >= STRONG else room
    few, many = 1, len(found.hits)
    while few < many:  # as many as fit
        middle = (few + many + 1) // 2
        few, many = (middle, many) if tokens.count(_shown(found, middle, query)) <= room else (few, middle - 1)
    return _shown(found, few, query)


def _shown(found: Found, count: int, query: str) -> str:
    """The best `count` of the passages found."""
    best = sorted(found.hits, key=lambda hit: -hit.score)[:count]
    part = found._replace(hits=[hit for hit in found.hits if hit in best], more=0)
    return f"shown {count} of {len(found.hits) + found.more}: {_text(part, query)}"


def _text(found: Found, query: str) -> str:
    return _NO_CALLS.sub("", escape_controls(answers.searched(found, {"query": query})))


def searched(said: Sequence[str]) -> str:
    """What to search for on the last of a person's messages; one with little to look for, such as "and since when?", goes on
    with those before it."""
    text = said[-1]
    if question.parse(text).content_words <= FEW:
        text = "\n".join(said[-1 - BEFORE :])
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]} {text[-half:]}"
