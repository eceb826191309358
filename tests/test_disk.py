"""Writes are atomic, durable and exclusive; a save by somebody else at the same moment is never lost."""

import multiprocessing
import os
import random
import resource
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from filemem.errors import Changed, Refused
from filemem.files import safe
from filemem.files.folder import Folder

Save = Callable[[Path, bytes], None]
fork = multiprocessing.get_context("fork")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".filemem-*")]


# -- creating --------------------------------------------------------------------------------------------------------


def test_what_is_created_is_private(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "store" / "u"), "u")
    folder.create("facts/2026/2026-11-20-tea.md", "Oolong.\n")
    made = list((tmp_path / "store").rglob("*"))
    assert {mode(path) for path in made if path.is_file()} == {0o600}
    assert {mode(path) for path in [tmp_path / "store", *made] if path.is_dir()} == {0o700}


def test_names_that_are_taken_are_numbered_and_the_archive_counts(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "u")
    paths = [folder.create("facts/tea.md", f"{n}\n") for n in range(3)]
    assert paths == ["facts/tea.md", "facts/tea-2.md", "facts/tea-3.md"]
    folder.move("facts/tea-2.md", "archive/facts/tea-2.md")
    os.symlink("nowhere", tmp_path / "facts" / "tea-4.md")
    assert folder.create("facts/tea.md", "4\n") == "facts/tea-5.md"


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "facts").write_text("a note")
    with pytest.raises(Refused, match=r"facts is not a folder; rename it"):
        Folder(str(tmp_path), "u").create("facts/2026/tea.md", "x\n")
    assert (tmp_path / "facts").read_text() == "a note"


# -- editing ---------------------------------------------------------------------------------------------------------


def test_an_edit_keeps_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old\r\n")
    path.chmod(0o640)
    assert safe.edit(str(path), lambda old: old.replace(b"old", b"new"))
    assert path.read_bytes() == b"new\r\n"
    assert mode(path) == 0o640
    assert not safe.edit(str(path), lambda old: None)
    assert not safe.edit(str(path), lambda old: old)
    assert not leftovers(tmp_path)


def test_a_file_that_never_rests_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"0")

    def change(old: bytes) -> bytes:
        in_place(path, b"%d" % (int(old) + 1))
        return b"ours"

    with pytest.raises(Changed, match=r"a\.md keeps changing"):
        safe.edit(str(path), change)
    assert path.read_bytes() == b"%d" % safe.TRIES
    assert not leftovers(tmp_path)


def in_place(path: Path, data: bytes) -> None:
    """As nano, and vim with backupcopy=yes, save."""
    path.write_bytes(data)


def by_rename(path: Path, data: bytes) -> None:
    """As most editors and git save."""
    new = path.with_name(f"{path.name}.new~")
    new.write_bytes(data)
    new.rename(path)


def by_rename_with_backup(path: Path, data: bytes) -> None:
    """As vim and emacs save: for a moment nothing has the name."""
    path.rename(path.with_name(f"{path.name}~"))
    path.write_bytes(data)


SAVES = (in_place, by_rename, by_rename_with_backup)


@pytest.mark.parametrize("save", SAVES)
def test_an_editor_saving_while_an_edit_is_worked_out_loses_nothing(tmp_path: Path, save: Save) -> None:
    """Whatever is saved between our reading and our rename is read again, and our line stands behind it."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old\n")
    os.utime(path, (0, 0))
    seen: list[bytes] = []

    def change(old: bytes) -> bytes:
        if not seen:
            save(path, b"theirs\n")
        seen.append(old)
        return old + b"ours\n"

    assert safe.edit(str(path), change)
    assert path.read_bytes() == b"theirs\nours\n"
    assert seen == [b"old\n", b"theirs\n"]


@pytest.mark.parametrize(("save", "how"), [(in_place, "edit"), *((save, "append") for save in SAVES)])
def test_an_editor_saving_at_the_same_moment_loses_nothing(tmp_path: Path, save: Save, how: str) -> None:
    """A second process saves at a random moment around our write, from just before it to just after.

    It has not seen our line, so that its save may be without it; but whatever it saved is there, whole, and our line is
    behind it or not there at all. Where theirs had no end yet when ours came, an empty line stands between the two.
    (An edit can't tell a rename of theirs that falls between its last look and its own rename, microseconds later: no
    call that every system has can.)
    """
    path = tmp_path / "a.md"
    ours = b"- **Ann** 09:30: our line\n"
    mine, theirs = fork.Pipe()
    dice = random.Random(7)

    def person() -> None:
        while delay := theirs.recv():
            end = time.perf_counter_ns() + delay
            while time.perf_counter_ns() < end:
                pass
            save(path, saved)
            theirs.send(True)

    saved = b"the person's own lines, as they saved them\n" * 20
    process = fork.Process(target=person, daemon=True)
    process.start()
    for _ in range(12):
        path.write_bytes(b"old\n")
        os.utime(path, (0, 0))
        mine.send(dice.randint(1, 900_000))
        if how == "append":
            safe.append(str(path), ours)
        else:
            safe.edit(str(path), lambda old: old + ours)
        assert mine.recv()
        assert path.read_bytes() in (saved, saved + ours, saved + b"\n" + ours)
    mine.send(0)
    process.join()
    assert process.exitcode == 0
    assert not leftovers(tmp_path)


# -- appending -------------------------------------------------------------------------------------------------------


def test_a_lock_file_deleted_meanwhile_is_made_anew(tmp_path: Path) -> None:
    """Bookkeeping may be deleted at any time; the next writer does not trip over it."""
    folder = Folder(str(tmp_path), "u")
    folder.create("a.md", "x\n")
    (tmp_path / ".filemem" / "lock").unlink()
    folder.append("a.md", "y\n")
    (tmp_path / ".filemem" / "lock").unlink()
    (tmp_path / ".filemem").rmdir()
    folder.append("a.md", "z\n")
    assert folder.read("a.md") == b"x\ny\nz\n"


# -- when system calls fail ------------------------------------------------------------------------------------------


def test_a_write_cut_off_in_its_middle_is_taken_back(tmp_path: Path) -> None:
    """The limit on a file's size lets the first part of a line through, as a disk that fills up does."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old\n" * 100)

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (450, 450))
        for attempt in (
            lambda: safe.append(str(path), b"n" * 100 + b"\n"),
            lambda: safe.edit(str(path), lambda o: o * 2),
        ):
            try:
                attempt()
            except OSError as error:
                assert error.filename == str(path)
            else:
                raise AssertionError("it was written")
        safe.append(str(path), b"fits\n")

    child = fork.Process(target=write, daemon=True)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert path.read_bytes() == b"old\n" * 100 + b"fits\n"
    assert not leftovers(tmp_path)
