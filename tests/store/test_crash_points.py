"""A job killed before any of its writes, renames and fsyncs leaves every memory readable, in one place or at worst in two;
the next run ends where an undisturbed one does.
"""

import datetime as dt
import os
from pathlib import Path

import pytest
from crash_driver import JOBS, TALK
from programs import filemem, lay

from filemem import index
from filemem.store import recalls
from filemem.store.users import StoreFolder

PLACE = Path(__file__).parents[1] / "support/crash_driver.py"
DRIVER = f"import sys; sys.path.insert(0, {str(PLACE.parent)!r})\n{PLACE.read_text()}"
BOOKS = {".filemem/recalls.log", ".filemem/compacted.log"}
STORIES = {
    "sessions/2026/2026-09-03-0930-the-loom.md": "Yesterday I bought a loom from Old Hannah for 85 pounds.",
    "sessions/2026/2026-09-17-1105-the-eel.md": "We caught an eel under the mill bridge and named it Bartholomew.",
    "archive/sessions/2026/2026-08-09-1200-the-kiln.md": "The kiln in Dedham cracked at 1,140 degrees.",
}


@pytest.fixture
def store(place):
    """A user with old talks, faded and pinned facts, one that is cited, one that was recalled in the archive."""
    user = StoreFolder(place / "store").folder("ann")
    files = {path: TALK.format(text) for path, text in STORIES.items()}
    files |= {
        "facts/2026/2026-09-17-eel.md": "---\nkind: event\nimportance: 1\n---\nAte eels.\n",
        "facts/2026/2026-09-18-wool.md": "---\nimportance: 1\n---\nBought wool in Diss.",
        "facts/2026/2026-09-19-key.md": "---\npinned: true\nsource: facts/2026/2026-09-18-wool.md:1\n---\nThe key is 1234.\n",
        "archive/facts/2026/2026-07-01-bees.md": "---\nimportance: 2\n---\nSaw bees.\r\n",
        "archive/facts/2026/2026-07-02-owl.md": "An owl nests in the barn.\n",
        "profile.md": "Ann, weaver.\n",
    }
    lay(user.root, files)
    user.make()
    bees = ["facts/2026/2026-07-01-bees.md"]
    recalls.note_recalls(
        user,
        bees,
        recalls.How.ARCHIVED,
        dt.datetime(2026, 10, 1, 3),
    )
    recalls.note_recalls(
        user,
        bees,
        recalls.How.CITED,
        dt.datetime(2026, 11, 19, 9),
    )
    list(
        index.of(user).corpus().files
    )  # so that fewer of the kills hit the index, which is a cache
    return user.root


def tree(root):
    """Every memory with its bytes, every log with its lines: a run that is done again
    may say the same thing twice."""
    user = StoreFolder(root).folder("ann")
    found = {path: user.read(path) for path in user.paths()}
    for name in BOOKS:
        place = Path(root, "ann", name)
        if place.exists():
            found[name] = set(place.read_bytes().splitlines())
    return found


@pytest.mark.parametrize(
    "how",
    ["sweep", "compact", "restore"],
)
def test_a_job_killed_anywhere_loses_nothing_and_is_finished_by_the_next_run(
    store, place, how
):
    before = tree(os.path.dirname(store))
    folder = place / "killed"
    folder.mkdir()
    told = filemem(
        "-c",
        DRIVER,
        os.path.dirname(store),
        folder,
        how,
    )
    assert told.returncode == 0, told.stderr
    wanted = tree(folder / "undisturbed")
    assert wanted != before, "the job has something to do"
    kills = int(told.stdout)
    assert kills >= 10
    for number in range(1, kills + 1):
        killed = tree(folder / str(number))
        for path in before.keys() - BOOKS:
            plain = path.removeprefix("archive/")
            places = {plain, f"archive/{plain}"} & killed.keys()
            assert {killed[place] for place in places} == {before[path]}, (number, path)
        for path in killed.keys() - before.keys() - BOOKS:
            is_moved = killed[path] in before.values()
            assert is_moved or path.startswith("summaries/"), (number, path)
        JOBS[how](StoreFolder(folder / str(number)).folder("ann"))
        assert tree(folder / str(number)) == wanted, number
