"""Whatever size, depth or length a file, a folder or a path has, a command ends with an
answer, or with one sentence on what to do, within 1 GB of memory, and all other
memories go on being served."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from programs import filemem, lay

GB, TB = 1 << 30, 1 << 40
DRIVER = """\
import json, resource, sys
from click.testing import CliRunner
from filemem.cli import cli
from filemem.errors import FilememError

resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    error = done.exception
    if error is not None and not isinstance(error, FilememError):
        raise error
    code = done.return_value if error is None else 2
    print(json.dumps([words[0], code, str(error or done.output)]))
"""
READING = [
    "check",
    "status",
    "list",
    "grep oolong",
    "search oolong",
    "chat --prompt",
    "timeline",
    "report",
]
CHANGING = [
    "remember Cat.",
    "consolidate",
    "sweep",
    "maintain",
    "forget --about peanuts --yes",
]
TALK = "sessions/2026/2026-11-20-0930-tea.md"


@pytest.fixture
def mara(tmp_path: Path) -> Iterator[Path]:
    """Mara's memories, beside Vera's."""
    files = {
        "mara/profile.md": "# Mara\n\n- Lives in Lisbon.\n",
        "mara/facts/2026/2026-11-20-tea.md": "Prefers oolong tea.\n",
        f"mara/{TALK}": "- **Mara** 09:30: I am allergic to peanuts.\n",
        "vera/facts/2026-11-20-coffee.md": "Likes coffee.\n",
    }
    lay(tmp_path / "store", files)
    yield tmp_path / "store/mara"
    # pytest's own way of deleting goes no thousand folders deep
    subprocess.run(["rm", "-r", tmp_path / "store"], check=True)


def sparse(path: Path, size: int = GB) -> None:
    """A file of so many bytes, which take no room on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(size)


def below(folder: Path, names: list[str]) -> None:
    """A folder in a folder in a folder."""
    at = os.open(folder, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=at)
        above, at = at, os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(above)
    os.close(at)


def run(mara: Path, commands: list[str]) -> dict[str, tuple[int, str]]:
    """What each command of Mara's returned and said, in a process that may have 1 GB.

    Fails if one did not end well.
    """
    given = []
    for command in commands:
        words = [*command.split(), "--store", str(mara.parent), "--user", "mara"]
        if command == "report":
            words += ["-o", str(mara.parent.parent / "page.html")]
        given.append(words)
    done = filemem("-c", DRIVER, json.dumps(given))
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        name, code, said = json.loads(line)
        if code == 2:
            last = said.strip().split("\n")[-1]
            assert len(last) < 800 and last.endswith((".", "?")), said
        found[name] = code, said
    return found


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a session of a terabyte": (
        lambda mara: sparse(mara / "sessions/2026/2026-11-21-0930-big.md", TB),
        "not a text file",
    ),
    "a profile of 1 GB": (
        lambda mara: sparse(mara / "profile.md"),
        "not a text file",
    ),
    "a text of 10.4 MB": (
        lambda mara: (mara / "facts/big.md").write_text(f"{'a b ' * 25}\n" * 104_000),
        "larger than 10 MB",
    ),
    "folders a thousand deep": (
        lambda mara: below(mara / "facts", ["d"] * 1000),
        "folders deep",
    ),
    "a path longer than any may be": (
        lambda mara: below(mara / "facts", ["n" * 200] * 30),
        "too long a path",
    ),
}
SEARCHED = "a text of 10.4 MB"  # by forget


@pytest.mark.parametrize("odd", ODD)
def test_a_memory_out_of_measure_is_named_and_the_others_are_served(
    mara: Path, odd: str
) -> None:
    make, what = ODD[odd]
    make(mara)
    said = run(mara, READING + CHANGING)
    assert what in said["check"][1]
    for command in ("grep", "search"):
        assert said[command][0] == 0 and "oolong" in said[command][1]
    assert said["list"][0] == said["remember"][0] == said["maintain"][0] == 0, said
    # What cannot be searched might still say it, which forget does not pass over.
    assert said["forget"][0] == (0 if odd == SEARCHED else 1), said
    assert "peanuts" not in (mara / TALK).read_text()


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (sparse, "larger than"),
        (lambda path: path.write_text("a: &a [1]\nb: *a\n"), "anchors and aliases"),
        (lambda path: path.write_text("recall: " + "[" * 90_000), "YAML"),
    ],
)
def test_settings_out_of_measure_are_one_sentence_at_once(
    mara: Path, make: Callable[[Path], None], what: str
) -> None:
    make(mara.parent / "filemem.yaml")
    said = run(mara, READING + CHANGING)
    for command in ("status", "remember", "maintain"):
        code, text = said[command]
        assert code == 2 and what in text and "filemem.yaml" in text
    assert said["check"][0] and what in said["check"][1]
    assert said["grep"][0] == said["list"][0] == 0


@pytest.mark.parametrize("name", ["recalls.log", "compacted.log", "imports.jsonl"])
def test_a_record_out_of_measure_stops_no_reading(mara: Path, name: str) -> None:
    sparse(mara / ".filemem" / name, TB)
    said = run(mara, [*READING, "sweep", "maintain"])
    assert said["grep"][0] == said["search"][0] == said["list"][0] == 0
    for code, text in said.values():
        assert code != 2 or (name in text and "too large to be read" in text), text


def test_bookkeeping_that_is_a_link_is_refused_and_named(mara: Path) -> None:
    """Nothing of the other user's is read or written, and what needs no bookkeeping
    goes on."""
    lay(mara.parent, {"vera/.filemem/recalls.log": "2026-11-20T09:31\topen\tfacts/a\n"})
    (mara / ".filemem").symlink_to("../vera/.filemem")
    said = run(mara, READING + CHANGING)
    other = mara.parent / "vera/.filemem"
    assert [path.name for path in other.iterdir()] == ["recalls.log"]
    assert (other / "recalls.log").read_text().endswith("\topen\tfacts/a\n")
    assert ".filemem:1: this is not a folder" in said["check"][1]
    for command in ("remember", "sweep", "maintain", "forget"):
        code, text = said[command]
        assert code == 2 and "symbolic link, which is not followed" in text, text
    assert said["grep"][0] == said["list"][0] == 0
    assert "oolong" in said["search"][1]


@pytest.mark.parametrize(
    ("format_", "name", "told"),
    [
        ("chatgpt", "all.json", "split it into files of at most 500"),
        ("openai-jsonl", "all.jsonl", "line 1: broken JSON"),
    ],
)
def test_an_import_of_1_gb_without_a_line_is_one_sentence(
    mara: Path,
    format_: str,
    name: str,
    told: str,
) -> None:
    away = mara.parent.parent / name
    sparse(away)
    code, said = run(mara, [f"import {format_} {away}"])["import"]
    assert code in (1, 2)
    assert told in said
