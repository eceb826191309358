"""Measure on a folder of notes in git when an old note is needed again.

    python -m benchmarks.reuse FOLDER [--glob '*.md'] [--first-days 60]

A later edit of a note stands for its being needed. Two questions are asked of the
history: which curve ranks what is edited next better, and how the chance of an edit
falls with the days since the last one.

Ranking: on each day with edits, every note that is old enough is ranked by its days of
edits before; the figure is the share of pairs (edited that day, not edited that day)
in the right order (AUC), averaged over the days. The curves: filemem's own retention;
the base-level activation of ACT-R, ln(sum of t^-0.5) (Anderson and Schooler 1991); and
the day of the last edit alone.

Falling: the chance of an edit a day, by the days since the last one, in bins that
double; R² of a straight line through its logarithm, over the logarithm of the days (a
power of time) and over the days (an exponential).
"""

import argparse
import bisect
import datetime as dt
import math
import subprocess
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filemem.forget import curve

Days = list[dt.date]
Score = Callable[[Days, dt.date], float]


@dataclass(frozen=True)
class Bin:
    """Of all notes that were not edited for so long: days at risk, and edits."""

    middle_days: float
    days: int
    edits: int

    @property
    def chance(self) -> float:
        """The chance of an edit a day."""
        return self.edits / self.days


def edits(folder: Path, glob: str) -> dict[str, Days]:
    """Return the days on which each note was edited, oldest first, from git's log."""
    command = ["git", "-C", str(folder), "log", "--no-merges", "--name-only"]
    command += ["--format=%x01%as", "--diff-filter=AM", "--", glob]
    log = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, set[dt.date]] = defaultdict(set)
    for commit in log.split("\x01")[1:]:
        day, *paths = commit.split("\n")
        for path in filter(None, paths):
            found[path].add(dt.date.fromisoformat(day))
    return {path: sorted(days) for path, days in found.items()}


def retention(days: Days, today: dt.date) -> float:
    """Score a note by filemem's curve, as an unremarkable event."""
    return curve.strength(days[0], days[1:], today).retention


def activation(days: Days, today: dt.date) -> float:
    """Score a note by the base-level activation of ACT-R."""
    return math.log(sum(max(1, (today - day).days) ** -0.5 for day in days))


def last_edit(days: Days, today: dt.date) -> float:
    """Score a note by the day of its last edit."""
    return days[-1].toordinal()


CURVES: dict[str, Score] = {
    "filemem's retention": retention,
    "ACT-R's activation": activation,
    "the last edit alone": last_edit,
}


def right_order(edited: list[float], others: list[float]) -> float:
    """Return the share of pairs in which the edited note scores higher; ties half."""
    others = sorted(others)
    right = 0.0
    for score in edited:
        below = bisect.bisect_left(others, score)
        equal = bisect.bisect_right(others, score) - below
        right += below + equal / 2
    return right / (len(edited) * len(others))


def ranking(notes: dict[str, Days], score: Score, first_days: int) -> float:
    """Return how well a curve ranks what is edited next, from 0 to 1.

    Args:
        notes: the days of edits by note.
        score: the curve.
        first_days: of the whole history, which are only looked back at.
    """
    all_days = sorted({day for days in notes.values() for day in days})
    found = []
    for today in all_days:
        if (today - all_days[0]).days < first_days:
            continue
        edited = []
        others = []
        for days in notes.values():
            before = days[: bisect.bisect_left(days, today)]
            if not before:
                continue
            kind = edited if today in days else others
            kind.append(score(before, today))
        if edited and others:
            found.append(right_order(edited, others))
    return sum(found) / len(found) if found else math.nan


def falling(notes: dict[str, Days]) -> list[Bin]:
    """Return the chance of an edit by the days since the last, in bins that double."""
    end = max(days[-1] for days in notes.values())
    at_risk: dict[int, int] = defaultdict(int)
    edited: dict[int, int] = defaultdict(int)
    for days in notes.values():
        for day, following in zip(days, [*days[1:], None], strict=True):
            waited = ((following or end) - day).days
            for idle in range(1, waited + 1):
                at_risk[idle.bit_length()] += 1
            if following:
                edited[waited.bit_length()] += 1
    bins = []
    for size, days_at_risk in sorted(at_risk.items()):
        if edited[size]:
            bins.append(Bin(1.5 * 2 ** (size - 1), days_at_risk, edited[size]))
    return bins


def fit(xs: list[float], ys: list[float]) -> float:
    """Return R² of the straight line through some points."""
    mean_x = sum(xs) / len(xs)
    mean_y = sum(ys) / len(ys)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    spread_x = sum((x - mean_x) ** 2 for x in xs)
    spread_y = sum((y - mean_y) ** 2 for y in ys)
    if not spread_x or not spread_y:
        return math.nan
    return covariance**2 / (spread_x * spread_y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--glob", default="*.md")
    parser.add_argument("--first-days", type=int, default=60)
    options = parser.parse_args()
    notes = edits(options.folder, options.glob)
    if not notes:
        raise SystemExit(f"{options.folder}: no file like {options.glob} in git's log.")
    print(f"{len(notes)} notes, {sum(map(len, notes.values()))} days of edits")
    for name, score in CURVES.items():
        print(f"{name:24s} {ranking(notes, score, options.first_days):.2f}")
    bins = falling(notes)
    if len(bins) < 3:
        return
    chances = [math.log(one.chance) for one in bins]
    waits = [one.middle_days for one in bins]
    power = fit([math.log(days) for days in waits], chances)
    exponential = fit(waits, chances)
    print(f"chance of an edit: R² {power:.2f} a power of time, {exponential:.2f} exp")


if __name__ == "__main__":
    main()
