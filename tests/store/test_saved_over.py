"""An editor that empties a session's file, waits, and writes what it had loaded saves over the turns that were kept meanwhile:
`check` notices, and the turns are offered back; nothing is put back unasked, and nothing nags for ever.
"""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from filemem import Store
from filemem.cli import cli
from filemem.overview import problems
from filemem.store import files, saved_over
from filemem.store.folder import Folder
from filemem.store.transcript import Transcript

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    return Store(tmp_path).user("ann").folder


def texts(talk: Transcript) -> list[str]:
    return [turn.text for turn in talk.turns()]


def filemem(user: Folder, *words: str) -> str:
    return (
        CliRunner().invoke(cli, [*words, "--store", user.store, "--user", "ann"]).output
    )


def spoilt(user: Folder, count: int = 9, loaded: int = 3) -> Transcript:
    """A talk of `count` turns, over all but the first few of which an editor has saved what it had loaded."""
    talk = Transcript(user)
    for number in range(count):
        if number == loaded:
            before = user.read(talk.path)
            files.log(
                user.bookkeeping(saved_over.SAID), b"5\n{}\n"
            )  # spoilt lines, which hide no other
        talk.add("Ann", f"turn {number}\nits second line", AT)
    Path(user.absolute(talk.path)).write_bytes(before)
    return talk


def test_check_names_them_and_restore_puts_them_back_at_the_end(user: Folder) -> None:
    talk = spoilt(user)
    talk.add("Ann", "one more", AT)
    out = filemem(user, "check")
    told = "6 turns that were kept are not in it any more, saved over by an editor perhaps: turn 3"
    assert f"{talk.path}:1: {told}" in out and f"filemem restore {talk.path}" in out
    assert (
        filemem(user, "restore", talk.path)
        == f"Put 6 turns that were saved over back into {talk.path}.\n"
    )
    numbered = [f"turn {number}\nits second line" for number in range(9)]
    assert texts(talk) == [*numbered[:3], "one more", *numbered[3:]]
    assert {turn.day for turn in talk.turns()} == {None}
    assert filemem(user, "check").endswith(": 0 problems.\n")
    assert (
        filemem(user, "restore", talk.path) == f"{talk.path} is not in the archive.\n"
    )


def test_what_the_person_changed_or_put_away_is_no_loss(user: Folder) -> None:
    """A turn in other words, a file in the archive, a file deleted."""
    talk = spoilt(user)
    filemem(user, "restore", talk.path)
    place = Path(user.absolute(talk.path))
    place.write_text(place.read_text().replace("turn 4\n", "turn four\n"))
    assert problems(user) == []
    user.move({talk.path: f"archive/{talk.path}"})
    assert problems(user) == []
    Path(user.absolute(f"archive/{talk.path}")).unlink()
    assert problems(user) == []


def test_what_is_forgotten_is_offered_by_nobody(user: Folder) -> None:
    talk = Transcript(user)
    for text in (
        "I like tea.",
        "My code word is Ravn.",
        "A turn to forget by its line.",
    ):
        talk.add("Ann", text, AT)
    filemem(user, "forget", f"{talk.path}:{talk.turns()[2].line}", "--yes")
    assert "by its line" not in Path(user.bookkeeping(saved_over.SAID)).read_text()
    filemem(user, "forget", "--about", "Ravn", "--yes")
    assert b"Ravn" not in Path(user.bookkeeping(saved_over.SAID)).read_bytes()
    assert problems(user) == []


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 5_000), st.booleans()),
        min_size=1,
        max_size=25,
    )
)
def test_whatever_was_saved_over_comes_back_with_its_day(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[int, int, bool]]
) -> None:
    """Turns of some days, some of them in the same words, of which an editor has kept some."""
    user = Store(tmp_path_factory.mktemp("store")).user("ann").folder
    talk, at, wanted = Transcript(user), AT, list[tuple[dt.date, str, str]]()
    for word, minutes, _ in said:
        at += dt.timedelta(minutes=minutes)
        talk.add("Ann", f"word {word}\n\nsecond line", at)
        wanted.append((at.date(), f"{at:%H:%M}", f"word {word}\n\nsecond line"))
    place = Path(user.absolute(talk.path))
    lines = place.read_text().split("\n- ")
    place.write_text(
        "\n- ".join(
            [
                lines[0],
                *(line for line, one in zip(lines[1:], said, strict=True) if one[2]),
            ]
        )
    )
    filemem(user, "restore", talk.path)
    found = [(turn.day or wanted[0][0], turn.time, turn.text) for turn in talk.turns()]
    assert sorted(one[1:] for one in found) == sorted(one[1:] for one in wanted)
    if len({one[1:] for one in wanted}) == len(wanted) and not any(
        turn[2] for turn in said
    ):
        assert found == wanted
