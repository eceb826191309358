"""A date that may be past or to come is written out only where the words settle which; elsewhere the sentence stays as it is.

A wrong date is far worse than none. Each line says a sentence, and what is put into brackets behind its date: nothing for `-`.
"""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.text.dates import annotate, mentioned
from filemem.text.dates.spans import WEEKDAYS

WEDNESDAY = date(2026, 3, 18)

ENGLISH = """
I booked a cabin in Flåm for 20 April. | 20 April 2026
I've booked the ferry for 2 May | 2 May 2026
We got tickets to the opera for 9 April! | 9 April 2026
My driving test was moved to 3 June. | 3 June 2026
The hearing has been postponed to April 22 | 22 April 2026
The exam is on 12 February. | 12 February 2027
The lease ends on 1 September | 1 September 2026
I start on 6 April. | 6 April 2026
I'm running the half marathon on 10 May | 10 May 2026
We'll fly to Porto in September. | September 2026
I'm going to see my aunt in June | June 2026
From July I'll be part-time. | July 2026
We moved here in January. | January 2026
I saw her play in November | November 2025
The roof was repaired on 14 February. | 14 February 2026
I've had this cough since February | February 2026
# the weekday
Noor went for a check-up Monday | 16 March 2026
I went climbing on Saturday and my arms hurt | 14 March 2026
On Sunday we drove to the lake. | 15 March 2026
My parents came over Friday night | 13 March 2026
The dentist called me on Tuesday | 17 March 2026
The recital on Sunday was lovely | 15 March 2026
We had a staff meeting on Thursday. | 12 March 2026
I haven't slept since Monday | 16 March 2026
I'm meeting Tomás on Friday | 20 March 2026
We'll pick it up on Monday. | 23 March 2026
I booked a table for Saturday | 21 March 2026
We're getting married on 12 January | 12 January 2027
The bridge will be closed on Monday. | 23 March 2026
We get paid on Friday | -
See you Thursday! | 19 March 2026
Let's talk on Friday | 20 March 2026
I tried curling this weekend | 14–15 March 2026
We visited the zoo this weekend | 14–15 March 2026
I'm going to paint the shed this weekend | 21–22 March 2026
this Friday I'm off | 20 March 2026
I saw him this Monday | 16 March 2026
this coming Monday | 23 March 2026
this past Saturday | 14 March 2026
last Friday | 13 March 2026
next Monday | 23 March 2026
Dentist next Thursday at 9 | 26 March 2026
next summer's trip | -
next January | January 2027
We saw an otter on Sunday and it dived on Tuesday | 15 March 2026, 17 March 2026
Ordered a sofa, it arrives on 2 April | 2 April 2026
Have we booked Rome for October? | October 2026
# in doubt
They said they closed on Saturday | -
I was seeing the vet Monday at 9 | -
The wedding was in June | -
The concert on Saturday is cancelled | -
My mother visits on Tuesday | -
It was my birthday on Saturday | -
I'm still tired from Sunday | -
Can you remind me on Friday? | -
Sofia said the clinic opens Monday | -
I told Ren about the exam on Friday | -
I heard about a fair on 20 April | -
I was talking about my trip in May | -
She invited me to a wedding on 9 June | -
I signed up for a course starting in September | -
a pottery class, starting in September | -
I meant to call you on Monday | -
I wanted to leave on 2 April | -
We were going to meet Friday | -
The launch was planned for 20 April | -
If it's dry we'll hike on Saturday | -
I might come on Friday | -
I'd love to visit in September | -
I used to swim on Friday | -
Physio on Friday | -
Concert 12 May! | -
My birthday is 19 November | -
The birthday of [[Rui]], my brother, is on 5 December. | -
[[Rui]] and I booked the ferry for 2 May | 2 May 2026
Our anniversary is on 2 June | -
My yoga class was moved to Thursday | -
Bin day is Wednesday | -
I work Monday to Thursday | -
Monday or Tuesday works for me | -
I am excited about Friday | -
That Friday we left | -
We met on a Monday | -
We had a lovely Sunday | -
the Tuesday after | -
physio's been moved to Monday, no sorry, Friday the 20th | -
I'm meeting my retired boss | -
She said "I moved out on Monday" | -
I was born on 5 May | -
We got married on 25 April | -
I'm reading The Sunday Times | -
They played Sunday school songs | -
Last week was wild: on Monday I lost my keys | 9–15 March 2026
In 2019 I went to Nice in May | -
Two weeks ago I was ill, and on Friday I went back | 2–8 March 2026
The party was yesterday? | 17 March 2026
I went on Wednesday | -
What did we do on 20 February? | 20 February 2026
Did they come over on Friday? | 13 March 2026
What are you doing on Friday? | 20 March 2026
What is on Friday? | -
next Friday | 27 March 2026
# no dates at all
We danced like there's no tomorrow | -
I wasn't born yesterday | -
It feels like yesterday that she was small | -
the leaders of tomorrow | -
Tomorrow never comes | -
One day I'll learn it | -
It may rain; we march on; I sat in the sun | -
tomorrow | 19 March 2026
""".strip().splitlines()

CHINESE = """
昨天下雨 | 2026年3月17日
上周六我去了植物园 | 2026年3月14日
下下周六我妈来 | 2026年4月4日
下周五晚上聚餐 | 2026年3月27日
上个月15号交的房租 | 2026年2月15日
我们打算4月27号去登记 | 2026年4月27日
我们准备5月2日搬家 | 2026年5月2日
考试改到6月13号了 | 2026年6月13日
面试定在4月8号 | 2026年4月8日
我买了4月14号的车票 | 2026年4月14日
报名了11月15号的比赛 | 2026年11月15日
我2月3号去了苏州 | 2026年2月3日
1月我去过一次 | 2026年1月
我4月5号要做手术 | 2026年4月5日
周六去了爬山 | 2026年3月14日
我妈周六到的 | 2026年3月14日
我们约在周五 | 2026年3月20日
这周六我要去看展 | 2026年3月21日
两个星期前的周六我摔了一跤 | 2026年3月2日–8日
这周一我去看展了 | 2026年3月16日
我1月1号以来没喝酒 | 2026年1月1日
# 说不准
这周六我去看展了 | -
例会改到周五了 | -
过了周五就好了 | -
我8月毕业了 | -
周三可以在家办公 | -
我周三要上班 | -
每周三开会 | -
以后周五不加班 | -
周五见 | -
我弟的生日是12月6号 | -
9月的天气 | -
我5月19号出生 | -
周二那趟车 | -
你周六去了吗 | -
他说：“我周六搬走了” | -
3月27号 | -
4月13号报到 | -
如果周六下雨 | -
从周一到周五 | -
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


@given(st.sampled_from(ENGLISH + CHINESE), DAYS)
def test_what_is_settled_is_one_span(row: str, today: date) -> None:
    assert all(not (mention.annotated and mention.other) for mention in mentioned(row, today))
