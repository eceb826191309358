"""The dates that a sentence names are found and resolved against a given day, in English and in Chinese; `annotate` only
ever inserts brackets, and what merely looks like a date is left alone."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filemem.text.dates import annotate, mentioned, parse_bound
from filemem.text.spans import one_day

MONDAY = date(2023, 5, 8)


def spans(text: str, today: date = MONDAY) -> list[str]:
    """`expression: first..last` for each mention, `expression: day` for one day."""
    found = []
    for mention in mentioned(text, today):
        days = dict.fromkeys(map(str, mention.span))
        found.append(f"{text[mention.start : mention.end]}: {'..'.join(days)}")
    return found


ABSOLUTE = """
It was on 7 May 2023. | 7 May 2023: 2023-05-07
in may | may: 2023-05-01..2023-05-31
in early January | early January: 2023-01-01..2023-01-10
the first week of 2022 | first week of 2022: 2022-01-01..2022-01-31
from 2019-2021 | 2019-2021: 2019-01-01..2021-12-31
2023-05-07 | 2023-05-07: 2023-05-07
05/2023 | 05/2023: 2023-05-01..2023-05-31
25.12.2022 | 25.12.2022: 2022-12-25
Friday, 5 May 2023 | 5 May 2023: 2023-05-05
2022年3月5日 | 2022年3月5日: 2022-03-05
二零二二年五月三日 | 二零二二年五月三日: 2022-05-03
5月1日至7日 | 5月1日至7日: 2023-05-01..2023-05-07
1月中旬 | 1月中旬: 2023-01-11..2023-01-20
2022年底 | 2022年底: 2022-11-01..2022-12-31
2022年上半年 | 2022年上半年: 2022-01-01..2022-06-30
""".strip().splitlines()

RELATIVE = """
three months ago | three months ago: 2023-02-01..2023-02-28
two weeks from now | two weeks from now: 2023-05-22..2023-05-28
the week before last | week before last: 2023-04-24..2023-04-30
the weekend before last | weekend before last: 2023-04-29..2023-04-30
the month before last | month before last: 2023-03-01..2023-03-31
the year after next | year after next: 2025-01-01..2025-12-31
this weekend | this weekend: 2023-05-13..2023-05-14
last Tues. | last Tues: 2023-05-02
this Friday | this Friday: 2023-05-12
last summer | last summer: 2022-06-01..2022-08-31
last winter | last winter: 2022-12-01..2023-02-28
this winter | this winter: 2023-12-01..2024-02-29
for the past two weeks | the past two weeks: 2023-04-24..2023-05-08
in the last month | the last month: 2023-04-08..2023-05-08
上週五 | 上週五: 2023-05-05
上個月15號 | 上個月15號: 2023-04-15
年初 | 年初: 2023-01-01..2023-02-28
去年的夏天 | 去年的夏天: 2022-06-01..2022-08-31
兩個月前 | 兩個月前: 2023-03-01..2023-03-31
两周之前 | 两周之前: 2023-04-24..2023-04-30
过去三年 | 过去三年: 2020-05-08..2023-05-08
""".strip().splitlines()

NEAR_MISSES = """
You may be right; it may take 5 days
The march was long, our last march for rights
The Sun is bright, where we last sat
I walked 2000 steps for $2020
the last time, the next step, next to each other, times don't last
I like Fridays, every Friday, Black Friday
on 31 February 2023
5/7/2023, 20231301, 120230507, $20230507.25
the other day, recently, a while ago, so long ago
a year and a half ago, half a year ago, a few weeks ago
两三天前，前几天，十几年前
for years now, for over three years now, for a year and a half now
快三年了，两三年了，第三年了，三年了解
日常生活，月亮很圆，周围没有人
每周五跳舞
如今年轻人
农历下个月十五, 下个月初八搬家, 农历去年八月, 十二月廿五号
""".strip().splitlines()

ANNOTATED = """
I went yesterday. | I went yesterday [7 May 2023].
two years ago | two years ago [2021]
I have danced for about 3 years now. | I have danced for about 3 years now [since 2020].
for two months now [since March 2023] | for two months now [since March 2023]
It's been a year now. | It's been a year now [since 2022].
the week before last we met | the week before last [24–30 April 2023] we met
last week's match | last week's [1–7 May 2023] match
yesterday morning at ten | yesterday morning [7 May 2023] at ten
next week, tomorrow | next week [15–21 May 2023], tomorrow [9 May 2023]
yesterday [image: a dog] | yesterday [7 May 2023] [image: a dog]
学琴大概三年了，住了两个月了 | 学琴大概三年了[2020年起]，住了两个月了[2023年3月起]
昨天去了 | 昨天[2023年5月7日]去了
去年夏天 | 去年夏天[2022年6月–8月]
a week ago yesterday | a week ago [1–7 May 2023] yesterday
"Done." She left yesterday | "Done." She left yesterday [7 May 2023]
我上周一共跑了三次 | 我上周[2023年5月1日–7日]一共跑了三次
In 2022 we met, yesterday we wed | In 2022 we met, yesterday [7 May 2023] we wed
下周一定去，上周六回来 | 下周[2023年5月15日–21日]一定去，上周六[2023年5月6日]回来
""".strip().splitlines()

UNANNOTATED = """
等一下周末再说，了解一下月薪，问一下周一开不开，线下周五，乡下月底，日本月薪
2022-03 阿坤: 我下个月回武汉
[2022-03-05 10:22] Ann: see you tomorrow
today, tonight, this week, this month, this summer, now
I saw her on Friday, we fly on 20 April, let's talk on Saturday, Oct 7 at 3pm, 10月3号
7 May 2023, in May, summer 2022
yesterday [7 May 2023] and last week [1–7 May 2023]
yesterday [1 January 2020]
今天，这周，这个月，今年，周五，几天前，三天后
昨天[2023年5月7日]
He said "see you tomorrow" and left
We danced like there's no tomorrow
她说：“昨天下雨了”；他说「上周去过」
I'll ring you tomorrow week, that's yesterday's news, I start a week tomorrow
Never put off till tomorrow what you can do today
后天努力，后天性耳聋，昨日重现，明日黄花，明天会更好，昨天的我
明后天有雨，这周六点起床，周一共五天
年糕好了（sessions/2026/2026-03-09-2000-年糕上周五不吃东西.md:6），facts/2026/2026-03-09-ana-rang-yesterday.md:8
""".strip().splitlines()


EITHER = """
Oct 7 at 3pm | 2022-10-07 | 2023-10-07
on October 24 | 2022-10-24 | 2023-10-24
from January 11 to 18 | 2023-01-11 | 2024-01-11
by September 25 | 2022-09-25 | 2023-09-25
10月3号 | 2022-10-03 | 2023-10-03
on Friday | 2023-05-05 | 2023-05-12
周六见过 | 2023-05-06 | 2023-05-13
on the 11th. | 2023-04-11 | 2023-05-11
on 29 February | 2020-02-29 | 2024-02-29
2月29日 | 2020-02-29 | 2024-02-29
15号发生了什么 | 2023-04-15 | 2023-05-15
20号之前 | 2023-04-20 | 2023-05-20
五月四日 | 2023-05-04 | 2023-05-04
""".strip().splitlines()


@pytest.mark.parametrize("row", EITHER)
def test_a_day_without_its_year_or_week_is_the_last_one_or_the_next(row: str) -> None:
    """But the last one alone for a month behind it."""
    text, *days = row.split(" | ")
    [mention] = mentioned(text, MONDAY)
    assert [str(mention.spans[at].start) for at in (0, -1)] == days
    assert not mention.annotated


@pytest.mark.parametrize("row", ABSOLUTE + RELATIVE + NEAR_MISSES)
def test_expressions_are_found_and_what_only_looks_like_a_date_is_left_alone(
    row: str,
) -> None:
    text, *expected = row.split(" | ")
    assert spans(text) == expected
    assert all(
        mention.relative == (row in RELATIVE) for mention in mentioned(text, MONDAY)
    )


@pytest.mark.parametrize("row", ANNOTATED + UNANNOTATED)
def test_what_hangs_on_the_day_is_written_out_and_what_is_known_vague_or_done_is_not(
    row: str,
) -> None:
    text, _, expected = row.partition(" | ")
    assert annotate(text, MONDAY) == (expected or text)


WEEKS = """
2023-05-03 | 24–30 April 2023 | 2023年4月24日–30日
2023-06-08 | 29 May – 4 June 2023 | 2023年5月29日–6月4日
2023-01-04 | 26 December 2022 – 1 January 2023 | 2022年12月26日–2023年1月1日
""".strip().splitlines()


@pytest.mark.parametrize("row", WEEKS)
def test_a_week_across_months_and_years_names_both_ends(row: str) -> None:
    today, english, chinese = row.split(" | ")
    shown = annotate("last week, 上周", date.fromisoformat(today))
    assert shown == f"last week [{english}], 上周[{chinese}]"


@pytest.mark.parametrize("offset", range(7))
def test_last_friday_is_the_one_before_and_next_friday_that_of_next_week(
    offset: int,
) -> None:
    """The next one is not written out where people differ: early in this week."""
    last, following = mentioned("last Friday, next Friday", MONDAY + timedelta(offset))
    before = one_day(MONDAY + timedelta(-3 if offset < 5 else 4))
    assert (last.span, last.annotated) == (before, True)
    assert one_day(MONDAY + timedelta(11)) == following.spans[-1]
    assert following.annotated == (offset > 1)


BOUNDS = """
2023-05-07 | 2023-05-07 | 2023-05-07
20230507 | 2023-05-07 | 2023-05-07
2023_05_07 | 2023-05-07 | 2023-05-07
2023-05 | 2023-05-01 | 2023-05-31
2050 | 2050-01-01 | 2050-12-31
in June | 2022-06-01 | 2022-06-30
the summer of 2022 | 2022-06-01 | 2022-08-31
  last week | 2023-05-01 | 2023-05-07
3 days ago | 2023-05-05 | 2023-05-05
上周 | 2023-05-01 | 2023-05-07
2023年5月 | 2023-05-01 | 2023-05-31
""".strip("\n").splitlines()


@pytest.mark.parametrize("row", BOUNDS)
def test_a_bound_takes_the_first_day_or_the_last(row: str) -> None:
    text, first, last = row.split(" | ")
    assert parse_bound(text, MONDAY, end=False) == date.fromisoformat(first)
    assert parse_bound(text, MONDAY, end=True) == date.fromisoformat(last)


WORDS = [row.split(" | ")[0] for row in ABSOLUTE + RELATIVE + ANNOTATED]
WORDS += NEAR_MISSES + UNANNOTATED
PIECES = sorted({*re.findall(r"[A-Za-z'’]+|\d+|[^\x00-\x7f]", " ".join(WORDS))})
SIGNS = st.sampled_from([*PIECES, " ", " ", "-", "[", "]", ",", "\n"])
TEXTS = (
    st.text()
    | st.lists(st.sampled_from(WORDS) | st.text(max_size=3)).map("".join)
    | st.lists(SIGNS).map("".join)
    | st.lists(st.sampled_from(PIECES)).map(" ".join)
)
DAYS = st.dates() | st.sampled_from(
    [date.min, date.max, date(1, 1, 7), date(9999, 12, 30), date(2024, 2, 29)]
)


@pytest.mark.parametrize(
    "text",
    [
        "last year (2021) in May",
        "next month (July 2024)",
        "last Friday, 28 April 2023, at noon",
        "yesterday (May 7)",
        "tomorrow 9 May",
        "去年（2021年）夏天",
        "下周五（5月19日）",
        "明天5月9日",
    ],
)
def test_a_date_that_is_written_beside_an_expression_is_not_reckoned(text: str) -> None:
    """It holds, whatever would be reckoned."""
    assert annotate(text, MONDAY) == text


@pytest.mark.parametrize(
    "text",
    [
        "last Friday [5 May 2023], 3 May was too early",
        "yesterday [7 May 2023] (March was worse)",
        "yesterday [7 May 2023] (as in 2019)",
        "上周五[2023年5月5日]，5月3日太早",
    ],
)
def test_a_date_of_another_matter_spells_no_expression_out(text: str) -> None:
    assert annotate(re.sub(r" ?\[[^]]*\]", "", text), MONDAY) == text


@given(TEXTS, DAYS)
@example("last week [ ]", MONDAY)
@example("昨天三天前上周", MONDAY)
@example("昨晚上周五前天前天", MONDAY)
@example("yesterday[7 May 2023] morning", MONDAY)
def test_annotate_inserts_brackets_and_nothing_else(text: str, today: date) -> None:
    annotated = annotate(text, today)
    assert annotate(annotated, today) == annotated
    rest = iter(annotated)
    assert all(character in rest for character in text)
    unbracketed = text.replace("[", "(")
    assert re.sub(r" ?\[[^\]]*\]", "", annotate(unbracketed, today)) == unbracketed


@given(TEXTS, DAYS)
@example("Nov 3号", MONDAY)  # of which both languages would read the day
@example("2026-05月", MONDAY)
def test_mentions_are_in_order_and_their_spans_too(text: str, today: date) -> None:
    end = 0
    for mention in mentioned(text, today):
        assert end <= mention.start < mention.end <= len(text)
        assert mention.span.start <= mention.span.end
        assert not (mention.annotated and mention.other)
        end = mention.end


LONG = (
    " |1 |1|5 May |last |a few |年|三|上|前|[|yesterday [|mar|May-|2023-|2023|"
    "the week before the |1-1-|in the |上上|\n|from May to |[7 |January 7 [7 "
).split("|")


@pytest.mark.parametrize("piece", LONG)
def test_no_input_makes_the_patterns_run_away(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    assert len(annotate(text, MONDAY)) >= len(text)
