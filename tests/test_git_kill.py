"""A job killed at any system call leaves nothing staged and nothing of its own uncommitted behind the next job.

A person's own edits stay theirs. strace kills the process right before the call. KILLS=1 in the environment tries every call of
those that change something or start git, KILLS=5 each fifth of a kind; else a few of them are tried.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repositories import git, plain_git, store  # noqa: F401
from test_forget_killed import WORD, copied, made, saying

SCRIPT = "import sys; from filemem.cli import main; sys.argv[0] = 'filemem'; main()"
CALLS = ("vfork", "write", "fsync", "rename", "renameat2", "unlink", "flock", "mkdir", "symlink")
JOBS = {
    "remember": ["remember", "Has sold the bicycle."],
    "chat": ["chat", "-m", "I live in Ghent now."],
    "maintain": ["maintain", "--today", "2027-06-01"],
}
KILLS = int(os.environ.get("KILLS", "0"))
TRIED = {"vfork": 2, "write": 1, "renameat2": 1, "unlink": 1}  # of each kind of call, where not all are tried

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


def run(where: Path, words: list[str], *before: str) -> subprocess.CompletedProcess[str]:
    """A command on the store, perhaps under another program."""
    kept = {key: os.environ[key] for key in ("PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME")}
    env = {**kept, "HOME": str(where.parent), "LANG": "C.UTF-8", "LOGNAME": "mara", "FILEMEM_TRUST": str(where)}
    command = [*before, sys.executable, "-c", SCRIPT, *words, "--store", str(where)]
    return subprocess.run(
        command, env=env, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, cwd=where.parent
    )


def killed(where: Path, words: list[str], call: str, number: int) -> None:
    """A command that ends without a word right before one of its calls."""
    run(where, words, "strace", "-qq", "-o", "/dev/null", "-e", f"inject={call}:signal=SIGKILL:when={number}")


def points(where: Path, words: list[str], call: str) -> list[int]:
    """Which of a job's calls to kill it at, counted from 1."""
    copy = where.with_name("counted")
    shutil.copytree(where, copy, symlinks=True)
    told = run(copy, words, "strace", "-qq", "-e", f"trace={call}", "-o", f"{copy}.calls")
    count = len(Path(f"{copy}.calls").read_text().splitlines())
    shutil.rmtree(copy)
    assert told.returncode == 0, told.stderr
    if KILLS:
        return list(range(1, count + 1, KILLS))
    tried = TRIED[call]
    return sorted({count * (2 * part + 1) // (2 * tried) + 1 for part in range(tried)} & set(range(1, count + 1)))


@pytest.mark.parametrize("job", JOBS)
def test_the_next_job_finishes_what_a_killed_one_left(tmp_path: Path, job: str) -> None:
    """Every file that it wrote is in a commit, the index is as HEAD, and the person's edit and new file are still only theirs."""
    where = tmp_path / "store"
    mara = store(where)
    run(where, ["chat", "-m", "I bought a kayak in Sintra.", "--today", "2026-11-20T09:00"])
    (Path(mara.root) / "profile.md").write_text("# Mara\n")
    git(where, "add", "."), git(where, "commit", "-qm", "Mine")
    (Path(mara.root) / "profile.md").write_text("# Mara\n\n- Hates mud.\n")
    (Path(mara.root) / "facts/own.md").write_text("A note of her own.\n")
    kills = 0
    for call in CALLS if KILLS else TRIED:
        for number in points(where, JOBS[job], call):
            copy = tmp_path / f"{call}-{number}"
            shutil.copytree(where, copy, symlinks=True)
            killed(copy, JOBS[job], call, number)
            kills += 1
            done = run(copy, ["remember", "Has a dog."])
            assert done.returncode == 0 and "not committed" not in done.stderr, (call, number, done.stderr)
            assert "left for you" not in done.stderr, (call, number, done.stderr)
            status = git(copy, "status", "--short", "-uall")
            assert status == " M mara/profile.md\n?? mara/facts/own.md", (call, number, status)
            assert "Hates mud" not in git(copy, "log", "-p") and not (copy / ".git/filemem-staged").exists()
            shutil.rmtree(copy)
    print(f"{job}: {kills} kills")
    assert kills >= len(TRIED)


def test_a_forgetting_is_finished_by_the_same_command(tmp_path: Path) -> None:
    """With the purge of git's history: nothing says it any more, and all else is there."""
    words = ["forget", "--about", WORD, "--yes", "--purge-history", "--user", "mara"]
    where, kills = made(tmp_path), 0
    for call in CALLS if KILLS else TRIED:
        for number in points(where, words, call):
            copy = copied(where, tmp_path / f"{call}-{number}")
            killed(copy, words, call, number)
            done = run(copy, words)
            kills += 1
            assert done.returncode == 0 or "Nothing was found" in done.stdout, (call, number, done.stdout, done.stderr)
            assert saying(copy) == [], (call, number, done.stdout)
            assert "It rains." in "".join(path.read_text() for path in copy.glob("mara/sessions/2026/*.md"))
            git(copy, "fsck", "--full", "--strict")
            shutil.rmtree(copy)
    print(f"forget: {kills} kills")
    assert kills >= len(TRIED)
