"""A note's day is what its name, its folders or its headings say, as other programs write them."""

import datetime as dt
from pathlib import Path

import pytest
from programs import filemem, lay

from filemem import Store
from filemem.store.memory import parse
from filemem.store.paths import when_of

DAY = dt.date(2026, 3, 6)


DAYS = """
notes/20260306.md
journals/2026_03_06.md
notes/2026.03.06 Friday.md
notes/2026年3月6日.md
notes/2026/03/06.md
notes/20260306/lease.md
notes/2026-03-06/a/lease.md
notes/2026/03/06/lease.md
notes/2026/3/6.md
notes/2026年/3月/6日.md
notes/2026年3月/6日/lease.md
notes/2026-03/06.md
notes/2026.3.6.md
notes/2026_3_6.md
""".split("\n")[1:-1]
NO_DAYS = (
    "notes/20261345.md notes/10200306.md notes/2026/lease.md a/03/06.md notes/1.2.3.md "
    "notes/2026/1-1.md notes/2026.3.md"
).split()


@pytest.mark.parametrize("path", [*DAYS, *NO_DAYS])
def test_a_day_is_read_as_programs_write_it_and_a_mere_number_is_none(
    path: str,
) -> None:
    when = when_of(path)
    assert (when and when.date) == (None if path in NO_DAYS else DAY)
    assert not (when and when.day_unknown)


@pytest.mark.parametrize(
    ("log", "days"),
    [
        ("# 2026\n## March\n### [2026-03-06 09:00] Kiln\nFired.\n", ["-", "-", "06"]),
        ("[2026-03-06 09:00] Kiln.\nFired.\n\nBowls.\n", ["06", "06"]),
        ("* 2026\n** 2026-03 March\n*** 2026-03-06 Friday\nRan.\n", ["-", "-", "06"]),
        ("2026-03-06\n==========\n\nWalked.\n\n## On\n\nSlept.\n", ["06", "-"]),
        (
            "**2026年3月6日 星期五**\n\n刷漆。\n\n**2026年3月7日**\n\n修船。",
            ["06", "07"],
        ),
        ("2026/03/06: Sowed beans.\n2026/03/07: Watered.\n\nOn.", ["06", "07", "-"]),
        ("- 2026.03.06 Sowed rye.\n- On.\n", ["06", "-"]),
        ("# Friday, March 6, 2026\n\nSwam.\n# Sat 07.03.2026\nRan.", ["06", "07"]),
        ("Fri 6 Mar 2026\n===\n\nRan.\n\nSat 07.03.2026\n---\n\nSwam.", ["06", "07"]),
        ("**6 March 2026**\n\nRan.\n\nSlept.", ["06", "06"]),
        ("* Friday, 06 March 2026\n** 09:00 Kiln\nFired.\n* Oars\n", ["06"] * 3),
        ("- ## [[Mar 6th, 2026]]\n\t- Fired.\n", ["06"]),
        ("2026年3月6日 晴\n\n烧窑。\n\n2026年3月7日 雨转晴\n\n修船。", ["06", "07"]),
        ("6 March 2026 was fine.\n\nSlept.", ["-", "-"]),
        ("Since 2026-03-06 we swim.\n\n## Plans of 2027-01-01\n\nSail.", ["-", "-"]),
    ],
)
def test_a_log_is_of_its_days_as_programs_and_people_write_it(
    log: str, days: list[str]
) -> None:
    found = parse("notes/log.md", log.encode()).passages
    assert [f"{one.day:%d}" if one.day else "-" for one in found] == days


def test_a_heading_that_is_a_day_dates_what_stands_under_it(tmp_path: Path) -> None:
    log = (
        "# Log\n\nOld.\n\n## 2026-03-24\n\nOiled the oars.\n\n### Later\n\nRowed.\n\n"
        "## 26 March 2026\n\n- Swam.\n\n## Plans of 2027-01-01\n\nSail.\n"
    )
    days = {one.text: one.day for one in parse("notes/log.md", log.encode()).passages}
    assert days == {
        "Old.": None,
        "Oiled the oars.": dt.date(2026, 3, 24),
        "Rowed.": dt.date(2026, 3, 24),
        "- Swam.": dt.date(2026, 3, 26),
        "Sail.": None,
    }
    lay(tmp_path / "memory_store/mara", {"notes/log.md": log})
    store = Store(tmp_path / "memory_store")
    assert store.users() == ["mara"]
    done = filemem("search", "What did I do on 26 March 2026?", cwd=tmp_path)
    assert "Swam" in done.stdout
