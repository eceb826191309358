"""A user's move from one shard to another: copied, compared by digest, switched by one rename, then removed.

The registry names the new shard before the copy has its name, and counts from the moment at which it has it (see `shards`):
wherever a move is killed there is one whole copy that is found, and the next move of that user finishes it. What lies beside
the users' folders meanwhile begins with `.filemem-`: the copy that is coming, the digests of what was copied, the old folder
going, and gone once it was compared with these.
"""

import contextlib
import json
import os
import stat
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

from filemem.errors import Changed, NotFound, Refused
from filemem.files import archive, disk
from filemem.files.folder import BOOKKEEPING, MOVING, Folder
from filemem.files.places import Place, listed, remove, spot
from filemem.files.shards import Shard
from filemem.files.store import StoreFolder
from filemem.text.plain import first_few

_COMING, _GOING, _GONE = (f"{disk.TEMPORARY}{what}-" for what in ("coming", "going", "gone"))
GRACE = (
    0.25  # seconds for who reads at the moment of the switch: they have found the old folder, and open their file in it
)
_LOCKS, _COMMITTING = ("lock", "job.lock"), "filemem.lock"
_TRIES = 3  # to copy what a person saves in meanwhile
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Move(NamedTuple):
    """Where a user's folder lies, where it is to lie, and what is copied: the same place where only remains are removed."""

    source: str
    target: str
    files: int
    bytes: int


def plan(store: StoreFolder, name: str, given: str, caches: Collection[str]) -> Move:
    """What moving a user to a shard would do; raises FilememError where it cannot be done."""
    shard, folder = store.shards.named(given), _folder(store, name)
    target = os.path.join(shard.place, folder.name)
    if folder.above == shard.place:
        return Move(folder.root, target, 0, 0)
    sizes = [status.st_size for _, status in _entries(folder.place, caches) if stat.S_ISREG(status.st_mode)]
    return Move(folder.root, target, len(sizes), sum(sizes))


def apply(store: StoreFolder, name: str, given: str, caches: Collection[str]) -> Move:
    """Move a user to a shard, or finish a move that was cut off. `caches` in the bookkeeping are not taken along.

    Raises Busy where another job or a writer keeps the user, Changed where a person saves all the while.
    """
    shard, folder = store.shards.named(given), _folder(store, name)
    with archive.job_lock(folder), folder.locked(), _repository(folder):
        _clear(store, folder, caches)
        found = plan(store, name, given, caches)
        if found.source != found.target:
            _carry(store, folder, shard, caches)
        elif store.shards.moved().get(folder.name, shard.entry) != shard.entry:
            store.shards.register(folder.name, shard.entry)
    # Under the lock where the folder lies now: on a file server, a folder with an open file in it cannot be removed.
    with folder.locked():
        _clear(store, folder, caches)
    return found


def _folder(store: StoreFolder, name: str) -> Folder:
    folder = store.folder(name)
    if not folder.exists():
        raise NotFound(f"there is no user {folder.name} in {store.root}.")
    return folder


@contextlib.contextmanager
def _repository(folder: Folder) -> Iterator[None]:
    """Keep filemem from committing to a repository of the user's own; raises Refused where that cannot be copied."""
    where = folder.place / ".git"
    if not os.path.lexists(where):
        yield
        return
    if os.path.islink(where) or not os.path.isdir(where):
        raise Refused(
            f"the repository of {folder.name} lies elsewhere, as {where} says; bring it there as a folder first."
        )
    if os.path.lexists(where / "index.lock"):
        raise Refused(f"git is at work in {where}; try again when it is done.")
    with disk.lock(where / _COMMITTING):
        yield


# -- copying -----------------------------------------------------------------------------------------------------


def _carry(store: StoreFolder, folder: Folder, shard: Shard, caches: Collection[str]) -> None:
    """Copy, compare, and switch; the old folder goes out of sight."""
    name, source, old, new = folder.name, folder.place, _top(folder.above), _top(shard.place)
    coming = new / f"{_COMING}{name}"
    if os.path.lexists(new / name):
        raise Refused(f"{new / name} is there already, and not of a move; look at it, and delete or rename it.")
    for _ in range(_TRIES):
        _copy(source, coming, caches)
        digests = _digests(source, caches)
        if digests == _digests(coming, ()):
            break
        remove(coming)
    else:
        raise Changed(f"the memories of {name} keep changing on disk; nothing was moved, try again.")
    disk.write(old / f"{MOVING}{name}", json.dumps(digests).encode())
    store.trust.moved(old / name, new / name)
    store.shards.register(name, shard.entry)
    disk.replace(coming, new / name)
    disk.sync_folder(new)
    time.sleep(GRACE)
    disk.replace(old / name, old / f"{_GOING}{name}")
    disk.sync_folder(old)


def _top(place: str) -> Place:
    return Place(os.path.realpath(place))


def _entries(top: Place, caches: Collection[str]) -> Iterator[tuple[str, os.stat_result]]:
    """All that lies in a user's folder but locks and caches, each folder before what is in it."""
    left_out = {f"{BOOKKEEPING}/{name}" for name in (*_LOCKS, *caches)} | {f".git/{_COMMITTING}"}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with listed(top / prefix) as entries:
            for entry in entries:
                path, status = prefix + entry.name, entry.stat(follow_symlinks=False)
                if path not in left_out:
                    yield path, status
                    waiting += [f"{path}/"] * stat.S_ISDIR(status.st_mode)


def _digests(top: Place, caches: Collection[str]) -> dict[str, str]:
    """What all files, links and folders hold, by path; raises Refused for what is none of these."""
    return {path: _digest(top / path, status.st_mode) for path, status in _entries(top, caches)}


def _digest(place: Place, mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    return f"-> {_link(place)}" if stat.S_ISLNK(mode) else disk.digest(place)


def _link(place: Place) -> str:
    with spot(place) as at:
        return os.readlink(at.name, dir_fd=at.folder)


def _copy(source: Place, target: Place, caches: Collection[str]) -> None:
    """Copy a user's folder durably: bytes, modes and times; links as they are."""
    disk.make_folder(target)
    folders = [target]
    for path, status in _entries(source, caches):
        old, new = source / path, target / path
        if stat.S_ISDIR(status.st_mode):
            disk.make_folder(new)
            folders.append(new)
        elif stat.S_ISLNK(status.st_mode):
            with spot(new) as at:
                os.symlink(_link(old), at.name, dir_fd=at.folder)
        else:
            _copy_file(old, new)
    for folder in folders:
        disk.sync_folder(folder)


def _copy_file(old: Place, new: Place) -> None:
    with open(disk.open_regular(old), "rb") as reading, open(disk.open_regular(new, _NEW), "wb") as writing:
        while data := reading.read(disk.ROOM):
            writing.write(data)
        writing.flush()
        file, status = writing.fileno(), os.fstat(reading.fileno())
        with contextlib.suppress(PermissionError):
            os.chown(file, status.st_uid, status.st_gid)
        os.chmod(file, stat.S_IMODE(status.st_mode))
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.fsync(file)


# -- what a move leaves ------------------------------------------------------------------------------------------


def _clear(store: StoreFolder, folder: Folder, caches: Collection[str]) -> None:
    """Remove what moves of a user have left, under the lock of where they lie now; raises Changed for what was saved since."""
    for shard in store.shards.all():
        if not shard.there():
            continue
        top, name = _top(shard.place), folder.name
        coming, digests, going, gone = (top / f"{what}{name}" for what in (_COMING, MOVING, _GOING, _GONE))
        for remains in filter(os.path.lexists, (coming, gone)):
            remove(remains)
        if not os.path.lexists(digests):
            continue
        if os.path.lexists(top / name) and shard.place != folder.above and not os.path.lexists(going):
            disk.replace(top / name, going)
        if os.path.lexists(going):
            known = json.loads(disk.read(digests))
            left = [path for path, found in _digests(going, caches).items() if known.get(path) != found]
            if left:
                raise Changed(
                    f"{first_few(left)} in {going} was saved there while {folder.name} was moved; bring it over"
                    f" to {folder.root}, delete {going}, then give the same command again."
                )
            disk.replace(going, gone)
            remove(gone)
        disk.delete(digests)
        disk.sync_folder(top)
