"""A store on several disks is one store: each user lies in one shard and is found there, whatever list came before; a shard
that is not mounted is an error for its users and for who is new, and never begins a user anew.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import programs
import pytest
from programs import clean

from filemem import Store
from filemem.errors import FilememError, Refused
from filemem.files import config, shards
from filemem.files.config import ConfigError, parsed
from filemem.files.store import StoreFolder
from filemem.files.trust import Trust

NAMES = [f"user{number}" for number in range(40)]


def disks(root: Path, *names: str) -> Path:
    """A store that lists some shards, all of them begun."""
    (root / "top").mkdir(exist_ok=True)
    for name in names:
        (root / name).mkdir(exist_ok=True)
        (root / name / "filemem.yaml").touch()
    lines = ["stores:", *(f"  - ../{name}" for name in names)]
    (root / "top" / "filemem.yaml").write_text("\n".join(lines) + "\n")
    return root / "top"


def opened(top: Path) -> Store:
    return Store(top, Trust(given=True))


def filemem(top: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return programs.filemem("--store", top, *words, env=clean(FILEMEM_TRUST=str(top.parent)))


def placed(top: Path) -> dict[str, str]:
    return {name: opened(top).user(name).folder.above for name in opened(top).users()}


def test_each_user_lies_in_one_shard_and_one_more_shard_moves_nobody(tmp_path):
    """New users go to all shards; those who are there are found where they are, by every process, also from before any list."""
    top = disks(tmp_path, "a")
    Store(tmp_path / "a").user("early").remember("Prefers oolong tea.")
    with opened(top) as store:
        for name in NAMES[:20]:
            store.user(name).remember("Prefers oolong tea.")
    assert set(placed(top).values()) == {str(tmp_path / "a")}
    before = placed(top)
    disks(tmp_path, "a", "b", "c")
    with opened(top) as store:
        for name in NAMES:
            store.user(name).remember("Lives in Porto.")
    after = placed(top)
    assert sorted(after) == sorted(["early", *NAMES])
    assert {name: after[name] for name in before} == before
    assert {after[name] for name in NAMES[20:]} == {str(tmp_path / name) for name in "abc"}
    assert all(len(list(tmp_path.glob(f"*/{name}"))) == 1 for name in NAMES)


def test_users_in_the_store_itself_are_found_and_shards_in_it_are_no_users(tmp_path):
    top = tmp_path / "top"
    Store(top).user("early").remember("Prefers oolong tea.")
    for name in ("one", "deep/two"):
        (top / name).mkdir(parents=True)
        (top / name / "filemem.yaml").touch()
    (top / "filemem.yaml").write_text("stores: [one, deep/two]\n")
    with opened(top) as store:
        store.user("late").remember("Prefers oolong tea.")
        store.user("one").remember("Is called as a shard is.")
        assert store.users() == ["early", "late", "one"]
    assert placed(top)["early"] == str(top)
    assert not (top / "late").exists()


def test_one_more_shard_takes_only_its_own_share_of_the_new():
    """Rendezvous hashing: who does not go to the new shard goes where they went before."""
    ranked = {n: max(("a", "b", "c"), key=lambda entry: shards.score(entry, n)) for n in map(str, range(3000))}
    more = {n: max(("a", "b", "c", "d"), key=lambda entry: shards.score(entry, n)) for n in ranked}
    assert all(more[n] in (ranked[n], "d") for n in ranked)
    share = [list(more.values()).count(entry) for entry in "abcd"]
    assert max(share) < 850 and min(share) > 650


def test_a_shard_that_is_not_mounted_is_an_error_and_no_user_begins_anew(tmp_path):
    top = disks(tmp_path, "a", "b")
    with opened(top) as store:
        for name in NAMES:
            store.user(name).remember("Prefers oolong tea.")
        gone = next(name for name, place in placed(top).items() if place.endswith("/b"))
        there = next(name for name, place in placed(top).items() if place.endswith("/a"))
        held = store.user(gone)
        (tmp_path / "b").rename(tmp_path / "off")
        (tmp_path / "b").mkdir()  # an empty mount point
        for act in (
            lambda: opened(top).user(gone),
            lambda: held.remember("Lives in Porto."),
            lambda: opened(top).user("new"),
        ):
            with pytest.raises(FilememError, match=r"/b has no filemem\.yaml: it is not mounted"):
                act()
        store.user(there).remember("Lives in Porto.")
        assert store.absent == [str(tmp_path / "b")]
        assert {placed(top)[name] for name in opened(top).users()} == {str(tmp_path / "a")}
    assert not list((tmp_path / "b").iterdir())
    told = filemem(top, "check", "--json")
    assert told.returncode == 1
    assert any("not mounted" in json.loads(line)["what"] for line in told.stdout.splitlines())
    assert "Its users are left out." in filemem(top, "users").stderr
    assert "not mounted" in filemem(top, "--user", gone, "search", "tea").stderr
    (tmp_path / "b").rmdir()
    (tmp_path / "off").rename(tmp_path / "b")
    assert held.search_files("oolong tea")
    assert filemem(top, "check").returncode == 0


def test_the_settings_of_all_are_those_of_the_store(tmp_path):
    top = disks(tmp_path, "a")
    (tmp_path / "a" / "filemem.yaml").write_text("open_files: 2\n")
    with (top / "filemem.yaml").open("a") as settings:
        settings.write("open_files: 7\n")
    assert config.of(opened(top).user("ann").folder).open_files == 7


def test_stores_of_a_stranger_are_not_opened(tmp_path):
    """Where users lie only the person decides: a store that names folders elsewhere is refused until they have agreed."""
    top = disks(tmp_path, "a")
    Store(tmp_path / "a").user("ann").remember("Prefers oolong tea.")
    with pytest.raises(Refused, match="you have not agreed to it"):
        Store(top).users()
    env = clean(XDG_CONFIG_HOME=str(tmp_path / "own"))
    calls = (["users"], ["users", "--trust"], ["users"])
    codes = [programs.filemem("--store", top, *words, env=env).returncode for words in calls]
    assert codes == [2, 0, 0]


@pytest.mark.parametrize("value", ["a", "{a: b}", "[1]", "[a, a]", '[""]'])
def test_a_list_of_stores_that_is_none_is_named_with_its_line(value):
    with pytest.raises(ConfigError, match=r"^filemem.yaml:2: stores "):
        parsed(f"model: x\nstores: {value}\n".encode())


def test_a_user_in_two_shards_is_a_problem_and_one_of_them_is_read(tmp_path):
    top = disks(tmp_path, "a", "b")
    for name in "ab":
        Store(tmp_path / name).user("ann").remember(f"Lives in {name.upper()}x.")
    home = opened(top).user("ann").folder.root
    told = filemem(top, "check").stdout
    assert f"lies in several stores; read is {home}" in told
    assert opened(top).users() == ["ann"]


def test_a_store_in_one_piece_reads_no_more_than_before(tmp_path):
    """`# stores: []`, as filemem init writes it, loads no YAML."""
    script = (
        "import sys; from filemem.files.store import StoreFolder; s = StoreFolder(sys.argv[1]); s.users(); s.folder('ann');"
        "assert 'yaml' not in sys.modules and not s.shards.mentioned"
    )
    filemem(tmp_path / "one", "init", str(tmp_path / "one"))
    assert "# stores: []" in (tmp_path / "one" / "filemem.yaml").read_text()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "one")], env=environment, check=True)


def test_a_broken_line_of_the_registry_is_named(tmp_path):
    top = disks(tmp_path, "a")
    (top / "moved.txt").write_text("ann: ../a\nbob\n")
    with pytest.raises(FilememError, match=r"moved.txt:2: 'bob' is no `user: store`"):
        opened(top).user("ann")


def test_who_was_moved_to_a_store_that_is_not_listed_any_more_does_not_begin_anew(tmp_path):
    top = disks(tmp_path, "a", "b")
    (top / "moved.txt").write_text("ann: ../b\n")
    disks(tmp_path, "a")
    shutil.rmtree(tmp_path / "b")
    with pytest.raises(FilememError, match="which is not listed any more"):
        StoreFolder(top, Trust(given=True)).folder("ann")


def test_a_job_for_all_users_is_one_over_all_shards_and_fails_where_one_is_not_mounted(tmp_path):
    """Workers find each user by themselves; those of the other shards are done all the same."""
    top = disks(tmp_path, "a", "b")
    with opened(top) as store:
        for name in NAMES[:12]:
            store.user(name).remember("Prefers oolong tea.")
    there = list(placed(top).values()).count(str(tmp_path / "a"))
    assert 0 < there < 12
    done = filemem(top, "sweep", "--all-users", "--workers", "2")
    assert (done.returncode, done.stdout) == (0, "12 of 12 users done.\n"), done.stderr
    (tmp_path / "b").rename(tmp_path / "off")
    left = filemem(top, "sweep", "--all-users")
    assert (left.returncode, left.stdout) == (1, f"{there} of {there} users done.\n")
    assert "Its users are left out." in left.stderr
