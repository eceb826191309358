"""Whatever size, depth or length a file, a folder or a path has, a command ends with an answer, or with one sentence
on what to do, within 1 GB of memory, and all other memories go on being served."""

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
    print(json.dumps([words, done.return_value if error is None else 2, str(error or done.output)]))
"""
READING = (
    "check|status|list|grep oolong|search oolong|chat --prompt|timeline|report|users"
)
READING = [
    *map(str.split, READING.split("|")),
    ["status", "facts/2026/2026-11-20-tea.md"],
]
CHANGING = [
    ["remember", "Has a cat."],
    *map(str.split, "consolidate|compact|sweep|maintain".split("|")),
]
CHANGING += [["chat", "-m", "What tea?"], ["forget", "--about", "peanuts", "--yes"]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """Mara's memories and Vera's."""
    root = tmp_path / "store"
    files = {
        "mara/profile.md": "# Mara\n\n- Lives in Lisbon.\n",
        "mara/facts/2026/2026-11-20-tea.md": "Prefers oolong tea.\n",
        "mara/sessions/2026/2026-11-20-0930-tea.md": "- **Mara** 09:30: I am allergic to peanuts.\n",
        "vera/facts/2026-11-20-coffee.md": "Likes coffee.\n",
    }
    lay(root, files)
    yield root
    subprocess.run(
        ["rm", "-r", root], check=True
    )  # pytest's own way of deleting goes no thousand folders deep


def sparse(path: Path, size: int = GB) -> None:
    """A file of so many bytes, which take no room on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(size)


def below(folder: Path, names: list[str]) -> None:
    """A folder in a folder in a folder, and a memory in the last."""
    at = os.open(folder, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=at)
        above, at = at, os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(above)
    file = os.open("deep.md", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.write(file, b"A fact, deep down.\n")
    os.close(file)
    os.close(at)


def run(store: Path, commands: list[list[str]]) -> dict[str, tuple[int, str]]:
    """What each command of Mara's returned and said, in a process that may have 1 GB; fails where one did not end well."""
    of_all = ("users",)
    whole = [
        [
            *words,
            "--store",
            str(store),
            *(() if words[0] in of_all else ("--user", "mara")),
        ]
        for words in commands
    ]
    whole = [
        [*words, "-o", str(store.parent / "page.html")]
        if words[0] == "report"
        else words
        for words in whole
    ]
    done = filemem("-c", DRIVER, json.dumps(whole))
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        words, code, said = json.loads(line)
        assert code in (0, 1, 2)
        said = (
            said.strip().split("\n")[-1] if words[0] == "chat" else said
        )  # what it says first is about models
        assert code != 2 or (
            "\n" not in said and len(said) < 800 and said.endswith((".", "?"))
        ), said
        found[words[0]] = code, said
    return found


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a session of a terabyte": (
        lambda mara: sparse(mara / "sessions/2026/2026-11-21-0930-big.md", TB),
        "not a text file",
    ),
    "a profile of 1 GB": (lambda mara: sparse(mara / "profile.md"), "not a text file"),
    "a text of 10.4 MB": (
        lambda mara: (
            (mara / "facts/2026/2026-11-21-big.md").write_text(
                ("a b " * 25 + "\n") * 104_000
            )
            and None
        ),
        "larger than 10 MB",
    ),
    "folders a thousand deep": (
        lambda mara: below(mara / "facts", ["d"] * 1000),
        "folders deep",
    ),
    "a path longer than any may be": (
        lambda mara: below(mara / "facts", ["n" * 200] * 30),
        "too long",
    ),
}


SEARCHED = ("a text of 10.4 MB",)  # which nothing else is told of, but forget reads it


@pytest.mark.parametrize("odd", ODD)
def test_a_memory_out_of_measure_is_named_and_the_others_are_served(
    store: Path, odd: str
) -> None:
    make, what = ODD[odd]
    make(store / "mara")
    said = run(store, READING + CHANGING + [["check"]])
    assert what in said["check"][1]
    assert said["users"][0] == 0 and "vera  1 memory" in said["users"][1]
    assert said["grep"][0] == said["search"][0] == said["list"][0] == 0
    assert "oolong" in said["grep"][1] and "oolong" in said["search"][1]
    assert said["remember"][0] == said["maintain"][0] == 0, said
    # What cannot be searched might still say it, which forget does not pass over.
    assert said["forget"][0] == (0 if odd in SEARCHED else 1), said
    assert not list((store / "mara").glob("sessions/*/*peanut*"))
    assert (
        "peanuts"
        not in (store / "mara/sessions/2026/2026-11-20-0930-tea.md").read_text()
    )


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (sparse, "larger than"),
        (lambda path: path.write_text("a: &a [1]\nb: *a\n"), "anchors and aliases"),
        (lambda path: path.write_text("recall: " + "[" * 90_000), "YAML"),
        (
            lambda path: path.write_text(f"recall: [{'a, ' * 30_000}]"),
            "recall is ['a', 'a'",
        ),
    ],
)
def test_settings_out_of_measure_are_one_sentence_at_once(
    store: Path, make: Callable[[Path], None], what: str
) -> None:
    make(store / "filemem.yaml")
    said = run(store, READING + CHANGING)
    for command in ("status", "remember", "maintain", "chat"):
        assert (
            said[command][0] == 2
            and what in said[command][1]
            and "filemem.yaml" in said[command][1]
        )
    assert said["check"][0] == 1 and what in said["check"][1]
    assert said["grep"][0] == said["list"][0] == said["users"][0] == 0


@pytest.mark.parametrize(
    "name",
    [
        "recalls.log",
        "compacted.log",
        "consolidated.jsonl",
        "imports.jsonl",
        "said.jsonl",
    ],
)
def test_a_record_out_of_measure_stops_no_reading(store: Path, name: str) -> None:
    sparse(store / "mara/.filemem" / name, TB)
    said = run(store, [*READING, ["chat", "-m", "What tea?"], ["sweep"], ["maintain"]])
    assert (
        said["grep"][0] == said["search"][0] == said["list"][0] == said["chat"][0] == 0
    )
    for code, text in said.values():
        assert code != 2 or (
            name in text and "too large to be read; make it smaller" in text
        ), text


# -- imports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "name", "make", "what"),
    [
        ("chatgpt", "all.json", sparse, "split it into files of at most 500"),
        ("openai-jsonl", "all.jsonl", sparse, "line 1: broken JSON"),
        (
            "markdown",
            "note.md",
            lambda path: path.write_text("tea\n" * 3_000_000),
            "larger than 10 MB",
        ),
        (
            "chatgpt",
            "all.json",
            lambda path: path.write_text("[" * 1_000_000),
            "JSON nested too deeply",
        ),
    ],
)
def test_an_import_out_of_measure_is_one_sentence(
    store: Path, format: str, name: str, make: Callable[[Path], object], what: str
) -> None:
    away = store.parent / "away"
    away.mkdir()
    make(away / name)
    code, said = run(store, [["import", format, str(away / name)]])["import"]
    assert code in (1, 2) and what in said, said


# -- links in bookkeeping --------------------------------------------------------------------------------------------


def test_bookkeeping_that_is_a_link_is_refused_and_named(store: Path) -> None:
    """Nothing of the other user's is read or written, and what needs no bookkeeping goes on."""
    other = store / "vera/.filemem"
    other.mkdir()
    (other / "recalls.log").write_text(
        "2026-11-20T09:31\topen\tfacts/2026/2026-11-20-tea.md\n"
    )
    (store / "mara/.filemem").symlink_to("../vera/.filemem")
    before = {str(path): path.read_bytes() for path in other.rglob("*")}
    said = run(store, READING + CHANGING)
    assert {str(path): path.read_bytes() for path in other.rglob("*")} == before
    assert (
        said["check"][0] == 1 and ".filemem:1: this is not a folder" in said["check"][1]
    )
    for command in ("remember", "sweep", "maintain", "chat", "forget"):
        assert (
            said[command][0] == 2
            and "symbolic link, which is not followed" in said[command][1]
        ), said[command]
    assert said["grep"][0] == said["search"][0] == said["list"][0] == 0
    assert "oolong" in said["search"][1]
