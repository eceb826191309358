"""The days that a question names, and what is of them: that answers it, before anything else."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import NamedTuple

from filemem.index.corpus import Corpus
from filemem.search.candidates import Candidate
from filemem.search.evidence import PARTIAL
from filemem.text import dates

Ordinals = tuple[int, int]  # of the first day and the last

NOTED = 0.3  # of the best score, what a hit must have for its text to be searched for days
OTHERS_TOO = ", so of other days too"  # how the line that counts ends where these answer little
_EVER = (1, dt.date.max.toordinal())
_SINCE = re.compile(r"\b(?:since|after)\s+(?:the\s+)?$|$(?<=[自从])", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:before|until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_ZH_SINCE = re.compile(r"[之以](?:来|后)|后(?![期面来天])")
_ZH_UNTIL = re.compile(r"[之以]前|前(?![期面后天])")
_TO = re.compile(r"\s*(?:\b(?:to|until|till|through)\b|[-–—~～到至])\s*", re.IGNORECASE)
_AND, _BETWEEN = re.compile(r"\s*(?:and\b|[和与])\s*", re.IGNORECASE), re.compile(r"\bbetween\s+$", re.IGNORECASE)


class Named(NamedTuple):
    """The days that a question names, the pieces of it that do, and `only`: the days that whatever it asks for is of; whether
    a memory is `dated` so."""

    spans: tuple[Ordinals, ...] = ()
    pieces: tuple[str, ...] = ()
    only: tuple[Ordinals, ...] = ()
    dated: bool = False


def named(question: str, anchor: dt.date | None, today: dt.date, corpus: Corpus) -> Named:
    """The days that a question names.

    Relative days, and those without a year, count from `anchor`; where none is given from today, or if no memory is of such
    a day, from the newest memory. Then relative ones are a guess; and a holiday is spoken of all year.
    """
    found, guessed = dates.mentioned(question, anchor or today), False
    if found and anchor is None and not _any_of(corpus, found):
        again = dates.mentioned(question, dt.date.fromordinal(max(1, min(corpus.newest, today.toordinal()))))
        if _any_of(corpus, again):
            found, guessed = again, True
    past = today.toordinal()  # what may be one of two is the one over, where a memory is of that
    for place, one in enumerate(found):
        if one.other and one.other.start.toordinal() > past and _any_of(corpus, [one._replace(other=None)]):
            found[place] = one._replace(other=None)
    if any(not mention.relative for mention in found):
        found, guessed = [mention for mention in found if not mention.relative], False
    spans = [_days(question, found, place) for place in range(len(found))]
    only = [] if guessed else [days for days, one in zip(spans, found, strict=True) if not _is_holiday(question, one)]
    asked = [span for days in only for span in days]
    dated = [span for span in asked if corpus.dated(*span)]
    pieces = tuple(question[one.start : one.end] for one in found)
    return Named(tuple(span for days in spans for span in days), pieces, tuple(dated or asked), bool(dated))


def _days(question: str, found: list[dates.Mention], place: int) -> list[Ordinals]:
    """The days of a mention: to the end of the next one in `from March to May`, all after it in `since May`."""
    here = found[place]
    days = [(span.start.toordinal(), span.end.toordinal()) for span in here.spans]
    if place and _joined(question, found[place - 1], here):
        return []
    if place + 1 < len(found) and _joined(question, here, found[place + 1]):
        ends = (span.end.toordinal() for span in found[place + 1].spans)
        return [(first, max(first, end)) for (first, _), end in zip(days, ends, strict=False)]
    before = question[: here.start]
    if _SINCE.search(before) or _ZH_SINCE.match(question, here.end):
        return [(first, _EVER[1]) for first, _ in days]
    if _UNTIL.search(before) or _ZH_UNTIL.match(question, here.end):
        return [(_EVER[0], last) for _, last in days]
    return days


def _joined(question: str, first: dates.Mention, last: dates.Mention) -> bool:
    between = _AND.fullmatch(question, first.end, last.start) and _BETWEEN.search(question[: first.start])
    return bool(between or _TO.fullmatch(question, first.end, last.start))


def _is_holiday(question: str, mention: dates.Mention) -> bool:
    """Is a day named without a number and counted from none?"""
    words = question[mention.start : mention.end]
    return mention.span.start == mention.span.end and not (mention.relative or any(map(str.isnumeric, words)))


def _any_of(corpus: Corpus, mentions: list[dates.Mention]) -> bool:
    """Is a memory of one of the days?"""
    spans = (span for mention in mentions for span in mention.spans)
    return any(corpus.dated(span.start.toordinal(), span.end.toordinal()) for span in spans)


def sorted_out(hits: list[Candidate], asked: Named, *, bare: bool) -> tuple[list[Candidate], list[Candidate], str]:
    """The hits that are of the days asked for, the others, and how the line that counts goes on: what is of other days is left
    to those who ask for more, unless what is of these days holds little of the question; a `bare` one asks for nothing else."""
    if not asked.only or not hits:
        return hits, [], ""
    inside = [hit for hit in hits if hit.score >= NOTED * hits[0].score and hit.is_of(asked.only)]
    label = in_words(asked.only)
    if inside and (bare or max(hit.strength for hit in inside) >= PARTIAL):
        return inside, [hit for hit in hits if hit not in inside], f"; of {label} alone"
    said = "little" if inside else "nothing" if asked.dated else ""
    return hits, [], said and f"; {said} of {label}{OTHERS_TOO}"


def in_words(spans: Sequence[Ordinals]) -> str:
    """`7 May 2023`, `since 7 May 2023`."""
    told = []
    for first, last in spans:
        open_ = "since " if last == _EVER[1] else "until " if first == _EVER[0] else ""
        days = (last if open_ == "until " else first, first if open_ == "since " else last)
        told.append(open_ + dates.in_words(dates.Span(*map(dt.date.fromordinal, days)), chinese=False))
    return " or ".join(told)
