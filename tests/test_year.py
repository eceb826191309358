"""A year of daily use: what is recalled stays, trifles go, and nothing that is pinned or still cited does; all is still there."""

import datetime as dt

import pytest
from year import DAYS, START, live

from filemem import sweeper
from filemem.store import Store


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("year")


@pytest.fixture(scope="module")
def lives(root):
    return live(str(root))


def gone(life):
    """Is the memory in the archive at the end of the year?"""
    return len(life.archived) > len(life.restored)


def test_the_habits_of_up_to_a_month_are_live_all_year(lives):
    weekly = [life for life in lives if life.sort == "habit" and "dentist" not in life.path and "rent" not in life.path]
    assert len(weekly) == 6
    assert not any(life.archived for life in weekly)


def test_a_rarer_habit_fades_comes_back_when_it_is_asked_for_and_then_lasts(lives):
    for name in ("rent", "dentist"):
        (life,) = [life for life in lives if life.path.endswith(f"-{name}.md")]
        assert len(life.archived) == len(life.restored) <= 2
        assert not gone(life)


def test_trifles_go_and_so_does_what_was_never_asked_for_again(lives):
    unasked = [
        life for life in lives if life.sort in ("once", "trifle") and not life.recalled and life.born < DAYS - 40
    ]
    assert len(unasked) > 40
    assert all(gone(life) for life in unasked)


def test_more_important_memories_last_longer(lives):
    def lasted(sort):
        spans = [life.archived[0] - life.born for life in lives if life.sort == sort and life.archived]
        return sum(spans) / len(spans)

    assert lasted("trifle") < lasted("once") < lasted("matter")


def test_what_is_pinned_or_cited_never_goes(lives):
    assert [life.archived for life in lives if life.sort in ("pinned", "source")] == [[], []]


def test_every_memory_is_in_exactly_one_place_and_why_agrees(root, lives):
    user = Store(root).user("ann")
    places = user.paths()
    for life in lives:
        assert [path for path in places if path.removeprefix("archive/") == life.path] == [
            f"archive/{life.path}" if gone(life) else life.path
        ]
    today = START + dt.timedelta(DAYS)
    for life in lives[:20]:
        said = sweeper.why(user, life.path, today)[0]
        assert said.endswith("is in the archive." if gone(life) else "is live.")
