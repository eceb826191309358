"""Another name of `safe`, until every room uses that one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from filemem.files.safe import *  # noqa: F403
from filemem.files.safe import Place, folder_of, status


class Spot:
    """A file that may be there."""

    def __init__(self, path: str) -> None:
        self.path = self.name = path
        self.folder = None

    def status(self) -> os.stat_result:
        """What lies there."""
        return status(self.path)


@contextmanager
def spot(path: str) -> Iterator[Spot]:
    """The name at the end of a path."""
    yield Spot(path)


class Reach:
    """Opens files below a folder."""

    def __init__(self, top: Place) -> None:
        self.top = top
        self._prefix: str | None = None

    def open(self, prefix: str, name: str, flags: int) -> int:
        """A descriptor of the file `name` in the folder `prefix` ("" or ending with /); raises as `door` does, or OSError."""
        place = self.top / f"{prefix}{name}"
        if prefix != self._prefix:
            door(folder_of(place))  # noqa: F405
            self._prefix = prefix
        return os.open(place, flags | os.O_NOFOLLOW | os.O_CLOEXEC)

    def close(self) -> None:
        """Let the next folder be looked at anew."""
        self._prefix = None
