"""A person who saves a file at any moment of any job finds every byte of it again.

A job runs in a process of its own, in which the person saves the file right before its first, second, … system call that changes
something, in place or by a rename. What they saved must stand in the file then, or where the job has moved it to. Alone a save by
a rename between a job's last look and its own rename, microseconds later, can't be told by calls that every system has.
"""

import contextlib
import datetime as dt
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from crash_driver import arm
from reader import Reader

from filemem import Store, jobs
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


def chat_at_length(mara: Folder) -> None:
    """A turn longer than a page is written by a swap."""
    Transcript(mara, TALK).add("mara", "One more. " * 500, AT)


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
    import_file(
        StoreFolder(mara.store), "markdown", f"{mara.store}/../source", user="mara"
    )


def in_place(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def by_rename(path: str, data: bytes) -> None:
    with open(f"{path}~", "wb") as file:
        file.write(data)
    os.rename(f"{path}~", path)


def begun(folder: Path) -> Folder:
    """Mara's memories, with a note that was imported."""
    (folder / "source").mkdir(parents=True)
    (folder / "source/note.md").write_text("A note, before.\n")
    mara = Store(folder / "store").user("mara").folder
    for path, text in FILES.items():
        mara.create(path, text)
    import_file(
        StoreFolder(mara.store), "markdown", str(folder / "source"), user="mara"
    )
    return mara


@pytest.mark.parametrize("save", [in_place, by_rename])
@pytest.mark.parametrize(
    ("job", "path"),
    [
        (chat, TALK), (chat_at_length, TALK), (set_a_key, FACT), (consolidated, TALK), (forget_a_line, TALK), (sweep, FACT),
        (compact, TALK), (import_again, NOTE),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)  # fmt: skip
def test_no_save_is_lost_while_a_job_runs(
    tmp_path: Path,
    job: Callable[[Folder], None],
    path: str,
    save: Callable[[str, bytes], None],
) -> None:
    begun(tmp_path / "begun")
    saves, lost = 0, list[int]()
    while True:
        copy = shutil.copytree(tmp_path / "begun", tmp_path / str(saves + 1))
        mara = Store(copy / "store").user("mara").folder
        window, saved = copy / "window", mara.read(path).replace(b"before", b"after")

        def person(
            mara: Folder = mara, saved: bytes = saved, window: Path = window
        ) -> None:
            place = mara.absolute(path)
            call = sys._getframe(1).f_locals
            if (
                save is by_rename
                and call["call"].__name__ == "replace"
                and call["arguments"][1] == place
            ):
                window.touch()
            elif os.path.exists(
                place
            ):  # else it is in the archive already, and they save it there
                save(place, saved)
            else:
                save(os.path.join(mara.root, archived(path)), saved)

        child = os.fork()
        if not child:
            made = arm(saves + 1, person)
            with contextlib.suppress(
                FilememError
            ):  # a file that has just been changed: the person goes first
                job(mara)
            os._exit(made() > saves)
        if not os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            break
        saves += 1
        found = [Path(mara.root, one) for one in (path, archived(path))]
        texts = [one.read_bytes() for one in found if one.exists()]
        if not window.exists() and not any(b"after" in text for text in texts):
            lost.append(saves)
        shutil.rmtree(copy)
    assert saves >= 3 and not lost, (saves, lost)
