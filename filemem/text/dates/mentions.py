"""Dates that a text names, in English and Chinese, resolved against a day that the caller gives.

Conventions: a week runs from Monday to Sunday; "last Friday" is the most recent Friday before today, "next Friday" the one
of next week; "last weekend" belongs to the week before this one; "two years ago" means that calendar year, and so with months
and weeks; seasons are the northern, meteorological ones (winter starts in December of its year). Chinese 上周五 is the
Friday of last week. A bare weekday, a day or month without a year is past or to come as its own verb says (see `tense`);
where that settles nothing the mention has two spans, the most recent one first, and is never written out.
"""

import functools
import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from filemem.text.dates import datewords, tense
from filemem.text.dates.datewords import pattern
from filemem.text.dates.readers import CHINESE, ENGLISH, before, counted
from filemem.text.dates.spans import UNIT_DAYS, Span, calendar_unit, in_words, nearest_weekday, stretch
from filemem.text.terms import simplified


class Mention(NamedTuple):
    """`text[start:end]` names `span`, or as well `other`; `relative` if that hangs on today, the year of a date aside;
    `annotated` if the words settle it and `annotate` writes it out, which it never does in quotation marks."""

    start: int
    end: int
    span: Span
    relative: bool
    annotated: bool
    other: Span | None = None

    @property
    def spans(self) -> tuple[Span, ...]:
        """All that it may name."""
        return (self.span, self.other) if self.other else (self.span,)


_READERS = ENGLISH | CHINESE
_ENGLISH = rf"(?<![A-Za-z0-9_])(?<!\d[.,:])(?:{datewords.any_of(ENGLISH)})"
_CHINESE = datewords.any_of(CHINESE)


def mentioned(text: str, today: date) -> list[Mention]:
    """The dates and spans that the text names, in order, none overlapping; what lies outside the calendar is left out."""
    found: list[Mention] = []
    for m in _matches(simplified(text.translate(datewords.ASCII_DIGITS))):
        try:
            reading = _READERS[m.lastgroup or ""](m, today)
            if reading is None or reading.span.start > reading.span.end:
                continue
            mention = _anchored(m, Mention(m.start(), m.end(), *reading))
            if mention.annotated and tense.quoted(text, m.start()):
                mention = mention._replace(annotated=False)
        except (ValueError, OverflowError):  # 31 February, or beyond the years 1 to 9999
            continue
        if found and found[-1].end > mention.start:
            found.pop()
        found.append(mention)
    return found


def _matches(text: str) -> Iterator[re.Match[str]]:
    """The expressions in order; of two that overlap the first, and of two that start together the longer one."""
    matches = list(datewords.compiled(_ENGLISH).finditer(text))
    if pattern("cjk").search(text):
        matches += datewords.compiled(_CHINESE).finditer(text)
        matches.sort(key=lambda m: (m.start(), -m.end()))
    end = 0
    for m in matches:
        if m.start() >= end:
            yield m
            end = m.end()


def _anchored(m: re.Match[str], mention: Mention) -> Mention:
    """`25 May 2023` in `the Saturday before 25 May 2023` becomes that Saturday."""
    anchor = None if mention.relative else before(m, "anchor")
    if not anchor:
        return mention
    what, side, (start, end) = anchor["what"].lower(), anchor["side"].lower(), mention.span
    back, days = side.startswith(("before", "prior")), UNIT_DAYS.get(what, 0)
    if anchor["count"] and days:
        span = counted(anchor["count"], what, -1 if back else 1, start if back else end).span
    elif side == "of":
        span = calendar_unit(what, 0, start) if days else mention.span
    elif what == "weekend":
        near = nearest_weekday(6, -1, start) if back else nearest_weekday(5, 1, end)
        span = calendar_unit(what, 0, near.start)
    elif days:
        edge = start if back else end
        span = stretch(1, days, "day", -1 if back else 1, edge)
    else:
        weekday = datewords.WEEKDAY_OF[what[:3]]
        span = nearest_weekday(weekday, -1, start) if back else nearest_weekday(weekday, 1, end)
    return Mention(mention.start - len(anchor[0]), mention.end, span, False, False)


@functools.lru_cache(maxsize=4096)
def annotate(text: str, today: date) -> str:
    """The text with the date in square brackets behind each settled expression that hangs on the day: `yesterday [7 May 2023]`.

    Nothing else is changed, and what has such a bracket keeps it, so that doing it twice is doing it once. Left as they
    are: today and this week, which the heading of a session tells, and what may mean several dates (`Friday?`).
    """
    if not datewords.may_be_relative(text):
        return text
    bare, brackets = _without_brackets(text)
    for mention in mentioned(bare, today):
        if mention.annotated and mention.end not in brackets:
            chinese = pattern("cjk").search(bare, mention.start, mention.end) is not None
            label = in_words(mention.span, chinese)
            brackets[mention.end] = f"[{label}]" if chinese else f" [{label}]"
    pieces, at = [], 0
    for place in sorted(brackets):
        pieces += [bare[at:place], brackets[place]]
        at = place
    return "".join(pieces) + bare[at:]


def _without_brackets(text: str) -> tuple[str, dict[int, str]]:
    """The text without its dates in brackets, and these by their place in it: so an annotated text is read as the plain one."""
    bare, brackets, at = "", dict[int, str](), 0
    for m in pattern("bracket").finditer(text):
        bare += text[at : m.start()]
        brackets[len(bare)] = brackets.get(len(bare), "") + m[0]
        at = m.end()
    return bare + text[at:], brackets


def parse_bound(text: str, today: date, end: bool) -> date:
    """The first day, or with `end` the last one, of what `after` or `before` names; ValueError says what is accepted."""
    bound = text.strip()
    for phrase in (bound, f"in {bound}"):  # a lone `May` is a month only behind a preposition
        mentions = mentioned(phrase, today)
        if len(mentions) == 1 and _covers(mentions[0], phrase):
            return mentions[0].span.end if end else mentions[0].span.start
    raise ValueError(
        f"{bound[:40]!r} is no date: give one such as 2023-05-07, 2023-05, 2023, May 2023, yesterday, last week, "
        "3 days ago, 2023年5月 or 上周."
    )


def _covers(mention: Mention, phrase: str) -> bool:
    """Whether the phrase is the mention and at most a preposition."""
    small = phrase[: mention.start].lower().split()
    return mention.end == len(phrase) and {"in", "on", "the", "since", "until"}.issuperset(small)
