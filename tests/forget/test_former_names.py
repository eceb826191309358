"""A name that somebody had and another took: git has both under one folder.

The first has another name now, or was deleted. The memories of each are found,
forgotten and purged as theirs alone; of the deleted nobody is shown anything, and they
go from git with whoever of their name goes whole.
"""

import contextlib
import datetime as dt
import itertools
import os
from pathlib import Path

import pytest
from crash_driver import arm
from forgetting import WORD, forget
from programs import filemem
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


def first_mara(where: Path) -> Store:
    """Make a store with somebody who is called mara.

    Args:
        where: it lies.
    """
    mara = store(where)
    here = Store(mara.store)
    talk = []
    for text in (SAW, CAT):
        talk.append({"role": "user", "content": text})
    here.user("mara").add_conversation(
        talk,
        at=START,
        title="The jar",
    )
    return here


def second_mara(here: Store) -> User:
    """Have somebody begin under that name, who keeps one fact.

    Args:
        here: the store, where nobody is called so any more.
    """
    mara = here.user("mara")
    mara.remember(THEIRS)
    return mara


@pytest.fixture
def newcomer(tmp_path: Path) -> User:
    """Who is called mara, as one was whose name is lind now."""
    here = first_mara(tmp_path / "store")
    here.rename("mara", "lind")
    return second_mara(here)


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


def test_of_who_goes_no_message_stays_with_what_two_have_alike(
    tmp_path: Path,
) -> None:
    """Such as a log of the same day of use, which is the other's still."""
    here = first_mara(tmp_path / "store")
    here.user("ann").remember("Has sold the bicycle.")
    ida = here.rename("ann", "ida")._folder
    here.user("ann").remember(THEIRS)
    purge(ida, "--whole-user", "ida")
    assert saying(ida, "sold the bicycle") == []
    assert THEIRS in log(ida)
    assert CAT in log(ida)


@pytest.mark.parametrize(
    "is_whole",
    [
        True,
        False,
    ],
)
def test_what_two_have_alike_goes_with_the_one_or_is_said_to_be_left(
    tmp_path: Path,
    is_whole: bool,
) -> None:
    """It goes with who goes whole, and stays the other's.

    Of words in it the command says where they are left.
    """
    here = first_mara(tmp_path / "store")
    here.user("ann").remember(THEIRS, today=START.date())
    old = git(here.root, "rev-parse", "HEAD:ann/facts")
    ida = here.rename("ann", "ida")._folder
    [path] = ida.paths("facts")
    here.user("ann").remember(THEIRS, today=START.date())
    assert git(here.root, "rev-parse", "HEAD:ann/facts") == old
    what = ["--about", "mill"]
    if is_whole:
        what = ["--whole-user", "ida"]
    done = forget(
        ida,
        *what,
        "--yes",
        "--purge-history",
    )
    has = git(
        here.root,
        "log",
        "--format=%h",
        "--",
        f"ann/{path}",
    )
    assert len(has.split()) == (1 if is_whole else 3)
    assert ("Git still says it: blob" in done.output) != is_whole
    assert done.return_value == (0 if is_whole else 1)
    [fact] = here.user("ann").memories("facts")
    assert THEIRS in fact.text
    assert git(here.root, "status", "--short") == ""


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


# -- of one who comes back to a name ---------------------------------------------------


def named(here: Store, *names: str) -> Folder:
    """Give mara one name after the other, and return the folder that they have then.

    Args:
        here: the store.
        names: in their order.
    """
    user = here.user("mara")
    for name in names:
        user = here.rename(user.name, name)
    return user._folder


@pytest.mark.parametrize(
    "names",
    [
        ["lind", "mara"],
        ["lind", "mara", "lind", "ida"],
    ],
)
def test_who_has_come_back_to_a_name_goes_from_git(
    tmp_path: Path,
    names: list[str],
) -> None:
    """By words and whole, of each time that they had it."""
    user = named(first_mara(tmp_path / "store"), *names)
    purge(user, "--about", WORD)
    assert saying(user, SAW) == []
    assert CAT in log(user)
    purge(user, "--whole-user", names[-1])
    assert saying(user, CAT) == []


def test_whoever_had_a_name_between_keeps_theirs_as_its_first_goes(
    tmp_path: Path,
) -> None:
    """The first is found at each of their times, and says nothing in git then."""
    here = first_mara(tmp_path / "store")
    named(here, "lind")
    here.user("mara").remember(THEIRS)
    named(here, "ida")
    mara = here.rename("lind", "mara")
    assert old_memories(mara)
    mara.remember("Keeps the jar.")
    lind = here.rename("mara", "lind")._folder
    purge(lind, "--whole-user", "lind")
    for words in (CAT, SAW, "Keeps the jar.", "The jar"):
        assert saying(lind, words) == []
    ida = here.user("ida")
    assert THEIRS in log(ida._folder)
    with pytest.raises(NotFound):
        ida.as_of(EARLIER)


# -- of one who was deleted ------------------------------------------------------------


def sees_nothing_of_the_first(mara: User) -> None:
    """Look for the first one's memories as whoever has the name now can.

    Args:
        mara: who has begun after the first was deleted.
    """
    with pytest.raises(NotFound):
        mara.as_of(EARLIER)
    root = mara._folder.store
    whose = ("--store", root, "--user", "mara")
    [line] = filemem(*whose, "log").stdout.splitlines()
    assert "Remember: Keeps bees" in line
    commits = git(
        root,
        "log",
        "--format=%h",
        "--",
        "mara",
    )
    for commit in commits.split("\n")[1:]:
        refused = filemem(*whose, "undo", commit)
        assert refused.returncode == 2
        assert "no commit of a job" in refused.stderr
    [fact] = mara.memories("facts")
    assert "Keeps bees" in fact.text


def test_a_newcomer_sees_nothing_of_who_was_deleted(tmp_path: Path) -> None:
    """Not even of what had been deleted by hand, and not been committed."""
    here = first_mara(tmp_path / "store")
    [talk] = here.user("mara").memories("sessions")
    Path(here.root, "mara", talk.path).unlink()
    here.delete("mara")
    mara = second_mara(here)
    sees_nothing_of_the_first(mara)
    assert mara.as_of(mara.now()).memories()
    log_of_file = filemem("--store", here.root, "log", talk.path)
    assert log_of_file.returncode == 2
    assert git(here.root, "status", "--short") == ""


def test_words_of_a_newcomer_go_from_git_and_not_those_of_who_was_deleted(
    tmp_path: Path,
) -> None:
    """All goes that is left of both with the one of the name who goes whole."""
    here = first_mara(tmp_path / "store")
    here.delete("mara")
    mara = second_mara(here)
    purge(mara._folder, "--about", WORD)
    assert saying(mara._folder, THEIRS) == []
    assert saying(mara._folder, SAW)
    with pytest.raises(NotFound):
        mara.as_of(EARLIER)
    planned = forget(
        mara._folder, "--whole-user", "mara", "--purge-history", "--dry-run"
    )
    assert "who was called so before" in planned.output
    purge(mara._folder, "--whole-user", "mara")
    assert saying(mara._folder, SAW) == []
    assert "mara/" not in log(mara._folder)


def test_who_was_deleted_goes_from_git_later(tmp_path: Path) -> None:
    """By all names, and while another who had the name keeps what is theirs."""
    here = first_mara(tmp_path / "store")
    here.rename("mara", "lind")
    here.delete("lind")
    here.user("lind").remember(THEIRS)
    other = here.rename("lind", "bo")
    lind = StoreFolder(here.root).folder("lind")
    purge(lind, "--whole-user", "lind")
    assert saying(lind, CAT) == []
    assert THEIRS in log(lind)
    before = other.as_of(other.now()).memories()
    assert THEIRS in "".join(memory.text for memory in before)


def test_a_deletion_that_is_cut_off_anywhere_ends_with_the_same_call(
    tmp_path: Path,
) -> None:
    """A newcomer sees nothing either then."""
    for limit in itertools.count(1, 5):
        here = first_mara(tmp_path / str(limit))
        child = os.fork()
        if not child:
            arm(limit)
            here.delete("mara")
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for lock in Path(here.root, ".git").rglob("*.lock"):
            lock.unlink()
        with contextlib.suppress(NotFound):  # it was done
            here.delete("mara")
        assert here.users() == [], limit
        assert git(here.root, "status", "--short") == "", limit
        mara = second_mara(here)
        sees_nothing_of_the_first(mara)
        if not status:
            break
    assert limit > 10


def test_who_cannot_be_deleted_in_git_is_deleted_by_the_same_call_later(
    tmp_path: Path,
) -> None:
    """Of their folder that is left which the commit needs."""
    here = first_mara(tmp_path / "store")
    lock = Path(here.root, ".git/index.lock")
    lock.touch()
    left = " ".join(here.delete("mara").left)
    assert "not committed yet" in left
    assert "mara is there still" in left
    assert not list(StoreFolder(here.root).folder("mara").paths())
    lock.unlink()
    here.delete("mara")
    assert here.users() == []
    mara = second_mara(here)
    sees_nothing_of_the_first(mara)


def test_who_deletes_their_memories_one_by_one_is_not_deleted(tmp_path: Path) -> None:
    here = first_mara(tmp_path / "store")
    mara = here.user("mara")
    for memory in list(mara.memories()):
        mara.forget(memory.path)
    assert not list(mara.memories())
    assert old_memories(mara)
    mara.remember(THEIRS)
    assert old_memories(mara)


def test_neither_a_new_name_nor_a_deletion_is_undone(tmp_path: Path) -> None:
    """Memories would lie there that are nobody's, and it says what to do instead."""
    here = first_mara(tmp_path / "store")
    lind = here.rename("mara", "lind")
    renamed = git(here.root, "rev-parse", "HEAD")
    last = filemem("--store", here.root, "undo")
    assert last.returncode == 2
    assert "nothing left to undo" in last.stderr
    named = filemem("--store", here.root, "undo", renamed)
    assert named.returncode == 2
    assert "rename method of Store" in named.stderr
    assert old_memories(lind)


def test_a_name_of_before_that_is_forgotten_shows_nothing_to_who_has_it_now(
    newcomer: User,
    lind: Folder,
) -> None:
    """In git the commit of the new name goes on saying whose the folder was."""
    forget(
        lind,
        "--about",
        "mara",
        "--yes",
        "--purge-history",
    )
    with pytest.raises(NotFound):
        newcomer.as_of(EARLIER)
