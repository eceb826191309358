"""The jobs by name: what each does for one user, what it has to say, and what becomes of it: plain values, as these travel.

A job for many users does each on their own: one after the other here, or on the workers of a Dask cluster. Nothing that is done
for one needs another, one job at a time works on a user's memories, which a lock sees to, and one that was cut off anywhere is
done again to the same end. So the same command again does no harm.
"""

import contextlib
import datetime as dt
import functools
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError, Problem, Refused, in_words, missing_extra
from filemem.files import config, trust
from filemem.files.folder import Folder, Progress, StoreFolder, no_progress
from filemem.files.trust import Trust
from filemem.history import History
from filemem.jobs import maintenance
from filemem.jobs.maintenance import JobDone
from filemem.jobs.running import consolidated, job
from filemem.models import FailFastModel, Model, ModelError
from filemem.models.offline import OfflineModel, chosen_model
from filemem.overview import check, status
from filemem.remembering.consolidation import Applied
from filemem.text.plain import one_line

JOIN = 10  # seconds for the scheduler to answer


class Order(NamedTuple):
    """What is to be done for users of a store: a job of the table, with its options, at a time. Plain values, as it travels.

    `trusted`: the person trusts the store's settings and repository. `many`: the user is one of many.
    """

    job: str
    store: str
    at: dt.datetime
    options: dict[str, Any]
    trusted: bool = False
    many: bool = False

    def model(self, folder: Folder) -> Model | None:
        """The model that the command has chosen, None where none is asked; raises Refused where it would be at another endpoint
        than the person's."""
        name = str(self.options.get("model") or "")
        if name in ("", OfflineModel.name) or (self.many and self.options.get("dry_run")):
            return None
        if "base_url" in config.withheld(folder.store, trust=folder.trust):
            raise Refused(f"base_url of {config.place(folder.store)} is not trusted on this machine; {trust.REMEDY}.")
        return _model(folder.store, name)


@functools.lru_cache(maxsize=2)
def _model(settled: str, name: str) -> Model | None:
    """One model for all users of a run, so that one that has failed is not asked for each."""
    found = chosen_model(config.load(settled, trust=Trust(given=True)), name)
    return FailFastModel(found) if found else None


def _job(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    """Compact, sweep or maintain; progress in thousandths, as a bar is not shown for a small total."""
    dry, model = bool(order.options.get("dry_run")), functools.partial(order.model, folder)
    finer: Progress = lambda done, total: show(1000 * done, 1000 * total)  # noqa: E731
    if order.job == "maintain":
        return maintenance.maintain(folder, order.at, model(), finer, dry=dry)
    if order.job == "sweep":
        return [maintenance.sweep(folder, order.at, finer, dry=dry)]
    return [maintenance.compact(folder, order.at, model(), order.options.get("older_than"), finer, dry=dry)]


def _consolidate(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    """Have the model read what waits. Without a model, or dry, what that takes is told."""
    model, named = order.model(folder), order.options.get("model") not in (None, "", OfflineModel.name)
    if order.options.get("dry_run") or model is None:
        return [maintenance.waiting(folder, model=named)._replace(job="")]
    found, requests = list[tuple[Applied, str]](), order.options.get("requests", 0)
    for one in consolidated(folder, order.at, model, review=bool(order.options.get("review"))):
        found.append(one)
        show(1000 * min(len(found), requests), 1000 * requests)
    failed = [done.error for done, _ in found if done.error]
    if failed and not any(done.decisions for done, _ in found):
        raise ModelError(failed[0])
    return [maintenance.read((done for done, _ in found), (git for _, git in found))]


def _check(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    found, followed = list[Problem](), list[str]()
    with contextlib.suppress(FilememError):  # a bookkeeping that is a link, which is named below
        found = History(folder).problems()
        with job(folder, "check", order.at, alone=False) as run:
            done = maintenance.follow_renames(folder)
            followed = done.said
            run.commit(done.subject, done.paths)
    found += check.problems(folder, show)
    told = [JobDone("", [one], {"followed": one}) for one in followed]
    return told + [JobDone("", [str(one._replace(path=f"{folder.name}/{one.path}"))], one._asdict()) for one in found]


def _status(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    found = status.status(folder, order.at, show)
    kinds = {name: kind._asdict() for name, kind in found.kinds.items()}
    live, archived = (sum(kind[key] for kind in kinds.values()) for key in ("live", "archived"))
    brief = [f"{live:,} live, {archived:,} archived, {len(found.fading):,} fading within {status.SOON} days"]
    return [JobDone("", brief if order.many else status.in_words(found), {**found._asdict(), "kinds": kinds})]


JOBS: dict[str, Callable[[Order, Folder, Progress], list[JobDone]]] = {
    "maintain": _job,
    "consolidate": _consolidate,
    "compact": _job,
    "sweep": _job,
    "check": _check,
    "status": _status,
}


# -- for many users --------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What became of a job for one user: what it tells, or why it failed."""

    user: str
    told: list[JobDone]
    error: str = ""


def work(order: Order, user: str, trust: Trust | None = None) -> Outcome:
    """Do a job for one user; what their files or the system refuse is told in the outcome."""
    try:
        if not os.path.isdir(order.store):
            raise FilememError(
                f"{socket.gethostname()} does not see {order.store}; mount it there under the same name."
            )
        store = StoreFolder(order.store, trust) if trust else _store(order.store, order.trusted)
        return Outcome(user, JOBS[order.job](order, store.folder(user), no_progress))
    except (FilememError, OSError) as error:
        return Outcome(user, [], in_words(error) if isinstance(error, OSError) else str(error))


@functools.lru_cache(maxsize=2)
def _store(root: str, trusted: bool) -> StoreFolder:
    """A worker's store, whose settings are not read for each user."""
    return StoreFolder(root, Trust(given=trusted))


def outcomes(order: Order, users: Sequence[str], trust: Trust, scheduler: str = "") -> Iterator[Outcome]:
    """What becomes of each user, in the order in which they are done.

    `trust` has the person's answers, for what is done here. Raises FilememError where the scheduler cannot be reached.
    """
    order = order._replace(many=True)
    if not scheduler:
        yield from (work(order, name, trust) for name in users)
        return
    try:
        import distributed  # noqa: PLC0415  Dask takes a second to load, and is an extra
    except ImportError:
        raise missing_extra("what --scheduler needs", "dask") from None
    try:
        client = distributed.Client(scheduler, timeout=JOIN, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = one_line(str(error), 200)
        raise FilememError(f"{scheduler} does not answer ({reason}); see that a scheduler runs there.") from None
    run = os.urandom(4).hex()  # Dask counts by what stands before the first number, and shows JOB-RUN-USER
    with client:
        keys = [f"{order.job}-{run}-{name}" for name in users]
        waiting = client.map(work, [order] * len(users), [*users], key=keys, pure=False)
        names = dict(zip((future.key for future in waiting), users, strict=True))
        for future in distributed.as_completed(waiting, loop=client.loop):
            if future.status == "finished":
                yield future.result()
            else:
                failed = future.exception() if future.status == "error" else None
                lost = (
                    f"{type(failed).__name__}: {failed}"
                    if failed
                    else "the scheduler has gone; give the same command again."
                )
                yield Outcome(names[future.key], [], one_line(lost, 300))
