"""What the header of a search is worth: how much of the evidence stands in answers headed strong, partial or no strong match.

    python benchmarks/calibration.py [--each N]

Asks the questions of ../shared/data (skipped where absent), of locomo every N-th, as ../shared/eval/recall.py does, and those of
LoCoMo's category 5, whose answer is in no turn. Prints a table in Markdown: how many answers are headed so, and the share of the
evidence that stands in them.
"""

import argparse
import importlib
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from filemem import Store

SHARED = Path(__file__).resolve().parents[2] / "shared"
HEADED = {"strong": "; strong match", "partial": "; partial match", "none": "; no strong match"}


def headed(answer: str) -> str:
    """How an answer is headed; by names and dates alone counts as none."""
    first = answer.split("\n", 1)[0]
    return next((name for name, said in HEADED.items() if said in first), "none")


def measured(people: list[Any], each: int, eval_: Any, data: Any) -> dict[str, list[float]]:
    """The shares of the evidence in the answers, by how they are headed."""
    found: dict[str, list[float]] = defaultdict(list)
    for person in people:
        with tempfile.TemporaryDirectory() as root:
            text = {said[0]: eval_.norm(said[4])[:120] for said in data.write_store(person, root)}
            tools = Store(root).user(person["name"]).tools()
            for question in person["questions"][::each]:
                answer = tools.call("search_files", {"query": question["text"]})
                seen = eval_.norm(answer)
                gold = question["gold"]
                found[headed(answer)].append(sum(text[g] in seen for g in gold) / max(1, len(gold)))
    return found


def unanswerable(data: Any) -> list[Any]:
    """The conversations of locomo with their questions of category 5 alone."""
    people = []
    for sample in json.loads((SHARED / "data" / "locomo-dev.json").read_text(encoding="utf-8")):
        person = data.conversation(sample["sample_id"], sample["conversation"], [])
        asked = [question for question in sample["qa"] if question.get("category") == 5]
        people.append({**person, "questions": [{"text": question["question"], "gold": []} for question in asked]})
    return people


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=1)
    each = parser.parse_args().each
    if not SHARED.is_dir():
        sys.exit(f"{SHARED} is not there")
    sys.path.insert(0, str(SHARED / "eval"))
    data, eval_ = importlib.import_module("data"), importlib.import_module("recall")
    print("| set | strong | partial | no strong match |\n| --- | --- | --- | --- |")
    for name, load in data.SETS.items():
        found = measured(list(load()), each if name == "locomo" else 1, eval_, data)
        cells = [f"{len(v)}: {sum(v) / len(v):.0%}" if (v := found[kind]) else "0" for kind in HEADED]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    found = measured(unanswerable(data), each, eval_, data)
    print(f"| no answer in memory | {' | '.join(str(len(found[kind])) for kind in HEADED)} |")


if __name__ == "__main__":
    main()
