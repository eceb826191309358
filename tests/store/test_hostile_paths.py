"""Whatever a command or a tool is asked to read, move or delete, a path that leads out or names no plain file is refused in one
sentence; nothing of another user is shown, and every byte stays."""

import os
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from programs import sample

from filemem import Store
from filemem.cli import cli
from filemem.errors import FilememError

CANARY = "canary of Bob"
PATHS = [
    *"../bob/profile.md facts/../../bob/profile.md /etc/passwd facts/link.md linked/profile.md facts/pipe.md".split(),
    *("device.md", "facts/folder.md", "", "facts/\x1b[31mred.md"),
]
COMMANDS = [
    *map(str.split, "open|edit|status|restore|forget --yes|list|grep .".split("|")),
    ["search", CANARY, "--path"],
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Mara's memories with every odd thing among them, kept in git, beside Bob's."""
    store = sample(tmp_path / "store")
    Store(store).user("bob").folder.create("profile.md", f"{CANARY}\n")
    mara = store / "mara"
    (mara / "facts/link.md").symlink_to("../../bob/profile.md")
    (mara / "linked").symlink_to("../bob")
    os.mkfifo(mara / "facts/pipe.md")
    (mara / "device.md").symlink_to("/dev/zero")
    (mara / "facts/folder.md").mkdir()
    quiet = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PATH": os.environ["PATH"],
    }
    subprocess.run(["git", "init", "-q", store], env=quiet, check=True)
    monkeypatch.chdir(store)
    return store


def held(store: Path) -> dict[str, bytes]:
    """Every plain file's bytes, the cache and git's own aside."""
    plain = (
        path for path in store.rglob("*") if path.is_file() and not path.is_symlink()
    )
    return {
        str(path): path.read_bytes()
        for path in plain
        if not {".git", ".filemem"} & set(path.parts)
    }


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_command_refuses_it_in_one_sentence(
    store: Path, command: list[str], path: str
) -> None:
    before = held(store)
    words = [command[0], "--store", str(store), "--user", "mara", *command[1:]]
    given = ["--path", path] if command[0] == "grep" else [path]
    done = CliRunner().invoke(
        cli,
        [*words, *given],
        env={"EDITOR": "cat", "VISUAL": ""},
        standalone_mode=False,
    )
    assert CANARY not in done.output.replace(f"query: {CANARY}", "")
    assert held(store) == before
    if isinstance(done.exception, FilememError):
        said = str(done.exception)
        assert said.strip().endswith((".", "?")), said
        assert "\n" not in said, said
        assert "\x1b" not in said
    else:
        assert done.exception is None, done.exc_info
        assert command[0] in ("list", "grep", "search", "restore"), done.output
        if command[0] == "restore":
            assert done.output == f"{path} is not in the archive.\n"
        if path:
            assert done.return_value == 1, done.output


@pytest.mark.parametrize("option", ["--store", "--user"])
@pytest.mark.parametrize(
    "command",
    [["list"], ["grep", "."], ["forget", "--yes"], ["sweep"]],
    ids=lambda words: words[0],
)
def test_an_empty_option_never_stands_for_the_default(
    store: Path, command: list[str], option: str
) -> None:
    before = held(store)
    for words in ([option, "", *command], [*command, option, ""]):
        done = CliRunner().invoke(cli, words, standalone_mode=False)
        assert isinstance(done.exception, click.UsageError), done.output
    assert held(store) == before


@pytest.mark.parametrize("given", [[""], [" "], ["--about", ""], ["--about", " "]])
def test_an_empty_word_never_stands_for_a_whole_user(
    store: Path, given: list[str]
) -> None:
    before = held(store)
    words = ["forget", "--store", str(store), "--user", "mara", "--yes", *given]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert isinstance(done.exception, FilememError), done.output
    assert held(store) == before
