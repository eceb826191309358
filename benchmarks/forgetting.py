"""What is left of recall once conversations are compacted and swept.

    python benchmarks/forgetting.py [--set locomo|locomo-zh|lifebench|assistant] [--share SHARE]

Compacts and sweeps each user of a set one year after the last conversation, without a model, and asks every question: the
share of the turns with the answer that stand in the first 2,000 tokens of one search_files answer, before and after.
With --share, summaries keep that share of the text.
"""

import argparse
import datetime as dt
import tempfile
from collections import defaultdict
from pathlib import Path

import real

from benchmarks.answers import marks
from benchmarks.answers.data import Question
from benchmarks.answers.marks import grid
from filemem import User
from filemem.jobs import compact, sweep
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

BUDGET = 8000  # characters: 2,000 tokens
YEAR = dt.timedelta(days=365)
Scores = dict[str, list[tuple[float, ...]]]


def shares(user: Folder, questions: list[Question]) -> list[float]:
    """The share of each question's evidence in one answer."""
    tools = User(user).tools()
    read = (
        tools.call("search_files", {"query": question.text})[:BUDGET]
        for question in questions
    )
    return [
        marks.shown(answer, one.evidence) or 0.0
        for answer, one in zip(read, questions, strict=True)
    ]


def size(user: Folder, *, live: bool) -> int:
    """The bytes of a user's memories."""
    return sum(
        stat.size
        for stat in user.files()
        if not live or not stat.path.startswith("archive/")
    )


def measured(name: str, share_kept: float | None) -> tuple[Scores, list[float]]:
    """Recall by kind of question, and the live share of each user."""
    scores: Scores = defaultdict(list)
    left = []
    for person in real.people(name):
        with tempfile.TemporaryDirectory() as root:
            settings = "compact_after_days: 0\n"
            if share_kept:
                settings += f"summary_share: {share_kept}\n"
            Path(root, "filemem.yaml").write_text(settings)
            real.write(Path(root, real.USER), real.files(person.sessions))
            user, asked = StoreFolder(root).folder(real.USER), person.questions
            before, whole = shares(user, asked), size(user, live=False)
            at = (person.sessions[-1].at + YEAR).astimezone()
            compact(user, at)
            sweep(user, at)
            left.append(size(user, live=True) / whole)
            columns = (before, shares(user, asked))
            for question, *row in zip(asked, *columns, strict=True):
                scores[question.kind].append(tuple(row))
    return scores, left


def table(scores: Scores) -> str:
    """The figures in percent."""
    out = []
    for kind, found in [
        ("all", [row for rows in scores.values() for row in rows]),
        *sorted(scores.items()),
    ]:
        means = [100 * sum(column) / len(found) for column in zip(*found, strict=True)]
        kept = [
            f"{mean:.1f} ({100 * mean / (means[0] or 1):.0f} %)" for mean in means[1:]
        ]
        out.append([kind, len(found), f"{means[0]:.1f}", *kept])
    return grid("questions|number|before|after", out)


def main() -> None:
    """Print the figures that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", default="locomo")
    parser.add_argument("--share", type=float, metavar="SHARE")
    given = parser.parse_args()
    scores, left = measured(given.set, given.share)
    print(table(scores))
    print(
        f"\nLive bytes a user, of what was: {', '.join(f'{100 * part:.1f} %' for part in left)}; ",
        end="",
    )
    print(f"mean {100 * sum(left) / len(left):.1f} %")


if __name__ == "__main__":
    main()
