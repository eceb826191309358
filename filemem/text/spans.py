"""Spans of days, the arithmetic of the calendar, and how a span is written.

Whatever lies beyond the years 1 to 9999 raises ValueError or OverflowError.
"""

import contextlib
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()
YEARS_AROUND = 4  # in which a recurring span is looked for: 29 February is rare


class Span(NamedTuple):
    """The days from `start` to `end`, both included."""

    start: date
    end: date


def one_day(day: date) -> Span:
    """Return the span of one day."""
    return Span(day, day)


def months(
    index: int,
    count: int = 1,
    first: int = 1,
    last: int = 31,
) -> Span:
    """Return some months, or a part of one.

    Args:
        index: of the first month, which is 12 × year + month - 1.
        count: how many months.
        first: the first day, in the first month; ValueError if it has no such day.
        last: the last day, in the last month; at the latest its end.
    """
    start = date(index // 12, index % 12 + 1, first)
    after = index + count
    end = date(after // 12, after % 12 + 1, 1) - timedelta(1)
    return Span(start, end.replace(day=min(last, end.day)))


def month_index(day: date) -> int:
    """Return the index of a day's month."""
    return day.year * 12 + day.month - 1


def calendar_unit(unit: str, offset: int, today: date) -> Span:
    """Return the calendar unit `offset` units from the one that holds today.

    Args:
        unit: in English or by its last Chinese character.
        offset: how many units away, such as -1 for the last one.
        today: the day from which it counts.
    """
    if unit in ("day", "天"):
        return one_day(today + timedelta(offset))
    if unit in ("month", "月"):
        return months(month_index(today) + offset)
    if unit in ("year", "年"):
        return months((today.year + offset) * 12, 12)
    weeks = 2 * offset if unit == "fortnight" else offset
    monday = today + timedelta(7 * weeks - today.weekday())
    start = 5 if unit == "weekend" else 0
    return Span(monday + timedelta(start), monday + timedelta(6))


def nearest_weekday(weekday: int, sign: int, today: date) -> Span:
    """Return a weekday's nearest day before today, or after it.

    Args:
        weekday: 0 for Monday.
        sign: -1 for before, 1 for after.
        today: the day from which it counts.
    """
    days = (sign * (weekday - today.weekday()) - 1) % 7 + 1
    return one_day(today + timedelta(sign * days))


def recurring(
    make: Callable[[int], Span],
    at: int,
    which: str,
    today: date,
) -> list[Span]:
    """Return which span is meant of those of every year, or of every month.

    Args:
        make: makes the span of a year or month, by its number.
        at: today's number.
        which: `last` is over, `next` and `coming` are to come, `this` is under way, or
            today's; else it may be the past one or the coming one.
        today: the day from which it counts.

    Returns:
        The one that began last and the one that begins next, twice the same if one
        alone is meant.
    """
    spans: list[Span] = []
    for number in range(at - YEARS_AROUND, at + YEARS_AROUND + 1):
        with contextlib.suppress(ValueError):  # no 31st, no 29 February
            spans.append(make(number))
    past = max(span for span in spans if span.start <= today)
    if which == "last":
        past = max(span for span in spans if span.end < today)
    elif which in ("next", "coming"):
        past = min(span for span in spans if span.start > today)
    elif which != "this":
        return [past, min(span for span in spans if span.start >= today)]
    elif past.end < today:
        past = make(at)
    return [past, past]


def in_words(span: Span, chinese: bool) -> str:
    """Return a span as `1–7 May 2023`, `April 2023`, `2023年5月1日–7日`.

    What both ends share is said once.
    """
    size = 3
    if span.start.day == 1 and (span.end + timedelta(1)).day == 1:
        is_year = span.start.month == 1 and span.end.month == 12
        size = 1 if is_year else 2
    first = _parts(span.start, chinese)[:size]
    last = _parts(span.end, chinese)[:size]
    shared = 0
    while shared < size and first[shared] == last[shared]:
        shared += 1
    if chinese:
        end = "".join(last[shared:])
        return "".join(first) + (f"–{end}" if end else "")
    start = " ".join(reversed(first[shared:]))
    dash = " – " if " " in start else "–"
    return (start and start + dash) + " ".join(reversed(last))


def _parts(day: date, chinese: bool) -> list[str]:
    """Return the year, the month and the day in words."""
    if chinese:
        return [f"{day.year}年", f"{day.month}月", f"{day.day}日"]
    return [str(day.year), MONTHS[day.month - 1], str(day.day)]
