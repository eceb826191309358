"""Readers of expressions: a match, and the day from which it counts, make a `Reading`."""

import contextlib
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from filemem.text.dates import tense
from filemem.text.dates.datewords import MONTH_OF, WEEKDAY_OF, pattern, table, values
from filemem.text.dates.spans import (
    UNIT_DAYS,
    Span,
    calendar_unit,
    half_unit,
    holiday,
    in_month,
    in_year,
    month_index,
    nearest_weekday,
    of_year,
    one_day,
    stretch,
)

_LUNAR, _LUNAR_DAY = ("农历", "阴历", "旧历", "农历的", "闰"), re.compile("初[一二三四五六七八九十]|廿")
_ZH_UNITS = {"天": "day", "周": "week", "週": "week", "期": "week", "拜": "week", "月": "month", "年": "year"}
_SIMPLIFIED = str.maketrans("節婦勞動親兒國慶萬聖雙誕", "节妇劳动亲儿国庆万圣双诞")
JUST = 31  # days for which a date without a year is the last one still, whose next is nearly a year away
RECENT = 183  # days within which a date without a year, told in the past tense, is sure to be the last one


class Reading(NamedTuple):
    """What one expression means, before it is placed in its text."""

    span: Span
    relative: bool = False
    annotated: bool = False
    other: Span | None = None


Reader = Callable[[re.Match[str], date], Reading | None]


def before(m: re.Match[str], cue: str) -> re.Match[str] | None:
    """The cue that stands right before the match."""
    return pattern(cue).search(m.string[max(0, m.start() - 32) : m.start()])


def which_of(words: str | None) -> str:
    """last, next, coming, this or nothing."""
    word = words.lower().split()[-1] if words else ""
    return {"past": "last", "the": ""}.get(word, word)


def yearly(m: re.Match[str], make: Callable[[int], Span], year: str | None, which: str, today: date) -> Reading:
    """A span that comes once a year, with its year, or relative to today; "next June" is this year's or not while that is to
    come."""
    if year:
        return Reading(make(int(year)))
    if not which:
        return bare(m, of_year(make, "", today), of_year(make, "begins", today), today, weekly=False)
    span = of_year(make, which, today)
    return Reading(span, True, which in ("last", "coming") or (which == "next" and span.start.year > today.year))


def bare(m: re.Match[str], past: Span, coming: Span, today: date, *, weekly: bool) -> Reading:
    """A weekday or a date without its year: the last one or the next, as its verb says; both where that does not."""
    just = not weekly and 0 < (today - past.end).days <= JUST
    near = past.end >= today or (weekly and past.start.weekday() == today.weekday())
    way = tense.UNSETTLED if near else tense.direction(m.string, m.start(), m.end(), weekly=weekly)
    if (way == tense.COMING and not just) or (way == tense.PAST and (today - past.end).days <= RECENT):
        return Reading(coming if way == tense.COMING else past, weekly, True)
    return Reading(past, weekly, False, coming if coming != past and not (just and way != tense.COMING) else None)


def number(word: str) -> int:
    """Digits, English words to fifty, Chinese numerals below a thousand."""
    if word.isdecimal():
        return int(word)
    if word.lower() in values("count"):
        return values("count")[word.lower()]
    total = digit = 0
    for character in word:
        if character in "十百":
            total, digit = total + (digit or 1) * (100 if character == "百" else 10), 0
        else:
            digit = values("zh digit")[character]
    return total + digit


def _count(words: str) -> tuple[int, int]:
    """The least and the most that a count can mean: 3 is (3, 3), 两三 (2, 3), a few (2, 5)."""
    for word in words.lower().split():
        if word in table("vague"):
            least, most = table("vague")[word]
            return least, most
    if len(words) == 2 and all(character in values("zh digit") for character in words):
        least, most = (values("zh digit")[character] for character in words)
        return min(least, most), max(least, most)
    return (number(words),) * 2


def counted(words: str, unit: str, sign: int, today: date) -> Reading:
    """So many units away from today."""
    least, most = _count(words)
    if least == most:
        return Reading(calendar_unit(unit, sign * most, today), True, True)
    return Reading(stretch(least, most, unit, sign, today), True)


def rolling(words: str, unit: str, sign: int, today: date) -> Reading:
    """The so many units that end or begin with today."""
    return Reading(stretch(0, _count(words)[1], unit, sign, today), True)


def part_of(words: str, parts: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """`first half of ` or `mid-` as a range of the table."""
    return parts[" ".join(word for word in words.lower().replace("-", " ").split() if word not in ("of", "in"))]


def never_written(reading: Reading, which: str) -> Reading:
    """A holiday is not annotated with a date, as people mostly speak of it in general; one with `last` or `next` is."""
    return reading if which else reading._replace(annotated=False)


def weekday(m: re.Match[str], weekday: int, today: date) -> Reading:
    return bare(m, nearest_weekday(weekday, -1, today), nearest_weekday(weekday, 1, today), today, weekly=True)


# -- English, and dates in digits --------------------------------------------------------------------------------------


def _read_iso(m: re.Match[str], today: date) -> Reading:
    if m["ymyear"]:
        return Reading(in_year(int(m["ymyear"]), int(m["ymmonth"]), int(m["ymmonth"])))
    return Reading(one_day(date(int(m["isoyear"]), int(m["isomonth"]), int(m["isoday"]))))


def _read_numeric(m: re.Match[str], today: date) -> Reading | None:
    """05/2023; 25.12.2023; 25/12/2023 and 12/25/2023, but not 5/7/2023, which means different days to different people."""
    if m["myyear"]:
        return Reading(in_year(int(m["myyear"]), int(m["mymonth"]), int(m["mymonth"])))
    day, month = int(m["nfirst"]), int(m["nsecond"])
    if m["nmark"] == "/" and day <= 12 and month <= 12 and day != month:
        return None
    if m["nmark"] == "/" and month > 12:
        day, month = month, day
    return Reading(one_day(date(int(m["nyear"]), month, day)))


def _is_month(m: re.Match[str]) -> bool:
    """Whether May is the month and not a name, march not a verb, and Mar not half a word."""
    name, days, cue = m["mname"], m["mbefore"] or m["mafter"], before(m, "month cue")
    if name in ("may", "march", "mar"):
        ordinal = days and re.search("[a-z]", days)
        return bool(m["myear"] or m["mpart"] or ordinal or (cue and cue[1]))
    if days or m["myear"] or m["mpart"] or m["mwhich"] or cue:
        return True
    return len(name) > 3 and name.lower() not in ("march", "april", "june", "august")


def _read_month(m: re.Match[str], today: date) -> Reading | None:
    if not _is_month(m):
        return None
    part: tuple[int, ...] = (1, 31)
    if days := re.findall(r"\d+", m["mbefore"] or m["mafter"] or ""):
        part = int(days[0]), int(days[-1])
    elif m["mpart"]:
        part = part_of(m["mpart"], table("month part"))
    number = MONTH_OF[m["mname"][:3].lower()]
    ahead = None if m["mwhich"] else pattern("year ahead").match(m.string, m.end())
    year = m["myear"] or (ahead and ahead[1])
    return yearly(m, lambda year: in_month(year * 12 + number - 1, *part), year, which_of(m["mwhich"]), today)


def _read_season(m: re.Match[str], today: date) -> Reading | None:
    if not m["swhich"] and not m["syear"]:
        return None
    start = values("season")[m["sname"].lower()]
    return yearly(m, lambda year: in_year(year, start, start + 2), m["syear"], which_of(m["swhich"]), today)


def _read_holiday(m: re.Match[str], today: date) -> Reading:
    which = which_of(m["hwhich"])
    rule = table("holiday")[" ".join(m["hname"].lower().replace("'", "").replace("’", "").split())]
    return never_written(yearly(m, lambda year: holiday(year, *rule), m["hyear"], which, today), which)


def _read_quarter(m: re.Match[str], today: date) -> Reading:
    first = int(m["qfirst"] or m["qlast"]) * 3 - 2
    return Reading(in_year(int(m["qyear"] or m["qyear2"]), first, first + 2))


def _read_year(m: re.Match[str], today: date) -> Reading | None:
    year = int(m["yfirst"])
    if before(m, "no year cue") or (year > today.year + 10 and not before(m, "year cue")):
        return None
    if m["decade"]:
        years = 10 if year % 100 else 100
        return None if year % 10 else Reading(Span(date(year, 1, 1), date(year + years - 1, 12, 31)))
    if m["ylast"]:
        return Reading(Span(date(year, 1, 1), date(int(m["ylast"]), 12, 31)))
    part = part_of(m["ypart"], table("year part")) if m["ypart"] else (1, 12)
    return Reading(in_year(year, *part))


def _read_ago(m: re.Match[str], today: date) -> Reading:
    unit, sign = m["aunit"].lower(), 1 if m["ahead"] else -1
    if unit in ("hour", "minute"):
        return Reading(one_day(today), True)
    if not m["acount"]:
        return Reading(half_unit(unit, sign, today), True, True)
    reading = counted(m["acount"], unit, sign, today)
    return reading._replace(annotated=False) if before(m, "hedge") else reading


def _read_within(m: re.Match[str], today: date) -> Reading:
    """Not annotated: `I finished it in two weeks` is no date."""
    return counted(m["wcount"], m["wunit"].lower(), 1, today)._replace(annotated=False)


def _read_unit(m: re.Match[str], today: date) -> Reading | None:
    """last week, this morning, next Friday, the past three months."""
    which, unit = which_of(m["uwhich"]), m["uunit"].lower()
    offset = {"last": -1, "this": 0, "next": 1, "coming": 1}[which]
    if unit in ("night", "morning", "afternoon", "evening"):
        return None if offset > 0 or m["ucount"] else Reading(one_day(today + timedelta(offset)), True, offset < 0)
    if unit not in UNIT_DAYS:
        return None if m["ucount"] else _read_named_weekday(m, which, today)
    if m["ucount"]:
        return rolling(m["ucount"], unit, offset, today) if offset else None
    if unit == "day":
        return None
    # "the last month", "the past year" end today; "last month" is a month of the calendar.
    if offset and unit != "weekend" and (m["the"] or "past" in m["uwhich"].lower() or unit == "decade"):
        return rolling("one", unit, offset, today)
    if unit == "weekend" and which in ("this", "coming"):
        return _read_this_weekend(m, today)
    ends = unit == "weekend" and "this" in m["uwhich"].lower() and today.weekday() > 4  # this past weekend, on a Sunday
    return Reading(calendar_unit(unit, offset, today), True, bool(offset) and not m["the"] and not ends)


def _read_this_weekend(m: re.Match[str], today: date) -> Reading:
    """The one that is, else the last or the next one by its verb."""
    now, last = calendar_unit("weekend", 0, today), calendar_unit("weekend", -1, today)
    way = (
        tense.COMING if "coming" in m["uwhich"].lower() else tense.direction(m.string, m.start(), m.end(), weekly=True)
    )
    if way == tense.UNSETTLED or today.weekday() > 4:
        return Reading(now, True, False, None if today.weekday() > 4 else last)
    return Reading(now if way == tense.COMING else last, True, True)


def _read_named_weekday(m: re.Match[str], which: str, today: date) -> Reading | None:
    """last, next or this Friday; not written out where people differ: who means yesterday or tomorrow says so, but "next
    Friday" is hardly this week's, and may be, said on its Monday."""
    if m["uunit"] in ("sat", "sun", "wed"):
        return None
    weekday = WEEKDAY_OF[m["uunit"][:3].lower()]
    before, after = nearest_weekday(weekday, -1, today), nearest_weekday(weekday, 1, today)
    week = one_day(calendar_unit("week", which == "next", today).start + timedelta(weekday))
    away = (after.start - today).days
    if which == "last":
        return Reading(before, True, not m["the"] and before.start < today - timedelta(1))
    if which == "coming" or (which == "next" and after == week):
        return Reading(after, True, not m["the"] and (away > 1 or which == "coming"))
    if which == "next":
        return Reading(week, True, not m["the"]) if away < 3 else Reading(after, True, False, week)
    return _read_this_weekday(m, week, after, today)


def _read_this_weekday(m: re.Match[str], week: Span, after: Span, today: date) -> Reading:
    """this Friday: that of this week, unless it is over and yet to come by its verb, or to come and yet over."""
    way = tense.direction(m.string, m.start(), m.end(), weekly=True)
    if week.start < today:
        settled = {tense.PAST: week, tense.COMING: after}.get(way)
        return Reading(settled, True, True) if settled else Reading(week, True, False, after)
    return Reading(week, True, way != tense.PAST)


def _read_dayword(m: re.Match[str], today: date) -> Reading | None:
    word = m["dword"].lower()
    if before(m, "no day cue") or pattern("no day ahead").match(m.string, m.end()):
        return None
    offset = {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    if " " in word or len(word) > 9:
        offset = -2 if word.endswith("yesterday") else 2
    return Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_weekday(m: re.Match[str], today: date) -> Reading | None:
    """A bare Friday may be the last one or the next. `Friday, 5 May` is left to its date."""
    if pattern("date ahead").match(m.string, m.end()):
        return None
    return weekday(m, WEEKDAY_OF[m["wname"][:3].lower()], today)


def _month_day(m: re.Match[str], day: int, today: date) -> Reading:
    """A day of a month that nothing names: the last such or the next, as its verb says."""
    spans = []
    for offset in (-2, -1, 0, 1, 2):
        with contextlib.suppress(ValueError):  # no 31st
            spans.append(in_month(month_index(today) + offset, day, day))
    past = [span for span in spans if span.start <= today][-1]
    coming = next(span for span in spans if span.start >= today)
    if past == coming:
        return Reading(past, True)
    way = tense.direction(m.string, m.start(), m.end(), weekly=False)
    span, other = (coming, past) if way == tense.COMING else (past, coming)
    return Reading(span, True, way != tense.UNSETTLED, other if way == tense.UNSETTLED else None)


def _read_monthday(m: re.Match[str], today: date) -> Reading:
    """on the 11th."""
    return _month_day(m, int(m["dom"]), today)


# -- Chinese -----------------------------------------------------------------------------------------------------------


def _chinese_year(word: str, today: date) -> tuple[int, int | None]:
    """The year of 2023年, 二零二三年, 23年 or 去年, and for the last kind its distance from this year."""
    word = word.removesuffix("年").strip()
    if word in values("zh offset"):
        return today.year + values("zh offset")[word], values("zh offset")[word]
    year = int("".join(str(values("zh digit").get(character, character)) for character in word))
    return (year if year > 99 else 2000 + year), None


def _chinese_yearly(m: re.Match[str]) -> Callable[[int], Span]:
    """The span that an expression names within a year."""
    if m["zmonth"]:
        month, part = number(m["zmonth"]), _chinese_part(m)
        return lambda year: in_month(year * 12 + month - 1, *part)
    if m["zholiday"]:
        rule = table("holiday")[m["zholiday"].translate(_SIMPLIFIED)]
        return lambda year: holiday(year, *rule)
    months: tuple[int, ...]
    if quarter := m["zquarter"] or m["zquarter2"]:
        months = number(quarter) * 3 - 2, number(quarter) * 3
    elif m["zseason"]:
        months = values("season")[m["zseason"]], values("season")[m["zseason"]] + 2
    else:
        months = table("year part")[m["zyearpart"] or m["zhalfyear"]]
    return lambda year: in_year(year, *months)


def _chinese_part(m: re.Match[str]) -> tuple[int, ...]:
    if m["zday"]:
        return number(m["zday"]), number(m["zlast"] or m["zday"])
    return table("month part")[m["zpart"]] if m["zpart"] else (1, 31)


def _read_zmonthday(m: re.Match[str], today: date) -> Reading:
    return _month_day(m, number(m["zdom"]), today)


def _read_zdate(m: re.Match[str], today: date) -> Reading | None:
    """Nothing for a day of the lunar calendar, which is no day of this one."""
    if m["zmonth"] and (m.string[: m.start()].endswith(_LUNAR) or _LUNAR_DAY.match(m.string, m.end())):
        return None
    if m["zwhich"]:
        offset = values("zh offset")[m["zwhich"]]
        return Reading(in_month(month_index(today) + offset, *_chinese_part(m)), True, offset != 0)
    make = _chinese_yearly(m)
    if m["zyear"]:
        year, distance = _chinese_year(m["zyear"], today)
        return Reading(make(year), distance is not None, bool(distance))
    if m["zseason"]:
        return None
    if m["zmonth"] or m["zholiday"]:
        reading = yearly(m, make, None, "", today)
        return reading if m["zmonth"] else never_written(reading, "")
    return Reading(make(today.year), True)


def _read_zyearonly(m: re.Match[str], today: date) -> Reading:
    year, distance = _chinese_year(m["zyearword"], today)
    return Reading(in_year(year), distance is not None, bool(distance))


def _read_zmonthpart(m: re.Match[str], today: date) -> Reading:
    return Reading(in_month(month_index(today), *table("month part")[m["zthispart"]]), True)


def _read_zweek(m: re.Match[str], today: date) -> Reading:
    offset, day = values("zh offset")[m["zwhichweek"]], m["zwday"]
    if day is None or day == "末":
        return Reading(calendar_unit("weekend" if day else "week", offset, today), True, offset != 0)
    named = calendar_unit("week", offset, today).start + timedelta(table("zh weekday")[day][0])
    way = tense.UNSETTLED if offset else tense.direction(m.string, m.start(), m.end(), weekly=False)
    against = tense.PAST if named > today else tense.COMING  # 这周六我去了, said before it, is a slip
    return Reading(one_day(named), True, way != against)


def _read_zweekday(m: re.Match[str], today: date) -> Reading | None:
    if before(m, "zh day before"):
        return None
    return weekday(m, table("zh weekday")[m["zbare"]][0], today)


def _read_zdayword(m: re.Match[str], today: date) -> Reading:
    offset = values("zh offset")[m["zdword"][:-1]]
    return Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_zago(m: re.Match[str], today: date) -> Reading:
    """三天后 is not annotated: in a story it counts from another day."""
    unit, sign = _ZH_UNITS.get(m["zunit"][-1], ""), 1 if m["zahead"] else -1
    if not unit:  # hours and minutes
        return Reading(one_day(today), True)
    reading = Reading(half_unit(unit, sign, today), True, True)
    if m["zcount"]:
        reading = counted(m["zcount"], unit, sign, today)
    return reading._replace(annotated=False) if m["zahead"] else reading


def _read_zfew(m: re.Match[str], today: date) -> Reading:
    least, most = (1, 3) if m["zfewcount"] in "两兩" else (2, 9)
    return Reading(stretch(least, most, _ZH_UNITS[m["zfewunit"][-1]], -1, today), True)


def _read_zlong(m: re.Match[str], today: date) -> Reading:
    return rolling(m["zlongcount"], _ZH_UNITS[m["zlongunit"][-1]], 1 if m["zcoming"] else -1, today)


def _named(*readers: Reader) -> dict[str, Reader]:
    """The readers by the names of their patterns, in the order in which these are tried."""
    return {reader.__name__.removeprefix("_read_"): reader for reader in readers}


ENGLISH = _named(
    *(_read_iso, _read_numeric, _read_month, _read_season, _read_holiday, _read_quarter, _read_year, _read_ago),
    *(_read_within, _read_unit, _read_dayword, _read_monthday, _read_weekday),
)
CHINESE = _named(
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
