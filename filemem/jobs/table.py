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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError, Refused, in_words
from filemem.files import config, installed, trust
from filemem.files.archive import Progress, no_progress
from filemem.files.folder import Folder, StoreFolder
from filemem.files.trust import Trust
from filemem.history import History
from filemem.jobs import maintenance, renames
from filemem.jobs.maintenance import JobDone
from filemem.jobs.running import job
from filemem.jobs.telling import (
    Told,
    as_json,
    consolidated,
    in_sum,
    lines,
    notice,
)
from filemem.models import FailFastModel, Model, ModelError
from filemem.models.offline import OfflineModel, chosen_model
from filemem.overview import check, status
from filemem.remembering import consolidation
from filemem.text.plain import one_line

JOIN = 10  # seconds for the scheduler to answer


class Order(NamedTuple):
    """What is to be done for users of a store: a job of the table, with its options, at a time. Plain values, as it travels.

    `trusted`: the person trusts the store's settings and repository.
    """

    job: str
    store: str
    at: dt.datetime
    options: dict[str, Any]
    trusted: bool = False


class Work(NamedTuple):
    """An order for one user: `counts` takes what is added up over all.

    `many`: the user is one of many.
    """

    order: Order
    store: StoreFolder
    folder: Folder
    counts: Counter[str]
    many: bool = False
    show: Progress = no_progress

    @property
    def at(self) -> dt.datetime:
        """The time that is taken as now."""
        return self.order.at

    @property
    def options(self) -> Mapping[str, Any]:
        """The job's own options."""
        return self.order.options

    @property
    def dry(self) -> bool:
        """Is nothing to be written?"""
        return bool(self.options.get("dry_run"))

    @property
    def named(self) -> str:
        """The model that the command has chosen, empty for the offline rules."""
        name = str(self.options.get("model") or "")
        return "" if name == OfflineModel.name else name

    @property
    def model(self) -> Model | None:
        """That model, None where none is asked; raises Refused where it would be at another endpoint than the person's."""
        if not self.named or (self.dry and self.many):
            return None
        held = config.withheld(self.folder.store, trust=self.folder.trust)
        if "base_url" in held:
            raise Refused(
                f"base_url of {config.place(self.folder.store)} is not agreed to on this machine; {trust.REMEDY}."
            )
        return _model(self.folder.store, self.named)


@functools.lru_cache(maxsize=2)
def _model(settled: str, name: str) -> Model | None:
    """One model for all users of a run, so that one that has failed is not asked for each."""
    found = chosen_model(config.load(settled, trust=Trust(given=True)), name)
    return FailFastModel(found) if found else None


def _finer(show: Progress) -> Progress:
    """Progress of few, long steps in thousandths, as a bar is not shown for a small total."""
    return lambda done, total: show(1000 * done, 1000 * total)


def _told(done: Iterable[JobDone]) -> list[Told]:
    return [Told({"job": one.job, **one.facts}, one.said, bool(one.paths)) for one in done]


def _maintain(work: Work) -> list[Told]:
    return _told(maintenance.maintain(work.folder, work.at, work.model, _finer(work.show), dry=work.dry))


def _compact(work: Work) -> list[Told]:
    age = work.options.get("older_than")
    return _told([maintenance.compact(work.folder, work.at, work.model, age, _finer(work.show), dry=work.dry)])


def _consolidate(work: Work) -> list[Told]:
    """Have the model read what waits; each decision is told by itself. Without a model what waits is told."""
    cost = consolidation.cost(work.folder)
    if work.dry or not work.named:
        waits = "" if work.named or not cost.conversations else " No model is configured, so they wait."
        said = cost.text + waits + (" Nothing was written." if work.dry else "")
        return [Told({"event": "cost", **cost._asdict()}, [said])]
    review = bool(work.options.get("review"))
    found = list(consolidated(work.folder, work.at, work.model, work.show, review=review))
    decided = [one for done, _ in found for one in done.decisions]
    failed = [done.error for done, _ in found if done.error]
    if failed and not decided:
        raise ModelError(failed[0])
    told = [Told(as_json(one), [*lines(one, whole=True)]) for one in decided]
    told += [notice(note) for note in [*(note for done, _ in found for note in done.notes), *failed]]
    told += [notice(f"git: {git}") for _, git in found if git]
    return [*told, Told({}, [in_sum([done for done, _ in found])])]


def _check(work: Work) -> list[Told]:
    folder = work.folder
    followed: list[str] = []
    # where nothing can be kept, as with a bookkeeping that is a link, the problems are told all the same
    with contextlib.suppress(FilememError), job(folder, "check", work.at, alone=False) as run:
        followed, paths = renames.follow(folder)
        run.commit("Follow renames", paths)
    found = check.problems(folder, work.show)
    with contextlib.suppress(FilememError):  # its bookkeeping is a link, which is named already
        found = [*History(folder).problems(), *found]
    work.counts.update(files=sum(1 for _ in folder.files()), problems=len(found))
    told = [Told({"followed": one}, [one]) for one in followed]
    return told + [Told(one._asdict(), [str(one._replace(path=f"{folder.name}/{one.path}"))]) for one in found]


def _status(work: Work) -> list[Told]:
    found = status.status(work.folder, work.at, work.show)
    kinds = {name: kind._asdict() for name, kind in found.kinds.items()}
    live, archived = (sum(kind[key] for kind in kinds.values()) for key in ("live", "archived"))
    work.counts.update(live=live, archived=archived, fading=len(found.fading))
    brief = [f"{live:,} live, {archived:,} archived, {len(found.fading):,} fading within {status.SOON} days"]
    return [Told({**found._asdict(), "kinds": kinds}, brief if work.many else status.in_words(found))]


JOBS: dict[str, Callable[[Work], list[Told]]] = {
    "maintain": _maintain,
    "consolidate": _consolidate,
    "compact": _compact,
    "sweep": lambda work: _told([maintenance.sweep(work.folder, work.at, work.show, dry=work.dry)]),
    "check": _check,
    "status": _status,
}


class Outcome(NamedTuple):
    """What became of a job for one user: what it tells and counts, or why it failed."""

    user: str
    told: list[Told]
    counts: dict[str, int]
    error: str = ""


def work(order: Order, user: str, trust: Trust | None = None) -> Outcome:
    """Do a job for one user; what their files or the system refuse is told in the outcome."""
    counts = Counter[str]()
    try:
        if not os.path.isdir(order.store):
            raise FilememError(
                f"{socket.gethostname()} does not see {order.store}; mount it there under the same name."
            )
        store = StoreFolder(order.store, trust) if trust else _store(order.store, order.trusted)
        told = JOBS[order.job](Work(order, store, store.folder(user), counts, many=True))
        return Outcome(user, told, dict(counts))
    except (FilememError, OSError) as error:
        return Outcome(user, [], {}, in_words(error) if isinstance(error, OSError) else str(error))


@functools.lru_cache(maxsize=2)
def _store(root: str, trusted: bool) -> StoreFolder:
    """A worker's store, whose settings are not read for each user."""
    return StoreFolder(root, Trust(given=trusted))


# -- for many users --------------------------------------------------------------------------------------------------


def outcomes(order: Order, users: Sequence[str], trust: Trust, scheduler: str = "") -> Iterator[Outcome]:
    """What becomes of each user, in the order in which they are done.

    `trust` has the person's answers, for what is done here. Raises FilememError where the scheduler cannot be reached.
    """
    if not scheduler:
        yield from (work(order, name, trust) for name in users)
        return
    try:
        import distributed  # noqa: PLC0415  Dask takes a second to load, and is an extra
    except ImportError:
        raise FilememError(f"--scheduler needs Dask; install it with: {installed.adding('dask')}") from None
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
            yield _outcome(future, names[future.key])


def _outcome(future: Any, user: str) -> Outcome:
    """What became of a user, where no worker could say it either."""
    error = future.exception() if future.status == "error" else None
    if error is None and future.status == "finished":
        found: Outcome = future.result()
        return found
    lost = f"{type(error).__name__}: {error}" if error else "the scheduler has gone; give the same command again."
    return Outcome(user, [], {}, one_line(lost, 300))
