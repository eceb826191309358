"""Keys of those who may ask a server, over HTTP: for chats or for MCP.

Of each key its SHA-256 is kept, by the store's place, in the person's own folder of
configuration: a store comes from anywhere and must not decide who may read it. A key
has 256 random bits, so that a plain hash of it tells nothing.
"""

import contextlib
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
Keys = dict[str, dict[str, Any]]
"""By hash: the user's name as the key was made, since when they have it, and their
identity once something is kept of them, by which the key is theirs whatever their
folder is called later."""


def keys_of(root: str) -> Keys:
    """Return the keys of the store at `root`, as they are on disk now.

    Each has the name that its user has now; where they are gone, that of before.

    Raises:
        FilememError: the file of keys is broken.
    """
    place = os.path.realpath(root)
    keys = person.read_entries(FILE_NAME).get(place, {})
    named = {}
    for key, entry in keys.items():
        named[key] = {**entry, "user": _owner(place, entry) or entry["user"]}
    return named


def _owner(root: str, entry: dict[str, Any]) -> str:
    """Return the user whose key an entry is; empty if they are gone."""
    name = str(entry["user"])
    if "identity" not in entry:
        return name
    for other in (name, *StoreFolder(root).users()):
        if _identity(root, other) == entry["identity"]:
            return other
    return ""


def _identity(root: str, user: str) -> str:
    """Return the identity of a user; empty where nothing is kept of them."""
    with contextlib.suppress(FilememError):  # of what is no user's folder any more
        return StoreFolder(root).folder(user).identity()
    return ""


def find_user(root: str, key: str) -> str:
    """Return the user whose key it is; empty if nobody's, or if keys cannot be read."""
    if not key.startswith(PREFIX):
        return ""
    place = os.path.realpath(root)
    try:
        entry = person.read_entries(FILE_NAME)[place][digest(key)]
        user = _owner(place, entry)
    except (FilememError, OSError, KeyError, TypeError):
        return ""
    if user and "identity" not in entry:
        with contextlib.suppress(FilememError, OSError):
            bind_keys(place, user)
    return user


def has_key(root: str, user: str) -> bool:
    """Tell whether a user has a key, who may have kept nothing yet."""
    return any(entry["user"] == user for entry in keys_of(root).values())


def add_key(root: str, user: str, day: dt.date) -> str:
    """Make a key for a user and return it; only its hash is kept."""
    key = PREFIX + secrets.token_urlsafe(32)
    entry = {digest(key): {"user": user, "made": str(day)}}
    place = os.path.realpath(root)
    person.change_entry(FILE_NAME, place, lambda keys: keys | entry)
    bind_keys(place, user)
    return key


def bind_keys(root: str, user: str) -> None:
    """Have the keys that were made for a name be those of the user who has it now.

    Nothing is changed where nothing is kept of them yet.
    """
    identity = _identity(root, user)

    def bound(keys: Keys) -> Keys:
        for entry in keys.values():
            if entry["user"] == user:
                entry.setdefault("identity", identity)
        return keys

    if identity:
        person.change_entry(FILE_NAME, os.path.realpath(root), bound)


def revoke_user(root: str, user: str) -> int:
    """Take all keys of a user of the store at `root` away; return how many.

    Whoever deletes a user calls this too, or the next request with a key of theirs
    that was never used would begin their memories anew.
    """
    name = normal_form(user)  # as a store names its users
    theirs = {key for key, one in keys_of(root).items() if one["user"] == name}

    def without(keys: Keys) -> Keys:
        return {key: entry for key, entry in keys.items() if key not in theirs}

    if theirs:
        person.change_entry(FILE_NAME, os.path.realpath(root), without)
    return len(theirs)
