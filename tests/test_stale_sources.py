"""`filemem check` flags what rests on a turn that was edited or deleted, or on a memory that was superseded; nothing else."""

from pathlib import Path

import pytest
from conversations import day, remembered, talk
from reader import Reader, note

from filemem import Store
from filemem.files.folder import Folder
from filemem.overview.check import problems

MAY, JUNE = day(5, 8), day(6, 2)
HOME = "facts/2026/2026-05-08-i-live-in-ghent.md"
REMEDY = "see whether it still holds; then correct it, or delete it"


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    nora = Store(tmp_path).user("nora").folder
    talk(nora, MAY, "I live in Ghent.", "Nice.", "I'm allergic to walnuts.", "Noted.")
    remembered(nora, MAY, Reader(echo=True, section="home"))
    assert problems(nora) == []
    return nora


def session(user: Folder) -> Path:
    [path] = [path for path in user.paths() if path.startswith("sessions/")]
    return Path(user.root, path)


def flagged(user: Folder) -> list[tuple[str, int, str]]:
    assert {problem.remedy for problem in problems(user)} <= {REMEDY}
    return [(problem.path, problem.line, problem.what) for problem in problems(user)]


@pytest.mark.parametrize("line", ["- **nora** 09:30: I never lived in Ghent.\n", ""])
def test_a_turn_that_was_edited_or_deleted(user: Folder, line: str) -> None:
    place = session(user)
    turns = [line if "Ghent" in one else one for one in place.read_text().splitlines(True)]
    place.write_text("".join(turns))
    assert flagged(user) == [(HOME, 2, "a turn that it rests on was edited or deleted since")]


def test_a_fact_that_was_deleted_and_told_again_rests_on_what_was_told_again(user: Folder) -> None:
    place = session(user)
    Path(user.root, HOME).unlink()
    talk(user, MAY.replace(hour=11), "I live in Ghent.", "I know.")
    assert [one.path for one in remembered(user, JUNE)] == [HOME]
    place.write_text(place.read_text().replace("I live in Ghent.", "Hello."))
    assert flagged(user) == []


def test_where_the_whole_session_is_gone_each_fact_says_so_once(user: Folder) -> None:
    session(user).unlink()
    assert [(problem.path, problem.line) for problem in problems(user)] == [
        (HOME, 2),
        ("facts/2026/2026-05-08-i-m-allergic-to-walnuts.md", 2),
    ]


@pytest.mark.parametrize("change", ["above", "archived", "joined by others"])
def test_what_does_not_change_the_turn_is_no_problem(user: Folder, change: str) -> None:
    place = session(user)
    if change == "above":
        place.write_text(place.read_text().replace("- **nora**", "Mine.\n\n- **nora**", 1))
    elif change == "archived":
        target = Path(user.root, "archive", place.relative_to(user.root))
        target.parent.mkdir(parents=True)
        place.rename(target)
    else:
        place.write_text(place.read_text() + "- **nora** 09:40: And one more thing.\n")
    assert flagged(user) == []


def test_once_the_person_has_edited_the_fact_it_is_theirs(user: Folder) -> None:
    place = session(user)
    place.write_text(place.read_text().replace("I live in Ghent.", "I never lived in Ghent."))
    fact = Path(user.root, HOME)
    fact.write_text(fact.read_text().replace("live", "lived"))
    assert flagged(user) == []


MOVED = Reader(note("Nora lives in Bruges.", "to Bruges", supersede="Ghent"))
BY = "facts/2026/2026-06-02-lives-in-bruges.md"


def test_a_memory_that_rests_on_one_that_was_superseded(user: Folder) -> None:
    """By front matter, or as a line of the profile."""
    user.create("facts/2026/2026-05-20-tram.md", f"---\nsource: {HOME}\n---\n\nNora takes tram 1.\n")
    place = Path(user.root, "profile.md")
    place.write_text(place.read_text().replace("- I live in Ghent.", "- Nora is a Ghent person."))
    talk(user, JUNE, "I moved to Bruges.", "Good luck.")
    remembered(user, JUNE, MOVED)
    assert flagged(user) == [
        ("facts/2026/2026-05-20-tram.md", 2, f"it rests on {HOME}, which {BY} superseded"),
        ("profile.md", 5, f"the line rests on {HOME}, which {BY} superseded"),
    ]
