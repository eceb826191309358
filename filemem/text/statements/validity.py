"""From when and until when something holds, by its own words: since 2019, until March 2024, for the next two weeks, 从去年起."""

import datetime as dt
import re
from typing import NamedTuple

from filemem.text import dates
from filemem.text.dates import Mention, Span
from filemem.text.statements import table

_DATE = "§"  # what stands for the date in the patterns of the table
_PAST = re.compile(r"\b\w{3,}ed\b|[了过]")
_AROUND = 24  # characters before and after a date in which it is told what the date does


class Validity(NamedTuple):
    """The first day on which something holds and the last, None where its words settle none."""

    since: dt.date | None
    until: dt.date | None


def validity_of(text: str, day: dt.date) -> Validity:
    """From when and until when what somebody says on a day holds."""
    since: dt.date | None = None
    until: dt.date | None = None
    for one in dates.mentioned(text, day):
        around = f"{text[max(0, one.start - _AROUND) : one.start]}{_DATE}{text[one.end : one.end + _AROUND]}"
        if table.sign("for a time ahead", f"{around}{text[one.start : one.end]}"):
            since, until = day, one.span.end
        elif gone := table.sign("from a day on", around):
            span = _settled(one, [span for span in one.spans if span.start <= day and gone["since"]])
            since = span.start if span else since
        elif table.sign("until a day", around):
            was = table.sign("told as past", text) or _PAST.search(text)
            span = _settled(one, [span for span in one.spans if span.end >= day and not was])
            until = span.end if span else until
    return Validity(None, None) if since and until and until < since else Validity(since, until)


def _settled(one: Mention, likely: list[Span]) -> Span | None:
    """The only span that a date may mean, or the only one of those that the words around it leave."""
    spans = one.spans if len(one.spans) == 1 else likely
    return spans[0] if len(spans) == 1 else None
