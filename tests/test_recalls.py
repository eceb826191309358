"""The log of recalls is append-only, outlives damage to single lines, and never spoils a reading."""

import datetime as dt
from pathlib import Path

from filemem.files import journal
from filemem.files.folder import Folder

AT = dt.datetime(2026, 11, 20, 9, 31, 59)


def test_what_is_noted_is_read_back_in_order(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "u")
    assert journal.recalled(folder) == {}
    journal.note_recall(folder, "facts/茶 and more.md", "open", AT)
    journal.note_recall(folder, "archive/facts/tea.md", "cited", AT)
    said = "2026-11-20T09:31\topen\tfacts/茶 and more.md\n2026-11-20T09:31\tcited\tfacts/tea.md\n"
    assert Path(folder.bookkeeping(journal.RECALLS)).read_text() == said
    assert {path: list(trail) for path, trail in journal.recalled(folder).items()} == {
        "facts/茶 and more.md": [AT.date()],
        "facts/tea.md": [AT.date()],
    }
    assert folder.paths() == []


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "u")
    journal.note_recall(folder, "a.md", "open", AT)
    log = Path(folder.bookkeeping(journal.RECALLS))
    log.write_bytes(b"\xff\n\n<<<<<<< ours\n2026-13-45T09:00\topen\tx.md\n" + log.read_bytes() + b"2026-11-20T09:3")
    journal.note_recall(folder, "b.md", "open", AT)
    assert [path for path, trail in journal.recalled(folder).items() if trail] == ["a.md", "b.md"]


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / ".filemem").write_text("a file where the bookkeeping should be")
    folder = Folder(str(tmp_path), "u")
    journal.note_recall(folder, "a.md", "open", AT)
    assert journal.recalled(folder) == {}
    assert (tmp_path / ".filemem").read_text() == "a file where the bookkeeping should be"
