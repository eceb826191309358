"""The graph of links shows types, other names as one, and what hangs together."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem import Store
from filemem.cli import cli
from filemem.files.folder import Folder


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
