"""What a path says: the kind, the day, live or archived; and the name of a new file."""

import contextlib
import datetime as dt
import re
import unicodedata
from typing import Any, NamedTuple

KINDS = ("facts", "sessions", "lessons", "summaries")

ARCHIVE = "archive"

PROFILE = "profile.md"

DATED = re.compile(r"\d{4}-\d\d-\d\d(?:-\d{4})?-")
"""How the name of a file begins that the program has named."""

_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[-T_ ](\d{2})(\d{2})(?!\d))?(?!\d)")

# Eight digits are a day of the last century or of this one, not any number.
_OTHER_DATES = (
    re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)"),
    re.compile(r"(\d{4})_(\d\d)_(\d\d)(?!\d)"),
    re.compile(r"(\d{4})\.(\d\d)\.(\d\d)(?!\d)"),
    re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日"),
)

_DAY_NUMBER = re.compile(r"(\d\d)(?!\d)")  # a day's file in a month's folder


class FileDate(NamedTuple):
    """The date at the head of a file name; `month` is true where it names no day, `time` is `HH:MM` or empty."""

    date: dt.date
    month: bool
    time: str


def is_archived(path: str) -> bool:
    """Does a path lie in the archive?"""
    return path.startswith(f"{ARCHIVE}/")


def live(path: str) -> str:
    """The path of a memory when it is not in the archive."""
    return path.removeprefix(f"{ARCHIVE}/")


def archived(path: str) -> str:
    """The path of a memory when it is in the archive."""
    return f"{ARCHIVE}/{live(path)}"


def kind_of(path: str) -> str:
    """The kind that a path decides."""
    parts = live(path).split("/")
    return parts[0] if len(parts) > 1 else "profile" if path == PROFILE else "notes"


def when_of(path: str) -> FileDate | None:
    """Return the date that a path decides; None where it names none.

    It is that at the head of the file's name, else that of the folders around it, as
    in `2026/03/12.md` or `2026-03-22/lease.md`.
    """
    *folders, name = path.split("/")
    dated = date_at_head(name)
    if dated:
        return dated.date
    number = _DAY_NUMBER.match(name)
    if number and len(folders) > 1:
        dated = date_at_head(f"{folders[-2]}-{folders[-1]}-{number[1]}")
        if dated:
            return dated.date
    for folder in reversed(folders):
        dated = date_at_head(folder)
        if dated and dated.end == len(folder) and not dated.date.month:
            return dated.date._replace(time="")
    return None


class DateAtHead(NamedTuple):
    """A date with which a name begins, and where in the name it ends."""

    date: FileDate
    end: int


def date_at_head(name: str) -> DateAtHead | None:
    """Read the date at the head of a name.

    It is `2026-11-20`, with a clock `2026-11-20-0930`, a month `2026-11`, or a day as
    other programs write it: `20261120`, `2026_11_20`, `2026.11.20`, `2026年11月20日`.
    """
    for form in (_DATE, *_OTHER_DATES):
        match = form.match(name)
        if not match:
            continue
        year, month, day, hour, minute = (*match.groups(""), "", "")[:5]
        with contextlib.suppress(ValueError):
            date = dt.date(int(year), int(month), int(day or 1))
            is_clock = day and hour and int(hour) < 24 and int(minute) < 60
            clock = f"{hour}:{minute}" if is_clock else ""
            return DateAtHead(FileDate(date, not day, clock), match.end())
    return None


def slug(text: str, longest: int = 21) -> str:
    """A piece of a file name that a person would choose: letters and digits of any script, joined by hyphens. With a date and a
    time in front and `.md` behind, 21 of them make a name of at most 40 characters."""
    start = unicodedata.normalize("NFC", text[: 50 * longest]).lower()
    words = "".join(
        c if unicodedata.category(c)[0] in "LMN" else " " for c in start
    ).split()
    words = [
        word for word in words if any(c.isalnum() for c in word)
    ]  # a lone accent or emoji selector is invisible
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word
        if len(longer) > longest or len(longer.encode()) > 2 * longest:
            break
        out = longer
    return out or (
        words[0].encode()[: 2 * longest].decode(errors="ignore")[:longest]
        if words
        else ""
    )


def moment_of(value: Any) -> dt.date | None:
    """A YAML date or time, in quotes and without seconds too, which YAML takes for text; None for anything else."""
    with contextlib.suppress(ValueError):
        if isinstance(value, str):
            value = (dt.date if len(value) == 10 else dt.datetime).fromisoformat(value)
    return value if isinstance(value, dt.date) else None


def day_of(value: Any) -> dt.date | None:
    """The day of such a date or time."""
    found = moment_of(value)
    return found.date() if isinstance(found, dt.datetime) else found
