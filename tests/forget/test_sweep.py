"""The sweep archives what has faded and nothing else, brings back what was recalled there, and says why."""

import datetime as dt
import os
from pathlib import Path

import pytest
from programs import clean, filemem, lay

from filemem import Store, Toolbox, jobs, overview
from filemem.errors import NotFound
from filemem.forget import sweep
from filemem.store import recalls

EVENT = "---\nkind: event\n---\nHad tea.\n"  # which fades, 208 days after its own
TODAY = dt.date(2026, 11, 20)
AT = dt.datetime(2026, 11, 20, 3, 0)


@pytest.fixture
def user(tmp_path):
    return Store(tmp_path).user("ann").folder


def write(user, path, text="Likes tea.\n"):
    """A file as a person would drop it in."""
    lay(user.root, {path: text})


def going(user, today=TODAY):
    """The paths that a sweep would archive."""
    return list(sweep.plan_sweep(user, today).to_archive)


def swept(user, at=AT):
    """Sweep for good."""
    return jobs.sweep(user, at).facts


def test_the_threshold_decides_to_the_day(user):
    write(
        user, "facts/2026/2026-04-27-plain.md", EVENT
    )  # R = exp(-207/90) = 0.1003 today, 0.099 tomorrow
    write(user, "facts/2026/2026-04-26-older.md", EVENT)
    write(
        user,
        "facts/2026/2026-04-26-important.md",
        "---\nkind: event\nimportance: 7\n---\nMoved house.\n",
    )
    assert going(user) == ["facts/2026/2026-04-26-older.md"]
    assert going(user, TODAY + dt.timedelta(1)) == [
        "facts/2026/2026-04-26-older.md",
        "facts/2026/2026-04-27-plain.md",
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("profile.md", "Ann.\n"),
        ("facts/2020-01-01-tea.md", EVENT),
        (
            "facts/2020-01-01-pinned.md",
            "---\npinned: true\nkind: event\n---\nThe key is under the pot.\n",
        ),
        (
            "facts/2020-01-01-pinned.yaml",
            "text: The key is under the pot.\npinned: yes\nkind: event\n",
        ),
        ("facts/undated.md", EVENT),
        (
            "summaries/2020/2020-01-conversations.md",
            "- We met. (sessions/2020/2020-01-01-x.md:1)\n",
        ),
        ("facts/2026-11-14-young.md", "---\nimportance: 1\n---\nA sneeze.\n"),
        (
            "facts/2020-01-01-broken.md",
            "---\nkind: event\nimportance: [\n---\nThe key is under the pot.\n",
        ),
        ("facts/2020-01-01-by-hand.md", "Likes tea.\n"),
        ("facts/2020-01-01-recipe.md", "---\nkind: recipe\n---\nRye bread.\n"),
        (
            "facts/2020-01-01-wedding.md",
            "---\nkind: event\nimportance: 8\n---\nMarried Tom.\n",
        ),
        (
            "facts/2020-01-01-home.md",
            "---\nimportance: 4\nvalid_from: 2020-01-01\n---\nLives in Diss.\n",
        ),
        (
            "facts/2020-01-01-tenancy.md",
            "---\nvalid_until: 2026-11-20\n---\nRents a loft.\n",
        ),
        (
            "facts/2020-01-01-lease.md",
            "---\nvalid_from: 2026-12-01\nvalid_until: 2026-11-01\n---\nRents a barn.\n",
        ),
        (
            "facts/2020-01-01-cruise.md",
            "---\nkind: plan\nvalid_from: 2026-12-20\n---\nGoes on a cruise.\n",
        ),
        ("lessons/2020/2020-01-01-short.md", "---\nimportance: 2\n---\nBe brief.\n"),
        ("notes.md", "---\ndate: 2020-01-01\nimportance: 1\n---\nA sneeze.\n"),
        ("sessions/2020/2020-01-01-0930-x.md", "- **Ann** 09:30: I keep bees.\n"),
    ],
)
def test_what_is_never_swept(user, path, text):
    """What tells how things stand stays however old it is, and so does what nobody has summarised."""
    write(user, "profile.md", "- Had tea. <!-- facts/2020-01-01-tea.md -->\n")
    write(user, path, text)
    write(user, "facts/2020-01-01-plain.md", EVENT)
    assert swept(user)["archived"] == ["facts/2020-01-01-plain.md"]
    assert Path(user.root, path).exists()


@pytest.mark.parametrize(
    ("front", "gone"),
    [
        ("kind: event", "2026-04-28"),  # 208 days after 2 October 2025
        ("kind: event\nday: gestern", "2026-04-28"),  # which is no date, and no matter
        ("kind: plan\nvalid_from: 2025-12-24", "2026-07-20"),
        ("kind: plan\nvalid_from: 2025-12-24\nvalid_until: 2026-01-02", "2026-01-03"),
        ("importance: 3", "2026-02-04"),  # 125 days
        ("importance: 3\nkind: standing", "2026-02-04"),
        ("valid_until: 2026-01-02", "2026-01-03"),
        ("valid_until: 2026-01-02\nimportance: 9", "2026-01-03"),
        ("superseded_by: facts/2026-01-01-x.md", "2026-04-28"),
    ],
)
def test_what_was_fades_from_the_last_day_that_it_names(user, front, gone):
    """Events, plans and trifles are archived 2.3 times their stability after their day, what has expired on the day after."""
    write(user, "facts/2025/2025-10-02-x.md", f"---\n{front}\n---\nWent to Ely.\n")
    day = dt.date.fromisoformat(gone)
    assert going(user, day - dt.timedelta(1)) == []
    assert going(user, day) == ["facts/2025/2025-10-02-x.md"]


@pytest.mark.parametrize(
    "source",
    [
        "facts/a/2020-01-02-b.md",
        "facts/a/2020-01-02-b.md:3",
        "[x.md:1, facts/a/2020-01-02-b.md:3]",
    ],
)
def test_a_source_of_what_stays_stays_with_its_own_sources(user, source):
    talk, other = "facts/2020/2020-01-02 a trip.md", "facts/2020/2020-01-04-c.md"
    write(user, "facts/2026-11-19-new.md", f"---\nsource: {source}\n---\nMoved.\n")
    write(
        user,
        "facts/a/2020-01-02-b.md",
        f'---\nkind: plan\nsource:\n  - "{talk}:7"\n---\nMoves soon.\n',
    )
    write(user, talk, EVENT)
    write(
        user,
        "facts/2020-01-03-other.md",
        f"---\nkind: event\nsource: {other}:1\n---\nOld.\n",
    )
    write(user, other, EVENT)
    assert going(user) == ["facts/2020-01-03-other.md", other]


def test_recalls_on_later_days_keep_a_memory_and_those_on_one_day_count_once(user):
    for name in ("never", "once", "spaced"):
        write(
            user,
            f"facts/2026/2026-01-01-{name}.md",
            "---\nimportance: 2\n---\nLikes tea.\n",
        )
    for hour in range(5):
        recalls.note_recall(
            user, "facts/2026/2026-01-01-once.md", "open", dt.datetime(2026, 2, 1, hour)
        )
    for day in (20, 50, 100, 160):
        when = dt.datetime(2026, 1, 1) + dt.timedelta(day)
        recalls.note_recall(user, "facts/2026/2026-01-01-spaced.md", "cited", when)
    assert going(user) == [
        "facts/2026/2026-01-01-never.md",
        "facts/2026/2026-01-01-once.md",
    ]


def test_what_is_recalled_in_the_archive_comes_back_at_the_next_sweep(user):
    bees = "---\nimportance: 2\n---\nKeeps bees.\r\n"
    write(user, "facts/2026/2026-01-01-a.md", bees)
    write(user, "facts/2026/2026-01-01-b.md", bees)
    write(user, "archive/facts/2026/2026-01-01-by-hand.md")
    write(
        user,
        "archive/facts/2026/2026-01-01-replaced.md",
        "---\nsuperseded_by: facts/x.md\n---\nOld.\n",
    )
    swept(user)
    assert not any(swept(user, AT + dt.timedelta(1)).values())
    toolbox = Toolbox(user, lambda: AT + dt.timedelta(days=2))
    for name in ("a", "by-hand", "replaced"):
        toolbox.call("open", {"path": f"facts/2026/2026-01-01-{name}.md"})
    assert swept(user, AT + dt.timedelta(days=3))["restored"] == [
        "facts/2026/2026-01-01-a.md"
    ]
    assert Path(user.root, "facts/2026/2026-01-01-a.md").read_bytes() == bees.encode()
    assert swept(user, AT + dt.timedelta(days=4))["archived"] == []
    assert swept(user, AT + dt.timedelta(days=400))["archived"] == [
        "facts/2026/2026-01-01-a.md"
    ]


def test_a_memory_that_exists_in_both_places_with_two_texts_stays_and_is_named(user):
    write(user, "facts/2020-01-01-x.md", EVENT)
    write(user, "archive/facts/2020-01-01-x.md", "Another.\n")
    assert "rename one of the two" in swept(user)["notes"][0]
    assert Path(user.root, "facts/2020-01-01-x.md").read_text() == EVENT
    os.unlink(Path(user.root, "archive/facts/2020-01-01-x.md"))
    os.link(
        Path(user.root, "facts/2020-01-01-x.md"),
        Path(user.root, "archive/facts/2020-01-01-x.md"),
    )
    assert swept(user)["notes"] == []  # the two names of a move that was cut off
    assert user.paths() == ["archive/facts/2020-01-01-x.md"]


def test_restore_gives_back_the_bytes_at_the_path_and_reinforces(user):
    path, text = (
        "facts/2026/2026-01-01-a.md",
        "---\nimportance: 1\n---\nKeeps bees.\r\nno last newline",
    )
    write(user, path, text)
    swept(user)
    assert jobs.restore(user, AT, [path]).said == [f"Restored {path}."]
    assert Path(user.root, path).read_bytes() == text.encode()
    assert going(user, TODAY + dt.timedelta(60)) == []
    assert jobs.restore(user, AT, [path]).said[0].endswith("is not in the archive.")
    with pytest.raises(NotFound):
        jobs.restore(user, AT, [path, "facts/none.md"])


@pytest.mark.parametrize(("there", "code"), [("Another text.\n", 1), (EVENT, 0)])
def test_restore_fails_where_another_text_is_in_its_place(user, there, code):
    path = "facts/2026/2026-01-01-a.md"
    write(user, path, there), write(user, f"archive/{path}", EVENT)
    done = filemem("restore", f"archive/{path}", "--store", user.store, env=clean())
    assert done.returncode == code and (
        f"{path} is another text" in done.stdout
    ) == bool(code), done


def test_why_tells_the_numbers_and_what_comes(user):
    path = "facts/2026/2026-11-01-a.md"
    write(user, path, "---\nimportance: 1\n---\nSneezed.\n")
    recalls.note_recall(user, path, "open", dt.datetime(2026, 11, 10))
    said = " ".join(sweep.explain(user, path, TODAY))
    for part in (
        "importance is 1 of 10, so its stability began at 18.0 days. It was recalled on 1 later day, last on 2026-11-10",
        "stability has grown to 28.6 days",  # 18 (1 + 1.5 (1 - exp(-9/18)))
        "Retention is 0.705 = exp(-10 / 28.6)",
        "falls under 0.1 in 56 days, about 2027-01-15",
    ):
        assert part in said
    assert (going(user, dt.date(2027, 1, 14)), going(user, dt.date(2027, 1, 15))) == (
        [],
        [path],
    )
    swept(user, dt.datetime(2027, 1, 15, 3))
    said = " ".join(sweep.explain(user, path, dt.date(2027, 1, 16)))
    assert (
        "is in the archive. A job archived it on 2027-01-15. As far as is known it is still true."
        in said
    )


def test_status_counts_every_memory_once(user):
    write(user, "facts/2026/2026-11-19-a.md", "---\nkind: event\n---\nHad tea.\n")
    write(user, "facts/2026/2026-10-30-b.md", "---\nimportance: 1\n---\nHad rye.\n")
    write(user, "facts/2026/2026-01-30-d.md", "Likes tea.\n")
    write(user, "archive/facts/2026/2026-01-30-c.md", "Liked rum.\n")
    write(user, "profile.md", "Ann.\n")
    found = overview.status(user, AT).facts
    assert found["kinds"]["facts"] == {
        "live": 3,
        "live_bytes": 71,
        "archived": 1,
        "archived_bytes": 11,
    }
    assert list(found["kinds"]["profile"].values()) == [1, 5, 0, 0]
    assert found["staying"] == {"profile": 1, "standing": 1}
    assert found["fading"] == [(dt.date(2026, 12, 11), "facts/2026/2026-10-30-b.md")]
    assert "profile" in found["prompt_tokens"]
