"""What editors and programs that share files leave beside a memory is never taken for
one and never written over; a real editor's save is read whole."""

import datetime as dt
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from repositories import START, git, plain_git  # noqa: F401

from filemem import User
from filemem.git.setup import set_up
from filemem.overview import problems
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

FACT = "facts/2026/2026-11-18-tea.md"
# Of Vim, Emacs, nano, VS Code, JetBrains, Sublime Text, GNOME, Kate, Obsidian, office
# programs, Syncthing, rsync, systems, git and patch.
LEFT = """
.TEA.swp .TEA.un~ TEA~ 4913 #TEA# .#TEA TEA.~3~ TEA.save TEA.save.1 TEA.vsctmp .vscode
TEA___jb_tmp___ .idea .sublAbC.tmp tea.sublime-workspace.tmp .goutputstream-QWERTY
.TEA.kate-swp TEA.AbCdEf .obsidian .trash ~$TEA .~lock.TEA# .syncthing.TEA.tmp
~syncthing~TEA.tmp .stfolder .TEA.Xy12Zz .DS_Store ._TEA Thumbs.db desktop.ini TEA.orig
TEA.rej
""".replace("TEA", os.path.basename(FACT)).split()


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    user = StoreFolder(tmp_path / "store").folder("mara")
    user.create(FACT, "Prefers oolong tea.\n")
    return user


def test_what_an_editor_leaves_is_no_memory_and_stays_as_it_is(mara: Folder) -> None:
    folder = Path(mara.root, os.path.dirname(FACT))
    for name in LEFT:
        (folder / name).write_text("tea, unsaved\n")
    assert mara.paths() == [FACT]
    assert [hit.path for hit in User(mara).search_files("tea")] == [FACT]
    mara.create(FACT, "Another.\n")
    mara.append(FACT, "One more.\n")
    mara.move({FACT: f"archive/{FACT}"})
    assert {(folder / name).read_text() for name in LEFT} == {"tea, unsaved\n"}
    set_up(mara.store, "mara", START)
    tracked = map(
        os.path.basename,
        git(mara.store, "ls-files").split("\n"),
    )
    assert not {*LEFT}.intersection(tracked)


@pytest.mark.parametrize(
    "name",
    [
        "2026-11-18-tea.sync-conflict-20261120-093000-ABCDEFG.md",
        "2026-11-18-tea (Mara's conflicted copy 2026-11-20).md",
    ],
)
def test_a_conflict_copy_is_searched_and_reported_with_its_remedy(
    mara: Folder, name: str
) -> None:
    """It holds what a person wrote on another machine: neither hidden nor unnoticed."""
    path = f"facts/2026/{name}"
    Path(
        mara.root,
        path,
    ).write_text("Prefers pu-erh now.\n")
    assert User(mara).search_files("pu-erh")[0].path == path
    (problem,) = problems(mara, dt.date(2026, 11, 20))
    assert problem.path == path and f"in {FACT}" in problem.remedy


# -- real editors --------------------------------------------------------------------------------------------------


def editor(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize(
    "write",
    [
        Folder.append,
        lambda mara, path, text: mara.edit(
            path,
            lambda data: data + text.encode(),
        ),
    ],
)
@pytest.mark.parametrize("empties", [True, False])
def test_a_save_an_editor_has_begun_is_waited_for(
    mara: Folder, write: Callable[..., object], empties: bool
) -> None:
    """Some empty a file, others move it aside, for a moment before they write it."""
    place = Path(mara.root, FACT)
    if empties:
        place.write_bytes(b"")
    else:
        place.rename(f"{place}~")
    writer = threading.Thread(
        target=write,
        args=(mara, FACT, "One more.\n"),
    )
    writer.start()
    writer.join(0.02)
    place.write_text("Prefers oolong tea, edited.\n")
    writer.join()
    assert place.read_text() == "Prefers oolong tea, edited.\nOne more.\n"


@pytest.mark.parametrize(
    "how",
    ["backupcopy=yes", "backupcopy=no backup"],
)
def test_vim_saves_in_place_and_by_renaming(mara: Folder, how: str) -> None:
    """While its swap file lies there, and with every way of keeping a backup."""
    command = [
        editor("vim"),
        "-Nu",
        "NONE",
        "-es",
        f"+set {how} swapfile",
    ]
    command += [
        "+normal GoLikes pu-erh too.",
        "+wq",
        mara.absolute(FACT),
    ]
    subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert mara.read(FACT) == b"Prefers oolong tea.\nLikes pu-erh too.\n"
    assert User(mara).search_files("pu-erh")[0].line == 1
    assert mara.paths() == [FACT]
    assert problems(mara, dt.date(2026, 11, 20)) == []
