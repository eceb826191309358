"""What of a turn is worth keeping: whole sentences as they were written, each with its kind, whose it is, what it states.

Questions, requests, what is supposed, reported, quoted, pasted, private or taken back is no statement. English and Chinese.
"""

import datetime as dt
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.text.statements import TurnReading, Utterance, read_turn, relations
from filemem.text.statements.sentences import LONGEST, own_sentences, sentences

DAY = dt.date(2026, 3, 10)  # a Tuesday


def hear(text: str, *, to_assistant: bool = True) -> TurnReading:
    return read_turn(Utterance("Mara", text), DAY, to_assistant=to_assistant)


def kept(text: str, *, to_assistant: bool = True) -> list[str]:
    return [one.text for one in hear(text, to_assistant=to_assistant).statements]


ROLES = {
    "telling": """
        换我来开车了，老公腰不好
        I live above the bakery in Hill Street.
        What a day, I got the job at Fenwick's!
        When I was six we lived in Malta.
        Nobody could tell me why, but I'm allergic to latex.
        我住在杭州西湖区。
        我什么海鲜都不能吃。
        我哪儿都没去，就在家陪我妈。
        说错了，考试是周二不是周一
        想来想去我还是喜欢小城
        忘了提，糖糖是我们家的兔子
        表妹的兔子叫元宝，见人就躲，主要是怕狗
        装修款退了，三万六，祝他们早日关门
        奶奶端午来杭州住一阵，说是帮我带孩子，其实是想逛西湖
        我喝不了牛奶，喝完肚子疼，所以别给我推荐奶茶
        我姐问我买什么车，我说买电动的
        聚餐又改到周六了，谁迟到谁请客
        我今天什么都赶上了：早上不知道谁把门锁了，后来来了个锁匠，姓陶，人不错，收了八十
        医生看完片子第一句话是：“你几岁了？”
        他不是我哥，是我表哥。""",
    "question": """
        有什么 low sugar 的甜品 idea
        Where did I put the spare key?
        what time is my train on friday
        wheres my passport
        is Tom still coming
        do you remember my sister's name
        and how old is my nephew now
        Any tips for a sore knee
        I wonder what I did with the receipt.
        我的护照在哪里
        我明天几点的火车
        我晚上吃啥
        我说过我的生日没
        我姐姐的孩子叫什么来着
        你记得我喜欢什么茶吗
        我是不是说过要去北京
        我的车还在修不
        新房子的钥匙他给没给
        这个脚本哪里不对：
        我早上喝豆浆还是牛奶
        小外甥是男是女
        看完《雪线》，里面姐姐藏信那段真好，你说她知不知道""",
    "request": """
        Write a short poem about my cat Miso.
        Find me a recipe without nuts
        Tell me about my week.
        remind me to call Ben
        I need help with my CV.
        Plan a week of dinners for us.
        帮我写一封辞职信。
        推荐几本科幻小说
        给我讲个笑话吧
        来首打油诗听听
        translate to English: 我昨天在河边摔了一跤
        write a toast for me, 假装我是一个退休的船长
        麻烦查一下我上个月的安排
        提醒我明天交房租
        你能帮我想个名字吗，谢谢
        用林黛玉的语气帮我给房东回条短信
        牙医的电话发我一下""",
    "instruction": """
        Please answer in one paragraph from now on.
        Call me Fitz.
        Always give temperatures in Celsius.
        No bullet points, please.
        I prefer short answers.
        ground rules: no bullet points, and don't start with a compliment
        my eyes are bad, keep your answers short
        我耳朵背，回话句子短点，别带英文。
        以后回答简短一点。
        回答的时候分点列，一点一行
        你别老说“亲爱的”
        别跟我拽词，说大白话
        叫我阿静就行。
        别用表情符号。
        请用中文回答我。""",
    "remember": """
        帮我记生日：小雨3月1号，老周5月6号
        这几个日子都给我记好了：小雨3月1号领证，老周5月6号手术。
        Remember that my locker is number 48.
        Don't forget I'm off on Wednesdays.
        note to self: the boiler was serviced in May
        请记住我的车位是B12。
        别忘了我不吃香菜。
        我的门牌号是18号，记一下。
        能不能记住我周三不上班？""",
    "forget": """
        Deposit 那件事你 forget 掉吧
        Forget that I told you about Priya.
        please delete everything about my divorce
        Can you forget what I said about the loan?
        forget the lawyer stuff i told you
        the loan, please forget it, i'd rather not have it anywhere
        上回的贷款跟那家银行, please forget it
        前头我讲的贷款那事，你忘了它，别留着
        忘掉我刚才说的话。
        请把我的地址删掉。
        能不能忘了我前男友的事
        之前说跟我姐吵架的事别记了，我们没事了
        刚说想把店盘出去那个，忘了吧，气头上的话""",
    "private": """
        Don't write this down, but I'm seeing a lawyer.
        Off the record, I can't stand my brother-in-law.
        这个别记，我打算离职。
        下面的话不用保存。""",
    "unreal": """
        换我我也摔门
        If I won the lottery I'd buy a boat in Split.
        I wish I had a sister.
        Imagine we lived on Mars.
        at this rate we'll get the roof done in 2070
        Next I'm selling my kidney to pay the vet.
        She wants me at choir, I'd sooner sing in a well.
        some days i could throttle that printer
        I'd move to Kyoto if I could.
        要是我有一百万就搬去大理。
        如果我会弹琴就好了。
        假如我是医生，我就住在海边。""",
    "report": """
        小李说，他住在广州。
        她妈妈说：我住在北京，在银行工作""",
    "taken back": """
        Just kidding!
        only joking, I don't have a yacht
        开玩笑的啦。
        逗你玩的。""",
}  # fmt: skip
SAYING = [(role, text.strip()) for role, rows in ROLES.items() for text in rows.strip().split("\n")]


@pytest.mark.parametrize(("role", "text"), SAYING, ids=[text for _, text in SAYING])
def test_what_a_sentence_does(role: str, text: str) -> None:
    """And only what is told, asked to be remembered or says how to be talked to is a statement."""
    [*_, last] = sentences(text)
    assert last.role == role
    if role not in ("telling", "instruction", "remember"):
        assert kept(text) == []
    elif role != "telling":
        assert kept(text) == [text.removesuffix("，记一下。")]  # what it asks for is no part of the fact


KINDS = {
    ("identity", 8, "who"): "My name is Odile Marchetti.|I was born in Cork in 1988.|My birthday is on 3 July.|"
    "我叫林小满。|我老家在绍兴。|我的生日是七月三日。",
    ("health", 9, "health"): "I'm allergic to penicillin.|im allergic to walnuts, i carry an epipen|"
    "I was diagnosed with type 1 diabetes.|I can't eat shellfish.|我对花生过敏。|我有高血压，每天吃药。|我不能喝牛奶。",
    ("diet", 8, "health"): "I'm vegan these days.|We don't eat pork.|我现在吃素。",
    ("home", 8, "home"): "We moved to Leith.|My new address is 7 Mill Road.|I live with my cat in Turin.|"
    "我搬到成都了。|我家地址是中山路三号。",
    ("family", 8, "family"): "My mum lives in Leeds.|My sister Ines lives in Oslo.|Our son is called Teo.|"
    "My dad's a retired sailor.|我妈妈住在苏州。|我弟弟今年二十岁。|我老公叫陈默。",
    ("health", 9, "family"): "My sister Ines is allergic to cats.|我妈有高血压。",
    ("work", 6, "work"): "I work as a vet.|I started at Calder & Sons.|我在银行上班。|"
    "我是小学老师。|我下个月退休。",
    ("plan", 6, ""): "I've got tickets for the opera on 3 May.|My dentist appointment is on Friday.|"
    "I'm running the marathon on 12 October.|We're flying out on 4 June, I booked it.|我订了四月二十号去昆明的机票。|"
    "我打算周末去看展。",
    ("preference", 4, "likes"): "My favourite tea is gyokuro.|I can't stand coriander.|I love the sea in winter.|"
    "我最喜欢的茶是普洱。|我讨厌下雨天。",
    ("possession", 4, ""): "I bought a van in 2019, a blue one.|我养了一只叫团子的猫。",
    ("people", 4, ""): "My neighbour Otto is a carpenter.|Alice moved to Hamburg.|我朋友阿青今年当爸爸了，五月生的。",
    ("routine", 4, ""): "I swim every Thursday.|I'm learning the accordion.|我每天早上六点跑步。|我周三晚上有瑜伽课。",
    ("event", 4, ""): "I finished the Lake District walk in 3 days.|We visited Gdansk.|我去了三次敦煌。",
}  # fmt: skip
OF_A_KIND = [(*kind, text) for kind, rows in KINDS.items() for text in rows.split("|")]


@pytest.mark.parametrize(("kind", "importance", "heading", "text"), OF_A_KIND, ids=[row[3] for row in OF_A_KIND])
def test_what_is_kept_has_a_kind_that_says_how_much_it_matters(
    kind: str, importance: int, heading: str, text: str
) -> None:
    [one] = hear(text).statements
    assert one.text == text
    assert (*one.kind,) == (kind, importance, heading)


NOTHING = """
    hi|thanks|asdf qwer|Good morning to you.|That's so kind of you!|You're right.|Sounds great.|haha that's brilliant
    Your garden looks lovely.|I see.|OK.|I'm tired.|I think so.|It was fun.|She said it was too cold.
    I've been a pirate since breakfast, lol|We had so much fun!
    Tom texted: "I moved to Dublin and work at the harbour now."
    "I was born in a house with the television always on," is how it starts.
    Translate: I live in Berlin and work as a baker.
    Translate this into French: "I'm allergic to nuts and I live in Nice."
    Please proofread this. I work at the museum and live in Bath.
    > I live in Bergen.
    - I live in Bergen.
    From: Ann Lee
    My password is [redacted: password].
    你好|谢谢|好的，明白了。|太棒了！|你真好。|哈哈哈|嗯嗯|今天天气不错。|我觉得也是。
    小王说："我搬到深圳了，现在在腾讯上班。"
    请帮我写一封信：我叫王伟，我住在北京。
    翻译一下：我对花生过敏。
    把这句话翻译成英文：我住在上海，我在银行上班。
    祝我生日快乐！|我中了一百万，哈哈哈哈
"""
UNKEPT = [text.strip() for row in NOTHING.strip().split("\n") for text in row.split("|")]


@pytest.mark.parametrize(
    "text",
    [
        "从去年起我学钢琴",
        "我从三月起弹钢琴。",
        "从前年起我教法语。",
        "去年以来我学法语。",
        "I learn the piano since last year.",
    ],
)
def test_what_is_so_since_a_day_is_kept_though_it_would_not_be_without_one(text: str) -> None:
    assert kept(text) == [text]


@pytest.mark.parametrize("text", ["我学钢琴。", "从床上起来了。", "从头再来。", "I learn the piano."])
def test_without_a_day_it_is_not(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The boiler's serial number is KX-4471, i can never remember it",
        "Sorrel's on bisoprolol now.",
        "老贺出院了，嗓门还是那么大",
        "秀兰膝盖不好，得找平地走。",
        "tea gives me heartburn so im off it",
        "review is on the 9th of may",
        "ines works nights at a bakery so the flat's mine lol",
        "daddy landed ystrday",
        "we rent a place off mill lane with my housemate",
        "also im class treasurer now apparently",
        "im a bookbinder",
        "declared a minor in data science",
        "Pls don't sugarcoat things with me",
        "Two sons. Ruud's a trucker out of Ghent",
        "I'd be grateful if you'd use plain words",
        "talk normal dont be all professional",
        "cant do wasp stings, swell up like a balloon",
        "Odo moved to Ghent, and Ilse actually did it",
    ],
)
def test_what_a_clause_beside_leaves_open_hides_nothing(text: str) -> None:
    """That one forgets a number asks for nothing; a name of a medicine, a body's part or a hospital tells of health."""
    assert kept(text) == [text]


@pytest.mark.parametrize("text", UNKEPT)
def test_what_is_no_news_of_the_speaker_is_not_kept(text: str) -> None:
    """Courtesy, moods, jokes, the words of others, texts to be worked on, secrets."""
    assert kept(text) == []


def test_a_long_pasted_text_and_a_forwarded_mail_are_nobodys_talk() -> None:
    assert kept("\n".join(f"I live in house {number} and work as a nurse." for number in range(20))) == []
    assert kept("From: ann@example.org\nSubject: news\n\nI moved to Bruges and I'm allergic to nuts.") == []
    assert kept("看看这个：\n> 我住在深圳。\n> 我对花生过敏。") == []


RELATIONS = """
    My name is Odile Marchetti. | name: Odile Marchetti
    Call me Fitz. | nickname: Fitz
    I'm 41. | age: 41
    I just turned thirty-two! | age: thirty-two
    My birthday is on 3 July. | birthday: 3 July
    I live in Turin now. | home: Turin
    We've moved to Leith. | home: Leith
    My new address is 7 Mill Road. | home: 7 Mill Road
    I work at Calder & Sons. | employer: Calder & Sons
    I started at Fenwick last week. | employer: Fenwick
    I'm a vet. | job: vet
    I got a new job as a tram driver. | job: tram driver
    I've retired. | job:
    My boss is called Ruth. | boss: Ruth
    I'm married to Joao. | partner: Joao
    We broke up. | partner:
    I got divorced. | marital status: divorced
    I'm vegan now. | diet: vegan
    My new number is 0770 900 123. | phone: 0770 900 123
    My favourite tea is gyokuro. | favourite tea: gyokuro
    Gyokuro is my favourite tea. | favourite tea: Gyokuro
    I've switched to coffee. | drink: coffee
    Back on tea now. | drink: tea
    My sister's birthday is 9 June. | sister's birthday: 9 June
    Our dog is called Bo. | dog's name: Bo
    我叫林小满。 | name: 林小满
    叫我阿静就行。 | nickname: 阿静
    我今年三十二岁。 | age: 三十二
    我的生日是七月三日。 | birthday: 七月三日
    我住在杭州。 | home: 杭州
    我搬到成都了。 | home: 成都
    我在中国银行上班。 | employer: 中国银行
    我是小学老师。 | job: 小学老师
    我退休了。 | job:
    我们组长叫吴峰。 | boss: 吴峰
    我老公叫陈默。 | partner: 陈默
    我离婚了。 | marital status: 离婚
    我现在吃素。 | diet: 吃素
    我的新手机号是13900001111。 | phone: 13900001111
    我最喜欢的茶是普洱。 | favourite 茶: 普洱
    我改喝咖啡了。 | drink: 咖啡
    我妹妹的生日是六月九日。 | 妹妹's birthday: 六月九日
    我家的狗叫豆豆。 | 狗's name: 豆豆
    My sister lives in Oslo. |
    My mum moved to Leeds. |
    My exam was moved to 3 June. |
    Tom got a job at Fenwick. |
    Ines just got engaged to Tom. |
    My sister and her boyfriend broke up. |
    I work with children. |
    I work for myself. |
    I'm at Tate Modern with Jo. |
    Alice moved to Hamburg. |
    We moved the wedding to 19 September. |
    I moved the sofa to the window. |
    I like tea. |
    我妈妈住在苏州。 |
    小王搬到深圳了。 |
    我妈搬到深圳了。 |
    小王入职了腾讯。 |
    她男朋友叫李雷。 |
    他老板叫王强。 |
    我爸退休了。 |
    我妈改喝茶了。 |
    我朋友的狗叫豆豆。 |
    我叫了外卖。 |
    别叫我老王。 |
    考试改到六月三号了。 |
    我在超市买了茶。 |
"""
STATES = [tuple(part.strip() for part in row.split(" |")) for row in RELATIONS.strip().split("\n")]


@pytest.mark.parametrize(("text", "stated"), STATES, ids=[row[0] for row in STATES])
def test_the_relations_that_a_sentence_states_of_its_speaker(text: str, stated: str) -> None:
    """Of nobody else. No value: it ends what was so before."""
    found = [f"{one.relation}: {one.value}".strip() for one in relations.relation_values(text)]
    assert stated in found if stated else found == []


GROUPS = {
    # A sentence that leans on the one before it is quoted with it; courtesy around it is not.
    "My sister Ines lives in Oslo. She is allergic to cats.": [
        "My sister Ines lives in Oslo. She is allergic to cats."
    ],
    "Thanks so much! I live in Bath. What about you?": ["I live in Bath."],
    "I live in Bath. I'm allergic to latex.": ["I live in Bath.", "I'm allergic to latex."],
    "hey! i live in bath. nice to meet you": ["i live in bath."],
    "It is on Friday, they said.": [],
    "He is allergic to nuts.": [],
    "so i met someone. her name's Petra, she paints signs": ["so i met someone. her name's Petra, she paints signs"],
    # A clause of one's own behind it needs nothing before.
    "They lost a form, so my scan is on 4 May now.": ["They lost a form, so my scan is on 4 May now."],
    # A short list under a heading of one's own is told as a whole; under any other it is somebody's text.
    "my neighbours\n- upstairs Olga, 70\n- left side Ben, drummer": [
        "my neighbours - upstairs Olga, 70 - left side Ben, drummer"
    ],
    "Shopping:\n- eggs, 12\n- lamp oil": [],
    "my rules\n- always answer in rhyme\n- call me Captain": [],
    "I'm seeing Dr. Bell on Friday, 9 a.m. sharp.": ["I'm seeing Dr. Bell on Friday, 9 a.m. sharp."],
    "我住在杭州！你呢？": ["我住在杭州！"],
    "我妹妹住在青岛。她对猫过敏。": ["我妹妹住在青岛。她对猫过敏。"],
    "谢谢你。我对花生过敏。": ["我对花生过敏。"],
    "他对花生过敏。": [],
    # Who takes back what they said takes back what stands before it in the turn.
    "I'm a trapeze artist. Just kidding! I'm a teacher.": ["I'm a teacher."],
    "我是宇航员。开玩笑的。我是老师。": ["我是老师。"],
    # What is asked of an assistant beside what is told.
    "I live in Bath. Can you write me a poem?": ["I live in Bath."],
    "我对虾过敏，帮我推荐几道菜": [],
}


@pytest.mark.parametrize(("text", "expected"), GROUPS.items(), ids=list(GROUPS))
def test_which_sentences_of_a_turn_stand_together(text: str, expected: list[str]) -> None:
    assert kept(text) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Recommend a curry place near the office, I'm vegan", ["I'm vegan"]),
        ("help me pack, I'm allergic to wool", ["I'm allergic to wool"]),
        ("推荐个餐厅吧，我对花生过敏", ["我对花生过敏"]),
        ("Write me a poem, I'm a vegetarian vampire", []),
        ("Pretend to be a chef, I'm your pupil and I live in Rome", []),
        ("给我讲个故事，我是国王", []),
        ("帮我看看这句英文，我对花生过敏怎么说", []),
    ],
)
def test_of_a_request_what_its_speaker_says_of_themselves_is_kept_alone(text: str, kept: list[str]) -> None:
    said = read_turn(Utterance("Mara", text), DAY, to_assistant=True)
    assert [one.text for one in said.statements] == kept


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Can you forget what I told you about Priya?", "Priya"),
        ("Delete what I said about the loan. I live in Bath.", "the loan"),
        ("forget where I keep the spare key", "the spare key"),
        ("forget where the ladder is", "the ladder"),
        ("hey forget what i said about the row w priya", "the row with priya"),
        ("忘掉我护照放在蓝色抽屉里。", "我护照放在蓝色抽屉里"),
        ("请把我跟你说过的关于前男友的事忘掉", "前男友"),
        ("What I said about Gil and Ros, forget that please, it's not mine to tell", "Gil and Ros"),
        ("what i told u abt ben's debt, pls delete", "ben's debt"),
        ("forget the stuff i said about ruud fr", "ruud"),
        ("pls delete everything abt ruud i never want to think of him", "ruud"),
        ("之前跟你说的表哥那钱的事，忘了吧，别留着", "表哥"),
        ("Deposit 吵架那件事你 forget 掉吧，please don't keep it", "Deposit 吵架"),
        ("表哥借钱那事你给我忘了吧，别留着。", "表哥借钱"),
    ],
)
def test_a_request_to_forget_names_what_and_nothing_of_its_turn_is_kept(text: str, about: str) -> None:
    assert hear(text) == TurnReading([], [about], False)


def test_whoever_talks_to_a_person_asks_no_assistant() -> None:
    """So a request to forget is theirs, and how to answer is no lesson."""
    assert hear("Forget that I told you about Priya.", to_assistant=False).forget == []
    assert kept("Always answer in Celsius.", to_assistant=False) == []
    assert kept("Don't forget I'm allergic to nuts.", to_assistant=False) == ["Don't forget I'm allergic to nuts."]
    assert kept("Don't forget your umbrella.", to_assistant=False) == []


def test_what_is_asked_to_be_remembered_weighs_at_least_eight() -> None:
    for text, weight in [
        ("Remember that my locker is number 48.", 8),
        ("不要忘了我对花生过敏。", 9),
        ("能不能记住我的车是蓝色的？", 8),
    ]:
        [one] = hear(text).statements
        assert (one.text, one.kind.importance, one.asked) == (text, weight, True)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("We moved the wedding to 19 September.", True),
        ("My exam was postponed to May.", True),
        ("The trip to Wales is cancelled.", True),
        ("I no longer work on Mondays.", True),
        ("Sorry, I meant I live in Bath.", True),
        ("我的考试改到六月三号了。", True),
        ("我不去北京了，取消了。", True),
        ("说错了，我住在苏州。", True),
        ("Alice moved to Hamburg.", False),
        ("I live in Bath.", False),
        ("My wedding is on 12 September.", False),
        ("我住在苏州。", False),
        ("我去北京开会，周五回来。", False),
    ],
)
def test_what_takes_back_moves_or_ends_something_is_marked(text: str, changes: bool) -> None:
    assert [bool(one.changes) for one in hear(text).statements] == [changes]


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("I booked a flight to Oslo for 20 April.", dt.date(2026, 4, 20)),
        ("My interview is on 2 June 2027.", dt.date(2027, 6, 2)),
        ("My dentist appointment is tomorrow.", dt.date(2026, 3, 11)),
        ("I'm going to Wales one day next year.", None),
        ("My interview was on 2 February.", None),
        ("我订了4月20日去昆明的机票。", dt.date(2026, 4, 20)),
    ],
)
def test_a_plan_has_the_day_that_its_words_settle(text: str, when: dt.date | None) -> None:
    assert [one.when for one in hear(text).statements] == [when]


TALK = st.lists(
    st.sampled_from([
        "I live in Bath.", "She is allergic to cats.", "my dog rex is a beagle", "What time is it?", "Just kidding!",
        "Call me Fitz.", "Thanks!", "我住在杭州。", "她对猫过敏。", "你呢？", "记住我的车是蓝色的。", "以后回答简短一点。",
        "We moved it to 3 June.", "“hm”", "😀", "\n", "> I live in Rome.", "- I live in Rome", "Dr. Bell, 9 a.m.",
    ])
).map(" ".join)  # fmt: skip
ANY = st.one_of(
    TALK, st.text(max_size=300), st.lists(st.sampled_from([*"我住在I'm a.。?？!\"“”「」'\n :,，"])).map("".join)
)


@given(ANY, st.booleans())
def test_a_statement_is_made_of_whole_sentences_that_stand_letter_by_letter_in_the_turn(
    text: str, to_assistant: bool
) -> None:
    """And no text makes it fail."""
    whole = {part.text for part in own_sentences(text)}
    for one in hear(text, to_assistant=to_assistant).statements:
        rest = one.text
        while rest:
            part = next(part for part in sorted(whole, key=len, reverse=True) if rest.startswith(part))
            assert part in text
            rest = rest[len(part) :].lstrip()


@given(st.sampled_from([text for _, _, _, text in OF_A_KIND]))
def test_with_a_question_mark_in_its_end_the_same_words_are_not_kept(text: str) -> None:
    asked = re.sub(r"[.。!！]*$", "", text) + "?"
    assert kept(asked) == []


@pytest.mark.parametrize(
    "piece", ["I moved to ", "我住在", "my sister's ", '"', "a.", "? ", "If if ", " ", "。", "Aa " * 9]
)
def test_a_text_of_any_length_is_read_in_a_moment(piece: str) -> None:
    begun = time.process_time()
    hear(piece * (100_000 // len(piece)))
    assert time.process_time() - begun < 1


def test_of_a_long_text_only_the_beginning_is_read_for_relations() -> None:
    """A file of megabytes without an end of line is somebody's fact, too."""
    assert [one.value for one in relations.relation_values("I live in Porto." + " tea" * 2_000_000)] == ["Porto"]
    assert relations.relation_values("tea " * LONGEST + "I live in Porto.") == ()


def test_a_wish_to_forget_names_what_it_is_about_without_the_word_called() -> None:
    """Somebody who said *my dog Rex is a beagle* never said *called*."""
    assert hear("Forget that my dog is called Rex.").forget == ["my dog Rex"]
