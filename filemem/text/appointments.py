"""The day of an appointment, as a text names it."""

import re
from datetime import date

from filemem.text import dates

# A time of the day behind a date, or in front of it.
_TIME_BEHIND = re.compile(
    r",?\s?T?(?:at )?\d{1,2}(?:[:：]\d\d|(?:[.:]\d\d)? ?[ap]\.?m\b)"
    r"|[上下中晚早清凌]?[上午晨]?[\d一二三四五六七八九十两]{1,3}[点點]",
    re.IGNORECASE,
)
_TIME_BEFORE = re.compile(
    r"\b\d{1,2}(?::\d\d|(?::\d\d)? ?[ap]\.?m\.?)(?: on|,)? $",
    re.IGNORECASE,
)
# What makes a date the border of something that holds until then, or since.
_BORDER = re.compile(
    r"(?:\b(?:until|till|from|since) |[从從到至自])$",
    re.IGNORECASE,
)


def appointment(text: str, today: date) -> date | None:
    """Return the day of an appointment: the one day to come that a text names, with a
    time of the day beside it.

    A day without one may as well end what holds until then, or begin what holds since.

    Args:
        text: what is to be remembered.
        today: from which relative days count; an earlier day is no appointment.
    """
    found = dates.mentioned(text, today)
    if len(found) != 1 or not dates.is_settled(found[0], text, today):
        return None
    [mention] = found
    before = text[: mention.start]
    if _BORDER.search(before):
        return None
    if not _TIME_BEHIND.match(text, mention.end) and not _TIME_BEFORE.search(before):
        return None
    span = dates.nearest(mention, today)
    if span.start != span.end or span.start < today:
        return None
    return span.start
