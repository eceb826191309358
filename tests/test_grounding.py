"""Every name, number, date, URL and title of the sources is in the summary or reported."""

import datetime as dt
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from filemem.text.grounding import DatedText, archive_only

DAY = dt.date(2026, 5, 8)
SAID = [
    DatedText("Ann: Yesterday I saw Tom Baker in Ely, he is 41 and reads “Emma” by Jane Austen.", DAY),
    DatedText("Ann: He paid 1,140 pounds for three loams, see https://ely.example/loam?x=1.", DAY),
    DatedText("安：上周五我在苏州看了《牡丹亭》，王老师说门票90元。", DAY),
]


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
def test_turns_quoted_as_they_are_lose_nothing_unreported(said, data):
    sources = [DatedText(text, DAY) for text in said]
    kept = data.draw(st.lists(st.sampled_from(sources), unique=True))
    lost = " ".join(archive_only(sources, kept))
    shown = " ".join(text for text, _ in kept)
    for detail in ("Tom", "Ely", "Ruth", "Emma", "牡丹亭", "1,140", "41", "www.ely.example/x"):
        inside = rf"(?<=[\w”》] ){re.escape(detail)}"  # at the start of a sentence a word with a capital is no name yet
        assert not any(re.search(inside, text) for text, _ in sources) or detail in shown or detail in lost, detail
