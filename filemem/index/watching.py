"""Which files changed: a listing of folders by their files' stats, and on Linux a watch that tells which folders to list.

A change of a file shows in its times of modification and inode change, its size or its inode. Of these only the inode
change cannot be set by a program; it tells a restored old file, or a clock that was put back, from the file known.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import os
import re
import struct
import sys
from array import array
from typing import NamedTuple

from filemem.errors import NotFound, Refused
from filemem.files.folder import is_temporary_name, is_unprintable
from filemem.files.places import Place, listed, too_far

_USUAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*\.(?:md|ya?ml|txt)")  # names that need no closer look
_INODES = (1 << 63) - 1
_WATCHED = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x01000000 | 0x02000000
"""inotify(7): MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF; ONLYDIR,
DONT_FOLLOW."""
_STRUCTURE = 0x400 | 0x800 | 0x2000 | 0x4000 | 0x8000 | 0x40000000
"""DELETE_SELF, MOVE_SELF, UNMOUNT, Q_OVERFLOW, IGNORED; and ISDIR: the event is about a folder."""
_LOCAL = frozenset((0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0xF2F52010, 0x2FC12FC1))
"""statfs(2): ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS: file systems whose every change passes through this kernel."""
_EVENT = struct.Struct("iIII")


class Listing(NamedTuple):
    """The memories' files in one folder: `stats` has four numbers for each name: the times of modification and of inode
    change in nanoseconds, the size in bytes, the inode. `folders` are those in it, as prefixes of paths."""

    names: list[str]
    stats: array[int]
    folders: list[str]
    linked: bool  # has a file another name, under which it may be changed?


def listing(root: Place, prefix: str) -> Listing:
    """The files in the folder `prefix` ("" or ending with /) by the rules of `Folder.files`; empty where there is none."""
    names: list[str] = []
    stats = array("q")
    folders: list[str] = []
    linked = False
    with contextlib.suppress(NotFound, Refused, PermissionError), listed(root / prefix) as entries:
        for entry in entries:
            name = entry.name
            plain = entry.is_file(follow_symlinks=False)
            if not _USUAL.fullmatch(name) and (
                name[0] == "." or is_unprintable(name) or (plain and is_temporary_name(name))
            ):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not too_far(root, prefix + name):
                    folders.append(f"{prefix}{name}/")
            elif plain:
                try:
                    s = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                names.append(name)
                stats.extend((s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino & _INODES))
                linked = linked or s.st_nlink > 1
    return Listing(names, stats, folders, linked)


def place(root: str, prefix: str) -> tuple[int, int]:
    """The device and inode of a folder, zeros where there is none."""
    try:
        s = os.stat(os.path.join(root, prefix))
    except OSError:
        return 0, 0
    return s.st_dev, s.st_ino


class Watch:
    """A watch on folders, by inotify(7). Raises OSError where the system, a file system or a limit does not allow it.

    What inotify does not tell is looked for by other means: another folder under a watched name, by its inode; files
    that are changed under another name, by their number of links (`Listing.linked`), where the caller gives up watching.
    """

    def __init__(self, root: str) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError(errno.ENOSYS, "no inotify on this system")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._root = root
        self._process = os.getpid()
        self._prefixes: dict[int, str] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "no inotify")
        # It closes with this object in C: a signal that came in a finaliser of ours would end nothing.
        self._open = io.FileIO(self._fd)

    def add(self, prefix: str) -> None:
        """Watch a folder from now on; list it afterwards."""
        where = os.fsencode(os.path.join(self._root, prefix))
        facts = ctypes.create_string_buffer(512)
        if self._libc.statfs(where, facts) or struct.unpack_from("l", facts)[0] not in _LOCAL:
            raise OSError(errno.ENOTSUP, "not a local file system")
        known = place(self._root, prefix)
        number = self._libc.inotify_add_watch(self._fd, where, _WATCHED)
        if number < 0:
            raise OSError(ctypes.get_errno(), "no watch")
        self._prefixes[number] = prefix
        self._places[prefix] = known

    def changed(self) -> set[str] | None:
        """The folders in which something happened since the last call; None where all is to be listed anew."""
        if self._process != os.getpid():
            return None
        found: set[str] = set()
        while True:
            try:
                events = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                break
            at = 0
            while at < len(events):
                number, mask, _, length = _EVENT.unpack_from(events, at)
                at += _EVENT.size + length
                if mask & _STRUCTURE or number not in self._prefixes:
                    return None
                found.add(self._prefixes[number])
        if any(place(self._root, prefix) != known for prefix, known in self._places.items()):
            return None
        return found
