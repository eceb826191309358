"""How certain a fact is: raised by each day on which it is told, lowered where somebody says otherwise; one contrary remark does
not overturn what was told on three days, but waits for the person's word.
"""

import datetime as dt

import pytest
from conversations import day, talk, tree

from filemem import index
from filemem.files.folder import Folder
from filemem.overview.check import problems
from filemem.remembering import consolidation
from filemem.remembering.review import Review
from filemem.search import search_files

DAYS = [day(5, 8), day(6, 2), day(7, 1)]
AUGUST, SEPTEMBER = day(8, 3), day(9, 7)
TEA = "facts/2026/2026-05-08-my-favourite-tea-is-oolong.md"


def tell(user: Folder, at: dt.datetime, text: str) -> list[tuple[str, bool]]:
    """What is decided about a sentence, and whether it only waits."""
    talk(user, at, text, "Noted.")
    return [(one.action, done.staged) for _, done in consolidation.run(user, at) for one in done.decisions]


def firm(user: Folder) -> None:
    for at in DAYS:
        tell(user, at, "My favourite tea is oolong.")


def certain(user: Folder, path: str = TEA) -> float:
    return float(user.memory(path).front["confidence"])


def test_each_day_on_which_it_is_told_makes_it_surer(user: Folder) -> None:
    found = []
    for at in (*DAYS, DAYS[-1].replace(hour=11)):
        tell(user, at, "My favourite tea is oolong.")
        found.append(certain(user))
    assert found == [0.8, 0.9, 0.95, 0.95]


@pytest.mark.parametrize(
    ("often", "once"),
    [
        ("My favourite tea is oolong.", "My favourite tea is sencha."),
        ("我最喜欢的茶是乌龙茶。", "我最喜欢的茶是龙井。"),
    ],
)
def test_one_contrary_remark_puts_in_doubt_and_waits(user: Folder, often: str, once: str) -> None:
    """Accepted, it supersedes."""
    for at in DAYS:
        tell(user, at, often)
    [path] = [path for path in tree(user) if path.startswith("facts/")]
    assert tell(user, AUGUST, once) == [("DOUBT", True), ("DOUBT", False)]
    assert certain(user, path) == 0.71 and "superseded" not in tree(user)[path]
    review = Review(user)
    [waits] = review.proposals()
    assert (waits.verdict.action, waits.claim.text) == ("SUPERSEDE", once)
    assert [one.replaces for one in review.accept(waits.claim, AUGUST).decisions] == [(path,)]
    assert f"archive/{path}" in tree(user)


@pytest.mark.parametrize("text", ["My favourite tea is sencha now.", "I changed my mind, my favourite tea is sencha."])
def test_what_tells_of_a_change_does_replace_it(user: Folder, text: str) -> None:
    firm(user)
    assert tell(user, AUGUST, text) == [("SUPERSEDE", False)]


def test_a_second_contrary_remark_on_another_day_does_too(user: Folder) -> None:
    firm(user)
    assert tell(user, AUGUST, "My favourite tea is sencha.")[-1] == ("DOUBT", False)
    assert tell(user, SEPTEMBER, "My favourite tea is sencha.") == [("SUPERSEDE", False)]


def test_where_the_person_rejects_it_what_was_told_is_surer_again(user: Folder) -> None:
    """And the fact is still the program's own, which the next telling confirms."""
    firm(user)
    tell(user, AUGUST, "My favourite tea is sencha.")
    review = Review(user)
    assert review.reject(next(iter(review.proposals())).claim) == [TEA]
    assert certain(user) == 0.85 and not list(Review(user).proposals())
    assert tell(user, SEPTEMBER, "My favourite tea is oolong.") == [("UPDATE", False)]


def test_what_was_told_twice_is_replaced_at_once(user: Folder) -> None:
    for at in DAYS[:2]:
        tell(user, at, "My favourite tea is oolong.")
    assert tell(user, AUGUST, "My favourite tea is sencha.") == [("SUPERSEDE", False)]


def test_a_doubtful_fact_stands_below_a_certain_one_and_says_so(user: Folder) -> None:
    user.create("facts/2026/2026-05-08-a.md", "---\nconfidence: 0.3\n---\n\nNora keeps bees in Ghent.\n")
    user.create("facts/2026/2026-05-07-b.md", "---\nconfidence: 0.8\n---\n\nNora keeps bees in Bruges.\n")
    found = search_files(index.of(user), "Where does Nora keep bees?", today=dt.date(2026, 6, 1))
    assert [(hit.path[-4:], hit.note) for hit in found.hits] == [("b.md", ""), ("a.md", "doubtful: confidence 0.3")]


def test_check_lists_live_facts_that_contradict_each_other(user: Folder) -> None:
    old, new = "facts/2026/2026-05-08-a.md", "facts/2026/2026-06-08-b.md"
    user.create(old, "Nora lives in Ghent.\n")
    user.create(new, "Nora lives in Bruges.\n")
    user.create("facts/2026/2026-06-09-c.md", "Nora lives in Bruges, near the market.\n")
    [problem] = [problem for problem in problems(user) if "otherwise" in problem.what]
    assert problem.path == old and "2026-06-09-c.md, and both are live" in problem.what
