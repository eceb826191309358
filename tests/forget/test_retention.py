"""Retention falls with time, rises with importance and with every recall, and follows
R = exp(-t / S) to the digit."""

import datetime as dt
import math

from hypothesis import given
from hypothesis import strategies as st

from filemem.forget.curve import retention, strength

BORN = dt.date(2026, 1, 1)
days = st.integers(0, 2000).map(lambda n: BORN + dt.timedelta(n))
importances = st.integers(1, 10)
recalls = st.lists(days, max_size=12)


@given(recalls, days, importances, importances)
def test_a_more_important_memory_never_fades_sooner(
    recalled: list[dt.date], today: dt.date, one: int, other: int
) -> None:
    weak = strength(BORN, recalled, today, min(one, other))
    strong = strength(BORN, recalled, today, max(one, other))
    assert strong.retention >= weak.retention
    assert strong.stability_days >= weak.stability_days


@given(recalls, days, days, importances)
def test_another_recall_never_lowers_retention(
    recalled: list[dt.date], extra: dt.date, today: dt.date, importance: int
) -> None:
    """One that is still to come does not count."""
    before = strength(BORN, recalled, today, importance)
    after = strength(BORN, [*recalled, extra], today, importance)
    assert after.retention >= before.retention - 1e-12
    assert extra <= today or after == before


@given(recalls, days, st.integers(0, 400), importances)
def test_without_recall_retention_only_falls(
    recalled: list[dt.date], today: dt.date, later: int, importance: int
) -> None:
    recalled = [day for day in recalled if day <= today]
    now = strength(BORN, recalled, today, importance)
    then = strength(BORN, recalled, today + dt.timedelta(later), importance)
    assert then.retention <= now.retention


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
