"""What is left of recall once conversations are compacted and swept, and how long a sweep of a large store takes.

    python benchmarks/forgetting.py [--set locomo|locomo-zh|lifebench|assistant] [--share SHARE] [--sweep MEMORIES]

Compacts and sweeps each user of a set one year after the last conversation, without a model, and asks every question: the
share of the turns with the answer that stand in the first 2,000 tokens of one search_files answer, before, after, and after
with the archive left out. With --share, summaries keep that share of the text. With --sweep, sweeps that many memories with
ten times as many recalls instead.
"""

import argparse
import datetime as dt
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import real

from benchmarks.answers import marks
from benchmarks.answers.data import Question
from benchmarks.answers.marks import grid
from filemem import Store, User
from filemem.files import journal
from filemem.files.folder import Folder
from filemem.jobs.maintenance import compact, sweep

COMMAND = (sys.executable, "-c", "from filemem.cli import main; main()")
BUDGET = 8000  # characters: 2,000 tokens
YEAR = dt.timedelta(days=365)
Scores = dict[str, list[tuple[float, ...]]]


def shares(user: Folder, questions: list[Question], **filters: str) -> list[float]:
    """The share of each question's evidence in one answer."""
    tools = User(user).tools()
    read = (tools.call("search_files", {"query": question.text, **filters})[:BUDGET] for question in questions)
    return [marks.shown(answer, one.evidence) or 0.0 for answer, one in zip(read, questions, strict=True)]


def size(user: Folder, *, live: bool) -> int:
    """The bytes of a user's memories."""
    return sum(stat.size for stat in user.files() if not live or not stat.path.startswith("archive/"))


def measured(name: str, share_kept: float | None) -> tuple[Scores, list[float]]:
    """Recall by kind of question, and the live share of each user."""
    scores: Scores = defaultdict(list)
    left = []
    for person in real.people(name):
        with tempfile.TemporaryDirectory() as root:
            if share_kept:
                Path(root, "filemem.yaml").write_text(f"summary_share: {share_kept}\n")
            real.write(Path(root, real.USER), real.files(person.sessions))
            user, asked = Store(root).user(real.USER).folder, person.questions
            before, whole = shares(user, asked), size(user, live=False)
            at = (person.sessions[-1].at + YEAR).astimezone()
            compact(user, at, None, older_than=0)
            sweep(user, at)
            left.append(size(user, live=True) / whole)
            columns = before, shares(user, asked), shares(user, asked, path="summaries/**")
            for question, *row in zip(asked, *columns, strict=True):
                scores[question.kind].append(tuple(row))
    return scores, left


def table(scores: Scores) -> str:
    """The figures in percent."""
    out = []
    for kind, found in [("all", [row for rows in scores.values() for row in rows]), *sorted(scores.items())]:
        means = [100 * sum(column) / len(found) for column in zip(*found, strict=True)]
        kept = [f"{mean:.1f} ({100 * mean / (means[0] or 1):.0f} %)" for mean in means[1:]]
        out.append([kind, len(found), f"{means[0]:.1f}", *kept])
    return grid("questions|number|before|after|archive left out", out)


def large(root: str, count: int) -> Folder:
    """A user with that many small memories over two years, a third of the facts events and as many plans, and a log of ten
    times as many recalls."""
    user, chance, start = Store(root).user(real.USER).folder, random.Random(1), dt.date(2025, 1, 1)
    texts = {}
    for number in range(count):
        day = start + dt.timedelta(chance.randrange(690))
        kind = chance.choice(["facts", "facts", "sessions", "lessons"])
        front = f"---\nimportance: {chance.randint(1, 10)}\nsource: sessions/2026/talk-{number}.md:3\n"
        front += f"{chance.choice(['', 'kind: event', 'kind: plan'])}\n---\n"
        text = (front if kind != "sessions" else "") + f"- **Ann**: Likes tea number {number}.\n"
        texts[f"{kind}/{day:%Y/%m}/{day}-memory-{number}.md"] = text
    real.write(Path(user.root), texts)
    user.make()
    paths = list(texts)
    with open(user.bookkeeping(journal.RECALLS), "w") as log:
        for number in range(10 * count):
            day = start + dt.timedelta(number * 690 // (10 * count))
            log.write(f"{day}T09:31\topen\t{chance.choice(paths)}\n")
    return user


def sweeping(count: int) -> None:
    """Print how long it takes to read the log, and the command as a person waits for it, the index being there."""
    with tempfile.TemporaryDirectory() as root:
        user = large(root, count)
        subprocess.run([*COMMAND, "status", "--store", root], check=True, capture_output=True)
        start = time.perf_counter()
        journal.recalled(user)
        rows = [[f"reading {10 * count:,} recalls", f"{time.perf_counter() - start:.2f}", ""]]
        for option in (["--dry-run"], []):
            start, busy = time.perf_counter(), _processor()
            command = [*COMMAND, "sweep", "--store", root, "--today", "2026-11-20", *option]
            subprocess.run(command, check=True, capture_output=True)
            took, worked = time.perf_counter() - start, _processor() - busy
            rows.append([f"sweep {' '.join(option)} of {count:,} memories", f"{took:.2f}", f"{worked:.2f}"])
        print(grid("what|seconds|of a processor", rows))
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
        print(f"Most memory of a command, that which made the index among them: {most:.0f} MB")


def _processor() -> float:
    """The seconds that commands have kept a processor busy."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="locomo")
    parser.add_argument("--share", type=float, metavar="SHARE")
    parser.add_argument("--sweep", type=int, metavar="MEMORIES")
    given = parser.parse_args()
    if given.sweep:
        sweeping(given.sweep)
        return
    scores, left = measured(given.set, given.share)
    print(table(scores))
    print(f"\nLive bytes a user, of what was: {', '.join(f'{100 * part:.1f} %' for part in left)}; ", end="")
    print(f"mean {100 * sum(left) / len(left):.1f} %")


if __name__ == "__main__":
    main()
