"""What each number of the ranking is worth.

    python -m benchmarks.features --eval DIR [--data DIR] [--every N] [--sets NAME...]

Switches off each field of `filemem.search.weights.WEIGHTS` in turn and prints one Markdown
table: the share of the evidence that stands in the first 500 tokens of an answer, and in
the whole of it, in percent. The sets and what counts as shown are outside of the project:
`data.py` and `recall.py` in the folder `--eval`, their files in `--data`.
"""

import argparse
import dataclasses
import datetime as dt
import importlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filemem.index import Index, of
from filemem.search.searching import search_files
from filemem.search.weights import WEIGHTS, Weights
from filemem.store.users import StoreFolder
from filemem.tools import render

SETS = ("longmemeval", "messy", "assistant", "locomo", "locomo-zh", "lifebench")
LARGE_SETS = ("locomo", "lifebench")  # of which --every takes a part
BUDGET_TOKENS = 500
UNLIMITED_TOKENS = 1_000_000
OFF: dict[str, Any] = {
    "bm25_k1": 0.0,
    "bm25_b": 0.0,
    "neighbors": (1.0,),
    "repeated": 0.0,
    "session": 0.0,
    "lesser_word": 1.0,
    "assistant": 1.0,
    "named_speaker": 0.0,
    "follows_question": 0.0,
    "length": 0.0,
    "on_day": 0.0,
    "near_day": 0.0,
    "archived": 1.0,
    "lapsed": 1.0,
    "echo": 1.0,
    "meaning": 0.0,
    "least_meaning": 0.0,
    "enough": 1.0,
    "answer_tokens": UNLIMITED_TOKENS,
    "best_tokens": UNLIMITED_TOKENS,
    "least_share": 0.0,
    "least_fact_share": 0.0,
    "equal_share": 1.0,
}
"""Each weight's value that leaves it without effect."""


@dataclass(frozen=True)
class Person:
    """Somebody's memory, and what is asked of it.

    `evidence` is what must stand in an answer, by the id of a turn: the beginning of its
    text or, where turns are long, its path and line.
    """

    index: Index
    questions: list[dict[str, Any]]
    evidence: dict[str, Any]
    today: dt.date


@dataclass(frozen=True)
class Figures:
    """The means over the questions of a set: two shares in percent, and tokens."""

    early: float
    whole: float
    tokens: float


def people(name: str, data: Any, recall: Any, folder: Path, every: int) -> list[Person]:
    """Write the memories of a set below a folder, and return its people."""
    found: list[Person] = []
    for number, user in enumerate(data.SETS[name]()):
        root = folder / f"{name}-{number}"
        turns = data.write_store(user, root)
        evidence: dict[str, Any] = {}
        for turn, path, line, _, text in turns:
            if name in recall.LONG:
                evidence[turn] = (path, line)
            else:
                evidence[turn] = recall.norm(text)[:120]
        questions = user["questions"]
        if name in LARGE_SETS:
            questions = questions[::every]
        asked = questions[0].get("asked") or dt.datetime.now()
        index = of(StoreFolder(root).folder(user["name"]))
        found.append(Person(index, questions, evidence, asked.date()))
    return found


def figures(name: str, persons: list[Person], recall: Any, weights: Weights) -> Figures:
    """Ask every question of a set."""
    early: list[float] = []
    whole: list[float] = []
    tokens: list[float] = []
    for person in persons:
        for question in person.questions:
            found = search_files(
                person.index, question["text"], today=person.today, weights=weights
            )
            answer = render.searched(found, person.today)
            beginnings, size = recall.cut(answer, (BUDGET_TOKENS,))
            gold = [person.evidence[turn] for turn in question["gold"]]
            early.append(share_shown(name, gold, beginnings[BUDGET_TOKENS], recall))
            whole.append(share_shown(name, gold, answer, recall))
            tokens.append(size)
    return Figures(100 * mean(early), 100 * mean(whole), mean(tokens))


def share_shown(name: str, gold: list[Any], answer: str, recall: Any) -> float:
    """Return the share of the evidence that an answer shows."""
    if name in recall.LONG:
        shown = recall.lines_shown(answer)
    else:
        shown = recall.norm(answer)
    return mean([float(bool(one) and one in shown) for one in gold])


def mean(values: list[float]) -> float:
    """Return the mean of some values, of which there is at least one."""
    return sum(values) / len(values)


def without(feature: str) -> Weights:
    """Return the weights with one of them off."""
    changed: dict[str, Any] = {feature: OFF[feature]}
    return dataclasses.replace(WEIGHTS, **changed)


def difference(one: float, other: float) -> str:
    """Return a difference in points; nothing where there is none."""
    points = round(one - other, 1)
    return f"{points:+.1f}" if points else "·"


def print_row(cells: list[str]) -> None:
    """Print a row of a Markdown table, at once."""
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--every", type=int, default=1, help="of the large sets, each Nth"
    )
    parser.add_argument("--sets", nargs="*", default=SETS)
    given = parser.parse_args()
    os.environ["FILEMEM_EMBEDDINGS"] = "off"
    if given.data:
        os.environ["EVAL_DATA"] = str(given.data)
    sys.path.insert(0, str(given.eval))
    data = importlib.import_module("data")
    recall = importlib.import_module("recall")
    with tempfile.TemporaryDirectory() as folder:
        loaded: dict[str, list[Person]] = {}
        for name in given.sets:
            try:
                loaded[name] = people(name, data, recall, Path(folder), given.every)
            except (OSError, KeyError) as error:
                print(
                    f"{name} is left out, as it is not there: {error}", file=sys.stderr
                )
        print_table(loaded, recall)


def print_table(loaded: dict[str, list[Person]], recall: Any) -> None:
    """Print what all weights give, and what is gained or lost without each."""
    print_row(["feature", "weight", *(f"{name} @500, whole" for name in loaded)])
    print_row(["---"] * (2 + len(loaded)))
    default: dict[str, Figures] = {}
    for name, persons in loaded.items():
        default[name] = figures(name, persons, recall, WEIGHTS)
    rows = [
        f"{one.early:.1f}, {one.whole:.1f} ({one.tokens:.0f} tokens)"
        for one in default.values()
    ]
    print_row(["all", "", *rows])
    for field in dataclasses.fields(WEIGHTS):
        feature = field.name
        weight = str(getattr(WEIGHTS, feature)).strip("()")
        cells: list[str] = []
        for name, persons in loaded.items():
            found = figures(name, persons, recall, without(feature))
            early = difference(found.early, default[name].early)
            whole = difference(found.whole, default[name].whole)
            cells.append(f"{early}, {whole}")
        print_row([f"`{feature}`", weight, *cells])


if __name__ == "__main__":
    main()
