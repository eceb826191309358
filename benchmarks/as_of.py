"""How fast a question about the past is, in a repository of many commits, beside the same question about today.

    python benchmarks/as_of.py [--commits 10000]

Makes a store in a temporary folder whose every commit adds a turn or a fact, then asks: the first question as of a day (git
lays the day's files out, and a search indexes them), the next ones, and the same without --as-of, in turn. Once as of a day
in the middle, once as of the last but one, when there are as many files as today. Also what one `remember` costs, and log.
"""

import argparse
import datetime as dt
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.table import grid
from filemem import Store
from filemem.history import set_up

START = dt.datetime(2021, 1, 1, 8, tzinfo=dt.UTC)
WORDS = "tea coffee bicycle violin grandmother letter boat garden rain bridge window train cat cheese map".split()
COMMAND = "from filemem.cli import main; main()"


def commits(count: int) -> Iterator[bytes]:
    """A stream for git fast-import: three turns of a conversation, then a fact, each a commit, four hours apart."""
    chance = random.Random(1)
    talk = b""
    for number in range(count):
        at = START + number * dt.timedelta(hours=4)
        said = " ".join(chance.choices(WORDS, k=12))
        if number % 4 == 3:
            path, text = f"facts/{at:%Y/%Y-%m-%d}-fact-{number}.md", f"{said}\n".encode()
        else:
            path = f"sessions/{at - dt.timedelta(hours=4 * (number % 4)):%Y/%Y-%m-%d-%H%M}-talk.md"
            talk = (b"" if number % 4 == 0 else talk) + f"- **ann** {at:%H:%M}: {said}\n".encode()
            text = talk
        head = f"commit refs/heads/main\ncommitter filemem <filemem@localhost> {at:%s} +0000\ndata 4\nTalk\n"
        yield head.encode() + f"M 100644 inline ann/{path}\ndata {len(text)}\n".encode() + text + b"\n"


def seconds(store: str, *arguments: str) -> float:
    """How long a command takes, as a person waits for it."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", COMMAND, "--store", store, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def row(folder: str, question: tuple[str, ...], day: dt.date) -> list[str]:
    """How long a question as of a day takes in milliseconds, at first and later, and beside one about today."""
    then = ("--as-of", f"{day}")
    seconds(folder, *question)
    first = seconds(folder, *question, *then)
    pairs = [(seconds(folder, *question), seconds(folder, *question, *then)) for _ in range(9)]
    today, later = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    files = len(Store(folder).user("ann").as_of(day).folder.paths())
    said = (f"{1000 * first:,.0f}", f"{1000 * later:,.0f}", f"{1000 * (later - today):+,.0f}")
    return [f"{question[0]} as of {day}, {files:,} files", *said]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commits", type=int, default=10_000)
    count = parser.parse_args().commits
    with tempfile.TemporaryDirectory() as folder:
        run = ["git", "-C", folder]
        subprocess.run([*run, "init", "--quiet", "--initial-branch=main"], check=True)
        subprocess.run([*run, "fast-import", "--quiet"], input=b"".join(commits(count)), check=True)
        subprocess.run([*run, "checkout", "--quiet", "--force", "main"], check=True)
        user, rows = Store(folder).user("ann"), []
        os.environ["XDG_CONFIG_HOME"] = f"{folder}/.config"  # where it is noted that this repository is ours
        set_up(folder, "ann", START)
        asked = {("grep", "grandmother.*violin"): 0, ("search", "which", "grandmother", "plays", "the", "violin"): 12}
        for question, apart in asked.items():  # each of a day of its own, so that it is the first
            for number in (count // 2 - apart, count - 7 - apart):
                rows.append(row(folder, question, (START + number * dt.timedelta(hours=4)).date()))
        for command in (["log"], ["log", "--limit", "10"], ["log", "--about", "cheese map"], ["remember", "One more."]):
            rows.append([" ".join(command), f"{1000 * seconds(folder, *command):,.0f}", "", ""])
        print(f"{count:,} commits, {len(user.folder.paths()):,} files today\n")
        print(grid("command|first, ms|then|beside today", rows))


if __name__ == "__main__":
    main()
