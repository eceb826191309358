"""A job for many users, each on its own.

Nothing that is done for one user needs another: one job at a time works on a user's memories, which a lock sees to, and one that
is killed anywhere is done again to the same end. So whoever was at it when a worker was killed is tried again, a busy user later.
"""

import heapq
import json
import os
import queue
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future

from filemem.errors import FilememError
from filemem.files import disk, logs
from filemem.files.folder import BOOKKEEPING
from filemem.files.places import Place
from filemem.jobs.pools import Pool
from filemem.jobs.table import Order, Outcome
from filemem.text.plain import digest

TRIES = 6  # of one user
PAUSE = 0.5  # seconds before the second try, twice as long before each further one: a quarter of a minute in all


def outcomes(order: Order, users: Mapping[str, str], pool: Pool) -> Iterator[list[Outcome]]:
    """What becomes of each user, as many at a time as are done. `users` has with each name what is theirs alone.

    What may pass is tried again: a busy lock, a worker that was killed.
    """
    waiting, tries = deque(users), Counter[str]()
    later: list[tuple[float, str]] = []
    under_way: dict[Future[Outcome], str] = {}
    done: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
    while waiting or later or under_way:
        while later and later[0][0] <= time.monotonic():
            waiting.append(heapq.heappop(later)[1])
        while waiting and len(under_way) < pool.room:
            user = waiting.popleft()
            future = pool.submit(order, user, users[user])
            under_way[future] = user
            future.add_done_callback(done.put)
        found = []
        for future in _taken(done, under_way, later):
            user = under_way.pop(future)
            outcome = _outcome(future, user, pool)
            tries[user] += 1
            if outcome.passing and tries[user] < TRIES:
                heapq.heappush(later, (time.monotonic() + PAUSE * 2 ** (tries[user] - 1), user))
            else:
                found.append(outcome)
        if found:
            yield found


def _taken(
    done: "queue.SimpleQueue[Future[Outcome]]", under_way: dict["Future[Outcome]", str], later: list[tuple[float, str]]
) -> Iterator["Future[Outcome]"]:
    """All that is done, after the wait for one, or for the time at which somebody is to be tried again."""
    left = max(0.0, later[0][0] - time.monotonic()) if later else None
    if not under_way:
        time.sleep(left or 0)
        return
    try:
        yield done.get(timeout=left)
        while True:
            yield done.get_nowait()
    except queue.Empty:
        return


def _outcome(future: "Future[Outcome]", user: str, pool: Pool) -> Outcome:
    """What became of a user, where the worker could not say it either."""
    if future.cancelled():
        raise FilememError("the scheduler has gone; start it again, and the same command with --resume goes on.")
    error = future.exception()
    if error is None:
        return future.result()
    killed = isinstance(error, pool.killed)
    return Outcome(user, [], {}, "its worker was killed." if killed else f"{type(error).__name__}: {error}", killed)


class Journal:
    """Which users a job is done with, in `.filemem/jobs/JOB-DIGEST.jsonl` of the store; another day or option begins anew.

    A name is on disk before the next result is looked at, so that the job goes on where it was cut off.
    """

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
