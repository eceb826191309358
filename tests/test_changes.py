"""What changes in a life, through the chat without a model: a move, another job, a plan that is off, a friend's new name, and
what was true last June. In English and in Chinese; the examples are those that Zep and Mem0 explain themselves by.
"""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from filemem import Store
from filemem.chat.conversation import Conversation
from filemem.files.folder import Folder
from filemem.models.offline import OfflineModel
from filemem.remembering import consolidation

Say = Callable[[str, str], str]


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    return Store(tmp_path).user("mara").folder


@pytest.fixture
def say(mara: Folder) -> Say:
    """Says something in a chat of its own on a day of 2026, MM-DD; its end makes memories; returns the answer."""

    def said(day: str, text: str) -> str:
        at = dt.datetime.fromisoformat(f"2026-{day}T09:30+00:00")
        answer = Conversation(mara, OfflineModel(), lambda: at).say(text)
        list(consolidation.run(mara, at))
        return answer

    return said


def first(answer: str) -> str:
    """The first passage of an answer."""
    return answer.split("\n\n")[1] if "\n\n" in answer else ""


MOVES = [
    ("I live in Ghent.", "We moved to Bruges last week.", "Where do I live?", "Where did I live in June?", "Bruges", "Ghent"),
    ("我住在苏州。", "我上周搬到杭州了。", "我住在哪里？", "我六月住在哪里？", "杭州", "苏州"),
    (
        "My brother Leo lives in Ghent.", "Leo moved to Bruges.",
        "Where does Leo live?", "Where did Leo live last June?", "Bruges", "Ghent",
    ),
    ("我弟弟小磊住在苏州。", "小磊搬到杭州了。", "小磊住在哪里？", "小磊今年六月住在哪里？", "杭州", "苏州"),
    (
        "I work as a nurse at St Mary's.", "I got a new job as a teacher at Fenwick School.",
        "What is my job?", "What was my job in June?", "teacher", "nurse",
    ),
    ("我在同济医院当护士。", "我换工作了，现在在一中当老师。", "我做什么工作？", "六月份我在哪里工作？", "老师", "护士"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "now", "then", "new", "old"), MOVES)
def test_what_is_so_now_and_what_was_so_in_june(
    say: Say, before: str, after: str, now: str, then: str, new: str, old: str
) -> None:
    """Each question gets its own answer first, and the answer about June says that it was so then."""
    say("03-01", before)
    say("07-05", after)
    assert new in first(say("11-20", now))
    answer = first(say("11-20", then))
    assert old in answer and ("then" in answer or "当时" in answer)


def test_what_somebody_says_of_themselves_is_told_of_nobody_else(say: Say, mara: Folder) -> None:
    """Neither by a word that begins their sentence, nor by a correction of what was told of another."""
    say("03-01", "I work as a nurse.")
    say("07-05", "Got a new job as a teacher.")
    assert "teacher" in first(say("11-20", "What is my job?"))
    assert [path for path in mara.paths() if path.startswith("archive/facts/")]
    say("07-06", "My brother Leo lives in Ghent.")
    assert "Ghent" in first(say("11-20", "Where does Leo live?"))


@pytest.mark.parametrize(
    ("plan", "off", "question", "called"),
    [
        (
            "I am flying to Oslo on 3 June with Ada.",
            "The trip to Oslo is cancelled.",
            "Am I flying to Oslo?",
            "cancelled",
        ),
        ("我打算六月三号和小雨飞去成都。", "成都的旅行取消了。", "成都的旅行怎么样了？", "取消"),
    ],
)
def test_a_plan_that_is_off_is_said_to_be_off(
    say: Say, mara: Folder, plan: str, off: str, question: str, called: str
) -> None:
    """It keeps its words, names what called it off, and no answer puts it first."""
    say("05-01", plan)
    say("05-20", off)
    [old] = [page for path in mara.paths() if "facts/" in path and plan in (page := mara.memory(path).text)]
    assert "superseded_by: facts/2026/2026-05-20-" in old
    assert called in first(say("05-25", question))


@pytest.mark.parametrize(
    ("known", "renamed", "question", "found", "called"),
    [
        (
            "My friend Kendra loves running shoes from Adidas.", "My friend Kendra is called Kay now.",
            "What does Kay love?", "running shoes", "aliases: [Kendra, Kay]",
        ),
        ("我朋友小雨喜欢跑步。", "我朋友小雨改名叫林夏了。", "林夏喜欢什么？", "跑步", "aliases: [小雨, 林夏]"),
    ],
)  # fmt: skip
def test_a_friend_is_found_by_a_new_name(
    say: Say, mara: Folder, known: str, renamed: str, question: str, found: str, called: str
) -> None:
    """What was known under the old one still holds."""
    say("02-01", known)
    say("08-03", renamed)
    assert found in first(say("11-20", question))
    facts = [mara.memory(path).text for path in mara.paths() if path.startswith("facts/")]
    assert len(facts) == 2 and called in "".join(facts) and "superseded" not in "".join(facts)
