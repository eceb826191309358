"""What each step of a search does, on records made by hand."""

import dataclasses
import datetime as dt

import pytest

from filemem.search.features import Features, spread_to_neighbors
from filemem.search.results import (
    Hit,
    choose,
    first_day_named,
    lay_out,
    merge_evidence,
    put_current_first,
    put_in_order_of_days,
    put_newest_first,
)
from filemem.search.weights import WEIGHTS, Weights
from filemem.text.dayrange import DayRange

DAY = dt.date(2026, 5, 7)
ASKED = (DayRange(DAY.toordinal(), DAY.toordinal()),)


def hit(path: str, score: float, line: int = 1, **more: object) -> Hit:
    found = Hit(path, line, line, f"{path} {line}", score=score, excerpt=path)
    return dataclasses.replace(found, **more)


def places(hits: list[Hit]) -> list[str]:
    return [f"{one.path}:{one.line}" for one in hits]


@pytest.mark.parametrize("word", ["tea", "day", "session", "times"])
def test_the_parts_of_a_score_add_up_to_it_whatever_is_asked(word: str) -> None:
    found = Features(words=0.5, by_word={word: 0.5}, day=0.2, role=0.3)
    parts = dict(found.parts)
    factor = parts.pop("(times)")
    assert len(parts) == 2
    assert sum(parts.values()) * factor == pytest.approx(found.score)


def test_a_word_counts_for_neighbours_less_and_never_past_a_pause() -> None:
    weights = Weights(neighbors=(1.0, 0.5, 0.25), repeated=0.0)
    reaches = {number: range(4, 8) for number in range(4, 8)}
    assert spread_to_neighbors({5: 2.0}, reaches, weights) == {
        4: 1.0,
        5: 2.0,
        6: 1.0,
        7: 0.5,
    }


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("We met two days ago.", True),
        ("我们7号见过面。", True),
        ("In May it rained.", False),
        ("We met.", False),
    ],
)
def test_a_text_names_a_day_by_itself(text: str, is_named: bool) -> None:
    assert bool(first_day_named(text, dt.date(2026, 5, 9), ASKED)) is is_named


TURN = "sessions/2026-05-07-a.md"
FACT = "facts/2026-05-08-b.md"
SUMMARY = "summaries/2026-05.md"


def test_of_what_tells_the_same_one_hit_stays_with_the_better_score() -> None:
    turn = hit(TURN, 0.9, line=3)
    fact = hit(FACT, 0.4, sources=(f"{TURN}:3",))
    line = hit(SUMMARY, 0.7, line=5, sources=(f"{TURN}:3",))
    profile = hit("profile.md", 0.6, line=2, sources=(FACT,))
    other = hit(TURN, 0.5, line=4)
    merged = merge_evidence([turn, line, profile, other, fact])
    assert places(merged) == [f"{FACT}:1", f"{TURN}:4"]
    assert merged[0].score == 0.9
    assert places(merge_evidence([line, turn])) == [f"{TURN}:3"]
    assert places(merge_evidence([line])) == [f"{SUMMARY}:5"]
    archived = hit(f"archive/{TURN}", 0.9, line=3)
    assert places(merge_evidence([archived, fact])) == [f"{FACT}:1"]
    kept = hit(f"archive/{FACT}", 0.4)
    assert places(merge_evidence([kept, profile])) == [f"archive/{FACT}:1"]


def test_two_facts_of_one_turn_are_two_hits() -> None:
    facts = [hit(f"facts/{name}.md", 0.5, sources=(f"{TURN}:3",)) for name in "ab"]
    assert merge_evidence(facts) == facts


def test_of_equals_the_newest_is_first_and_another_role_behind_it() -> None:
    old = hit("old", 1.0, date=dt.date(2026, 1, 1))
    new = hit("new", 0.95, date=DAY)
    aside = hit("aside", 0.99, date=DAY, features=Features(role=0.3))
    weak = hit("weak", 0.5, date=DAY)
    ordered = put_newest_first([old, aside, new, weak], WEIGHTS)
    assert places(ordered) == ["new:1", "old:1", "aside:1", "weak:1"]
    assert put_newest_first([], WEIGHTS) == []


def test_plans_of_like_strength_stand_in_the_order_of_their_days() -> None:
    late = hit("late", 0.9, day_named=DAY.toordinal() + 2)
    soon = hit("soon", 0.5, day_named=DAY.toordinal() + 1)
    asked = hit("asked", 0.6, strength=1.0, day_named=DAY.toordinal() + 3)
    hits = [late, asked, hit("other", 0.55), soon]
    ordered = put_in_order_of_days(hits, DAY)
    assert places(ordered) == ["soon:1", "asked:1", "other:1", "late:1"]
    assert [one.score for one in ordered] == [0.9, 0.6, 0.55, 0.5]
    assert put_in_order_of_days(hits, DAY + dt.timedelta(9)) == hits
    weak = hit(
        "weak",
        0.1,
        strength=-1.0,
        day_named=soon.day_named,
    )
    hits.append(weak)
    ordered.append(weak)
    assert put_in_order_of_days(hits, DAY) == ordered


@pytest.mark.parametrize("held_now", [False, True])
@pytest.mark.parametrize("held_then", [False, True])
def test_what_replaced_another_stands_before_it(
    held_then: bool, held_now: bool
) -> None:
    """Behind it where that alone held on a day asked for; it answers as well."""
    features = Features(is_of_day=held_then)
    old = hit("old", 0.9, strength=0.8, newer="new", features=features)
    new = hit("new", 0.2, features=Features(is_of_day=held_now))
    ordered = put_current_first([old, hit("other", 0.5), new])
    pair = ["new:1", "old:1"]
    if held_then and not held_now:
        pair.reverse()
    assert places(ordered) == [*pair, "other:1"]
    assert {one.score for one in ordered[:2]} == {0.9}
    assert {one.strength for one in ordered[:2]} == {0.8}


def test_an_answer_ends_at_its_budget_its_limit_or_where_hits_are_weak() -> None:
    weights = Weights(least_share=0.5, answer_tokens=100)
    hits = [hit(f"{n}", score) for n, score in enumerate((1.0, 0.9, 0.4, 0.8))]
    assert places(choose(hits, None, weights)) == ["0:1", "1:1", "3:1"]
    assert len(choose(hits, 2, weights)) == 2
    assert len(choose(hits, 9, weights)) == 4
    long = [dataclasses.replace(one, excerpt="word " * 70) for one in hits]
    assert len(choose(long, None, weights)) == 1


def test_a_fact_must_score_more() -> None:
    weights = Weights(least_share=0.5, least_fact_share=0.7)
    hits = [hit("best", 1.0), hit("turn", 0.6), hit("facts/tea.md", 0.6)]
    assert places(choose(hits, None, weights)) == ["best:1", "turn:1"]


def test_the_best_stand_first_by_file_and_line_then_more_of_them() -> None:
    hits = [hit("a", 0.9, 7), hit("b", 0.8), hit("a", 0.7, 2), hit("a", 0.6, 1)]
    together = lay_out(hits, 1000)
    assert places(together) == ["a:1", "a:2", "a:7", "b:1"]
    assert lay_out(hits, 1) == hits
