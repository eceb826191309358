"""Sweep 500 facts as of ten years of daily use, and say what of them comes back.

    python -m benchmarks.ten_years

All facts are of the first year. What is archived is told by kind, in how many of these
a search for a word of the fact shows it in the archive, and how many come back after
they were opened once.
"""

import datetime as dt
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from filemem import Store, User
from filemem.jobs import Large, sweep
from filemem.store.users import StoreFolder

BEGAN = dt.date(2026, 1, 1)
DAYS = 3652  # ten years
FIRST_YEAR_DAYS = 365
HELD_DAYS = 400  # of a fact that has ended
SEED = 1
SOURCE = "source: sessions/2026/x.md:1\n"


@dataclass(frozen=True)
class Kind:
    """Facts of a kind: its name, how many there are, and their front matter.

    The front matter has `{day}`, its own day, and `{end}`, one on which it ended.
    """

    name: str
    count: int
    front: str


KINDS = (
    Kind("standing, of a conversation", 100, SOURCE),
    Kind("event, of a conversation", 100, f"kind: event\n{SOURCE}"),
    Kind("plan", 50, f"kind: event\nday: {{day}}\n{SOURCE}"),
    Kind("trifle, importance 2", 50, f"importance: 2\n{SOURCE}"),
    Kind("ended", 25, f"valid_from: {{day}}\nvalid_until: {{end}}\n{SOURCE}"),
    Kind("event that you wrote", 25, "kind: event\n"),
    Kind("standing, that you wrote", 75, "importance: 5\n"),
    Kind("important, from 8", 50, f"importance: 9\n{SOURCE}"),
    Kind("pinned event", 25, f"kind: event\npinned: true\n{SOURCE}"),
)


def write(root: Path) -> dict[str, Kind]:
    """Write the facts, and a log of days by which all ten years were of use.

    Args:
        root: the person's folder.

    Returns:
        The kind of each fact, by its path.
    """
    choice = random.Random(SEED)
    kinds: dict[str, Kind] = {}
    for kind in KINDS:
        for _ in range(kind.count):
            day = BEGAN + dt.timedelta(choice.randrange(FIRST_YEAR_DAYS))
            end = day + dt.timedelta(HELD_DAYS)
            number = len(kinds)
            path = f"facts/{day.year}/{day}-n{number}.md"
            front = kind.front.format(day=day, end=end)
            text = f"---\n{front}---\n\nThe matter {word(number)} is noted.\n"
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
            kinds[path] = kind
    log = root / ".filemem" / "days.log"
    log.parent.mkdir()
    with log.open("w", encoding="utf-8") as lines:
        for number in range(DAYS):
            day = BEGAN + dt.timedelta(number)
            lines.write(json.dumps({"day": f"{day}"}) + "\n")
    return kinds


def word(number: int) -> str:
    """Return the word that one fact alone has.

    Args:
        number: of the fact.
    """
    return f"zq{number}x"


def answered(user: User, paths: Iterable[str]) -> list[str]:
    """Return those of some archived facts that a search for their word shows.

    Args:
        user: whose facts.
        paths: as they were before they were archived.
    """
    tools = user.tools()
    found = []
    for path in paths:
        number = int(path.rpartition("-n")[2].removesuffix(".md"))
        answer = tools.call("search_files", {"query": word(number)})
        if f"archive/{path}" in answer:
            found.append(path)
    return found


def main() -> None:
    """Write the facts, sweep, search and open what was archived, and sweep again.

    The table has a row for each kind.
    """
    with tempfile.TemporaryDirectory() as root:
        kinds = write(Path(root, "ann"))
        after = dt.datetime.combine(BEGAN + dt.timedelta(DAYS), dt.time(9))
        with Store(root, clock=lambda: after) as store:
            user = store.user("ann")
            folder = StoreFolder(root).folder("ann")
            done = sweep(folder, after, large=Large.ALL)
            archived = done.facts["archived"]
            shown = answered(user, archived)
            tools = user.tools()
            for path in archived:
                tools.call("open", {"path": path})
            restored = sweep(folder, after + dt.timedelta(1)).facts["restored"]
    columns = [Counter(map(kinds.get, paths)) for paths in (archived, shown, restored)]
    print(f"{'':30}{'facts':>10}{'archived':>10}{'answer':>10}{'back':>10}")
    for kind in KINDS:
        counts = "".join(f"{column[kind]:>10}" for column in columns)
        print(f"{kind.name:30}{kind.count:>10}{counts}")


if __name__ == "__main__":
    main()
