"""A timeline has each fact at the day that it tells of, else at its own, and says what has ended."""

import datetime as dt
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from programs import lay

from filemem import Store
from filemem.cli import cli
from filemem.errors import FilememError
from filemem.store.folder import Folder

UNSET = dict.fromkeys(
    name for name in os.environ if name.startswith(("FILEMEM_", "OPENAI_"))
)
NURSE = "archive/facts/2026/2026-01-05-is-a-nurse.md"
FILES = {
    "facts/2026/2026-05-09-cat.md": "Nora adopted a cat on 7 May 2026.\n",
    "facts/2026/2026-05-10-birthday.md": "Nora's birthday is on 14 May.\n",
    "facts/2026/2026-05-10-exam.md": "---\nday: 2026-05-20\n---\n\nNora hat am 20. Mai eine Prüfung, one of May 2026.\n",
    "facts/2026/2026-05-11-school.md": "Nora left school in June 2011 and saw Oslo in 2012.\n",
    "facts/2026/2026-06-11-midwife.md": "---\nvalid_from: 2026-06-01\n---\n\nNora is a midwife in [[Knokke]].\n",
    "facts/2026/2026-06-12-鸟.md": "Nora在2026年5月30日看见一只翠鸟。\n",
    NURSE: "---\nvalid_until: 2026-06-01\n---\n\nNora is a nurse.\n",
    "archive/facts/2025/2025-03-01-bees.md": "Nora kept bees.\n",
    "facts/undated.md": "Nora hums.\n",
    "sessions/2026/2026-05-08-0930-talk.md": "- **nora** 09:30: I adopted a cat on 7 May 2026.\n",
}
WHOLE = f"""\
2011-06     Nora left school in June 2011 and saw Oslo in 2012.  facts/2026/2026-05-11-school.md:1
2025-03-01  Nora kept bees. (archived)  archive/facts/2025/2025-03-01-bees.md:1
2026-01-05  Nora is a nurse. (until 2026-06-01)  {NURSE}:5
2026-05-07  Nora adopted a cat on 7 May 2026.  facts/2026/2026-05-09-cat.md:1
2026-05-14  Nora's birthday is on 14 May.  facts/2026/2026-05-10-birthday.md:1
2026-05-20  Nora hat am 20. Mai eine Prüfung, one of May 2026.  facts/2026/2026-05-10-exam.md:5
2026-05-30  Nora在2026年5月30日看见一只翠鸟。  facts/2026/2026-06-12-鸟.md:1
2026-06-01  Nora is a midwife in Knokke.  facts/2026/2026-06-11-midwife.md:5
[0]"""


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    nora = Store(tmp_path).user("nora").folder
    nora.make()
    lay(nora.root, FILES)
    return nora


def timeline(user: Folder, *more: str) -> str:
    """What `filemem timeline` prints, and its exit code."""
    args = [
        "timeline",
        "--store",
        user.store,
        "--user",
        user.name,
        "--today",
        "2026-06-15",
        *more,
    ]
    done = CliRunner().invoke(cli, args, env=UNSET, standalone_mode=False)
    if done.exception:
        raise done.exception
    return f"{done.output}[{done.return_value}]"


def test_facts_in_the_order_of_what_they_tell_from_one_day_to_another(
    user: Folder,
) -> None:
    """A span counts where it touches; other memories are named by a glob; no text can command the terminal."""
    assert timeline(user) == WHOLE
    lines = WHOLE.split("\n")
    assert (
        timeline(user, "--after", "2026-05", "--before", "yesterday").split("\n")
        == lines[3:]
    )
    assert timeline(user, "--before", "2011-06-15").split("\n") == [lines[0], "[0]"]
    nothing = "Nothing is of that time; filemem timeline '**', without --after and --before, shows everything."
    assert timeline(user, "--after", "2030").split("\n") == [nothing, "[1]"]
    with pytest.raises(FilememError, match="is not a date"):
        timeline(user, "--after", "soon")
    assert timeline(user, "sessions/**").startswith(
        "2026-05-08  nora: I adopted a cat on 7 May 2026.  sessions/"
    )
    assert timeline(user, "archive/**").split("\n") == [*lines[1:3], "[0]"]
    user.create("facts/2026/2026-07-01-x.md", "Nora \x1b]0;owned\x07 sings.\n")
    assert "\x1b" not in timeline(user)


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
    assert timeline(ben.folder).startswith(f"{day}  {text}")
