"""A seeded year of one person's daily use, on a real store: what is told, what is planned, what is recalled by habit; swept.

Every Sunday the sweep runs. What stands is told once and hardly ever asked for; events happen, plans lie ahead and then behind,
trifles are dropped in passing; a few of these are asked for again and again. `live(root)` gives what happened to each memory,
for a test and for the picture in docs/.
"""

import datetime as dt
import random
from typing import NamedTuple

from filemem import Store
from filemem.files import journal
from filemem.files.folder import Folder
from filemem.jobs import maintenance

START = dt.date(2026, 1, 5)  # a Monday
DAYS = 364
HABITS = {
    "bus": 5,
    "market": 14,
    "aunt": 30,
    "dentist": 91,
    "passport": 150,
}  # trifles, and the days between two recalls
SORTS = {"event": 6, "plan": 3, "trifle": 5, "standing": 3, "lesson": 1, "matter": 1}  # what is told, and how often


class Life(NamedTuple):
    """One memory's year: its sort; days of recalls, of when it was archived and of when it came back, as numbers of days from
    the start; `day` is the one that it is of, of a plan the day ahead."""

    path: str
    sort: str
    importance: int
    born: int
    day: int
    recalled: list[int]
    archived: list[int]
    restored: list[int]


def told(user: Folder, chance: random.Random, day: int, number: int) -> Life:
    """Something new, of a sort that such things are."""
    (sort,) = chance.choices(list(SORTS), weights=SORTS.values())
    ahead = chance.randint(7, 120) if sort == "plan" else 0
    importance = {"plan": 6, "trifle": chance.randint(1, 3), "matter": chance.randint(8, 10)}.get(sort, 5)
    front = {"event": "kind: event\n", "plan": f"kind: plan\nvalid_from: {START + dt.timedelta(day + ahead)}\n"}
    return keep(user, f"{sort}-{number}", sort, importance, day, front.get(sort, ""), ahead)


def keep(user: Folder, name: str, sort: str, importance: int, born: int, front: str = "", ahead: int = 0) -> Life:
    """A fact or lesson as a file of its own."""
    date = START + dt.timedelta(born)
    kind = "lessons" if sort == "lesson" else "facts"
    text = f"---\nimportance: {importance}\n{front}---\nOf {name}, a {sort}.\n"
    return Life(
        user.create(f"{kind}/{date:%Y/%Y-%m-%d}-{name}.md", text), sort, importance, born, born + ahead, [], [], []
    )


def begin(user: Folder) -> list[Life]:
    """What there is on the first day: the habits, a lesson that cites an old talk, and a pinned note."""
    lives = [keep(user, "old-talk", "source", 1, 0), keep(user, "door-code", "pinned", 3, 0, "pinned: true\n")]
    lives.append(keep(user, "be-brief", "lesson", 5, 0, f"source: {lives[0].path}:4\n"))
    return lives + [keep(user, name, "habit", 2, 0) for name in HABITS]


def live(root: str, seed: int = 1, days: int = DAYS) -> list[Life]:
    """Live a year in the store at `root`; returns what became of each memory."""
    user, chance = Store(root).user("ann").folder, random.Random(seed)
    lives = begin(user)
    for day in range(1, days + 1):
        at = dt.datetime.combine(START, dt.time(9)) + dt.timedelta(day)
        if chance.random() < 0.3:
            lives.append(told(user, chance, day, len(lives)))
        asked = [life for life in lives if _asked(life, day, chance)]
        for life in asked:
            life.recalled.append(day)
        if asked:
            journal.note_recalls(user, [life.path for life in asked], journal.OPENED, at)
        if at.weekday() == 6:
            done = maintenance.sweep(user, at.replace(hour=3)).facts
            for life in lives:
                life.archived.extend([day] * (life.path in done["archived"]))
                life.restored.extend([day] * (life.path in done["restored"]))
    return lives


def _asked(life: Life, day: int, chance: random.Random) -> bool:
    """Is the memory opened today? A habit when it is due, what matters now and then, the rest hardly ever."""
    if life.sort == "habit":
        every = next(days for name, days in HABITS.items() if life.path.endswith(f"-{name}.md"))
        return day > life.born and (day - life.born) % every == 0
    if day == life.born:
        return False
    return chance.random() < {"matter": 0.01, "standing": 0.003, "event": 0.001}.get(life.sort, 0.0)
