"""Who is deleted or renamed on one machine is so on the other once it has synced.

Nothing of theirs is left there for the next who has the name, neither a key nor a word;
what the first machine never had stays, and is named.
"""

import itertools
import os
from pathlib import Path

import pytest
from crash_driver import arm
from repositories import START, git, plain_git, store

from filemem import Store, User
from filemem.git.history import History
from filemem.git.sync import sync
from filemem.store import person, recalls
from filemem.store.folder import Folder
from filemem.store.keys import add_key, find_user
from filemem.store.users import StoreFolder

BICYCLE = "Has sold the bicycle."
BEES = "Keeps bees behind the old mill."


class Machine:
    """One of two that share a store by a remote.

    Args:
        place: of the store, in which mara is.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.store = Store(place)

    def user(self, name: str) -> Folder:
        """Return a user's folder."""
        return StoreFolder(self.place).folder(name)

    def sync(self) -> list[str]:
        """Sync as mara does; return what is told but for the last sentence."""
        return sync(History(self.user("mara")), None, START)[:-1]

    def owner(self, key: str) -> str:
        """Return whose memories a key opens; '' for nobody's."""
        return find_user(
            str(self.place),
            key,
        )

    def holding(self, words: str) -> list[str]:
        """Return the files beside git's own that hold some words."""
        found = list[str]()
        for path in self.place.rglob("*"):
            inside = path.relative_to(self.place).as_posix()
            is_own = path.is_file() and not inside.startswith(".git/")
            if is_own and words.encode() in path.read_bytes():
                found.append(inside)
        return found


def pair(where: Path) -> list[Machine]:
    """Return two machines that have mara and ann; the second has used ann's memories.

    Args:
        where: they and the remote lie.
    """
    where.mkdir(exist_ok=True)
    git(
        where,
        "init",
        "--quiet",
        "--bare",
        "remote",
    )
    store(where / "one")
    one = Machine(where / "one")
    one.store.user("ann").remember(BICYCLE)
    git(
        one.place,
        "remote",
        "add",
        "origin",
        str(where / "remote"),
    )
    one.sync()
    git(
        where,
        "clone",
        "--quiet",
        "remote",
        "two",
    )
    two = Machine(where / "two")
    ann = two.store.user("ann")
    assert ann.search_files("bicycle")
    ann.remember("Has a cat.")
    two.sync()
    one.sync()
    return [one, two]


@pytest.fixture
def machines(tmp_path: Path) -> list[Machine]:
    return pair(tmp_path)


@pytest.fixture
def key(machines: list[Machine]) -> str:
    """A key of ann's on the second machine."""
    return add_key(
        str(machines[1].place),
        "ann",
        START.date(),
    )


def recall(user: User) -> None:
    """Note that a memory was recalled, which is not synced yet."""
    [first, *_] = user.memories("facts")
    recalls.note_recall(
        user._folder,
        first.path,
        recalls.How.OPENED,
        START,
    )


@pytest.mark.parametrize(
    "is_recalled",
    [
        False,
        True,
    ],
)
def test_who_was_deleted_is_gone_and_a_newcomer_inherits_nothing(
    machines: list[Machine],
    key: str,
    is_recalled: bool,
) -> None:
    """Whether something was noted of them since or not."""
    one, two = machines
    before = two.user("ann").identity()
    if is_recalled:
        recall(two.store.user("ann"))
    one.store.delete("ann")
    one.sync()
    assert two.sync() == ["ann was deleted on another machine, and now here, too."]
    assert two.store.users() == ["mara"]
    assert not os.path.lexists(two.user("ann").root)
    assert two.holding("bicycle") == []
    assert str(two.user("ann").root) not in person.read_entries(person.FILE_NAME)
    assert (
        git(
            two.place,
            "status",
            "--short",
        )
        == ""
    )
    two.store.user("ann").remember(BEES)
    assert two.owner(key) == ""
    assert two.user("ann").identity() not in ("", before)
    assert two.sync() == []
    assert one.sync() == []
    assert one.store.users() == ["ann", "mara"]


@pytest.mark.parametrize(
    "how",
    [
        "delete",
        "rename",
    ],
)
def test_a_newcomer_of_the_other_machine_inherits_nothing_either(
    machines: list[Machine],
    key: str,
    how: str,
) -> None:
    one, two = machines
    before = two.user("ann").identity()
    recall(two.store.user("ann"))
    if how == "delete":
        one.store.delete("ann")
    else:
        one.store.rename("ann", "lind")
    one.store.user("ann").remember(BEES)
    one.sync()
    [told] = two.sync()
    assert "on another machine, and now here, too." in told
    has_left = how == "rename"
    assert two.owner(key) == ("lind" if has_left else "")
    assert two.user("ann").identity() not in ("", before)
    assert two.user("ann").names() == ["ann"]
    assert [found for found in two.holding("bicycle") if found.startswith("ann")] == []
    [fact] = two.store.user("ann").memories("facts")
    assert BEES in fact.text
    assert (
        git(
            two.place,
            "status",
            "--short",
        )
        == ""
    )


def test_who_was_renamed_is_known_by_the_new_name(
    machines: list[Machine],
    key: str,
) -> None:
    """However often: by their key, and as who they were here."""
    one, two = machines
    before = two.user("ann").identity()
    one.store.rename("ann", "lind")
    one.store.rename("lind", "ida")
    one.sync()
    assert two.sync() == ["ann is called ida on another machine, and now here, too."]
    assert two.store.users() == ["ida", "mara"]
    assert two.owner(key) == "ida"
    assert two.user("ida").identity() == before
    assert two.user("ida").names()[:2] == ["ida", "ann"]
    assert two.store.user("ida").search_files("bicycle")
    assert two.store.user("ida").remember("Likes figs.")
    assert (
        git(
            two.place,
            "status",
            "--short",
        )
        == ""
    )


def test_who_swapped_their_names_swap_what_is_known_of_them(
    machines: list[Machine],
    key: str,
) -> None:
    one, two = machines
    other = add_key(
        str(two.place),
        "mara",
        START.date(),
    )
    two.store.user("mara").remember("Rows.")
    two.sync()
    one.sync()
    for old, new in (("ann", "x"), ("mara", "ann"), ("x", "mara")):
        one.store.rename(old, new)
    sync(
        History(one.user("mara")),
        None,
        START,
    )
    assert len(two.sync()) == 2
    assert two.owner(key) == "mara"
    assert two.owner(other) == "ann"
    assert two.store.user("mara").search_files("bicycle")


@pytest.mark.parametrize(
    "is_committed",
    [
        False,
        True,
    ],
)
def test_what_the_other_machine_never_had_stays_and_is_named(
    machines: list[Machine],
    key: str,
    is_committed: bool,
) -> None:
    """Still theirs, and opened by their key."""
    one, two = machines
    if is_committed:
        path = two.store.user("ann").remember(BEES).path
    else:
        path = "facts/own.md"
        Path(two.user("ann").root, path).write_text(
            BEES,
        )
    one.store.delete("ann")
    one.sync()
    [told, *_] = two.sync()
    assert told.startswith("ann was deleted on another machine; what that had not")
    assert path in told
    assert BEES in two.user("ann").read(path).decode()
    assert two.owner(key) == "ann"


def test_cut_off_anywhere_it_is_finished_by_the_next_sync(
    tmp_path: Path,
) -> None:
    for limit in itertools.count(7, 29):
        one, two = pair(tmp_path / str(limit))
        key = add_key(
            str(two.place),
            "ann",
            START.date(),
        )
        recall(two.store.user("ann"))
        one.store.delete("ann")
        one.sync()
        child = os.fork()
        if not child:
            arm(limit)
            two.sync()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for lock in Path(two.place, ".git").rglob("*.lock"):
            lock.unlink()
        two.sync()
        assert two.store.users() == ["mara"], limit
        assert two.holding("bicycle") == [], limit
        two.store.user("ann").remember(BEES)
        assert two.owner(key) == "", limit
        assert (
            git(
                two.place,
                "status",
                "--short",
            )
            == ""
        ), limit
        if not status:
            break
    assert limit > 60
