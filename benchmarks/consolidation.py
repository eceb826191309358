"""What consolidation without a model makes of conversations of LoCoMo: which turns it keeps, how fast, and what it costs recall.

    python benchmarks/consolidation.py LOCOMO.json [TRANSLATION.json] [--fit] [--facts N]

For each conversation, written as a folder of sessions and consolidated: precision, recall and F1 of the turns that its facts
name as sources, against those that the benchmark's own facts cite (`observation`), and of simple rules beside; then the
share of a question's evidence that stands in the first tokens of one answer of `search_files`, with sessions alone and with
the facts beside them (as `peers.py` counts it). TRANSLATION.json has the same ids in Chinese. `--facts` prints some of the
facts, drawn by chance, each over the turn that it comes from. `--fit` fits the weights of the signs anew, by logistic
regression with an L2 penalty of 100 on standardised signs, and prints them with what they reach on the conversation that was
left out of the fit.
"""

import argparse
import datetime as dt
import json
import math
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from peers import Talk, letters, talks, write

from filemem import Store, User, consolidation, facts, statements
from filemem.statements import salience
from filemem.statements.utterance import FIRST, Turn, length, regex

BUDGETS = (500, 1000, 2000, 4000)  # tokens of 4 characters
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
    return agreed(sum(row.gold for row in kept), len(kept), sum(row.gold for row in found))


def at_random(found: list[Row]) -> Result:
    """As many turns as the threshold keeps, drawn a hundred times."""
    count = sum(row.score >= salience.THRESHOLD for row in found)
    draw = random.Random(1)
    drawn = [set(draw.sample(range(len(found)), count)) for _ in range(100)]
    at = {id(row): number for number, row in enumerate(found)}
    results = [measured(found, lambda row, one=one: at[id(row)] in one) for one in drawn]  # type: ignore[misc]
    return Result(*(sum(column) / len(results) for column in zip(*results, strict=True)))


def table(named: dict[str, list[Row]], files: dict[str, Result]) -> None:
    """The turns that are kept beside simple rules; `files` are the sources of the facts that were written."""
    rules: dict[str, Callable[[list[Row]], Result]] = {
        "kept": lambda found: measured(found, lambda row: row.score >= salience.THRESHOLD),
        "kept and stated": lambda found: measured(found, lambda row: row.score >= salience.THRESHOLD and row.stated),
        "over 18 words": lambda found: measured(found, lambda row: length(row.turn.text) > 18),
        "first person over 10 words": lambda found: measured(
            found, lambda row: length(row.turn.text) > 10 and regex(FIRST).search(row.turn.text) is not None
        ),
        "as many at random": at_random,
    }
    print("\nF1 (precision/recall)".ljust(29) + "".join(name.rjust(19) for name in named))
    print("sources of facts".ljust(28) + "".join(str(files.get(name, "")).rjust(19) for name in named))
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


# -- the real thing: files, consolidated and searched --------------------------------------------------------------


class Made(NamedTuple):
    """A conversation consolidated: seconds, the ids of the turns that its facts name, recall by tokens before and after."""

    seconds: float
    facts: int
    sources: set[str]
    before: dict[int, float]
    after: dict[int, float]


def made(talk: Talk, root: Path, show: int) -> Made:
    """Write a conversation's files, ask, consolidate, ask again."""
    write(root / talk.name, talk.files)
    user = Store(root).user(talk.name)
    before = recalled(talk, user)
    start = time.perf_counter()
    for _ in consolidation.run(user, dt.datetime(2026, 11, 20)):
        pass
    seconds = time.perf_counter() - start
    at = {f"{said.path}:{said.line}": said for said in talk.turns}
    found = {path: facts.sources(user.memory(path)) for path in user.paths() if re.search(r"(?:facts|lessons)/", path)}
    for path in sorted(random.Random(7).sample(sorted(found), min(show, len(found)))):
        told = " ".join(passage.text for passage in user.memory(path).passages)
        print(f"{talk.name}/{path}\n    {told}\n    < {at[found[path][0]].speaker}: {at[found[path][0]].text}")
    sources = {at[source].id for named in found.values() for source in named}
    return Made(seconds, len(found), sources, before, recalled(talk, user))


def recalled(talk: Talk, user: User) -> dict[int, float]:
    """The share of the evidence in the first tokens of an answer, summed over the questions."""
    tools, said = user.tools(), {turn.id: letters(turn.text)[:120] for turn in talk.turns}
    total = dict.fromkeys(BUDGETS, 0.0)
    for question, evidence in talk.questions:
        answer = tools.call("search_files", json.dumps({"query": question}))
        for budget in BUDGETS:
            seen = letters(answer[: 4 * budget])
            total[budget] += sum(bool(said[turn]) and said[turn] in seen for turn in evidence) / len(evidence)
    return total


def report(path: str, gold: dict[str, set[str]], show: int) -> dict[str, Result]:
    """Consolidate every conversation; prints speed and recall, returns how well the sources agree."""
    found, everything, questions = dict[str, Result](), list[Made](), 0
    kept = right = wanted = 0
    with tempfile.TemporaryDirectory() as folder:
        for talk in talks(path):
            one = made(talk, Path(folder), show)
            everything.append(one)
            questions += len(talk.questions)
            hits = len(one.sources & gold[talk.name])
            found[talk.name] = agreed(hits, len(one.sources), len(gold[talk.name]))
            kept, right, wanted = kept + len(one.sources), right + hits, wanted + len(gold[talk.name])
    found["all"] = agreed(right, kept, wanted)
    seconds, count = sum(one.seconds for one in everything), sum(one.facts for one in everything)
    print(f"{count:,} facts of {len(everything)} conversations, consolidated in {seconds:.1f} s\n")
    print("recall".ljust(28) + "".join(f"@{budget}".rjust(9) for budget in BUDGETS))
    for name, shares in (
        ("sessions", [one.before for one in everything]),
        ("and facts", [one.after for one in everything]),
    ):
        row = (100 * sum(share[budget] for share in shares) / questions for budget in BUDGETS)
        print(name.ljust(28) + "".join(f"{value:9.1f}" for value in row))
    return found


def agreed(right: int, kept: int, wanted: int) -> Result:
    precision, recall = right / max(kept, 1), right / max(wanted, 1)
    return Result(precision, recall, 2 * precision * recall / max(precision + recall, 1e-9))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conversations", metavar="LOCOMO.json")
    parser.add_argument("translation", metavar="TRANSLATION.json", nargs="?")
    parser.add_argument("--facts", type=int, default=0, metavar="N", help="print so many facts of each conversation")
    parser.add_argument("--fit", action="store_true", help="fit the weights of the signs anew")
    given = parser.parse_args()
    samples = json.loads(Path(given.conversations).read_text(encoding="utf-8"))
    gold = {sample["sample_id"]: cited(sample) for sample in samples}
    named = {sample["sample_id"]: rows(sample, gold[sample["sample_id"]]) for sample in samples}
    if given.fit:
        fit(named)
        return
    files = report(given.conversations, gold, given.facts)
    translated = json.loads(Path(given.translation).read_text(encoding="utf-8")) if given.translation else []
    zh = {f"{sample['sample_id']} zh": rows(sample, gold[sample["sample_id"]]) for sample in translated}
    table({**named, "all": [row for found in named.values() for row in found], **zh}, files)


if __name__ == "__main__":
    main()
