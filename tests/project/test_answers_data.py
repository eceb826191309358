"""The readers of the benchmark of answers find in each format what stands there.

That is turns, dates, questions, keys and evidence.

The samples are small enough to check by eye; the formats are those of the published
files. Nothing here needs Inspect.
"""

import datetime as dt
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.answers import data

ROOT = Path(data.__file__).parents[2]
SAMPLES = Path(data.__file__).parent / "samples"


def read(reader: str, name: str) -> data.Bench:
    """Return a sample as the reader of its format has it."""
    return getattr(data, reader)(str(SAMPLES / name))


def test_locomo() -> None:
    """Of the five categories the adversarial one has no answer.

    A picture stands in its turn by its caption. What is asked counts as asked on the
    day of the last talk.
    """
    bench = read("locomo", "locomo.json")
    first, second = bench.histories["nell-omar"]
    assert first.at == dt.datetime(2025, 3, 3, 19, 30)
    assert "[image: a photo of a kitten asleep" in first.turns[2].text
    kinds = ["single-hop", "temporal", "multi-hop", "open-domain", "adversarial"]
    assert [one.kind for one in bench.questions[:5]] == kinds
    answerable = [one.answerable for one in bench.questions]
    assert answerable.index(False) == 4
    assert bench.questions[0].evidence == (first.turns[0].text,)
    assert "Braga" not in bench.questions[4].key
    assert bench.questions[4].asked == second.at


def test_longmemeval(tmp_path: Path) -> None:
    """A history a question, in order of time.

    Abstention is known by its id, evidence by its mark. It may come in gzip.
    """
    bench = read("longmemeval", "longmemeval.json")
    told = bench.histories["lme_2"]
    assert [session.at.month for session in told] == [2, 3, 5]
    kinds = {one.id: (one.kind, one.answerable) for one in bench.questions}
    assert kinds["lme_2"] == ("knowledge-update", True)
    assert kinds["lme_7_abs"] == ("abstention", False)
    first = bench.questions[0]
    assert first.evidence == ("I keep my sourdough starter in a blue jar.",)
    assert first.asked == dt.datetime(2024, 6, 1, 10, 0)
    packed = tmp_path / "s.json.gz"
    packed.write_bytes(gzip.compress((SAMPLES / "longmemeval.json").read_bytes()))
    assert data.longmemeval(str(packed)) == bench


def test_lifebench() -> None:
    """Records by day; a question that lost its choices is left out.

    Each record has its own time, and is known by its kind and number.
    """
    bench = read("lifebench", "lifebench.json")
    sms = bench.histories["qiaoyun"][0].turns[0]
    assert (sms.id, sms.at) == ("sms:0", dt.datetime(2025, 3, 1, 8, 10))
    assert [one.kind for one in bench.questions][2:] == ["Multi-hop reasoning"]
    assert len(bench.questions[2].evidence) == 2


def test_life() -> None:
    """Messages within two hours are one session.

    A question is one to be answered, or one on what stands after a year.
    """
    bench = read("life", "life.yaml")
    assert [len(session.turns) for session in bench.histories["tamsin"]] == [2, 1, 1]
    assert [one.kind for one in bench.questions] == ["ask", "ask", "standing"]


def row(ones: list[dict[str, Any]], reading: int) -> str:
    """Return what some answers add up to, as the tables of the page have it.

    Args:
        ones: the answers of one recipe to the questions of one set.
        reading: whose verdict counts, by its number.
    """
    count = len(ones)
    right = sum(one["right"][reading] for one in ones)
    requests = sum(one["requests"] for one in ones) / count
    calls = sum(len(one["calls"]) for one in ones) / count
    memory = sum(one["memory"] for one in ones) / count
    read = sum(one["read"] for one in ones) / count
    return f"| {right} | {requests:.1f} | {calls:.1f} | {memory:,.0f} | {read:,.0f} |"


def test_the_page_tells_what_the_log_of_the_run_holds() -> None:
    """Each row of the tables of docs/benchmarks.md follows from the log.

    The readings agree as often as is said.
    """
    log = ROOT / "benchmarks/answers/run-2026-11-23.jsonl"
    page = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    asked = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for one in asked:
        group = (one["set"], one["task"], one["recipe"])
        groups.setdefault(group, []).append(one)
    for group, ones in groups.items():
        reading = 0 if group[0] == "first" else -1
        assert row(ones, reading) in page, group
    twice = [one["right"] for one in asked if len(one["right"]) == 2]
    agreed = sum(first == second for first, second in twice)
    assert f"agree on {agreed} of {len(twice)}" in page


@pytest.mark.parametrize(
    ("log", "right"),
    [("tools-2026-11-28", 40), ("chat-2026-11-29", 21), ("chat-2026-11-30", 40)],
)
def test_the_figures_of_longmemeval_are_those_of_its_logs(log: str, right: int) -> None:
    """What log and document say of them is what its answers add up to.

    That is how many are right, and the mean of the tokens of memory.
    """
    path = ROOT / f"benchmarks/answers/longmemeval-{log}.json"
    logged = json.loads(path.read_text("utf-8"))
    answers = logged["answers"]
    tokens = sum(answer["tokens"] for answer in answers) / len(answers)
    assert sum(answer["right"] for answer in answers) == right
    assert (logged["about"]["right"], logged["about"]["of"]) == (right, len(answers))
    document = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    assert f"{right} of {len(answers)} |" in document
    assert f"| {tokens:,.0f} of " in document


def test_the_agreement_of_two_judges_is_what_the_logs_say() -> None:
    """The document tells how often both verdicts are the same, and Cohen's kappa.

    Of all answers in the logs.
    """
    first = []
    second = []
    for log in ("tools-2026-11-28", "chat-2026-11-29", "chat-2026-11-30"):
        path = ROOT / f"benchmarks/answers/longmemeval-{log}.json"
        logged = json.loads(path.read_text("utf-8"))
        for answer in logged["answers"]:
            first.append(answer["right"])
            second.append(answer["right_second"])
    count = len(first)
    same = sum(map(bool.__eq__, first, second))
    # What two who say yes as often would agree on by chance.
    chance = sum(first) * sum(second)
    chance += first.count(False) * second.count(False)
    chance /= count**2
    kappa = (same / count - chance) / (1 - chance)
    document = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    told = f"agree on {same} of {count} answers"
    told += f" (Cohen's kappa {kappa:.2f})"
    assert told in " ".join(document.split())
