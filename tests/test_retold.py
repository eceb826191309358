"""A fact whose words stand in no turn that it cites is named by `check`, and a person decides on each; others are left alone."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from conversations import day, remembered, talk, tree

from filemem import Store
from filemem.cli import cli
from filemem.files.folder import Folder
from filemem.overview.check import problems
from filemem.remembering.ledger import Ledger, digest

MAY = day(5, 8)
FACT = "facts/2026/2026-05-08-moved-to-3.md"
SAID = "sessions/2026/2026-05-08-0930-talk.md:6"
ASK = "[q]uote the turn, [k]eep, [d]rop, [s]kip, [e]nd: "


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    """A person with one fact as an older version retold it, one as it is quoted now, and one of their own hand."""
    nora = Store(tmp_path).user("nora").folder
    talk(nora, MAY, "My exam was moved to 3 June.", "Noted.", "I'm allergic to walnuts.", "Noted.")
    remembered(nora, MAY)
    nora.create(FACT, f"---\nsource: {SAID}\n---\n\nNora moved to [[3]] June 2025.\n")
    nora.create("facts/2026/2026-05-08-mine.md", f"---\nsource: {SAID}\n---\n\nThe exam will be late.\n")
    Ledger(nora).add([{"wrote": FACT, "digest": digest(nora.read(FACT)), "from": []}])
    return nora


def review(user: Folder, answers: str, *more: str) -> str:
    """`filemem review --retold` as a person has it, who types these lines; ends with the exit code."""
    args = ["review", "--retold", "--store", user.store, "--user", user.name, "--today", "2026-06-02", *more]
    done = CliRunner().invoke(cli, args, input=answers, standalone_mode=False)
    assert done.exception is None, done.output
    return f"{done.output}[{done.return_value}]"


def flagged(user: Folder) -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.what) for one in problems(user)]


def test_check_names_it_and_nothing_else(user: Folder) -> None:
    assert flagged(user) == [(FACT, 4, "its words stand in no turn that it cites")]


def test_it_is_shown_beside_its_turn(user: Folder) -> None:
    out = review(user, "s\n")
    assert out == (
        f"\n1 of 1\n  Nora moved to 3 June 2025.\n  {FACT}\n  {SAID}  nora: My exam was moved to 3 June.\n{ASK}s\n[0]"
    )
    assert flagged(user)


def test_quoted_it_says_what_was_said_and_keeps_its_source(user: Folder) -> None:
    assert f"quoted {FACT}\n" in review(user, "nonsense\nquote\n")
    assert tree(user)[FACT] == f"---\nsource: {SAID}\n---\n\n- **Nora**: My exam was moved to 3 June.\n"
    assert flagged(user) == []
    assert review(user, "") == "Every fact says what a turn says that it cites.\n[1]"


def test_kept_it_is_the_persons(user: Folder) -> None:
    before = tree(user)
    assert f"kept {FACT}\n" in review(user, "k\n")
    assert tree(user) == before
    assert flagged(user) == []


def test_dropped_it_lies_in_the_archive_as_superseded_by_the_turn(user: Folder) -> None:
    text = user.memory(FACT).text
    assert f"dropped {FACT}; it lies in archive/{FACT}\n" in review(user, "d\n")
    ended = f"superseded_by: {SAID}\nvalid_until: 2026-05-08\n---"
    assert tree(user)[f"archive/{FACT}"] == text.replace("---\n\n", f"{ended}\n\n")
    assert FACT not in tree(user)
    assert flagged(user) == []


def test_json_lists_and_changes_nothing(user: Folder) -> None:
    before = tree(user)
    assert review(user, "", "--json") == (
        f'{{"path": "{FACT}", "text": "Nora moved to 3 June 2025.", "turns": ["{SAID}"]}}\n[0]'
    )
    assert tree(user) == before
