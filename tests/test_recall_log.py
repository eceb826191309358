"""The log of recalls merges by union and survives damage."""

import datetime as dt

from hypothesis import given, settings
from hypothesis import strategies as st

from filemem import Store
from filemem.files import journal
from filemem.text import retention

BORN = dt.date(2026, 1, 1)
paths = st.sampled_from(["facts/2026-01-01-a.md", "facts/2026-01-01-茶.md", "sessions/2026-01-01 b.md"])
moments = st.integers(0, 60 * 24 * 90).map(lambda minutes: dt.datetime(2026, 1, 1) + dt.timedelta(minutes=minutes))
lines = st.lists(st.tuples(moments, st.sampled_from(["open", "cited", "restored", "archived"]), paths), max_size=40)


def write(user, entries):
    """A log with these lines, in this order."""
    user.make()
    text = "".join(f"{at:%Y-%m-%dT%H:%M}\t{how}\t{path}\n" for at, how, path in entries)
    with open(user.bookkeeping(journal.RECALLS), "w", encoding="utf-8") as log:
        log.write(text)


def says(user):
    """What the log means to a sweep: retention, and whether each memory is to come back."""
    return {
        path: (retention.strength(BORN, trail, dt.date(2026, 5, 1)), trail.archived, trail.since)
        for path, trail in journal.recalled(user).items()
    }


@settings(max_examples=60, deadline=None)
@given(lines, lines)
def test_two_machines_logs_mean_the_same_in_either_order(tmp_path_factory, ours, theirs):
    user = Store(tmp_path_factory.mktemp("store")).user("ann").folder
    write(user, ours + theirs)
    one = {path: (strength, archived) for path, (strength, archived, _) in says(user).items()}
    write(user, theirs + ours)
    assert {path: (strength, archived) for path, (strength, archived, _) in says(user).items()} == one


def test_many_lines_are_added_behind_a_line_that_was_cut_off(tmp_path):
    user = Store(tmp_path).user("ann").folder
    user.make()
    with open(user.bookkeeping(journal.RECALLS), "wb") as log:
        log.write(b"2026-02-01T09:00\topen\tfac")
    paths = [f"archive/facts/{number}.md" for number in range(2000)]
    journal.note_recalls(user, paths, journal.RESTORED, dt.datetime(2026, 2, 2, 9))
    found = journal.recalled(user)
    assert all(found[f"facts/{number}.md"] == [dt.date(2026, 2, 2)] for number in range(2000))
    assert len(found) == 2001
