"""The keys of a served store: who may ask, as SHA-256 of random keys, in the person's own configuration folder.

They lie outside the store, as what a store says must not decide who may read it.
"""

import contextlib
import datetime as dt
import json
import os
import secrets
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files import disk, trust
from filemem.text.plain import digest

NAME = "keys.json"
PREFIX = "fm-"
Keys = dict[str, dict[str, str]]  # by hash: whose it is, and since when


def of(root: str) -> Keys:
    """The keys of the store at `root`, as they are on disk now; raises FilememError where the file is broken."""
    return _all().get(os.path.realpath(root), {})


def user_of(root: str, key: str) -> str | None:
    """Whose key that is; None where it is nobody's."""
    found = of(root).get(digest(key)) if key.startswith(PREFIX) else None
    return found["user"] if found else None


def add(root: str, user: str, at: dt.datetime) -> str:
    """Make a key for a user, and return it: only its hash is kept."""
    key = PREFIX + secrets.token_urlsafe(32)
    _change(root, lambda keys: keys | {digest(key): {"user": user, "made": f"{at:%Y-%m-%d}"}})
    return key


def remove(root: str, user: str) -> int:
    """Take all keys of a user away, and say how many there were; raises NotFound where there was none."""
    gone = sum(one["user"] == user for one in of(root).values())
    if not gone:
        raise NotFound(f"{user} has no key here; filemem serve keys list shows who has.")
    _change(root, lambda keys: {hash: one for hash, one in keys.items() if one["user"] != user})
    return gone


def _change(root: str, change: Any) -> None:
    disk.make_folder(trust.folder())
    with disk.lock(os.path.join(trust.folder(), "lock")):
        kept, place = _all(), os.path.realpath(root)
        kept[place] = change(kept.get(place, {}))
        text = json.dumps({where: keys for where, keys in kept.items() if keys}, ensure_ascii=False, indent=1)
        disk.write(os.path.join(trust.folder(), NAME), text.encode("utf-8", "surrogateescape"))


def _all() -> dict[str, Keys]:
    place = os.path.join(trust.folder(), NAME)
    with contextlib.suppress(NotFound):
        try:
            found = json.loads(disk.read(place).decode("utf-8", "surrogateescape"))
            return {where: {hash: {"user": one["user"], "made": one["made"]} for hash, one in keys.items()}
                    for where, keys in found.items()}  # fmt: skip
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FilememError(f"{place} is no list of keys; delete it, and add the keys anew.") from None
    return {}
