"""How fast a question about the past is, in a repository of many commits, beside the same question about today.

    python benchmarks/as_of.py [--commits 10000]

Makes a store in a temporary folder whose every commit adds a turn or a fact, then asks: the first question as of a day (git
lays the day's files out, and a search indexes them), the next ones, and the same without --as-of, in turn. Once as of a day
in the middle, once as of the last but one, when there are as many files as today. The aim: the first under five seconds, the
next at most 100 ms over a question about today. Also what one commit costs, and log.
"""

import argparse
import datetime as dt
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from filemem import Store, User
from filemem.history import History, log

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


def processor() -> float:
    """The processor's seconds that finished commands have taken so far, git's included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(folder: str, question: tuple[str, ...], day: dt.date) -> None:
    """Print how long a question as of a day takes, at first and later, and about today."""
    then = ("--as-of", f"{day}")
    seconds(folder, *question)
    before = processor()
    first = seconds(folder, *question, *then)
    worked = processor() - before
    pairs = [(seconds(folder, *question), seconds(folder, *question, *then)) for _ in range(9)]
    today, later = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    files = len(Store(folder).user("ann").as_of(day).folder.paths())
    print(f"{question[0]:6} as of {day}, {files:5,} files: first {1000 * first:5.0f} ms", end="")
    print(
        f" ({1000 * worked:4.0f} of processor), then {1000 * later:4.0f}, {1000 * (later - today):+4.0f} beside today"
    )


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
        print(f"{count:,} commits, {len(Store(folder).user('ann').folder.paths()):,} files today")
        asked = {("grep", "grandmother.*violin"): 0, ("search", "which", "grandmother", "plays", "the", "violin"): 12}
        for question, apart in asked.items():  # each of a day of its own, so that it is the first
            for number in (count // 2 - apart, count - 7 - apart):
                compare(folder, question, (START + number * dt.timedelta(hours=4)).date())
        history = History(Store(folder).user("ann").folder)
        for name, found in (
            ("log", {}),
            ("log of ten", {"limit": 10}),
            ("log --about two words", {"about": "cheese map"}),
        ):
            start = time.perf_counter()
            log.log(history, **found)
            print(f"{name:28} {1000 * (time.perf_counter() - start):8.0f} ms")
        with open(os.path.join(folder, ".gitattributes"), "w") as file:
            file.write("**/sessions/** merge=union\n")
        history = History(history.folder)
        path = User(history.folder).remember("One more.").path
        start = time.perf_counter()
        history.record("Remember", [path], {}, dt.datetime.now().astimezone())
        print(f"{'one commit':28} {1000 * (time.perf_counter() - start):8.0f} ms")


if __name__ == "__main__":
    main()
