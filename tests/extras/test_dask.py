"""A job goes the same way on a real Dask cluster, which is begun with Dask's own command line; needs `filemem[dask]`."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed", reason="needs the extra filemem[dask]")

from scripted_server import ScriptedServer, fail, say
from test_many_users import TOWNS, broken, tree
from test_many_users import store as store

from filemem.store import person

PROGRAM = [sys.executable, "-c", "from filemem.cli import main; main()"]


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two workers, on loopback."""
    dask, here = [sys.executable, "-m", "dask"], ["--host", "127.0.0.1"]
    command = [*dask, "scheduler", *here, "--port", "0", "--no-dashboard"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        address = next(
            found[0]
            for line in process.stderr
            if (found := re.search(r"tcp://127\.0\.0\.1:\d+", line))
        )
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        worker = [
            *dask,
            "worker",
            address,
            *here,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--nworkers",
            "2",
        ]
        with subprocess.Popen(worker, **quiet) as workers:  # type: ignore[call-overload]
            yield address
            workers.terminate()
        process.terminate()


def maintain(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [
        *PROGRAM,
        "maintain",
        "--all-users",
        "--store",
        str(store),
        "--today",
        "2026-11-20",
        "--json-lines",
        *words,
    ]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_cluster_ends_as_this_process_does_and_names_who_failed(
    scheduler: str, store: Path, tmp_path: Path
) -> None:
    broken(store, "bad")
    subprocess.run(["cp", "-r", store, tmp_path / "on-cluster"], check=True)
    for place, words in (
        (store, []),
        (tmp_path / "on-cluster", ["--scheduler", scheduler]),
    ):
        told = maintain(place, *words)
        lines = [json.loads(line) for line in told.stdout.splitlines()]
        assert (
            told.returncode == 1
            and "filemem" not in told.stderr
            and "Traceback" not in told.stderr
        ), told.stderr
        assert [line["user"] for line in lines if "error" in line] == ["bad"]
        assert {
            str(line["user"]) for line in lines if line.get("job") == "sweep"
        } == set(TOWNS)
    assert tree(tmp_path / "on-cluster") == tree(store)


def test_the_next_run_asks_a_model_again_that_failed(
    scheduler: str, store: Path, server: ScriptedServer
) -> None:
    """On workers that stay: until then each asks it once."""
    person.keep(str(store), model="test", base_url=server.base_url)
    for server.default, asked in (
        (fail(400, "out of order"), {1, 2}),
        # to read; to summarise, twice, as that answer cannot be read
        (say('{"facts": []}'), {3 * len(TOWNS)}),
    ):
        server.forget()
        told = maintain(store, "--scheduler", scheduler)
        assert len(server.requests) in asked and told.returncode == 1, told.stderr


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:9", "tls://127.0.0.1:9", "the-cluster"]
)
def test_a_scheduler_that_is_not_there_is_one_sentence(
    store: Path, address: str
) -> None:
    told = maintain(store, "--scheduler", address)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert f"{address} does not answer" in told.stderr
