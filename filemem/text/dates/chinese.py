"""Readers of Chinese expressions: a match and the day from which it counts make a `Reading`."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from filemem.text.dates import datewords, tense
from filemem.text.dates.reading import (
    Reader,
    Reading,
    before,
    counted,
    never_written,
    number,
    rolling,
    weekday,
    yearly,
)
from filemem.text.dates.spans import (
    Span,
    calendar_unit,
    half_unit,
    holiday,
    in_month,
    in_year,
    month_index,
    one_day,
    stretch,
)


def _chinese_year(word: str, today: date) -> tuple[int, int | None]:
    """The year of 2023年, 二零二三年, 23年 or 去年, and for the last kind its distance from this year."""
    word = word.removesuffix("年").strip()
    if word in datewords.CHINESE_OFFSETS:
        return today.year + datewords.CHINESE_OFFSETS[word], datewords.CHINESE_OFFSETS[word]
    year = int("".join(str(datewords.CHINESE_DIGITS.get(character, character)) for character in word))
    return (year if year > 99 else 2000 + year), None


def _chinese_yearly(m: re.Match[str]) -> Callable[[int], Span]:
    """The span that an expression names within a year."""
    if m["zmonth"]:
        month, part = number(m["zmonth"]), _chinese_part(m)
        return lambda year: in_month(year * 12 + month - 1, *part)
    if m["zholiday"]:
        rule = datewords.HOLIDAYS[m["zholiday"].translate(datewords.SIMPLIFIED)]
        return lambda year: holiday(year, *rule)
    if quarter := m["zquarter"] or m["zquarter2"]:
        months = number(quarter) * 3 - 2, number(quarter) * 3
    elif m["zseason"]:
        months = datewords.SEASON_START[m["zseason"]], datewords.SEASON_START[m["zseason"]] + 2
    else:
        months = datewords.YEAR_PARTS[m["zyearpart"] or m["zhalfyear"]]
    return lambda year: in_year(year, *months)


def _chinese_part(m: re.Match[str]) -> tuple[int, int]:
    if m["zday"]:
        return number(m["zday"]), number(m["zlast"] or m["zday"])
    return datewords.MONTH_PARTS[m["zpart"]] if m["zpart"] else (1, 31)


def _read_zdate(m: re.Match[str], today: date) -> Reading | None:
    if m["zwhich"]:
        offset = datewords.CHINESE_OFFSETS[m["zwhich"]]
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
    return Reading(in_month(month_index(today), *datewords.MONTH_PARTS[m["zthispart"]]), True)


def _read_zweek(m: re.Match[str], today: date) -> Reading:
    offset, day = datewords.CHINESE_OFFSETS[m["zwhichweek"]], m["zwday"]
    if day is None or day == "末":
        return Reading(calendar_unit("weekend" if day else "week", offset, today), True, offset != 0)
    named = calendar_unit("week", offset, today).start + timedelta(datewords.CHINESE_WEEKDAY_OF[day])
    way = tense.UNSETTLED if offset else tense.direction(m.string, m.start(), m.end(), weekly=False)
    against = tense.PAST if named > today else tense.COMING  # 这周六我去了, said before it, is a slip
    return Reading(one_day(named), True, way != against)


def _read_zweekday(m: re.Match[str], today: date) -> Reading | None:
    if before(m, r"[日号號]\s?[（(,，]?\s?$"):
        return None
    return weekday(m, datewords.CHINESE_WEEKDAY_OF[m["zbare"]], today)


def _read_zdayword(m: re.Match[str], today: date) -> Reading:
    offset = datewords.CHINESE_OFFSETS[m["zdword"][:-1]]
    return Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_zago(m: re.Match[str], today: date) -> Reading:
    """三天后 is not annotated: in a story it counts from another day."""
    unit, sign = datewords.CHINESE_UNITS.get(m["zunit"][-1], ""), 1 if m["zahead"] else -1
    if not unit:  # hours and minutes
        return Reading(one_day(today), True)
    reading = Reading(half_unit(unit, sign, today), True, True)
    if m["zcount"]:
        reading = counted(m["zcount"], unit, sign, today)
    return reading._replace(annotated=False) if m["zahead"] else reading


def _read_zfew(m: re.Match[str], today: date) -> Reading:
    least, most = (1, 3) if m["zfewcount"] in "两兩" else (2, 9)
    return Reading(stretch(least, most, datewords.CHINESE_UNITS[m["zfewunit"][-1]], -1, today), True)


def _read_zlong(m: re.Match[str], today: date) -> Reading:
    return rolling(m["zlongcount"], datewords.CHINESE_UNITS[m["zlongunit"][-1]], -1, today)


READERS: dict[str, Reader] = {
    "zdate": _read_zdate,
    "zyearonly": _read_zyearonly,
    "zmonthpart": _read_zmonthpart,
    "zweek": _read_zweek,
    "zweekday": _read_zweekday,
    "zdayword": _read_zdayword,
    "zago": _read_zago,
    "zfew": _read_zfew,
    "zlong": _read_zlong,
}
