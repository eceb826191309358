"""What a message says of an answer, of a text that is worked on, of what was read somewhere or of the world is no fact about the
person; and a plan that is moved replaces no other plan.
"""

import datetime as dt
from pathlib import Path

import pytest

from filemem import Store
from filemem.text.statements import Utterance, read_turn

DAY = dt.date(2026, 11, 20)


@pytest.mark.parametrize(
    "text",
    [
        "Make it shorter, 200 words max",
        "No, 300 words",
        "Use 12 point font",
        "Page 3 of the report",
        "I'd like 3 options",
        "I meant the other one, the blue one",
        "here's the text: We are pleased to inform you that flight BA123 departs at 10:00.",
        "The news says petrol will be 2.10 next week",
        "I read that Norway has 5 million people",
        "The recipe says 200 g flour",
        "My friend asks whether she should move to Berlin",
        "I think you're wrong about the 1998 final",
        "So 2 plus 2 is 5, right",
        "A marathon is 42.195 km",
        "I dreamed that I sold the house for 3 million",
        "The boiling point of ethanol is 78 degrees",
        "好的，第二个",
        "不对，300字",
        "第3页太长了",
        "我想要3个选项",
        "我想知道3月14日是星期几",
        "据说北京有两千万人",
        "菜谱说200克面粉",
        "太贵了吧，要2000块",
        "我昨晚梦见考试得了3分",
        "the answer is in the text",
        "it's in the fridge",
        "of course",
        "我在上楼",
        "我喝点水",
        "你装个船长 广播通知开饭",
        "remind me to call mum at 5",
        "had a dream I moved to a lighthouse with 3 goats",
    ],
)
def test_nothing_is_kept_of_it(text: str) -> None:
    assert read_turn(Utterance("Mara", text), DAY, to_assistant=True).statements == []


@pytest.mark.parametrize(
    "text",
    [
        "swapped the bike for a Brompton",
        "I read wrong the letter, my check-up is on 21 August",
        "car's in the garage till Friday, the Skoda",
        "my locker number at the pool is 112",
        "we call the boat Petrel",
        "给孩子报了钢琴课，每周三晚上",
        "换了新车，一辆白色的比亚迪",
        "we adopted a greyhound, her name is Biscuit",
        "the fuse box is behind the coat rack",
        "Hanna has the spare bike pump",
        "I can't swim",
        "备用药在浴室柜子里",
        "我把帐篷借给老李了",
        "我喝茶不加糖",
        "Sam brought the drill back",
        "乌龟送给老魏了 太远带不走",
        "爱人生日是九月三号 你到时候提醒我",
        "my wife's birthday is 11 August, remind me nearer the time",
        "我家养了只八哥叫黑米 会说恭喜发财",
    ],
)
def test_what_is_the_persons_is_kept_however_it_is_told(text: str) -> None:
    assert [one.text for one in read_turn(Utterance("Mara", text), DAY, to_assistant=True).statements] == [text]


def test_a_plan_that_is_moved_replaces_that_plan_alone(tmp_path: Path) -> None:
    user = Store(tmp_path).user("ann")
    kept = [
        user.remember(text, today=DAY + dt.timedelta(n)).path
        for n, text in enumerate(("我的面试改到6月9号了", "聚会推迟到5月21号了", "搬家延到7月1号了"))
    ]
    assert set(kept) <= set(user.folder.paths())
    assert not any("superseded_by" in user.open_file(path).front for path in kept)
