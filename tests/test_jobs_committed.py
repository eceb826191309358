"""Whoever works on memories that lie in git, a person's command, a program or an MCP client: each job is one commit."""

import datetime as dt
from pathlib import Path

import pytest
from repositories import START, git, plain_git, store  # noqa: F401

from filemem import Store, User
from filemem.errors import Busy
from filemem.jobs.running import job

SAID = [{"role": "user", "content": "I moved to Porto."}, {"role": "assistant", "content": "Noted."}]


def jobs(where: Path) -> list[str]:
    """The jobs of all commits, newest first."""
    return git(where, "log", "--format=%(trailers:key=Job,valueonly,separator=%x2C)").split()


def test_what_a_program_keeps_is_committed_job_by_job(tmp_path: Path) -> None:
    mara = User(store(tmp_path / "store"))
    mara.remember("Has a bicycle.", today=START.date())
    mara.add_conversation(SAID, at=START)
    assert jobs(tmp_path / "store")[:2] == ["chat", "remember"]
    assert "Has a bicycle." in git(tmp_path / "store", "log", "-1", "--skip=1", "--format=%s")
    mara.add_conversation(SAID, at=START)
    assert len(jobs(tmp_path / "store")) == 2, "what was there already is no commit"
    mara.maintain(START.date() + dt.timedelta(days=1))
    assert git(tmp_path / "store", "status", "--porcelain", "--", "mara/facts", "mara/sessions") == ""


def test_one_job_at_a_time_but_a_fact_waits_for_none(tmp_path: Path) -> None:
    mara = Store(tmp_path).user("mara")
    with job(mara.folder, "sweep", START):
        with pytest.raises(Busy), job(Store(tmp_path).user("mara").folder, "compact", START):
            pass
        assert "Has a boat." in mara.remember("Has a boat.", today=START.date()).text
