"""How much of the evidence one search brings, and how long it takes, beside other tools on the same conversations.

    python benchmarks/peers.py [SET or LOCOMO.json] [--engines filemem fts5 basic-memory reme]
        [--python basic-memory=PYTHON reme=PYTHON]

A set is one of `real.py`'s: assistant (the default, which comes with the project), locomo, locomo-zh, lifebench. Each person's
conversations become a folder of Markdown files, one a session, which each engine takes in by itself; then every question whose
evidence is known is asked as it stands. A question's recall is the share of its evidence that stands in the first 500 or 2,000
tokens (4 characters each) of the answer; a turn counts when the first 120 letters and digits of its text stand there in one
piece, whatever is in square brackets aside. Every engine runs in a process of its own, person by person in turn, so that a
busy machine slows all; a query is timed in process, without start-up. `--python` names the interpreter that has a peer's
package, where it is not this one. Needs no network and no model.

fts5 (porter, words ORed) is given the turns and answers with them, best first.
basic-memory (text mode) names notes; its JSON has a passage of each, and `+ notes` is what an agent has read after opening
the notes in that order, which no one counts as a call here. ReMe answers with passages, BM25 only.
"""

import argparse
import asyncio
import collections
import importlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import real

from benchmarks.answers import marks
from benchmarks.answers.marks import grid
from filemem import Store

BUDGETS = (500, 2_000)  # tokens
MOST = 400  # turns in an answer of an engine that only ranks
FOUND = 20  # passages asked of ReMe, enough for 2,000 tokens
ENGINES = ("filemem", "fts5", "basic-memory", "reme")
STOP = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was "
    "will with i you he she we his her my your me him them do does did what when where who whom which why how has have had "
    "would could should can been were from about".split()
)
Asked = Callable[
    [str], list[str]
]  # a question's answers to measure: what was said, and what can be read after it


class Said(NamedTuple):
    """A turn, and the file that it stands in."""

    path: str
    speaker: str
    text: str


class Talk(NamedTuple):
    """One person's conversations as files and turns, and what is asked: questions with the texts of their evidence."""

    name: str
    files: dict[str, str]
    turns: list[Said]
    questions: list[tuple[str, tuple[str, ...]]]


def talks(name: str) -> Iterator[Talk]:
    """The people of a set."""
    for person in real.people(name):
        files = {
            path: text
            for one in person.sessions
            for path, text in real.files([one]).items()
        }
        turns = [
            Said(path, turn.speaker, " ".join(turn.text.split()))
            for path, one in zip(files, person.sessions, strict=True)
            for turn in one.turns
        ]
        yield Talk(
            person.name,
            files,
            turns,
            [(asked.text, asked.evidence) for asked in person.questions],
        )


# -- engines, each in a process of its own -------------------------------------------------------------------------


def ranked(turns: list[Said], places: list[int]) -> list[str]:
    """Turns as an answer, best first."""
    return [
        "\n".join(
            f"{s.path}: {s.speaker}: {s.text}"
            for s in (turns[place] for place in places[:MOST])
        )
    ]


def words(question: str) -> list[str]:
    """The words of a question but for stop words, unless there are no others."""
    found = re.findall(r"\w+", question)
    return [word for word in found if word.lower() not in STOP] or found


def filemem(talk: Talk, root: Path) -> Asked:
    """One call of `search_files`; the index is made before."""
    user = Store(root.parent).user(root.name)
    user.search_files("what is there?", limit=1)
    tools = user.tools()
    return lambda question: [tools.call("search_files", {"query": question})]


def fts5(talk: Talk, root: Path) -> Asked:
    """SQLite's full-text search."""
    database = sqlite3.connect(root / "fts5.db")
    database.execute(
        "CREATE VIRTUAL TABLE turns USING fts5(text, tokenize='porter unicode61')"
    )
    rows = [(f"{said.speaker}: {said.text}",) for said in talk.turns]
    database.executemany("INSERT INTO turns VALUES (?)", rows)
    database.commit()
    best = f"SELECT rowid - 1 FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT {MOST}"

    def ask(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in words(question))
        return ranked(
            talk.turns, [place for (place,) in database.execute(best, (match,))]
        )

    return ask


def basic_memory(talk: Talk, root: Path) -> Asked:
    """basic-memory's tool `search_notes` in text mode, one project; taken in by its command line."""
    os.environ |= {
        "HOME": str(root.parent),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
    }
    os.environ |= {"BASIC_MEMORY_LOG_LEVEL": "ERROR", "LOGFIRE_IGNORE_NO_CONFIG": "1"}
    program = os.path.join(os.path.dirname(sys.executable), "basic-memory")
    for command in (
        ["project", "add", talk.name, str(root)],
        ["reindex", "--search", "--project", talk.name],
    ):
        subprocess.run([program, *command], stdout=subprocess.DEVNULL, check=True)
    tools = importlib.import_module("basic_memory.mcp.tools")
    importlib.import_module("loguru").logger.remove()
    loop = asyncio.new_event_loop()

    def ask(question: str) -> list[str]:
        search = tools.search_notes(
            query=question, project=talk.name, search_type="text", output_format="json"
        )
        found = loop.run_until_complete(search)
        notes = (
            found["results"] if isinstance(found, dict) else []
        )  # else a sentence: nothing found
        said = "\n".join(
            f"{note['file_path']}\n{note.get('content') or ''}" for note in notes
        )
        return [
            said,
            "\n".join(
                f"{note['file_path']}\n{talk.files[note['file_path']]}"
                for note in notes
            ),
        ]

    return ask


def reme(talk: Talk, root: Path) -> Asked:
    """ReMe's job `search` by BM25, its default without a model, on `daily/YYYY-MM-DD/`, which it watches."""
    day = re.compile(r"sessions/\d+/(\d+-\d+-\d+)-")
    moved = {path: "daily/" + day.sub(r"\1/", path) for path in talk.files}
    for path, target in moved.items():
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        (root / path).rename(root / target)
    resolve = importlib.import_module("reme.config").resolve_app_config
    settings = resolve(
        log_config=False,
        workspace_dir=str(root),
        enable_logo=False,
        log_to_console=False,
    )
    application = importlib.import_module("reme").ReMe(**settings)
    loop = asyncio.new_event_loop()

    def run(job: str, **arguments: Any) -> Any:
        made: Awaitable[Any] = application.run_job(job, **arguments)
        return loop.run_until_complete(made)

    loop.run_until_complete(application.start())
    longest = {
        said.path: said for said in sorted(talk.turns, key=lambda said: len(said.text))
    }
    for said in longest.values():  # wait until it finds a turn of every file
        while moved[said.path] not in {
            found["path"]
            for found in run("search", query=said.text, limit=99).metadata["results"]
        }:
            loop.run_until_complete(asyncio.sleep(0.01))
    return lambda question: [run("search", query=question, limit=FOUND).answer or ""]


def serve(engine: str, root: Path) -> None:
    """Take in the conversation described on standard input, ask its questions, and print what came of it as JSON."""
    given = json.load(sys.stdin)
    talk = Talk(given[0], given[1], [Said(*said) for said in given[2]], given[3])
    real.write(root, talk.files)
    start = time.perf_counter()
    ask = globals()[engine.replace("-", "_")](talk, root)
    taken_in = time.perf_counter() - start
    answers, took = [], []
    for question, _ in talk.questions:
        start = time.perf_counter()
        answers.append(ask(question))
        took.append(time.perf_counter() - start)
    print(
        "\n" + json.dumps({"taken_in": taken_in, "answers": answers, "took": took}),
        flush=True,
    )
    os._exit(0)  # ReMe's watchers would keep the process


# -- measuring -----------------------------------------------------------------------------------------------------


class Tally:
    """What one engine did so far: by reading of its answers the recall at each budget and the tokens of every question; the
    seconds of every query, and those of taking in."""

    def __init__(self) -> None:
        self.found: dict[int, list[tuple[float, ...]]] = collections.defaultdict(list)
        self.took: list[float] = []
        self.taken_in = 0.0

    def add(self, talk: Talk, came: dict[str, Any]) -> None:
        """Count the answers about one person."""
        self.taken_in += came["taken_in"]
        self.took += came["took"]
        for (_, evidence), answers in zip(talk.questions, came["answers"], strict=True):
            for reading, answer in enumerate(answers):
                recall = (
                    100 * (marks.shown(answer[: 4 * budget], evidence) or 0.0)
                    for budget in BUDGETS
                )
                self.found[reading].append((*recall, len(answer) / 4))

    def rows(self, engine: str, ours: float) -> Iterator[list[str]]:
        """The table's rows; `ours` is the first engine's median seconds a query."""
        median = statistics.median(self.took)
        for reading, found in self.found.items():
            *shares, size = (
                statistics.mean(column) for column in zip(*found, strict=True)
            )
            times = [
                f"{1000 * median:.2f}",
                f"{median / ours:.1f} ×",
                f"{self.taken_in:.1f}",
            ]
            name = f"{engine}{' + notes' if reading else ''}"
            yield [
                name,
                *(f"{share:.1f}" for share in shares),
                f"{size:,.0f}",
                *(times if not reading else [""] * 3),
            ]


def asked(engine: str, python: str, talk: Talk) -> dict[str, Any]:
    """What an engine answers about a conversation. Raises CalledProcessError where it does not run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            python,
            os.path.abspath(__file__),
            "--serve",
            engine,
            os.path.join(folder, talk.name),
        ]
        done = subprocess.run(
            command,
            input=json.dumps(talk),
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            cwd=folder,
        )
    came: dict[str, Any] = json.loads(done.stdout.rpartition("\n{")[2].join(["{", ""]))
    return came


def main() -> None:
    """Read the arguments; measure, or serve as an engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "set", nargs="?", default="assistant", help="a set, or LoCoMo's own file"
    )
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument(
        "--python",
        nargs="+",
        default=[],
        metavar="ENGINE=PYTHON",
        help="interpreters of engines",
    )
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve[0], Path(given.serve[1]))
        return
    pythons = dict(pair.split("=", 1) for pair in given.python)
    tallies = {engine: Tally() for engine in given.engines}
    for talk in talks(given.set):
        for engine in list(tallies):
            try:
                tallies[engine].add(
                    talk, asked(engine, pythons.get(engine, sys.executable), talk)
                )
            except subprocess.CalledProcessError as error:
                print(f"{engine} does not run here: {error}", file=sys.stderr)
                del tallies[engine]
    ours = statistics.median(next(iter(tallies.values())).took)
    rows = [
        row for engine, tally in tallies.items() for row in tally.rows(engine, ours)
    ]
    print(
        grid(
            "engine|@500|@2,000|tokens an answer|median ms|beside the first|s to take in",
            rows,
        )
    )


if __name__ == "__main__":
    main()
