"""What the program has written, by the log that `learn.log` keeps of it."""

import datetime as dt
from contextlib import suppress
from dataclasses import dataclass, field

from filemem.store.folder import Folder
from filemem.store.logs import Log
from filemem.text.plain import digest

WRITTEN = "consolidated.jsonl"
DIGEST_LETTERS = 12


@dataclass
class Written:
    """What the log says of one memory.

    Attributes:
        digests: of its file as the program once left it.
        days: on which it did; earlier versions noted none.
    """

    digests: set[str] = field(default_factory=set)
    days: list[dt.date] = field(default_factory=list)

    def has(self, data: bytes) -> bool:
        """Tell whether a file is as the program once left it."""
        return digest(data, DIGEST_LETTERS) in self.digests


def written(folder: Folder) -> dict[str, Written]:
    """Return what the program has written, by the live path.

    Raises:
        FilememError, OSError: the log cannot be read.
    """
    found: dict[str, Written] = {}
    for entry in Log(folder, WRITTEN).entries():
        if "wrote" in entry:
            one = found.setdefault(str(entry["wrote"]), Written())
            one.digests.add(str(entry.get("digest")))
            with suppress(ValueError):
                one.days.append(dt.date.fromisoformat(str(entry.get("on"))))
    return found
