"""A search answers with what is worth reading, says how well it matches, and never lets an old truth pass for the present.

An answer has the best evidence first, under headings with dates; a fact stands beside what it was taken from; what is no
longer so stands below what replaced it; what quotes memory is no evidence.
"""

import datetime as dt
import itertools
import re
from pathlib import Path

import pytest
from programs import lay

from filemem import Store, Toolbox, User
from filemem.files.folder import Folder
from filemem.search.searching import Hit

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


# -- how strong a match is ---------------------------------------------------------------------------------------


def test_the_first_line_says_what_was_looked_at_and_no_more_than_that_it_is_strong(
    tmp_path: Path,
) -> None:
    """Shares and the words that are missing are for --explain."""
    user = write(
        tmp_path,
        {
            "sessions/2026/2026-02-01-0900-x.md": talk(
                "I adopted a parrot.", "Lovely."
            ),
            **FILLER,
        },
    )
    assert (
        answer(user, "Who adopted a parrot?")[0]
        == "1 passage in 1 of 21 files; strong match"
    )
    assert answer(user, "Did Ann adopt a zyzzyva?")[1] == "Nowhere in memory: zyzzyva."
    for question in (
        "Did Ann adopt a parrot in 2010?",
        "parrot regatta zeppelin",
        "Did Ann adopt a zyzzyva?",
    ):
        first = answer(user, question)[0]
        assert "strong" not in first and "%" not in first and "lacks" not in first, (
            question
        )
    assert (
        "strong" not in answer(user, "Did Ben adopt a parrot?")[0]
    )  # somebody else says so
    asked = "- **Ann** 09:00: Who is Quentin?\n- **assistant** 09:00: Nothing says who Quentin is.\n"
    user = write(
        tmp_path / "asked", {"sessions/2026/2026-02-02-0900-y.md": asked, **FILLER}
    )
    assert answer(user, "Who is Quentin?")[1].startswith("Nowhere in memory: quentin")
    for question in ("what is it?", "?!", "什么？"):
        assert (
            answer(user, question)[1]
            == "The question has no word to look for: name a thing, a person or a day."
        )


def test_chinese_words_are_named_whole_and_a_right_answer_is_strong(
    tmp_path: Path,
) -> None:
    tea, swims = "外婆最喜欢的茶是惠明茶。\n", "妹妹喜欢游泳。外婆在青田。\n"
    user = write(
        tmp_path,
        {"facts/2026-06-20-外婆.md": tea, "facts/2026-06-21-妹妹.md": swims, **FILLER},
    )
    first = answer(user, "外婆喜欢什么茶？")[0]
    assert first.endswith("; strong match")
    [lacking, nowhere, *_] = answer(user, "外婆会弹钢琴吗？")
    assert "strong" not in lacking
    assert "钢琴" in nowhere
    assert "婆会" not in nowhere


# -- fewer, and by file ------------------------------------------------------------------------------------------


def test_passages_that_are_not_worth_reading_are_left_out_and_can_be_asked_for(
    tmp_path: Path,
) -> None:
    user = write(tmp_path, {TEA: CHAT, **FILLER})
    lines = answer(user, "Did I give up coffee, or walk the dog?")
    assert int(re.findall(r"^\d+", lines[0])[0]) < 70  # of 84
    left, limit = re.findall(
        r"^(\d+) weaker left out; limit: (\d+) shows more\.$", lines[-1]
    )[0]
    more = answer(user, "Did I give up coffee, or walk the dog?", limit=int(limit))
    assert int(left) > 0 and len(more) > len(lines)


def test_the_best_stand_first_by_file_then_more_of_them_and_none_twice(
    tmp_path: Path,
) -> None:
    day = {
        f"sessions/2026/2026-02-0{day}-0900-x.md": talk(
            *(
                f"The lighthouse of Cabo {name} {n} has {'a lamp and ' * (n % 2)}a keeper."
                for n in range(40)
            )
        )
        for day, name in ((1, "Frio"), (2, "Raso"))
    }
    user, question = write(tmp_path, day), "Which lighthouse has a keeper and a lamp?"
    hits, lines = (
        User(user).search_files(question, limit=60, today=NOW.date()),
        answer(user, question, limit=60),
    )
    places = [(hit.path, hit.line) for hit in hits]
    assert len(places) == len(set(places))
    blocks = [
        list(group) for _, group in itertools.groupby(hits, key=lambda hit: hit.path)
    ]
    best = [max(hit.score for hit in block) for block in blocks]
    assert len(blocks) > 2 and best == sorted(best, reverse=True)
    first, later = blocks[0] + blocks[1], [hit for block in blocks[2:] for hit in block]
    assert min(hit.score for hit in first) >= max(hit.score for hit in later)
    assert all(a.line < b.line for a, b in itertools.pairwise(blocks[0]))
    goes_on = [
        line.endswith("  more") for line in lines if line.startswith("sessions/")
    ]
    assert goes_on == [False, False, *[True] * (len(goes_on) - 2)]
    assert lines[0].startswith(f"{len(places)} passages in 2 of 2 files")


def test_a_short_reply_comes_with_the_question_it_replies_to(tmp_path: Path) -> None:
    said = talk(
        "How long have you had the accordion?",
        "Two years.",
        "And do you perform with it in public?",
        "No.",
    )
    user = write(tmp_path, {"sessions/2026/2026-02-01-0930-a.md": said, **FILLER})
    lines = answer(user, "how many years", limit=1)
    asked = lines.index("   1- ann: How long have you had the accordion?")
    assert lines[asked + 1].startswith("   2  ben: Two years")
    said = talk(
        "What happened at the pier?",
        "The ferry ran aground below the old lighthouse at six in the morning.",
    )
    user = write(tmp_path, {"sessions/2026/2026-02-01-0930-a.md": said, **FILLER})
    assert not any(
        re.match(r" *\d+- ", line) for line in answer(user, "ferry aground", limit=1)
    )  # it stands alone


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
    assert hit.cut and "heron" in hit.excerpt


def test_of_a_very_long_passage_the_part_around_the_words_is_shown(
    tmp_path: Path,
) -> None:
    flood = "gravel " * 8_000 + "the zeppelin landed in Faro " + "gravel " * 8_000
    user = write(
        tmp_path,
        {
            "notes/flood.md": flood,
            "facts/2026-01-02-a.md": "A zeppelin needs gravel.",
            **FILLER,
        },
    )
    text = "\n".join(answer(user, "Where did the zeppelin land?"))
    assert "the zeppelin landed in Faro" in text
    assert "A zeppelin needs gravel." in text
    assert len(text) < 4_000
    assert (
        'open {"path": "notes/flood.md", "line": 1, "lines": 1} shows the first whole'
        in text
    )


# -- who said it -------------------------------------------------------------------------------------------------


def test_a_speaker_is_known_by_a_part_of_a_name_which_is_no_unknown_word(
    tmp_path: Path,
) -> None:
    said = "- **平安保险小赵** 14:05: 您的下个月十八号到期。\n- **李建国** 14:05: 去年多少钱？\n"
    user = write(tmp_path, {TEA: said})
    assert {hit.speaker for hit in search(user, "到期", speaker="小赵")} == {
        "平安保险小赵"
    }
    for question in (
        "平安保险 雷达",
        "要去雷达",
        "想去买几辆雷达",
    ):  # what any question may contain is no unknown word
        assert answer(user, question)[1] == "Nowhere in memory: 雷达."


def test_a_chinese_word_with_a_character_that_is_not_searched_for_is_known(
    tmp_path: Path,
) -> None:
    """吉他 has 他 and 被子 has 被, which stand in no index."""
    user = write(tmp_path, {TEA: "- **小赵** 14:05: 我买了一把吉他，没有被子。\n"})
    assert not any(
        line.startswith("Nowhere") for line in answer(user, "吉他和被子呢？没有吗")
    )


@pytest.mark.parametrize(
    ("asked", "said"), [("Did you pass the exam?", "No."), ("驾照考过了吗？", "是的。")]
)
def test_a_word_that_answers_a_question_is_no_greeting(
    tmp_path: Path, asked: str, said: str
) -> None:
    user = write(tmp_path, {TEA: talk("How are you?", "Good, thanks!", asked, said)})
    lines = answer(user, asked, limit=9)
    assert f"   4  ben: {said}" in lines and not any("thanks" in line for line in lines)


# -- facts and the turns they come from --------------------------------------------------------------------------


def test_a_fact_that_answers_the_whole_question_stands_before_the_transcript(
    tmp_path: Path,
) -> None:
    fact = f"---\nsource: {TEA}:3\n---\n\nAnn gave up coffee and now drinks oolong.\n"
    asked = "- **ann** 10:00: What does Ann drink now after coffee?\n- **assistant** 10:00: Let me see.\n"
    for more in ({}, {"sessions/2026/2026-10-11-1000-again.md": asked}):
        user = write(tmp_path, {TEA: CHAT, OOLONG: fact, **FILLER, **more})
        assert headings(answer(user, "What does Ann drink now after coffee?", limit=3))[
            :2
        ] == [OOLONG, TEA]


def test_a_fact_brings_the_turn_that_it_was_taken_from(tmp_path: Path) -> None:
    said = talk("Guess!", "The same as my uncle has, the green one.")
    source = "sessions/2026/2026-02-01-0900-a.md"
    fact = f"---\nsource: {source}:2\n---\n\nBen rides a Vespa scooter.\n"
    user = write(tmp_path, {source: said, "facts/2026-02-01-vespa.md": fact, **FILLER})
    assert (source, 2) in {
        (hit.path, hit.line) for hit in search(user, "Who rides a Vespa scooter?")
    }


def test_a_fact_that_only_retells_its_turn_leaves_the_room_to_it_and_a_corrected_one_does_not(
    tmp_path: Path,
) -> None:
    """A day counted from the turn's own is nothing new; another day is."""
    said = f"---\nsource: {TEA}:1\n---\n\nAnn gave up coffee on {{}}.\n"
    for day, shown in (("13 March 2026", False), ("12 March 2026", True)):
        user = write(tmp_path, {TEA: CHAT, OOLONG: said.format(day), **FILLER})
        assert (
            OOLONG in headings(answer(user, "When did Ann give up coffee?"))
        ) is shown


def test_a_fact_stays_where_it_leans_on_several_turns_and_none_of_them_retells_it(
    tmp_path: Path,
) -> None:
    """The first says what it is about, the last what came of it."""
    after = "sessions/2026/2026-10-17-1000-a.md"
    turns = {
        TEA: "- **ann**: Wren's gala is on the 16th.\n",
        after: "- **ann**: Second!\n",
    }
    fact = f"---\nsource: [{TEA}:1, {after}:1]\n---\n\nWren came second in the backstroke at her gala.\n"
    user = write(tmp_path, turns | {OOLONG: fact} | FILLER)
    assert headings(answer(user, "How did Wren get on at the gala?"))[0] == OOLONG


@pytest.mark.parametrize(
    "said",
    ["I gave up coffee for oolong tea, roasted.", "我戒了咖啡，改喝乌龙茶 (coffee)。"],
)
def test_a_quotation_stands_in_the_place_of_its_turn_and_the_turn_where_it_says_more(
    tmp_path: Path, said: str
) -> None:
    """Never both; what was replaced is told by its turn, under what replaced it."""
    new = "facts/2026/2026-10-01-b.md"
    for more, front, shown in (
        ("", "", [OOLONG]),
        (" And it rained.", "", [TEA]),
        ("", f"superseded_by: {new}\n", [new, TEA]),
    ):
        fact = f"---\nsource: {TEA}:1\n{front}---\n\n- **Ann**: {said}\n"
        files = {
            TEA: f"- **Ann** 09:30: {said}{more}\n",
            OOLONG: fact,
            new: "Nothing but water.\n",
        }
        found = answer(write(tmp_path, files | FILLER), "Ann coffee")
        assert headings(found)[: len(shown)] == shown
        assert sum(said[:16] in line for line in found) == 1


def test_keeping_facts_changes_nothing_in_what_the_turns_score(tmp_path: Path) -> None:
    """Words are no more common, and turns no longer beside the others, for what is told over again."""
    files = {TEA: CHAT, **FILLER}
    told = {
        f"facts/2026-01-{day:02}-grey.md": f"---\nsource: sessions/2026/2026-01-{day:02}-0900-day.md:1\n---\n\nGrey weather.\n"
        for day in range(1, 21)
    }
    told["profile.md"] = "- Ann says grey weather. <!-- facts/2026-01-01-grey.md -->\n"
    summary = (
        "- **Ann**: The weather was grey. (sessions/2026/2026-01-01-0900-day.md:1)\n"
    )
    told["summaries/2026/2026-01.md"] = summary
    alone, beside = (
        write(tmp_path / name, kept)
        for name, kept in (("alone", files), ("beside", files | told))
    )
    for question in ("coffee", "grey oolong", "How was the weather on the 7th?"):
        scores = [
            {
                (hit.path, hit.line): hit.score
                - hit.parts.get("fact", 0)
                - hit.parts.get("summaries", 0)
                for hit in hits
            }
            for hits in (search(alone, question), search(beside, question))
        ]
        shared = scores[0].keys() & scores[1].keys()
        assert shared and all(
            scores[0][at] == pytest.approx(scores[1][at]) for at in shared
        )


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


def test_what_an_assistant_said_to_what_holds_no_more_stands_below_it(
    tmp_path: Path,
) -> None:
    said = "- **ann** 09:30: I bought a Vespa for 900 euros.\n- **assistant** 09:30: A Vespa, how nice! Vespa for ever.\n"
    old = f"---\nsource: {TEA}:1\nsuperseded_by: {OOLONG}\n---\n\nAnn has a Vespa.\n"
    user = write(
        tmp_path,
        {
            TEA: said,
            f"archive/{COFFEE}": old,
            OOLONG: "Ann sold the Vespa.\n",
            **FILLER,
        },
    )
    scores = {
        hit.line: hit.score
        for hit in search(user, "What did my Vespa cost?")
        if hit.path == TEA
    }
    assert scores[1] >= scores.get(2, 0)


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


def test_a_question_about_the_past_may_have_the_past_first(tmp_path: Path) -> None:
    user = write(
        tmp_path, {OOLONG: "Ann drinks only oolong now.\n", COFFEE: OLD, **FILLER}
    )
    for question in (
        "What coffee did Ann love before?",
        "Ann 以前 coffee",
        "coffee, oolong, in order of time",
    ):
        assert headings(answer(user, question))[0] == COFFEE


def test_a_day_of_its_own_is_answered_with_what_was_true_on_it(tmp_path: Path) -> None:
    """By what is known now; what replaced it stands below, and says since when it holds."""
    old, new = "facts/2026-01-01-a.md", "facts/2026-05-02-b.md"
    files = {
        old: f"---\nvalid_until: 2026-05-01\nsuperseded_by: {new}\n---\n\nParks in the garage.\n",
        new: f"---\nsupersedes: {old}\n---\n\nParks in the street now, no longer in the garage.\n",
    }
    user = write(tmp_path, files)
    for day, first, said in (
        (30, old, "holds from 2026-05-02"),
        (32, new, f"superseded by {new}"),
    ):
        today = dt.date(2026, 4, 1) + dt.timedelta(days=day - 1)
        box = Toolbox(user, lambda today=today: dt.datetime.combine(today, dt.time(12)))
        answer = box.call("search_files", {"query": "Where is the garage?"})
        assert headings(answer.split("\n"))[0] == first and said in answer


@pytest.mark.parametrize(
    ("question", "line", "plan"),
    [
        ("what do I teach?", 1, "Teaches pottery."),
        ("我明年三月要去哪里？", 5, "去看奶奶。"),
    ],
)
def test_what_is_to_come_holds_on_the_days_asked_for_and_leaves_its_turn_alone(
    tmp_path: Path, question: str, line: int, plan: str
) -> None:
    turns = talk(
        "From March on I teach pottery.",
        "Fine.",
        "I never eat prawns.",
        "No?",
        "明年三月我要去成都看奶奶。",
    )
    fact = f"---\nsource: {TEA}:{line}\nvalid_from: 2027-03-05\n---\n\n{plan}\n"
    user = write(tmp_path, {TEA: turns, OOLONG: fact})
    best = max(search(user, question), key=lambda hit: hit.score)
    assert (best.path, best.line) == (TEA, line)
    now, then = (
        search(user, plan + days, path="facts/**")[0].parts.get("times")
        for days in ("", " in March 2027")
    )
    assert (now, then) == (0.5, None)


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
        ("What did we do last summer?", "06"),
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


# -- in time -----------------------------------------------------------------------------------------------------

TRIP = "sessions/202{0}/202{0}-07-01-0900-trip.md"
TRIPS = {
    TRIP.format(n): talk(f"The ferry trip number {n}.", "Nice.") for n in range(1, 6)
}


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("List the ferry trips in order", 1),
        ("a timeline of the ferry trips", 1),
        ("What was my first ferry trip?", 1),
        ("按时间列出 ferry trip", 1),
        ("第一次 ferry trip", 1),
        ("When was the last time I made a ferry trip?", -1),
        ("most recent ferry trip", -1),
        ("最近一次 ferry trip", -1),
    ],
)
def test_a_question_that_asks_for_an_order_is_answered_in_time(
    tmp_path: Path, question: str, order: int
) -> None:
    lines = answer(write(tmp_path, TRIPS), question)
    assert headings(lines) == sorted(TRIPS, reverse=order < 0)
    assert ("oldest first" if order > 0 else "newest first") in lines[0]
    assert not any(
        line.startswith(("Nowhere in memory: order", "Nowhere in memory: timeline"))
        for line in lines
    )
    many = headings(answer(write(tmp_path, {**TRIPS, **FILLER}), question, limit=30))
    assert order < 0 or many == sorted(many)  # one chronology, not two


def test_newest_first_is_said_only_where_the_newest_is_first(tmp_path: Path) -> None:
    """What holds less of the question stands below, however new it is, and so does what an assistant says."""
    red, aside = (
        "sessions/2021/2021-06-01-0900-x.md",
        "sessions/2024/2024-06-01-0900-y.md",
    )
    told, late = (
        talk("The red ferry took us to Calais.", "Nice."),
        CHAT.replace("Brave", "A red ferry to Calais"),
    )
    user = write(tmp_path, {**TRIPS, red: told, aside: late})
    lines = answer(user, "latest red ferry to Calais", limit=9)
    assert (
        headings(lines)[0] == red < max(headings(lines))
        and "newest first" not in lines[0]
    )


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
            f"Nowhere in memory: {word} (nearest: oolong).",
        ]
    assert answer(user, "oolanng")[1] == "Nowhere in memory: oolanng."
    nothing = "\n".join(answer(user, "zeppelin"))
    assert nothing.startswith(
        "0 passages in 0 of 2 files\nNowhere in memory: zeppelin."
    )
    assert 'The archive holds 1 file; path "archive/**" asks for that alone.' in nothing
    limited = "\n".join(answer(user, "kayak", path="sessions/**", after="2026-01"))
    assert "Searched by path sessions/**, after 2026-01." in limited
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


def test_of_an_assistants_answer_the_sentences_that_fit_are_shown(
    tmp_path: Path,
) -> None:
    """At most some forty tokens, with its speaker, never an empty close; a person's message is shown whole."""
    long = "I drove on to the lake with my dogs. " * 12 + "The kettle fell in."
    files = {
        TEA: KETTLE,
        "sessions/2026/2026-04-01-0930-b.md": f"- **ann** 09:30: {long}\n",
    }
    lines = answer(write(tmp_path, files), "kettle of glass that shows how water boils")
    shown = next(line for line in lines if "assistant" in line)
    assert "shows how the water boils" in shown and "feel free" not in shown
    assert len(shown) < 40 * 4 + 40
    assert any(
        long in line
        for line in answer(write(tmp_path, files), "Where did the kettle fall?")
    )


# -- what an answer leaves out, and its order ----------------------------------------------------------------------------


def test_an_answer_from_talks_with_an_assistant_has_room_for_more_long_turns(
    tmp_path: Path,
) -> None:
    def shown(other: str) -> int:
        turn = f"- **ann** 09:30: {{}}. {'The kiln in the barn. ' * 20}\n- **{other}** 09:31: Ok.\n"
        files = {
            f"sessions/2026-03-{n:02}-0930-kiln.md": turn.format(n)
            for n in range(1, 30)
        }
        found = answer(
            write(tmp_path / other, files),
            "Which colour had the kiln of the potter in Delft?",
        )
        return len(headings(found))

    assert shown("assistant") > 1.5 * shown("ben") > 0


def test_after_a_strong_first_block_the_tail_ends_sooner(tmp_path: Path) -> None:
    """What holds less of the question and has under half of the best score is left to whoever asks for more."""
    files = {TEA: talk("I painted the rowing boat in ochre.", "Nice."), **FILLER}
    boats = {
        f"2026-05-{n:02}-0900-boat.md": talk(f"A boat of {n} feet lay there.", "So?")
        for n in range(1, 9)
    }
    files |= {f"sessions/2026/{name}": said for name, said in boats.items()}
    lines = answer(write(tmp_path, files), "painted the rowing boat in ochre")
    assert "strong match" in lines[0] and headings(lines) == [TEA]
    assert lines[-1].endswith("shows more.")


@pytest.mark.parametrize(
    "greeting", ["good morning! how are you?", "你好", "Thanks, see you soon!"]
)
def test_what_greets_or_thanks_is_neither_a_question_nor_an_answer(
    tmp_path: Path, greeting: str
) -> None:
    greetings = (
        "Good morning, Ben! How are you?",
        "谢谢，早上好！你好！",
        "Thanks, see you soon!",
    )
    said = talk(*greetings, "This morning I see the ferry.")
    user = write(tmp_path, {TEA: said, **FILLER})
    assert answer(user, greeting)[0].endswith("; a greeting")
    lines = "\n".join(answer(user, "What of the morning, Ben?"))
    assert "ferry" in lines and "Good morning" not in lines and "Thanks" not in lines


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


NO_ORDER = """the first time after the ferry trip | the sum of the first n ferry trips | 到了以后第一次 ferry trip
What is a good first name? ferry trip | the last page of the book ferry trip | in order to win ferry trip"""


@pytest.mark.parametrize("question", re.split(" \\| |\n", NO_ORDER))
def test_a_first_that_asks_for_no_order_sorts_nothing(
    tmp_path: Path, question: str
) -> None:
    assert "est first" not in answer(write(tmp_path, TRIPS), question)[0]


def test_questions_asked_in_chats_and_their_answers_dilute_nothing(
    tmp_path: Path,
) -> None:
    """What was found before stands alone and first again, however often it was asked for and answered."""
    for number in range(30):
        write(
            tmp_path,
            {
                f"facts/2026-05-{number + 1:02d}-key.md": f"The boat {number} has an anchor and a rope.\n"
            },
        )
    write(
        tmp_path,
        {"facts/2026-08-02-key.md": "The spare key is with Dona Graça downstairs.\n"},
    )
    before = answer(Store(tmp_path).user("ann").folder, "Where is the spare key?")
    turns = "".join(
        f"- **ann** 09:{n:02d}: Where is the spare key?\n- **assistant** 09:{n:02d}: With Graça (facts/2026-08-02-key.md:1).\n"
        for n in range(20)
    )
    write(
        tmp_path,
        {f"sessions/2026-11-{day}-0900-keys.md": turns for day in (20, 21, 22)},
    )
    after = answer(Store(tmp_path).user("ann").folder, "Where is the spare key?")
    assert after[1:] == before[1:]
