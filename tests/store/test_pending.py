"""No upgrade undoes a wish to forget: what an earlier version hid stays hidden, and is offered for deletion."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from programs import lay

from filemem.cli import cli

TALK = "sessions/2026/2026-11-02-0930-pills.md"
LOG = ".filemem/withheld.log"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("OPENAI", "FILEMEM"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    said = "- **mara** 09:30: I take zopiclone.\n- **mara** 09:31: I live in Ghent.\n"
    pending = f"2026-11-02T09:32\twithheld\t{TALK}:3\t{TALK}:1\n"
    lay(tmp_path / "store/mara", {TALK: said, LOG: pending})
    return tmp_path / "store/mara"


def run(home: Path, *words: str) -> Result:
    where = ("--store", str(home.parent), "--user", "mara")
    return CliRunner().invoke(cli, [*words, *where], standalone_mode=False)


def test_it_stays_hidden_and_status_names_it(home: Path) -> None:
    for words in (
        ("call", "search_files", '{"query": "zopiclone"}'),
        ("call", "grep", '{"pattern": "zopi"}'),
        ("chat", "-m", "is it zopiclone", "--off-the-record"),
    ):
        assert "I take" not in run(home, *words).output
    assert "filemem forget --pending" in run(home, "status").output
    asked = run(home, "chat", "-m", "where do i live", "--off-the-record")
    assert "Ghent" in asked.output
    assert "zopiclone" in (home / TALK).read_text()


def test_it_is_deleted_on_a_yes_and_is_named_no_more(home: Path) -> None:
    shown = run(home, "forget", "--pending", "--dry-run")
    assert f"{TALK}:1" in shown.output and "zopiclone" in (home / TALK).read_text()
    assert run(home, "forget", "--pending", "--yes").return_value == 0
    assert "zopiclone" not in (home / TALK).read_text()
    assert "Ghent" in (home / TALK).read_text()
    assert "withheld" not in (home / LOG).read_text()
    assert "--pending" not in run(home, "status").output
    assert run(home, "forget", "--pending", "--yes").return_value == 1


def test_who_wants_it_back_restores_it(home: Path) -> None:
    assert "Held back no more" in run(home, "restore", f"{TALK}:1").output
    assert "I take" in run(home, "call", "grep", '{"pattern": "zopi"}').output
