"""`filemem watch` tells of every memory that is new, changed, moved or deleted, with the lines that came and went, and ends
cleanly at Ctrl-C. Tested by reading what a real process prints."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import Program

from filemem import Store
from filemem.files.folder import Folder
from filemem.files.follow import MemoryWatch


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    user = Store(tmp_path / "store").user("mara").folder
    user.create("profile.md", "# Mara\n\nAn engineer.\n")
    user.create("facts/2026-11-18-tea.md", "Prefers oolong tea.\n")
    return user


@pytest.fixture
def watching(mara: Folder) -> Iterator["subprocess.Popen[str]"]:
    command = ["--store", mara.store, "--user", "mara", "watch", "--json"]
    with Program(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def told(process: "subprocess.Popen[str]") -> dict[str, object]:
    assert process.stdout
    found: dict[str, object] = json.loads(process.stdout.readline())
    return found


def event(what: str, path: str, lines: list[str], was: str = "") -> dict[str, object]:
    return {"event": what, "path": path, "was": was, "lines": lines}


def test_every_kind_of_change_is_told(mara: Folder, watching: "subprocess.Popen[str]") -> None:
    assert told(watching) == {"event": "watching", "user": "mara", "memories": 2}
    path = mara.create("lessons/short.md", "Keep it short.\n")
    assert told(watching) == event("new", path, ["+Keep it short."])
    mara.append("profile.md", "Plays the tuba.\n")
    assert told(watching) == event("changed", "profile.md", ["+Plays the tuba."])
    mara.move("facts/2026-11-18-tea.md", "archive/facts/2026-11-18-tea.md")
    assert told(watching) == event("moved", "archive/facts/2026-11-18-tea.md", [], "facts/2026-11-18-tea.md")
    os.unlink(mara.absolute(path))
    assert told(watching) == event("deleted", path, ["-Keep it short."])


def test_an_editors_save_is_one_change(mara: Folder, watching: "subprocess.Popen[str]") -> None:
    """In place, by a rename, and by moving the old file aside first."""
    told(watching)
    where = Path(mara.root, "profile.md")
    where.write_text("# Mara\n\nA bridge engineer.\n")
    assert told(watching) == event("changed", "profile.md", ["-An engineer.", "+A bridge engineer."])
    Path(mara.root, "profile.md~").write_text("# Mara\n\nA diver.\n")
    os.replace(f"{where}~", where)
    assert told(watching) == event("changed", "profile.md", ["-A bridge engineer.", "+A diver."])
    os.rename(where, f"{where}~")
    where.write_text("# Mara\n\nA poet.\n")
    assert told(watching) == event("changed", "profile.md", ["-A diver.", "+A poet."])


def test_ctrl_c_ends_it_cleanly(mara: Folder, watching: "subprocess.Popen[str]") -> None:
    told(watching)
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=60)
    assert (watching.returncode, out, err) == (0, "", "")


def test_what_is_told_has_bounds(mara: Folder) -> None:
    watch = MemoryWatch(mara)
    mara.create("facts/long.md", "".join(f"line {n}\n" for n in range(1000)))
    mara.create("facts/large.md", "word " * 300_000)
    found = []
    while len(found) < 2:
        found += watch.changes()
    assert sorted((change.path, len(change.lines), change.lines[-1]) for change in found) == [
        ("facts/large.md", 1, "(larger than 1 MB)"),
        ("facts/long.md", 51, "(950 more lines)"),
    ]
    assert list(watch.changes()) == []
