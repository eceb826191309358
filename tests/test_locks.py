"""Writers of one user wait for each other, whatever process and mount they come from; readers never wait; `filemem check` names a
file system that cannot hold a lock between machines.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_shards import disks, filemem, opened

from filemem import Store
from filemem.errors import Busy
from filemem.files import locks

MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
server:/home /mnt/home nfs4 rw,vers=4.2,local_lock=none 0 0
server:/old /mnt/old nfs rw,vers=3,nolock,local_lock=all 0 0
server:/flock /mnt/my\\040disk nfs rw,vers=3,local_lock=flock 0 0
ann@host: /mnt/ssh fuse.sshfs rw 0 0
/dev/sdb1 /mnt/old/local ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "wanted"),
    [
        ("/mnt/home/people", "nfs4"),
        ("/mnt/old", "nfs"),
        ("/mnt/old/local/x", "ext4"),
        ("/mnt/older", "ext4"),
        ("/mnt/my disk/a", "nfs"),
        ("/", "ext4"),
    ],
)
def test_the_file_system_of_a_folder_is_that_of_the_longest_mount(folder, wanted):
    assert locks.mounted(folder, MOUNTS)[0] == wanted


def test_mounts_that_keep_locks_on_one_machine_are_a_problem(tmp_path, monkeypatch):
    """nolock and local_lock on NFS, sshfs always: nothing that one machine tries could tell."""
    for line, said in (
        ("s:/x {} nfs rw,vers=3,nolock,local_lock=all 0 0", "(nfs with nolock) holds locks on this machine only"),
        ("s:/x {} nfs4 rw,local_lock=flock 0 0", "(nfs4 with local_lock=flock) holds"),
        ("s:/x {} cifs rw,nobrl 0 0", "(cifs with nobrl) holds"),
        ("s:/x {} fuse.sshfs rw 0 0", "(fuse.sshfs) holds"),
        ("s:/x {} nfs4 rw,local_lock=none 0 0", ""),
    ):
        (tmp_path / "mounts").write_text(line.format(os.path.realpath(tmp_path)) + "\n")
        monkeypatch.setattr(locks, "MOUNTS", str(tmp_path / "mounts"))
        found = [problem.what for problem in locks.problems(str(tmp_path))]
        assert [said in what for what in found] == ([True] if said else []), found
    assert [path.name for path in tmp_path.iterdir()] == ["mounts"]


def test_locks_of_this_machine_hold_between_two_processes_and_check_says_nothing(tmp_path):
    top = disks(tmp_path, "a", "b")
    opened(top).user("ann").remember("Prefers oolong tea.")
    told = filemem(top, "check", "--json")
    assert (told.returncode, told.stdout) == (0, "")


WRITE = """
import sys
from filemem import Store
from filemem.files.trust import Trust
store, who, names, turns = Store(sys.argv[1], Trust(given=True)), sys.argv[2], sys.argv[3].split(), int(sys.argv[4])
for turn in range(turns):
    line = f"- **{who}** 09:30: turn {turn} of {who}, {'x' * 60}\\n"
    for name in names:
        store.user(name).folder.append("sessions/2026/2026-11-20-0930-both.md", line)
"""


def test_two_machines_that_write_the_same_users_lose_and_tear_nothing(tmp_path):
    """Two processes, in namespaces of their own with other host names and mounts where the system permits, else as they are."""
    top, names = disks(tmp_path, "a", "b"), ["ann", "bob", "cleo"]
    for name in names:
        opened(top).user(name).folder.create("sessions/2026/2026-11-20-0930-both.md", "")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    machines = [
        subprocess.Popen(
            [*apart(), sys.executable, "-c", WRITE, top, who, " ".join(names), "30"],
            env=environment,
            stderr=subprocess.PIPE,
        )
        for who in ("one", "two")
    ]
    for machine in machines:
        assert machine.communicate()[1] == b"" and machine.returncode == 0
    for name in names:
        lines = opened(top).user(name).open_file("sessions/2026/2026-11-20-0930-both.md").lines
        told = [line for line in lines if line]
        wanted = [
            f"- **{who}** 09:30: turn {turn} of {who}, {'x' * 60}" for who in ("one", "two") for turn in range(30)
        ]
        assert sorted(told) == sorted(wanted)
        assert [line for line in told if "**one**" in line] == wanted[:30]


def apart() -> list[str]:
    """The beginning of a command that runs as on another machine, as far as this one permits it."""
    call = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--uts"]
    try:
        permitted = subprocess.run([*call, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return []
    return call if permitted else []


HOLD = """
import sys
from filemem import Store
with Store(sys.argv[1]).user("ann").folder.locked():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_reader_never_waits_and_a_killed_holder_frees_the_lock(tmp_path):
    user = Store(tmp_path).user("ann")
    user.remember("Prefers oolong tea.")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout and holder.stdout.readline() == b"held\n"
    with pytest.raises(Busy, match="another process has held"), user.folder.locked(0):
        pass
    assert (
        user.search_files("oolong")
        and user.grep("oolong")
        and "oolong" in json.dumps(user.tools().call("grep", {"pattern": "tea"}))
    )
    holder.kill()
    holder.communicate()
    with user.folder.locked(0):
        pass
