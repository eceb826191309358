"""What neighbours give a passage at most is never less than what they give it, and hardly more."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.search import context_score

STEPS = st.lists(st.sampled_from([1, 2, 4, 11]), max_size=12)


@st.composite
def files(draw: st.DrawFn) -> list[tuple[list[int], list[float]]]:
    """Places in files, and what the passages hold, many of them nothing."""
    found = []
    for steps in draw(st.lists(STEPS, max_size=5)):
        places = list(itertools.accumulate(steps, initial=0))
        held = st.just(0.0) | st.floats(0, 1000)
        found.append((places, draw(st.lists(held, min_size=len(places), max_size=len(places)))))
    return found


@given(files())
def test_a_bound_is_what_all_in_reach_give_rounded_up_a_little(given: list[tuple[list[int], list[float]]]) -> None:
    most = max((value for _, held in given for value in held), default=0.0)
    for (places, held), totals in zip(given, context_score.totals(given), strict=True):
        for at, total in enumerate(totals):
            first, shares = context_score.around(places, at)
            true = sum(value * share for value, share in zip(held[first:], shares, strict=False))
            assert total >= true * (1 - 1e-12)
            assert total == pytest.approx(true, rel=0.02, abs=1e-3 * most + 1e-12)
