"""The sweep archives what has faded and nothing else, brings back what was recalled there, and says why."""

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

import pytest

from filemem import archive, maintenance, recalls, status, sweeper
from filemem.config import ConfigError
from filemem.errors import Busy, NotFound
from filemem.store import Store

TODAY = dt.date(2026, 11, 20)
AT = dt.datetime(2026, 11, 20, 3, 0)


@pytest.fixture
def user(tmp_path):
    return Store(tmp_path).user("ann")


def write(user, path, text="Likes tea.\n"):
    """A file as a person would drop it in."""
    where = Path(user.root, path)
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_bytes(text.encode())


def going(user, today=TODAY):
    """The paths that a sweep would archive."""
    return [item.path for item in sweeper.plan(user, today).going]


def swept(user, at=AT):
    """Sweep for good."""
    return maintenance.sweep(user, at).facts


def test_the_threshold_decides_to_the_day(user):
    write(user, "facts/2026/2026-10-29-plain.md")  # R = exp(-22/10) = 0.111 today, exp(-23/10) = 0.100 > 0.1 tomorrow
    write(user, "facts/2026/2026-10-27-older.md")  # exp(-24/10) = 0.091
    write(user, "facts/2026/2026-10-10-important.md", "---\nimportance: 10\n---\nAllergic to cashews.\n")  # exp(-41/20)
    assert going(user) == ["facts/2026/2026-10-27-older.md"]
    assert going(user, TODAY + dt.timedelta(2)) == ["facts/2026/2026-10-27-older.md", "facts/2026/2026-10-29-plain.md"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("profile.md", "Ann.\n"),
        ("facts/2020-01-01-pinned.md", "---\npinned: true\n---\nThe key is under the pot.\n"),
        ("facts/2020-01-01-pinned.yaml", "text: The key is under the pot.\npinned: yes\n"),
        ("facts/undated.md", "Likes tea.\n"),
        ("summaries/2020/2020-01-conversations.md", "- We met. (sessions/2020/2020-01-01-x.md:1)\n"),
        ("facts/2026-11-14-young.md", "---\nimportance: 1\n---\nA sneeze.\n"),
        ("facts/2020-01-01-broken.md", "---\npinned: true\nimportance: [\n---\nThe key is under the pot.\n"),
    ],
)
def test_what_is_never_swept(user, path, text):
    write(user, path, text)
    write(user, "facts/2020-01-01-plain.md")
    assert swept(user)["archived"] == ["facts/2020-01-01-plain.md"]
    assert Path(user.root, path).exists()


@pytest.mark.parametrize(
    "source", ["facts/a/2020-01-02-b.md", "facts/a/2020-01-02-b.md:3", "[x.md:1, facts/a/2020-01-02-b.md:3]"]
)
def test_a_source_of_what_stays_stays_with_its_own_sources(user, source):
    write(user, "facts/2026-11-19-new.md", f"---\nsource: {source}\n---\nMoved.\n")
    write(
        user, "facts/a/2020-01-02-b.md", '---\nsource:\n  - "sessions/2020/2020-01-02 a trip.md:7"\n---\nMoves soon.\n'
    )
    write(user, "sessions/2020/2020-01-02 a trip.md", "- **Ann**: I shall move.\n")
    write(user, "facts/2020-01-03-other.md", "---\nsource: sessions/2020/2020-01-04-c.md:1\n---\nOld.\n")
    write(user, "sessions/2020/2020-01-04-c.md", "- **Ann**: It is old.\n")
    assert going(user) == ["facts/2020-01-03-other.md", "sessions/2020/2020-01-04-c.md"]


def test_recalls_on_later_days_keep_a_memory_and_those_on_one_day_count_once(user):
    for name in ("never", "once", "spaced"):
        write(user, f"facts/2026/2026-07-01-{name}.md")
    for hour in range(5):
        recalls.note(user, "facts/2026/2026-07-01-once.md", "open", dt.datetime(2026, 8, 1, hour))
    for day in (10, 25, 50, 80):
        recalls.note(user, "facts/2026/2026-07-01-spaced.md", "cited", dt.datetime(2026, 7, 1) + dt.timedelta(day))
    assert going(user) == ["facts/2026/2026-07-01-never.md", "facts/2026/2026-07-01-once.md"]


def test_what_is_recalled_in_the_archive_comes_back_at_the_next_sweep(user):
    write(user, "facts/2026/2026-07-01-a.md", "Keeps bees.\r\n")
    write(user, "facts/2026/2026-07-01-b.md")
    write(user, "archive/facts/2026/2026-07-01-by-hand.md")
    write(user, "archive/facts/2026/2026-07-01-replaced.md", "---\nsuperseded_by: facts/x.md\n---\nOld.\n")
    swept(user)
    assert swept(user, AT + dt.timedelta(1)) == {"archived": [], "restored": [], "notes": []}
    toolbox = user.tools(lambda: AT + dt.timedelta(days=2))
    for name in ("a", "by-hand", "replaced"):
        toolbox.call("open", {"path": f"facts/2026/2026-07-01-{name}.md"})
    assert swept(user, AT + dt.timedelta(days=3))["restored"] == ["facts/2026/2026-07-01-a.md"]
    assert Path(user.root, "facts/2026/2026-07-01-a.md").read_bytes() == b"Keeps bees.\r\n"
    assert swept(user, AT + dt.timedelta(days=4))["archived"] == []
    assert swept(user, AT + dt.timedelta(days=400))["archived"] == ["facts/2026/2026-07-01-a.md"]


def test_a_dry_run_and_the_sweep_agree_and_the_dry_run_touches_nothing(user):
    for day in range(1, 29):
        write(user, f"facts/2026/2026-10-{day:02}-x.md")
    before = sorted(user.paths())
    planned = going(user)
    assert sorted(user.paths()) == before
    assert swept(user)["archived"] == planned
    assert sorted(user.paths()) == sorted([p for p in before if p not in planned] + [f"archive/{p}" for p in planned])


def test_a_memory_that_exists_in_both_places_with_two_texts_stays_and_is_named(user):
    write(user, "facts/2020-01-01-x.md", "One.\n")
    write(user, "archive/facts/2020-01-01-x.md", "Another.\n")
    assert "rename one of the two" in swept(user)["notes"][0]
    assert Path(user.root, "facts/2020-01-01-x.md").read_text() == "One.\n"
    os.unlink(Path(user.root, "archive/facts/2020-01-01-x.md"))
    os.link(Path(user.root, "facts/2020-01-01-x.md"), Path(user.root, "archive/facts/2020-01-01-x.md"))
    assert swept(user)["notes"] == []  # the two names of a move that was cut off
    assert user.paths() == ["archive/facts/2020-01-01-x.md"]


def test_restore_gives_back_the_bytes_at_the_path_and_reinforces(user):
    write(user, "facts/2026/2026-07-01-a.md", "Keeps bees.\r\nno last newline")
    swept(user)
    assert maintenance.restore(user, ["facts/2026/2026-07-01-a.md"], AT).said == [
        "Restored facts/2026/2026-07-01-a.md."
    ]
    assert Path(user.root, "facts/2026/2026-07-01-a.md").read_bytes() == b"Keeps bees.\r\nno last newline"
    assert going(user, TODAY + dt.timedelta(30)) == []
    assert maintenance.restore(user, ["facts/2026/2026-07-01-a.md"], AT).said[0].endswith("is not in the archive.")
    with pytest.raises(NotFound):
        maintenance.restore(user, ["facts/2026/2026-07-01-a.md", "facts/none.md"], AT)


def test_active_days_are_those_with_a_session_or_a_recall(tmp_path):
    (tmp_path / "filemem.yaml").write_text("active_days: true\n")
    user = Store(tmp_path).user("ann")
    write(user, "facts/2026/2026-01-01-a.md")
    for day in range(1, 24):
        write(user, f"sessions/2026/2026-01-{day:02}-0930-x.md", "---\npinned: true\n---\n- **Ann**: Hello.\n")
    assert going(user) == []  # 22 active days after the first: R = 0.111
    for day in (24, 25):
        recalls.note(user, "profile.md", "open", dt.datetime(2026, 2, day))
    assert going(user) == ["facts/2026/2026-01-01-a.md"]


def test_every_constant_is_a_setting(tmp_path):
    write(Store(tmp_path).user("ann"), "facts/2026/2026-10-01-a.md")
    for setting in ("stability_days: 25", "threshold: 0.001", "grace_days: 60"):
        (tmp_path / "filemem.yaml").write_text(setting + "\n")
        assert going(Store(tmp_path).user("ann")) == []
    (tmp_path / "filemem.yaml").write_text("spacing_growth: 9\n")
    user = Store(tmp_path).user("ann")
    recalls.note(user, "facts/2026/2026-10-01-a.md", "open", dt.datetime(2026, 10, 20))
    assert going(user, dt.date(2027, 3, 1)) == []
    (tmp_path / "filemem.yaml").write_text("threshold: 1.5\n")
    with pytest.raises(ConfigError, match="between 0 and 1"):
        going(Store(tmp_path).user("ann"))


def test_why_tells_the_numbers_and_what_comes(user):
    write(user, "facts/2026/2026-11-01-a.md", "---\nimportance: 8\n---\nKeeps bees.\n")
    recalls.note(user, "facts/2026/2026-11-01-a.md", "open", dt.datetime(2026, 11, 9))
    said = " ".join(sweeper.why(user, "facts/2026/2026-11-01-a.md", TODAY))
    assert "importance is 8 of 10" in said
    assert "stability began at 16.0 days" in said
    assert "recalled on 1 later day, last on 2026-11-09" in said
    assert "stability has grown to 25.4 days" in said  # 16 (1 + 1.5 (1 - exp(-8/16)))
    assert "Retention is 0.649 = exp(-11 / 25.4)" in said
    assert "falls under 0.1 in 48 days, about 2027-01-07" in said
    assert going(user, dt.date(2027, 1, 6)) == []
    assert going(user, dt.date(2027, 1, 7)) == ["facts/2026/2026-11-01-a.md"]
    swept(user, dt.datetime(2027, 1, 7, 3))
    said = " ".join(sweeper.why(user, "facts/2026/2026-11-01-a.md", dt.date(2027, 1, 8)))
    assert "is in the archive" in said
    assert "A job archived it on 2027-01-07" in said


def test_status_counts_every_memory_once(user):
    write(user, "facts/2026/2026-11-19-a.md", "Likes tea.\n")
    write(user, "facts/2026/2026-10-30-b.md", "Likes rye.\n")
    write(user, "archive/facts/2026/2026-01-30-c.md", "Liked rum.\n")
    write(user, "profile.md", "Ann.\n")
    found = status.status(user, AT)
    assert found.kinds["facts"] == status.Kind(2, 22, 1, 11)
    assert found.kinds["profile"] == status.Kind(1, 5, 0, 0)
    assert sum(found.spread) == 2
    assert (found.spread[9], found.spread[1]) == (1, 1)
    assert found.staying == {"profile": 1}
    assert found.fading == [
        (dt.date(2026, 11, 23), "facts/2026/2026-10-30-b.md"),
        (dt.date(2026, 12, 13), "facts/2026/2026-11-19-a.md"),
    ]
    assert "profile" in found.prompt_tokens


def test_one_job_at_a_time_and_a_conversation_goes_on(user):
    write(user, "facts/2020-01-01-x.md")
    with archive.alone(user):
        with pytest.raises(Busy, match="another job is at work on ann's memories"):
            maintenance.sweep(user, AT)
        user.remember("Keeps bees.", today=TODAY)
    assert len(swept(user)["archived"]) == 1


def test_all_users_are_swept_though_one_is_broken(tmp_path):
    for name in ("ann", "bob", "cem"):
        write(Store(tmp_path).user(name), "facts/2020-01-01-x.md")
    Path(tmp_path, "bob", ".filemem").write_text("a file where a folder should be")
    command = [sys.executable, "-c", "from filemem.cli import main; main()", "sweep", "--all-users"]
    done = subprocess.run(
        [*command, "--store", tmp_path, "--today", "2026-11-20"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "bob" in done.stderr
    assert "2 of 3 users done." in done.stdout
    for name in ("ann", "cem"):
        assert Store(tmp_path).user(name).paths() == ["archive/facts/2020-01-01-x.md"]
    assert Store(tmp_path).user("bob").paths() == ["facts/2020-01-01-x.md"]
