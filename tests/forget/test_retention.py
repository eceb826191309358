"""Retention falls with days of use, rises with importance and with every recall, and
follows R = exp(-t / S) to the digit; the clock stands still while nobody talks."""

import datetime as dt
import math

from hypothesis import given
from hypothesis import strategies as st

from filemem.forget.curve import (
    MAX_GAP_DAYS,
    Clock,
    first_stability,
    retention,
    strength,
)

BORN = dt.date(2026, 1, 1)
days = st.integers(0, 2000).map(lambda n: BORN + dt.timedelta(n))
recalls = st.lists(days, max_size=12)
clocks = st.lists(days, max_size=12).map(Clock)
stabilities = st.integers(1, 10).map(lambda one: first_stability(one, 90.0))


@given(recalls, days, stabilities, stabilities, clocks)
def test_a_more_important_memory_never_fades_sooner(
    recalled: list[dt.date], today: dt.date, one: float, other: float, clock: Clock
) -> None:
    weak = strength(BORN, recalled, today, min(one, other), clock=clock)
    strong = strength(BORN, recalled, today, max(one, other), clock=clock)
    assert strong.retention >= weak.retention
    assert strong.stability_days >= weak.stability_days


@given(recalls, days, days, stabilities, clocks)
def test_another_recall_never_lowers_retention(
    recalled: list[dt.date],
    extra: dt.date,
    today: dt.date,
    stability: float,
    clock: Clock,
) -> None:
    """One that is still to come does not count."""
    before = strength(BORN, recalled, today, stability, clock=clock)
    after = strength(BORN, [*recalled, extra], today, stability, clock=clock)
    assert after.retention >= before.retention - 1e-12
    assert extra <= today or after == before


@given(clocks, days, st.integers(0, 900), st.integers(0, 900))
def test_the_clock_only_runs_on_and_never_faster_than_the_days(
    clock: Clock, start: dt.date, some: int, more: int
) -> None:
    """What it shows of two spans is what it shows of both."""
    middle = start + dt.timedelta(some)
    end = middle + dt.timedelta(more)
    assert 0 <= clock.elapsed(start, middle) <= some
    both = clock.elapsed(start, middle) + clock.elapsed(middle, end)
    assert clock.elapsed(start, end) == both


@given(st.lists(days, min_size=1, max_size=12), st.integers(0, 3000))
def test_behind_the_last_day_of_use_a_week_counts_and_each_gap_a_week(
    used: list[dt.date], later: int
) -> None:
    clock = Clock(used)
    end = max(used) + dt.timedelta(later)
    assert clock.elapsed(max(used), end) == min(later, MAX_GAP_DAYS)
    assert clock.elapsed(min(used), end) <= len(set(used)) * MAX_GAP_DAYS


def test_the_formula_to_the_digit() -> None:
    day = BORN + dt.timedelta(90)
    found = strength(BORN, [], day)
    assert math.isclose(found.retention, math.exp(-1)) and found.stability_days == 90
    recalled = strength(BORN, [day], day)
    grown = 90 * (1 + 1.5 * (1 - math.exp(-1)))
    assert math.isclose(recalled.stability_days, grown) and recalled.retention == 1


@given(days, recalls, days)
def test_the_days_left_end_where_retention_meets_the_threshold(
    born: dt.date, recalled: list[dt.date], today: dt.date
) -> None:
    """From today, and where the day that a memory is of lies ahead, from that day."""
    found = strength(born, recalled, today)
    then = today + dt.timedelta(math.ceil(found.days_left(0.1, today)))
    for day, faded in ((then, True), (then - dt.timedelta(1), False)):
        if day > max(today, born):
            kept = retention((day - found.last).days, found.stability_days)
            assert (kept <= 0.1 + 1e-9) == faded
