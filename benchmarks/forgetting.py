"""What is left of recall once conversations are compacted and swept, and how long a sweep of a large store takes.

    python benchmarks/forgetting.py [--set locomo|locomo-zh] [--share SHARE] [--sweep MEMORIES] [--users USERS]

Lays the labelled conversations of ../shared/data out in a temporary folder (skipped where they are absent), compacts and
sweeps each user one year after the last conversation, without a model, and asks every question as ../shared/eval/recall.py
does: the share of the turns with the answer that stand in the first 2,000 tokens of one search_files answer, before, after,
and after with the archive left out. With --share, summaries keep that share of the text. With --sweep, sweeps that many
memories with ten times as many recalls instead; with --users, that many users of three memories each.
"""

import argparse
import datetime as dt
import importlib
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from filemem import Store, User
from filemem.files import journal
from filemem.files.folder import Folder
from filemem.jobs.maintenance import compact, sweep

SHARED = Path(__file__).resolve().parents[2] / "shared"
COMMAND = (sys.executable, "-c", "from filemem.cli import main; main()")
BUDGET = 8000  # characters: 2,000 tokens
COLUMNS = ("before", "after", "archive left out")
KINDS = {1: "several places", 2: "when", 3: "open", 4: "one place"}  # LoCoMo's categories 1 to 4
Scores = dict[Any, list[tuple[float, ...]]]


def share(user: Folder, question: dict[str, Any], text: dict[str, str], norm: Any, **filters: str) -> float:
    """The share of a question's evidence in one answer."""
    answer = norm(User(user).tools().call("search_files", {"query": question["text"], **filters})[:BUDGET])
    return sum(bool(text[turn]) and text[turn] in answer for turn in question["gold"]) / len(question["gold"])


def size(user: Folder, *, live: bool) -> int:
    """The bytes of a user's memories."""
    return sum(stat.size for stat in user.files() if not live or not stat.path.startswith("archive/"))


def forget(user: Folder, last: dt.datetime) -> list[str]:
    """Compact and sweep one year after the last conversation; returns what was taken back or went wrong."""
    at = last + dt.timedelta(days=365)
    done = [compact(user, at, None, older_than=0), sweep(user, at)]
    return [note for item in done[0].facts["summaries"] for note in (*item["taken_back"], *item["notes"])]


def measured(name: str, share_kept: float | None) -> tuple[Scores, list[float], list[str]]:
    """Recall by kind of question, the live share of each user, and what was taken back."""
    sys.path.insert(0, str(SHARED / "eval"))
    data, norm = importlib.import_module("data"), importlib.import_module("recall").norm
    scores: Scores = defaultdict(list)
    left, notes = [], []
    for talk in data.SETS[name]():
        with tempfile.TemporaryDirectory() as root:
            if share_kept:
                Path(root, "filemem.yaml").write_text(f"summary_share: {share_kept}\n")
            text = {turn: norm(said)[:120] for turn, *_, said in data.write_store(talk, root)}
            user = Store(root).user(talk["name"]).folder
            before = [share(user, question, text, norm) for question in talk["questions"]]
            whole = size(user, live=False)
            notes += forget(user, talk["sessions"][-1]["date"])
            left.append(size(user, live=True) / whole)
            for question, was in zip(talk["questions"], before, strict=True):
                now = share(user, question, text, norm)
                scores[question["kind"]].append((was, now, share(user, question, text, norm, path="summaries/**")))
    return scores, left, notes


def table(scores: Scores) -> str:
    """The figures as a Markdown table, in percent."""
    rows = [("all", [row for rows in scores.values() for row in rows]), *sorted(scores.items(), key=str)]
    out = [f"| questions | number | {' | '.join(COLUMNS)} |", "| --- | --- | --- | --- | --- |"]
    for kind, found in rows:
        means = [100 * sum(column) / len(found) for column in zip(*found, strict=True)]
        label = kind if kind == "all" else f"{KINDS[kind]} (kind {kind})"
        kept = [f"{mean:.1f} ({100 * mean / means[0]:.0f} %)" for mean in means[1:]]
        out.append(f"| {label} | {len(found)} | {means[0]:.1f} | {' | '.join(kept)} |")
    return "\n".join(out)


def large(root: str, count: int) -> Folder:
    """A user with that many small memories over two years, a third of the facts events and as many plans, and a log of ten
    times as many recalls."""
    user, chance, start = Store(root).user("ann").folder, random.Random(1), dt.date(2025, 1, 1)
    paths = []
    for number in range(count):
        day = start + dt.timedelta(chance.randrange(690))
        kind = chance.choice(["facts", "facts", "sessions", "lessons"])
        paths.append(f"{kind}/{day:%Y/%m}/{day}-memory-{number}.md")
        place = Path(user.root, paths[-1])
        place.parent.mkdir(parents=True, exist_ok=True)
        front = f"---\nimportance: {chance.randint(1, 10)}\nsource: sessions/2026/talk-{number}.md:3\n"
        front += f"{chance.choice(['', 'kind: event', 'kind: plan'])}\n---\n"
        place.write_text((front if kind != "sessions" else "") + f"- **Ann**: Likes tea number {number}.\n")
    user.make()
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
        start, busy = time.perf_counter(), time.process_time()
        journal.recalled(user)
        print(f"log of {10 * count:,} recalls: {_spent(start, busy, time.process_time())}")
        for option in (["--dry-run"], []):
            start, busy = time.perf_counter(), _processor()
            command = [*COMMAND, "sweep", "--store", root, "--today", "2026-11-20", *option]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            gone = done.stdout.count("rchived")
            print(f"sweep {' '.join(option)} ({count:,} memories, {gone:,} go): {_spent(start, busy, _processor())}")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
        print(f"most memory of a command, that which made the index among them: {most:.0f} MB")


def _processor() -> float:
    """The seconds that commands have kept a processor busy."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _spent(start: float, busy: float, now: float) -> str:
    return f"{time.perf_counter() - start:.2f} s, {now - busy:.2f} s of it on a processor"


def many(count: int) -> None:
    """Print how long it takes to sweep so many users of three memories each, which all go."""
    with tempfile.TemporaryDirectory() as root:
        for number in range(count):
            user = Store(root).user(f"user{number}").folder
            for name in ("a", "b", "c"):
                user.create(f"facts/2026/2026-01-01-{name}.md", "---\nkind: event\n---\nHad tea.\n")
        start, busy = time.perf_counter(), _processor()
        command = [*COMMAND, "sweep", "--all-users", "--store", root, "--today", "2026-11-20"]
        subprocess.run(command, check=True, capture_output=True)
        print(f"sweep --all-users ({count:,} users): {_spent(start, busy, _processor())}")


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--set", default="locomo", choices=("locomo", "locomo-zh"))
    parser.add_argument("--share", type=float, metavar="SHARE")
    parser.add_argument("--sweep", type=int, metavar="MEMORIES")
    parser.add_argument("--users", type=int, metavar="USERS")
    given = parser.parse_args()
    if given.sweep:
        sweeping(given.sweep)
    if given.users:
        many(given.users)
    if given.sweep or given.users:
        return
    if not (SHARED / "data" / f"{given.set}-dev.json").exists():
        sys.exit(f"skipped: there are no labelled conversations in {SHARED / 'data'}")
    scores, left, notes = measured(given.set, given.share)
    print(table(scores))
    print(
        f"\nLive bytes a user, of what was: {', '.join(f'{100 * part:.1f} %' for part in left)}; "
        f"mean {100 * sum(left) / len(left):.1f} %"
    )
    print("\n".join(notes) or "Nothing was taken back.")


if __name__ == "__main__":
    main()
