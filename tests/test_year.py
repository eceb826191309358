"""A year of daily use: nothing standing is ever in the archive, what was goes, what is recalled stays; all is still there."""

import datetime as dt
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from year import DAYS, live

from filemem import Store
from filemem.files import journal
from filemem.jobs import maintenance

STANDING = ("standing", "lesson", "matter", "pinned", "source")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("year")


@pytest.fixture(scope="module")
def lives(root):
    return live(str(root))


def gone(life):
    """Is the memory in the archive at the end of the year?"""
    return len(life.archived) > len(life.restored)


def named(lives, name):
    """The one memory with that name."""
    (life,) = [life for life in lives if life.path.endswith(f"-{name}.md")]
    return life


def test_nothing_standing_is_ever_in_the_archive(lives):
    standing = [life for life in lives if life.sort in STANDING]
    assert len([life for life in standing if not life.recalled]) > 10
    assert not any(life.archived for life in standing)


def test_a_habit_is_live_all_year_and_a_rare_one_comes_back_and_then_lasts(lives):
    for name in ("bus", "market", "aunt"):
        assert named(lives, name).archived == []
    dentist = named(lives, "dentist")
    assert (len(dentist.archived), len(dentist.restored)) == (1, 1)
    assert not gone(dentist)
    passport = named(lives, "passport")
    assert len(passport.archived) >= len(passport.restored) >= 1


def test_trifles_and_events_that_nobody_asks_for_go_and_a_plan_only_after_its_day(lives):
    days = {"trifle": 1 + 18 * 3 * 2.31, "event": 90 * 2.31}  # 2.31 is -log 0.1
    for sort, most in days.items():
        unasked = [life for life in lives if life.sort == sort and not life.recalled and life.born < DAYS - most - 7]
        assert len(unasked) > 10
        assert all(gone(life) for life in unasked)
    plans = [life for life in lives if life.sort == "plan"]
    assert all(day > life.day + 200 for life in plans for day in life.archived)


def test_the_more_important_the_longer(lives):
    def lasted(sort):
        spans = [life.archived[0] - life.day for life in lives if life.sort == sort and life.archived]
        return sum(spans) / len(spans)

    assert lasted("trifle") < lasted("event")


# -- any store ---------------------------------------------------------------------------------------------------


DAY = st.integers(0, 2000).map(lambda number: dt.date(2021, 1, 1) + dt.timedelta(number))
FACT = st.fixed_dictionaries(
    {},
    optional={
        "importance": st.integers(1, 10),
        "kind": st.sampled_from(["standing", "event", "plan", "recipe"]),
        "pinned": st.booleans(),
        "valid_from": DAY,
        "valid_until": DAY,
        "tags": st.just("[tea]"),
    },
)
MEMORY = st.tuples(st.sampled_from(["facts", "lessons", "notes", "sessions"]), DAY, FACT, st.booleans())


def stands(kind, front, on_profile, today):
    """Is this what tells how things stand, so that no job may put it away?"""
    ended = "valid_until" in front and front["valid_until"] < today and kind in ("facts", "lessons")
    ended = ended and front.get("valid_from", today) <= today
    important = front.get("importance", 5) >= 8 and not ended
    if front.get("pinned") or important or on_profile or kind in ("notes", "sessions"):
        return True
    if kind == "lessons":
        return not ended
    ahead = any(front.get(key, today) > today for key in ("valid_from", "valid_until"))
    return ahead or not (ended or front.get("kind") in ("event", "plan") or front.get("importance", 5) <= 3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(MEMORY, min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), DAY, st.sampled_from([journal.OPENED, journal.CITED, journal.ARCHIVED]))),
    st.lists(DAY, min_size=1, max_size=4),
)
def test_whatever_the_store_no_standing_memory_is_in_the_archive_after_a_sweep(memories, log, days):
    """Any memories, any days, any recalls, and any of them archived by the rules of an older version."""
    with tempfile.TemporaryDirectory() as root:
        user = Store(root).user("ann").folder
        paths = [f"{kind}/{day}-{number}.md" for number, (kind, day, *_) in enumerate(memories)]
        rested = {path for path, (kind, *_, noted) in zip(paths, memories, strict=True) if noted and kind == "facts"}
        texts = {"profile.md": "".join(f"- So it is. <!-- {path} -->\n" for path in rested)}
        was_archived = {paths[place] for place, _, how in log if how == journal.ARCHIVED and place < len(paths)}
        for path, (_, _, front, _) in zip(paths, memories, strict=True):
            place = f"archive/{path}" if path in was_archived else path
            texts[place] = "".join(
                ["---\n", *(f"{key}: {value}\n" for key, value in front.items()), "---\nIt is so.\n"]
            )
        for path, text in texts.items():
            Path(user.root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(user.root, path).write_text(text.replace("True", "true").replace("False", "false"))
        for place, day, how in log:
            if place < len(paths):
                journal.note_recalls(user, [paths[place]], how, dt.datetime.combine(day, dt.time(9)))
        for today in sorted(days):
            maintenance.sweep(user, dt.datetime.combine(today, dt.time(3)))
            held = set(user.paths())
            for path, (kind, _, front, _) in zip(paths, memories, strict=True):
                assert (path in held) != (f"archive/{path}" in held)
                assert path in held or not stands(kind, front, path in rested, today), (path, today)
