"""A store: a folder with one folder for each user."""

import contextlib
import os
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

from filemem.errors import Refused
from filemem.store.folder import Folder, normal_form
from filemem.store.roles import ROLE_NAMES
from filemem.text.plain import nearest, one_line

MAX_USER_NAME_BYTES = 200
MIN_LIKENESS = 0.74  # from 0, anything, to 1, the same


def mistyped(name: str, known: Iterable[str]) -> str:
    """Return the known user whose name is nearly so, or ''.

    That is in another case, with other accents, or in small letters a letter apart.
    """
    others = {_bare(other): other for other in known if other != name}
    wanted = _bare(name)
    likeness = MIN_LIKENESS if wanted.islower() and wanted.isalpha() else 1
    near = nearest(wanted, others, 1, likeness)
    return others[near[0]] if near else ""


def _bare(name: str) -> str:
    """Return a name in small letters, without accents."""
    signs = unicodedata.normalize("NFD", name.casefold())
    return "".join(sign for sign in signs if not unicodedata.combining(sign))


def folder_name(name: str) -> str:
    """Return the name of a user's folder, made from theirs one to one.

    Letters and digits of any script stay, and `-`, `_`, `.` and `@` within; of anything
    else each byte is written as in an address: `auth0%7C123`.
    """
    signs = []
    for place, sign in enumerate(name):
        is_plain = sign in "-_.@" or unicodedata.category(sign)[0] in "LMN"
        is_odd_start = place == 0 and sign in ".-"
        is_odd_end = place == len(name) - 1 and sign == "."
        if not is_plain or is_odd_start or is_odd_end:
            sign = "".join(f"%{byte:02X}" for byte in sign.encode())
        signs.append(sign)
    return "".join(signs)


def name_of_folder(folder: str) -> str:
    """Return the name of the user to whom a folder belongs; '' for no user's."""
    name = unquote(normal_form(folder), errors="replace")
    is_one = not fault_of_name(name) and folder_name(name) == normal_form(folder)
    return name if is_one else ""


def fault_of_name(name: str) -> str:
    """Return what is wrong with a user's name, as the end of a sentence, or ''."""
    if not name.strip():
        return "it is empty"
    if name != name.strip() or not name.isprintable():
        return "it may hold neither control characters nor white space around it"
    if len(folder_name(name).encode()) > MAX_USER_NAME_BYTES:
        return f"it is longer than {MAX_USER_NAME_BYTES} bytes"
    return "that name is reserved" if name.lower() == "filemem.yaml" else ""


class StoreFolder:
    """A folder with one folder per user.

    Args:
        root: where it lies; it may not exist yet.
        named: whether the person named it, or it merely lies where they stand.
    """

    def __init__(self, root: str | os.PathLike[str], *, named: bool = True) -> None:
        self.root = os.path.realpath(os.path.expanduser(root))
        self._named = named

    def users(self) -> list[str]:
        """Return the names, in normal form NFC, of everyone who has a folder here."""
        return sorted(map(name_of_folder, self._folders()))

    def _folders(self) -> list[str]:
        """Return the names of users' folders as the disk has them."""
        names = list[str]()
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(self.root) as entries,
        ):
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and name_of_folder(entry.name):
                    names.append(entry.name)
        return names

    def folder(self, name: str) -> Folder:
        """Return one user's folder; nothing is created.

        Names are compared in normal form NFC, and where the disk tells no case, in any.

        Raises:
            Refused: the name could lead elsewhere, or is that of a role.
        """
        name = normal_form(name)
        fault = fault_of_name(name)
        place = "" if fault else self._place(folder_name(name))
        if name.casefold() in ROLE_NAMES and not os.path.isdir(place):
            fault = "it is the name of a role; choose another"
        if fault:
            shown = one_line(name) or "an empty name"
            raise Refused(f"{shown} cannot be a user's name: {fault}.")
        is_taken = os.path.exists(place) and not os.path.isdir(place)
        if os.path.islink(place) or is_taken:
            what = f"{name} in the store is not a folder of its own"
            raise Refused(f"{name} cannot be a user: {what}; rename it.")
        known = name_of_folder(os.path.basename(place))
        return Folder(place, known, named=self._named)

    def _place(self, wanted: str) -> str:
        """Return the place of a user's folder as the disk spells it."""
        place = os.path.join(self.root, wanted)
        is_there = os.path.lexists(place)
        # As another user, or as a system has it for which the two are one name.
        is_twice = is_there and os.path.exists(f"{self.root}/{wanted.swapcase()}")
        if not is_twice and (is_there or wanted.isascii()):
            return place
        for other in self._folders():
            there = os.path.join(self.root, other)
            if normal_form(other) == wanted:
                return there
            if is_there and os.path.samefile(there, place):
                return there
        return place
