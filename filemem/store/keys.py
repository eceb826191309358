"""Keys of those who may ask a server, over HTTP: for chats or for MCP.

Of each key its SHA-256 is kept, by the store's place, in the person's own folder of
configuration: a store comes from anywhere and must not decide who may read it. A key
has 256 random bits, so that a plain hash of it tells nothing.
"""

import datetime as dt
import json
import os
import secrets
import unicodedata
from collections.abc import Callable
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.store import files, person
from filemem.text.plain import digest

FILE_NAME = "keys.json"
PREFIX = "fm-"
LOOPBACK = ("127.0.0.1", "localhost", "::1")  # where nobody else can ask
EXPOSED = (
    "Others on this network can reach this, and read what passes, keys too:"
    " put TLS in front of it."
)
Keys = dict[str, dict[str, Any]]  # by hash: whose the key is, and since when
Change = Callable[[Keys], Keys]


def keys_of(root: str) -> Keys:
    """Return the keys of the store at `root`, as they are on disk now.

    Raises:
        FilememError: the file of keys is broken.
    """
    return _read_all().get(os.path.realpath(root), {})


def find_user(root: str, key: str) -> str:
    """Return the user whose key it is; empty if nobody's, or if keys cannot be read."""
    if not key.startswith(PREFIX):
        return ""
    try:
        entry = keys_of(root).get(digest(key), {})
    except (FilememError, OSError):
        return ""
    return str(entry.get("user", ""))


def add_key(root: str, user: str, day: dt.date) -> str:
    """Make a key for a user and return it; only its hash is kept."""
    key = PREFIX + secrets.token_urlsafe(32)
    entry = {"user": user, "made": f"{day:%Y-%m-%d}"}
    _change(root, lambda keys: {**keys, digest(key): entry})
    return key


def revoke_user(root: str, user: str) -> int:
    """Take all keys of a user of the store at `root` away.

    Whoever deletes a user calls this too, or the next request with a key of theirs
    would begin their memories anew.

    Returns:
        How many keys there were.
    """
    name = unicodedata.normalize("NFC", user)  # as a store names its users
    revoked = [key for key, entry in keys_of(root).items() if entry["user"] == name]
    if revoked:
        _change(root, lambda keys: _without(keys, name))
    return len(revoked)


def _without(keys: Keys, user: str) -> Keys:
    return {key: entry for key, entry in keys.items() if entry["user"] != user}


def _change(root: str, change: Change) -> None:
    """Write the keys of one store anew, under the lock of the configuration."""
    folder = person.folder()
    files.make_folder(folder)
    with files.lock(os.path.join(folder, "lock")):
        stores = _read_all()
        place = os.path.realpath(root)
        stores[place] = change(stores.get(place, {}))
        kept = {where: keys for where, keys in stores.items() if keys}
        text = json.dumps(kept, ensure_ascii=False, indent=1)
        data = text.encode("utf-8", "surrogateescape")
        files.write(os.path.join(folder, FILE_NAME), data)


def _read_all() -> dict[str, Keys]:
    """Return the keys of every store by its place."""
    place = os.path.join(person.folder(), FILE_NAME)
    try:
        data = files.read(place)
    except NotFound:
        return {}
    try:
        stores = json.loads(data.decode("utf-8", "surrogateescape"))
        for keys in stores.values():
            for entry in keys.values():
                entry["user"] = str(entry["user"])
                entry["made"] = str(entry.get("made", ""))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise FilememError(
            f"{place} is not a list of keys; delete it and add the keys again."
        ) from None
    return dict(stores)
