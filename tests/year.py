"""A seeded year of one person's daily use, on a real store: what is learnt, recalled by habit, pinned, cited, and swept.

Every Sunday the sweep runs. Habits are opened again and again; what happened once is told and never asked for; a few things
matter much. `live(root)` gives what happened to each memory, for a test and for the picture in docs/.
"""

import datetime as dt
import random
from typing import NamedTuple

from filemem import maintenance, recalls
from filemem.store import Store, User

START = dt.date(2026, 1, 5)  # a Monday
DAYS = 364
HABITS = {"tea": 3, "bus": 5, "choir": 7, "market": 7, "swim": 10, "aunt": 14, "rent": 30, "dentist": 45}  # days


class Life(NamedTuple):
    """One memory's year: its kind (habit, matter, once, trifle, pinned, source), days of recalls, when it was archived (None:
    live at the end) and when it came back, as numbers of days from the start."""

    path: str
    sort: str
    importance: int
    born: int
    recalled: list[int]
    archived: list[int]
    restored: list[int]


def told(user: User, chance: random.Random, day: int, number: int) -> Life:
    """Something new, of a sort that such things are."""
    sort = chance.choices(("once", "trifle", "matter"), weights=(5, 4, 1))[0]
    importance = {"once": 5, "trifle": chance.randint(1, 2), "matter": chance.randint(8, 10)}[sort]
    return keep(user, f"{sort}-{number}", sort, importance, day)


def keep(user: User, name: str, sort: str, importance: int, day: int, front: str = "") -> Life:
    """A fact as a file of its own."""
    date = START + dt.timedelta(day)
    path = user.create(
        f"facts/{date:%Y/%Y-%m-%d}-{name}.md", f"---\nimportance: {importance}\n{front}---\nOf {name}, a {sort}.\n"
    )
    return Life(path, sort, importance, day, [], [], [])


def begin(user: User) -> list[Life]:
    """What there is on the first day: the habits, one that cites an old talk, and a pinned note."""
    lives = [keep(user, "old-talk", "source", 1, 0), keep(user, "door-code", "pinned", 3, 0, "pinned: true\n")]
    for name in HABITS:
        lives.append(keep(user, name, "habit", 5, 0, f"source: {lives[0].path}:4\n" if name == "tea" else ""))
    return lives


def live(root: str, seed: int = 1, days: int = DAYS) -> list[Life]:
    """Live a year in the store at `root`; returns what became of each memory."""
    user, chance = Store(root).user("ann"), random.Random(seed)
    lives = begin(user)
    for day in range(1, days + 1):
        at = dt.datetime.combine(START, dt.time(9)) + dt.timedelta(day)
        if chance.random() < 0.3:
            lives.append(told(user, chance, day, len(lives)))
        asked = [life for life in lives if _asked(life, day, chance)]
        for life in asked:
            life.recalled.append(day)
        if asked:
            recalls.note_all(user, [life.path for life in asked], recalls.OPENED, at)
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
    return chance.random() < {"matter": 0.03, "once": 0.002}.get(life.sort, 0.0)
