"""The chat without a model: what the person told is found by what they mean, the newest first; a greeting gets one plain line;
what they ask to be forgotten is said no more."""

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem import Store, User
from filemem.chat.conversation import Conversation, Notice
from filemem.cli import cli
from filemem.files import pending_deletion
from filemem.files.folder import Folder
from filemem.files.transcript import Transcript
from filemem.forgetting.maintenance import maintain, restore
from filemem.models import Reply, Usage
from filemem.models.offline import OfflineModel
from filemem.remembering import consolidation

DAY = dt.datetime(2026, 11, 2, 9, 30, tzinfo=dt.UTC)
Chat = Callable[..., str]


@pytest.fixture
def mara(tmp_path: Path) -> Folder:
    return Store(tmp_path / "store").user("mara").folder


@pytest.fixture
def chat(mara: Folder) -> Chat:
    """Says messages in one conversation, `day` days after the last one's; its end makes memories; returns the last answer."""
    clock = [DAY]

    def say(*messages: str, day: int = 1) -> str:
        clock[0] += dt.timedelta(days=day)
        talk = Conversation(mara, OfflineModel(), lambda: clock[0])
        answers = [talk.say(message, lambda event: None) for message in messages]
        list(consolidation.run(mara, clock[0]))
        return answers[-1]

    return say


def first(answer: str) -> str:
    """The first passage of an answer."""
    return answer.split("\n\n")[1] if "\n\n" in answer else ""


# -- what is answered -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("My dog Rex is a beagle.", "what is my dog called?", "Rex"),
        ("My favourite tea is gyokuro.", "What is my favourite tea?", "gyokuro"),
        ("我家的猫叫豆豆。", "我的猫叫什么？", "豆豆"),
        ("Recommend a place near here, I'm allergic to shellfish.", "What can't I eat?", "shellfish"),
    ],
)
def test_the_conversation_going_on_is_memory_too(chat: Chat, told: str, question: str, answer: str) -> None:
    assert answer in first(chat(told, question))


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (["I'm allergic to kiwis.", "I repaired my bike."], "Which foods give me a bad reaction?", "kiwis"),
        (["The plumber is called Joe Tarn.", "My car is green."], "Who do I ring when the boiler breaks?", "Joe Tarn"),
        (["We live in Ghent.", "We moved to Bruges last week."], "Where do I live?", "Bruges"),
        (["My boss is called Ines.", "My aunt is called Rosa."], "Who is my manager?", "Ines"),
        (["My brother Tom is 34.", "I'm 29."], "How old is my brother?", "34"),
        (["My brother Tom is a baker.", "I'm a nurse."], "What does Tom do for a living?", "baker"),
        (["Please keep your answers short.", "I like short stories."], "How should you write to me?", "answers short"),
        (["我对芒果过敏。", "我弟弟对花生过敏。"], "有什么水果是我不能吃的？", "芒果"),
        (["我的领导叫赵敏。", "我闺蜜怀孕了。"], "我上司是谁？", "赵敏"),
        (["我闺蜜小雨怀孕了。", "我妈妈今年58岁。"], "谁要当妈妈了？", "小雨"),
        (["我们的书店就叫听松，下月开张。", "书店每周一休息。"], "我的书店叫什么？", "听松"),
        (["女儿小禾9岁，在学琴。", "小禾琴考过了，91分！", "我昨天修了自行车。"], "女儿琴考了多少分？", "91"),
        (["Nan's cake has no nuts this year, she's allergic.", "Nan rang."], "Is Nan all right with nuts?", "no nuts"),
        (["Just Kit will do, and please keep your answers short."], "What do you call me?", "Kit will do"),
        (["Recommend a place near here, I'm allergic to shellfish."], "What can't I eat?", "shellfish"),
        (["老郑是我师范的同学，大名郑国梁。", "老郑住院了，放了支架。", "老郑出院了。"], "郑国梁还在医院吗？", "出院"),
        (["Tadeo's my little brother, he's in the navy."], "What does my brother do for a living?", "navy"),
        (["我姊 Ingrid 在台中當牙醫"], "我姊是做什麼的？", "牙醫"),
        (["大夫给我换成缬沙坦了，早上一片", "阳台上种了两盆薄荷"], "我现在吃哪种药？", "缬沙坦"),
        (["They put me on bisoprolol in March."], "What medication am I on?", "bisoprolol"),
        (["turns out Ottilie is my boss"], "Who do I report to?", "Ottilie"),
        (["爸爸 drives a school van there, 65 alr."], "What does my father work as?", "school van"),
        (
            ["Abuela fell in the shower.", "My abuela's real name is Dolores."],
            "What's my grandma's full name?",
            "Dolores",
        ),
        (["Bram's still at Hill Primary, Year 4 now.", "Bram's nine today."], "How old is Bram?", "nine"),
        (["Sold the van and bought a Skoda.", "The band is loud."], "What am I driving?", "Skoda"),
        (["Ilse lives in Ghent.", "We're in at 14 Alder Crescent."], "Where am I living now?", "Alder"),
        (["The boiler cost £900.", "Northgate want me as depot manager, £38,000."], "What am I earning?", "38,000"),
        (["i moved to 14 alder rd bruges"], "my exact address pls", "alder rd"),
        (["im allergic to kiwi"], "allergies", "kiwi"),
        (
            ["got a job at tip top, im a barista", "quit tip top too tired"],
            "do i still work at the coffee shop",
            "quit",
        ),
        (["Their mum's called Petra.", "My mum's called Elsa."], "What's my mum's name?", "Elsa"),
        (["vet says miso needs a check", "ilse works nights at a bakery"], "whats ilses job", "bakery"),
        (["got a lurcher called Fig", "Fig's chip no is 98512044"], "figs chip number", "98512044"),
        (["im doing a phd in geology at Leeds", "Major works on our road till May."], "What am I studying?", "geology"),
        (["My brother Ruud is loud.", "My sister-in-law's name is Anke."], "What's my brother's wife called?", "Anke"),
        (["the doctor stopped the warfarin and put me on apixaban"], "Which blood thinner do I take?", "apixaban"),
        (["Sold the old Skoda.", "I have a wee red Fiat now, a diesel."], "What car have I now?", "Fiat"),
        (["new gig at lou's kitchen, prep cook", "lunch was good"], "where do i work", "lou's"),
        (["i got type 1 btw", "my bike is sick"], "do i have any health conditions", "type 1"),
        (["Roof man is Joop, 555-0188"], "Roof man's phone number", "555-0188"),
        (["Married to Wim, three years in May.", "The car is named Zoef."], "husband's name?", "Wim"),
        (["I'm Ada (ah-da), 33, solicitor at Bell & Quist."], "which firm am I with?", "Quist"),
        (["moms bday is 3 march", "im 31 today"], "when is my mother's birthday?", "3 march"),
        (["moms bday is 3 march", "my bday is 9 may"], "whens my bday", "9 may"),
        (["lola remedios 84, still dances every week", "we saw 20 dancers"], "how old is my grandma", "84"),
        (["nan loves a good quiz", "nan fell on the ice in town"], "What happened to my gran?", "fell"),
        (["I've pulled out of the choir.", "I've pulled a muscle in my calf."], "What did I injure?", "calf"),
        (["Mum rang.", "Dad isn't well. He's got gout, so no beer for him."], "What must my dad not eat?", "gout"),
        (["记几个生日：我妈4月2号，我弟12月9号"], "我弟弟生日哪天？", "12月9"),
        (["领养了条柯基，叫面包，两岁", "面包咬坏了沙发套，700块", "楼下的狗真吵"], "狗咬坏了什么东西？", "沙发"),
        (["领养了条柯基，叫面包，两岁", "狗粮又涨价了，一袋260"], "狗叫什么？", "面包"),
        (["米粒是我养了三年的玄凤，会吹口哨"], "我家的鸟叫什么？", "米粒"),
        (["我爸妈在泉州。", "我妈下周来厦门住三天"], "父母在哪个城市？", "泉州"),
        (["陈医生说原来的药不管用了，换成贝利尤单抗"], "我现在打的什么针？", "贝利尤"),
        (["大夫让我吃钙尔奇，一天一片", "我爸在吃止咳药"], "我在吃什么药？", "钙尔奇"),
        (["新工位在望江楼B座9层", "楼上装修，吵死了"], "公司在几楼？", "9层"),
        (["我闺蜜阿Kay是做糖画的", "我在银行上班"], "阿Kay是干什么的？", "糖画"),
        (["我老公在地铁公司上班", "孩子六岁了"], "孩子他爸做什么的？", "地铁"),
        (["记一下生日：我爸3月8号，我自己7月6号，我弟12月9号"], "我生日几号？", "7月6"),
        (["我是独生女，从小一个人玩"], "我有兄弟姐妹吗？", "独生"),
        (["新家定了，滨河西里7号院，下个月3号搬", "我家养了盆兰花"], "门牌号是多少？", "7号院"),
        (["新家定了，滨河西里7号院，下个月3号搬", "我家养了盆兰花"], "家里地址发我一下", "7号院"),
        (["叫我小北吧", "以后别叫我小北了，叫南风。"], "你该叫我什么？", "南风"),
        (["亲家母姓贺，叫贺兰芝，在绵阳", "贺兰芝有糖尿病，米饭得少盛"], "亲家母有什么病？", "糖尿病"),
    ],
)
def test_other_words_find_what_is_meant(chat: Chat, told: list[str], question: str, answer: str) -> None:
    for message in told:
        chat(message)
    assert answer in first(chat(question))


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (["Haircut at 10.15 on the 27th.", "11.30 for the haircut, same day."], "What time is my haircut?", "11.30"),
        (["Ilse next door has given up coffee.", "I take my coffee black."], "How do I take my coffee?", "black"),
        (["It's settled, Marta rang, they'll live by the lake.", "I live in Ghent."], "Where do I live?", "Ghent"),
    ],
)
def test_the_later_of_a_day_and_what_is_ones_own_stand_first(
    chat: Chat, told: list[str], question: str, answer: str
) -> None:
    for message in told:
        chat(message)
    assert answer in first(chat(question))


def test_a_message_that_only_the_one_before_explains_is_kept_with_it(chat: Chat) -> None:
    chat("记一下生日：我妈4月2号，我弟12月9号", "我自己7月6号，正好三伏天")
    assert "7月6" in first(chat("我是几月几号生的？"))


def test_the_newest_stands_above_what_it_replaced(chat: Chat) -> None:
    chat("The recital is on Saturday at six.")
    chat("The recital was moved to Sunday at five.")
    assert "Sunday" in first(chat("When is the recital?"))


def test_what_was_true_before_is_told_when_asked_for(chat: Chat) -> None:
    chat("I live in Ghent.")
    chat("I moved to Bruges.")
    assert "Ghent" in first(chat("Where did I live before?"))


@pytest.mark.parametrize(
    "question", ["What's my blood group?", "Which university did I go to?", "我的护照什么时候过期？"]
)
def test_what_was_never_told_is_not_found(chat: Chat, question: str) -> None:
    chat("I'm a nurse and I live in Ghent.", "我对芒果过敏。", "I'm in a reading group.")
    answer = chat(question)
    assert answer.startswith(("I found no", "没有很确定", "记忆里没有"))


def test_questions_requests_and_texts_to_work_on_are_no_evidence(chat: Chat) -> None:
    chat("Translate: My whale is called Bob.", "What is my whale called?")
    assert "Bob" not in chat("What is my whale called?")


def test_a_pinned_fact_stands_first(mara: Folder, chat: Chat) -> None:
    User(mara).remember("Mara parks the van in Elm Street.", today=DAY.date())
    User(mara).remember("Mara parks the van only in the yard behind the mill.", pinned=True, today=DAY.date())
    assert "yard" in first(chat("Where do I park the van?"))


def test_a_pronoun_means_whom_the_conversation_named_last(chat: Chat) -> None:
    chat("My sister Ann is 34.", "My friend Bea is 51.")
    assert "34" in first(chat("Where is my sister Ann?", "How old is she?"))
    assert chat("How old is she?") == "I cannot tell whom “she” means; name the person."
    assert chat("他几岁？") == "我不知道“他”指的是谁，请说出名字。"


def test_a_pronoun_means_nobody_of_the_other_sex(chat: Chat) -> None:
    assert "Ann" in first(chat("My sister Ann sings.", "My brother Tom bought a boat.", "When did she sing?"))
    assert chat("My brother Tom bought a boat.", "When did she call?").startswith("I cannot tell whom")


def test_how_somebody_is_is_asked_by_a_pronoun_too(chat: Chat) -> None:
    assert "broke her arm" in chat("My niece is called Lea.", "Lea broke her arm on Tuesday.", "how is she?")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what's my name?", "I'm Petra, 41"),
        ("how old am I", "I'm Petra, 41"),
        ("what do I like?", "love figs"),
        ("what don't I like?", "hate coriander"),
        ("what are my kids called?", "twins Lea and Max"),
        ("我喜欢吃什么？", "figs"),
    ],
)
def test_what_was_told_a_moment_ago_of_oneself_answers_surely(chat: Chat, question: str, answer: str) -> None:
    me = "I'm Petra, 41, and I live in Graz with my husband Karl and our twins Lea and Max."
    said = chat(me, "I hate coriander but I love figs.", question)
    assert said.startswith(("From your memories", "在记忆里找到")) and answer in first(said)


def test_what_is_known_of_me_is_also_what_i_have_just_told(chat: Chat) -> None:
    chat("I have a tortoise called Bert.")
    known = chat("I live in Ghent.", "Nice weather.", "What do you know about me?")
    assert (
        known.startswith("What I know about you:") and "Ghent" in known and "Bert" in known and "weather" not in known
    )


def test_what_is_known_of_somebody(chat: Chat) -> None:
    assert chat("What do you know about me?") == "I found nothing about that in your memories."
    chat("I'm a nurse.", "I live in Ghent.")
    known = chat("What do you know about me?")
    assert known.startswith("What I know about you:") and "nurse" in known and "Ghent" in known
    assert chat("你知道我什么？").startswith("关于你，我知道：")


# -- what is not searched for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("hi", "Hello."),
        ("thanks", "You are welcome."),
        ("thank you!! night", "You are welcome."),
        ("good night", "Goodbye."),
        ("asdf qwer", "All right."),
        ("Write me a poem about spring.", "Without a model I can only look things up in your memories."),
        ("你好", "你好。"),
        ("谢谢啦", "不客气。"),
        ("晚安", "再见。"),
        ("I visited Porto in May 2025.", "Kept: “I visited Porto in May 2025.”"),
        ("Can you remember that my car is blue?", "Kept: “Can you remember that my car is blue?”"),
        ("能不能记住我的车是蓝色的？", "记下了：“能不能记住我的车是蓝色的？”"),
    ],
)
def test_one_plain_line_and_no_quotes(chat: Chat, message: str, answer: str) -> None:
    chat("I like hiking, nights and spring.")
    assert chat(message) == answer


@pytest.mark.parametrize("message", ["His card says: call me Boss from now on.", "老板发来一条消息，以后都叫我老大。"])
def test_what_is_not_kept_is_not_said_to_be(mara: Folder, chat: Chat, message: str) -> None:
    assert chat(message) in ("All right.", "好的。") and not [path for path in mara.paths() if "lessons" in path]


def test_how_tools_fare_answers_no_question(mara: Folder, chat: Chat) -> None:
    mara.create(
        "lessons/2026/2026-01-02-tool-call.md", "---\ntool: call\n---\n\n- **call**: 9 calls, you should call me.\n"
    )
    assert "9 calls" not in chat("What should you call me?")


def test_a_month_is_told_of_by_its_days(chat: Chat) -> None:
    chat("I bought a kayak.")
    assert chat("summarise last month") == "I found nothing about that in your memories."
    assert "kayak" in chat("summarise last month", day=30)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did I do yesterday?", "rye"),
        ("What did I do last Friday?", "choir"),
        ("what happened on 2 November?", "knee"),
        ("What are my plans for tomorrow?", "tooth"),
        ("Did I do anything in September?", ""),
        ("昨天我做了什么", "rye"),
        ("明天我要做什么？", "tooth"),
        ("总结一下上周", "choir"),
    ],
)
def test_a_question_about_a_day_alone_is_answered_by_what_was_said_then_or_of_it(
    chat: Chat, question: str, answer: str
) -> None:
    """Nothing of another day stands in the answer, which is sure or that nothing was found."""
    told = {"knee": (0, "I had my knee scanned."), "job": (1, "Gus the electrician rewired the shed.")}
    told |= {
        "choir": (11, "The choir sang Fauré."),
        "rye": (15, "I baked rye bread."),
        "tooth": (16, "My tooth comes out tomorrow."),
    }
    day = 0
    for at, text in told.values():
        chat(text, day=at - day)
        day = at
    said = chat(question, day=0)
    assert said.startswith(("From your", "在记忆里找到") if answer else "I found nothing")
    assert [name for name, (_, text) in told.items() if text[:12] in said] == [answer] * bool(answer)


def test_what_one_message_found_answers_no_other(chat: Chat) -> None:
    """A few words that name a thing are looked for among the facts, not among what was found for the question before."""
    chat("My sister's birthday is on 5 December.")
    assert "birthday" not in chat("When is my sister's birthday?", "vet bill")


def test_a_pasted_text_of_any_length_is_taken(chat: Chat) -> None:
    chat("I live in Ghent.")
    assert chat("lorem ipsum dolor " * 10_000) == "All right."
    pasted = "Item: Ned and Dana agree on the harbour.\n" * 2_000
    for text in (f"Where do I live?\n{pasted}", f"{pasted}\nWhere do I live?"):
        assert "Ghent" in first(chat(text))


# -- what is to be forgotten --------------------------------------------------------------------------------------------


@pytest.fixture
def asked_to_forget(chat: Chat) -> str:
    """The answer to a request to forget what was made into a fact the day before."""
    chat("My doctor prescribed me zopiclone.", "I live in Ghent.")
    return chat("Forget what I told you about the zopiclone.")


def test_a_request_to_forget_says_what_would_go_and_how(mara: Folder, asked_to_forget: str) -> None:
    assert "and not deleted yet" in asked_to_forget
    assert 'filemem forget --about "the zopiclone"' in asked_to_forget
    [fact] = [path for path in mara.paths() if "/facts/" in path and "zopiclone" in path]
    assert fact.startswith("archive/") and mara.memory(fact).front["withheld"] is True
    assert f"- {fact.removeprefix('archive/')}" in asked_to_forget


def test_it_is_withheld_at_once_from_answers_searches_and_the_profile(
    mara: Folder, chat: Chat, asked_to_forget: str
) -> None:
    assert "zopiclone" not in mara.memory("profile.md").text
    for question in ("What medication am I on?", "What do you know about me?", "zopiclone?"):
        assert "zopiclone" not in chat(question).replace(question, "")
    assert [
        hit for hit in User(mara).search_files("zopiclone") if "zopiclone" in hit.text and "?" not in hit.text
    ] == []
    assert "Ghent" in chat("Where do I live?")
    maintain(mara, DAY + dt.timedelta(days=400), None)
    assert "zopiclone" not in "".join(path for path in mara.paths() if path.startswith("facts/"))


def test_no_tool_of_an_agent_shows_a_withheld_line_and_the_person_sees_it(mara: Folder, asked_to_forget: str) -> None:
    """`grep` and `open` say that it is kept back; the same at the shell show the files as they are."""
    tools, talks = User(mara).tools(), [path for path in mara.paths() if "zopiclone" in mara.memory(path).text]
    shown = [tools.call("grep", {"pattern": "zopiclone"}), *(tools.call("open", {"path": path}) for path in talks)]
    lines = [line for text in shown for line in text.split("\n") if line.startswith(" ")]
    assert lines and not any("zopiclone" in re.sub(r"\S+\.md", "", line) for line in lines), "but for a name of a file"
    assert sum("kept back" in text for text in shown) >= 3 and any("Ghent" in text for text in shown)
    where = ["--store", mara.store, "--user", mara.name]
    assert "prescribed me zopiclone" in CliRunner().invoke(cli, ["grep", "zopiclone", *where]).output
    assert any("prescribed me zopiclone" in CliRunner().invoke(cli, ["open", path, *where]).output for path in talks)


def test_no_summary_tells_what_is_withheld(mara: Folder, chat: Chat) -> None:
    tale = "We repaired the old harbour crane, painted the boat and sailed round the island for three windy days."
    chat(tale, "My doctor prescribed me zopiclone.", tale.replace("boat", "mast"), tale.replace("crane", "gate"))
    chat("Forget what I told you about the zopiclone.")
    maintain(mara, DAY + dt.timedelta(days=400), None)
    summaries = [mara.memory(path).text for path in mara.paths() if path.startswith("summaries/")]
    assert summaries and not any("prescribed" in text for text in summaries)


def test_what_was_told_in_the_same_conversation_is_never_made_a_fact(mara: Folder, chat: Chat) -> None:
    chat("My doctor prescribed me zopiclone.", "Forget what I told you about the zopiclone.")
    assert [path for path in mara.paths() if "facts/" in path] == []


@pytest.mark.parametrize("yes", ["yes", "好"])
def test_yes_as_the_next_message_deletes_it(mara: Folder, chat: Chat, yes: str) -> None:
    chat("My doctor prescribed me zopiclone.")
    assert chat("Forget what I told you about the zopiclone.", yes).startswith(("Deleted: ", "已删除："))
    assert all("zopiclone" not in mara.read(path).decode() + path for path in mara.paths())
    assert not any("zopiclone" in place for places in pending_deletion.read(mara).places.values() for place in places)


@pytest.mark.parametrize(
    ("told", "wish", "kept_back"),
    [
        (
            "My doctor prescribed me zopiclone.",
            "The zopiclone and the row at the Christmas party, please forget all of it.",
            "zopiclone",
        ),
        ("医生给我开了佐匹克隆。", "佐匹克隆和年会上吵架的事，都忘了吧。", "佐匹克隆"),
    ],
)
def test_a_wish_that_names_two_things_of_which_one_was_told_concerns_that_one(
    mara: Folder, chat: Chat, told: str, wish: str, kept_back: str
) -> None:
    """And the person's yes deletes what was proposed, though the wish itself stands in the conversation by then."""
    chat(told)
    assert chat(wish, "yes").startswith(("Deleted: ", "已删除："))
    assert all(kept_back not in mara.read(path).decode() + path for path in mara.paths())


def test_yes_to_anything_else_deletes_nothing(mara: Folder, chat: Chat) -> None:
    chat("My doctor prescribed me zopiclone.")
    assert chat("Forget what I told you about the zopiclone.", "I live in Ghent.", "yes") == "All right."
    assert any("zopiclone" in path for path in mara.paths())


def test_restore_brings_it_back(mara: Folder, chat: Chat, asked_to_forget: str) -> None:
    [fact] = [path for path in mara.paths() if path.startswith("archive/facts/")]
    restore(mara, [fact], DAY + dt.timedelta(days=9))
    assert "zopiclone" in first(chat("What medication am I on?"))


def test_told_again_it_is_known_again(chat: Chat, asked_to_forget: str) -> None:
    chat("My doctor prescribed me zopiclone again.")
    assert "again" in first(chat("What medication am I on?"))


def test_with_a_model_the_program_withholds_it_all_the_same(mara: Folder, chat: Chat) -> None:
    chat("My doctor prescribed me zopiclone.")
    heard: list[object] = []
    talk = Conversation(mara, Parrot(), lambda: DAY + dt.timedelta(days=5), Transcript(mara))
    assert talk.say("Forget what I told you about the zopiclone.", heard.append) == "As you wish."
    assert any(isinstance(event, Notice) and "not deleted yet" in event.text for event in heard)
    assert not any("zopiclone" in hit.text for hit in User(mara).search_files("zopiclone"))


class Parrot(OfflineModel):
    """A model that says one thing."""

    name = "parrot"

    def ask(self, messages, tools, on_text):  # type: ignore[no-untyped-def]
        on_text("As you wish.")
        return Reply("As you wish.", (), Usage(0, 0), "stop")
