"""Which users a job is done with, so that it goes on where it was cut off: `.filemem/jobs/JOB-DIGEST.jsonl` in the store.

A name is on disk before the next result is looked at. A last line that a kill has torn is no JSON, and does not count.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator

from filemem.errors import NotFound
from filemem.files import disk
from filemem.files.folder import BOOKKEEPING
from filemem.files.places import Place
from filemem.jobs.table import Order
from filemem.text.plain import digest


class Journal:
    """The journal of one job in one store, with its options, on its day: another day or another option begins anew."""

    def __init__(self, order: Order) -> None:
        what = json.dumps([order.options, str(order.at.date())], sort_keys=True)
        name = f"{BOOKKEEPING}/jobs/{order.job}-{digest(what, 16)}.jsonl"
        self._place = Place(os.path.realpath(order.store)) / name
        self._file = -1

    def done(self) -> set[str]:
        """The users whom the job is done with."""
        try:
            return set(_names(disk.read(self._place)))
        except NotFound:
            return set()

    def begin(self, *, anew: bool) -> None:
        """Make it ready to be added to; `anew` without what it held."""
        disk.make_folder(self._place.folder)
        if anew or not disk.exists(self._place):
            disk.write(self._place, b"")
        self._file = disk.open_regular(self._place, os.O_WRONLY | os.O_APPEND)
        os.write(self._file, b"\n")  # behind what may be torn

    def add(self, users: Iterable[str]) -> None:
        """Note that the job is done with these users, durably."""
        lines = "".join(json.dumps(user) + "\n" for user in users)
        if lines:
            os.write(self._file, lines.encode())
            os.fsync(self._file)

    def end(self, *, whole: bool) -> None:
        """Close it; where the job is done with everybody, nothing needs it any more."""
        os.close(self._file)
        if whole:
            disk.delete(self._place)


def _names(data: bytes) -> Iterator[str]:
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError):
            yield str(json.loads(line))
