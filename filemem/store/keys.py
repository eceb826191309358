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
    return person.read_entries(FILE_NAME).get(os.path.realpath(root), {})


def find_user(root: str, key: str) -> str:
    """Return the user whose key it is; empty if nobody's, or if keys cannot be read."""
    if not key.startswith(PREFIX):
        return ""
    try:
        return str(keys_of(root)[digest(key)]["user"])
    except (FilememError, OSError, KeyError, TypeError):
        return ""


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
    return rename_user(root, user, "")


def rename_user(root: str, old: str, new: str) -> int:
    """Give all keys of a user to another, or to nobody (''); return how many."""
    name = normal_form(old)  # as a store names its users

    def change(keys: Keys) -> Keys:
        changed = {}
        for key, entry in keys.items():
            owner = new if entry["user"] == name else entry["user"]
            if owner:
                changed[key] = {**entry, "user": owner}
        return changed

    theirs = [key for key, one in keys_of(root).items() if one["user"] == name]
    if theirs:
        person.change_entry(FILE_NAME, os.path.realpath(root), change)
    return len(theirs)
