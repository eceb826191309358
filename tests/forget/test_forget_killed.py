"""`forget --purge-history` killed before any write, rename, unlink, fsync or call of git: the same command, given again,
finishes it, and no file, object, ref, log or index says it any more. A process that is asked to end does so at once.

Each 23rd point is tried here; `python tests/forget/test_forget_killed.py FOLDER` tries them all.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from crash_driver import arm, counted_calls
from repositories import SETTINGS, START, copied, git, plain_git  # noqa: F401

from filemem import Store
from filemem.cli import cli
from filemem.git.history import History
from filemem.git.repository import Repository
from filemem.git.setup import set_up
from filemem.overview import problems
from filemem.store.passages import format_turn

pytest.importorskip("git_filter_repo", reason="the extra purge is not installed")
WORD = "zyzzyva"
TALK = "sessions/2026/2026-11-18-0900-a-bite.md"
FACT = f"facts/2026/2026-11-18-a-{WORD}.md"


def made(top: Path) -> Path:
    """A store with a remote, a tag, a stray blob, a staged one and a file deleted by hand, which all tell it."""
    mara = Store(top / "store").user("mara").folder
    mara.create(
        "facts/2026/2026-11-17-the-cat.md", "The cat sleeps in the tuba case.\n"
    )
    set_up(mara.store, "mara", START)
    mara.create(
        TALK,
        format_turn("mara", "09:00", f"A {WORD} bit me.")
        + format_turn("mara", "09:01", "It rains."),
    )
    mara.create(FACT, f"---\nsource: {TALK}:1\n---\n\nA {WORD} bit Mara.\n")
    History(mara).record(
        f"Remember: A {WORD} bit Mara.", [TALK, FACT], {"Session": TALK}, START
    )
    git(top, "init", "--quiet", "--bare", "remote.git")
    git(top / "store", "remote", "add", "origin", str(top / "remote.git"))
    git(top / "store", "push", "--quiet", "--set-upstream", "origin", "main")
    git(top / "store", "tag", "--annotate", "bitten", "--message", f"By a {WORD}")
    git(
        top / "store",
        "hash-object",
        "-w",
        "--stdin",
        stdin=f"A {WORD} adrift.\n".encode(),
    )
    mara.create("facts/2026/2026-11-19-jar.md", f"The {WORD} is in the jar.\n")
    git(top / "store", "add", ".")
    Path(mara.root, "facts/2026/2026-11-19-jar.md").write_text("The jar is empty.\n")
    os.unlink(mara.absolute(FACT))
    (top / "store/.git/COMMIT_EDITMSG").write_text(f"About the {WORD}\n")
    return top / "store"


def run(store: Path) -> Result:
    words = [
        "--store",
        str(store),
        "--user",
        "mara",
        "forget",
        "--about",
        WORD,
        "--yes",
        "--purge-history",
    ]
    home = {"HOME": str(store)}
    return CliRunner().invoke(cli, words, env=home, standalone_mode=False)


def saying(store: Path, *, bare: bool = False) -> list[str]:
    """The files, names and objects under a store that say it."""
    found = [str(path) for path in store.rglob("*") if WORD in path.name]
    for path in store.rglob("*"):
        if (
            path.is_file()
            and "objects" not in path.parts
            and WORD.encode() in path.read_bytes()
        ):
            found.append(str(path))
    if bare:
        return found
    objects = git(
        store, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"
    ).split()
    return found + [oid for oid in objects if WORD in git(store, "cat-file", "-p", oid)]


def killed(store: Path, limit: int) -> bool:
    """Forget in a process of its own that ends without a word before its change number `limit`; was it killed?"""
    child = os.fork()
    if not child:
        arm(limit)
        Repository.start = counted_calls(Repository.start)  # type: ignore[method-assign]
        run(store)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 137


def sweep(folder: Path, points: Iterator[int]) -> int:
    """Kill at each point until there are no more, give the command again, look; the number of kills."""
    original = made(folder)
    undisturbed = copied(original, folder / "undisturbed")
    run(undisturbed)
    for kills, limit in enumerate(points):
        store = copied(original, folder / "again")
        alive = not killed(store, limit)
        result = run(store)
        assert saying(store) == [], (limit, result.output)
        done = not result.exception and result.return_value == 0
        assert done or result.output == "Nothing was found.\n", (limit, result.output)
        assert "It rains." in "".join(
            path.read_text() for path in store.glob("mara/sessions/2026/*.md")
        )
        assert (
            store / "mara/facts/2026/2026-11-19-jar.md"
        ).read_text() == "The jar is empty.\n"
        git(store, "fsck", "--full", "--strict")
        assert git(store, "status", "--short") == git(
            undisturbed, "status", "--short"
        ), limit
        shutil.rmtree(store)
        if alive:
            return kills
    raise AssertionError("the points are all used up and it was killed at each")


def test_killed_anywhere_it_is_finished_by_the_same_command(tmp_path: Path) -> None:
    assert sweep(tmp_path, iter(range(4, 1000, 23))) > 5


def test_what_an_earlier_version_began_is_named_and_asked_for_again(
    tmp_path: Path,
) -> None:
    """It is in nobody's way, and its journal tells nothing any more then."""
    user = Store(tmp_path).user("mara")
    user.folder.create(FACT, f"A {WORD} bit Mara.\n")
    journal = Path(user.folder.bookkeeping("forgetting"))
    items = [[FACT, 0, f"A {WORD} bit Mara.", "as asked", ["0"], ""]]
    journal.write_text(f"1\n{json.dumps([items, {}, [WORD, []], [], [], True, False])}")
    user.maintain()
    assert [one.path for one in problems(user.folder)] == [".filemem/forgetting"]
    user.forget(about=WORD)
    assert saying(tmp_path, bare=True) == []


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir()
    settings = Path(sys.argv[1], "gitconfig")
    settings.write_text(SETTINGS)
    os.environ |= {"GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    print(
        sweep(Path(sys.argv[1]), iter(range(1, 10_000))),
        "kills, and nothing left after any",
    )
