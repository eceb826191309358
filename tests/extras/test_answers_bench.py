"""The benchmark of answers, whole: every task and recipe on the samples, without a key. Needs the extra `filemem[bench]`.

The model that answers quotes the first 250 tokens of what it gets; the judge goes by words: it takes half of the key's words for
the paper's rule and all of them for the strict one. So what is right can be worked out by hand from the samples.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="needs filemem[bench]")

from scripted_server import ScriptedServer, Step, calls, fail, say

from benchmarks.answers import __main__ as program
from benchmarks.answers import tables
from benchmarks.answers.recipes import RECIPES, Absent
from benchmarks.answers.tasks import SAMPLES, TASKS

ROOT = Path(__file__).parents[2]
WORKING = [name for name, one in RECIPES.items() if not isinstance(one, Absent)]

# How many questions there are, and of these how many are right by both rules, worked out by hand.
#
# locomo: of all that was said, nothing says 20 April 2025; the key "Likely yes; she works as a gardener" has three of its six
#   words in the talks: she, as, gardener. The question on Braga has no answer, and who quotes something does not say so.
# longmemeval: that 70 days passed is said nowhere; of what to watch the turn has slow, film, with, trains, four words of seven;
#   of "three kilometres, from four to seven" all but three and from; the one on honey is refused by nobody who finds something.
# beam: the one of two that has an answer; the other is right where it is refused, which names no line of a rubric.
OURS = ("four-tools", "search-only")
KNOWN = {
    "locomo": (7, (1, 1), (5, 3)),
    "longmemeval": (7, (1, 1), (5, 3)),
    "lifebench": (3, (0, 0), (3, 3)),
    "beam": (2, (1, 0), (1, 1)),
    "life": (3, (0, 0), (3, 3)),
}


def run(*words: str) -> bool:
    """The program in this process; is everything done?"""
    given = program.parser().parse_args(words)
    return bool(given.does(given))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The logs of every task with every recipe on the samples."""
    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSPECT_DISPLAY", "none")
        for task in TASKS:
            assert run(
                task,
                "--sample",
                "--recipe",
                "all",
                "--model",
                "mockllm/quotes",
                "--logs",
                str(folder / task),
            )
        yield folder


@pytest.fixture(scope="module")
def found(logs: Path) -> dict[tuple[str, str], tables.Run]:
    return {(one.task, one.recipe): one for one in tables.runs(str(logs))}


def test_every_recipe_runs_every_task_right_as_worked_out_by_hand(
    found: dict[tuple[str, str], tables.Run],
) -> None:
    """No question fails or goes without a verdict; what was read is told apart from what was answered."""
    assert set(found) == {(task, recipe) for task in TASKS for recipe in WORKING}
    assert {one.status for one in found.values()} == {"success"} and not tables.faults(
        [*found.values()]
    )
    for task, (count, *right) in KNOWN.items():
        for recipe, sums, shown in zip(
            ("nothing", "whole-history"), right, (0.0, 1.0), strict=True
        ):
            values = [
                found[task, recipe].marks(name).values() for name in ("paper", "strict")
            ]
            assert [len(one) for one in values] == [count, count]
            assert tuple(sum(one) for one in values) == sums, (task, recipe)
            assert task == "life" or set(
                found[task, recipe].marks("evidence").values()
            ) == {shown}


def test_a_download_that_is_not_what_it_was_is_not_kept(tmp_path: Path) -> None:
    """Only the file whose SHA-256 is known is written."""
    other = tmp_path / "other.json"
    other.write_text("[]")
    with pytest.raises(SystemExit, match=hashlib.sha256(b"[]").hexdigest()):
        run(
            "fetch",
            "locomo",
            "--url",
            other.as_uri(),
            "--out",
            str(tmp_path / "out.json"),
        )
    assert not (tmp_path / "out.json").exists()


# -- with a server -----------------------------------------------------------------------------------------------------

MARK = "KEYMARK"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedServer]:
    """One for all, as Inspect keeps its clients."""
    with ScriptedServer() as one, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCRIPTED_BASE_URL", one.base_url)
        patch.setenv("SCRIPTED_API_KEY", "none")
        patch.setenv("INSPECT_DISPLAY", "none")
        yield one


@pytest.fixture
def server(endpoint: ScriptedServer) -> ScriptedServer:
    endpoint.forget()
    return endpoint


def answering(body: dict[str, Any]) -> Step:
    """A model that searches once and answers, naming where it has it from; a judge that says that it is right."""
    if body["model"] == "judge":
        return say("It says so.\nVERDICT: CORRECT", usage=(50, 5))
    asked = str(body["messages"])
    if (
        "kitten called" in asked
        and body.get("tools")
        and body["messages"][-1]["role"] == "user"
    ):
        return calls(("search_files", {"query": "What is the kitten called?"}))
    return (
        fail(400, "no answer for you")
        if "Sundays" in asked
        else say("So it is (sessions/2025/x.md:3), says it.")
    )


def marked(folder: Path) -> Path:
    """The sample of LoCoMo, its first conversation, with keys that stand nowhere else."""
    talk = json.loads((SAMPLES / "locomo.json").read_text(encoding="utf-8"))[0]
    for number, asked in enumerate(talk["qa"]):
        asked["answer" if "answer" in asked else "adversarial_answer"] = (
            f"{MARK}{number}"
        )
    path = folder / "marked.json"
    path.write_text(json.dumps([talk]), encoding="utf-8")
    return path


def test_the_model_never_sees_the_key_nor_the_judge_the_recipe(
    server: ScriptedServer, tmp_path: Path
) -> None:
    """Of all that was sent: no key to the one that answers, no name of a recipe and no path to the judge."""
    server.default = answering
    models = [
        "--model",
        "openai-api/scripted/answerer",
        "--grader",
        "openai-api/scripted/judge",
    ]
    run(
        "locomo",
        "--data",
        str(marked(tmp_path)),
        "--recipe",
        "all",
        *models,
        "--logs",
        str(tmp_path / "logs"),
    )
    sent: dict[str, list[str]] = {"answerer": [], "judge": []}
    for request in server.requests:
        sent[request.body["model"]].append(json.dumps(request.body, ensure_ascii=False))
    assert len(sent["answerer"]) > 25 and len(sent["judge"]) >= 40
    assert not [one for one in sent["answerer"] if MARK in one]
    assert not [
        one
        for one in sent["judge"]
        if any(f"{name} " in one for name in OURS) or ".md" in one
    ]
    assert sum(MARK in one for one in sent["judge"]) >= 30


# -- the page ----------------------------------------------------------------------------------------------------------

PAGE = (ROOT / "benchmarks/answers/README.md").read_text(encoding="utf-8")
MODELS = ("openai/gpt-4o-mini", "openai/gpt-4.1")
STAND_INS = (
    "mockllm/quotes",
    "mockllm/rule",
)  # no key, no network; Inspect's own command has a server instead
SERVED = ("openai-api/scripted/answerer", "openai-api/scripted/judge")
FILES = {
    "locomo10.json": "locomo.json",
    "errors.json": "locomo-errors.json",
    "longmemeval_s.json": "longmemeval.json",
    "lifebench.json": "lifebench.json",
    "lives/tamsin.yaml": "life.yaml",
}


def entry_points(folder: Path) -> None:
    """Lay out what an installation tells of this project's entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = ["[inspect_ai]"]
    for name, module in project["entry-points"]["inspect_ai"].items():
        lines.append(f"{name} = {module}")
    info = folder / f"filemem-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("\n".join(lines))
    about = f"Metadata-Version: 2.1\nName: filemem\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(about)


def test_the_page_shows_what_works(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command in its order; samples stand in for the data, and scripts for the models."""
    server.default = answering
    for name, sample in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(SAMPLES / sample, tmp_path / name)
    shutil.copytree(SAMPLES / "beam", tmp_path / "beam")
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    entry_points(tmp_path / "installed")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'installed'}{os.pathsep}{ROOT}")
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    shown = [
        line[2:]
        for block in blocks
        for line in block.replace("\\\n", "").splitlines()
        if line.startswith("$ ")
    ]
    assert {
        task for task in TASKS if not any(f"answers {task} " in one for one in shown)
    } == set()
    for command in shown:
        for real, stand_in in zip(
            MODELS,
            SERVED if command.startswith("inspect eval") else STAND_INS,
            strict=True,
        ):
            command = re.sub(rf"{re.escape(real)}(?![-\w])", stand_in, command)
        name, _, rest = command.partition("python -m benchmarks.answers ")
        if not name:  # in this process, which has Inspect loaded
            assert run(*shlex.split(rest)), command
            continue
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        assert done.returncode == 0, f"$ {command}\n{done.stdout}\n{done.stderr}"
