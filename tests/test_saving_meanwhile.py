"""A person who saves a file at any moment of any job finds every byte of it again: none is lost, none is an older save.

A process saves files at random, in place or by a rename, while a job runs on the same files over and over. What it saved last
must stand in the file, or where the job has moved the file to, whenever anybody looks. Every odd save is a rename, and one that
falls into the microseconds between a job's last look and its own rename can't be told: of 80 saves one may be lost so.
"""

import contextlib
import ctypes
import datetime as dt
import multiprocessing
import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reader import Reader

from filemem import Store
from filemem.errors import FilememError
from filemem.files.archive import archived
from filemem.files.facts import set_front
from filemem.files.folder import Folder, StoreFolder
from filemem.files.passages import format_turn
from filemem.files.transcript import Transcript
from filemem.forgetting import compaction, deletion, sweeper
from filemem.importers import import_file
from filemem.jobs.running import forget
from filemem.remembering import consolidation

fork = multiprocessing.get_context("fork")
ROUNDS = int(os.environ.get("SAVING_ROUNDS", "80"))  # saves in each of seven jobs, 560 in all
FILES = 6
LINES = 12
AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
LATER = dt.datetime(2028, 11, 20, 9, 30, tzinfo=dt.UTC)
BLOCK = re.compile(rf"(?:^  own (\d+) line \d+\n){{{LINES}}}", re.MULTILINE)
Begin = Callable[[Folder], list[str]]
Make = Callable[[Folder, list[str]], Callable[[int], object]]
Saved = Any  # a shared array: the number of the last finished save of each file


def block(number: int) -> str:
    """What the person writes: it must be found whole, with one number. Indented, so that it is part of a turn too."""
    return "".join(f"  own {number} line {line}\n" for line in range(LINES))


def person(paths: list[Path], saved: Saved, rounds: int, seed: int) -> None:
    """Save files at random until each has had its share; an editor that reloads what changed under it, mostly."""
    dice = random.Random(seed)
    buffers = [path.read_text() for path in paths]
    for number in range(1, rounds + 1):
        time.sleep(dice.random() * 0.016)
        which = dice.randrange(len(paths))
        path = paths[which]
        with contextlib.suppress(FileNotFoundError):
            text = path.read_text()
            if BLOCK.search(text) and dice.random() < 0.8:
                buffers[which] = text
        buffers[which] = BLOCK.sub(block(number).replace("\\", ""), buffers[which], count=1)
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % 2 == 0:
            with open(path, "r+" if path.exists() else "w") as file:
                file.truncate(0)
                file.write(buffers[which])
        else:
            aside = path.with_name(path.name + "~")
            aside.write_text(buffers[which])
            os.replace(aside, path)
        saved[which] = number


def standing(path: Path, root: str) -> int:
    """The newest whole block of the person's in the file, or where it was moved to; -1 for none, as in the midst of a save."""
    found = [-1]
    inside = path.relative_to(root).as_posix()
    for place in (path, Path(root, archived(inside))):
        with contextlib.suppress(FileNotFoundError):
            for match in BLOCK.finditer(place.read_text(errors="replace")):
                numbers = set(re.findall(r"own (\d+) ", match[0]))
                found += [int(match[1])] if len(numbers) == 1 else []
    return max(found)


def look(path: Path, root: str, least: int, times: int = 50_000) -> int:
    """Wait for the last finished save, or a later one, to stand there; the person may be in the midst of the next. Returns the
    number of the save that is gone, else 0."""
    for _ in range(times):
        if standing(path, root) >= least:
            return 0
        os.sched_yield()
    return least


def run(user: Folder, paths: list[str], job: Callable[[int], object]) -> tuple[int, int]:
    """Run a job while the person saves; returns how often it went through and how often it gave up, with its reason."""
    places = [Path(user.root, path) for path in paths]
    saved = fork.Array(ctypes.c_int, len(places), lock=False)
    process = fork.Process(target=person, args=(places, saved, ROUNDS, 11), daemon=True)
    process.start()
    done = failed = 0
    gone: set[int] = set()
    while process.is_alive():
        try:
            job(done + failed)
            done += 1
        except FilememError:  # a file that keeps changing, or has just been moved: the person goes first
            failed += 1
        for which, place in enumerate(places):
            gone.add(look(place, user.root, saved[which], 50_000 if saved[which] not in gone else 1))
    process.join()
    assert process.exitcode == 0
    gone |= {saved[which] for which, place in enumerate(places) if standing(place, user.root) != max(0, saved[which])}
    gone.discard(0)
    assert len(gone) <= 1
    assert all(number % 2 for number in gone)
    assert sum(saved) > 0
    return done, failed


def sessions(user: Folder) -> list[str]:
    """Conversations of which the person edits a turn."""
    text = format_turn("mara", "09:00", "The start.\n" + block(0).replace("  own", "own"))
    return [user.create(f"sessions/2026/2026-11-1{n}-0900-talk.md", text) for n in range(FILES)]


def facts(user: Folder) -> list[str]:
    return [
        user.create(f"facts/2026/2026-11-1{n}-fact-{n}.md", f"---\nimportance: 5\n---\n\nFact.\n{block(0)}")
        for n in range(FILES)
    ]


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    return Store(tmp_path / "store").user("mara").folder


def chatting(mara: Folder, paths: list[str]) -> Callable[[int], object]:
    """The program appends turns to the very conversations that the person edits."""
    return lambda number: Transcript(mara, paths[number % FILES]).add("mara", f"Turn {number}.", AT)


def setting(mara: Folder, paths: list[str]) -> Callable[[int], object]:
    """A key of front matter."""

    def job(number: int) -> None:
        path = paths[number % FILES]
        mara.edit(path, lambda data: set_front(path, data, "importance", str(number % 10 + 1)) if data else None)

    return job


def consolidating(mara: Folder, paths: list[str]) -> Callable[[int], object]:
    """What was said becomes facts, and lines of the profile, which the person has open, too."""
    paths.append(mara.create("profile.md", f"# Mara\n\n{block(0)}"))

    def job(number: int) -> None:
        Transcript(mara, paths[number % FILES]).add("mara", f"I am allergic to food number {number}.", AT)
        list(consolidation.run(mara, AT, Reader(echo=True, section="health")))

    return job


def forgetting(mara: Folder, paths: list[str]) -> Callable[[int], object]:
    """Lines of the conversation go while the person edits another turn of it."""

    def job(number: int) -> None:
        path = paths[number % FILES]
        line = Transcript(mara, path).add("mara", f"My weasel number {number} lives behind the stove.", AT)
        forget(mara, deletion.plan(mara, f"{path}:{line}" if line else path), AT)

    return job


def sweeping(mara: Folder, paths: list[str]) -> Callable[[int], object]:
    """A file is moved under the person's hands; they save it where it was, and it is there again."""

    def job(number: int) -> None:
        sweeper.apply(mara, sweeper.plan(mara, LATER.date()), LATER)
        sweeper.restore(mara, [path for path in mara.paths() if path.startswith("archive/")], LATER)

    return job


def compacting(mara: Folder, paths: list[str]) -> Callable[[int], object]:
    """The originals of a summary move to the archive, whatever the person does to them."""

    def job(number: int) -> None:
        compaction.apply(mara, compaction.plan(mara, LATER.date()), LATER)
        sweeper.restore(mara, [path for path in mara.paths() if path.startswith("archive/sessions/")], LATER)

    return job


@pytest.mark.parametrize(
    ("begin", "make"),
    [
        (sessions, chatting),
        (facts, setting),
        (sessions, consolidating),
        (sessions, forgetting),
        (facts, sweeping),
        (sessions, compacting),
    ],
    ids=lambda part: part.__name__,
)
def test_no_save_is_lost_while_a_job_runs(mara: Folder, begin: Begin, make: Make) -> None:
    paths = begin(mara)
    job = make(mara, paths)
    done, _ = run(mara, paths, job)
    assert done > 0


def test_while_notes_are_imported_again(mara: Folder, tmp_path: Path) -> None:
    """A note that changed where it comes from is brought up to date, unless the person has changed it here."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(FILES):
        (notes / f"note-{n}.md").write_text(f"Note.\n{block(0)}")
    report = import_file(StoreFolder(mara.store), "markdown", str(notes), user="mara")
    paths = sorted(taken.path for taken in report.added)

    def job(number: int) -> None:
        for n in range(FILES):
            (notes / f"note-{n}.md").write_text(f"Note, version {number}.\n{block(0)}")
        import_file(StoreFolder(mara.store), "markdown", str(notes), user="mara")

    done, _ = run(mara, paths, job)
    assert done > 0


def test_a_careless_program_is_noticed(mara: Folder) -> None:
    """So that the tests above cannot pass by looking away: one that writes back what it read before a save reverts it."""
    place = Path(mara.root, facts(mara)[0])
    before, saved = place.read_bytes(), [0]
    person([place], saved, 3, 11)
    assert not look(place, mara.root, saved[0])
    place.write_bytes(before)
    assert look(place, mara.root, saved[0], 100) == 3
