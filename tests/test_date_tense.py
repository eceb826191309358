"""A date that may be past or to come is written out only where the words settle which; elsewhere the sentence stays as it is.

A wrong date is far worse than none. Each line says a sentence, and what is put into brackets behind its date: nothing for `-`.
"""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.text.dates import WEEKDAYS, annotate, mentioned

WEDNESDAY = date(2026, 3, 18)

ENGLISH = """
I booked a cabin in Flåm for 20 April. | 20 April 2026
We moved here in January. | January 2026
I saw her play in November | November 2025
# the weekday
I went climbing on Saturday and my arms hurt | 14 March 2026
I haven't slept since Monday | 16 March 2026
I'm meeting Tomás on Friday | 20 March 2026
We're getting married on 12 January | 12 January 2027
We get paid on Friday | -
Let's talk on Friday | 20 March 2026
I'm going to paint the shed this weekend | 21–22 March 2026
I saw him this Monday | 16 March 2026
next Monday | 23 March 2026
next summer's trip | -
We saw an otter on Sunday and it dived on Tuesday | 15 March 2026, 17 March 2026
Have we booked Rome for October? | October 2026
# in doubt
They said they closed on Saturday | -
The wedding was in June | -
I'm still tired from Sunday | -
I signed up for a course starting in September | -
The launch was planned for 20 April | -
If it's dry we'll hike on Saturday | -
Physio on Friday | -
I am excited about Friday | -
We met on a Monday | -
She said "I moved out on Monday" | -
I'm reading The Sunday Times | -
Last week was wild: on Monday I lost my keys | 9–15 March 2026
What did we do on 20 February? | 20 February 2026
Did they come over on Friday? | 13 March 2026
# no dates at all
We danced like there's no tomorrow | -
""".strip().splitlines()

CHINESE = """
我们打算4月27号去登记 | 2026年4月27日
1月我去过一次 | 2026年1月
我妈周六到的 | 2026年3月14日
这周六我要去看展 | 2026年3月21日
这周一我去看展了 | 2026年3月16日
我1月1号以来没喝酒 | 2026年1月1日
# 说不准
这周六我去看展了 | -
周三可以在家办公 | -
你周六去了吗 | -
他说：“我周六搬走了” | -
3月27号 | -
""".strip().splitlines()


def brackets(text: str, today: date) -> str:
    """What is put behind the text's dates."""
    return ", ".join(re.findall(r"(?<!\[)\[([^\[\]]+)\]", annotate(text, today))) or "-"


@pytest.mark.parametrize("row", [row for row in ENGLISH + CHINESE if row[0] != "#"])
def test_a_date_is_written_out_where_the_words_settle_it(row: str) -> None:
    text, expected = row.split(" | ")
    assert brackets(text, WEDNESDAY) == expected


PAST = ["I met Rui", "We flew home", "The shelf was fixed", "Noor came by"]
COMING = ["I'm meeting Rui", "We'll fly home", "We're going to fix the shelf", "I booked a room for", "Let's talk"]
NEITHER = [
    "Rui told me to come",
    "I'd fly home",
    "If it rains we stay in",
    "Noor visits",
    "A walk",
    "I forgot the match",
]
DAYS = st.dates(date(2024, 1, 1), date(2032, 12, 31))


@given(st.sampled_from(PAST + COMING + NEITHER), st.sampled_from(WEEKDAYS), DAYS)
def test_a_weekday_is_that_of_the_seven_days_before_or_behind(said: str, weekday: str, today: date) -> None:
    text = f"{said} on {weekday}" if not said.endswith("for") else f"{said} {weekday}"
    (mention,) = mentioned(text, today)
    assert all(span.start.strftime("%A") == weekday and abs((span.start - today).days) <= 7 for span in mention.spans)
    assert mention.annotated == (said not in NEITHER and today.strftime("%A") != weekday)
    if mention.annotated:
        assert (mention.span.start < today) == (said in PAST)
        assert annotate(text, today) != text
    else:
        assert (mention.span.start < today, mention.other is not None) == (True, True)


@given(st.sampled_from(PAST + COMING + NEITHER), DAYS, DAYS)
def test_a_day_without_its_year_is_never_put_on_the_wrong_side(said: str, named: date, today: date) -> None:
    text = f"{said} {'' if said.endswith('for') else 'on '}{named.day} {named:%B}"
    for mention in mentioned(text, today):
        assert all((span.start.month, span.start.day) == (named.month, named.day) for span in mention.spans)
        assert said not in NEITHER or not mention.annotated
        if mention.annotated:
            assert (mention.span.end < today) == (said in PAST)
