"""The person's own configuration folder: what they said about their stores.

What lies in a store is data and may come from a stranger, a clone or a shared folder.
So what decides where words go, and which stores this machine began, is kept outside of
every store: `stores.json` has an entry for each folder by its real path.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.store import files

FILE_NAME = "stores.json"
OWN_NAME = "config.yaml"  # their settings
Entry = dict[str, Any]


def folder() -> str:
    """Return the configuration folder; only an absolute XDG_CONFIG_HOME counts."""
    above = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(above):
        above = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(above, "filemem")


def read_entries(name: str) -> dict[str, Entry]:
    """Return the entries of a JSON file in the folder, by place; none if it is missing.

    Raises:
        FilememError: it holds something else.
        OSError: the system refuses it.
    """
    path = os.path.join(folder(), name)
    found: Any = None
    try:
        found = json.loads(files.read(path).decode("utf-8", "surrogateescape"))
    except NotFound:
        return {}
    except (ValueError, RecursionError):
        pass
    if not isinstance(found, dict):
        raise FilememError(f"{path} is not what filemem writes; delete it.")
    return found


def change_entry(name: str, place: str, change: Callable[[Entry], Entry]) -> None:
    """Write the entry of one place anew, under the lock of the folder; an empty one
    goes.

    Raises:
        OSError, FilememError: the configuration folder cannot be written.
    """
    files.make_folder(folder())
    with files.lock(os.path.join(folder(), "lock")):
        entries = read_entries(name)
        entries[place] = change(entries.get(place, {}))
        kept = {place: entry for place, entry in entries.items() if entry}
        text = json.dumps(kept, ensure_ascii=False, indent=1)
        data = text.encode("utf-8", "surrogateescape")
        files.write(os.path.join(folder(), name), data)


def entry_of(place: str) -> Entry:
    """Return what is kept about a store or a user's folder, by its real path."""
    with suppress(FilememError, OSError):
        return read_entries(FILE_NAME).get(place, {})
    return {}


def may_name_model(store: str) -> bool:
    """Tell whether there may be a model for a store, without reading any settings."""
    if os.environ.get("FILEMEM_MODEL") or "model" in entry_of(store):
        return True
    return os.path.lexists(os.path.join(folder(), OWN_NAME))


def keep(place: str, **facts: Any) -> None:
    """Keep facts about a store or a user's folder, beside those that are there.

    Raises:
        OSError, FilememError: the configuration folder cannot be written.
    """
    change_entry(FILE_NAME, place, lambda entry: entry | facts)


def forget(place: str) -> None:
    """Keep nothing more about a store or a user's folder; raise as `keep` does."""
    if entry_of(place):
        change_entry(FILE_NAME, place, lambda entry: {})


def move(place: str, target: str) -> None:
    """Keep what is kept about a folder under its new name; raise as `keep`."""
    facts = entry_of(place)
    if facts and place != target:
        keep(target, **facts)
        forget(place)


def note_begun(place: str) -> None:
    """Note that this machine began a store or a user's folder.

    A configuration folder that cannot be written stops nothing.
    """
    with suppress(OSError, FilememError):
        keep(place, begun=True)


def has_begun(place: str) -> bool:
    """Tell whether this machine began a user's folder, or the store around it."""
    around = os.path.dirname(place)
    return any(entry_of(path).get("begun") is True for path in (place, around))
