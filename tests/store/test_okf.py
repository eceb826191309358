"""A user's folder is a bundle of the Open Knowledge Format, and takes bundles in.

What the format asks for costs nothing: no search finds it, no old file gets it.
"""

import datetime as dt
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conversations import day, remembered, talk
from programs import contents, lay
from reader import Reader, note
from repositories import store as repository

from filemem import Store, jobs
from filemem.cli import cli
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder
from filemem.testing import FrozenClock

OWN = dict.fromkeys(name for name in os.environ if name.startswith("FILEMEM_"))
OWN |= {"FILEMEM_EMBEDDINGS": "off"}
METRIC = """\
---
type: Metric
title: Gross margin
owner: finance-desk
status: stable
stale_after: 2026-06-15
sources:
  - id: policy
    resource: https://wiki.example/margin
---

# Definition

Margin by segment, from [the orders](/tables/orders.md#columns).
"""
LEGACY = """\
---
type: Metric
title: Old margin
status: deprecated
---

Margin before shipping was counted.
"""
INDEX = """\
---
okf_version: "0.2"
---

# Metrics

* [Gross margin](metrics/m.md) - what is left of a sale
* [Orders](/tables/orders.md)
"""
LOG = """\
# History

## 2026-05-22

* **Creation**: the zebra table.
"""
TABLE = """\
---
type: Table
---

One row per order.
"""
BUNDLE = {
    "index.md": INDEX,
    "log.md": LOG,
    "metrics/m.md": METRIC,
    "metrics/old.md": LEGACY,
    "tables/orders.md": TABLE,
}


@pytest.fixture
def life(tmp_path: Path) -> Folder:
    """Nora, of whom filemem has written each kind of file."""
    nora = Store(tmp_path, clock=FrozenClock(day(5, 8))).user("nora")
    user = StoreFolder(tmp_path).folder("nora")
    talk(
        user,
        day(5, 1),
        "I live in Ghent.",
        "Nice.",
        "Please answer in short.",
    )
    moved = note(
        "Nora lives in Bruges.",
        "in Bruges",
        supersede="Ghent",
    )
    wish = note(
        "Answer in short.",
        "in short",
        kind="lesson",
        section="talk",
    )
    home = note(
        "Nora lives in Ghent.",
        "in Ghent",
        section="home",
    )
    remembered(
        user,
        day(5, 2),
        Reader(home, wish),
    )
    talk(
        user,
        day(5, 8),
        "Now I live in Bruges.",
        "Oh.",
    )
    remembered(
        user,
        day(5, 8),
        Reader(moved),
    )
    nora.remember("Keeps bees on the roof.")
    (tmp_path / "filemem.yaml").write_text("review: true\n")
    user = StoreFolder(tmp_path).folder("nora")
    talk(
        user,
        day(5, 9),
        "I sing alto.",
        *["We sing in the church in Bruges."] * 30,
    )
    remembered(
        user,
        day(5, 9),
        Reader(note("Nora sings alto.", "alto")),
    )
    jobs.compact(user, day(5, 10) + dt.timedelta(days=400))
    return user


def run(user: Folder, *words: str) -> Result:
    args = [*words, "--store", user.store, "--user", user.name]
    return CliRunner().invoke(cli, args, env=OWN, standalone_mode=False)


def test_every_new_file_says_first_what_it_is(life: Folder) -> None:
    written = {
        path: data.decode().split("\n")[:2]
        for path, data in contents(Path(life.root)).items()
        if path.endswith(".md")
    }
    kinds = {head[1].removeprefix("type: ") for head in written.values()}
    assert kinds == {
        "fact",
        "session",
        "lesson",
        "summary",
        "profile",
    }
    assert any("/proposed/" in path for path in written)
    result = run(life, "check", "--okf")
    assert result.return_value == 0 and "0 problems.\nThat is" in result.stdout


@pytest.mark.parametrize(
    "word",
    [
        "fact",
        "type",
        "session",
        "deprecated",
        "status",
    ],
)
def test_no_question_finds_what_only_the_format_says(life: Folder, word: str) -> None:
    assert run(life, "grep", rf"\b{word}\b(?![/-])").stdout.startswith(
        "0 lines in 0 of "
    )
    assert json.loads(run(life, "search", word, "--json").stdout or "[]") in ([], {})
    assert "nothing" in run(life, "forget", word, "--dry-run").stdout.casefold()


def test_an_old_file_stays_as_it_is(life: Folder) -> None:
    """It is only named, with the line that it lacks."""
    old = Path(life.absolute("facts/2020-01-01-tuba.md"))
    old.write_text("---\nimportance: 8\n---\n\nPlays the tuba.\n")
    bare = Path(life.absolute("notes.md"))
    bare.write_text("Tuba.\n")
    before = contents(life.root)
    result = run(life, "check", "--okf", "--json")
    assert result.return_value == 1 and contents(life.root) == before
    told = {row["path"]: row["remedy"] for row in json.loads(result.stdout)}
    where = "at its head, between two lines ---"
    assert told == {
        "facts/2020-01-01-tuba.md": f"write type: fact {where}",
        "notes.md": f"write type: note {where}",
    }


def test_what_is_superseded_is_deprecated_until_that_is_undone(tmp_path: Path) -> None:
    user = repository(tmp_path / "memories")
    [old] = user.paths()
    before = user.read(old)
    mara = Store(user.store).user("mara")
    mara.update(old, "Prefers pu-erh tea.")
    assert user.memory(f"archive/{old}").front["status"] == "deprecated"
    assert run(user, "undo").return_value == 0
    assert user.read(old) == before


def test_a_status_of_the_persons_own_stays(user: Folder) -> None:
    old = user.create(
        "facts/2026/2026-05-01-tea.md", "---\nstatus: mine\n---\n\nTea.\n"
    )
    Store(user.store).user(user.name).update(old, "Coffee.")
    assert user.memory(f"archive/{old}").front["status"] == "mine"


@pytest.mark.parametrize(
    (
        "name",
        "text",
        "fault",
    ),
    [
        (
            "a.md",
            "---\ntype:\n---\n",
            "1: its front matter has no type",
        ),
        (
            "a.md",
            "---\ntype: [\n---\n",
            "2: broken YAML",
        ),
        (
            "a.md",
            "---\ntype: x\n",
            "1: the front matter is never closed",
        ),
        (
            "a.md",
            "---\ntype: Caf\xe9\n---\n",
            "2: not UTF-8",
        ),
        (
            "x/index.md",
            "---\ntype: x\n---\n# X\n",
            "1: an index has front matter",
        ),
        (
            "x/log.md",
            "# L\n\n## 22 May 2026\n",
            "3: this heading of a log",
        ),
        (
            "x/log.md",
            "# L\n\n## 2026-05-32\n",
            "3: this heading of a log",
        ),
    ],
)
def test_a_file_that_no_bundle_has_is_named(
    user: Folder, name: str, text: str, fault: str
) -> None:
    """With its line, what is wrong and what to do."""
    user.create(name, text.encode("latin-1"))
    result = run(user, "check", "--okf")
    assert result.return_value == 1
    assert f"{user.name}/{name}:{fault}" in result.stdout


def test_a_bundle_is_taken_in_as_it_lies(user: Folder, place: Path) -> None:
    """A second import changes nothing, and all of it is found."""
    notes = Path(user.root, "notes")
    lay(place, BUNDLE)
    take = ("import", "markdown", str(place))
    assert "5 added" in run(user, *take).stdout
    taken = contents(notes)
    assert taken == {f"{notes}/{path}": text.encode() for path, text in BUNDLE.items()}
    assert "5 unchanged" in run(user, *take).stdout
    assert contents(notes) == taken
    assert run(user, "check", "--okf").return_value == 0
    assert run(user, "check").return_value == 0
    for words in (
        "finance-desk",
        "zebra",
        "orders columns",
        "Table",
        "order row",
    ):
        assert "notes/" in run(user, "search", words).stdout, words


def test_keys_of_the_format_are_read_as_filemems_own(user: Folder) -> None:
    lay(f"{user.root}/notes", BUNDLE)
    found = user.memory("notes/metrics/m.md")
    assert found.sources == ["https://wiki.example/margin"]
    assert found.metadata["valid_until"] == dt.date(2026, 6, 14)
    said = run(user, "search", "margin").stdout
    assert said.index("m.md") < said.index('old.md  "Old margin"  deprecated')
    for words in (["open", "notes/metrics/old.md"], ["grep", "shipping"]):
        assert "notes/metrics/old.md  deprecated" in run(user, *words).stdout
    first = user.create("notes/first.md", "---\nstale_after: 0001-01-01\n---\n")
    assert user.memory(first).metadata["valid_until"] == dt.date.min
