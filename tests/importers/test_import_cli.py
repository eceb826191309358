"""`filemem import` reports what it took, what it left out and why; a dry run reports the same and writes nothing."""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from programs import contents

from filemem.cli import cli

TALKS = [
    {
        "messages": [
            {"role": "user", "content": "What is oolong?"},
            {"role": "assistant", "content": "A tea."},
        ]
    },
    {"messages": [{"role": "user", "content": "你好，外婆喝什么茶？"}]},
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


def test_the_report_names_every_memory_and_every_line_left_out_and_a_dry_run_writes_nothing(
    here: Path,
) -> None:
    before = contents(here)
    dry = run("openai-jsonl", "talks.jsonl", "--dry-run").stdout.splitlines()
    assert contents(here) == before
    lines = run("openai-jsonl", "talks.jsonl").stdout.splitlines()
    assert re.fullmatch(r"added ann/sessions/\S+-what-is-oolong.md, 2 turns", lines[0])
    assert re.fullmatch(
        r"added ann/sessions/\S+-你好-外婆喝什么茶.md, 1 turn", lines[1]
    )
    assert (
        lines[2].startswith("note: line 3: broken JSON")
        and lines[3] == "2 added, 0 updated, 0 unchanged, 3 turns."
    )
    assert dry[:2] == [line.replace("added", "would add") for line in lines[:2]]
    assert dry[2:] == [lines[2], f"Nothing was written: {lines[3]}"]
    for line in lines[:2]:
        assert (
            here / "memory_store" / line.removeprefix("added ").partition(",")[0]
        ).exists()
    assert run("openai-jsonl", "talks.jsonl").stdout.endswith(
        "\n0 added, 0 updated, 2 unchanged, 0 turns.\n"
    )


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
    talks = [
        {"messages": [{"role": "user", "content": f"Message {n}."}]} for n in range(15)
    ]
    Path("many.jsonl").write_text(
        "\n".join([*map(json.dumps, talks), *["broken"] * 12])
    )
    lines = run("openai-jsonl", "many.jsonl").stdout.splitlines()
    assert (
        lines[10] == "added 5 more; --json lists them all"
        and lines[21] == "note: 2 more; --json lists them all"
    )


def test_a_file_of_another_format_ends_with_1_and_says_why(here: Path) -> None:
    Path("talks.json").write_text(json.dumps(TALKS))
    done = run("claude", "talks.json")
    assert done.return_value == 1
    assert "it is no conversation with Claude" in done.stdout
    assert not any((here / "memory_store").iterdir())
