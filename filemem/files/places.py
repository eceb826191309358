"""Where a file lies: the folders that lead to it are opened one by one, and of a user's own none may be a link.

What is done to a file is done relative to the folder that was opened, so that one which is swapped for a link, at whatever
moment, leads nowhere.
"""

import contextlib
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from filemem.errors import NotFound, Refused

DEEPEST = 64  # folders in folders; what lies deeper is no memory
LONGEST_NAME, LONGEST_PATH = 255, 4000  # bytes; Linux has NAME_MAX 255 and PATH_MAX 4096
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_REACH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC  # what leads on need not be readable


class Place(str):
    """A path on disk, at or below the folder `top`: neither that nor anything below it may be a link."""

    top: str

    def __new__(cls, top: str, inside: str = "") -> "Place":
        self = super().__new__(cls, f"{top}/{inside}" if inside else top)
        self.top = top
        return self

    @property
    def inside(self) -> str:
        """The path from `top` on."""
        return self[len(self.top) + 1 :]

    @property
    def folder(self) -> "Place":
        """The folder in which it lies; of `top` itself that is no Place."""
        return Place(self.top, self.inside.rpartition("/")[0])

    def __truediv__(self, inside: str) -> "Place":
        return Place(self.top, "/".join(filter(None, (self.inside, inside))))


class Spot(NamedTuple):
    """A name in an open folder; `path` is how a person calls it."""

    folder: int
    name: str
    path: str

    def status(self) -> os.stat_result:
        """What lies there, a link as itself; raises FileNotFoundError where nothing does."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)


def folder_of(path: str) -> str:
    """The folder in which a path lies; of a Place a Place, but for its `top`."""
    if isinstance(path, Place) and path.inside:
        return path.folder
    return os.path.dirname(path) or "."


@contextlib.contextmanager
def spot(path: str) -> Iterator[Spot]:
    """The name at the end of a path, in its folder, which stays open meanwhile. Raises as `opened` does."""
    folder = opened(folder_of(path))
    try:
        yield Spot(folder, os.path.basename(path), path)
    finally:
        os.close(folder)


def opened(path: str) -> int:
    """A descriptor by which the folder at `path` is reached, not read. Raises NotFound, of a Place Refused, or OSError."""
    if not isinstance(path, Place):
        try:
            return os.open(path, _REACH)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{path}: no such folder.") from None
    names = [path.top, *filter(None, path.inside.split("/"))]
    folder, above = -1, None
    for number, name in enumerate(names, 1):
        try:
            folder = os.open(name, _REACH | os.O_NOFOLLOW, dir_fd=above)
        except OSError as error:
            raise _barred(error, name, above, "/".join(names[:number])) from None
        finally:
            if above is not None:
                os.close(above)
        above = folder
    return folder


def _barred(error: OSError, name: str, above: int | None, path: str) -> Exception:
    """Why a name in the folder above leads no further."""
    if isinstance(error, PermissionError):
        return Refused(f"{path} cannot be read: {error.strerror}; check its permissions.")
    with contextlib.suppress(OSError):
        if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            return Refused(f"{path} is a symbolic link, which is not followed; put the folder itself in its place.")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return NotFound(f"{path}: no such folder.")
    error.filename = path
    return error


@contextlib.contextmanager
def listed(path: str) -> Iterator[Iterator["os.DirEntry[str]"]]:
    """What lies in a folder, which stays open meanwhile: of the entries only names, kinds and stats count, not paths."""
    reached = opened(path)
    try:
        folder = os.open(".", _LIST, dir_fd=reached)
    finally:
        os.close(reached)
    try:
        with os.scandir(folder) as entries:
            yield entries
    finally:
        os.close(folder)


def names_in(path: str) -> list[str]:
    """The names of what lies in a folder, sorted."""
    with listed(path) as entries:
        return sorted(entry.name for entry in entries)


def files(
    top: Place,
    enter: Callable[[str], bool] = lambda folder: True,
    unread: Callable[[str], None] = lambda folder: None,
    *,
    plain: bool = True,
) -> Iterator[str]:
    """The paths below a folder, however deep, of all files, or of the plain ones; `enter` says of a folder's path whether to
    look into it, and `unread` is told of those that cannot be listed."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with listed(top / prefix) as entries:
                found = [
                    (one.name, one.is_dir(follow_symlinks=False), one.is_file(follow_symlinks=False)) for one in entries
                ]
        except NotFound:
            continue
        except (Refused, OSError):
            unread(prefix.rstrip("/"))
            continue
        for name, folder, regular in found:
            if folder and enter(prefix + name):
                waiting.append(f"{prefix}{name}/")
            elif not folder and (regular or not plain):
                yield prefix + name


def remove(path: Place) -> None:
    """Delete whatever lies at `path`: a file, a link itself, a folder with all that is in it, however deep.

    Each folder is moved up into the first before it is emptied, so that none is reached by way of a thousand others.
    """
    with spot(path) as at:
        if not stat.S_ISDIR(at.status().st_mode):
            os.unlink(at.name, dir_fd=at.folder)
            return
    top = opened(path)
    try:
        waiting, fresh = ["."], (f".{os.urandom(8).hex()}-{number}" for number in itertools.count())
        while waiting:
            name = waiting.pop()
            waiting += _emptied(name, top, fresh)
            if name != ".":
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    with spot(path) as at:
        os.rmdir(at.name, dir_fd=at.folder)


def _emptied(name: str, top: int, fresh: Iterator[str]) -> list[str]:
    """Delete the files of a folder in `top`, and move its folders there; what these are called now."""
    folder, moved = os.open(name, _LIST | os.O_NOFOLLOW, dir_fd=top), []
    try:
        with os.scandir(folder) as entries:
            inner = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for entry, deeper in inner:
            if not deeper:
                os.unlink(entry, dir_fd=folder)
                continue
            moved.append(next(fresh))
            os.rename(entry, moved[-1], src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    return moved


def too_far(top: str, inside: str) -> bool:
    """Does the folder `inside` of `top` lie so deep, or has it so long a path, that nothing in it can be a memory?"""
    longest = LONGEST_PATH - LONGEST_NAME
    long = 4 * (len(top) + len(inside)) > longest and len(os.fsencode(top)) + len(os.fsencode(inside)) > longest
    return long or inside.count("/") >= DEEPEST


class Reach:
    """Opens files below a folder; that of the last one stays open, as the next mostly lies beside it. Is to be closed."""

    def __init__(self, top: Place) -> None:
        self.top = top
        self._prefix: str | None = None
        self._folder = -1

    def open(self, prefix: str, name: str, flags: int) -> int:
        """A descriptor of the file `name` in the folder `prefix` ("" or ending with /); raises as `opened` does, or OSError."""
        if prefix != self._prefix:
            self.close()
            self._folder, self._prefix = opened(self.top / prefix.rstrip("/")), prefix
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._folder)

    def close(self) -> None:
        """Close the folder."""
        if self._folder >= 0:
            os.close(self._folder)
        self._prefix, self._folder = None, -1
