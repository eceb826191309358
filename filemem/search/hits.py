"""One passage found, and what of it and of the turn before it an answer needs to show."""

import datetime as dt
import re
from typing import NamedTuple

from filemem.files.memory import FileDate
from filemem.files.passages import Passage
from filemem.text import terms

SHORT, SLIGHT = 40, 50  # columns of a reply that says little without its question; of one that starts with a pronoun

_WIDE = re.compile(f"[{terms.CJK}]")
_QUESTION = re.compile(r"[?？][^?？]{0,25}$|[吗嗎呢][。~～\s]*$")
_LEANING = re.compile(
    r"(?:yes|yeah|yep|no|nope|sure|of course|definitely|exactly|absolutely|it|it's|that|that's|they|he|she|those|these)\b"
    r"|[对對是没沒不嗯它那他她这這]",
    re.IGNORECASE,
)


class Hit(NamedTuple):
    """One passage found. `has`, `near` and `lacks` are the question's words in it, around it, and in neither.

    `date` is its own day, `when` that of its file. `excerpt` is what an answer shows of the text, `cut` whether that is
    only a part; `before` the turn that it leans on; `sources` where a fact was said, as `path:line`; `newer` the path of what
    replaced it; `title` that of a note whose path does not tell it.
    """

    path: str
    line: int
    end_line: int
    date: dt.date | None
    score: float
    text: str
    archived: bool
    speaker: str
    time: str
    strength: float
    note: str
    has: tuple[str, ...]
    near: tuple[str, ...]
    lacks: tuple[str, ...]
    parts: dict[str, float]
    when: FileDate | None
    excerpt: str
    cut: bool
    before: Passage | None
    sources: tuple[str, ...]
    newer: str
    title: str


def leans(passage: Passage, before: Passage) -> bool:
    """Does a turn say little without the one before it: a short reply to a question, a bare yes, a pronoun?"""
    if not passage.speaker or before.speaker in ("", passage.speaker):
        return False
    width = len(passage.text) + len(_WIDE.findall(passage.text))
    if width <= SHORT and _QUESTION.search(before.text):
        return True
    return width <= SLIGHT and _LEANING.match(passage.text) is not None
