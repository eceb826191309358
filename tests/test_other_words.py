"""The chat without a model answers what is asked in other words than it was told in: by fields of words, by the sort of thing
that is asked for, by whom it is about; what tells of a change comes first, and what nobody told is not taken for sure."""

import datetime as dt
from pathlib import Path

import pytest

from filemem import Store
from filemem.chat.conversation import Conversation
from filemem.models.offline import OfflineModel
from filemem.remembering import consolidation

DAY = dt.datetime(2026, 3, 2, 9, 30, tzinfo=dt.UTC)

MARA = (
    "I'm Mara, 41, and I teach chemistry at Hillcrest Academy.",
    "My brother Joost is in Toronto, he repairs lifts.",
    "Hazelnuts close my throat, I'm allergic, so I keep an EpiPen in my rucksack.",
    "Our address is 9 Lindenlaan in Leuven.",
    "We own 14 beehives at the edge of the wood.",
    "My driving test is on 12 May.",
    "I took up the cello in autumn.",
    "My son Pim turns 7 on 20 June.",
    "Joost's birthday is 3 March. Mine is 9 October.",
    "I smoke a pipe after dinner.",
)
LATER = ("The driving test is moved to 19 May.", "I gave up the pipe, no more tobacco for me.")
LIN = (
    "我叫林知夏，在宁波一家医院当药剂师。",
    "我爱人叫周海生，跑长途货运。",
    "我对青霉素过敏，小时候进过急诊。",
    "女儿周小满今年七岁，学古筝。",
    "我家在江北区桃源路18号3幢502。",
)


def answers(folder: Path, told: tuple[str, ...], question: str, *later: str, days: int = 120) -> str:
    """What is answered some days after these were told, one a day."""
    user = Store(folder).user("mara").folder
    for number, message in enumerate((*told, *later)):
        at = DAY + dt.timedelta(days=number)
        Conversation(user, OfflineModel(), lambda at=at: at).say(message, lambda event: None)  # type: ignore[misc]
        list(consolidation.run(user, at))
    at = DAY + dt.timedelta(days=days)
    return Conversation(user, OfflineModel(), lambda: at).say(question, lambda event: None)


def passages(answer: str) -> list[str]:
    return [part for part in answer.split("\n\n") if part.startswith("- ")]


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("which nut could kill me?", "Hazelnuts"),
        ("what emergency medicine do I carry", "EpiPen"),
        ("which relative lives abroad?", "Toronto"),
        ("where should a parcel be sent", "Lindenlaan"),
        ("which subject do I teach", "chemistry"),
        ("what instrument do I play?", "cello"),
        ("how many beehives do I have?", "14"),
        ("in which school do I work", "Hillcrest"),
    ],
)
def test_a_question_in_other_words_is_answered(tmp_path: Path, question: str, word: str) -> None:
    assert word in "".join(passages(answers(tmp_path, MARA, question))[:3])


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("我老公叫什么名字？", "周海生"),
        ("哪种药我不能用", "青霉素"),
        ("我闺女学什么乐器？", "古筝"),
        ("我家门牌号是多少", "502"),
        ("我是干啥的", "药剂师"),
    ],
)
def test_the_same_in_chinese(tmp_path: Path, question: str, word: str) -> None:
    assert word in "".join(passages(answers(tmp_path, LIN, question))[:3])


@pytest.mark.parametrize(
    ("question", "word"), [("when is my driving test?", "19 May"), ("do I still smoke?", "gave up")]
)
def test_what_tells_of_a_change_comes_first(tmp_path: Path, question: str, word: str) -> None:
    assert word in passages(answers(tmp_path, MARA, question, *LATER))[0]


def test_a_correction_that_names_nobody_stands_above_what_it_corrects(tmp_path: Path) -> None:
    told = ("Pim's at Hill Primary, Year 2, his teacher's Mr Sato.", "Correction: it's Mrs Sato.")
    assert "Mrs Sato" in passages(answers(tmp_path, told, "who taught Pim in Year 2?"))[0]


def test_a_birthday_is_that_of_whom_it_is_asked(tmp_path: Path) -> None:
    assert "9 October" in passages(answers(tmp_path, MARA, "what day was I born on?"))[0]


@pytest.mark.parametrize(
    "question", ["what colour is my bicycle?", "which football club do I support?", "how tall am I?"]
)
def test_what_nobody_told_is_not_taken_for_sure(tmp_path: Path, question: str) -> None:
    assert answers(tmp_path, MARA, question).startswith(("I found nothing", "I found no strong match"))


@pytest.mark.parametrize(
    ("told", "question", "day", "said"),
    [
        ("My son Pim is 6 and his birthday is 20 June.", "how old is Pim?", 150, "7 now"),
        ("My son Pim is 6 and his birthday is 20 June.", "how old is Pim?", 30, ""),
        ("I was born on 9 October 1984.", "how old am I?", 30, "41 now"),
        ("我今年三十一岁，生日是5月3号。", "我多大了？", 90, "现在32岁"),
    ],
)
def test_an_age_is_counted_on_past_a_birthday(tmp_path: Path, told: str, question: str, day: int, said: str) -> None:
    opening = answers(tmp_path, (told,), question, days=day).split("\n\n- ")[0]
    assert said in opening if said else "now" not in opening
