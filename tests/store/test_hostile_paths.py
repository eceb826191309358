"""Whatever a command is asked to read, move or delete, a path that leads out or names
no plain file is refused in one sentence; nothing of another user is shown, and every
byte stays."""

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from programs import sample

from filemem.cli import cli
from filemem.errors import FilememError
from filemem.store.users import StoreFolder

CANARY = "canary of Bob"
PATHS = [
    "../bob/profile.md",
    "/etc/passwd",
    "facts/link.md",
    "linked/profile.md",
    "facts/pipe.md",
    "device.md",
    "facts/folder.md",
    "",
    "facts/\x1b[31mred.md",
]
COMMANDS = [
    "open",
    "edit",
    "status",
    "restore",
    "forget --yes",
    "list",
    "grep . --path",
    "search canary --path",
]
LISTS = ("list", "grep", "search")  # what finds nothing there


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Mara's memories with every odd thing among them, beside Bob's."""
    store = sample(tmp_path / "store")
    StoreFolder(store).folder("bob").create("profile.md", f"{CANARY}\n")
    mara = store / "mara"
    (mara / "facts/link.md").symlink_to("../../bob/profile.md")
    (mara / "linked").symlink_to("../bob")
    os.mkfifo(mara / "facts/pipe.md")
    (mara / "device.md").symlink_to("/dev/zero")
    (mara / "facts/folder.md").mkdir()
    monkeypatch.chdir(store)
    return store


def held(store: Path) -> dict[str, bytes]:
    """Every plain file's bytes, the bookkeeping aside."""
    found = {}
    for path in store.rglob("*"):
        is_plain = path.is_file() and not path.is_symlink()
        if is_plain and ".filemem" not in path.parts:
            found[str(path)] = path.read_bytes()
    return found


def run(store: Path, *words: str) -> Result:
    given = [*words, "--store", str(store), "--user", "mara"]
    env = {"EDITOR": "cat", "VISUAL": ""}
    return CliRunner().invoke(cli, given, env=env, standalone_mode=False)


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_it_in_one_sentence(
    store: Path, command: str, path: str
) -> None:
    before = held(store)
    done = run(store, *command.split(), path)
    assert CANARY not in done.output
    assert held(store) == before
    if isinstance(done.exception, FilememError):
        said = str(done.exception)
        assert said.strip().endswith((".", "?")) and "\n" not in said, said
        assert "\x1b" not in said
    elif command == "restore":
        assert done.output == f"{path} is not in the archive.\n"
    else:
        assert done.exception is None and command.split()[0] in LISTS, done.exc_info
        assert not path or done.return_value == 1, done.output


@pytest.mark.parametrize(
    "command",
    [
        "/open",
        "/restore",
        "/forget",
        "/edit",
        "/log",
    ],
)
def test_a_command_that_is_piped_in_may_hold_what_no_argument_can(
    store: Path,
    command: str,
) -> None:
    """A NUL, which is in no path: it is refused in one sentence, too."""
    given = ["chat", "--store", str(store), "--user", "mara"]
    done = CliRunner().invoke(
        cli,
        given,
        input=f"{command} ../bob/profile.md\0",
        standalone_mode=False,
    )
    assert done.return_value == 2, done
    assert CANARY not in done.output


@pytest.mark.parametrize("option", ["--store", "--user"])
@pytest.mark.parametrize("command", ["list", "forget --yes", "sweep"])
def test_an_empty_option_never_stands_for_the_default(
    store: Path, command: str, option: str
) -> None:
    before = held(store)
    words = command.split()
    for given in ([option, "", *words], [*words, option, ""]):
        done = CliRunner().invoke(cli, given, standalone_mode=False)
        assert isinstance(done.exception, click.UsageError), done.output
    assert held(store) == before


@pytest.mark.parametrize("given", [[" "], ["--about", ""]])
def test_an_empty_word_never_stands_for_a_whole_user(
    store: Path, given: list[str]
) -> None:
    before = held(store)
    done = run(store, "forget", "--yes", *given)
    assert isinstance(done.exception, FilememError), done.output
    assert held(store) == before
