"""A job killed at any system call leaves nothing staged and nothing of its own uncommitted behind the next job.

A person's own edits stay theirs. strace kills the process right before the call. KILLS=1 in the environment tries every call of
those that change something or start git, KILLS=5 each fifth of a kind; else a few of them are tried.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import COLD, clean, filemem
from repositories import copied, git, plain_git, store  # noqa: F401
from test_forget_killed import WORD, made, saying
from test_git_sync import change, machines, synced  # noqa: F401

CALLS = ("vfork", "write", "fsync", "rename", "link", "unlink", "flock", "mkdir", "symlink")
JOBS = {
    "remember": ["remember", "Has sold the bicycle."],
    "chat": ["chat", "-m", "I live in Ghent now."],
    "maintain": ["maintain", "--today", "2027-06-01"],
}
KILLS = int(os.environ.get("KILLS", "0"))
TRIED = {"vfork": 2, "write": 1, "link": 1, "unlink": 1}  # of each kind of call, where not all are tried

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


def environment(where: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME")}
    return clean(where.parent, **kept, LOGNAME="mara", FILEMEM_TRUST=str(where))


def run(where: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    """A command on the store."""
    return filemem(*words, "--store", where, env=environment(where), cwd=where.parent)


def traced(where: Path, words: list[str], *how: str) -> int:
    """Run a command on the store under strace; its exit code."""
    command = ["strace", "-qq", *how, *COLD, *words, "--store", str(where)]
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True}
    return subprocess.run(command, env=environment(where), cwd=where.parent, check=False, **quiet).returncode


def killed(where: Path, words: list[str], call: str, number: int) -> None:
    """A command that ends without a word right before one of its calls."""
    traced(where, words, "-o", "/dev/null", "-e", f"inject={call}:signal=SIGKILL:when={number}")


def points(where: Path, words: list[str]) -> Iterator[tuple[str, int]]:
    """Which of a job's calls to kill it at, counted from 1."""
    copy = where.with_name("counted")
    shutil.copytree(where, copy, symlinks=True)
    calls = CALLS if KILLS else TRIED
    assert traced(copy, words, "-e", f"trace={','.join(calls)}", "-o", f"{copy}.calls") == 0
    counts = Counter(re.findall(r"^(\w+)\(", Path(f"{copy}.calls").read_text(), re.MULTILINE))
    shutil.rmtree(copy)
    for call in calls:
        count, tried = counts[call], TRIED.get(call, 0)
        some = {count * (2 * part + 1) // (2 * tried) + 1 for part in range(tried)} & set(range(1, count + 1))
        yield from ((call, number) for number in (range(1, count + 1, KILLS) if KILLS else sorted(some)))


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
    for call, number in points(where, JOBS[job]):
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
    pytest.importorskip("git_filter_repo")
    words = ["forget", "--about", WORD, "--yes", "--purge-history", "--user", "mara"]
    where, kills = made(tmp_path), 0
    for call, number in points(where, words):
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


def test_a_commit_whose_git_was_killed_before_it_wrote_the_index_is_not_taken_back(tmp_path: Path) -> None:
    """By the next commit of a person, that is: the next job has the index say what the commit says. What they staged stays."""
    where = tmp_path / "store"
    mara = store(where)
    (Path(mara.root) / "own.md").write_text("A note of her own.\n")
    git(where, "add", "mara/own.md")
    before = git(where, "rev-parse", "HEAD")
    real, shim = shutil.which("git"), tmp_path / "bin/git"
    shim.parent.mkdir()
    for number in range(1, 40):
        copy = copied(where, tmp_path / f"killed-{number}")
        kill = f"strace -f -qq -o /dev/null -e inject=rename:signal=KILL:when={number} {real}"
        shim.write_text(
            f'#!/bin/sh\ncase " $* " in *" commit "*) {kill} "$@"; kill -9 $PPID;; *) exec {real} "$@";; esac\n'
        )
        shim.chmod(0o700)
        env = environment(copy)
        words = ["remember", "Has a boat.", "--store", copy]
        filemem(*words, env={**env, "PATH": f"{shim.parent}:{env['PATH']}"}, cwd=tmp_path)
        if git(copy, "rev-parse", "HEAD") != before:
            break
    behind = git(copy, "status", "--short")
    assert number < 39 and "boat" in behind, behind
    assert run(copy, ["remember", "Has a dog."]).returncode == 0
    assert git(copy, "status", "--short") == "A  mara/own.md"
    assert "boat" in git(copy, "ls-files")
