"""A search answers with what is worth reading, says how well it matches, and never lets an old truth pass for the present.

An answer has the best evidence first, under headings with dates; a fact stands beside what it was taken from; what is no
longer so stands below what replaced it; what quotes memory is no evidence.
"""

import datetime as dt
import re
from pathlib import Path

import pytest
from programs import lay

from filemem import Store, Toolbox, User
from filemem.index import Index
from filemem.search.days import named_days
from filemem.search.query import parse
from filemem.search.results import Hit
from filemem.search.weights import WEIGHTS
from filemem.store.folder import Folder

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
TEA = "sessions/2026/2026-03-14-0930-tea.md"
OOLONG = "facts/2026/2026-03-14-likes-oolong.md"
COFFEE = "facts/2025/2025-11-23-likes-coffee.md"
CHAT = """- **ann** 09:30: I gave up coffee yesterday.
- **assistant** 09:30: Brave. What do you drink now?
- **ann** 09:33: Oolong, from my uncle.
- **assistant** 09:34: A good choice.
"""


def write(root: Path, files: dict[str, str]) -> Folder:
    """A user's memories, path -> text."""
    lay(root / "ann", files)
    return Store(root).user("ann").folder


def talk(*turns: str) -> str:
    """A transcript of two who take turns."""
    return "".join(
        f"- **{'ben' if n % 2 else 'ann'}** 09:30: {turn}\n"
        for n, turn in enumerate(turns)
    )


def search(user: Folder, query: str, **filters: object) -> list[Hit]:
    """What is found, best first."""
    return User(user).search_files(query, limit=20, today=NOW.date(), **filters)


def answer(user: Folder, query: str, **filters: object) -> list[str]:
    """The lines of the tool's answer."""
    return tools(user).call("search_files", {"query": query, **filters}).split("\n")


def tools(user: Folder) -> Toolbox:
    return Toolbox(user, lambda: NOW)


def headings(lines: list[str]) -> list[str]:
    """The paths of an answer's headings, in order."""
    return [
        line.split("  ")[0]
        for line in lines[1:]
        if re.match(r"\S+\.(?:md|yaml)(?:  |$)", line)
    ]


FILLER = {
    f"sessions/2026/2026-01-{day:02}-0900-day.md": talk(
        f"The weather on the {day}th was grey.",
        "So it was here.",
        "Let us walk the dog.",
        f"Lap {day} is done.",
    )
    for day in range(1, 21)
}


# -- punctuation decides nothing --------------------------------------------------

ASKED_ALONG = [
    ("Did I tell you that my sister Ida married Tom in Ghent?", "Whom did Ida marry"),
    ("My sister Ida lives in Ghent, isn't that lovely?", "Where does Ida live"),
    ("We fly to Gdansk on 17 June. Should we rent a car?", "when do we fly to gdansk"),
    (
        "The rollback steps are in deploy.md:12, ask Tom.",
        "Where are the rollback steps",
    ),
    ("+351 912 345 678", "912 345"),
    ("我妹妹还在根特读书呢。", "我妹妹在哪里读书"),
    ("你知道我妹妹住在根特吗？", "我妹妹住在哪里"),
]


@pytest.mark.parametrize(("said", "asked"), ASKED_ALONG)
@pytest.mark.parametrize("mark", ["", "?", "？"])
def test_what_a_person_says_along_with_a_question_is_found(
    tmp_path: Path, said: str, asked: str, mark: str
) -> None:
    """Also beside an assistant that repeats the words; a mark changes nothing."""
    turns = f"- **ann** 09:30: {said}\n- **assistant** 09:31: How wonderful! {said}\n"
    user = write(tmp_path, {TEA: turns, **FILLER})
    first = search(user, asked + mark)[0]
    assert (first.path, first.speaker) == (TEA, "ann")


def test_a_question_alone_stands_below_what_answers_it(tmp_path: Path) -> None:
    asked = talk("Where does my sister Ida live?", "I do not know.")
    told = talk("My sister Ida lives in Ghent.", "Nice.")
    user = write(
        tmp_path,
        {
            "sessions/2026/2026-03-20-0930-asked.md": asked,
            "sessions/2026/2026-03-10-0930-told.md": told,
            **FILLER,
        },
    )
    for question in ("Where does my sister Ida live?", "where does my sister ida live"):
        assert "Ghent" in search(user, question)[0].text


def test_of_what_holds_a_question_alike_the_newest_is_first(tmp_path: Path) -> None:
    days = ("2026-02-01", "2026-04-01", "2026-03-01")
    files = {
        f"sessions/2026/{day}-0930-size.md": talk(f"My shoe size is {number}.", "Ah.")
        for number, day in enumerate(days, 41)
    }
    found = search(write(tmp_path, {**files, **FILLER}), "What is my shoe size?")
    assert found[0].path == "sessions/2026/2026-04-01-0930-size.md"


# -- what an answer says of itself --------------------------------------------------


def test_an_answer_counts_and_says_only_where_all_of_it_is_weak(tmp_path: Path) -> None:
    user = write(tmp_path, {TEA: CHAT, **FILLER})
    first, second, *_ = answer(user, "oolong")
    assert re.fullmatch(r"\d+ passages? in \d+ of 21 files", first)
    assert headings([first, second]) == [TEA]
    weak = answer(user, "zebra oolong crossing permit office")
    assert weak[1:3] == [
        "Nowhere in memory: zebra, crossing, permit, office.",
        "All of it is weak: no passage holds half of the question.",
    ]


def test_a_fact_stands_for_its_turn_and_names_it(tmp_path: Path) -> None:
    fact = f"---\nsource: {TEA}:3\n---\n\nDrinks oolong from an uncle.\n"
    user = write(tmp_path, {TEA: CHAT, OOLONG: fact, **FILLER})
    lines = answer(user, "Who gave Ann her oolong?")
    assert headings(lines)[0] == OOLONG
    assert f"from {TEA}:3" in "\n".join(lines)
    assert not any("from my uncle" in line for line in lines)


def test_a_day_of_its_own_is_answered_with_what_was_true_on_it(tmp_path: Path) -> None:
    """By what is known now, and with what replaced it above it later."""
    old, new = "facts/2026-01-01-a.md", "facts/2026-05-02-b.md"
    files = {
        old: f"---\nvalid_until: 2026-05-01\nsuperseded_by: {new}\n---\n\nParks in the garage.\n",
        new: f"---\nsupersedes: {old}\n---\n\nParks in the street now, no longer in the garage.\n",
    }
    user = write(tmp_path, files)
    for month, first in ((4, old), (6, new)):
        box = Toolbox(user, lambda month=month: dt.datetime(2026, month, 1, 12))
        answer = box.call("search_files", {"query": "Where is the garage?"})
        assert headings(answer.split("\n"))[0] == first


# -- fewer, and by file ------------------------------------------------------------------------------------------


def test_of_a_long_turn_the_best_window_is_shown(tmp_path: Path) -> None:
    house = "We looked at the house and talked about every room of it at length. "
    told = f"{house * 8}The roof leaks in the attic. {house * 8}A heron sat in the pond. {house}"
    user = write(tmp_path, {TEA: talk(told)})
    for question, shown, other in (
        ("Does the roof leak?", "leaks in", "heron"),
        ("A heron?", "heron sat", "roof"),
    ):
        text = "\n".join(answer(user, question))
        assert shown in text and other not in text and len(text) < 600
    [hit] = search(user, "heron")
    assert hit.is_cut and "heron" in hit.excerpt


# -- who said it -------------------------------------------------------------------------------------------------


def test_a_speaker_is_known_by_a_part_of_a_name(
    tmp_path: Path,
) -> None:
    said = "- **平安保险小赵** 14:05: 您的下个月十八号到期。\n- **李建国** 14:05: 去年多少钱？\n"
    user = write(tmp_path, {TEA: said})
    assert {hit.speaker for hit in search(user, "到期", speaker="小赵")} == {
        "平安保险小赵"
    }


def test_a_chinese_word_with_a_character_that_is_not_searched_for_is_known(
    tmp_path: Path,
) -> None:
    """吉他 has 他 and 被子 has 被, which stand in no index."""
    user = write(tmp_path, {TEA: "- **小赵** 14:05: 我买了一把吉他，没有被子。\n"})
    assert not any(
        line.startswith("Nowhere") for line in answer(user, "吉他和被子呢？没有吗")
    )


# -- facts and the turns they come from --------------------------------------------------------------------------


def test_a_line_of_the_profile_leaves_the_room_to_its_fact_and_a_persons_own_does_not(
    tmp_path: Path,
) -> None:
    fact = {OOLONG: "Ann prefers oolong tea, the roasted one.\n"}
    for mark, shown in (
        (f" <!-- {OOLONG} -->\n- Ann lives in Ghent.", False),
        ("", True),
    ):
        profile = {"profile.md": f"- Ann prefers oolong tea.{mark}\n"}
        found = headings(answer(write(tmp_path, fact | profile | FILLER), "oolong tea"))
        assert OOLONG in found and ("profile.md" in found) is shown


# -- what no longer holds ----------------------------------------------------------------------------------------

OLD = f"---\nsuperseded_by: {OOLONG}\n---\n\nAnn loves coffee, strong coffee, coffee with cake.\n"
QUESTIONS = [
    "Does Ann love coffee?",
    "strong coffee with cake",
    "coffee",
    "Is it strong coffee with cake now?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_replaced_a_memory_stands_right_above_it_even_if_it_shares_no_word(
    tmp_path: Path, question: str
) -> None:
    user = write(
        tmp_path, {OOLONG: "Ann has oolong with cake now.\n", COFFEE: OLD, **FILLER}
    )
    lines = answer(user, question)
    assert headings(lines)[:2] == [OOLONG, COFFEE]
    assert f"superseded by {OOLONG}" in "\n".join(lines)


def test_a_chain_of_replacements_leads_to_the_last_and_a_ring_hides_nothing(
    tmp_path: Path,
) -> None:
    middle = "facts/2026-01-05-tea.md"
    chain = {COFFEE: middle, middle: OOLONG, OOLONG: ""}
    for replaced, first in (
        (chain, [OOLONG, COFFEE]),
        ({COFFEE: OOLONG, OOLONG: COFFEE}, None),
    ):
        files = {
            path: f"---\nsuperseded_by: {by}\n---\n\nLikes {path[-9:-3]}.\n"
            for path, by in replaced.items()
        }
        found = headings(answer(write(tmp_path, files), "Likes coffee?"))
        assert found[:2] == first if first else COFFEE in found


def test_archived_memories_stand_below_live_ones_and_expired_ones_below_these(
    tmp_path: Path,
) -> None:
    live, archived, expired = (
        "facts/2025-01-01-b.md",
        "archive/facts/2026-01-01-a.md",
        "facts/2026-01-02-c.md",
    )
    parks = "Parks in the garage.\n"
    user = write(
        tmp_path,
        {
            archived: parks,
            live: parks,
            expired: f"---\nvalid_until: 2026-05-01\n---\n\n{parks}",
        },
    )
    assert headings(answer(user, "garage")) == [live, archived, expired]
    assert "held until 2026-05-01" in "\n".join(answer(user, "garage"))
    assert headings(answer(user, "garage", path="archive/**")) == [archived]


# -- days that a question names ----------------------------------------------------------------------------------

DIARY = {
    "sessions/2026/2026-05-08-1900-a.md": talk(
        "What happened at the harbour is a long story.", "Tell me."
    ),
    "sessions/2026/2026-06-03-1900-b.md": talk(
        "The ropes came off the van.", "All of them?"
    ),
    "sessions/2026/2026-07-15-1900-c.md": talk("A heron on the roof.", "Which roof?"),
    "sessions/2026/2026-11-18-1900-d.md": talk("Duarte has a cold.", "Poor man."),
}


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("What happened in May?", "05"),
        ("What happened on 3 June?", "06"),
        ("What happened on 3 June 2026?", "06"),
        ("What did we do last summer?", "07"),
        ("6月3日发生了什么事情？", "06"),
        ("7月中旬做了什么？", "07"),
        ("2026年7月", "07"),
        ("What happened last night?", "11"),
        ("昨天", "11"),
    ],
)
def test_a_question_of_nothing_but_a_day_is_answered_from_that_day(
    tmp_path: Path, question: str, month: str
) -> None:
    """Whatever its other words say elsewhere; without a year it is the last such day before the newest memory."""
    files = {
        **DIARY,
        "sessions/2026/2026-11-17-1900-e.md": talk("It rained all day.", "Here too."),
    }
    lines = answer(write(tmp_path, files), question)
    assert headings(lines)[0][14:21] == f"2026-{month}"


def test_days_count_from_today_and_where_no_memory_is_of_them_from_the_newest(
    tmp_path: Path,
) -> None:
    """Today is Friday 20 November; what was taken in from years ago was not written this week."""
    user = write(tmp_path, DIARY)
    assert headings(answer(user, "What happened the day before yesterday?"))[
        0
    ].endswith("2026-11-18-1900-d.md")
    old = write(
        tmp_path / "old",
        {path: text for path, text in DIARY.items() if "-11-" not in path},
    )
    lines = answer(old, "What happened last month?")
    assert headings(lines)[0].endswith("2026-06-03-1900-b.md") and not any(
        "No memory" in line for line in lines
    )


def test_a_day_that_no_memory_is_of_is_said_as_it_was_read(tmp_path: Path) -> None:
    user = write(tmp_path, DIARY)
    assert "No memory is dated 13 November 2026." in answer(user, "上周五发生了什么？")
    assert "No memory is dated 9–15 November 2026." in answer(
        user, "Who had a cold last week?"
    )
    assert not any(
        "No memory is dated" in line
        for line in answer(user, "Who had a cold this week?")
    )
    assert "No memory is dated 2010." in answer(user, "Who had a cold in 2010?")
    told = {
        **DIARY,
        "sessions/2026/2026-11-19-1900-z.md": "- **Ann**: I had a cold in 2010.",
    }
    lines = answer(write(tmp_path / "told", told), "Who had a cold in 2010?")
    assert not any("No memory is dated" in line for line in lines)


@pytest.mark.parametrize(
    "question", ["what did I do recently?", "the last few years", "最近做了什么？"]
)
@pytest.mark.parametrize("files", [{}, {"notes/cat.md": "Fed the cat.\n"}])
def test_where_no_memory_has_a_day_a_question_may_name_some(
    tmp_path: Path, question: str, files: dict[str, str]
) -> None:
    lines = answer(write(tmp_path, files), question)
    assert headings(lines) == []
    assert not any("No memory is dated" in line for line in lines)


@pytest.mark.parametrize("question", ["這陣子做了什麼？", "前些日子誰感冒了？"])
def test_days_in_traditional_characters_are_no_words_to_look_for(
    tmp_path: Path, question: str
) -> None:
    assert "Nowhere in memory" not in "\n".join(
        answer(write(tmp_path, DIARY), question)
    )


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("2026年5月以後發生了什麼？", "2026年5月以后发生了什么？"),
        ("自從2026年5月", "自从2026年5月"),
        ("過去幾個月", "过去几个月"),
    ],
)
def test_traditional_characters_name_the_same_days_as_simplified_ones(
    tmp_path: Path, traditional: str, simplified: str
) -> None:
    corpus = Index(write(tmp_path, DIARY)).corpus()
    one, other = (
        named_days(question, corpus, today=NOW.date(), anchor=None)
        for question in (traditional, simplified)
    )
    assert one.ranges == other.ranges
    assert all(piece in traditional for piece in one.pieces)


def test_an_assistant_s_words_are_asked_for_in_traditional_characters_too(
    tmp_path: Path,
) -> None:
    said = talk("Which tea do you know?", "铁观音")
    user = write(tmp_path, {"sessions/2026/2026-01-03-0900-tea.md": said})
    corpus = Index(user).corpus()
    for question in ("你當時說了什麼茶？", "你当时说了什么茶？"):
        days = named_days(question, corpus, today=NOW.date(), anchor=None)
        assert parse(question, [], [], days, WEIGHTS).asks_assistant


def test_a_heading_quotes_nothing_of_a_memory_whose_words_are_forgotten(
    tmp_path: Path,
) -> None:
    old = f"---\nsuperseded_by: {OOLONG}\n---\n\n[forgotten]\n"
    new = f"---\nsupersedes: {COFFEE}\n---\n\nLikes oolong.\n"
    lines = answer(write(tmp_path, {COFFEE: old, OOLONG: new}), "Likes oolong?")
    assert headings(lines) == [OOLONG]
    assert "replaced" not in "\n".join(lines)


# -- in time -----------------------------------------------------------------------------------------------------

TRIP = "sessions/202{0}/202{0}-07-01-0900-trip.md"
TRIPS = {
    TRIP.format(n): talk(f"The ferry trip number {n}.", "Nice.") for n in range(1, 6)
}


# -- nothing -----------------------------------------------------------------------------------------------------


def test_nothing_found_says_what_was_searched_and_what_is_spelt_alike(
    tmp_path: Path,
) -> None:
    user = write(
        tmp_path, {TEA: CHAT, "archive/facts/2025-01-01-x.md": "Had a kayak.\n"}
    )
    for word in ("oolang", "oolnog", "olong"):  # offered, and not searched for instead
        assert answer(user, word)[:2] == [
            "0 passages in 0 of 2 files",
            f"Nowhere in memory: {word} (near spellings, not searched: oolong).",
        ]
    assert answer(user, "oolanng")[1] == "Nowhere in memory: oolanng."
    nothing = "\n".join(answer(user, "zeppelin"))
    assert nothing.startswith(
        "0 passages in 0 of 2 files\nNowhere in memory: zeppelin."
    )
    assert 'The archive holds 1 file; path "archive/**" asks for it alone.' in nothing
    limited = "\n".join(answer(user, "kayak", path="sessions/**", after="2026-01"))
    assert "The search was limited to path sessions/**, after 2026-01." in limited
    assert 'path "archive/**"' in limited


def test_the_first_and_the_last_day_asked_for_count(tmp_path: Path) -> None:
    files = {
        f"facts/2026/2026-05-0{day}-x.md": f"Took the kayak number {day}.\n"
        for day in range(1, 6)
    }
    user = write(tmp_path, files)
    found = answer(user, "kayak", after="2026-05-02", before="2026-05-04")
    assert [
        day for day in range(1, 6) if any(f"number {day}" in line for line in found)
    ] == [2, 3, 4]


# -- whose words -------------------------------------------------------------------------------------------------

ADVICE = (
    "A new kettle for the tea should be made of steel. Steel kettles for tea keep for years! A kettle of glass, on the other "
    "hand, shows how the water boils, which many people who love their tea enjoy. Please descale the kettle every month. "
    "If you have any more questions about kettles or tea, feel free to ask!"
)
KETTLE = f"- **ann** 09:30: My kettle is from Kettering, a present of my aunt.\n- **assistant** 09:31: {ADVICE}\n"


@pytest.mark.parametrize(
    ("head", "name"),
    [("", "assistant"), ("---\norigin: x\nassistant: Botley\n---\n\n", "Botley")],
)
def test_what_the_person_said_stands_before_what_an_assistant_did(
    tmp_path: Path, head: str, name: str
) -> None:
    """By the role that is kept with the turn, also where an import names its assistant; unless the assistant's words are
    asked for."""
    user = write(
        tmp_path,
        {
            "sessions/2026/2026-03-14-0930-a.md": head
            + KETTLE.replace("assistant", name)
        },
    )
    for question in (
        "What kettle of steel or glass for tea do I have?",
        "my kettle for tea",
    ):
        assert search(user, question)[0].speaker == "ann", question
    for question in (
        "Which kettle for tea did you recommend?",
        "steel kettle: what was your advice for tea?",
    ):
        assert search(user, question)[0].speaker == name, question
    assert [hit.speaker for hit in search(user, "kettle for tea", speaker=name)] == [
        name
    ]
    chat = f"- **安** 09:30: 我的水壶是姑姑送的，蓝色的。\n- **{name}** 09:31: 泡茶的水壶建议买不锈钢的，蓝色水壶也好看。\n"
    user = write(tmp_path / "zh", {TEA: head + chat})
    assert search(user, "我泡茶的水壶是什么颜色的？")[0].speaker == "安"
    assert search(user, "泡茶的水壶，你当时建议买哪种？")[0].speaker == name


def test_a_persons_message_is_shown_whole(tmp_path: Path) -> None:
    long = "I drove on to the lake with my dogs. " * 12 + "The kettle fell in."
    told = {"sessions/2026/2026-04-01-0930-b.md": f"- **ann** 09:30: {long}\n"}
    lines = answer(write(tmp_path, told), "Where did the kettle fall?")
    assert any(long in line for line in lines)


# -- what an answer leaves out, and its order ----------------------------------------------------------------------------


def test_a_summary_a_fact_and_an_archived_session_tell_the_same_once(
    tmp_path: Path,
) -> None:
    was = "sessions/2026/2026-03-14-0930-tea.md"
    files = {
        f"archive/{was}": CHAT,
        "facts/2026/2026-03-14-c.md": f"---\nsource: {was}:1\n---\n\nGave up coffee.\n",
    }
    files["summaries/2026/2026-03.md"] = (
        f"## 2026-03-14-0930-tea\n\n- **ann**: I gave up coffee yesterday. ({was}:1)\n"
    )
    lines = answer(write(tmp_path, files | FILLER), "Who gave up coffee?")
    assert len([line for line in lines if "gave up coffee" in line.lower()]) == 1, lines


def test_a_line_of_a_summary_answers_by_its_own_words(tmp_path: Path) -> None:
    """Neither its neighbours' words count for it, nor those of its turns' path."""
    was = "sessions/2026/2026-03-14-0930-the-kayak-needs-paint.md"
    files = {
        "summaries/2026/2026-03-conversations.md": "## 2026-03-14-0930-the-kayak-needs"
        f"-paint\n\n- Ann's kayak gets green paint. ({was}:6)\n"
        f"- Ben moved to Braga. ({was}:9)\n"
    }
    lines = answer(write(tmp_path, files), "What paint does the kayak need?")
    assert "green paint" in "\n".join(lines)
    assert "Braga" not in "\n".join(lines)


NO_ORDER = """the first time after the ferry trip | the sum of the first n ferry trips | 到了以后第一次 ferry trip
What is a good first name? ferry trip | the last page of the book ferry trip | in order to win ferry trip"""


# -- what held when ----------------------------------------------------------------

PORTO = "facts/2024-02-01-porto.md"
COIMBRA = "facts/2027-03-01-coimbra.md"
HOMES = {
    PORTO: "---\nvalid_from: 2024-02-01\nvalid_until: 2027-02-28\n"
    f"superseded_by: {COIMBRA}\n---\n\nAna lives in Porto.\n",
    COIMBRA: f"---\nsupersedes: [{PORTO}]\n---\n\nAna lives in Coimbra.\n",
}


@pytest.mark.parametrize(
    ("question", "today", "first"),
    [
        ("Where does Ana live?", dt.date(2027, 4, 1), COIMBRA),
        ("Where does Ana live?", dt.date(2026, 4, 1), PORTO),
        ("Where did Ana live in January 2027?", dt.date(2027, 4, 1), PORTO),
        ("Where did Ana live in 2025?", dt.date(2027, 4, 1), PORTO),
    ],
)
def test_a_question_is_answered_first_by_what_held_on_its_days(
    tmp_path: Path, question: str, today: dt.date, first: str
) -> None:
    """A superseded fact never stands alone: what replaced it is shown, too."""
    user = write(tmp_path, {**HOMES, **FILLER})
    found = User(user).search_files(question, today=today)
    assert found[0].path == first
    answer = Toolbox(user, lambda: dt.datetime.combine(today, dt.time(12)))
    assert "No memory is dated" not in answer.call("search_files", {"query": question})


def test_a_plan_that_was_replaced_before_its_day_is_superseded(tmp_path: Path) -> None:
    plan = "facts/2026-03-01-porto.md"
    other = "facts/2026-06-01-coimbra.md"
    front = f"---\nvalid_from: 2027-01-01\nsuperseded_by: {other}\n---\n\n"
    files = {plan: f"{front}Ana moves to Porto.\n", other: "Ana stays in Coimbra.\n"}
    lines = answer(write(tmp_path, files), "Does Ana move to Porto?")
    assert headings(lines) == [other, plan]
    assert f"superseded by {other}" in "\n".join(lines)


def test_a_fact_counts_as_of_the_day_that_updated_it(tmp_path: Path) -> None:
    """What was said between its first word and its last does not seem to be newer."""
    was = "sessions/2026/2026-05-{}-0930-bins.md:6"
    bins = "facts/2026/2026-05-09-bins.md"
    source = f"[{was.format('09')}, {was.format('30')}]"
    files = {
        bins: f"---\nsource: {source}\n---\n\nThe bins go out on Friday.\n",
        "sessions/2026/2026-05-20-0930-bins.md": "- **ann**: Bins go out on Monday.\n",
    }
    lines = answer(write(tmp_path, files | FILLER), "When do the bins go out?")
    assert headings(lines)[0] == bins
    assert any(line.startswith(f"{bins}  Sat 30 May 2026  ") for line in lines), lines


def test_a_heading_tells_what_a_memory_replaced_and_when_that_held(
    tmp_path: Path,
) -> None:
    user = write(tmp_path, {**HOMES, **FILLER})
    box = Toolbox(user, lambda: dt.datetime(2027, 4, 1, 12))
    lines = box.call("search_files", {"query": "Where did Ana live before Coimbra?"})
    held = "held 2024-02-01 to 2027-02-28"
    assert f'Mon  replaced "Ana lives in Porto." {held}' in lines
    assert f"{PORTO}  Thu  superseded by {COIMBRA}  {held}" in lines


@pytest.mark.parametrize(
    "filters",
    [
        {"before": "2026-12-31"},
        {"path": "facts/2024*"},
        {"path": PORTO, "limit": 1},
    ],
)
def test_what_replaced_a_memory_is_left_out_where_it_was_not_asked_for(
    tmp_path: Path, filters: dict[str, object]
) -> None:
    """The heading of what it replaced names it all the same."""
    box = Toolbox(write(tmp_path, HOMES), lambda: dt.datetime(2027, 4, 1, 12))
    lines = box.call("search_files", {"query": "Where does Ana live?", **filters})
    assert headings(lines.split("\n")) == [PORTO]
    assert f"superseded by {COIMBRA}" in lines


@pytest.mark.parametrize("question", ["What is on next week?", "下周有什么事？"])
def test_what_comes_is_answered_by_what_names_its_days(
    tmp_path: Path, question: str
) -> None:
    plan = "facts/2026/2026-11-18-dentist.md"
    user = write(tmp_path, {plan: "Dentist on 25 November 2026 at 10.\n", **DIARY})
    lines = answer(user, question)
    assert headings(lines)[0] == plan
    assert not any(line.startswith("No memory") for line in lines)


@pytest.mark.parametrize("question", ["plans for next month", "下个月有什么安排？"])
def test_what_comes_is_answered_in_the_order_of_its_days(
    tmp_path: Path, question: str
) -> None:
    texts = {
        "mum": "Mum visits from 24 to 27 December.",
        "oslo": "Flight to Oslo on 5 January 2027.",
        "体检": "12月15日要去医院体检。",
        "dentist": "The dentist expects me on 3 December 2026 at ten o'clock.",
    }
    files = {f"facts/2026/2026-11-20-{name}.md": text for name, text in texts.items()}
    lines = answer(write(tmp_path, {**files, **DIARY}), question)
    found = [heading.rpartition("-")[2] for heading in headings(lines)]
    assert found[:3] == ["dentist.md", "体检.md", "mum.md"]
    assert not any(line.startswith("All of it is weak") for line in lines)


def test_a_speakers_words_are_found_however_much_others_say_of_it(
    tmp_path: Path,
) -> None:
    """So are the words of a day among many of other days."""
    tea = "- **ben** 09:30: tea tea tea\n"
    files = {
        f"sessions/2026/2026-02-{1 + n % 28:02}-{n:04}-ben.md": tea for n in range(60)
    }
    files[TEA] = talk("A cup of tea, please.", "Now.")
    user = write(tmp_path, files)
    for filters in (
        {"speaker": "ann"},
        {"after": "2026-03-14", "before": "2026-03-14"},
    ):
        assert headings(answer(user, "tea", **filters)) == [TEA]


def test_what_a_person_says_again_on_another_day_is_shown_again(
    tmp_path: Path,
) -> None:
    paths = [f"sessions/2026/2026-03-1{day}-0930-day.md" for day in (1, 2, 3)]
    skipped = talk("I skipped breakfast again.", "Have an apple.")
    user = write(tmp_path, dict.fromkeys(paths, skipped) | FILLER)
    lines = answer(user, "how often was breakfast skipped", limit=10)
    assert set(paths) <= set(headings(lines))


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("What did the mayor say in May?", {"mayor"}),
        ("Which marching band came in March?", {"march", "band"}),
    ],
)
def test_a_month_is_not_taken_out_of_another_word(
    tmp_path: Path, question: str, stems: set[str]
) -> None:
    corpus = Index(write(tmp_path, {TEA: CHAT})).corpus()
    days = named_days(question, corpus, today=NOW.date(), anchor=None)
    query = parse(question, (), (), days, WEIGHTS)
    assert stems <= {word.stem for word in query.content}


def test_who_is_named_first_is_asked_about_whatever_other_words_hold(
    tmp_path: Path,
) -> None:
    corpus = Index(write(tmp_path, {TEA: CHAT})).corpus()
    days = named_days("", corpus, today=NOW.date(), anchor=None)
    question = "Is it planned that Ben visits Ann?"
    assert parse(question, ("", "ann", "ben"), (), days, WEIGHTS).about == 2


def test_a_memory_holds_to_the_end_that_it_names_though_it_was_replaced_later(
    tmp_path: Path,
) -> None:
    front = "---\nvalid_until: 2026-03-31\nsuperseded_by: {}\n---\n"
    files = {
        OOLONG: front.format(COFFEE) + "Ann rents a boat.\n",
        COFFEE: "Ann rents a van.\n",
    }
    files[COFFEE.replace("2025", "2026")] = files.pop(COFFEE)
    files[OOLONG] = files[OOLONG].replace("2025", "2026")
    lines = answer(write(tmp_path, files), "What does Ann rent on 31 March 2026?")
    assert headings(lines)[0] == OOLONG


def test_an_answer_that_shows_all_names_no_weaker_passages(tmp_path: Path) -> None:
    fact = f"---\nsource: {TEA}:1\n---\nAnn drinks oolong.\n"
    files = {TEA: talk("Oolong, from my uncle."), OOLONG: fact}
    lines = answer(write(tmp_path, files), "oolong")
    assert headings(lines) == [OOLONG]
    assert "weaker" not in lines[-1]


def test_days_given_the_wrong_way_round_are_said_to_be(tmp_path: Path) -> None:
    user = write(tmp_path, {TEA: CHAT})
    said = answer(user, "tea", after="2026-06", before="2026-05")
    assert said == [
        "Error: after 2026-06-01 and before 2026-05-31 leave no day;"
        " give the earlier as after."
    ]


def test_an_event_is_of_its_day_too_where_only_some_days_are_asked_for(
    tmp_path: Path,
) -> None:
    event = "---\nday: 2026-12-24\n---\nThe chess tournament is in the hall.\n"
    user = write(tmp_path, {OOLONG: event, **FILLER})
    [hit] = search(user, "chess", after="2026-12-20", before="2026-12-26")
    assert hit.path == OOLONG
    assert not search(user, "chess", after="2026-12-25")


def test_a_coming_event_that_was_not_asked_for_changes_no_order(tmp_path: Path) -> None:
    event = "---\nday: 2026-12-{}\n---\n"
    files = {
        OOLONG: event.format(24) + "The chess tournament is in the hall.\n",
        COFFEE: event.format(12) + "The tournament of the choirs.\n",
    }
    lines = answer(write(tmp_path, {**files, **FILLER}), "chess tournament")
    assert headings(lines)[0] == OOLONG
    lines = answer(write(tmp_path, files), "What happened on 7 May 2025?")
    assert any(line.startswith("No memory is dated 7 May 2025") for line in lines)
