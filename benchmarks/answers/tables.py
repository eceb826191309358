"""The tables, from the logs. A question that failed counts as answered wrongly, and is told; one without a verdict of a judge
counts neither way, and is told. Intervals are of 95 %, by drawing the questions anew a thousand times from a fixed seed.
"""

import random
from collections.abc import Iterable
from typing import NamedTuple

from inspect_ai.log import EvalSample, list_eval_logs, read_eval_log

from .marks import grid

DRAWS = 1000


class Run(NamedTuple):
    """One log: a task with a recipe and a model, and the samples that it asked."""

    task: str
    recipe: str
    models: str  # who answered and who judged
    status: str
    samples: list[EvalSample]

    def marks(self, name: str, kind: str = "") -> dict[str, float]:
        """The marks of the questions, by id; those of failed ones are 0."""
        found: dict[str, float] = {}
        for one in self.samples:
            if kind in ("", one.metadata["kind"]):
                score = (one.scores or {}).get(name)
                value = (
                    0.0 if one.error else score.as_float() if score else float("nan")
                )
                found |= (
                    {str(one.id): value} if value == value else {}
                )  # an unscored one is no number
        return found

    def spent(self, name: str) -> float:
        """The mean of one of the sums that `tasks.spent` notes."""
        values = [
            one.scores["spent"].as_dict()[name]
            for one in self.samples
            if one.scores and "spent" in one.scores
        ]
        return sum(map(float, values)) / max(len(values), 1)  # type: ignore[arg-type]


def read(file: str) -> Run:
    """One log."""
    log = read_eval_log(file)
    judge = (log.eval.model_roles or {}).get("grader")
    models = f"{log.eval.model}, judged by {getattr(judge, 'model', '')}"
    recipe = str((log.eval.metadata or {}).get("recipe"))
    about = (log.eval.metadata or {}).get("data") or {}
    name = log.eval.task.rpartition("/")[2] + (
        ", corrected" if about.get("corrected") else ""
    )
    return Run(name, recipe, models, log.status, log.samples or [])


def runs(folder: str) -> list[Run]:
    """The runs that a folder of logs holds, by task: of each recipe and model the newest."""
    newest = {}
    for info in list_eval_logs(folder, descending=False):
        run = read(info.name)
        newest[run.task, run.recipe, run.models] = run
    return [newest[key] for key in sorted(newest)]


def percent(values: Iterable[float]) -> str:
    """The mean in percent; empty where there are no values."""
    numbers = list(values)
    return f"{100 * sum(numbers) / len(numbers):.1f}" if numbers else ""


def interval(values: Iterable[float]) -> str:
    """The mean, and where 95 % of the means lie when the values are drawn anew, in percent."""
    numbers, chance = list(values), random.Random(1)
    if not numbers:
        return ""
    means = sorted(
        sum(chance.choices(numbers, k=len(numbers))) / len(numbers)
        for _ in range(DRAWS)
    )
    return f"{percent(numbers)} ({100 * means[DRAWS // 40]:.0f} – {100 * means[-DRAWS // 40]:.0f})"


def agreement(run: Run) -> str:
    """How often both judges say the same, in percent, and Cohen's kappa, which takes off what chance would give."""
    one, two = run.marks("paper"), run.marks("strict")
    both = [(one[id], two[id]) for id in one.keys() & two.keys()]
    if not both:
        return ""
    same = sum(a == b for a, b in both) / len(both)
    p, q = (sum(column) / len(both) for column in zip(*both, strict=True))
    chance = p * q + (1 - p) * (1 - q)
    return f"{100 * same:.0f}" + (
        f" ({(same - chance) / (1 - chance):.2f})" if chance < 1 else ""
    )


def report(found: list[Run]) -> str:
    """How well the recipes answered and what it took; by kind of question; and what a reader has to know before believing it."""
    rows: list[list[object]] = []
    for run in found:
        right = [interval(run.marks(name).values()) for name in ("paper", "strict")]
        sums = [f"{run.spent(name):,.1f}" for name in ("requests", "calls")]
        sums += [f"{run.spent(name):,.0f}" for name in ("memory", "read")]
        shown = percent(run.marks("evidence").values())
        rows.append(
            [
                run.task,
                run.recipe,
                len(run.samples),
                *right,
                agreement(run),
                shown,
                *sums,
            ]
        )
    head = "task|recipe|questions|right, paper's rule|right, strict|judges agree, % (kappa)|evidence shown|requests|calls"
    parts = [grid(f"{head}|tokens of memory|tokens read", rows)]
    for task in dict.fromkeys(run.task for run in found):
        mine = [run for run in found if run.task == task]
        kinds = sorted({one.metadata["kind"] for run in mine for one in run.samples})
        by = [
            [
                run.recipe,
                *(percent(run.marks("paper", kind).values()) for kind in kinds),
            ]
            for run in mine
        ]
        parts.append(grid("|".join([task, *kinds]), by))
    parts.append(
        "\n".join(
            ["Every question counts, those too that nothing answers.", *faults(found)]
        )
    )
    return f"{'; '.join(sorted({run.models for run in found}))}\n\n" + "\n\n".join(
        parts
    )


def faults(found: list[Run]) -> list[str]:
    """A line for what failed, or has no verdict, or is not whole."""
    said = []
    for run in found:
        failed = sum(one.error is not None for one in run.samples)
        mute = len(run.samples) - min(len(run.marks("paper")), len(run.marks("strict")))
        for count, what in (
            (failed, "failed and count as wrong"),
            (mute, "have no verdict and are left out"),
        ):
            if count:
                said.append(
                    f"- {run.task}, {run.recipe}: {count} of {len(run.samples)} questions {what}."
                )
        if run.status != "success":
            said.append(
                f"- {run.task}, {run.recipe}: the run ended with {run.status}; it is not whole."
            )
    return said
