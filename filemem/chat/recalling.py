"""Recall before the answer: one search of the memory for a message, whose best passages go into the prompt."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import NamedTuple

from filemem import index
from filemem.errors import FilememError
from filemem.files.folder import CurrentConversation, Folder
from filemem.search import evidence, question, search_files
from filemem.text import tokens
from filemem.text.plain import escape_controls
from filemem.tools import answers

BESIDE_TOOLS, ALONE = 600, 1200  # tokens of passages, where the model may search by itself, and where it does not
LONGEST_QUERY = 2000  # characters of a message that are searched for: its beginning and its end
FEW = 1  # words to look for, up to which a message is taken to go on with what was said before
BEFORE = 2  # of the person's turns that such a message goes on with
_LEFT_OUT = re.compile(r"\n[\d,]+ weaker left out[^\n]*$")  # a limit is of no use where no tool is called


class Recalled(NamedTuple):
    """What was searched for, the best passages as a model reads them, and where they stand, as path:line."""

    query: str
    text: str
    places: list[str]


def recall(
    folder: Folder, said: Sequence[str], today: dt.date, current: CurrentConversation | None, room: int, *, weak: bool
) -> Recalled:
    """The best passages for the last of a person's messages, within `room` tokens; of weak ones none, unless `weak`.

    A message with little to look for, such as "and since when?", is searched for together with those before it.
    """
    query = searched(said)
    try:
        found = search_files(index.of(folder), query, today=today, current=current)
    except FilememError as error:
        return Recalled(query, f"Error: {error}" if weak else "", [])
    if not weak and max((hit.strength for hit in found.hits), default=0.0) < evidence.PARTIAL:
        return Recalled(query, "", [])
    answer = _LEFT_OUT.sub("", escape_controls(answers.searched(found, {"query": query})))
    kept = tokens.clip(answer, room)
    text = answer if kept == answer else kept.rpartition("\n")[0]
    return Recalled(query, text, [f"{hit.path}:{hit.line}" for hit in found.hits])


def searched(said: Sequence[str]) -> str:
    """What to search for on the last of a person's messages, which may go on with those before it."""
    text = said[-1]
    if question.parse(text).content_words <= FEW:
        text = "\n".join(said[-1 - BEFORE :])
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]} {text[-half:]}"
