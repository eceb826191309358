"""What an expression for a date means: one function for each sort in `data/dates.txt`.

A day counts from the day that is given; `dates` finds the expressions in a text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial
from typing import Any

from filemem.text import tables
from filemem.text.spans import (
    Span,
    calendar_unit,
    month_index,
    months,
    nearest_weekday,
    one_day,
    recurring,
)

CUE_CHARACTERS = 32  # before an expression that decide what it is
RECENT_DAYS = 31  # in which a date without a year is the last one, not the next
FAR_YEARS = 10  # from today on; a later number is a year only behind a cue


# -- the words, from `data/dates.txt` ----------------------------------------------

_WORDS = "dates.txt"
pattern = partial(tables.compiled, _WORDS)


@cache
def _table(sort: str) -> dict[str, Any]:
    """Return what the words of a sort count for.

    Args:
        sort: the first column of the table, such as `season` or `offset`.

    Returns:
        By word a number, or a list of two: the first and the last month of a season.
    """
    found: dict[str, Any] = {}
    for row in tables.rows(_WORDS):
        if len(row) == 3 and row[0] == sort:
            values = [int(value) for value in row[2].split()]
            for word in row[1].split(", "):
                found[word] = values if len(values) > 1 else values[0]
    return found


@cache
def any_expression(language: str) -> re.Pattern[str]:
    """Return a pattern for the expressions of a language.

    Each expression is in a group that is named for its reader, as in `month_4`, and the
    number also ends the names of the groups within it, so that all names differ.

    Args:
        language: `english` or `chinese`.
    """
    found: list[str] = []
    for row in tables.rows(_WORDS):
        if len(row) == 3 and row[0] == language:
            number = len(found)
            whole = tables.expand(_WORDS, row[2])
            numbered = re.sub(r"(\(\?P[<=]\w+)", rf"\g<1>{number}", whole)
            found.append(f"(?P<{row[1]}_{number}>{numbered})")
    return pattern(f"‹begins {language}›(?:{'|'.join(found)})")


def number(word: str) -> int:
    """Return the number that a word stands for.

    Args:
        word: digits, an English word to ninety, a month's name, a Chinese numeral.

    Raises:
        ValueError: it is an English word, and none of these.
    """
    if not word.isascii():
        return min(numbers(word), default=0)
    word = word.lower()
    known = _table("count").get(word) or _table("month").get(word[:3])
    return int(known or word)


def numbers(text: str) -> set[int]:
    """Return the numbers that a text has in words, in each way they may be meant.

    Such as seventy-one (71), 两千 (2000), 三百六 (306, 360).

    Args:
        text: in simplified characters; digits in it are not read.
    """
    counts = _table("count") | _table("zh digit")
    plain = text.lower().replace("廿", "二十").replace("卅", "三十")
    found: set[int] = set()
    total = 0
    digit = 0
    size = 10
    for word in [*re.findall(r"[a-z]+|[^a-z -]", plain), "."]:
        value = _table("size").get(word)
        if value:
            if value > total:
                total = (total + digit or 1) * value
            else:
                total += (digit or 1) * value
            digit = 0
            size = value
        elif word in counts and not (word in ("a", "an") and total + digit):
            # seventy and one, 七 behind which 一 stands; not ten a month
            tens = digit // 10 * 10 if word.isascii() else digit * 10
            digit = tens + counts[word]
        elif word != "and":
            found |= {total + digit, total + digit * size // 10} - {0}
            total = 0
            digit = 0
            size = 10
    return found


# -- what an expression means ------------------------------------------------------


@dataclass(frozen=True)
class Mention:
    """An expression in a text that names a day or a span of days.

    Attributes:
        start: where it begins in the text.
        end: where it ends.
        span: what it names; of two that it may name, the past one.
        relative: that hangs on today, the year of a date aside.
        annotated: the words settle it and `annotate` writes it out, which it never
            does in quotation marks.
        other: what it may name as well.
        since: what is told began in the span and lasts.
    """

    start: int
    end: int
    span: Span
    relative: bool
    annotated: bool
    other: Span | None = None
    since: bool = False

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return all that it may name."""
        return (self.span, self.other) if self.other else (self.span,)


class Expression:
    """An expression of a text, its parts by name, and the day from which it counts.

    Attributes:
        match: where it stands.
        today: the day from which it counts.
        reader: the name of the function that reads it.
        chinese: whether it is Chinese.
        which: `last`, `next`, `coming`, `this` or nothing, of English ones.
        unit: `week`, or of Chinese the last character of 星期.
    """

    def __init__(self, match: re.Match[str], today: date) -> None:
        self.match = match
        self.today = today
        self.reader, _, self._number = str(match.lastgroup).partition("_")
        self.chinese = pattern("‹cjk›").search(match[0]) is not None
        which = self["which"].rpartition(" ")[2]
        self.which = {"past": "last", "the": ""}.get(which, which)
        self.unit = self["unit"][-1:] if self.chinese else self["unit"]

    def __getitem__(self, part: str) -> str:
        """Return a part in lower case; empty if it is missing."""
        name = f"{part}{self._number}"
        if name not in self.match.re.groupindex:
            return ""
        return (self.match[name] or "").lower()

    def names(
        self,
        span: Span,
        relative: bool = True,
        annotated: bool = False,
        other: Span | None = None,
    ) -> Mention:
        """Return the mention of a span.

        Args:
            span: what it names.
            relative: that hangs on today.
            annotated: the words settle it.
            other: what it may name as well.
        """
        other = None if other == span else other
        return Mention(*self.match.span(), span, relative, annotated, other)

    def behind(self, cue: str) -> re.Match[str] | None:
        """Return what stands right before it, if that is a cue.

        Args:
            cue: the name of a pattern of the table.
        """
        start = self.match.start()
        before = self.match.string[max(0, start - CUE_CHARACTERS) : start]
        return pattern(f"‹{cue}›").search(before)

    def follows(self, cue: str) -> re.Match[str] | None:
        """Return what begins right after it, if that is a cue.

        Args:
            cue: the name of a pattern of the table.
        """
        return pattern(f"‹{cue}›").match(self.match.string, self.match.end())


def _part(words: str, sort: str) -> list[int]:
    """Return the days or months of `first half of ` or `mid-`.

    Args:
        words: as they stand in the text.
        sort: `month part` or `year part`.
    """
    kept = re.findall(r"\b(?!of\b|in\b)\w+", words)
    found: list[int] = _table(sort)[" ".join(kept)]
    return found


def _days(e: Expression) -> list[int]:
    """Return the first and the last day of its month.

    Raises:
        ValueError: a day is no number.
    """
    if e["day"]:
        return [number(e["day"]), number(e["last"] or e["day"])]
    return _part(e["part"], "month part") if e["part"] else [1, 31]


def _within_year(e: Expression, year: int) -> Span:
    """Return the span that it names of a year.

    That is a month or some days of one, a season, a part of the year, or all of it.

    Raises:
        ValueError: the year has no such day, as 29 February.
    """
    if e["month"]:
        return months(year * 12 + number(e["month"]) - 1, 1, *_days(e))
    first, last = _table("season").get(e["season"], (1, 12))
    if e["part"]:
        first, last = _part(e["part"], "year part")
    return months(year * 12 + first - 1, last - first + 1)


def _of_year(e: Expression, word: str) -> Mention:
    """Read what it names of a year that stands beside it.

    Args:
        word: the year, as in 2023, 2023年, 二零二三年, 23年, 去年.
    """
    word = word.removesuffix("年").strip()
    offset = _table("offset").get(word)
    if offset is not None:
        span = _within_year(e, e.today.year + offset)
        return e.names(span, annotated=offset != 0)
    digits = _table("zh digit")
    year = int("".join(str(digits.get(sign, sign)) for sign in word))
    return e.names(_within_year(e, year if len(word) > 2 else 2000 + year), False)


def _read_date(e: Expression, year: str = "") -> Mention | None:
    """Read a month, a day of one, a season or another part of a year.

    Without a year it may be the past one or the coming one. Nothing is returned for a
    day of the lunar calendar, which is none of this one.

    Args:
        year: the year, if it does not stand in the expression itself.
    """
    year = year or e["year"]
    offset = _table("offset").get(e["which"])
    if e.behind("lunar") or e.follows("lunar day"):
        return None
    if offset is not None:  # 上个月底
        span = months(month_index(e.today) + offset, 1, *_days(e))
        return e.names(span, annotated=offset != 0)
    if year:
        return _of_year(e, year)
    if e["season"] and not e["which"]:
        return None
    if not (e["month"] or e["season"]):
        return e.names(_within_year(e, e.today.year))
    within_year = partial(_within_year, e)
    span, other = recurring(within_year, e.today.year, e.which, e.today)
    if not e.which:
        if 0 < (e.today - span.end).days <= RECENT_DAYS:
            other = span
        return e.names(span, False, other=other)
    # "next June" is this year's or not while that is to come.
    is_unclear = e.which == "next" and span.start.year == e.today.year
    return e.names(span, annotated=e.which != "this" and not is_unclear)


def _read_month(e: Expression) -> Mention | None:
    """Read a month by its name.

    May is no wish, march no verb, and Mar not half a word: these need a day, a year or
    a cue such as `in` beside them.
    """
    name = e["month"]
    cue = e.behind("month cue")
    is_month = bool(e["year"] or e["part"])
    if name in ("may", "march", "mar") and name in e.match[0]:  # in small letters
        clear_day = re.search(r"(?i)\d(?:st|nd|rd|th)|\d [a-z]+ \d", e.match[0])
        is_month |= bool((e["day"] and clear_day) or (cue and cue[1]))
    else:
        is_name = name in ("march", "april", "june", "august") or len(name) <= 3
        is_month |= bool(e["day"] or e["which"] or cue) or not is_name
    if not is_month:
        return None
    ahead = e.follows("year ahead")
    if ahead and not e["which"] and not e["year"]:
        return _read_date(e, ahead[1])
    return _read_date(e)


def _read_year(e: Expression) -> Mention | None:
    """Read 2022, early 2022, 2019-2021, 去年.

    A number behind `room` or `$` is no year, and one far ahead needs a cue.
    """
    if not e["year"].isdecimal():
        return _read_date(e)
    is_far = int(e["year"]) > e.today.year + FAR_YEARS
    if e.behind("no year cue") or (is_far and not e.behind("year cue")):
        return None
    if not e["last"]:
        return _read_date(e)
    first = date(int(e["year"]), 1, 1)
    return e.names(Span(first, date(int(e["last"]), 12, 31)), False)


def _read_ago(e: Expression) -> Mention:
    """Read three days ago, two weeks from now, the week before last, 三天前, 三天后.

    三天后 is not annotated: in a story it counts from another day.
    """
    if e.unit in ("hour", "minute", "时", "钟"):
        return e.names(one_day(e.today))
    is_settled = not e.behind("hedge") and not (e["ahead"] and e.chinese)
    away = number(e["count"] or "two")
    if not e["ahead"]:
        away = -away
    return e.names(calendar_unit(e.unit, away, e.today), annotated=is_settled)


def _read_lasting(e: Expression) -> Mention:
    """Read for three years now, 三年了: the span in which that began."""
    began = calendar_unit(e.unit, -number(e["count"]), e.today)
    return Mention(*e.match.span(), began, True, True, since=True)


def _read_rolling(e: Expression) -> Mention | None:
    """Read the past three months, 未来两周.

    They end or begin with today, and a month has thirty days.
    """
    if e.which == "this":
        return None
    days = timedelta(number(e["count"] or "one") * _table("unit days")[e.unit])
    if e["ahead"] or e.which in ("next", "coming"):
        return e.names(Span(e.today, e.today + days))
    return e.names(Span(e.today - days, e.today))


def _read_unit(e: Expression) -> Mention | None:
    """Read last week, this morning, next Friday, the past month.

    Whoever says `the weekend` or `the last month` may mean another than who says
    `last`, so that it is not annotated.
    """
    unit = e["unit"]
    is_weekend = unit == "weekend"
    offset = {"last": -1, "this": 0, "coming": int(not is_weekend)}.get(e.which, 1)
    if unit in ("night", "morning", "afternoon", "evening"):
        if offset > 0:
            return None
        return e.names(one_day(e.today + timedelta(offset)), annotated=offset < 0)
    if unit not in _table("unit days"):
        return _named_weekday(e)
    # "the last month", "the past year" end today; "last month" is one of the calendar.
    is_rolling = e["the"] or "past" in e["which"]
    if e["count"] or (offset and is_rolling and unit not in ("weekend", "day")):
        return _read_rolling(e)
    if unit == "day":
        return None
    has_ended = is_weekend and e.today.weekday() > 4 and "this" in e["which"]
    is_settled = offset != 0 and not e["the"] and not has_ended
    return e.names(calendar_unit(unit, offset, e.today), annotated=is_settled)


def _named_weekday(e: Expression) -> Mention:
    """Read last, next, coming or this Friday.

    "next Friday" is not written out where people differ: who means tomorrow says so,
    and said on a Monday it may be this week's.
    """
    is_sure = not e["the"]
    weekday = _table("weekday")[e["unit"][:3]]
    after = nearest_weekday(weekday, 1, e.today)
    if e.which == "coming":
        return e.names(after, annotated=is_sure)
    if e.which == "last":
        return e.names(nearest_weekday(weekday, -1, e.today), annotated=is_sure)
    is_next = e.which == "next"
    week = one_day(e.today + timedelta(7 * is_next + weekday - e.today.weekday()))
    if not is_next:
        is_over = week.start < e.today
        return e.names(week, annotated=not is_over, other=after if is_over else None)
    away = (after.start - e.today).days
    is_settled = away > 1 if after == week else away < 3
    span = week if is_settled else after
    return e.names(span, annotated=is_sure and is_settled, other=week)


def _read_week(e: Expression) -> Mention:
    """Read 上周, 这周末, 下周五: a week of the calendar, or a day of it."""
    offset = _table("offset")[e["which"]]
    day = e["day"]
    span = calendar_unit("weekend" if day == "末" else "week", offset, e.today)
    if day not in ("", "末"):
        span = one_day(span.start + timedelta(_table("weekday")[day]))
    return e.names(span, annotated=offset != 0)


def _read_weekday(e: Expression) -> Mention | None:
    """Read a bare Friday, the last one or the next.

    `Friday, 5 May` and 5月5日（周五） are left to their dates.
    """
    if e.follows("date ahead") or e.behind("date before"):
        return None
    weekday = _table("weekday")[e["day"][:3]]
    past = nearest_weekday(weekday, -1, e.today)
    return e.names(past, other=nearest_weekday(weekday, 1, e.today))


def _read_dayword(e: Expression) -> Mention | None:
    """Read yesterday, 后天.

    Not in `no tomorrow`, 后天努力 or 明日黄花, which name no day.
    """
    if e.behind("no day cue") or e.follows("no day ahead"):
        return None
    word = e["day"][:-1] if e.chinese else " ".join(e["day"].split())
    offset = _table("offset")[word]
    return e.names(one_day(e.today + timedelta(offset)), annotated=offset != 0)


def _read_monthday(e: Expression) -> Mention:
    """Read on the 11th, 19号: a day of a month that nothing names."""
    first, last = _days(e)
    in_month = partial(months, count=1, first=first, last=last)
    past, coming = recurring(in_month, month_index(e.today), "", e.today)
    return e.names(past, other=coming)


READERS: dict[str, Callable[[Expression], Mention | None]] = {
    "date": _read_date,
    "month": _read_month,
    "year": _read_year,
    "ago": _read_ago,
    "lasting": _read_lasting,
    "rolling": _read_rolling,
    "unit": _read_unit,
    "week": _read_week,
    "weekday": _read_weekday,
    "dayword": _read_dayword,
    "monthday": _read_monthday,
}
