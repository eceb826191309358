"""How old somebody is by now: counted on from an age that was told once, by a birthday where one is known. Pure functions."""

import datetime as dt
import re
from collections.abc import Iterable
from typing import NamedTuple

from filemem.models.responder.evidence import Evidence
from filemem.text import dates
from filemem.text.statements.sentences import plainly

_SAYS = r"\b(?:is|am|i'm|im|turn(?:s|ed|ing)?|aged?|be|he's|she's|just)\b|,|\("
_AGE = re.compile(
    rf"(?:{_SAYS})\s?(?:now |just |only |nearly )?(\d{{1,3}})(?=$|[.,;!)]| (?:years|and|now|today|this))"
    r"|\b(\d{1,3}) (?:years old|today|now)"
    r"|(?:今年|现在|满|快|刚|都|[，, ]|我|^)(\d{1,3}|[一二三四五六七八九十]{1,3})(?:岁|[啦了]|(?=$|[，。, ]))",
    re.IGNORECASE,
)
_DIGITS = {sign: value for value, sign in enumerate("一二三四五六七八九", 1)}


class Birthday(NamedTuple):
    """A day of birth, whose year is 0 where it is not known."""

    month: int
    date: int
    year: int


def now(told: Iterable[tuple[Evidence, str]], born: Iterable[tuple[Evidence, str]], today: dt.date) -> int | None:
    """The age on a day by sentences that tell it and by sentences that tell a birthday, the best first.

    None where no birthday is known, or no birthday has gone by since the age was told.
    """
    birthday = next((found for one, sentence in born if one.day and (found := _birthday(sentence, one.day))), None)
    if birthday is None:
        return None
    if birthday.year:
        return _years(birthday.year, birthday, today)
    age = next(((value, one.day) for one, sentence in told if one.day and (value := _age(sentence))), None)
    if age is None:
        return None
    value, day = age
    passed = _years(day.year - value, birthday, today) - _years(day.year - value, birthday, day)
    return value + passed if passed > 0 else None


def _years(year: int, birthday: Birthday, day: dt.date) -> int:
    return day.year - year - ((day.month, day.day) < (birthday.month, birthday.date))


def _birthday(sentence: str, day: dt.date) -> Birthday | None:
    said = plainly(sentence)
    for mention in dates.mentioned(said, day):
        start, end = mention.span.start, mention.span.end
        if start == end:
            year = start.year if re.search(r"\d{4}", said[mention.start : mention.end]) and start.year < day.year else 0
            return Birthday(start.month, start.day, year)
    return None


def _age(sentence: str) -> int | None:
    match = _AGE.search(plainly(sentence))
    value = next(filter(None, match.groups())) if match else ""
    if value.isascii():
        return int(value) if value else None
    tens, _, ones = value.rpartition("十")
    return (10 * _DIGITS.get(tens, 1) if "十" in value else 0) + _DIGITS.get(ones, 0)
