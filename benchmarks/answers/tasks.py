"""The tasks as Inspect runs them: a bench, a recipe that answers, two judges, and what an answer took.

`inspect eval benchmarks/answers/tasks.py@locomo -T data=$PWD/locomo10.json --model MODEL` runs one,
from the folder of the project.
"""

import functools
import hashlib
import math
import platform
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import yaml
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchmarks.answers import data as readers
from benchmarks.answers import marks
from benchmarks.answers.data import Bench
from benchmarks.answers.recipes import RECIPES, Absent, Answer, Recipe, recipe
from filemem.text.plain import count_tokens

HERE = Path(__file__).resolve().parent
SAMPLES = HERE / "samples"
VERSION = 2  # of prompts, scorers and loop together: figures of other versions are not to be compared
METRICS = [mean(), stderr(cluster="history"), grouped(mean(), "kind")]
LAX = {
    "locomo": "generous",
    "lifebench": "generous",
    "life": "patterns",
    "beam": "rubric",
}


class Shelf:
    """Prepared memories: a history is taken in when it is first asked about, and let go with its last question."""

    def __init__(self, found: Recipe, bench: Bench) -> None:
        self._recipe, self._bench = found, bench
        self._left = Counter(question.history for question in bench.questions)
        self._locks = {name: anyio.Lock() for name in bench.histories}
        self._ready: dict[str, tuple[Answer, tempfile.TemporaryDirectory[str]]] = {}
        self._using: Counter[str] = Counter()

    async def take(self, name: str) -> Answer:
        """What answers questions on a history."""
        async with self._locks[name]:
            self._using[name] += 1
            if name not in self._ready:
                self._ready[name] = await anyio.to_thread.run_sync(self._prepare, name)
            return self._ready[name][0]

    def _prepare(self, name: str) -> tuple[Answer, tempfile.TemporaryDirectory[str]]:
        folder = tempfile.TemporaryDirectory(prefix="answers-")
        return self._recipe(self._bench.histories[name], Path(folder.name)), folder

    def give_back(self, name: str) -> None:
        """A question has been answered."""
        self._using[name] -= 1
        self._left[name] -= 1
        if self._left[name] <= 0 and not self._using[name] and name in self._ready:
            self._ready.pop(name)[1].cleanup()


def answering(found: Recipe, bench: Bench) -> Solver:
    """Has the recipe answer each question. The key is not in reach here."""
    shelf = Shelf(found, bench)
    questions = {question.id: question for question in bench.questions}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question = questions[str(state.sample_id)]
        try:
            answer = await shelf.take(question.history)
            state.messages = await answer(question.text, question.asked)
            state.output = ModelOutput.from_content(
                str(state.model), state.messages[-1].text
            )
        finally:
            shelf.give_back(question.history)
        return state

    @solver
    def remembering() -> Solver:
        return solve

    return remembering()


# -- marks -------------------------------------------------------------------------------------------------------------


def rule_for(task: str, judge: str, kind: str, answerable: bool) -> str:
    """The name of the rule by which a judge, `paper` or `strict`, goes."""
    if judge == "strict":
        return (
            LAX[task]
            if task in ("life", "beam")
            else "strict"
            if answerable
            else "strict unanswerable"
        )
    if not answerable:
        return "unanswerable"
    if task == "longmemeval":
        special = (
            "temporal-reasoning",
            "knowledge-update",
            "single-session-preference",
        )
        return f"longmemeval {kind}" if kind in special else "longmemeval"
    return LAX[task]


def judging(
    prompts: Mapping[str, Any], rule: str, question: str, key: str, answer: str
) -> str:
    """What a judge is asked: it reads the question, the key and the answer, and nothing else."""
    filled = {"question": question, "key": key, "answer": answer}
    text = str(prompts["rules"][rule]["text"])
    if "{answer}" in text:  # a whole prompt, as somebody else has worded it
        return text.format(**filled)
    return str(prompts["judge"]).format(rule=text.strip(), **filled)


def _judge(name: str, task: str, prompts: Mapping[str, Any]) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        answer = marks.blind(state.output.completion, RECIPES)
        if not answer:
            return Score(
                value=float(not state.metadata["answerable"]),
                explanation="There is no answer.",
            )
        rule = rule_for(
            task, name, state.metadata["kind"], state.metadata["answerable"]
        )
        asked = judging(prompts, rule, state.metadata["question"], target.text, answer)
        reply = (await get_model(role="grader").generate(asked)).completion
        right = marks.verdict(reply)
        if right is None:
            return Score(
                value=math.nan, answer=answer, explanation=f"No verdict: {reply}"
            )
        return Score(value=float(right), answer=answer, explanation=reply)

    return score


def judges(task: str, prompts: Mapping[str, Any]) -> list[Scorer]:
    """The judge by the rule of the benchmark's paper, and a strict one."""

    @scorer(name="paper", metrics=METRICS)
    def paper() -> Scorer:
        return _judge("paper", task, prompts)

    @scorer(name="strict", metrics=METRICS)
    def strict() -> Scorer:
        return _judge("strict", task, prompts)

    return [paper(), strict()]


@scorer(metrics=[mean()])
def evidence() -> Scorer:
    """The share of the turns with the answer among what the model read, before it answered well or badly."""

    async def score(state: TaskState, target: Target) -> Score:
        read = "\n".join(
            one.text for one in state.messages[:-1] if one.role != "assistant"
        )
        share = marks.shown(read, state.metadata["evidence"])
        return (
            Score(value=math.nan, explanation="no evidence named")
            if share is None
            else Score(value=share)
        )

    return score


@scorer(metrics={"*": [mean()]})
def spent() -> Scorer:
    """Requests, calls of tools, tokens of what the memory gave, in tool answers and unasked, and tokens read in all requests."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=cost(state.messages))

    return score


def cost(talk: list[ChatMessage]) -> dict[str, float]:
    """What a talk took: `requests`, `calls`, `memory` and `read`, the last two in tokens (four letters or a Chinese one)."""
    read = before = requests = 0
    for one in talk:
        if one.role == "assistant":
            read, requests = read + before, requests + 1
        before += count_tokens(one.text)
    tools = [one.text for one in talk if one.role == "tool"]
    unasked = [marks.given(one.text) for one in talk if one.role == "user"][-1:]
    memory = sum(map(count_tokens, tools + unasked))
    return {"requests": requests, "calls": len(tools), "memory": memory, "read": read}


# -- tasks -------------------------------------------------------------------------------------------------------------


def build(
    name: str,
    reader: Callable[..., Bench],
    data: str,
    recipe_name: str,
    prompts: str,
    **own: str,
) -> Task:
    """A task over a bench, of the sample where no data is named; all that its figures depend on goes into the log."""
    found, path = (
        recipe(recipe_name),
        Path(data or next(SAMPLES.glob(f"{name}.*"), SAMPLES / name)),
    )
    if isinstance(found, Absent):
        raise SystemExit(f"{recipe_name} cannot be tested: {found.reason}.")
    if not path.exists():
        raise SystemExit(
            f"{path} is not there; README.md says where the data comes from."
        )
    bench = reader(str(path), **own)
    texts = yaml.safe_load((HERE / "prompts.yaml").read_text(encoding="utf-8"))
    texts |= (
        yaml.safe_load(Path(prompts).read_text(encoding="utf-8")) if prompts else {}
    )
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    samples = [
        Sample(
            one.text,
            target=one.key,
            id=one.id,
            metadata={
                "question": one.text,
                "history": one.history,
                "kind": one.kind,
                "answerable": one.answerable,
                "evidence": [
                    marks.plain(text)[: marks.EVIDENCE] for text in one.evidence
                ],
            },
        )
        for one in bench.questions
    ]
    return Task(
        MemoryDataset(samples, name=name, location=path.name),
        solver=answering(found, bench),
        scorer=[*judges(name, texts), evidence(), spent()],
        name=name,
        version=VERSION,
        fail_on_error=False,
        metadata={
            "recipe": recipe_name,
            "data": {"file": path.name, "sha256": digest, **bench.notes},
            "prompts": texts,
            "versions": _versions(),
        },
    )


@functools.cache
def _versions() -> dict[str, str]:
    """Of Python and of every package that is installed beside."""
    return {"python": platform.python_version()} | {
        one.name: one.version for one in distributions()
    }


@task
def locomo(
    data: str = "", recipe: str = "four-tools", prompts: str = "", corrections: str = ""
) -> Task:
    """LoCoMo, categories 1 to 5; `corrections` is the audit's file or folder."""
    return build(
        "locomo", readers.locomo, data, recipe, prompts, corrections=corrections
    )


@task
def longmemeval(data: str = "", recipe: str = "four-tools", prompts: str = "") -> Task:
    """LongMemEval: its S or oracle file."""
    return build("longmemeval", readers.longmemeval, data, recipe, prompts)


@task
def lifebench(data: str = "", recipe: str = "four-tools", prompts: str = "") -> Task:
    """LifeBench: its LoCoMo-shaped file, or one flattened person."""
    return build("lifebench", readers.lifebench, data, recipe, prompts)


@task
def beam(data: str = "", recipe: str = "four-tools", prompts: str = "") -> Task:
    """BEAM: the folder of one size, such as `chats/100K`."""
    return build("beam", readers.beam, data, recipe, prompts)


@task
def life(data: str = "", recipe: str = "four-tools", prompts: str = "") -> Task:
    """Replayed lives: a file of one, or a folder of them."""
    return build("life", readers.life, data, recipe, prompts)


TASKS = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "lifebench": lifebench,
    "beam": beam,
    "life": life,
}
