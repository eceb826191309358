"""The jobs from the command line: dry runs say what the real ones do, scripts get JSON, git gets one commit a job."""

import datetime as dt
import json
import shutil

import pytest
from programs import clean, filemem, lay
from repositories import START, git, plain_git  # noqa: F401
from repositories import store as in_git
from scripted_server import ScriptedServer, fail

from filemem import Store, User
from filemem.errors import Busy
from filemem.jobs import JobRun, maintain
from filemem.store.users import StoreFolder

TALK = "- **Ann** 09:30: I bought a loom from Old Hannah in Dedham for 85 pounds.\n- **Tom** 09:31: Nice!\n"
TALK += (
    "- **Tom** 09:32: " + "I always wanted one of those myself, you know. " * 12 + "\n"
)


@pytest.fixture
def store(tmp_path):
    files = {
        "sessions/2026/2026-09-03-0930-the-loom.md": TALK,
        "facts/2026/2026-06-01-rye.md": "---\nimportance: 1\n---\nHad rye.\n",
        "facts/2026/2026-11-19-tea.md": "Likes tea.\n",
        "profile.md": "Ann, weaver.\n",
    }
    lay(tmp_path / "ann", files)
    return tmp_path


def run(store, *arguments, code=0, env=None):
    """What a command prints; the day is 20 November 2026."""
    done = filemem(
        *arguments, "--store", store, "--today", "2026-11-20", env=clean(**(env or {}))
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def lines(store, *arguments):
    return [
        json.loads(line)
        for line in run(
            store,
            *arguments,
            "--json-lines",
        ).splitlines()
    ]


def tree(store):
    """Every file of the user but the index, which is a cache, with its bytes."""
    found = {}
    for path in store.rglob("*"):
        if path.is_file() and ".filemem/index" not in str(path):
            found[str(path)] = path.read_bytes()
    return found


def test_a_dry_run_of_maintain_says_what_each_job_would_do_and_writes_nothing(store):
    """Then it does that; a dry run needs no job to have ended, and waits for none."""
    before = tree(store)
    planned = {
        job.pop("job"): job
        for job in lines(
            store,
            "maintain",
            "--dry-run",
        )
    }
    said = run(store, "maintain", "--dry-run")
    assert tree(store) == before
    assert list(planned) == ["consolidate", "compact", "sweep"]
    for sentence in (
        "1 conversation and 2 facts of yours to read: ",
        "the-loom.md would be summarised in summaries/2026/2026-09-conversations.md.",
        "Would archive facts/2026/2026-06-01-rye.md: retention 0.000.",
    ):
        assert sentence in said
    done = {job.pop("job"): job for job in lines(store, "maintain")}
    made = done["compact"]["summaries"]
    assert [one["source"] for one in made] == [
        one["source"] for one in planned["compact"]["summaries"]
    ]
    assert done["sweep"]["archived"] == planned["sweep"]["archived"]
    assert list(done)[-1] == "tidy"


def test_a_model_that_failed_is_asked_no_more_for_any_user(store):
    """In one run: the next one asks it again, and nothing is lost.

    Whoever waits for it is named, and the exit code says so.
    """
    shutil.copytree(store / "ann", store / "bob")
    with ScriptedServer(*[fail(400, "out of order")] * 9) as server:
        url = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "x"}
        said = run(
            store,
            "maintain",
            "--all-users",
            "--model",
            "test",
            code=1,
            env=url,
        )
        assert len(server.requests) == 1
        told = json.loads(
            run(
                store,
                "maintain",
                "--user",
                "ann",
                "--model",
                "test",
                "--json",
                code=1,
                env=url,
            )
        )
        waiting = []
        for one in told:
            if one.get("waits"):
                waiting.append(one["job"])
        assert waiting == ["consolidate", "compact"]
    assert "bob: test was not asked again after it failed; fix that first." in said
    assert "2 of 2 users done." in said


SAID = [
    {"role": "user", "content": "I moved to Porto."},
    {"role": "assistant", "content": "Noted."},
]


def test_what_a_person_and_a_program_have_done_is_committed_job_by_job(tmp_path):
    """Each with its own files and no others; what was there already is no commit."""
    where = tmp_path / "store"
    mara = User(in_git(where))
    mara._folder.create("profile.md", "Mara.\n")
    git(where, "add", ".")
    git(where, "commit", "-qm", "Mine")
    (where / "mara/profile.md").write_text("Mara, weaver.\n")
    mara.remember("Has a bicycle.", today=START.date())
    talk = [*SAID, {"role": "user", "content": "It has hills. " * 40}]
    for _ in range(2):
        mara.add_conversation(talk, at=START)
    mara.maintain(START.date() + dt.timedelta(days=60))
    form = "%s/%(trailers:key=Job,valueonly,separator=%x2C)"
    log = git(where, "log", "-4", f"--format={form}").split("\n")
    assert log[0] == "Summarise 1 old conversation/compact"
    assert log[1].endswith("/chat")
    assert log[2:] == ["Remember: Has a bicycle./remember", "Mine/"]
    assert "summaries/" in git(
        where,
        "show",
        "--name-only",
        "--format=",
    )
    logs = " M mara/.filemem/days.log\n"
    assert (
        git(
            where,
            "status",
            "--porcelain",
        )
        == f"{logs} M mara/profile.md"
    )


def test_one_job_at_a_time_but_a_fact_waits_for_none(tmp_path):
    """Maintain is one from its first step to its last."""
    mara = Store(tmp_path).user("mara")
    other = StoreFolder(tmp_path).folder("mara")
    today = START.date()
    seen = []
    mara.remember("Has a bicycle.", today=today)
    with JobRun(mara._folder, "sweep", START):
        with pytest.raises(Busy), JobRun(other, "compact", START):
            pass
        assert "a boat." in mara.remember("Has a boat.", today=today).text

    def show(done, total):
        with pytest.raises(Busy), other.job_lock(0):
            pass
        seen.append((done, total))

    assert maintain(mara._folder, START, None, show)[-1].job == "tidy" and seen
    with other.job_lock(0):
        pass
