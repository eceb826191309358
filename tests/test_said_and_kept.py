"""What was said or done, and what filemem must, or must not, make of it: through the command line, without a model.

A fact is what the person said, letter by letter, or there is none; nothing says what nobody said; what is newer stands alone.
"""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem.cli import cli

TUESDAY = "2026-03-10"


class Life:
    """Mara and the program, day by day, in a store of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "store"

    def run(self, *args: str, at: str = TUESDAY) -> str:
        """What a command says on standard output."""
        day = at if "T" in at else f"{at}T09:30"
        places = ["--store", str(self.folder), "--user", "mara", "--today", day]
        ran = CliRunner().invoke(cli, [*places, *args], standalone_mode=False)
        assert ran.exception is None, ran.exception
        return ran.stdout

    def chat(self, text: str, at: str = TUESDAY, *, resume: bool = False) -> str:
        return self.run("chat", *(["--resume"] if resume else []), "-m", text, at=at)

    def files(self, kind: str) -> dict[str, str]:
        """The files of a kind by their names."""
        found = sorted((self.folder / "mara" / kind).rglob("*.md"))
        return {path.name: path.read_text(encoding="utf-8") for path in found}

    def said(self, kind: str = "facts") -> list[str]:
        """What the live facts quote or say, without their front matter, in the order of their days."""
        texts = [re.sub(r"\A---\n.*?\n---\n\s*", "", text, flags=re.DOTALL) for text in self.files(kind).values()]
        return ["\n".join(_words(line) for line in text.strip().split("\n")) for text in texts]

    @property
    def profile(self) -> str:
        path = self.folder / "mara/profile.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def shown(self, query: str, at: str = TUESDAY) -> str:
        """What the search shows to an agent."""
        return self.run("call", "search_files", f'{{"query": "{query}"}}', at=at)


def _words(line: str) -> str:
    match = re.match(r"- \*\*Mara\*\*[^:]*: (.*)", line)
    return match[1] if match else line


@pytest.fixture
def life(tmp_path: Path) -> Life:
    return Life(tmp_path)


@pytest.mark.parametrize(
    ("day", "text", "wrong"),
    [
        ("2026-03-10", "I booked a flight to Oslo for 20 April.", "2025"),
        ("2026-03-10", "I've got tickets for the opera on 3 May.", "2025"),
        ("2026-03-10", "I'm running the marathon on 12 October.", "2025"),
        ("2026-03-10", "I'm starting a course at the college in September.", "2025"),
        ("2026-03-10", "我订了4月20日去奥斯陆的机票。", "2025"),
        ("2026-03-10", "我报名了10月12日的马拉松。", "2025"),
        ("2023-10-08", "Sam went for a check-up Monday.", "9 October"),
        ("2023-10-08", "我周一去体检了。", "9 October"),
        ("2026-01-11", "I tried snowshoeing this weekend, in the Tatra mountains.", "17"),
        ("2026-01-11", "我这个周末第一次去滑雪了，摔了三次。", "17"),
        ("2025-05-12", "My exam was moved to 3 June.", "lived"),
        ("2025-05-12", "我的考试改到6月3号了。", "住"),
    ],
)
def test_a_date_of_which_the_words_do_not_tell_all_is_not_guessed_on_the_wrong_side(
    life: Life, day: str, text: str, wrong: str
) -> None:
    """In no file, and in nothing that the tools show; and a day is no place to live in. A fact is the words, or there is none."""
    life.chat(text, day)
    assert life.said() in ([text], [])
    assert text.rstrip(".。") in re.sub(r" \[[^]]*\]", "", life.shown(text))
    everything = [*life.files("").values(), life.shown(text)]
    assert not [one for one in everything if wrong in one.replace(f"{day[:4]}-{day[5:7]}-{day[8:]}", "")]
    assert "## Home" not in life.profile
    assert "## 住处" not in life.profile


@pytest.mark.parametrize(
    ("text", "shown"),
    [("I adopted a whale called Moby yesterday.", "21 November"), ("我昨天看到一条鲸鱼。", "[2026年11月21日]")],
)
def test_a_chat_resumed_on_another_day_counts_from_that_day(life: Life, text: str, shown: str) -> None:
    life.chat("hi", "2026-11-20T23:40")
    life.chat(text, "2026-11-22T00:10", resume=True)
    [session] = life.files("sessions").values()
    assert f"- **mara** 2026-11-22 00:10: {text}" in session
    assert {name[:10] for name in life.files("facts")} == {"2026-11-22"}
    found = life.shown(text, "2026-11-22")
    assert shown in found and "19 November" not in found


@pytest.mark.parametrize(
    "text",
    [
        "forget that my passport is in the blue drawer",
        "Please delete what I said about my salary.",
        "忘掉我护照放在蓝色抽屉里",
        "请把我的工资忘掉。",
        "what time is my dentist appointment",
        "where did i leave my umbrella",
        "我的护照在哪里",
        "我晚上吃啥",
        "我说过我住哪没",
        "我上次买的茶叫啥来着",
        "Translate: I live in Berlin and I work as a baker.",
        "Translate into German: My name is Petra and I'm allergic to nuts.",
        "Write a letter for me: my name is Petra and I live in Bath.",
        "请帮我写一封信：我叫王伟，我住在北京。",
        "翻译成英文：我对花生过敏，我在银行上班。",
        "If we win the lottery we'd move to Lisbon, ha.",
        "要是中了彩票我们就搬到里斯本去，哈哈。",
        'Petra wrote: "I moved to Graz and work at the opera now."',
        "hi",
        "thanks",
        "asdf qwer",
        "summarise last month",
        "你好",
        "谢谢",
    ],
)
def test_requests_questions_texts_to_work_on_and_what_is_supposed_become_nothing(life: Life, text: str) -> None:
    life.chat(text)
    assert (life.said(), life.said("lessons")) == ([], [])
    assert "##" not in life.profile


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("I can't have gluten any more, the doctor says I'm coeliac.", 9),
        ("im allergic to walnuts, i carry an epipen", 9),
        ("I moved to 14 Quarry Place last week.", 8),
        ("I got the job at Fenwick & Daughters.", 6),
        ("I love swimming in the sea.", 4),
        ("医生说我有乳糜泻，不能吃面食了。", 9),
        ("我搬到采石路14号了。", 8),
        ("我在芬威克公司上班。", 6),
        ("我喜欢在海里游泳。", 4),
    ],
)
def test_what_is_told_is_kept_as_it_was_told_with_the_weight_of_its_kind(
    life: Life, text: str, importance: int
) -> None:
    life.chat(text)
    assert life.said() == [text]
    [fact] = life.files("facts").values()
    assert f"importance: {importance}\n" in fact
    assert text in life.profile


@pytest.mark.parametrize(
    "told",
    [
        ["My favourite drink is tea.", "My favourite drink is coffee.", "My favourite drink is tea again."],
        ["I'm drinking tea these days.", "I've switched to coffee.", "Back on tea now."],
        ["I live in Ghent.", "I moved to Bruges.", "We moved back to Ghent."],
        ["My wedding is on 12 September.", "We moved the wedding to 19 September."],
        ["My wedding is on 12 September.", "The wedding was postponed to 19 September."],
        ["我最喜欢喝的是茶。", "我最喜欢喝的是咖啡。", "我现在最喜欢喝的还是茶。"],
        ["我最近都喝茶。", "我改喝咖啡了。", "我又改喝茶了。"],
        ["我的婚礼在9月12日。", "婚礼改到9月19日了。"],
    ],
    ids=lambda told: told[0],
)
@pytest.mark.parametrize("command", ["chat", "remember"])
def test_what_is_newer_stands_alone(life: Life, told: list[str], command: str) -> None:
    """Among the live facts and in the profile, told in a chat or to remember; the older ones are in the archive."""
    for month, text in enumerate(told, 1):
        life.run(*(["chat", "-m"] if command == "chat" else ["remember"]), text, at=f"2026-{month:02}-03")
    assert life.said() == told[-1:]
    assert sorted(life.said("archive")) == sorted(told[:-1])
    quoted = re.findall(r"^- (.*) <!--", life.profile, re.MULTILINE)
    assert all(told[-1] in line for line in quoted)


@pytest.mark.parametrize(
    ("told", "taken_back"),
    [
        ("I bought a yacht in Split last week.", "just kidding, no yacht"),
        ("我彩票中了八十万，买了条船！我住在船上。", "逗你的，没有的事"),
    ],
)
def test_a_joke_that_was_kept_is_taken_back_by_a_later_message(life: Life, told: str, taken_back: str) -> None:
    """What it told lies in the archive as superseded by the words that take it back; what else was told stays."""
    life.chat("I work as a potter in Ghent.")
    life.chat(told)
    life.chat(taken_back, resume=True)
    assert sorted(life.said()) == sorted(["I work as a potter in Ghent.", taken_back])
    assert all("superseded_by" in text for text in life.files("archive/facts").values())
    life.chat("Just kidding!")
    assert "I work as a potter in Ghent." in life.said()


@pytest.mark.parametrize(
    ("told", "put_right", "old", "new"),
    [
        ("My yoga class is on Tuesdays.", "make that thursday", "Tuesday", "thursday"),
        ("My yoga class is on Tuesdays.", "no, Thursday", "Tuesday", "Thursday"),
        ("My yoga class is on Tuesdays.", "Actually it's on Thursdays.", "Tuesday", "Thursdays"),
        ("My yoga class is on Tuesdays.", "Sorry, I meant my yoga class is on Thursdays.", "Tuesday", "Thursdays"),
        ("我的瑜伽课在周二。", "其实是周四", "周二", "周四"),
        ("我的瑜伽课在周二。", "说错了，瑜伽课是周四。", "周二", "周四"),
    ],
)
@pytest.mark.parametrize("later", ["in the same talk", "in the next"])
def test_a_correction_never_leaves_the_old_day_alone(
    life: Life, told: str, put_right: str, old: str, new: str, later: str
) -> None:
    """No live fact, and no line of the profile, has the old day without the new one."""
    life.chat(told)
    leans = put_right in ("make that thursday", "no, Thursday", "Actually it's on Thursdays.", "其实是周四")
    life.chat(put_right, f"{TUESDAY}T09:40", resume=leans or later == "in the same talk")
    live = [*life.said(), *life.profile.split("\n")]
    assert any(new in text for text in live)
    assert not [text for text in live if old in text and new not in text]


STANDING = ["I live at 14 Quarry Place.", "I work as a stonemason at Hale & Sons.", "My sister Ines lives in Oslo."]
LESSONS = ["Please keep your answers short from now on.", "Always give temperatures in Celsius.", "以后别用表情符号。"]


@pytest.mark.parametrize("later", ["2026-04-28", "2027-05-10"])
def test_what_stands_and_the_lessons_outlast_the_weeks(life: Life, later: str) -> None:
    """An address, a job, family, three lessons: seven weeks or fourteen months later they are no archive's."""
    for text in [*STANDING, *LESSONS]:
        life.chat(text)
    life.run("maintain", at=later)
    assert sorted(life.said()) == sorted(STANDING)
    assert sorted(life.said("lessons")) == sorted(LESSONS)
    assert not life.files("archive/facts") | life.files("archive/lessons")
    assert all(text in life.profile for text in [*STANDING, *LESSONS])


@pytest.mark.parametrize(
    "text",
    [
        "My wifi password is Tulip-Garden-42 and the router is upstairs.",
        "我的无线密码是Tulip-Garden-42，路由器在楼上。",
        "my streaming account is odile88 / Tulip42! in case Sam asks",
    ],
)
def test_a_password_is_in_no_file_and_that_is_said(life: Life, text: str) -> None:
    said = life.run("remember", text)
    assert "--with-secrets" in said
    assert life.said()
    assert not [path for path in life.folder.rglob("*") if path.is_file() and b"Tulip" in path.read_bytes()]


@pytest.mark.parametrize(
    ("name", "front", "question"),
    [
        ("Anna", "birthday: 1990-04-17", "When is Anna's birthday?"),
        ("安娜", "生日: 1990-04-17", "安娜的生日是哪天？"),
    ],
)
def test_a_key_of_a_notes_front_matter_answers(life: Life, name: str, front: str, question: str) -> None:
    note = life.folder / f"mara/notes/{name}.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"---\n{front}\n---\nLikes the sea.\n", encoding="utf-8")
    assert "1990-04-17" in life.chat(question)


@pytest.mark.parametrize(
    ("question", "opening", "lines"),
    [
        ("When is Boris's birthday?", "From your memories:", ["Boris: birthday: 1988-02-29"]),
        ("What is Boris allergic to?", "From your memories:", ["Boris: allergies: kiwi, dust"]),
        ("When do I wash the filters?", "From your memories:", ["Heat pump manual: Wash them in March."]),
        ("When is my birthday?", "I found no strong match", ["Boris: birthday: 1988-02-29"]),
        ("小李的生日是哪天？", "在记忆里找到：", ["小李: 生日: 1991-08-02"]),
    ],
)
def test_a_notes_title_is_shown_and_is_whom_its_lines_speak_of(
    life: Life, question: str, opening: str, lines: list[str]
) -> None:
    notes = life.folder / "mara/notes"
    notes.mkdir(parents=True)
    (notes / "Boris.md").write_text("---\nbirthday: 1988-02-29\nallergies:\n  - kiwi\n  - dust\n---\nPlays chess.\n")
    (notes / "pump.md").write_text("# Heat pump manual\n\nPress the button.\n\n## Filters\n\nWash them in March.\n")
    (notes / "小李.md").write_text("---\n生日: 1991-08-02\n---\n在杭州开咖啡馆。\n", encoding="utf-8")
    said = life.chat(question)
    assert said.startswith(opening)
    assert [line[2:] for line in said.split("\n") if line.startswith("- ")] == lines


@pytest.mark.parametrize(
    "text",
    [
        "不要忘了我对花生过敏。",
        "能不能记住我的车是蓝色的？",
        "Don't forget I'm allergic to nuts.",
        "Can you remember that my car is blue?",
    ],
)
def test_who_asks_for_something_to_be_remembered_is_heard_in_whatever_form(life: Life, text: str) -> None:
    life.chat(text)
    assert life.said() == [text]
    [fact] = life.files("facts").values()
    assert re.search(r"^importance: (?:8|9|10)$", fact, re.MULTILINE)


@pytest.mark.parametrize("text", ["I'm allergic to walnuts.", "我对花生过敏。"])
def test_an_allergy_weighs_the_same_and_stands_in_the_profile_alike_however_it_is_told(
    tmp_path: Path, text: str
) -> None:
    chat, told = Life(tmp_path / "chat"), Life(tmp_path / "remember")
    chat.chat(text)
    told.run("remember", text)
    for one in (chat, told):
        assert "importance: 9\n" in next(iter(one.files("facts").values()))
    assert text in chat.profile
    assert chat.profile == told.profile


@pytest.mark.parametrize("text", ["Alice moved to Hamburg.", "小王搬到汉堡了。", "My friend Jo moved to Leeds."])
def test_what_a_friend_does_is_filed_under_nothing_of_the_users(life: Life, text: str) -> None:
    life.run("remember", text)
    assert life.said() == [text]
    assert "##" not in life.profile


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("My favourite tea is gyokuro.", "What is my favourite tea?", "gyokuro"),
        ("我最喜欢的茶是玉露。", "我最喜欢的茶是什么？", "玉露"),
        ("我的狗叫雷克斯。", "我的狗叫什么", "雷克斯"),
    ],
)
def test_what_was_told_in_this_talk_answers_first(life: Life, told: str, question: str, answer: str) -> None:
    life.chat("I made a quilt with a dog on it, and what I called it gave me a guilty conscience.", "2026-02-01")
    life.chat(told)
    said = life.chat(question, f"{TUESDAY}T09:40", resume=True)
    first = next(line for line in said.split("\n") if line.startswith("- "))
    assert answer in first
