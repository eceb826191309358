"""A person's own edit always wins: what they changed, pinned, moved or deleted is
neither rewritten nor made again."""

import functools
import os
from pathlib import Path

import pytest
from conversations import accepted, day, talk, tree
from conversations import remembered as consolidated
from reader import Reader, note

from filemem.learn import proposals
from filemem.store.folder import Folder
from filemem.store.learned import LOG_NAME
from filemem.store.users import StoreFolder

remembered = functools.partial(
    consolidated,
    reader=Reader(echo=True, section="home"),
)
MAY, JUNE, JULY = day(5, 8), day(6, 2), day(7, 1)
HOME = "facts/2026/2026-05-08-i-live-in-ghent.md"


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    """Somebody who told where they live, which is remembered."""
    nora = StoreFolder(tmp_path).folder("nora")
    talk(nora, MAY, "I live in Ghent.", "Nice.")
    remembered(nora, MAY)
    assert set(tree(nora)) == {HOME, "profile.md"}
    return nora


def write(user: Folder, path: str, text: str) -> None:
    Path(user.root, path).write_text(text)


def session(user: Folder) -> str:
    [path] = [path for path in user.paths() if path.startswith("sessions/")]
    return path


def facts(user: Folder) -> list[str]:
    return [path for path in tree(user) if "facts/" in path]


def read_again(user: Folder) -> None:
    """As if the log of what was read had been lost: only what was written is known."""
    log = Path(user.bookkeeping(LOG_NAME))
    lines = log.read_text().splitlines(True)
    log.write_text("".join(line for line in lines if '"read"' not in line))


def test_a_fact_that_was_deleted_is_not_made_again_from_the_same_turn(
    user: Folder,
) -> None:
    """But told anew it is: only the turn is known, not the words for ever."""
    os.unlink(user.absolute(HOME))
    read_again(user)
    assert [one.action for one in remembered(user, JUNE)] == ["NOOP"]
    assert facts(user) == []
    talk(user, JUNE, "I live in Ghent.", "I know.")
    remembered(user, JUNE)
    assert facts(user) == [HOME.replace("05-08", "06-02")]


def test_a_correction_by_hand_holds_against_what_was_said_before_it(
    user: Folder,
) -> None:
    write(user, HOME, "Nora lives in Bruges.\n")
    talk(user, day(5, 9), "I live in Antwerp.", "Nice.")
    told = Reader(note("Nora lives in Antwerp.", "in Antwerp", supersede="Bruges"))
    [refused] = consolidated(user, JULY, told)
    assert refused.action == "REFUSE"
    assert tree(user)[HOME] == "Nora lives in Bruges.\n"
    # Git may have brought it only today, so it is not lost.
    [found] = proposals.waiting(user)
    assert "was said later" in found.fault
    assert accepted(user, JULY)[0].replaces == (HOME,)


def test_what_an_undo_brings_back_is_the_program_s_as_before(user: Folder) -> None:
    """However late git wrote the file: what is said from then on supersedes it."""
    before = tree(user)[HOME]
    for at, town in ((JUNE, "Antwerp"), (JULY, "Bruges")):
        talk(user, at, f"I live in {town}.", "Nice.")
        told = Reader(note(f"Nora lives in {town}.", f"in {town}", supersede="Ghent"))
        assert [one.action for one in consolidated(user, at, told)] == ["SUPERSEDE"]
        os.unlink(user.absolute(f"archive/{HOME}"))
        write(user, HOME, before)


def test_a_fact_written_by_hand_is_known_as_well(user: Folder) -> None:
    """Wherever it lies and however it is written."""
    write(user, "facts/tea.md", "my favourite tea is oolong\n")
    talk(user, JUNE, "My favourite tea is oolong.", "I know.")
    [one] = remembered(user, JUNE)
    assert (one.action, one.path) == ("NOOP", "facts/tea.md")


def test_what_was_moved_or_renamed_is_not_made_or_read_again(user: Folder) -> None:
    Path(user.root, "facts/places").mkdir()
    moved = "facts/places/2026-05-08-home.md"
    os.rename(user.absolute(HOME), user.absolute(moved))
    talked = session(user)
    os.rename(
        user.absolute(talked), user.absolute(talked.replace("talk", "where-i-live"))
    )
    assert remembered(user, JUNE) == []
    read_again(user)
    remembered(user, JUNE)
    assert facts(user) == [moved]


def test_an_edit_above_a_turn_changes_nothing(user: Folder) -> None:
    path = session(user)
    text = user.memory(path).text
    write(user, path, text.replace("- **nora**", "A heading.\n\n- **nora**", 1))
    assert remembered(user, JUNE) == []
