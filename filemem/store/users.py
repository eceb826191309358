"""A store: a folder with one folder for each user."""

import contextlib
import os
import stat
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from filemem.errors import NotFound, Refused
from filemem.store import files
from filemem.store.folder import BOOKKEEPING, WAIT_SECONDS, Folder, normal_form
from filemem.store.heard import OnEvent, ignore
from filemem.store.roles import ROLE_NAMES
from filemem.text.plain import nearest, one_line

SETTINGS = "filemem.yaml"  # no user's name
MAX_USER_NAME_BYTES = 200


def mistyped(name: str, known: Iterable[str]) -> str:
    """Return the known user whose name is nearly so, or ''.

    That is in another case, or of letters alone and spelt alike.
    """
    others = {other.casefold(): other for other in known if other != name}
    wanted = name.casefold()
    if wanted in others:
        return others[wanted]
    near = nearest(wanted, others, 1) if wanted.isalpha() else []
    return others[near[0]] if near else ""


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
    is_one = is_user_name(name) and folder_name(name) == normal_form(folder)
    return name if is_one else ""


def is_user_name(name: str) -> bool:
    """Tell whether a user may be called so."""
    if not name.isprintable() or name in ("", SETTINGS):
        return False
    is_short = len(folder_name(name).encode()) <= MAX_USER_NAME_BYTES
    return is_short and name == name.strip()


class StoreFolder:
    """A folder with one folder per user.

    Args:
        root: where it lies; it may not exist yet.
        named: whether the person named it, or it merely lies where they stand.
        on_event: hears what happens to any user's memories.
        wait: seconds that a writer waits for others.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        named: bool = True,
        on_event: OnEvent = ignore,
        wait: float = WAIT_SECONDS,
    ) -> None:
        self.root = os.path.realpath(os.path.expanduser(root))
        self._how: dict[str, Any] = {
            "named": named,
            "on_event": on_event,
            "wait": wait,
        }

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

        Names are compared in normal form NFC.

        Raises:
            Refused: the name could lead elsewhere, or is that of a role.
        """
        name = normal_form(name)
        shown = one_line(name) or "an empty name"
        if not is_user_name(name):
            raise Refused(
                f"{shown} cannot be a user's name; take one without control characters"
                f" or white space around it, of at most {MAX_USER_NAME_BYTES} bytes."
            )
        place = self._place(folder_name(name))
        kind = files.type_at(place)
        is_folder = stat.S_ISDIR(kind)
        if name.casefold() in ROLE_NAMES and not is_folder:
            what = "it is the name of a role; choose another"
            raise Refused(f"{shown} cannot be a user's name: {what}.")
        if kind and not is_folder:
            what = f"{name} in the store is not a folder of its own"
            raise Refused(f"{name} cannot be a user: {what}; rename it.")
        return Folder(place, name, **self._how)

    def _place(self, wanted: str) -> str:
        """Return the place of a user's folder as the disk spells it."""
        place = os.path.join(self.root, wanted)
        if os.path.lexists(place) or wanted.isascii():
            return place
        for other in self._folders():
            if normal_form(other) == wanted:
                return os.path.join(self.root, other)
        return place


def remove_folder(folder: Folder, *, repository: bool) -> None:
    """Remove what is left of the folder of a user whose memories are deleted.

    Args:
        folder: the user's.
        repository: remove a repository of their own, too; else it stays.
    """
    bookkeeping = folder.bookkeeping()
    last = f"{folder.root}/{files.TEMPORARY}{BOOKKEEPING}"
    with contextlib.suppress(NotFound):  # of a removal that was cut off
        files.remove(last)
    with contextlib.suppress(FileNotFoundError):
        os.rename(bookkeeping, last)  # at once, or who waits for the lock makes it anew
    gone = [last]
    if repository:
        gone.append(f"{folder.root}/.git")
    for name in gone:
        with contextlib.suppress(NotFound):
            files.remove(name)
    with contextlib.suppress(OSError):  # it is not empty
        os.rmdir(folder.root)
    files.sync_folder(folder.store)
