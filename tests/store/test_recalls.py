"""The log of recalls is append-only, merges by union, outlives damage to single lines, and never spoils a reading."""

import datetime as dt
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from filemem import Store
from filemem.forget.curve import strength
from filemem.store import recalls
from filemem.store.folder import Folder

AT = dt.datetime(2026, 11, 20, 9, 31, 59)
BORN = dt.date(2026, 1, 1)
paths = st.sampled_from(
    ["facts/2026-01-01-a.md", "facts/2026-01-01-茶.md", "sessions/2026-01-01 b.md"]
)
moments = st.integers(0, 60 * 24 * 90).map(
    lambda minutes: dt.datetime(2026, 1, 1) + dt.timedelta(minutes=minutes)
)
lines = st.lists(
    st.tuples(
        moments, st.sampled_from(["open", "cited", "restored", "archived"]), paths
    ),
    max_size=40,
)


def write(user, entries):
    """A log with these lines, in this order."""
    user.make()
    text = "".join(f"{at:%Y-%m-%dT%H:%M}\t{how}\t{path}\n" for at, how, path in entries)
    with open(user.bookkeeping(recalls.RECALLS), "w", encoding="utf-8") as log:
        log.write(text)


def says(user):
    """What the log means to a sweep: retention, and whether each memory is to come back."""
    return {
        path: (
            strength(BORN, trail.days, dt.date(2026, 5, 1)),
            trail.archived,
            trail.since,
        )
        for path, trail in recalls.recalled(user).items()
    }


@settings(max_examples=60, deadline=None)
@given(lines, lines)
def test_two_machines_logs_mean_the_same_in_either_order(
    tmp_path_factory, ours, theirs
):
    user = Store(tmp_path_factory.mktemp("store")).user("ann").folder
    write(user, ours + theirs)
    one = {
        path: (strength, archived)
        for path, (strength, archived, _) in says(user).items()
    }
    write(user, theirs + ours)
    assert {
        path: (strength, archived)
        for path, (strength, archived, _) in says(user).items()
    } == one


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "u")
    recalls.note_recall(folder, "a.md", "open", AT)
    log = Path(folder.bookkeeping(recalls.RECALLS))
    log.write_bytes(
        b"\xff\n\n<<<<<<< ours\n2026-13-45T09:00\topen\tx.md\n"
        + log.read_bytes()
        + b"2026-11-20T09:3"
    )
    recalls.note_recall(folder, "b.md", "open", AT)
    assert [path for path, trail in recalls.recalled(folder).items() if trail.days] == [
        "a.md",
        "b.md",
    ]


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / ".filemem").write_text("a file where the bookkeeping should be")
    folder = Folder(str(tmp_path), "u")
    recalls.note_recall(folder, "a.md", "open", AT)
    assert recalls.recalled(folder) == {}
    assert (
        tmp_path / ".filemem"
    ).read_text() == "a file where the bookkeeping should be"


@given(st.permutations([("archived", 10), ("open", 9), ("cited", 8)]), st.booleans())
def test_only_a_recall_after_the_archiving_brings_back_in_any_order(
    tmp_path_factory, said, later
) -> None:
    user = Store(tmp_path_factory.mktemp("store")).user("ann").folder
    write(
        user,
        [
            (dt.datetime(2026, 3, 1, hour + 3 * (later and how == "open")), how, "a.md")
            for how, hour in said
        ],
    )
    assert recalls.recalled(user)["a.md"].since is later
