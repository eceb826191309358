"""How well the turns that consolidation keeps without a model agree with the turns that people's facts cite in LoCoMo.

For each conversation of `../shared/data/locomo-dev.json` and for its Chinese translation: precision, recall and F1 of the
turns over the threshold of `filemem.salience`, of those that also become a statement, and of simple rules. `--fit` fits
the weights anew, by logistic regression with an L2 penalty of 100 on standardised signs, and prints them with what they
reach on the conversation that was left out of the fit.
"""

import datetime as dt
import json
import math
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from filemem import salience, statements
from filemem.utterance import FIRST, Turn, length, regex

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
PENALTY = 100.0
_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*0*(\d+)")


class Row(NamedTuple):
    """One turn: whether a label cites it, its signs, its score, whether it becomes a statement."""

    gold: bool
    turn: Turn
    signs: dict[str, float]
    score: float
    stated: bool


class Result(NamedTuple):
    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        return f"{self.f1:.3f} ({self.precision:.2f}/{self.recall:.2f})"


def cited(sample: dict[str, Any]) -> set[str]:
    """The ids of the turns that the observations of a conversation cite."""
    facts = (fact for session in sample["observation"].values() for told in session.values() for fact in told)
    return {f"D{session}:{int(turn)}" for fact in facts for session, turn in _ID.findall(str(fact[1]))}


def sessions(talk: dict[str, Any]) -> Iterator[tuple[dt.date, list[dict[str, Any]]]]:
    """The sessions of a conversation in order: the day, the turns."""
    keys = (key for key in talk if re.fullmatch(r"session_\d+", key) and talk[key])
    for key in sorted(keys, key=lambda key: int(key.split("_")[1])):
        yield _day(talk[key + "_date_time"]), talk[key]


def _day(text: str) -> dt.date:
    for form in ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S"):
        try:
            return dt.datetime.strptime(text.strip(), form).date()
        except ValueError:
            continue
    return dt.date(2023, 1, 1)


def rows(sample: dict[str, Any], gold: set[str]) -> list[Row]:
    """Every turn of a conversation, as consolidation would meet it: session by session, knowing the earlier ones."""
    talk, heard, found = sample["conversation"], salience.Heard(), []
    names = (talk["speaker_a"], talk["speaker_b"])
    for day, said in sessions(talk):
        turns = [Turn(turn["speaker"], _text(turn)) for turn in said]
        for number, (turn, context) in enumerate(zip(turns, salience.contexts(turns, heard), strict=True)):
            others = tuple(name for name in names if name != turn.speaker)
            stated = bool(statements.statements(turn, context.previous, day, others))
            value = salience.score(turn, context)
            found.append(Row(said[number]["dia_id"] in gold, turn, salience.signs(turn, context), value, stated))
        heard.add(turns)
    return found


def _text(turn: dict[str, Any]) -> str:
    caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return " ".join(turn["text"].split()) + caption


def measured(found: list[Row], keep: Callable[[Row], bool]) -> Result:
    kept = [row for row in found if keep(row)]
    right = sum(row.gold for row in kept)
    precision, recall = right / max(len(kept), 1), right / max(sum(row.gold for row in found), 1)
    return Result(precision, recall, 2 * precision * recall / max(precision + recall, 1e-9))


def at_random(found: list[Row]) -> Result:
    """As many turns as the threshold keeps, drawn a hundred times."""
    count = sum(row.score >= salience.THRESHOLD for row in found)
    draw = random.Random(1)
    drawn = [set(draw.sample(range(len(found)), count)) for _ in range(100)]
    at = {id(row): number for number, row in enumerate(found)}
    results = [measured(found, lambda row, one=one: at[id(row)] in one) for one in drawn]  # type: ignore[misc]
    return Result(*(sum(column) / len(results) for column in zip(*results, strict=True)))


def table(named: dict[str, list[Row]]) -> None:
    rules: dict[str, Callable[[list[Row]], Result]] = {
        "kept": lambda found: measured(found, lambda row: row.score >= salience.THRESHOLD),
        "kept and stated": lambda found: measured(found, lambda row: row.score >= salience.THRESHOLD and row.stated),
        "over 18 words": lambda found: measured(found, lambda row: length(row.turn.text) > 18),
        "first person over 10 words": lambda found: measured(
            found, lambda row: length(row.turn.text) > 10 and regex(FIRST).search(row.turn.text) is not None
        ),
        "as many at random": at_random,
    }
    print("F1 (precision/recall)".ljust(28) + "".join(name.rjust(19) for name in named))
    for rule, measure in rules.items():
        print(rule.ljust(28) + "".join(str(measure(found)).rjust(19) for found in named.values()))


def fitted(found: list[Row]) -> tuple[dict[str, float], float]:
    """Weights and intercept for the unscaled signs, by Newton's method."""
    names = list(salience.WEIGHTS)
    columns = [[row.signs[name] for row in found] for name in names]
    means = [sum(column) / len(column) for column in columns]
    spreads = [
        math.sqrt(sum((value - mean) ** 2 for value in column) / len(column)) or 1.0
        for column, mean in zip(columns, means, strict=True)
    ]
    scaled = [
        [1.0, *((row.signs[name] - mean) / spread for name, mean, spread in zip(names, means, spreads, strict=True))]
        for row in found
    ]
    weights = newton(scaled, [row.gold for row in found])
    plain = {name: weight / spread for name, weight, spread in zip(names, weights[1:], spreads, strict=True)}
    return plain, weights[0] - sum(plain[name] * mean for name, mean in zip(names, means, strict=True))


def newton(scaled: list[list[float]], gold: list[bool]) -> list[float]:
    size = len(scaled[0])
    weights = [0.0] * size
    for _ in range(8):
        gradient = [0.0 if i == 0 else PENALTY * weights[i] for i in range(size)]
        matrix = [[PENALTY if i == j and i else 0.0 for j in range(size)] for i in range(size)]
        for row, label in zip(scaled, gold, strict=True):
            chance = 1 / (1 + math.exp(-sum(map(float.__mul__, weights, row))))
            for i, value in enumerate(row):
                gradient[i] += (chance - label) * value
                slope = chance * (1 - chance) * value
                line = matrix[i]
                for j in range(i + 1):
                    line[j] += slope * row[j]
        for i in range(size):
            for j in range(i):
                matrix[j][i] = matrix[i][j]
        weights = [weight - step for weight, step in zip(weights, solved(matrix, gradient), strict=True)]
    return weights


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a positive definite system, by elimination."""
    lines = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i, pivot in enumerate(lines):
        for other in lines[i + 1 :]:
            share = other[i] / pivot[i]
            for j in range(i, len(pivot)):
                other[j] -= share * pivot[j]
    found = [0.0] * len(lines)
    for i in reversed(range(len(lines))):
        known = sum(lines[i][j] * found[j] for j in range(i + 1, len(lines)))
        found[i] = (lines[i][-1] - known) / lines[i][i]
    return found


def linear(weights: dict[str, float], intercept: float) -> Callable[[Row], bool]:
    """The rule that keeps a turn where the weighted sum of its signs is over nothing."""
    return lambda row: intercept + sum(weights[name] * sign for name, sign in row.signs.items()) >= 0


def best(found: list[Row], weights: dict[str, float]) -> tuple[float, float]:
    """The intercept that gives the best F1, and that F1."""
    sums = sorted(sum(weights[name] * sign for name, sign in row.signs.items()) for row in found)
    cuts = sums[:: max(len(found) // 200, 1)]
    f1, cut = max((measured(found, linear(weights, -cut)).f1, cut) for cut in cuts)
    return -cut, f1


def fit(named: dict[str, list[Row]]) -> None:
    for name, left_out in named.items():
        others = [row for other, found in named.items() if other != name for row in found]
        weights, _ = fitted(others)
        intercept, _ = best(others, weights)
        result = measured(left_out, linear(weights, intercept))
        print(f"fitted to the others, on {name}: {result}")
    weights, _ = fitted([row for found in named.values() for row in found])
    intercept, f1 = best([row for found in named.values() for row in found], weights)
    print(f"fitted to all: F1 {f1:.3f}, intercept {intercept:.2f}")
    for sign, weight in weights.items():
        print(f"    {sign:14} {weight:+.2f}")


def main() -> None:
    path = DATA / "locomo-dev.json"
    if not path.exists():
        print(f"Skipped: {path.name} is not in {DATA.parent.name}/{DATA.name} beside the repository.")
        return
    samples = json.loads(path.read_text(encoding="utf-8"))
    start = time.perf_counter()
    named = {sample["sample_id"]: rows(sample, cited(sample)) for sample in samples}
    everything = [row for found in named.values() for row in found]
    seconds = time.perf_counter() - start
    print(f"{len(everything)} turns of {len(named)} conversations in {seconds:.1f} s")
    if "--fit" in sys.argv[1:]:
        fit(named)
        return
    translated = DATA / "locomo-zh-dev.json"
    chinese = json.loads(translated.read_text(encoding="utf-8")) if translated.exists() else []
    gold = {sample["sample_id"]: cited(sample) for sample in samples}
    zh = {f"{sample['sample_id']} zh": rows(sample, gold[sample["sample_id"]]) for sample in chinese}
    table({**named, "all": everything, **zh})


if __name__ == "__main__":
    main()
