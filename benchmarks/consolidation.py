"""What consolidation without a model makes of labelled conversations: how many facts, how fast, and what they do to recall.

    python benchmarks/consolidation.py [--set locomo|locomo-zh|lifebench] [--facts N] [--seed SEED]

Lays the conversations of ../shared/data out in a temporary folder (skipped where they are absent), asks every question as
../shared/eval/recall.py does, consolidates, and asks again: the share of a question's evidence that stands in the first
tokens of one answer of search_files, with the sessions alone and with the facts beside them. `--facts` prints so many facts of
each conversation, drawn by chance, to be read one by one. For locomo it also prints how many of the turns that facts rest on
are cited by the benchmark's own facts (`observation`), which is no aim.
"""

import argparse
import datetime as dt
import importlib
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from filemem import Store, User
from filemem.files import facts
from filemem.files.folder import Folder
from filemem.remembering import consolidation

SHARED = Path(__file__).resolve().parents[2] / "shared"
BUDGETS = (250, 500, 1000, 2000)
_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*0*(\d+)")


def cited() -> dict[str, set[str]]:
    """The ids of the turns that the observations of each LoCoMo conversation cite."""
    found = {}
    for sample in json.loads((SHARED / "data" / "locomo-dev.json").read_text(encoding="utf-8")):
        told = (fact for session in sample["observation"].values() for said in session.values() for fact in said)
        found[sample["sample_id"]] = {f"D{s}:{int(t)}" for fact in told for s, t in _ID.findall(str(fact[1]))}
    return found


def recalled(person: dict[str, Any], order: list[Any], user: Folder, eval_: Any) -> Counter[int]:
    """The share of the evidence in the first tokens of an answer, and in all of it as 0, summed over the questions."""
    tools, text = User(user).tools(), {said[0]: eval_.norm(said[4])[:120] for said in order}
    total: Counter[int] = Counter()
    for question in person["questions"]:
        answer = tools.call("search_files", {"query": question["text"]})
        for budget, seen in {**eval_.cut(answer, BUDGETS)[0], 0: answer}.items():
            seen = eval_.norm(seen)
            total[budget] += sum(bool(text[g]) and text[g] in seen for g in question["gold"]) / len(question["gold"])
    return total


def consolidated(user: Folder, show: int, seed: int) -> tuple[float, list[str]]:
    """Make facts of a person's sessions: the seconds, the paths; some of them are printed."""
    start = time.perf_counter()
    for _ in consolidation.run(user, dt.datetime(2026, 11, 20, tzinfo=dt.UTC)):
        pass
    spent = time.perf_counter() - start
    made = sorted(path for path in user.paths() if re.match(r"(?:archive/)?(?:facts|lessons)/", path))
    for path in sorted(random.Random(seed).sample(made, min(show, len(made)))):
        for passage in user.memory(path).passages:
            print(f"{path}\n    {passage.speaker}: {passage.text}")
    return spent, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="locomo", choices=["locomo", "locomo-zh", "lifebench"])
    parser.add_argument("--facts", type=int, default=0, metavar="N", help="print so many facts of each conversation")
    parser.add_argument("--seed", type=int, default=7, help="which facts are drawn")
    given = parser.parse_args()
    if not (SHARED / "data").exists():
        raise SystemExit(f"{SHARED / 'data'} is not there, so nothing was measured.")
    sys.path.insert(0, str(SHARED / "eval"))
    data, eval_ = importlib.import_module("data"), importlib.import_module("recall")
    gold, before, after = cited(), Counter[int](), Counter[int]()
    asked = made = right = kept = 0
    seconds = 0.0
    with tempfile.TemporaryDirectory() as root:
        for person in data.SETS[given.set]():
            order = data.write_store(person, root)
            user = Store(root).user(person["name"]).folder
            before += recalled(person, order, user, eval_)
            spent, paths = consolidated(user, given.facts, given.seed)
            after += recalled(person, order, user, eval_)
            ids = {f"{said[1]}:{said[2]}": said[0] for said in order}
            named = {ids.get(source) for path in paths for source in facts.sources(user.memory(path))}
            right, kept = right + len(named & gold.get(person["name"], set())), kept + len(named)
            asked, made, seconds = asked + len(person["questions"]), made + len(paths), seconds + spent
    print(f"{given.set}: {made:,} facts and lessons in {seconds:.1f} s, {asked:,} questions")
    for name, shares in (("sessions alone", before), ("and facts", after)):
        row = " ".join(f"@{budget}={100 * shares[budget] / asked:.1f}" for budget in BUDGETS)
        print(f"{name:15} {row} whole={100 * shares[0] / asked:.1f}")
    if given.set == "locomo":
        print(f"{right} of the {kept} turns that they rest on are cited by an observation, too")


if __name__ == "__main__":
    main()
