"""Files on disk: looked at before they are touched, written atomically and durably, and nobody's edit lost.

A `Place` is checked at the door: no link leads from its top to it. A process may be killed between any two calls here: what stood
under a name stays there whole, or the new bytes do. Everything is created 0600 in folders of 0700. Only the calls of every
system are used; `_lock` and the modes alone know which one this is.
"""

import contextlib
import errno
import itertools
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

from filemem.errors import Busy, Changed, FilememError, NotFound, Problem, Refused
from filemem.text.plain import one_line

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DEEPEST = 64  # folders in folders; what lies deeper is no memory
LONGEST_NAME, LONGEST_PATH = 255, 4000  # bytes; Linux has NAME_MAX 255 and PATH_MAX 4096
PAGE = 4096
MOST = 100_000_000  # bytes read at once of any file; a log of a million lines has half as many
SETTLE = 50_000_000  # nanoseconds
TRIES = 20
CUT_OFF = 60  # seconds after which a temporary file is what a write left that was killed
TEMPORARY = ".filemem-"  # every temporary file's name starts so; hidden, hence never a memory
OURS = f"{TEMPORARY}new-"  # of one that holds what the program was about to write, and nothing of anybody's
_LACKING = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS)  # what the system lacks, whatever the file
_PLAIN = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


# -- where a file lies -----------------------------------------------------------------------------------------------


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


def folder_of(path: str) -> str:
    """The folder in which a path lies; of a Place a Place, but for its `top`."""
    if isinstance(path, Place) and path.inside:
        return path.folder
    return os.path.dirname(path) or "."


def _door(folder: str) -> None:
    """Raise NotFound where no folder lies there, and of a Place Refused where one on the way from its top is a link."""
    names = filter(None, folder.inside.split("/")) if isinstance(folder, Place) else ()
    for path in itertools.accumulate((folder.top if isinstance(folder, Place) else folder, *names), "{}/{}".format):
        try:
            found = os.stat(path, follow_symlinks=not isinstance(folder, Place))
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{path}: no such folder.") from None
        except PermissionError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}; check its permissions.") from None
        if stat.S_ISLNK(found.st_mode):
            raise Refused(f"{path} is a symbolic link, which is not followed; put the folder itself in its place.")
        if not stat.S_ISDIR(found.st_mode):
            raise NotFound(f"{path}: no such folder.")


def too_far(top: str, inside: str) -> bool:
    """Does the folder `inside` of `top` lie so deep, or has it so long a path, that nothing in it can be a memory?"""
    longest = LONGEST_PATH - LONGEST_NAME
    long = 4 * (len(top) + len(inside)) > longest and len(os.fsencode(top)) + len(os.fsencode(inside)) > longest
    return long or inside.count("/") >= DEEPEST


# -- listing and reading ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def listed(path: str) -> Iterator[Iterator["os.DirEntry[str]"]]:
    """What lies in a folder."""
    _door(path)
    with os.scandir(path) as entries:
        yield entries


def names_in(path: str) -> list[str]:
    """The names of what lies in a folder, sorted."""
    with listed(path) as entries:
        return sorted(entry.name for entry in entries)


def walk(top: Place, enter: Callable[[str, "os.DirEntry[str]"], bool]) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """The paths of what lies below a folder, however deep, folders among it; `enter` says which of those to look into.
    What may not be listed is passed over."""
    try:
        _door(top)
    except (NotFound, Refused):
        return
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError),
            os.scandir(f"{top}/{prefix}") as entries,
        ):
            for entry in entries:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False) and enter(path, entry):
                    waiting.append(f"{path}/")
                yield path, entry


def status(path: str) -> os.stat_result:
    """What lies at `path`, a link as itself; raises FileNotFoundError where nothing does, and as for its folder."""
    _door(folder_of(path))
    return os.lstat(path)


def exists(path: str) -> bool:
    """Does anything lie at `path`? Raises Refused where the way there leads through a link."""
    try:
        status(path)
    except (NotFound, FileNotFoundError):
        return False
    return True


def open_regular(path: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the plain file at `path`; raises Refused for anything else, NotFound when it is missing."""
    with _about(path):
        _door(folder_of(path))
        try:
            fd = os.open(path, flags | _PLAIN, 0o600)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{path}: no such file.") from None
        except OSError as error:
            if error.errno in _LACKING:
                raise
            if os.path.islink(path):
                raise Refused(f"{path} is a symbolic link; name the file itself.") from None
            if error.errno in (errno.ENXIO, errno.ENODEV, errno.EISDIR):
                raise Refused(f"{path} is not a regular file; put one in its place, or choose another name.") from None
            verb = "read" if flags == os.O_RDONLY else "changed"
            raise Refused(f"{path} cannot be {verb}: {error.strerror}; check its permissions.") from None
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise Refused(f"{path} is not a regular file; put one in its place, or choose another name.")


def read(path: str, limit: int | None = None) -> bytes:
    """The bytes of the plain file at `path`, at most `limit` of them; without one raises Refused for more than MOST."""
    with _about(path), open(open_regular(path), "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size  # room for all that it may hold would take longer than the reading
        if limit is None and size > MOST:
            raise too_large(path)
        return file.read(size if limit is None else min(size, limit))


def too_large(path: str) -> Refused:
    """What is said of a file with more than MOST bytes."""
    return Refused(
        f"{path} is larger than {MOST // 1_000_000} MB, too large to be read; make it smaller, or move it away."
    )


def digest(path: str) -> str:
    """The SHA-256 of a plain file's bytes, of any size, in hexadecimal."""
    import hashlib  # noqa: PLC0415  it loads OpenSSL, which takes a twentieth of a cold start

    with open(open_regular(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- folders and names -----------------------------------------------------------------------------------------------


def make_folder(path: str) -> None:
    """Create `path` and its missing parents, 0700, durably; raises Refused where a name among them is not a folder's."""
    path = path if isinstance(path, Place) else os.path.abspath(path)
    try:
        _door(path)
        return
    except NotFound:
        make_folder(folder_of(path))
    with _about(path):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise Refused(f"{path} is not a folder; rename it, for memories are to be kept under it.") from None
        sync_folder(folder_of(path))


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable, where the system can."""
    try:
        fd = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder that may be written to but not listed; any on Windows
        return
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def replace(source: str, target: str) -> None:
    """Rename a file that only the program owns, whatever had the new name."""
    _door(folder_of(source))
    _door(folder_of(target))
    os.replace(source, target)


def rename_new(source: str, target: str) -> None:
    """Rename a file to a name that must be free; raises FileExistsError otherwise. Never has it two names, or none."""
    _door(folder_of(source))
    _door(folder_of(target))
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(source, target)


def move(source: str, target: str) -> None:
    """Move a file to a free name in another folder, durably; raises FileExistsError where the name is taken."""
    make_folder(folder_of(target))
    rename_new(source, target)
    sync_folder(folder_of(target))
    sync_folder(folder_of(source))


def delete(path: str) -> None:
    """Delete the file at `path`; raises NotFound where there is none."""
    _door(folder_of(path))
    try:
        os.unlink(path)
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file.") from None


def delete_if(path: Place, same: Callable[[Place], bool]) -> None:
    """Delete a file if it still is what a test wants; raises Changed where it is not."""
    wait_for_editor(path)
    if not same(path):
        raise Changed(f"{path} has just been changed; it was left as it is, try again.")
    delete(path)
    sync_folder(path.folder)


def remove(path: Place) -> None:
    """Delete whatever lies at `path`: a file, a link itself, a folder with all that is in it, however deep.

    Each folder is moved up into the first before it is emptied, so that none is reached by way of a thousand others.
    """
    if not stat.S_ISDIR(status(path).st_mode):
        os.unlink(path)
        return
    fresh = (f"{path}/.{os.urandom(8).hex()}-{number}" for number in itertools.count())
    waiting = [str(path)]
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            inner = [(f"{folder}/{entry.name}", entry.is_dir(follow_symlinks=False)) for entry in entries]
        for entry, deeper in inner:
            if deeper:
                waiting.append(next(fresh))
                os.rename(entry, waiting[-1])
            else:
                os.unlink(entry)
        if folder != path:
            os.rmdir(folder)
    os.rmdir(path)


# -- writing ---------------------------------------------------------------------------------------------------------


def create(path: str, data: bytes) -> None:
    """Write a new file atomically; raises FileExistsError, and writes nothing, where the name is taken."""
    with _written(path, data) as temporary:
        try:
            os.link(temporary, path)  # refuses a taken name at that very moment
        except FileExistsError:
            raise
        except OSError:  # a file system without them
            rename_new(temporary, path)


def write(path: str, data: bytes) -> None:
    """Write a file that only the program owns (bookkeeping), atomically, whatever stood there."""
    with _written(path, data) as temporary:
        os.replace(temporary, path)


@contextlib.contextmanager
def _written(path: str, data: bytes, like: os.stat_result | None = None) -> Iterator[str]:
    """A fsynced file with `data`, hidden, beside another, to be given its name; with the owner and mode of one that it is
    `like`, as far as we may."""
    with _about(path):
        folder = folder_of(path)
        _door(folder)
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
    """Replace the file's bytes by `change(bytes)`; False when that is None or the same.

    What is on disk is compared with what was read right before the rename; where a person saved in between, `change` is asked
    again with their bytes. Raises Changed after TRIES such rounds. Another's rename within the microseconds between that look
    and our own can't be told by calls that every system has.
    """
    for _ in range(TRIES):
        with _about(path), _rested(path, os.O_RDWR) as old:
            if os.fstat(old.fileno()).st_size > MOST:
                raise too_large(path)
            before = old.read()
            after = change(before)
            if after is None or after == before:
                return False
            if _swapped(old, path, before, after):
                return True
    raise _restless(path)


def _swapped(old: BinaryIO, path: str, before: bytes, after: bytes) -> bool:
    """Put `after` in the place of the open file, which had the bytes `before`; False, with the newest save there, where it has
    others by now."""
    like = os.fstat(old.fileno())
    with _written(path, after, like) as temporary:
        if not (_holds(old, before) and _is_at(old.fileno(), path)):
            return False
        os.replace(temporary, path)
    if _holds(old, before):
        return True
    # An editor that had the file open saved at the very moment of the rename: its bytes get the name, unless newer ones have it.
    while left := _unsettled(os.fstat(old.fileno())):
        time.sleep(left / 1e9)
    old.seek(0)
    with _written(path, old.read(), like) as temporary, contextlib.suppress(NotFound):
        if read(path) == after:
            os.replace(temporary, path)
    return False


def _holds(file: BinaryIO, data: bytes) -> bool:
    """Has the open file just these bytes, and nobody is about to write more?"""
    file.seek(0)
    return file.read(len(data) + 1) == data and not _unsettled(os.fstat(file.fileno()))


def append(path: str, data: bytes) -> None:
    """Add whole lines at the end, durably, starting a new line where the file lacks its last newline.

    One write inside a page cannot be torn by a kill; a longer one goes by an edit. A full disk leaves the old bytes.
    Where a person saved at the same moment, and the lines with it are gone, they are added again to what was saved.
    """
    for _ in range(TRIES):
        with _about(path), _rested(path, os.O_RDWR | os.O_APPEND) as file:
            lines = from_new_line(_last_byte(file), data)
            if file.tell() % PAGE + len(lines) > PAGE:
                break
            if _unsettled(os.fstat(file.fileno())):
                continue
            start = _write_end(file, lines, path)
            file.seek(start)
            if file.read(len(lines)) == lines and _is_at(file.fileno(), path):
                return
    else:
        raise _restless(path)
    edit(path, lambda old: old + from_new_line(old, data))


def log(path: str, lines: bytes, *, durably: bool = True) -> int:
    """Add whole lines to a log that only the program writes, made where there is none; returns its size.

    Nothing is rewritten, so that a large log costs no more than a small one; a kill may tear the last line, which then says
    nothing, and the next one begins anew.
    """
    with _about(path), open(open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "r+b", buffering=0) as file:
        start = _write_end(file, from_new_line(_last_byte(file), lines), path, durably=durably)
        if durably and not start:
            sync_folder(folder_of(path))
        return file.tell()


def from_new_line(before: bytes, data: bytes) -> bytes:
    """`data` as it follows `before`."""
    return data if not before or before.endswith(b"\n") else b"\n" + data


def _last_byte(file: BinaryIO) -> bytes:
    """The last byte of a file, behind which it stands then; empty for an empty one."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
    return file.read(1)


def _write_end(file: BinaryIO, data: bytes, path: str, *, durably: bool = True) -> int:
    """Write behind a file's last byte and say where; what a full disk cut off is taken back."""
    fd, size = file.fileno(), file.seek(0, os.SEEK_END)
    try:
        written = os.write(fd, data)
        size = file.tell() - written
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _mark_settled(fd if os.utime in os.supports_fd else path)
        if durably:
            os.fsync(fd)
    except OSError:
        if file.tell() == os.fstat(fd).st_size:  # our own bytes are the last
            os.ftruncate(fd, size)
        raise
    return size


def _restless(path: str) -> Changed:
    return Changed(f"{path} keeps changing on disk; save it and try again.")


# -- who writes ------------------------------------------------------------------------------------------------------


def _rested(path: str, flags: int) -> BinaryIO:
    """The open file, once no editor is in the midst of saving it."""
    for _ in range(TRIES):
        there = wait_for_editor(path)
        try:
            return open(open_regular(path, flags), "r+b", buffering=0)
        except NotFound:
            if not there:  # else an editor has moved the old file aside, and writes the new one
                raise
    raise _restless(path)


def wait_for_editor(path: str) -> bool:
    """Wait while an editor may be in the middle of a save: it truncates the file, or moves it aside, and writes then.

    Says whether there was a file before the wait.
    """
    try:
        left = _unsettled(status(path))
    except (NotFound, FileNotFoundError, NotADirectoryError):
        time.sleep(SETTLE / 1e9)
        return False
    if left:
        time.sleep(left / 1e9)
    return True


def _unsettled(file: os.stat_result) -> int:
    """The nanoseconds until a file's last change is SETTLE old; 0 for one dated in the future too."""
    age = time.time_ns() - file.st_mtime_ns
    return SETTLE - age if 0 <= age < SETTLE else 0


def _mark_settled(file: int | str) -> None:
    """Date our own write back by SETTLE: it is finished, and no later writer need wait for it."""
    now = time.time_ns()
    with contextlib.suppress(PermissionError):
        os.utime(file, ns=(now, now - SETTLE))


@contextlib.contextmanager
def lock(path: str, wait: float = 10.0) -> Iterator[None]:
    """Hold the lock file at `path` alone; raises Busy after `wait` seconds. A killed holder frees it."""
    end = time.monotonic() + wait
    while True:
        fd = open_regular(path, os.O_RDWR | os.O_CREAT)
        try:
            if not _lock(fd):
                if time.monotonic() >= end:
                    raise Busy(f"another process has held {path} for {wait:g} s; try again when it is done.")
                time.sleep(0.005)
            elif _is_at(fd, path):  # else it was deleted while we waited, and others lock a new one
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


def lock_problems(folder: str) -> list[Problem]:
    """What keeps two writers from waiting for each other in a store's folder; none where nothing can be written there."""
    place, wrong = Place(os.path.realpath(folder)) / f"{OURS}{os.urandom(8).hex()}", ""
    with contextlib.suppress(FilememError):
        try:
            with lock(place, 0), open(open_regular(place, os.O_RDWR), "rb") as other:
                wrong = "lets two hold one lock" if _lock(other.fileno()) else ""
        except OSError as error:
            wrong = f"cannot lock ({error.strerror})" if os.access(folder, os.W_OK) else ""
        delete(place)
    remedy = "keep the store on a file system that can, or let one process alone write there; see docs/scale.md"
    return [Problem(".", 1, f"the file system of {one_line(folder)} {wrong}", remedy)] if wrong else []


def _is_at(fd: int, path: str) -> bool:
    """Is the open file the one that has the name now?"""
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
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
