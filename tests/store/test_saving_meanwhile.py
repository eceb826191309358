"""A person who saves a file at any moment of any job finds every byte of it again.

A job runs in a process of its own, in which the person saves the file right before its
first, second, … system call that changes something, in place or by a rename. What they
saved must stand in the file then, or where the job has moved it to. Alone a save by a
rename between a job's last look and its own rename, microseconds later, can't be told
by calls that every system has.
"""

import contextlib
import datetime as dt
import functools
import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from crash_driver import arm
from reader import Reader

from filemem import jobs
from filemem.errors import FilememError
from filemem.forget.plan import plan_deletion
from filemem.importers import import_file
from filemem.jobs import forget
from filemem.learn import consolidate
from filemem.store.facts import set_front
from filemem.store.folder import Folder
from filemem.store.passages import format_turn
from filemem.store.paths import archived
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
LATER = dt.datetime(2028, 11, 20, 9, 30, tzinfo=dt.UTC)
TALK = "sessions/2026/2026-11-19-0900-talk.md"
FACT = "facts/2026/2026-11-18-eel.md"
NOTE = "notes/note.md"
SAID = "".join(format_turn(who, "09:00", text) for who, text in (
    ("mara", "I moved to Ghent, before."), ("assistant", "Good."), ("mara", "My weasel lives behind the stove."),
    ("assistant", "A weasel keeps mice away. " * 20),  # so long that a summary is shorter
))  # fmt: skip
FILES = {
    TALK: SAID,
    FACT: "---\nkind: event\nimportance: 1\n---\n\nAte eels, before.\n",
}


def chat(mara: Folder) -> None:
    Transcript(mara, TALK).add("mara", "One more.", AT)


def set_a_key(mara: Folder) -> None:
    mara.edit(
        FACT, lambda data: set_front(FACT, data, "importance", "7") if data else None
    )


def consolidated(mara: Folder) -> None:
    list(consolidate.run(mara, AT, Reader(echo=True, section="home")))


def forget_a_line(mara: Folder) -> None:
    forget(mara, plan_deletion(mara, f"{TALK}:3"), AT)


def sweep(mara: Folder) -> None:
    jobs.sweep(mara, LATER)


def compact(mara: Folder) -> None:
    jobs.compact(mara, LATER)


def import_again(mara: Folder) -> None:
    """A note that changed where it comes from is brought up to date, unless the person has changed it here."""
    (Path(mara.store) / "../source/note.md").write_text("A note, version 2, before.\n")
    import_file(mara, "markdown", f"{mara.store}/../source")


def in_place(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def by_rename(path: str, data: bytes) -> None:
    with open(f"{path}~", "wb") as file:
        file.write(data)
    os.rename(f"{path}~", path)


Job = Callable[[Folder], None]
Save = Callable[[str, bytes], None]
JOBS: dict[Job, str] = {  # with the file that the person saves meanwhile
    chat: TALK,
    set_a_key: FACT,
    consolidated: TALK,
    forget_a_line: TALK,
    sweep: FACT,
    compact: TALK,
    import_again: NOTE,
}


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Mara's memories, with a note that was imported."""
    folder = tmp_path / "begun"
    (folder / "source").mkdir(parents=True)
    (folder / "source/note.md").write_text("A note, before.\n")
    mara = StoreFolder(folder / "store").folder("mara")
    for path, text in FILES.items():
        mara.create(path, text)
    import_file(mara, "markdown", str(folder / "source"))
    return folder


def person(mara: Folder, path: str, save: Save, window: Path) -> None:
    """Save the file now; in the window that no call can close only note that."""
    place = mara.absolute(path)
    frame = sys._getframe(2).f_locals  # of the call that is about to be made
    is_rename = frame["call"].__name__ == "replace"
    if save is by_rename and is_rename and frame["arguments"][1] == place:
        window.touch()
        return
    if not os.path.exists(place):  # it is in the archive already
        place = mara.absolute(archived(path))
    save(place, Path(place).read_bytes().replace(b"before", b"after"))


def job_ended(mara: Folder, job: Job, number: int, act: Callable[[], None]) -> bool:
    """Do a job in a process of its own, with an act before its change of that number;
    did it end before that?"""
    child = os.fork()
    if not child:
        made = arm(number, act)
        with contextlib.suppress(FilememError):  # the person goes first
            job(mara)
        os._exit(made() < number)
    return bool(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@pytest.mark.parametrize("save", [in_place, by_rename])
@pytest.mark.parametrize("job", JOBS)
def test_no_save_is_lost_while_a_job_runs(
    begun: Path, tmp_path: Path, job: Job, save: Save
) -> None:
    path = JOBS[job]
    for number in itertools.count(1):
        copy = shutil.copytree(begun, tmp_path / str(number))
        mara = StoreFolder(copy / "store").folder("mara")
        window = copy / "window"
        act = functools.partial(person, mara, path, save, window)
        if job_ended(mara, job, number, lambda act=act: act()):
            break
        places = [Path(mara.root, one) for one in (path, archived(path))]
        texts = [place.read_bytes() for place in places if place.exists()]
        assert window.exists() or any(b"after" in text for text in texts), number
        shutil.rmtree(copy)
    assert number > 3
