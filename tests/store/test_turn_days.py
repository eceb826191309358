"""What a turn says of `yesterday` counts from the day on which it was said, whatever day its file is of.

A chat past midnight and a resumed session write that day, which holds until the next one.
"""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import lay

from filemem import Store, Toolbox, User
from filemem.store.folder import Folder
from filemem.store.memory import parse
from filemem.store.passages import format_turn, turns
from filemem.store.transcript import Transcript

NOW = dt.datetime(2026, 12, 1, 9, 30)
EVENING = dt.datetime(2026, 11, 20, 23, 55)
TALK = "sessions/2026/2026-11-20-2355-rain.md"
RAIN = "- **Ann** 23:55: It rained today.\n"
NEXT = "- **Ann** 2026-11-21 00:10: I saw a heron yesterday.\n- **Ann** 00:12: My sister called yesterday evening.\n"
RESUMED = "- **Ann** 2026-11-23 09:00: A whale came by yesterday.\n"


def days(text: str, path: str = TALK) -> list[str]:
    """The day of each turn as it is read; `-` where it is the file's."""
    return [str(p.day or "-")[5:] or "-" for p in parse(path, text.encode()).passages]


def tools(root: Path, files: dict[str, str]) -> Toolbox:
    lay(root / "ann", files)
    return Toolbox(Store(root).user("ann").folder, lambda: NOW)


def test_a_turn_of_another_day_than_the_last_is_written_with_its_date(
    tmp_path: Path,
) -> None:
    chat = Transcript(Folder(str(tmp_path / "ann"), "ann"))
    for minutes, text in (
        (0, "It rained today."),
        (15, "I saw a heron yesterday."),
        (17, "Good night."),
    ):
        chat.add("Ann", text, EVENING + dt.timedelta(minutes=minutes))
    resumed = Transcript(chat.folder, chat.path)
    resumed.add("Ann", "A whale came by\nyesterday.", dt.datetime(2026, 11, 23, 9))
    assert (tmp_path / "ann" / chat.path).read_text().partition("---\n\n")[2] == (
        "- **Ann** 23:55: It rained today.\n- **Ann** 2026-11-21 00:10: I saw a heron yesterday.\n"
        "- **Ann** 00:12: Good night.\n- **Ann** 2026-11-23 09:00: A whale came by\n  yesterday.\n"
    )
    assert [turn.day for turn in chat.turns()] == [
        None,
        *[dt.date(2026, 11, day) for day in (21, 21, 23)],
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (RAIN + NEXT + RESUMED, ["-", "11-21", "11-21", "11-23"]),
        (RAIN + "- **Bo** 2026-11-21: Morning!\n- **Ann**: Hm?\n", ["-", "11-21", "11-21"]),
        (RAIN + NEXT + "- **Ann** 2026-11-20 00:15: corrected\n", ["-", "11-21", "11-21", "-"]),
        # as a clock that is set back in autumn has it
        (RAIN + "- **Ann** 23:10: a\n- **Ann** 23:56: b\n", ["-", "-", "-"]),
        # no days of the calendar
        (RAIN + NEXT + "- **Ann** 2026-02-30 09:00: a\n", ["-", "11-21", "11-21", "11-21"]),
        ("- **Ann** 9999-12-31 09:00: a\n- **Ann** 08:00: b\n", ["12-31", "12-31"]),
    ],
)  # fmt: skip
def test_the_day_of_each_turn(text: str, read: list[str]) -> None:
    assert days(text) == read


@pytest.mark.parametrize("folder", ["facts", "lessons", "archive/facts", "notes"])
def test_only_a_transcript_holds_turns(folder: str) -> None:
    """What a note or a fact quotes is nobody's turn, however it is written."""
    quoted = "- **Nadia** 13:56: No gluten.\n"
    [passage] = parse(f"{folder}/2026-11-21-gluten.md", quoted.encode()).passages
    assert passage.speaker == "" and passage.text == quoted.strip()


CLOCKS = st.sampled_from(["", "00:10", "9:30", "23:55"])
DAYS = st.dates(dt.date(2026, 11, 19), dt.date(2026, 11, 24))


@given(st.lists(st.tuples(st.none() | DAYS, CLOCKS), max_size=8), st.none() | DAYS)
def test_what_is_written_is_read_on_the_same_day(
    said: list[tuple[dt.date | None, str]], day: dt.date | None
) -> None:
    lines = "".join(format_turn("Ann", clock, "x", own) for own, clock in said).split(
        "\n"
    )
    told, wanted = day, []
    for own, clock in said:
        told = own or told
        wanted.append((None if told == day else told, clock))
    assert [(passage.day, passage.time) for passage in turns(lines, 0, day)] == wanted


def test_every_tool_shows_the_day_and_counts_from_it(tmp_path: Path) -> None:
    kit = tools(tmp_path, {TALK: RAIN + NEXT + RESUMED})
    assert kit.call("open", {"path": TALK}).split("\n")[1:] == [
        "   1  - **Ann** 23:55: It rained today.",
        "   2  - **Ann** 2026-11-21 00:10: I saw a heron yesterday [20 November 2026].",
        "   3  - **Ann** 00:12: My sister called yesterday evening [20 November 2026].",
        "   4  - **Ann** 2026-11-23 09:00: A whale came by yesterday [22 November 2026].",
    ]
    alone = "   3  - **Ann** 00:12 [2026-11-21]: My sister called yesterday evening [20 November 2026]."
    assert (
        kit.call("open", {"path": TALK, "line": 3, "lines": 1}).split("\n")[1] == alone
    )
    assert kit.call("grep", {"pattern": "sister"}).split("\n")[2] == alone
    assert (
        "   3  Ann 2026-11-21 00:12: My sister called yesterday evening [20 November 2026]."
        in kit.call("search_files", {"query": "Whose sister called?"})
    )


def test_filters_and_questions_go_by_the_day_of_the_turn(tmp_path: Path) -> None:
    user = Store(tmp_path).user("ann").folder
    tools(
        tmp_path,
        {
            TALK: RAIN + NEXT + RESUMED,
            "sessions/2026/2026-11-20-0900-fog.md": "- **Ann** 09:00: Fog came in.\n",
        },
    )
    asked = "What came by or rained or called, was it fog, and what did I see?"
    for given_days, texts in (
        ({"before": "2026-11-20"}, {"It rained", "Fog came "}),
        ({"after": "2026-11-21", "before": "2026-11-22"}, {"I saw a h", "My sister"}),
        ({"after": "2026-11-22"}, {"A whale c"}),
        ({"after": "2026-11-24"}, set()),
    ):
        hits = User(user).search_files(asked, today=NOW.date(), **given_days)
        assert {hit.text[:9] for hit in hits} == texts
    first = User(user).search_files(
        "What happened on 23 November 2026?", today=NOW.date()
    )[0]
    assert (first.text, first.date, first.line) == (
        "A whale came by yesterday.",
        dt.date(2026, 11, 23),
        4,
    )
