"""A year of daily use: nothing standing is ever in the archive, what was goes, what is recalled stays; all is still there.

The year is seeded: what stands is told once and hardly ever asked for; events happen, plans lie ahead and then behind, trifles
are dropped in passing; a few are asked for again and again. Every Sunday the sweep runs.
"""

import datetime as dt
import random
from typing import NamedTuple

import pytest

from filemem import Store, jobs
from filemem.files import journal

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
ASKED = {"matter": 0.01, "standing": 0.003, "event": 0.001}  # how likely one is, on a day
STANDING = ("standing", "lesson", "matter", "pinned", "source")


class Life(NamedTuple):
    """One memory's year: days of recalls, of when it was archived and of when it came back, as numbers of days from the start;
    `day` is the one that it is of, of a plan the day ahead."""

    path: str
    sort: str
    born: int
    day: int
    recalled: list[int]
    archived: list[int]
    restored: list[int]


@pytest.fixture(scope="module")
def lives(tmp_path_factory):
    """What became of each memory."""
    user, chance = Store(tmp_path_factory.mktemp("year")).user("ann").folder, random.Random(1)

    def keep(name, sort, importance, born, front="", ahead=0):
        date, kind = START + dt.timedelta(born), "lessons" if sort == "lesson" else "facts"
        text = f"---\nimportance: {importance}\n{front}---\nOf {name}, a {sort}.\n"
        path = user.create(f"{kind}/{date:%Y/%Y-%m-%d}-{name}.md", text)
        lives.append(Life(path, sort, born, born + ahead, [], [], []))

    lives = []
    keep("old-talk", "source", 1, 0)
    keep("door-code", "pinned", 3, 0, "pinned: true\n")
    keep("be-brief", "lesson", 5, 0, f"source: {lives[0].path}:4\n")
    for name in HABITS:
        keep(name, "habit", 2, 0)
    for day in range(1, DAYS + 1):
        at = dt.datetime.combine(START, dt.time(9)) + dt.timedelta(day)
        if chance.random() < 0.3:
            (sort,) = chance.choices(list(SORTS), weights=SORTS.values())
            ahead = chance.randint(7, 120) if sort == "plan" else 0
            importance = {"plan": 6, "trifle": chance.randint(1, 3), "matter": chance.randint(8, 10)}.get(sort, 5)
            front = {"event": "kind: event\n", "plan": f"kind: plan\nvalid_from: {START + dt.timedelta(day + ahead)}\n"}
            keep(f"{sort}-{len(lives)}", sort, importance, day, front.get(sort, ""), ahead)
        for life in lives:
            every = next((days for name, days in HABITS.items() if life.path.endswith(f"-{name}.md")), 0)
            due = (day - life.born) % every == 0 if every else chance.random() < ASKED.get(life.sort, 0.0)
            if due and day > life.born:
                life.recalled.append(day)
                journal.note_recalls(user, [life.path], journal.OPENED, at)
        if at.weekday() == 6:
            done = jobs.sweep(user, at.replace(hour=3)).facts
            for life in lives:
                life.archived.extend([day] * (life.path in done["archived"]))
                life.restored.extend([day] * (life.path in done["restored"]))
    return lives


def test_nothing_standing_is_ever_in_the_archive(lives):
    standing = [life for life in lives if life.sort in STANDING]
    assert len([life for life in standing if not life.recalled]) > 10
    assert not any(life.archived for life in standing)


def test_a_habit_is_live_all_year_and_a_rare_one_comes_back_and_then_lasts(lives):
    named = {name: life for life in lives for name in HABITS if life.path.endswith(f"-{name}.md")}
    assert [named[name].archived for name in ("bus", "market", "aunt")] == [[], [], []]
    assert (len(named["dentist"].archived), len(named["dentist"].restored)) == (1, 1)
    assert len(named["passport"].archived) >= len(named["passport"].restored) >= 1


def test_trifles_and_events_that_nobody_asks_for_go_and_a_plan_only_after_its_day(lives):
    for sort, most in {"trifle": 1 + 18 * 3 * 2.31, "event": 90 * 2.31}.items():  # 2.31 is -log 0.1
        unasked = [life for life in lives if life.sort == sort and not life.recalled and life.born < DAYS - most - 7]
        assert len(unasked) > 10
        assert all(len(life.archived) > len(life.restored) for life in unasked)
    assert all(day > life.day + 200 for life in lives if life.sort == "plan" for day in life.archived)
    spans = {
        sort: [n.archived[0] - n.day for n in lives if n.sort == sort and n.archived] for sort in ("trifle", "event")
    }
    assert sum(spans["trifle"]) / len(spans["trifle"]) < sum(spans["event"]) / len(spans["event"])
