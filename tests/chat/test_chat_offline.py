"""The chat without a model: every message is answered by one search, and nothing is inferred from its form."""

import os
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from programs import clean, filemem, lay
from scripted_server import ScriptedServer, fail

from filemem import FilememError, Store
from filemem.cli import cli

Kept = dict[str, str]
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


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
        """One message; the answer to it."""
        return self.run("chat", "-m", text, "--today", f"{day}T09:30", *options)

    def kept(self, kind: str = "facts") -> Kept:
        """The files of a kind, archived ones too, by their path."""
        found = sorted(self.home.glob(f"**/{kind}/**/*.md"))
        return {str(path.relative_to(self.home)): path.read_text() for path in found}

    def all_bytes(self) -> bytes:
        """What every file of the store holds."""
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


FOUND = ("From your memories:", "在记忆里找到：", "在記憶裡找到：")
NOTHING = (
    "I found nothing that holds this; your message is kept.",
    "记忆里没有找到相关内容；这句话已经保存。",
    "記憶裡沒有找到相關內容；這句話已經保存。",
)


def test_a_mended_fact_stands_before_the_chat_that_quoted_it(mara: Life) -> None:
    """Also where the question has a word that the fact lacks."""
    mara.run("remember", "Oma Hilde is 91")
    assert "91" in mara.say("how old is oma hilde")
    fact = mara.home / next(iter(mara.kept()))
    fact.write_text(fact.read_text().replace("91", "92"))
    found = mara.run("search", "how old is oma hilde")
    assert 0 < found.find("92") < found.find("how old is oma hilde")


def test_a_fact_is_still_found_once_a_chat_has_asked_for_it(mara: Life) -> None:
    """Where all that is kept has its word, which is worth little then, its length does
    not take off more."""
    mara.run("remember", "Mein Vélo heißt Fünfgang")
    mara.say("wie heisst mein velo")
    assert "6  Mein Vélo heißt Fünfgang" in mara.run("search", "velo")


@pytest.mark.parametrize(
    ("told", "asked", "quote", "day"),
    [
        (
            "My dad's birthday is on 5 December.",
            "When is my dad's birthday?",
            "5 December",
            "Mon 2 November 2026",
        ),
        ("我家的猫叫豆豆。", "我家的猫叫什么？", "豆豆", "2026年11月2日 周一"),
        ("我的柜子号码是4417。", "我的柜子号码是多少？", "4417", "2026年11月2日 周一"),
        ("我家的貓叫豆豆。", "我家的貓叫什麼？", "豆豆", "2026年11月2日 週一"),
        (
            "Dec 7 at 3pm I see the dentist.",
            "What do I have on 7 December?",
            "dentist",
            "Mon 2 November 2026",
        ),
        ("12月3号我要去上海。", "12月3号有什么安排？", "上海", "2026年11月2日 周一"),
        (
            "Forget-me-nots are my mother's flower",
            "my mother's flower",
            "Forget-me-nots",
            "Mon 2 November 2026",
        ),
        (
            "did i tell you that my sister Ida married Tom in Ghent?",
            "whom did my sister ida marry",
            "Ida married Tom",
            "Mon 2 November 2026",
        ),
        (
            "我妹妹还在根特读书呢。",
            "我妹妹在哪里读书",
            "根特",
            "2026年11月2日 周一",
        ),
        (
            "The rollback steps for prod are in deploy.md:12, ask Tom.",
            "Where are the rollback steps for prod?",
            "deploy.md:12",
            "Mon 2 November 2026",
        ),
    ],
)
def test_a_message_is_answered_by_dated_quotes_whatever_its_marks(
    mara: Life, told: str, asked: str, quote: str, day: str
) -> None:
    """Each a list item with its day and `path:line`, three at most, in the script of whoever asks."""
    mara.say(told)
    for other in ("The lighthouse was closed.", "今天下雨了。"):
        mara.say(other)
    bare = asked.rstrip("?？")
    answers = []
    for text in (bare, f"{bare}?", f"{bare}？"):
        copied = Life(mara.store.with_name(f"store-{len(answers)}"))
        shutil.copytree(mara.store, copied.store)
        answers.append(copied.say(text, "2026-11-09"))
    assert len(set(answers)) == 1
    opening, first, *_ = answers[0].split("\n\n")
    assert opening in FOUND and quote in first
    assert answers[0].count("\n- ") <= 3
    assert ("記憶" in opening) == ("貓" in told)
    assert re.search(
        rf"\n  {day}, sessions/2026/2026-11-02-0930-\S+\.md:\d+\n?$", first
    )


def test_where_a_model_fails_one_line_says_why_and_the_passages_stand_as_without_one(
    mara: Life, server: ScriptedServer
) -> None:
    """However often: that there was no answer is no passage."""
    mara.run("remember", "My dad's birthday is on 5 December.")
    server.default = fail(401, "no")
    asked = [
        "chat",
        "--new",
        "-m",
        "When is my dad's birthday?",
        "--store",
        str(mara.store),
        "--user",
        "mara",
    ]
    env = clean(**server.environment)
    for _ in range(2):
        done = filemem(*asked, env=env)
        assert done.returncode == 2, done.stderr
        assert "set a valid one" in done.stderr.splitlines()[-1]
        assert done.stdout.startswith(FOUND[0])
        assert "5 December" in done.stdout
        assert "no answer" not in done.stdout


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I live in Porto.", 0),
        ("My doctor put me on bisoprolol.", 0),
        ("Hello.", 0),
        ("https://example.org/?a=b", 0),
        ("forget it", 0),
        ("what is my blood group", 0),
        ("今天搬家了。", 1),
        ("我的passport什么时候过期？", 1),
        ("今天搬家了，還沒裝電話。", 2),
    ],
)
def test_where_nothing_holds_it_one_line_says_so_and_that_it_is_kept(
    mara: Life, text: str, line: int
) -> None:
    """Nothing is inferred: no fact, no wish, no profile."""
    assert mara.say(text) == f"{NOTHING[line]}\n"
    assert text in "".join(mara.kept("sessions").values())
    assert mara.kept() == mara.kept("lessons") == {}
    assert not (mara.home / "profile.md").exists()


def test_what_is_of_the_day_that_is_named_is_found_whatever_its_words(
    mara: Life,
) -> None:
    """As what was said on it."""
    mara.say("The tuba lost a valve.", "2026-10-05")
    mara.say("Ida rang.", "2026-10-12")
    answer = mara.say("what was going on, on 5 October?", "2026-11-03")
    assert answer.startswith(FOUND[0]) and "valve" in answer


def test_an_emoji_beside_words_need_stand_in_no_memory(mara: Life) -> None:
    """But one that is all of a question is what is asked for."""
    mara.say("My dog is called Biscuit 🥐.")
    for asked in ("what is my dog called 🤔", "🥐"):
        assert mara.say(asked).startswith(f"{FOUND[0]}\n\n- mara: My dog is called")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        (
            "Which blood group did the hospital write down for me?",
            "I found no strong match; the nearest:\n\n"
            "- mara: The group meets on Mondays.\n",
        ),
        (
            "外婆的血型医院写的是什么？",
            "没有找到含有全部词语的记忆；最接近的：\n\n- mara: 外婆的生日是端午节。\n",
        ),
    ],
)
def test_what_holds_too_little_stands_under_the_nearest(
    mara: Life, asked: str, nearest: str
) -> None:
    """No line above what may be the answer says that there is none."""
    for text in ("The group meets on Mondays.", "外婆的生日是端午节。"):
        mara.say(text)
    assert mara.say(asked).startswith(nearest)


@pytest.mark.parametrize(
    ("asked", "again", "opening"),
    [
        ("where is my locker?", "Which locker is mine", "I found little more than"),
        ("我的柜子在哪里", "我的柜子在哪里？", "找到的几乎只是同样的话；"),
    ],
)
def test_who_asked_it_before_told_no_answer(
    mara: Life, asked: str, again: str, opening: str
) -> None:
    """What has only the words of the message is quoted, but as nothing found."""
    mara.say(asked, "2026-10-20")
    answer = mara.say(again, "2026-10-21")
    assert answer.startswith(opening) and asked in answer
    mara.say("My locker 柜子 is the blue one by the stairs.", "2026-10-22")
    answer = mara.say(again, "2026-10-23")
    assert answer.startswith(FOUND) and answer.index("blue") < answer.index(asked)


def test_what_an_answer_quotes_says_little_of_the_message_that_it_answers(
    mara: Life,
) -> None:
    """The words of the quote stand in another memory."""
    mara.say("We live by the canal, in a rented terrace.", "2026-09-01")
    assert "rented" in mara.say("Booked the canal boat, June!", "2026-09-20")
    mara.say("Moved yesterday, Quarry Place is officially home", "2026-10-01")
    answer = mara.say("where do we live", "2026-11-02")
    above, home, _ = answer.partition("Quarry")
    assert home and "boat" not in above


def test_what_holds_the_question_hides_nothing_that_is_near(mara: Life) -> None:
    """A question of before shares more words than the answer does."""
    mara.say("Our orange tabby is Pumpkin.", "2026-10-01")
    mara.say("What is the name of my husband?", "2026-10-20")
    answer = mara.say("What is the name of our tabby?", "2026-10-21")
    assert "of my husband?" in answer
    assert "Pumpkin" in answer


def test_three_passages_at_most_are_quoted(mara: Life) -> None:
    """However many hold it."""
    for what in ("tag", "door", "lamp", "lid"):
        mara.say(f"The {what} of the tuba case is red.")
    assert mara.say("the tuba case is red?", "2026-11-04").count("is red") == 3


def test_what_comes_next_month_is_answered_by_plans(mara: Life) -> None:
    mara.say("記住：2026年12月7日下午三點看牙醫。")
    found = mara.say("下个月有什么事", "2026-11-20").partition("\n\n")
    assert found[0] == "在记忆里找到：" and "看牙醫" in found[2]


def test_a_message_is_not_its_own_answer_and_no_answer_is_quoted_beside_what_it_quotes(
    mara: Life,
) -> None:
    mara.say("My favourite tea is gyokuro.")
    for _ in range(3):
        answer = mara.say("Which tea is my favourite?", "2026-11-03")
        assert answer.count("gyokuro") == 1 and "assistant" not in answer


@pytest.mark.parametrize("question", ["What is on next week?", "下周有什么安排？"])
def test_what_is_planned_is_told_in_its_order_however_often_one_asks(
    mara: Life, question: str
) -> None:
    mara.run("remember", "The dentist is on 12 November.", "--today", "2026-11-01")
    mara.run("remember", "11月10日和李雷吃饭。", "--today", "2026-11-01")
    for day in ("2026-11-03", "2026-11-04", "2026-11-05"):
        said = mara.say(question, day)
        assert said.startswith(FOUND)
        assert said.index("李雷") < said.index("dentist")


def test_of_what_holds_it_equally_the_newest_is_first(mara: Life) -> None:
    """A person may have changed their mind."""
    mara.say("My locker code at the pool is on the blue tag.", "2026-09-01")
    mara.say("My locker code at the pool is on the red tag.", "2026-10-01")
    answer = mara.say("where is my locker code at the pool", "2026-11-02")
    assert answer.index("red tag") < answer.index("blue tag")


def test_a_fact_stands_for_the_turn_that_it_rests_on(mara: Life) -> None:
    """It is the file that one would edit; and as it was edited it is quoted."""
    mara.say("Remember: I see Dr Li by the old mill on 3 October at noon.")
    ((path, text),) = mara.kept().items()
    (mara.home / path).write_text(text.replace("noon", "ten"))
    answer = mara.say("When do I see Dr Li by the old mill?", "2026-11-03")
    assert path in answer and "at ten" in answer and "noon" not in answer


def test_what_was_superseded_stands_below_what_replaced_it(mara: Life) -> None:
    old, new = "facts/2026-03-01-home.md", "facts/2026-07-05-home.md"
    before = f"---\nsuperseded_by: {new}\n---\n\nMara lives in Ghent, where she lives by the canal.\n"
    lay(
        mara.home,
        {old: before, new: f"---\nsupersedes: {old}\n---\n\nMara lives in Bruges.\n"},
    )
    answer = mara.say("Where does Mara live by the canal?")
    assert answer.startswith(FOUND[0])
    assert answer.index("Bruges") < answer.index("Ghent")
    assert f"superseded by {new}" in answer


# -- what it is asked to remember ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Remember that I'm allergic to kiwis.", "I'm allergic to kiwis."),
        ("remember: the spare key is at Ada's", "the spare key is at Ada's"),
        (
            "Remember that my sister's wedding is on 5 May, okay?",
            "my sister's wedding is on 5 May, okay?",
        ),
        ("请记住我对芒果过敏。", "我对芒果过敏。"),
        ("记住：备用钥匙在小雨那里", "备用钥匙在小雨那里"),
        ("請記住我的車牌是藍色的", "我的車牌是藍色的"),
    ],
)
def test_what_begins_so_becomes_a_fact_in_the_persons_words(
    mara: Life, text: str, fact: str
) -> None:
    answer = mara.say(text)
    [(path, page)] = mara.kept().items()
    assert fact in page
    kept = (
        "Kept as a fact: “{}”, {}\n",
        "已记为一条事实：“{}”，{}\n",
        "已記為一條事實：“{}”，{}\n",
    )
    assert answer in [one.format(fact, path) for one in kept]


def test_what_is_asked_in_such_a_message_is_answered_too(mara: Life) -> None:
    mara.say("The restaurant by the lighthouse is called Farol.")
    answer = mara.say("Remember that restaurant by the lighthouse?", "2026-11-03")
    assert answer.startswith("Kept as a fact: “restaurant by the lighthouse?”, facts/")
    assert "From your memories:\n\n- mara: The restaurant by the lighthouse" in answer


def test_what_a_person_says_in_the_words_of_an_answer_is_found(mara: Life) -> None:
    """Only what the chat itself said of the memory is quoted to nobody."""
    mara.say("From your memories: my sister Ida lives in Ghent.")
    assert "lives in Ghent" in mara.say("Where does my sister Ida live?", "2026-11-03")


def test_a_secret_is_taken_out_of_what_is_to_be_remembered_and_that_is_said(
    mara: Life,
) -> None:
    said = mara.say("Remember that my wifi password is Tulip-42-x!")
    assert said.startswith("Kept as a fact: “my wifi password is [redacted: password]”")
    assert b"Tulip-42-x" not in mara.all_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ("remember", TOKEN),
        ("chat", "-m", f"/remember {TOKEN}"),
        ("chat", "-m", f"remember that {TOKEN}"),
    ],
)
def test_what_is_only_a_secret_is_not_kept_and_that_is_said(
    mara: Life, words: tuple[str, ...]
) -> None:
    """With how to keep it."""
    where = ("--store", str(mara.store), "--user", "mara")
    done = CliRunner().invoke(cli, [*words, *where])
    told = done.output + str(done.exception)
    assert "that is only a secret (token), so it was not kept" in told
    assert "--with-secrets" in told and mara.kept() == {}
    with pytest.raises(FilememError, match="only a secret"):
        Store(mara.store).user("mara").remember_all([TOKEN])
    assert TOKEN.encode() not in mara.all_bytes()


# -- off the record, and what is deleted -----------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Don't keep this, throw it out, is what mum said of the sofa.",
        "别记，老板说这个月不加班",
        "Off the record: I may leave.",
        "Forget that.",
    ],
)
def test_no_wording_keeps_a_message_out_of_its_transcript_or_hides_another(
    mara: Life, text: str
) -> None:
    mara.say("I live in Ghent.")
    mara.say(text, "2026-11-02", "--resume", "")
    [talk] = mara.kept("sessions").values()
    assert text in talk
    assert "I live in Ghent." in mara.say("do i live in ghent", "2026-11-03")


def test_off_keeps_nothing_of_one_message(mara: Life) -> None:
    """And the conversation goes on with what was said before and after it."""
    mara.say("I live in Ghent.")
    kept = mara.say("/off I may leave the quokka.", "2026-11-02", "--resume", "")
    assert kept == "I found nothing that holds this; nothing of this is kept.\n"
    mara.say("I like rain.", "2026-11-02", "--resume", "")
    told = mara.say("记住 quokka", "2026-11-02", "--off-the-record")
    assert told == "不留记录，所以没有记为事实。\n"
    assert b"quokka" not in mara.all_bytes() and mara.kept() == {}
    [talk] = mara.kept("sessions").values()
    assert "I live in Ghent." in talk and "I like rain." in talk
