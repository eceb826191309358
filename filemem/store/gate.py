"""The one way in for text that is kept: secrets are taken out of it first.

And the key of a user's folder, by which digests of such text are made: whoever has a
digest and not the key cannot try words until one fits.
"""

import contextlib
import os
import re
import secrets

from filemem.errors import NotFound
from filemem.store import config, files
from filemem.store.folder import Folder
from filemem.text.redaction import Cleaned, redact

KEYED_DIGEST = re.compile(r"[0-9a-f]{4}\.[0-9a-f]{20}")
"""A digest as `Gate.digest` makes it: four digits tell the key."""

KEY_FILE = "key"
_KEY_BYTES = 32
_MAX_LABEL_CHARS = 80
_MAX_TOLD_ALONE_CHARS = 100
_REDACTED = re.compile(r"\[redacted: ([a-z ]+)\]")


class Gate:
    """The way in to one user's folder.

    Args:
        folder: whose memories they become; its settings may say that secrets stay.
        with_secrets: a person asked for them to stay this once.
        dry_run: nothing is written, no key either.
    """

    def __init__(
        self, folder: Folder, *, with_secrets: bool = False, dry_run: bool = False
    ) -> None:
        self.folder = folder
        self.redacts = config.of(folder).redact and not with_secrets
        self.dry_run = dry_run
        self._key = b""

    def clean(self, text: str, before: str = "") -> Cleaned:
        """Take the secrets out of a text.

        Args:
            text: the words to be kept.
            before: the turn before, whose last line may say what stands alone in this
                one, as in "the wifi password is:" and "Tulip-Garden-42".
        """
        if not self.redacts:
            return Cleaned(text, [])
        clean, found = redact(text)
        if found or not before.strip():
            return Cleaned(clean, found)
        return _told_alone(text, before)

    def clean_path(self, path: str) -> str:
        """Take the secrets out of the names along a relative path."""
        names = []
        for name in path.split("/"):
            stem, extension = os.path.splitext(name)
            clean = self.clean(stem).text
            names.append(_REDACTED.sub(r"redacted \1", clean) + extension)
        return "/".join(names)

    def digest(self, *parts: str) -> str:
        """Return a digest of cleaned text that only the folder's key can make again.

        It begins with four digits that tell the key.
        """
        # Both load OpenSSL, which takes a twentieth of a cold start.
        import hashlib  # noqa: PLC0415
        import hmac  # noqa: PLC0415

        if not self._key:
            self._key = self._read_key()
        message = "\0".join(parts).encode("utf-8", "surrogatepass")
        name = hashlib.sha256(self._key).hexdigest()[:4]
        return f"{name}.{hmac.new(self._key, message, 'sha256').hexdigest()[:20]}"

    def _read_key(self) -> bytes:
        place = self.folder.bookkeeping(KEY_FILE)
        with contextlib.suppress(NotFound):
            return files.read(place)
        key = secrets.token_hex(_KEY_BYTES).encode()
        if self.dry_run:
            return key
        with self.folder.locked():
            with contextlib.suppress(FileExistsError):
                files.create(place, key)
            return files.read(place)


def _told_alone(text: str, before: str) -> Cleaned:
    """Take out what is a secret only behind the last line of the turn before."""
    line = before.rstrip().rsplit("\n", 1)[-1].strip()
    label = f"{line[-_MAX_LABEL_CHARS:]} "
    if len(text) > _MAX_TOLD_ALONE_CHARS or "\n" in text.strip():
        return Cleaned(text, [])
    clean, found = redact(label + text)
    if any(one.start < len(label) for one in found):
        return Cleaned(text, [])
    return Cleaned(clean[len(label) :], found)
