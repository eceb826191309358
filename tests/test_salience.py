"""Turns that tell something new of their speaker are kept; questions, greetings and praise are not, in either language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.statements.salience import THRESHOLD, WEIGHTS, Heard, contexts, score, scores, signs
from filemem.statements.utterance import Turn, sentences

ENGLISH = [
    Turn("Ines", "Hi Omar! What a while. How are you these days?"),
    Turn(
        "Omar",
        "Hey Ines! I moved to Porto in March and started a small bakery with my sister Leila. Any news with you?",
    ),
    Turn("Ines", "Wow, that's wonderful, Omar! Congratulations!"),
    Turn("Omar", "Thanks so much!"),
    Turn("Ines", "What do you bake there?"),
    Turn(
        "Omar",
        "We have been baking rye bread and cinnamon rolls every morning, and I'm planning a class for kids in June.",
    ),
    Turn("Ines", "Sounds great! Good luck with it!"),
    Turn("Omar", "Thank you, talk to you soon!"),
]
CHINESE = [
    Turn("小雨", "嗨，阿明！好久不见，最近怎么样？"),
    Turn("阿明", "你好小雨！我三月搬到了波尔图，和我姐姐开了一家小面包店。你呢？"),
    Turn("小雨", "哇，太棒了！恭喜你！"),
    Turn("阿明", "谢谢你！"),
    Turn("小雨", "你们在店里都烤些什么？"),
    Turn("阿明", "我们每天早上都在烤黑麦面包和肉桂卷，我还打算六月给孩子们开一个烘焙班。"),
    Turn("小雨", "听起来真不错！祝你顺利！"),
    Turn("阿明", "谢谢，回头聊！"),
]


@pytest.mark.parametrize("talk", [ENGLISH, CHINESE])
def test_news_and_answers_are_kept_and_courtesy_is_not(talk: list[Turn]) -> None:
    """Of an everyday exchange the two turns with facts are kept, and no other."""
    kept = [number for number, value in enumerate(scores(talk, Heard())) if value >= THRESHOLD]
    assert kept == [1, 5]


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to walnuts.",
        "My birthday is on 3 April.",
        "I moved to Lyon.",
        "My dog's name is Biscuit.",
        "我对花生过敏。",
        "我的生日是四月三日。",
        "我搬到了里昂。",
        "我换工作了。",
    ],
)
def test_a_plain_fact_is_kept_however_short(text: str) -> None:
    talk = [Turn("Ines", "Nice weather today, and the trains are on time for once."), Turn("Omar", text)]
    assert scores(talk, Heard())[1] >= THRESHOLD


@pytest.mark.parametrize(
    "text",
    ["Remember that the gate code is 4412.", "记住：门的密码是4412。", "Please remember: bins go out on Monday."],
)
def test_what_one_asks_an_assistant_to_remember_is_always_kept(text: str) -> None:
    talk = [Turn("Ines", text), Turn("assistant", "Noted.")]
    assert scores(talk, Heard())[0] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "I'm 37.",
        "I hate flying.",
        "I never eat breakfast.",
        "Please keep your answers short.",
        "我讨厌恐怖片。",
        "以后叫我小雨。",
    ],
)
def test_terse_words_about_oneself_are_kept_where_only_an_assistant_listens(text: str) -> None:
    listening, talking = ([Turn("Ines", text), Turn(other, "I see.")] for other in ("assistant", "Omar"))
    assert scores(listening, Heard())[0] >= THRESHOLD
    assert scores(listening, Heard())[0] > scores(talking, Heard())[0]


@pytest.mark.parametrize(
    "text", ["I need you to fix this code.", "Can you help me with my letter?", "帮我翻译这段代码。", "ok thanks!"]
)
def test_an_errand_is_not_kept(text: str) -> None:
    assert scores([Turn("Ines", text), Turn("assistant", "Done.")], Heard())[0] < THRESHOLD


def test_an_assistant_is_seldom_a_source() -> None:
    """The same words weigh half as much when an assistant says them."""
    said = "I moved the meeting with Leila to Friday and booked a table in Ghent."
    one, other = ([Turn("Ines", "What now?"), Turn(speaker, said)] for speaker in ("assistant", "Omar"))
    assert scores(one, Heard())[1] < scores(other, Heard())[1]


@pytest.mark.parametrize("text", ["Remember that patience is everything!", "记住，耐心最重要！"])
def test_remember_said_to_a_person_is_advice(text: str) -> None:
    talk = [Turn("Ines", text), Turn("Omar", "True."), Turn("Ines", "Bye!")]
    assert scores(talk, Heard())[0] < THRESHOLD


def test_what_was_told_in_an_earlier_conversation_counts_less_when_told_again() -> None:
    """Novelty falls with what had been heard, and only with it."""
    told = Turn("Omar", "I planted tomatoes and basil on the balcony this spring.")
    fresh, stale = Heard(), Heard()
    fresh.add([Turn("Ines", "The concert in Vienna was sold out.")] * 5)
    stale.add([Turn("Omar", "I planted tomatoes and basil on the balcony.")] * 5)
    assert scores([told], stale)[0] < scores([told], fresh)[0]


def test_repeating_within_a_conversation_counts_less() -> None:
    first = Turn("Omar", "I bought a red bicycle at the market in Ghent.")
    again = scores([first, Turn("Ines", "Oh."), first], Heard())
    assert again[2] < again[0]


def test_an_answer_counts_more_than_the_same_words_unasked() -> None:
    told = Turn("Omar", "I repair old clocks and radios in my garage.")
    asked = scores([Turn("Ines", "What do you do at the weekend?"), told], Heard())[1]
    unasked = scores([Turn("Ines", "The weekend is almost here now."), told], Heard())[1]
    assert asked > unasked


def test_a_picture_counts_for_nothing_by_itself() -> None:
    talk = [Turn("Ines", "Look! [image: a photo of my two dogs on a beach in Portugal last summer]")]
    assert scores(talk, Heard())[0] < THRESHOLD


def test_every_sign_has_a_weight_and_every_weight_a_sign() -> None:
    [context] = contexts(ENGLISH[:1], Heard())
    assert signs(ENGLISH[0], context).keys() == WEIGHTS.keys()


@given(st.lists(st.tuples(st.sampled_from("AB"), st.text(max_size=80)), max_size=6))
def test_a_score_lies_between_0_and_1_whatever_is_said(said: list[tuple[str, str]]) -> None:
    talk = [Turn(speaker, text) for speaker, text in said]
    heard = Heard()
    values = scores(talk, heard)
    assert len(values) == len(talk) and all(0 <= value <= 1 for value in values)
    heard.add(talk)
    assert all(0 <= score(turn, context) <= 1 for turn, context in zip(talk, contexts(talk, heard), strict=True))


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("Hey! I saw Dr. Abadi at 3.30 p.m. in St. Gallen. Nice, right?", ["reaction", "telling", "question"]),
        ("That's great! I went too. What about you?", ["reaction", "telling", "question"]),
        ("太好了！我也去了北京。你呢？", ["reaction", "telling", "question"]),
        ("I never liked it, you know?", ["telling"]),
        ("😀 🎉", []),
    ],
)
def test_a_turn_falls_into_sentences_with_roles(text: str, roles: list[str]) -> None:
    assert [sentence.role for sentence in sentences(text)] == roles
