"""A question's days come first: what is of them, or tells of them, stands before all
else, and nothing is left out for that."""

import datetime as dt
import re
from pathlib import Path

import pytest
from examples import rows
from programs import lay

from filemem import Store, Toolbox, index
from filemem.index import Index
from filemem.search.days import named_days
from filemem.search.searching import search_files
from filemem.store.users import StoreFolder

TODAY = dt.date(2026, 11, 20)  # a Friday
DIARY = {
    "2026-03-05": "I painted the kitchen blue with Ben.",
    "2026-03-24": "I painted the old boat red.",
    "2026-05-09": "Last Thursday I painted a fence. What happened is a long story.",
    "2026-06-03": "The ropes came off the van.",
    "2026-07-15": "A heron on the roof.",
    "2026-10-02": "I painted the door green.",
    "2026-11-18": "Duarte has a cold.",
    "2026-11-19": "It rained all day; I had a cold in 2010.",
}
SESSIONS = {
    f"sessions/2026/{day}-1900-talk.md": f"- **Ann** 19:00: {text}\n"
    "- **Ben** 19:01: How nice to hear, the weather was fine here.\n"
    for day, text in DIARY.items()
}


def ask(root: Path, files: dict[str, str], query: str, today: dt.date = TODAY) -> str:
    lay(root / "ann", files)
    noon = dt.datetime.combine(today, dt.time(12))
    tools = Toolbox(StoreFolder(root).folder("ann"), lambda: noon)
    return tools.call("search_files", {"query": query})


def headings(answer: str) -> list[str]:
    """The days of the headings, in order."""
    found = [line for line in answer.split("\n") if line.startswith("sessions/")]
    return [line.split("/")[2][:10] for line in found]


OF_DAYS = """
What did I paint in early March?           2026-03-05
What did I paint on 7 May 2026?            2026-05-09
What have I painted since April?           2026-05-09 2026-10-02
2026年5月7日我做了什么？                     2026-05-09
三月下旬 painted                             2026-03-24
What did I paint 3月份?                     2026-03-05 2026-03-24
What happened in May?                      2026-05-09
What happened on 3 June?                   2026-06-03
6月3日发生了什么事情？                       2026-06-03
What did we do last summer?                2026-06-03 2026-07-15
7月中旬做了什么？                            2026-07-15
2026年7月                                   2026-07-15
昨天                                        2026-11-19
What happened the day before yesterday?    2026-11-18
What did I do in the last few days?        2026-11-18 2026-11-19
"""


@pytest.mark.parametrize(("query", "days"), rows(OF_DAYS))
def test_what_is_of_the_days_asked_for_comes_first(
    tmp_path: Path, query: str, days: str
) -> None:
    """Without a year it is the last such day in the memory."""
    wanted = days.split()
    found = headings(ask(tmp_path, SESSIONS, query))
    assert sorted(found[: len(wanted)]) == wanted


def test_days_around_the_one_asked_for_do_not_crowd_it_out(tmp_path: Path) -> None:
    days = [f"2026-05-{day}" for day in range(10, 25)]
    files = {
        f"sessions/{day}-{n}.md": f"Saw heron {n}." for day in days for n in "1234"
    }
    answer = ask(tmp_path, files, "What happened on 10 May 2026?")
    found = re.findall(r"(?m)^sessions/(\S{10})", answer)
    assert found[:4] == ["2026-05-10"] * 4


PLANS = """
What did I do on 22 March 2026?   In March 2026 we wanted to do the shed.
What did I do on 2026-03-22?      From 2026-03 on we wanted to do the shed.
我2026年3月22日做了什么？           2026年3月要做棚子。
What did I do yesterday?          Yesterday we wanted to do the shed.
"""


@pytest.mark.parametrize(("asked", "plan"), rows(PLANS))
def test_the_words_of_a_date_do_not_outweigh_its_day(
    tmp_path: Path, asked: str, plan: str
) -> None:
    """What shares its month, or tells of another *yesterday*, stands behind."""
    days = range(1, 32)
    files = {f"notes/2026-03-{day:02}.md": f"Mended thing{day}." for day in days}
    files.update((f"notes/plan{number}.md", plan) for number in range(9))
    answer = ask(tmp_path, files, asked, dt.date(2026, 3, 23))
    assert re.findall(r"(?m)^notes/(\S+)\.md", answer)[0] == "2026-03-22"


def test_a_day_is_told_by_what_names_it_whenever_that_was_said(tmp_path: Path) -> None:
    """In a conversation, or in a note that has no day itself.

    A turn's own day is the one from which a date without a year counts.
    """
    files = {
        "sessions/2024/2024-09-01-0900-b.md": "- **Ann** 09:00: Hello.\n"
        "- **Ann** 2025-04-03 09:00: My exam is on 7 May.\n",
        "sessions/2026/2026-06-03-0900-a.md": "- **Ann** 09:00: I fell on 7 May 2025.",
        "notes/knee.md": "A plaster cast from 7 May 2025 on; the exam is on 8 May.",
        "notes/2025-05-07.md": "Rain.",
        "notes/2025-05-08.md": "Sun.",
    }
    answer = ask(tmp_path, files, "What happened on 7 May 2025?")
    found = re.findall(r"(?m)^\w+/\S+\.md", answer)
    assert found[-1] == "notes/2025-05-08.md"
    assert len(found) == len(files)


@pytest.mark.parametrize("asked", ["Whose birthday is 5 May?", "Who wrote 1984?"])
def test_a_date_that_comes_again_or_may_be_a_title_is_looked_for_as_words(
    tmp_path: Path, asked: str
) -> None:
    files = {
        "notes/2024-01-10.md": "Hilde's is 5 May. Orwell: 1984.",
        "notes/2026-05-06.md": "Nothing new.",
    }
    answer = ask(tmp_path, files, asked)
    assert "Hilde" in answer


@pytest.mark.parametrize(
    "asked",
    ["recently", "lately", "in the last few weeks", "最近", "这几天", "前幾周"],
)
def test_a_vague_time_means_the_newest_days(tmp_path: Path, asked: str) -> None:
    """They count from the newest memory if it is older."""
    old = {path: text for path, text in SESSIONS.items() if "-11-" not in path}
    answer = ask(tmp_path, old, f"What did I paint {asked}?")
    assert headings(answer)[0] == "2026-10-02"
    assert "Nowhere" not in answer and "No memory is dated" not in answer


def test_days_count_from_the_newest_memory_where_none_is_of_them(
    tmp_path: Path,
) -> None:
    """What was taken in from years ago was not written this week; this is said."""
    old = {
        path: text for path, text in SESSIONS.items() if path < "sessions/2026/2026-08"
    }
    answer = ask(tmp_path, old, "What happened last month?", dt.date(2027, 8, 1))
    assert headings(answer)[0] == "2026-06-03"
    assert "Its days count from the newest memory, 2026-07-15." in answer


TO_AN_END = """
from October to March        2026-10-01 2027-03-31
from November to February    2026-11-01 2027-02-28
from 5 March to 2 May        2026-03-05 2026-05-02
from last Sunday to Tuesday  2026-11-15 2026-11-17
从三月到五月                  2026-03-01 2026-05-31
between March and May        2026-03-01 2026-05-31
2026年后半年                  2026-07-01 2026-12-31
2026年前半年                  2026-01-01 2026-06-30
before 0001-01-01            0001-01-01 0001-01-01
"""


@pytest.mark.parametrize(("asked", "days"), rows(TO_AN_END))
def test_a_range_ends_after_it_begins(tmp_path: Path, asked: str, days: str) -> None:
    lay(tmp_path / "ann", SESSIONS)
    corpus = Index(StoreFolder(tmp_path).folder("ann")).corpus()
    [range_] = named_days(asked, corpus, TODAY).ranges
    ends = (range_.first, range_.last)
    assert [str(dt.date.fromordinal(day)) for day in ends] == days.split()


UNDATED = """
上周五发生了什么？            No memory is dated 13 November 2026.
Who had a cold last week?   No memory is dated 9–15 November 2026.
Who had a cold in 2011?     No memory is dated 2011.
Who had a cold this week?   -
Who had a cold in 2010?     -
"""


@pytest.mark.parametrize(("question", "said"), rows(UNDATED))
def test_days_that_no_memory_is_of_or_names_are_said_as_they_were_read(
    tmp_path: Path, question: str, said: str
) -> None:
    lines = ask(tmp_path, SESSIONS, question).split("\n")
    told = [line for line in lines if "No memory" in line]
    assert told == [said] * (said != "-")


@pytest.mark.parametrize("question", ["the last few years", "最近做了什么？"])
@pytest.mark.parametrize("files", [{}, {"notes/cat.md": "Fed the cat.\n"}])
def test_where_no_memory_has_a_day_a_question_may_name_some(
    tmp_path: Path, question: str, files: dict[str, str]
) -> None:
    (tmp_path / "ann").mkdir()
    assert ask(tmp_path, files, question).startswith("0 passages")


TRADITIONAL = """
2026年5月以後發生了什麼？   2026年5月以后发生了什么？
自從2026年5月              自从2026年5月
過去幾個月                 过去几个月
這陣子                     这阵子
"""


@pytest.mark.parametrize(("traditional", "simplified"), rows(TRADITIONAL))
def test_traditional_characters_name_the_same_days_as_simplified_ones(
    tmp_path: Path, traditional: str, simplified: str
) -> None:
    lay(tmp_path / "ann", SESSIONS)
    corpus = Index(StoreFolder(tmp_path).folder("ann")).corpus()
    one, other = (
        named_days(question, corpus, TODAY) for question in (traditional, simplified)
    )
    assert one.ranges == other.ranges != ()
    assert all(piece in traditional for piece in one.pieces)


PLANS = {
    "dentist": "Dentist on Dec 3 at 3pm.",
    "体检": "12月15日要去医院体检。",
    "mum": "Mum visits from 24 to 27 December.",
    "oper": "---\nday: 2027-01-05\n---\n\nAnn geht in die Oper.\n",
    "see": "---\nday: 2026-11-28\nvalid_until: 2026-12-13\n---\n\nAnn am See.\n",
    "japan": "To Japan with my mum in May.",
}
PLANNED = {f"facts/2026/2026-11-20-{name}.md": text for name, text in PLANS.items()}


COMING = """
what do I have on 3 December?    see dentist
what do I have on 25 December?   mum
12月15号我有什么安排？             体检
1月5号有什么事？                   oper
Who was in Japan in May 2027?    japan
plans for next month             see dentist 体检 mum
下个月有什么安排？                 see dentist 体检 mum
the week after next              see dentist
What is on the next few days?    see dentist
What is on the next few weeks?   see dentist 体检
未来几天有什么安排？               see dentist
接下来几周有什么事？               see dentist 体检
接下来有什么安排？                 see dentist
"""


@pytest.mark.parametrize(("question", "plans"), rows(COMING))
def test_what_comes_is_answered_by_what_names_its_days_in_their_order(
    tmp_path: Path, question: str, plans: str
) -> None:
    answer = ask(tmp_path, SESSIONS | PLANNED, question)
    lines = [line for line in answer.split("\n") if line.startswith("facts/")]
    shown = [line.split(".md")[0].rpartition("-")[2] for line in lines]
    assert shown[: len(plans.split())] == plans.split()
    assert "No memory" not in answer and "All of it is weak" not in answer


BARBECUE = {"facts/2026/2026-06-01-barbecue.md": "Barbecue on {}.\n"}
SPELT = """
2026-07-04      What is on 4 July?
2026-07-04      plans for next month
4 July          What is on 4 July 2026?
2026年7月4日    下个月有什么安排？
July 4th, 2026  7月4日有什么事？
"""


@pytest.mark.parametrize(("written", "query"), rows(SPELT))
def test_a_coming_day_is_answered_by_what_names_it_however_both_are_spelt(
    tmp_path: Path, written: str, query: str
) -> None:
    files = {path: text.format(written) for path, text in BARBECUE.items()}
    answer = ask(tmp_path, files, query, dt.date(2026, 6, 20))
    assert "Barbecue" in answer and "No memory is dated" not in answer


@pytest.mark.parametrize(
    "query", ["What was going on in May 2025?", "May 2025", "2025年5月在做什么？"]
)
def test_days_are_answered_by_what_held_on_them_whatever_its_words(
    tmp_path: Path, query: str
) -> None:
    front = "---\nvalid_from: 2025-05-03\nvalid_until: 2025-05-20\n---\n"
    files = {"facts/2026/2026-01-05-lyon.md": f"{front}Stays in Lyon.\n"}
    assert "Stays in Lyon" in ask(tmp_path, files, query)


BORDERS = """
before May 2023?           2023-04-30  held
before 10 May 2023?        2023-05-09  held
until May 2023?            2023-05-31  held
Ann在2023年5月之前住在哪？  2023-04-30  held
after 2023?                2024-01-01  holds
since 2023?                2023-01-01  holds
2023年以后呢？              2024-01-01  holds
2023年以来呢？              2023-01-01  holds
"""


@pytest.mark.parametrize(("query", "day", "end"), rows(BORDERS))
def test_what_is_before_or_after_a_time_is_not_in_it(
    tmp_path: Path, query: str, day: str, end: str
) -> None:
    """*Since* and *until* have the time itself.

    The days before a month are those up to the last of the month before.
    """
    lay(tmp_path / "ann", {"facts/2023-05-10-a.md": "Ann is in Lagos.\n"})
    corpus = Index(StoreFolder(tmp_path).folder("ann")).corpus()
    [days] = named_days(query, corpus, TODAY).ranges
    border = days.last if end == "held" else days.first
    assert str(dt.date.fromordinal(border)) == day


def test_the_home_of_before_comes_before_the_one_that_began_in_that_month(
    tmp_path: Path,
) -> None:
    until = "---\nvalid_until: 2023-05-10\nsuperseded_by: facts/2023-05-10-lagos.md"
    files = {
        "facts/2021-02-01-faro.md": f"{until}\n---\nAnn lives in Faro.\n",
        "facts/2023-05-10-lagos.md": "---\nvalid_from: 2023-05-10\n"
        "supersedes: facts/2021-02-01-faro.md\n---\nAnn lives in Lagos.\n",
    }
    answer = ask(tmp_path, files, "Where did Ann live before May 2023?")
    assert answer.index("in Faro") < answer.index("in Lagos")


@pytest.mark.parametrize("query", ["Where did Ann work in 2020?", "2020年Ann的 work"])
@pytest.mark.parametrize(
    "interval",
    [
        "valid_from: 2019-03-01\nvalid_until: 2022-04-30",
        "valid_from: 2019-03-01",
        "supersedes: facts/2017-01-01-bay.md",
        "superseded_by: facts/2022-05-01-bay.md",
    ],
)
def test_what_held_then_comes_before_what_was_said_then_of_like_words(
    tmp_path: Path, query: str, interval: str
) -> None:
    """An end that is not known is open, and what was replaced held until then."""
    dock = "facts/2019-03-01-dock.md"
    held = f"---\n{interval}\n---\n"
    files = {
        dock: f"{held}Ann works at the dock.\n",
        "facts/2020-06-11-bench.md": "Ann bought a bench to work at.\n",
        "sessions/2020/2020-06-10-a.md": "- **Ann** 09:00: I bought a work bench.\n",
    }
    lay(tmp_path / "ann", files)
    hits = Store(tmp_path).user("ann").search_files(query, limit=1)
    assert [hit.path for hit in hits] == [dock]


@pytest.mark.parametrize(
    "query", ["What is planned for next month?", "下个月有什么安排？"]
)
def test_what_is_to_come_never_counts_from_an_old_memory(
    tmp_path: Path, query: str
) -> None:
    files = {
        "facts/2026-10-05-concert.md": "---\nday: 2026-11-12\n---\nConcert with Ben.\n",
        "facts/2026-10-04-dentist.md": "Dentist on 3 December 2026.\n",
    }
    answer = ask(tmp_path, files, query, dt.date(2026, 11, 30))
    assert "Dentist" in answer and "Concert" not in answer


def test_a_plan_of_long_ago_is_found_by_the_day_that_it_names(tmp_path: Path) -> None:
    """However many conversations have the words of the question since.

    What was said of `next week` in this one is found as well.
    """
    talk = "- **Ann** 19:00: What is on next week, and next week again?\n"
    files = {
        "facts/2026/2026-08-03-dentist.md": "Dentist on 24 November 2026.\n",
        "sessions/2026/2026-08-04-a.md": "- **Ann** 19:00: 11月25日去看牙医。\n",
        "sessions/2026/2026-11-19-b.md": "- **Ann** 08:00: Rome next week.\n",
    }
    plans = set(files)
    day = dt.date(2026, 9, 1)
    while day < TODAY:
        files[f"sessions/2026/{day}-1900-talk.md"] = talk
        day += dt.timedelta(1)
    for question in ("What is on next week?", "下周有什么事？"):
        answer = ask(tmp_path, files, question)
        found = re.findall(r"^(?:facts|sessions)/\S+", answer, re.MULTILINE)
        assert plans <= set(found[:4])


def test_a_fact_is_of_the_days_that_it_names_where_others_are_left_out(
    tmp_path: Path,
) -> None:
    """What was said is of the day on which it was said alone."""
    said = "- **ann** 09:00: The dentist is on 3 December 2026.\n"
    lay(tmp_path / "ann", PLANNED | {"sessions/2026/2026-11-18-0900-a.md": said})
    ann = Store(tmp_path).user("ann")
    hits = ann.search_files("dentist", after="2026-12-01", before="2026-12-05")
    assert [hit.text for hit in hits] == [PLANS["dentist"]]
    assert not ann.search_files("dentist", after="2026-12-04", before="2026-12-05")


def test_a_superseded_fact_is_never_shown_alone(tmp_path: Path) -> None:
    """Of a day asked for it stands first, and with it what replaced it.

    What a shown one replaced is never cut off.
    """
    faro = "facts/2021-02-01-faro.md"
    lagos = "facts/2023-05-10-lagos.md"
    olhao = "facts/2024-06-01-olhao.md"
    ended = f"---\nvalid_until: 2023-05-09\nsuperseded_by: {lagos}\n---\n"
    begun = f"---\nsupersedes: {faro}\n"
    files = {
        faro: f"{ended}Ann lives in Faro.\n",
        lagos: f"{begun}---\nAnn lives in Lagos.\n",
    }
    lay(tmp_path / "ann", files)
    ann = Store(tmp_path).user("ann")
    hits = ann.search_files("Was Ann in Faro in March 2022?", limit=1)
    assert [hit.path for hit in hits] == [faro, lagos]
    files = {
        lagos: f"{begun}superseded_by: {olhao}\n---\nAnn lives in Lagos.\n",
        olhao: f"---\nsupersedes: {lagos}\n---\nAnn lives in Olhao.\n",
    }
    lay(tmp_path / "ann", files)
    hits = ann.search_files("Where did Ann live before Lagos?", limit=1)
    assert {hit.path for hit in hits} == {faro, lagos, olhao}


def test_what_has_no_end_of_its_own_held_until_the_day_before_it_was_replaced(
    tmp_path: Path,
) -> None:
    lagos = "facts/2023-05-10-lagos.md"
    faro = f"---\nsuperseded_by: {lagos}\n---\nAnn lives in Faro.\n"
    files = {"facts/2021-02-01-faro.md": faro, lagos: "Ann lives in Lagos.\n"}
    answer = ask(tmp_path, files, "Did Ann live in Faro?")
    assert "until 2023-05-09" in answer


def test_an_event_of_a_month_stays_true_when_the_month_is_over(tmp_path: Path) -> None:
    """Its last day ends no fact.

    It fades as any other event does, and is found by each day of its month.
    """
    front = "---\nkind: event\nday: 2026-03-01\nvalid_until: 2026-03-31\n---\n"
    files = {"facts/2026/2026-03-11-rory.md": f"{front}Rory broke his wrist.\n"}
    lay(tmp_path / "ann", files)
    Store(tmp_path).user("ann").maintain(dt.date(2026, 5, 1))
    answer = ask(tmp_path, {}, "Who broke a wrist?", dt.date(2026, 5, 2))
    assert "Rory broke" in answer
    assert "archive/" not in answer and "held until" not in answer
    assert "Rory broke" in ask(tmp_path, {}, "What happened on 20 March 2026?")


def test_what_was_replaced_counts_no_less_than_what_was_archived(
    tmp_path: Path,
) -> None:
    """Where no day is asked for: who names it may ask what was before that."""
    ann = Store(tmp_path).user("ann")
    text = "Bob took up archery.\n"
    files = {
        "archive/facts/2021-03-01-swept.md": text,
        "archive/facts/2021-03-01-was.md": "---\nsuperseded_by: facts/2022-03-01-is.md"
        f"\n---\n{text}",
        "facts/2022-03-01-is.md": "Bob rows.\n",
    }
    lay(tmp_path / "ann", files)
    found = search_files(index.of(ann._folder), "pre-archery Bob?", today=TODAY)
    factors = {hit.path: hit.features.document for hit in found.hits}
    assert len({factors[path] for path in files if "archive" in path}) == 1
