"""A search follows links one hop: what is asked of somebody whom the question does not name is found by the name that a memory
gives; and the graph shows types, other names as one, and what hangs together."""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem import Store, index
from filemem.cli import cli
from filemem.files.folder import Folder
from filemem.search import search_files
from filemem.search.hits import Hit

TODAY = dt.date(2026, 5, 1)


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    folder = Store(tmp_path).user("mara").folder
    folder.create("facts/2026/2026-01-02-a.md", "Alice's sister is [[Beth]].\n")
    folder.create("facts/2026/2026-01-03-b.md", "Beth moved to Lyon and works at [[Google]].\n")
    folder.create("facts/2026/2026-01-03-c.md", "Carol works at Fenwick.\n")
    folder.create("facts/2026/2026-02-02-a.md", "小丽的姐姐是[[小芳]]。\n")
    folder.create("facts/2026/2026-02-03-b.md", "小芳在华为工作。\n")
    folder.create("facts/2026/2026-02-03-c.md", "老陈在百度工作。\n")
    return folder


def found(user: Folder, question: str) -> list[Hit]:
    return search_files(index.of(user), question, today=TODAY).hits


@pytest.mark.parametrize(
    ("question", "day"), [("Where does Alice's sister work?", "2026-01"), ("小丽的姐姐在哪里工作？", "2026-02")]
)
def test_what_is_asked_of_somebody_is_found_by_their_name(user: Folder, question: str, day: str) -> None:
    """Beside the memory that gives it, and before what is told of anybody else."""
    assert [hit.path for hit in found(user, question)][:2] == [
        f"facts/{day[:4]}/{day}-02-a.md",
        f"facts/{day[:4]}/{day}-03-b.md",
    ]


def test_a_question_that_is_answered_follows_no_link(user: Folder) -> None:
    user.create("facts/2026/2026-01-04-d.md", "Alice works at [[Acme]], where [[Carol]] works.\n")
    user.create("facts/2026/2026-01-05-e.md", "Carol collects stamps.\n")
    paths = [hit.path[-4:] for hit in found(user, "Where does Alice work?")]
    assert paths[0] == "d.md" and "e.md" not in paths


def test_without_the_link_the_name_is_not_looked_for(user: Folder) -> None:
    user.edit("facts/2026/2026-01-02-a.md", lambda data: data.replace(b"[[Beth]]", b"Beth"))
    [first, *_] = found(user, "Where does Alice's sister work?")
    assert first.path.endswith("a.md") and "work" in first.lacks


def graph(user: Folder, *more: str) -> list[str]:
    """The lines that `filemem graph` prints."""
    done = CliRunner().invoke(cli, ["graph", "--store", user.store, "--user", user.name, *more], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.stdout.splitlines()


def test_front_matter_says_as_what_two_names_are_tied(user: Folder) -> None:
    """Written as Obsidian does, in quotes or without; with the days between which it held."""
    user.create(
        "people/Dora.md", '---\nworks_at: "[[Acme]]"\nmarried_to: [[Tom]]\nvalid_until: 2026-03-01\n---\n\nTea.\n'
    )
    first, *rest = graph(user, "--about", "dora")
    assert first == "Dora  2 passages, beside Acme 1 (works_at), Tom 1 (married_to)"
    assert all("(until 2026-03-01)" in line for line in rest)


def test_what_else_a_name_is_called_is_one_with_it(user: Folder) -> None:
    user.create("facts/2026/2026-03-01-a.md", "Beth lived in [[New York City|NYC]].\n")
    user.create("facts/2026/2026-03-02-b.md", "Carol lives in [[NYC]], as [[New York City]] is called.\n")
    user.create(
        "facts/2026/2026-03-03-c.md", "---\naliases: [Kendra, Kay]\n---\n\n- **Mara**: Kendra is called Kay now.\n"
    )
    user.create("facts/2026/2026-03-04-d.md", "[[Kay]] and [[Kendra]] are one.\n")
    for number in (5, 6):
        user.create(f"facts/2026/2026-03-0{number}-e.md", "[[Kay]] paints.\n")
    names = [line.split("  ")[0] for line in graph(user)]
    assert "New York City" in names and "NYC" not in names
    assert "Kay" in names and "Kendra" not in names


def test_names_that_hang_together_are_a_cluster(user: Folder) -> None:
    """It goes by its most central ones; whose memories these are is in none."""
    for number, (one, other) in enumerate(("AB", "AC", "BC", "XY", "XZ", "YZ", "CX")):
        user.create(f"facts/2026/2026-04-0{number + 1}-x.md", f"Mara saw [[{one}]] with [[{other}]].\n")
    assert graph(user, "--clusters") == ["C, A, B  3", "X, Y, Z  3"]
