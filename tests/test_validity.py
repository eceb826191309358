"""From when and until when something holds is taken from its words where they settle it; a search and the sweep go by it."""

import datetime as dt

import pytest
from conversations import day, remembered, talk, tree

from filemem import index
from filemem.files.folder import Folder
from filemem.forgetting import fading, maintenance, sweeper
from filemem.search import search_files
from filemem.text.statements.validity import validity_of
from filemem.tools.answers import searched

JULY = dt.date(2026, 7, 10)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("I've been vegetarian since 2019.", "2019-01-01", None),
        ("I have worked there since March.", "2026-03-01", None),
        ("I've had it since last summer.", "2025-06-01", None),
        ("From next Monday on I work from home.", "2026-07-13", None),
        ("I rent a flat in Porto until March 2027.", None, "2027-03-31"),
        ("We're away until the end of August.", None, "2026-08-31"),
        ("My parents stay with us till Sunday.", None, "2026-07-12"),
        ("I lived in Ghent until 2019.", None, "2019-12-31"),
        ("I'm in Oslo for the next two weeks.", "2026-07-10", "2026-07-24"),
        ("我从去年起吃素。", "2025-01-01", None),
        ("她从上周五开始发烧。", "2026-07-03", None),
        ("我在上海待到三月底。", None, "2027-03-31"),
        ("我休假到下周五。", None, "2026-07-17"),
        ("我接下来两周在外地。", "2026-07-10", "2026-07-24"),
        ("I flew from Monday to Friday.", None, None),
        ("I lived in Ghent until June.", None, None),
        ("I don't start until March 2027.", None, None),
        ("I work at Fenwick's from 1 September on.", None, None),
        ("The meeting was moved to Friday.", None, None),
        ("我从九月起在北京工作。", None, None),
        ("会议改到周五。", None, None),
        ("我要到三月底才知道。", None, None),
    ],
)
def test_only_what_the_words_settle_counts(text: str, since: str | None, until: str | None) -> None:
    assert [str(day) if day else None for day in validity_of(text, JULY)] == [since, until]


def test_it_stands_in_the_front_matter_and_a_detail_may_bring_it(user: Folder) -> None:
    talk(user, day(7, 10), "I rent a flat in Porto until March 2027.", "Noted.", "I work as a nurse.", "Noted.")
    remembered(user, day(7, 10))
    talk(user, day(7, 11), "I work as a nurse at St Mary's since 2019.", "Noted.")
    remembered(user, day(7, 11))
    flat, nurse = (page for path, page in tree(user).items() if path.startswith("facts/"))
    assert "valid_until: 2027-03-31\n" in flat and "valid_from: 2019-01-01\n" in nurse


def test_what_has_expired_is_archived_the_next_day_and_says_why(user: Folder) -> None:
    """However important it is; its line leaves the profile; and it does not come back by itself."""
    talk(user, day(7, 10), "I am vegetarian until the end of August.", "Noted.")
    remembered(user, day(7, 10))
    path = next(path for path in tree(user) if path.startswith("facts/"))
    assert path in tree(user)["profile.md"]
    remembered(user, day(9, 1))
    assert path not in tree(user)["profile.md"]
    assert [item.why for item in sweeper.plan(user, dt.date(2026, 9, 1)).going] == ["held until 2026-08-31"]
    assert maintenance.sweep(user, day(9, 1)).said == [f"Archived {path}: it held until 2026-08-31."]
    assert "it held until 2026-08-31, so it does not come back" in " ".join(fading.why(user, path, dt.date(2026, 9, 2)))
    assert not sweeper.plan(user, dt.date(2026, 9, 2)).coming


OLD, NEW = "facts/2026/2026-03-01-ghent.md", "facts/2026/2026-07-05-bruges.md"


@pytest.mark.parametrize(
    ("question", "order"),
    [("Where did Nora live in June?", [("archive/" + OLD, "then: superseded by"), (NEW, "now: holds from 2026-07-05")]),
     ("Where did Nora live in August?", [(NEW, ""), ("archive/" + OLD, "superseded by")]),
     ("Where does Nora live?", [(NEW, ""), ("archive/" + OLD, "superseded by")])],
)  # fmt: skip
def test_a_question_about_a_time_has_what_held_then_first(
    user: Folder, question: str, order: list[tuple[str, str]]
) -> None:
    user.create(f"archive/{OLD}", f"---\nsuperseded_by: {NEW}\nvalid_until: 2026-07-05\n---\n\nNora lives in Ghent.\n")
    user.create(NEW, f"---\nsupersedes: {OLD}\n---\n\nNora lives in Bruges.\n")
    found = search_files(index.of(user), question, today=dt.date(2026, 11, 20))
    assert [hit.path for hit in found.hits] == [path for path, _ in order]
    assert all(hit.note.startswith(note) for hit, (_, note) in zip(found.hits, order, strict=True))
    assert all(note in searched(found, {}) for _, note in order)
