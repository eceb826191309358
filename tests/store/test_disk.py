"""Writes are atomic, durable and exclusive; a save by somebody else meanwhile is never
lost. No call is only Linux's."""

import multiprocessing
import os
import re
import resource
import shutil
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from filemem.errors import Changed
from filemem.store import files
from filemem.store.folder import Folder

ONLY_LINUX = re.compile(
    r"renameat2|inotify|epoll|/proc\b|O_TMPFILE|O_PATH|memfd|prctl|pidfd|\bsplice\b"
    r"|sendfile|setns|unshare|ctypes"
)
fork = multiprocessing.get_context("fork")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".filemem-*")]


# -- creating and editing -------------------------------------------------------------


def test_what_is_created_is_private(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "store/u"), "u")
    folder.create("facts/2026/2026-11-20-tea.md", "Oolong.\n")
    made = [tmp_path / "store", *(tmp_path / "store").rglob("*")]
    assert {mode(path) for path in made if path.is_file()} == {0o600}
    assert {mode(path) for path in made if path.is_dir()} == {0o700}


def test_names_that_are_taken_are_numbered_and_the_archive_counts(
    tmp_path: Path,
) -> None:
    folder = Folder(str(tmp_path), "u")
    paths = [folder.create("facts/tea.md", f"{n}\n") for n in range(3)]
    assert paths == ["facts/tea.md", "facts/tea-2.md", "facts/tea-3.md"]
    folder.move({"facts/tea-2.md": "archive/facts/tea-2.md"})
    os.symlink("nowhere", tmp_path / "facts/tea-4.md")
    assert folder.create("facts/tea.md", "4\n") == "facts/tea-5.md"


def test_an_edit_keeps_mode_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old\r\n")
    path.chmod(0o640)
    assert files.edit(str(path), lambda old: old.replace(b"old", b"new"))
    assert (path.read_bytes(), mode(path)) == (b"new\r\n", 0o640)
    assert not files.edit(str(path), lambda old: None)
    assert not leftovers(tmp_path)


def test_a_file_that_never_rests_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"0")

    def change(old: bytes) -> bytes:
        """As nano, and vim with backupcopy=yes, save."""
        path.write_bytes(b"%d" % (int(old) + 1))
        return b"ours"

    with pytest.raises(Changed, match=r"a\.md keeps changing"):
        files.edit(str(path), change)
    assert path.read_bytes() == b"%d" % files.MAX_TRIES
    assert not leftovers(tmp_path)


def test_a_lock_file_deleted_meanwhile_is_made_anew(tmp_path: Path) -> None:
    """Bookkeeping may be deleted at any time; the next writer does not trip over it."""
    folder = Folder(str(tmp_path), "u")
    folder.create("a.md", "x\n")
    shutil.rmtree(tmp_path / ".filemem")
    folder.append("a.md", "y\n")
    assert folder.read("a.md") == b"x\ny\n"


# -- what is written is on the disk before it counts ----------------------------------


def calls(act: Callable[[], Any]) -> list[str]:
    """What is synced, and when a file gets its name, while something is done: `sync
    PATH`, `rename`."""
    found: list[str] = []

    def seen(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called is os.fsync:
            descriptor = called_with(frame)
            found.append(f"sync {os.readlink(f'/proc/self/fd/{descriptor}')}")
        elif event == "c_call" and called in (os.rename, os.replace, os.link):
            found.append("rename")

    sys.setprofile(seen)
    threading.setprofile(seen)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def called_with(frame: FrameType) -> int:
    """The descriptor that is synced: that of a folder, or of a draft."""
    known = frame.f_locals
    if "draft" in known:
        return int(known["draft"].fileno())
    return int(known["descriptor"])


@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="no /proc to see what a descriptor is"
)
@pytest.mark.parametrize("how", ["write", "create", "edit", "append"])
def test_bytes_then_name_then_folder(tmp_path: Path, how: str) -> None:
    place = str(tmp_path / "a.md")
    if how in ("edit", "append"):
        files.write(place, b"before\n")
    done = {
        "write": lambda: files.write(place, b"text\n"),
        "create": lambda: files.create(place, b"text\n"),
        "edit": lambda: files.edit(place, lambda data: data + b"text\n"),
        "append": lambda: files.append(place, b"text\n"),
    }
    told = calls(done[how])
    if how == "append":
        assert told == [f"sync {place}"]
        return
    named = told.index("rename")
    assert any(one.startswith(f"sync {tmp_path}/.") for one in told[:named]), told
    assert f"sync {tmp_path}" in told[named:], told


@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="no /proc to see what a descriptor is"
)
def test_of_several_new_files_all_bytes_then_the_note_then_all_names(
    tmp_path: Path,
) -> None:
    """What is noted is never lost: its hidden file is in its folder by then."""
    folder = Folder(str(tmp_path / "u"), "u")
    folder.create("facts/tea.md", "Tea.\n")
    wanted = [
        ("facts/a.md", "a"),
        ("facts/b.md", "b"),
        ("facts/c.md", "c"),
    ]
    place = f"sync {folder.root}/facts"
    noted: list[str] = []

    def note(paths: list[str]) -> None:
        noted.extend(paths)
        files.log(str(tmp_path / "log"), b"noted\n")

    told = calls(lambda: folder.create_all(wanted, note))
    drafts = told[:3]
    assert len(set(drafts)) == 3
    for one in drafts:
        assert one.startswith(f"{place}/.")
    assert told[3:] == [
        place,
        f"sync {tmp_path}/log",
        f"sync {tmp_path}",
        "rename",
        "rename",
        "rename",
        place,
    ]
    assert noted == [path for path, _ in wanted]
    assert len(os.listdir(f"{folder.root}/facts")) == 4


def test_a_name_that_is_taken_meanwhile_gives_way_to_the_next(tmp_path: Path) -> None:
    """That is noted, too, and the person's file stays as it is."""
    folder = Folder(str(tmp_path), "u")
    noted: list[list[str]] = []

    def note(paths: list[str]) -> None:
        noted.append(paths)
        (tmp_path / "facts/b.md").write_text("A person's.\n")

    wanted = [
        ("facts/a.md", "a"),
        ("facts/b.md", "b"),
        ("facts/c.md", "c"),
    ]
    came = folder.create_all(wanted, note)
    assert came == [
        "facts/a.md",
        "facts/b-2.md",
        "facts/c.md",
    ]
    assert noted[0] == [path for path, _ in wanted]
    assert noted[1:] == [came]
    assert folder.read("facts/b.md") == b"A person's.\n"
    assert folder.read("facts/b-2.md") == b"b"


def test_of_several_new_files_none_is_begun_where_one_has_no_room(
    tmp_path: Path,
) -> None:
    """The error names that file, and no hidden one stays."""
    small = str(tmp_path / "small.md")
    large = str(tmp_path / "large.md")

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (450, 450))
        with pytest.raises(OSError, match=re.escape(large)):
            files.write_drafts({small: b"n", large: b"n" * 10_000})

    child = fork.Process(target=write, daemon=True)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_write_cut_off_in_its_middle_is_taken_back(tmp_path: Path) -> None:
    """The limit on a file's size lets the first part of a line through, as a disk that
    fills up does."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old\n" * 100)
    named = re.escape(f": '{path}'")

    def write() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (450, 450))
        with pytest.raises(OSError, match=named):
            files.append(str(path), b"n" * 100 + b"\n")
        with pytest.raises(OSError, match=named):
            files.edit(str(path), lambda old: old * 2)
        files.append(str(path), b"fits\n")

    child = fork.Process(target=write, daemon=True)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert path.read_bytes() == b"old\n" * 100 + b"fits\n"
    assert not leftovers(tmp_path)


def test_no_call_is_only_linuxs() -> None:
    """So that it runs on macOS too."""
    for path in (Path(__file__).parents[2] / "filemem").rglob("*.py"):
        assert not ONLY_LINUX.search(path.read_text()), path
