"""Files on disk: written atomically and durably, and nobody's edit lost.

A process may be killed between any two calls here: what stood under a name stays there whole, or the new bytes do. Everything is
created 0600 in folders of 0700. Only the calls of every system are used; `_lock` and the modes alone know which one this is.
"""

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

from filemem.errors import Busy, Changed, NotFound, Refused

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DEEPEST, LONGEST_NAME = (
    64,
    255,
)  # folders in folders, and bytes of a name; what lies deeper is no memory
PAGE = 4096
MOST = 100_000_000  # bytes read at once of any file; a log of a million lines has half as many
SETTLE = 0.05  # seconds for which an editor, which truncates a file or moves it aside, may go on with its save
TRIES = 20
CUT_OFF = (
    60  # seconds after which a temporary file is what a write left that was killed
)
TEMPORARY = (
    ".filemem-"  # every temporary file's name starts so; hidden, hence never a memory
)
OURS = f"{TEMPORARY}new-"  # of one that holds what the program was about to write, and nothing of anybody's
_RESTLESS = "keeps changing on disk; save it and try again"
_PLAIN = sum(
    getattr(os, name, 0)
    for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")
)


@contextlib.contextmanager
def _about(path: str) -> Iterator[None]:
    """Have an error of the calls inside name `path`: NotFound, and an OSError, some of which name no file, or a temporary one."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(
            f"{path}: no such file or folder; name another, or make it first."
        ) from None
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def too_far(folder: str) -> bool:
    """Is a folder too deep, or its path too long, for anything in it to be a memory?"""
    return folder.count("/") >= DEEPEST or len(os.fsencode(folder)) > 3000


def through_link(path: str) -> bool:
    """Is an absolute path, or anything above it, a symbolic link?"""
    return os.path.normcase(os.path.realpath(path)) != os.path.normcase(
        path
    ) or os.path.islink(path)


# -- listing and reading ---------------------------------------------------------------------------------------------


def walk(
    top: str, enter: Callable[[str, "os.DirEntry[str]"], bool]
) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """The paths of what lies below a folder, folders among it, but in what may not be listed; `enter` says which to look into."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(f"{top}/{prefix}") as entries:
            for entry in entries:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False) and enter(path, entry):
                    waiting.append(f"{path}/")
                yield path, entry


def open_regular(path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the plain file at `path`; raises Refused for anything else, NotFound when it is missing."""
    with _about(path):
        mode = os.lstat(path).st_mode if os.path.lexists(path) else stat.S_IFREG
        if stat.S_ISLNK(mode):
            raise Refused(f"{path} is a symbolic link; name the file itself.")
        if not stat.S_ISREG(mode):
            raise Refused(
                f"{path} is not a regular file; put one in its place, or choose another name."
            )
        try:
            return os.open(path, flags | _PLAIN, 0o600)
        except PermissionError as error:
            verb = "read" if flags == os.O_RDONLY else "changed"
            raise Refused(
                f"{path} cannot be {verb}: {error.strerror}; check its permissions."
            ) from None


def read(path: str, limit: int | None = None) -> bytes:
    """The bytes of the plain file at `path`, at most `limit` of them; without one raises Refused for more than MOST."""
    with _about(path), open(open_regular(path), "rb", buffering=0) as file:
        size = os.fstat(
            file.fileno()
        ).st_size  # room for all that it may hold would take longer than the reading
        if limit is None and size > MOST:
            large = f"is larger than {MOST // 1_000_000} MB, too large to be read"
            raise Refused(f"{path} {large}; make it smaller, or move it away.")
        return file.read(size if limit is None else min(size, limit))


# -- folders and names -----------------------------------------------------------------------------------------------


def make_folder(path: str) -> None:
    """Create `path` and its missing parents, 0700, durably; raises Refused where a name among them is not a folder's."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    make_folder(above)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    if not os.path.isdir(path):
        raise Refused(
            f"{path} is not a folder; rename it, so that memories can be kept there."
        )
    sync_folder(above)


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable, where the system can."""
    with contextlib.suppress(
        PermissionError, FileNotFoundError
    ):  # of one that may not be listed; of any on Windows
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def rename_new(source: str, target: str) -> None:
    """Rename a file to a name that must be free; raises FileExistsError otherwise. Never has it two names, or none."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(source, target)


def delete(path: str) -> None:
    """Delete the file at `path`; raises NotFound where there is none."""
    with _about(path):
        os.unlink(path)


def delete_if(path: str, same: Callable[[str], bool]) -> None:
    """Delete a file if it still is what a test wants, for the caller to sync its folder; raises Changed where it is not."""
    settle(path).close()
    if not same(path):
        raise Changed(f"{path} has just changed; it was left as it is, so try again.")
    delete(path)


def remove(path: str) -> None:
    """Delete whatever lies at `path`: a file, a link itself, a folder with all that is in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        delete(path)


# -- writing ---------------------------------------------------------------------------------------------------------


def create(path: str, data: bytes) -> None:
    """Write a new file atomically; raises FileExistsError, and writes nothing, where the name is taken."""
    with _written(path, data) as temporary:
        rename_new(temporary, path)


def write(path: str, data: bytes) -> None:
    """Write a file that only the program owns (bookkeeping), atomically, whatever stood there."""
    with _written(path, data) as temporary:
        os.replace(temporary, path)


@contextlib.contextmanager
def _written(
    path: str, data: bytes, like: os.stat_result | None = None
) -> Iterator[str]:
    """A fsynced file with `data`, hidden, to be given the name; with owner and mode of one that it is `like`, where we may."""
    with _about(path):
        folder = os.path.dirname(path) or "."
        temporary = f"{folder}/{OURS}{os.urandom(8).hex()}"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN, 0o600)
        try:
            with open(fd, "wb") as file:
                if like:
                    with contextlib.suppress(PermissionError, AttributeError):
                        os.chown(temporary, like.st_uid, like.st_gid)
                    os.chmod(temporary, stat.S_IMODE(like.st_mode))
                file.write(data)
                file.flush()
                _mark_settled(temporary)
                os.fsync(fd)
            yield temporary
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        sync_folder(folder)


def edit(path: str, change: Callable[[bytes], bytes | None]) -> bool:
    """Replace the file's bytes by `change(bytes)`; False when that is None or the same. Where a person saves in between, `change`
    is asked again with their bytes; raises Changed after TRIES such rounds. Another's rename within the microseconds between the
    last look and our own rename can't be told by calls that every system has."""
    for _ in range(TRIES):
        with _about(path), settle(path, os.O_RDWR) as old:
            before = old.read()
            after = change(before)
            if after is None or after == before:
                return False
            like = os.fstat(old.fileno())
            with _written(path, after, like) as temporary:
                if _rested(old) != before or not _is_at(old.fileno(), path):
                    continue
                os.replace(temporary, path)
            if (late := _rested(old)) == before:
                return True
            # An editor that had the file open saved at the very moment of the rename: its bytes get the name.
            with _written(path, late, like) as temporary, contextlib.suppress(NotFound):
                if read(path) == after:  # else there are newer ones
                    os.replace(temporary, path)
    raise Changed(f"{path} {_RESTLESS}.")


def _rested(file: BinaryIO) -> bytes:
    """What an open file holds, once an editor's save has finished."""
    while rest := _unsettled(os.fstat(file.fileno())):
        time.sleep(rest)
    file.seek(0)
    return file.read()


def append(path: str, data: bytes) -> None:
    """Add whole lines at the end, durably, starting a new line where the file lacks its last newline. One write inside a page
    cannot be torn by a kill; a longer one goes by an edit. A full disk leaves the old bytes. What a person saves over at the same
    moment is added again."""
    held = None
    for _ in range(TRIES):
        with _about(path), settle(path, os.O_RDWR | os.O_APPEND) as file:
            now = file.read()
            before, held = held, now.count(data)
            if (
                before is not None and held > before
            ):  # they stand in what has the name now
                return
            if len(now) % PAGE + len(data) >= PAGE:
                edit(
                    path,
                    lambda old: (
                        old + data if old[-1:] in (b"", b"\n") else old + b"\n" + data
                    ),
                )
                return
            _write_end(file, data, path)
    raise Changed(f"{path} {_RESTLESS}.")


def log(path: str, lines: bytes, *, durably: bool = True) -> int:
    """Add whole lines to a log that only the program writes, made where there is none; returns its size. A kill may tear the
    last line, which then says nothing, and the next one begins anew."""
    with (
        _about(path),
        open(
            open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "r+b", buffering=0
        ) as file,
    ):
        if not _write_end(file, lines, path, durably=durably) and durably:
            sync_folder(os.path.dirname(path) or ".")
        return file.tell()


def _write_end(file: BinaryIO, data: bytes, path: str, *, durably: bool = True) -> int:
    """Write whole lines behind a file's last byte, and return where; what a full disk cut off is taken back."""
    fd, size = file.fileno(), file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read(1) not in (b"", b"\n"):
        data = b"\n" + data
    try:
        written = os.write(fd, data)
        size = file.tell() - written  # another program may have added to it meanwhile
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _mark_settled(path)
        if durably:
            os.fsync(fd)
    except OSError:
        if file.tell() == os.fstat(fd).st_size:  # nothing was added after ours
            os.ftruncate(fd, size)
        raise
    return size


# -- who writes ------------------------------------------------------------------------------------------------------


def settle(path: str, flags: int = os.O_RDONLY) -> BinaryIO:
    """The open file, once no editor is in the middle of saving it: some empty a file, or move it aside, for a moment."""
    for late in range(TRIES):
        try:
            descriptor = open_regular(path, flags)
            file: BinaryIO
            if flags == os.O_RDONLY:
                file = open(descriptor, "rb", buffering=0)  # noqa: SIM115
            else:
                file = open(descriptor, "r+b", buffering=0)  # noqa: SIM115
        except NotFound:
            if late:
                raise
            time.sleep(SETTLE)
            continue
        rest = _unsettled(os.fstat(file.fileno()))
        if not rest:
            return file
        file.close()
        time.sleep(rest)
    raise Changed(f"{path} {_RESTLESS}.")


def _unsettled(file: os.stat_result) -> float:
    """The seconds until a file's last change is SETTLE old, more of an empty one, about to be written; 0 for one to come."""
    rest, age = (
        SETTLE if file.st_size else 20 * SETTLE,
        (time.time_ns() - file.st_mtime_ns) / 1e9,
    )
    return rest - age if 0 <= age < rest else 0


def _mark_settled(path: str) -> None:
    """Date our own write back by SETTLE: it is finished, and no later writer need wait for it."""
    now = time.time_ns()
    with contextlib.suppress(PermissionError, FileNotFoundError):
        os.utime(path, ns=(now, now - int(SETTLE * 1e9)))


@contextlib.contextmanager
def lock(path: str, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock file at `path` alone; raises Busy after `wait` seconds. A killed holder frees it."""
    end = time.monotonic() + wait
    while True:
        fd = open_regular(path, os.O_RDWR | os.O_CREAT)
        try:
            if not _lock(fd):
                if time.monotonic() >= end:
                    raise Busy(
                        f"another process has held {path} for {wait:g} s; try again when it is done."
                    )
                time.sleep(0.005)
            elif _is_at(
                fd, path
            ):  # else it was deleted while we waited, and others lock a new one
                yield
                return
        finally:
            os.close(fd)


def _lock(fd: int) -> bool:
    """Take the lock of an open file, which ends as it is closed; False where another has it."""
    try:
        if fcntl:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt  # noqa: PLC0415  of Windows

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is_at(fd: int, path: str) -> bool:
    """Is the open file the one that has the name now?"""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except FileNotFoundError:
        return False
