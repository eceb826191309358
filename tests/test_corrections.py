"""A few words correct what was said before only if they give a value in place of one: a time, an amount, a name, a word.

What asks for another answer begins with the same words, and changes no fact.
"""

import datetime as dt
from pathlib import Path

import pytest

from filemem import Store

NOON = dt.datetime(2026, 11, 20, 12)


def facts(folder: Path, first: str, second: str) -> list[str]:
    """The bodies of the facts that a chat of two messages leaves."""
    user = Store(folder).user("mara")
    said = [
        {"role": "user", "content": first},
        {"role": "assistant", "content": "Ok."},
        {"role": "user", "content": second},
    ]
    user.add_conversation(said, at=NOON)
    user.consolidate(at=NOON)
    return [user.open_file(path).body for path in user.folder.paths() if path.startswith("facts/")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My dentist appointment is on Tuesday at 3.", "no, Thursday"),
        ("My dentist appointment is on Tuesday at 3.", "actually 4pm"),
        ("My rent is 900 euros.", "no wait, 950"),
        ("My sister is called Paula.", "sorry, Petra"),
        ("I live in Berlin.", "sorry, Hamburg"),
        ("My favourite tea is gyokuro.", "no wait, sencha"),
        ("My new car is blue.", "no wait, green"),
        ("我下周二三点看牙医。", "改成周三吧"),
        ("我的新车是蓝色的。", "不对，是绿色的"),
        ("我住在杭州。", "不对，是苏州"),
    ],
)
def test_a_value_corrects_one(tmp_path: Path, first: str, second: str) -> None:
    (fact,) = facts(tmp_path, first, second)
    assert first in fact and second in fact


@pytest.mark.parametrize("first", ["My dentist appointment is on Tuesday at 3.", "My new car is blue."])
@pytest.mark.parametrize(
    "second",
    [
        "make it shorter",
        "no, tell me something else",
        "actually never mind",
        "no. I meant in French",
        "sorry, can you say that again?",
        "make that a haiku",
        "sorry, I was away",
        "not really",
    ],
)
def test_another_answer_corrects_none(tmp_path: Path, first: str, second: str) -> None:
    (fact,) = facts(tmp_path, first, second)
    assert second not in fact


@pytest.mark.parametrize(
    "second", ["不对，我要英文的", "改成英文", "改成短一点的", "不是，我问的是天气", "应该是吧", "不是这个意思"]
)
def test_another_answer_corrects_none_in_chinese(tmp_path: Path, second: str) -> None:
    (fact,) = facts(tmp_path, "我的新车是蓝色的。", second)
    assert second not in fact


def test_of_one_day_of_a_chat_six_facts_are_kept_and_what_gives_a_value_that_there_is_one_of(tmp_path: Path) -> None:
    user = Store(tmp_path).user("mara")
    sports = ("swimming", "chess", "rowing", "pottery", "sailing", "cricket", "fencing")

    def day(date: str, liked: tuple[str, ...], last: str) -> str:
        said = [f"I love {one}." for one in liked] + [last]
        return "".join(f"- **mara** {date} {9 + n:02}:00: {words}\n\n" for n, words in enumerate(said))

    talk = day("2026-11-20", sports, "I live in Bath.") + day("2026-11-21", ("archery",), "Thanks.")
    user.folder.create("sessions/2026/2026-11-20-0900-hobbies.md", talk)
    user.consolidate(at=dt.datetime(2026, 11, 21, 12))
    kept = [user.open_file(path).body for path in user.folder.paths() if path.startswith("facts/")]
    assert sum(any(one in body for one in sports) for body in kept) == 6
    assert any("Bath" in body for body in kept) and any("archery" in body for body in kept)
