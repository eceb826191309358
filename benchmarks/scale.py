"""A job for many users: how fast with one worker and with two, what a worker needs, and what is left when workers are killed.

    python benchmarks/scale.py speed [USERS]     maintain with 1 and 2 workers in turn, each on its own copy of the same users
    python benchmarks/scale.py kills [ROUNDS]    a worker killed with -9 at a random moment in each round, here and on a cluster
    python benchmarks/scale.py scheduler         the cluster's scheduler killed, a new one, --resume

The cluster is Dask's own, begun with its command line on loopback: `dask scheduler` and two times `dask worker`. The users have
ten sessions each, of the days before, in English and Chinese by turns; one in fifty is broken. FOLDER in the environment
says where the stores lie, else the folder for what is temporary. Exit code 1 where a user ends otherwise than undisturbed.
"""

import contextlib
import datetime as dt
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from ten_sessions import CHINESE, ENGLISH

from filemem import Store
from filemem.remembering.ledger import Ledger

try:
    import distributed as DASK
except ImportError:
    DASK = None
TODAY = dt.datetime(2026, 11, 20)
BROKEN = 50  # every so many users one whose memories cannot be worked on
PART = 1000  # users of one run of `speed`
AFEW = 12  # users of a round of `kills`
COMMAND = [str(Path(sys.executable).parent / "filemem")]


def write(root: Path, numbers: range) -> None:
    """Users by their numbers, of whom the same number always has the same files."""
    for number in numbers:
        script = (ENGLISH, CHINESE)[number % 2]
        name = f"user{number:05}"
        for place, (_, said) in enumerate(script.sessions):
            at = TODAY.replace(hour=9, minute=30) - dt.timedelta(days=1 + 3 * (9 - place) + number % 8)
            turns = [
                f"- **{(name, 'assistant')[turn % 2]}** {at + dt.timedelta(minutes=turn):%H:%M}: {text}\n"
                for turn, text in enumerate(said[:4])
            ]
            path = root / name / f"sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-talk.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(turns), encoding="utf-8")
        if number % BROKEN == BROKEN - 1:
            (root / name / ".filemem").write_text("A file.")


def maintain(root: Path, *words: str) -> list[str]:
    return [*COMMAND, "maintain", "--all-users", "--store", str(root), "--today", f"{TODAY:%Y-%m-%d}", "--json", *words]


def tree(root: Path) -> dict[str, str]:
    """What each user ends with: every memory by its digest, and what the ledger says of which turns were read."""
    found: dict[str, str] = {}
    for name in Store(root).users():
        user = Store(root).user(name).folder
        digest = hashlib.sha256()
        for path in user.paths():
            digest.update(path.encode() + b"\0" + Path(user.root, path).read_bytes() + b"\0")
        if os.path.isdir(Path(user.root, ".filemem")):
            book = Ledger(user)
            digest.update(repr(sorted(book.sizes.items())).encode() + repr(sorted(book.made.items())).encode())
        found[name] = digest.hexdigest()
    return found


# -- processes ---------------------------------------------------------------------------------------------------


def children(of: int) -> Iterator[int]:
    """The processes below one, however deep."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{of}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from children(child)


def workers(of: int) -> list[int]:
    """Those of them that do the work, not what looks after them."""
    found = []
    for child in children(of):
        with contextlib.suppress(OSError):
            said = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"resource_tracker" not in said and not list(children(child)):
                found.append(child)
    return found


def peak(process: int) -> int:
    """The most memory that a process has had, in kB."""
    with contextlib.suppress(OSError):
        match = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
        return int(match[1]) if match else 0
    return 0


def run(
    words: list[str], watch: Callable[[int], object] = lambda pid: None, every: float = 0.1
) -> tuple[float, int, str]:
    """Run a command and look at it again and again; its seconds, exit code and output."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        with subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT, text=True) as process:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(every)
                    break
                watch(process.pid)
        out.seek(0)
        return time.monotonic() - start, process.returncode, out.read()


# -- speed -------------------------------------------------------------------------------------------------------


def speed(users: int) -> int:
    """Print seconds and memory of runs with one worker and with two, in turn."""
    spent: dict[int, list[float]] = {1: [], 2: []}
    most: dict[int, int] = {1: 0, 2: 0}
    wrong = broken = 0
    parts = [range(start, min(users, start + PART)) for start in range(0, users, PART)]
    for place, numbers in enumerate(parts):
        ends = {}
        for count in (1, 2) if place % 2 == 0 else (2, 1):
            with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
                root = Path(folder, "store")
                write(root, numbers)

                def look(pid: int, count: int = count) -> None:
                    found = workers(pid) if count > 1 else [pid]
                    most[count] = max(most[count], *map(peak, found), 0)

                seconds, code, said = run(maintain(root, "--workers", str(count)), look, 1.0)
                spent[count].append(seconds)
                failed = {line["user"] for line in map(json.loads, said.splitlines()) if "error" in line}
                known = {f"user{number:05}" for number in numbers if number % BROKEN == BROKEN - 1}
                wrong += failed != known or code != bool(known)
                broken += len(failed) if count == 2 else 0
                ends[count] = {name: end for name, end in tree(root).items() if name not in known}
        wrong += ends[1] != ends[2]
        print(f"  users {numbers.start} to {numbers.stop}: {spent[1][-1]:.0f} s and {spent[2][-1]:.0f} s", flush=True)
    ratio = statistics.median(one / two for one, two in zip(*spent.values(), strict=True))
    for count in spent:
        rate = users / sum(spent[count])
        print(
            f"{count} worker: {sum(spent[count]):.0f} s, {rate:.1f} users a second, a worker at most {most[count] / 1000:.0f} MB"
        )
    print(f"2 workers are {ratio:.2f} times as fast (median of {len(parts)} pairs of runs of {PART:,} users or fewer)")
    print(f"{broken} of {users:,} users are broken and were named, all others ended alike: {not wrong}")
    return 1 if wrong else 0


# -- kills -------------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class DaskCluster:
    """Dask's own, begun with its command line."""

    def __init__(self) -> None:
        self.port, self.dashboard = free_port(), free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "DaskCluster":
        self.scheduler = self._begin(
            "scheduler", "--port", str(self.port), "--dashboard-address", f"127.0.0.1:{self.dashboard}"
        )
        for _ in range(2):
            self._begin("worker", self.address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "10")
        return self

    def _begin(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [str(Path(sys.executable).parent / "dask"), *words, "--host", "127.0.0.1"]
        self.processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return self.processes[-1]

    def __exit__(self, *error: object) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            process.kill()
            process.wait()

    def workers(self) -> list[int]:
        """The processes that work; each has one beside it that starts it anew."""
        return [found for process in self.processes[1:] for found in workers(process.pid)]

    def names(self) -> set[str]:
        """The names of the tasks that the dashboard's pages show now."""
        found: set[str] = set()
        with contextlib.suppress(OSError):
            base = f"http://127.0.0.1:{self.dashboard}/info/"
            page = urllib.request.urlopen(base + "main/workers.html", timeout=2).read().decode()
            for one in set(re.findall(r"worker/[^\"]+html", page)):
                page = urllib.request.urlopen(base + one, timeout=2).read().decode()
                found.update(re.findall(r"task/([^\"]+)\.html", page))
        return found


def _at_work(store: Path, victims: Callable[[int], list[int]]) -> Callable[[int], list[int]]:
    """The victims once the job has begun with anybody."""
    return lambda pid: victims(pid) if any((store / ".filemem/jobs").glob("*.jsonl")) else []


def _killer(
    victims: Callable[[int], list[int]], chance: random.Random, killed: list[int], within: float
) -> Callable[[int], object]:
    """What kills one of the victims once, at some time within so many seconds from when there are any."""
    when: list[float] = []

    def watch(pid: int) -> None:
        found = victims(pid)
        if found and not when:
            when.append(time.monotonic() + chance.uniform(0, within))
        if when and not killed and found and time.monotonic() > when[0]:
            with contextlib.suppress(ProcessLookupError):
                killed.append(chance.choice(found))
                os.kill(killed[-1], signal.SIGKILL)

    return watch


def kills(rounds: int, seed: int = 17) -> int:
    """Print in how many rounds a worker was killed, and how many users ended otherwise than undisturbed."""
    chance, wrong = random.Random(seed), 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder, contextlib.ExitStack() as open_:
        before, store = Path(folder, "before"), Path(folder, "store")
        write(before, range(AFEW))
        shutil.copytree(before, store)
        run(maintain(store))
        wanted = tree(store)
        ways: dict[str, tuple[list[str], Callable[[int], list[int]]]] = {"here": (["--workers", "2"], workers)}
        if DASK:
            cluster = open_.enter_context(DaskCluster())
            ways = {
                "here, by Dask": ways["here"],
                "on a cluster": (["--scheduler", cluster.address], lambda pid: cluster.workers()),
            }
        for way, (words, victims) in ways.items():
            victims = _at_work(store, victims)
            count = others = 0
            shutil.rmtree(store)
            shutil.copytree(before, store)
            began: list[float] = []
            note = lambda pid, victims=victims, began=began: victims(pid) and began.append(time.monotonic())  # noqa: E731
            run(maintain(store, *words), note)
            within = began[-1] - began[0] if began else 1.0
            for _ in range(rounds):
                shutil.rmtree(store)
                shutil.copytree(before, store)
                killed: list[int] = []
                _, code, said = run(maintain(store, *words), _killer(victims, chance, killed, within), 0.02)
                count += len(killed)
                ended = tree(store)
                others += sum(ended[name] != wanted[name] for name in wanted) + (code != 0)
                if code:
                    print(said)
            print(
                f"{way}: {count} workers killed in {rounds} rounds of {AFEW} users; ended otherwise: {others}",
                flush=True,
            )
            wrong += others
    return 1 if wrong else 0


def scheduler() -> int:
    """Print what the command says when the scheduler is killed, and how the users end after --resume."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        store, other = Path(folder, "store"), Path(folder, "other")
        write(store, range(2 * AFEW))
        shutil.copytree(store, other)
        run(maintain(other))
        names: set[str] = set()
        with DaskCluster() as cluster:

            def kill(pid: int) -> None:
                names.update(cluster.names())
                if any(f"user{AFEW // 2:05}" in name for name in names) and cluster.scheduler.poll() is None:
                    cluster.scheduler.kill()

            seconds, code, said = run(maintain(store, "--scheduler", cluster.address), kill)
        done = {json.loads(line)["user"] for line in said.splitlines() if line.startswith("{")}
        print(f"the dashboard showed tasks such as {', '.join(sorted(names)[:3])}")
        print(f"{len(done)} users were done when the scheduler was killed; exit code {code} after {seconds:.0f} s:")
        print(f"  {said.splitlines()[-1]}")
        with DaskCluster() as cluster:
            _, code, said = run(maintain(store, "--scheduler", cluster.address, "--resume"))
        again = {json.loads(line)["user"] for line in said.splitlines() if line.startswith("{")}
        wrong = [name for name, end in tree(other).items() if tree(store)[name] != end]
        print(
            f"--resume: exit code {code}, {len(again)} users done, {len(again & done)} of them again; otherwise: {len(wrong)}"
        )
    return 1 if wrong or code else 0


if __name__ == "__main__":
    part, *numbers = sys.argv[1:] or ["speed"]
    if part == "scheduler":
        sys.exit(scheduler())
    sys.exit({"speed": speed, "kills": kills}[part](int(numbers[0]) if numbers else {"speed": 5000, "kills": 20}[part]))
