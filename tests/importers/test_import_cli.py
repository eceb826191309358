"""`filemem import` reports what it took, what it left out and why.

A dry run reports the same and writes nothing.
"""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from programs import contents

from filemem import FilememError
from filemem.cli import cli

TALKS = [
    {"messages": [{"role": role, "content": text} for role, text in talk]}
    for talk in (
        [("user", "What is oolong?"), ("assistant", "A tea.")],
        [("user", "你好，外婆喝什么茶？")],
    )
]
UNSET = dict.fromkeys(name for name in os.environ if name.startswith("FILEMEM_"))
TODAY = ("--today", "2026-11-20")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [json.dumps(talk, ensure_ascii=False) for talk in TALKS]
    (tmp_path / "talks.jsonl").write_text(
        "\n".join([*lines, "no JSON"]), encoding="utf-8"
    )
    (tmp_path / "memory_store").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str) -> Result:
    words = ["import", *args, "--user", "ann", "--store", "memory_store", *TODAY]
    return CliRunner().invoke(cli, words, env=UNSET, standalone_mode=False)


def test_the_report_names_every_memory_and_every_line_left_out(here: Path) -> None:
    """A dry run reports the same and writes nothing."""
    before = contents(here)
    dry = run("openai-jsonl", "talks.jsonl", "--dry-run").stdout
    assert contents(here) == before
    said = run("openai-jsonl", "talks.jsonl").stdout
    counts = "2 added, 0 updated, 0 unchanged, 3 turns."
    expected = (
        r"added ann/(sessions/\S+-what-is-oolong.md), 2 turns\n"
        r"added ann/(sessions/\S+-你好-外婆喝什么茶.md), 1 turn\n"
        rf"note: line 3: broken JSON .*\n{counts}\n"
    )
    assert re.fullmatch(expected, said)
    told = re.sub("^added", "would add", said, flags=re.MULTILINE)
    assert dry == told.replace(counts, f"Nothing was written: {counts}")
    for path in re.findall(r"added (ann/\S+),", said):
        assert (here / "memory_store" / path).exists()
    again = run("openai-jsonl", "talks.jsonl").stdout
    assert again.endswith("\n0 added, 0 updated, 2 unchanged, 0 turns.\n")


def test_a_folder_without_its_format_is_told_the_format_of_notes(here: Path) -> None:
    """Who has notes and types `filemem import notes` reads what to type."""
    Path("notes").mkdir()
    refused = run("notes")
    assert isinstance(refused.exception, FilememError)
    assert "filemem import markdown notes;" in str(refused.exception)


def test_a_dry_run_promises_no_note_that_is_refused_and_takes_a_talk_once(
    here: Path,
) -> None:
    Path("vault").mkdir()
    Path("vault/a\\b.md").write_text("Tea.")
    dry = run("markdown", "vault", "--dry-run").stdout
    assert "\nNothing was written: 0 added," in dry
    lines = [json.dumps({**TALKS[1], "id": id}) for id in "aba"]
    Path("same.jsonl").write_text("\n".join(lines))
    dry = run("openai-jsonl", "same.jsonl", "--dry-run").stdout
    assert "Nothing was written: 2 added, 0 updated, 1 unchanged, 2 turns." in dry


def test_a_long_report_is_shortened_and_says_so(here: Path) -> None:
    talk = '{{"id": "{}", "messages": [{{"role": "user", "content": "Hello."}}]}}\n'
    lines = [talk.format(number) for number in range(15)]
    Path("many.jsonl").write_text("".join(lines) + "broken\n" * 12)
    said = run("openai-jsonl", "many.jsonl").stdout.splitlines()
    assert said[10] == "added 5 more; --json lists them all"
    assert said[21] == "note: 2 more; --json lists them all"


def test_a_file_of_another_format_ends_with_1_and_says_why(here: Path) -> None:
    Path("talks.json").write_text(json.dumps(TALKS))
    done = run("claude", "talks.json")
    assert done.return_value == 1
    assert "it is no conversation with Claude" in done.stdout
    assert not any((here / "memory_store").iterdir())
