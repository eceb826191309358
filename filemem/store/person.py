"""The person's own configuration folder: what they said about their stores.

What lies in a store is data and may come from a stranger, a clone or a shared folder.
So what decides where words go, and which stores this machine began, is kept outside of
every store: `stores.json` has an entry for each folder by its real path.
"""

import json
import os
from contextlib import suppress
from typing import Any

from filemem.errors import FilememError
from filemem.store import files

FILE_NAME = "stores.json"
Entry = dict[str, Any]


def folder() -> str:
    """Return the configuration folder; only an absolute XDG_CONFIG_HOME counts."""
    above = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(above):
        above = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(above, "filemem")


def entry_of(place: str) -> Entry:
    """Return what is kept about a store or a user's folder, by its real path."""
    return _read().get(place, {})


def keep(place: str, **facts: Any) -> None:
    """Keep facts about a store or a user's folder, beside those that are there.

    Raises:
        OSError, FilememError: the configuration folder cannot be written.
    """
    files.make_folder(folder())
    with files.lock(os.path.join(folder(), "lock")):
        entries = _read()
        entries[place] = entries.get(place, {}) | facts
        text = json.dumps(entries, ensure_ascii=False, indent=1)
        path = os.path.join(folder(), FILE_NAME)
        files.write(path, text.encode("utf-8", "surrogateescape"))


def note_begun(place: str) -> None:
    """Note that this machine began a store or a user's folder.

    A configuration folder that cannot be written stops nothing.
    """
    with suppress(OSError, FilememError):
        keep(place, begun=True)


def has_begun(place: str) -> bool:
    """Tell whether this machine began a user's folder, or the store around it."""
    entries = _read()
    around = os.path.dirname(place)
    return any(entries.get(path, {}).get("begun") is True for path in (place, around))


def _read() -> dict[str, Entry]:
    """Return all entries; none where the file is missing or is no such file."""
    with suppress(FilememError, OSError, ValueError, RecursionError):
        data = files.read(os.path.join(folder(), FILE_NAME))
        found = json.loads(data.decode("utf-8", "surrogateescape"))
        if isinstance(found, dict):
            return {
                path: entry for path, entry in found.items() if isinstance(entry, dict)
            }
    return {}
