"""What a turn says of `yesterday` counts from the day on which it was said, whatever
day its file is of.

A chat past midnight and a resumed session write that day, which holds until the next one.
"""

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import lay

from filemem import Store, Toolbox
from filemem.store.folder import Folder
from filemem.store.memory import parse
from filemem.store.passages import format_turn, turns
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder

NOW = dt.datetime(2026, 12, 1, 9, 30)
EVENING = dt.datetime(2026, 11, 20, 23, 55)
TALK = "sessions/2026/2026-11-20-2355-rain.md"
RAIN = "- **Ann** 23:55: It rained today.\n"
NEXT = (
    "- **Ann** 2026-11-21 00:10: I saw a heron yesterday.\n"
    "- **Ann** 00:12: My sister called yesterday evening.\n"
)
RESUMED = "- **Ann** 2026-11-23 09:00: A whale came by yesterday.\n"


def tools(root: Path, files: dict[str, str]) -> Toolbox:
    lay(root / "ann", files)
    return Toolbox(StoreFolder(root).folder("ann"), lambda: NOW)


def test_a_turn_of_another_day_than_the_last_is_written_with_its_date(
    tmp_path: Path,
) -> None:
    folder = Folder(str(tmp_path / "ann"), "ann")
    chat = Transcript(folder)
    for minutes, text in (
        (0, "It rained today."),
        (15, "I saw a heron yesterday."),
        (17, "Good night."),
    ):
        chat.add("Ann", text, EVENING + dt.timedelta(minutes=minutes))
    resumed = Transcript(folder, chat.path)
    resumed.add("Ann", "A whale\ncame by.", dt.datetime(2026, 11, 23, 9))
    assert folder.memory(chat.path).body.strip().split("\n") == [
        "- **Ann** 23:55: It rained today.",
        "- **Ann** 2026-11-21 00:10: I saw a heron yesterday.",
        "- **Ann** 00:12: Good night.",
        "- **Ann** 2026-11-23 09:00: A whale",
        "  came by.",
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (RAIN + NEXT + RESUMED, "- 11-21 11-21 11-23"),
        (NEXT + "- **Ann** 2026-11-20 00:15: corrected\n", "11-21 11-21 -"),
        # as a clock that is set back in autumn has it
        (RAIN + "- **Ann** 23:10: a\n- **Ann** 23:56: b\n", "- - -"),
        # no day of the calendar
    ],
)
def test_the_day_of_each_turn(text: str, read: str) -> None:
    """`-` where it is the file's."""
    passages = parse(TALK, text.encode()).passages
    days = [str(turn.day or "-")[5:] or "-" for turn in passages]
    assert " ".join(days) == read


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
    text = "".join(format_turn("Ann", clock, "x", own) for own, clock in said)
    wanted = []
    told = day
    for own, clock in said:
        told = own or told
        wanted.append((None if told == day else told, clock))
    found = turns(text.split("\n"), 0, day)
    assert [(turn.day, turn.time) for turn in found] == wanted


def test_every_tool_shows_the_day_and_counts_from_it(tmp_path: Path) -> None:
    kit = tools(tmp_path, {TALK: RAIN + NEXT + RESUMED})
    assert kit.call("open", {"path": TALK}).split("\n")[2:4] == [
        "   2  - **Ann** 2026-11-21 00:10: I saw a heron yesterday [20 November 2026].",
        "   3  - **Ann** 00:12: My sister called yesterday evening [20 November 2026].",
    ]
    said = "My sister called yesterday evening [20 November 2026]."
    alone = f"   3  - **Ann** 00:12 [2026-11-21]: {said}"
    assert alone in kit.call("open", {"path": TALK, "line": 3, "lines": 1})
    assert alone in kit.call("grep", {"pattern": "sister"})
    found = kit.call("search_files", {"query": "Whose sister called?"})
    assert f"   3  Ann 2026-11-21 00:12: {said}" in found


def test_filters_and_questions_go_by_the_day_of_the_turn(tmp_path: Path) -> None:
    fog = {"sessions/2026/2026-11-20-0900-fog.md": "- **Ann** 09:00: Fog came in.\n"}
    tools(tmp_path, {TALK: RAIN + NEXT + RESUMED, **fog})
    user = Store(tmp_path).user("ann")
    asked = "What came by or rained or called, was it fog, and what did I see?"
    for days, texts in (
        ({"before": "2026-11-20"}, {"It rained", "Fog came "}),
        ({"after": "2026-11-21", "before": "2026-11-22"}, {"I saw a h", "My sister"}),
        ({"after": "2026-11-22"}, {"A whale c"}),
        ({"after": "2026-11-24"}, set()),
    ):
        hits = user.search_files(asked, today=NOW.date(), **days)
        assert {hit.text[:9] for hit in hits} == texts
    asked = "What happened on 23 November 2026?"
    first = user.search_files(asked, today=NOW.date())[0]
    assert (first.line, first.date) == (4, dt.date(2026, 11, 23))
