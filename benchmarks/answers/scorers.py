"""The marks as Inspect's scorers, and the two judges. A judge reads the question, the key and the answer, and nothing else."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState

from benchmarks.answers import marks

METRICS = [grouped(mean(), "kind"), stderr()]  # the intervals of `tables` are by bootstrap
LAX = {"locomo": "generous", "lifebench": "generous", "needle": "generous", "dmr": "memgpt", "life": "patterns"}


def rule_for(task: str, judge: str, kind: str, answerable: bool) -> str:
    """The name of the rule by which a judge, `paper` or `strict`, goes."""
    if judge == "strict":
        return "patterns" if task == "life" else "strict" if answerable else "strict unanswerable"
    if not answerable:
        return "unanswerable"
    if task == "longmemeval":
        special = ("temporal-reasoning", "knowledge-update", "single-session-preference")
        return f"longmemeval {kind}" if kind in special else "longmemeval"
    return LAX[task]


def judging(prompts: Mapping[str, Any], rule: str, question: str, key: str, answer: str) -> str:
    """What a judge is asked."""
    filled = {"question": question, "key": key, "answer": answer}
    text = str(prompts["rules"][rule]["text"])
    if "{answer}" in text:  # a whole prompt, as somebody else has worded it
        return text.format(**filled)
    return str(prompts["judge"]).format(rule=text.strip(), **filled)


def _judge(name: str, task: str, prompts: Mapping[str, Any], names: tuple[str, ...]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        answer = marks.blind(state.output.completion, names)
        if not answer:
            return Score(value=float(not state.metadata["answerable"]), explanation="There is no answer.")
        rule = rule_for(task, name, state.metadata["kind"], state.metadata["answerable"])
        asked = judging(prompts, rule, state.metadata["question"], target.text, answer)
        reply = (await get_model(role="grader").generate(asked)).completion
        right = marks.verdict(reply)
        if right is None:
            return Score.unscored(reason="grader_error", answer=answer, explanation=f"No verdict: {reply}")
        return Score(value=float(right), answer=answer, explanation=reply)

    return score


def both_judges(task: str, prompts: Mapping[str, Any], names: tuple[str, ...]) -> list[Scorer]:
    """The judge by the paper's rule, and the strict one."""

    @scorer(name="paper", metrics=METRICS)
    def paper() -> Scorer:
        return _judge("paper", task, prompts, names)

    @scorer(name="strict", metrics=METRICS)
    def strict() -> Scorer:
        return _judge("strict", task, prompts, names)

    return [paper(), strict()]


@scorer(metrics=METRICS)
def exact() -> Scorer:
    """Is the answer the key? Not asked of the unanswerable."""

    async def score(state: TaskState, target: Target) -> Score:
        return _answerable(state, marks.exact(state.output.completion, target.text))

    return score


@scorer(metrics=METRICS)
def f1() -> Scorer:
    """F1 of the answer's words. Not asked of the unanswerable."""

    async def score(state: TaskState, target: Target) -> Score:
        return _answerable(state, marks.f1(state.output.completion, target.text))

    return score


def _answerable(state: TaskState, value: float) -> Score:
    return Score(value=value) if state.metadata["answerable"] else Score.unscored(reason="unanswerable")


@scorer(metrics=METRICS)
def refused() -> Scorer:
    """Does the answer say that it is not known? Right of the unanswerable, wrong of the others."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=float(marks.refused(state.output.completion)))

    return score


@scorer(metrics=METRICS)
def patterns() -> Scorer:
    """Does the answer fit the question's regular expressions?"""

    async def score(state: TaskState, target: Target) -> Score:
        meta = state.metadata
        if not meta["want"]:
            return Score.unscored(reason="no patterns")
        return Score(value=float(marks.fits(state.output.completion, meta["want"], meta["unwanted"])))

    return score


@scorer(metrics=METRICS)
def evidence() -> Scorer:
    """The share of the turns with the answer among what the model read, before it answered well or badly."""

    async def score(state: TaskState, target: Target) -> Score:
        read = "\n".join(one.text for one in state.messages if one.role in ("user", "tool"))
        share = marks.shown(read, state.metadata["evidence"])
        return Score.unscored(reason="no evidence named") if share is None else Score(value=share)

    return score
