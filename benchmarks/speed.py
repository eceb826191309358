"""How fast searching, grepping, indexing and starting are, beside other tools on the same files, as ratios of medians.

    python benchmarks/speed.py [--data FOLDER] [--folder FOLDER] [--starts 31]

On the data sets that are there: LoCoMo's conversations as one user, once, ten and forty times over (with other dates and
shuffled names), and LifeBench's year of phone records. With --starts, only whole commands on the sample store, so often each.

It prints a table, in milliseconds, in brackets how many times as long filemem takes as its peer: under 1 it is faster. Each row
repeats filemem and its peer in turn, so that a busy machine slows both; searches, all in this process, are timed by the
processor's clock. FTS5 is given Chinese as pairs of characters, as it cuts none itself; cutting them is not counted.
"""

import argparse
import datetime as dt
import itertools
import math
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import real

from benchmarks.answers.marks import grid
from filemem.index import Index
from filemem.search.searching import search_files
from filemem.store.folder import Folder

TODAY = dt.date(2026, 5, 4)
QUERIES, REPEATS = 30, 5
_CHINESE = re.compile("[\u3400-\u9fff]+")
_PEAK = """
import atexit, os, resource, sys
def peak():
    with open("/proc/self/status") as status:
        own = next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)
    helpers = min(3, (os.cpu_count() or 1) - 1) * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print((own + helpers) / 1024, file=sys.stderr)
atexit.register(peak)
"""
_BUILD = """
import time
from filemem.store.folder import Folder
from filemem.index import Index
start, before = time.perf_counter(), sum(os.times()[:4])
Index(Folder(sys.argv[1], "ann")).corpus()
print(time.perf_counter() - start, sum(os.times()[:4]) - before)
"""
_SEARCH = """
import datetime
from filemem import Store
tools = Store(os.path.dirname(sys.argv[1])).user("ann").tools()
for question in sys.argv[2:]:
    tools.call("search_files", {"query": question})
"""
_GREP = "from filemem.cli import main\nmain()\n"


def seconds(
    action: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """How long one call takes."""
    start = clock()
    action()
    return clock() - start


def processor(action: Callable[[], object]) -> float:
    """How long the processors are at the programs that one call runs."""
    before = sum(os.times()[2:4])
    action()
    return sum(os.times()[2:4]) - before


def in_turn(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int = REPEATS
) -> tuple[float, float]:
    """The median seconds of either, called in turn."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(
        pair[1] for pair in pairs
    )


class Table:
    """What was measured: a column a store, a row a measure."""

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._rows: dict[tuple[str, str], dict[str, str]] = {}

    def column(self, name: str) -> None:
        """Begin a store."""
        self._columns.append(name)
        print(f"{name} …", file=sys.stderr, flush=True)

    def cell(self, what: str, beside: str, text: str) -> None:
        """Put down what was measured of this store."""
        self._rows.setdefault((what, beside), {})[self._columns[-1]] = text

    def row(self, what: str, beside: str, ours: float, theirs: float) -> None:
        """Put down seconds beside a peer's."""
        shown = f"{1000 * ours:,.1f}" if ours < 0.1 else f"{1000 * ours:,.0f}"
        ratio = ours / theirs if theirs else math.inf
        self.cell(
            what,
            beside,
            f"{shown} ({ratio:,.2f})" if ratio < 10 else f"{shown} ({ratio:,.0f})",
        )

    def print(self) -> None:
        """Print all of it, and begin another."""
        if self._columns:
            rows = [
                [*what, *(cells.get(name, "") for name in self._columns)]
                for what, cells in self._rows.items()
            ]
            print(
                "\n" + grid("|".join(["ms", "beside", *self._columns]), rows),
                flush=True,
            )
        self._columns, self._rows = [], {}


TABLE = Table()


def measured(program: str, *arguments: str) -> tuple[str, float]:
    """What a program prints in a process of its own, and the MB of memory that it and its helpers held at most."""
    command = [sys.executable, "-c", _PEAK + program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, float(done.stderr.split()[-1])


def turns(root: str) -> Iterator[str]:
    """Every line of a turn under `root`."""
    for stat in Folder(root, real.USER).files():
        with open(os.path.join(root, stat.path), encoding="utf-8") as file:
            yield from (line for line in file if line.startswith("- **"))


def pairs(text: str) -> str:
    """A text with its Chinese cut into pairs of characters."""
    return _CHINESE.sub(
        lambda run: " ".join(map("".join, itertools.pairwise(run[0]))) or run[0], text
    )


class Fts5:
    """SQLite's full-text index of the turns; the seconds that it took to fill, by the clock and of the processor."""

    def __init__(self, root: str, path: str) -> None:
        self.database = sqlite3.connect(path)
        self.database.execute(
            "CREATE VIRTUAL TABLE turns USING fts5(text, tokenize='porter unicode61')"
        )
        rows = [(pairs(line),) for line in turns(root)]
        start, before = time.perf_counter(), time.process_time()
        self.database.executemany("INSERT INTO turns VALUES (?)", rows)
        self.database.commit()
        self.seconds, self.processor = (
            time.perf_counter() - start,
            time.process_time() - before,
        )

    def search(self, words: list[str]) -> list[Any]:
        """The 20 best turns that have any of the words."""
        words = [pair for word in words for pair in pairs(word).split()]
        match = " OR ".join(f'"{word}"' for word in words)
        ranked = (
            "SELECT rowid, text FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT 20"
        )
        return self.database.execute(ranked, (match,)).fetchall()


def indexing(root: str, scratch: str) -> Fts5:
    """The first index, its size and the memory it took."""
    fts5 = Fts5(root, os.path.join(scratch, "fts5.db"))
    shutil.rmtree(os.path.join(root, ".filemem"), ignore_errors=True)
    built, peak = measured(_BUILD, root)
    took, processor = map(float, built.split())
    TABLE.row("first index", "FTS5 bulk insert", took, fts5.seconds)
    TABLE.row(
        "the same, time of all processors",
        "FTS5 bulk insert",
        processor,
        fts5.processor,
    )
    text = sum(stat.size for stat in Folder(root, real.USER).files())
    where = os.path.join(root, ".filemem", "index")
    disk = sum(os.path.getsize(os.path.join(where, name)) for name in os.listdir(where))
    TABLE.cell(
        "disk for the index, MB", "the text", f"{disk / 1e6:,.1f} ({disk / text:.2f})"
    )
    TABLE.cell("memory at the peak of the first index, MB", "", f"{peak:,.0f}")
    return fts5


def searching(root: str, fts5: Fts5, asked: list[str]) -> float:
    """Warm searches: the first half of the questions is asked before, the others once; the median seconds of processor of one."""
    index, clock, beside = (
        Index(Folder(root, real.USER)),
        time.process_time,
        "FTS5 query, words ORed",
    )
    before, asked = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    for question in before:
        search_files(index, question, today=TODAY)
    ours, theirs = [], []
    for question in asked:
        words = re.findall(r"\w+", question)
        ours.append(seconds(lambda: search_files(index, question, today=TODAY), clock))  # noqa: B023
        theirs.append(seconds(lambda: fts5.search(words), clock))  # noqa: B023
    TABLE.cell(
        "memory at the peak of the searches, MB",
        "",
        f"{measured(_SEARCH, root, *asked)[1]:,.0f}",
    )
    TABLE.row(
        "search_files, warm, median",
        beside,
        statistics.median(ours),
        statistics.median(theirs),
    )
    TABLE.row(
        "the same, 95th percentile",
        beside,
        *(statistics.quantiles(each, n=20)[-1] for each in (ours, theirs)),
    )
    return statistics.median(ours)


def starting(root: str, question: str) -> None:
    """A search as a whole process, with the index there."""
    store, user = os.path.split(root)
    cold = [
        sys.executable,
        "-c",
        _GREP,
        "search",
        question,
        "--store",
        store,
        "--user",
        user,
    ]

    def run(*command: str) -> None:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    run(*cold)
    click = [sys.executable, "-c", "import click"]
    TABLE.row(
        "search, whole process",
        "import click",
        *in_turn(lambda: run(*cold), lambda: run(*click)),
    )
    spent = [
        [processor(lambda: run(*command)) for _ in range(REPEATS)]  # noqa: B023
        for command in (cold, click)
    ]
    TABLE.row(
        "the same, time of all processors",
        "import click",
        *map(statistics.median, spent),
    )


def grepping(root: str) -> None:
    """A selective pattern, as a whole process."""
    rg = shutil.which("rg") or ""
    if not rg:
        TABLE.cell("grep", "rg -S", "not installed")
        return
    store, user = os.path.split(root)
    pattern = " ".join(next(turns(root)).split()[5:8])

    def run(*command: str) -> None:
        subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )

    ours = [
        sys.executable,
        "-c",
        _GREP,
        "grep",
        re.escape(pattern),
        "--store",
        store,
        "--user",
        user,
    ]
    theirs = [rg, "-S", "-F", pattern, root]
    TABLE.row(
        "grep, selective, whole process",
        "rg -S",
        *in_turn(lambda: run(*ours), lambda: run(*theirs)),
    )


def editing(root: str) -> None:
    """The next question after one file was edited."""
    folder = Folder(root, real.USER)
    path = os.path.join(root, sorted(folder.paths())[-1])
    watched = Index(folder)
    for _ in range(3):
        watched.corpus()

    def edited(index: Callable[[], Index]) -> float:
        with open(path, "a", encoding="utf-8") as file:
            file.write("- **Ann** 10:00: One more thing.\n")
        return seconds(lambda: index().corpus())

    walk = statistics.median(
        seconds(lambda: list(folder.files())) for _ in range(REPEATS)
    )
    beside = "the stat walk"
    anew = statistics.median(edited(lambda: Index(folder)) for _ in range(REPEATS))
    TABLE.row("index up to date after an edit, in a new process", beside, anew, walk)
    watched.corpus()
    again = statistics.median(edited(lambda: watched) for _ in range(REPEATS))
    TABLE.row("the same in a process that has asked before", beside, again, walk)


def measure_real(name: str, found: list[real.Person], copies: int, folder: str) -> None:
    """Measure a store of real conversations, so many times over."""
    sessions = real.as_one(found, copies)
    asked = [question.text for person in found for question in person.questions]
    TABLE.column(
        f"{name}: {len(sessions):,} sessions, {sum(len(session.turns) for session in sessions):,} turns"
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        root = os.path.join(scratch, "store", real.USER)
        real.write(Path(root), real.files(sessions))
        fts5 = indexing(root, scratch)
        searching(
            root, fts5, random.Random(2).sample(asked, min(4 * QUERIES, len(asked)))
        )
        starting(root, asked[0])
        grepping(root)
        editing(root)
        fts5.database.close()


def real_text(data: Path, folder: str) -> None:
    """Measure on the data sets that are there."""
    for name, copies in (("locomo", (1, 10, 40)), ("lifebench", (1,))):
        try:
            found = real.people(name, data)
        except SystemExit as skipped:
            print(f"\n{skipped}", flush=True)
            continue
        for count in copies:
            measure_real(f"{name} × {count}", found, count, folder)


COMMANDS = (
    ["--help"],
    ["grep", "oolong"],
    ["list"],
    ["search", "what tea?"],
    ["chat", "-m", "What tea?"],
)


def commands(runs: int) -> None:
    """Whole commands on the sample store, each run followed by one that only imports click; the index is made before."""

    def run(*program: str) -> None:
        subprocess.run(
            [sys.executable, "-c", *program],
            cwd=folder,
            capture_output=True,
            check=True,
        )

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            Path(__file__).resolve().parents[1] / "memory_store",
            Path(folder, "memory_store"),
        )
        TABLE.column("the sample store")
        for command in COMMANDS:
            run(_GREP, *command)
            took = in_turn(
                lambda: run(_GREP, *command),  # noqa: B023
                lambda: run("import click"),
                runs,
            )
            TABLE.row(f"`filemem {' '.join(command)}`", "import click", *took)
    TABLE.print()


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=real.DATA, help="where the data sets are"
    )
    parser.add_argument("--folder", help="where stores are made")
    parser.add_argument(
        "--starts",
        type=int,
        metavar="RUNS",
        help="only whole commands, so many times each",
    )
    given = parser.parse_args()
    if given.starts:
        commands(given.starts)
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        real_text(given.data, folder)
    TABLE.print()


if __name__ == "__main__":
    main()
