"""A folder that is swapped for a link, at whatever moment, leads nowhere: nothing outside is read, listed or written.

A process exchanges Ann's folders with links to Bob's as fast as it can, while everything is done with her memories.
SWAPPED_ROUNDS sets how often.
"""

import contextlib
import ctypes
import datetime as dt
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from filemem import Store, User, index
from filemem.errors import FilememError
from filemem.files import disk, recalls
from filemem.files.folder import Folder

fork = multiprocessing.get_context("fork")
ROUNDS = int(os.environ.get("SWAPPED_ROUNDS", "400"))
SECRET = b"a secret of Bob's"
EXCHANGE = 2  # renameat2(2)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Ann's memories and Bob's, of the same names."""
    for name, text in (("ann", b"Ann likes tea."), ("bob", SECRET)):
        folder = tmp_path / "store" / name
        for path in ("facts/2026/tea.md", "facts/2026/only-" + name + ".md", ".filemem/recalls.log", ".filemem/note"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text + b"\n")
    return tmp_path / "store"


def exchange(one: Path, other: Path) -> int:
    """Let two names change places, in one step; what the system call returns."""
    return int(ctypes.CDLL(None).renameat2(-100, os.fsencode(one), -100, os.fsencode(other), EXCHANGE))


@contextlib.contextmanager
def swapping(store: Path, inside: str) -> Iterator[None]:
    """Ann's folder `inside` is now hers, now a link to Bob's, some hundred thousand times a second."""
    folder, link = store / "ann" / inside, store / "ann" / "aside"
    link.symlink_to(store / "bob" / inside)
    if exchange(folder, link):
        pytest.skip("a file system that cannot exchange names")

    def swap() -> None:
        while True:
            exchange(folder, link)
            for _ in range(50):
                pass

    process = fork.Process(target=swap, daemon=True)
    process.start()
    yield
    process.kill()
    process.join()
    if folder.is_symlink():
        exchange(folder, link)
    link.unlink()


def bobs(store: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (store / "bob").rglob("*") if path.is_file()}


def again(attempt: Callable[[], bytes | None], both: bool = False) -> tuple[int, int]:
    """Try ROUNDS times; how often it was done, and how often refused. With `both`, go on until either has been seen."""
    done = refused = 0
    while done + refused < ROUNDS or (both and not (done and refused) and done + refused < 1000 * ROUNDS):
        try:
            found = attempt()
            done += 1
        except (FilememError, OSError):
            refused += 1
            continue
        assert SECRET not in (found or b"") and b"only-bob" not in (found or b"")
    return done, refused


@pytest.mark.parametrize("inside", ["facts", "facts/2026"])
def test_reading(store: Path, inside: str) -> None:
    ann = Store(store).user("ann").folder
    with swapping(store, inside):
        done, refused = again(lambda: ann.read("facts/2026/tea.md"), both=True)
        assert done and refused
        again(lambda: " ".join(ann.paths()).encode())
        again(lambda: " ".join(map(str, ann.strays())).encode())


def test_searching(store: Path) -> None:
    """The index is built anew each time, of what the walk found a moment ago."""
    ann = Store(store).user("ann").folder

    def search() -> bytes:
        index.of(ann).discard()
        return " ".join(hit.text for hit in User(ann).search_files("a secret of tea")).encode()

    with swapping(store, "facts/2026"):
        again(search)


@pytest.mark.parametrize("how", ["create", "append", "edit", "move"])
def test_writing(store: Path, how: str) -> None:
    ann, before = Folder(str(store / "ann"), "ann"), bobs(store)
    ways: dict[str, Callable[[], object]] = {
        "create": lambda: ann.create("facts/2026/new.md", "Ann's own words.\n"),
        "append": lambda: ann.append("facts/2026/tea.md", "Ann's own words.\n"),
        "edit": lambda: ann.edit("facts/2026/tea.md", lambda data: data + b"Ann's own words.\n"),
        "move": lambda: (
            ann.create("new.md", "Ann's own words.\n"),
            ann.move("new.md", f"facts/2026/{time.time_ns()}.md"),
        ),
    }

    def attempt() -> None:
        ways[how]()

    with swapping(store, "facts/2026"):
        again(attempt)
    assert bobs(store) == before


def test_bookkeeping(store: Path) -> None:
    ann, before = Store(store).user("ann").folder, bobs(store)
    note = ann.bookkeeping("note")

    def attempt() -> bytes:
        disk.write(note, b"Ann's own words.\n")
        recalls.note_all(ann, ["facts/2026/tea.md"], recalls.OPENED, dt.datetime.now().astimezone())
        return disk.read(note)

    with swapping(store, ".filemem"):
        again(attempt)
        again(lambda: " ".join(recalls.trails(ann)).encode())
    assert bobs(store) == before


def test_a_careless_program_is_noticed(store: Path) -> None:
    """So that the tests above cannot pass because the swaps are too slow to meet anything."""
    path = store / "ann/facts/2026/tea.md"

    def attempt() -> bytes:
        if path.parent.is_symlink():
            raise FilememError("a link")
        return path.read_bytes()

    with swapping(store, "facts/2026"), pytest.raises(AssertionError):
        for _ in range(1000):  # ends with the first that is met
            again(attempt)
