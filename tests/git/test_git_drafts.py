"""What a person has not committed yet, and what was said in a chat, no job and no undo moves or takes away."""

import datetime as dt
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from forgetting import use_weekly
from programs import clean, filemem, lay
from repositories import START, git, job, plain_git, store, write

from filemem import FilememError, Store, User, jobs
from filemem.git.history import History
from filemem.git.sync import sync
from filemem.git.undo import undo
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

LATE = START + dt.timedelta(days=400)
EVENT = "facts/2026/2026-11-19-trip.md"
TRIP = "---\nkind: event\n---\n\nTook a trip.\n"
OWN = "facts/2026/2026-11-18-own.md"
TALK = "sessions/2026/2026-11-18-0930-tea.md"
SAID = "".join(
    f"- **mara** 09:{minute}: I bought a red kayak in Sintra for {minute} euros, and"
    " my sister Ida wants to paddle along the coast with me in the summer.\n"
    for minute in range(10, 40)
)


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    """Somebody with a past event and a talk, both committed."""
    mara = store(tmp_path / "store")
    write(mara, EVENT, TRIP)
    write(mara, TALK, SAID)
    use_weekly(mara, START.date(), LATE.date())
    job(mara, "Trip", EVENT, TALK)
    return mara


def lines(user: Folder) -> str:
    return "".join(user.read(path).decode() for path in user.paths())


@pytest.mark.parametrize("name", ["sweep", "compact"])
def test_a_job_leaves_what_a_person_has_not_committed(mara: Folder, name: str) -> None:
    """It says so, also before it is done, and does its work where they have committed."""
    path = EVENT if name == "sweep" else TALK
    mara.append(path, "By hand.\n")
    lay(mara.root, {OWN: TRIP})
    work = getattr(jobs, name)
    before = {one: mara.read(one) for one in mara.paths()}
    for dry in (True, False):
        said = "\n".join(work(mara, LATE, dry=dry).said)
        assert f"{path} stays: it has changes of yours that are not committed" in said
        assert {one: mara.read(one) for one in mara.paths()} == before
    git(mara.root, "add", "-A"), git(mara.root, "commit", "-qm", "Mine")
    work(mara, LATE)
    assert f"archive/{path}" in mara.paths()
    undo(History(mara), None, LATE)
    assert {one: mara.read(one) for one in mara.paths()} == before


def test_where_what_was_cut_off_cannot_be_committed_the_drafts_of_now_stay(
    mara: Folder,
) -> None:
    """Not those of the job that was cut off, which a person may have committed since."""
    lay(mara.root, {OWN: TRIP})
    code = "import datetime as dt, os, sys; from filemem import jobs\n"
    code += "from filemem.store.users import StoreFolder\n"
    code += "user = StoreFolder(sys.argv[1]).folder('mara')\n"
    code += "with jobs.JobRun(user, 'test', dt.datetime.now()): os._exit(9)\n"
    subprocess.run([sys.executable, "-c", code, mara.store], check=False)
    git(mara.root, "add", "-A"), git(mara.root, "commit", "-qm", "Mine")
    mara.append(EVENT, "By hand.\n")
    Path(mara.store, ".git/MERGE_HEAD").write_text(git(mara.root, "rev-parse", "HEAD"))
    said = "\n".join(jobs.sweep(mara, LATE).said)
    assert f"{EVENT} stays: it has changes of yours" in said
    assert {EVENT, f"archive/{OWN}"} <= {*mara.paths()}


def test_an_older_commit_that_carried_a_draft_along_is_undone_without_it(
    mara: Folder,
) -> None:
    """The file moves back with all that it holds; the one that git did not have stays."""
    mara.append(EVENT, "By hand.\n")
    lay(mara.root, {OWN: TRIP})
    for path in (EVENT, OWN):
        mara.move({path: f"archive/{path}"})
    job(mara, "Sweep", EVENT, OWN, f"archive/{EVENT}", f"archive/{OWN}", Job="sweep")
    undo(History(mara), None, LATE)
    assert mara.read(EVENT) == f"{TRIP}By hand.\n".encode()
    assert mara.read(f"archive/{OWN}") == TRIP.encode()


def test_what_was_said_stays_wherever_it_lies(mara: Folder) -> None:
    """Neither the commit of a talk nor a person's own is undone."""
    words = f"My canoe leaks. {SAID[20:]}"
    messages = [{"role": "user", "content": words}]
    User(mara).add_conversation(messages, at=START)
    talk = git(mara.root, "rev-parse", "HEAD")
    jobs.compact(mara, LATE)
    assert any(path.startswith("archive/sessions/") for path in mara.paths())
    with pytest.raises(FilememError, match="nothing left"):
        undo(History(mara), talk, LATE)
    git(mara.root, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    with pytest.raises(FilememError, match="no commit of a job"):
        undo(History(mara), "HEAD", LATE)
    assert "My canoe leaks." in lines(mara)


def test_copies_of_memories_lie_in_the_store_and_go_a_day_after_their_process(
    mara: Folder,
) -> None:
    """One in use stays, but for a forgetting."""
    place = Path(mara.bookkeeping("tmp"))
    code = "import os, sys; from filemem import Store; import datetime as dt\n"
    code += "past = Store(sys.argv[1]).user('mara').as_of(dt.date(2026, 11, 20))\n"
    code += "os._exit(9)\n"
    ended = subprocess.run([sys.executable, "-c", code, mara.store], check=False)
    assert ended.returncode == 9
    [left] = place.iterdir()
    os.utime(left, (0, 0))
    past = User(mara).as_of(START.date())
    jobs.maintain(mara, START, None)
    assert not left.exists() and past.grep("trip")
    User(mara).forget(EVENT)
    assert not [*place.iterdir()]
