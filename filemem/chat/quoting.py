"""The answer where there is no model: the best passages of one search, whatever was said."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from filemem.chat import phrases
from filemem.chat.phrases import said_to
from filemem.chat.recall import HOLDS, search
from filemem.search.results import Hit
from filemem.store.folder import CurrentConversation, Folder
from filemem.store.memory import SOURCE_MARK
from filemem.store.paths import PROFILE, FileDate, kind_of
from filemem.store.roles import ASSISTANT
from filemem.text import dates
from filemem.tools import render

MAX_QUOTES = 3  # in one answer
MAX_NEAREST = 2  # of them those that do not hold what was asked
SEARCHED_HITS = 20  # among which quotes are chosen, as some tell the same
LEAST_SCORE = 0.4  # of the best one's, from which on another is quoted beside it
ALIKE = 0.8  # of the best strength, from which on the newest quote is first
_ITEM = re.compile(r"^[-*+]\s+")
_WEEKDAYS = "一二三四五六日"


@dataclass(frozen=True)
class Quotes:
    """The passages to quote for a message, each part in its order.

    `holding` hold half of the content words of what was said, are of a day that it
    names, or replaced what does; `nearest` are the best of the others.
    """

    holding: list[Hit]
    nearest: list[Hit]


def find_quotes(
    folder: Folder,
    message: str,
    today: dt.date,
    current: CurrentConversation | None,
) -> Quotes:
    """Return the passages to quote for a message, found by one search.

    Args:
        folder: whose memories are searched.
        message: what the person said.
        today: the day from which words such as "yesterday" count.
        current: the conversation going on, from the message on, which is no answer.
    """
    found = search(folder, message, today, current, limit=SEARCHED_HITS)
    if found is None:
        return Quotes([], [])
    hits = _telling(found.hits)
    best_score = max((hit.score for hit in hits), default=0.0)
    near = [hit for hit in hits if hit.score >= LEAST_SCORE * best_score]
    days = _days_named(message, today)
    holding = [
        hit for hit in near if hit.strength >= HOLDS or days & _days_told(hit, today)
    ]
    replacing = {hit.newer for hit in holding if hit.newer}
    holding = [hit for hit in hits if hit in holding or hit.path in replacing]
    nearest = [hit for hit in near if hit.strength > 0 and hit not in holding]
    best = max((hit.strength for hit in holding), default=0.0)
    quoted = holding[:MAX_QUOTES]
    quoted.sort(key=lambda hit: quote_order(hit, ALIKE * best))
    room = min(MAX_NEAREST, MAX_QUOTES - len(quoted))
    return Quotes(quoted, nearest[:room])


def answer(message: str, quotes: Quotes, *, kept: bool, acted: str = "") -> str:
    """Return what is said to a message.

    Args:
        message: what the person said.
        quotes: what `find_quotes` found for it.
        kept: whether the message is in a transcript.
        acted: what the program did about it, which is said first.
    """
    parts = []
    if acted:
        parts.append(acted)
    elif not quotes.holding:
        nothing = phrases.NOTHING if kept else phrases.NOTHING_KEPT
        parts.append(said_to(message, nothing))
    if quotes.holding:
        parts.append(_quoted(message, phrases.FOUND, quotes.holding))
    if quotes.nearest and not acted:
        parts.append(_quoted(message, phrases.NEAREST, quotes.nearest))
    return "\n\n".join(parts)


def quote_order(hit: Hit, good_strength: float) -> tuple[bool, bool, int, bool]:
    """Return the sort key for quotes: what holds today first, of that the newest.

    On one day a fact comes before a turn, because a person may have edited it.
    """
    is_superseded = bool(hit.newer)
    is_weak = hit.strength < good_strength
    days_before_epoch = 0
    if hit.date is not None and not is_weak:
        days_before_epoch = -hit.date.toordinal()
    is_not_a_fact = kind_of(hit.path) != "facts"
    return is_superseded, is_weak, days_before_epoch, is_not_a_fact


def _days_named(text: str, today: dt.date) -> set[dt.date]:
    """Return each single day that a text names."""
    days = set()
    for mention in dates.mentioned(text, today):
        for span in mention.spans:
            if span.start == span.end:
                days.add(span.start)
    return days


def _days_told(hit: Hit, today: dt.date) -> set[dt.date]:
    """Return the days that a passage is of, or names."""
    if hit.date is None:
        return _days_named(hit.text, today)
    return _days_named(hit.text, hit.date) | {hit.date}


def _telling(hits: Sequence[Hit]) -> list[Hit]:
    """Return the passages that tell something new, best first.

    A fact stands for the turn that it rests on, and a passage for an answer that names
    its file; headings and front matter tell nothing.
    """
    ranked = sorted(hits, key=lambda hit: hit.score, reverse=True)
    sources = {source for hit in ranked for source in hit.sources}
    paths = {hit.path for hit in ranked}
    telling = dict[str, Hit]()  # by what they say
    for hit in ranked:
        text = SOURCE_MARK.sub("", hit.text).strip()
        is_retold = f"{hit.path}:{hit.line}" in sources or text in phrases.SAY_NOTHING
        if hit.speaker == ASSISTANT and any(path in text for path in paths):
            is_retold = True
        if _is_statement(hit) and not is_retold:
            telling.setdefault(text, hit)
    return list(telling.values())


def _is_statement(hit: Hit) -> bool:
    """Tell whether a passage is no heading of the profile and no session's front matter."""
    if hit.path == PROFILE:
        return not hit.text.lstrip().startswith("#")
    return bool(hit.speaker) or kind_of(hit.path) != "sessions"


def _quoted(message: str, heading: tuple[str, str], hits: Sequence[Hit]) -> str:
    lines = [said_to(message, heading)]
    for hit in hits:
        lines += _quote(hit, message)
    return "\n".join(lines)


def _quote(hit: Hit, message: str) -> list[str]:
    """Return a passage as a list item under a blank line, its day and place below it."""
    shown = []
    for line in _ITEM.sub("", hit.excerpt).split("\n"):
        text = SOURCE_MARK.sub("", line).rstrip()
        shown.append(render.line_text(text, hit.date, hit.path, hit.line))
    who = hit.speaker or hit.title
    first = f"{who}: {shown[0]}" if who else shown[0]
    where = f"{hit.path}:{hit.line}"
    day = _day_told(hit, message)
    if day:
        where = f"{day}, {where}"
    if hit.note:
        where = f"{where}  ({hit.note})"
    return ["", f"- {first}", *(f"  {line}" for line in shown[1:]), f"  {where}"]


def _day_told(hit: Hit, message: str) -> str:
    """Return the day of a passage, or the month where its file has no more."""
    if hit.when and hit.when.day_unknown and hit.date == hit.when.date:
        return day_of(hit.when, message)
    if hit.date is None:
        return day_of(hit.when, message) if hit.when else ""
    return day_of(FileDate(hit.date, False, ""), message)


def day_of(when: FileDate, message: str) -> str:
    """Return a file's day, or its month, as whoever wrote the message writes it."""
    day = when.date
    chinese_month = f"{day.year}年{day.month}月"
    if when.day_unknown:
        return said_to(message, (f"{day:%B %Y}", chinese_month))
    weekday = _WEEKDAYS[day.weekday()]
    chinese = f"{chinese_month}{day.day}日 週{weekday}"
    return said_to(message, (render.spelt(day), chinese))
