"""What the readers of both languages share: what an expression means, counts, and dates that come every year or week."""

import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from filemem.text.dates import datewords, tense
from filemem.text.dates.datewords import regex
from filemem.text.dates.spans import Span, calendar_unit, nearest_weekday, of_year, stretch

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
    return regex(cue).search(m.string[max(0, m.start() - 32) : m.start()])


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
    near = past.end >= today or (weekly and past.start.weekday() == today.weekday())
    way = tense.UNSETTLED if near else tense.direction(m.string, m.start(), m.end(), weekly=weekly)
    if way == tense.COMING or (way == tense.PAST and (today - past.end).days <= RECENT):
        return Reading(coming if way == tense.COMING else past, weekly, True)
    return Reading(past, weekly, False, coming if coming != past else None)


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


def counted(words: str, unit: str, sign: int, today: date) -> Reading:
    """So many units away from today."""
    least, most = _count(words)
    if least == most:
        return Reading(calendar_unit(unit, sign * most, today), True, True)
    return Reading(stretch(least, most, unit, sign, today), True)


def rolling(words: str, unit: str, sign: int, today: date) -> Reading:
    """The so many units that end or begin with today."""
    return Reading(stretch(0, _count(words)[1], unit, sign, today), True)


def part_of(words: str, parts: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """`first half of ` or `mid-` as a range of the table."""
    return parts[" ".join(word for word in words.lower().replace("-", " ").split() if word not in ("of", "in"))]


def never_written(reading: Reading, which: str) -> Reading:
    """A holiday, which is told of in general more often than of one year."""
    return reading if which else reading._replace(annotated=False)


def weekday(m: re.Match[str], weekday: int, today: date) -> Reading:
    return bare(m, nearest_weekday(weekday, -1, today), nearest_weekday(weekday, 1, today), today, weekly=True)
