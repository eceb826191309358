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

JOBS = {
    "remember": ["remember", "Has sold the bicycle."],
    "chat": ["chat", "-m", "I live in Ghent now."],
    "maintain": ["maintain", "--today", "2027-06-01"],
}
TRIED = {"vfork": 2, "write": 1, "rename": 1, "unlink": 1}  # how many of each call

pytestmark = pytest.mark.skipif(
    not shutil.which("strace"), reason="strace is not installed"
)


def environment(where: Path) -> dict[str, str]:
    kept = {
        key: os.environ[key]
        for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME")
    }
    return clean(where.parent, **kept, LOGNAME="mara")


def run(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command on the store."""
    return filemem(*words, "--store", where, env=environment(where), cwd=where.parent)


def traced(where: Path, words: list[str], *how: str) -> int:
    """Run a command on the store under strace; its exit code."""
    command = ["strace", "-qq", *how, *COLD, *words, "--store", str(where)]
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True}
    return subprocess.run(
        command, env=environment(where), cwd=where.parent, check=False, **quiet
    ).returncode


def points(where: Path, words: list[str]) -> Iterator[tuple[str, int]]:
    """Which of a job's calls to kill it at, counted from 1."""
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


@pytest.mark.parametrize("how", ["signal=SIGKILL", "error=EIO"])
def test_an_undo_that_was_cut_off_is_done_by_the_next_and_loses_nothing(
    tmp_path: Path, how: str
) -> None:
    """Killed, or met by an error: each file stands somewhere, under one name, and the next undo leaves what an undisturbed one
    does; also where a job came between."""
    mara = store(tmp_path / "store")
    talks = [f"sessions/2026/2026-11-{day}-0930-tea.md" for day in range(10, 20)]
    for path in talks:
        write(mara, path, f"- **mara** 09:30: said on {path}\n")
    job(mara, "Talk", *talks)
    before = {path: mara.read(path) for path in mara.paths()}
    for path in talks:
        mara.move({path: f"archive/{path}"})
    swept = job(mara, "Sweep", *talks, *(f"archive/{path}" for path in talks))
    for call, number in [
        ("fsync", 3),
        ("fsync", 9),
        ("fsync", 19),
        ("rename", 5),
        ("rename", 9),
        ("unlink", 1),
    ]:
        copy = copied(tmp_path / "store", tmp_path / f"{call}-{number}")
        traced(
            copy,
            ["undo"],
            "-o",
            "/dev/null",
            "-e",
            f"inject={call}:{how}:when={number}",
        )
        user = Store(copy).user("mara").folder
        assert sorted(path.removeprefix("archive/") for path in user.paths()) == sorted(
            before
        ), (call, number)
        if number == 9:
            assert run(copy, "remember", "Has a dog.").returncode == 0
        if not git(copy, "log", "--format=%s", "--grep=^Undo"):
            done = run(copy, "undo", *([swept] if number == 9 else []))
            assert done.returncode == 0 and "not committed" not in done.stdout, (
                call,
                number,
                done,
            )
        assert run(copy, "undo", swept).returncode == 2  # nothing is left of it
        after = {path: user.read(path) for path in user.paths()}
        assert {path: after.get(path) for path in before} == before, (call, number)
        assert not {f"archive/{path}" for path in before} & after.keys() and not git(
            copy, "status", "--short"
        )
        assert not run(
            copy, "sweep", "--dry-run", "--today", "2026-11-21"
        ).stdout.count("archive/")
        shutil.rmtree(copy)


def test_a_sync_that_was_cut_off_is_finished_by_the_next(tmp_path: Path) -> None:
    """No line is lost or doubled, no lock stays behind, and what one machine archived and the other edited is one memory."""
    talk, fact = (
        "sessions/2026/2026-11-20-0930-tea.md",
        "facts/2026/2026-11-20-prefers-oolong-tea.md",
    )
    git(tmp_path, "init", "--quiet", "--bare", "remote")
    mara = store(tmp_path / "store")
    job(mara, "Talk", mara.create(talk, "- **mara** 09:30: hello\n"))
    git(tmp_path / "store", "remote", "add", "origin", "../remote")
    assert run(tmp_path / "store", "sync").returncode == 0
    git(tmp_path, "clone", "--quiet", "remote", "other")
    other = Store(tmp_path / "other").user("mara").folder
    for user, name in ((mara, "here"), (other, "there")):
        user.append(talk, f"- **mara** 10:00: from {name}\n")
        job(user, "Talk", talk, user.create(f"facts/{name}.md", f"{name}\n"))
    mara.append(fact, "With figs.\n"), job(mara, "Figs", fact)
    job(other, "Black tea", *supersede(other, fact, "Prefers black tea.")[1])
    assert run(tmp_path / "other", "sync").returncode == 0
    begun = tmp_path / "begun"
    begun.mkdir()
    for name in ("store", "remote"):
        shutil.copytree(tmp_path / name, begun / name, symlinks=True)
    for number, (call, at) in enumerate(points(begun / "store", ["sync"])):
        world = tmp_path / str(number)
        shutil.copytree(begun, world, symlinks=True)
        traced(
            world / "store",
            ["sync"],
            "-o",
            "/dev/null",
            "-e",
            f"inject={call}:signal=SIGKILL:when={at}",
        )
        assert run(world / "store", "sync").returncode == 0, (call, at)
        git(world, "clone", "--quiet", "remote", "fresh")
        for place in ("store", "fresh"):
            user = Store(world / place).user("mara").folder
            turns = [passage.text for passage in user.memory(talk).passages]
            assert turns[0] == "hello" and sorted(turns[1:]) == [
                "from here",
                "from there",
            ], (call, at, place)
            assert {"facts/here.md", "facts/there.md"} <= {*user.paths()} and git(
                world / place, "status", "-s"
            ) == ""
            lines = user.memory(f"archive/{fact}").lines
            assert (
                fact not in user.paths()
                and lines[-1] == "With figs."
                and lines[1].startswith("superseded_by")
            )
        assert git(world / "store", "rev-parse", "HEAD") == git(
            world / "fresh", "rev-parse", "HEAD"
        )
