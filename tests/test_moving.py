"""`filemem users move` ends in one whole copy that is found, wherever it is killed, and its next run finishes it; who reads,
writes or saves meanwhile loses nothing.
"""

import datetime as dt
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from crash_driver import arm
from test_shards import disks, filemem, opened, placed

from filemem.errors import Changed, Refused
from filemem.files import moving, trust
from filemem.files.trust import Trust
from filemem.forgetting.erasure import CACHES

FILES = {
    "profile.md": b"Ann, weaver.\n",
    "facts/2026/2026-09-17-eel.md": b"---\nimportance: 1\n---\nAte eels.\r\n",
    "archive/facts/2026/2026-07-02-owl.md": b"An owl nests in the barn.",
    ".git/HEAD": b"ref: refs/heads/main\n",
    ".filemem/recalls.log": b"2026-11-19T09:31\tcited\tfacts/2026/2026-09-17-eel.md\n",
}


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Nobody reads at the moment of a switch here."""
    monkeypatch.setattr(moving, "GRACE", 0.0)


@pytest.fixture
def top(place):
    """A store of two shards with ann in the first, who has an empty folder and a link too, and bob in the second."""
    top = disks(place, "a", "b")
    for path, data in FILES.items():
        where = place / "a" / "ann" / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(data)
    (place / "a/ann/.git/refs/heads").mkdir(parents=True)
    (place / "a/ann/facts/link").symlink_to("../profile.md")
    (place / "b/bob").mkdir()
    return top


def whole(root):
    """All that ann has, by path: bytes, links, folders, modes of files and times; locks and caches aside."""
    found = {}
    for path in sorted(Path(root).rglob("*")):
        inside = str(path.relative_to(root))
        if inside not in (".filemem/lock", ".filemem/job.lock", ".git/filemem.lock") and not inside.startswith(
            ".filemem/index"
        ):
            status = path.lstat()
            plain = path.is_file() and not path.is_symlink()
            held = path.read_bytes() if plain else os.readlink(path) if path.is_symlink() else "folder"
            found[inside] = (held, status.st_mode & 0o777, status.st_mtime_ns) if plain else held
    return found


def move(top, to="../b"):
    return moving.apply(opened(top)._folder, "ann", to, CACHES)


def tidy(top):
    """Is nothing left of a move?"""
    return not [*top.parent.glob("*/.filemem-*-ann")] and not (top.parent / "a/ann").exists()


def test_everything_of_a_user_moves_and_is_the_same(top, place):
    before, said = whole(place / "a/ann"), filemem(top, "users", "move", "ann", "../b", "--dry-run")
    assert said.stdout.startswith(f"Would move ann from {place}/a/ann to {place}/b/ann: 5 files")
    assert whole(place / "a/ann") == before and not (place / "b/ann").exists()
    said = filemem(top, "users", "move", "ann", str(place / "b"))
    assert said.stdout.startswith(f"Moved ann from {place}/a/ann to {place}/b/ann: 5 files"), said
    assert whole(place / "b/ann") == before and tidy(top)
    assert "nothing to move" in filemem(top, "users", "move", "ann", "../b").stdout
    assert (top / "moved.txt").read_text() == "ann: ../b\n"
    assert filemem(top, "users", "move", "ann", "../a").returncode == 0
    assert whole(place / "a/ann") == before and placed(top)["ann"] == str(place / "a")
    assert "0 problems" not in filemem(top, "check").stdout  # the link, which is no memory
    (place / "a/ann/facts/link").unlink()
    assert "0 problems" in filemem(top, "check").stdout


def test_a_move_killed_before_any_of_its_changes_ends_in_one_whole_copy_that_is_found(top, place):
    wanted, limit, status = whole(place / "a/ann"), 0, 1
    move(top)
    move(top, "../a")  # what is compiled and imported is so in every child
    (top / "moved.txt").unlink()
    while status:
        limit += 1
        folder = place / "copies" / str(limit)
        shutil.copytree(place, folder, symlinks=True, ignore=shutil.ignore_patterns("copies"))
        copy, child = folder / "top", os.fork()
        if not child:
            arm(limit)
            move(copy)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 137), limit
        assert opened(copy).users() == ["ann", "bob"]
        assert whole(opened(copy).user("ann").folder.root) == wanted, limit
        opened(copy).user("ann").folder.append("profile.md", f"Kept after kill {limit}.\n")
        move(copy)
        assert tidy(copy), limit
        assert (folder / "b/ann/profile.md").read_bytes() == FILES[
            "profile.md"
        ] + f"Kept after kill {limit}.\n".encode()
        assert {**whole(folder / "b/ann"), "profile.md": 0} == {**wanted, "profile.md": 0}
        shutil.rmtree(folder)
    assert limit > 50


def test_who_holds_a_user_open_reads_and_writes_on_where_the_user_is_now(top, place):
    user = opened(top).user("ann")
    user.remember("Prefers oolong tea.", today=dt.date(2026, 11, 20))
    tools, trace = user.tools(), user.search_files("oolong tea")
    assert trace
    move(top)
    assert "oolong" in tools.call("grep", {"pattern": "oolong"})
    assert user.search_files("oolong tea")
    user.remember("Lives in Porto.", today=dt.date(2026, 11, 21))
    assert "Porto" in tools.call("search_files", {"query": "Where does Ann live?"})
    assert not (place / "a/ann").exists() and (place / "b/ann/facts/2026/2026-11-21-lives-in-porto.md").exists()


def test_a_writer_that_waits_while_a_user_is_moved_writes_to_the_new_place(top, place, monkeypatch):
    """A lock that was asked for in the old folder is given up for the one in the new."""
    waiting = threading.Thread(target=opened(top).user("ann").folder.append, args=("profile.md", "Said meanwhile.\n"))
    plain = moving.disk.replace

    def begun(old, new):
        if str(new).endswith("b/ann"):
            waiting.start()
        plain(old, new)

    monkeypatch.setattr(moving.disk, "replace", begun)
    move(top)
    waiting.join()
    assert b"Said meanwhile." in (place / "b/ann/profile.md").read_bytes() and tidy(top)


def test_what_a_person_saves_at_the_old_place_stays_and_is_named(top, place, monkeypatch):
    """The old folder is compared with what was copied before it is removed."""
    plain = moving.disk.replace

    def saved(old, new):
        if str(new).endswith("b/ann"):
            (place / "a/ann/profile.md").write_text("Ann, potter.\n")
        plain(old, new)

    monkeypatch.setattr(moving.disk, "replace", saved)
    with pytest.raises(Changed, match=r"profile\.md in .*going-ann was saved there while ann was moved"):
        move(top)
    monkeypatch.undo()
    assert (place / "a/.filemem-going-ann/profile.md").read_text() == "Ann, potter.\n"
    assert whole(opened(top).user("ann").folder.root)["profile.md"][0] == FILES["profile.md"]
    assert "a move that was cut off" in filemem(top, "check").stdout
    shutil.rmtree(place / "a/.filemem-going-ann")
    move(top)
    assert tidy(top)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("mkdir -p b/ann/facts", "is there already, and not of a move"),
        ("rm -r a/ann/.git; echo 'gitdir: ../x' > a/ann/.git", "the repository of ann lies elsewhere"),
        ("touch a/ann/.git/index.lock", "git is at work"),
        ("mkfifo a/ann/facts/pipe", "is no plain file"),
        ("rm b/filemem.yaml", "not mounted"),
    ],
)
def test_what_cannot_be_moved_stays_as_it_is(top, place, what, said):
    if "b/ann" in what:
        (top / "moved.txt").write_text("ann: ../a\n")
    subprocess.run(["sh", "-c", what], cwd=place, check=True)
    told = filemem(top, "users", "move", "ann", "../b")
    assert told.returncode == 2 and said in told.stderr
    assert (place / "a/ann/profile.md").read_bytes() == FILES["profile.md"]


def test_a_user_whose_forgetting_was_cut_off_is_not_moved(top, place):
    (place / "a/ann/.filemem/forgetting").write_text("{}")
    assert filemem(top, "users", "move", "ann", "../b").returncode == 2
    assert (place / "a/ann/profile.md").exists() and not (place / "b/ann").exists()


def test_nobody_is_moved_to_a_folder_that_is_not_listed(top, place):
    (place / "c").mkdir()
    told = filemem(top, "users", "move", "ann", str(place / "c"))
    assert told.returncode == 2 and "listed are ../a, ../b" in told.stderr
    with pytest.raises(Refused):
        opened(top).user("../ann")


def test_who_is_forgotten_is_in_no_registry(top, place):
    move(top)
    shutil.rmtree(place / "b/ann/.git")
    told = filemem(top, "forget", "--user", "ann", "--yes")
    assert told.returncode == 0, told.stderr
    assert (top / "moved.txt").read_text() == "" and opened(top).users() == ["bob"]


def test_shards_in_git_keep_what_was_and_take_in_who_comes(top, place):
    """A repository of a whole shard keeps the history until the move, that of the other begins with what came."""
    shutil.rmtree(place / "a/ann/.git")
    (place / "a/ann/facts/link").unlink()
    assert filemem(top, "init", str(top), "--git").stdout.count("Made a git repository in") == 2
    told = filemem(top, "users", "move", "ann", "../b")
    assert "the history until now stays in the repository of" in told.stderr
    log = [
        filemem(top, "log", "--user", "ann").stdout,
        filemem(top, "remember", "--user", "ann", "Lives in Porto.").stdout,
    ]
    assert "Take in ann" in log[0] and "Remembered" in log[1]
    left = [
        subprocess.run(["git", "-C", place / shard, "status", "--short"], capture_output=True, text=True)
        for shard in "ab"
    ]
    assert " D ann/profile.md" in left[0].stdout and left[1].stdout == ""


def test_what_a_person_agreed_to_of_a_user_holds_where_the_user_is_now(top, place):
    """Wishes are followed, and a repository of the user's own is committed to, without being asked about anew."""
    (path, other), given = (trust.wishes(str(place / shard / "ann")) for shard in "ab"), Trust()
    given.keep(path, trust.WISHES, trusted=True)
    move(top)
    assert Trust().known(other, trust.WISHES)
