"""What a path says: the kind, the day, live or archived; and the name of a new file."""

import datetime as dt
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from itertools import count
from typing import NamedTuple


class Kind(StrEnum):
    """A kind of memory that means something to the program; any folder is a kind."""

    FACTS = "facts"
    SESSIONS = "sessions"
    LESSONS = "lessons"
    SUMMARIES = "summaries"
    PROFILE = "profile"
    NOTES = "notes"  # what lies in no folder


DISTILLED = (Kind.FACTS, Kind.LESSONS)
"""The kinds of which each memory is one statement, distilled from what was said."""
OWN_KINDS = frozenset(Kind) - {Kind.NOTES}
"""The kinds that the program writes."""
ARCHIVE = "archive"
PROFILE = "profile.md"
MAX_SLUG_CHARS = 21  # with a date, a time and `.md` a name of at most 40 characters
DATED = re.compile(r"\d{4}-\d\d-\d\d(?:-\d{4})?-")
"""How the name of a file begins that the program has named."""

_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[-T_ ](\d{2})(\d{2})(?!\d))?(?!\d)")
# Eight digits are a day of the last century or of this one, not any number; a slash
# stands between folders.
_DAY = r"(\d{1,2})(?!\d)[日号]?"
_OTHER_DATES = (
    re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)"),
    re.compile(rf"(\d{{4}})-(\d\d)/{_DAY}"),
    re.compile(rf"(\d{{4}})_(\d{{1,2}})_{_DAY}"),
    re.compile(rf"(\d{{4}})\.(\d{{1,2}})\.{_DAY}"),
    re.compile(rf"(\d{{4}})[年/]{{1,2}}(\d{{1,2}})[月/]{{1,2}}{_DAY}"),
)


class FileDate(NamedTuple):
    """The date of a file.

    Attributes:
        date: its day; the first of a month that is all that is known.
        day_unknown: whether only the month is known.
        time: `HH:MM`, or ''.
    """

    date: dt.date
    day_unknown: bool
    time: str

    @property
    def day(self) -> dt.date | None:
        """Its day; None if only the month is known."""
        return None if self.day_unknown else self.date


class DateAtHead(NamedTuple):
    """A date with which a name begins, and where in the name it ends."""

    date: FileDate
    end: int


def is_archived(path: str) -> bool:
    """Tell whether a path lies in the archive."""
    return path.startswith(f"{ARCHIVE}/")


def live(path: str) -> str:
    """Return the path of a memory when it is not in the archive."""
    return path.removeprefix(f"{ARCHIVE}/")


def archived(path: str) -> str:
    """Return the path of a memory when it is in the archive."""
    return f"{ARCHIVE}/{live(path)}"


def type_of(kind: str) -> str:
    """Return what one memory of a kind is called: `fact` for `facts`."""
    return "summary" if kind == Kind.SUMMARIES else kind.removesuffix("s")


def kind_of(path: str) -> str:
    """Return the kind that a path decides: its folder, else `profile` or `notes`."""
    folder, slash, _ = live(path).partition("/")
    if slash:
        return folder
    return Kind.PROFILE if path == PROFILE else Kind.NOTES


def when_of(path: str) -> FileDate | None:
    """Return the date that a path decides; None where it names none.

    It is that at the head of the file's name, else that of the folders around it, as
    in `2026/03/12.md`, `2026年/3月/6日.md` or `2026/3/22/lease.md`.
    """
    parts = path.split("/")
    dated = date_at_head(parts[-1])
    if dated:
        return dated.date
    for end in range(len(parts), 0, -1):
        for first in range(end - 1, max(-1, end - 4), -1):
            name = "/".join(parts[first:end])
            dated = date_at_head(name)
            is_whole = dated and (end == len(parts) or dated.end == len(name))
            if dated and is_whole and not dated.date.day_unknown:
                return dated.date._replace(time="")
    return None


def date_at_head(name: str) -> DateAtHead | None:
    """Read the date at the head of a name.

    It is `2026-11-20`, with a clock `2026-11-20-0930`, a month `2026-11`, or a day as
    other programs write it: `20261120`, `2026_11_20`, `2026.1.20`, `2026年11月20日`.
    """
    for form in (*_OTHER_DATES, _DATE):
        match = form.match(name)
        if not match:
            continue
        year, month, day, hour, minute = (*match.groups(""), "", "")[:5]
        with suppress(ValueError):
            date = dt.date(int(year), int(month), int(day or 1))
            is_clock = day and hour and int(hour) < 24 and int(minute) < 60
            clock = f"{hour}:{minute}" if is_clock else ""
            return DateAtHead(FileDate(date, not day, clock), match.end())
    return None


def numbered(path: str, first: int = 1) -> Iterator[str]:
    """Yield a path, then with -2, -3, … before its extension.

    Args:
        path: of number 1.
        first: the number of the first that is yielded.
    """
    stem, extension = os.path.splitext(path)
    for number in count(first):
        yield f"{stem}-{number}{extension}" if number > 1 else path


def slug(text: str, max_chars: int = MAX_SLUG_CHARS) -> str:
    """Return a piece of a file name that a person would choose; '' for no words.

    It is whole words of any script, joined by hyphens, of at most two bytes a
    character allowed.
    """
    start = unicodedata.normalize("NFC", text[: 50 * max_chars]).lower()
    signs = [sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in start]
    # A lone accent or emoji selector is invisible.
    words = [word for word in "".join(signs).split() if any(map(str.isalnum, word))]
    name = ""
    for word in words:
        longer = f"{name}-{word}".lstrip("-")
        if len(longer) > max_chars or len(longer.encode()) > 2 * max_chars:
            break
        name = longer
    if words and not name:
        start = words[0].encode()[: 2 * max_chars].decode(errors="ignore")
        return start[:max_chars]
    return name
