"""A private folder for copies of memories, in `.filemem/tmp`.

A copy is deleted when it is closed or its object goes; what a killed process left, the
next job deletes, and `forget` deletes all of them.
"""

import contextlib
import os
import shutil
import weakref

from filemem.errors import Busy, FilememError
from filemem.store import files
from filemem.store.folder import Folder

NAME = "tmp"
_LOCK = ".lock"


class Scratch:
    """An empty private folder at `path`, locked for as long as this object is used."""

    def __init__(self, folder: Folder) -> None:
        """Make the folder. Raises OSError or Refused if nothing can be written there."""
        above = folder.bookkeeping(NAME)
        self.path = f"{above}/{os.urandom(8).hex()}"
        files.make_folder(above)
        held = contextlib.ExitStack()
        held.enter_context(files.lock(f"{self.path}{_LOCK}", 0))
        os.mkdir(self.path, 0o700)
        self.close = weakref.finalize(self, _discard, self.path, held)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def _discard(path: str, held: contextlib.ExitStack) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(f"{path}{_LOCK}")
    held.close()


def clear(folder: Folder, *, in_use: bool = False) -> None:
    """Delete the copies that killed processes have left; with `in_use` all of them."""
    above = folder.bookkeeping(NAME)
    if not os.path.isdir(above):
        return
    for name in {entry.removesuffix(_LOCK) for entry in os.listdir(above)}:
        path = f"{above}/{name}"
        if in_use:
            _discard(path, contextlib.ExitStack())
            continue
        with contextlib.suppress(Busy, FilememError, OSError):
            held = contextlib.ExitStack()
            held.enter_context(files.lock(f"{path}{_LOCK}", 0))
            _discard(path, held)
