"""A process may be killed at any moment: no half line, no lost earlier byte, and the next write works.

What a killed write leaves behind is a temporary file, which the next job deletes.
"""

import datetime as dt
import itertools
import multiprocessing
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from filemem import Store
from filemem.files import journal, safe
from filemem.files.facts import set_front
from filemem.files.folder import Folder
from filemem.files.passages import Passage
from filemem.files.transcript import Transcript
from filemem.overview import check

fork = multiprocessing.get_context("fork")
RUNS = 100  # of each kind
AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
LONG = "word " * 1200 + "\n\nsecond paragraph"  # longer than a page, hence written by a swap


def killed(work: Callable[[int], object], dice: random.Random) -> int:
    """Run `work` on 0, 1, 2, … in a process that is killed at a random moment; the count of works that were finished."""
    told, done = os.pipe()

    def run() -> None:
        for number in itertools.count():
            work(number)
            os.write(done, b".")

    process = fork.Process(target=run, daemon=True)
    process.start()
    os.close(done)
    finished = len(os.read(told, 1))
    process.join(timeout=dice.random() * 0.004)
    process.kill()
    process.join()
    with open(told, "rb") as rest:
        return finished + len(rest.read())


def said(number: int) -> str:
    return f"turn {number}\nits second line" if number % 3 else f"turn {number} {LONG}"


def spoken(turns: list[Passage]) -> list[str]:
    return [turn.text for turn in turns]


def test_a_chat_killed_at_any_moment_keeps_every_turn_that_was_said(tmp_path: Path) -> None:
    """The turns on disk are those said before the kill, each whole, and perhaps the one that was being written."""
    dice = random.Random(1)
    folder = Folder(str(tmp_path), "u")
    chat = Transcript(folder)
    chat.add("Ann", "How it began", AT)
    expected = ["How it began"]
    for _ in range(RUNS):
        before = folder.read(chat.path)
        finished = killed(lambda number, chat=chat: chat.add("Ann", said(number), AT), dice)
        after = folder.read(chat.path)
        assert after.startswith(before) and after.endswith(b"\n")
        found = spoken(chat.turns())
        expected += [said(number).strip() for number in range(finished)]
        assert found[: len(expected)] == expected
        assert found[len(expected) :] in ([], [said(finished).strip()])
        line = chat.add("Bo", "next", AT)
        assert folder.memory(chat.path).lines[line - 1] == "- **Bo** 09:30: next"
        expected = [*found, "next"]
        if len(after) > 200_000:
            chat, expected = Transcript(folder), []
            chat.add("Ann", "How it began", AT)
            expected = ["How it began"]


@pytest.mark.parametrize("work", ["edit", "move", "recall"])
def test_other_writes_killed_at_any_moment(tmp_path: Path, work: str) -> None:
    """A file is as it was or as it was to be; it has one name; every line of the log is whole."""
    dice = random.Random(3)
    folder = Folder(str(tmp_path), "u")
    places = ["facts/tea.md", "archive/facts/tea.md"]
    body = f"\n{LONG}\n"
    path = folder.create(places[0], f"---\nimportance: 1\n---\n{body}")

    def act(number: int) -> None:
        if work == "edit":
            value = str(number % 10 + 1)
            folder.edit(path, lambda old: set_front(path, old, "importance", value))
        elif work == "move":
            now = folder.locate(path)
            folder.move(now, places[1 - places.index(now)])
        else:
            journal.note_recall(folder, path, "open", AT)

    noted = 0
    for _ in range(RUNS // 3):
        finished = killed(act, dice)
        names = folder.paths()
        assert names in ([places[0]], [places[1]])
        memory = folder.memory(names[0])
        assert memory.front["importance"] in range(1, 11) and memory.text.endswith(f"---\n{body}")
        if work == "recall":
            log = Path(folder.bookkeeping(journal.RECALLS)).read_text().splitlines()
            assert len(log) - noted in (finished, finished + 1)
            assert set(log) == {f"{AT:%Y-%m-%dT%H:%M}\topen\t{path}"}
            noted = len(log)
        act(3)
        noted += work == "recall"


def leftovers(folder: Folder, age: int = 0) -> list[str]:
    """The temporary files in a user's folder, which are made so many seconds older."""
    found = sorted(Path(folder.root).rglob(f"{safe.TEMPORARY}*"))
    for path in found:
        os.utime(path, (time.time() - age,) * 2)
    return [path.relative_to(folder.root).as_posix() for path in found]


def test_a_persons_save_is_never_taken_for_what_a_write_left(tmp_path: Path) -> None:
    """What the program was about to write goes once it is old, and what lies in its bookkeeping; the rest is told of."""
    ann = Store(tmp_path).user("ann")
    ann.remember("Likes tea.")
    above = Path(ann.folder.root, "facts/2026")
    above.mkdir(exist_ok=True)
    (above / f"{safe.OURS}0123456789abcdef").write_bytes(b"half a fa")
    (above / f"{safe.TEMPORARY}fedcba9876543210").write_bytes(b"a save that was being put back\n")
    Path(ann.folder.bookkeeping(f"{safe.TEMPORARY}0011223344556677")).write_bytes(b"half a lo")
    ann.maintain(AT.date())
    assert len(leftovers(ann.folder, 90)) == 3
    ann.maintain(AT.date())
    (left,) = leftovers(ann.folder)
    assert left.endswith("fedcba9876543210") and Path(ann.folder.root, left).read_bytes().startswith(b"a save")
    (problem,) = check.problems(ann.folder)
    assert problem.path == left and "look at it" in problem.remedy
