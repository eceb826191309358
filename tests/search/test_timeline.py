"""A timeline has each fact at the day that it tells of, else at its own, and says what
has ended."""

import datetime as dt
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from programs import lay

from filemem import Store
from filemem.cli import cli
from filemem.errors import FilememError
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

UNSET = dict.fromkeys(
    name for name in os.environ if name.startswith(("FILEMEM_", "OPENAI_"))
)
FILES = {
    "facts/2026/2026-05-09-cat.md": "Nora adopted a cat on 7 May 2026.\n",
    "facts/2026/2026-05-10-birthday.md": "Nora's birthday is on 14 May.\n",
    "facts/2026/2026-05-10-exam.md": "---\nday: 2026-05-20\n---\n\n"
    "Nora hat am 20. Mai eine Prüfung, one of May 2026.\n",
    "facts/2026/2026-05-11-school.md": "Nora left school in June 2011, saw Oslo in 2012.",
    "facts/2026/2026-06-11-midwife.md": "---\nvalid_from: 2026-06-01\n---\n\n"
    "Nora is a midwife in [[Knokke]].\n",
    "facts/2026/2026-06-12-鸟.md": "Nora在2026年5月30日看见一只翠鸟。\n",
    "archive/facts/2026/2026-01-05-nurse.md": "---\nvalid_until: 2026-06-01\n---\n\n"
    "Nora is a nurse.\n",
    "archive/facts/2025/2025-03-01-bees.md": "Nora kept bees.\n",
    "facts/undated.md": "Nora hums.\n",
    "facts/2026/2026-06-13-lake.md": "---\nday: 2026-06-20\nvalid_until: 2026-06-22\n"
    "---\n\nNora am See.\n",
    "facts/2026/2026-06-13-ferry.md": "---\nday: 2026-07-01\nvalid_until: 2026-07-31\n"
    "---\n\nNora takes a ferry.\n",
    "sessions/2026/2026-05-08-0930-talk.md": "- **nora** 09:30: A cat, on 7 May.\n"
    "- **nora** 09:31: It is grey.\n- **nora** 2026-05-12 08:00: It is ill.\n",
    "notes/2026-06-14.md": "Dentist on 24 June 2026.\n\nFlight on 26 June 2026, back "
    "on 29 June 2026.\n",
}
DAYS = [
    ("2011-06", "Nora left school in June 2011, saw Oslo in 2012."),
    ("2025-03-01", "Nora kept bees. (archived)"),
    ("2026-01-05", "Nora is a nurse. (until 2026-06-01)"),
    ("2026-05-07", "Nora adopted a cat on 7 May 2026."),
    ("2026-05-14", "Nora's birthday is on 14 May."),
    ("2026-05-20", "Nora hat am 20. Mai eine Prüfung, one of May 2026."),
    ("2026-05-30", "Nora在2026年5月30日看见一只翠鸟。"),
    ("2026-06-01", "Nora is a midwife in Knokke."),
    ("2026-06-20", "Nora am See. (until 2026-06-22)"),
    ("2026-07", "Nora takes a ferry. (until 2026-07-31)"),
]
TALK = [("2026-05-08", "nora: A cat, on 7 May."), ("2026-05-12", "nora: It is ill.")]
FLIGHT = "Flight on 26 June 2026, back on 29 June 2026."


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    nora = StoreFolder(tmp_path).folder("nora")
    lay(nora.root, FILES)
    return nora


def run(user: Folder, *more: str) -> Result:
    given = ("--store", user.store, "--user", user.name, "--today", "2026-06-15")
    args = ["timeline", *given, *more]
    done = CliRunner().invoke(cli, args, env=UNSET, standalone_mode=False)
    if done.exception:
        raise done.exception
    return done


def timeline(user: Folder, *more: str) -> list[tuple[str, str]]:
    """What is listed: its day and what happened."""
    lines = run(user, *more).output.splitlines()
    rows = [line.split(None, 1) for line in lines if not line.startswith(" ")]
    return [(row[0], row[1]) for row in rows]


def test_facts_come_in_the_order_of_what_they_tell(user: Folder) -> None:
    """A span counts where it touches; a talk is on each of its days.

    A glob names others, such as notes, in which each plan counts.
    """
    assert timeline(user) == [*DAYS[:4], *TALK, *DAYS[4:]]
    assert timeline(user, "facts/**") == DAYS
    assert timeline(user, "--after", "2026-05-08", "--before", "2026-05-13") == TALK
    assert timeline(user, "facts/**", "--after", "2026-06-22") == DAYS[-2:]
    assert timeline(user, "notes/**") == [
        ("2026-06-24", "Dentist on 24 June 2026."),
        ("2026-06-26", FLIGHT),
        ("2026-06-29", FLIGHT),
    ]
    assert timeline(user, "--before", "2011-06-15") == DAYS[:1]
    assert timeline(user, "archive/**") == DAYS[1:3]
    assert "facts/2026/2026-05-11-school.md:1" in run(user).output


def test_nothing_is_said_to_be_nothing(user: Folder) -> None:
    none = run(user, "--after", "2030")
    assert "Nothing is of that" in none.output and none.return_value == 1
    with pytest.raises(FilememError, match="is not a date"):
        run(user, "--after", "soon")


def test_no_text_commands_the_terminal(user: Folder) -> None:
    user.create("facts/2026/2026-07-01-x.md", "Nora \x1b]0;owned\x07 sings.\n")
    assert "\x1b" not in run(user).output


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Dentist on Oct 7 at 3pm.", "2026-10-07"),
        ("The concert is on October 24.", "2026-10-24"),
        ("Is in Rome from January 11 to 18.", "2027-01-11"),
        ("Has to send the tax return by September 25.", "2026-09-25"),
        ("10月3号去看牙医。", "2026-10-03"),
        ("Moved house on 5 May.", "2026-05-05"),
        ("Loves Christmas.", "2026-09-01"),
    ],
)
def test_a_plan_is_on_the_day_that_it_is_for(
    tmp_path: Path, text: str, day: str
) -> None:
    """A date without a year is the nearest one."""
    ben = Store(tmp_path).user("ben")
    ben.remember(text, today=dt.date(2026, 9, 1))
    assert timeline(ben._folder)[0] == (day, text)


def test_what_is_remembered_is_on_the_days_that_it_is_given(tmp_path: Path) -> None:
    """A month has its first and its last, and each is answered by it."""
    ann = Store(tmp_path).user("ann")
    ann.remember(
        "Trip to Japan.",
        on="2026-12",
        today=dt.date(2026, 11, 27),
    )
    ann.remember(
        "Dentist.",
        on=dt.date(2027, 1, 4),
        today=dt.date(2026, 11, 27),
    )
    with pytest.raises(FilememError, match="not a date"):
        ann.remember("Never.", on="some day")
    asked = {"15 December 2026": "Trip to Japan.", "4 January 2027": "Dentist."}
    for day, text in asked.items():
        [hit] = ann.search_files(
            f"What is on {day}?",
            today=dt.date(2026, 11, 27),
        )
        assert hit.text == text
