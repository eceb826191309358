"""Bytes on disk: reads that refuse what is no plain file, writes that are atomic and durable and lose nobody's edit.

Everything is created 0600 in folders of 0700. A process may be killed between any two calls here: what stood under a
name stays there whole, or the new bytes do.
"""

import contextlib
import errno
import fcntl
import functools
import importlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from filemem.errors import Busy, Changed, FilememError, NotFound, Refused

PAGE = 4096
SETTLE = 50_000_000  # nanoseconds
TRIES = 20
TEMPORARY = ".filemem-"  # every temporary file's name starts so; hidden, hence never a memory
_NOREPLACE, _EXCHANGE = 1, 2  # flags of Linux's renameat2(2)
_AT_FDCWD = -100
_OURS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS)  # what the system lacks, whatever the file


def open_regular(path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the plain file at `path`; raises Refused for anything else, NotFound when it is missing."""
    try:
        fd = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"{path}: no such file.") from None
    except OSError as error:
        if error.errno in _OURS:
            raise
        if error.errno == errno.ELOOP:
            raise Refused(f"{path} is a symbolic link; name the file itself.") from None
        if error.errno in (errno.ENXIO, errno.ENODEV, errno.EISDIR):
            raise Refused(f"{path} is no plain file.") from None
        verb = "read" if flags == os.O_RDONLY else "changed"
        raise Refused(f"{path} cannot be {verb}: {error.strerror}; check its permissions.") from None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise Refused(f"{path} is no plain file.")


def read(path: str, limit: int | None = None) -> bytes:
    """The bytes of the plain file at `path`, at most `limit` of them."""
    with _about(path), open(open_regular(path), "rb") as file:
        return file.read() if limit is None else file.read(limit)


def make_folder(path: str) -> None:
    """Create `path` and its missing parents, 0700, durably; raises Refused where a name among them is no folder's."""
    path = os.path.abspath(path)
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise Refused(f"{folder} is no folder; rename it, for memories are to be kept under it.") from None
        sync_folder(os.path.dirname(folder))


def sync_folder(path: str) -> None:
    """Make the names in a folder durable, where the file system can."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:  # a folder that may be written to but not listed
        return
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def create(path: str, data: bytes) -> None:
    """Write a new file atomically; raises FileExistsError, and writes nothing, where the name is taken."""
    _put(path, data, rename_new)


def write(path: str, data: bytes) -> None:
    """Write a file that only the program owns (bookkeeping), atomically, whatever stood there."""
    _put(path, data, os.replace)


def _put(path: str, data: bytes, rename: Callable[[str, str], None]) -> None:
    """Write a temporary file and give it its name."""
    temporary = _write_temporary(path, data)
    try:
        with _about(path):
            rename(temporary, path)
    except BaseException:
        _discard(temporary, (data,))
        raise
    sync_folder(os.path.dirname(path))


def edit(path: str, change: Callable[[bytes], bytes | None]) -> bool:
    """Replace the file's bytes by `change(bytes)`; False when that is None or the same.

    What is on disk is compared with what was read at the very moment of the swap; where a person saved in between,
    their bytes go back and `change` is asked again with them. Raises Changed after TRIES such rounds.
    """
    for _ in range(TRIES):
        there = let_settle(path)
        try:
            before = read(path)
        except NotFound:
            if there:
                continue
            raise
        after = change(before)
        if after is None or after == before:
            return False
        if _swap(path, before, after):
            return True
    raise _restless(path)


def append(path: str, data: bytes) -> None:
    """Add whole lines at the end, durably, starting a new line where the file lacks its last newline.

    One write inside a page cannot be torn by a kill; a longer one goes by a swap. A full disk leaves the old bytes.
    Where a person saved at the same moment, and the lines with it are gone, they are added again to what was saved.
    """
    for _ in range(TRIES):
        there = let_settle(path)
        try:
            fd = open_regular(path, os.O_RDWR | os.O_APPEND)
        except NotFound:
            if there:
                continue
            raise
        with open(fd, "rb", buffering=0):
            if _unsettled(os.fstat(fd)):
                continue
            size = os.fstat(fd).st_size
            lines = from_new_line(os.pread(fd, 1, max(0, size - 1)), data)
            if size % PAGE + len(lines) > PAGE:
                edit(path, lambda old: old + from_new_line(old, data))
                return
            with _about(path):
                start = _write_end(fd, lines)
            if os.pread(fd, len(lines), start) == lines and _is_at(fd, path):
                return
    raise _restless(path)


def _restless(path: str) -> Changed:
    return Changed(f"{path} keeps changing on disk; save it and try again.")


def from_new_line(before: bytes, data: bytes) -> bytes:
    """`data` as it follows `before`."""
    return data if not before or before.endswith(b"\n") else b"\n" + data


def _write_end(fd: int, data: bytes) -> int:
    """Write behind a file's last byte, durably, and say where; what a full disk cut off is taken back."""
    size = os.fstat(fd).st_size
    try:
        written = os.write(fd, data)
        size = os.lseek(fd, 0, os.SEEK_CUR) - written
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _mark_settled(fd)
        os.fsync(fd)
    except OSError:
        if os.lseek(fd, 0, os.SEEK_CUR) == os.fstat(fd).st_size:  # our own bytes are the last
            os.ftruncate(fd, size)
        raise
    return size


def rename_new(source: str, target: str) -> None:
    """Rename a file to a name that must be free; raises FileExistsError otherwise, at the very moment of the rename."""
    if _renameat2(source, target, _NOREPLACE):
        return
    os.link(source, target, follow_symlinks=False)  # another file system or system: link refuses a taken name as well
    os.unlink(source)


def move(source: str, target: str) -> None:
    """Move a file to a free name in another folder, durably; raises FileExistsError where the name is taken."""
    make_folder(os.path.dirname(target))
    rename_new(source, target)
    sync_folder(os.path.dirname(target))
    sync_folder(os.path.dirname(source))


@contextlib.contextmanager
def lock(path: str, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock file at `path` alone; raises Busy after `wait` seconds. A killed holder frees it."""
    end = time.monotonic() + wait
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not _flock(fd, end):
                raise Busy(f"another process has held {path} for {wait:g} s; try again when it is done.")
            if _is_at(fd, path):  # else it was deleted while we waited, and others lock a new one
                yield
                return
        finally:
            os.close(fd)


def _flock(fd: int, end: float) -> bool:
    """Poll for the lock until it is ours or the monotonic clock shows `end`."""
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(0.005)


def _is_at(fd: int, path: str) -> bool:
    """Is the open file the one that has the name now?"""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _about(path: str) -> Iterator[None]:
    """Have an OSError of the calls inside name `path`: some name no file, or a temporary one."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def temporary_in(folder: str) -> str:
    """A name in a folder that nobody has, hidden, hence never a memory's."""
    return os.path.join(folder, TEMPORARY + os.urandom(8).hex())


def _write_temporary(path: str, data: bytes) -> str:
    """A fsynced file with `data`, hidden, in the folder of `path`."""
    temporary = temporary_in(os.path.dirname(path))
    with _about(path):
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb") as file:
                file.write(data)
                file.flush()
                _mark_settled(fd)
                os.fsync(fd)
        except BaseException:
            os.unlink(temporary)
            raise
    return temporary


def _discard(temporary: str, known: tuple[bytes, ...]) -> None:
    """Delete a temporary file that holds known bytes; what else lies there is a person's save, and left for `check`."""
    with contextlib.suppress(FilememError, OSError):
        if read(temporary) in known:
            os.unlink(temporary)


def _swap(path: str, before: bytes, after: bytes) -> bool:
    """Put `after` in the place of `before`; False, with the newest save there, when it no longer holds `before`."""
    try:
        fd = open_regular(path, os.O_RDWR)  # held open, so that what is displaced can be read for certain
    except NotFound:  # an editor moves the old file aside before it writes the new one
        return False
    with open(fd, "rb") as old, _about(path):
        if old.read() != before:
            return False
        temporary = _write_temporary(path, after)
        try:
            _take_after(temporary, os.fstat(old.fileno()))
            if not _exchange(temporary, path, old, before, after):
                return False
        finally:
            _discard(temporary, (before, after))
    sync_folder(os.path.dirname(path))
    return True


def _exchange(temporary: str, path: str, old: BinaryIO, before: bytes, after: bytes) -> bool:
    """Exchange the two files and look at what came out; where that is not `before` as `old` has it, exchange again."""
    if not _holds(old, path, before):
        return False
    try:
        if not _renameat2(temporary, path, _EXCHANGE):
            os.replace(temporary, path)  # a system that cannot exchange: the comparison above must do
            return True
    except FileNotFoundError:
        return False
    if _holds(old, temporary, before):
        return True
    _renameat2(temporary, path, _EXCHANGE)
    if read(temporary) != after:  # saved yet again meanwhile: the newest save stays, the older is left for `check`
        _renameat2(temporary, path, _EXCHANGE)
    return False


def _holds(file: BinaryIO, path: str, data: bytes) -> bool:
    """Is the open file still the one at `path`, with these bytes in it, and nobody about to write more?"""
    file.seek(0)
    return _is_at(file.fileno(), path) and file.read() == data and not _unsettled(os.fstat(file.fileno()))


def _take_after(path: str, like: os.stat_result) -> None:
    """Give a file the owner and mode of another, as far as we may."""
    with contextlib.suppress(PermissionError):
        os.chown(path, like.st_uid, like.st_gid)
    os.chmod(path, stat.S_IMODE(like.st_mode))


def let_settle(path: str) -> bool:
    """Wait while an editor may be in the middle of a save: it truncates the file, or moves it aside, and writes then.

    Says whether there was a file before the wait.
    """
    try:
        left = _unsettled(os.stat(path, follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        time.sleep(SETTLE / 1e9)
        return False
    if left:
        time.sleep(left / 1e9)
    return True


def _unsettled(file: os.stat_result) -> int:
    """The nanoseconds until a file's last change is SETTLE old; 0 for one dated in the future too."""
    age = time.time_ns() - file.st_mtime_ns
    return SETTLE - age if 0 <= age < SETTLE else 0


def _mark_settled(fd: int) -> None:
    """Date our own write back by SETTLE: it is finished, and no later writer need wait for it."""
    now = time.time_ns()
    with contextlib.suppress(PermissionError):
        os.utime(fd, ns=(now, now - SETTLE))


@functools.cache
def _ctypes() -> Any:
    return importlib.import_module("ctypes")  # a twentieth of a cold start, which only those who write need pay


@functools.cache
def _libc() -> Any:
    return _ctypes().CDLL(None, use_errno=True)


def _renameat2(source: str, target: str, flags: int) -> bool:
    """Linux's atomic rename with flags; False where system or file system lacks it, else OSError as usual."""
    call = getattr(_libc(), "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    code = _ctypes().get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), source, None, target)
