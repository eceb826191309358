"""Files on disk: written atomically and durably, and nobody's edit lost.

A process may be killed between any two calls here: what stood under a name stays there
whole, or the new bytes do. Everything is created 0600 in folders of 0700.
"""

import errno
import fcntl
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO
from typing import NamedTuple

from filemem.errors import Busy, Changed, FilememError, NotFound, Refused
from filemem.text.plain import digest

MAX_DEPTH = 64  # folders in folders; what lies deeper is no memory
MAX_FOLDER_BYTES = 3000  # of the path of a folder that memories may lie in
MAX_READ_BYTES = 100_000_000  # of any file that is read at once
MAX_SIGNATURE_BYTES = 100  # of who holds a lock
_SIGNATURE = re.compile(rb"process \d+, since [-\d: ]+")
MAX_TRIES = 20  # of a change to a file that others keep changing
SAVING_S = 0.05  # between two looks at a file that an editor emptied or moved aside
SAVING_LOOKS = 6  # that are taken again
SYNCED_AT_ONCE = 4  # files: an eighth of the time of one after the other
TEMPORARY = ".filemem-"  # every temporary file's name starts so, and so is hidden
OURS = f"{TEMPORARY}new-"  # of one that holds what the program was about to write
OF_EDIT = f"{OURS}edit-"  # into a file that is there
_FLAGS = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class Listed(NamedTuple):
    """What lies in a folder: its path from the top that was named, and its entry."""

    path: str
    entry: "os.DirEntry[str]"


class Tail(NamedTuple):
    """What a file holds from some byte on, and the file's inode."""

    inode: int
    data: bytes


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Have an error of the calls inside name `path`, and not a temporary file."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        what = "no such file or folder; name another, or make it first"
        raise NotFound(f"{path}: {what}.") from None
    except OSError as error:
        error.filename = path
        error.filename2 = None
        raise


def too_far(folder: str) -> bool:
    """Tell whether a folder is too deep, or its path too long, for memories in it."""
    return folder.count("/") >= MAX_DEPTH or len(os.fsencode(folder)) > MAX_FOLDER_BYTES


def through_link(path: str) -> bool:
    """Tell whether an absolute path, or anything above it, is a symbolic link."""
    if os.path.normpath(path) != path:
        return True
    while len(path) > 1:
        if os.path.islink(path):
            return True
        path = os.path.dirname(path)
    return False


# -- listing and reading -----------------------------------------------------------


def walk(
    top: str, should_enter: Callable[[str, "os.DirEntry[str]"], bool]
) -> Iterator[Listed]:
    """Yield what lies below a folder, folders among it.

    What may not be listed is left out, and what `should_enter` does not want.
    """
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with suppress(OSError), os.scandir(f"{top}/{prefix}") as entries:
            for entry in entries:
                path = prefix + entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and should_enter(path, entry):
                    waiting.append(f"{path}/")
                yield Listed(path, entry)


def type_at(path: str) -> int:
    """Return the mode of what lies at a place, a link too; 0 for nothing.

    By one look, as between two of them another process may make it or take it away.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.lstat(path).st_mode
    return 0


def open_regular(path: str, flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of the plain file at `path`.

    Raises:
        NotFound: it is missing.
        Refused: it is a link or no plain file, or its permissions forbid it.
    """
    with _naming(path):
        kind = type_at(path)
        if stat.S_ISLNK(kind):
            raise Refused(f"{path} is a symbolic link; name the file itself.")
        if kind and not stat.S_ISREG(kind):
            remedy = "put one in its place, or choose another name"
            raise Refused(f"{path} is not a regular file; {remedy}.")
        try:
            return os.open(path, flags | _FLAGS, 0o600)
        except PermissionError as error:
            why = f"{error.strerror}; check its permissions"
            raise Refused(f"{path} cannot be opened: {why}.") from None


def read(path: str, limit: int | None = None) -> bytes:
    """Return the bytes of the plain file at `path`, at most `limit` of them.

    Raises:
        NotFound, Refused: as `open_regular`; without a limit, a file too large.
    """
    with _naming(path), _opened(path) as file:
        if limit is None:
            return _whole(file, path)
        return file.read(min(limit, os.fstat(file.fileno()).st_size))


def read_from(path: str, start: int) -> Tail:
    """Return the bytes of the plain file at `path` from one on; raise as `read`."""
    with _naming(path), _opened(path) as file:
        file.seek(start)
        return Tail(os.fstat(file.fileno()).st_ino, _whole(file, path))


def _whole(file: FileIO, path: str) -> bytes:
    """Return all bytes of an open file; raise Refused where there are too many."""
    if os.fstat(file.fileno()).st_size > MAX_READ_BYTES:
        what = f"is larger than {MAX_READ_BYTES // 1_000_000} MB"
        remedy = "too large to be read; make it smaller, or move it away"
        raise Refused(f"{path} {what}, {remedy}.")
    return file.read()


def settle(path: str, flags: int = os.O_RDONLY) -> FileIO:
    """Open a file that an editor may be saving: some empty it, or move it aside.

    Without the wait an edit gives the name to a new file while the editor still writes
    into the emptied one: the person's save is lost. A turn appended to the emptied file
    is written over, and a file that is to be deleted comes back.

    Raises:
        NotFound, Refused: as `open_regular`, after a few more looks.
    """
    for _ in range(SAVING_LOOKS):
        with suppress(NotFound):
            file = _opened(path, flags)
            if os.fstat(file.fileno()).st_size:
                return file
            file.close()
        time.sleep(SAVING_S)
    return _opened(path, flags)


def _opened(path: str, flags: int = os.O_RDONLY) -> FileIO:
    return FileIO(open_regular(path, flags), "r" if flags == os.O_RDONLY else "r+")


# -- folders and names -------------------------------------------------------------


def make_folder(path: str) -> None:
    """Create `path` and its missing parents, 0700, durably; raise Refused."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(os.path.abspath(path))
    make_folder(above)
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    if not os.path.isdir(path):
        remedy = "rename it, so that memories can be kept there"
        raise Refused(f"{path} is not a folder; {remedy}.")
    sync_folder(above)


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable, where it may be listed."""
    with suppress(PermissionError, FileNotFoundError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def rename_new(source: str, target: str) -> None:
    """Rename a file to a name that must be free; raise FileExistsError otherwise."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(source, target)


def delete(path: str) -> None:
    """Delete the file at `path`; raise NotFound where there is none."""
    with _naming(path):
        os.unlink(path)


def delete_if(path: str, known_as: str) -> None:
    """Delete a file if it still has a digest; the caller syncs its folder.

    Raises:
        Changed: it is not.
    """
    with settle(path) as file:
        is_same = digest(_whole(file, path)) == known_as
    if not is_same:
        raise Changed(f"{path} has just changed; it was left as it is, so try again.")
    delete(path)


def remove(path: str) -> None:
    """Delete whatever lies at `path`: a file, a link, a folder with all in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        delete(path)


# -- writing -----------------------------------------------------------------------


def create(path: str, data: bytes) -> None:
    """Write a new file atomically; raise FileExistsError where the name is taken."""
    with _written(path, data) as draft:
        rename_new(draft, path)


def write_drafts(wanted: Mapping[str, bytes]) -> dict[str, str]:
    """Write what new files are to hold into hidden files beside them.

    Their bytes are durable then, and their names once their folders are synced.

    Args:
        wanted: what each is to hold, by its path.

    Returns:
        The hidden file for each path, which `name_draft` gives its name.

    Raises:
        FilememError, OSError: one cannot be written; then none is left.
    """
    drafts: dict[str, BufferedWriter] = {}
    try:
        for path, data in wanted.items():
            drafts[path] = _draft(path, data)
        _sync_together(drafts)
    except BaseException:
        for draft in drafts.values():
            os.unlink(draft.name)
        raise
    finally:
        for draft in drafts.values():
            draft.close()
    return {path: draft.name for path, draft in drafts.items()}


def name_draft(draft: str, path: str) -> None:
    """Give a hidden file its name; the caller syncs the folder.

    Raises:
        FileExistsError: the name is taken.
    """
    with _naming(path):
        rename_new(draft, path)


def _sync_together(drafts: Mapping[str, BufferedWriter]) -> None:
    """Make files durable, some at once: a disk does together what waits together."""
    if len(drafts) == 1:  # most often, and needs no threads
        list(map(_sync, drafts.items()))
        return
    with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
        list(pool.map(_sync, drafts.items()))


def _sync(drafted: tuple[str, BufferedWriter]) -> None:
    """Make one draft durable; an error names the path that it is for."""
    path, draft = drafted
    with _naming(path):
        os.fsync(draft.fileno())


def write(path: str, data: bytes) -> None:
    """Write a file that only the program owns, atomically, whatever stood there."""
    with _written(path, data) as draft:
        os.replace(draft, path)


@contextmanager
def _written(
    path: str, data: bytes, like: os.stat_result | None = None
) -> Iterator[str]:
    """Write `data` to a hidden file beside `path`, durably, to be given its name.

    Owner and mode are those of the file that it is `like`, where that is allowed.
    """
    with _naming(path), _draft(path, data, like) as draft:
        try:
            _sync((path, draft))
            yield draft.name
            sync_folder(os.path.dirname(path) or ".")
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft.name)


def _draft(
    path: str, data: bytes, like: os.stat_result | None = None
) -> BufferedWriter:
    """Return an open hidden file that holds `data`; where that fails none is left."""
    folder = os.path.dirname(path) or "."
    start = f"{folder}/{OF_EDIT if like else OURS}"
    with _naming(path):
        name = f"{start}{os.urandom(8).hex()}"
        raw = FileIO(name, "x", opener=_open_private)
        draft: BufferedWriter = BufferedWriter(raw)
        try:
            if like:
                with suppress(PermissionError):
                    os.chown(draft.name, like.st_uid, like.st_gid)
                os.chmod(draft.name, stat.S_IMODE(like.st_mode))
            draft.write(data)
            draft.flush()
        except BaseException:
            os.unlink(draft.name)
            with suppress(OSError):  # what it could not write it tries once more
                draft.close()
            raise
    return draft


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | _FLAGS, 0o600)


def edit(path: str, change: Callable[[bytes], bytes | None]) -> bool:
    """Replace a file's bytes by `change(bytes)`, by compare-and-swap.

    Where a person saves in between, `change` is asked again with their bytes. A save
    in the microseconds between our last look and our own rename cannot be told by
    calls that every system has.

    Returns:
        False where `change` returned None or the same bytes.

    Raises:
        Changed: the file kept changing.
    """
    for _ in range(MAX_TRIES):
        with _naming(path), settle(path) as old:
            before = _whole(old, path)
            after = change(before)
            if after is None or after == before:
                return False
            like = os.fstat(old.fileno())
            with _written(path, after, like) as temporary:
                if _reread(old) != before or not _is_at(old, path):
                    continue
                os.replace(temporary, path)
            late = _reread(old)
            if late == before:
                return True
            # An editor that had the file open saved it at the moment of the rename:
            # its bytes get the name, unless there are newer ones.
            with _written(path, late, like) as temporary, suppress(NotFound):
                if read(path) == after:
                    os.replace(temporary, path)
    raise Changed(f"{path} keeps changing on disk; save it and try again.")


def _reread(file: FileIO) -> bytes:
    file.seek(0)
    return file.read()


def append(path: str, data: bytes) -> None:
    """Add whole lines at the end of a file, durably, on a line of their own.

    A full disk leaves the old bytes. What a person saves over at the same moment is
    added again.

    Raises:
        Changed: the file kept changing.
    """
    for _ in range(MAX_TRIES):
        with _naming(path), settle(path, os.O_RDWR | os.O_APPEND) as file:
            copies = _whole(file, path).count(data)
            _write_end(file, data)
            if _is_at(file, path) and _reread(file).count(data) > copies:
                return
    raise Changed(f"{path} keeps changing on disk; save it and try again.")


def log(path: str, lines: bytes, *, durably: bool = True) -> int:
    """Add whole lines to a log that only the program writes; return its size.

    A kill may tear the last line, which then says nothing; the next one begins anew.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    with _naming(path), _opened(path, flags) as file:
        is_new = not _write_end(file, lines, durably=durably)
        if is_new and durably:
            sync_folder(os.path.dirname(path) or ".")
        return file.tell()


def _write_end(file: FileIO, data: bytes, *, durably: bool = True) -> int:
    """Write whole lines behind a file's last byte, and return where it ended before.

    Raises:
        OSError: the disk is full; what was written is taken back.
    """
    descriptor = file.fileno()
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read(1) not in (b"", b"\n"):
        data = b"\n" + data
    try:
        if os.write(descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if durably:
            os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    return size


# -- who writes --------------------------------------------------------------------


@contextmanager
def lock(path: str, wait: float = 10.0) -> Iterator[FileIO]:
    """Hold the lock file at `path` alone, and yield it; a killed holder frees it.

    Raises:
        Busy: another process held it for `wait` seconds.
    """
    end = time.monotonic() + wait
    while True:
        with _opened(path, os.O_RDWR | os.O_CREAT) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise busy(path) from None
                time.sleep(0.005)
                continue
            # Else it was deleted while we waited, and others lock a new one.
            if _is_at(file, path):
                yield file
                return


def sign(file: FileIO) -> None:
    """Write into a lock file who holds it, and since when; a full disk stops nobody."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        file.truncate(0)
        file.write(f"process {os.getpid()}, since {since}".encode())


def busy(path: str) -> Busy:
    """Return the error of a lock that somebody holds: who, if they have signed it."""
    signed = None
    with suppress(FilememError, OSError):
        signed = _SIGNATURE.match(read(path, MAX_SIGNATURE_BYTES))
    holder = f"{signed[0].decode()}," if signed else "another process"
    return Busy(f"{holder} holds {path}; try again when it is done.")


def _is_at(file: FileIO, path: str) -> bool:
    """Tell whether an open file is the one that has the name now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    except FileNotFoundError:
        return False
