"""Bytes on disk: reads that refuse what is no plain file, writes that are atomic and durable and lose nobody's edit.

Everything is created 0600 in folders of 0700. A process may be killed between any two calls here: what stood under a
name stays there whole, or the new bytes do.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator

from filemem.errors import Busy, Changed, NotFound, Refused

PAGE = 4096
SETTLE = 50_000_000  # nanoseconds
TEMPORARY = ".filemem-"  # every temporary file's name starts so; hidden, hence never a memory
_NOREPLACE, _EXCHANGE = 1, 2  # flags of Linux's renameat2(2)
_AT_FDCWD = -100
_LIBC = ctypes.CDLL(None, use_errno=True)


def open_regular(path: str) -> int:
    """A descriptor to read the plain file at `path`; raises Refused for anything else, NotFound when it is missing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"{path} is a symbolic link; name the file itself.") from None
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise Refused(f"{path} is no plain file.") from None
        raise Refused(f"{path} cannot be read: {error.strerror}; check its permissions.") from None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise Refused(f"{path} is no plain file.")


def read(path: str, limit: int | None = None) -> bytes:
    """The bytes of the plain file at `path`, at most `limit` of them."""
    with open(open_regular(path), "rb") as file:
        return file.read() if limit is None else file.read(limit)


def make_folder(path: str) -> None:
    """Create `path` and its missing parents, 0700, durably."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        sync_folder(os.path.dirname(folder))


def sync_folder(path: str) -> None:
    """Make the names in a folder durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def create(path: str, data: bytes) -> None:
    """Write a new file atomically; raises FileExistsError, and writes nothing, where the name is taken."""
    temporary = _write_temporary(path, data)
    try:
        rename_new(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    sync_folder(os.path.dirname(path))


def write(path: str, data: bytes) -> None:
    """Write a file that only the program owns (bookkeeping), atomically, whatever stood there."""
    temporary = _write_temporary(path, data)
    os.replace(temporary, path)
    sync_folder(os.path.dirname(path))


def edit(path: str, change: Callable[[bytes], bytes | None], tries: int = 20) -> bool:
    """Replace the file's bytes by `change(bytes)`; False when that is None or the same.

    What is on disk is compared with what was read at the very moment of the swap; where a person saved in between,
    their bytes go back and `change` is asked again with them. Raises Changed after `tries` such rounds.
    """
    for _ in range(tries):
        before = read(path)
        after = change(before)
        if after is None or after == before:
            return False
        if _swap(path, before, after):
            return True
    raise Changed(f"{path} keeps changing on disk; save it and try again.")


def append(path: str, data: bytes) -> None:
    """Add whole lines at the end, durably, starting a new line where the file lacks its last newline.

    One write inside a page cannot be torn by a kill; a longer one goes by a swap. A full disk leaves the old bytes.
    """
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        if not size:
            _let_settle(path)
            size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            data = b"\n" + data
        if size % PAGE + len(data) > PAGE:
            edit(path, lambda old: old + data)
            return
        try:
            if os.write(fd, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        except OSError:
            os.ftruncate(fd, size)
            raise
        os.fsync(fd)
    finally:
        os.close(fd)


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
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _flock(fd, path, wait)
        yield
    finally:
        os.close(fd)


def _flock(fd: int, path: str, wait: float) -> None:
    """Poll for the lock until it is ours or `wait` seconds are over."""
    end = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise Busy(f"another process has held {path} for {wait:g} s; try again when it is done.") from None
            time.sleep(0.005)


def _write_temporary(path: str, data: bytes) -> str:
    """A fsynced file with `data`, hidden, in the folder of `path`."""
    temporary = os.path.join(os.path.dirname(path), f"{TEMPORARY}{secrets.token_hex(8)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _swap(path: str, before: bytes, after: bytes) -> bool:
    """Put `after` in the place of `before`; False, with the newest save there, when it no longer holds `before`."""
    _let_settle(path)
    if read(path) != before:
        return False
    temporary = _write_temporary(path, after)
    try:
        os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        if not _renameat2(temporary, path, _EXCHANGE):
            return _swap_by_rename(temporary, path, before)
        displaced = read(temporary)
        if displaced != before:
            _put_back(temporary, path, displaced, after)
            return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    sync_folder(os.path.dirname(path))
    return True


def _put_back(temporary: str, path: str, newest: bytes, ours: bytes) -> None:
    """Exchange until `path` holds the person's newest save, even if they save again meanwhile."""
    while True:
        _renameat2(temporary, path, _EXCHANGE)
        out = read(temporary)
        if out == ours:
            return
        newest, ours = out, newest


def _let_settle(path: str) -> None:
    """Wait while the file is younger than SETTLE: an editor that saves in place truncates first and writes then."""
    age = time.time_ns() - os.stat(path).st_mtime_ns
    if 0 <= age < SETTLE:
        time.sleep((SETTLE - age) / 1e9)


def _swap_by_rename(temporary: str, path: str, before: bytes) -> bool:
    """Where files cannot be exchanged: compare once more, then rename."""
    if read(path) != before:
        return False
    os.replace(temporary, path)
    sync_folder(os.path.dirname(path))
    return True


def _renameat2(source: str, target: str, flags: int) -> bool:
    """Linux's atomic rename with flags; False where system or file system lacks it, else OSError as usual."""
    call = getattr(_LIBC, "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), source, None, target)
