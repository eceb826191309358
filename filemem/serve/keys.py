"""Who may ask a server, for chats or over MCP: the SHA-256 of random keys, by the store's place, in the person's own folder
of configuration.

They lie outside the store, as a store comes from anywhere and must not decide who may read it. A key has 256 random bits, so that
a plain hash of it tells nothing.
"""

import contextlib
import datetime as dt
import json
import os
import secrets
import unicodedata
from collections.abc import Sequence
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.files import safe, trust
from filemem.text.plain import digest

LOOPBACK = ("127.0.0.1", "localhost", "::1")  # where nobody else can ask
EXPOSED = "Others on this network can reach this, and read what passes, keys too: put TLS in front of it."
NAME, PREFIX = "keys.json", "fm-"  # of the file, and of each key
PROGRAMS = (
    "### Task:",
)  # how prompts begin that programs write, such as Open WebUI's for titles and tags
Keys = dict[
    str, dict[str, Any]
]  # by hash: whose it is, since when, how prompts begin that programs write with it


def of(root: str) -> Keys:
    """The keys of the store at `root`, as they are on disk now; raises FilememError where the file is broken."""
    return _all().get(os.path.realpath(root), {})


def user_of(root: str, key: str) -> str | None:
    """Whose key it is; None if nobody's."""
    with contextlib.suppress(FilememError, OSError):
        found = of(root).get(digest(key)) if key.startswith(PREFIX) else None
        return found["user"] if found else None
    return None


def programs_of(root: str, user: str) -> tuple[str, ...]:
    """How prompts begin that programs write with a user's keys."""
    with contextlib.suppress(FilememError, OSError):
        return (
            *PROGRAMS,
            *(
                text
                for one in of(root).values()
                if one["user"] == user
                for text in one["programs"]
            ),
        )
    return PROGRAMS


def add(root: str, user: str, at: dt.date, programs: Sequence[str] = ()) -> str:
    """Make a key for a user, and return it: only its hash is kept."""
    key = PREFIX + secrets.token_urlsafe(32)
    made = {"user": user, "made": f"{at:%Y-%m-%d}", "programs": list(programs)}
    _change(root, lambda keys: keys | {digest(key): made})
    return key


def remove(root: str, user: str) -> int:
    """Take all keys of a user away, and say how many there were."""
    user = unicodedata.normalize("NFC", user)  # as a store names its users
    gone = sum(one["user"] == user for one in of(root).values())
    if gone:
        _change(
            root,
            lambda keys: {
                hash: one for hash, one in keys.items() if one["user"] != user
            },
        )
    return gone


def _change(root: str, change: Any) -> None:
    safe.make_folder(trust.folder())
    with safe.lock(os.path.join(trust.folder(), "lock")):
        kept, place = _all(), os.path.realpath(root)
        kept[place] = change(kept.get(place, {}))
        text = json.dumps(
            {where: keys for where, keys in kept.items() if keys},
            ensure_ascii=False,
            indent=1,
        )
        safe.write(
            os.path.join(trust.folder(), NAME), text.encode("utf-8", "surrogateescape")
        )


def _all() -> dict[str, Keys]:
    place = os.path.join(trust.folder(), NAME)
    with contextlib.suppress(NotFound):
        try:
            found = json.loads(safe.read(place).decode("utf-8", "surrogateescape"))
            return {
                where: {
                    hash: {"programs": [], **one, "user": one["user"]}
                    for hash, one in keys.items()
                }
                for where, keys in found.items()
            }
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise FilememError(
                f"{place} is not a list of keys; delete it and add the keys again."
            ) from None
    return {}
