"""A name that somebody gave up and another took: git has both under one folder.

The memories of each are found, forgotten and purged as theirs alone.
"""

import datetime as dt
from pathlib import Path

import pytest
from forgetting import WORD, forget
from repositories import START, git, plain_git, store  # noqa: F401

from filemem import NotFound, Store, User
from filemem.forget.purge import objects
from filemem.git.history import History
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

pytest.importorskip("git_filter_repo", reason="the extra purge is not installed")
SAW = f"I saw a {WORD} in the jar."
CAT = "The cat sleeps in the tuba case."
THEIRS = f"Keeps bees in the garden behind the old mill: never saw a {WORD}."
EARLIER = START + dt.timedelta(hours=1)  # than the new name


def saying(user: Folder, words: str) -> list[str]:
    """Return the kind of every object in git that holds some words.

    Args:
        user: of the store that git keeps.
        words: as they stand there.
    """
    kinds = list[str]()
    for one in objects(History(user).repository):
        if words.encode() in one.data:
            kinds.append(one.kind)
    return kinds


def log(user: Folder) -> str:
    """Return all that git shows of all users."""
    return git(user.store, "log", "-p", "--format=%s")


def purge(user: Folder, *what: str) -> None:
    """Forget in history, too, and have that proven.

    Args:
        user: whose memories.
        what: names them to the command.
    """
    done = forget(user, *what, "--yes", "--purge-history")
    told = (done.output, done.exception)
    assert done.return_value == 0, told
    git(user.store, "fsck", "--full", "--strict")


def old_memories(user: User) -> list[str]:
    """Return the paths of what was kept before the new name."""
    past = user.as_of(EARLIER)
    return [memory.path for memory in past.memories()]


@pytest.fixture
def newcomer(tmp_path: Path) -> User:
    """Who is called mara, as one was whose name is lind now."""
    mara = store(tmp_path / "store")
    here = Store(mara.store)
    talk = []
    for text in (SAW, CAT):
        talk.append({"role": "user", "content": text})
    here.user("mara").add_conversation(
        talk,
        at=START,
        title="The jar",
    )
    here.rename("mara", "lind")
    new = here.user("mara")
    new.remember(THEIRS)
    return new


@pytest.fixture
def lind(newcomer: User) -> Folder:
    """Who was called mara."""
    place = newcomer._folder.store
    return StoreFolder(place).folder("lind")


def test_who_was_renamed_goes_from_git_and_whoever_has_the_name_now_stays(
    newcomer: User,
    lind: Folder,
) -> None:
    """What is left is told, and the remedy that is told then removes it."""
    gone = Store(lind.store).delete("lind")
    [left] = gone.left
    assert left.startswith("Git's history still has it")
    purge(lind, "--whole-user", "lind")
    assert saying(lind, CAT) == []
    assert saying(lind, SAW) == []
    assert THEIRS in log(lind)
    assert git(lind.store, "status", "--short") == ""
    assert len([*newcomer.memories()]) == 1


def test_words_go_from_the_versions_of_one_and_not_of_the_other(
    newcomer: User,
    lind: Folder,
) -> None:
    """What else they have of the same folder stays."""
    purge(lind, "--about", WORD)
    assert saying(lind, SAW) == []
    assert THEIRS in log(lind)
    assert CAT in log(lind)
    purge(newcomer._folder, "--about", WORD)
    assert saying(lind, WORD) == []


def test_a_newcomer_sees_and_deletes_nothing_of_who_had_the_name_before(
    newcomer: User,
    lind: Folder,
) -> None:
    """Nor by a day before their own first."""
    earlier = Store(lind.store).user("lind")
    assert old_memories(earlier)
    with pytest.raises(NotFound):
        newcomer.as_of(EARLIER)
    purge(newcomer._folder, "--whole-user", "mara")
    assert saying(lind, THEIRS) == []
    assert old_memories(earlier)
    purge(lind, "--whole-user", "lind")
    assert saying(lind, CAT) == []


def test_who_has_gone_on_to_another_name_loses_nothing_by_the_one_before(
    tmp_path: Path,
) -> None:
    """There is nobody of that name whose memories could go."""
    mara = store(tmp_path / "store")
    lind = Store(mara.store).rename("mara", "lind")
    done = forget(
        mara,
        "--whole-user",
        "mara",
        "--yes",
        "--purge-history",
    )
    assert done.output == "Nothing was found.\n"
    assert old_memories(lind)
