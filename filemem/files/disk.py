"""Bytes on disk: reads that refuse what is no plain file, writes that are atomic and durable and lose nobody's edit.

Each call opens the folder of its file, of a `Place` without following a link, and works relative to that. Everything is
created 0600 in folders of 0700. A process may be killed between any two calls here: what stood under a
name stays there whole, or the new bytes do.
"""

import contextlib
import errno
import fcntl
import functools
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from filemem.errors import Busy, Changed, FilememError, NotFound, Refused
from filemem.files.places import Place, Spot, folder_of, opened, spot

PAGE = 4096
MOST = 100_000_000  # bytes read at once of any file; a log of a million lines has half as many
ROOM = 1 << 20  # bytes read at a time of what grows
SETTLE = 50_000_000  # nanoseconds
TRIES = 20
TEMPORARY = ".filemem-"  # every temporary file's name starts so; hidden, hence never a memory
_NOREPLACE, _EXCHANGE = 1, 2  # flags of Linux's renameat2(2)
_OURS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS)  # what the system lacks, whatever the file


def open_regular(path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the plain file at `path`; raises Refused for anything else, NotFound when it is missing."""
    try:
        folder = opened(folder_of(path))
        try:
            return _open(Spot(folder, os.path.basename(path), path), flags)
        finally:
            os.close(folder)
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def _open(at: Spot, flags: int = os.O_RDONLY) -> int:
    try:
        fd = os.open(at.name, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=at.folder)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"{at.path}: no such file.") from None
    except OSError as error:
        if error.errno in _OURS:
            raise
        if error.errno == errno.ELOOP:
            raise Refused(f"{at.path} is a symbolic link; name the file itself.") from None
        if error.errno in (errno.ENXIO, errno.ENODEV, errno.EISDIR):
            raise Refused(f"{at.path} is no plain file.") from None
        verb = "read" if flags == os.O_RDONLY else "changed"
        raise Refused(f"{at.path} cannot be {verb}: {error.strerror}; check its permissions.") from None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise Refused(f"{at.path} is no plain file.")


def read(path: str, limit: int | None = None) -> bytes:
    """The bytes of the plain file at `path`, at most `limit` of them; without one raises Refused for more than MOST."""
    return _all(open_regular(path), path, limit)


def digest(path: str) -> str:
    """The SHA-256 of a plain file's bytes, of any size, in hexadecimal."""
    import hashlib  # noqa: PLC0415  it loads OpenSSL, which takes a twentieth of a cold start

    with open(open_regular(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(at: Spot) -> bytes:
    return _all(_open(at), at.path)


def _all(fd: int, path: str, limit: int | None = None) -> bytes:
    """What an open file holds, which is closed then."""
    try:
        most = MOST + 1 if limit is None else limit
        size = os.fstat(fd).st_size
        if limit is None and size > MOST:
            raise too_large(path)
        pieces = [os.read(fd, min(size + 1, most))]  # room for all that it may hold would take longer than the reading
        length = len(pieces[0])
        while pieces[-1] and length < most and length != size:
            pieces.append(os.read(fd, min(ROOM, most - length)))
            length += len(pieces[-1])
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(fd)
    if limit is None and length > MOST:
        raise too_large(path)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def too_large(path: str) -> Refused:
    """What is said of a file with more than MOST bytes."""
    return Refused(
        f"{path} is larger than {MOST // 1_000_000} MB, too large to be read; make it smaller, or move it away."
    )


def exists(path: str) -> bool:
    """Does anything lie at `path`? Raises Refused where the way there leads through a link."""
    try:
        with spot(path) as at:
            at.status()
    except (NotFound, FileNotFoundError):
        return False
    return True


def delete(path: str) -> None:
    """Delete the file at `path`; raises NotFound where there is none."""
    with spot(path) as at:
        try:
            os.unlink(at.name, dir_fd=at.folder)
        except FileNotFoundError:
            raise NotFound(f"{path}: no such file.") from None


def delete_if(path: Place, same: Callable[[Place], bool]) -> None:
    """Delete a file if it still is what a test wants; raises Changed, with the file in its place, where it is not.

    It is moved aside first, so that what is tested is what is deleted.
    """
    if same(path):
        aside = temporary_in(path.folder)
        replace(path, aside)
        if same(aside):
            delete(aside)
            sync_folder(path.folder)
            return
        with contextlib.suppress(FileExistsError):  # saved anew meanwhile: what was moved aside is left for `check`
            rename_new(aside, path)
    raise Changed(f"{path} has just been changed; it was left as it is, try again.")


def make_folder(path: str) -> None:
    """Create `path` and its missing parents, 0700, durably; raises Refused where a name among them is no folder's."""
    path = path if isinstance(path, Place) else os.path.abspath(path)
    try:
        os.close(opened(path))
        return
    except NotFound:
        make_folder(folder_of(path))
    with _about(path), spot(path) as at:
        try:
            os.mkdir(at.name, 0o700, dir_fd=at.folder)
        except FileExistsError:
            if not stat.S_ISDIR(at.status().st_mode):
                raise Refused(f"{path} is no folder; rename it, for memories are to be kept under it.") from None
        _sync(at.folder)


def sync_folder(path: str) -> None:
    """Make the names in a folder durable, where the file system can."""
    folder = opened(path)
    try:
        _sync(folder)
    finally:
        os.close(folder)


def _sync(folder: int) -> None:
    try:
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
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
    _put(path, data, _rename_new)


def write(path: str, data: bytes) -> None:
    """Write a file that only the program owns (bookkeeping), atomically, whatever stood there."""
    _put(path, data, _replace)


def _put(path: str, data: bytes, rename: Callable[[Spot, Spot], None]) -> None:
    """Write a temporary file and give it its name."""
    with _about(path), spot(path) as at:
        temporary = _write_temporary(at, data)
        try:
            rename(temporary, at)
        except BaseException:
            _discard(temporary, (data,))
            raise
        _sync(at.folder)


def edit(path: str, change: Callable[[bytes], bytes | None]) -> bool:
    """Replace the file's bytes by `change(bytes)`; False when that is None or the same.

    What is on disk is compared with what was read at the very moment of the swap; where a person saved in between,
    their bytes go back and `change` is asked again with them. Raises Changed after TRIES such rounds.
    """
    for _ in range(TRIES):
        with _about(path), spot(path) as at:
            there = _let_settle(at)
            try:
                before = _read(at)
            except NotFound:
                if there:
                    continue
                raise
            after = change(before)
            if after is None or after == before:
                return False
            if _swap(at, before, after):
                return True
    raise _restless(path)


def append(path: str, data: bytes) -> None:
    """Add whole lines at the end, durably, starting a new line where the file lacks its last newline.

    One write inside a page cannot be torn by a kill; a longer one goes by a swap. A full disk leaves the old bytes.
    Where a person saved at the same moment, and the lines with it are gone, they are added again to what was saved.
    """
    for _ in range(TRIES):
        with _about(path), spot(path) as at:
            there = _let_settle(at)
            try:
                fd = _open(at, os.O_RDWR | os.O_APPEND)
            except NotFound:
                if there:
                    continue
                raise
            with open(fd, "rb", buffering=0):
                if _unsettled(os.fstat(fd)):
                    continue
                size = os.fstat(fd).st_size
                lines = from_new_line(os.pread(fd, 1, max(0, size - 1)), data)
                if size % PAGE + len(lines) <= PAGE:
                    start = _write_end(fd, lines)
                    if os.pread(fd, len(lines), start) == lines and _is_at(fd, at):
                        return
                    continue
        edit(path, lambda old: old + from_new_line(old, data))
        return
    raise _restless(path)


def log(path: str, data: bytes) -> None:
    """Add whole lines to a log that only the program writes, made where there is none."""
    if not exists(path):
        write(path, b"")
    append(path, data)


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
    with spot(source) as old, spot(target) as new:
        _rename_new(old, new)


def _rename_new(old: Spot, new: Spot) -> None:
    if _renameat2(old, new, _NOREPLACE):
        return
    # Another file system or system: link refuses a taken name as well.
    os.link(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder, follow_symlinks=False)
    os.unlink(old.name, dir_fd=old.folder)


def replace(source: str, target: str) -> None:
    """Rename a file that only the program owns, whatever had the new name."""
    with spot(source) as old, spot(target) as new:
        _replace(old, new)


def _replace(old: Spot, new: Spot) -> None:
    os.replace(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder)


def move(source: str, target: str) -> None:
    """Move a file to a free name in another folder, durably; raises FileExistsError where the name is taken."""
    make_folder(folder_of(target))
    with spot(source) as old, spot(target) as new:
        _rename_new(old, new)
        _sync(new.folder)
        _sync(old.folder)


@contextlib.contextmanager
def lock(path: str, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock file at `path` alone; raises Busy after `wait` seconds. A killed holder frees it."""
    end = time.monotonic() + wait
    while True:
        with spot(path) as at:
            fd = _open(at, os.O_RDWR | os.O_CREAT)
            try:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() >= end:
                        raise Busy(
                            f"another process has held {path} for {wait:g} s; try again when it is done."
                        ) from None
                    time.sleep(0.005)
                    continue
                if _is_at(fd, at):  # else it was deleted while we waited, and others lock a new one
                    yield
                    return
            finally:
                os.close(fd)


def _is_at(fd: int, at: Spot) -> bool:
    """Is the open file the one that has the name now?"""
    try:
        return os.path.samestat(os.fstat(fd), at.status())
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


def temporary_in(folder: Place) -> Place:
    """A name in a folder that nobody has, hidden, hence never a memory's."""
    return folder / (TEMPORARY + os.urandom(8).hex())


def _write_temporary(at: Spot, data: bytes, like: os.stat_result | None = None) -> Spot:
    """A fsynced file with `data`, hidden, beside another; with the owner and mode of one that it is `like`, as far as we may."""
    temporary = at._replace(name=TEMPORARY + os.urandom(8).hex())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    fd = os.open(temporary.name, flags, 0o600, dir_fd=at.folder)
    try:
        with open(fd, "wb") as file:
            if like:
                with contextlib.suppress(PermissionError):
                    os.chown(fd, like.st_uid, like.st_gid)
                os.chmod(fd, stat.S_IMODE(like.st_mode))
            file.write(data)
            file.flush()
            _mark_settled(fd)
            os.fsync(fd)
    except BaseException:
        os.unlink(temporary.name, dir_fd=at.folder)
        raise
    return temporary


def _discard(temporary: Spot, known: tuple[bytes, ...]) -> None:
    """Delete a temporary file that holds known bytes; what else lies there is a person's save, and left for `check`."""
    with contextlib.suppress(FilememError, OSError):
        if _read(temporary) in known:
            os.unlink(temporary.name, dir_fd=temporary.folder)


def _swap(at: Spot, before: bytes, after: bytes) -> bool:
    """Put `after` in the place of `before`; False, with the newest save there, when it no longer holds `before`."""
    try:
        fd = _open(at, os.O_RDWR)  # held open, so that what is displaced can be read for certain
    except NotFound:  # an editor moves the old file aside before it writes the new one
        return False
    with open(fd, "rb") as old:
        if old.read(len(before) + 1) != before:
            return False
        temporary = _write_temporary(at, after, os.fstat(fd))
        try:
            if not _exchange(temporary, at, old, before, after):
                return False
        finally:
            _discard(temporary, (before, after))
    _sync(at.folder)
    return True


def _exchange(temporary: Spot, at: Spot, old: BinaryIO, before: bytes, after: bytes) -> bool:
    """Exchange the two files and look at what came out; where that is not `before` as `old` has it, exchange again."""
    if not _holds(old, at, before):
        return False
    try:
        if not _renameat2(temporary, at, _EXCHANGE):
            _replace(temporary, at)  # a system that cannot exchange: the comparison above must do
            return True
    except FileNotFoundError:
        return False
    if _holds(old, temporary, before):
        return True
    _renameat2(temporary, at, _EXCHANGE)
    if _read(temporary) != after:  # saved yet again meanwhile: the newest save stays, the older is left for `check`
        _renameat2(temporary, at, _EXCHANGE)
    return False


def _holds(file: BinaryIO, at: Spot, data: bytes) -> bool:
    """Is the open file still the one there, with these bytes in it, and nobody about to write more?"""
    file.seek(0)
    return _is_at(file.fileno(), at) and file.read(len(data) + 1) == data and not _unsettled(os.fstat(file.fileno()))


def wait_for_editor(path: str) -> bool:
    """Wait while an editor may be in the middle of a save: it truncates the file, or moves it aside, and writes then.

    Says whether there was a file before the wait.
    """
    try:
        with spot(path) as at:
            return _let_settle(at)
    except NotFound:
        time.sleep(SETTLE / 1e9)
        return False


def _let_settle(at: Spot) -> bool:
    try:
        left = _unsettled(at.status())
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
def _linux() -> tuple[Any, Callable[[], int]]:
    """The system's renameat2, None where it has none, and what tells the error of its last call."""
    import ctypes  # noqa: PLC0415  a twentieth of a cold start, which only those who write need pay

    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None), ctypes.get_errno


def _renameat2(old: Spot, new: Spot, flags: int) -> bool:
    """Linux's atomic rename with flags; False where system or file system lacks it, else OSError as usual."""
    call, error = _linux()
    if call is None:
        return False
    if call(old.folder, os.fsencode(old.name), new.folder, os.fsencode(new.name), flags) == 0:
        return True
    code = error()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), old.path, None, new.path)
