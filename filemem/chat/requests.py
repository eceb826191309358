"""What a message asks of the program itself, told by how it begins or by the whole of it; everything else is for the model."""

import datetime as dt
import re
from collections.abc import Callable
from typing import NamedTuple

from filemem.files.folder import Folder
from filemem.files.passages import Passage

_REMEMBER = re.compile(
    r"\s*(?:please,?\s+)?(?:remember|don['’]?t forget)\b(?!\s+to\b)(?:\s+that\b)?[\s:,—-]*"
    r"|\s*(?:请|請)?(?:你)?(?:记住|記住|别忘了|別忘了)[\s:：,，]*",
    re.IGNORECASE,
)
_REMEMBER_TO = re.compile(r"\s*(?:please,?\s+)?(?:remember|don['’]?t forget)\s+to\b", re.IGNORECASE)
_FORGET = re.compile(
    r"(?:please\s+)?(?:forget (?:that|this|it)|(?:don['’]?t|do not) keep (?:that|this))(?:,? please)?"
    r"|(?:请)?(?:忘了吧|忘掉吧|忘了它|忘掉它|把它忘了|别记了|不要记)",
    re.IGNORECASE,
)
_UNRECORDED = re.compile(
    r"\s*(?:(?:this is )?off the record|(?:don['’]?t|do not) keep this)\s*[:,—-]|\s*(?:别记|別記|不要记|不要記)\s*[:：,，]",
    re.IGNORECASE,
)


class Does(NamedTuple):
    """What the program does itself where a message asks for it, as `jobs.asked` does; a chat knows no more of either.

    `remember`: keep words as a fact with its source; the memory's path, all paths that changed, sentences. `take_back`: keep back
    the exchange before the last turn of a transcript; the places.
    """

    remember: Callable[[Folder, str, dt.datetime, str], tuple[str, list[str], list[str]]]
    take_back: Callable[[Folder, str, list[Passage], dt.datetime], list[str]]


def to_remember(message: str) -> str:
    """What a message asks to be remembered, in its own words; empty where it asks for nothing, or a question."""
    if message.rstrip().endswith(("?", "？")):
        return ""
    if _REMEMBER_TO.match(message):
        return message.strip()
    opening = _REMEMBER.match(message)
    return message[opening.end() :].strip() if opening else ""


def to_forget(message: str) -> bool:
    """Does a message, as a whole, take back what was said just before it?"""
    return _FORGET.fullmatch(message.strip().rstrip(".!。！~ ")) is not None


def unrecorded(message: str) -> bool:
    """Does a message begin by asking that nothing of it be kept?"""
    return _UNRECORDED.match(message) is not None
