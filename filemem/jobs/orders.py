"""What becomes of an order for one user, as a worker answers it: plain values all, as they travel between machines."""

import functools
from collections import Counter
from typing import NamedTuple

from filemem.errors import Busy, Changed, FilememError, in_words
from filemem.files.store import StoreFolder
from filemem.files.trust import Trust
from filemem.jobs.table import JOBS, Order, Work
from filemem.jobs.telling import Told


class Outcome(NamedTuple):
    """What became of a job for one user: what it tells and counts, or why it failed, and whether that may pass."""

    user: str
    told: list[Told]
    counts: dict[str, int]
    error: str = ""
    passing: bool = False


def work(order: Order, user: str, given: str = "", trust: Trust | None = None) -> Outcome:
    """Do a job for one user; what their files or the system refuse is told in the outcome. `given` is what is theirs alone."""
    counts = Counter[str]()
    try:
        store = StoreFolder(order.store, trust) if trust else _store(order.store, order.trusted)
        told = JOBS[order.job](Work(order, store, store.folder(user), counts, given, many=True))
        return Outcome(user, told, dict(counts))
    except (FilememError, OSError) as error:
        reason = in_words(error) if isinstance(error, OSError) else str(error)
        return Outcome(user, [], {}, reason, isinstance(error, Busy | Changed))


@functools.lru_cache(maxsize=2)
def _store(root: str, trusted: bool) -> StoreFolder:
    """A worker's store, whose settings are not read for each user."""
    return StoreFolder(root, Trust(given=trusted))
