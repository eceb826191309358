"""Consolidation that is killed anywhere and run again ends in the tree of an undisturbed run, but for what a person has
deleted in between; run twice, it changes nothing.
"""

import datetime as dt
import shutil
from pathlib import Path

import pytest
from crash_driver import AT, JOBS, READER
from programs import filemem, lay

from filemem import index
from filemem.learn import consolidate
from filemem.overview import problems
from filemem.store.learned import LOG_NAME, LearnLog
from filemem.store.users import StoreFolder

PLACE = Path(__file__).parents[1] / "support/crash_driver.py"
DRIVER = f"import sys; sys.path.insert(0, {str(PLACE.parent)!r})\n{PLACE.read_text()}"
TALKS = {
    "sessions/2026/2026-09-03-0930-tea.md": ["My favourite tea is oolong."],
    "sessions/2026/2026-10-03-0930-move.md": [
        "My favourite tea is sencha now.",
        "I live in Bruges.",
        "I live in Ghent.",
    ],
}
OLD = "facts/2026/2026-01-05-is-a-nurse.md"


@pytest.fixture
def store(place: Path) -> Path:
    """Two conversations: what the second tells supersedes and confirms; and what a person has written by hand."""
    user = StoreFolder(place / "store").folder("ann")
    mine = "# Ann\n\n## Likes\n\n- Ann likes rain. <!-- mine -->\n"
    lay(user.root, {OLD: "Ann is a nurse.\r\n", "profile.md": mine})
    for path, said in TALKS.items():
        assert list(consolidate.run(user, AT, READER)) or path == min(TALKS)
        lay(user.root, {path: "".join(f"- **Ann** 09:30: {text}\n" for text in said)})
    list(index.of(user).corpus().files)
    return place / "store"


def tree(root: Path) -> dict[str, object]:
    """Every memory with its bytes, and what the ledger says: a step that is done again may be noted in other words."""
    user = StoreFolder(root).folder("ann")
    log = LearnLog.of(user)
    found: dict[str, object] = {
        path: Path(user.root, path).read_bytes() for path in user.paths()
    }
    return found | {LOG_NAME: log.read}


def is_gone_for_good(
    killed: Path,
    path: str,
) -> bool:
    """Delete a memory as a person does, run again, and tell whether it stays away."""
    store = killed.with_name("deleted")
    shutil.copytree(killed, store)
    user = StoreFolder(store).folder("ann")
    said = user.read(path)
    Path(user.root, path).unlink()
    JOBS["consolidate"](user)
    after = tree(store).values()
    shutil.rmtree(store)
    return said not in after


def test_killed_anywhere_and_run_again_the_tree_is_that_of_an_undisturbed_run(
    store: Path, place: Path
) -> None:
    before = tree(store)
    folder = place / "killed"
    folder.mkdir()
    told = filemem("-c", DRIVER, store, folder, "consolidate")
    assert told.returncode == 0, told.stderr
    wanted = tree(folder / "undisturbed")
    assert [path for path in wanted if path.startswith("archive/")], (
        "something was superseded"
    )
    kills = int(told.stdout)
    assert kills > 40
    for number in range(1, kills + 1):
        killed = tree(folder / str(number))
        for path, data in before.items():
            if path not in (LOG_NAME, "profile.md"):
                last = data.splitlines()[
                    -1:
                ]  # what was superseded is marked, and lies in the archive
                left = [
                    text.splitlines()[-1:]
                    for text in killed.values()
                    if isinstance(text, bytes)
                ]
                assert last in left, (number, path)
        for path in killed.keys() - before.keys():
            if path.startswith("facts/"):
                assert is_gone_for_good(
                    folder / str(number),
                    path,
                )
        user = StoreFolder(folder / str(number)).folder("ann")
        JOBS["consolidate"](user)
        assert tree(folder / str(number)) == wanted, number
        assert problems(user, dt.date(2026, 11, 20)) == [], number
