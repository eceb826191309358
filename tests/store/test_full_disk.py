"""On a full disk each command says in one sentence which file could not be written and what to do, exits with 2, and loses
nothing; with room again it does what it was asked."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import programs
import pytest
from reader import Reader
from scripted_server import ScriptedServer

from filemem import Store
from filemem.store.passages import format_turn

OWL = "archive/facts/2025/2025-01-02-owl.md"
COMMANDS = [
    *(
        ["remember", "I live in Porto and work at the harbour."],
        ["chat", "-m", "I moved to Ghent."],
    ),
    *map(
        str.split,
        "compact --today 2027-06-01|maintain|import openai-jsonl EXPORT".split("|"),
    ),
    *map(
        str.split,
        f"sweep|consolidate|restore {OWL}|forget --about kiln --yes|report -o REPORT".split(
            "|"
        ),
    ),
]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = not os.geteuid() and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "none", place], check=False, capture_output=True
    ).returncode  # fmt: skip
    if not mounted:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=False)


def filemem(
    disk: Path, words: list[str], server: ScriptedServer
) -> subprocess.CompletedProcess[str]:
    places = {
        "EXPORT": str(disk.parent / "export.jsonl"),
        "REPORT": str(disk / "r.html"),
    }
    given = [places.get(word, word) for word in words]
    env = programs.clean(**(server.environment if words == ["consolidate"] else {}))
    return programs.filemem(
        *given,
        "--store",
        disk / "store",
        "--user",
        "ann",
        "--today",
        "2026-11-20",
        env=env,
    )


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_full_disk_is_named_and_nothing_is_lost(
    disk: Path, words: list[str], server: ScriptedServer
) -> None:
    server.default = Reader(echo=True).step
    talk = {
        "messages": [
            {"role": "user", "content": "I painted a lamp."},
            {"role": "assistant", "content": "Ah."},
        ]
    }
    (disk.parent / "export.jsonl").write_text(json.dumps(talk))
    ann = Store(disk / "store").user("ann").folder
    said = format_turn(
        "Ann",
        "09:30",
        "The kiln in Dedham cracked, and my sister Ida lives there. " * 8,
    )
    ann.create(
        "sessions/2026/2026-05-03-0930-pots.md",
        said + format_turn("assistant", "09:31", "I am sorry. " * 40),
    )
    ann.create(
        "facts/2026/2026-05-04-eels.md",
        "---\nkind: event\nimportance: 1\n---\nAte eels.\n",
    )
    ann.create(OWL, "An owl nests in the barn.\n")
    ann.create("profile.md", "Ann, potter.\n")
    before = {path: ann.read(path) for path in ann.paths()}
    with open(disk / "filler", "wb", buffering=0) as filler:
        while room := shutil.disk_usage(disk).free:
            filler.write(b"\0" * room)
    done = filemem(disk, words, server)
    assert done.returncode == 2, done.stdout + done.stderr
    told = [
        line for line in done.stderr.split("\n") if "No space left on device" in line
    ]
    assert len(told) == 1 and str(disk) in told[0] and "put that right" in told[0], (
        done.stderr
    )
    assert "Traceback" not in done.stderr and "permission" not in done.stderr
    left = {path: ann.read(path) for path in ann.paths()}
    for path, data in before.items():
        assert data in (left.get(path), left.get(f"archive/{path}")), path
    (disk / "filler").unlink()
    assert filemem(disk, words, server).returncode == 0
