"""The log of recalls is append-only, merges by union, outlives damage to single lines,
and never spoils a reading."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filemem.store import recalls
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20, 9, 31, 59)
HOWS = ["open", "cited", "restored", "archived"]
entries = st.lists(
    st.tuples(
        st.integers(0, 90),
        st.sampled_from(HOWS),
        st.sampled_from(["a.md", "茶.md"]),
    ),
    max_size=40,
    unique_by=lambda entry: entry[0],
)


def write(user: Folder, said: list[tuple[int, str, str]]) -> None:
    """A log with these lines, by the day of the year, as earlier versions had it."""
    user.make()
    text = ""
    for day, how, path in said:
        at = dt.datetime(
            2026,
            1,
            1,
            9,
        ) + dt.timedelta(days=day)
        text += f"{at:%Y-%m-%dT%H:%M}\t{how}\t{path}\n"
    Path(user.bookkeeping(recalls.RECALLS)).write_text(text)


@settings(max_examples=60, deadline=None)
@given(entries, st.randoms())
def test_the_lines_of_two_machines_mean_the_same_in_any_order(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[tuple[int, str, str]],
    any_: Any,
) -> None:
    user = StoreFolder(tmp_path_factory.mktemp("store")).folder("ann")
    write(user, sorted(said))
    wanted = recalls.recalled(user)
    any_.shuffle(said)
    write(user, said)
    assert recalls.recalled(user) == wanted


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "u")
    recalls.note_recall(folder, "a.md", "open", AT)
    log = Path(folder.bookkeeping(recalls.RECALLS))
    torn = b"\xff\n\n<<<<<<< ours\n2026-13-45T09:00\topen\tx.md\n"
    log.write_bytes(torn + log.read_bytes() + b"2026-11-20T09:3")
    recalls.note_recall(folder, "b.md", "open", AT)
    found = recalls.recalled(folder)
    assert [path for path, trail in found.items() if trail.days] == ["a.md", "b.md"]


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    books = tmp_path / ".filemem"
    books.write_text("a file where the bookkeeping should be")
    folder = Folder(str(tmp_path), "u")
    recalls.note_recall(folder, "a.md", "open", AT)
    assert recalls.recalled(folder) == {}
    assert books.is_file()


@pytest.mark.parametrize("later", [False, True])
def test_only_a_recall_after_the_archiving_brings_back(
    tmp_path: Path, later: bool
) -> None:
    user = StoreFolder(tmp_path).folder("ann")
    opened = 50 if later else 20
    write(
        user,
        [
            (30, "archived", "a.md"),
            (opened, "open", "a.md"),
            (10, "cited", "a.md"),
        ],
    )
    found = recalls.recalled(user)["a.md"]
    assert found.since is later and len(found.returns) == later
