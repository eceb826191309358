"""python -m benchmarks.answers TASK|table|cost|compare|judges: see benchmarks/answers/README.md."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

import yaml
from inspect_ai import eval_set
from inspect_ai.model import Model

from benchmarks.answers import marks, scorers, scripted, tables
from benchmarks.answers.costs import Prices
from benchmarks.answers.systems import SYSTEMS, Absent, adapter
from benchmarks.answers.tasks import HERE, SAMPLES, TASKS

RETRIES = 8  # of a request, each time after a longer pause; then the question has failed
DATA = ("data", "corrections", "lengths", "depths", "languages")  # options that are a task's own


def tested(names: list[str]) -> list[str]:
    """The systems that can be tested, of those that were named; it is said which cannot and why."""
    wanted = list(SYSTEMS) if names == ["all"] else names or ["filemem"]
    can = []
    for name in wanted:
        found = adapter(name)
        if isinstance(found, Absent):
            print(f"{name} is left out: {found.reason}.", file=sys.stderr)
        else:
            can.append(name)
    if not can:
        raise SystemExit("No system is left to test.")
    return can


def run(given: argparse.Namespace) -> bool:
    """Run a task with each system into the folder of logs, going on where an earlier run stopped; was all of it done?"""
    if given.task != "needle" and not given.data and not given.sample:
        raise SystemExit(
            f"Name the data of {given.task} with --data, or take --sample; README.md says where it comes from."
        )
    judge = given.grader or ("mockllm/rule" if given.model.startswith("mockllm/") else "")
    if not judge:
        raise SystemExit("Name the model that judges with --grader; it may be the same as --model.")
    own: dict[str, Any] = {name: value for name in DATA if (value := getattr(given, name, ""))}
    own |= {"seed": given.seed} if given.task == "needle" else {}
    todo = [TASKS[given.task](system=name, prompts=given.prompts, **own) for name in tested(given.system)]
    done, logs = eval_set(
        todo,
        log_dir=given.logs,
        log_dir_allow_dirty=True,
        model=scripted.model(given.model),
        model_roles={"grader": scripted.model(judge)},
        limit=given.limit,
        sample_shuffle=given.seed if given.limit else None,
        epochs=given.epochs,
        seed=given.seed,
        temperature=given.temperature,
        cache=given.cache,
        max_connections=given.connections,
        max_samples=given.connections,
        retry_on_error=1,
        max_retries=RETRIES,
        fail_on_error=False,
        metadata={"seed": given.seed, "command": sys.argv[1:]},
    )
    found = [tables.read(log.location, Prices(given.prices)) for log in logs]
    print(tables.report(found, Prices(given.prices)))
    return done


def table(given: argparse.Namespace) -> bool:
    """Write the table, and the picture beside it."""
    prices = Prices(given.prices)
    found = tables.runs(given.logs, prices)
    if not found:
        raise SystemExit(f"{given.logs} holds no logs.")
    out = Path(given.out)
    out.write_text(tables.report(found, prices) + "\n", encoding="utf-8")
    out.with_suffix(".svg").write_text(tables.picture(found), encoding="utf-8")
    print(f"{out} and {out.with_suffix('.svg')}: {len(found)} runs")
    return True


def cost(given: argparse.Namespace) -> bool:
    """Print what whole tasks would cost with the models of a price table."""
    prices = Prices(given.prices)
    print(tables.expected(tables.runs(given.logs, prices), prices, given.searches))
    return True


def compare(given: argparse.Namespace) -> bool:
    """Print two runs question by question."""
    prices = Prices(given.prices)
    print(tables.compared(tables.read(given.one, prices), tables.read(given.two, prices), given.mark))
    return True


def judges(given: argparse.Namespace) -> bool:
    """Print how often a judge's model says what a person said, on answers that were judged by hand."""
    prompts = yaml.safe_load(Path(given.prompts or HERE / "prompts.yaml").read_text(encoding="utf-8"))
    judged = yaml.safe_load((SAMPLES / "judged.yaml").read_text(encoding="utf-8"))
    print(asyncio.run(_judges(scripted.model(given.grader), prompts, judged)))
    return True


async def _judges(model: Model, prompts: dict[str, Any], judged: list[dict[str, Any]]) -> str:
    lines = []
    for name in ("paper", "strict"):
        right, wrong = 0, []
        for one in judged:
            rule = scorers.rule_for(one["task"], name, one.get("kind", ""), one.get("answerable", True))
            answer = marks.blind(one["answer"], SYSTEMS)
            reply = await model.generate(scorers.judging(prompts, rule, one["question"], one["key"], answer))
            same = marks.verdict(reply.completion) == one[name]
            right += same
            wrong += (
                [] if same else [f"  {one['question']} / {one['answer']}: by hand {'right' if one[name] else 'wrong'}"]
            )
        lines += [f"{name}: {right} of {len(judged)} as by hand", *wrong]
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    whole = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    commands = whole.add_subparsers(dest="task", required=True)
    for name in TASKS:
        one = commands.add_parser(name, help=f"run {name}")
        one.set_defaults(does=run)
        one.add_argument("--sample", action="store_true", help="the tiny sample that comes with the project")
        one.add_argument("--data", default="", help="the benchmark's file")
        one.add_argument(
            "--system", action="append", default=[], help=f"{', '.join(SYSTEMS)}, all, or FILE.py:FUNCTION"
        )
        one.add_argument("--model", required=True, help="Inspect's name of the model that answers, or mockllm/quotes")
        one.add_argument("--grader", default="", help="that of the model that judges")
        one.add_argument("--limit", type=int, help="so many questions, drawn by the seed")
        one.add_argument("--seed", type=int, default=1)
        one.add_argument("--temperature", type=float, default=0.0)
        one.add_argument("--epochs", type=int, default=1, help="times that each question is asked")
        one.add_argument("--connections", type=int, default=8, help="questions at a time")
        one.add_argument("--cache", action="store_true", help="keep the models' answers, and do not ask for them again")
        one.add_argument("--prompts", default="", help="a file of prompts instead of prompts.yaml")
        one.add_argument("--prices", default="", help="a table of prices")
        one.add_argument("--logs", default=f"logs/answers/{name}", help="the folder of logs")
    commands.choices["locomo"].add_argument(
        "--corrections", default="", help="the audit's file of errors, or its folder"
    )
    for option in ("lengths", "depths", "languages"):
        commands.choices["needle"].add_argument(f"--{option}", default="", help="separated by commas")
    one = commands.add_parser("table", help="one table and one picture from a folder of logs")
    one.set_defaults(does=table)
    one.add_argument("logs")
    one.add_argument("--out", default="answers.md")
    one.add_argument("--prices", default="")
    one = commands.add_parser("cost", help="what whole tasks would cost with other models")
    one.set_defaults(does=cost)
    one.add_argument("logs")
    one.add_argument("--prices", required=True)
    one.add_argument("--searches", type=int, help="calls of tools a question (default: as measured)")
    one = commands.add_parser("compare", help="two logs question by question")
    one.set_defaults(does=compare)
    one.add_argument("one")
    one.add_argument("two")
    one.add_argument("--mark", default="paper", choices=tables.MARKS)
    one.add_argument("--prices", default="")
    one = commands.add_parser("judges", help="a judge beside a person, on answers judged by hand")
    one.set_defaults(does=judges)
    one.add_argument("--grader", required=True)
    one.add_argument("--prompts", default="")
    return whole


if __name__ == "__main__":
    given = parser().parse_args()
    sys.exit(0 if given.does(given) else 1)
