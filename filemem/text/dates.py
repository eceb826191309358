"""Dates that a text names, in English and Chinese, resolved against a day that the caller gives.

Conventions: a week runs from Monday to Sunday; "last Friday" is the most recent Friday before today, "next Friday" the one
of next week; "last weekend" belongs to the week before this one; "two years ago" means that calendar year, and so with months
and weeks; seasons are the northern, meteorological ones (winter starts in December of its year). Chinese 上周五 is the
Friday of last week. A bare weekday, a day or month without a year is past or to come as the words of its clause say;
where those settle nothing the mention has two spans, the most recent one first, and is never written out.
"""

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from filemem.text import tables
from filemem.text.terms import simplified

# -- spans of days, and the arithmetic of the calendar; ValueError or OverflowError: beyond the years 1 to 9999 -----------

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
UNIT_DAYS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30, "year": 365}


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
    return in_year(today.year + offset)


def half_unit(unit: str, sign: int, today: date) -> Span:
    """Half a unit from today, in the next smaller unit."""
    smaller, count = {"year": ("month", 6), "month": ("week", 2)}.get(unit, ("day", 0))
    return calendar_unit(smaller, count * sign, today)


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


# -- the words, from `data/dates.txt`: what they count for, and the patterns that find them -----------------------------

_MONTH_OF = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_WEEKDAY_OF = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS)}
_ASCII_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")


@cache
def _table(sort: str) -> dict[str, tuple[int, ...]]:
    """What the words of a sort count for."""
    rows = (row for row in tables.rows("dates.txt") if len(row) == 3 and row[0] == sort)
    return {word: tuple(map(int, numbers.split())) for _, words, numbers in rows for word in words.split(", ")}


@cache
def _values(sort: str) -> dict[str, int]:
    """The same of words that count for one number."""
    return {word: numbers[0] for word, numbers in _table(sort).items()}


@cache
def _parts() -> dict[str, str]:
    made = {"months": "|".join(MONTHS), "counts": "|".join(_table("count"))}
    return tables.parts("dates.txt") | made


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A pattern of the table, whatever case letters have."""
    return _compiled(f"‹{name}›")


@cache
def _compiled(text: str) -> re.Pattern[str]:
    """A pattern that may name others."""
    # ASCII keeps \b between 天 and y, \d free of other scripts' digits, and the folding of case out of Unicode's odd pairs.
    return re.compile(tables.expanded(text, _parts()), re.IGNORECASE | re.ASCII)


def _any_of(names: Iterable[str]) -> str:
    """A pattern for any of some expressions, each a group of its name."""
    return "|".join(f"(?P<{name}>‹{name}›)" for name in names)


def _may_be_relative(text: str) -> bool:
    """False where no expression in the text can count from a day: a look that spares most texts the patterns."""
    lowered = simplified(text.lower())
    return any(cue in lowered for cue in _parts()["cues"].split()) or _pattern("a month").search(lowered) is not None


# -- whether a date is past or to come -----------------------------------------------------------------------------------

_PAST, _COMING, _UNSETTLED = -1, 1, 0


def _direction(m: re.Match[str], *, weekly: bool = False) -> int:
    """What the words of its clause say of a date that may be either; `weekly` if it is a weekday, which may be any week's."""
    text, start, end = m.string, m.start(), m.end()
    edges = [edge.end() for edge in _pattern("clause end").finditer(text, max(0, start - 200), start)]
    stop = _pattern("clause end").search(text, end, end + 120)
    before, after = text[max([0, start - 200, *edges]) : start], text[end : stop.start() if stop else end + 120]
    clause = f"{before}{text[start:end]}{after}"
    if (
        _quoted(text, start)
        or _pattern("elsewhen").search(text, max(0, start - 200), start)
        or _pattern("doubt").search(clause)
        or _pattern("no one day").search(text, max(0, start - 32), start)
        or (weekly and not _pattern("cjk").search(m[0]) and not _pattern("goes on").match(text, end))
    ):
        return _UNSETTLED
    past, coming = _pattern("past").search(clause), _pattern("coming").search(clause)
    return _UNSETTLED if bool(past) == bool(coming) else _PAST if past else _COMING


def _quoted(text: str, start: int) -> bool:
    """Does somebody else's speech go on there, whose day may be another?"""
    before = text[max(0, start - 1000) : start]
    return before.count('"') % 2 == 1 or any(
        before.count(opens) > before.count(ends) for opens, ends in ("“”", "「」", "『』")
    )


# -- readers of expressions: a match, and the day from which it counts, make a `_Reading` -----------------------------------

_LUNAR, _LUNAR_DAY = ("农历", "阴历", "旧历", "农历的", "闰"), re.compile("初[一二三四五六七八九十]|廿")
_ZH_UNITS = {"天": "day", "周": "week", "週": "week", "期": "week", "拜": "week", "月": "month", "年": "year"}
_SIMPLIFIED = str.maketrans("節婦勞動親兒國慶萬聖雙誕", "节妇劳动亲儿国庆万圣双诞")
_JUST = 31  # days for which a date without a year is the last one still, whose next is nearly a year away
_RECENT = 183  # days within which a date without a year, told in the past tense, is sure to be the last one


class _Reading(NamedTuple):
    """What one expression means, before it is placed in its text."""

    span: Span
    relative: bool = False
    annotated: bool = False
    other: Span | None = None


_Reader = Callable[[re.Match[str], date], _Reading | None]


def _before(m: re.Match[str], cue: str) -> re.Match[str] | None:
    """The cue that stands right before the match."""
    return _pattern(cue).search(m.string[max(0, m.start() - 32) : m.start()])


def _which_of(words: str | None) -> str:
    """last, next, coming, this or nothing."""
    word = words.lower().split()[-1] if words else ""
    return {"past": "last", "the": ""}.get(word, word)


def _yearly(m: re.Match[str], make: Callable[[int], Span], year: str | None, which: str, today: date) -> _Reading:
    """A span that comes once a year, with its year, or relative to today; "next June" is this year's or not while that is to
    come."""
    if year:
        return _Reading(make(int(year)))
    if not which:
        return _bare(m, of_year(make, "", today), of_year(make, "begins", today), today, weekly=False)
    span = of_year(make, which, today)
    return _Reading(span, True, which in ("last", "coming") or (which == "next" and span.start.year > today.year))


def _bare(m: re.Match[str], past: Span, coming: Span, today: date, *, weekly: bool) -> _Reading:
    """A weekday or a date without its year: the last one or the next, as its clause says; both where that does not."""
    just = not weekly and 0 < (today - past.end).days <= _JUST
    near = past.end >= today or (weekly and past.start.weekday() == today.weekday())
    way = _UNSETTLED if near else _direction(m, weekly=weekly)
    if (way == _COMING and not just) or (way == _PAST and (today - past.end).days <= _RECENT):
        return _Reading(coming if way == _COMING else past, weekly, True)
    return _Reading(past, weekly, False, coming if coming != past and not (just and way != _COMING) else None)


def number(word: str) -> int:
    """Digits, English words to fifty, Chinese numerals below a thousand."""
    if word.isdecimal():
        return int(word)
    if word.lower() in _values("count"):
        return _values("count")[word.lower()]
    total = digit = 0
    for character in word:
        if character in "十百":
            total, digit = total + (digit or 1) * (100 if character == "百" else 10), 0
        else:
            digit = _values("zh digit")[character]
    return total + digit


def _count(words: str) -> tuple[int, int]:
    """The least and the most that a count can mean: 3 is (3, 3), 两三 (2, 3), a few (2, 5)."""
    for word in words.lower().split():
        if word in _table("vague"):
            least, most = _table("vague")[word]
            return least, most
    if len(words) == 2 and all(character in _values("zh digit") for character in words):
        least, most = (_values("zh digit")[character] for character in words)
        return min(least, most), max(least, most)
    return (number(words),) * 2


def _counted(words: str, unit: str, sign: int, today: date) -> _Reading:
    """So many units away from today."""
    least, most = _count(words)
    if least == most:
        return _Reading(calendar_unit(unit, sign * most, today), True, True)
    return _Reading(stretch(least, most, unit, sign, today), True)


def _rolling(words: str, unit: str, sign: int, today: date) -> _Reading:
    """The so many units that end or begin with today."""
    return _Reading(stretch(0, _count(words)[1], unit, sign, today), True)


def _part_of(words: str, parts: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """`first half of ` or `mid-` as a range of the table."""
    return parts[" ".join(word for word in words.lower().replace("-", " ").split() if word not in ("of", "in"))]


def _never_written(reading: _Reading, which: str) -> _Reading:
    """A holiday is not annotated with a date, as people mostly speak of it in general; one with `last` or `next` is."""
    return reading if which else reading._replace(annotated=False)


def _weekday(m: re.Match[str], weekday: int, today: date) -> _Reading:
    return _bare(m, nearest_weekday(weekday, -1, today), nearest_weekday(weekday, 1, today), today, weekly=True)


# -- English, and dates in digits --------------------------------------------------------------------------------------


def _read_iso(m: re.Match[str], today: date) -> _Reading:
    if m["ymyear"]:
        return _Reading(in_year(int(m["ymyear"]), int(m["ymmonth"]), int(m["ymmonth"])))
    return _Reading(one_day(date(int(m["isoyear"]), int(m["isomonth"]), int(m["isoday"]))))


def _read_numeric(m: re.Match[str], today: date) -> _Reading | None:
    """05/2023; 25.12.2023; 25/12/2023 and 12/25/2023, but not 5/7/2023, which means different days to different people."""
    if m["myyear"]:
        return _Reading(in_year(int(m["myyear"]), int(m["mymonth"]), int(m["mymonth"])))
    day, month = int(m["nfirst"]), int(m["nsecond"])
    if m["nmark"] == "/" and day <= 12 and month <= 12 and day != month:
        return None
    if m["nmark"] == "/" and month > 12:
        day, month = month, day
    return _Reading(one_day(date(int(m["nyear"]), month, day)))


def _is_month(m: re.Match[str]) -> bool:
    """Whether May is the month and not a name, march not a verb, and Mar not half a word."""
    name, days, cue = m["mname"], m["mbefore"] or m["mafter"], _before(m, "month cue")
    if name in ("may", "march", "mar"):
        ordinal = days and re.search("[a-z]", days)
        return bool(m["myear"] or m["mpart"] or ordinal or (cue and cue[1]))
    if days or m["myear"] or m["mpart"] or m["mwhich"] or cue:
        return True
    return len(name) > 3 and name.lower() not in ("march", "april", "june", "august")


def _read_month(m: re.Match[str], today: date) -> _Reading | None:
    if not _is_month(m):
        return None
    part: tuple[int, ...] = (1, 31)
    if days := re.findall(r"\d+", m["mbefore"] or m["mafter"] or ""):
        part = int(days[0]), int(days[-1])
    elif m["mpart"]:
        part = _part_of(m["mpart"], _table("month part"))
    number = _MONTH_OF[m["mname"][:3].lower()]
    ahead = None if m["mwhich"] else _pattern("year ahead").match(m.string, m.end())
    year = m["myear"] or (ahead and ahead[1])
    return _yearly(m, lambda year: in_month(year * 12 + number - 1, *part), year, _which_of(m["mwhich"]), today)


def _read_season(m: re.Match[str], today: date) -> _Reading | None:
    if not m["swhich"] and not m["syear"]:
        return None
    start = _values("season")[m["sname"].lower()]
    return _yearly(m, lambda year: in_year(year, start, start + 2), m["syear"], _which_of(m["swhich"]), today)


def _read_holiday(m: re.Match[str], today: date) -> _Reading:
    which = _which_of(m["hwhich"])
    rule = _table("holiday")[" ".join(m["hname"].lower().replace("'", "").replace("’", "").split())]
    return _never_written(_yearly(m, lambda year: holiday(year, *rule), m["hyear"], which, today), which)


def _read_year(m: re.Match[str], today: date) -> _Reading | None:
    year = int(m["yfirst"])
    if _before(m, "no year cue") or (year > today.year + 10 and not _before(m, "year cue")):
        return None
    if m["ylast"]:
        return _Reading(Span(date(year, 1, 1), date(int(m["ylast"]), 12, 31)))
    part = _part_of(m["ypart"], _table("year part")) if m["ypart"] else (1, 12)
    return _Reading(in_year(year, *part))


def _read_ago(m: re.Match[str], today: date) -> _Reading:
    unit, sign = m["aunit"].lower(), 1 if m["ahead"] else -1
    if unit in ("hour", "minute"):
        return _Reading(one_day(today), True)
    if not m["acount"]:
        return _Reading(half_unit(unit, sign, today), True, True)
    reading = _counted(m["acount"], unit, sign, today)
    return reading._replace(annotated=False) if _before(m, "hedge") else reading


def _read_unit(m: re.Match[str], today: date) -> _Reading | None:
    """last week, this morning, next Friday, the past three months."""
    which, unit = _which_of(m["uwhich"]), m["uunit"].lower()
    offset = {"last": -1, "this": 0, "next": 1, "coming": 1}[which]
    if unit in ("night", "morning", "afternoon", "evening"):
        return None if offset > 0 or m["ucount"] else _Reading(one_day(today + timedelta(offset)), True, offset < 0)
    if unit not in UNIT_DAYS:
        return None if m["ucount"] else _read_named_weekday(m, which, today)
    if m["ucount"]:
        return _rolling(m["ucount"], unit, offset, today) if offset else None
    if unit == "day":
        return None
    # "the last month", "the past year" end today; "last month" is a month of the calendar.
    if offset and unit != "weekend" and (m["the"] or "past" in m["uwhich"].lower()):
        return _rolling("one", unit, offset, today)
    if unit == "weekend" and which in ("this", "coming"):
        return _read_this_weekend(m, today)
    ends = unit == "weekend" and "this" in m["uwhich"].lower() and today.weekday() > 4  # this past weekend, on a Sunday
    return _Reading(calendar_unit(unit, offset, today), True, bool(offset) and not m["the"] and not ends)


def _read_this_weekend(m: re.Match[str], today: date) -> _Reading:
    """The one that is, else the last or the next one by its clause."""
    now, last = calendar_unit("weekend", 0, today), calendar_unit("weekend", -1, today)
    way = _COMING if "coming" in m["uwhich"].lower() else _direction(m, weekly=True)
    if way == _UNSETTLED or today.weekday() > 4:
        return _Reading(now, True, False, None if today.weekday() > 4 else last)
    return _Reading(now if way == _COMING else last, True, True)


def _read_named_weekday(m: re.Match[str], which: str, today: date) -> _Reading | None:
    """last, next or this Friday; not written out where people differ: who means yesterday or tomorrow says so, but "next
    Friday" is hardly this week's, and may be, said on its Monday."""
    if m["uunit"] in ("sat", "sun", "wed"):
        return None
    weekday = _WEEKDAY_OF[m["uunit"][:3].lower()]
    before, after = nearest_weekday(weekday, -1, today), nearest_weekday(weekday, 1, today)
    week = one_day(calendar_unit("week", which == "next", today).start + timedelta(weekday))
    away = (after.start - today).days
    if which == "last":
        return _Reading(before, True, not m["the"] and before.start < today - timedelta(1))
    if which == "coming" or (which == "next" and after == week):
        return _Reading(after, True, not m["the"] and (away > 1 or which == "coming"))
    if which == "next":
        return _Reading(week, True, not m["the"]) if away < 3 else _Reading(after, True, False, week)
    return _read_this_weekday(m, week, after, today)


def _read_this_weekday(m: re.Match[str], week: Span, after: Span, today: date) -> _Reading:
    """this Friday: that of this week, unless it is over and yet to come by its clause, or to come and yet over."""
    way = _direction(m, weekly=True)
    if week.start < today:
        settled = {_PAST: week, _COMING: after}.get(way)
        return _Reading(settled, True, True) if settled else _Reading(week, True, False, after)
    return _Reading(week, True, way != _PAST)


def _read_dayword(m: re.Match[str], today: date) -> _Reading | None:
    word = m["dword"].lower()
    if _before(m, "no day cue") or _pattern("no day ahead").match(m.string, m.end()):
        return None
    offset = {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    if " " in word or len(word) > 9:
        offset = -2 if word.endswith("yesterday") else 2
    return _Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_weekday(m: re.Match[str], today: date) -> _Reading | None:
    """A bare Friday may be the last one or the next. `Friday, 5 May` is left to its date."""
    if _pattern("date ahead").match(m.string, m.end()):
        return None
    return _weekday(m, _WEEKDAY_OF[m["wname"][:3].lower()], today)


def _month_day(m: re.Match[str], day: int, today: date) -> _Reading:
    """A day of a month that nothing names: the last such or the next, as its clause says."""
    spans = []
    for offset in (-2, -1, 0, 1, 2):
        with contextlib.suppress(ValueError):  # no 31st
            spans.append(in_month(month_index(today) + offset, day, day))
    past = [span for span in spans if span.start <= today][-1]
    coming = next(span for span in spans if span.start >= today)
    if past == coming:
        return _Reading(past, True)
    way = _direction(m)
    span, other = (coming, past) if way == _COMING else (past, coming)
    return _Reading(span, True, way != _UNSETTLED, other if way == _UNSETTLED else None)


def _read_monthday(m: re.Match[str], today: date) -> _Reading:
    """on the 11th."""
    return _month_day(m, int(m["dom"]), today)


# -- Chinese -----------------------------------------------------------------------------------------------------------


def _chinese_year(word: str, today: date) -> tuple[int, int | None]:
    """The year of 2023年, 二零二三年, 23年 or 去年, and for the last kind its distance from this year."""
    word = word.removesuffix("年").strip()
    if word in _values("zh offset"):
        return today.year + _values("zh offset")[word], _values("zh offset")[word]
    year = int("".join(str(_values("zh digit").get(character, character)) for character in word))
    return (year if year > 99 else 2000 + year), None


def _chinese_yearly(m: re.Match[str]) -> Callable[[int], Span]:
    """The span that an expression names within a year."""
    if m["zmonth"]:
        month, part = number(m["zmonth"]), _chinese_part(m)
        return lambda year: in_month(year * 12 + month - 1, *part)
    if m["zholiday"]:
        rule = _table("holiday")[m["zholiday"].translate(_SIMPLIFIED)]
        return lambda year: holiday(year, *rule)
    months: tuple[int, ...]
    if m["zseason"]:
        months = _values("season")[m["zseason"]], _values("season")[m["zseason"]] + 2
    else:
        months = _table("year part")[m["zyearpart"] or m["zhalfyear"]]
    return lambda year: in_year(year, *months)


def _chinese_part(m: re.Match[str]) -> tuple[int, ...]:
    if m["zday"]:
        return number(m["zday"]), number(m["zlast"] or m["zday"])
    return _table("month part")[m["zpart"]] if m["zpart"] else (1, 31)


def _read_zmonthday(m: re.Match[str], today: date) -> _Reading:
    return _month_day(m, number(m["zdom"]), today)


def _read_zdate(m: re.Match[str], today: date) -> _Reading | None:
    """Nothing for a day of the lunar calendar, which is no day of this one."""
    if m["zmonth"] and (m.string[: m.start()].endswith(_LUNAR) or _LUNAR_DAY.match(m.string, m.end())):
        return None
    if m["zwhich"]:
        offset = _values("zh offset")[m["zwhich"]]
        return _Reading(in_month(month_index(today) + offset, *_chinese_part(m)), True, offset != 0)
    make = _chinese_yearly(m)
    if m["zyear"]:
        year, distance = _chinese_year(m["zyear"], today)
        return _Reading(make(year), distance is not None, bool(distance))
    if m["zseason"]:
        return None
    if m["zmonth"] or m["zholiday"]:
        reading = _yearly(m, make, None, "", today)
        return reading if m["zmonth"] else _never_written(reading, "")
    return _Reading(make(today.year), True)


def _read_zyearonly(m: re.Match[str], today: date) -> _Reading:
    year, distance = _chinese_year(m["zyearword"], today)
    return _Reading(in_year(year), distance is not None, bool(distance))


def _read_zmonthpart(m: re.Match[str], today: date) -> _Reading:
    return _Reading(in_month(month_index(today), *_table("month part")[m["zthispart"]]), True)


def _read_zweek(m: re.Match[str], today: date) -> _Reading:
    offset, day = _values("zh offset")[m["zwhichweek"]], m["zwday"]
    if day is None or day == "末":
        return _Reading(calendar_unit("weekend" if day else "week", offset, today), True, offset != 0)
    named = calendar_unit("week", offset, today).start + timedelta(_table("zh weekday")[day][0])
    way = _UNSETTLED if offset else _direction(m)
    against = _PAST if named > today else _COMING  # 这周六我去了, said before it, is a slip
    return _Reading(one_day(named), True, way != against)


def _read_zweekday(m: re.Match[str], today: date) -> _Reading | None:
    if _before(m, "zh day before"):
        return None
    return _weekday(m, _table("zh weekday")[m["zbare"]][0], today)


def _read_zdayword(m: re.Match[str], today: date) -> _Reading:
    offset = _values("zh offset")[m["zdword"][:-1]]
    return _Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_zago(m: re.Match[str], today: date) -> _Reading:
    """三天后 is not annotated: in a story it counts from another day."""
    unit, sign = _ZH_UNITS.get(m["zunit"][-1], ""), 1 if m["zahead"] else -1
    if not unit:  # hours and minutes
        return _Reading(one_day(today), True)
    reading = _Reading(half_unit(unit, sign, today), True, True)
    if m["zcount"]:
        reading = _counted(m["zcount"], unit, sign, today)
    return reading._replace(annotated=False) if m["zahead"] else reading


def _read_zfew(m: re.Match[str], today: date) -> _Reading:
    least, most = (1, 3) if m["zfewcount"] in "两兩" else (2, 9)
    return _Reading(stretch(least, most, _ZH_UNITS[m["zfewunit"][-1]], -1, today), True)


def _read_zlong(m: re.Match[str], today: date) -> _Reading:
    return _rolling(m["zlongcount"], _ZH_UNITS[m["zlongunit"][-1]], 1 if m["zcoming"] else -1, today)


def _named(*readers: _Reader) -> dict[str, _Reader]:
    """The readers by the names of their patterns, in the order in which these are tried."""
    return {reader.__name__.removeprefix("_read_"): reader for reader in readers}


_ENGLISH_READERS = _named(
    *(_read_iso, _read_numeric, _read_month, _read_season, _read_holiday, _read_year, _read_ago),
    *(_read_unit, _read_dayword, _read_monthday, _read_weekday),
)
_CHINESE_READERS = _named(
    *(
        _read_zdate,
        _read_zyearonly,
        _read_zmonthpart,
        _read_zweek,
        _read_zweekday,
        _read_zdayword,
        _read_zmonthday,
        _read_zago,
    ),
    *(_read_zfew, _read_zlong),
)


# -- what a text names ---------------------------------------------------------------------------------------------------


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


_READERS = _ENGLISH_READERS | _CHINESE_READERS
_ENGLISH = rf"(?<![A-Za-z0-9_])(?<!\d[.,:])(?:{_any_of(_ENGLISH_READERS)})"
_CHINESE = _any_of(_CHINESE_READERS)


def mentioned(text: str, today: date) -> list[Mention]:
    """The dates and spans that the text names, in order, none overlapping; what lies outside the calendar is left out."""
    found: list[Mention] = []
    for m in _matches(simplified(text.translate(_ASCII_DIGITS))):
        try:
            reading = _READERS[m.lastgroup or ""](m, today)
            if reading is None or reading.span.start > reading.span.end:
                continue
            mention = Mention(m.start(), m.end(), *reading)
            if mention.annotated and _quoted(text, m.start()):
                mention = mention._replace(annotated=False)
        except (ValueError, OverflowError):  # 31 February, or beyond the years 1 to 9999
            continue
        if found and found[-1].end > mention.start:
            found.pop()
        found.append(mention)
    return found


def _matches(text: str) -> Iterator[re.Match[str]]:
    """The expressions in order; of two that overlap the first, and of two that start together the longer one."""
    matches = list(_compiled(_ENGLISH).finditer(text))
    if _pattern("cjk").search(text):
        matches += _compiled(_CHINESE).finditer(text)
        matches.sort(key=lambda m: (m.start(), -m.end()))
    end = 0
    for m in matches:
        if m.start() >= end:
            yield m
            end = m.end()


@functools.lru_cache(maxsize=4096)
def annotate(text: str, today: date) -> str:
    """The text with the date in square brackets behind each settled expression that hangs on the day: `yesterday [7 May 2023]`.

    Nothing else is changed, and what has such a bracket keeps it, so that doing it twice is doing it once. Left as they
    are: today and this week, which the heading of a session tells, and what may mean several dates (`Friday?`).
    """
    if not _may_be_relative(text):
        return text
    bare, brackets = _without_brackets(text)
    for mention in mentioned(bare, today):
        if mention.annotated and mention.end not in brackets:
            chinese = _pattern("cjk").search(bare, mention.start, mention.end) is not None
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
    for m in _pattern("bracket").finditer(text):
        bare += text[at : m.start()]
        brackets[len(bare)] = brackets.get(len(bare), "") + m[0]
        at = m.end()
    return bare + text[at:], brackets


def nearest(mention: Mention, today: date) -> Span:
    """Of all that it may name what is nearest to a day: *Oct 7* is next month's in September, and last month's in November."""
    return min(mention.spans, key=lambda span: abs((span.start - today).days))


def parse_bound(text: str, today: date, end: bool) -> date:
    """The first day, or with `end` the last one, of what `after` or `before` names; ValueError says what is accepted."""
    bound = text.strip()
    bound = _pattern("clock").sub("", bound)
    for phrase in (bound, f"in {bound}"):  # a lone `May` is a month only behind a preposition
        mentions = mentioned(phrase, today)
        if len(mentions) == 1 and _covers(mentions[0], phrase):
            last, near = mentions[0].span, nearest(mentions[0], today)
            span = last if (last.end - last.start).days > 7 else near  # "in June" looks back; "Oct 7" may be to come
            return span.end if end else span.start
    raise ValueError(
        f"{bound[:40]!r} is not a date: give one such as 2023-05-07, 2023-05, 2023, May 2023, Oct 7, yesterday, last week, "
        "3 days ago, 2023年5月 or 上周."
    )


def _covers(mention: Mention, phrase: str) -> bool:
    """Whether the phrase is the mention and at most a preposition."""
    small = phrase[: mention.start].lower().split()
    return mention.end == len(phrase) and {
        "in",
        "on",
        "the",
        "since",
        "until",
        "from",
        "by",
        "before",
        "after",
    }.issuperset(small)
