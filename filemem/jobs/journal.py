"""Which users a job is done with, so that it goes on where it was cut off: `.filemem/jobs/JOB-DIGEST.jsonl` in the store.

A name is on disk before the next result is looked at. A last line that a kill has torn is no JSON, and does not count.
"""

import json
import os
from collections.abc import Iterable

from filemem.files import disk, logs
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

    def done(self) -> set[str]:
        """The users whom the job is done with."""
        return set(map(str, logs.values(self._place)))

    def begin(self, *, anew: bool) -> None:
        """Make it ready to be added to; `anew` without what it held."""
        disk.make_folder(self._place.folder)
        if anew:
            disk.write(self._place, b"")

    def add(self, users: Iterable[str]) -> None:
        """Note that the job is done with these users, durably."""
        if lines := b"".join(map(logs.line, users)):
            logs.add(self._place, lines, durably=True)

    def end(self, *, whole: bool) -> None:
        """Where the job is done with everybody, nothing needs it any more."""
        if whole:
            disk.delete(self._place)
