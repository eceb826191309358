"""Spans of days and the arithmetic of the calendar. ValueError or OverflowError: beyond the years 1 to 9999."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
UNIT_DAYS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365,
             "decade": 3652}  # fmt: skip


class Span(NamedTuple):
    """The days from `start` to `end`, both included."""

    start: date
    end: date


def one_day(day: date) -> Span:
    return Span(day, day)


def whole_months(index: int, count: int = 1) -> Span:
    """`count` whole months from month `index`, which is 12 × year + month - 1."""
    (year, month), (end_year, end_month) = divmod(index, 12), divmod(index + count, 12)
    return Span(date(year, month + 1, 1), date(end_year, end_month + 1, 1) - timedelta(1))


def month_index(day: date) -> int:
    return day.year * 12 + day.month - 1


def in_month(index: int, first: int = 1, last: int = 31) -> Span:
    """Days `first` to `last` of a month, cut at its end; ValueError where it has no day `first`."""
    month = whole_months(index)
    return Span(month.start.replace(day=first), month.end.replace(day=min(last, month.end.day)))


def in_year(year: int, first: int = 1, last: int = 12) -> Span:
    return whole_months(year * 12 + first - 1, last - first + 1)


def holiday(year: int, month: int, day: int, nth: int = 0) -> Span:
    """A fixed day, or with `nth` the nth weekday number `day` of the month (-1: the last one)."""
    if not nth:
        return one_day(date(year, month, day))
    whole = whole_months(year * 12 + month - 1)
    if nth < 0:
        return one_day(whole.end - timedelta((whole.end.weekday() - day) % 7))
    return one_day(whole.start + timedelta((day - whole.start.weekday()) % 7 + 7 * (nth - 1)))


def calendar_unit(unit: str, offset: int, today: date) -> Span:
    """The calendar unit `offset` units from the one that holds today."""
    if unit == "day":
        return one_day(today + timedelta(offset))
    if unit in ("week", "weekend", "fortnight"):
        monday = today + timedelta(7 * offset * (2 if unit == "fortnight" else 1) - today.weekday())
        return Span(monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(6))
    if unit == "month":
        return whole_months(month_index(today) + offset)
    if unit == "quarter":
        return whole_months((month_index(today) // 3 + offset) * 3, 3)
    return in_year(today.year + offset * (10 if unit == "decade" else 1))


def half_unit(unit: str, sign: int, today: date) -> Span:
    """Half a unit from today, in the next smaller unit."""
    if unit == "year":
        return calendar_unit("month", 6 * sign, today)
    if unit == "month":
        return calendar_unit("week", 2 * sign, today)
    return calendar_unit("year", 5 * sign, today) if unit == "decade" else one_day(today)


def nearest_weekday(weekday: int, sign: int, today: date) -> Span:
    """The weekday's nearest day strictly before today (sign -1) or after it (sign 1)."""
    return one_day(today + timedelta(sign * ((sign * (weekday - today.weekday()) - 1) % 7 + 1)))


def stretch(near: int, far: int, unit: str, sign: int, today: date) -> Span:
    """From `near` to `far` units of rounded length away from today."""
    ends = [today + timedelta(sign * count * UNIT_DAYS[unit]) for count in (near, far)]
    return Span(min(ends), max(ends))


def of_year(make: Callable[[int], Span], which: str, today: date) -> Span:
    """The yearly span meant: 'last' is over, 'next' and 'coming' are to come, 'this' is the current one, '' has begun, and what
    'begins' does so today or later."""
    year = today.year
    if which == "begins":
        return next(span for span in map(make, (year, year + 1)) if span.start >= today)
    if which in ("next", "coming"):
        return next(span for span in map(make, (year, year + 1)) if span.start > today)
    if which == "last":
        return next(span for span in map(make, (year, year - 1, year - 2)) if span.end < today)
    if which == "this":
        begun = make(year - 1)
        return begun if begun.end >= today else make(year)
    return next(span for span in map(make, (year, year - 1)) if span.start <= today)


def in_words(span: Span, chinese: bool) -> str:
    """`7 May 2023`, `1–7 May 2023`, `April 2023`, `2023年5月1日–7日`: what both ends share is said once."""
    whole = span.start.day == 1 and (span.end + timedelta(1)).day == 1
    size = 3 if not whole else 1 if (span.start.month, span.end.month) == (1, 12) else 2
    if chinese:
        first, last = ([f"{day.year}年", f"{day.month}月", f"{day.day}日"][:size] for day in span)
        differs = next((i for i in range(size) if first[i] != last[i]), size)
        return "–".join(filter(None, ("".join(first), "".join(last[differs:]))))
    first, last = ([str(day.day), MONTHS[day.month - 1], str(day.year)][-size:] for day in span)
    own = next((size - i for i in range(size) if first[-1 - i] != last[-1 - i]), 0)
    return (" – " if own > 1 else "–").join(filter(None, (" ".join(first[:own]), " ".join(last))))
