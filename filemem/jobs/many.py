"""A job for many users, each on their own: one after the other here, or on the workers of a Dask cluster.

Nothing that is done for one user needs another, one job at a time works on a user's memories, which a lock sees to, and one
that was cut off anywhere is done again to the same end. So the same command again does no harm.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from filemem.errors import FilememError
from filemem.files.trust import Trust
from filemem.jobs.table import Order, Outcome, work
from filemem.text.plain import one_line

JOIN = 10  # seconds for the scheduler to answer


def outcomes(order: Order, users: Mapping[str, str], trust: Trust, scheduler: str = "") -> Iterator[Outcome]:
    """What becomes of each user, whose name comes with what is theirs alone; in the order in which they are done.

    `trust` has the person's answers, for what is done here. Raises FilememError where the scheduler cannot be reached.
    """
    if not scheduler:
        yield from (work(order, name, given, trust) for name, given in users.items())
        return
    try:
        import distributed  # noqa: PLC0415  Dask takes a second to load, and is an extra
    except ImportError:
        raise FilememError("--scheduler needs Dask; install it with: pip install 'filemem[dask]'.") from None
    try:
        client = distributed.Client(scheduler, timeout=JOIN, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = one_line(str(error), 200)
        raise FilememError(f"{scheduler} does not answer ({reason}); see that a scheduler runs there.") from None
    run = os.urandom(4).hex()  # Dask counts by what stands before the first number, and shows JOB-RUN-USER
    with client:
        keys = [f"{order.job}-{run}-{name}" for name in users]
        waiting = client.map(work, [order] * len(users), [*users], [*users.values()], key=keys, pure=False)
        names = dict(zip((future.key for future in waiting), users, strict=True))
        for future in distributed.as_completed(waiting, loop=client.loop):
            yield _outcome(future, names[future.key])


def _outcome(future: Any, user: str) -> Outcome:
    """What became of a user, where no worker could say it either."""
    error = future.exception() if future.status == "error" else None
    if error is None and future.status == "finished":
        found: Outcome = future.result()
        return found
    lost = f"{type(error).__name__}: {error}" if error else "the scheduler has gone; give the same command again."
    return Outcome(user, [], {}, one_line(lost, 300))
