"""An editor that empties a session's file, waits, and writes what it had loaded saves
over the turns that were kept meanwhile: `check` notices, and the turns are offered
back; nothing is put back unasked, and nothing nags for ever.
"""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from filemem.cli import cli
from filemem.errors import Problem
from filemem.overview import problems
from filemem.store import files, saved_over
from filemem.store.folder import Folder
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    return StoreFolder(tmp_path).folder("ann")


def texts(talk: Transcript) -> list[str]:
    return [turn.text for turn in talk.turns()]


def filemem(user: Folder, *words: str) -> str:
    given = [*words, "--store", user.store, "--user", "ann"]
    return CliRunner().invoke(cli, given).output


def found(user: Folder) -> list[Problem]:
    """What the checks find."""
    return problems(
        user,
        AT.date(),
    )


@pytest.fixture
def talk(user: Folder) -> Transcript:
    """Five turns, over all but the first two of which an editor has saved what it had
    loaded, and one more."""
    talk = Transcript(user)
    for number in range(5):
        talk.add("Ann", f"turn {number}\nits second line", AT)
        if number == 1:
            loaded = user.read(talk.path)
            spoilt = b"5\n{}\n"  # lines that hide no other
            files.log(user.bookkeeping(saved_over.SAID), spoilt)
    Path(user.absolute(talk.path)).write_bytes(loaded)
    talk.add("Ann", "one more", AT)
    return talk


def test_check_names_them_and_restore_puts_them_back_at_the_end(
    user: Folder, talk: Transcript
) -> None:
    out = filemem(user, "check")
    told = "3 turns that were kept are not in it any more, saved over by an editor"
    assert f"{talk.path}:1: {told} perhaps: turn 2" in out
    assert f"filemem restore {talk.path}" in out
    put = filemem(user, "restore", talk.path)
    assert put == f"Put 3 turns that were saved over back into {talk.path}.\n"
    turns = [f"turn {number}\nits second line" for number in range(5)]
    assert texts(talk) == [*turns[:2], "one more", *turns[2:]]
    assert {turn.day for turn in talk.turns()} == {None}
    assert filemem(user, "check").endswith(": 0 problems.\n")


def test_what_the_person_changed_or_put_away_is_no_loss(
    user: Folder, talk: Transcript
) -> None:
    """A turn in other words, a file in the archive, a file deleted."""
    filemem(user, "restore", talk.path)
    place = Path(user.absolute(talk.path))
    place.write_text(place.read_text().replace("turn 4\n", "turn four\n"))
    assert found(user) == []
    user.move({talk.path: f"archive/{talk.path}"})
    assert found(user) == []
    Path(user.absolute(f"archive/{talk.path}")).unlink()
    assert found(user) == []


def test_what_is_forgotten_is_offered_by_nobody(user: Folder, talk: Transcript) -> None:
    talk.add("Ann", "My code word is Ravn.", AT)
    last = talk.turns()[-1]
    talk.add("Ann", "One by its line.", AT)
    filemem(user, "forget", f"{talk.path}:{last.line + 1}", "--yes")
    filemem(user, "forget", "--about", "Ravn", "--yes")
    noted = Path(user.bookkeeping(saved_over.SAID)).read_text()
    assert "Ravn" not in noted and "by its line" not in noted


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 5_000), st.booleans()),
        min_size=1,
        max_size=25,
    )
)
@example([(0, 0, True), (1, 0, False), (1, 0, True)])
def test_whatever_was_saved_over_comes_back_with_its_day(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[int, int, bool]]
) -> None:
    """Turns of some days, some of them in the same words, of which an editor has kept
    some."""
    user = StoreFolder(tmp_path_factory.mktemp("store")).folder("ann")
    talk = Transcript(user)
    at = AT
    for word, minutes, _ in said:
        at += dt.timedelta(minutes=minutes)
        talk.add("Ann", f"word {word}\n\nsecond line", at)

    def days() -> list[tuple[object, ...]]:
        turns = talk.turns()
        found = [(turn.day or AT.date(), turn.time, turn.text) for turn in turns]
        return sorted(found)

    wanted = days()
    place = Path(user.absolute(talk.path))
    head, *turns = place.read_text().split("\n- ")
    kept = [turn for turn, one in zip(turns, said, strict=True) if one[2]]
    place.write_text("\n- ".join([head, *kept]))
    filemem(user, "restore", talk.path)
    if not kept:
        assert days() == wanted
    clocks = sorted(one[1:] for one in days())
    assert clocks == sorted(one[1:] for one in wanted)
