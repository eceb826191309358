"""The sweep archives what has faded and nothing else, brings back what was recalled
there, and says why."""

import datetime as dt
import os
from pathlib import Path

import pytest
from programs import clean, filemem, lay

from filemem import Toolbox, jobs, overview
from filemem.errors import NotFound
from filemem.forget.states import explain
from filemem.forget.sweep import plan_sweep
from filemem.store import recalls
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

EVENT = "---\nkind: event\n---\nHad tea.\n"  # which fades 208 days after its own
TODAY = dt.date(2026, 11, 20)
AT = dt.datetime(2026, 11, 20, 3, 0)
X = "facts/2026/2026-01-01-x.md"


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    return StoreFolder(tmp_path).folder("ann")


def going(user: Folder, today: dt.date = TODAY) -> list[str]:
    """The paths that a sweep would archive."""
    return list(plan_sweep(user, today).to_archive)


def swept(user: Folder, days: int = 0) -> dict[str, list[str]]:
    """What a sweep some days later does."""
    found: dict[str, list[str]] = jobs.sweep(user, AT + dt.timedelta(days)).facts
    return found


def front(lines: str, text: str = "Went to Ely.") -> str:
    return f"---\n{lines}\n---\n{text}\n"


def test_the_threshold_decides_to_the_day(user: Folder) -> None:
    """R = exp(-207/90) = 0.1003 today, 0.099 tomorrow."""
    lay(
        user.root,
        {
            "facts/2026-04-26-important.md": front("kind: event\nimportance: 7"),
            "facts/2026-04-26-older.md": EVENT,
            "facts/2026-04-27-plain.md": EVENT,
        },
    )
    assert going(user) == ["facts/2026-04-26-older.md"]
    assert len(going(user, TODAY + dt.timedelta(1))) == 2


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("profile.md", "Ann.\n"),
        ("facts/2020-01-01-tea.md", EVENT),  # on which the profile rests
        ("facts/2020-01-01-pinned.md", front("pinned: true\nkind: event")),
        ("facts/2020-01-01-a.yaml", "text: A key.\npinned: yes\nkind: event\n"),
        ("facts/undated.md", EVENT),
        ("summaries/2020/2020-01-x.md", "- We met. (sessions/2020-01-01-x.md:1)\n"),
        ("facts/2026-11-14-young.md", front("importance: 1")),
        ("facts/2020-01-01-broken.md", front("kind: event\nimportance: [")),
        ("facts/2020-01-01-by-hand.md", "Likes tea.\n"),
        ("facts/2020-01-01-recipe.md", front("kind: recipe")),
        ("facts/2020-01-01-wedding.md", front("kind: event\nimportance: 8")),
        ("facts/2020-01-01-home.md", front("importance: 4\nvalid_from: 2020-01-01")),
        ("facts/2020-01-01-lease.md", front("valid_until: 2026-11-20")),
        (
            "facts/2020-01-01-barn.md",
            front("valid_from: 2026-12-01\nvalid_until: 2026-11-01"),
        ),
        ("facts/2020-01-01-trip.md", front("kind: plan\nvalid_from: 2026-12-20")),
        ("lessons/2020-01-01-short.md", front("importance: 2")),
        ("notes.md", front("date: 2020-01-01\nimportance: 1")),
        ("sessions/2020/2020-01-01-0930-x.md", "- **Ann** 09:30: I keep bees.\n"),
    ],
)
def test_what_is_never_swept(user: Folder, path: str, text: str) -> None:
    """What a person asked for, and what nobody has summarised."""
    profile = "- Had tea. <!-- facts/2020-01-01-tea.md -->\n"
    lay(user.root, {"profile.md": profile, "facts/2020-01-01-plain.md": EVENT})
    lay(user.root, {path: text})
    assert swept(user)["archived"] == ["facts/2020-01-01-plain.md"]
    assert Path(user.root, path).exists()


@pytest.mark.parametrize(
    ("keys", "gone"),
    [
        ("kind: event", "2026-04-28"),  # 208 days after 2 October 2025
        ("kind: event\nday: gestern", "2026-04-28"),  # which is no date, and no matter
        ("kind: plan\nvalid_from: 2025-12-24", "2026-07-20"),
        ("kind: plan\nvalid_from: 2025-12-24\nvalid_until: 2026-01-02", "2026-01-03"),
        ("importance: 3", "2026-02-04"),  # 125 days
        ("importance: 3\nkind: standing", "2026-02-04"),
        ("valid_until: 2026-01-02\nsource: x.md:1", "2026-01-03"),
        ("valid_until: 2026-01-02", "2026-01-03"),
        ("valid_until: 2026-01-02\nimportance: 9", "2026-01-03"),
        ("superseded_by: facts/2026-01-01-x.md", "2026-04-28"),
        ("status: deprecated", "2026-04-28"),
    ],
)
def test_what_was_fades_from_the_last_day_that_it_names(
    user: Folder, keys: str, gone: str
) -> None:
    """What has expired is archived on the day after, and that is told beforehand."""
    lay(user.root, {"facts/2025/2025-10-02-x.md": front(keys)})
    day = dt.date.fromisoformat(gone)
    told = explain(user, "facts/2025/2025-10-02-x.md", day - dt.timedelta(20))
    assert told[-1].endswith(f"not before {gone}.")
    assert going(user, day - dt.timedelta(1)) == []
    assert going(user, day) == ["facts/2025/2025-10-02-x.md"]


@pytest.mark.parametrize(
    "source", ["facts/a/2020-01-02-b.md", "[x.md:1, facts/a/2020-01-02-b.md:3]"]
)
def test_a_source_of_what_stays_stays_with_its_own_sources(
    user: Folder, source: str
) -> None:
    talk = "facts/2020/2020-01-02 a trip.md"
    lay(
        user.root,
        {
            "facts/2026-11-19-new.md": front(f"source: {source}"),
            "facts/a/2020-01-02-b.md": front(f'kind: plan\nsource:\n  - "{talk}:7"'),
            talk: EVENT,
            "facts/2020-01-03-other.md": front("kind: event\nsource: facts/c.md:1"),
            "facts/2020-01-04-c.md": EVENT,
        },
    )
    assert going(user) == ["facts/2020-01-03-other.md", "facts/2020-01-04-c.md"]


def test_recalls_on_later_days_keep_a_memory_and_those_on_one_day_count_once(
    user: Folder,
) -> None:
    paths = [f"facts/2026-01-01-{name}.md" for name in ("never", "once", "spaced")]
    lay(user.root, dict.fromkeys(paths, front("importance: 2")))
    for hour in range(5):
        at = dt.datetime(2026, 2, 1, hour)
        recalls.note_recall(user, paths[1], "open", at)
    for day in (20, 50, 100, 160):
        at = dt.datetime(2026, 1, 1) + dt.timedelta(day)
        recalls.note_recall(user, paths[2], "cited", at)
    assert going(user) == paths[:2]


def test_what_is_recalled_in_the_archive_comes_back_at_the_next_sweep(
    user: Folder,
) -> None:
    """Unless no job has put it there, or another memory replaced it.

    So does what the profile has come to rest on.
    """
    bees = "---\nimportance: 2\n---\nKeeps bees.\r\n"
    lay(
        user.root,
        {
            "facts/2026-01-01-a.md": bees,
            "facts/2026-01-01-b.md": bees,
            "archive/facts/2026-01-01-by-hand.md": "Likes tea.\n",
            "archive/facts/2026-01-01-replaced.md": front("superseded_by: facts/x.md"),
        },
    )
    swept(user)
    assert not any(swept(user, 1).values())
    toolbox = Toolbox(user, lambda: AT + dt.timedelta(2))
    for name in ("a", "by-hand", "replaced"):
        toolbox.call("open", {"path": f"facts/2026-01-01-{name}.md"})
    assert swept(user, 3)["restored"] == ["facts/2026-01-01-a.md"]
    assert user.read("facts/2026-01-01-a.md") == bees.encode()
    assert swept(user, 4)["archived"] == []
    assert swept(user, 400)["archived"] == ["facts/2026-01-01-a.md"]
    lay(user.root, {"profile.md": "- Has bees. <!-- facts/2026-01-01-a.md -->\n"})
    assert swept(user, 401)["restored"] == ["facts/2026-01-01-a.md"]


def test_a_memory_in_both_places_with_two_texts_stays_and_is_named(
    user: Folder,
) -> None:
    """A restore fails; the two names of a move that was cut off are one memory."""
    lay(user.root, {X: EVENT, f"archive/{X}": "Another.\n"})
    assert "rename one of the two" in swept(user)["notes"][0]
    done = filemem("restore", f"archive/{X}", "--store", user.store, env=clean())
    assert done.returncode == 1 and f"{X} is another text" in done.stdout
    assert user.read(X) == EVENT.encode()
    other = Path(user.root, "archive", X)
    other.unlink()
    os.link(Path(user.root, X), other)
    assert swept(user)["notes"] == [] and user.paths() == [f"archive/{X}"]


def test_restore_gives_back_the_bytes_at_the_path_and_reinforces(user: Folder) -> None:
    text = "---\nimportance: 1\n---\nKeeps bees.\r\nno last newline"
    lay(user.root, {X: text})
    swept(user)
    assert jobs.restore(user, AT, [X]).said == [f"Restored {X}."]
    assert user.read(X) == text.encode()
    assert going(user, TODAY + dt.timedelta(60)) == []
    assert jobs.restore(user, AT, [X]).said[0].endswith("is not in the archive.")
    with pytest.raises(NotFound):
        jobs.restore(user, AT, [X, "facts/none.md"])


def test_why_tells_the_numbers_and_what_comes(user: Folder) -> None:
    path = "facts/2026/2026-11-01-a.md"
    lay(user.root, {path: front("importance: 1")})
    recalls.note_recall(user, path, "open", dt.datetime(2026, 11, 10))
    said = " ".join(explain(user, path, TODAY))
    for part in (
        "It fades from 2026-11-01; its importance is 1 of 10, so its stability began"
        " at 18.0 days.",
        "last recalled on 2026-11-10",
        "stability has grown to 28.6 days",  # 18 (1 + 1.5 (1 - exp(-9/18)))
        "Retention is 0.705 = exp(-10 / 28.6), by the days of use since 2026-11-10",
        "falls under 0.1 in 56 days of use, not before 2027-01-15",
    ):
        assert part in said
    last = dt.date(2027, 1, 15)
    assert going(user, last - dt.timedelta(1)) == [] and going(user, last) == [path]
    swept(user, 56)
    said = " ".join(explain(user, path, last))
    assert "is in the archive. A job archived it on 2027-01-15." in said


def test_status_counts_every_memory_once(user: Folder) -> None:
    fading = "facts/2026/2026-10-30-b.md"
    lay(
        user.root,
        {
            "facts/2026-11-19-a.md": EVENT,
            fading: front("importance: 1"),
            "facts/2026-01-30-d.md": "Likes tea.\n",
            "archive/facts/2026-01-30-c.md": "Liked rum.\n",
            "profile.md": "Ann.\n",
        },
    )
    found = overview.status(user, AT).facts
    assert list(found["kinds"]["facts"].values()) == [3, 75, 1, 11]
    assert list(found["kinds"]["profile"].values()) == [1, 5, 0, 0]
    assert found["staying"] == {"profile": 1, "your own": 1}
    assert found["fading"] == [(dt.date(2026, 12, 11), fading)]
    assert "profile" in found["prompt_tokens"]
