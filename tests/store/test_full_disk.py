"""On a full disk each command says in one sentence which file could not be written and
what to do, exits with 2, and loses nothing; with room again it does what it was asked."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import programs
import pytest
from programs import lay
from reader import Reader
from scripted_server import ScriptedServer

from filemem.store.passages import format_turn
from filemem.store.users import StoreFolder

OWL = "archive/facts/2025/2025-01-02-owl.md"
COMMANDS = [
    "remember Ann lives in Porto.",
    "chat -m Ghent?",
    "consolidate",
    "compact",
    "sweep",
    "maintain",
    "import openai-jsonl EXPORT",
    f"restore {OWL}",
    "forget --about kiln --yes",
    "report -o REPORT",
]
SAID = [
    format_turn(
        "Ann",
        "09:30",
        "The kiln in Dedham cracked. " * 15,
    ),
    format_turn("assistant", "09:31", "I am sorry. " * 40),
]
FILES = {
    "sessions/2026/2026-05-03-0930-pots.md": "".join(SAID),
    "facts/2026/2026-05-04-eels.md": "---\nkind: event\nimportance: 1\n---\nEels.\n",
    OWL: "An owl nests in the barn.\n",
    "profile.md": "Ann, potter.\n",
}
EXPORT = {"messages": [{"role": "user", "content": "I painted a lamp."}]}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = [
        "mount",
        "-t",
        "tmpfs",
        "-o",
        "size=400k",
        "none",
        place,
    ]
    if (
        os.geteuid()
        or subprocess.run(
            mount,
            check=False,
        ).returncode
    ):
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(
            ["umount", "-l", place],
            check=False,
        )


def run(
    disk: Path, command: str, server: ScriptedServer
) -> subprocess.CompletedProcess[str]:
    (disk.parent / "export.jsonl").write_text(json.dumps(EXPORT))
    words = command.replace(
        "EXPORT",
        f"{disk.parent}/export.jsonl",
    )
    words = words.replace("REPORT", f"{disk}/r.html")
    where = [
        "--store",
        disk / "store",
        "--user",
        "ann",
        "--today",
        "2026-11-20",
    ]
    model = server.environment if command == "consolidate" else {}
    return programs.filemem(
        *words.split(),
        *where,
        env=programs.clean(**model),
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_named_and_nothing_is_lost(
    disk: Path, command: str, server: ScriptedServer
) -> None:
    server.default = Reader(echo=True).step
    lay(disk / "store/ann", FILES)
    with open(
        disk / "filler",
        "wb",
        buffering=0,
    ) as filler:
        while room := shutil.disk_usage(disk).free:
            filler.write(b"\0" * room)
    done = run(disk, command, server)
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.split("\n")
    [told] = [line for line in lines if "No space left on device" in line]
    assert str(disk) in told and "put that right" in told
    assert "Traceback" not in done.stderr
    ann = StoreFolder(disk / "store").folder("ann")
    left = {path: ann.read(path).decode() for path in ann.paths()}
    for path, text in FILES.items():
        assert text in (left.get(path), left.get(f"archive/{path}")), path
    (disk / "filler").unlink()
    assert run(disk, command, server).returncode == 0
