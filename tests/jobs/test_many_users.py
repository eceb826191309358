"""A job for all users ends as one user after another would end, whoever is broken or busy, wherever it was cut off."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from programs import filemem, lay

from filemem import Store
from filemem.store.users import StoreFolder

TALK = "- **Ann** 09:30: I moved to {0} last week.\n- **assistant** 09:31: How is it?\n- **Ann** 09:32: My cat's name is {0}.\n"
OLD = (
    TALK
    + "- **Tom** 09:33: "
    + "I always wanted one of those myself, you know. " * 12
    + "\n"
)
TOWNS = {
    "ann": "Bruges",
    "bea": "Ghent",
    "cho": "Porto",
    "dan": "Diss",
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name, town in TOWNS.items():
        for day in ("2026-01-05-0930", "2026-11-19-0930"):
            said = (OLD if "-01-" in day else TALK).format(town)
            lay(
                tmp_path / "store" / name,
                {f"sessions/2026/{day}-talk.md": said},
            )
    return tmp_path / "store"


def tree(root: Path) -> dict[str, bytes]:
    """Every memory of every user with its bytes."""
    found = {}
    for name in Store(root).users():
        user = StoreFolder(root).folder(name)
        found |= {f"{name}/{path}": user.read(path) for path in user.paths()}
    return found


@pytest.mark.parametrize(
    "command",
    [
        "maintain --all-users",
        "status --all-users",
        "check",
        "users",
        "search tea",
        "chat --resume",
    ],
)
def test_a_store_that_is_not_there_is_no_success(tmp_path: Path, command: str) -> None:
    """What cron names wrongly, or before it is mounted."""
    done = filemem(*command.split(), "--store", tmp_path / "away")
    assert (done.returncode, done.stdout) == (
        2,
        "",
    ) and "there is no store" in done.stderr


def broken(root: Path, name: str) -> None:
    """Somebody whose memories cannot be worked on."""
    (root / name).mkdir()
    (root / name / ".filemem").write_text("A file.")


def run(store: Path, *words: str, code: int = 0) -> list[dict[str, object]]:
    told = filemem(
        *words,
        "--store",
        store,
        "--json-lines",
        "--today",
        "2026-11-20",
    )
    assert told.returncode == code, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


def test_all_users_end_as_each_alone_would_and_a_repeat_changes_nothing(
    store: Path, tmp_path: Path
) -> None:
    subprocess.run(
        ["cp", "-r", store, tmp_path / "other"],
        check=True,
    )
    for name in TOWNS:
        run(tmp_path / "other", "maintain", "--user", name)
    run(store, "maintain", "--all-users")
    once = tree(store)
    assert once == tree(tmp_path / "other") and any(
        "/summaries/" in path for path in once
    )
    run(store, "maintain", "--all-users")
    assert tree(store) == once


def test_a_busy_user_is_named_and_done_by_the_next_run(store: Path) -> None:
    with StoreFolder(store).folder("bea").job_lock():
        told = run(store, "sweep", "--all-users", code=1)
    [failed] = [line for line in told if "error" in line]
    assert failed["user"] == "bea"
    assert f"process {os.getpid()}, since 20" in str(failed["error"])
    assert not [
        line
        for line in run(
            store,
            "sweep",
            "--all-users",
        )
        if "error" in line
    ]


def test_what_only_looks_writes_nothing_for_all_users_either(store: Path) -> None:
    before = tree(store)
    counts = {
        line["user"]: line
        for line in run(
            store,
            "status",
            "--all-users",
        )
    }
    assert counts.keys() == TOWNS.keys()
    run(store, "maintain", "--all-users", "--dry-run")
    assert tree(store) == before
    assert not (store / ".filemem").exists()
