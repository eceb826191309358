"""The readers of the benchmark of answers find in each format what stands there.

That is turns, dates, questions, keys and evidence.

The samples are small enough to check by eye; the formats are those of the published
files. Nothing here needs Inspect.
"""

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.answers import data

SAMPLES = Path(data.__file__).parent / "samples"


def read(reader: str, name: str) -> data.Bench:
    return getattr(data, reader)(str(SAMPLES / name))


def test_locomo() -> None:
    """Of the five categories the adversarial one has no answer."""
    bench = read("locomo", "locomo.json")
    first, second = bench.histories["nell-omar"]
    assert (first.at, second.at) == (
        dt.datetime(2025, 3, 3, 19, 30),
        dt.datetime(2025, 4, 21, 10, 5),
    )
    assert (
        first.turns[2].text
        == "Look at her. [image: a photo of a kitten asleep in a flower pot]"
    )
    kinds = ["single-hop", "temporal", "multi-hop", "open-domain", "adversarial"]
    assert [one.kind for one in bench.questions[:5]] == kinds
    assert [one.answerable for one in bench.questions] == [True] * 4 + [False] + [
        True
    ] * 2
    assert bench.questions[0].evidence == (first.turns[0].text,)
    assert (
        "Braga" not in bench.questions[4].key and bench.questions[4].asked == second.at
    )
    assert bench.questions[5].key == "绿色"


def test_longmemeval() -> None:
    """A history a question, in order of time.

    Abstention is known by its id, evidence by its mark.
    """
    bench = read("longmemeval", "longmemeval.json")
    told = bench.histories["lme_2"]
    assert [session.at.month for session in told] == [2, 3, 5] and told[0].turns[
        0
    ].speaker == "user"
    kinds = {one.id: (one.kind, one.answerable) for one in bench.questions}
    assert kinds["lme_2"] == ("knowledge-update", True) and kinds["lme_7_abs"] == (
        "abstention",
        False,
    )
    assert bench.questions[0].evidence == (
        "I keep my sourdough starter in a blue jar.",
    )
    assert bench.questions[0].asked == dt.datetime(2024, 6, 1, 10, 0)


def test_lifebench() -> None:
    """Records by day; a question that lost its choices is left out."""
    bench = read("lifebench", "lifebench.json")
    days = bench.histories["qiaoyun"]
    assert days[0].turns[0] == data.Turn(
        "sms:0", "sms", days[0].turns[0].text, dt.datetime(2025, 3, 1, 8, 10)
    )
    assert days[1].turns[1].at == days[1].at
    assert [one.kind for one in bench.questions][2:] == ["Multi-hop reasoning"]
    assert len(bench.questions[2].evidence) == 2 and bench.questions[
        0
    ].asked == dt.datetime(2025, 3, 3)


def test_life() -> None:
    """Messages within two hours are one session."""
    bench = read("life", "life.yaml")
    assert [len(session.turns) for session in bench.histories["tamsin"]] == [2, 1, 1]
    assert (
        bench.questions[0].key.startswith("/Leeds|Canal Row/")
        and "and not /" in bench.questions[0].key
    )
    assert [one.kind for one in bench.questions] == ["ask", "ask", "standing"]


def test_the_page_tells_what_the_log_of_the_run_holds() -> None:
    """Each row of the tables of docs/benchmarks.md follows from the log.

    The readings agree as often as is said.
    """
    root = Path(data.__file__).parents[2]
    log = (
        (root / "benchmarks/answers/run-2026-11-23.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    page = (root / "docs/benchmarks.md").read_text(encoding="utf-8")
    asked = [json.loads(line) for line in log]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for one in asked:
        groups.setdefault((one["set"], one["task"], one["recipe"]), []).append(one)
    for (which, task, recipe), ones in groups.items():
        sums = [f"{sum(one['requests'] for one in ones) / len(ones):.1f}"]
        sums += [f"{sum(len(one['calls']) for one in ones) / len(ones):.1f}"]
        sums += [
            f"{sum(one[key] for one in ones) / len(ones):,.0f}"
            for key in ("memory", "read")
        ]
        right = [str(sum(one["right"][reading] for one in ones)) for reading in (0, -1)]
        cells = right[:1] if which == "first" else right
        row = " | ".join([*cells, *sums])
        found = re.search(
            rf"{task} .*?{'' if which == 'first' else '.*?'}\| {re.escape(row)} \|",
            page,
            re.DOTALL,
        )
        assert found, (task, recipe)
    twice = [one["right"] for one in asked if len(one["right"]) == 2]
    assert (
        f"agree on {sum(first == second for first, second in twice)} of {len(twice)}"
        in page
    )


@pytest.mark.parametrize(
    ("log", "right"), [("tools-2026-11-28", 40), ("chat-2026-11-29", 21)]
)
def test_the_figures_of_longmemeval_are_those_of_its_logs(log: str, right: int) -> None:
    """What log and document say of them is what its answers add up to."""
    root = Path(data.__file__).parents[2]
    path = root / f"benchmarks/answers/longmemeval-{log}.json"
    logged = json.loads(path.read_text("utf-8"))
    answers = logged["answers"]
    tokens = sum(answer["tokens"] for answer in answers) / len(answers)
    assert (
        sum(answer["right"] for answer in answers) == logged["about"]["right"] == right
    )
    assert len(answers) == logged["about"]["of"]
    document = (root / "docs/benchmarks.md").read_text("utf-8")
    assert f"{right} of {len(answers)} |" in document
    assert f"| {tokens:,.0f} of " in document
