"""Every name, number, date, URL and title of the sources is in the summary or reported; what a summary adds is caught."""

import datetime as dt
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filemem.text.bounded import DatedText, archive_only, unsupported_details

DAY = dt.date(2026, 5, 8)
SAID = [
    DatedText("Ann: Yesterday I saw Tom Baker in Ely, he is 41 and reads “Emma” by Jane Austen.", DAY),
    DatedText("Ann: He paid 1,140 pounds for three loams, see https://ely.example/loam?x=1.", DAY),
    DatedText("安：上周五我在苏州看了《牡丹亭》，王老师说门票90元。", DAY),
]


@pytest.mark.parametrize(
    "line",
    [
        "Ann saw Tom Baker in Ely on 7 May 2026.",
        "Ann saw Tom in May 2026.",
        "Tom's book is “Emma”, by Austen.",
        "Tom paid 1140 pounds for 3 loams.",
        "See https://ely.example/loam?x=1.",
        "On 8 May 2026 Ann talked of Ely.",
        "安5月1日在苏州看了《牡丹亭》，门票90元。",
        "安十分喜欢《牡丹亭》，王老师也是，两人一起看，门票九十元。",
        "The two paid for 3 loams, forty-one of them said nothing.",
    ],
)
def test_what_the_sources_say_is_not_invented(line):
    assert unsupported_details([line], SAID) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Ann saw Tim Baker in Ely.", "Tim"),
        ("Gloria saw Tom.", "Gloria"),
        ("Ann saw [[Wells]].", "Wells"),
        ("Tom is 42.", "42"),
        ("Tom paid 1,150 pounds.", "1,150"),
        ("Ann saw Tom on 6 May 2026.", "6 May 2026"),
        ("Ann saw Tom in 2025.", "2025"),
        ("Tom reads “Persuasion”.", "Persuasion"),
        ("See https://ely.example/loam?x=2.", "https://ely.example/loam?x=2"),
        ("安看了《西厢记》。", "西厢记"),
        ("安付了80元。", "80"),
        ("安在5月3日去了苏州。", "5月3日"),
        ("Tom paid for seven loams.", "seven"),
        ("Tom paid for twenty-three loams.", "twenty-three"),
        ("安买了七张门票。", "七"),
        ("李雷看了《牡丹亭》。", "李雷"),
        ("安和王芳去了苏州。", "王芳"),
        ("安的同事李雷付了90元。", "李雷"),
        ("安认识了格洛丽亚。", "格洛丽亚"),
        ("安搬到了成都。", "成都"),
        ("安ちゃんはカタリナに会った。", "カタリナ"),
    ],
)
def test_what_the_sources_do_not_say_is_invented(line, what):
    assert what in unsupported_details([line], SAID)


def test_what_the_summary_lacks_is_reported_as_it_was_written():
    kept = [DatedText("Ann saw Tom Baker on 7 May 2026; the ticket was 90元.", DAY)]
    lost = archive_only(SAID, kept)
    for detail in ("Ely", "41", "Emma", "Jane", "Austen", "1,140", "https://ely.example/loam?x=1", "牡丹亭"):
        assert detail in lost, detail
    for detail in ("Tom", "Baker", "90"):
        assert detail not in lost, detail


words = st.sampled_from(
    "the a saw met Tom Ely Ruth 41 1,140 “Emma” 《牡丹亭》 yesterday 7 May 2026 www.ely.example/x bees. and".split()
)
texts = st.lists(st.lists(words, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(texts, st.data())
def test_turns_quoted_as_they_are_invent_nothing_and_lose_nothing_unreported(said, data):
    sources = [DatedText(text, DAY) for text in said]
    kept = data.draw(st.lists(st.sampled_from(sources), unique=True))
    assert unsupported_details([text for text, _ in kept], sources) == []
    lost = " ".join(archive_only(sources, kept))
    shown = " ".join(text for text, _ in kept)
    for detail in ("Tom", "Ely", "Ruth", "Emma", "牡丹亭", "1,140", "41", "www.ely.example/x"):
        inside = rf"(?<=[\w”》] ){re.escape(detail)}"  # at the start of a sentence a word with a capital is no name yet
        assert not any(re.search(inside, text) for text, _ in sources) or detail in shown or detail in lost, detail
