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
from filemem.store.paths import live

JOBS = {
    "remember": ["remember", "Has sold the bicycle."],
    "chat": ["chat", "-m", "I live in Ghent now."],
    "maintain": ["maintain", "--today", "2027-06-01"],
}
# A start of a program, a write, a new name and a deletion.
TRIED = {"vfork": 2, "write": 1, "rename": 1, "unlink": 1}  # how many of each call

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


@pytest.mark.parametrize("job", JOBS)
def test_the_next_job_finishes_what_a_killed_one_left(tmp_path: Path, job: str) -> None:
    """Every file that it wrote is in a commit, the index is as HEAD, and the person's edit and new file are still only theirs."""
    where = tmp_path / "store"
    mara = store(where)
    run(
        where,
        "chat",
        "-m",
        "I bought a kayak in Sintra.",
        "--today",
        "2026-11-20T09:00",
    )
    (Path(mara.root) / "profile.md").write_text("# Mara\n")
    git(where, "add", "."), git(where, "commit", "-qm", "Mine")
    (Path(mara.root) / "profile.md").write_text("# Mara\n\n- Hates mud.\n")
    (Path(mara.root) / "facts/own.md").write_text("A note of her own.\n")
    kills = 0
    for call, number in points(where, JOBS[job]):
        copy = tmp_path / f"{call}-{number}"
        shutil.copytree(where, copy, symlinks=True)
        traced(
            copy,
            JOBS[job],
            "-o",
            "/dev/null",
            "-e",
            f"inject={call}:signal=SIGKILL:when={number}",
        )
        kills += 1
        done = run(copy, "remember", "Has a dog.")
        assert done.returncode == 0 and not re.search(
            "not committed|left for you", done.stdout
        ), (call, number, done)
        status = git(copy, "status", "--short", "-uall")
        assert status == " M mara/profile.md\n?? mara/facts/own.md", (
            call,
            number,
            status,
        )
        assert "Hates mud" not in git(copy, "log", "-p")
        shutil.rmtree(copy)
    assert kills >= len(TRIED)


CUTS = [("fsync", 3), ("fsync", 9), ("fsync", 19), ("rename", 5), ("unlink", 1)]


@pytest.mark.parametrize("how", ["signal=SIGKILL", "error=EIO"])
def test_an_undo_that_was_cut_off_is_done_by_the_next_and_loses_nothing(
    tmp_path: Path, how: str
) -> None:
    """Each file stands somewhere, under one name, and the next undo does the rest.

    Also where a job came between.
    """
    mara = store(tmp_path / "store")
    talks = [f"sessions/2026/2026-11-{day}-0930-tea.md" for day in range(10, 20)]
    for path in talks:
        write(mara, path, f"- **mara** 09:30: said on {path}\n")
    job(mara, "Talk", *talks)
    before = {path: mara.read(path) for path in mara.paths()}
    for path in talks:
        mara.move({path: f"archive/{path}"})
    swept = job(mara, "Sweep", *talks, *(f"archive/{path}" for path in talks))
    for number, (call, at) in enumerate(CUTS):
        copy = copied(tmp_path / "store", tmp_path / str(number))
        traced(
            copy, ["undo"], "-o", "/dev/null", "-e", f"inject={call}:{how}:when={at}"
        )
        user = Store(copy).user("mara").folder
        assert sorted(map(live, user.paths())) == sorted(before), (call, at)
        assert run(copy, "remember", "Has a dog.").returncode == 0
        if not git(copy, "log", "--format=%s", "--grep=^Undo"):
            done = run(copy, "undo", swept)
            assert done.returncode == 0 and "not committed" not in done.stdout, done
        assert run(copy, "undo", swept).returncode == 2  # nothing is left of it
        after = {path: user.read(path) for path in user.paths()}
        assert {path: after.get(path) for path in before} == before, (call, at)
        assert not any(path.startswith("archive/") for path in after)
        assert git(copy, "status", "--short") == ""


TALK = "sessions/2026/2026-11-20-0930-tea.md"
FACT = "facts/2026/2026-11-20-prefers-oolong-tea.md"


def test_a_sync_that_was_cut_off_is_finished_by_the_next(tmp_path: Path) -> None:
    """No line is lost or doubled, and no lock stays behind.

    What one machine archived and the other edited is one memory.
    """
    git(tmp_path, "init", "--quiet", "--bare", "remote")
    begun = tmp_path / "store"
    mara = store(begun)
    job(mara, "Talk", mara.create(TALK, "- **mara** 09:30: hello\n"))
    git(begun, "remote", "add", "origin", "../remote")
    assert run(begun, "sync").returncode == 0
    git(tmp_path, "clone", "--quiet", "remote", "other")
    other = Store(tmp_path / "other").user("mara").folder
    for user, name in ((mara, "here"), (other, "there")):
        user.append(TALK, f"- **mara** 10:00: from {name}\n")
        job(user, "Talk", TALK, user.create(f"facts/{name}.md", f"{name}\n"))
    mara.append(FACT, "With figs.\n")
    job(mara, "Figs", FACT)
    job(other, "Black tea", *supersede(other, FACT, "Prefers black tea.")[1])
    assert run(tmp_path / "other", "sync").returncode == 0
    saved = tmp_path / "saved"
    for name in ("store", "remote"):
        copied(tmp_path / name, saved / name)
    for number, (call, at) in enumerate(points(begun, ["sync"])):
        world = copied(saved, tmp_path / str(number))
        inject = f"inject={call}:signal=SIGKILL:when={at}"
        traced(world / "store", ["sync"], "-o", "/dev/null", "-e", inject)
        assert run(world / "store", "sync").returncode == 0, (call, at)
        git(world, "clone", "--quiet", "remote", "fresh")
        heads = {git(world / one, "rev-parse", "HEAD") for one in ("store", "fresh")}
        assert len(heads) == 1
        assert git(world / "store", "status", "-s") == ""
        user = Store(world / "fresh").user("mara").folder
        turns = [passage.text for passage in user.memory(TALK).passages]
        assert sorted(turns) == ["from here", "from there", "hello"], (call, at)
        assert {"facts/here.md", "facts/there.md"} <= {*user.paths()}
        lines = user.memory(f"archive/{FACT}").lines
        assert FACT not in user.paths() and lines[-1] == "With figs."
        assert lines[1].startswith("superseded_by")
