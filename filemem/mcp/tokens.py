"""Who may read whose memories over HTTP: a token a user, of which only a hash is kept.

It is kept in the person's own configuration folder, by the store's place: a store comes from anywhere, and must not bring its
own keys. A token has 256 random bits, so that a plain SHA-256 of it tells nothing.
"""

import contextlib
import hmac
import json
import os
import secrets

from filemem.errors import FilememError
from filemem.files import disk, trust
from filemem.text.plain import digest

NAME = "mcp-tokens.json"
PREFIX = "filemem-"


def issue(root: str, user: str) -> str:
    """A new token for a user of the store at `root`; the one that they had counts no more."""
    token = PREFIX + secrets.token_urlsafe(32)
    _keep(root, user, digest(token))
    return token


def revoke(root: str, user: str) -> bool:
    """Let a user's token count no more; False where they had none."""
    return bool(_keep(root, user, ""))


def holders(root: str) -> dict[str, str]:
    """The hash of each user's token."""
    found = _kept().get(os.path.realpath(root), {})
    return {user: known for user, known in found.items() if isinstance(known, str)} if isinstance(found, dict) else {}


def user_of(root: str, token: str) -> str | None:
    """The user whose token this is, None for nobody's; it takes as long whichever it is."""
    given = digest(token)
    matches = [user for user, known in holders(root).items() if hmac.compare_digest(known, given)]
    return matches[0] if matches else None


def _keep(root: str, user: str, hashed: str) -> str | None:
    """Keep a hash, or none where it is empty; returns what was kept before."""
    disk.make_folder(trust.folder())
    with disk.lock(os.path.join(trust.folder(), "lock")):
        kept, users = _kept(), holders(root)
        before = users.pop(user, None)
        kept[os.path.realpath(root)] = users | ({user: hashed} if hashed else {})
        disk.write(os.path.join(trust.folder(), NAME), json.dumps(kept, indent=1).encode("utf-8", "surrogateescape"))
    return before


def _kept() -> dict[str, dict[str, str]]:
    with contextlib.suppress(FilememError, OSError, ValueError, RecursionError):
        found = json.loads(disk.read(os.path.join(trust.folder(), NAME)))
        return found if isinstance(found, dict) else {}
    return {}
