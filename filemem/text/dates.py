"""Dates that a text names, in English and Chinese, counted from a day that is given.

Conventions: a week runs from Monday to Sunday; "last Friday" is the most recent Friday
before today, "next Friday" the one of next week; "last weekend" belongs to the week
before this one; "two years ago" means that calendar year, and so with months and weeks;
seasons are the northern, meteorological ones (winter starts in December of its year).
Chinese 上周五 is the Friday of last week. A bare weekday, a day or month without a year
has two spans, the past one first: which is meant is a matter of understanding, so it is
never written out.

The expressions stand in `data/dates.txt`, each with the function of
`expressions` that reads it.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise

from filemem.text import tables
from filemem.text.expressions import (
    READERS,
    Expression,
    Mention,
    any_expression,
    pattern,
)
from filemem.text.spans import Span, in_words
from filemem.text.terms import simplified

QUOTE_CHARACTERS = 1000  # before an expression in which a quote is looked for
MAX_VAGUE_DAYS = 7  # of what a bound names that its words look back on
MONTHS_DIFFER = timedelta(3)  # in length; years by less
MAX_SPAN_DAYS = 31  # of a span that dates an event; *in 2023* says too little of a day

_NAMES_A_DAY = re.compile(r"\d|[一二三四五六七八九十][日号]")
_NUMBER = re.compile(r"\d|月")
_ASCII_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")
# The name of a file that is cited: its words are of its own day.
_CITED = re.compile(r"(?<=/\d{4}-\d\d-\d\d)-[^\s/]+?\.(?:md|ya?ml|txt)\b")
_BEFORE_A_DATE = " \t[(（【>*•-"  # on a line that begins with one
_OPENED = re.compile(
    r"\b(?:in|on|the|since|until|from|by|before|after|\s)*", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def mentioned(text: str, today: date) -> tuple[Mention, ...]:
    """Return the dates and spans that a text names, in order, none overlapping.

    Of expressions that overlap the first is taken, and of those that start together the
    longer one. What lies outside the calendar is left out.
    """
    plain = simplified(text.translate(_ASCII_DIGITS))
    plain = _CITED.sub(lambda cited: " " * len(cited[0]), plain)
    matches = list(any_expression("english").finditer(plain))
    if pattern("‹cjk›").search(plain):
        matches += any_expression("chinese").finditer(plain)
        matches.sort(key=lambda match: (match.start(), -match.end()))
    found: list[Mention] = []
    end = 0
    for match in matches:
        if match.start() < end:
            continue
        end = match.end()
        expression = Expression(match, today)
        mention: Mention | None = None
        with contextlib.suppress(ValueError, OverflowError):  # 31 February, year 0
            mention = READERS[expression.reader](expression)
        if mention and mention.span.start <= mention.span.end:
            is_annotated = mention.annotated and not (
                _is_quoted(text, mention.start) or _is_dated(text, mention, found)
            )
            found.append(replace(mention, annotated=is_annotated))
    for place, (one, other) in enumerate(pairwise(found)):
        if _is_spelt_out(plain, one, other):
            found[place] = replace(one, annotated=False)
    return tuple(found)


def _is_spelt_out(text: str, one: Mention, following: Mention) -> bool:
    """Tell whether whoever wrote an expression wrote its date right behind it, too.

    As in `last year (2024)` and 下周五（5月29日）. That date holds, whatever would be
    reckoned; behind a comma it needs its year to be no other matter's.

    Args:
        text: with both.
        one: the expression.
        following: the next one that names a day or a span.
    """
    between = text[one.end : following.start].strip()
    is_date = one.annotated and not following.relative
    if not is_date or between not in ("", "(", "（", ",", "，"):
        return False
    length = one.span.end - one.span.start
    other_length = following.span.end - following.span.start
    if other_length > length + MONTHS_DIFFER:
        return False
    if between in (",", "，"):
        written = text[following.start : following.end]
        return str(following.span.start.year) in written
    return True


def _is_dated(text: str, mention: Mention, earlier: list[Mention]) -> bool:
    """Tell whether its line begins with a day or month, as what was pasted of another.

    Args:
        text: in which it stands.
        mention: an expression.
        earlier: those before it.
    """
    line = text.rfind("\n", 0, mention.start) + 1
    for first in earlier:
        if first.start >= line:
            above = text[line : first.start].strip(_BEFORE_A_DATE)
            days = first.span.end - first.span.start
            year = str(first.span.start.year)
            has_year = year in text[first.start : first.end]
            return not above and has_year and days.days <= MAX_SPAN_DAYS
    return False


def _is_quoted(text: str, start: int) -> bool:
    """Tell whether somebody else's speech goes on there, perhaps of another day.

    Args:
        start: a place in the text.
    """
    before = text[max(0, start - QUOTE_CHARACTERS) : start]
    for opening, closing in ("“”", "「」", "『』"):
        if before.count(opening) > before.count(closing):
            return True
    return before.count('"') % 2 == 1


@lru_cache(maxsize=4096)
def annotate(text: str, today: date) -> str:
    """Return a text with the date behind each expression that hangs on the day.

    As in `yesterday [7 May 2023]`. Nothing else is changed, and what has such a bracket
    keeps it, so that doing it twice is doing it once. Left as they are: today and this
    week, which the heading of a session tells, and what may mean several dates.
    """
    if not _has_any(text, "cues"):
        return text
    # An annotated text is read as the plain one.
    bare = pattern("‹bracket›").sub("", text)
    brackets: dict[int, str] = {}
    removed = 0
    for match in pattern("‹bracket›").finditer(text):
        place = match.start() - removed
        brackets[place] = brackets.get(place, "") + match[0]
        removed += len(match[0])
    for mention in mentioned(bare, today):
        if mention.annotated and mention.end not in brackets:
            named = bare[mention.start : mention.end]
            brackets[mention.end] = _bracket(mention, named)
    for end in sorted(brackets, reverse=True):
        bare = bare[:end] + brackets[end] + bare[end:]
    return bare


def _bracket(mention: Mention, named: str) -> str:
    """Return what is written behind an expression.

    Args:
        named: the expression, in whose language the bracket is.
    """
    if pattern("‹cjk›").search(named):
        since = "起" if mention.since else ""
        return f"[{in_words(mention.span, chinese=True)}{since}]"
    since = "since " if mention.since else ""
    return f" [{since}{in_words(mention.span, chinese=False)}]"


def settled(text: str, today: date) -> Iterator[Span]:
    """Yield the days and short spans that a text names beyond doubt, in order.

    These are dates, of those without a year the nearest one, and what `annotate` writes
    out. *At Christmas* and *in May* say too little.
    """
    for mention in mentioned(text, today):
        if _is_settled(mention, text, today):
            yield nearest(mention, today)


def dates_in(text: str, today: date) -> Iterator[Span]:
    """Yield the dates of a text that `settled` yields, and days to come like next week.

    It is quick, as most texts have neither a number nor a word for days to come.

    Args:
        text: in English or Chinese.
        today: the day to which a date without a year is nearest.
    """
    if not (_NUMBER.search(text) or _has_any(text, "coming cues")):
        return
    for mention in mentioned(text, today):
        span = nearest(mention, today)
        is_date = not mention.relative or span.start > today
        if is_date and _is_settled(mention, text, today):
            yield span


def _has_any(text: str, part: str) -> bool:
    """Tell whether a text has one of some cues: a look that spares most the patterns.

    Args:
        text: in English or Chinese.
        part: of the table which has the cues.
    """
    lowered = simplified(text.lower())
    return any(cue in lowered for cue in tables.parts("dates.txt")[part].split())


def _is_settled(mention: Mention, text: str, today: date) -> bool:
    """Tell whether a mention settles which day it is, or which few.

    Args:
        mention: of a date, or of what `annotate` writes out.
        text: in which it stands.
        today: the day to which a date without a year is nearest.
    """
    span = nearest(mention, today)
    if (span.end - span.start).days > MAX_SPAN_DAYS:
        return False
    if mention.annotated:
        return True
    is_day = _NAMES_A_DAY.search(text, mention.start, mention.end) is not None
    return is_day and not mention.relative


def nearest(mention: Mention, today: date) -> Span:
    """Return of all that it may name what is nearest to a day.

    *Oct 7* is next month's in September, and last month's in November.
    """
    return min(mention.spans, key=lambda span: abs((span.start - today).days))


def parse_bound(text: str, today: date, end: bool) -> date:
    """Return a day of what `after` or `before` names.

    Args:
        text: a date or a span, as a person writes it.
        today: the day from which it counts.
        end: return the last day of it; else the first.

    Raises:
        ValueError: it names no day; it says what is accepted.
    """
    bound = pattern("‹clock›").sub("", simplified(text.strip()))
    for phrase in (bound, f"in {bound}"):  # a lone `May` is a month behind `in` alone
        mentions = mentioned(phrase, today)
        if len(mentions) != 1 or mentions[0].end != len(phrase):
            continue
        if _OPENED.fullmatch(phrase, 0, mentions[0].start):
            span = mentions[0].span  # "in June" looks back; "Oct 7" may be to come
            if (span.end - span.start).days <= MAX_VAGUE_DAYS:
                span = nearest(mentions[0], today)
            return span.end if end else span.start
    raise ValueError(
        f"{text.strip()[:40]!r} is not a date: give one such as 2023-05-07, 2023-05, "
        "2023, May 2023, Oct 7, yesterday, last week, 3 days ago, 2023年5月 or 上周."
    )
