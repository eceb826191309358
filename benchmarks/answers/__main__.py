"""python -m benchmarks.answers TASK|fetch|table: see benchmarks/answers/README.md."""

import argparse
import sys
from pathlib import Path
from typing import Any

from inspect_ai import eval_set

from . import scripted, tables
from .published import PUBLISHED, download, file_name
from .recipes import RECIPES, Absent, recipe
from .tasks import TASKS


def fetch(given: argparse.Namespace) -> bool:
    """Download a benchmark's file, and tell its size and SHA-256.

    It is kept only if that is the one which is known.
    """
    name = given.name
    out = Path(given.out or file_name(name))
    digest = download(name, out, given.url)
    size = out.stat().st_size
    print(f"{out}: {size:,} bytes, SHA-256 {digest}")
    return True


def tested(names: list[str]) -> list[str]:
    """The recipes that can be tested, of those that were named; it is said which cannot and why."""
    can = []
    for name in list(RECIPES) if names == ["all"] else names or ["four-tools"]:
        found = recipe(name)
        if isinstance(found, Absent):
            print(f"{name} is left out: {found.reason}.", file=sys.stderr)
        else:
            can.append(name)
    if not can:
        raise SystemExit("No recipe is left to test.")
    return can


def run(given: argparse.Namespace) -> bool:
    """Run a task with each recipe into the folder of logs, going on where an earlier run stopped; was all of it done?"""
    if not given.data and not given.sample:
        raise SystemExit(
            f"Name the data of {given.task} with --data, or take --sample; README.md says where it comes from."
        )
    judge = given.grader or (
        "mockllm/rule" if given.model.startswith("mockllm/") else ""
    )
    if not judge:
        raise SystemExit(
            "Name the model that judges with --grader; it may be the same as --model."
        )
    own: dict[str, Any] = {
        name: getattr(given, name)
        for name in ("data", "corrections")
        if getattr(given, name, "")
    }
    todo = [
        TASKS[given.task](recipe=name, prompts=given.prompts, **own)
        for name in tested(given.recipe)
    ]
    done, logs = eval_set(
        todo,
        log_dir=given.logs,
        log_dir_allow_dirty=True,
        model=scripted.model(given.model),
        model_roles={"grader": scripted.model(judge)},
        limit=given.limit,
        sample_id=given.questions.split(",") if given.questions else None,
        sample_shuffle=given.seed if given.limit else None,
        seed=given.seed,
        temperature=given.temperature,
        max_connections=given.connections,
        max_samples=given.connections,
        retry_on_error=1,
        max_retries=8,
        fail_on_error=False,
        metadata={"seed": given.seed, "command": sys.argv[1:]},
    )
    print(tables.report([tables.read(log.location) for log in logs]))
    return done


def table(given: argparse.Namespace) -> bool:
    """Print the tables of a folder of logs."""
    found = tables.runs(given.logs)
    if not found:
        raise SystemExit(f"{given.logs} holds no logs.")
    print(tables.report(found))
    return True


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(
        prog="python -m benchmarks.answers", description=__doc__
    )
    commands = whole.add_subparsers(dest="task", required=True)
    for name in TASKS:
        one = commands.add_parser(name, help=f"run {name}")
        one.set_defaults(does=run)
        one.add_argument(
            "--sample",
            action="store_true",
            help="the tiny sample that comes with the project",
        )
        one.add_argument(
            "--data",
            default="",
            help="the benchmark's file or folder",
        )
        one.add_argument(
            "--recipe",
            action="append",
            default=[],
            help=f"{', '.join(RECIPES)}, all, or FILE.py:FUNCTION",
        )
        one.add_argument(
            "--model",
            required=True,
            help="Inspect's name of the model that answers, or mockllm/quotes",
        )
        one.add_argument("--grader", default="", help="that of the model that judges")
        one.add_argument(
            "--limit", type=int, help="so many questions, drawn by the seed"
        )
        one.add_argument(
            "--questions", default="", help="their ids, separated by commas"
        )
        one.add_argument(
            "--seed",
            type=int,
            default=1,
        )
        one.add_argument(
            "--temperature",
            type=float,
            default=0.0,
        )
        one.add_argument(
            "--connections", type=int, default=8, help="questions at a time"
        )
        one.add_argument(
            "--prompts",
            default="",
            help="a file of judges' prompts instead of prompts.yaml",
        )
        one.add_argument(
            "--logs", default=f"logs/answers/{name}", help="the folder of logs"
        )
    commands.choices["locomo"].add_argument(
        "--corrections", default="", help="the audit's file of errors, or its folder"
    )
    one = commands.add_parser(
        "fetch", help="download a benchmark's file and check its SHA-256"
    )
    one.set_defaults(does=fetch)
    one.add_argument("name", choices=PUBLISHED)
    one.add_argument("--out", default="")
    one.add_argument("--url", default="", help="a mirror")
    one = commands.add_parser("table", help="the tables of a folder of logs")
    one.set_defaults(does=table)
    one.add_argument("logs")
    return whole


if __name__ == "__main__":
    given = parser().parse_args()
    sys.exit(0 if given.does(given) else 1)
