"""Writers of one user wait for each other, whatever process they come from; readers never wait; where a system has no fcntl its
own way of locking serves."""

import json
import subprocess
from pathlib import Path

import pytest
from programs import COLD

from filemem import Store
from filemem.errors import Busy
from filemem.store.users import StoreFolder

WRITE = """
import sys
from filemem.store.users import StoreFolder
ann, who = StoreFolder(sys.argv[1]).folder("ann"), sys.argv[2]
for turn in range(60):
    line = f"- **{who}** 09:30: turn {turn} of {who}, {'x' * 60}\\n"
    ann.append("sessions/2026/2026-11-20-0930-both.md", line)
"""
HOLD = """
import sys
from filemem.store.users import StoreFolder
with StoreFolder(sys.argv[1]).folder("ann").locked():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_that_write_the_same_file_lose_and_tear_nothing(
    tmp_path: Path,
) -> None:
    path = (
        StoreFolder(tmp_path)
        .folder("ann")
        .create("sessions/2026/2026-11-20-0930-both.md", "")
    )
    python = COLD[0]
    both = [
        subprocess.Popen([python, "-c", WRITE, tmp_path, who], stderr=subprocess.PIPE)
        for who in ("one", "two")
    ]
    for writer in both:
        assert writer.communicate()[1] == b"" and writer.returncode == 0
    told = [line for line in Store(tmp_path).user("ann").open_file(path).lines if line]
    for who in ("one", "two"):
        wanted = [
            f"- **{who}** 09:30: turn {turn} of {who}, {'x' * 60}" for turn in range(60)
        ]
        assert [line for line in told if f"**{who}**" in line] == wanted


def test_a_reader_never_waits_and_a_killed_holder_frees_the_lock(
    tmp_path: Path,
) -> None:
    user = Store(tmp_path).user("ann")
    fact = user.remember("Prefers oolong tea.").path
    holder = subprocess.Popen(
        [COLD[0], "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout and holder.stdout.readline() == b"held\n"
    with (
        pytest.raises(Busy, match=rf"process {holder.pid}, since 20.*, holds"),
        user._folder.locked(0),
    ):
        pass
    assert user.search_files("oolong") and user.grep("oolong")
    assert "oolong" in json.dumps(user.tools().call("grep", {"pattern": "tea"}))
    user._folder.wait = 0
    with pytest.raises(Busy):  # else a job would take it for one that has to stay
        user._folder.move({fact: f"archive/{fact}"})
    holder.kill()
    holder.communicate()
    with user._folder.locked(0):
        pass
