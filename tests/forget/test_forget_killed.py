"""`forget --purge-history` killed before any write, rename, unlink, fsync or call of git:
the same command, given again, finishes it, and no file, object, ref, log or index says it
any more.

Each 23rd point is tried here; `python tests/forget/test_forget_killed.py FOLDER` tries
them all.
"""

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from crash_driver import arm, counted_calls
from forgetting import WORD, forget, holding
from programs import lay
from repositories import SETTINGS, START, copied, git, plain_git  # noqa: F401

from filemem.git.history import History
from filemem.git.job_frame import JobFrame
from filemem.git.repository import Repository
from filemem.git.setup import set_up
from filemem.store.folder import Folder
from filemem.store.passages import format_turn
from filemem.store.users import StoreFolder

pytest.importorskip("git_filter_repo", reason="the extra purge is not installed")
TALK = "sessions/2026/2026-11-18-0900-a-bite.md"
FACT = f"facts/2026/2026-11-18-a-{WORD}.md"
JAR = "facts/2026/2026-11-19-jar.md"
PURGE = ("--about", WORD, "--yes", "--purge-history")


def made(top: Path) -> Path:
    """A store with a remote, a tag, a stray blob, a staged one and a file deleted by
    hand, which all tell it."""
    store = top / "store"
    mara = StoreFolder(store).folder("mara")
    mara.create("facts/2026/2026-11-17-the-cat.md", "The cat sleeps.\n")
    set_up(mara.store, "mara", START)
    said = format_turn("mara", "09:00", f"A {WORD} bit me.")
    mara.create(TALK, said + format_turn("mara", "09:01", "It rains."))
    mara.create(FACT, f"---\nsource: {TALK}:1\n---\n\nA {WORD} bit Mara.\n")
    subject = f"Remember: A {WORD} bit Mara."
    JobFrame(History(mara)).record(subject, [TALK, FACT], {"Session": TALK}, START)
    git(top, "init", "--quiet", "--bare", "remote.git")
    git(store, "remote", "add", "origin", str(top / "remote.git"))
    git(store, "push", "--quiet", "--set-upstream", "origin", "main")
    git(store, "tag", "--annotate", "bitten", "--message", f"By a {WORD}")
    git(store, "hash-object", "-w", "--stdin", stdin=f"A {WORD} adrift.\n".encode())
    lay(mara.root, {JAR: f"The {WORD} is in the jar.\n"})
    git(store, "add", ".")
    lay(mara.root, {JAR: "The jar is empty.\n"})
    os.unlink(mara.absolute(FACT))
    git(store, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    names = ("COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "MERGE_MSG")
    lay(store / ".git", dict.fromkeys(names, f"About the {WORD}\n"))
    return store


def user_of(store: Path) -> Folder:
    return StoreFolder(store).folder("mara")


def saying(store: Path) -> list[str]:
    """The files, names and objects under a store that say it."""
    found = [*holding(store), *holding(store / ".git")]
    every = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    for name in git(store, *every).split():
        if WORD in git(store, "cat-file", "-p", name):
            found.append(name)
    return found


def is_killed(store: Path, limit: int) -> bool:
    """Forget in a process of its own that ends without a word before its change number
    `limit`; was it killed?"""
    child = os.fork()
    if not child:
        arm(limit)
        Repository.start = counted_calls(Repository.start)  # type: ignore[method-assign]
        forget(user_of(store), *PURGE)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 137


def kill_at(folder: Path, points: Iterable[int]) -> int:
    """Kill at each point until there are no more, give the command again, look; the
    number of kills."""
    original = made(folder)
    undisturbed = copied(original, folder / "undisturbed")
    forget(user_of(undisturbed), *PURGE)
    status = git(undisturbed, "status", "--short")
    for kills, limit in enumerate(points):
        store = copied(original, folder / "again")
        alive = not is_killed(store, limit)
        mara = user_of(store)
        done = forget(mara, *PURGE)
        assert saying(store) == [], (limit, done.output)
        is_done = done.output == "Nothing was found.\n" or done.return_value == 0
        assert is_done and not done.exception, (limit, done.output)
        assert "It rains." in mara.memory(TALK).text
        assert mara.read(JAR) == b"The jar is empty.\n"
        git(store, "fsck", "--full", "--strict")
        assert git(store, "status", "--short") == status, limit
        shutil.rmtree(store)
        if alive:
            return kills
    raise AssertionError("the points are all used up and it was killed at each")


def test_killed_anywhere_it_is_finished_by_the_same_command(tmp_path: Path) -> None:
    assert kill_at(tmp_path, range(4, 1000, 23)) > 5


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir()
    settings = Path(sys.argv[1], "gitconfig")
    settings.write_text(SETTINGS)
    os.environ |= {"GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    kills = kill_at(Path(sys.argv[1]), range(1, 10_000))
    print(kills, "kills, and nothing left after any")
