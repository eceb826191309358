"""One table and one picture from the logs, and two runs compared question by question.

A question that failed, by an error of the model's endpoint or of the system, counts as answered wrongly, and is told. One on
which the judge gave no verdict counts neither way, and is told. Intervals are of 95 %, by drawing the questions anew a
thousand times from a fixed seed.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log

from benchmarks.answers.costs import QUESTIONS, Prices, Spent, grader, mean, spent
from benchmarks.answers.costs import expected as expecting
from benchmarks.answers.systems import SYSTEMS, Absent
from benchmarks.table import grid

DRAWS = 1000
MARKS = ("paper", "strict", "exact", "f1", "patterns", "evidence")


class Asked(NamedTuple):
    """A question as it went: its marks, where they were given, and what it cost."""

    id: str
    kind: str
    counted: bool
    answerable: bool
    failed: bool
    limited: bool
    marks: dict[str, float]
    spent: Spent
    answer: str


class Run(NamedTuple):
    """One log: a task with a system and a model. `label` names the data too, where a task was run on several."""

    task: str
    label: str
    data: str
    system: str
    model: str
    grader: str
    log: EvalLog
    asked: list[Asked]
    taking_in: float

    def values(self, mark: str, every: bool = False) -> dict[str, float]:
        """The marks of the questions that count, by id; those of failed ones are 0."""
        found = [one for one in self.asked if every or one.counted]
        known = mark in ("paper", "strict") or any(mark in one.marks for one in found)
        return {one.id: one.marks.get(mark, 0.0) for one in found if mark in one.marks or (known and one.failed)}


def runs(folder: str, prices: Prices) -> list[Run]:
    """The runs that a folder of logs holds, in the order of SYSTEMS: of each task, data, prompts, system and model the newest."""
    newest: dict[tuple[str, ...], Run] = {}
    for info in list_eval_logs(folder, descending=False):
        run = read(info.name, prices)
        meta = run.log.eval.metadata or {}
        asked = repr((meta.get("data"), meta.get("prompts")))
        newest[run.task, asked, run.system, run.model, run.grader] = run
    several = Counter(task for task, _ in {(run.task, run.data) for run in newest.values()})
    named = [run._replace(label=f"{run.task}: {run.data}") if several[run.task] > 1 else run for run in newest.values()]
    order = list(SYSTEMS)
    return sorted(named, key=lambda run: (run.label, run.model, (*order, run.system).index(run.system)))


def read(file: str, prices: Prices) -> Run:
    """One log."""
    log = read_eval_log(file)
    meta, samples = log.eval.metadata or {}, log.samples or []
    asked = [_asked(log, sample, prices) for sample in samples]
    taken = {str(one.metadata["history"]): float(one.store.get("taking_in", 0)) for one in samples}
    taking_in = sum(taken.values()) / max(len(taken), 1)
    name = log.eval.task.rpartition("/")[2]
    about = meta.get("data") or {}
    data = about.get("file") or f"{about.get('lengths', '')} tokens"
    data += ", corrected" if about.get("corrected") else ""
    return Run(name, name, data, str(meta.get("system")), log.eval.model, grader(log), log, asked, taking_in)


def _asked(log: EvalLog, sample: EvalSample, prices: Prices) -> Asked:
    marks = {}
    for name, score in (sample.scores or {}).items():
        value = score.as_float()
        if value == value:  # not what Inspect has for an unscored one, which is no number
            marks[name] = value
    meta, id = sample.metadata, f"{sample.id}" + (f" ({sample.epoch})" if sample.epoch > 1 else "")
    failed, limited = sample.error is not None, sample.limit is not None
    answer = sample.output.completion
    return Asked(
        id,
        meta["kind"],
        meta["counted"],
        meta["answerable"],
        failed,
        limited,
        marks,
        spent(log, sample, prices),
        answer,
    )


# -- figures -----------------------------------------------------------------------------------------------------------


def interval(values: Iterable[float]) -> tuple[float, float]:
    """Where 95 % of the means lie when the values are drawn anew, with repetition."""
    values, chance = list(values), random.Random(1)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(DRAWS))
    return means[DRAWS // 40], means[-DRAWS // 40]


def _percent(values: dict[str, float] | list[float], bounds: bool = False) -> str:
    numbers = list(values.values()) if isinstance(values, dict) else values
    if not numbers:
        return ""
    text = f"{100 * sum(numbers) / len(numbers):.1f}"
    low, high = interval(numbers) if bounds else (0, 0)
    return f"{text} ({100 * low:.0f} – {100 * high:.0f})" if bounds else text


def agreement(run: Run) -> str:
    """How often both judges say the same, in percent, and Cohen's kappa, which takes off what chance would give."""
    one, two = run.values("paper", every=True), run.values("strict", every=True)
    both = [(one[id], two[id]) for id in one.keys() & two.keys()]
    if not both:
        return ""
    same = sum(a == b for a, b in both) / len(both)
    p, q = (sum(column) / len(both) for column in zip(*both, strict=True))
    chance = p * q + (1 - p) * (1 - q)
    return f"{100 * same:.0f}" + (f" ({(same - chance) / (1 - chance):.2f})" if chance < 1 else "")


def _refusals(run: Run, answerable: bool) -> str:
    return _percent([one.marks.get("refused", 0.0) for one in run.asked if one.answerable == answerable])


def answers(found: list[Run]) -> str:
    """How well the systems answered."""
    rows: list[list[object]] = []
    for run in found:
        counted = sum(one.counted for one in run.asked)
        marks = [_percent(run.values(mark), mark in ("paper", "strict")) for mark in MARKS]
        refusals = [_refusals(run, False), _refusals(run, True)]
        rows.append([run.label, run.system, counted, *marks[:2], agreement(run), *marks[2:], *refusals])
    head = "task|system|questions|judge, paper's rule|judge, strict|agree, % (kappa)|exact|F1|patterns|evidence shown"
    return grid(f"{head}|refused: no answer known|refused: answer known", rows)


def costs(found: list[Run], prices: Prices) -> str:
    """What a question cost, on the average over all that were asked."""
    rows: list[list[object]] = []
    for run in found:
        each = [one.spent for one in run.asked]
        means = {name: mean([getattr(one, name) for one in each]) or 0.0 for name in Spent._fields[:8]}
        money = [mean([one.answering for one in each]), mean([one.judging for one in each])]
        whole = money[0] + money[1] if money[0] is not None and money[1] is not None else None
        rows.append(
            [
                run.label,
                run.system,
                *(f"{means[name]:,.0f}" for name in ("tokens_in", "tokens_out", "memory")),
                *(f"{means[name]:.1f}" for name in ("calls", "tools")),
                f"{means['seconds']:.2f}",
                f"{run.taking_in:.1f}",
                f"{means['judge_in'] + means['judge_out']:,.0f}",
                *("" if one is None else f"{1000 * one:.2f}" for one in money),
                "" if whole is None else f"{whole * QUESTIONS.get(run.task, len(each)):,.2f}",
            ]
        )
    head = "task|system|tokens in|tokens out|of them memory|calls|tool calls|seconds|s to take in|judges' tokens"
    day = f", {prices.as_of}" if prices.as_of else ""
    return grid(f"{head}|$ per 1,000, answers{day}|$ per 1,000, judges|$ whole task", rows)


def expected(found: list[Run], prices: Prices, searches: int | None) -> str:
    """What whole tasks would cost, answered by each model of the price table, and judged by it."""
    rows: list[list[object]] = []
    for run in found:
        each, count = [one.spent for one in run.asked], QUESTIONS.get(run.task, len(run.asked))
        money = [expecting(each, price, searches) for price in prices.models.values()]
        rows.append([run.label, run.system, f"{count:,}", *(f"{count * a:,.2f} + {count * b:,.2f}" for a, b in money)])
    head = f"task|system|questions|{'|'.join(prices.models)}"
    often = "as often as was measured" if searches is None else f"{searches} times a question"
    return f"Dollars for answers + for judging, prices of {prices.as_of}, tools called {often}.\n\n{grid(head, rows)}"


def kinds(found: list[Run]) -> str:
    """The paper's judge by kind of question, and for questions that no published figure counts too."""
    out = []
    for label in dict.fromkeys(run.label for run in found):
        mine = [run for run in found if run.label == label]
        every = sorted({one.kind for run in mine for one in run.asked})
        sizes = {kind: sum(one.kind == kind for one in mine[0].asked) for kind in every}
        rows: list[list[object]] = []
        for run in mine:
            by: dict[str, list[float]] = defaultdict(list)
            for one in run.asked:
                if "paper" in one.marks or one.failed:
                    by[one.kind].append(one.marks.get("paper", 0.0))
            rows.append([run.system, *(_percent(by[kind]) for kind in every)])
        out.append(grid("|".join([label, *(f"{kind} ({sizes[kind]})" for kind in every)]), rows))
    return "\n\n".join(out)


def faults(found: list[Run]) -> list[str]:
    """What a reader has to know before believing the figures."""
    said = []
    for run in found:
        name, total = f"{run.label}, {run.system}", len(run.asked)
        failed, limited = sum(one.failed for one in run.asked), sum(one.limited for one in run.asked)
        mute = sum("paper" not in one.marks or "strict" not in one.marks for one in run.asked if not one.failed)
        for count, what in (
            (failed, "failed and count as wrong"),
            (limited, "reached the limit of turns"),
            (mute, "have no verdict of one of the judges and are left out of its figure"),
        ):
            if count:
                said.append(f"- {name}: {count} of {total} questions {what}.")
        if run.log.status != "success":
            said.append(f"- {name}: the run ended with {run.log.status}; it is not whole.")
    tested = {run.system for run in found}
    missing = [
        f"- {name} was not tested: {one.reason}."
        for name, one in SYSTEMS.items()
        if isinstance(one, Absent) and name not in tested
    ]
    return [*said, *missing]


def report(found: list[Run], prices: Prices) -> str:
    """All of it, as Markdown."""
    models = sorted({f"{run.model}, judged by {run.grader}" for run in found})
    revisions = [run.log.eval.revision for run in found if run.log.eval.revision]
    commits = sorted({one.commit for one in revisions})
    dirty = " (with changes that are not committed)" if any(one.dirty for one in revisions) else ""
    return "\n\n".join(
        [
            f"Model: {'; '.join(models)}. Commit {', '.join(commits) or 'not known'}{dirty}.",
            answers(found),
            costs(found, prices),
            kinds(found),
            "\n".join(faults(found)),
        ]
    )


def compared(one: Run, two: Run, mark: str = "paper") -> str:
    """Two runs question by question: on which they differ, and by how much in all."""
    ours, theirs = one.values(mark), two.values(mark)
    common = [id for id in ours if id in theirs]
    differ = [id for id in common if ours[id] != theirs[id]]
    gains = [ours[id] - theirs[id] for id in common]
    if not common:
        return "The two runs have no question in common."
    low, high = interval(gains)
    better = sum(gain > 0 for gain in gains)
    names = (one.system, two.system) if one.system != two.system else (one.model, two.model)
    head = (
        f"{one.task}, {mark}: {names[0]} {_percent(ours)}, {names[1]} {_percent(theirs)} on {len(common)} questions; "
        f"better on {better}, worse on {len(differ) - better}; difference {100 * sum(gains) / len(gains):+.1f} "
        f"({100 * low:+.1f} to {100 * high:+.1f})."
    )
    said = [{asked.id: asked for asked in run.asked} for run in (one, two)]
    rows: list[list[object]] = [
        [id, said[0][id].kind, ours[id], theirs[id], *(_short(answers[id].answer) for answers in said)] for id in differ
    ]
    return head + "\n\n" + grid(f"question|kind|{names[0]}|{names[1]}|{names[0]} said|{names[1]} said", rows)


def _short(text: str) -> str:
    text = " ".join(text.replace("|", "/").split())
    return text if len(text) <= 60 else f"{text[:59]}…"


# -- picture -----------------------------------------------------------------------------------------------------------

STYLE = (
    "text{font:13px sans-serif;fill:#333}.b{fill:#0b6e99}.w{stroke:#333}.p{fill:#fff}@media(prefers-color-scheme:dark)"
    "{text{fill:#ddd}.b{fill:#58b7e0}.w{stroke:#ddd}.p{fill:#1b1e23}}"
)


def picture(found: list[Run], mark: str = "paper") -> str:
    """A bar for each run with its interval, as SVG that reads on a light and on a dark page."""
    left, across, row, parts, y = 190, 420, 24, [], 40
    for label in dict.fromkeys(run.label for run in found):
        parts.append(f'<text x="10" y="{y}" font-weight="bold">{escape(label)}</text>')
        for run in (run for run in found if run.label == label):
            values = list(run.values(mark).values())
            y += row
            parts.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{escape(run.system)}</text>')
            if not values:
                parts.append(f'<text x="{left}" y="{y}">no verdicts</text>')
                continue
            share, (low, high) = sum(values) / len(values), interval(values)
            parts.append(f'<rect class="b" x="{left}" y="{y - 12}" width="{across * share:.1f}" height="14"/>')
            parts.append(f'<path class="w" d="M{left + across * low:.1f},{y - 5} H{left + across * high:.1f}"/>')
            parts.append(f'<text x="{left + across * max(high, share) + 8:.1f}" y="{y}">{100 * share:.1f}</text>')
        y += row + 10
    title = f"Right answers, in percent, by the judge with the {'paper’s' if mark == 'paper' else mark} rule"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {y}" width="680" role="img"><title>{title}</title>'
        f'<style>{STYLE}</style><rect class="p" width="680" height="{y}"/><text x="10" y="18">{title}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
