"""Whose days these are: the zone of a person, and moments in it."""

import datetime as dt
import os
import re
from zoneinfo import ZoneInfo

from filemem.store.folder import Folder

ZONE_KEY = "timezone"
"""The key of profile.md's front matter that names a person's zone."""

VARIABLE = "FILEMEM_TIMEZONE"
"""The environment's, which counts for people whose profile names no zone."""

_OFFSET = re.compile(r"UTC([+-])(\d\d):(\d\d)")


def find_zone(name: object) -> dt.tzinfo | None:
    """Return the zone of a name such as `Europe/Lisbon` or `UTC+09:00`, else None."""
    if not isinstance(name, str):
        return None
    offset = _OFFSET.fullmatch(name)
    try:
        if offset:
            minutes = int(offset[2]) * 60 + int(offset[3])
            sign = -1 if offset[1] == "-" else 1
            return dt.timezone(dt.timedelta(minutes=sign * minutes))
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return None


def person_zone(folder: Folder) -> dt.tzinfo | None:
    """Return the zone in which a person's days count; None for this machine's."""
    zone = find_zone(folder.profile_front().get(ZONE_KEY))
    return zone or find_zone(os.environ.get(VARIABLE))


def in_person_zone(folder: Folder, at: dt.date) -> dt.datetime:
    """Return a moment with its zone: the one that it has, else the person's.

    UTC, in which servers count wherever the person is, is none.

    Args:
        folder: whose days these are.
        at: a moment, or a day, which stands for its beginning.
    """
    if not isinstance(at, dt.datetime):
        at = dt.datetime.combine(at, dt.time())
    if at.utcoffset():
        return at
    zone = person_zone(folder)
    if at.tzinfo:
        return at.astimezone(zone)
    return at.replace(tzinfo=zone) if zone else at.astimezone()
