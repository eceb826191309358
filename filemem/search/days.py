"""The days that a question names, within the days that the memory has."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from filemem.index import Corpus
from filemem.search.validity import FIRST_DAY, LAST_DAY
from filemem.text import dates, terms
from filemem.text.dayrange import DayRange
from filemem.text.expressions import Mention

RECENT_DAYS = 14
DAYS_OF_A_FEW = {
    "day": RECENT_DAYS,
    "week": 42,
    "month": 183,
    "year": 1826,
    "天": RECENT_DAYS,
    "周": 42,
    "星期": 42,
    "礼拜": 42,
    "月": 183,
    "年": 1826,
}
"""How many days the last few of a unit reach back, about."""

_SINCE = re.compile(r"\b(?:since|after)\s+(?:the\s+)?$|$(?<=[自从])", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:before|until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_SINCE_BEHIND = re.compile(r"[之以](?:来|后)|后(?![期面来天])")
_UNTIL_BEHIND = re.compile(r"[之以]前|前(?![期面后天])")
_TO = re.compile(r"\s*(?:\b(?:to|until|till|through)\b|[-–—~～到至])\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+$", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and\b|[和与])\s*", re.IGNORECASE)
_FEW = r"(?:few|several|couple\sof)"
_UNIT = "(day|week|month|year)s"
_CHINESE_UNIT = "个?(天|周|星期|礼拜|月|年)"
_VAGUE = re.compile(
    rf"\b(?:the\s|these\s)?(?:last|past)\s{_FEW}\s{_UNIT}\b"
    rf"|\b(?:a\s)?{_FEW}\s{_UNIT}\sago\b"
    rf"|(?:最近|过去|近|前|这)这?几{_CHINESE_UNIT}"
    rf"|几{_CHINESE_UNIT}[以之]?前"
    r"|\b(?:recently|lately|these\sdays|the\sother\sday)\b"
    r"|最近|近来|近日|[这前]阵子|这段时间|[这前]些[天日]子?|[这前]几日",
    re.IGNORECASE,
)
"""A time without an end; its groups are the units of a few."""


@dataclass(frozen=True)
class NamedDays:
    """The days that a question names, and the pieces of its text that name them."""

    ranges: tuple[DayRange, ...] = ()
    pieces: tuple[str, ...] = ()


def named_days(question: str, corpus: Corpus, today: dt.date) -> NamedDays:
    """Return the days that a question names.

    A day or month without a year is the last such in the memory. Relative days count
    from `today` or, where no memory is of such a day, from the newest memory.

    Args:
        question: its text.
        corpus: the files with their days.
        today: the day on which it is asked.
    """
    newest = _newest_day(corpus, today)
    mentions = dates.mentioned(question, today)
    if not _any_dated(corpus, mentions):
        from_newest = dates.mentioned(question, newest)
        if _any_dated(corpus, from_newest):
            mentions = from_newest
    in_simplified = terms.simplified(question)  # as long, so that places hold for both
    if not mentions:
        return _vague_days(question, in_simplified, today, newest)
    settled = [_settled(mention, corpus, newest) for mention in mentions]
    ranges: list[DayRange] = []
    pieces: list[str] = []
    for place, mention in enumerate(settled):
        ranges += _ranges(in_simplified, settled, place)
        pieces.append(question[mention.start : mention.end])
    return NamedDays(tuple(ranges), tuple(pieces))


def _newest_day(corpus: Corpus, today: dt.date) -> dt.date:
    """Return the day of the newest memory, or today if that is to come."""
    newest = max((entry.date for entry in corpus.files), default=0)
    last = min(newest, today.toordinal())
    return dt.date.fromordinal(max(FIRST_DAY, last))


def _vague_days(
    question: str, in_simplified: str, today: dt.date, newest: dt.date
) -> NamedDays:
    """Return the days of a vague time, such as `recently`, and its words.

    Args:
        question: its text.
        in_simplified: the same in simplified characters.
        today: the last of the days.
        newest: the day of the newest memory, from which they reach back.
    """
    vague = _VAGUE.search(in_simplified)
    if not vague:
        return NamedDays()
    unit = next(filter(None, vague.groups()), "day")
    last = today.toordinal()
    first = newest.toordinal() - DAYS_OF_A_FEW[unit.lower()]
    piece = question[vague.start() : vague.end()]
    return NamedDays((DayRange(max(FIRST_DAY, first), last),), (piece,))


def _settled(mention: Mention, corpus: Corpus, newest: dt.date) -> Mention:
    """Return a mention that may be one of two days as the one that memories have."""
    if mention.other is None or mention.other.start <= newest:
        return mention
    only_one = mention._replace(other=None)
    return only_one if _any_dated(corpus, [only_one]) else mention


def _any_dated(corpus: Corpus, mentions: Iterable[Mention]) -> bool:
    """Say whether a memory is dated on one of the days."""
    return any(
        corpus.dated(span.start.toordinal(), span.end.toordinal())
        for mention in mentions
        for span in mention.spans
    )


def _ranges(question: str, mentions: Sequence[Mention], place: int) -> list[DayRange]:
    """Return the days of a mention.

    It reaches to the end of the next one in `from March to May`, and has all days after
    it in `since May`.

    Args:
        question: its text.
        mentions: all that it has.
        place: of the mention among them.
    """
    here = mentions[place]
    if place and _joined(question, mentions[place - 1], here):
        return []
    ranges: list[DayRange] = []
    for span in here.spans:
        ranges.append(DayRange(span.start.toordinal(), span.end.toordinal()))
    for following in mentions[place + 1 : place + 2]:
        if _joined(question, here, following):
            return [_up_to(question, days.first, following) for days in ranges]
    before = question[: here.start]
    if here.since or _SINCE.search(before) or _SINCE_BEHIND.match(question, here.end):
        return [DayRange(days.first, LAST_DAY) for days in ranges]
    if _UNTIL.search(before) or _UNTIL_BEHIND.match(question, here.end):
        return [DayRange(FIRST_DAY, days.last) for days in ranges]
    return ranges


def _up_to(question: str, first: int, last: Mention) -> DayRange:
    """Return the days from a first one, as an ordinal, to the end of a mention.

    `February` is the first that follows: it is read anew as of the first day if all
    that it names comes before.
    """
    spans = list(last.spans)
    for mention in dates.mentioned(question, dt.date.fromordinal(first)):
        if mention.start == last.start:
            spans += mention.spans
    ends = [span.end.toordinal() for span in spans]
    return DayRange(first, next((end for end in ends if end >= first), first))


def _joined(question: str, first: Mention, last: Mention) -> bool:
    """Say whether two mentions are the ends of one range."""
    if _TO.fullmatch(question, first.end, last.start):
        return True
    if not _AND.fullmatch(question, first.end, last.start):
        return False
    return _BETWEEN.search(question[: first.start]) is not None
