"""The days that a question names, within the days that the memory has."""

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from filemem.index import Corpus, IndexedFile
from filemem.search.validity import FIRST_DAY, LAST_DAY, tells_of
from filemem.text import dates, terms
from filemem.text.dayrange import DayRange
from filemem.text.expressions import Mention
from filemem.text.spans import Span

FEW_DAYS = 14
"""How long a few days are; so near to a day it is told of."""
DAYS_OF_A_FEW = {
    "day": FEW_DAYS,
    "week": 42,
    "month": 183,
    "year": 1826,
    "天": FEW_DAYS,
    "周": 42,
    "星期": 42,
    "礼拜": 42,
    "月": 183,
    "年": 1826,
}
"""How many days a few of a unit reach, about."""

# Words before a mention, and in Chinese behind it, that make it an end of a range.
_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$|[自从]$", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_AFTER = re.compile(r"\bafter\s+(?:the\s+)?$", re.IGNORECASE)
_BEFORE = re.compile(r"\bbefore\s+(?:the\s+)?$", re.IGNORECASE)
_SINCE_BEHIND = re.compile("[之以]来")
_AFTER_BEHIND = re.compile("[之以]后|后(?![期面来天半])")
_BEFORE_BEHIND = re.compile("[之以]前|前(?![期面后天半])")
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
_COMING = re.compile(
    rf"\b(?:the\s)?(?:next|coming)\s{_FEW}\s{_UNIT}\b"
    rf"|(?:未来|接下来|今后|往后)的?这?几{_CHINESE_UNIT}|接下来",
    re.IGNORECASE,
)
"""One to come, likewise."""


@dataclass(frozen=True)
class NamedDays:
    """The days that a question names.

    Attributes:
        ranges: the days.
        pieces: of its text that name them.
        sought: those of the pieces whose words are looked for, too.
        counted_from: the day of the newest memory if they count from that.
    """

    ranges: tuple[DayRange, ...] = ()
    pieces: tuple[str, ...] = ()
    sought: tuple[str, ...] = ()
    counted_from: dt.date | None = None


def named_days(question: str, corpus: Corpus, today: dt.date) -> NamedDays:
    """Return the days that a question names.

    A day or month without a year is the one that the memory knows. Relative days count
    from `today` or, if all of them are past and no memory is of one, from the newest
    memory, if one is then. What is to come counts from today alone.

    Args:
        question: its text.
        corpus: the files with their days.
        today: the day on which it is asked.
    """
    newest = _newest_day(corpus, today)
    counted_from = None
    mentions = dates.mentioned(question, today)
    is_to_come = any(mention.span.start > today for mention in mentions)
    if not (is_to_come or _any_dated(corpus, mentions)):
        from_newest = dates.mentioned(question, newest)
        if _any_dated(corpus, from_newest):
            counted_from = newest
            mentions = from_newest
    in_simplified = terms.simplified(question)  # as long, so that places hold for both
    if not mentions:
        return _vague_days(question, in_simplified, today, newest)
    settled = [_settled(mention, corpus) for mention in mentions]
    ranges = list[DayRange]()
    pieces = list[str]()
    sought = list[str]()
    for place, mention in enumerate(settled):
        ranges += _ranges(in_simplified, settled, place)
        piece = question[mention.start : mention.end]
        pieces.append(piece)
        if _is_sought(mention, piece, today):
            sought.append(piece)
    return NamedDays(tuple(ranges), tuple(pieces), tuple(sought), counted_from)


def _is_sought(mention: Mention, piece: str, today: dt.date) -> bool:
    """Say whether the words of a date are looked for beside its days.

    What is one day or month alone is found by its days: as words `22 March 2026` would
    stand for all of that month, and `last week` for any. A day without its year comes
    again, and a year may be a title.

    Args:
        mention: of the date.
        piece: its words.
        today: the day on which it is asked.
    """
    if mention.annotated or mention.span.start > today:
        return False
    days = mention.span.end - mention.span.start
    has_year = str(mention.span.start.year) in piece
    return not has_year or days.days > dates.MAX_SPAN_DAYS


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
        today: the last of the days, or the one before those to come.
        newest: the day of the newest memory, from which they reach back.
    """
    coming = _COMING.search(in_simplified)
    vague = coming or _VAGUE.search(in_simplified)
    if not vague:
        return NamedDays()
    unit = next(filter(None, vague.groups()), "day")
    reach = DAYS_OF_A_FEW[unit.lower()]
    piece = question[vague.start() : vague.end()]
    last = today.toordinal()
    if coming:  # from tomorrow on, as today's memories are no plans
        days = DayRange(min(last + 1, LAST_DAY), min(last + reach, LAST_DAY))
        return NamedDays((days,), (piece,))
    first = max(FIRST_DAY, newest.toordinal() - reach)
    return NamedDays((DayRange(first, last),), (piece,), (piece,))


def _any_dated(corpus: Corpus, mentions: Iterable[Mention]) -> bool:
    """Say whether anything was said on the days that the mentions may name.

    Args:
        corpus: the files with their days.
        mentions: of a question; one may be of two days.
    """
    spans = (span for mention in mentions for span in mention.spans)
    return any(corpus.dated(DayRange.of(span)) for span in spans)


def _settled(mention: Mention, corpus: Corpus) -> Mention:
    """Return a mention that may be one of two days as the one that memories know.

    Where they know both, or none, it stays as it is.
    """
    known = [span for span in mention.spans if _is_known(corpus, span)]
    if len(known) == 1:
        return replace(mention, span=known[0], other=None)
    return mention


def files_of(corpus: Corpus, days: Collection[DayRange]) -> list[IndexedFile]:
    """Return the files that are of some days, each once.

    These were said on one of them, are of an event on one, or tell what held then.

    Args:
        corpus: the files with their days.
        days: those asked for.
    """
    found = [entry for one in days for entry in corpus.dated(one)]
    found += [entry for entry in corpus.files if tells_of(entry, days)]
    return list({entry.path: entry for entry in found}.values())


def with_days_around(days: Iterable[DayRange]) -> list[DayRange]:
    """Return some days with those shortly before and after each.

    People tell of a day before it comes, and afterwards.
    """
    return [
        DayRange(max(FIRST_DAY, one.first - FEW_DAYS), one.last + FEW_DAYS)
        for one in days
    ]


def is_named(corpus: Corpus, days: DayRange) -> bool:
    """Say whether a text names one of some days by date."""
    return any(entry.passages_naming([days]) for entry in corpus.files)


def _is_known(corpus: Corpus, span: Span) -> bool:
    """Say whether something was said on one of the days, or names one.

    Args:
        corpus: the files with their days.
        span: the days.
    """
    days = DayRange.of(span)
    return bool(corpus.dated(days)) or is_named(corpus, days)


def _ranges(question: str, mentions: Sequence[Mention], place: int) -> list[DayRange]:
    """Return the days of a mention.

    It reaches to the end of the next one in `from March to May`. It has its own days in
    `since May` and `until May`, and none of them in `after May` and `before May`.

    Args:
        question: its text.
        mentions: all that it has.
        place: of the mention among them.
    """
    here = mentions[place]
    if place and _joined(question, mentions[place - 1], here):
        return []
    ranges = list(map(DayRange.of, here.spans))
    for following in mentions[place + 1 : place + 2]:
        if _joined(question, here, following):
            return [_up_to(question, days.first, following) for days in ranges]
    above = question[: here.start]
    if here.since or _SINCE.search(above) or _SINCE_BEHIND.match(question, here.end):
        return [DayRange(days.first, LAST_DAY) for days in ranges]
    if _UNTIL.search(above):
        return [DayRange(FIRST_DAY, days.last) for days in ranges]
    if _AFTER.search(above) or _AFTER_BEHIND.match(question, here.end):
        return [DayRange(min(days.last + 1, LAST_DAY), LAST_DAY) for days in ranges]
    if _BEFORE.search(above) or _BEFORE_BEHIND.match(question, here.end):
        return [DayRange(FIRST_DAY, max(days.first - 1, FIRST_DAY)) for days in ranges]
    return ranges


def _up_to(question: str, first: int, last: Mention) -> DayRange:
    """Return the days from a first one, as an ordinal, to the end of a mention.

    `February` is the first that follows: it is read anew as of the first day if all
    that it names comes before.

    Args:
        question: its text.
        first: the first day.
        last: the mention.
    """
    spans = list(last.spans)
    for mention in dates.mentioned(question, dt.date.fromordinal(first)):
        if mention.start == last.start:
            spans += mention.spans
    ends = [span.end.toordinal() for span in spans]
    return DayRange(first, next((end for end in ends if end >= first), first))


def _joined(question: str, first: Mention, last: Mention) -> bool:
    """Say whether two mentions are the ends of one range.

    Args:
        question: its text.
        first: the mention that stands before the other.
        last: the one that follows it.
    """
    if _TO.fullmatch(question, first.end, last.start):
        return True
    if not _AND.fullmatch(question, first.end, last.start):
        return False
    return _BETWEEN.search(question[: first.start]) is not None
