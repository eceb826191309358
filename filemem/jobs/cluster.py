"""Dask: the workers of an existing cluster, or one of this machine's processes for as long as a job takes."""

import importlib.metadata
import logging
import os
import signal
from concurrent.futures import Future

import dask.config
from distributed import Client, LocalCluster, Security
from distributed.scheduler import KilledWorker

from filemem.errors import FilememError
from filemem.jobs.table import Order, Outcome, work
from filemem.text.plain import one_line

JOIN = 10  # seconds for the scheduler to answer and the first worker to join


class Cluster:
    """The workers of a cluster; Dask's dashboard counts what is done by job, and names each task JOB-TOKEN-USER."""

    killed: tuple[type[BaseException], ...] = (KilledWorker,)  # at one user so many that Dask gave up

    def __init__(self, scheduler: str, workers: int, order: Order) -> None:
        """Connect to the scheduler at an address, or begin a cluster here; raises FilememError where nobody can work."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what fails is told by its user
        try:
            self._local = None if scheduler else _local(workers)
            self._client = Client(self._local or scheduler, timeout=JOIN, set_as_default=False)
            self._client.wait_for_workers(1, timeout=JOIN)
        except (OSError, ValueError, RuntimeError) as error:
            raise FilememError(
                f"{scheduler or 'Dask'} has no worker to give work to ({one_line(str(error), 200)}); see that one runs there."
            ) from None
        self.room = 4 * sum(self._client.nthreads().values())
        self._executor = self._client.get_executor(pure=False)
        _check(self._client, order)

    def submit(self, order: Order, user: str, given: str) -> "Future[Outcome]":
        """Begin with a user."""
        key = f"{order.job}-{os.urandom(4).hex()}-{user}"  # Dask counts by what stands before the first number
        future: Future[Outcome] = self._executor.submit(work, order, user, given, key=key)
        return future

    def close(self) -> None:
        """Begin with nobody else, and let go of the cluster."""
        self._executor.shutdown(wait=False)
        self._client.close()
        if self._local:
            self._local.close()


def _local(workers: int) -> LocalCluster:
    """Processes of this machine. Whoever else may connect to a port here cannot have them run anything: they ask for a key."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as the workers are to: a Ctrl-C is for the command
    unwatched = {"distributed.worker.profile.enabled": False}  # the profile looks a hundred times a second, for nobody
    with dask.config.set(unwatched):
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            security=Security.temporary(),
            silence_logs=logging.CRITICAL,
        )
    signal.signal(signal.SIGINT, heard)
    return cluster


def _check(client: Client, order: Order) -> None:
    """Raise FilememError where a worker has another filemem than this process, or does not see the store."""
    version, _ = _sight(order.store)
    for worker, said in client.run(_sight, order.store, on_error="return").items():
        if isinstance(said, OSError):  # it has just gone
            continue
        other, seen = (repr(said), False) if isinstance(said, Exception) else said
        if other != version:
            raise FilememError(
                f"the worker {worker} has filemem {other}, this machine {version}; install the same there."
            )
        if not seen:
            raise FilememError(f"the worker {worker} does not see {order.store}; mount it there under the same name.")


def _sight(store: str) -> tuple[str, bool]:
    """The version of filemem here, and whether the store is."""
    return importlib.metadata.version("filemem"), os.path.isdir(store)
