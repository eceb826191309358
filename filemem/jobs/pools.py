"""Where jobs run: in this process, in processes of this machine, or on a Dask cluster."""

import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import parent_process
from typing import Protocol

from filemem.errors import FilememError
from filemem.files.trust import Trust
from filemem.jobs.table import Order, Outcome, work


class Pool(Protocol):
    """Runs jobs for users; `room` is how many users it is given at once.

    `killed` are the errors that mean that a worker died, so that another may take over.
    """

    room: int
    killed: tuple[type[BaseException], ...]

    def submit(self, order: Order, user: str, given: str) -> "Future[Outcome]":
        """Begin with a user."""

    def close(self) -> None:
        """Begin with nobody else, and wait for those whom it is at."""


class Here:
    """This process: one user after the other, with the person's answers."""

    room = 1
    killed: tuple[type[BaseException], ...] = ()

    def __init__(self, trust: Trust) -> None:
        self._trust = trust

    def submit(self, order: Order, user: str, given: str) -> "Future[Outcome]":
        """Do the work."""
        done: Future[Outcome] = Future()
        done.set_result(work(order, user, given, self._trust))
        return done

    def close(self) -> None:
        """Nothing is open."""


class Processes:
    """Some processes of this machine; where one is killed, new ones take their place."""

    killed: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self.room = workers + 1
        self._executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._workers, initializer=_as_worker)

    def submit(self, order: Order, user: str, given: str) -> "Future[Outcome]":
        """Begin with a user."""
        try:
            return self._executor.submit(work, order, user, given)
        except BrokenProcessPool:
            self._executor.shutdown()
            self._executor = self._started()
            return self._executor.submit(work, order, user, given)

    def close(self) -> None:
        """Begin with nobody else, and wait for those whom they are at."""
        self._executor.shutdown(cancel_futures=True)


def _as_worker() -> None:
    """Leave a Ctrl-C to the command, and end with it: a worker of one that was killed would wait for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_outlive_nobody, daemon=True).start()


def _outlive_nobody() -> None:
    command = parent_process()
    if command:
        command.join()
        signal.raise_signal(signal.SIGKILL)


def pool(workers: int, scheduler: str, order: Order, trust: Trust) -> Pool:
    """Where the work is done: the cluster of a scheduler, so many processes (Dask's, where it is installed), or here."""
    if not scheduler and workers == 1:
        return Here(trust)
    try:
        from filemem.jobs import cluster  # noqa: PLC0415  Dask takes a second to load, and is an extra

        return cluster.Cluster(scheduler, workers, order)
    except ImportError:
        if scheduler:
            raise FilememError("--scheduler needs Dask; install it with: pip install 'filemem[dask]'") from None
        return Processes(workers)
