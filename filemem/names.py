"""The users of a store: whose folders there are, and which names may have one."""

import os
import unicodedata

from filemem.errors import Refused
from filemem.plain import one_line

LONGEST = 200  # bytes; a file name may have 255
SETTINGS = "filemem.yaml"  # the one file beside the users' folders
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
    if os.path.islink(place) or (os.path.exists(place) and not os.path.isdir(place)):
        raise Refused(f"{name} cannot be a user: {name} in the store is no folder of its own.")
    return place, name


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
    if name.lower().partition(".")[0] in _RESERVED or name.lower() == SETTINGS:
        return "that name is reserved"
    return "" if unicodedata.normalize("NFC", name) == name else "it is not in Unicode's normal form NFC"
