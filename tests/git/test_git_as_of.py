"""As of a day, every answer is that of a plain checkout of the day's last commit, line numbers included."""

import datetime as dt
import os
import re
import subprocess
from pathlib import Path

import pytest
from programs import filemem
from repositories import START, git, job, plain_git, state, store

from filemem import User
from filemem.errors import NotFound, Refused
from filemem.git.commits import log
from filemem.git.history import History
from filemem.git.past import as_of


def test_the_past_can_be_read_and_not_written(tmp_path: Path) -> None:
    """Every way of writing is refused, nothing of the work tree changes, and a tool call leaves no recall."""
    mara = store(tmp_path / "store")
    before = state(tmp_path / "store")
    past = User(mara).as_of(START.date())
    with pytest.raises(Refused):
        past.remember("Something new")
    with pytest.raises(Refused):
        past._folder.append(past._folder.paths()[0], "more\n")
    past.tools().call("open", {"path": past._folder.paths()[0]})
    assert not os.path.exists(mara.bookkeeping("recalls.log"))
    assert state(tmp_path / "store") == before


def test_the_moment_is_local_and_on_the_line_of_the_branch(tmp_path: Path) -> None:
    """23:59 local time belongs to the day, and what was merged in later was not believed here before the merge."""
    where = tmp_path / "store"
    mara = store(where)
    git(where, "switch", "--quiet", "-c", "other")
    other = mara.create("facts/2026/2026-11-21-other.md", "from elsewhere\n")
    late = dt.datetime(2026, 11, 21, 23, 59, 58).astimezone()
    job(mara, "x", other, at=late)
    assert User(mara).as_of(dt.date(2026, 11, 21)).grep("elsewhere")
    assert not User(mara).as_of(late - dt.timedelta(seconds=1)).grep("elsewhere")
    git(where, "switch", "--quiet", "main")
    merged = "2026-11-24T12:00:00Z"
    merge = ("merge", "--quiet", "--no-ff", "-m", "m", "other")
    git(where, *merge, GIT_COMMITTER_DATE=merged, GIT_AUTHOR_DATE=merged)
    assert not User(mara).as_of(dt.date(2026, 11, 22)).grep("elsewhere")
    assert User(mara).as_of(dt.date(2026, 11, 25)).grep("elsewhere")


def test_a_reading_command_has_as_of_and_a_writing_one_refuses(tmp_path: Path) -> None:
    """What it prints is what it printed then, and where that was is told beside it."""
    mara = store(tmp_path / "store")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return filemem("--store", mara.store, *words)

    before = run("grep", "tea", "--today", "2026-11-20").stdout
    new = mara.create("facts/2026/2026-11-21-tea.md", "More tea.\n")
    job(mara, "x", new, at=START + dt.timedelta(1))
    then = run("grep", "tea", "--as-of", "2026-11-20")
    assert then.stdout == before and then.returncode == 0
    assert "Begin to keep" in then.stderr
    assert run("remember", "x", "--as-of", "2026-11-20").returncode == 2
    told = run("grep", "tea", "--as-of", "1890-01-01").stderr
    assert "committed by 1890-01-01" in told


def test_of_memories_that_were_deleted_by_then_the_commit_is_named(
    tmp_path: Path,
) -> None:
    mara = store(tmp_path / "store")
    git(tmp_path / "store", "rm", "-rq", "mara")
    git(tmp_path / "store", "commit", "-qm", "Leave")
    gone = git(tmp_path / "store", "rev-parse", "HEAD")
    with pytest.raises(NotFound, match=gone):
        as_of(mara, dt.datetime.now().astimezone())


def test_a_commit_of_no_day_that_a_calendar_has_is_listed(tmp_path: Path) -> None:
    mara = store(tmp_path / "store")
    top = tmp_path / "store"
    lines = git(top, "cat-file", "commit", "HEAD").split("\n")
    forged = [re.sub(r"\d+ \S+$", "99999999999999 +9900", line) for line in lines]
    odd = "\n".join([*forged[:-1], "a\x1fb", ""]).encode()
    write_it = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
    git(top, "update-ref", "HEAD", git(top, *write_it, stdin=odd))
    assert "\x1f" in log(History(mara))[0].subject
