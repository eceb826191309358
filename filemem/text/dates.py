"""Dates that a text names, in English and Chinese, resolved against a day that the caller gives.

Conventions: a week runs from Monday to Sunday; "last Friday" is the most recent Friday before today, "next Friday" the one
of next week; "last weekend" belongs to the week before this one; "two years ago" means that calendar year, and so with months
and weeks; seasons are the northern, meteorological ones (winter starts in December of its year). Chinese 上周五 is the
Friday of last week. A bare weekday, a day or month without a year has two spans, the most recent one first: which is meant
is a matter of understanding, so it is never written out.

The expressions stand in `data/dates.txt`, each with the function here that reads it.
"""

import contextlib
import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from filemem.text import terms
from filemem.text.terms import simplified

# -- spans of days, and the arithmetic of the calendar; ValueError or OverflowError: beyond the years 1 to 9999 -----------

MONTHS = "January February March April May June July August September October November December".split()


class Span(NamedTuple):
    """The days from `start` to `end`, both included."""

    start: date
    end: date


def one_day(day: date) -> Span:
    return Span(day, day)


def months(index: int, count: int = 1, first: int = 1, last: int = 31) -> Span:
    """`count` months from month `index`, which is 12 × year + month - 1, from day `first` of the first to day `last` of the last
    one, cut at its end; ValueError where there is no day `first`."""
    start, after = (date(at // 12, at % 12 + 1, 1) for at in (index, index + count))
    end = after - timedelta(1)
    return Span(start.replace(day=first), end.replace(day=min(last, end.day)))


def month_index(day: date) -> int:
    return day.year * 12 + day.month - 1


def calendar_unit(unit: str, offset: int, today: date) -> Span:
    """The calendar unit `offset` units from the one that holds today."""
    if unit in ("day", "天"):
        return one_day(today + timedelta(offset))
    if unit in ("month", "月"):
        return months(month_index(today) + offset)
    if unit in ("year", "年"):
        return months((today.year + offset) * 12, 12)
    monday = today + timedelta(
        7 * offset * (2 if unit == "fortnight" else 1) - today.weekday()
    )
    return Span(
        monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(6)
    )


def nearest_weekday(weekday: int, sign: int, today: date) -> Span:
    """The weekday's nearest day strictly before today (sign -1) or after it (sign 1)."""
    return one_day(
        today + timedelta(sign * ((sign * (weekday - today.weekday()) - 1) % 7 + 1))
    )


def recurring(
    make: Callable[[int], Span], at: int, which: str, today: date
) -> tuple[Span, Span]:
    """Of a span of every year or month, of which today's has the number `at`, the one that is meant: 'last' is over, 'next' and
    'coming' are to come, 'this' is under way, or today's; else that which began last, and the one that begins next."""
    spans = []
    for number in range(at - 4, at + 5):
        with contextlib.suppress(ValueError):  # no 31st, no 29 February
            spans.append(make(number))
    if which == "last":
        meant = max(span for span in spans if span.end < today)
    elif which in ("next", "coming"):
        meant = min(span for span in spans if span.start > today)
    elif which == "this":
        meant = next(
            (span for span in spans if span.start <= today <= span.end), None
        ) or make(at)
    else:
        return max(span for span in spans if span.start <= today), min(
            span for span in spans if span.start >= today
        )
    return meant, meant


def in_words(span: Span, chinese: bool) -> str:
    """`7 May 2023`, `1–7 May 2023`, `April 2023`, `2023年5月1日–7日`: what both ends share is said once."""
    whole = span.start.day == 1 and (span.end + timedelta(1)).day == 1
    size = 3 if not whole else 1 if (span.start.month, span.end.month) == (1, 12) else 2
    if chinese:
        first, last = (
            [f"{day.year}年", f"{day.month}月", f"{day.day}日"][:size] for day in span
        )
        differs = next((i for i in range(size) if first[i] != last[i]), size)
        return "–".join(filter(None, ("".join(first), "".join(last[differs:]))))
    first, last = (
        [str(day.day), MONTHS[day.month - 1], str(day.year)][-size:] for day in span
    )
    own = next((size - i for i in range(size) if first[-1 - i] != last[-1 - i]), 0)
    return (" – " if own > 1 else "–").join(
        filter(None, (" ".join(first[:own]), " ".join(last)))
    )


# -- the words, from `data/dates.txt`: what they count for, and the patterns that find them -----------------------------

_MONTH_OF = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_ASCII_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")
_CITED = re.compile(
    r"(?<=/\d{4}-\d\d-\d\d)-[^\s/]+?\.(?:md|ya?ml|txt)\b"
)  # a file's words are of its own day


@cache
def _table(sort: str) -> dict[str, Any]:
    """What the words of a sort count for: a number, or several."""
    rows = (
        row for row in terms.table_rows("dates.txt") if len(row) == 3 and row[0] == sort
    )
    told = (
        (words.split(", "), tuple(map(int, numbers.split())))
        for _, words, numbers in rows
    )
    return {
        word: numbers if len(numbers) > 1 else numbers[0]
        for words, numbers in told
        for word in words
    }


_pattern = terms.Patterns(
    "dates.txt",
    lambda: {"months": "|".join(MONTHS), "counts": "|".join(_table("count"))},
)


@cache
def _any_expression(language: str) -> re.Pattern[str]:
    """A pattern for the expressions of a language, each in a group named for its reader; their names are numbered to differ."""
    found = []
    for number, row in enumerate(
        row
        for row in terms.table_rows("dates.txt")
        if len(row) == 3 and row[0] == language
    ):
        expression = re.sub(
            r"(\(\?P[<=]\w+)", rf"\g<1>{number}", _pattern.expanded(row[2])
        )
        found.append(f"(?P<{row[1]}_{number}>{expression})")
    return re.compile(
        f"{_pattern.parts[f'begins {language}']}(?:{'|'.join(found)})",
        re.IGNORECASE | re.ASCII,
    )


def number(word: str) -> int:
    """Digits, English words to ninety and months, Chinese numerals."""
    if word.isascii():
        known = _table("count").get(word.lower()) or _MONTH_OF.get(word[:3].lower())
        return int(known or word)
    return min(numbers(word), default=0)


def numbers(text: str) -> set[int]:
    """The numbers that stand in a text in words, in each way they may be meant: seventy-one, 两千, 三百六 (306, 360)."""
    counts = _table("count") | _table("zh digit")
    found, total, digit, size = set[int](), 0, 0, 10
    for word in [
        *re.findall(
            r"[a-z]+|[^a-z -]", text.lower().replace("廿", "二十").replace("卅", "三十")
        ),
        ".",
    ]:
        if value := _table("size").get(word):
            total = (
                (total + digit or 1) * value
                if value > total
                else total + (digit or 1) * value
            )
            digit, size = 0, value
        elif word in counts:  # seventy and one, 七 behind which 一 stands
            digit = (digit // 10 * 10 if word.isascii() else digit * 10) + counts[word]
        elif word != "and":
            found |= {total + digit, total + digit * size // 10} - {0}
            total, digit, size = 0, 0, 10
    return found


# -- what an expression means --------------------------------------------------------------------------------------------

_LUNAR = ("农历", "阴历", "旧历", "农历的", "闰")
_JUST = 31  # days for which a date without a year is the last one still, whose next is nearly a year away


class Mention(NamedTuple):
    """`text[start:end]` names `span`, or as well `other`.

    `relative`: that hangs on today, the year of a date aside. `annotated`: the words
    settle it and `annotate` writes it out, which it never does in quotation marks.
    `since`: what is told began in the span and lasts.
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
        """All that it may name."""
        return (self.span, self.other) if self.other else (self.span,)


class _Expression:
    """An expression of a text, its parts by name, and the day from which it counts."""

    def __init__(self, match: re.Match[str], today: date) -> None:
        self.match, self.today = match, today
        self.reader, _, self.number = (match.lastgroup or "").partition("_")
        self.chinese = _pattern("‹cjk›").search(match[0]) is not None
        # last, next, coming, this or nothing, of English; week, 周, the last character of 星期
        word = self["which"].rpartition(" ")[2]
        self.which = {"past": "last", "the": ""}.get(word, word)
        self.unit = self["unit"] if self["unit"].isascii() else self["unit"][-1]

    def __getitem__(self, part: str) -> str:
        """A part in lower case; empty if it is missing."""
        name = f"{part}{self.number}"
        return (
            (self.match[name] or "").lower() if name in self.match.re.groupindex else ""
        )

    def names(
        self,
        span: Span,
        relative: bool = True,
        annotated: bool = False,
        other: Span | None = None,
    ) -> Mention:
        return Mention(
            *self.match.span(),
            span,
            relative,
            annotated,
            other if other != span else None,
        )

    def behind(self, cue: str) -> re.Match[str] | None:
        """The cue that stands right before it."""
        return _pattern(f"‹{cue}›").search(
            self.match.string[max(0, self.match.start() - 32) : self.match.start()]
        )

    def follows(self, cue: str) -> re.Match[str] | None:
        """The cue that begins right after it."""
        return _pattern(f"‹{cue}›").match(self.match.string, self.match.end())


def _part(words: str, sort: str) -> tuple[int, int]:
    """`first half of ` or `mid-` as a range of the table."""
    first, last = _table(sort)[
        " ".join(
            word for word in words.replace("-", " ").split() if word not in ("of", "in")
        )
    ]
    return first, last


def _days(e: _Expression) -> tuple[int, ...]:
    """The first and the last day of its month."""
    if e["day"]:
        return number(e["day"]), number(e["last"] or e["day"])
    return _part(e["part"], "month part") if e["part"] else (1, 31)


def _within_year(e: _Expression, year: int) -> Span:
    """The span that it names of a year."""
    if e["month"]:
        return months(year * 12 + number(e["month"]) - 1, 1, *_days(e))
    first, last = (
        _part(e["part"], "year part")
        if e["part"]
        else _table("season").get(e["season"], (1, 12))
    )
    return months(year * 12 + first - 1, last - first + 1)


def _year(word: str, today: date) -> tuple[int, int | None]:
    """The year of 2023, 2023年, 二零二三年, 23年 or 去年, and for the last kind its distance from this year."""
    word = word.removesuffix("年").strip()
    if word in _table("offset"):
        return today.year + _table("offset")[word], _table("offset")[word]
    year = int(
        "".join(str(_table("zh digit").get(character, character)) for character in word)
    )
    return (year if len(word) > 2 else 2000 + year), None


def _read_date(e: _Expression, year: str = "") -> Mention | None:
    """A month, a day of one, a season or another part of a year; nothing for a day of the lunar calendar, which is none of
    this one."""
    if e.match.string[: e.match.start()].endswith(_LUNAR) or e.follows("lunar day"):
        return None
    if e["which"] in _table("offset"):  # 上个月底
        month, offset = month_index(e.today), _table("offset")[e["which"]]
        return e.names(months(month + offset, 1, *_days(e)), annotated=offset != 0)
    if year := year or e["year"]:
        of, distance = _year(year, e.today)
        return e.names(_within_year(e, of), distance is not None, bool(distance))
    if e["season"] and not e["which"]:
        return None
    if not (e["month"] or e["season"]):
        return e.names(_within_year(e, e.today.year))
    span, other = recurring(partial(_within_year, e), e.today.year, e.which, e.today)
    if e.which:  # "next June" is this year's or not while that is to come
        return e.names(
            span,
            annotated=e.which != "this"
            and (e.which != "next" or span.start.year > e.today.year),
        )
    return e.names(
        span, False, other=None if 0 < (e.today - span.end).days <= _JUST else other
    )


def _read_month(e: _Expression) -> Mention | None:
    """A month by its name, where May is the month and not a name, march not a verb, and Mar not half a word."""
    name, cue = e["month"], e.behind("month cue")
    if name in ("may", "march", "mar") and name in e.match[0]:
        day = e["day"] and re.search(r"(?i)\d(?:st|nd|rd|th)|\d [a-z]+ \d", e.match[0])
        is_month = day or e["year"] or e["part"] or (cue and cue[1])
    else:
        is_month = e["day"] or e["year"] or e["part"] or e["which"] or cue
        is_month = is_month or (
            len(name) > 3 and name not in ("march", "april", "june", "august")
        )
    ahead = None if e["which"] else e.follows("year ahead")
    return (
        _read_date(e, ahead[1] if ahead and not e["year"] else "") if is_month else None
    )


def _read_year(e: _Expression) -> Mention | None:
    """2022, early 2022, 2019-2021, 去年."""
    far = e["year"].isdecimal() and int(e["year"]) > e.today.year + 10
    if (far and not e.behind("year cue")) or (
        e["year"].isdecimal() and e.behind("no year cue")
    ):
        return None
    if e["last"]:
        return e.names(
            Span(date(int(e["year"]), 1, 1), date(int(e["last"]), 12, 31)), False
        )
    return _read_date(e)


def _read_ago(e: _Expression) -> Mention:
    """三天后 is not annotated: in a story it counts from another day."""
    if e.unit in ("hour", "minute", "时", "钟"):
        return e.names(one_day(e.today))
    settled = not e.behind("hedge") and not (e["ahead"] and e.chinese)
    away = number(e["count"]) * (1 if e["ahead"] else -1)
    return e.names(calendar_unit(e.unit, away, e.today), annotated=settled)


def _read_lasting(e: _Expression) -> Mention:
    """For three years now, 三年了: when it began."""
    began = calendar_unit(e.unit, -number(e["count"]), e.today)
    return e.names(began, annotated=True)._replace(since=True)


def _read_rolling(e: _Expression) -> Mention | None:
    """The past three months, the last week, 未来两周: so many units of rounded length that end or begin with today."""
    sign = 1 if e["ahead"] or e.which in ("next", "coming") else -1
    far = e.today + timedelta(
        sign * number(e["count"] or "one") * _table("unit days")[e.unit]
    )
    return (
        e.names(Span(min(far, e.today), max(far, e.today)))
        if e.which != "this"
        else None
    )


def _read_unit(e: _Expression) -> Mention | None:
    """last week, this morning, next Friday, the past month."""
    unit = e["unit"]
    offset = {"last": -1, "this": 0, "coming": int(unit != "weekend")}.get(e.which, 1)
    if unit in ("night", "morning", "afternoon", "evening"):
        return (
            None
            if offset > 0
            else e.names(one_day(e.today + timedelta(offset)), annotated=offset < 0)
        )
    if unit not in _table("unit days"):
        return _named_weekday(e)
    if e["count"]:
        return _read_rolling(e)
    if unit == "day":
        return None
    # "the last month", "the past year" end today; "last month" is a month of the calendar.
    if offset and unit != "weekend" and (e["the"] or "past" in e["which"]):
        return _read_rolling(e)
    ended = unit == "weekend" and e.today.weekday() > 4 and "this" in e["which"]
    return e.names(
        calendar_unit(unit, offset, e.today),
        annotated=bool(offset and not e["the"] and not ended),
    )


def _named_weekday(e: _Expression) -> Mention:
    """last, next or this Friday.

    "next Friday" is not written out where people differ: who means tomorrow says so, and
    said on a Monday it may be this week's.
    """
    which, today, sure = e.which, e.today, not e["the"]
    weekday = _table("weekday")[e["unit"][:3]]
    before, after = (
        nearest_weekday(weekday, -1, today),
        nearest_weekday(weekday, 1, today),
    )
    week = one_day(
        calendar_unit("week", which == "next", today).start + timedelta(weekday)
    )
    away = (after.start - today).days
    if which == "last":
        return e.names(before, annotated=sure)
    if which == "coming" or (which == "next" and after == week):
        return e.names(after, annotated=sure and (away > 1 or which == "coming"))
    if which == "next":
        return e.names(week, annotated=sure) if away < 3 else e.names(after, other=week)
    return (
        e.names(week, other=after)
        if week.start < today
        else e.names(week, annotated=True)
    )


def _read_week(e: _Expression) -> Mention:
    """上周, 这周末, 下周五."""
    offset, day = _table("offset")[e["which"]], e["day"]
    span = calendar_unit("weekend" if day == "末" else "week", offset, e.today)
    named = (
        span
        if day in ("", "末")
        else one_day(span.start + timedelta(_table("weekday")[day]))
    )
    return e.names(named, annotated=offset != 0)


def _read_weekday(e: _Expression) -> Mention | None:
    """A bare Friday may be the last one or the next. `Friday, 5 May` and 5月5日（周五） are left to their dates."""
    if e.follows("date ahead") or e.behind("date before"):
        return None
    past, coming = (
        nearest_weekday(_table("weekday")[e["day"][:3]], sign, e.today)
        for sign in (-1, 1)
    )
    return e.names(past, other=coming)


def _read_dayword(e: _Expression) -> Mention | None:
    """yesterday, 后天."""
    if e.behind("no day cue") or e.follows("no day ahead"):
        return None
    offset = _table("offset")[
        e["day"][:-1] if e.chinese else " ".join(e["day"].split())
    ]
    return e.names(one_day(e.today + timedelta(offset)), annotated=offset != 0)


def _read_monthday(e: _Expression) -> Mention:
    """on the 11th, 19号: a day of a month that nothing names."""
    past, coming = recurring(
        lambda at: months(at, 1, *_days(e)), month_index(e.today), "", e.today
    )
    return e.names(past, other=coming)


_READERS: dict[str, Callable[[_Expression], Mention | None]] = {
    **{"date": _read_date, "month": _read_month, "year": _read_year, "ago": _read_ago},
    **{
        "lasting": _read_lasting,
        "rolling": _read_rolling,
        "unit": _read_unit,
        "week": _read_week,
        "weekday": _read_weekday,
    },
    **{"dayword": _read_dayword, "monthday": _read_monthday},
}


# -- what a text names ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def mentioned(text: str, today: date) -> tuple[Mention, ...]:
    """The dates and spans that the text names, in order, none overlapping; what lies outside the calendar is left out.

    Of expressions that overlap the first is taken, and of those that start together the longer one.
    """
    plain = _CITED.sub(
        lambda cited: " " * len(cited[0]), simplified(text.translate(_ASCII_DIGITS))
    )
    matches = list(_any_expression("english").finditer(plain))
    if _pattern("‹cjk›").search(plain):
        matches += _any_expression("chinese").finditer(plain)
        matches.sort(key=lambda m: (m.start(), -m.end()))
    found: list[Mention] = []
    end = 0
    for match in matches:
        if match.start() < end:
            continue
        end = match.end()
        with contextlib.suppress(
            ValueError, OverflowError
        ):  # 31 February, or beyond the years 1 to 9999
            expression = _Expression(match, today)
            mention = _READERS[expression.reader](expression)
            if mention and mention.span.start <= mention.span.end:
                found.append(
                    mention._replace(
                        annotated=mention.annotated and not _quoted(text, mention.start)
                    )
                )
    return tuple(found)


def _quoted(text: str, start: int) -> bool:
    """Does somebody else's speech continue there, perhaps of another day?"""
    before = text[max(0, start - 1000) : start]
    unclosed = any(
        before.count(opening) > before.count(closing)
        for opening, closing in ("“”", "「」", "『』")
    )
    return unclosed or before.count('"') % 2 == 1


@lru_cache(maxsize=4096)
def annotate(text: str, today: date) -> str:
    """The text with the date in square brackets behind each settled expression that hangs on the day: `yesterday [7 May 2023]`.

    Nothing else is changed, and what has such a bracket keeps it, so that doing it twice is doing it once. Left as they
    are: today and this week, which the heading of a session tells, and what may mean several dates (`Friday?`).
    """
    lowered = simplified(text.lower())  # a look that spares most texts the patterns
    if not any(cue in lowered for cue in _pattern.parts["cues"].split()):
        return text
    bare, brackets, at = (
        "",
        dict[int, str](),
        0,
    )  # an annotated text is read as the plain one
    for m in _pattern("‹bracket›").finditer(text):
        bare += text[at : m.start()]
        brackets[len(bare)] = brackets.get(len(bare), "") + m[0]
        at = m.end()
    bare += text[at:]
    for mention in mentioned(bare, today):
        if mention.annotated and mention.end not in brackets:
            chinese = (
                _pattern("‹cjk›").search(bare, mention.start, mention.end) is not None
            )
            label = _label(mention, chinese)
            brackets[mention.end] = f"[{label}]" if chinese else f" [{label}]"
    ends = sorted({*brackets, len(bare)})
    return "".join(
        bare[start:end] + brackets.get(end, "") for start, end in pairwise([0, *ends])
    )


def _label(mention: Mention, chinese: bool) -> str:
    """Return what stands in the brackets behind an expression."""
    label = in_words(mention.span, chinese)
    if not mention.since:
        return label
    return f"{label}起" if chinese else f"since {label}"


def nearest(mention: Mention, today: date) -> Span:
    """Of all that it may name what is nearest to a day: *Oct 7* is next month's in September, and last month's in November."""
    return min(mention.spans, key=lambda span: abs((span.start - today).days))


def parse_bound(text: str, today: date, end: bool) -> date:
    """The first day, or with `end` the last one, of what `after` or `before` names; ValueError says what is accepted."""
    bound = _pattern("‹clock›").sub("", simplified(text.strip()))
    for phrase in (
        bound,
        f"in {bound}",
    ):  # a lone `May` is a month only behind a preposition
        mentions = mentioned(phrase, today)
        if len(mentions) == 1 and mentions[0].end == len(phrase):
            small = phrase[: mentions[0].start].lower().split()
            if set(small) <= {
                "in",
                "on",
                "the",
                "since",
                "until",
                "from",
                "by",
                "before",
                "after",
            }:
                span = mentions[0].span  # "in June" looks back; "Oct 7" may be to come
                span = (
                    span
                    if (span.end - span.start).days > 7
                    else nearest(mentions[0], today)
                )
                return span.end if end else span.start
    raise ValueError(
        f"{text.strip()[:40]!r} is not a date: give one such as 2023-05-07, 2023-05, 2023, May 2023, Oct 7, yesterday, "
        "last week, 3 days ago, 2023年5月 or 上周."
    )
