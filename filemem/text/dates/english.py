"""Readers of English expressions and of dates in digits: a match and the day from which it counts make a `Reading`."""

import re
from datetime import date, timedelta

from filemem.text.dates import datewords, tense
from filemem.text.dates.datewords import regex
from filemem.text.dates.reading import (
    Reader,
    Reading,
    before,
    counted,
    never_written,
    part_of,
    rolling,
    weekday,
    which_of,
    yearly,
)
from filemem.text.dates.spans import (
    UNIT_DAYS,
    Span,
    calendar_unit,
    half_unit,
    holiday,
    in_month,
    in_year,
    nearest_weekday,
    one_day,
)


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
    name, days, cue = m["mname"], m["mbefore"] or m["mafter"], before(m, datewords.MONTH_CUE)
    if name in ("may", "march", "mar"):
        ordinal = days and re.search("[a-z]", days)
        return bool(m["myear"] or m["mpart"] or ordinal or (cue and cue[1]))
    if days or m["myear"] or m["mpart"] or m["mwhich"] or cue:
        return True
    return len(name) > 3 and name.lower() not in ("march", "april", "june", "august")


def _read_month(m: re.Match[str], today: date) -> Reading | None:
    if not _is_month(m):
        return None
    part = 1, 31
    if days := re.findall(r"\d+", m["mbefore"] or m["mafter"] or ""):
        part = int(days[0]), int(days[-1])
    elif m["mpart"]:
        part = part_of(m["mpart"], datewords.MONTH_PARTS)
    number = datewords.MONTH_OF[m["mname"][:3].lower()]
    ahead = None if m["mwhich"] else regex(datewords.YEAR_AHEAD).match(m.string, m.end())
    year = m["myear"] or (ahead and ahead[1])
    return yearly(m, lambda year: in_month(year * 12 + number - 1, *part), year, which_of(m["mwhich"]), today)


def _read_season(m: re.Match[str], today: date) -> Reading | None:
    if not m["swhich"] and not m["syear"]:
        return None
    start = datewords.SEASON_START[m["sname"].lower()]
    return yearly(m, lambda year: in_year(year, start, start + 2), m["syear"], which_of(m["swhich"]), today)


def _read_holiday(m: re.Match[str], today: date) -> Reading:
    which = which_of(m["hwhich"])
    rule = datewords.HOLIDAYS[" ".join(m["hname"].lower().replace("'", "").replace("’", "").split())]
    return never_written(yearly(m, lambda year: holiday(year, *rule), m["hyear"], which, today), which)


def _read_quarter(m: re.Match[str], today: date) -> Reading:
    first = int(m["qfirst"] or m["qlast"]) * 3 - 2
    return Reading(in_year(int(m["qyear"] or m["qyear2"]), first, first + 2))


def _read_year(m: re.Match[str], today: date) -> Reading | None:
    year = int(m["yfirst"])
    if before(m, datewords.NO_YEAR_CUE) or (year > today.year + 10 and not before(m, datewords.YEAR_CUE)):
        return None
    if m["decade"]:
        years = 10 if year % 100 else 100
        return None if year % 10 else Reading(Span(date(year, 1, 1), date(year + years - 1, 12, 31)))
    if m["ylast"]:
        return Reading(Span(date(year, 1, 1), date(int(m["ylast"]), 12, 31)))
    part = part_of(m["ypart"], datewords.YEAR_PARTS) if m["ypart"] else (1, 12)
    return Reading(in_year(year, *part))


def _read_ago(m: re.Match[str], today: date) -> Reading:
    unit, sign = m["aunit"].lower(), 1 if m["ahead"] else -1
    if unit in ("hour", "minute"):
        return Reading(one_day(today), True)
    if not m["acount"]:
        return Reading(half_unit(unit, sign, today), True, True)
    reading = counted(m["acount"], unit, sign, today)
    return reading._replace(annotated=False) if before(m, datewords.HEDGE) else reading


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
    weekday = datewords.WEEKDAY_OF[m["uunit"][:3].lower()]
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
    if before(m, datewords.NO_DAY_CUE) or regex(datewords.NO_DAY_AHEAD).match(m.string, m.end()):
        return None
    offset = {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    if " " in word or len(word) > 9:
        offset = -2 if word.endswith("yesterday") else 2
    return Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_weekday(m: re.Match[str], today: date) -> Reading | None:
    """A bare Friday may be the last one or the next. `Friday, 5 May` is left to its date."""
    if regex(datewords.DATE_AHEAD).match(m.string, m.end()):
        return None
    return weekday(m, datewords.WEEKDAY_OF[m["wname"][:3].lower()], today)


READERS: dict[str, Reader] = {
    "iso": _read_iso,
    "numeric": _read_numeric,
    "month": _read_month,
    "season": _read_season,
    "holiday": _read_holiday,
    "quarter": _read_quarter,
    "year": _read_year,
    "ago": _read_ago,
    "within": _read_within,
    "unit": _read_unit,
    "dayword": _read_dayword,
    "weekday": _read_weekday,
}
