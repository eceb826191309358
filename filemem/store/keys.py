"""Keys of those who may ask a server, over HTTP: for chats or for MCP.

Of each key its SHA-256 is kept, by the store's place, in the person's own folder of
configuration: a store comes from anywhere and must not decide who may read it. A key
has 256 random bits, so that a plain hash of it tells nothing.
"""

import datetime as dt
import os
import secrets
from typing import Any

from filemem.errors import FilememError
from filemem.store import person
from filemem.store.folder import normal_form
from filemem.store.users import StoreFolder
from filemem.text.plain import digest

FILE_NAME = "keys.json"
PREFIX = "fm-"
LOOPBACK = ("127.0.0.1", "localhost", "::1")  # where nobody else can ask
EXPOSED = (
    "Others on this network can reach this, and read what passes, keys too:"
    " put TLS in front of it."
)
Keys = dict[str, dict[str, Any]]  # by hash: whose the key is, and since when


def keys_of(root: str) -> Keys:
    """Return the keys of the store at `root`, as they are on disk now.

    Raises:
        FilememError: the file of keys is broken.
    """
    place = os.path.realpath(root)
    return _owned(place, person.read_entries(FILE_NAME).get(place, {}))


def _owned(root: str, keys: Keys) -> Keys:
    """Return keys with the names that their owners have now.

    While a user is being renamed it is the folder that tells: a rename that is cut off
    leaves no key to whoever takes the name before, nor to whoever takes the new one.
    """
    owned = dict(keys)
    for key, entry in keys.items():
        if "before" in entry:
            user = StoreFolder(root).folder(entry["user"])
            if user.renamed_from() != entry["before"]:
                owned[key] = {**entry, "user": entry["before"]}
    return owned


def find_user(root: str, key: str) -> str:
    """Return the user whose key it is; empty if nobody's, or if keys cannot be read."""
    if not key.startswith(PREFIX):
        return ""
    try:
        return str(keys_of(root)[digest(key)]["user"])
    except (FilememError, OSError, KeyError, TypeError):
        return ""


def has_key(root: str, user: str) -> bool:
    """Tell whether a user has a key, who may have kept nothing yet."""
    return any(entry["user"] == user for entry in keys_of(root).values())


def add_key(root: str, user: str, day: dt.date) -> str:
    """Make a key for a user and return it; only its hash is kept."""
    key = PREFIX + secrets.token_urlsafe(32)
    entry = {digest(key): {"user": user, "made": str(day)}}
    place = os.path.realpath(root)
    person.change_entry(FILE_NAME, place, lambda keys: keys | entry)
    return key


def revoke_user(root: str, user: str) -> int:
    """Take all keys of a user of the store at `root` away; return how many.

    Whoever deletes a user calls this too, or the next request with a key of theirs
    would begin their memories anew.
    """
    return _give(root, user, {})


def begin_rename(root: str, old: str, new: str) -> None:
    """Have the keys of a user be theirs by the new name once their folder has that.

    The folder's note of the name before decides it, so that is written before.
    """
    _give(root, old, {"user": new, "before": old})


def finish_rename(root: str, new: str) -> None:
    """Have the keys of a user whose folder has a new name be theirs by that alone."""
    _give(root, new, {"user": new})


def _give(root: str, user: str, owner: dict[str, str]) -> int:
    """Change the owner of all keys of a user, none for {}; return how many."""
    name = normal_form(user)  # as a store names its users
    place = os.path.realpath(root)

    def change(keys: Keys) -> Keys:
        changed = {}
        for key, entry in _owned(place, keys).items():
            if entry["user"] != name:
                changed[key] = keys[key]
            elif owner:
                changed[key] = {**owner, "made": entry["made"]}
        return changed

    theirs = [key for key, one in keys_of(root).items() if one["user"] == name]
    if theirs:
        person.change_entry(FILE_NAME, place, change)
    return len(theirs)
