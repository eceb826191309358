"""A job for all users ends as one after another would end, with however many workers, whoever is killed, broken or busy."""

import contextlib
import datetime as dt
import gc
import json
import multiprocessing
import subprocess
import weakref
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from crash_driver import arm
from hypothesis import given
from hypothesis import strategies as st
from programs import filemem

from filemem import Store, index
from filemem.files import archive
from filemem.files.trust import Trust
from filemem.forgetting import maintenance
from filemem.jobs import table
from filemem.jobs.pools import Here, Pool, Processes
from filemem.jobs.running import Journal, outcomes
from filemem.jobs.table import JOBS, Order, Outcome, Work
from filemem.overview.check import problems

AT = dt.datetime(2026, 11, 20, 3, tzinfo=dt.UTC)
TALK = "- **Ann** 09:30: I moved to {0} last week.\n- **assistant** 09:31: How is it?\n- **Ann** 09:32: My cat's name is {0}.\n"
OLD = TALK + "- **Tom** 09:33: " + "I always wanted one of those myself, you know. " * 12 + "\n"
TOWNS = {"ann": "Bruges", "bea": "Ghent", "cho": "Porto", "dan": "Diss"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name, town in TOWNS.items():
        for day in ("2026-01-05-0930", "2026-11-19-0930"):
            place = tmp_path / "store" / name / f"sessions/2026/{day}-talk.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text((OLD if "-01-" in day else TALK).format(town))
    return tmp_path / "store"


def tree(root: Path) -> dict[str, bytes]:
    """Every memory of every user with its bytes."""
    users = [Store(root).user(name).folder for name in Store(root).users()]
    return {f"{user.name}/{path}": Path(user.root, path).read_bytes() for user in users for path in user.paths()}


def done(order: Order, pool: Pool) -> dict[str, Outcome]:
    with contextlib.closing(pool):
        names = dict.fromkeys(Store(order.store).users(), "")
        return {one.user: one for found in outcomes(order, names, pool) for one in found}


def broken(root: Path, name: str) -> Path:
    """Somebody whose memories cannot be worked on."""
    place = root / name / ".filemem"
    place.parent.mkdir()
    place.write_text("A file.")
    return place


def test_check_names_why_nothing_can_be_kept(store: Path) -> None:
    broken(store, "bad")
    [found] = problems(Store(store).user("bad").folder)
    assert (found.path, found.remedy) == (".filemem", "rename it") and not problems(Store(store).user("ann").folder)


def test_several_workers_end_as_one_does_and_go_past_the_broken(store: Path, tmp_path: Path) -> None:
    broken(store, "bad")
    subprocess.run(["cp", "-r", store, tmp_path / "other"], check=True)
    alone = done(Order("maintain", str(store), AT, {}), Here(Trust()))
    both = done(Order("maintain", str(tmp_path / "other"), AT, {}), Processes(2))
    assert tree(tmp_path / "other") == tree(store)
    assert any("/summaries/" in path for path in tree(store))
    for found in (alone, both):
        assert {name for name, one in found.items() if one.error} == {"bad"}
        assert not found["bad"].passing
    assert [one.lines for one in both["ann"].told] == [one.lines for one in alone["ann"].told]


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="a worker gets the job of this test by fork")
def test_who_was_at_it_when_a_worker_was_killed_is_done_all_the_same(store: Path, tmp_path: Path) -> None:
    """The first worker of each user is killed in the middle of its changes; all end as in an undisturbed run."""
    subprocess.run(["cp", "-r", store, tmp_path / "other"], check=True)
    done(Order("maintain", str(tmp_path / "other"), AT, {}), Here(Trust()))

    def killed(work: Work) -> list[table.Told]:
        mark = tmp_path / work.folder.name
        if not mark.exists():
            mark.touch()
            arm(20)
        return JOBS["maintain"](work)

    try:
        JOBS["killed"] = killed
        found = done(Order("killed", str(store), AT, {}), Processes(2))
    finally:
        del JOBS["killed"]
    assert {one.error for one in found.values()} == {""}
    assert tree(store) == tree(tmp_path / "other")


def test_a_busy_user_is_tried_again_later(store: Path) -> None:
    """By then the other job has ended, here as soon as all the others are done."""
    with contextlib.ExitStack() as held:
        held.enter_context(archive.job_lock(Store(store).user("bea").folder))

        class Once(Here):
            left = len(TOWNS)

            def submit(self, order: Order, user: str, given: str) -> "Future[Outcome]":
                found = super().submit(order, user, given)
                self.left -= 1
                if not self.left:
                    held.close()
                return found

        found = done(Order("sweep", str(store), AT, {}), Once(Trust()))
    assert {one.user: one.error for one in found.values()} == dict.fromkeys(TOWNS, "")
    assert list(found)[-1] == "bea"


@given(users=st.lists(st.sampled_from(["ann", "an", "a", "安"]), unique=True), cut=st.integers(0, 60))
def test_a_journal_torn_anywhere_names_nobody_who_is_not_done(
    tmp_path_factory: pytest.TempPathFactory, users: list[str], cut: int
) -> None:
    root = tmp_path_factory.mktemp("store")
    journal = Journal(Order("sweep", str(root), AT, {}))
    journal.begin(anew=True)
    for user in users:
        journal.add([user])
    journal.end(whole=False)
    (place,) = (root / ".filemem/jobs").iterdir()
    place.write_bytes(place.read_bytes()[:cut])
    known = journal.done()
    assert known == set(users[: len(known)])
    journal.begin(anew=False)
    journal.add(["zoe"])
    journal.end(whole=False)
    assert journal.done() == {*known, "zoe"}
    assert Journal(Order("sweep", str(root), AT, {"dry": 1})).done() == set()
    assert Journal(Order("sweep", str(root), AT + dt.timedelta(1), {})).done() == set()


def run(store: Path, *words: str, code: int = 0) -> list[dict[str, object]]:
    told = filemem(*words, "--store", store, "--json", "--today", "2026-11-20")
    assert told.returncode == code, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


def by_user(lines: list[dict[str, object]]) -> Iterator[str]:
    return iter(Counter(str(line["user"]) for line in lines))


def test_resume_does_only_who_is_not_done_and_another_day_or_option_everybody(store: Path) -> None:
    place = broken(store, "bad")
    first = run(store, "sweep", "--all-users", code=1)
    assert {line["user"]: "error" in line for line in first} == dict.fromkeys(TOWNS, False) | {"bad": True}
    assert list(by_user(run(store, "sweep", "--all-users", "--resume", code=1))) == ["bad"]
    place.unlink()
    assert list(by_user(run(store, "sweep", "--all-users", "--resume"))) == ["bad"]
    assert not list((store / ".filemem/jobs").iterdir()), "all are done, so nothing is left to go on from"
    assert len(list(by_user(run(store, "sweep", "--all-users", "--resume")))) == len(TOWNS) + 1


def test_what_only_looks_writes_nothing_for_all_users_either(store: Path) -> None:
    before = {str(path): path.is_file() and path.read_bytes() for path in store.rglob("*")}
    (counts,) = [line for line in run(store, "status", "--all-users") if line["user"] == "ann"]
    assert dict(counts["kinds"])["sessions"]["live"] == 2  # type: ignore[call-overload]
    run(store, "maintain", "--all-users", "--dry-run")
    after = {str(path): path.is_file() and path.read_bytes() for path in store.rglob("*")}
    assert {path: what for path, what in after.items() if "/.filemem" not in path} == before
    assert not (store / ".filemem").exists() or not list((store / ".filemem").rglob("*.jsonl"))


def test_a_folder_of_exports_has_one_for_each_user(tmp_path: Path) -> None:
    """A dot in a name belongs to it; whose export has nothing to take in has failed; two of one user are refused."""
    (tmp_path / "exports").mkdir()
    for name in ("ann", "j.doe", "j.roe"):
        line = {"messages": [{"role": "user", "content": f"I am {name}."}], "created": "2026-11-19T09:30:00"}
        (tmp_path / f"exports/{name}.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "exports/eve.jsonl").write_text("no JSON")
    words = ["import", "openai-jsonl", str(tmp_path / "exports"), "--all-users"]
    told = run(tmp_path / "store", *words, code=1)
    assert set(by_user(told)) == {"ann", "j.doe", "j.roe", "eve"}
    assert [line["user"] for line in told if "broken JSON" in str(line.get("error"))] == ["eve"]
    for name in ("ann", "j.doe", "j.roe"):
        folder = Store(tmp_path / "store").user(name).folder
        assert [f"I am {name}." in folder.memory(path).text for path in folder.paths()] == [True]
    (tmp_path / "exports/ann.json").write_text("[]")
    run(tmp_path / "store", *words, code=2)


@pytest.mark.parametrize(
    "words", [["sweep", "--workers", "2"], ["compact", "--resume"], ["check", "--scheduler", "tcp://x"]]
)
def test_what_is_for_many_users_is_refused_for_one(store: Path, words: list[str]) -> None:
    run(store, *words, code=2)


def test_of_a_user_whose_work_is_done_nothing_stays_in_memory(store: Path) -> None:
    """Else a worker would grow with each; the index is what is large."""
    folder = Store(store).user("ann").folder
    maintenance.maintain(folder, AT, None)
    alive = weakref.ref(index.of(folder))
    del folder
    gc.collect()
    assert alive() is None
