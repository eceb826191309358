"""Dates that a text names, in English and Chinese, resolved against a day that the caller gives.

Conventions: a week runs from Monday to Sunday; "last Friday" is the most recent Friday before today, "next Friday" the
first one after it; "last weekend" belongs to the week before this one; "two years ago" means that calendar year, and
so with months and weeks; seasons are the northern, meteorological ones (winter starts in December of its year); a day
or month without a year is the most recent one that has begun. Chinese 上周五 is the Friday of last week.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from filemem.dates import datewords
from filemem.dates.datewords import regex
from filemem.dates.spans import (
    UNIT_DAYS,
    Span,
    calendar_unit,
    half_unit,
    holiday,
    in_month,
    in_words,
    in_year,
    month_index,
    nearest_weekday,
    of_year,
    one_day,
    stretch,
)

__all__ = ["Mention", "Span", "annotate", "has_time_word", "in_words", "mentioned", "parse_bound"]


class Mention(NamedTuple):
    """`text[start:end]` names `span`; `relative` if that hangs on today; `annotated` if `annotate` writes it out."""

    start: int
    end: int
    span: Span
    relative: bool
    annotated: bool


class _Reading(NamedTuple):
    """What one expression means, before it is placed in its text."""

    span: Span
    relative: bool = False
    annotated: bool = False


# --- readers: one for each kind of expression ------------------------------------------------------------------------


def _before(m: re.Match[str], cue: str) -> re.Match[str] | None:
    """The cue that stands right before the match."""
    return regex(cue).search(m.string[max(0, m.start() - 32) : m.start()])


def _which(words: str | None) -> str:
    """last, next, this or nothing."""
    word = words.lower().split()[-1] if words else ""
    return {"past": "last", "coming": "next", "the": ""}.get(word, word)


def _yearly(make: Callable[[int], Span], year: str | None, which: str, today: date) -> _Reading:
    """A span that comes once a year, with its year, or relative to today."""
    if year:
        return _Reading(make(int(year)))
    return _Reading(of_year(make, which, today), bool(which), which in ("last", "next"))


def number(word: str) -> int:
    """Digits, English words to fifty, Chinese numerals below a thousand."""
    if word.isdecimal():
        return int(word)
    if word.lower() in datewords.COUNTS:
        return datewords.COUNTS[word.lower()]
    total = digit = 0
    for character in word:
        if character in "十百":
            total, digit = total + (digit or 1) * (100 if character == "百" else 10), 0
        else:
            digit = datewords.CHINESE_DIGITS[character]
    return total + digit


def _count(words: str) -> tuple[int, int]:
    """The least and the most that a count can mean: 3 is (3, 3), 两三 (2, 3), a few (2, 5)."""
    for word in words.lower().split():
        if word in datewords.VAGUE_COUNTS:
            return datewords.VAGUE_COUNTS[word]
    if len(words) == 2 and all(character in datewords.CHINESE_DIGITS for character in words):
        least, most = (datewords.CHINESE_DIGITS[character] for character in words)
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
    name, days, cue = m["mname"], m["mbefore"] or m["mafter"], _before(m, datewords.MONTH_CUE)
    if name in ("may", "march", "mar"):
        ordinal = days and re.search("[a-z]", days)
        return bool(m["myear"] or m["mpart"] or ordinal or (cue and cue[1]))
    if days or m["myear"] or m["mpart"] or m["mwhich"] or cue:
        return True
    return len(name) > 3 and name.lower() not in ("march", "april", "june", "august")


def _read_month(m: re.Match[str], today: date) -> _Reading | None:
    if not _is_month(m):
        return None
    part = 1, 31
    if days := re.findall(r"\d+", m["mbefore"] or m["mafter"] or ""):
        part = int(days[0]), int(days[-1])
    elif m["mpart"]:
        part = _part(m["mpart"], datewords.MONTH_PARTS)
    number = datewords.MONTH_OF[m["mname"][:3].lower()]
    ahead = None if m["mwhich"] else regex(datewords.YEAR_AHEAD).match(m.string, m.end())
    year = m["myear"] or (ahead and ahead[1])
    return _yearly(lambda year: in_month(year * 12 + number - 1, *part), year, _which(m["mwhich"]), today)


def _part(words: str, parts: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """`first half of ` or `mid-` as a range of the table."""
    return parts[" ".join(word for word in words.lower().replace("-", " ").split() if word not in ("of", "in"))]


def _read_season(m: re.Match[str], today: date) -> _Reading | None:
    if not m["swhich"] and not m["syear"]:
        return None
    start = datewords.SEASON_START[m["sname"].lower()]
    return _yearly(lambda year: in_year(year, start, start + 2), m["syear"], _which(m["swhich"]), today)


def _read_holiday(m: re.Match[str], today: date) -> _Reading:
    rule = datewords.HOLIDAYS[" ".join(m["hname"].lower().replace("'", "").replace("’", "").split())]
    return _yearly(lambda year: holiday(year, *rule), m["hyear"], _which(m["hwhich"]), today)


def _read_quarter(m: re.Match[str], today: date) -> _Reading:
    first = int(m["qfirst"] or m["qlast"]) * 3 - 2
    return _Reading(in_year(int(m["qyear"] or m["qyear2"]), first, first + 2))


def _read_year(m: re.Match[str], today: date) -> _Reading | None:
    year = int(m["yfirst"])
    if _before(m, datewords.NO_YEAR_CUE) or (year > today.year + 10 and not _before(m, datewords.YEAR_CUE)):
        return None
    if m["decade"]:
        years = 10 if year % 100 else 100
        return None if year % 10 else _Reading(Span(date(year, 1, 1), date(year + years - 1, 12, 31)))
    if m["ylast"]:
        return _Reading(Span(date(year, 1, 1), date(int(m["ylast"]), 12, 31)))
    part = _part(m["ypart"], datewords.YEAR_PARTS) if m["ypart"] else (1, 12)
    return _Reading(in_year(year, *part))


def _read_ago(m: re.Match[str], today: date) -> _Reading:
    unit, sign = m["aunit"].lower(), 1 if m["ahead"] else -1
    if unit in ("hour", "minute"):
        return _Reading(one_day(today), True)
    if not m["acount"]:
        return _Reading(half_unit(unit, sign, today), True, True)
    reading = _counted(m["acount"], unit, sign, today)
    return reading._replace(annotated=False) if _before(m, datewords.HEDGE) else reading


def _read_within(m: re.Match[str], today: date) -> _Reading:
    """Not annotated: `I finished it in two weeks` is no date."""
    return _counted(m["wcount"], m["wunit"].lower(), 1, today)._replace(annotated=False)


def _read_unit(m: re.Match[str], today: date) -> _Reading | None:
    """last week, this morning, next Friday, the past three months."""
    which, unit = _which(m["uwhich"]), m["uunit"].lower()
    offset = {"last": -1, "this": 0, "next": 1}[which]
    if unit in ("night", "morning", "afternoon", "evening"):
        return None if offset > 0 or m["ucount"] else _Reading(one_day(today + timedelta(offset)), True, offset < 0)
    if unit not in UNIT_DAYS:
        return None if m["ucount"] else _read_named_weekday(m["uunit"], offset, bool(m["the"]), today)
    if m["ucount"]:
        return _rolling(m["ucount"], unit, offset, today) if offset else None
    if unit == "day":
        return None
    # "the last month", "the past year" end today; "last month" is a month of the calendar.
    if offset and unit != "weekend" and (m["the"] or "past" in m["uwhich"].lower() or unit == "decade"):
        return _rolling("one", unit, offset, today)
    return _Reading(calendar_unit(unit, offset, today), True, bool(offset) and not m["the"])


def _read_named_weekday(name: str, offset: int, the: bool, today: date) -> _Reading | None:
    if name in ("sat", "sun", "wed"):
        return None
    weekday = datewords.WEEKDAY_OF[name[:3].lower()]
    if offset == 0:  # this Friday is today or still to come
        return _Reading(nearest_weekday(weekday, 1, today - timedelta(1)), True, True)
    return _Reading(nearest_weekday(weekday, offset, today), True, not the)


def _read_dayword(m: re.Match[str], today: date) -> _Reading:
    word = m["dword"].lower()
    offset = {"yesterday": -1, "tomorrow": 1}.get(word, 0)
    if " " in word or len(word) > 9:
        offset = -2 if word.endswith("yesterday") else 2
    return _Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_weekday(m: re.Match[str], today: date) -> _Reading | None:
    """Not annotated: a bare Friday may be the last one or the next. `Friday, 5 May` is left to its date."""
    if regex(datewords.DATE_AHEAD).match(m.string, m.end()):
        return None
    return _Reading(nearest_weekday(datewords.WEEKDAY_OF[m["wname"][:3].lower()], -1, today), True)


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


def _read_zdate(m: re.Match[str], today: date) -> _Reading | None:
    if m["zwhich"]:
        offset = datewords.CHINESE_OFFSETS[m["zwhich"]]
        return _Reading(in_month(month_index(today) + offset, *_chinese_part(m)), True, offset != 0)
    make = _chinese_yearly(m)
    if m["zyear"]:
        year, distance = _chinese_year(m["zyear"], today)
        return _Reading(make(year), distance is not None, bool(distance))
    if m["zseason"]:
        return None
    if m["zmonth"] or m["zholiday"]:
        return _yearly(make, None, "", today)
    return _Reading(make(today.year), True)


def _read_zyearonly(m: re.Match[str], today: date) -> _Reading:
    year, distance = _chinese_year(m["zyearword"], today)
    return _Reading(in_year(year), distance is not None, bool(distance))


def _read_zmonthpart(m: re.Match[str], today: date) -> _Reading:
    return _Reading(in_month(month_index(today), *datewords.MONTH_PARTS[m["zthispart"]]), True)


def _read_zweek(m: re.Match[str], today: date) -> _Reading:
    offset, day = datewords.CHINESE_OFFSETS[m["zwhichweek"]], m["zwday"]
    if day is None or day == "末":
        return _Reading(calendar_unit("weekend" if day else "week", offset, today), True, offset != 0)
    monday = calendar_unit("week", offset, today).start
    return _Reading(one_day(monday + timedelta(datewords.CHINESE_WEEKDAY_OF[day])), True, True)


def _read_zweekday(m: re.Match[str], today: date) -> _Reading | None:
    if _before(m, r"[日号號]\s?[（(,，]?\s?$"):
        return None
    return _Reading(nearest_weekday(datewords.CHINESE_WEEKDAY_OF[m["zbare"]], -1, today), True)


def _read_zdayword(m: re.Match[str], today: date) -> _Reading:
    offset = datewords.CHINESE_OFFSETS[m["zdword"][:-1]]
    return _Reading(one_day(today + timedelta(offset)), True, offset != 0)


def _read_zago(m: re.Match[str], today: date) -> _Reading:
    """三天后 is not annotated: in a story it counts from another day."""
    unit, sign = datewords.CHINESE_UNITS.get(m["zunit"][-1], ""), 1 if m["zahead"] else -1
    if not unit:  # hours and minutes
        return _Reading(one_day(today), True)
    reading = _Reading(half_unit(unit, sign, today), True, True)
    if m["zcount"]:
        reading = _counted(m["zcount"], unit, sign, today)
    return reading._replace(annotated=False) if m["zahead"] else reading


def _read_zfew(m: re.Match[str], today: date) -> _Reading:
    least, most = (1, 3) if m["zfewcount"] in "两兩" else (2, 9)
    return _Reading(stretch(least, most, datewords.CHINESE_UNITS[m["zfewunit"][-1]], -1, today), True)


def _read_zlong(m: re.Match[str], today: date) -> _Reading:
    return _rolling(m["zlongcount"], datewords.CHINESE_UNITS[m["zlongunit"][-1]], -1, today)


_READERS: dict[str, Callable[[re.Match[str], date], _Reading | None]] = {
    "iso": _read_iso, "numeric": _read_numeric, "month": _read_month, "season": _read_season, "holiday": _read_holiday,
    "quarter": _read_quarter, "year": _read_year, "ago": _read_ago, "within": _read_within, "unit": _read_unit,
    "dayword": _read_dayword, "weekday": _read_weekday, "zdate": _read_zdate, "zyearonly": _read_zyearonly,
    "zmonthpart": _read_zmonthpart, "zweek": _read_zweek, "zweekday": _read_zweekday, "zdayword": _read_zdayword,
    "zago": _read_zago, "zfew": _read_zfew, "zlong": _read_zlong,
}  # fmt: skip


# --- what the rest of filemem calls ----------------------------------------------------------------------------------


def mentioned(text: str, today: date) -> list[Mention]:
    """The dates and spans that the text names, in order, none overlapping; what lies outside the calendar is left out."""
    found: list[Mention] = []
    for m in _matches(text.translate(datewords.ASCII_DIGITS)):
        try:
            reading = _READERS[m.lastgroup or ""](m, today)
            if reading is None or reading.span.start > reading.span.end:
                continue
            mention = _anchored(m, Mention(m.start(), m.end(), reading.span, reading.relative, reading.annotated))
        except (ValueError, OverflowError):  # 31 February, or beyond the years 1 to 9999
            continue
        if found and found[-1].end > mention.start:
            found.pop()
        found.append(mention)
    return found


def _matches(text: str) -> Iterator[re.Match[str]]:
    """The expressions in order; of two that overlap the first, and of two that start together the longer one."""
    matches = list(datewords.english().finditer(text))
    if regex(datewords.CJK).search(text):
        matches += datewords.chinese().finditer(text)
        matches.sort(key=lambda m: (m.start(), -m.end()))
    end = 0
    for m in matches:
        if m.start() >= end:
            yield m
            end = m.end()


def _anchored(m: re.Match[str], mention: Mention) -> Mention:
    """`25 May 2023` in `the Saturday before 25 May 2023` becomes that Saturday."""
    anchor = None if mention.relative else _before(m, datewords.ANCHOR)
    if not anchor:
        return mention
    what, side, (start, end) = anchor["what"].lower(), anchor["side"].lower(), mention.span
    back, days = side.startswith(("before", "prior")), UNIT_DAYS.get(what, 0)
    if anchor["count"] and days:
        span = _counted(anchor["count"], what, -1 if back else 1, start if back else end).span
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


def annotate(text: str, today: date) -> str:
    """The text with the date in square brackets behind each settled relative expression: `yesterday [7 May 2023]`.

    Nothing else is changed, and what has such a bracket keeps it, so that doing it twice is doing it once. Left as they
    are: today and this week, which the heading of a session tells, and what may mean several dates (`on Friday`).
    """
    if not datewords.may_be_relative(text):
        return text
    bare, brackets = _without_brackets(text)
    for mention in mentioned(bare, today):
        if mention.annotated and mention.end not in brackets:
            chinese = regex(datewords.CJK).search(bare, mention.start, mention.end) is not None
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
    for m in regex(datewords.BRACKET).finditer(text):
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


def has_time_word(text: str) -> bool:
    """Whether the text speaks of time at all: dates, clock times, weekdays, months, years, ago, yesterday, 昨天, 三年."""
    if not datewords.TIME_WORDS.isdisjoint(regex(datewords.WORD, 0).findall(text)):
        return True
    start = regex(datewords.TIME_START, 0).search(text)
    return start is not None and regex(datewords.TIME, 0).search(text, start.start()) is not None
