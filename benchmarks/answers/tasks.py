"""The tasks: a bench, a system, the loop in which a model uses it, and the scorers.

`inspect eval benchmarks/answers/tasks.py@locomo -T data=$PWD/locomo10.json --model MODEL --model-role grader=JUDGE` runs one.
"""

import functools
import hashlib
import platform
import tempfile
import time
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

import anyio
import anyio.to_thread
import yaml
from inspect_ai import Task, task
from inspect_ai.agent import AgentPrompt, AgentState, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchmarks.answers import data as readers
from benchmarks.answers import marks, needles, scorers
from benchmarks.answers.data import Bench, Question
from benchmarks.answers.systems import SYSTEMS, Absent, Adapter, Offer, adapter

HERE = Path(__file__).parent
SAMPLES = HERE / "samples"
TURNS = 12  # times that a model may be asked for one answer
VERSION = 1  # of prompts, scorers and loop together: figures of other versions are not to be compared


class Shelf:
    """Prepared memories: a history is taken in when it is first asked about, and let go with its last question."""

    def __init__(self, adapter: Adapter, bench: Bench) -> None:
        self._adapter, self._bench = adapter, bench
        self._left = Counter(question.history for question in bench.questions)
        self._locks = {name: anyio.Lock() for name in bench.histories}
        self._ready: dict[str, tuple[Offer, float, tempfile.TemporaryDirectory[str]]] = {}
        self._using: Counter[str] = Counter()

    async def take(self, name: str) -> tuple[Offer, float]:
        """The offer of a history, and the seconds it took to take it in."""
        async with self._locks[name]:
            self._using[name] += 1
            if name not in self._ready:
                self._ready[name] = await anyio.to_thread.run_sync(self._prepare, name)
            return self._ready[name][:2]

    def _prepare(self, name: str) -> tuple[Offer, float, tempfile.TemporaryDirectory[str]]:
        folder = tempfile.TemporaryDirectory(prefix="answers-")
        sessions = self._bench.histories[name].load()
        start = time.perf_counter()
        offer = self._adapter(sessions, Path(folder.name))
        return offer, time.perf_counter() - start, folder

    def give_back(self, name: str) -> None:
        """A question has been answered."""
        self._using[name] -= 1
        self._left[name] -= 1
        if self._left[name] <= 0 and not self._using[name] and name in self._ready:
            self._ready.pop(name)[2].cleanup()


def asking(found: Adapter, bench: Bench, prompt: str) -> Solver:
    """Asks the model with what the system offers: text in the prompt, its tools in a loop. The key is not in reach here."""
    shelf = Shelf(found, bench)
    questions = {question.id: question for question in bench.questions}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question, start = questions[str(state.sample_id)], time.perf_counter()
        talk = AgentState(messages=[])
        try:
            offer, seconds = await shelf.take(question.history)
            state.store.set("taking_in", seconds)
            start = time.perf_counter()
            context = await anyio.to_thread.run_sync(offer.context, question.text, question.asked)
            talk.messages.append(ChatMessageUser(content=_asked(question.text, context)))
            how = prompt.format(today=f"{question.asked:%A, %d %B %Y}", how=offer.how).strip()
            said = AgentPrompt(instructions=how, assistant_prompt=None)
            await react(prompt=said, tools=offer.tools(question.asked), submit=False)(talk)
        finally:  # also where the limit of turns ends it
            state.store.set("seconds", time.perf_counter() - start)
            state.messages, state.output = talk.messages, talk.output
            shelf.give_back(question.history)
        return state

    @solver
    def remembering() -> Solver:
        return solve

    return remembering()


def _asked(question: str, context: str) -> str:
    """The question, and before it what the memory gives unasked."""
    memory = f"<memory>\n{context.replace('</memory', '‹/memory')}\n</memory>\n\n" if context else ""
    return f"{memory}<question>\n{question}\n</question>"


def _sample(question: Question) -> Sample:
    """A question as Inspect keeps it; the scorers alone look at the target and the metadata."""
    meta = question._asdict() | {"question": question.text}
    kept = ("question", "history", "kind", "answerable", "counted", "evidence", "want", "unwanted")
    evidence = [marks.plain(text)[: marks.EVIDENCE] for text in question.evidence]
    return Sample(
        question.text,
        target=question.key,
        id=question.id,
        metadata={key: meta[key] for key in kept} | {"evidence": evidence},
    )


def build(name: str, bench: Bench, path: str, system: str, prompts: str) -> Task:
    """A task over a bench; all that its figures depend on goes into the log."""
    found = adapter(system)
    if isinstance(found, Absent):
        raise SystemExit(f"{system} cannot be tested: {found.reason}.")
    file = Path(prompts or HERE / "prompts.yaml")
    texts = yaml.safe_load((HERE / "prompts.yaml").read_text(encoding="utf-8"))
    texts |= yaml.safe_load(file.read_text(encoding="utf-8"))
    prompt = texts.get(f"answer_{name}") or texts["answer"]
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest() if Path(path).is_file() else ""
    return Task(
        MemoryDataset([_sample(question) for question in bench.questions], name=name, location=Path(path).name or name),
        solver=asking(found, bench, prompt),
        scorer=[
            *scorers.both_judges(name, texts, tuple(SYSTEMS)),
            scorers.exact(),
            scorers.f1(),
            scorers.refused(),
            scorers.patterns(),
            scorers.evidence(),
        ],
        name=name,
        version=VERSION,
        turn_limit=TURNS,
        fail_on_error=False,
        metadata={
            "system": system,
            "data": {"file": Path(path).name, "sha256": digest, **bench.notes},
            "prompts": texts,
            "versions": _versions(),
        },
    )


@functools.cache
def _versions() -> dict[str, str]:
    """Of Python and of every package that is installed beside: a memory of somebody else's is one of them."""
    return {"python": platform.python_version()} | {one.name: one.version for one in distributions()}


def _path(data: str, name: str) -> str:
    """The data to read: the sample where none is named."""
    path = data or str(SAMPLES / name)
    if not Path(path).exists():
        raise SystemExit(f"{path} is not there; README.md says where the data comes from.")
    return path


@task
def locomo(data: str = "", system: str = "filemem", prompts: str = "", corrections: str = "") -> Task:
    """LoCoMo, categories 1 to 5; `corrections` is the audit's file or folder."""
    path = _path(data, "locomo.json")
    return build("locomo", readers.locomo(path, corrections), path, system, prompts)


@task
def longmemeval(data: str = "", system: str = "filemem", prompts: str = "") -> Task:
    """LongMemEval: its S, M or oracle file."""
    path = _path(data, "longmemeval.json")
    return build("longmemeval", readers.longmemeval(path), path, system, prompts)


@task
def lifebench(data: str = "", system: str = "filemem", prompts: str = "") -> Task:
    """LifeBench: its LoCoMo-shaped file, or one flattened person."""
    path = _path(data, "lifebench.json")
    return build("lifebench", readers.lifebench(path), path, system, prompts)


@task
def dmr(data: str = "", system: str = "filemem", prompts: str = "") -> Task:
    """Deep memory retrieval: MSC-Self-Instruct, as MemGPT's paper used it."""
    path = _path(data, "dmr.jsonl")
    return build("dmr", readers.dmr(path), path, system, prompts)


@task
def life(data: str = "", system: str = "filemem", prompts: str = "") -> Task:
    """Replayed lives: a file of one, or a folder of them."""
    path = _path(data, "life.yaml")
    return build("life", readers.life(path), path, system, prompts)


@task
def needle(
    lengths: str = "2000",
    depths: str = "0,50,100",
    languages: str = "en,zh",
    seed: int = 1,
    system: str = "filemem",
    prompts: str = "",
) -> Task:
    """Needles: lengths in tokens and depths in percent, each separated by commas; nothing is read."""
    sizes, places = (tuple(int(one) for one in str(text).split(",")) for text in (lengths, depths))
    bench = needles.bench(sizes, places, tuple(str(languages).split(",")), seed)
    return build("needle", bench, "", system, prompts)


TASKS = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "lifebench": lifebench,
    "dmr": dmr,
    "life": life,
    "needle": needle,
}
