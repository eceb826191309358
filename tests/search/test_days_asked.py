"""A question's days come first: what is of them alone is shown where it answers; how things are is told from the newest on."""

import datetime as dt
from pathlib import Path

import pytest
from programs import lay

from filemem import Store
from filemem.tools.toolbox import Toolbox

TODAY = dt.datetime(2026, 11, 22, 12)
SESSIONS = {
    "2026-03-05": "I painted the kitchen blue with Ben.",
    "2026-03-24": "I painted the old boat red.",
    "2026-05-09": "Last Thursday I painted a fence. Ben helped.",
    "2026-10-02": "I painted the door green.",
}


def answer(folder: Path, query: str, **more: object) -> str:
    reply = "- **Ben** 10:01: How nice to hear, the weather was fine here.\n"
    talks = {
        f"{day}-1000-talk.md": f"- **Ann** 10:00: {text}\n{reply}"
        for day, text in SESSIONS.items()
    }
    lay(folder / "ann/sessions/2026", talks)
    with Store(folder) as store:
        return Toolbox(store.user("ann").folder, lambda: TODAY).call(
            "search_files", {"query": query, **more}
        )


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("What did I paint in early March?", ["2026-03-05"]),
        ("What did I paint on 7 May 2026?", ["2026-05-09"]),
        ("What have I painted since April 2026?", ["2026-05-09", "2026-10-02"]),
        ("What did I do on 7 May 2026?", ["2026-05-09"]),
        ("2026年5月7日我做了什么？", ["2026-05-09"]),
        ("三月下旬 painted", ["2026-03-24"]),
        ("What did I paint 3月份?", ["2026-03-05", "2026-03-24"]),
    ],
)
def test_what_is_of_the_days_asked_for_comes_first(
    tmp_path: Path, query: str, days: list[str]
) -> None:
    """Said on one of them, or telling of one; no other day is left out for that."""
    text = answer(tmp_path, query)
    first = [line for line in text.splitlines() if line.startswith("sessions/")]
    shown = [line.split("/")[2][:10] for line in first[: len(days)]]
    assert sorted(shown) == days


VAGUE = [
    "recently",
    "lately",
    "in the last few weeks",
    "最近",
    "这几天",
    "前几周",
    "過去幾個月",
]


@pytest.mark.parametrize("asked", VAGUE)
def test_a_vague_time_means_the_newest_days(tmp_path: Path, asked: str) -> None:
    text = answer(tmp_path, f"What did I paint {asked}?")
    assert "2026-10-02" in text.split("sessions/")[1]


@pytest.mark.parametrize(
    "query",
    ["What did I do in the last few days?", "前几天做了什么", "这几天干了什么"],
)
def test_words_for_a_vague_time_are_no_words_to_look_for(
    tmp_path: Path, query: str
) -> None:
    """A question of them alone is answered by what is of these days."""
    lay(tmp_path / "ann/notes", {f"{day}.md": text for day, text in SESSIONS.items()})
    lay(
        tmp_path / "ann/notes",
        {"2026-11-20.md": "Sorted seeds.", "2026-06-01.md": "前天"},
    )
    with Store(tmp_path) as store:
        tools = Toolbox(store.user("ann").folder, lambda: TODAY)
        text = tools.call("search_files", {"query": query})
    assert "Nowhere" not in text
    assert "2026-11-20" in text.split("notes/")[1]


@pytest.mark.parametrize(
    ("plan", "query"),
    [
        ("Dentist on Oct 7 at 3pm.", "what do I have on 7 October?"),
        ("Conference from January 11 to 18.", "what do I have on 12 January?"),
        ("10月3号去看牙医。", "10月3日我有什么安排？"),
    ],
)
def test_a_plan_is_found_by_the_day_that_it_is_for(
    tmp_path: Path, plan: str, query: str
) -> None:
    with Store(tmp_path) as store:
        user = store.user("ann")
        for text in (plan, "Flight on December 24.", "I have a red bike."):
            user.remember(text, today=dt.date(2026, 9, 20))
        user.folder.create(
            "facts/2026/2026-09-20-oper.md",
            "---\nday: 2026-10-05\n---\n\nAnn geht in die Oper.\n",
        )
        tools = Toolbox(user.folder, lambda: dt.datetime(2026, 9, 20))
        text = tools.call("search_files", {"query": query})
        told = tools.call("search_files", {"query": "10月5号有什么事？"})
    assert plan in text
    assert "Oper" in told and "No memory is dated" not in told


@pytest.mark.parametrize(
    "plan", ["To Japan with my mum in May.", "五月和妈妈去日本 Japan."]
)
def test_what_names_the_month_that_is_asked_for_is_of_it(
    tmp_path: Path, plan: str
) -> None:
    with Store(tmp_path) as store:
        user = store.user("ann")
        user.remember(plan, today=dt.date(2026, 1, 10))
        user.remember("Japan was on television.", today=dt.date(2026, 5, 30))
        text = Toolbox(user.folder, lambda: TODAY).call(
            "search_files", {"query": "Who was in Japan in May 2026?"}
        )
    assert plan in text and "No memory is dated" not in text
