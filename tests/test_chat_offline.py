"""The chat without a model: it quotes what a search finds, keeps as a fact what it is asked to, and claims nothing else."""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from programs import lay

from filemem.cli import cli

Kept = dict[str, str]


class Life:
    """What Mara says, one chat a message, and what lies in her folder after it."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.home = store / "mara"

    def run(self, *words: str, env: dict[str, str] | None = None) -> str:
        """What a command prints on standard output."""
        done = CliRunner().invoke(
            cli, [*words, "--store", str(self.store), "--user", "mara"], env=env
        )
        assert done.exit_code == 0, done.output
        return done.stdout

    def say(self, text: str, day: str = "2026-11-02", *options: str) -> str:
        return self.run("chat", "-m", text, "--today", f"{day}T09:30", *options)

    def kept(self, kind: str = "facts") -> Kept:
        """The files of a kind, archived ones too, by their path."""
        found = sorted(self.home.glob(f"**/{kind}/**/*.md"))
        return {str(path.relative_to(self.home)): path.read_text() for path in found}

    def all_bytes(self) -> bytes:
        return b"".join(
            path.read_bytes()
            for path in sorted(self.store.rglob("*"))
            if path.is_file()
        )


@pytest.fixture
def mara(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Life:
    for name in [name for name in os.environ if name.startswith(("OPENAI", "FILEMEM"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    life = Life(tmp_path / "store")
    life.run("init", str(tmp_path / "store"))
    return life


@pytest.mark.parametrize(
    ("told", "question", "quote", "day"),
    [
        (
            "My dad's birthday is on 5 December.",
            "When is my dad's birthday?",
            "5 December",
            "Mon 2 November 2026",
        ),
        ("我家的猫叫豆豆。", "我家的猫叫什么？", "豆豆", "2026年11月2日 周一"),
        ("我家的貓叫豆豆。", "我家的貓叫什麼？", "豆豆", "2026年11月2日 週一"),
        (
            "Dec 7 at 3pm I see the dentist.",
            "What do I have on 7 December?",
            "dentist",
            "Mon 2 November 2026",
        ),
        ("12月3号我要去上海。", "12月3号有什么安排？", "上海", "2026年11月2日 周一"),
        (
            "I like strong oolong tea best.",
            "What tea do I like best?",
            "oolong",
            "Mon 2 November 2026",
        ),
    ],
)
def test_a_question_is_answered_by_dated_quotes(
    mara: Life, told: str, question: str, quote: str, day: str
) -> None:
    """Each a list item with its day and `path:line`; three at most, and none that is noise beside the best."""
    mara.say(told)
    for other in (
        "The lighthouse was closed.",
        "Ada likes a chapter a day.",
        "今天下雨了。",
    ):
        mara.say(other)
    answer = mara.say(question, "2026-11-09")
    assert answer.startswith(
        (
            "From your memories:\n\n- mara: ",
            "在记忆里找到：\n\n- mara: ",
            "在記憶裡找到：\n\n- mara: ",
        )
    )
    assert ("記憶" in answer) == ("貓" in told), "in the script of whoever asks"
    first = answer.split("\n\n")[1]
    assert quote in first
    assert re.search(
        rf"\n  {day}, sessions/2026/2026-11-02-0930-\S+\.md:\d+\n?$", first
    )
    assert answer.count("\n- ") <= 3 and "chapter" not in answer


@pytest.mark.parametrize(
    ("told", "others", "question", "was", "now"),
    [
        (
            "记住10月3号三点见李医生。",
            ["计划赶不上变化。", "到期的计划没了。"],
            "10月3号有什么计划到期？",
            "三点",
            "四点",
        ),
        (
            "Remember: I see Dr Li by the old mill on 3 October at noon.",
            ["I plan a kite.", "Plans."],
            "What plans are due on 3 October?",
            "noon",
            "ten",
        ),
    ],
)
def test_what_is_of_the_day_asked_for_comes_first_as_it_was_edited(
    mara: Life, told: str, others: list[str], question: str, was: str, now: str
) -> None:
    """Whatever passages of other days have the other words."""
    for said in (told, *others):
        mara.say(said, "2026-09-20")
    ((path, text),) = mara.kept().items()
    (mara.home / path).write_text(text.replace(was, now))
    opening, first = mara.say(question, "2026-09-25").split("\n\n")[:2]
    assert (
        now in first
        and path in first
        and opening in ("From your memories:", "在记忆里找到：")
    )


def test_questions_and_its_own_answers_are_no_evidence_however_often_it_is_asked(
    mara: Life,
) -> None:
    """Nor an assistant's, by whatever name it was imported."""
    mara.say("My favourite tea is gyokuro.")
    imported = "---\nassistant: Claude\n---\n\n- **Claude** 09:30: Your favourite tea is rooibos.\n"
    lay(mara.home, {"sessions/2026/2026-11-01-0930-tea.md": imported})
    answers = [mara.say("Which tea is my favourite?") for _ in range(4)]
    assert len(set(answers)) == 1 and answers[0].count("\n- ") == 1
    assert not any(word in answers[0] for word in ("Which tea", "assistant", "Claude"))


@pytest.mark.parametrize(
    ("told", "asked", "on"),
    [
        ("My tea is gyokuro.", "Which tea is mine?", "And since when?"),
        ("我喝乌龙茶。", "我喝什么茶？", "从什么时候开始？"),
    ],
)
def test_only_a_question_that_names_nothing_goes_on(
    mara: Life, told: str, asked: str, on: str
) -> None:
    mara.say(told)
    for text in (on, "thanks", "谢谢", "Zebras?", "斑马呢？"):
        assert told in mara.say(asked, "2026-11-03")
        assert (told in mara.say(text, "2026-11-03", "--resume", "")) == (text == on)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("forget that my tea is gyokuro", "WORDS"),
        ("Please forget my tea.", "WORDS"),
        ("忘掉我的茶", "加"),
    ],
)
def test_who_names_what_to_forget_is_told_how(
    mara: Life, order: str, said: str
) -> None:
    mara.say("My tea is gyokuro.")
    assert (said := f"filemem forget {said}") in mara.say(order)
    answer = mara.say("Which tea is mine? 我的茶是什么茶？")
    assert "gyokuro" in answer and said not in answer and order not in answer


def test_what_was_only_said_near_the_answer_is_not_quoted_beside_it(mara: Life) -> None:
    mara.say("外婆住在厦门，今年六十三。")
    mara.say("The shed key hangs in the hall.", "2026-11-02", "--resume")
    assert mara.say("Where does the key of the shed hang?").count("\n- ") == 1
    mara.say("It rained. " * 60 + "The boat's key is under a mat. " + "I slept. " * 60)
    assert "- mara: … It rained. " in mara.say("Where is the boat's key?"), (
        "what was left out is told once"
    )


@pytest.mark.parametrize(
    ("told", "question", "line"),
    [
        (
            [],
            "What is the blood group of 外婆?",
            "I found nothing about that in your memories.\n",
        ),
        ([], "我的passport什么时候过期？", "记忆里没有找到相关内容。\n"),
        (
            [
                "I joined a reading group.",
                "I live in Ghent.",
                "The group meets on Mondays.",
                "A group of us sail.",
            ],
            "What is the group of my blood, as the hospital wrote it down?",
            "I found nothing sure about that in your memories; the nearest:\n",
        ),
        (
            ["我对芒果过敏。", "我喜欢医院旁边的公园。", "医院的食堂不错。"],
            "医院给我写的血型证明放在哪个抽屉里？",
            "记忆里没有找到确定的答案，最接近的是：\n",
        ),
        (
            [
                "The birthday of my sister Inês is on 5 December.",
                "我外婆的生日是端午节。",
            ],
            "When is Tom's birthday?",
            "I found nothing sure about that in your memories; the nearest:\n",
        ),
        (
            ["外婆的生日是端午节。"],
            "小李的生日是哪天？",
            "记忆里没有找到确定的答案，最接近的是：\n",
        ),
    ],
)
def test_unsure_it_says_so_and_names_the_two_nearest(
    mara: Life, told: list[str], question: str, line: str
) -> None:
    for text in told:
        mara.say(text)
    answer = mara.say(question)
    assert "(nearest:" not in mara.run(
        "call", "search_files", json.dumps({"query": question})
    )
    assert answer.startswith(line) and (
        answer.count("\n- ") in (1, 2) if told else answer == line
    )


@pytest.mark.parametrize(
    "text",
    ["I live in Porto.", "My doctor put me on bisoprolol.", "Hello.", "今天搬家了。"],
)
def test_what_is_only_told_is_in_the_conversation_and_no_fact(
    mara: Life, text: str
) -> None:
    """Nothing is inferred, and nothing is said to be kept but the conversation, in which it stands."""
    assert mara.say(text) in (
        "It is in today's conversation.\n",
        "已记在今天的对话里。\n",
    )
    assert (
        mara.kept() == {}
        and mara.kept("lessons") == {}
        and not (mara.home / "profile.md").exists()
    )
    assert text in "".join(mara.kept("sessions").values())


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Remember that I'm allergic to kiwis.", "I'm allergic to kiwis."),
        ("Please remember: the spare key is at Ada's", "the spare key is at Ada's"),
        (
            "Remember to water the figs on Fridays.",
            "Remember to water the figs on Fridays.",
        ),
        ("请记住我对芒果过敏。", "我对芒果过敏。"),
        ("记住：备用钥匙在小雨那里", "备用钥匙在小雨那里"),
        ("請記住我的車牌是藍色的", "我的車牌是藍色的"),
    ],
)
def test_what_it_is_asked_to_remember_becomes_a_fact_in_the_persons_words(
    mara: Life, text: str, fact: str
) -> None:
    answer = mara.say(text)
    [(path, page)] = mara.kept().items()
    assert fact in page
    kept = (
        "Kept as a fact: “{}”, {}",
        "已记为一条事实：“{}”，{}",
        "已記為一條事實：“{}”，{}",
    )
    assert answer.startswith(tuple(one.format(fact, path) for one in kept))


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember me?",
        "Remember me?",
        "I can't remember.",
        "我记住了。",
        "记住。",
    ],
)
def test_who_asks_or_tells_of_remembering_asks_for_no_fact(
    mara: Life, text: str
) -> None:
    assert "Kept" not in mara.say(text) and mara.kept() == {}


def test_a_secret_is_taken_out_of_what_is_to_be_remembered_and_that_is_said(
    mara: Life,
) -> None:
    said = mara.say("Remember that my wifi password is Tulip-42-x!")
    assert said.startswith("Kept as a fact: “my wifi password is [redacted: password]”")
    assert b"Tulip-42-x" not in mara.all_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "Off the record: I may leave the quokka.",
        "don't keep this: quokka.",
        "别记：quokka 的事",
    ],
)
def test_a_message_that_begins_so_is_in_no_file(mara: Life, text: str) -> None:
    """And the conversation goes on with what was said before and after it."""
    mara.say("I live in Ghent.")
    off = ("Off the record: nothing of this is kept.\n", "不留记录：这些话不会保存。\n")
    assert mara.say(text, "2026-11-02", "--resume") in off
    mara.say("I like rain.", "2026-11-02", "--resume")
    assert (
        mara.say("记住 quokka", "2026-11-02", "--off-the-record") == off[1]
        and b"quokka" not in mara.all_bytes()
    )
    [talk] = mara.kept("sessions").values()
    assert "I live in Ghent." in talk and "I like rain." in talk


def test_what_was_superseded_stands_below_what_holds(mara: Life) -> None:
    old, new = "facts/2026-03-01-home.md", "facts/2026-07-05-home.md"
    before = f"---\nsuperseded_by: {new}\n---\n\nMara lives in Ghent, where she lives by the canal.\n"
    lay(
        mara.home,
        {old: before, new: f"---\nsupersedes: {old}\n---\n\nMara lives in Bruges.\n"},
    )
    answer = mara.say("Where does Mara live by the canal?")
    assert answer.index("Bruges") < answer.index("Ghent")
    assert f"superseded by {new}" in answer


PASTED = [
    "What does this do?\n```python\n# I live in Oslo\nhome = 'Oslo'\n```",
    "Please shorten this mail:\n> Hi Mara, I live in Oslo now, come and visit.\n> Tom",
    "From: Tom <tom@example.org>\nTo: Mara\nSubject: home\n\nI live in Oslo these days.",
    'Please translate: "I live in Oslo, right by the sea."',
    "帮我回这封邮件：\n> 我现在住在奥斯陆，欢迎来玩。\n> 小李",
]


@pytest.mark.parametrize("text", PASTED, ids=lambda text: text.split("\n")[0][:20])
def test_what_is_pasted_is_never_what_the_person_says_of_themselves(
    mara: Life, text: str
) -> None:
    """Code, mails and quotes: no answer, no strong match; and behind what the person said, however new."""
    chinese = "奥斯陆" in text
    question = "我住在哪里？" if chinese else "Where do I live?"
    mara.say(text)
    assert "Oslo" not in mara.say(question) and "奥斯陆" not in mara.say(question)
    assert "strong match" not in mara.run(
        "call", "search_files", json.dumps({"query": question})
    )
    mara.say("我住在绍兴。" if chinese else "I live in Diss.", "2026-11-01")
    assert ("绍兴" if chinese else "Diss") in mara.say(question)
    found = mara.run("call", "search_files", json.dumps({"query": question}))
    assert found.find("奥斯陆" if chinese else "Oslo") in (
        -1,
        *range(found.index("绍兴" if chinese else "Diss"), 9999),
    )


# -- what is taken back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "Forget that.",
        "Please forget this",
        "忘了吧",
        "忘掉刚才说的",
        "請把它忘了。",
        "don't keep that",
    ],
)
def test_the_last_exchange_is_taken_back(mara: Life, words: str) -> None:
    """It is kept out of answers and tools at once, with the fact made of it; the answer says how to delete it, which works."""
    mara.say("I live in Ghent.")
    mara.say("Remember that I take zopiclone.", "2026-11-02", "--resume")
    answer = mara.say(words, "2026-11-02", "--resume")
    assert any(one in answer for one in ("not deleted yet", "还没有删除", "還沒有刪除"))
    [fact] = mara.kept()
    for question in ("Is it zopiclone?", "zopiclone?"):
        assert "I take" not in mara.say(question, "2026-11-03")
    assert "I take zopiclone" not in mara.run(
        "call", "search_files", '{"query": "zopiclone"}'
    )
    assert fact.rpartition("/")[2] not in mara.run(
        "call", "grep", '{"pattern": "zopiclone|kept as"}'
    )
    assert not re.search(
        b"take.zopiclone", (mara.home / ".filemem/said.jsonl").read_bytes()
    )
    assert "Ghent" in mara.say("Where do I live?", "2026-11-03")
    mara.say(
        words, "2026-11-02", "--resume", "2026-11-02"
    )  # again, for what was said before that
    assert "Ghent" not in mara.say("Where do I live?", "2026-11-03")
    [place] = re.findall(
        r"filemem forget (\S+)", answer
    )  # each turn, the answer to it too
    mara.run("forget", place, "--yes")
    assert b"I take zopiclone" not in mara.all_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "I always forget it.",
        "Don't forget it's my birthday.",
        "Forget it, I'll call Ada.",
    ],
)
def test_words_that_only_sound_so_take_nothing_back(mara: Life, text: str) -> None:
    assert mara.say("forget that") == "There is nothing before this to forget.\n"
    mara.say("I live in Ghent.")
    mara.say(text, "2026-11-02", "--resume")
    assert "Ghent" in mara.say("Where do I live?", "2026-11-03")
