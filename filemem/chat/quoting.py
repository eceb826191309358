"""The answer where there is no model: the best passages of a search, or one line that says that nothing was found."""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence

from filemem import index
from filemem.chat import recalling
from filemem.errors import FilememError
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, FileDate, kind_of
from filemem.files.transcript import ASSISTANT
from filemem.models.offline import FOUND, NEAREST, NOTHING, SAID, UNRECORDED, in_chinese
from filemem.search import PARTIAL, STRONG, Found, Hit, search_files
from filemem.tools import answers

MOST, NEAR = 3, 2  # quotes of an answer, and of one that is not sure
ALIKE = 0.7  # of the best score, from which on a passage answers about as well as the best one
LOOKED_AT = 20  # passages among which they are chosen, as questions and answers are left out
_ITEM = re.compile(r"^[-*+]\s+")
_WEEKDAYS = "一二三四五六日"


def reply(
    folder: Folder, said: Sequence[str], today: dt.date, current: CurrentConversation | None, *, kept: bool
) -> str:
    """What is said to the last of a person's messages; `kept` tells whether it is in a transcript."""
    message = said[-1]
    chinese = in_chinese(message)
    asks = "?" in message or "？" in message
    try:
        query = recalling.searched(said)
        found = search_files(index.of(folder), query, limit=LOOKED_AT, today=today, current=current)
    except FilememError:
        found = Found([], 0, "", [], 0)
    hits = list(_telling(folder, found.hits))
    of_its_days = asks and found.strength.endswith(" alone")  # the days that it names, of which these are all
    sure = of_its_days or found.certainty >= (PARTIAL if asks else STRONG)
    if hits and sure:
        opening, hits = FOUND[chinese], hits[:MOST]
    elif asks:
        opening, hits = (NEAREST if hits else NOTHING)[chinese], hits[:NEAR]
    else:
        opening, hits = "", []
    hits.sort(key=_place(hits))
    quotes = "\n".join([opening, *(_quote(hit, chinese=chinese) for hit in hits)]) if opening else ""
    plain = "" if asks else (SAID if kept else UNRECORDED)[chinese]
    return "\n\n".join(filter(None, (plain, quotes)))


def _telling(folder: Folder, hits: Sequence[Hit]) -> Iterator[Hit]:
    """The hits that tell something, best first; of those that tell the same only one. No question, answer or heading."""
    lines = folder.memory(PROFILE).lines if any(hit.path == PROFILE for hit in hits) else []
    told: set[str] = set()
    for hit in sorted(hits, key=_worth, reverse=True):
        text = _text(hit)
        places = {text, f"{hit.path}:{hit.line}", *hit.sources}
        if hit.speaker == ASSISTANT or text.endswith(("?", "？")) or not told.isdisjoint(places):
            continue
        if hit.path == PROFILE and lines[hit.line - 1].startswith("#"):
            continue
        if kind_of(hit.path) == "sessions" and not hit.speaker:  # its front matter
            continue
        told |= places
        yield hit


def _worth(hit: Hit) -> float:
    """What a hit counts: by its words the more, the more it holds of the question; by its meaning in full."""
    meaning = hit.parts.get("meaning", 0.0)
    return (hit.score - meaning) * (0.25 + hit.strength) + meaning


def _place(hits: Sequence[Hit]) -> Callable[[Hit], tuple[bool, bool, int]]:
    """What sorts quotes: of those that answer about as well the newest first, what was superseded last."""
    best = max((hit.score for hit in hits), default=0.0)

    def place(hit: Hit) -> tuple[bool, bool, int]:
        alike = hit.score >= ALIKE * best
        return bool(hit.newer), not alike, -hit.date.toordinal() if alike and hit.date else 0

    return place


def _text(hit: Hit) -> str:
    return SOURCE_MARK.sub("", hit.text).strip()


def _quote(hit: Hit, *, chinese: bool) -> str:
    """A passage as a list item under a blank line: who said it and what, then its day and `path:line`."""
    shown = ("… " if hit.cut and not hit.text.startswith(hit.excerpt[:20]) else "") + hit.excerpt
    lines = (SOURCE_MARK.sub("", line).rstrip() for line in _ITEM.sub("", shown).split("\n"))
    first, *rest = [answers.line_text(line, hit.date, hit.path, hit.line) for line in lines]
    who = f"{hit.speaker or hit.title}: " if hit.speaker or hit.title else ""
    when = (
        FileDate(hit.date, False, "")
        if hit.date and not (hit.when and hit.when.month and hit.date == hit.when.date)
        else hit.when
    )
    where = ", ".join(filter(None, (day_of(when, chinese=chinese) if when else "", f"{hit.path}:{hit.line}")))
    note = f"  ({hit.note})" if hit.note else ""
    return "\n".join(["", f"- {who}{first}", *(f"  {line}" for line in rest), f"  {where}{note}"])


def day_of(when: FileDate, *, chinese: bool) -> str:
    """A file's day, or its month where that is all it has, as a person writes it."""
    day = when.date
    if chinese:
        named = f"{day.year}年{day.month}月"
        return named if when.month else f"{named}{day.day}日 周{_WEEKDAYS[day.weekday()]}"
    return f"{day:%B %Y}" if when.month else f"{day:%a} {day.day} {day:%B %Y}"
