"""The folder of a store: its users, which names they may have, and each one's folder."""

import os
import unicodedata
from collections.abc import Iterable

from filemem.errors import Refused
from filemem.files.folder import Folder
from filemem.files.trust import Trust
from filemem.text.plain import one_line

LONGEST = 200  # bytes; a file name may have 255
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


def users(root: str) -> list[str]:
    """The names of everyone who has a folder in the store at `root`."""
    try:
        with os.scandir(root) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False) and not wrong_name(e.name))
    except (FileNotFoundError, NotADirectoryError):
        return []


def user_folder(root: str, name: str) -> tuple[str, str]:
    """A user's folder in the store at `root`, and the name in NFC; raises Refused for a name that could lead elsewhere."""
    name = unicodedata.normalize("NFC", name)
    wrong = wrong_name(name)
    if wrong:
        raise Refused(f"{one_line(name) or 'an empty name'} cannot be a user's name: {wrong}.")
    place = os.path.join(root, name)
    if os.path.exists(os.path.join(root, name.swapcase())) and name not in (known := users(root)):
        # Another user, or a system for which the two are one name: then the one on disk counts.
        same = [
            other for other in known if os.path.exists(place) and os.path.samefile(os.path.join(root, other), place)
        ]
        place, name = (os.path.join(root, same[0]), same[0]) if same else (place, name)
    if os.path.islink(place) or (os.path.exists(place) and not os.path.isdir(place)):
        raise Refused(f"{name} cannot be a user: {name} in the store is no folder of its own.")
    return place, name


def mistyped(name: str, known: Iterable[str]) -> str:
    """The known user whose name is a slip away: another case or accent, a letter more, less, other or swapped; else empty.

    One slip in three to five letters, two in more. In a script without small letters a letter says too much for a slip.
    """
    plain = _plain(name)
    for other in known:
        length = min(len(plain), len(_plain(other)))
        slips = (length > 2) + (length > 5) if plain.islower() else 0
        if other != name and _distance(plain, _plain(other)) <= slips:
            return other
    return ""


def _plain(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", name.casefold()) if not unicodedata.combining(c))


def _distance(one: str, other: str) -> int:
    """The letters to put in, take out, replace or swap with the next to make `other` of `one`."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
            if i > 1 and j > 1 and (a, one[i - 2]) == (other[j - 2], b):
                row[-1] = min(row[-1], before[j - 2] + 1)
        before = above
    return row[-1]


def wrong_name(name: str) -> str:
    """What is wrong with a user's name, as the end of a sentence; empty for a good one."""
    if not name:
        return "it is empty"
    if name[0] in ".-" or name[-1] == ".":
        return "it may not start with a dot or hyphen, nor end with a dot"
    bad = [c for c in name if unicodedata.category(c)[0] not in "LMN" and c not in "-_."]
    if bad:
        return f"it may hold letters and digits of any script, -, _ and . but not {one_line(repr(bad[0]))}"
    if len(name.encode()) > LONGEST:
        return f"it is longer than {LONGEST} bytes"
    if name.lower().partition(".")[0] in _RESERVED or name.lower() == "filemem.yaml":
        return "that name is reserved"
    return "" if unicodedata.normalize("NFC", name) == name else "it is not in Unicode's normal form NFC"


class StoreFolder:
    """A folder with one folder per user; `trust` has a person's answers on what its settings and repository may decide."""

    def __init__(self, root: str | os.PathLike[str], trust: Trust | None = None) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))
        self.trust = trust or Trust()

    def users(self) -> list[str]:
        """The names of everyone who has a folder here."""
        return users(self.root)

    def folder(self, name: str) -> Folder:
        """One user's folder; raises Refused for a name that could lead elsewhere. Nothing is created."""
        place, name = user_folder(self.root, name)
        return Folder(place, name, self.trust)
