"""What a job in git leaves behind where it is killed at any system call, or one fails: the next job works, and finishes it.

A person's own edits stay theirs. strace ends the process right before the call; `python -m benchmarks.reliability kills-in-git` tries many more.
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
from repositories import copied, git, job, plain_git, store, supersede, write

from filemem import Store
from filemem.store.users import StoreFolder

JOBS = {
    "remember": ["remember", "Has sold the bicycle.", "--today", "2026-11-22T10:00"],
    "maintain": ["maintain", "--today", "2027-06-01"],
    "undo": ["undo"],
    "sync": ["sync"],
}
TALK = "sessions/2026/2026-11-20-0930-tea.md"
FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"
# A start of a program, a write, a new name and a deletion.
TRIED = {
    "vfork": 2,
    "write": 1,
    "fsync": 1,
    "rename": 1,
    "unlink": 1,
}  # how many of each call

# Without strace nothing can be killed at a given call,
# nor be met by an error there.
pytestmark = pytest.mark.skipif(
    not shutil.which("strace"), reason="strace is not installed"
)


def environment(where: Path) -> dict[str, str]:
    """The variables of a command on the store.

    Git's settings for tests are among them.
    """
    kept = {
        key: os.environ[key]
        for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME")
    }
    return clean(where.parent, **kept, LOGNAME="mara")


def run(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the store.

    It ends as it may; the caller looks at its exit code.
    """
    return filemem(*words, "--store", where, env=environment(where), cwd=where.parent)


def traced(where: Path, words: list[str], *how: str) -> int:
    """Run a command on the store under strace; its exit code.

    `how` are strace's options: what it injects, and where it writes.
    """
    command = ["strace", "-qq", *how, *COLD, *words, "--store", str(where)]
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True}
    return subprocess.run(
        command, env=environment(where), cwd=where.parent, check=False, **quiet
    ).returncode


def points(where: Path, words: list[str]) -> Iterator[tuple[str, int]]:
    """Which of a job's calls to kill it at, counted from 1.

    They are spread over all that it makes of each kind in an undisturbed run on a copy
    of the store.
    """
    copy = where.with_name("counted")
    shutil.copytree(where, copy, symlinks=True)
    found = Path(f"{copy}.calls")
    assert traced(copy, words, "-e", f"trace={','.join(TRIED)}", "-o", str(found)) == 0
    counts = Counter(re.findall(r"^(\w+)\(", found.read_text(), re.MULTILINE))
    shutil.rmtree(copy)
    for call, tried in TRIED.items():
        for part in range(tried):
            number = counts[call] * (2 * part + 1) // (2 * tried) + 1
            if number <= counts[call]:
                yield call, number


def made(top: Path) -> Path:
    """A store that another machine shares, whose last commit is a sweep.

    Both machines have talked on, one has changed a fact and the other archived it. A
    line of the person's is not committed.
    """
    top.mkdir()
    git(top, "init", "--quiet", "--bare", "remote")
    mara = store(top / "store")
    job(mara, "Talk", mara.create(TALK, "- **mara** 09:30: hello\n"))
    git(top / "store", "remote", "add", "origin", "../remote")
    assert run(top / "store", "sync").returncode == 0
    git(top, "clone", "--quiet", "remote", "other")
    other = StoreFolder(top / "other").folder("mara")
    for user, name in ((mara, "here"), (other, "there")):
        user.append(TALK, f"- **mara** 10:00: from {name}\n")
        job(user, "Talk", TALK, user.create(f"facts/{name}.md", f"{name}\n"))
    mara.append(FACT, "With figs.\n")
    job(mara, "Figs", FACT, mara.create("profile.md", "# Mara\n"))
    job(other, "Black tea", *supersede(other, FACT, "Prefers black tea.")[1])
    assert run(top / "other", "sync").returncode == 0
    swept = [f"sessions/2026/2026-11-{day}-0930-tea.md" for day in range(10, 20)]
    for path in swept:
        write(mara, path, f"- **mara** 09:30: said on {path}\n")
    job(mara, "Talk", *swept)
    for path in swept:
        mara.move({path: f"archive/{path}"})
    job(mara, "Sweep", *swept, *(f"archive/{path}" for path in swept), Job="sweep")
    mara.append("profile.md", "- Hates mud.\n")
    return top


@pytest.mark.parametrize(
    ("name", "how"), [*((job, "signal=SIGKILL") for job in JOBS), ("undo", "error=EIO")]
)
def test_what_a_job_that_was_cut_off_left_is_finished_by_the_same_command(
    tmp_path: Path, name: str, how: str
) -> None:
    """The files are as after an undisturbed run.

    With the next job all is committed but the person's line.
    """
    saved = made(tmp_path / "saved")
    words = JOBS[name]
    if name == "undo":
        words = ["undo", git(saved / "store", "rev-parse", "HEAD")]
    undisturbed = copied(saved, tmp_path / "undisturbed")
    assert run(undisturbed / "store", *words).returncode == 0
    kills = 0
    for call, at in points(saved / "store", words):
        world = copied(saved, tmp_path / f"{call}-{at}")
        inject = f"inject={call}:{how}:when={at}"
        traced(world / "store", words, "-o", "/dev/null", "-e", inject)
        done = run(world / "store", *words)
        assert done.returncode in (0, 2) and "not committed yet" not in done.stdout
        assert texts(world) == texts(undisturbed), (call, at, done)
        assert run(world / "store", "remember", "Has a dog.").returncode == 0
        assert git(world / "store", "status", "--short") == " M mara/profile.md"
        assert "Hates mud" not in git(world / "store", "log", "-p")
        kills += 1
    assert kills >= len(TRIED)


def texts(world: Path) -> dict[str, bytes]:
    """Return the memories of the store, by path."""
    user = StoreFolder(world / "store").folder("mara")
    return {path: user.read(path) for path in user.paths()}
