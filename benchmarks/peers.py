"""How much of the evidence one search brings, and how long it takes, beside other tools on the conversations of LoCoMo.

    python benchmarks/peers.py LOCOMO.json [--engines filemem fts5 bm25s tantivy basic-memory reme]
        [--python basic-memory=PYTHON reme=PYTHON]

LOCOMO.json is the benchmark's own file (github.com/snap-research/locomo) or a part of it. Each conversation becomes a
folder of Markdown files, one a session, which each engine takes in by itself; then every question of categories 1 to 4
whose evidence is named is asked as it stands. A question's recall is the share of its evidence that stands in the first
500 or 2,000 tokens (4 characters each) of the answer; a turn counts when the first 120 letters and digits of its text stand
there in one piece, whatever is in square brackets aside. Every engine runs in a process of its own, conversation by
conversation in turn, so that a busy machine slows all; a query is timed in process, without start-up. `--python` names the
interpreter that has a peer's package, where it is not this one. Needs no network and no model.

fts5 (porter, words ORed), bm25s and tantivy (both with Snowball stems) are given the turns and answer with them, best first.
basic-memory (text mode) names notes; its JSON has a passage of each, and `+ notes` is what an agent has read after opening
the notes in that order, which no one counts as a call here. ReMe answers with passages, BM25 only.
"""

import argparse
import asyncio
import collections
import datetime as dt
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

from filemem import User, index

BUDGETS = (500, 2_000)  # tokens
MOST = 400  # turns in an answer of an engine that only ranks
FOUND = 20  # passages asked of ReMe, enough for 2,000 tokens
ENGINES = ("filemem", "fts5", "bm25s", "tantivy", "basic-memory", "reme")
STOP = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was "
    "will with i you he she we his her my your me him them do does did what when where who whom which why how has have had "
    "would could should can been were from about".split()
)
_EVIDENCE = re.compile(r"D\s*:?\s*(\d+)\s*:\s*0*(\d+)")

Asked = Callable[
    [str], list[str]
]  # a question, and the answers to measure: what was said, and what can be read after it


class Said(NamedTuple):
    """A turn, and where it stands."""

    id: str
    path: str
    line: int
    speaker: str
    text: str


class Talk(NamedTuple):
    """One conversation as files and turns, and what is asked about it: questions with the ids of their evidence."""

    name: str
    files: dict[str, str]
    turns: list[Said]
    questions: list[tuple[str, list[str]]]


# -- the conversations ---------------------------------------------------------------------------------------------


def talks(path: str) -> Iterator[Talk]:
    """The conversations of a file of LoCoMo."""
    for sample in json.loads(Path(path).read_text(encoding="utf-8")):
        talk = Talk(sample["sample_id"], {}, [], [])
        conversation = sample["conversation"]
        keys = (key for key in conversation if re.fullmatch(r"session_\d+", key) and conversation[key])
        for key in sorted(keys, key=lambda key: int(key.split("_")[1])):
            when = dt.datetime.strptime(conversation[key + "_date_time"].strip(), "%I:%M %p on %d %B, %Y")
            _session(talk, int(key.split("_")[1]), when, conversation[key])
        known = {said.id for said in talk.turns}
        for asked in sample["qa"]:
            found = (f"D{session}:{int(turn)}" for one in asked["evidence"] for session, turn in _EVIDENCE.findall(one))
            evidence = sorted(set(found) & known)
            if evidence and asked["category"] != 5:  # the adversarial ones have no answer to find
                talk.questions.append((asked["question"], evidence))
        yield talk


def _session(talk: Talk, number: int, when: dt.datetime, turns: list[dict[str, Any]]) -> None:
    """Add a session's file and turns."""
    path = f"sessions/{when:%Y}/{when:%Y-%m-%d-%H%M}-session-{number}.md"
    lines = ["---", f"date: {when.isoformat()}", "---", "", f"# Conversation of {when:%d %B %Y}", ""]
    for turn in turns:
        caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        text = " ".join(f"{turn.get('text') or ''}{caption}".split())
        lines.append(f"- **{turn['speaker']}** {when:%H:%M}: {text}")
        talk.turns.append(Said(turn["dia_id"], path, len(lines), turn["speaker"], text))
    talk.files[path] = "\n".join(lines) + "\n"


def write(root: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def letters(text: str) -> str:
    """Letters and digits only; what stands in square brackets (captions, annotations) does not count."""
    return re.sub(r"[\W_]+", "", re.sub(r"\[[^\[\]\n]*\]", "", text).lower())


# -- engines, each in a process of its own -------------------------------------------------------------------------


def ranked(turns: list[Said], places: list[int]) -> list[str]:
    """Turns as an answer, best first."""
    return ["\n".join(f"{s.path}:{s.line}: {s.speaker}: {s.text}" for s in (turns[place] for place in places[:MOST]))]


def words(question: str) -> list[str]:
    """The words of a question but for stop words, unless there are no others."""
    found = re.findall(r"\w+", question)
    return [word for word in found if word.lower() not in STOP] or found


def filemem(talk: Talk, root: Path) -> Asked:
    """One call of `search_files`."""
    user = importlib.import_module("filemem").Store(root.parent).user(root.name).folder
    index.of(user).corpus()
    tools = User(user).tools()
    return lambda question: [tools.call("search_files", {"query": question})]


def fts5(talk: Talk, root: Path) -> Asked:
    """SQLite's full-text search."""
    database = sqlite3.connect(root / "fts5.db")
    database.execute("CREATE VIRTUAL TABLE turns USING fts5(text, tokenize='porter unicode61')")
    rows = [(f"{said.speaker}: {said.text}",) for said in talk.turns]
    database.executemany("INSERT INTO turns VALUES (?)", rows)
    database.commit()
    best = f"SELECT rowid - 1 FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT {MOST}"

    def ask(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in words(question))
        return ranked(talk.turns, [place for (place,) in database.execute(best, (match,))])

    return ask


def bm25s(talk: Talk, root: Path) -> Asked:
    """bm25s with Snowball stems."""
    package = importlib.import_module("bm25s")
    stemmer = importlib.import_module("Stemmer").Stemmer("english")
    retriever = package.BM25()
    texts = [f"{said.speaker}: {said.text}" for said in talk.turns]
    retriever.index(package.tokenize(texts, stemmer=stemmer, show_progress=False), show_progress=False)
    most = min(MOST, len(texts))

    def ask(question: str) -> list[str]:
        tokens = package.tokenize([question], stemmer=stemmer, show_progress=False)
        places, scores = retriever.retrieve(tokens, k=most, show_progress=False)
        found = [int(place) for place, score in zip(places[0], scores[0], strict=True) if score > 0]
        return ranked(talk.turns, found)

    return ask


def tantivy(talk: Talk, root: Path) -> Asked:
    """tantivy with its English stemmer, words ORed."""
    package = importlib.import_module("tantivy")
    schema = package.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="en_stem")
    schema.add_unsigned_field("place", stored=True)
    index = package.Index(schema.build())
    writer = index.writer()
    for place, said in enumerate(talk.turns):
        writer.add_document(package.Document(text=f"{said.speaker}: {said.text}", place=place))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def ask(question: str) -> list[str]:
        hits = searcher.search(index.parse_query(" ".join(words(question)), ["text"]), MOST).hits
        return ranked(talk.turns, [searcher.doc(address)["place"][0] for _, address in hits])

    return ask


def basic_memory(talk: Talk, root: Path) -> Asked:
    """basic-memory's tool `search_notes` in text mode, one project; taken in by its command line."""
    os.environ |= {"HOME": str(root.parent), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
    os.environ |= {"BASIC_MEMORY_LOG_LEVEL": "ERROR", "LOGFIRE_IGNORE_NO_CONFIG": "1"}
    program = os.path.join(os.path.dirname(sys.executable), "basic-memory")
    for command in (["project", "add", talk.name, str(root)], ["reindex", "--search", "--project", talk.name]):
        subprocess.run([program, *command], stdout=subprocess.DEVNULL, check=True)
    tools = importlib.import_module("basic_memory.mcp.tools")
    importlib.import_module("loguru").logger.remove()
    loop = asyncio.new_event_loop()

    def ask(question: str) -> list[str]:
        search = tools.search_notes(query=question, project=talk.name, search_type="text", output_format="json")
        found = loop.run_until_complete(search)
        notes = found["results"] if isinstance(found, dict) else []  # else a sentence: nothing found
        said = "\n".join(f"{note['file_path']}\n{note.get('content') or ''}" for note in notes)
        return [said, "\n".join(f"{note['file_path']}\n{talk.files[note['file_path']]}" for note in notes)]

    return ask


def reme(talk: Talk, root: Path) -> Asked:
    """ReMe's job `search` by BM25, its default without a model, on `daily/YYYY-MM-DD/`, which it watches."""
    day = re.compile(r"sessions/\d+/(\d+-\d+-\d+)-")
    moved = {path: "daily/" + day.sub(r"\1/", path) for path in talk.files}
    for path, target in moved.items():
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        (root / path).rename(root / target)
    resolve = importlib.import_module("reme.config").resolve_app_config
    settings = resolve(log_config=False, workspace_dir=str(root), enable_logo=False, log_to_console=False)
    application = importlib.import_module("reme").ReMe(**settings)
    loop = asyncio.new_event_loop()

    def run(job: str, **arguments: Any) -> Any:
        made: Awaitable[Any] = application.run_job(job, **arguments)
        return loop.run_until_complete(made)

    loop.run_until_complete(application.start())
    longest = {said.path: said for said in sorted(talk.turns, key=lambda said: len(said.text))}
    for said in longest.values():  # wait until it finds a turn of every file
        while moved[said.path] not in {
            found["path"] for found in run("search", query=said.text, limit=99).metadata["results"]
        }:
            loop.run_until_complete(asyncio.sleep(0.01))
    return lambda question: [run("search", query=question, limit=FOUND).answer or ""]


def serve(engine: str, root: Path) -> None:
    """Take in the conversation described on standard input, ask its questions, and print what came of it as JSON."""
    given = json.load(sys.stdin)
    talk = Talk(given[0], given[1], [Said(*said) for said in given[2]], given[3])
    write(root, talk.files)
    start = time.perf_counter()
    ask = globals()[engine.replace("-", "_")](talk, root)
    taken_in = time.perf_counter() - start
    answers, took = [], []
    for question, _ in talk.questions:
        start = time.perf_counter()
        answers.append(ask(question))
        took.append(time.perf_counter() - start)
    print("\n" + json.dumps({"taken_in": taken_in, "answers": answers, "took": took}), flush=True)
    os._exit(0)  # ReMe's watchers would keep the process


# -- measuring -----------------------------------------------------------------------------------------------------


class Tally:
    """What one engine did so far: for each reading of its answers and each budget the recall of every question, the
    tokens, the seconds of every query, and those of taking in."""

    def __init__(self) -> None:
        self.recall: dict[tuple[int, int], list[float]] = collections.defaultdict(list)
        self.took: list[float] = []
        self.sizes: dict[int, list[float]] = collections.defaultdict(list)
        self.taken_in = 0.0
        self.empty = 0

    def add(self, talk: Talk, came: dict[str, Any]) -> None:
        """Count the answers about one conversation."""
        start = {said.id: letters(said.text)[:120] for said in talk.turns}
        self.taken_in += came["taken_in"]
        self.took += came["took"]
        for (_, evidence), answers in zip(talk.questions, came["answers"], strict=True):
            self.empty += not answers[0].strip()
            for reading, answer in enumerate(answers):
                self.sizes[reading].append(len(answer) / 4)
                for budget in BUDGETS:
                    seen = letters(answer[: 4 * budget])
                    found = sum(bool(start[one]) and start[one] in seen for one in evidence)
                    self.recall[reading, budget].append(found / len(evidence))

    def rows(self, engine: str, ours: float) -> Iterator[str]:
        """The table's rows; `ours` is filemem's median seconds a query."""
        median = statistics.median(self.took)
        for reading in sorted({reading for reading, _ in self.recall}):
            shares = " | ".join(f"{100 * statistics.mean(self.recall[reading, budget]):.1f}" for budget in BUDGETS)
            shares += f" | {statistics.mean(self.sizes[reading]):,.0f}"
            times = f"{1000 * median:.2f} | {1000 * statistics.mean(self.took):.2f} | {median / ours:.1f} ×"
            whole = f"{self.taken_in:.1f} | {self.taken_in + sum(self.took):.1f}"
            rest = f"{times} | {whole} | {self.empty}" if not reading else " | | | | | "
            yield f"| {engine}{' + notes' if reading else ''} | {shares} | {rest} |"


def asked(engine: str, python: str, talk: Talk) -> dict[str, Any]:
    """What an engine answers about a conversation. Raises CalledProcessError where it does not run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, os.path.abspath(__file__), "--serve", engine, os.path.join(folder, talk.name)]
        done = subprocess.run(
            command, input=json.dumps(talk), stdout=subprocess.PIPE, check=True, text=True, cwd=folder
        )
    came: dict[str, Any] = json.loads(done.stdout.rpartition("\n{")[2].join(["{", ""]))
    return came


def main() -> None:
    """Read the arguments; measure, or serve as an engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", nargs="?", help="the benchmark's file")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--python", nargs="+", default=[], metavar="ENGINE=PYTHON", help="interpreters of engines")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve[0], Path(given.serve[1]))
        return
    pythons = dict(pair.split("=", 1) for pair in given.python)
    tallies = {engine: Tally() for engine in given.engines}
    for talk in talks(given.locomo):
        for engine in list(tallies):
            try:
                tallies[engine].add(talk, asked(engine, pythons.get(engine, sys.executable), talk))
            except subprocess.CalledProcessError as error:
                print(f"{engine} does not run here: {error}", file=sys.stderr)
                del tallies[engine]
    ours = statistics.median(next(iter(tallies.values())).took)
    print(
        "| engine | @500 | @2,000 | tokens an answer | median ms | mean ms | beside the first | s to take in | s with all "
        "questions | empty |"
    )
    print("| --- " * 10 + "|")
    for engine, tally in tallies.items():
        print("\n".join(tally.rows(engine, ours)))


if __name__ == "__main__":
    main()
